"""Do a VLM's own parts mend its answer?"""

from dataclasses import replace

import streamlit as st

from backend.domain.records import Origin
from backend.endoca.asr import Variant
from backend.figures import asr as figures
from backend.figures.style import theme_of
from backend.services import endoca_series
from backend.services.asr_steps import own_steps, printed_steps
from backend.services.audit import AuditedFigure
from backend.services.endoca_series import records
from backend.services.explore import run_names
from backend.services.noise_floor import noise_floor
from backend.services.published import ABLATION_SOURCE, ASR_SOURCE, AVERAGE, printed_asr
from backend.services.reconciliation import coverage_table, reconciled_table, reconciliations
from backend.store.filters import UnitFilter
from backend.store.unit_lists import unit_count
from pages.ui.asr_cases import behind_decision, behind_step
from pages.ui.asr_detail import pick_base, show_decisions, show_groups, show_moves
from pages.ui.asr_tables import show_changes, show_table_v, show_table_vi
from pages.ui.asr_words import (
    asr_commands,
    gaps_sentence,
    headline,
    noise_commands,
    noise_sentence,
    nothing_reconciled,
    printed_headline,
)
from pages.ui.audit_note import show_audit_note
from pages.ui.clicks import clickable_chart
from pages.ui.endoca_words import counted, quiet_line
from pages.ui.filters import set_filter, show_filters, show_sentence, suite_filter
from pages.ui.links import LIST
from pages.ui.resources import drawn_once, kept, the_store
from pages.ui.series_cases import show_cases, show_printed
from pages.ui.unit_table import show_units

st.title("Do a VLM's own parts mend its answer?")

suites = kept(endoca_series.endoca_suites)
chosen = suite_filter(suites)
questions = endoca_series.of_questions(chosen)
theme = theme_of(st.context.theme.type)

rows = records(kept(reconciled_table, questions))
lines = own_steps(rows)
ones = {one.revised: one for one in kept(reconciliations, questions)}
runs = {row["run_id"]: row["label"] for row in kept(endoca_series.runs_of, chosen.suite)}
names = {**kept(run_names), **runs}
n_units = kept(endoca_series.suite_facts, chosen.suite).n_units
filtered = questions != UnitFilter(suite=chosen.suite)
shows_printed = not (questions.splits or questions.complexities or questions.classes or questions.groups)
shows_printed &= not questions.origins or Origin.PUBLISHED in questions.origins
printed_lines = kept(printed_steps) if shows_printed else []

*vlms, average = records(printed_asr())
assert average["vlm"] == AVERAGE
st.text(headline(rows) if rows else printed_headline(vlms, average))
show_filters(chosen, kept(endoca_series.choices, chosen.suite), suites, runs, names)
show_sentence(chosen, names, counted(kept(unit_count, chosen)) if n_units else "printed figures only")

asked: UnitFilter | None = None
if chosen != questions:
    st.subheader("Cases", anchor=LIST)
    st.caption("Conditions on answers choose cases only. Figures keep all units.")
    show_units(chosen, key="cases")
if not rows:
    with st.container(border=True):
        known = kept(reconciliations, UnitFilter(suite=chosen.suite))
        st.text(nothing_reconciled(chosen.suite, runs=bool(known), filtered=filtered))
        if known:
            st.button("Clear the filters", on_click=set_filter, args=(UnitFilter(suite=chosen.suite),))
        else:
            st.text("To see a VLM's own figures beside the printed ones, let it answer, revise and select:")
            for command in asr_commands(None, chosen.suite if n_units else None, the_store().path):
                st.code(command, language="bash", wrap_lines=True)
            st.caption(
                "VLM stands for a name that is to be chosen; the page Runs lists them. Only one process can have the "
                "store open, so stop the app first."
            )
gaps = gaps_sentence([(line["label"], row) for row, line in zip(rows, lines, strict=True)])
if gaps:
    st.html(quiet_line(gaps))

st.subheader(
    "Right answers, step by step",
    help="Complex accuracy of the direct answers, of the revised ones, and of those that Select chose to answer. A "
    "share of fewer questions is no better answer: read it with its coverage.",
)
shown = [*lines, *printed_lines]
step_point = None
if shown:
    step_point = clickable_chart(
        drawn_once("steps", (questions, theme.name), lambda: figures.steps_slope(shown, theme)),
        key="steps_chart",
        alt="Complex accuracy of direct, revised and selected answers by VLM",
    )
    st.caption(
        "A point opens the answers behind it. Hollow marks and dotted lines: printed in the paper, of suite core; "
        "compare their shape, not their height, with another suite. Faint lines: the control without parts."
    )
st.markdown("**With parts as premises (Table V)**")
asked = show_table_v(rows, lines, chosen, theme, printed=shows_printed) or asked
st.caption(
    "Δ, in points: revised minus direct, with the same atomic answers on both sides. "
    f"Printed rows: {ASR_SOURCE}; the paper prints no counts and no intervals."
)
st.markdown("**What the parts add (Table VI)**")
asked = show_table_vi(rows, chosen, theme, printed=shows_printed) or asked
st.caption(
    f"Direct answers decide nothing, so their coverage is N/A; the paper prints 100. Printed rows: {ABLATION_SOURCE}."
)
if printed_lines:
    show_audit_note(AuditedFigure.ENDOCA_ASR)

if rows:
    st.subheader("What became right, and what became wrong")
    asked = show_changes(rows, lines, chosen, theme) or asked

    bases = {row["base"]: str(names.get(row["base"], row["vlm"])) for row in rows}
    base = pick_base(bases)
    of_base = sorted((row for row in rows if row["base"] == base), key=lambda row: row["variant"] != Variant.ASR)

    st.subheader("By number of parts and question class")
    asked = show_groups(of_base, chosen, theme) or asked
    st.caption("A bar opens its cases. A unit whose parts are of several classes stands in each of them.")

    st.subheader(
        "Which premise moved the answer",
        help="A part moves when another value is read from the revised answer than from the direct one; its premise is "
        "the value read from the VLM's own atomic answer.",
    )
    asked = show_moves(of_base, ones, chosen) or asked
    st.caption(
        "Without parts no premise was shown: what then moves to it would have moved by itself. "
        "In brackets: parts right before and after."
    )

    st.subheader(
        "Is it right when it says it is sure?",
        help="Answers are let in by decision, then consistency label, then the share of parts that agree with the "
        "VLM's own atomic answers. No reference has a part in this order.",
    )
    deciding = [row for row in of_base if row["select"] is not None]
    curves = [
        (line, records(kept(coverage_table, ones[line["revised"]], questions)))
        for line in lines
        if line["base"] == base and line["select"] is not None
    ]
    curve_point = None
    if curves:
        curve_point = clickable_chart(
            drawn_once("coverage", (questions, base, theme.name), lambda: figures.coverage_lines(curves, theme)),
            key="coverage_chart",
            alt="Accuracy of the most trusted answers against the share of questions answered",
        )
        st.caption(
            "The large mark is Selective's own choice. A mark opens the cases of its decision and label. Dotted: "
            "accuracy of all revised answers. Faint: the control without parts."
        )
    asked = show_decisions(of_base, ones, chosen) or asked
    if curve_point is not None:
        row = next(row for row in deciding if row["revised"] == curve_point[0])
        _, _, decision, label, is_own = curve_point
        asked = behind_decision(row, chosen, decision=decision, consistency="" if is_own else label)

    st.subheader("Noise floor", help="How far two direct runs of one VLM, suite, prompt version and setting differ")
    floors = kept(noise_floor, base, questions)
    for at, floor in enumerate(floors):
        st.text(noise_sentence(floor, str(names.get(floor.second, floor.second))))
        with st.container(horizontal=True, gap="small"):
            for label, right, wrong, count in (
                ("Became right", floor.second, floor.first, floor.result.a_wrong_b_right),
                ("Became wrong", floor.first, floor.second, floor.result.a_right_b_wrong),
            ):
                if st.button(f"{label}: {count:,} cases", key=f"noise_{at}_{label}", disabled=not count):
                    asked = replace(behind_step(of_base[0], "direct_accuracy", chosen), right=right, wrong=wrong)
    if not floors:
        st.text(
            "N/A: the store has one direct run of this VLM over this suite with this prompt version, decoding and "
            "setting. To see how far it repeats itself, ask again, for example in other batches, and import it:"
        )
        for command in noise_commands(of_base[0]["vlm"], chosen.suite, the_store().path, of_base[0]["setting"]):
            st.code(command, language="bash", wrap_lines=True)

if step_point is not None:
    series, step = step_point
    line = next(line for line in shown if line["series"] == series)
    if line["origin"] == Origin.PUBLISHED:
        show_printed(line)
    else:
        asked = behind_step(line, step, chosen)
if asked is not None:
    show_cases(asked, names)
