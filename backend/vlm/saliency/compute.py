"""Saliency of one answer, from one forward pass and, for the gradient, one way back."""

__all__ = ["answer_probability", "compute_saliency"]

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from backend.domain.progress import Cancelled
from backend.vlm.chat_prompts import Encoded
from backend.vlm.failures import MEMORY_HINT, first_line, is_of_device, is_out_of_memory
from backend.vlm.saliency.attention import Recording, recorded_attention
from backend.vlm.saliency.geometry import grid_of, regions_of
from backend.vlm.saliency.gradient import differentiable_embeddings
from backend.vlm.saliency.result import Saliency, SaliencyError
from backend.vlm.saliency.teacher_forcing import Forced, force_answer, log_likelihood
from backend.vlm.saliency.views import UnknownLayout, views_of

_QUANTISED = "The weights are quantised, and no gradient can be computed through them."
_DEEPSTACK = (
    "This VLM adds what it sees to its first decoder layers once more (deepstack). "
    "Attention counts that, the gradient at the image embeddings does not."
)
_BOTH_WAYS = "This VLM reads image and prompt in both directions: what stands on an image token holds the prompt, too."
_SLIDING = "Some layers of this VLM look back over a limited number of tokens; the even share counts only those."


def compute_saliency(
    model: Any,
    tokenizer: Any,
    image_processor: Any,
    ask: Encoded,
    answer: str,
    *,
    size: tuple[int, int],
    stop: threading.Event,
) -> Saliency:
    """Compute what an answer attended to and depended on; nobody else may use the VLM meanwhile.

    Where the gradient cannot be had, attention alone is computed, and the reason is told.

    Args:
        model: A transformers model.
        tokenizer: Its tokenizer.
        image_processor: The one that prepared the image.
        ask: The ask, as the VLM answers it.
        answer: What it said, or what somebody else did.
        size: Width and height of the upright image in pixels.
        stop: Looked at before each layer.

    Raises:
        Cancelled: ``stop`` was set.
        SaliencyError: The answer has no tokens, or the family's attention cannot be recorded.
    """
    forced = force_answer(model, tokenizer, ask, answer)
    recording, total, gradient, why_no_gradient = _run(model, forced, stop)
    shares, maps = _stacked(recording.shares), _stacked(recording.maps)
    if not (np.isfinite(shares).all() and np.isfinite(total)):
        raise _no_numbers()
    try:
        views, why_no_regions = views_of(model, image_processor, ask, size), ""
    except UnknownLayout as unknown:
        views, why_no_regions = (), str(unknown)
    return Saliency(
        tokens=forced.pieces,
        shares=shares,
        uniform=_stacked(recording.uniform),
        maps=maps,
        gradient=gradient,
        why_no_gradient=why_no_gradient,
        regions=regions_of(views) if views else None,
        grid=grid_of(views) if views else None,
        why_no_regions=why_no_regions,
        log_likelihood=total,
        note=_note(model),
    )


def answer_probability(model: Any, tokenizer: Any, ask: Encoded, answer: str) -> float:
    """Return the probability of an answer's token, the geometric mean over its tokens, 0 to 1.

    Raises:
        SaliencyError: The answer has no tokens, or the VLM computed values that are no numbers.
    """
    import torch

    forced = force_answer(model, tokenizer, ask, answer)
    with torch.no_grad(), _positions_kept(model):
        probability: float = log_likelihood(model, forced).mean().exp().item()
    if not np.isfinite(probability):
        raise _no_numbers()
    return probability


def _run(model: Any, forced: Forced, stop: threading.Event) -> tuple[Recording, float, Any, str]:
    """Return the attention, the answer's log-likelihood, and the gradient or why there is none."""
    import torch

    why_not = _QUANTISED if getattr(model, "is_quantized", False) else ""
    if not why_not:
        try:
            with (
                _positions_kept(model),
                recorded_attention(model, forced, stop) as recording,
                differentiable_embeddings(model) as embeddings,
            ):
                target = log_likelihood(model, forced).sum()
                recording.is_over = True
                gradient = embeddings.times_gradient(target, forced).numpy()
            total = target.item()
            if np.isfinite(gradient).all():
                return recording, total, gradient, ""
            return recording, total, None, "The gradient holds values that are no numbers."
        except (Cancelled, SaliencyError):
            raise
        except Exception as error:
            if is_of_device(error):
                raise
            why_not = _why_no_gradient(error)
    with torch.no_grad(), _positions_kept(model), recorded_attention(model, forced, stop) as recording:
        return recording, log_likelihood(model, forced).sum().item(), None, why_not


def _no_numbers() -> SaliencyError:
    return SaliencyError("The VLM computed values that are no numbers.", "Load it in another dtype, as bfloat16.")


def _why_no_gradient(error: Exception) -> str:
    if is_out_of_memory(error):
        return f"The memory did not suffice for the gradient. {MEMORY_HINT}"
    return f"The gradient could not be computed: {first_line(error) or type(error).__name__}"


@contextlib.contextmanager
def _positions_kept(model: Any) -> Iterator[None]:
    """Leave alone how far an image shifts later positions, which the Qwen VLMs keep on themselves."""
    holder = getattr(model, "model", None)
    kept = getattr(holder, "rope_deltas", None)
    try:
        yield
    finally:
        if holder is not None and hasattr(holder, "rope_deltas"):
            holder.rope_deltas = kept


def _stacked(parts: list[Any]) -> Any:
    return np.stack([part.numpy() for part in parts])


def _note(model: Any) -> str:
    config = model.config
    decoder = config.get_text_config(decoder=True)
    facts = {
        _DEEPSTACK: bool(getattr(getattr(config, "vision_config", None), "deepstack_visual_indexes", None)),
        _BOTH_WAYS: config.model_type == "paligemma",
        _SLIDING: "sliding_attention" in (getattr(decoder, "layer_types", None) or ()),
    }
    return " ".join(words for words, holds in facts.items() if holds)
