"""The row of filters over verifications."""

__all__ = [
    "asked_verifications",
    "asked_verifications_or_stop",
    "dataset_words",
    "set_verification_filter",
    "show_verification_filters",
    "show_verification_sentence",
    "task_words",
    "verifications_counted",
]

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from backend.services.verimap_cells import VerificationChoices
from backend.store.verification_filters import APART, UNLABELLED, VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import VerdictOutcome
from backend.verimap.vocabulary import Task, TaskGroup, dataset_of_name
from pages.ui.filter_row import FilterRow
from pages.ui.import_report import plural
from pages.ui.suite_names import suite_tag, suite_words

_ROW = FilterRow(VerificationFilter, "verdicts")

asked_verifications = _ROW.asked
asked_verifications_or_stop = _ROW.asked_or_stop
set_verification_filter = _ROW.write

_TURN_WORDS = {0: "0, the first answer"}


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
                placeholder = "All" if field != "conditions" else "As in the paper: image, question and answer"
                _ROW.chip(chosen, field, label, options, words, is_set=is_set, placeholder=placeholder)
        if "text" not in without:
            _ROW.words_chip(
                chosen.text, "Words in the question, the reference, the answer or the explanation", "effusion"
            )
        if more is not None:
            more()


def show_verification_sentence(
    chosen: VerificationFilter,
    names: Mapping[str, str],
    count: str,
    *,
    whole: VerificationFilter | None = None,
    more: Collection[str] = (),
) -> None:
    """Draw what is chosen as a sentence, with the link to copy and the way back to everything.

    Args:
        chosen: The filter.
        names: What to call a run, by run id.
        count: How much it is, such as "412 verdicts".
        whole: What the page shows where the link asks for nothing.
        more: Parameters of the link that belong to the page's own controls in the row.
    """
    tags = " ".join(dict.fromkeys(filter(None, map(suite_tag, chosen.suites))))
    is_usual = chosen == (whole or VerificationFilter()) and not any(name in st.query_params for name in more)
    cleared = None if is_usual else VerificationFilter()
    _ROW.show_sentence(chosen.sentence(names), count, tags, cleared=cleared, without=more)


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
