"""Gradient × activation at the image embeddings: which patches the answer's log-likelihood depended on.

For patch p with embedding e_p, as the decoder reads it after the projector, the value is
Σ_c e_pc · ∂ log P(answer) / ∂ e_pc. Only the embeddings take part: weights are frozen, and the
vision tower is not differentiated. Layers are run again on the way back in place of keeping what
they computed.
"""

__all__ = ["differentiable_embeddings"]

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from backend.vlm.saliency.teacher_forcing import Forced


class Embeddings:
    """The decoder's input in a forward pass."""

    def __init__(self) -> None:
        self._tensor: Any = None

    def take(self, _decoder: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Find the embeddings among a decoder's arguments and follow them from here on.

        The very tensor is followed: a copy in its place would cut whatever else the VLM does with it.
        """
        tensor = kwargs.get("inputs_embeds")
        if tensor is not None:
            self._tensor = tensor.requires_grad_()

    def times_gradient(self, target: Any, forced: Forced) -> Any:
        """Return embedding × gradient of a target, summed over channels, at the image's places.

        Returns:
            float32 on the CPU, of shape (patches,).

        Raises:
            RuntimeError: The decoder was given no embeddings, or the target does not depend on them.
        """
        import torch

        if self._tensor is None:
            raise RuntimeError("the decoder of this VLM takes no embeddings")
        (gradient,) = torch.autograd.grad(target, self._tensor)
        at_image = forced.image_places.to(gradient.device)
        product = self._tensor.detach()[0, at_image].float() * gradient[0, at_image].float()
        return product.sum(dim=-1).cpu()


@contextlib.contextmanager
def differentiable_embeddings(model: Any) -> Iterator[Embeddings]:
    """Follow the decoder's input through the forward pass inside the block, and let go whatever happens."""
    import torch

    decoder = model.get_decoder()
    with contextlib.ExitStack() as stack:
        for weights in [weights for weights in model.parameters() if weights.requires_grad]:
            weights.requires_grad_(False)
            stack.callback(weights.requires_grad_, True)
        for layer in getattr(decoder, "layers", ()):
            stack.enter_context(_computed_twice(layer))
        embeddings = Embeddings()
        stack.callback(decoder.register_forward_pre_hook(embeddings.take, with_kwargs=True).remove)
        stack.enter_context(torch.enable_grad())
        yield embeddings


@contextlib.contextmanager
def _computed_twice(layer: Any) -> Iterator[None]:
    """Let a layer keep its input alone for the way back, and be run again there."""
    from torch.utils.checkpoint import checkpoint

    own = vars(layer).get("forward")
    layer.forward = partial(checkpoint, layer.forward, use_reentrant=False, preserve_rng_state=False)
    try:
        yield
    finally:
        if own is None:
            del layer.forward
        else:
            layer.forward = own
