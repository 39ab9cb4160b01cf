"""Where processors put the original: crops, padding, tiles, and what is not known."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from backend.vlm.chat_prompts import Encoded
from backend.vlm.saliency.geometry import View, grid_of, regions_of
from backend.vlm.saliency.views import UnknownLayout, views_of
from tests.vlm.tiny_models import hf

PATCH, SIDE = 14, 56
N_SIDE = SIDE // PATCH
EDGE = {"height": SIDE, "width": SIDE}


def model_of(family: str) -> Any:
    vision = SimpleNamespace(patch_size=PATCH, spatial_merge_size=2)
    return SimpleNamespace(config=SimpleNamespace(model_type=family, image_token_id=1, vision_config=vision))


def ask_of(n_tokens: int, **picture: Any) -> Encoded:
    return Encoded({"input_ids": torch.tensor([[5, *[1] * n_tokens, 6]])}, picture)


LLAVA_PROCESSORS = {
    "squeezed": lambda: hf.SiglipImageProcessor(size=EDGE),
    "cropped": lambda: hf.CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size=EDGE),
    "cropped after a wider resize": lambda: hf.CLIPImageProcessor(size={"shortest_edge": 2 * SIDE}, crop_size=EDGE),
    "padded": lambda: hf.LlavaImageProcessor(size={"shortest_edge": SIDE}, crop_size=EDGE, do_pad=True),
}


@pytest.mark.parametrize("size", [(224, 112), (112, 224), (168, 168)])
@pytest.mark.parametrize("kind", LLAVA_PROCESSORS)
def test_a_bright_spot_lands_in_the_patch_whose_region_holds_it(kind: str, size: tuple[int, int]) -> None:
    processor = LLAVA_PROCESSORS[kind]()
    width, height = size
    black = processor(Image.new("RGB", size), return_tensors="pt")["pixel_values"]
    for y in range(7, height, 28):
        for x in range(7, width, 28):
            pixels = np.zeros((height, width, 3), dtype=np.uint8)
            pixels[y - 4 : y + 4, x - 4 : x + 4] = 255
            prepared = processor(Image.fromarray(pixels), return_tensors="pt")["pixel_values"]
            views = views_of(model_of("llava"), processor, ask_of(N_SIDE**2, pixel_values=prepared), size)
            (left, top, right, bottom) = regions_of(views).T
            light = torch.nn.functional.avg_pool2d(prepared - black, PATCH)[0].sum(0).flatten().numpy()
            x_share, y_share = x / width, y / height
            there = (left <= x_share) & (x_share <= right) & (top <= y_share) & (y_share <= bottom)
            seen = light.max() > 0.05
            assert seen == there.any(), f"{kind} {size}: a spot at {x}, {y}"
            assert not seen or there[light.argmax()], f"{kind} {size}: a spot at {x}, {y}"


def test_the_grid_over_a_cropped_image_has_cells_of_the_size_of_its_patches() -> None:
    processor = LLAVA_PROCESSORS["cropped"]()
    ask = ask_of(N_SIDE**2, pixel_values=torch.zeros(1, 3, SIDE, SIDE))
    (view,) = views_of(model_of("llava"), processor, ask, (224, 112))
    assert view == View(0.25, 0, 0.75, 1, N_SIDE, N_SIDE)
    assert grid_of([view]) == (N_SIDE, 2 * N_SIDE)


def test_merged_patches_make_one_token() -> None:
    ask = ask_of(6, image_grid_thw=torch.tensor([[1, 4, 6]]))
    assert views_of(model_of("qwen2_5_vl"), None, ask, (60, 40)) == (View(0, 0, 1, 1, 2, 3),)


def test_idefics_sees_its_tiles_and_then_the_whole() -> None:
    processor = hf.Idefics3ImageProcessor(size={"longest_edge": 3 * SIDE}, max_image_size={"longest_edge": SIDE})
    prepared = processor(Image.new("RGB", (300, 100)), return_tensors="pt")["pixel_values"]
    views = views_of(model_of("idefics3"), processor, ask_of(4 * prepared.shape[1], pixel_values=prepared), (300, 100))
    assert prepared.shape[1] == 4
    assert views[1] == View(1 / 3, 0, 2 / 3, 1, 2, 2)
    assert views[-1] == View(0, 0, 1, 1, 2, 2)


def test_without_splitting_idefics_sees_the_whole_alone() -> None:
    processor = hf.Idefics3ImageProcessor(size={"longest_edge": 3 * SIDE}, do_image_splitting=False)
    ask = ask_of(4, pixel_values=torch.zeros(1, 1, 3, SIDE, SIDE))
    assert views_of(model_of("idefics3"), processor, ask, (300, 100)) == (View(0, 0, 1, 1, 2, 2),)


@pytest.mark.parametrize(
    ("family", "ask", "why"),
    [
        ("family of next year", ask_of(4), "not known where the image tokens of family of next year"),
        ("paligemma", ask_of(5, pixel_values=torch.zeros(1, 3, 8, 8)), "5 tokens, which make no square"),
        ("gemma3", ask_of(8, pixel_values=torch.zeros(2, 3, 8, 8)), "8 tokens, which is not what gemma3 makes"),
        ("qwen3_vl", ask_of(5, image_grid_thw=torch.tensor([[1, 4, 4]])), "5 tokens, which is not what qwen3_vl"),
    ],
)
def test_what_is_not_known_is_told_and_never_guessed(family: str, ask: Encoded, why: str) -> None:
    with pytest.raises(UnknownLayout, match=why):
        views_of(model_of(family), None, ask, (56, 56))
