"""The row of filters over pairs: what is chosen lives in the link, is said as a sentence, and can be copied or cleared.

The sibling of `pages.ui.filters`, and like it: the link is the one place of truth.
"""

__all__ = ["pair_suite_filter", "set_pair_filter", "show_pair_filters", "show_pair_sentence"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from typing import Any

import streamlit as st

from backend.errors import AppError
from backend.services.surgcheck_lists import PairChoices
from backend.store.pair_filters import PairFilter
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Cue, Task
from pages.ui.copy import copy_button
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS
from pages.ui.suite_names import suite_tag, suite_words


def pair_suite_filter(suites: Sequence[str]) -> PairFilter:
    """Return the filter the page's link asks for, always of one suite: the first where it names none.

    Args:
        suites: Suites of pairs, at least one.

    Raises:
        AppError: The link asks for an unknown suite, or for something that cannot be meant.
    """
    chosen = PairFilter.from_query(st.query_params.to_dict())
    if chosen.suite and chosen.suite not in suites:
        raise AppError(f"There is no suite of pairs {chosen.suite!r} in this store.", f"Known: {', '.join(suites)}.")
    return replace(chosen, suite=chosen.suite or suites[0])


def set_pair_filter(chosen: PairFilter) -> None:
    """Write a filter into the link, in one step of the browser's history; other parameters of it stay."""
    own = {field.name for field in fields(PairFilter)}
    others = {name: value for name, value in st.query_params.to_dict().items() if name not in own}
    st.query_params.from_dict({**others, **chosen.to_query()})


def show_pair_filters(
    chosen: PairFilter, choices: PairChoices, suites: Sequence[str], runs: Mapping[str, str], names: Mapping[str, str]
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
        st.session_state["pairs_suite"] = chosen.suite
        st.selectbox(
            "Suite",
            list(suites),
            key="pairs_suite",
            format_func=suite_words,
            on_change=lambda: set_pair_filter(PairFilter(suite=st.session_state["pairs_suite"])),
            label_visibility="collapsed",
            width=230,
            help="Pairs and runs of one suite",
        )
        _chip(chosen, "runs", "VLM", list(runs), lambda run: names.get(run, run))
        _chip(chosen, "tasks", "Task", choices.tasks, lambda task: TASK_WORDS[Task(task)])
        _chip(chosen, "levels", "Level", choices.levels)
        _chip(chosen, "cues", "Cue", choices.cues, lambda cue: CUE_WORDS[Cue(cue)])
        _chip(chosen, "pair_outcomes", "Outcome", list(PairOutcome), lambda outcome: PairOutcome(outcome).plain)
        st.session_state["pairs_text"] = chosen.text
        with st.popover("Words", type="primary" if chosen.text else "secondary"):
            st.text_input(
                "Words in a question, the reference or an answer",
                key="pairs_text",
                on_change=_write,
                args=("text", "pairs_text"),
                placeholder="for example: hook",
                width=360,
            )


def show_pair_sentence(chosen: PairFilter, names: Mapping[str, str], count: str) -> None:
    """Draw what is chosen as a sentence, with the link to copy and the way back to everything.

    Args:
        chosen: The filter.
        names: What to call a run, by run id.
        count: How much it is, such as "412 pairs".
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.html(
            f"<div><span style='opacity:.75'>{escape(chosen.sentence(names))}:</span> <b>{escape(count)}</b> "
            f"{suite_tag(chosen.suite)}</div>",
            width="stretch",
        )
        copy_button("Copy link", key="pairs_link")
        whole = PairFilter(suite=chosen.suite)
        if chosen != whole:
            st.button("Clear", key="pairs_clear", type="tertiary", on_click=set_pair_filter, args=(whole,))


def _chip(
    chosen: PairFilter, field: str, label: str, options: Sequence[str], words: Callable[[str], str] = str
) -> None:
    """Draw one control as a button that says how much is chosen, and opens the choice."""
    values = list(getattr(chosen, field))
    key = f"pairs_{field}"
    st.session_state[key] = values
    head = f"{label}: {len(values)}" if len(values) > 1 else label
    with st.popover(head, type="primary" if values else "secondary"):
        st.multiselect(
            label,
            list(dict.fromkeys([*options, *values])),
            key=key,
            format_func=words,
            on_change=_write,
            args=(field, key),
            placeholder="All",
            width=360,
        )


def _write(field: str, key: str) -> None:
    value = st.session_state[key]
    chosen = PairFilter.from_query(st.query_params.to_dict())
    changed: dict[str, Any] = {field: tuple(value) if isinstance(value, list) else value}
    set_pair_filter(replace(chosen, **changed))
