"""Do the words do the looking?"""

import pandas as pd
import streamlit as st

from backend.domain.records import Origin, System
from backend.figures import surgcheck as figures
from backend.figures.style import BLIND_GROUP, theme_of
from backend.services.endoca_series import about_runs, records
from backend.services.explore import run_names
from backend.services.surgcheck_answers import of_questions, unasked_table
from backend.services.surgcheck_lists import pair_choices
from backend.services.surgcheck_notes import Figure
from backend.services.surgcheck_published import TABLES
from backend.services.surgcheck_series import printed_drops
from backend.services.surgcheck_suites import is_full_test, surgcheck_suites
from backend.store.pair_filters import pair_count
from pages.ui.clicks import clickable_chart
from pages.ui.endoca_words import legend, quiet_line
from pages.ui.filters import link_choice
from pages.ui.import_report import plural
from pages.ui.landing import land_at
from pages.ui.links import LIST
from pages.ui.pair_list import show_pairs
from pages.ui.resources import drawn_once, kept
from pages.ui.run_picker import READABLE
from pages.ui.series_cases import show_printed
from pages.ui.surgcheck_ablation import show_ablation
from pages.ui.surgcheck_cases import flips_of, pairs_behind, show_pairs_behind
from pages.ui.surgcheck_empty import show_printed_alone, show_unanswered, show_unjudged
from pages.ui.surgcheck_failures import show_failures
from pages.ui.surgcheck_filters import pair_suite_filter, show_pair_filters, show_pair_sentence
from pages.ui.surgcheck_notes import show_notes
from pages.ui.surgcheck_scores import show_drops, show_scores
from pages.ui.surgcheck_tables import drops_of, ladder_of, readable, scores_of
from pages.ui.surgcheck_words import (
    CLEARLY,
    METRIC_NAMES,
    gaps_sentence,
    headline,
    metric_words,
    pairs_counted,
    unasked_sentence,
)

ABOVE_ZERO = "Above zero the words did some of the looking. Bars are 95 % intervals, by frames."
OPENS = {
    "judge_accuracy": "A point opens its pairs.",
    "": "A point opens the pairs right with the hint alone; where the score rises, those right without it alone.",
}
"""What a point of a drop opens, by metric."""

TABLES_BY = {"Both ways": "", "All scores": "", "By task": "task", "By level": "level", "By cue": "cue"}
"""Table → the groups of its rows."""

with st.container(gap=None):
    st.title("Do the words do the looking?")
    land_at(LIST)

metric = METRIC_NAMES.get(st.query_params.get("metric", ""), "accuracy")
theme = theme_of(st.context.theme.type)
suites = kept(surgcheck_suites)
if not suites:
    show_printed_alone(theme)
    st.stop()
chosen = pair_suite_filter(suites)
questions = of_questions(chosen)

about = [row for row in records(kept(about_runs, System.SURGCHECK)) if row["suite"] == chosen.suite]
runs = {row["run_id"]: str(row["label"]) for row in about}
names = {**kept(run_names), **runs}
choices = kept(pair_choices, chosen.suite)
drops = drops_of(questions, metric)
rows = records(drops)
shows_printed = kept(is_full_test, chosen.suite) and not (questions.tasks or questions.levels or questions.cues)
printed = kept(printed_drops, metric) if shows_printed else drops.iloc[:0]
printed_rows = records(printed)

told = headline(rows, metric) if runs else f"No VLM has answered suite {chosen.suite} in this store yet."
st.text(told)
show_pair_filters(chosen, choices, suites, runs, names)
show_pair_sentence(chosen, names, pairs_counted(kept(pair_count, chosen)))
if not runs:
    show_unanswered(chosen)
    st.stop()
link_choice("metric", "Metric", tuple(METRIC_NAMES))
if chosen != questions:
    st.subheader("Cases", anchor=LIST)
    st.caption("Conditions on answers choose cases only. Figures keep all pairs.")
    show_pairs(chosen, key="cases")
for sentence in (
    gaps_sentence(records(scores_of(questions))),
    unasked_sentence(records(kept(unasked_table, questions)), runs),
):
    if sentence:
        st.html(quiet_line(sentence))
if metric == "judge_accuracy" and not rows:
    show_unjudged(chosen.suite)

top = st.columns([1, 1], gap="medium")
below = st.container()
slope_point = task_point = cue_point = opened = None
with top[0]:
    st.subheader("Original against less-biased questions", help=metric_words(metric))
    slope = pd.concat([drops, printed], ignore_index=True) if len(printed) else drops
    if len(slope):
        slope_point = clickable_chart(
            drawn_once("surgcheck_slope", (questions, metric, theme.name), lambda: figures.drop_slope(slope, theme)),
            key="slope_chart",
            alt="Scores with original and with less-biased questions by VLM",
        )
        clearly = f" {CLEARLY}" if "clearly" in told else ""
        st.caption(f"A point opens its pairs; the bold number is the change in points.{clearly}")
    if len(printed):
        st.caption(f"Hollow marks, dotted lines: {TABLES[metric].source}.")
    show_notes(chosen.suite, Figure.BY_VLM)
    if len(printed):
        show_notes(chosen.suite, Figure.PRINTED)
shown = readable(rows, chosen=bool(questions.runs))
left_out = len({row["series"] for row in rows if row["gap"] is not None} - shown)
with below:
    st.subheader("What the words give away, task by task", help=metric_words("gap"))
    by_task = drops_of(questions, metric, ("level", "task"))
    by_task = by_task[by_task["series"].isin(shown)]
    if len(by_task):
        st.html(legend([row for row in rows if row["series"] in shown]))
        task_point = clickable_chart(
            drawn_once("surgcheck_tasks", (questions, metric, theme.name), lambda: figures.task_drops(by_task, theme)),
            key="task_chart",
            alt="Drop from original to less-biased questions by task and VLM",
        )
        if left_out:
            st.caption(
                f"{plural(left_out, 'run')} not shown: of each VLM the setting that answers original questions best, "
                f"of {READABLE} VLMs. The chip VLM chooses others."
            )
        st.caption(f"{ABOVE_ZERO} {OPENS.get(metric, OPENS[''])}")
    else:
        st.text("No run was asked these pairs in both ways.")
    show_notes(chosen.suite, Figure.BY_TASK)
with top[1]:
    st.subheader("What each cue leaves of it", help="The same, by how the question points at what it asks about")
    ladder = ladder_of(questions, metric)
    ladder = ladder[ladder["series"].isin(shown)]
    if ladder["cue"].nunique() > 1:
        cue_point = clickable_chart(
            drawn_once("surgcheck_ladder", (questions, metric, theme.name), lambda: figures.cue_ladder(ladder, theme)),
            key="cue_chart",
            alt="Drop from original to less-biased questions by cue and VLM",
        )
        st.caption(f"Tasks whose two texts differ. {OPENS.get(metric, OPENS[''])}")
    else:
        st.text("These pairs point with one cue or with none, so there are no cues to compare.")
    show_notes(chosen.suite, Figure.BY_CUE)

st.subheader("With the image withheld", help="The original questions, asked again without the image")
withheld = show_ablation(chosen, metric, theme, printed=shows_printed)

st.subheader("Where the hint did the looking", help="Right and wrong by exact match")
by_accuracy = sorted(
    (row for row in records(drops_of(questions, "accuracy")) if row["n_pairs"]),
    key=lambda row: (row["vlm_group"] == BLIND_GROUP, -row["gap"]),
)
if by_accuracy:
    show_failures(by_accuracy, chosen)
else:
    st.text("No run was asked these pairs in both ways.")

st.subheader("All scores")
match link_choice("table", "Table", tuple(TABLES_BY)):
    case "All scores":
        opened = show_scores(records(scores_of(questions)), chosen, theme)
        st.caption("95 % intervals say how far a score would move with other frames like these.")
    case name:
        by = TABLES_BY[name]
        table = records(drops_of(questions, metric, (by,))) if by else rows
        opened = show_drops(table, [] if by else printed_rows, metric, chosen, theme, by)
        st.caption(
            "Tests take the pairs of a frame together (sign flips of whole frames), for they are not independent; "
            "McNemar's, over single pairs, stands beside. Printed rows have neither counts nor intervals."
        )

by_series = {row["series"]: row for row in [*rows, *printed_rows]}
if slope_point is not None:
    row = by_series[slope_point[0]]
    if row["origin"] == Origin.PUBLISHED:
        show_printed(row)
    else:
        show_pairs_behind(pairs_behind(row["run_id"], chosen), names)
for point, group, table_of in ((task_point, "task", by_task), (cue_point, "cue", ladder)):
    if point is not None:
        row = next(one for one in records(table_of) if (one["series"], one[group]) == (point[0], point[2]))
        show_pairs_behind(pairs_behind(row["run_id"], chosen, {group: row[group]}, flips_of(row)), names)
if withheld is not None:
    show_pairs_behind(*withheld[:1], names, by_outcome=withheld[1])
if opened is not None:
    show_pairs_behind(opened, names, by_outcome=not opened.statuses)
