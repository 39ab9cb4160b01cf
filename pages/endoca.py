"""Do right complex answers stand on right parts?"""

from dataclasses import replace

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.errors import AppError
from backend.figures import endoca as figures
from backend.figures.style import BLIND_GROUP, theme_of
from backend.services import endoca_series
from backend.services.explore import run_names
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
show_sentence(chosen, names, f"{kept(unit_count, chosen):,} units" if facts.n_units else "printed figures only")

if not facts.n_units:
    with st.container(border=True):
        st.text(
            f"The store holds no unit of suite {chosen.suite}, so only the paper's printed table is shown. For figures "
            "with cases behind them, import the EndoCA manifests (github.com/Luious-LYH/EndoCA-VQA), then prediction files."
        )
        st.page_link(DATA, label="Import on the Data page")
elif not runs:
    with st.container(border=True):
        st.text("No VLM has answered this suite yet. Import a prediction file to see it beside the printed table.")
        st.page_link(DATA, label="Import on the Data page")

looks_at_answers = chosen != questions
if looks_at_answers:
    st.subheader("Cases", anchor="cases")
    st.caption("Conditions on answers choose cases only. Figures keep all units: a score over chosen answers says nothing.")
    show_units(chosen, key="cases")

left, right = st.columns([5, 6], gap="large")
with left:
    st.subheader(f"Up to {READABLE} VLMs, five views", help="On every axis outside is better. Consistency is 1 − inconsistency.")
    shown = pick_series(tables.series, key="radar")
    is_blind = tables.series["vlm_group"] == BLIND_GROUP
    radar = tables.series[tables.series["series"].isin(shown) | is_blind]
    st.html(legend(endoca_series.records(radar)))
    radar_point = clickable_chart(figures.score_radar(radar, theme), key="radar_chart", alt="Radar of accuracies and consistency")
    st.caption("A point opens the units behind it, on the axis Consistency the contradictions. Of points on top of each "
               "other only the upper one can be clicked: the table of scores opens all.")
with right:
    st.subheader("Who keeps the rank when the parts count", help=metric_help("joint_accuracy", rows))
    slope_point = clickable_chart(
        figures.rank_slope(tables.series, theme), key="slope_chart", alt="Ranks by complex and by joint accuracy"
    )
    st.caption("Hollow marks and dotted lines: printed in the paper. Filled marks and solid lines: runs in this store.")
if finding is not None:
    st.info(blind_sentence(finding)) if False else st.text(blind_sentence(finding))

left, right = st.columns([6, 5], gap="large")
bar_point = level_point = None
outcomes = kept(endoca_series.outcome_table, questions)
with left:
    st.subheader("More parts, more contradictions", help=metric_help("all_atomic_accuracy", rows))
    levels = tables.complexity[tables.complexity["series"].isin(shown) | (tables.complexity["vlm_group"] == BLIND_GROUP)]
    if levels.empty:
        st.text("Printed tables do not break down by complexity. Choose a run above, or import answers.")
    else:
        level_point = clickable_chart(
            figures.complexity_facets(levels, theme), key="complexity_chart", alt="Accuracy by complexity, a panel a VLM"
        )
        st.caption("Across: number of parts. Marks with interval: complex answer right. Dotted: all parts right. Orange: "
                   "at least this share of answers is right on a wrong part. Dashed grey: answering without looking.")
with right:
    st.subheader("What became of each unit", help="The complex answer, by the share of its parts answered right.")
    if outcomes.empty:
        st.text("Outcomes need answers, and printed tables have none.")
    else:
        st.html('<div style="display:flex;flex-wrap:wrap;gap:.2em 1em;font-size:.85em">' + "".join(map(outcome_tag, Outcome)) + "</div>")
        bar_point = clickable_chart(figures.outcome_bars(outcomes, theme), key="outcome_chart", alt="Outcomes of units by run")
        st.caption("Percent of units. A segment opens its cases.")
if notes := suite_notes(facts, rows):
    st.caption(" ".join(notes))

st.subheader("Which parts go wrong", help=metric_help("atomic_accuracy", rows))
cell_cases = None
answered = [row for row in rows if row["run_id"] is not None]
if answered:
    cell_cases = show_classes(answered, chosen)
    st.caption("Atomic accuracy in percent, dark for 0 and light for 100. A cell opens the cases in which such a part was answered wrong.")
else:
    st.text("Printed tables do not break down by question class.")

st.subheader("All scores")
scores, quality, groups, pair = st.tabs(["By VLM", "Missing and unreadable", "By VLM group", "Compare two runs"])
with scores:
    score_cell = show_scores(rows)
with quality:
    quality_cell = show_quality(rows)
with groups:
    group_cases = show_groups(tables.groups, chosen)
    st.caption("All answers of a group's runs taken together, each origin apart.")
with pair:
    show_comparison(runs, chosen)

if facts.n_units and not looks_at_answers:
    st.subheader("Cases", anchor="cases")
    show_units(chosen, key="cases")

for point in (radar_point, slope_point, level_point, bar_point):
    if point is not None:
        open_series(by_key[point[0]], chosen, *point[1:])
for cell in (score_cell, quality_cell):
    if cell is not None:
        open_series(cell[0], chosen, cell[1])
for behind in (cell_cases, group_cases):
    if behind is not None:
        show_cases(behind, names)
