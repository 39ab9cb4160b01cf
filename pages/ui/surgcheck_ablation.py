"""The text-only ablation (Fig. 5): what a VLM answers right with the image withheld, beside look-ups and the paper."""

__all__ = ["show_ablation"]

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from backend.figures.style import BLIND_GROUP, Theme
from backend.figures.surgcheck import ablation_bars
from backend.services.endoca_series import records
from backend.services.surgcheck_answers import of_questions
from backend.services.surgcheck_notes import Figure
from backend.services.surgcheck_published import ABLATION_SOURCE, printed_ablation
from backend.services.surgcheck_series import ablation_table
from backend.store.pair_filters import PairFilter
from backend.surgcheck.metrics import Variant
from pages.ui.clicks import clickable_chart
from pages.ui.endoca_words import quiet_line
from pages.ui.resources import drawn_once, the_store
from pages.ui.surgcheck_cases import pairs_behind
from pages.ui.surgcheck_notes import show_notes
from pages.ui.surgcheck_scores import show_ablation_table
from pages.ui.surgcheck_tables import answers_of
from pages.ui.surgcheck_words import ablation_sentence, text_only_commands

Row = Mapping[str, Any]


def show_ablation(chosen: PairFilter, metric: str, theme: Theme, *, printed: bool) -> tuple[PairFilter, bool] | None:
    """Draw the ablation of one VLM, chosen in the link.

    Args:
        chosen: The page's filter.
        metric: The page's; a judge's is shown as accuracy, for text-only answers are compared word for word.
        theme: Light or dark.
        printed: Whether the printed figures stand beside it.

    Returns:
        The pairs of the point or cell just opened and whether they have outcomes, else None.
    """
    questions = of_questions(chosen)
    metric = metric if metric == "macro_f1" else "accuracy"
    table = drawn_once(
        "surgcheck_ablation",
        (questions, metric),
        lambda: ablation_table(the_store(), answers_of(questions), metric),
    )
    rows = records(table)
    look_ups = [row for row in rows if row["vlm_group"] == BLIND_GROUP]
    asked = [row for row in rows if row["vlm_group"] != BLIND_GROUP]
    shown_printed = records(printed_ablation()) if printed else []
    point = opened = None
    shown: list[Row] = [*look_ups]
    if asked:
        series = _choose({row["series"]: str(row["label"]) for row in asked})
        own = [row for row in asked if row["series"] == series]
        shown = [*own, *look_ups]
        st.html(quiet_line(ablation_sentence(own)))
    else:
        _show_commands(questions.suite, look_ups)
    if shown:
        keys = [(row["series"], row["task"]) for row in shown]
        drawn = table[[key in keys for key in zip(table["series"], table["task"], strict=True)]]
        point = clickable_chart(
            drawn_once(
                "surgcheck_ablation_bars",
                (questions, metric, tuple(keys), theme.name),
                lambda: ablation_bars(drawn, theme),
            ),
            key="ablation_chart",
            alt="Scores by task with original questions, less-biased ones, and the image withheld",
        )
        st.caption(
            "Broken lines: what baselines reach that see no image. A bar opens its pairs."
            if look_ups
            else "A bar opens its pairs."
        )
    if shown or shown_printed:
        opened = show_ablation_table(shown, shown_printed, chosen, theme)
    if shown_printed:
        st.caption(f"Printed rows: {ABLATION_SOURCE}.")
    show_notes(questions.suite, Figure.ABLATION)
    if point is None:
        return opened
    series, variant, task, text_run_id = point
    withheld = variant == Variant.TEXT_ONLY
    return pairs_behind(str(text_run_id if withheld else series), chosen, {"task": task}), not withheld


def _show_commands(suite: str, look_ups: Sequence[Row]) -> None:
    predict, brought, look_up = text_only_commands(suite, the_store().path)
    with st.container(border=True):
        st.text(
            "No VLM has answered these original questions with the image withheld. To see what it answers without "
            "looking, ask it so, and take the run into the store:"
        )
        for command in (predict, brought):
            st.code(command, language="bash", wrap_lines=True)
        if not look_ups:
            st.text("To see what the words give away without any VLM, learn look-ups from a suite of other frames:")
            st.code(look_up, language="bash", wrap_lines=True)
        st.caption(
            "VLM and SUITE stand for names that are to be chosen; the page Runs lists them. Only one process can have "
            "the store open, so stop the app first."
        )


def _choose(labels: Mapping[str, str]) -> str:
    """Draw the choice of a VLM, kept in the link as ``withheld``, where there are several."""
    asked = st.query_params.get("withheld", "")
    current = asked if asked in labels else next(iter(labels))
    if len(labels) == 1:
        return current
    st.session_state["ablation_of"] = current
    picked = st.selectbox(
        "Answers of",
        list(labels),
        key="ablation_of",
        format_func=lambda series: labels.get(series, series),
        on_change=_write,
        label_visibility="collapsed",
        width=260,
    )
    return str(picked)


def _write() -> None:
    st.query_params["withheld"] = st.session_state["ablation_of"]
