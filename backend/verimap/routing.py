"""Routing: whether to trust a verifier on a question, ask another VLM, or leave it to knowledge from outside.

The paper proposes its map as a decision function and calls self-verification sufficient for
perceptual tasks ("Practical implications"), although their false-positive rates are 66 to
91 % in its own tables. So here the measured cell decides, never the task's group alone: a verifier
is trusted only where enough verdicts show that it lets few wrong answers through.
"""

__all__ = ["MeasuredCell", "Route", "RouteDecision", "RoutingThresholds", "cell_of_counts", "route"]

from dataclasses import dataclass, field
from enum import StrEnum

from backend.domain.metric import percent
from backend.domain.statistics.intervals import wilson_interval
from backend.verimap.counts import Counts
from backend.verimap.quadrants import BiasAxis, PlaneThresholds, Quadrant, quadrant, too_small
from backend.verimap.vocabulary import Task, TaskGroup


class RouteDecision(StrEnum):
    """Where a question's verification goes."""

    TRUST = "trust"
    """The chosen verifier's verdict may stand."""
    CROSS_VERIFY = "cross-verify"
    """Let another VLM verify."""
    EXTERNAL = "external-knowledge-or-person"
    """No VLM's verdict will do: guidelines, retrieval, or a person."""

    @property
    def label(self) -> str:
        """For people."""
        return {"trust": "trust", "cross-verify": "cross-verify"}.get(self.value, "external knowledge or a person")


@dataclass(frozen=True, slots=True)
class RoutingThresholds:
    """What a verifier must show to be trusted; the paper gives no limits, these are ours."""

    max_error: float = 0.25
    """Upper 95 % bound of the verifier error."""
    max_fpr: float = 0.25
    """Upper 95 % bound of the FPR."""
    plane: PlaneThresholds = field(default_factory=PlaneThresholds)
    """Where the mirage begins, and how many verdicts a cell needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCell:
    """What was measured of one verifier on one task."""

    task: Task
    verifier: str
    generator: str | None = None
    """Whose answers it verified; None for those of several VLMs."""
    source: str
    """Where the figures come from, for people: a run, or a table of a paper."""
    error: float | None
    """Verifier error, in [0, 1]."""
    fpr: float | None
    """In [0, 1]; None where no answer was wrong."""
    n: int | None
    """Verdicts; None where it was not printed."""
    n_wrong: int | None
    """Verdicts on wrong answers, on which the FPR rests; None where it was not printed."""

    @property
    def is_self(self) -> bool:
        """Whether the verifier judged its own answers."""
        return self.generator == self.verifier


def cell_of_counts(
    counts: Counts, *, task: Task, verifier: str, generator: str | None = None, source: str
) -> MeasuredCell:
    """Return the cell that counts make."""
    return MeasuredCell(
        task=task,
        verifier=verifier,
        generator=generator,
        source=source,
        error=counts.error,
        fpr=counts.fpr,
        n=counts.n,
        n_wrong=counts.n_wrong,
    )


@dataclass(frozen=True, slots=True)
class Route:
    """A decision with what it rests on."""

    decision: RouteDecision
    reason: str
    """One sentence with the figures."""
    cell: MeasuredCell | None
    """None where nothing was measured."""
    error_high: float | None
    """Upper 95 % bound (Wilson) of the verifier error; None without an n."""
    fpr_high: float | None
    """Upper 95 % bound (Wilson) of the FPR; None without an n."""


def route(task: Task, cell: MeasuredCell | None, thresholds: RoutingThresholds | None = None) -> Route:
    """Return where the verification of a question goes.

    1. *Trust* where the cell has enough verdicts and the upper bounds of error and FPR stay within
       the limits, whatever the task.
    2. *External knowledge or a person* where the cell lies in the mirage of error and FPR and another
       VLM promises no way out: the task is knowledge-intensive, or the verifier was another VLM already.
    3. *Cross-verify* everywhere else.

    Without evidence (no cell, no FPR, or too few verdicts) nothing is trusted: knowledge-intensive
    tasks go to external knowledge or a person, all others to cross-verification. Figures without a
    printed n are evidence against a verifier, never for it.

    Args:
        task: Of the question.
        cell: What was measured of the chosen verifier on that task.
        thresholds: The defaults where None.

    Raises:
        ValueError: The cell is of another task.
    """
    limits = thresholds or RoutingThresholds()
    knowledge = task.group is TaskGroup.KNOWLEDGE_INTENSIVE
    fallback = RouteDecision.EXTERNAL if knowledge else RouteDecision.CROSS_VERIFY
    if cell is None:
        return Route(fallback, f"This verifier has not been measured on {task.label}.", None, None, None)
    if cell.task is not task:
        raise ValueError(f"the cell is of {cell.task.value}, the question of {task.value}")
    error_high, fpr_high = _high(cell.error, cell.n), _high(cell.fpr, cell.n_wrong)
    figures = f"error {percent(cell.error)}{_up_to(error_high)}, FPR {percent(cell.fpr)}{_up_to(fpr_high)}, {_n(cell)}"

    def decided(decision: RouteDecision, why: str) -> Route:
        return Route(decision, f"{why}: {figures}.", cell, error_high, fpr_high)

    if cell.error is None or cell.fpr is None:
        return decided(fallback, "It has not been seen with a wrong answer" if cell.n else "There are no verdicts")
    if cell.n is not None and too_small(cell.n, limits.plane):
        return decided(fallback, f"Too few verdicts to judge (fewer than {limits.plane.min_n})")
    place = quadrant(cell.error, cell.fpr, BiasAxis.FPR, limits.plane)
    if place is Quadrant.MIRAGE:
        if knowledge:
            return decided(RouteDecision.EXTERNAL, "Verification mirage on a knowledge-intensive task")
        if cell.generator is not None and not cell.is_self:
            return decided(RouteDecision.EXTERNAL, "Verification mirage of a cross-verifier")
        return decided(RouteDecision.CROSS_VERIFY, "Verification mirage")
    if error_high is None or fpr_high is None:
        return decided(fallback, "Nobody printed how many verdicts these figures rest on")
    if error_high <= limits.max_error and fpr_high <= limits.max_fpr:
        return decided(RouteDecision.TRUST, "It is seldom wrong and lets few wrong answers through")
    return decided(
        RouteDecision.CROSS_VERIFY,
        f"Not shown to stay below an error of {percent(limits.max_error)} and an FPR of {percent(limits.max_fpr)}",
    )


def _high(share: float | None, n: int | None) -> float | None:
    interval = wilson_interval(share, n) if share is not None and n is not None else None
    return interval.high if interval else None


def _up_to(high: float | None) -> str:
    return "" if high is None else f" (up to {percent(high)})"


def _n(cell: MeasuredCell) -> str:
    if cell.n is None:
        return "n not printed"
    return f"n = {cell.n:,}" if cell.n_wrong is None else f"n = {cell.n:,}, {cell.n_wrong:,} of them wrong answers"
