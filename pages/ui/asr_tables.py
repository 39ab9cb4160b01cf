"""The paper's Tables V and VI beside runs of the store, and repairs and harms; cells open the cases behind them."""

__all__ = ["show_changes", "show_table_v", "show_table_vi"]

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, points
from backend.domain.records import Origin
from backend.endoca.asr import Variant
from backend.figures.style import ORIGIN_GLYPHS, Theme
from backend.services.asr_steps import label_of
from backend.services.endoca_series import records
from backend.services.published import AVERAGE, printed_ablation, printed_asr
from backend.store.filters import UnitFilter
from pages.ui.asr_cases import behind_flips, behind_step
from pages.ui.asr_words import metric_words
from pages.ui.clicks import clickable_table
from pages.ui.number_cell import NumberCell, change_interval, p_words

Row = Mapping[str, Any]

ASK = "Choose a cell to open the cases behind it."

METHODS = {"direct": "Direct", "without_atomic": "Without parts (Self)", "asr": "With parts (ASR)"}
"""Method of Table VI → its name here."""

_V_HEADS = {
    "direct_accuracy": ("Direct, %", "complex_accuracy"),
    "revised_accuracy": ("Revise, %", "complex_accuracy"),
    "joint_change": ("Joint Δ", "joint_accuracy"),
    "inconsistency_change": ("Inconsistency Δ", "inconsistency"),
    "coverage": ("Coverage, %", "coverage"),
    "selective_accuracy": ("Selective, %", "selective_accuracy"),
}
"""Column of Table V → its head, and the metric it is about."""

DIRECT, REVISED, SELECTIVE = "direct_accuracy", "revised_accuracy", "selective_accuracy"

_V_STEPS = {DIRECT: DIRECT, "coverage": SELECTIVE, SELECTIVE: SELECTIVE}
"""Column of Table V → the step whose cases it opens, where that is not Revise."""

_VI_KEYS = {
    "complex_accuracy": "Complex, %",
    "joint_accuracy": "Joint, %",
    "inconsistency": "Inconsistency, %",
    "coverage": "Coverage, %",
    "selective_accuracy": "Selective, %",
}


def show_table_v(
    rows: Sequence[Row], lines: Sequence[Row], chosen: UnitFilter, theme: Theme, *, printed: bool
) -> UnitFilter | None:
    """Draw Table V: a row a reconciliation, and the printed rows; return the cases of the cell just opened, else None.

    Args:
        rows: Of `reconciled_table`.
        lines: The same as `own_steps` has them, for their labels.
        chosen: The page's filter.
        theme: Light or dark.
        printed: Whether the printed rows stand in it.
    """
    table = [_own_v(row, line["label"]) for row, line in zip(rows, lines, strict=True)]
    if printed:
        table += [_printed_v(row) for row in records(printed_asr())]

    def behind(at: int, column: str) -> UnitFilter | None:
        if at >= len(rows):
            return None
        step = _V_STEPS.get(column, REVISED)
        if step == SELECTIVE and rows[at]["select"] is None:
            return None
        return behind_step(rows[at], step, chosen, inconsistent=column == "inconsistency_change")

    heads = {
        key: _number(head, metric_words(metric), 119 if "Δ" in head else 108)
        for key, (head, metric) in _V_HEADS.items()
    }
    return _clickable(
        table,
        list(_V_HEADS),
        behind,
        key="table_v",
        theme=theme,
        orange="inconsistency_change",
        column_config={
            **_ABOUT,
            "n": _COUNT,
            **heads,
            "p": st.column_config.TextColumn("p (joint)", help="Exact McNemar test over the units that flip", width=70),
        },
    )


def show_table_vi(rows: Sequence[Row], chosen: UnitFilter, theme: Theme, *, printed: bool) -> UnitFilter | None:
    """Draw Table VI: direct answers, the control and ASR; return the cases of the cell just opened, else None.

    Args:
        rows: Of `reconciled_table`.
        chosen: The page's filter.
        theme: Light or dark.
        printed: Whether the printed rows stand in it.
    """
    table: list[dict[str, Any]] = []
    sources: list[tuple[Row, str]] = []
    for base in dict.fromkeys(row["base"] for row in rows):
        of_base = [row for row in rows if row["base"] == base]
        ordered = sorted(of_base, key=lambda row: row["variant"] != Variant.SELF)
        for row, method in [(of_base[0], "direct"), *((row, _method(row)) for row in ordered)]:
            table.append(_own_vi(row, method))
            sources.append((row, method))
    if printed:
        table += [
            {
                "label": "average of four VLMs",
                "origin": ORIGIN_GLYPHS[Origin.PUBLISHED],
                "method": METHODS[row["method"]],
            }
            | {key: NumberCell.of(100 * row[key], f"{100 * row[key]:.1f}") for key in _VI_KEYS}
            for row in records(printed_ablation())
        ]

    def behind(at: int, column: str) -> UnitFilter | None:
        if at >= len(sources):
            return None
        row, method = sources[at]
        step = REVISED
        if method == "direct":
            step = DIRECT
        elif column in ("coverage", "selective_accuracy"):
            step = SELECTIVE
        if step == SELECTIVE and row["select"] is None:
            return None
        return behind_step(row, step, chosen, inconsistent=column == "inconsistency")

    heads = {key: _number(head, metric_words(key), 108) for key, head in _VI_KEYS.items()}
    return _clickable(
        table,
        list(_VI_KEYS),
        behind,
        key="table_vi",
        theme=theme,
        orange="inconsistency",
        column_config={
            **_ABOUT,
            "method": st.column_config.TextColumn("Method", width=130),
            "n": _COUNT,
            **heads,
        },
    )


def show_changes(rows: Sequence[Row], lines: Sequence[Row], chosen: UnitFilter, theme: Theme) -> UnitFilter | None:
    """Draw repairs and harms, a row a reconciliation; return the cases of the cell just opened, else None.

    Args:
        rows: Of `reconciled_table`.
        lines: The same as `own_steps` has them, for their labels.
        chosen: The page's filter.
        theme: Light or dark.
    """
    table = [
        {
            "label": line["label"],
            "origin": ORIGIN_GLYPHS[Origin(row["origin"])],
            "repairs": row["repairs"],
            "harms": row["harms"],
            "change": NumberCell.of(row["complex_change"], points(row["complex_change"])),
            "interval": change_interval(row["complex_change_low"], row["complex_change_high"]),
            "p": p_words(row["complex_change_p"]),
            "n": row["n_units"],
        }
        for row, line in zip(rows, lines, strict=True)
    ]

    def behind(at: int, column: str) -> UnitFilter | None:
        if column in ("repairs", "harms"):
            return behind_flips(rows[at], column, chosen)
        return behind_step(rows[at], REVISED, chosen)

    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    return _clickable(
        table,
        ["change"],
        behind,
        key="changes",
        theme=theme,
        column_config={
            **_ABOUT,
            "repairs": number("Became right", help="Repairs: direct answer wrong, revised answer right", width=100),
            "harms": number("Became wrong", help="Harms: direct answer right, revised answer wrong", width=100),
            "change": _number("Complex accuracy", "Revised minus direct", 120),
            "interval": text("95 % interval", help="The range for other images like these", width=150),
            "p": text("p", help="Exact McNemar test, two-sided, over the units that flip", width=70),
            "n": _COUNT,
        },
    )


_ABOUT: dict[str, Any] = {
    "label": st.column_config.TextColumn("VLM", pinned=True, width=130),
    "origin": st.column_config.TextColumn("Origin", width=103),
}
_COUNT = st.column_config.NumberColumn("Units", width=58, format="localized")


def _number(head: str, told: str, width: int) -> Any:
    return st.column_config.NumberColumn(head, help=told, width=width)


def _method(row: Row) -> str:
    return "asr" if row["variant"] == Variant.ASR else "without_atomic"


def _own_v(row: Row, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "origin": ORIGIN_GLYPHS[Origin(row["origin"])],
        DIRECT: _share(row, "direct.complex_accuracy"),
        REVISED: _share(row, "revised.complex_accuracy"),
        "joint_change": _change(row, "joint_change"),
        "inconsistency_change": _change(row, "inconsistency_change"),
        "coverage": _share(row, "select.coverage"),
        SELECTIVE: _share(row, "select.selective_accuracy"),
        "n": row["n_units"],
        "p": p_words(row["joint_change_p"]),
    }


def _printed_v(row: Row) -> dict[str, Any]:
    name = "average of four VLMs" if row["vlm"] == AVERAGE else row["vlm"]
    return (
        {"label": name, "origin": ORIGIN_GLYPHS[Origin.PUBLISHED]}
        | {
            key: NumberCell.of(100 * row[key], f"{100 * row[key]:.1f}")
            for key in (DIRECT, REVISED, "coverage", SELECTIVE)
        }
        | {key: NumberCell.of(100 * row[key], _signed(row[key])) for key in ("joint_change", "inconsistency_change")}
    )


def _own_vi(row: Row, method: str) -> dict[str, Any]:
    step = "direct" if method == "direct" else "revised"
    label = label_of(row).rpartition(", ")[0] or str(row["vlm"])
    shown: dict[str, Any] = {"label": label, "origin": ORIGIN_GLYPHS[Origin(row["origin"])], "method": METHODS[method]}
    for key in _VI_KEYS:
        of = step if key in ("complex_accuracy", "joint_accuracy", "inconsistency") or step == "direct" else "select"
        shown[key] = _share(row, f"{of}.{key}")
    return shown | {"n": row["n_units"]}


def _share(row: Row, key: str) -> NumberCell | None:
    value, low, high = row[key], row[f"{key}_low"], row[f"{key}_high"]
    if value is None:
        return None
    interval = "" if low is None else f" ({100 * low:.1f}–{100 * high:.1f})"
    cell = NumberCell.of(100 * value, f"{100 * value:.1f}{interval}")
    if cell is not None:
        cell.counts = f"{row[f'{key}_k']:,}/{row[f'{key}_n']:,}"
    return cell


def _change(row: Row, key: str) -> NumberCell | None:
    value, low, high = row[key], row[f"{key}_low"], row[f"{key}_high"]
    if value is None:
        return None
    interval = "" if low is None else f" ({_signed(low)} to {_signed(high)})"
    return NumberCell.of(100 * value, _signed(value) + interval)


def _signed(fraction: float) -> str:
    return points(fraction).removesuffix(" points")


def _clickable(
    rows: Sequence[Row],
    numbers: Sequence[str],
    behind: Any,
    *,
    key: str,
    theme: Theme,
    column_config: Mapping[str, Any],
    orange: str = "",
) -> UnitFilter | None:
    """Draw a table whose numbers sort as numbers; return what the cell just opened stands for, else None."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), dtype=object).reindex(columns=list(column_config))
    frame = frame.astype(object).where(frame.notna(), None)
    styler = frame.style.format(str, subset=list(numbers), na_rep=NOT_AVAILABLE)
    if orange:
        styler = styler.map(lambda _: f"color: {theme.contradiction_text}", subset=[orange])

    def words(at: int, column: str) -> str | None:
        if behind(at, column) is None:
            return None
        of = ", ".join(str(rows[at][name]) for name in ("label", "method") if name in rows[at])
        cell = rows[at][column]
        counts = f", {cell.counts}" if isinstance(cell, NumberCell) and cell.counts else ""
        return f"{of}: {column_config[column]['label']}{counts}"

    clicked = clickable_table(
        styler,
        key=key,
        words=words,
        ask=ASK,
        column_config=column_config,
        placeholder=NOT_AVAILABLE,
    )
    found: UnitFilter | None = None if clicked is None else behind(*clicked)
    return found
