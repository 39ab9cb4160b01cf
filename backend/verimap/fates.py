"""What becomes of an answer over the turns of the feedback loop: corrected, locked, spoiled (section 4.6, Fig. 7).

A loop is one example's answers of one generator, turn by turn, each with the verdict of one verifier. Its fate rests
on the first answer, the last answer and the last verdict. The paper does not say when a loop ends, so that is a rule
(`LoopRule`) which stands beside every figure. A loop of which that much is not known has no fate but a reason
(`NoFate`), and is counted.
"""

__all__ = ["Fate", "LoopEnd", "LoopRule", "NoFate", "Turn", "end_of", "fate_of"]

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from backend.verimap.verifier import Verdict


class Fate(StrEnum):
    """What became of an answer. The three fates of a wrong one are the paper's; those of a right one are ours."""

    CORRECTED = "corrected"
    """Wrong at turn 0, right at the end."""
    STILL_WRONG = "still_wrong"
    """Wrong at turn 0 and at the end, and not verified as correct there."""
    LOCKED = "locked"
    """Wrong at turn 0 and at the end, and verified as correct there."""
    KEPT = "kept"
    """Right at turn 0 and at the end."""
    SPOILED = "spoiled"
    """Right at turn 0, wrong at the end, whatever the last verdict."""

    @property
    def label(self) -> str:
        """The paper's words, or ours where it has none."""
        return _WORDS[self][0]

    @property
    def plain(self) -> str:
        """The same for a clinician."""
        return _WORDS[self][1]

    @property
    def of_wrong(self) -> bool:
        """Whether it is a fate of answers that are wrong at turn 0."""
        return self in (Fate.CORRECTED, Fate.STILL_WRONG, Fate.LOCKED)


class NoFate(StrEnum):
    """Why a loop has no fate."""

    UNFINISHED = "unfinished"
    """Its records end before the loop does, or a turn is missing in between."""
    UNJUDGED = "unjudged"
    """No oracle judged the first answer, or the last one."""

    @property
    def plain(self) -> str:
        """For people."""
        return {"unfinished": "not followed to its end", "unjudged": "first or last answer not judged"}[self.value]


class LoopEnd(StrEnum):
    """When a loop ends; the paper leaves open whether CORRECT ends it."""

    AS_RECORDED = "as-recorded"
    """Where its records end, if that is the last turn or an acceptance."""
    AT_ACCEPTANCE = "at-acceptance"
    """At the first verdict CORRECT, else at the last turn; later turns are put aside."""
    AT_LAST_TURN = "at-last-turn"
    """At the last turn alone, whatever the verdicts."""

    @property
    def plain(self) -> str:
        """The rule in words, to print below a figure."""
        return _ENDS[self]


_WORDS = {
    Fate.CORRECTED: ("corrected", "wrong at first, right in the end"),
    Fate.STILL_WRONG: ("still wrong", "wrong in the end, and not accepted"),
    Fate.LOCKED: ("locked by false verification", "wrong in the end, and accepted as correct"),
    Fate.KEPT: ("kept right", "right at first and in the end"),
    Fate.SPOILED: ("spoiled", "right at first, wrong in the end"),
}

_ENDS = {
    LoopEnd.AS_RECORDED: "A loop ends where its records end; before the last turn only an acceptance ends it",
    LoopEnd.AT_ACCEPTANCE: "A loop ends at the first acceptance, and later turns are put aside",
    LoopEnd.AT_LAST_TURN: "A loop ends at the last turn, whatever was accepted before",
}


@dataclass(frozen=True, slots=True)
class LoopRule:
    """When loops end; stored with every figure made of them.

    Raises:
        ValueError: The last turn is below 1.
    """

    end: LoopEnd = LoopEnd.AS_RECORDED
    last_turn: int | None = None
    """Turns after it are put aside: 4 in section 4.6, 5 in Appendix B.5. None: the last that anyone of the same
    generator and verifier reached."""

    def __post_init__(self) -> None:
        if self.last_turn is not None and self.last_turn < 1:
            raise ValueError("a loop has at least one turn after the first answer")

    @property
    def key(self) -> str:
        """The rule as a link has it; empty for the default one."""
        if self == LoopRule():
            return ""
        return self.end.value if self.last_turn is None else f"{self.end.value}.{self.last_turn}"

    @classmethod
    def of_key(cls, key: str) -> Self:
        """Return the rule of a link.

        Raises:
            ValueError: There is no such rule.
        """
        end, _, last = key.partition(".")
        return cls(LoopEnd(end) if end else LoopEnd.AS_RECORDED, int(last) if last else None)

    @property
    def sentence(self) -> str:
        """The rule in words, to print below a figure."""
        last = "the last on file" if self.last_turn is None else str(self.last_turn)
        return f"{self.end.plain}. Last turn: {last}."


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a loop."""

    correct: bool | None
    """Whether the answer is right; None where no oracle judged it."""
    verdict: Verdict | None
    """What the verifier said of it; None without a verdict."""


def end_of(turns: Mapping[int, Turn], last_turn: int, end: LoopEnd) -> int | None:
    """Return the turn a loop ends at.

    Args:
        turns: By number, from 0.
        last_turn: The last that a loop can have; turns after it are put aside.
        end: When a loop ends.

    Returns:
        None where the loop was not followed to its end: turns are missing.
    """
    own = {number: turn for number, turn in turns.items() if number <= last_turn}
    accepted = [number for number, turn in own.items() if turn.verdict is Verdict.CORRECT]
    at = last_turn
    if end is LoopEnd.AT_ACCEPTANCE:
        at = min(accepted, default=last_turn)
    elif end is LoopEnd.AS_RECORDED and own and max(own) in accepted:
        at = max(own)
    return at if all(number in own for number in range(at + 1)) else None


def fate_of(turns: Mapping[int, Turn], last_turn: int, end: LoopEnd = LoopEnd.AS_RECORDED) -> Fate | NoFate:
    """Return what became of an answer.

    A wrong last answer is locked if the last verdict is CORRECT. Any other verdict, UNCERTAIN and a reply without
    one among them, does not verify it as correct, so it is still wrong. A loop that was not followed to its end is
    unfinished, even where that much of its fate shows.

    Args:
        turns: By number, from 0.
        last_turn: The last that a loop can have; turns after it are put aside.
        end: When a loop ends.
    """
    at = end_of(turns, last_turn, end)
    if at is None:
        return NoFate.UNFINISHED
    first, last = turns[0], turns[at]
    if first.correct is None or last.correct is None:
        return NoFate.UNJUDGED
    if first.correct:
        return Fate.KEPT if last.correct else Fate.SPOILED
    if last.correct:
        return Fate.CORRECTED
    return Fate.LOCKED if last.verdict is Verdict.CORRECT else Fate.STILL_WRONG
