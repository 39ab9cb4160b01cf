"""The cases behind a number of the ASR page."""

__all__ = ["behind_decision", "behind_flips", "behind_move", "behind_step"]

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backend.endoca.decision import Verdict
from backend.endoca.outcomes import Outcome
from backend.services.endoca_series import of_questions
from backend.store.filters import UnitFilter

Row = Mapping[str, Any]


def behind_step(row: Row, step: str, chosen: UnitFilter, *, inconsistent: bool = False) -> UnitFilter:
    """Return the units that a step answered.

    Args:
        row: A reconciliation: base, revised, select (run ids; select may be None).
        step: ``direct_accuracy``, ``revised_accuracy``, or ``selective_accuracy``, which opens those it chose to
            answer.
        chosen: The page's filter; conditions on answers are put aside.
        inconsistent: Only those right on a wrong part.
    """
    runs = {"direct_accuracy": "base", "revised_accuracy": "revised", "selective_accuracy": "select"}
    found = _of_run(chosen, row[runs[step]])
    if step == "selective_accuracy":
        found = replace(found, decision=Verdict.ANSWER.value)
    return replace(found, outcomes=(Outcome.INCONSISTENT.value,)) if inconsistent else found


def behind_flips(row: Row, kind: str, chosen: UnitFilter, by: str = "", group: Any = None) -> UnitFilter:
    """Return the units whose complex answer became right, or wrong.

    Args:
        row: A reconciliation: base and revised (run ids).
        kind: ``repairs`` or ``harms``.
        chosen: The page's filter; conditions on answers are put aside.
        by: ``complexity`` or ``question_class``, where only a group is meant; empty is all.
        group: Which group.
    """
    before, after = row["base"], row["revised"]
    right, wrong = (after, before) if kind == "repairs" else (before, after)
    found = replace(_of_run(chosen, after), right=right, wrong=wrong)
    if by == "complexity":
        return replace(found, complexities=(int(group),))
    return replace(found, classes=(str(group),)) if by else found


def behind_move(row: Row, move: str, question_class: str, chosen: UnitFilter) -> UnitFilter:
    """Return the units in which a part of a class moved so; all of the class where ``move`` is empty."""
    return replace(_of_run(chosen, row["revised"]), classes=(question_class,), moved=move)


def behind_decision(
    row: Row, chosen: UnitFilter, *, decision: str, consistency: str = "", right: bool | None = None
) -> UnitFilter:
    """Return the units that a Select run decided so.

    Args:
        row: A reconciliation with a Select run: select (run id).
        chosen: The page's filter; conditions on answers are put aside.
        decision: A `Verdict`; empty is either.
        consistency: A label, or `UNREADABLE`; empty is any.
        right: Whether the revised answer is right; None is either.
    """
    found = replace(_of_run(chosen, row["select"]), decision=decision, consistency=consistency)
    if right is None:
        return found
    return replace(found, right=row["select"]) if right else replace(found, wrong=row["select"])


def _of_run(chosen: UnitFilter, run: str) -> UnitFilter:
    return replace(of_questions(chosen), runs=(run,), groups=(), origins=())
