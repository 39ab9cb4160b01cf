"""What is kept of a saliency: its numbers as they are, and its maps as small float16 grids over the image.

A big VLM's maps are tens of megabytes an answer. Kept are the maps of each token (the mean over
layers) and of each layer (the mean over tokens), laid onto a grid no finer than `MOST_CELLS` a
side. Painting moves mass by area, so a cell is the sum of what falls into it.
"""

__all__ = ["MOST_CELLS", "KeptSaliency", "keep"]

import base64
import binascii
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from backend.vlm.saliency.result import Floats, Saliency

MOST_CELLS = 24
"""Rows, and columns, of a kept grid at most; a finer map is summed into it."""

_ROUNDING = 5e-3
"""What half precision may cost a share or the sum of a map: of a VLM's weights (bfloat16), and of what is kept."""
_MOST = float(np.finfo(np.float32).max)
"""Of a gradient: what the maps' type holds."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptSaliency:
    """Saliency of one answer, small enough to be stored by the thousand. Words as in `Saliency`."""

    tokens: tuple[str, ...]
    fraction: float
    """Image saliency fraction, 0 to 1."""
    uniform_fraction: float
    """What it would be, were attention even."""
    gradient_mean: float | None
    """Mean gradient activation, over image tokens; None where there is no gradient."""
    log_likelihood: float
    token_shares: Floats
    """Shape (tokens,): share of attention on image tokens, the mean over layers and heads."""
    token_uniform: Floats
    """Shape (tokens,): the same, were attention even."""
    head_shares: Floats
    """Shape (layers, heads): the share, the mean over tokens."""
    layer_uniform: Floats
    """Shape (layers,): the same, were attention even."""
    token_maps: Floats | None
    """Shape (tokens, rows, columns): attention on each cell, the mean over layers and heads; None without a place."""
    layer_maps: Floats | None
    """Shape (layers, rows, columns): the same, the mean over tokens and heads."""
    gradient_map: Floats | None
    """Shape (rows, columns): absolute gradient × activation; None without a gradient or without a place."""
    why_no_gradient: str
    why_no_regions: str
    note: str

    @property
    def answer(self) -> str:
        """The answer as the VLM's tokenizer writes it."""
        return "".join(self.tokens)

    @property
    def grid(self) -> tuple[int, int] | None:
        """Rows and columns of the maps; None where nobody knows where they lie."""
        return None if self.token_maps is None else (self.token_maps.shape[1], self.token_maps.shape[2])

    @property
    def attention_map(self) -> Floats | None:
        """Shape (rows, columns): attention on each cell, the mean over tokens and layers."""
        return None if self.token_maps is None else np.asarray(self.token_maps.mean(axis=0), dtype=np.float32)

    @property
    def times_even(self) -> float | None:
        """`fraction` over `uniform_fraction`: 1 is attention spread evenly; None where no image token can be seen."""
        return self.fraction / self.uniform_fraction if self.uniform_fraction else None

    @property
    def adds_up(self) -> bool:
        """Return whether the numbers are those of the arrays, and no map holds more attention than fell on the image.

        It may hold less: what a VLM sees beside the image is on no cell.
        """
        means = (
            (self.fraction, self.token_shares),
            (self.fraction, self.head_shares),
            (self.uniform_fraction, self.token_uniform),
            (self.uniform_fraction, self.layer_uniform),
        )
        on_cells = ((self.token_maps, self.token_shares), (self.layer_maps, self.head_shares.mean(axis=1)))
        return (
            all(abs(number - float(of.mean())) <= _ROUNDING and of.max() <= 1 + _ROUNDING for number, of in means)
            and all(maps is None or (maps.sum(axis=(1, 2)) <= of + _ROUNDING).all() for maps, of in on_cells)
            and (self.gradient_map is None or self.gradient_mean is not None)
        )

    def to_json(self) -> str:
        """Return all of it as JSON text."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        return _Record(**{name: _packed(value) for name, value in held.items()}).model_dump_json()

    @classmethod
    def from_json(cls, text: str) -> "KeptSaliency":
        """Return what `to_json` wrote.

        Raises:
            ValueError: It did not write this.
        """
        try:
            record = _Record.model_validate_json(text)
            held = {name: _unpacked(getattr(record, name)) for name in _Record.model_fields}
            kept = cls(**held)
        except (ValidationError, binascii.Error, ValueError) as error:
            raise ValueError("This text holds no saliency.") from error
        if not kept._fits():
            raise ValueError("The parts of this saliency do not fit each other.")
        return kept

    def _fits(self) -> bool:
        """Return whether all arrays have shapes that go together."""
        if self.head_shares.ndim != 2 or (self.token_maps is not None and self.token_maps.ndim != 3):
            return False
        n_tokens, n_layers, cells = len(self.tokens), self.layer_uniform.shape, self.grid
        if max(cells or (0,)) > MOST_CELLS:
            return False
        shapes = [
            (self.token_shares, (n_tokens,)),
            (self.token_uniform, (n_tokens,)),
            (self.head_shares, (*n_layers, self.head_shares.shape[-1])),
            (self.token_maps, (n_tokens, *(cells or ()))),
            (self.layer_maps, (*n_layers, *(cells or ()))),
            (self.gradient_map, cells),
        ]
        has_maps = (self.token_maps is None) == (self.layer_maps is None) == (cells is None)
        return n_tokens > 0 and has_maps and all(one is None or one.shape == shape for one, shape in shapes)


def keep(saliency: Saliency, most_cells: int = MOST_CELLS) -> KeptSaliency:
    """Return what is kept of a saliency.

    Args:
        saliency: The whole of it.
        most_cells: Rows, and columns, of the grid at most.
    """
    shape = None
    if saliency.grid is not None:
        shape = (min(saliency.grid[0], most_cells), min(saliency.grid[1], most_cells))
    gradient = saliency.gradient_map

    def painted(values: Floats) -> Floats:
        return np.asarray(saliency.painted(values, shape), dtype=np.float32)

    def stacked(maps: Floats) -> Floats | None:
        return None if shape is None else np.stack([painted(one) for one in maps])

    return KeptSaliency(
        tokens=saliency.tokens,
        fraction=saliency.fraction,
        uniform_fraction=saliency.uniform_fraction,
        gradient_mean=saliency.gradient_mean,
        log_likelihood=saliency.log_likelihood,
        token_shares=saliency.shares.mean(axis=(0, 1)),
        token_uniform=saliency.uniform.mean(axis=0),
        head_shares=saliency.shares.mean(axis=2),
        layer_uniform=saliency.uniform.mean(axis=1),
        token_maps=stacked(saliency.maps.mean(axis=0)),
        layer_maps=stacked(saliency.maps.mean(axis=1)),
        gradient_map=None if gradient is None or shape is None else painted(gradient),
        why_no_gradient=saliency.why_no_gradient,
        why_no_regions=saliency.why_no_regions,
        note=saliency.note,
    )


_Size = Annotated[float, Field(ge=0, le=_MOST)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Array(_Part):
    """Values as float16, divided by the largest of them, which a float16 alone may not hold."""

    shape: tuple[Annotated[int, Field(ge=1)], ...]
    largest: _Size
    values: str
    """Base64 of the little-endian float16 values, row by row."""


_Share = Annotated[float, Field(ge=0, le=1 + _ROUNDING)]


class _Record(_Part):
    """The JSON form."""

    tokens: tuple[str, ...]
    fraction: _Share
    uniform_fraction: _Share
    gradient_mean: _Size | None
    log_likelihood: Annotated[float, Field(le=0, allow_inf_nan=False)]
    token_shares: _Array
    token_uniform: _Array
    head_shares: _Array
    layer_uniform: _Array
    token_maps: _Array | None
    layer_maps: _Array | None
    gradient_map: _Array | None
    why_no_gradient: str
    why_no_regions: str
    note: str


def _packed(value: Any) -> Any:
    """Return an array as a record holds it; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    largest = float(value.max(initial=0))
    scaled: NDArray[Any] = value / largest if largest else value
    return _Array(shape=value.shape, largest=largest, values=base64.b64encode(scaled.astype("<f2").tobytes()).decode())


def _unpacked(value: Any) -> Any:
    if not isinstance(value, _Array):
        return value
    held = np.frombuffer(base64.b64decode(value.values, validate=True), dtype="<f2").reshape(value.shape)
    if not (np.isfinite(held).all() and (held >= 0).all()):
        raise ValueError("values below 0, or that are no numbers")
    return np.asarray(held, dtype=np.float32) * np.float32(value.largest)
