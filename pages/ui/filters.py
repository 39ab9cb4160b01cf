"""The row of filters over units, and a choice of one that lives in the link."""

__all__ = ["link_choice", "link_filter", "set_filter", "show_filters", "show_sentence", "suite_filter"]

from collections.abc import Mapping, Sequence

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.figures.style import GROUP_LABELS
from backend.services.endoca_series import Choices
from backend.store.filters import UNREAD, UnitFilter
from pages.ui.filter_row import FILTER_WIDTH, SuiteFilterRow
from pages.ui.run_words import status_name
from pages.ui.suite_names import suite_tag

_ROW = SuiteFilterRow(UnitFilter, "filter", what="suite")

link_filter = _ROW.asked_or_stop
suite_filter = _ROW.of_suite_or_stop
"""Both end the page where the link asks for something that cannot be meant."""
set_filter = _ROW.write


def link_choice(name: str, label: str, options: Sequence[str]) -> str:
    """Draw a choice of one that lives in the link, and return it; the first where the link names none.

    Args:
        name: Of the link's parameter.
        label: Of the control, for a screen reader.
        options: Our own words, never a data set's.
    """
    asked = st.query_params.get(name, options[0])
    state = f"choice_{name}"
    st.session_state[state] = asked if asked in options else options[0]
    picked = st.segmented_control(
        label,
        options,
        key=state,
        required=True,
        on_change=_write_choice,
        args=(name, state),
        label_visibility="collapsed",
    )
    return str(picked)


def _write_choice(name: str, state: str) -> None:
    st.query_params[name] = st.session_state[state]


def show_filters(
    chosen: UnitFilter, choices: Choices, suites: Sequence[str], runs: Mapping[str, str], names: Mapping[str, str]
) -> None:
    """Draw the controls in one row.

    Args:
        chosen: The filter as the link has it, its suite filled in.
        choices: What the suite offers.
        suites: Suites to choose from.
        runs: The suite's runs and what to call them.
        names: What to call any run the link may name.
    """
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"):
        _ROW.choose_suite(chosen.suite, suites, width=150, of="Units")
        _ROW.chip(chosen, "runs", "VLM", list(runs), lambda run: names.get(run, run))
        _ROW.chip(chosen, "complexities", "Complexity", choices.complexities)
        with _ROW.chip(chosen, "classes", "Class", choices.classes, _spaced, emptied={"part_wrong": False}):
            st.checkbox(
                "Only where such a part was answered wrong",
                disabled=not chosen.classes,
                **_ROW.control("part_wrong", chosen.part_wrong),
            )
        _ROW.chip(chosen, "splits", "Split", choices.splits)
        _ROW.chip(chosen, "groups", "Group", choices.groups, lambda group: GROUP_LABELS.get(group, _spaced(group)))
        _ROW.chip(chosen, "origins", "Origin", choices.origins)
        _ROW.chip(chosen, "outcomes", "Outcome", list(Outcome), lambda outcome: Outcome(outcome).plain)
        _ROW.chip(chosen, "statuses", "Nothing read", list(UNREAD), status_name)
        _ROW.words_chip(chosen.text, "Words in the question, the reference or an answer", "snare")
        _parted_chip(chosen, runs, names)


def show_sentence(chosen: UnitFilter, names: Mapping[str, str], count: str) -> None:
    """Draw what is chosen as a sentence, with the link to copy and the way back to everything.

    Args:
        chosen: The filter.
        names: What to call a run, by run id.
        count: How much it is, such as "412 units".
    """
    whole = UnitFilter(suite=chosen.suite)
    _ROW.show_sentence(
        chosen.sentence(names), count, suite_tag(chosen.suite), cleared=whole if chosen != whole else None
    )


def _parted_chip(chosen: UnitFilter, runs: Mapping[str, str], names: Mapping[str, str]) -> None:
    with st.popover("A right, B wrong", type="primary" if chosen.right or chosen.wrong else "secondary"):
        for field, label in (("right", "Complex answer right by"), ("wrong", "Complex answer wrong by")):
            value = getattr(chosen, field)
            st.selectbox(
                label,
                list(dict.fromkeys(["", *runs, value])),
                format_func=lambda run: names.get(run, run) or "any",
                width=FILTER_WIDTH,
                **_ROW.control(field, value),
            )


def _spaced(key: str) -> str:
    return key.replace("_", " ")
