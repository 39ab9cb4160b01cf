"""The row of filters: what is chosen lives in the link, is said as a sentence, and can be copied or cleared.

The link is the one place of truth. Each control is set from it and writes its own part back, so
Back and Forward of the browser move through the choices.
"""

__all__ = ["link_choice", "link_filter", "set_filter", "show_filters", "show_sentence", "suite_filter"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from typing import Any, NamedTuple

import streamlit as st

from backend.endoca.outcomes import Outcome
from backend.errors import AppError
from backend.figures.style import GROUP_LABELS
from backend.services.endoca_series import Choices
from backend.store.filters import UnitFilter
from pages.ui.copy import copy_button
from pages.ui.suite_names import suite_tag, suite_words


class _Chip(NamedTuple):
    """One control: a field of the filter that takes several values."""

    field: str
    label: str
    options: Sequence[Any]
    words: Callable[[Any], str] = str


def link_filter() -> UnitFilter:
    """Return the filter the page's link asks for.

    Raises:
        AppError: The link asks for something that cannot be meant.
    """
    return UnitFilter.from_query(st.query_params.to_dict())


def suite_filter(suites: Sequence[str]) -> UnitFilter:
    """Return the filter the page's link asks for, always of one suite: the first where it names none.

    Raises:
        AppError: The link asks for an unknown suite, or for something that cannot be meant.
    """
    chosen = link_filter()
    if chosen.suite and chosen.suite not in suites:
        raise AppError(f"There is no suite {chosen.suite!r} in this store.", f"Known: {', '.join(suites)}.")
    return replace(chosen, suite=chosen.suite or suites[0])


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


def set_filter(chosen: UnitFilter) -> None:
    """Write a filter into the link, in one step of the browser's history; other parameters of it stay."""
    own = {field.name for field in fields(UnitFilter)}
    others = {name: value for name, value in st.query_params.to_dict().items() if name not in own}
    st.query_params.from_dict({**others, **chosen.to_query()})


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
        _choose_suite(chosen, suites)
        _chip(chosen, _Chip("runs", "VLM", list(runs), lambda run: names.get(run, run)))
        for chip in (
            _Chip("complexities", "Complexity", choices.complexities),
            _Chip("classes", "Class", choices.classes, _spaced),
            _Chip("splits", "Split", choices.splits),
            _Chip("groups", "Group", choices.groups, lambda group: GROUP_LABELS.get(group, _spaced(group))),
            _Chip("origins", "Origin", choices.origins),
            _Chip("outcomes", "Outcome", list(Outcome), lambda outcome: Outcome(outcome).plain),
        ):
            _chip(chosen, chip)
        _words_chip(chosen)
        _parted_chip(chosen, runs, names)


def show_sentence(chosen: UnitFilter, names: Mapping[str, str], count: str) -> None:
    """Draw what is chosen as a sentence, with the link to copy and the way back to everything.

    Args:
        chosen: The filter.
        names: What to call a run, by run id.
        count: How much it is, such as "412 units".
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.html(
            f"<div><span style='opacity:.75'>{escape(chosen.sentence(names))}:</span> <b>{escape(count)}</b> "
            f"{suite_tag(chosen.suite)}</div>",
            width="stretch",
        )
        copy_button("Copy link", key="filter_link")
        whole = UnitFilter(suite=chosen.suite)
        if chosen != whole:
            st.button("Clear", key="filter_clear", type="tertiary", on_click=set_filter, args=(whole,))


def _choose_suite(chosen: UnitFilter, suites: Sequence[str]) -> None:
    st.session_state["filter_suite"] = chosen.suite
    st.selectbox(
        "Suite",
        list(suites),
        key="filter_suite",
        format_func=suite_words,
        on_change=lambda: set_filter(UnitFilter(suite=st.session_state["filter_suite"])),
        label_visibility="collapsed",
        width=150,
        help="Units and runs of one suite",
    )


def _chip(chosen: UnitFilter, chip: _Chip) -> None:
    """Draw one control as a button that says how much is chosen, and opens the choice."""
    values = list(getattr(chosen, chip.field))
    key = f"filter_{chip.field}"
    st.session_state[key] = values
    options = list(dict.fromkeys([*chip.options, *values]))
    with st.popover(_head(chip.label, len(values)), type="primary" if values else "secondary"):
        st.multiselect(
            chip.label,
            options,
            key=key,
            format_func=chip.words,
            on_change=_write,
            args=(chip.field, key),
            placeholder="All",
            width=360,
        )
        if chip.field == "classes":
            st.session_state["filter_part_wrong"] = chosen.part_wrong
            st.checkbox(
                "Only where such a part was answered wrong",
                key="filter_part_wrong",
                on_change=_write,
                args=("part_wrong", "filter_part_wrong"),
                disabled=not values,
            )


def _words_chip(chosen: UnitFilter) -> None:
    st.session_state["filter_text"] = chosen.text
    with st.popover(_head("Words", bool(chosen.text)), type="primary" if chosen.text else "secondary"):
        st.text_input(
            "Words in the question, the reference or an answer",
            key="filter_text",
            on_change=_write,
            args=("text", "filter_text"),
            placeholder="for example: snare",
            width=360,
        )


def _parted_chip(chosen: UnitFilter, runs: Mapping[str, str], names: Mapping[str, str]) -> None:
    is_set = bool(chosen.right or chosen.wrong)
    with st.popover(_head("A right, B wrong", is_set), type="primary" if is_set else "secondary"):
        for field, label in (("right", "Complex answer right by"), ("wrong", "Complex answer wrong by")):
            value = getattr(chosen, field)
            key = f"filter_{field}"
            st.session_state[key] = value
            options = list(dict.fromkeys(["", *runs, value]))
            st.selectbox(
                label,
                options,
                key=key,
                format_func=lambda run: names.get(run, run) or "any",
                on_change=_write,
                args=(field, key),
                width=360,
            )


def _write(field: str, key: str) -> None:
    value = st.session_state[key]
    if isinstance(value, list):
        value = tuple(value)
    changed = replace(link_filter(), **{field: value})
    if field == "classes" and not value:
        changed = replace(changed, part_wrong=False)
    set_filter(changed)


def _head(label: str, count: int) -> str:
    return f"{label}: {count}" if count > 1 else label


def _spaced(key: str) -> str:
    return key.replace("_", " ")
