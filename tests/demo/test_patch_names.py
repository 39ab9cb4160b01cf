"""Patches are called what lies in them, in words the VLM's tokenizer knows."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from backend.demo.endoscopy import COLITIS, POLYP, RESECTION, TEXT
from backend.demo.laparoscopy import Annotation, SurgicalFrame
from backend.demo.patch_names import (
    GRID,
    NAMES,
    endoscopy_names,
    naming_loss,
    naming_parameters,
    surgical_names,
    word_rows,
)
from backend.demo.scenes import Frame, Thing
from backend.endoca.vocabulary import CELLS

SIDE = 16 * GRID
"""A frame of 160 × 160 pixels has patches of 16 × 16."""


def boxed(rows: slice, columns: slice) -> NDArray[np.bool_]:
    mask = np.zeros((SIDE, SIDE), np.bool_)
    mask[rows, columns] = True
    return mask


def endoscopic(*things: Thing) -> Frame:
    return Frame(np.zeros((SIDE, SIDE, 3), np.uint8), things)


def layer(coverage: NDArray[np.uint8], name: str) -> dict[tuple[int, int], int]:
    """The patches a name is right for in some part, as (row, column)."""
    of = coverage[NAMES.index(name)]
    return {(int(row), int(column)): int(of[row, column]) for row, column in zip(*np.nonzero(of), strict=True)}


def test_a_patch_is_called_by_its_share_of_a_thing() -> None:
    """Columns 8 to 31 are half of patch column 0 and all of 1; rows 16 to 19 a quarter of patch row 1."""
    names = endoscopy_names(endoscopic(Thing(POLYP, boxed(slice(16, 20), slice(8, 32)))))
    half, whole = round(255 * 0.125), round(255 * 0.25)
    for name in (POLYP, "abnormality"):
        assert layer(names, name) == {(1, 0): half, (1, 1): whole}


def test_things_of_a_kind_are_named_together_and_counted_apart() -> None:
    first, second = boxed(slice(0, 16), slice(0, 16)), boxed(slice(32, 80), slice(32, 80))
    names = endoscopy_names(endoscopic(Thing(POLYP, first), Thing(POLYP, second), Thing(COLITIS, second)))
    assert layer(names, POLYP) == {(0, 0): 255} | {(row, column): 255 for row in (2, 3, 4) for column in (2, 3, 4)}
    assert layer(names, "polyps") == {(0, 0): 255, (3, 3): 255}
    assert layer(names, "findings") == {(0, 0): 255, (3, 3): 255}


def test_a_resection_site_is_called_removed_and_is_no_finding() -> None:
    names = endoscopy_names(endoscopic(Thing(RESECTION, boxed(slice(0, 16), slice(0, 16)))))
    assert layer(names, "removed") == {(0, 0): 255}
    assert not layer(names, "abnormality") and not layer(names, "findings")


def test_text_has_no_second_name() -> None:
    names = endoscopy_names(endoscopic(Thing(TEXT, boxed(slice(0, 16), slice(0, 32)))))
    named = {name for name in NAMES if layer(names, name)} - set(CELLS)
    assert layer(names, TEXT) == {(0, 0): 255, (0, 1): 255}
    assert TEXT in named and not named & {"abnormality", "instrument", "landmark"}


def test_every_patch_lies_in_just_one_cell_by_name() -> None:
    names = endoscopy_names(endoscopic())
    cells = np.stack([names[NAMES.index(cell)] for cell in CELLS])
    assert (cells.astype(int).sum(0) == 255).all()
    assert layer(names, "upper-left") == {(row, column): 255 for row in range(3) for column in range(3)}
    assert layer(names, "center") == {(row, column): 255 for row in (3, 4, 5, 6) for column in (3, 4, 5, 6)}


def test_a_tool_is_called_by_its_hand_and_its_action_and_a_structure_by_its_name_alone() -> None:
    tool = Annotation("hook", Thing("hook", boxed(slice(0, 16), slice(0, 16))), "Rt", "dissect", "gallbladder")
    organ = Annotation("gallbladder", Thing("gallbladder", boxed(slice(16, 32), slice(0, 16))))
    drawn = SurgicalFrame(endoscopic(tool.thing, organ.thing), (organ, tool), (0.0, 0.0, 0.0))
    cueless, cued = surgical_names(drawn), surgical_names(drawn, organ.thing)
    for name in ("hook", "right hand", "dissect", "tool", "tools"):
        assert layer(cueless, name) == {(0, 0): 255}
    assert layer(cueless, "gallbladder") == {(1, 0): 255}
    assert not layer(cueless, "red") and layer(cued, "red") == {(1, 0): 255}


class Letters:
    """A tokenizer with a token a letter."""

    def __call__(self, text: str) -> Any:
        return type("Encoded", (), {"input_ids": [ord(letter) for letter in text]})


def test_a_name_is_the_tokens_it_has_at_the_beginning_and_inside_a_text() -> None:
    rows = dict(zip(NAMES, word_rows(Letters()), strict=True))
    assert rows["tube"] == sorted({ord(letter) for letter in " tube"})


def test_the_naming_loss_is_the_cross_entropy_of_scaled_cosines() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    features = rng.normal(size=(2, GRID * GRID, 4)).astype(np.float32)
    embeddings = rng.normal(size=(9, 4)).astype(np.float32)
    rows = [sorted(rng.permutation(9)[: 1 + number % 3].tolist()) for number in range(len(NAMES))]
    coverage = rng.integers(0, 256, (2, len(NAMES), GRID, GRID), np.uint8)
    names = np.stack([embeddings[row].mean(0) for row in rows])
    cosines = (features / np.linalg.norm(features, axis=-1, keepdims=True)) @ (
        names / np.linalg.norm(names, axis=-1, keepdims=True)
    ).T
    chance = 1 / (1 + np.exp(-(20 * cosines.astype(float) - 5)))
    right = coverage.reshape(2, len(NAMES), -1).transpose(0, 2, 1) / 255
    expected = -(right * np.log(chance) + (1 - right) * np.log(1 - chance)).mean()
    found = naming_loss(torch.from_numpy(features), torch.from_numpy(embeddings), rows, naming_parameters(), coverage)
    assert float(found.detach()) == pytest.approx(expected, rel=1e-4)
