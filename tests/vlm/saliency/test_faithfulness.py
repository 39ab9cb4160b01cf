"""Deletion and insertion on a picture whose answer hangs on one known place."""

import numpy as np
import pytest
from PIL import Image

from backend.vlm.saliency.faithfulness import Curves, deletion_and_insertion

SIZE = 40
HEAT = np.arange(16).reshape(4, 4)
"""The last place, below on the right, matters most."""


def picture() -> Image.Image:
    pixels = np.zeros((SIZE, SIZE, 3), dtype=np.uint8)
    pixels[30:, 30:] = np.indices((10, 10)).sum(0)[..., None] % 2 * 255
    return Image.fromarray(pixels)


def contrast(image: Image.Image) -> float:
    """Return how sharp the checkers below on the right are, 0 to 1."""
    return float(np.asarray(image)[32:38, 32:38].astype(float).std() / 127.5)


def test_the_place_that_matters_goes_first_and_comes_first() -> None:
    curves = deletion_and_insertion(picture(), HEAT, contrast, steps=16)
    assert curves.shares == tuple(step / 16 for step in range(17))
    assert curves.deletion[0] == curves.insertion[-1] == contrast(picture())
    assert curves.deletion[1] < 0.2 < 0.9 < curves.insertion[1]
    assert curves.area("deletion") < curves.area("chance_deletion")
    assert curves.area("insertion") > curves.area("chance_insertion")


def test_all_orders_begin_and_end_alike() -> None:
    curves = deletion_and_insertion(picture(), HEAT, contrast, steps=3)
    assert curves.shares == (0, 5 / 16, 11 / 16, 1)
    assert curves.deletion[0] == curves.chance_deletion[0] == curves.insertion[-1] == curves.chance_insertion[-1]
    assert curves.deletion[-1] == curves.chance_deletion[-1] == curves.insertion[0] == curves.chance_insertion[0]


def test_each_picture_is_asked_about_once() -> None:
    asked: list[Image.Image] = []

    def ask(image: Image.Image) -> float:
        asked.append(image)
        return 0.5

    deletion_and_insertion(picture(), HEAT, ask, steps=5)
    assert len(asked) == 4 * 4 + 2


def test_the_area_is_that_of_the_trapezoids() -> None:
    curves = Curves((0.0, 0.5, 1.0), (1.0, 0.5, 0.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
    assert [curves.area(name) for name in ("deletion", "insertion", "chance_deletion")] == [0.5, 0.75, 1.0]
    assert Curves.from_bytes(curves.to_bytes()) == curves


def test_there_are_no_more_steps_than_places() -> None:
    assert len(deletion_and_insertion(picture(), np.ones((1, 2)), lambda _: 0.5, steps=10).shares) == 3


@pytest.mark.parametrize("size", [(40, 40), (61, 33)])
def test_all_places_together_are_the_whole_picture(size: tuple[int, int]) -> None:
    seen: list[np.ndarray] = []

    def look(image: Image.Image) -> float:
        seen.append(np.asarray(image))
        return 0.5

    image = Image.effect_noise(size, 80).convert("RGB")
    deletion_and_insertion(image, np.ones((5, 7)), look, steps=2)
    whole, gone, half, back, *_ = seen
    kept = (half == whole).all(-1)
    np.testing.assert_array_equal(back[kept & (whole != gone).any(-1)], gone[kept & (whole != gone).any(-1)])
    assert 0.3 < kept.mean() < 0.7
