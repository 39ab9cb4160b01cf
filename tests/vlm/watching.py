"""What tests of local VLMs look at: replies without their times, and pixels on their way into a VLM."""

__all__ = ["pixels_seen", "told"]

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from backend.domain.vlm import Reply
from backend.vlm.transformers_local import TransformersLocal


def told(reply: Reply) -> tuple[Any, ...]:
    """Return a reply without its time."""
    return reply.text, reply.error, reply.n_tokens, reply.was_cut


@contextmanager
def pixels_seen(vlm: TransformersLocal) -> Iterator[list[int]]:
    """Give a list that grows, at each pass of the vision tower, by how many values it was given."""
    seen: list[int] = []

    def look(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        tensors = [value for value in (*given, *named.values()) if isinstance(value, torch.Tensor)]
        seen.append(max(tensor.numel() for tensor in tensors if tensor.is_floating_point()))

    hook = vlm._model.get_encoder(modality="image").register_forward_pre_hook(look, with_kwargs=True)
    try:
        yield seen
    finally:
        hook.remove()
