"""Where a VLM looked when it said something: one answer, or two side by side with their difference.

The promise: two maps share one scale from 0, so that a weaker look is seen to be weaker; cells keep
hard edges over the image's own pixels; and what an even spread would be stands beside every number.
Everything a person sets is done in the browser, without a rerun.
"""

__all__ = ["CLINICIAN", "CORRELATIONAL", "Pane", "saliency_view"]

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from backend.figures.style import CIVIDIS
from backend.vlm.saliency.kept import KeptSaliency
from backend.vlm.saliency.result import Floats
from pages.ui.look_words import look_facts, look_gap

STATIC = Path(__file__).resolve().parent / "static"

CLINICIAN = "The brighter a region, the more the answer depended on it. This does not say why."

CORRELATIONAL = (
    "This is correlational: that a VLM looked less, or elsewhere, does not show that its answer came out as it did for "
    "that reason."
)

DIVERGING = ("#2456E6", "#58D60F")
"""Blue where the right one has more, green where the left one has: how much more, is how opaque. No difference leaves
the image clear. Both stand out from tissue, from radiographs and from each other for colour-blind eyes, too."""

PLACES = (
    "upper left", "top", "upper right", "left", "centre", "right", "lower left", "bottom", "lower right",
)  # fmt: skip
"""Where a cell lies on a 3 × 3 board, row by row."""

HINT = (
    "Point at a cell to read it. Keys: arrows choose a cell, Shift and arrows move the pictures, + and − zoom, "
    "F fits, 1 shows true pixels, M switches the map."
)

ABSENT = (
    "The image file is not at hand, so no map is drawn. The shares below need none. "
    "Attach its folder on the Data page to see the maps."
)


@dataclass(frozen=True, slots=True, eq=False)
class Pane:
    """One answer that was looked into."""

    title: str
    """Whose it is; drawn as plain text."""
    said: str
    """The answer; drawn as plain text where its pieces do not show it already."""
    kept: KeptSaliency


mount = st.components.v2.component(
    "parallax_saliency",
    html=(STATIC / "saliency.html").read_text(encoding="utf-8"),
    css=(STATIC / "saliency.css").read_text(encoding="utf-8"),
    js=(STATIC / "saliency.js").read_text(encoding="utf-8"),
)


def saliency_view(
    image_url: str | None,
    width: int | None,
    height: int | None,
    panes: Sequence[Pane],
    *,
    label: str,
    key: str,
    height_px: int = 420,
) -> None:
    """Draw the maps of one answer or two over the image they are about.

    Two maps on grids of different shape are both shown on the coarser number of rows and columns, summed
    by area. A map that cannot be had is replaced by its reason; the shares stay.

    Args:
        image_url: Address of the picture the VLM was shown; None where its file is not at hand.
        width: Of that picture, in pixels; None where it is not known.
        height: Of that picture, in pixels; None where it is not known.
        panes: One or two; of two, the difference is the first minus the second.
        label: What the image is, for screen readers.
        key: Unique on the page.
        height_px: Height of a picture on the screen at most, in CSS pixels.

    Raises:
        ValueError: There are no panes, or more than two.
    """
    if not 1 <= len(panes) <= 2:
        raise ValueError(f"one pane or two, not {len(panes)}")
    facts = [look_facts(pane.kept) for pane in panes]
    if len(panes) == 2:
        facts.append(look_gap(panes[0].kept, panes[1].kept))
    notes = [CORRELATIONAL] if len(panes) == 2 else []
    notes += [f"{pane.title}: {pane.kept.note}" for pane in panes if pane.kept.note]
    notes += [f"{pane.title}: no map, {pane.kept.why_no_regions}" for pane in panes if pane.kept.why_no_regions]
    is_there = bool(image_url and width and height)
    mount(
        key=key,
        data={
            "url": image_url if is_there else "",
            "width": width,
            "height": height,
            "answers": _signature(panes),
            "panes": [_pane(pane) for pane in panes],
            "facts": facts,
            "sequential": CIVIDIS,
            "diverging": DIVERGING,
            "places": PLACES,
            "sentence": CLINICIAN,
            "notes": list(dict.fromkeys(notes)),
            "hint": HINT,
            "absent": ABSENT,
            "label": label,
            "height_px": height_px,
        },
    )


def _signature(panes: Sequence[Pane]) -> str:
    """Return what changes where other answers are shown, so that a chosen piece or layer is not kept."""
    told = "\x1f".join(part for pane in panes for part in (pane.title, pane.said, *pane.kept.tokens))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _pane(pane: Pane) -> dict[str, Any]:
    kept = pane.kept
    rows, columns = kept.grid or (0, 0)
    return {
        "title": pane.title,
        "said": "" if "".join(pane.kept.answer.split()) == "".join(pane.said.split()) else pane.said,
        "short": pane.title.split(" (")[0],
        "pieces": _pieces(kept.tokens),
        "rows": rows,
        "columns": columns,
        "token_maps": _packed(kept.token_maps),
        "layer_maps": _packed(kept.layer_maps),
        "gradient_map": _packed(kept.gradient_map),
        "fraction": kept.fraction,
        "even": kept.uniform_fraction,
        "token_shares": kept.token_shares.tolist(),
        "token_even": kept.token_uniform.tolist(),
        "layer_shares": kept.head_shares.mean(axis=1).tolist(),
        "layer_even": kept.layer_uniform.tolist(),
        "why_no_map": kept.why_no_regions,
        "why_no_gradient": kept.why_no_gradient,
    }


def _pieces(tokens: Sequence[str]) -> list[dict[str, Any]]:
    """Return the pieces of an answer as a person can choose them, each with its tokens.

    A token within a character of several is empty, and is one piece with the token that holds the character.
    Empty tokens at the end have nothing to join and are a piece without text.
    """
    pieces: list[dict[str, Any]] = []
    waiting: list[int] = []
    for place, text in enumerate(tokens):
        waiting.append(place)
        if text or place == len(tokens) - 1:
            pieces.append({"text": text, "tokens": waiting})
            waiting = []
    return pieces


def _packed(values: Floats | None) -> str | None:
    """Return little-endian float32 values, row by row, in base64."""
    return None if values is None else base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()
