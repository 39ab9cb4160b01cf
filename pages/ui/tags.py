"""Small marks in running text: where answers come from, what became of a unit, which VLM it is.

Each function returns a self-contained HTML span for `st.html`, its words escaped. Shape and
words carry the meaning; colour only repeats it, so nothing is lost in print or to a
colour-blind reader.
"""

__all__ = ["GROUP_NAMES", "OUTCOME_COLORS", "origin_tag", "outcome_tag", "vlm_mark", "vlm_name"]

from html import escape

from backend.domain.records import Origin
from backend.endoca.outcomes import Outcome

OUTCOME_COLORS = {
    Outcome.SUPPORTED: "#009E73",
    Outcome.INCONSISTENT: "#D55E00",
    Outcome.COMPOSITION_FAILURE: "#0072B2",
    Outcome.MIXED: "#8C8C8C",
    Outcome.VISUAL_FACT_FAILURE: "#7B4EA3",
    Outcome.NOT_ANSWERED: "transparent",
}
"""Orange is the contradiction and nothing else; not answered is drawn hollow."""

GROUP_NAMES = {
    "general_open": "general VLM",
    "medical_open": "medical VLM",
    "endoscopy_adapted": "VLM adapted to endoscopy",
    "closed_source": "closed VLM",
    "blind": "blind baseline, sees no image",
    "demo": "VLM in the box",
}
"""Group of a VLM, as the store names it → in words."""

_SHAPES = {
    "general_open": "border-radius:50%",
    "medical_open": "",
    "endoscopy_adapted": "clip-path:polygon(50% 0,100% 50%,50% 100%,0 50%)",
    "closed_source": "clip-path:polygon(50% 4%,100% 94%,0 94%)",
    "blind": (
        "clip-path:polygon(20% 0,50% 30%,80% 0,100% 20%,70% 50%,100% 80%,80% 100%,50% 70%,20% 100%,0 80%,30% 50%,0 20%)"
    ),
    "demo": ("clip-path:polygon(50% 0,62% 36%,100% 36%,69% 58%,81% 95%,50% 72%,19% 95%,31% 58%,0 36%,38% 36%)"),
}
"""A shape a group: circle, square, diamond, triangle, cross, star."""

_EDGE = "1px {line} color-mix(in srgb, currentColor 45%, transparent)"
_FAINT = "color-mix(in srgb, currentColor {share}%, transparent)"

_ORIGIN_STYLES = {
    Origin.PUBLISHED: f"border:{_EDGE.format(line='dashed')};border-radius:0",
    Origin.IMPORTED: f"border:{_EDGE.format(line='solid')};border-radius:0",
    Origin.PRECOMPUTED: f"border:{_EDGE.format(line='solid')};border-radius:1em",
    Origin.LIVE: f"border:1px solid transparent;border-radius:1em;background:{_FAINT.format(share=16)}",
}
"""A shape an origin: dashed box, box, pill, filled pill."""

_ORIGIN_MEANINGS = {
    Origin.PUBLISHED: "printed in a paper; no answers behind it",
    Origin.IMPORTED: "answers brought in a file",
    Origin.PRECOMPUTED: "answers computed by Parallax in a batch run",
    Origin.LIVE: "answers computed while somebody watched",
}


def origin_tag(origin: str) -> str:
    """Return a tag that names where a run's or a row's answers come from.

    Raises:
        ValueError: No such origin.
    """
    known = Origin(origin)
    style = f"{_ORIGIN_STYLES[known]};padding:0 .45em;font-size:.78em;line-height:1.5;white-space:nowrap;display:inline-block"
    return f'<span style="{style}" title="{escape(_ORIGIN_MEANINGS[known])}">{known.value}</span>'


def outcome_tag(outcome: str) -> str:
    """Return a tag with the outcome in plain words; the paper's term is its tooltip.

    Raises:
        ValueError: No such outcome.
    """
    known = Outcome(outcome)
    color = OUTCOME_COLORS[known]
    hollow = known is Outcome.NOT_ANSWERED
    edge = _FAINT.format(share=60) if hollow else color
    swatch = (
        f'<span aria-hidden="true" style="display:inline-block;flex:none;width:.7em;height:.7em;box-sizing:border-box;'
        f'background:{color};border:1.5px solid {edge}"></span>'
    )
    strong = known is Outcome.INCONSISTENT
    ground = f"background:color-mix(in srgb, {color} 18%, transparent);padding:.05em .5em;" if strong else ""
    style = f"{ground}font-weight:{600 if strong else 400};display:inline-flex;align-items:center;gap:.45em;border-radius:2px"
    return f'<span style="{style}" title="{escape(known.label)}">{swatch}{escape(known.plain)}</span>'


def vlm_mark(group: str | None, color: str = "currentColor") -> str:
    """Return the mark of a VLM: its group as a shape, itself as a colour.

    Args:
        group: As the store names it; None, or a group with no shape of its own, is a hollow ring.
        color: Any CSS colour that is ours, never a data set's text.
    """
    words = GROUP_NAMES.get(group or "", (group or "group not known").replace("_", " "))
    shape = _SHAPES.get(group or "")
    drawn = (
        f"border:2px solid {color};border-radius:50%;box-sizing:border-box"
        if shape is None
        else f"background:{color};{shape}"
    )
    style = f"display:inline-block;flex:none;width:.75em;height:.75em;{drawn}"
    return f'<span role="img" aria-label="{escape(words)}" title="{escape(words)}" style="{style}"></span>'


def vlm_name(vlm: str, group: str | None, color: str = "currentColor") -> str:
    """Return a VLM's mark and its name, on one line."""
    return (
        '<span style="display:inline-flex;align-items:center;gap:.45em">'
        f"{vlm_mark(group, color)}<span>{escape(vlm)}</span></span>"
    )
