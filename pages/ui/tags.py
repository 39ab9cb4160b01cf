"""Small marks in running text: where answers come from, what became of a unit, which VLM it is.

Each function returns a self-contained HTML span for `st.html`, its words escaped. Shape and
words carry the meaning; colour only repeats it, so nothing is lost in print or to a
colour-blind reader. Colours are those of the figures and follow the page's theme.
"""

__all__ = ["SYNTHETIC_WORD", "origin_tag", "outcome_tag", "synthetic_tag", "vlm_mark", "vlm_name"]

from html import escape

from backend.domain.records import Origin
from backend.endoca.outcomes import Outcome
from backend.figures.style import BLIND_GROUP, DARK, GROUP_LABELS, LIGHT, OUTCOME_COLORS, VLM_COLORS

_SHAPES = {
    "general_open": "border-radius:50%",
    "medical_open": "",
    "endoscopy_adapted": "clip-path:polygon(50% 0,100% 50%,50% 100%,0 50%)",
    "closed_source": "clip-path:polygon(50% 4%,100% 94%,0 94%)",
    BLIND_GROUP: (
        "clip-path:polygon(18% 0,50% 32%,82% 0,100% 18%,68% 50%,100% 82%,82% 100%,50% 68%,18% 100%,0 82%,32% 50%,0 18%)"
    ),
    "demo": "clip-path:polygon(50% 0,62% 36%,100% 36%,69% 58%,81% 95%,50% 72%,19% 95%,31% 58%,0 36%,38% 36%)",
}
"""A shape a group: circle, square, diamond, triangle, cross, star."""
_HEXAGON = "clip-path:polygon(25% 6%,75% 6%,100% 50%,75% 94%,25% 94%,0 50%)"
"""A VLM whose group is not known."""

_EDGE = "color-mix(in srgb, currentColor 45%, transparent)"

_ORIGIN_SHAPES = {
    Origin.PUBLISHED: f"border:1px dashed {_EDGE};border-radius:0",
    Origin.IMPORTED: f"border:1px solid {_EDGE};border-radius:0",
    Origin.PRECOMPUTED: f"border:1px solid {_EDGE};border-radius:1em",
    Origin.LIVE: "border:1px solid transparent;border-radius:1em;"
    "background:color-mix(in srgb, currentColor 16%, transparent)",
}
"""A shape an origin: dashed box, box, pill, filled pill."""

_ORIGIN_MEANINGS = {
    Origin.PUBLISHED: "printed in a paper; no answers behind it",
    Origin.IMPORTED: "answers brought in a file",
    Origin.PRECOMPUTED: "answers computed by Parallax in a batch run",
    Origin.LIVE: "answers computed while somebody watched",
}

SYNTHETIC_WORD = "◌ synthetic"
"""The tag of drawn frames, where only plain text can stand."""

_SMALL = "display:inline-block;padding:0 .45em;font-size:.78em;line-height:1.5;white-space:nowrap"


def origin_tag(origin: str) -> str:
    """Return a tag that names where a run's or a row's answers come from.

    Raises:
        ValueError: No such origin.
    """
    known = Origin(origin)
    return f'<span style="{_SMALL};{_ORIGIN_SHAPES[known]}" title="{_ORIGIN_MEANINGS[known]}">{known.value}</span>'


def synthetic_tag() -> str:
    """Return the tag of a suite of drawn frames: a shape of its own, for they are not of any patient."""
    shape = f"border:1px dotted {_EDGE};border-radius:.4em 0;font-style:italic"
    return f'<span style="{_SMALL};{shape}" title="drawn frames; none is of a patient">synthetic</span>'


def outcome_tag(outcome: str) -> str:
    """Return a tag with the outcome in plain words; the paper's term is its tooltip.

    Raises:
        ValueError: No such outcome.
    """
    known = Outcome(outcome)
    colors = OUTCOME_COLORS.get(known)
    paint = f"background:light-dark({colors[0]},{colors[1]})" if colors else f"border:1.5px solid {_EDGE}"
    swatch = f'<i style="flex:none;width:.7em;height:.7em;box-sizing:border-box;{paint}"></i>'
    layout = "display:inline-flex;align-items:baseline;gap:.45em"
    if known is Outcome.INCONSISTENT:
        ground = f"color-mix(in srgb, {LIGHT.contradiction} 18%, transparent)"
        layout += f";padding:.05em .5em;border-radius:2px;font-weight:600;background:{ground}"
    return f'<span style="{layout}" title="{known.label}">{swatch}{known.plain}</span>'


def vlm_mark(group: str | None, place: int | None = None) -> str:
    """Return the mark of a VLM: its group as a shape, itself as a colour.

    Args:
        group: As the store names it; None, or a group with no shape of its own, is a hexagon.
        place: The VLM's place in the store, from `vlm_places`; None is drawn grey, as is the
            blind baseline.
    """
    words = "group not known" if group is None else GROUP_LABELS.get(group, group.replace("_", " "))
    light, dark = LIGHT.quiet, DARK.quiet
    if place is not None and group != BLIND_GROUP:
        light, dark = VLM_COLORS[place % len(VLM_COLORS)]
    shape = _SHAPES.get(group or "", _HEXAGON)
    style = f"display:inline-block;flex:none;width:.75em;height:.75em;background:light-dark({light},{dark});{shape}"
    return f'<span role="img" aria-label="{escape(words)}" title="{escape(words)}" style="{style}"></span>'


def vlm_name(vlm: str, group: str | None, place: int | None = None) -> str:
    """Return a VLM's mark and its name, on one line."""
    return (
        '<span style="display:inline-flex;align-items:baseline;gap:.45em">'
        f"{vlm_mark(group, place)}<span>{escape(vlm)}</span></span>"
    )
