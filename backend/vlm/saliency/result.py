"""What a saliency call finds, and how it travels: plain numbers, never a picture.

Attention says what an answer's tokens looked at, the gradient what the answer depended on.
Neither says why, and both are correlational. Nothing is rescaled: maps of two calls share one scale.
"""

__all__ = ["Saliency", "SaliencyError"]

import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.errors import AppError
from backend.vlm.saliency.geometry import paint

Floats = NDArray[np.float32]

_ARRAYS = ("regions", "shares", "uniform", "maps", "gradient")


class SaliencyError(AppError):
    """No saliency can be had here: of this VLM, this image or this answer. The VLM itself goes on."""


@dataclass(frozen=True, slots=True, eq=False)
class Saliency:
    """Saliency of one answer. A *patch* is an image token; a *token* is one of the answer's.

    The map of a value shows patches in the order in which the VLM read them; `painted` lays them onto the image.
    """

    tokens: tuple[str, ...]
    """Pieces of the answer; a token within a character of several is empty, and the last of them holds it."""
    shares: Floats
    """Shape (layers, heads, tokens): the share of attention on image tokens where a token was predicted, 0 to 1."""
    uniform: Floats
    """Shape (layers, tokens): that share, were attention even over all the layer can see; sliding windows count."""
    maps: Floats
    """Shape (layers, tokens, patches): attention on each patch, the mean over heads. Sums to the share."""
    gradient: Floats | None
    """Shape (patches,): gradient × activation of the answer's log-likelihood at the image embeddings, summed over
    channels, signed: above 0 the patch spoke for the answer. None where it cannot be had."""
    why_no_gradient: str
    """In words; empty where there is one."""
    regions: NDArray[np.float64] | None
    """Shape (patches, 4): left, top, right, bottom of each patch in the upright original, 0 to 1; None if unknown."""
    grid: tuple[int, int] | None
    """Rows and columns of a regular grid as fine as the patches; None where the regions are unknown."""
    why_no_regions: str
    """In words; empty where they are known."""
    log_likelihood: float
    """Natural logarithm of the probability that the VLM gives the answer, at most 0."""
    note: str = ""
    """What is special about its family; empty where nothing is."""

    @property
    def answer(self) -> str:
        """The answer as the VLM's tokenizer writes it."""
        return "".join(self.tokens)

    @property
    def n_layers(self) -> int:
        """Layers with attention."""
        return int(self.shares.shape[0])

    @property
    def n_heads(self) -> int:
        """Heads a layer."""
        return int(self.shares.shape[1])

    @property
    def n_image_tokens(self) -> int:
        """Image tokens, overlapping views counted each."""
        return int(self.maps.shape[2])

    @property
    def fraction(self) -> float:
        """Image saliency fraction: the mean of `shares` over tokens, layers and heads, 0 to 1."""
        return float(self.shares.mean(dtype=np.float64))

    @property
    def uniform_fraction(self) -> float:
        """What `fraction` would be, were attention even: the mean of `uniform` over tokens and layers."""
        return float(self.uniform.mean(dtype=np.float64))

    @property
    def gradient_mean(self) -> float | None:
        """Mean gradient activation: the mean of absolute values over patches; None where there is no gradient."""
        return None if self.gradient is None else float(np.abs(self.gradient).mean(dtype=np.float64))

    @property
    def attention_map(self) -> Floats:
        """Shape (patches,): attention on each patch, the mean over tokens and layers. Sums to `fraction`."""
        return self.token_map()

    @property
    def gradient_map(self) -> Floats | None:
        """Shape (patches,): absolute values of the gradient; None where there is none."""
        return None if self.gradient is None else np.abs(self.gradient)

    def token_map(self, token: int | None = None, layer: int | None = None) -> Floats:
        """Return attention on each patch, of a token or the mean of all, in a layer or the mean of all."""
        chosen = self.maps if layer is None else self.maps[layer : layer + 1]
        chosen = chosen if token is None else chosen[:, token : token + 1]
        return np.asarray(chosen.mean(axis=(0, 1), dtype=np.float64), dtype=np.float32)

    def painted(self, values: Floats, shape: tuple[int, int] | None = None) -> NDArray[np.float64]:
        """Lay one value a patch onto the original; see `paint`.

        Args:
            values: Shape (patches,).
            shape: Rows and columns; None is `grid`.

        Raises:
            SaliencyError: Where the patches lie is unknown.
        """
        if self.regions is None or self.grid is None:
            raise SaliencyError(self.why_no_regions, "Use the shares, which need no map.")
        return paint(values, self.regions, shape or self.grid)

    def to_npz(self) -> bytes:
        """Return all of it as a compressed npz file."""
        arrays = {name: value for name in _ARRAYS if (value := getattr(self, name)) is not None}
        told = {
            "tokens": self.tokens,
            "why_no_gradient": self.why_no_gradient,
            "grid": self.grid,
            "why_no_regions": self.why_no_regions,
            "log_likelihood": self.log_likelihood,
            "note": self.note,
        }
        file = io.BytesIO()
        np.savez_compressed(file, told=np.frombuffer(json.dumps(told).encode("ascii"), dtype=np.uint8), **arrays)
        return file.getvalue()

    @classmethod
    def from_npz(cls, data: bytes) -> "Saliency":
        """Return what `to_npz` wrote.

        Raises:
            ValueError: It did not write this.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                told: dict[str, Any] = json.loads(file["told"].tobytes())
                arrays: dict[str, Any] = {name: file.get(name) for name in _ARRAYS}
            told["tokens"] = tuple(told["tokens"])
            told["grid"] = None if told["grid"] is None else tuple(told["grid"])
            return cls(**told, **arrays)
        except Exception as error:
            raise ValueError("These bytes hold no saliency.") from error
