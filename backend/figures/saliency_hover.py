"""What groups and points of the visual grounding gap are called, and what they say when pointed at.

Names of a data set are escaped.
"""

__all__ = [
    "UNLABELLED",
    "case_words",
    "difference_words",
    "group_name",
    "group_words",
    "value_words",
]

from collections.abc import Mapping
from html import escape
from typing import Any

from backend.domain.metric import NOT_AVAILABLE
from backend.figures.tasks import TASK_NAMES
from backend.verimap.outcomes import VerdictOutcome
from backend.verimap.proxies import ALL, NO_OUTCOME, SIDES, Proxy

Row = Mapping[str, Any]

UNLABELLED = "unlabelled"
"""In place of a task: the question has none."""


def group_name(group: str, by: str) -> str:
    """Return a group's name on an axis."""
    if group == ALL:
        return "All"
    if by == "task":
        return TASK_NAMES[None if group == UNLABELLED else group]
    return _OUTCOME_NAMES[group]


_OUTCOME_NAMES = {
    VerdictOutcome.TRUE_ACCEPTANCE.value: "Right, accepted",
    VerdictOutcome.FALSE_ACCEPTANCE.value: "Wrong, accepted",
    VerdictOutcome.TRUE_REJECTION.value: "Wrong, rejected",
    VerdictOutcome.FALSE_REJECTION.value: "Right, rejected",
    NO_OUTCOME: "No outcome",
}
"""Outcome → its name on an axis; without one the answer was not judged, or the verdict is left out."""


def value_words(proxy: Proxy, value: float | None) -> str:
    """Return a value as people read it: a share in percent, a ratio with ×, a gradient with three digits."""
    if value is None:
        return NOT_AVAILABLE
    told = {Proxy.FRACTION: f"{100 * value:.1f} %", Proxy.TIMES_EVEN: f"{value:.2f} ×", Proxy.GRADIENT: f"{value:.3g}"}
    return told[proxy].replace("-", "−")


def difference_words(proxy: Proxy, value: float | None) -> str:
    """Return a difference of two values with its sign; of fractions in percentage points. What rounds to 0 has none."""
    if value is None:
        return NOT_AVAILABLE
    told = {Proxy.FRACTION: f"{100 * value:+.1f}", Proxy.TIMES_EVEN: f"{value:+.2f}", Proxy.GRADIENT: f"{value:+.3g}"}
    words = told[proxy] if float(told[proxy]) else told[proxy][1:]
    return words.replace("-", "−")


def case_words(row: Row, proxy: Proxy) -> str:
    """Return what a case says: who judged whom, both sides with their even shares, and the difference."""
    task = TASK_NAMES[row["task"]]
    outcome = VerdictOutcome(row["outcome"]).label if row["outcome"] else "no outcome"
    judged = (
        f"{row['verifier']} on its own answer"
        if row["generator"] == row["verifier"]
        else f"{row['verifier']} on an answer of {row['generator']}"
    )
    lines = [f"<b>{escape(row['suite'])} {escape(row['source_id'])}</b>, {escape(task)}", escape(judged)]
    for side in SIDES:
        even = "" if proxy is Proxy.GRADIENT else f", even share {value_words(Proxy.FRACTION, row[f'{side}_even'])}"
        lines.append(f"{side} {value_words(proxy, row[f'{side}_{proxy}'])}{even}")
    lines.append(
        f"generator − verifier {difference_words(proxy, row[f'generator_{proxy}'] - row[f'verifier_{proxy}'])}"
    )
    return "<br>".join([*lines, outcome])


def group_words(test: Row, proxy: Proxy, by: str) -> str:
    """Return what a group says: means, the gap with its interval, effect size, test, and n."""
    low, high = test["gap_low"], test["gap_high"]
    interval = "" if low is None else f" ({difference_words(proxy, low)} to {difference_words(proxy, high)})"
    lines = [f"<b>{group_name(test['group'], by)}</b>, {proxy.label}"]
    for side in SIDES:
        even = (
            "" if test[f"{side}_even"] is None else f", even share {value_words(Proxy.FRACTION, test[f'{side}_even'])}"
        )
        lines.append(f"{side} mean {value_words(proxy, test[f'{side}_mean'])}{even}")
    lines.append(f"Δ {difference_words(proxy, test['gap'])}{interval}, Cohen's d {_decimal(test['d_paired'])} paired")
    lines.append(f"generator &gt; verifier: {_p(test['p'])}, Wilcoxon, one-sided")
    left_out = f", {test['n_undefined']:,} left out, undefined" if test["n_undefined"] else ""
    return "<br>".join([*lines, f"n = {test['n']:,} pairs, {test['n_images']:,} images{left_out}"])


def _p(p: float | None) -> str:
    return f"p {NOT_AVAILABLE}" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _decimal(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.2f}".replace("-", "−")
