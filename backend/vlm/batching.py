"""Asks in batches: what their prompts begin with alike is computed once.

The common beginning, image included, is computed once an image and laid before each of its
prompts (`backend.vlm.prefix`). A batch says what its prompts say one by one, up to ties in
floating-point numbers.
"""

__all__ = ["BatchPlan", "Batching", "batching_of", "padded_batch", "plan_batches"]

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from backend.vlm.chat_prompts import Encoded
from backend.vlm.greedy import Batch
from backend.vlm.prefix import (
    KeptPrefix,
    Prefix,
    compute_prefix,
    empty_cache,
    extend_prefix,
    image_tensors,
    on_device,
)


class Batching(StrEnum):
    """How a VLM answers several asks."""

    SHARED_PREFIX = "shared prefix"
    """An image is encoded once for all its prompts."""
    BATCHED = "batched"
    """Whole prompts side by side."""
    ONE_BY_ONE = "one by one"


_TRIED = {
    "llava": Batching.SHARED_PREFIX,
    "internvl": Batching.SHARED_PREFIX,
    "idefics3": Batching.SHARED_PREFIX,
    "smolvlm": Batching.SHARED_PREFIX,
    "gemma3": Batching.SHARED_PREFIX,
    "qwen2_5_vl": Batching.SHARED_PREFIX,
    "qwen3_vl": Batching.SHARED_PREFIX,
    # Its image tokens see the prompt that follows them.
    "paligemma": Batching.BATCHED,
}
"""Families for which the tests show that batches and single asks agree."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Asks to decode side by side."""

    places: tuple[int, ...]
    """Which asks."""
    build: Callable[[Sequence[int]], Batch]
    """Makes the batch of these asks, or of some of them; what they share is computed at the first call."""


def batching_of(family: str) -> Batching:
    """Return how a family is batched; one that was never tried is asked one by one."""
    return _TRIED.get(family, Batching.ONE_BY_ONE)


def plan_batches(
    model: Any,
    encoded: Mapping[int, Encoded],
    pictures: Mapping[int, str | None],
    *,
    kept: KeptPrefix | None,
    rows: int,
    limit: int,
) -> Iterator[BatchPlan]:
    """Put asks of similar length together.

    A sliding attention layer counts the padding behind a shared prefix as tokens it looks back
    over. Where prompt and answer could outgrow its window, one length alone makes a batch.

    Args:
        model: A transformers model.
        encoded: The asks by place.
        pictures: SHA-256 of their images by place, None where an ask has none.
        kept: Of this VLM; None where whole prompts are to be batched.
        rows: Asks a batch at most.
        limit: New tokens at most.
    """
    for image_end, group in _alike_to_image_end(encoded, model.config.image_token_id):
        asks = {place: encoded[place] for place in group}
        places = sorted(group, key=lambda place: len(encoded[place].ids))
        prefix = None
        if kept is not None:
            prefix = _SharedPrefix(model, asks, {place: pictures[place] for place in group}, image_end, kept)
        is_shared = prefix is not None and prefix.length >= max(image_end, 1)
        build = prefix.batch if prefix is not None and is_shared else partial(_padded, model, asks)
        lengths = [len(encoded[place].ids) for place in places]
        same_length = is_shared and lengths[-1] + limit > _window(model)
        for part in _parts(places, rows, lengths if same_length else [0] * len(places)):
            yield BatchPlan(part, build)


def padded_batch(model: Any, asks: Sequence[Encoded]) -> Batch:
    """Lay whole asks side by side, padded on the left, nothing of them computed."""
    ids, mask = _left_padded([ask.tokens["input_ids"] for ask in asks], _padding(model))
    others = {
        name: _left_padded([ask.tokens[name] for ask in asks], 0)[0]
        for name in asks[0].tokens
        if name not in {"input_ids", "attention_mask"}
    }
    return Batch(
        ids=ids.to(model.device),
        mask=mask.to(model.device),
        others=on_device(model, others | image_tensors(asks)),
        cache=empty_cache(model),
    )


class _SharedPrefix:
    """The beginning that all asks of a group share, computed once an image when first needed.

    Asks about one image go on from where the image ends, which `KeptPrefix` may still know.
    """

    def __init__(
        self,
        model: Any,
        asks: Mapping[int, Encoded],
        pictures: Mapping[int, str | None],
        image_end: int,
        kept: KeptPrefix,
    ) -> None:
        self._model = model
        self._asks = asks
        self._image_end = image_end
        self._kept = kept
        first_asks: dict[str | None, Encoded] = {}
        for place, picture in pictures.items():
            first_asks.setdefault(picture, asks[place])
        rows = {picture: row for row, picture in enumerate(first_asks)}
        self._pictures = list(first_asks)
        self._first_asks = list(first_asks.values())
        self._rows = {place: rows[picture] for place, picture in pictures.items()}
        self._computed: Prefix | None = None
        self._has_failed = False
        common = _common_length([ask.ids for ask in asks.values()])
        self.length = common if len(asks) > 1 else min(common, image_end)
        """Tokens; each ask has at least one more. A single ask shares its image alone, with calls to come."""

    def batch(self, places: Sequence[int]) -> Batch:
        """Lay asks after the beginnings that belong to their images.

        Padding stands between the two; it is masked and left out when positions are counted.
        Where all images at once were too much, those of ``places`` alone are computed.
        """
        import torch

        rows = [self._rows[place] for place in places]
        if self._has_failed:
            alone = sorted(set(rows))
            prefix = self._compute(alone)
            rows = [alone.index(row) for row in rows]
        else:
            prefix = self._all_computed()
        all_ids = [self._asks[place].tokens["input_ids"] for place in places]
        ids, mask = _left_padded([ids[:, self.length :] for ids in all_ids], _padding(self._model))
        heads = torch.cat([ids[:, : self.length] for ids in all_ids])
        return Batch(
            ids=torch.cat([heads, ids], dim=1).to(self._model.device),
            mask=torch.cat([torch.ones_like(heads), mask], dim=1).to(self._model.device),
            others={},
            cache=prefix.copy_for(self._model, rows),
        )

    def _all_computed(self) -> Prefix:
        if self._computed is None:
            try:
                self._computed = self._compute(range(len(self._first_asks)))
            except BaseException:
                self._has_failed = True
                raise
        return self._computed

    def _compute(self, rows: Sequence[int]) -> Prefix:
        picture, first = self._pictures[0], self._first_asks[0]
        if picture is None or len(self._pictures) > 1:
            return compute_prefix(self._model, [self._first_asks[row] for row in rows], self.length)
        prefix = self._kept.of(self._model, picture, first, self._image_end)
        if self.length == self._image_end:
            return prefix
        return extend_prefix(self._model, prefix, first.tokens["input_ids"][:, self._image_end : self.length])


def _alike_to_image_end(encoded: Mapping[int, Encoded], image_token: int) -> Iterator[tuple[int, list[int]]]:
    """Yield groups of asks whose tokens agree up to the end of the image, and that end; 0 without image."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, ask in encoded.items():
        ids = ask.ids
        image_end = len(ids) - ids[::-1].index(image_token) if ask.picture else 0
        groups.setdefault(tuple(ids[:image_end]), []).append(place)
    for beginning, places in groups.items():
        yield len(beginning), places


def _common_length(all_ids: Sequence[list[int]]) -> int:
    """Return how many first tokens all share, leaving each at least one of its own."""
    first, last = min(all_ids), max(all_ids)
    shortest = min(len(ids) for ids in all_ids) - 1
    return next((place for place in range(shortest) if first[place] != last[place]), shortest)


def _parts(places: Sequence[int], rows: int, keys: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield places in parts of one key and of at most ``rows``; the keys are sorted."""
    for _, group in groupby(zip(keys, places, strict=True), key=itemgetter(0)):
        alike = tuple(place for _, place in group)
        yield from (alike[first : first + rows] for first in range(0, len(alike), rows))


def _padded(model: Any, asks: Mapping[int, Encoded], places: Sequence[int]) -> Batch:
    return padded_batch(model, [asks[place] for place in places])


def _window(model: Any) -> float:
    """Return how many tokens the narrowest attention layer looks back over."""
    sliding = [layer for layer in empty_cache(model).layers if getattr(layer, "is_sliding", False)]
    return min((layer.sliding_window for layer in sliding), default=float("inf"))


def _padding(model: Any) -> int:
    padding = model.generation_config.pad_token_id
    return 0 if padding is None else int(padding)


def _left_padded(rows: Sequence[Any], padding: int) -> tuple[Any, Any]:
    """Return rows of shape (1, length) as one tensor, and a mask that is 0 at padding."""
    import torch

    width = max(row.shape[1] for row in rows)
    ids = torch.full((len(rows), width), padding, dtype=rows[0].dtype)
    mask = torch.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, width - row.shape[1] :] = row[0]
        mask[place, width - row.shape[1] :] = 1
    return ids, mask
