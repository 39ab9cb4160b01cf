"""What the patches of a frame are called, in the words of the questions about it.

Before the VLM is asked anything, its vision tower and projector learn to name each patch: a
patch that a polyp covers is to lie near the word "polyp" in the space of the VLM's own word
embeddings, and near the words of the cell it lies in. A question then finds the patches it is
about by their names.
"""

__all__ = ["GRID", "NAMES", "endoscopy_names", "naming_loss", "naming_parameters", "surgical_names", "word_rows"]

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from backend.demo import endoscopy as scope
from backend.demo.architecture import IMAGE_SIZE, PATCH
from backend.demo.laparoscopy import SurgicalFrame
from backend.demo.laparoscopy.scene import CATEGORIES
from backend.demo.scenes import Frame, Thing
from backend.endoca.vocabulary import CELLS
from backend.surgcheck.grounding_cues import Position
from backend.surgcheck.scene_graphs import NULL_VERB, VERBS

GRID = IMAGE_SIZE // PATCH
"""Patches a side."""

_REMOVED, _INDICATED = "removed", "red"
"""What a resection site, and what a drawn cue points at, are called."""

_HANDS = {"Lt": "left hand", "Rt": "right hand", "Assi": "assistant"}

_GROUPS = {
    **dict.fromkeys(scope.FINDINGS, "abnormality"),
    **dict.fromkeys(scope.INSTRUMENTS, "instrument"),
    **dict.fromkeys(scope.LANDMARKS, "landmark"),
    scope.RESECTION: _REMOVED,
}
"""A second name that some things have."""

_COUNTED = {
    **dict.fromkeys(scope.FINDINGS, ("findings",)),
    **dict.fromkeys(scope.INSTRUMENTS, ("instruments",)),
    scope.POLYP: ("findings", "polyps"),
}
"""What the one patch in a thing's middle is called: there are as many as things."""

_TOOL, _TOOLS = "tool", "tools"

NAMES = tuple(
    dict.fromkeys(
        (
            *scope.FINDINGS,
            *scope.INSTRUMENTS,
            *scope.LANDMARKS,
            scope.BOX,
            scope.TEXT,
            *_GROUPS.values(),
            *(name for names in _COUNTED.values() for name in names),
            *CATEGORIES,
            *_HANDS.values(),
            *(verb for verb in VERBS if verb != NULL_VERB),
            _TOOL,
            _TOOLS,
            _INDICATED,
            *CELLS,
            *Position,
        )
    )
)
"""All names a patch can have, each once."""

Coverage = NDArray[np.uint8]
"""(names, GRID, GRID): share of each patch that a name is right for, 255 being all of it."""

_FIRST_SCALE, _FIRST_BIAS = 20.0, -5.0


def endoscopy_names(frame: Frame) -> Coverage:
    """Return what the patches of an endoscopy-like frame are called."""
    coverage = _places()
    for thing in frame.things:
        for name in {thing.kind, _GROUPS.get(thing.kind, thing.kind)}:
            if name in NAMES:
                _cover(coverage, name, thing.mask)
        for name in _COUNTED.get(thing.kind, ()):
            _mark_middle(coverage, name, thing)
    return coverage


def surgical_names(drawn: SurgicalFrame, indicated: Thing | None = None) -> Coverage:
    """Return what the patches of a laparoscopy-like frame are called.

    Args:
        drawn: The frame.
        indicated: What a cue drawn into it points at.
    """
    coverage = _places()
    for annotation in drawn.annotations:
        thing = annotation.thing
        for name in (annotation.category, _HANDS.get(annotation.hand, ""), annotation.verb):
            if name in NAMES:
                _cover(coverage, name, thing.mask)
        if annotation.is_tool:
            _cover(coverage, _TOOL, thing.mask)
            _mark_middle(coverage, _TOOLS, thing)
    if indicated is not None:
        _cover(coverage, _INDICATED, indicated.mask)
    return coverage


def word_rows(tokenizer: Any) -> list[list[int]]:
    """Return the tokens of each name, as it stands at the beginning of a text and inside one."""
    return [sorted({token for text in (name, f" {name}") for token in tokenizer(text).input_ids}) for name in NAMES]


def naming_parameters() -> Any:
    """Return what naming needs beside the VLM's own weights; thrown away after the training."""
    import torch

    return torch.nn.ParameterDict(
        {
            "scale": torch.nn.Parameter(torch.tensor(_FIRST_SCALE).log()),
            "bias": torch.nn.Parameter(torch.full((len(NAMES),), _FIRST_BIAS)),
        }
    )


def naming_loss(features: Any, embeddings: Any, rows: list[list[int]], parameters: Any, coverage: Coverage) -> Any:
    """Return the binary cross entropy of all names on all patches.

    Args:
        features: (pictures, patches, width); the projected image features.
        embeddings: (vocabulary, width); the VLM's word embeddings. A name lies at the mean of its tokens.
        rows: From `word_rows`.
        parameters: From `naming_parameters`.
        coverage: (pictures, names, GRID, GRID).
    """
    import torch

    names = torch.stack([embeddings[row].mean(0) for row in rows])
    likeness = torch.nn.functional.normalize(features, dim=-1) @ torch.nn.functional.normalize(names, dim=-1).T
    logits = likeness.float() * parameters["scale"].exp() + parameters["bias"]
    shares = torch.from_numpy(coverage).flatten(2).transpose(1, 2).float() / 255
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, shares)


def _places() -> Coverage:
    coverage = np.zeros((len(NAMES), GRID, GRID), np.uint8)
    cell = ((np.arange(GRID) + 0.5) * 3 / GRID).astype(int)
    for row in range(3):
        for column in range(3):
            inside = np.ix_(cell == row, cell == column)
            for words in (CELLS, tuple(Position)):
                coverage[NAMES.index(words[3 * row + column])][inside] = 255
    return coverage


def _cover(coverage: Coverage, name: str, mask: NDArray[np.bool_]) -> None:
    shares = cv2.resize(mask.astype(np.float32), (GRID, GRID), interpolation=cv2.INTER_AREA)
    layer = coverage[NAMES.index(name)]
    np.maximum(layer, np.rint(255 * shares).astype(np.uint8), out=layer)


def _mark_middle(coverage: Coverage, name: str, thing: Thing) -> None:
    height, width = thing.mask.shape
    rows, columns = np.nonzero(thing.mask)
    coverage[NAMES.index(name), int(rows.mean() * GRID / height), int(columns.mean() * GRID / width)] = 255
