"""The look of every figure: colours, shapes and lines that keep their meaning on all pages.

Colour says which VLM (fixed for a store), shape says its group, fill and line say where the
numbers come from. Orange means contradiction and nothing else, so no VLM is orange. Nothing
rests on colour alone.
"""

__all__ = [
    "BLIND_GROUP",
    "DARK",
    "GROUP_LABELS",
    "LIGHT",
    "ORIGIN_GLYPHS",
    "OUTCOME_COLORS",
    "PERCENT_TICKS",
    "PERCENT_WORDS",
    "VLM_COLORS",
    "Mark",
    "Theme",
    "base_layout",
    "contrast",
    "mark_of",
    "scale_color",
    "short_name",
    "text_on",
    "theme_of",
]

from dataclasses import dataclass
from typing import Any

from backend.domain.records import Origin

BLIND_GROUP = "blind"
"""Group of the baseline that answers without looking; drawn as a dashed grey line."""

FONT = '"Source Sans", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
"""What the page itself is set in; nothing is fetched."""

NAME_LENGTH = 24
"""So many letters of a name stand in a figure; the hover text has all of it."""

OUTCOME_COLORS = {
    "supported": ("#009E73", "#009E73"),
    "inconsistent": ("#D55E00", "#D55E00"),
    "composition_failure": ("#0072B2", "#1C86C7"),
    "mixed": ("#8C8C8C", "#8C8C8C"),
    "visual_fact_failure": ("#7B4EA3", "#9268B8"),
}
"""Outcome of a unit → colour in the light and the dark theme.

One that was not answered has none: it is drawn hollow.
"""

PERCENT_TICKS = [0.0, 0.25, 0.5, 0.75, 1.0]
PERCENT_WORDS = ["0", "25", "50", "75", "100 %"]
"""What an axis of shares is marked with."""

VLM_COLORS = (
    ("#0072B2", "#5AB4F0"),
    ("#117733", "#56C271"),
    ("#882255", "#E07AAE"),
    ("#2A9A88", "#4FD1BD"),
    ("#332288", "#A9A0F5"),
    ("#7F7F1A", "#D6D65C"),
    ("#AA4499", "#DD8BD0"),
    ("#2E93C8", "#A6DCF7"),
    ("#5B4636", "#C9B29B"),
    ("#B0486A", "#F29BB2"),
    ("#5C6F8C", "#B4C3D9"),
    ("#1B5E6B", "#7FB9C4"),
)
"""Twelve colours a VLM can have, each for the light and the dark theme."""

GROUP_SYMBOLS = {
    "general_open": "circle",
    "medical_open": "square",
    "endoscopy_adapted": "diamond",
    "closed_source": "triangle-up",
    BLIND_GROUP: "x-thin",
    "demo": "star",
}
UNKNOWN_GROUP_SYMBOL = "hexagon"

GROUP_LABELS = {
    "general_open": "general, open",
    "medical_open": "medical, open",
    "endoscopy_adapted": "adapted to endoscopy",
    "closed_source": "closed source",
    BLIND_GROUP: "blind baseline",
    "demo": "VLM in the box",
}
"""Group of a VLM → its name in a table; a group that is not here is shown as the store has it."""

_ORIGIN_VARIANTS = {
    Origin.PUBLISHED: "-open",
    Origin.IMPORTED: "",
    Origin.PRECOMPUTED: "-dot",
    Origin.LIVE: "-open-dot",
}
_ORIGIN_DASHES = {
    Origin.PUBLISHED: "dot",
    Origin.IMPORTED: "solid",
    Origin.PRECOMPUTED: "longdash",
    Origin.LIVE: "dashdot",
}
ORIGIN_GLYPHS = {
    Origin.PUBLISHED: "▢ published",
    Origin.IMPORTED: "■ imported",
    Origin.PRECOMPUTED: "◆ precomputed",
    Origin.LIVE: "● live",
}
"""Where numbers come from → a tag of its own shape, where only plain text can stand."""

CIVIDIS = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838")
"""Ten steps of the map of colours for shares, dark for 0 and light for 1."""


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours around the data."""

    name: str
    ground: str
    text: str
    quiet: str
    """Text that steps back: axes, notes, the blind baseline's line."""
    grid: str
    contradiction: str
    """Orange on this ground, for marks."""
    contradiction_text: str
    """Orange that can be read as small text."""


LIGHT = Theme("light", "#FFFFFF", "#20242B", "#626A75", "#E4E7EB", "#D55E00", "#B04C00")
DARK = Theme("dark", "#15181C", "#E6E8EB", "#A3ABB6", "#2C323A", "#F08A3C", "#F08A3C")


def theme_of(name: str | None) -> Theme:
    """Return the theme a page is shown in; a page that does not know yet is light."""
    return DARK if name == DARK.name else LIGHT


@dataclass(frozen=True, slots=True)
class Mark:
    """How one series is drawn."""

    color: str
    symbol: str
    dash: str


def mark_of(place: int, group: str | None, origin: str, theme: Theme) -> Mark:
    """Return how a series is drawn.

    Args:
        place: The VLM's place in the store's order of VLMs, from 0; after twelve the colours
            start again, and shape, line and label tell the series apart.
        group: The VLM's group; None has a shape of its own.
        origin: Where the numbers come from: hollow and dotted is printed, filled is imported.
        theme: Light or dark.

    Raises:
        ValueError: No such origin.
    """
    known = Origin(origin)
    if group == BLIND_GROUP:
        return Mark(theme.quiet, GROUP_SYMBOLS[BLIND_GROUP], "dash")
    color = VLM_COLORS[place % len(VLM_COLORS)][theme is DARK]
    symbol = GROUP_SYMBOLS.get(group or "", UNKNOWN_GROUP_SYMBOL)
    return Mark(color, symbol + _ORIGIN_VARIANTS[known], _ORIGIN_DASHES[known])


def base_layout(theme: Theme, **more: Any) -> dict[str, Any]:
    """Return the layout all figures begin with; ``more`` adds to it or replaces parts of it.

    Clicks reach the page because dragging pans: with a selection tool they would not.
    """
    return {
        "font": {"family": FONT, "size": 13, "color": theme.text},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "hoverlabel": {
            "bgcolor": theme.ground,
            "bordercolor": theme.quiet,
            "font": {"family": FONT, "size": 13, "color": theme.text},
            "align": "left",
        },
        "hovermode": "closest",
        "dragmode": "pan",
        "showlegend": False,
        **more,
    }


def short_name(name: str, length: int = NAME_LENGTH) -> str:
    """Return a name cut in its middle to ``length`` letters: labels that differ at the end stay apart."""
    if len(name) <= length:
        return name
    end = (length - 1) * 2 // 5
    return f"{name[: length - 1 - end].rstrip()}…{name[-end:].lstrip()}"


def scale_color(share: float) -> str:
    """Return cividis' colour for a share in [0, 1]; both ends stay fixed, so tables compare."""
    at = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    low = min(int(at), len(CIVIDIS) - 2)
    mixed = (round(a + (b - a) * (at - low)) for a, b in zip(_rgb(CIVIDIS[low]), _rgb(CIVIDIS[low + 1]), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def text_on(ground: str) -> str:
    """Return black or white, whichever reads better on ``ground``."""
    return max(("#000000", "#FFFFFF"), key=lambda ink: contrast(ink, ground))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours ``#rrggbb``, 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in _rgb(color))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
