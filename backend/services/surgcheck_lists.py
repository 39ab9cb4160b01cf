"""What the pairs of a suite can be chosen by, and what one run answered to a few of them."""

__all__ = ["PairChoices", "answered_pairs", "pair_choices"]

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from backend.services.surgcheck_suites import place_of
from backend.store.pair_filters import PairFilter, pair_page
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


class PairChoices(NamedTuple):
    """What the pairs of a suite can be chosen by, each in the paper's order."""

    tasks: tuple[str, ...]
    levels: tuple[str, ...]
    cues: tuple[str, ...]
    n_pairs: int


def pair_choices(store: Store, suite: str) -> PairChoices:
    """Return the tasks, levels and cues that a suite has, and how many pairs."""
    [(tasks, levels, cues, n_pairs)] = store.rows(
        "SELECT coalesce(list(DISTINCT task), []), coalesce(list(DISTINCT level), []), "
        "coalesce(list(DISTINCT cue), []), count(*) FROM pairs WHERE suite = ?",
        [suite],
    )
    values = {"task": tasks, "level": levels, "cue": cues}
    ordered = {name: tuple(sorted(found, key=lambda value: place_of(name, value))) for name, found in values.items()}
    return PairChoices(ordered["task"], ordered["level"], ordered["cue"], n_pairs)


def answered_pairs(store: Store, chosen: PairFilter, run_id: str, *, offset: int, limit: int) -> "pd.DataFrame":
    """Return one page of the chosen pairs with what one run answered to both questions.

    Args:
        store: The store.
        chosen: Which pairs; with outcomes, those that this run answered so.
        run_id: Whose answers.
        offset: Pairs to pass over.
        limit: Pairs to return, at most.

    Returns:
        As `pair_page`, and of each side, ``original`` and ``less_biased``: ``…_answer`` (the text that was
        scored; None where there is none), ``…_status`` (an `AnswerStatus`; None where not asked) and
        ``…_correct``.
    """
    import pandas as pd

    page = pair_page(store, replace(chosen, runs=(run_id,)), offset=offset, limit=limit)
    answers = store.rows(
        "SELECT s.unit_id, s.role, json_extract_string(s.parts, '$[0].parsed'), s.status, s.correct FROM scores s "
        "JOIN runs r USING (run_id, scorer, scorer_version) WHERE s.run_id = $run AND list_contains($units, s.unit_id)",
        {"run": run_id, "units": page["unit_id"].tolist()},
    )
    said = {(unit, role): rest for unit, role, *rest in answers}
    for side in ("original", "less_biased"):
        own = [said.get((unit, side), (None, None, False)) for unit in page["unit_id"]]
        for at, name in enumerate(("answer", "status", "correct")):
            page[f"{side}_{name}"] = pd.Series([one[at] for one in own], dtype=object)
    return page
