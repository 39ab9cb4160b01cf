"""A table of shares as a map of colours: the numbers stay readable, and the pattern shows."""

__all__ = ["class_heat"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend.domain.metric import NOT_AVAILABLE
from backend.figures.style import scale_color, text_on

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler


def class_heat(
    table: "pd.DataFrame", columns: Sequence[str], texts: Mapping[tuple[int, str], str] | None = None
) -> "Styler":
    """Return a table of shares whose cells are coloured, dark for 0 and light for 1.

    Args:
        table: One row a question class; the columns to colour hold fractions or None.
        columns: Which these are.
        texts: What a cell reads, by (row number, column), where it is more than the percentage; no braces.

    Returns:
        Percent with one decimal, "N/A" uncoloured; the text's contrast is AA on every colour.
    """
    numbers = table.reset_index(drop=True).astype(dict.fromkeys(columns, float))
    numbers[list(columns)] *= 100
    colors = numbers[list(columns)].map(_heat)
    styler = numbers.style.apply(lambda _: colors, axis=None, subset=list(columns))
    styler = styler.format("{:.1f}", subset=list(columns), na_rep=NOT_AVAILABLE)
    words: dict[int, dict[Any, Any]] = {}
    for (at, key), text in (texts or {}).items():
        words.setdefault(at, {})[key] = text
    for at, of_row in words.items():
        styler = styler.format(of_row, subset=([at], list(of_row)))
    return styler


def _heat(percentage: Any) -> str:
    """Return the colours of one cell of percentages."""
    if percentage != percentage:
        return ""
    ground = scale_color(percentage / 100)
    return f"background-color: {ground}; color: {text_on(ground)}"
