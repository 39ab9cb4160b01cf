"""The image viewer: original pixels with zoom, pan, marks and a heat map, all without a rerun.

The promise: what is drawn is the stored file, unscaled by the server; one image pixel on
one screen pixel is one key away; marks and maps lie in the image's own pixel coordinates.
Enlarged pixels and map cells keep hard edges, so that nothing is shown between them that
nobody measured.
"""

__all__ = ["Arrow", "Box", "Layer", "image_viewer"]

import base64
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

STATIC = Path(__file__).resolve().parent / "static"

MARK_COLOR = "#56B4E9"
"""Reads on tissue and on radiographs; orange is kept for contradictions."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in image pixels, from its top left corner."""

    x: float
    y: float
    width: float
    height: float
    label: str = ""
    """Stands above the box; drawn as plain text."""
    color: str = MARK_COLOR


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow in image pixels, pointing at (x2, y2)."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str = ""
    """Stands at the arrow's tail; drawn as plain text."""
    color: str = MARK_COLOR


@dataclass(frozen=True, slots=True)
class Layer:
    """A drawing over the whole image, switched on and off by itself."""

    label: str
    """Stands beside its switch; drawn as plain text."""
    url: str
    """Address of an image that is stretched over this one: a data URL, or one of this server."""
    is_shown: bool = False
    """Whether it is on at first; afterwards it is as the person set it."""
    group: str = ""
    """What stands before the switches of its group; groups follow each other as their first layers do."""


mount = st.components.v2.component(
    "parallax_viewer",
    html=(STATIC / "viewer.html").read_text(encoding="utf-8"),
    css=(STATIC / "viewer.css").read_text(encoding="utf-8"),
    js=(STATIC / "viewer.js").read_text(encoding="utf-8"),
)


def image_viewer(
    image_url: str,
    width: int,
    height: int,
    *,
    boxes: Sequence[Box] = (),
    arrows: Sequence[Arrow] = (),
    layers: Sequence[Layer] = (),
    heatmap_png: bytes | None = None,
    on_drawn: Callable[[Box], None] | None = None,
    label: str,
    key: str,
    height_px: int = 520,
) -> None:
    """Draw an image in a frame to look closely at.

    A file of another size than the store says is not drawn but named, since its marks
    would lie in the wrong place; so is one that does not load.

    Args:
        image_url: Address of the original bytes, from ``image_routes.image_url``.
        width: Of the stored image, in pixels.
        height: Of the stored image, in pixels.
        boxes: Rectangles over the image.
        arrows: Arrows over the image.
        layers: Drawings over the image, each with a switch of its own.
        heatmap_png: An RGBA PNG as small as the map's own grid; stretched over the whole image.
        on_drawn: Called with a box that a person draws, in whole pixels inside the image, before the page is
            drawn anew; None offers no drawing.
        label: What the image is, for screen readers.
        key: Unique on the page.
        height_px: Height of the frame on the screen, in CSS pixels.
    """

    def drawn() -> None:
        box = st.session_state[key].get("drawn")
        if box and on_drawn is not None:
            on_drawn(Box(box["x"], box["y"], box["width"], box["height"]))

    heatmap = None if heatmap_png is None else f"data:image/png;base64,{base64.b64encode(heatmap_png).decode()}"
    mount(
        key=key,
        data={
            "url": image_url,
            "width": width,
            "height": height,
            "boxes": [asdict(box) for box in boxes],
            "arrows": [asdict(arrow) for arrow in arrows],
            "layers": [asdict(layer) for layer in layers],
            "can_draw": on_drawn is not None,
            "map": heatmap,
            "label": label,
            "height_px": height_px,
        },
        on_drawn_change=drawn,
    )
