"""Attention of an answer's tokens, recorded while a VLM runs as it always does.

The VLM's own attention goes on computing what each layer hands on; beside it, the family's plain
("eager") attention is computed for the answer's rows alone. No layer's whole attention is ever
held, which is what makes `output_attentions` too large for an image of many tokens. The numbers
are those that it gives, up to rounding. Afterwards the VLM is as it was, whatever happened.
"""

__all__ = ["Recording", "recorded_attention"]

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from backend.domain.progress import Cancelled
from backend.vlm.saliency.result import SaliencyError
from backend.vlm.saliency.teacher_forcing import Forced

_NAME = "parallax_saliency"
"""Of the attention function, as transformers' registry has it."""

_HINT = "Choose a VLM of another family for saliency."


@dataclass(eq=False)
class Recording:
    """What is kept of each attention layer, in the order in which they run."""

    n_tokens: int
    image_places: Any
    own: str
    """Name of the attention the VLM runs with."""
    stop: threading.Event
    shares: list[Any] = field(default_factory=list)
    """Of shape (heads, tokens) each: attention on image tokens."""
    uniform: list[Any] = field(default_factory=list)
    """Of shape (tokens,) each: image tokens among all that the layer can see from there."""
    maps: list[Any] = field(default_factory=list)
    """Of shape (tokens, patches) each: attention on each image token, the mean over heads."""
    is_over: bool = False
    """Whether nothing more is kept: a layer that is run again for its gradient says nothing new."""

    def keep(self, module: Any, query: Any, key: Any, value: Any, mask: Any, options: dict[str, Any]) -> None:
        """Compute and keep the answer's rows of a layer.

        Raises:
            SaliencyError: The layer attends to something else than the tokens before it.
        """
        import torch

        plain = _plain_attention(module)
        if key.shape[2] != query.shape[2] or mask is None or mask.shape[-1] != key.shape[2]:
            raise SaliencyError("A layer of this VLM does not attend to its image as to tokens.", _HINT)
        with torch.no_grad():
            rows = slice(-self.n_tokens, None)
            weights = plain(module, query[:, :, rows], key, value, mask[:, :, rows], **options)[1][0].float()
            on_image = weights[..., self.image_places.to(weights.device)]
            seen = mask[0, 0, rows] > torch.finfo(mask.dtype).min / 2
            self.shares.append(on_image.sum(dim=-1).cpu())
            self.maps.append(on_image.mean(dim=0).cpu())
            n_seen_of_image = seen[:, self.image_places.to(seen.device)].sum(dim=-1)
            self.uniform.append((n_seen_of_image / seen.sum(dim=-1)).float().cpu())


_AT_WORK: dict[int, Recording] = {}
"""By the id of a decoder's configuration, the recording its attention layers report to."""


@contextlib.contextmanager
def recorded_attention(model: Any, forced: Forced, stop: threading.Event) -> Iterator[Recording]:
    """Record the attention of a decoder inside the block; no other thread may use the VLM meanwhile.

    Args:
        model: A transformers model.
        forced: What it is about to be run on.
        stop: Looked at before each layer.

    Raises:
        SaliencyError: Its family cannot be told how to attend.
    """
    decoder = model.config.get_text_config(decoder=True)
    part = next((name for name in model.config.sub_configs if getattr(model.config, name, None) is decoder), None)
    if part is None or not model._can_set_attn_implementation():
        raise _cannot_be_recorded()
    _register()
    own = {"": model.config._attn_implementation, part: decoder._attn_implementation}
    recording = Recording(forced.n_tokens, forced.image_places, own[part], stop)
    _AT_WORK[id(decoder)] = recording
    try:
        model.set_attn_implementation({"": _NAME, part: _NAME})
        yield recording
        if not recording.shares:
            raise _cannot_be_recorded()
    finally:
        model.set_attn_implementation(own)
        del _AT_WORK[id(decoder)]


def _cannot_be_recorded() -> SaliencyError:
    return SaliencyError("This VLM's attention cannot be recorded: its code computes it in a way of its own.", _HINT)


def _attend(module: Any, query: Any, key: Any, value: Any, mask: Any, **options: Any) -> Any:
    """Attend as the VLM does without us, and report; signature as transformers has it.

    A kernel that takes no mask, such as flash attention, is replaced by torch's own, which computes the same.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    recording = _AT_WORK.get(id(module.config))
    if recording is None:
        raise _cannot_be_recorded()
    if recording.stop.is_set():
        raise Cancelled
    if not recording.is_over:
        recording.keep(module, query, key, value, mask, options)
    is_plain = recording.own == "eager" or options.get("softcap") is not None
    attention = _plain_attention(module) if is_plain else sdpa_attention_forward
    return attention(module, query, key, value, mask, **options)


def _plain_attention(module: Any) -> Any:
    """Return the family's eager attention, which stands beside its attention layers."""
    plain = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    if plain is None:
        raise SaliencyError("This VLM's family has no attention that tells its weights.", _HINT)
    return plain


def _register() -> None:
    """Tell transformers of the attention, and that it wants a whole mask, never one left to the kernel."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, eager_mask

    AttentionInterface.register(_NAME, _attend)
    AttentionMaskInterface.register(_NAME, eager_mask)
