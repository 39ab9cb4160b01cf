"""The row of filters over pairs."""

__all__ = ["pair_suite_filter", "set_pair_filter", "show_pair_filters", "show_pair_sentence"]

from collections.abc import Mapping, Sequence

import streamlit as st

from backend.domain.records import AnswerStatus
from backend.services.surgcheck_lists import PairChoices
from backend.store.pair_filters import PairFilter
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Cue, Task
from pages.ui.filter_row import SuiteFilterRow
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS
from pages.ui.run_words import status_name
from pages.ui.suite_names import suite_tag

_ROW = SuiteFilterRow(PairFilter, "pairs", what="suite of pairs")

_STATUSES = (AnswerStatus.FAILED, AnswerStatus.EMPTY, AnswerStatus.MISSING)
"""What can become of an answer that is matched whole; it is always readable."""

pair_suite_filter = _ROW.of_suite_or_stop
"""Ends the page where the link asks for something that cannot be meant."""
set_pair_filter = _ROW.write


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
        _ROW.choose_suite(chosen.suite, suites, width=230, of="Pairs")
        _ROW.chip(chosen, "runs", "VLM", list(runs), lambda run: names.get(run, run))
        _ROW.chip(chosen, "tasks", "Task", choices.tasks, lambda task: TASK_WORDS[Task(task)])
        _ROW.chip(chosen, "levels", "Level", choices.levels)
        _ROW.chip(chosen, "cues", "Cue", choices.cues, lambda cue: CUE_WORDS[Cue(cue)])
        _ROW.chip(chosen, "pair_outcomes", "Outcome", list(PairOutcome), lambda outcome: PairOutcome(outcome).plain)
        _ROW.chip(chosen, "statuses", "Nothing read", _STATUSES, status_name, emptied={"variant": ""})
        _ROW.words_chip(chosen.text, "Words in a question, the reference or an answer", "hook")


def show_pair_sentence(chosen: PairFilter, names: Mapping[str, str], count: str) -> None:
    """Draw what is chosen as a sentence, with the link to copy and the way back to everything.

    Args:
        chosen: The filter.
        names: What to call a run, by run id.
        count: How much it is, such as "412 pairs".
    """
    whole = PairFilter(suite=chosen.suite)
    _ROW.show_sentence(
        chosen.sentence(names), count, suite_tag(chosen.suite), cleared=whole if chosen != whole else None
    )
