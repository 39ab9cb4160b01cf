"""A prompt with its answer behind it, run through a VLM at once: what it would have said, token by token.

The prompt is the very encoding the VLM answers; the answer's tokens follow, the last one left
out, so that the last rows of the pass are those from which the answer's tokens are predicted.
"""

__all__ = ["Forced", "force_answer", "log_likelihood"]

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.vlm.chat_prompts import Encoded
from backend.vlm.prefix import on_device
from backend.vlm.saliency.result import SaliencyError

_SUFFIX_TYPE = {"paligemma": 1}
"""Token type of what is said, where it is not 0: PaliGemma reads it in one direction, and the prompt in both."""

_LABELS = "labels"
"""PaliGemma's processor gives what to learn from the prompt alone; here nothing is learned."""

_INCOMPLETE = "\ufffd"


@dataclass(frozen=True, slots=True, eq=False)
class Forced:
    """A prompt and its answer as tensors."""

    inputs: Mapping[str, Any]
    """What the VLM's forward pass takes, on its device: n tokens of the prompt, then all of the answer's but one."""
    answer_ids: Any
    """The answer's tokens, of shape (tokens,)."""
    image_places: Any
    """Where the image tokens stand among the input's, of shape (patches,)."""
    pieces: tuple[str, ...]
    """The answer's text, a piece a token."""

    @property
    def n_tokens(self) -> int:
        """Tokens of the answer."""
        return len(self.pieces)


def force_answer(model: Any, tokenizer: Any, ask: Encoded, answer: str) -> Forced:
    """Lay an answer behind an ask.

    The answer is written as the tokenizer writes text, and without an end mark. Where the VLM, when it answered,
    spelt the same text with other tokens, the map is that of the usual spelling.

    Raises:
        SaliencyError: The answer has no tokens or holds a control word, or the VLM saw no image.
    """
    import torch

    ids = tokenizer.encode(answer, add_special_tokens=False) if answer.strip() else []
    if not ids:
        raise SaliencyError("There is no answer whose saliency could be shown.", "Choose one that is not empty.")
    if set(ids) & set(tokenizer.all_special_ids):
        raise SaliencyError("The answer holds a control word of this VLM.", "Choose an answer of plain text.")
    places = (ask.tokens["input_ids"][0] == model.config.image_token_id).nonzero().flatten()
    if not ask.picture or len(places) == 0:
        raise SaliencyError("The VLM saw no image for this answer.", "Saliency needs a question about an image.")
    said = torch.tensor([ids])
    more = {
        "input_ids": said[:, :-1],
        "attention_mask": torch.ones_like(said[:, :-1]),
        "token_type_ids": torch.full_like(said[:, :-1], _SUFFIX_TYPE.get(model.config.model_type, 0)),
        "mm_token_type_ids": torch.zeros_like(said[:, :-1]),
    }
    along = {name: torch.cat([value, more[name].to(value.dtype)], dim=1) for name, value in ask.tokens.items()}
    picture = {name: value for name, value in ask.picture.items() if name != _LABELS}
    return Forced(
        inputs=on_device(model, {**along, **picture}),
        answer_ids=said[0].to(model.device),
        image_places=places.to(model.device),
        pieces=_pieces(tokenizer, ids),
    )


def log_likelihood(model: Any, forced: Forced) -> Any:
    """Run a VLM once, without a cache, and return the log-likelihood of the answer's tokens.

    Returns:
        Natural logarithms in float32, of shape (tokens,).
    """
    n_tokens = forced.n_tokens
    fewest = {"logits_to_keep": n_tokens} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
    logits = model(**forced.inputs, **fewest, use_cache=False).logits[0, -n_tokens:].float()
    return logits.log_softmax(dim=-1).gather(1, forced.answer_ids[:, None].to(logits.device))[:, 0]


def _pieces(tokenizer: Any, ids: list[int]) -> tuple[str, ...]:
    """Return what each token adds to the text; half a character adds nothing until it is whole."""
    pieces, told = [], ""
    for end in range(1, len(ids) + 1):
        text = tokenizer.decode(ids[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        is_whole = end == len(ids) or not text.endswith(_INCOMPLETE)
        pieces.append(text[len(told) :] if is_whole else "")
        told = text if is_whole else told
    return tuple(pieces)
