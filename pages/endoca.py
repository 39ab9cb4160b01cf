"""Do right complex answers stand on right parts?"""

from html import escape

import streamlit as st

from backend.domain.records import Origin
from backend.domain.stage_words import STAGE_WORDS
from backend.endoca.outcomes import Outcome
from backend.figures import endoca as figures
from backend.figures.outcome_bars import outcome_bars
from backend.figures.style import BLIND_GROUP, theme_of
from backend.services import endoca_series
from backend.services.audit import AuditedFigure
from backend.services.explore import run_names
from backend.store.filters import UnitFilter
from backend.store.unit_lists import unit_count
from pages.ui.audit_note import show_audit_note
from pages.ui.class_table import show_classes
from pages.ui.clicks import clickable_chart
from pages.ui.endoca_words import (
    blind_sentence,
    counted,
    gaps_sentence,
    headline,
    legend,
    metric_help,
    nothing_shown,
    quiet_line,
    shift_sentence,
    suite_notes,
)
from pages.ui.filters import link_choice, set_filter, show_filters, show_sentence, suite_filter
from pages.ui.landing import land_at
from pages.ui.links import ASR, DATA, LIST
from pages.ui.resources import drawn_once, kept
from pages.ui.run_picker import READABLE, pick_series
from pages.ui.score_tables import show_comparison, show_groups, show_quality, show_scores
from pages.ui.series_cases import open_series, show_cases
from pages.ui.tags import outcome_tag
from pages.ui.unit_table import show_units

TABLES = ("By VLM", "Missing and unreadable", "By VLM group", "Compare two runs")

with st.container(gap=None):
    st.title("Do right complex answers stand on right parts?")
    land_at(LIST)

suites = kept(endoca_series.endoca_suites)
chosen = suite_filter(suites)
questions = endoca_series.of_questions(chosen)
theme = theme_of(st.context.theme.type)

series = kept(endoca_series.series_table, questions)
rows = endoca_series.records(series)
by_key = {row["series"]: row for row in rows}
answered = [row for row in rows if row["run_id"] is not None]
all_runs = kept(endoca_series.runs_of, chosen.suite)
runs = {row["run_id"]: row["label"] for row in all_runs}
names = {**kept(run_names), **runs}
facts = kept(endoca_series.suite_facts, chosen.suite)

filtered = questions != UnitFilter(suite=chosen.suite)
st.text(
    headline(rows)
    if rows
    else nothing_shown(chosen.suite, units=bool(facts.n_units), runs=bool(runs), filtered=filtered)
)
show_filters(chosen, kept(endoca_series.choices, chosen.suite), suites, runs, names)
show_sentence(chosen, names, counted(kept(unit_count, chosen)) if facts.n_units else "printed figures only")
if chosen.takes_direct_runs_only and any(row["stage"] in STAGE_WORDS for row in all_runs):
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("These are direct answers.", width="content")
        st.page_link(ASR, label="What ASR made of them", query_params={"suite": chosen.suite})

if not rows:
    with st.container(horizontal=True, gap="medium"):
        if filtered:
            st.button("Clear the filters", on_click=set_filter, args=(UnitFilter(suite=chosen.suite),))
        if not runs:
            st.page_link(DATA, label="Import prediction files, or run the blind baseline, on the Data page")
    if facts.n_units:
        st.subheader("Cases", anchor=LIST)
        show_units(chosen, key="cases")
    st.stop()

if not facts.n_units:
    with st.container(border=True):
        st.text(
            f"The store holds no unit of suite {chosen.suite}, so only the paper's printed table is shown. For figures "
            "with cases behind them, import the EndoCA manifests (github.com/Luious-LYH/EndoCA-VQA), then the VLMs' "
            "prediction files."
        )
        st.page_link(DATA, label="Import on the Data page")
elif not runs:
    with st.container(border=True):
        st.text("No VLM has answered this suite yet. Import a prediction file to see it beside the printed table.")
        st.page_link(DATA, label="Import on the Data page")

if chosen != questions:
    st.subheader("Cases", anchor=LIST)
    st.caption(
        "Conditions on answers choose cases only. Figures keep all units: a score over units chosen by their answers "
        "says nothing."
    )
    show_units(chosen, key="cases")

gaps = gaps_sentence(rows)
if gaps:
    st.html(quiet_line(gaps))
left, right = st.columns([1, 1], gap="medium")
with left:
    st.subheader(
        f"Up to {READABLE} VLMs, {len(figures.radar_axes(series))} views",
        help="On every axis outside is better. Consistency is 1 − inconsistency. " + metric_help("inconsistency", rows),
    )
    shown = pick_series(rows, key="radar")
    drawn = {row["series"]: row for row in rows if row["series"] in shown or row["vlm_group"] == BLIND_GROUP}
    st.html(legend(list(drawn.values())))
    radar_point = clickable_chart(
        drawn_once(
            "radar",
            (questions, shown, theme.name),
            lambda: figures.score_radar(series[series["series"].isin(drawn)], theme),
        ),
        key="radar_chart",
        alt="Radar of accuracies and consistency",
    )
    st.caption(
        "A point opens the units behind it, on the axis Consistency the contradictions; a printed one says where it is "
        "printed. Of points on top of each other only the upper one can be clicked; the table of scores opens all."
    )
with right:
    st.subheader("Who keeps the rank when the parts count", help=metric_help("joint_accuracy", rows))
    slope_point = clickable_chart(
        drawn_once("slope", (questions, theme.name), lambda: figures.rank_slope(series, theme)),
        key="slope_chart",
        alt="Ranks by complex and by joint accuracy",
    )
    st.caption("Hollow marks and dotted lines: printed in the paper. Filled marks: runs in this store.")
    if questions.splits or questions.complexities or questions.classes:
        st.caption("Printed figures describe the whole suite, so they are left out while a part of it is chosen.")
finding = endoca_series.blind_finding(rows)
if finding is not None:
    st.html(f'<p style="border-left:3px dashed #8C8C8C;padding-left:.8em">{escape(blind_sentence(finding))}</p>')

left, right = st.columns([6, 5], gap="medium")
level_point = bar_point = None
with left:
    st.subheader("As the number of parts grows", help=metric_help("all_atomic_accuracy", rows))
    wanted = tuple(row["run_id"] for row in drawn.values() if row["run_id"] is not None)
    if wanted:
        levels = kept(endoca_series.complexity_table, questions, wanted)
        level_point = clickable_chart(
            drawn_once("levels", (questions, wanted, theme.name), lambda: figures.complexity_facets(levels, theme)),
            key="complexity_chart",
            alt="Accuracy by complexity and VLM",
        )
        st.caption(
            "Across: number of parts. Marks with interval: complex answer right. Dotted: every part right. Orange: at "
            "least this share of units is right on a wrong part. Dashed grey: answering without looking."
        )
    else:
        st.text("Printed tables do not break down by complexity. Choose a run above, or import answers.")
with right:
    st.subheader("What became of each unit", help="The complex answer, by the share of its parts answered right.")
    outcomes = kept(endoca_series.outcome_table, questions)
    if outcomes.empty:
        st.text("Outcomes need answers, and printed tables have none.")
    else:
        st.html(
            '<div style="display:flex;flex-wrap:wrap;gap:.2em 1em;font-size:.85em">'
            + "".join(outcome_tag(outcome) for outcome in Outcome)
            + "</div>"
        )
        bar_point = clickable_chart(
            drawn_once("outcomes", (questions, theme.name), lambda: outcome_bars(outcomes, theme)),
            key="outcome_chart",
            alt="Outcomes of units by run",
        )
        st.caption("Percent of units. A segment opens its cases.")
        if gaps:
            st.html(quiet_line(gaps))
st.caption(" ".join(suite_notes(facts, rows)))

st.subheader("Which parts go wrong", help=metric_help("atomic_accuracy", rows))
class_cases = None
if answered:
    class_cases = show_classes(answered, chosen)
    st.caption("Atomic accuracy in percent, dark for 0 and light for 100.")
else:
    st.text("Printed tables do not break down by question class.")

st.subheader("All scores")
cell = table_cases = None
match link_choice("table", "Table", TABLES):
    case "By VLM":
        cell = show_scores(rows, questions, theme)
        st.caption(
            "95 % intervals say how far a score would move with other images like these. Printed rows have none."
        )
        shift = kept(endoca_series.printed_shift)
        if shift is not None and chosen.suite in shift.suites:
            st.html(quiet_line(shift_sentence(shift)))
    case "Missing and unreadable":
        cell = show_quality(rows, questions, theme)
        st.caption("All of these count as wrong in every score.")
    case "By VLM group":
        table_cases = show_groups(chosen, theme)
    case _:
        table_cases = show_comparison(runs, chosen)
if any(row["origin"] == Origin.PUBLISHED for row in rows):
    show_audit_note(AuditedFigure.ENDOCA_SCORES)

if facts.n_units and chosen == questions:
    st.subheader("Cases", anchor=LIST)
    show_units(chosen, key="cases")

for point in (radar_point, slope_point, level_point, bar_point):
    if point is not None:
        open_series(by_key[point[0]], chosen, *point[1:])
if cell is not None:
    open_series(cell[0], chosen, cell[1])
for behind in (class_cases, table_cases):
    if behind is not None:
        show_cases(behind, names)
