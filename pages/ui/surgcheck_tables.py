"""What all figures and tables of the SurgCheck page rest on, worked out once for each choice of pairs.

Tables are shared between reruns and readers: never change one.
"""

__all__ = ["answers_of", "drops_of", "ladder_of", "readable", "scores_of"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.figures.style import BLIND_GROUP
from backend.services.surgcheck_answers import answer_table
from backend.services.surgcheck_series import drop_table, score_table
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.surgcheck.tasks import PAIRED_TASKS, Cue
from pages.ui.resources import drawn_once, the_store
from pages.ui.run_picker import READABLE

if TYPE_CHECKING:
    import pandas as pd

KEPT_ANSWERS = 3
"""Tables of answers kept: some 50 MB for a hundred thousand answers."""


def answers_of(questions: PairFilter) -> "pd.DataFrame":
    """Return `answer_table` of the chosen pairs."""
    store = the_store()
    table: pd.DataFrame = _answers(questions, str(store.path), store.data_version, _store=store)
    return table


@st.cache_resource(max_entries=KEPT_ANSWERS, show_spinner="Reading the answers")
def _answers(questions: PairFilter, path: str, data_version: int, *, _store: Store) -> "pd.DataFrame":
    return answer_table(_store, questions)


def scores_of(questions: PairFilter, by: Sequence[str] = ()) -> "pd.DataFrame":
    """Return `score_table` of the chosen pairs."""
    return drawn_once(
        "surgcheck_scores", (questions, tuple(by)), lambda: score_table(the_store(), answers_of(questions), by)
    )


def drops_of(questions: PairFilter, metric: str, by: Sequence[str] = ()) -> "pd.DataFrame":
    """Return `drop_table` of the chosen pairs, of those runs that have it."""
    return drop_table(scores_of(questions, by), metric, by)


def ladder_of(questions: PairFilter, metric: str) -> "pd.DataFrame":
    """Return drops by cue, of the tasks whose two texts differ and of questions that point at something."""

    def scores() -> "pd.DataFrame":
        answers = answers_of(questions)
        pointing = answers["task"].isin(list(PAIRED_TASKS)) & (answers["cue"] != Cue.NONE)
        return score_table(the_store(), answers[pointing], ["cue"])

    return drop_table(drawn_once("surgcheck_ladder", (questions,), scores), metric, ["cue"])


def readable(rows: Sequence[Mapping[str, Any]], *, chosen: bool) -> set[str]:
    """Return the series that a figure by group shows: of each VLM one, the best six VLMs, and the blind ones.

    Runs of one VLM have one colour and shape. So of several settings the one with the best answers to original
    questions is shown, unless runs were chosen.

    Args:
        rows: Of `drop_table`, a row a run.
        chosen: Whether the runs were chosen by hand.
    """
    both = [row for row in rows if row["gap"] is not None]
    best = sorted((row for row in both if row["vlm_group"] != BLIND_GROUP), key=lambda row: -row["original"])
    if not chosen:
        first: dict[str, Mapping[str, Any]] = {}
        for row in best:
            first.setdefault(row["vlm"], row)
        best = list(first.values())
    return {row["series"] for row in [*best[:READABLE], *(row for row in both if row["vlm_group"] == BLIND_GROUP)]}
