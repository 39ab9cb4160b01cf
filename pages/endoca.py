"""Do right complex answers stand on right parts?"""

from dataclasses import replace

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.errors import AppError
from backend.figures import endoca as figures
from backend.figures.style import BLIND_GROUP, theme_of
from backend.services import endoca_series
from backend.services.explore import run_names
from backend.store.filters import UnitFilter
from backend.store.queries import unit_count
from pages.ui.class_table import show_classes
from pages.ui.clicks import clickable_chart
from pages.ui.endoca_words import blind_sentence, headline, legend, metric_help, suite_notes
from pages.ui.filters import link_filter, show_filters, show_sentence
from pages.ui.links import DATA
from pages.ui.resources import kept
from pages.ui.run_picker import READABLE, pick_series
from pages.ui.score_tables import show_comparison, show_groups, show_quality, show_scores
from pages.ui.series_cases import open_series, show_cases
from pages.ui.tags import outcome_tag
from pages.ui.unit_table import show_units

st.title("Do right complex answers stand on right parts?")

suites = kept(endoca_series.endoca_suites)
chosen = link_filter()
if chosen.suite and chosen.suite not in suites:
    raise AppError(f"There is no suite {chosen.suite!r} in this store.", f"Known: {', '.join(suites)}.")
chosen = replace(chosen, suite=chosen.suite or suites[0])
questions = endoca_series.of_questions(chosen)
theme = theme_of(st.context.theme.type)

tables = kept(endoca_series.series_tables, questions)
rows = endoca_series.records(tables.series)
by_key = {row["series"]: row for row in rows}
runs = {row["run_id"]: row["label"] for row in kept(endoca_series.runs_of, chosen.suite)}
names = {**kept(run_names), **runs}
facts = kept(endoca_series.suite_facts, chosen.suite)
finding = endoca_series.blind_finding(tables.series)

st.text(headline(rows))
show_filters(chosen, kept(endoca_series.choices, chosen.suite), suites, runs, names)
