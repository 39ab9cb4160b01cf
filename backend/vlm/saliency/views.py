"""Which parts of the original the pictures show that a family's processor makes of an image.

What is said here is what transformers' processors do, checked in the tests by changing one place
of the original at a time. Where a processor is set up in a way that is not known here, there is
no guess: the reason is told, and attention shares stand without a map.
"""

__all__ = ["UnknownLayout", "views_of"]

import math
from collections.abc import Callable
from typing import Any

from backend.vlm.chat_prompts import Encoded
from backend.vlm.saliency.geometry import View


class UnknownLayout(Exception):
    """It is not known where the image tokens lie; says why, in words for people."""


def views_of(model: Any, image_processor: Any, ask: Encoded, size: tuple[int, int]) -> tuple[View, ...]:
    """Return the views of an ask's image in the order of their tokens.

    Args:
        model: A transformers model.
        image_processor: The one that prepared the image, with its settings.
        ask: The ask.
        size: Width and height of the upright original in pixels.

    Raises:
        UnknownLayout: The family is not known here, or its processor did something that is not.
    """
    family = model.config.model_type
    layout = _LAYOUTS.get(family)
    if layout is None:
        raise UnknownLayout(f"It is not known where the image tokens of {family} lie in the image.")
    views = layout(model, image_processor, ask, size)
    n_tokens = ask.ids.count(model.config.image_token_id)
    if sum(view.n_tokens for view in views) != n_tokens:
        raise UnknownLayout(
            f"The image became {n_tokens:,} tokens, which is not what {family} makes of it as far as is known here."
        )
    return views


def _merged_patches(model: Any, _processor: Any, ask: Encoded, _size: tuple[int, int]) -> tuple[View, ...]:
    """Qwen: the image whole, at nearly its own shape; squares of patches are merged into one token."""
    merge = model.config.vision_config.spatial_merge_size
    _, rows, columns = ask.picture["image_grid_thw"][0].tolist()
    return (View(0, 0, 1, 1, rows // merge, columns // merge),)


def _single(model: Any, _processor: Any, ask: Encoded, _size: tuple[int, int]) -> tuple[View, ...]:
    """Gemma 3 and PaliGemma: the image whole, squeezed into a square. Gemma's further crops are not known here."""
    return (View(0, 0, 1, 1, *_square(_tokens_a_picture(model, ask, len(ask.picture["pixel_values"])))),)


def _cropped(model: Any, processor: Any, ask: Encoded, size: tuple[int, int]) -> tuple[View, ...]:
    """LLaVA: the image whole, squeezed or padded into a square, or the middle of it, as its processor is set up."""
    width, height = size
    left, top, right, bottom = 0.0, 0.0, float(width), float(height)
    if getattr(processor, "do_pad", None):  # LLaVA's own processor alone pads, before it resizes
        side = max(width, height)
        left, top = -float((side - width) // 2), -float((side - height) // 2)
        right, bottom = left + side, top + side
    if getattr(processor, "do_center_crop", None):
        shown, crop = (right - left, bottom - top), processor.crop_size
        scale_x, scale_y = _scales(processor, shown)
        half_x, half_y = crop["width"] / scale_x / 2, crop["height"] / scale_y / 2
        middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
        left, right, top, bottom = middle_x - half_x, middle_x + half_x, middle_y - half_y, middle_y + half_y
    n_tokens = _tokens_a_picture(model, ask, 1)
    *_, high, wide = ask.picture["pixel_values"].shape
    patch = getattr(model.config.vision_config, "patch_size", 1)
    rows, columns = high // patch, wide // patch
    if rows * columns != n_tokens:
        rows, columns = _square(n_tokens)
    return (View(left / width, top / height, right / width, bottom / height, rows, columns),)


def _tiles_before_whole(model: Any, processor: Any, ask: Encoded, size: tuple[int, int]) -> tuple[View, ...]:
    """Idefics3 and SmolVLM: tiles row by row, then the whole; the image is stretched to fill its tiles."""
    width, height = size
    n_pictures = ask.picture["pixel_values"].shape[1]
    _, rows, columns = processor.get_number_of_image_patches(height, width, {})
    return _tiled(rows, columns, n_pictures, _square(_tokens_a_picture(model, ask, n_pictures)))


def _tiles_before_thumbnail(model: Any, processor: Any, ask: Encoded, size: tuple[int, int]) -> tuple[View, ...]:
    """InternVL: as Idefics3, but which tiles there are follows from the image's shape."""
    from transformers.models.got_ocr2.image_processing_got_ocr2 import get_optimal_tiled_canvas

    width, height = size
    n_pictures = len(ask.picture["pixel_values"])
    tile = (processor.size["height"], processor.size["width"])
    columns, rows = get_optimal_tiled_canvas((height, width), tile, processor.min_patches, processor.max_patches)
    return _tiled(rows, columns, n_pictures, _square(_tokens_a_picture(model, ask, n_pictures)))


def _tiled(rows: int, columns: int, n_pictures: int, tokens: tuple[int, int]) -> tuple[View, ...]:
    whole = View(0, 0, 1, 1, *tokens)
    if n_pictures == 1:
        return (whole,)
    if n_pictures != rows * columns + 1:
        raise UnknownLayout(f"The image became {n_pictures} pictures, which is not as many as expected.")
    tiles = [
        View(column / columns, row / rows, (column + 1) / columns, (row + 1) / rows, *tokens)
        for row in range(rows)
        for column in range(columns)
    ]
    return (*tiles, whole)


def _tokens_a_picture(model: Any, ask: Encoded, n_pictures: int) -> int:
    return ask.ids.count(model.config.image_token_id) // n_pictures


def _square(n_tokens: int) -> tuple[int, int]:
    side = math.isqrt(n_tokens)
    if side * side != n_tokens:
        raise UnknownLayout(f"A picture became {n_tokens:,} tokens, which make no square.")
    return side, side


def _scales(processor: Any, shown: tuple[float, float]) -> tuple[float, float]:
    """Return by how much a processor resizes a picture across and down before it crops it."""
    width, height = shown
    if not processor.do_resize:
        return 1.0, 1.0
    if shortest := processor.size.get("shortest_edge"):
        scale = shortest / min(width, height)
        return scale, scale
    return processor.size["width"] / width, processor.size["height"] / height


_LAYOUTS: dict[str, Callable[[Any, Any, Encoded, tuple[int, int]], tuple[View, ...]]] = {
    "llava": _cropped,
    "qwen2_vl": _merged_patches,
    "qwen2_5_vl": _merged_patches,
    "qwen3_vl": _merged_patches,
    "gemma3": _single,
    "paligemma": _single,
    "internvl": _tiles_before_thumbnail,
    "idefics3": _tiles_before_whole,
    "smolvlm": _tiles_before_whole,
}
