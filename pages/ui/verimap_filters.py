"""The row of filters over verifications: the choice lives in the link, is said as a sentence, can be copied or cleared.

The sibling of `pages.ui.filters`, and like it: the link is the one place of truth.
"""

__all__ = [
    "asked_verifications",
    "dataset_words",
    "set_verification_filter",
    "show_verification_filters",
    "show_verification_sentence",
    "task_words",
    "verifications_counted",
]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from typing import Any

import streamlit as st

from backend.services.verimap_cells import VerificationChoices
from backend.store.verification_filters import APART, UNLABELLED, VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import VerdictOutcome
from backend.verimap.vocabulary import Task, TaskGroup, dataset_of_name
from pages.ui.copy import copy_button
from pages.ui.import_report import plural
from pages.ui.suite_names import suite_tag, suite_words

_TURN_WORDS = {0: "0, the first answer"}


def asked_verifications() -> VerificationFilter:
    """Return the filter the page's link asks for.

    Raises:
        AppError: The link asks for something that cannot be meant.
    """
    return VerificationFilter.from_query(st.query_params.to_dict())


def set_verification_filter(chosen: VerificationFilter) -> None:
    """Write a filter into the link, in one step of the browser's history; other parameters of it stay."""
    own = {field.name for field in fields(VerificationFilter)}
    others = {name: value for name, value in st.query_params.to_dict().items() if name not in own}
    st.query_params.from_dict({**others, **chosen.to_query()})


def show_verification_filters(
    chosen: VerificationFilter,
    choices: VerificationChoices,
    *,
    whole: VerificationFilter | None = None,
    without: Sequence[str] = (),
    more: Callable[[], None] | None = None,
) -> None:
    """Draw the controls in one row; one with nothing to choose between is left out.

    Args:
        chosen: The filter as the link has it.
        choices: What the store offers.
        whole: What the page shows where the link asks for nothing.
        without: Fields that the page has no control for here.
        more: Draws the page's own controls at the end of the row.
    """
    outcomes = {outcome.value: outcome.label for outcome in VerdictOutcome} | dict(APART)
    chips: tuple[tuple[str, str, Sequence[Any], Callable[[Any], str]], ...] = (
        ("suites", "Data set", choices.suites, dataset_words),
        ("tasks", "Task", choices.tasks, task_words),
        ("groups", "Group", _groups(choices.tasks), str),
        ("generators", "Answers of", choices.generators, str),
        ("verifiers", "Verifier", choices.verifiers, str),
        ("conditions", "Shown", choices.conditions, lambda one: Condition(one).label),
        ("turns", "Turn", choices.turns, lambda turn: _TURN_WORDS.get(turn, str(turn))),
        ("origins", "Origin", choices.origins, str),
        ("verdict_outcomes", "Outcome", tuple(outcomes), lambda key: outcomes[key]),
    )
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"):
        for field, label, options, words in chips:
            usual = getattr(whole or VerificationFilter(), field)
            is_set = getattr(chosen, field) != usual
            if field not in without and (len(options) > 1 or is_set):
                _chip(chosen, field, label, options, words, is_set=is_set)
        if "text" not in without:
            st.session_state["verdicts_text"] = chosen.text
            with st.popover("Words", type="primary" if chosen.text else "secondary"):
                st.text_input(
                    "Words in the question, the reference, the answer or the explanation",
                    key="verdicts_text",
                    on_change=_write,
                    args=("text", "verdicts_text"),
                    placeholder="for example: effusion",
                    width=360,
                )
        if more is not None:
            more()


def show_verification_sentence(
    chosen: VerificationFilter, names: Mapping[str, str], count: str, *, whole: VerificationFilter | None = None
) -> None:
    """Draw what is chosen as a sentence, with the link to copy and the way back to everything.

    Args:
        chosen: The filter.
        names: What to call a run, by run id.
        count: How much it is, such as "412 verdicts".
        whole: What the page shows where the link asks for nothing.
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        tags = " ".join(dict.fromkeys(filter(None, map(suite_tag, chosen.suites))))
        st.html(
            f"<div><span style='opacity:.75'>{escape(chosen.sentence(names))}:</span> <b>{escape(count)}</b> "
            f"{tags}</div>",
            width="stretch",
        )
        copy_button("Copy link", key="verdicts_link")
        if chosen != (whole or VerificationFilter()):
            st.button(
                "Clear",
                key="verdicts_clear",
                type="tertiary",
                on_click=set_verification_filter,
                args=(VerificationFilter(),),
            )


def verifications_counted(n: int) -> str:
    """Return "1 verdict", "412 verdicts"."""
    return plural(n, "verdict")


def dataset_words(suite: str) -> str:
    """Return a data set's name as the paper writes it, else as the store has it."""
    known = dataset_of_name(suite)
    return known.label if known else suite_words(suite)


def task_words(task: str | None) -> str:
    """Return a task's name; a question without one is not labelled."""
    return "not labelled" if task in (None, UNLABELLED) else Task(task).label


def _groups(tasks: Sequence[str]) -> tuple[str, ...]:
    there = {Task(task).group for task in tasks if task != UNLABELLED}
    return tuple(group.value for group in TaskGroup if group in there)


def _chip(
    chosen: VerificationFilter,
    field: str,
    label: str,
    options: Sequence[Any],
    words: Callable[[Any], str],
    *,
    is_set: bool,
) -> None:
    """Draw one control as a button that says how much is chosen, and opens the choice."""
    values = list(getattr(chosen, field))
    key = f"verdicts_{field}"
    st.session_state[key] = values
    head = f"{label}: {len(values)}" if len(values) > 1 else label
    with st.popover(head, type="primary" if is_set else "secondary"):
        st.multiselect(
            label,
            list(dict.fromkeys([*options, *values])),
            key=key,
            format_func=words,
            on_change=_write,
            args=(field, key),
            placeholder="All" if field != "conditions" else "As in the paper: image, question and answer",
            width=360,
        )


def _write(field: str, key: str) -> None:
    value = st.session_state[key]
    changed: dict[str, Any] = {field: tuple(value) if isinstance(value, list) else value}
    set_verification_filter(replace(asked_verifications(), **changed))
