"""Rows of two files joined into pairs: an original question and its less-biased twin.

By line where both files have equal length and agree on image and reference in every line; else by
image, task, cue and reference, and the order of rows that share these. Rows that are alike stay apart.
"""

__all__ = ["LEAKED", "NO_TWIN", "PairedRows", "RowPair", "is_leaked", "pair_rows"]

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from backend.errors import BadLine
from backend.services.ingest.surgcheck_rows import PairRow
from backend.surgcheck.scoring import label_of
from backend.surgcheck.tasks import PAIRED_TASKS

LEAKED = "the original text is word for word the less-biased one"
NO_TWIN = "the other file holds no twin of this row"
"""Why rows are left out."""


class RowPair(NamedTuple):
    """Two rows about the same; `original` and `less_biased` agree on picture, task, cue and reference."""

    original: PairRow
    less_biased: PairRow


class PairedRows(NamedTuple):
    """What became of the rows of two files."""

    pairs: tuple[RowPair, ...]
    """In the order of the original rows."""
    alone: tuple[PairRow, ...]
    """Rows whose twin the other file does not hold."""
    by_line: bool
    """Whether they were joined by line."""


def pair_rows(original: Sequence[PairRow | BadLine], less_biased: Sequence[PairRow | BadLine]) -> PairedRows:
    """Join the rows of two files; a bad line keeps its place, and its twin is alone."""
    both = list(zip(original, less_biased, strict=False))
    by_line = len(original) == len(less_biased) and all(_agree(one, other) for one, other in both)
    if by_line:
        pairs = [RowPair(a, b) for a, b in both if isinstance(a, PairRow) and isinstance(b, PairRow)]
    else:
        pairs = _by_key(original, less_biased)
    taken = {id(row) for pair in pairs for row in pair}
    alone = [row for row in (*original, *less_biased) if isinstance(row, PairRow) and id(row) not in taken]
    return PairedRows(tuple(pairs), tuple(alone), by_line)


def is_leaked(pair: RowPair) -> bool:
    """Return whether a pair is none: its task names what it asks about, and both texts are the less-biased one."""
    original, less_biased = pair
    return original.task in PAIRED_TASKS and original.question == less_biased.question


def _by_key(original: Sequence[PairRow | BadLine], less_biased: Sequence[PairRow | BadLine]) -> list[RowPair]:
    referenced = all(row.reference is not None for row in (*original, *less_biased) if isinstance(row, PairRow))

    def key(row: PairRow) -> tuple[object, ...]:
        return row.picture, row.task, row.cue, _label(row) if referenced else None

    waiting: dict[tuple[object, ...], deque[PairRow]] = defaultdict(deque)
    for row in less_biased:
        if isinstance(row, PairRow):
            waiting[key(row)].append(row)
    rows = [row for row in original if isinstance(row, PairRow)]
    return [RowPair(row, waiting[key(row)].popleft()) for row in rows if waiting[key(row)]]


def _agree(one: PairRow | BadLine, other: PairRow | BadLine) -> bool:
    if isinstance(one, BadLine) or isinstance(other, BadLine):
        return True
    if one.reference is None or other.reference is None:
        return one.picture == other.picture
    return (one.picture, _label(one)) == (other.picture, _label(other))


def _label(row: PairRow) -> str | None:
    return None if row.reference is None else label_of(row.reference)
