"""Task labels: read from files, voted from three of them, and how far the annotators agree.

The paper labels each question three times and takes the majority (Appendix A). Where all differ,
section 3.2 has people decide and Appendix A the alphabet; ours is the alphabet, and each label says
which way it came about.
"""

__all__ = [
    "Agreement",
    "Checked",
    "Labels",
    "PairAgreement",
    "Vote",
    "VoteKind",
    "agreement",
    "check_labels",
    "confusion",
    "read_labels",
    "vote",
    "vote_all",
]

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

import pandas as pd

from backend.domain.statistics.intervals import Interval, wilson_interval
from backend.errors import BadLine
from backend.verimap.vocabulary import Task, task_of_name

_ID_COLUMNS = ("id", "qid", "source_id", "question_id")
_LABEL_COLUMNS = ("task", "label", "task_label", "reasoning_type")


class VoteKind(StrEnum):
    """How a label came about."""

    UNANIMOUS = "unanimous"
    """All annotators gave it."""
    MAJORITY = "majority"
    """More than half of all annotators gave it, silent ones counted."""
    ALPHABETICAL = "alphabetical"
    """No label has a majority: the first by alphabet among those given (Appendix A)."""
    NONE = "none"
    """No annotator gave a valid label."""


@dataclass(frozen=True, slots=True)
class Vote:
    """The label of one question, and how it came about."""

    task: Task | None
    """None where no annotator gave a valid label."""
    kind: VoteKind
    labels: tuple[Task | None, ...]
    """What each annotator said; None for nothing, or nothing valid."""


@dataclass(frozen=True, slots=True)
class Labels:
    """One annotator's file."""

    annotator: str
    by_id: Mapping[str, Task | None]
    """Label by the question's id; None for a label that is none of the seven."""
    bad_lines: tuple[BadLine, ...] = ()
    """Rows that could not be used."""

    @property
    def n_invalid(self) -> int:
        """Questions whose label is none of the seven tasks."""
        return sum(task is None for task in self.by_id.values())


def read_labels(annotator: str, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Labels:
    """Return the labels of one file.

    The id stands in a column id, qid, source_id or question_id, the label in task, label,
    task_label or reasoning_type. A label that is no task is an invalid output of the annotator: it
    is kept as None and takes no part in votes. A row without an id is bad, and so is one that gives
    a question a second, other label; the first one stands.

    Args:
        annotator: Name to call the file by.
        rows: Number and cells of each row.
    """
    by_id: dict[str, Task | None] = {}
    bad: list[BadLine] = []
    for number, cells in rows:
        source_id = _first(cells, _ID_COLUMNS)
        if not source_id:
            bad.append(BadLine(number, f"has no id (columns: {', '.join(_ID_COLUMNS)})", annotator))
            continue
        if not any(column in cells for column in _LABEL_COLUMNS):
            bad.append(BadLine(number, f"has no label (columns: {', '.join(_LABEL_COLUMNS)})", annotator))
            continue
        task = task_of_name(_first(cells, _LABEL_COLUMNS))
        if by_id.setdefault(source_id, task) is not task:
            bad.append(BadLine(number, f"{source_id} has another label already, which stands", annotator))
    return Labels(annotator, by_id, tuple(bad))


def vote(labels: Sequence[Task | None]) -> Vote:
    """Return the majority of the annotators' labels (Appendix A).

    A majority is more than half of all annotators, so two of three. Without one, the alphabetically
    first label among those given decides: of two that differ while the third is silent, and a single
    one while both others are silent, too.

    Args:
        labels: One an annotator; None for nothing, or nothing valid.
    """
    given = Counter(label for label in labels if label is not None)
    if not given:
        return Vote(None, VoteKind.NONE, tuple(labels))
    leading, n = min(given.items(), key=lambda item: (-item[1], item[0]))
    if n == len(labels):
        return Vote(leading, VoteKind.UNANIMOUS, tuple(labels))
    if 2 * n > len(labels):
        return Vote(leading, VoteKind.MAJORITY, tuple(labels))
    return Vote(min(given), VoteKind.ALPHABETICAL, tuple(labels))


def vote_all(annotators: Sequence[Labels]) -> dict[str, Vote]:
    """Return the vote on each question that any annotator labelled, in the order in which they are met."""
    ids = dict.fromkeys(source_id for labels in annotators for source_id in labels.by_id)
    return {source_id: vote([labels.by_id.get(source_id) for labels in annotators]) for source_id in ids}


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two annotators agree on the questions that both labelled validly."""

    a: str
    b: str
    n: int
    k: int
    """Questions with the same label."""
    share: float | None
    """k / n; None where n is 0."""
    kappa: float | None
    """Cohen's (1960); None where n is 0, or both gave one and the same label throughout."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far all annotators agree."""

    n: int
    """Questions that any of them labelled."""
    kinds: Mapping[VoteKind, int]
    """Questions by how their label came about."""
    pairs: tuple[PairAgreement, ...]


def agreement(annotators: Sequence[Labels]) -> Agreement:
    """Return how far the annotators agree, all together and two by two."""
    votes = vote_all(annotators)
    kinds = Counter(found.kind for found in votes.values())
    pairs = tuple(_pair_agreement(a, b) for a, b in combinations(annotators, 2))
    return Agreement(len(votes), {kind: kinds[kind] for kind in VoteKind}, pairs)


def confusion(a: Mapping[str, Task | None], b: Mapping[str, Task | None]) -> pd.DataFrame:
    """Return how often b gives which label where a gives which, over questions that both label validly.

    Returns:
        Shape (7, 7), counts; index the labels of a, columns those of b, all tasks in their order.
    """
    pairs = Counter(_label_pairs(a, b))
    tasks = list(Task)
    return pd.DataFrame(
        [[pairs[one, two] for two in tasks] for one in tasks],
        index=[task.value for task in tasks],
        columns=[task.value for task in tasks],
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """Labels against those that a person gave to some of the questions."""

    n: int
    """Questions with a valid label on both sides."""
    k: int
    """Questions on which both agree."""
    share: float | None
    """k / n; None where n is 0."""
    interval: Interval | None
    """Wilson's."""
    n_absent: int
    """Questions checked by hand that have no valid label."""
    table: pd.DataFrame
    """`confusion`: rows by hand, columns as labelled."""


def check_labels(labels: Mapping[str, Task | None], by_hand: Mapping[str, Task]) -> Checked:
    """Return how far labels agree with a subset that was checked by hand."""
    pairs = _label_pairs(by_hand, labels)
    n, k = len(pairs), sum(one is two for one, two in pairs)
    share = k / n if n else None
    interval = None if share is None else wilson_interval(share, n)
    return Checked(n, k, share, interval, len(by_hand) - n, confusion(by_hand, labels))


def _pair_agreement(a: Labels, b: Labels) -> PairAgreement:
    pairs = _label_pairs(a.by_id, b.by_id)
    n, k = len(pairs), sum(one is two for one, two in pairs)
    if not n:
        return PairAgreement(a.annotator, b.annotator, 0, 0, None, None)
    of_a, of_b = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    by_chance = sum(of_a[task] * of_b[task] for task in Task)
    kappa = (n * k - by_chance) / (n * n - by_chance) if by_chance < n * n else None
    return PairAgreement(a.annotator, b.annotator, n, k, k / n, kappa)


def _label_pairs(a: Mapping[str, Task | None], b: Mapping[str, Task | None]) -> list[tuple[Task, Task]]:
    both = ((one, b.get(source_id)) for source_id, one in a.items())
    return [(one, two) for one, two in both if one is not None and two is not None]


def _first(cells: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Return the first of the columns that holds something, as text; numbers are ids too."""
    return next((str(cells[name]).strip() for name in columns if cells.get(name) not in (None, "")), "")
