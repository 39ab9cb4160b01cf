"""A VLM whose weights are shuffled for a moment: a map that stays the same then says nothing of what it learnt.

The model parameter randomisation test of Adebayo et al. 2018 (*Sanity Checks for Saliency Maps*,
section 3), all layers at once. Each tensor's rows, and its columns, are put into another order, so
that weights keep their distribution, and putting them back restores them to the last bit.
"""

__all__ = ["randomised_weights", "rank_correlation"]

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from backend.vlm.saliency.result import SaliencyError


@contextlib.contextmanager
def randomised_weights(model: Any, seed: int) -> Iterator[None]:
    """Shuffle a model's weights inside the block; nobody else may use it meanwhile.

    Args:
        model: A transformers model.
        seed: The same one shuffles alike.

    Raises:
        SaliencyError: The weights are quantised, and what is packed cannot be shuffled.
    """
    if getattr(model, "is_quantized", False):
        raise SaliencyError("Quantised weights cannot be randomised.", "Load this VLM without quantization for that.")
    tensors = [weights.data for weights in model.parameters()]
    shuffles = [(place, dimension) for place, tensor in enumerate(tensors) for dimension in range(min(tensor.ndim, 2))]
    done = []
    try:
        for place, dimension in shuffles:
            _reorder(tensors[place], dimension, _order(tensors[place], dimension, seed + place))
            done.append((place, dimension))
        yield
    finally:
        for place, dimension in done:
            _reorder(tensors[place], dimension, _order(tensors[place], dimension, seed + place).argsort())


def rank_correlation(heat: ArrayLike, other: ArrayLike) -> float | None:
    """Return Spearman's rank correlation of two maps, -1 to 1; None where one of them is even all over."""
    from scipy.stats import spearmanr

    heat, other = np.ravel(heat), np.ravel(other)
    if np.ptp(heat) == 0 or np.ptp(other) == 0:
        return None
    return float(spearmanr(heat, other).statistic)


def _order(tensor: Any, dimension: int, seed: int) -> Any:
    """Return the order into which a tensor's rows (dimension 0) or columns (1) are put."""
    import torch

    return torch.randperm(tensor.shape[dimension], generator=torch.Generator().manual_seed(seed))


def _reorder(tensor: Any, dimension: int, order: Any) -> None:
    """Reorder a tensor in place."""
    tensor.copy_(tensor.index_select(dimension, order.to(tensor.device)))
