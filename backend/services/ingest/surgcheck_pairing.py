"""Rows of two files joined into pairs: an original question and its less-biased twin.

By line where both files have equal length and agree on image, reference and the words that twins share
in every line; else by image, task, cue and reference: rows that share these first with those that say
the same of what they ask about, then in their order. Rows that are alike stay apart.
"""

__all__ = ["LEAKED", "NO_TWIN", "PairedRows", "RowPair", "is_leaked", "look_swapped", "pair_rows"]

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from backend.errors import BadLine
from backend.services.ingest.surgcheck_rows import PairRow
from backend.surgcheck.question_reading import shared_words
from backend.surgcheck.scoring import label_of
from backend.surgcheck.tasks import PAIRED_TASKS
from backend.surgcheck.text_lookups import named_in

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


def look_swapped(pairs: Sequence[RowPair]) -> bool:
    """Return whether more pairs name more in their less-biased text than in their original one: tool or hand."""
    said = Counter((pair.original.task, pair.original.question, pair.less_biased.question) for pair in pairs)
    more = 0
    for (task, original, less_biased), n in said.items():
        named, pointed = len(named_in(task, original)), len(named_in(task, less_biased))
        more += n * ((pointed > named) - (pointed < named))
    return more > 0


def _by_key(original: Sequence[PairRow | BadLine], less_biased: Sequence[PairRow | BadLine]) -> list[RowPair]:
    referenced = all(row.reference is not None for row in (*original, *less_biased) if isinstance(row, PairRow))

    def key(row: PairRow) -> tuple[object, ...]:
        return row.picture, row.task, row.cue, _label(row) if referenced else None

    def closer_key(row: PairRow) -> tuple[object, ...]:
        return *key(row), _shared(row)

    rows, others = ([row for row in part if isinstance(row, PairRow)] for part in (original, less_biased))
    twins: dict[int, PairRow] = {}
    for alike in (closer_key, key):
        taken = {id(row) for row in twins.values()}
        waiting: dict[tuple[object, ...], deque[PairRow]] = defaultdict(deque)
        for row in others:
            if id(row) not in taken:
                waiting[alike(row)].append(row)
        for row in rows:
            if id(row) not in twins and waiting[alike(row)]:
                twins[id(row)] = waiting[alike(row)].popleft()
    return [RowPair(row, twins[id(row)]) for row in rows if id(row) in twins]


def _agree(one: PairRow | BadLine, other: PairRow | BadLine) -> bool:
    if isinstance(one, BadLine) or isinstance(other, BadLine):
        return True
    if one.picture != other.picture or _shared(one) != _shared(other):
        return False
    return one.reference is None or other.reference is None or _label(one) == _label(other)


def _shared(row: PairRow) -> tuple[str, ...]:
    return shared_words(row.task, row.cue, row.question)


def _label(row: PairRow) -> str | None:
    return None if row.reference is None else label_of(row.reference)
