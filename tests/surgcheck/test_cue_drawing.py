"""Cues burned in: into a copy, in red, and where the release drew them."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backend.surgcheck.boxes import Box
from backend.surgcheck.cue_drawing import RED, draw_arrow_cue, draw_box_cue, draw_cue
from backend.surgcheck.grounding_cues import Arrow, Outline, arrow_cue, box_cue
from backend.surgcheck.question_pairs import all_pairs
from backend.surgcheck.tasks import Mode, Task
from tests.surgcheck.scenes import HEIGHT, WIDTH, real_frames

DRAWINGS = [
    box_cue(Box(100, 100, 50, 40), WIDTH, HEIGHT),
    box_cue(Box(846, 472, 6, 6), WIDTH, HEIGHT),
    arrow_cue(Box(100, 100, 50, 40), WIDTH, HEIGHT),
    arrow_cue(Box(0, 330, 854, 150), WIDTH, HEIGHT),
]


def grey() -> NDArray[np.uint8]:
    return np.full((HEIGHT, WIDTH, 3), 90, np.uint8)


def red_pixels(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    red: NDArray[np.bool_] = (pixels == RED).all(axis=2)
    return red


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_a_cue_is_red_in_a_copy_and_changes_nothing_else(drawing: Outline | Arrow) -> None:
    pixels = grey()
    drawn = draw_cue(pixels, drawing)
    assert (pixels == 90).all()
    assert red_pixels(drawn).any()
    assert (drawn[~red_pixels(drawn)] == 90).all()


def test_an_outline_lies_on_the_edge_and_leaves_the_inside_free() -> None:
    outline = box_cue(Box(100, 100, 50, 40), WIDTH, HEIGHT)
    assert isinstance(outline, Outline)
    red = red_pixels(draw_box_cue(grey(), outline))
    assert red[100, 100:151].all()
    assert red[140, 100:151].all()
    assert red[100:141, 100].all()
    assert red[100:141, 150].all()
    assert not red[103:138, 103:148].any()
    assert not red[:97].any()
    assert not red[144:].any()


def test_an_outline_at_the_border_is_clipped_and_still_seen() -> None:
    outline = box_cue(Box(600, 300, 254, 180), WIDTH, HEIGHT)
    assert isinstance(outline, Outline)
    red = red_pixels(draw_box_cue(grey(), outline))
    assert red[300:480, 853].all()
    assert red[479, 600:854].all()


@pytest.mark.parametrize(
    ("box", "tip", "tail"),
    [
        (Box(100, 100, 50, 40), (120, 150), (120, 229)),
        (Box(700, 100, 154, 40), (120, 700), (120, 621)),
        (Box(0, 0, 854, 150), (150, 427), (229, 427)),
        (Box(0, 330, 854, 150), (330, 427), (251, 427)),
    ],
    ids=["from the right", "from the left", "from below", "from above"],
)
def test_an_arrow_is_eighty_long_and_broadest_at_its_head(
    box: Box, tip: tuple[int, int], tail: tuple[int, int]
) -> None:
    arrow = arrow_cue(box, WIDTH, HEIGHT)
    assert isinstance(arrow, Arrow)
    red = red_pixels(draw_arrow_cue(grey(), arrow))
    rows, columns = np.nonzero(red)
    assert red[tip]
    assert red[tail]
    extents = sorted((int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1))
    assert extents == pytest.approx([24, 80], abs=1)
    across = red.sum(axis=0 if tip[0] == tail[0] else 1)
    along = np.flatnonzero(across)
    towards_tip = 1 if tip > tail else -1
    assert (np.diff(across[along][::towards_tip][-18:]) <= 0).all()
    assert np.bincount(across[along]).argmax() == pytest.approx(9, abs=1)


def near(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels within two pixels of the mask's."""
    return cv2.dilate(mask.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))).astype(bool)


def rgb(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def redness(pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
    wide = pixels.astype(np.int64)
    redness: NDArray[np.int64] = wide[..., 0] - np.maximum(wide[..., 1], wide[..., 2])
    return redness


def test_cues_lie_where_the_release_drew_them(shared: Path) -> None:
    """At least 95 % of the red pixels lie within 2 px of ours and the reverse."""
    frames = shared / "data" / "endoscapes" / "frames"
    compared: list[str] = []
    for scene in real_frames(shared):
        base = rgb(frames / scene.file_name)
        for pair in all_pairs(scene, Mode.OFFICIAL).pairs:
            if pair.task is not Task.INSTRUMENT or pair.drawing is None or not (frames / pair.image).exists():
                continue
            release = rgb(frames / pair.image)
            theirs = redness(release) - redness(base) > 60
            ours = (draw_cue(base, pair.drawing) != base).any(axis=2)
            assert near(ours)[theirs].mean() >= 0.95, pair.image
            assert near(theirs)[ours].mean() >= 0.95, pair.image
            compared.append(pair.image)
    assert len(compared) == 13
