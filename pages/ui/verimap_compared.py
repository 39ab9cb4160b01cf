"""A table of two sets of verdicts on the same answers: each metric on both sides, and the change with its interval."""

__all__ = ["show_compared"]

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, points
from backend.verimap.metrics import METRICS, SIGNED_METRICS
from pages.ui.clicks import clickable_table
from pages.ui.number_cell import NumberCell
from pages.ui.verimap_words import metric_words

Row = Mapping[str, Any]


def show_compared(
    rows: Sequence[Row],
    about: Mapping[str, Callable[[Row], str]],
    sides: tuple[str, str],
    *,
    key: str,
    metrics: Sequence[str] = ("error", "fpr", "bias", "dskew"),
    more: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[Row, str] | None:
    """Draw the table; return the row just opened and its side (``a`` or ``b``), else None.

    Args:
        rows: Of `backend.services.verimap_comparisons`.
        about: Head of a column → what it says of a row.
        sides: What to call the two sides.
        key: Unique on the page.
        metrics: Which to show.
        more: Further shares of a row, after ``about``: key → head and tooltip.
    """
    import pandas as pd

    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    shares = more or {}
    table = [
        {
            **{head: words(row) for head, words in about.items()},
            **{share: _share(row, share) for share in shares},
            "n_a": row["n_a"],
            "n_b": row["n_b"],
            **{f"{name}_{part}": _cell(row, name, part) for name in metrics for part in ("a", "b", "change")},
        }
        for row in rows
    ]
    config: dict[str, Any] = {
        **{head: text(head, width=172 if at == 0 else 150, pinned=at == 0) for at, head in enumerate(about)},
        **{share: number(head, help=tip, width=150) for share, (head, tip) in shares.items()},
        "n_a": number(f"n, {sides[0]}", width=70, format="localized"),
        "n_b": number(f"n, {sides[1]}", width=70, format="localized"),
    }
    for name in metrics:
        label = METRICS[name].label
        config |= {
            f"{name}_a": number(f"{label} {sides[0]}, %", help=metric_words(name), width=130),
            f"{name}_b": number(f"{label} {sides[1]}, %", help=metric_words(name), width=130),
            f"{name}_change": number("Change, points", help=f"{label}, {sides[1]} minus {sides[0]}", width=140),
        }
    frame = pd.DataFrame(table, dtype=object).reindex(columns=list(config))
    frame = frame.astype(object).where(frame.notna(), None)
    worded: list[Hashable] = [name for name in config if name not in about and not name.startswith("n_")]
    clicked = clickable_table(
        frame.style.format(str, subset=worded, na_rep=NOT_AVAILABLE),
        key=key,
        words=lambda at, column: f"{', '.join(str(table[at][head]) for head in about)}: {config[column]['label']}",
        ask="Choose a cell to open the verdicts behind it.",
        column_config=config,
        height="content" if len(rows) <= 12 else 450,
        placeholder=NOT_AVAILABLE,
    )
    return None if clicked is None else (rows[clicked[0]], "a" if clicked[1].endswith("_a") else "b")


def _cell(row: Row, name: str, part: str) -> NumberCell | None:
    value, low, high = (row[f"{name}_{part}{bound}"] for bound in ("", "_low", "_high"))
    if value is None:
        return None
    words = _signed if part == "change" else _plain
    between = " to " if part == "change" or name in SIGNED_METRICS else "–"
    interval = "" if low is None else f" ({words(low)}{between}{words(high)})"
    return NumberCell.of(100 * value, f"{words(value)}{interval}")


def _share(row: Row, key: str) -> NumberCell | None:
    value, low, high = (row[f"{key}{bound}"] for bound in ("", "_low", "_high"))
    if value is None:
        return None
    interval = "" if low is None else f" ({_plain(low)}–{_plain(high)})"
    return NumberCell.of(100 * value, f"{_plain(value)}{interval}")


def _plain(value: float) -> str:
    return f"{100 * value:.1f}".replace("-", "−")


def _signed(value: float) -> str:
    return points(value).removesuffix(" points")
