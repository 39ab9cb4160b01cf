"""Lessons as tensors: all lessons of a picture share the picture's encoding.

The image comes first in every prompt, so its keys and values are computed once a picture and
each lesson goes on from them. Lessons of like length are padded together.
"""

__all__ = ["Batch", "Encoder", "losses", "see"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.demo.architecture import ANSWER, IMAGE_SIZE, PATCH, USER
from backend.demo.lessons import Lesson

BUCKETS = 3
"""Groups of lessons padded together in a step."""

IGNORED = -100
"""The target of a position that is not learned from."""

IMAGE_TOKENS = (IMAGE_SIZE // PATCH) ** 2


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some lessons, padded on the right."""

    lessons: tuple[Lesson, ...]
    pictures: Any
    """(lessons,); which picture of the step each is about."""
    tokens: Any
    """(lessons, length); prompt, reply and end mark."""
    mask: Any
    """(lessons, length); true where there is a token."""
    targets: Any
    """(lessons, length); the next token where it belongs to the reply, else `IGNORED`."""


class Encoder:
    """Turns lessons into batches, tokenised as the chat template would write them."""

    def __init__(self, tokenizer: Any) -> None:
        """Take up a tokenizer of `build_tokenizer`."""
        self._tokenizer = tokenizer
        self._answer: int = tokenizer.convert_tokens_to_ids(ANSWER)
        self._end: int = tokenizer.eos_token_id
        self.user: int = tokenizer.convert_tokens_to_ids(USER)
        """Id of the mark before the image."""

    def batches(self, lessons: Sequence[tuple[int, Lesson]]) -> list[Batch]:
        """Return all lessons of a step in at most `BUCKETS` batches of like length.

        Args:
            lessons: At least one; each with the index of its picture among those of the step.
        """
        rows = [(picture, lesson, *self._encoded(lesson)) for picture, lesson in lessons]
        rows.sort(key=lambda row: len(row[2]) + len(row[3]))
        size = -(-len(rows) // BUCKETS)
        return [self._padded(rows[start : start + size]) for start in range(0, len(rows), size)]

    def _encoded(self, lesson: Lesson) -> tuple[list[int], list[int]]:
        prompt = self._tokenizer(lesson.prompt).input_ids
        return [*prompt, self._answer], [*self._tokenizer(lesson.reply).input_ids, self._end]

    def _padded(self, rows: Sequence[tuple[int, Lesson, list[int], list[int]]]) -> Batch:
        import torch

        length = max(len(prompt) + len(reply) for _, _, prompt, reply in rows)
        tokens = np.full((len(rows), length), self._end)
        mask = np.zeros((len(rows), length), bool)
        targets = np.full((len(rows), length), IGNORED)
        for row, (_, _, prompt, reply) in enumerate(rows):
            both = prompt + reply
            tokens[row, : len(both)] = both
            mask[row, : len(both)] = True
            targets[row, len(prompt) - 1 : len(both) - 1] = reply
        return Batch(
            tuple(lesson for _, lesson, _, _ in rows),
            torch.tensor([picture for picture, _, _, _ in rows]),
            torch.from_numpy(tokens),
            torch.from_numpy(mask),
            torch.from_numpy(targets),
        )


def see(vlm: Any, pixels: NDArray[np.uint8]) -> Any:
    """Return what the vision tower makes of pictures, before the projector: (n, IMAGE_TOKENS, width).

    Args:
        vlm: The LLaVA under training.
        pixels: (n, IMAGE_SIZE, IMAGE_SIZE, 3), RGB; brought to -1 … 1 as the VLM's processor does it.
    """
    import torch

    normal = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 127.5 - 1
    layer = vlm.config.vision_feature_layer
    return vlm.model.vision_tower(normal, output_hidden_states=True).hidden_states[layer]


def losses(vlm: Any, features: Any, batches: Sequence[Batch], user: int) -> list[tuple[Any, Any]]:
    """Return, for each batch, the loss of every token learned from and whether it was the likeliest.

    Args:
        vlm: The LLaVA under training.
        features: (pictures, IMAGE_TOKENS, width); the projected image features.
        batches: Lessons about these pictures, each batch right-padded.
        user: Id of the mark before the image.

    Returns:
        Two (lessons, length) tensors a batch: cross entropy, 0 where nothing is learned, and whether
        the likeliest token was the target, true where nothing is learned.
    """
    import torch
    from transformers import DynamicCache

    decoder, embed = vlm.model.language_model, vlm.get_input_embeddings()
    first = embed(torch.full((len(features), 1), user))
    prefix = torch.cat([first, features.to(first.dtype)], 1)
    layers = decoder(inputs_embeds=prefix, use_cache=True).cache.layers
    found = []
    for batch in batches:
        cache = DynamicCache()
        for number, layer in enumerate(layers):
            cache.update(layer.keys[batch.pictures], layer.values[batch.pictures], number)
        rows, length = batch.tokens.shape
        hidden = decoder(
            inputs_embeds=embed(batch.tokens),
            attention_mask=torch.cat([torch.ones(rows, 1 + IMAGE_TOKENS, dtype=torch.bool), batch.mask], 1),
            position_ids=torch.arange(1 + IMAGE_TOKENS, 1 + IMAGE_TOKENS + length)[None],
            cache=cache,
            use_cache=True,
        ).last_hidden_state
        learned = batch.targets != IGNORED
        logits = vlm.lm_head(hidden[learned]).float()
        targets = batch.targets[learned]
        loss = torch.zeros(rows, length).masked_scatter(
            learned, torch.nn.functional.cross_entropy(logits, targets, reduction="none")
        )
        hit = torch.ones(rows, length, dtype=torch.bool).masked_scatter(learned, logits.argmax(-1) == targets)
        found.append((loss, hit))
    return found
