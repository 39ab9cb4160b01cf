"""Looks whose every cell is known: grids of two rows and four columns, two layers, few tokens."""

__all__ = ["EMPTY", "PANES", "made_look"]

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from backend.vlm.saliency.kept import KeptSaliency
from pages.ui.saliency_view import Pane

EMPTY: Mapping[int, float] = {}


def grid(cells: Mapping[int, float], shape: tuple[int, int] = (2, 4)) -> NDArray[np.float32]:
    """Return a map of zeros but for these cells, counted row by row."""
    values = np.zeros(shape, dtype=np.float32)
    for cell, value in cells.items():
        values.flat[cell] = value
    return values


def made_look(
    tokens: Sequence[str],
    token_cells: Sequence[Mapping[int, float]],
    layer_cells: Sequence[Mapping[int, float]],
    gradient: Mapping[int, float] | None = None,
    even: float = 0.8,
) -> KeptSaliency:
    """Return a look with these maps; shares are what its maps add up to."""
    maps = np.stack([grid(cells) for cells in token_cells])
    layers = np.stack([grid(cells) for cells in layer_cells])
    shares = maps.sum(axis=(1, 2))
    return KeptSaliency(
        tokens=tuple(tokens),
        fraction=float(shares.mean()),
        uniform_fraction=even,
        gradient_mean=None if gradient is None else 0.0002,
        log_likelihood=-1.0,
        token_shares=shares,
        token_uniform=np.full(len(tokens), even, dtype=np.float32),
        head_shares=layers.sum(axis=(1, 2))[:, None],
        layer_uniform=np.full(len(layer_cells), even, dtype=np.float32),
        token_maps=maps,
        layer_maps=layers,
        gradient_map=None if gradient is None else grid(gradient),
        why_no_gradient="this VLM runs elsewhere" if gradient is None else "",
        why_no_regions="",
        note="",
    )


LEFT = made_look(
    ("", "é", " <b>yes</b>", "\n"), ({0: 0.2}, {0: 0.6}, {7: 0.8}, EMPTY), ({0: 0.4}, {7: 0.4}), {3: 0.001}
)
"""Attention of the whole answer: 0.2 in the first cell and 0.2 in the last."""

RIGHT = made_look(("no",), ({0: 0.1, 7: 0.2},), ({0: 0.2}, {7: 0.4}), {3: 0.002}, even=0.4)
"""Attention of the whole answer: 0.1 in the first cell and 0.2 in the last."""

FINE = replace(
    RIGHT,
    token_maps=np.repeat(np.repeat(RIGHT.token_maps, 2, axis=1), 2, axis=2) / 4,  # type: ignore[arg-type]
    layer_maps=np.repeat(np.repeat(RIGHT.layer_maps, 2, axis=1), 2, axis=2) / 4,  # type: ignore[arg-type]
    gradient_map=None,
    gradient_mean=None,
    why_no_gradient="this VLM runs elsewhere",
)
"""The same on four rows and eight columns, without a gradient."""

NOWHERE = replace(
    RIGHT, token_maps=None, layer_maps=None, gradient_map=None, why_no_regions="nobody knows where its tokens lie"
)

PANES = {
    "two": [Pane("Generator (Atlas)", "é<b>yes</b>", LEFT), Pane("Verifier (Beacon)", "no", RIGHT)],
    "one": [Pane("Generator (Atlas)", "é<b>yes</b>", LEFT)],
    "fine": [Pane("Generator (Atlas)", "é<b>yes</b>", LEFT), Pane("Verifier (Beacon)", "no", FINE)],
    "layers": [
        Pane("Generator (Atlas)", "é<b>yes</b>", LEFT),
        Pane("Verifier (Beacon)", "no", made_look(("no",), ({0: 0.1},), ({0: 0.1},))),
    ],
    "odd": [
        Pane("Generator (Atlas)", "", made_look(("\u200b", "\u202e\u05d0", "b"), (EMPTY, {0: 0.2}, EMPTY), (EMPTY,)))
    ],
    "none": [Pane("Verifier (Beacon)", "no", NOWHERE)],
    "nowhere": [Pane("Generator (Atlas)", "é<b>yes</b>", LEFT), Pane("Verifier (Beacon)", "no", NOWHERE)],
}
