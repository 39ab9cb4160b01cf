"""How a plan is cut into the batches that a VLM is given: at fixed places, images together, of half a minute at most.

A run that is killed loses the batch it is at, and one that is stopped is waited for until its
batch ends. So a batch is no larger than what the VLM answers in a quarter of a minute, told by
the pace of the first calls. Where it is cut is settled then for good.
"""

__all__ = ["LARGEST", "TRIAL", "Sizes", "SizesItsBatches", "batches", "cut", "size_for"]

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol, runtime_checkable

from backend.services.runs.plan import Item

LARGEST = 64
"""Calls given to a VLM at once, at most, where nobody says otherwise."""

TRIAL = 4
"""Calls given to it at once while its pace is not known. Fixed: run folders tell only where it ends."""

BATCH_SECONDS = 15.0
"""What a batch takes is to stay under this."""


@runtime_checkable
class SizesItsBatches(Protocol):
    """A VLM that knows how many calls are best given to it at once, as a service that answers several at a time."""

    @property
    def batch(self) -> int:
        """So many."""


class Sizes(NamedTuple):
    """Where a plan is cut."""

    size: int
    """Calls given to the VLM at once, at most, from `since` on."""
    since: int | None = 0
    """Place in the plan; before it, batches are of `TRIAL`. None while the pace is not known: all are."""


def cut(items: Sequence[Item], sizes: Callable[[], Sizes]) -> Iterator[Sequence[Item]]:
    """Cut a plan into batches; the sizes are asked for again after each, as the pace may be known by then."""
    at = 0
    if sizes().since != 0:
        for batch in batches(items[: sizes().since], TRIAL):
            at += len(batch)
            yield batch
            if at == sizes().since:
                break
    yield from batches(items[at:], sizes().size)


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Cut items into batches of at most ``size``, those of an image together where they fit into one.

    A longer list with the same beginning has the same batches, up to the last of the shorter one.
    """
    batch: list[Item] = []
    for _, together in groupby(items, key=lambda item: item.image_id):
        of_image = list(together)
        if batch and len(batch) + len(of_image) > size:
            yield batch
            batch = []
        batch = [*batch, *of_image]
        while len(batch) > size:
            yield batch[:size]
            batch = batch[size:]
    if batch:
        yield batch


def size_for(seconds: float, n_calls: int) -> int:
    """Return how many calls fit into a batch, between 1 and `LARGEST`, where so many took so long."""
    return max(1, min(LARGEST, int(BATCH_SECONDS * n_calls / seconds))) if seconds else LARGEST
