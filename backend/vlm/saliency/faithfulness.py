"""Deletion and insertion: does the answer hang on the places a map shows first?

After Petsiuk et al. 2018 (*RISE*, section 4.3): the image is blurred out place by place, the highest
of the map first, and the answer's probability is followed; or it comes back place by place out of
the blur. A map that shows what matters lets deletion fall early and insertion rise early. Beside
each stands the curve of a random order, since any order ends at the same picture.
"""

__all__ = ["Curves", "deletion_and_insertion"]

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageFilter

_SEED = 0
_BLUR = 0.1
"""Radius of the blur as a share of the longer side: of what is there, no more than colours stays."""


@dataclass(frozen=True, slots=True)
class Curves:
    """The answer's probability as the image goes and comes, each of as many points as `shares`.

    The probability is that of a token, the geometric mean over the answer's tokens, 0 to 1.
    """

    shares: tuple[float, ...]
    """Of the map's places that are blurred (deletion) or shown (insertion), from 0 to 1."""
    deletion: tuple[float, ...]
    insertion: tuple[float, ...]
    chance_deletion: tuple[float, ...]
    """In a random order of places."""
    chance_insertion: tuple[float, ...]

    def area(self, curve: str) -> float:
        """Return the area under a curve by its name: low is good for deletion, high for insertion."""
        return float(np.trapezoid(getattr(self, curve), self.shares))

    def to_bytes(self) -> bytes:
        """Return all of it as bytes."""
        return json.dumps(asdict(self), allow_nan=False).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Curves":
        """Return what `to_bytes` wrote."""
        return cls(**{name: tuple(values) for name, values in json.loads(data).items()})


def deletion_and_insertion(
    picture: Image.Image, heat: ArrayLike, probability: Callable[[Image.Image], float], steps: int = 10
) -> Curves:
    """Follow an answer's probability while an image is taken away and given back.

    Places that tie go row by row. The two pictures at the ends are the same for all curves and are asked about once,
    so there are 4 · (steps - 1) + 2 passes.

    Args:
        picture: The upright image.
        heat: Shape (rows, columns), over the whole image; the higher, the earlier.
        probability: Of the answer, given a picture.
        steps: Into how many parts the places are cut; at most as many as there are.
    """
    heat = np.asarray(heat, dtype=np.float64)
    steps = min(steps, heat.size)
    order = np.argsort(-heat.ravel(), kind="stable")
    chance = np.random.default_rng(_SEED).permutation(heat.size)
    blurred = picture.filter(ImageFilter.GaussianBlur(_BLUR * max(picture.size)))
    counts = [round(step * heat.size / steps) for step in range(steps + 1)]
    whole, gone = probability(picture), probability(blurred)

    def curve(first: Image.Image, then: Image.Image, places: NDArray[np.int64]) -> tuple[float, ...]:
        between = [probability(_patched(first, then, places[:count], heat.shape)) for count in counts[1:-1]]
        ends = (whole, gone) if first is picture else (gone, whole)
        return (ends[0], *between, ends[1])

    return Curves(
        shares=tuple(count / heat.size for count in counts),
        deletion=curve(picture, blurred, order),
        insertion=curve(blurred, picture, order),
        chance_deletion=curve(picture, blurred, chance),
        chance_insertion=curve(blurred, picture, chance),
    )


def _patched(first: Image.Image, then: Image.Image, places: NDArray[np.int64], shape: tuple[int, ...]) -> Image.Image:
    """Return the first picture with the given cells of a grid replaced by those of the other."""
    width, height = first.size
    cells = np.zeros(shape, dtype=bool)
    cells.flat[places] = True
    rows = np.arange(height) * shape[0] // height
    columns = np.arange(width) * shape[1] // width
    mask = Image.fromarray(cells[rows[:, None], columns[None, :]].astype(np.uint8) * 255)
    return Image.composite(then, first, mask)
