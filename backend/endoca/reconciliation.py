"""What reconciliation did to a VLM's answers: which part moved where, and how far its decisions can be trusted.

A part *moves* when another value is read from the revised complex answer than was read from the
direct one. Its *premise* is the value read from the VLM's own atomic answer; a value moves to its
premise when it then agrees with it and did not before. Nothing here sees a reference but as
right or wrong, and the ordering of answers by trust sees not even that.
"""

__all__ = [
    "PART_COLUMNS",
    "RECONCILED_COLUMNS",
    "Change",
    "Move",
    "Tracking",
    "agreement",
    "coverage_curve",
    "inconsistency_change",
    "move_of",
    "moves_by_class",
    "part_moves",
    "track_decisions",
    "trust",
    "values_agree",
]

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd

from backend.domain.statistics.resampling import percentile_interval, resampled_sums
from backend.domain.statistics.roc import RocArea, roc_area
from backend.endoca.decision import Consistency, Verdict

_SEVERAL = " or "
"""Between the admissible values of one part, as the scorer writes them (`AtomScore.parsed`)."""

PART_COLUMNS = (
    "unit_id",
    "position",
    "question_class",
    "direct",
    "revised",
    "premise",
    "direct_correct",
    "revised_correct",
)
"""Columns of a frame of parts, one row a part of a unit whose direct and revised complex answer are both there.

direct, revised and premise are values as the scorer reads them (`AtomScore.parsed`) from the direct
complex answer, the revised one and the part's own atomic answer: None where none can be read, or
the answer is not there. The last two (bool) say whether the direct and the revised value are right.
"""

RECONCILED_COLUMNS = ("unit_id", "image_id", "revised_correct", "decision", "consistency", "agreement")
"""Columns of a frame of reconciled units that a Select run decided on.

revised_correct is C_i of the revised answer; decision and consistency are those of `Decision`, None
where the unit has none (an abstention); agreement is in [0, 1]: see `agreement`.
"""


class Move(StrEnum):
    """What became of one part from the direct to the revised answer."""

    KEPT = "kept"
    TO_PREMISE = "to_premise"
    FROM_PREMISE = "from_premise"
    ELSEWHERE = "elsewhere"

    @property
    def plain(self) -> str:
        """In words, as the rest of a sentence that begins with "a part"."""
        return _WORDS[self]


_WORDS = {
    Move.KEPT: "kept as it was",
    Move.TO_PREMISE: "moved to its premise",
    Move.FROM_PREMISE: "moved away from its premise",
    Move.ELSEWHERE: "moved elsewhere",
}


def values_agree(one: str | None, other: str | None) -> bool:
    """Return whether two values that the scorer read can mean the same.

    Of several admissible values one in common is enough. What cannot be read agrees with
    nothing, another unreadable answer included.
    """
    if one is None or other is None:
        return False
    return not set(one.split(_SEVERAL)).isdisjoint(other.split(_SEVERAL))


def move_of(direct: str | None, revised: str | None, premise: str | None) -> Move:
    """Return what became of one part.

    A part that could not be read before nor after is kept. One that can no longer be read has
    moved: away from its premise where it agreed with it, else elsewhere.

    Args:
        direct: Value read from the direct complex answer; None where none could be.
        revised: The same from the revised one.
        premise: The same from the VLM's own atomic answer.
    """
    if direct == revised:
        return Move.KEPT
    before, after = values_agree(direct, premise), values_agree(revised, premise)
    if before == after:
        return Move.ELSEWHERE
    return Move.TO_PREMISE if after else Move.FROM_PREMISE


def part_moves(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the parts with what became of each.

    Args:
        parts: `PART_COLUMNS`.

    Returns:
        The same rows with move (a `Move`'s value) and agrees (bool: the revised value agrees with
        the premise).
    """
    rows = list(zip(parts["direct"], parts["revised"], parts["premise"], strict=True))
    return parts.assign(
        move=pd.Series([move_of(*row).value for row in rows], index=parts.index, dtype=object),
        agrees=pd.Series(
            [values_agree(revised, premise) for _, revised, premise in rows], index=parts.index, dtype=bool
        ),
    )


def moves_by_class(moved: pd.DataFrame) -> pd.DataFrame:
    """Return how the parts of each question class moved, and whether that did them good.

    Args:
        moved: As returned by `part_moves`.

    Returns:
        One row a question class and move that occurs, sorted: question_class, move, n_parts,
        n_units (units with such a part), n_right_before, n_right_after (parts).
    """
    return (
        moved.groupby(["question_class", "move"], observed=True)
        .agg(
            n_parts=("unit_id", "size"),
            n_units=("unit_id", "nunique"),
            n_right_before=("direct_correct", "sum"),
            n_right_after=("revised_correct", "sum"),
        )
        .reset_index()
    )


def agreement(moved: pd.DataFrame) -> "pd.Series[float]":
    """Return by unit_id the share of parts in which the revised answer agrees with the VLM's own atomic answer.

    Args:
        moved: As returned by `part_moves`. A unit that is not in it has no answer to agree.
    """
    return moved.groupby("unit_id")["agrees"].mean()


_CONSISTENCIES = {Consistency.CONSISTENT: 3, Consistency.PARTLY: 2, Consistency.INCONSISTENT: 1}


def trust(units: pd.DataFrame) -> "pd.Series[int]":
    """Return each unit's place in an ordering that no reference has a part in: the higher, the more trusted.

    First the decision (answer above abstain), then the consistency label (consistent, partly
    consistent, inconsistent, none), then the share of parts that agree with the VLM's own atomic
    answers. Units alike in all three share a place.

    Args:
        units: `RECONCILED_COLUMNS`.
    """
    keys = pd.DataFrame(
        {
            "decision": (units["decision"] == Verdict.ANSWER).astype(int),
            "consistency": [_CONSISTENCIES.get(label, 0) for label in units["consistency"]],
            "agreement": units["agreement"].astype(float),
        },
        index=units.index,
    )
    return keys.groupby(list(keys.columns)).ngroup()


def coverage_curve(units: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy against coverage as less and less trusted answers are let in, in the order of `trust`.

    Units that share a place come in together: an order among them would be made up.

    Args:
        units: `RECONCILED_COLUMNS`.

    Returns:
        One row a place, the most trusted first: decision ("answer" or "abstain"), consistency (None:
        the unit has none), agreement, n (units at the place), n_covered and n_right (units let in so
        far, and of these right), coverage, accuracy (fractions).
    """
    if units.empty:
        names = ("decision", "consistency", "agreement", "n", "n_covered", "n_right", "coverage", "accuracy")
        return pd.DataFrame(columns=list(names))
    decided = units.assign(place=trust(units), decision=_decision(units))
    places = (
        decided.groupby("place", sort=True)
        .agg(
            decision=("decision", "first"),
            agreement=("agreement", "first"),
            n=("unit_id", "size"),
            right=("revised_correct", "sum"),
        )
        .iloc[::-1]
    )
    labels = decided.drop_duplicates("place").set_index("place")["consistency"]
    covered, right = places["n"].cumsum().to_numpy(), places["right"].cumsum().to_numpy()
    return pd.DataFrame(
        {
            "decision": places["decision"].to_numpy(),
            "consistency": pd.Series([labels[place] for place in places.index], dtype=object),
            "agreement": places["agreement"].to_numpy(dtype=float),
            "n": places["n"].to_numpy(),
            "n_covered": covered,
            "n_right": right,
            "coverage": covered / len(units),
            "accuracy": right / covered,
        }
    )


class Tracking(NamedTuple):
    """How a VLM's decisions go with the correctness of the answers they are about."""

    n_answer_right: int
    n_answer_wrong: int
    n_abstain_right: int
    """Right answers withheld."""
    n_abstain_wrong: int
    area: RocArea | None
    """Chance that a right answer is trusted more than a wrong one (`trust`), a tie counting half; None
    where all are right or all wrong."""

    @property
    def n(self) -> int:
        """Units decided on."""
        return self.n_answer_right + self.n_answer_wrong + self.n_abstain_right + self.n_abstain_wrong


def track_decisions(units: pd.DataFrame) -> Tracking:
    """Return how the decisions go with correctness.

    Args:
        units: `RECONCILED_COLUMNS`.
    """
    answered = (units["decision"] == Verdict.ANSWER).to_numpy(dtype=bool)
    right = units["revised_correct"].to_numpy(dtype=bool)
    places = trust(units).to_numpy()
    return Tracking(
        n_answer_right=int(np.sum(answered & right)),
        n_answer_wrong=int(np.sum(answered & ~right)),
        n_abstain_right=int(np.sum(~answered & right)),
        n_abstain_wrong=int(np.sum(~answered & ~right)),
        area=roc_area(places[right].tolist(), places[~right].tolist()),
    )


class Change(NamedTuple):
    """A difference between two metrics, after minus before."""

    value: float | None
    """None where one of the two is undefined."""
    low: float | None
    """Lower 95 % bound, whole images resampled; None where there is none."""
    high: float | None


def inconsistency_change(direct: pd.DataFrame, revised: pd.DataFrame) -> Change:
    """Return how far complex-atomic inconsistency (equation 6) moves from direct to revised answers.

    The two shares rest on different units (those right before, those right after), so there is
    no test by pairs; the interval resamples the images of both at once. Atomic answers are the same
    on both sides.

    Args:
        direct: `backend.endoca.metrics.UNIT_COLUMNS` of the direct run.
        revised: The same of the revised run; units that only one holds are left out.
    """
    both = direct.merge(revised, on="unit_id", suffixes=("", "_after"))
    if both.empty:
        return Change(None, None, None)
    _, image = np.unique(both["image_id"].to_numpy(dtype=str), return_inverse=True)
    columns = []
    for after in ("", "_after"):
        right = both[f"complex_correct{after}"].to_numpy(dtype=bool)
        parted = right & (both[f"n_atoms_correct{after}"] < both[f"n_atoms{after}"]).to_numpy()
        columns += [np.bincount(image, weights=parted), np.bincount(image, weights=right)]
    sums = np.column_stack(columns)
    before_k, before_n, after_k, after_n = sums.sum(axis=0).tolist()
    if not before_n or not after_n:
        return Change(None, None, None)
    value = after_k / after_n - before_k / before_n
    if len(sums) < 2:
        return Change(value, None, None)
    totals = resampled_sums(sums)
    with np.errstate(invalid="ignore"):
        interval = percentile_interval(totals[:, 2] / totals[:, 3] - totals[:, 0] / totals[:, 1])
    return Change(value, interval.low if interval else None, interval.high if interval else None)


def _decision(units: pd.DataFrame) -> "pd.Series[str]":
    """Return each unit's decision; one without is an abstention."""
    return units["decision"].where(units["decision"] == Verdict.ANSWER, Verdict.ABSTAIN.value)
