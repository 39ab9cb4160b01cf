"""Does being reviewed make answers better?"""

import streamlit as st

from backend.figures.style import theme_of
from backend.services.audit import AuditedFigure
from backend.services.endoca_series import records
from backend.services.verimap_cells import any_verification
from backend.services.verimap_loop import (
    ALL_TASKS,
    LoopChoice,
    asked_loops,
    asked_tasks,
    fate_table,
    loop_table,
    rise_table,
    turn_table,
)
from backend.store.verification_filters import VerificationFilter
from pages.ui.audit_note import show_audit_note
from pages.ui.endoca_words import quiet_line
from pages.ui.filters import link_choice
from pages.ui.landing import land_at
from pages.ui.links import LIST
from pages.ui.loop_cases import behind_fate, behind_turn, show_loop_cases
from pages.ui.loop_charts import show_fate_chart, show_lean_charts, show_right_chart
from pages.ui.loop_choices import READABLE, loop_choices, named_loops, picked_rule, show_loop_sentence
from pages.ui.loop_empty import show_no_loops
from pages.ui.loop_tables import show_fates, show_rises
from pages.ui.loop_words import AS_PRINTED, FATES_OF_RIGHT, FATES_OF_WRONG, HOW_NAMES, apart_sentence, headline
from pages.ui.resources import kept
from pages.ui.verification_list import show_verifications
from pages.ui.verimap_filters import asked_verifications_or_stop, show_verification_filters

LEANS = {"Bias": "bias", "FPR": "fpr"}
"""What the switch says → the metric it means."""

with st.container(gap=None):
    st.title("Does being reviewed make answers better?")
    land_at(LIST)

theme = theme_of(st.context.theme.type)
every = records(kept(loop_table))
if not every:
    show_no_loops(any_verification=kept(any_verification))
    st.stop()
chosen = asked_verifications_or_stop()

names = named_loops(every)
fitting = asked_loops(every, chosen)
loops = {str(loop["loop_id"]): loop for loop in fitting}
labels = named_loops(fitting)
charted = dict(list(labels.items())[:READABLE])
sentence = st.empty()
show_verification_filters(
    chosen, loop_choices(every), without=("conditions", "turns", "runs", "verdict_outcomes", "text")
)
show_loop_sentence(chosen, names, fitting)
if not fitting:
    sentence.text("No loop fits these filters. Take one of them away, or clear them all.")
    st.stop()

with st.container(horizontal=True, gap="small"):
    rule = picked_rule(max(int(loop["longest"]) for loop in fitting))
tasks = asked_tasks(chosen)
made_of = (tuple(loops), rule, tasks, chosen.policy)
suites = tuple(dict.fromkeys(str(loop["suite"]) for loop in fitting))
of_suite = {suite: tuple(loop for loop in loops if loops[loop]["suite"] == suite) for suite in suites}
fates = [
    row
    for suite, ids in of_suite.items()
    for row in records(kept(fate_table, LoopChoice(suite, rule, tasks=tasks, loops=ids)))
]
overall = [row for row in fates if row["task"] == ALL_TASKS]
sentence.text(headline(overall, labels))
st.html(quiet_line(" ".join(filter(None, (rule.sentence, apart_sentence(overall))))))
if chosen.loop or chosen.fates:
    st.subheader("Cases", anchor=LIST)
    st.caption("Conditions on single loops and fates choose cases only. Figures keep all answers.")
    show_verifications(chosen, key="cases")

st.subheader("What became of answers that were wrong at first")
fate_point = show_fate_chart(fates, charted, FATES_OF_WRONG, "n_wrong", made_of, theme)
st.caption(AS_PRINTED)
show_audit_note(AuditedFigure.VERIMAP_LOOP)
st.subheader("What became of answers that were right at first")
fate_point = show_fate_chart(fates, charted, FATES_OF_RIGHT, "n_right", made_of, theme) or fate_point

st.subheader(
    "Does the verifier lean further with each turn?",
    help="Bias: false acceptances minus false rejections, of all verdicts. FPR: wrong answers that are accepted.",
)
with st.container(horizontal=True, gap="small"):
    metric = LEANS[link_choice("lean", "Metric", tuple(LEANS))]
    how = HOW_NAMES[link_choice("how", "Which verdicts count at a turn", tuple(HOW_NAMES))]
choices = [
    LoopChoice(suite, rule, how, chosen.policy, tasks, tuple(loop for loop in ids if loop in charted))
    for suite, ids in of_suite.items()
    if any(loop in charted for loop in ids)
]
turns = [row for choice in choices for row in records(kept(turn_table, choice))]
turn_point = None
if turns:
    turn_point = show_lean_charts(turns, charted, choices[0], metric, made_of, theme)
    st.subheader("Right answers, turn by turn", help="Share of right answers among those that stand at a turn")
    turn_point = show_right_chart(turns, charted, made_of, theme) or turn_point
else:
    st.text("No answer here was followed to its end and judged.")

st.subheader("All fates")
cell = show_fates(fates, loops, labels, theme)
st.caption("Shares with Wilson's 95 % intervals, over answers; the change of right answers resamples images.")

of_all = tuple(
    LoopChoice(suite, rule, how, chosen.policy) for suite in dict.fromkeys(str(loop["suite"]) for loop in every)
)
for self_verified, words in ((True, "a VLM reviews itself"), (False, "another VLM reviews")):
    rises = records(kept(rise_table, of_all, self_verified=self_verified))
    if any(row["n_pairs"] > 1 for row in rises):
        st.subheader(f"Over all loops in which {words}")
        show_rises(rises)
        st.caption(
            f"Wilcoxon's signed-rank test, {rises[0]['hypothesis']}; a pair is a loop of the store, whatever is chosen "
            "above."
        )

opened: VerificationFilter | None = None
if fate_point is not None:
    loop, task, fate = fate_point
    opened = behind_fate(loop, loops[loop]["suite"], task, (fate,), rule)
if turn_point is not None:
    loop, task, turn = turn_point
    opened = behind_turn(loop, loops[loop]["suite"], task, int(turn))
if cell is not None:
    row, of_cell = cell
    opened = behind_fate(row["loop_id"], loops[row["loop_id"]]["suite"], row["task"], of_cell, rule)
if opened is not None:
    show_loop_cases(opened, names)
