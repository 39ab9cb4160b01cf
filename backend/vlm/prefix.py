"""What prompts begin with alike, image included, run through a VLM once and used again.

Where a family's template puts the image before the text and its tokens look backwards only,
the keys and values of the beginning do not depend on what follows. The beginning of the last
image is kept from call to call, so that all calls about one image encode it once. A prefix is
never decoded on: who goes on from it is given a copy, so a call that is cut, cancelled or
fails leaves nothing behind.
"""

__all__ = ["KeptPrefix", "Prefix", "compute_prefix", "empty_cache", "extend_prefix", "image_tensors", "on_device"]

import copy
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.vlm.chat_prompts import Encoded
from backend.vlm.greedy import keep_rows


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """First tokens of one prompt or several, run through a VLM."""

    cache: Any
    """Their keys and values, a row a prompt."""
    shifts: Any
    """How far an image shifts later positions, a row a prompt, in the Qwen VLMs; None in others."""

    def copy_for(self, model: Any, rows: Sequence[int]) -> Any:
        """Return a cache whose row i is row ``rows[i]`` of this one, and tell the VLM that it goes on from there."""
        cache = copy.deepcopy(self.cache)
        if self.shifts is not None:
            model.model.rope_deltas = self.shifts
        keep_rows(model, cache, rows)
        return cache


class KeptPrefix:
    """The beginning of prompts about the last image, up to the image's end; of one image at a time."""

    def __init__(self) -> None:
        self._key: tuple[str, tuple[int, ...]] | None = None
        self._prefix: Prefix | None = None

    def of(self, model: Any, picture: str, ask: Encoded, length: int) -> Prefix:
        """Return the first tokens of an ask, computed now where they are not those kept.

        Args:
            model: A transformers model, the same at every call.
            picture: SHA-256 of the image file.
            ask: The ask.
            length: Tokens up to the image's end.
        """
        key = (picture, tuple(ask.ids[:length]))
        if self._prefix is None or key != self._key:
            self.forget()
            self._prefix, self._key = compute_prefix(model, [ask], length), key
        return self._prefix

    def forget(self) -> None:
        """Free what is kept."""
        self._prefix = self._key = None


def compute_prefix(model: Any, asks: Sequence[Encoded], length: int) -> Prefix:
    """Run the first ``length`` tokens of asks, each about an image of its own, through a VLM in one pass.

    The Qwen VLMs keep on themselves how far an image shifts later positions (`keep_rows`);
    where a beginning holds no image, that is 0.
    """
    import torch

    inputs: dict[str, Any] = image_tensors(asks)
    for name in asks[0].tokens:
        inputs[name] = torch.cat([ask.tokens[name][:, :length] for ask in asks])
    holder = getattr(model, "model", None)
    has_shifts = hasattr(holder, "rope_deltas")
    if holder is not None and has_shifts:
        holder.rope_deltas = None
    cache = empty_cache(model)
    _run(model, inputs, cache)
    if holder is None or not has_shifts:
        return Prefix(cache, None)
    no_shift = torch.zeros(len(asks), 1, dtype=torch.long, device=model.device)
    return Prefix(cache, no_shift if holder.rope_deltas is None else holder.rope_deltas)


def extend_prefix(model: Any, prefix: Prefix, ids: Any) -> Prefix:
    """Return a prefix of one row with more tokens of text behind it.

    Args:
        model: The model that computed it.
        prefix: Stays as it is.
        ids: The tokens, of shape (1, length).
    """
    cache = prefix.copy_for(model, [0])
    _run(model, {"input_ids": ids}, cache)
    return Prefix(cache, prefix.shifts)


def empty_cache(model: Any) -> Any:
    """Return a cache for a model's decoder that holds nothing."""
    from transformers import DynamicCache

    return DynamicCache(config=model.config.get_text_config(decoder=True))


def on_device(model: Any, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Move tensors to a model's device, and floating-point ones to its dtype; other values stay."""
    import torch

    return {
        name: value.to(model.device, model.dtype if value.is_floating_point() else value.dtype)
        if isinstance(value, torch.Tensor)
        else value
        for name, value in tensors.items()
    }


def image_tensors(asks: Sequence[Encoded]) -> dict[str, Any]:
    """Lay what describes the images of asks one behind the other."""
    import torch

    return {name: torch.cat([ask.picture[name] for ask in asks]) for name in asks[0].picture}


def _run(model: Any, inputs: Mapping[str, Any], cache: Any) -> None:
    """Run tokens through a model for the keys and values that they leave in the cache."""
    import torch

    fewest = {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
    with torch.no_grad():
        model(**on_device(model, inputs), **fewest, cache=cache, use_cache=True)
