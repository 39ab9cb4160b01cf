"""Where the parts go wrong: atomic accuracy by question class and VLM, each cell opening the wrong ones."""

__all__ = ["show_classes"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.figures.class_heat import class_heat
from backend.services.endoca_series import of_questions, records
from backend.services.explore import atomic_by_class
from backend.store.filters import UnitFilter
from pages.ui.clicks import clickable_table
from pages.ui.plain import plain
from pages.ui.resources import drawn_once, kept

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

Row = Mapping[str, Any]


def show_classes(runs: Sequence[Mapping[str, Any]], chosen: UnitFilter) -> UnitFilter | None:
    """Draw the table, a row a class and a column a run; return the cases of the cell just clicked, else None.

    Args:
        runs: The runs to show, as in `series_table`.
        chosen: The page's filter; conditions on answers are put aside.
    """
    wide = st.toggle("Show 95 % intervals", key="class_intervals", help="Whole images resampled")
    questions = of_questions(chosen)
    cells = {(row["question_class"], row["run_id"]): row for row in records(kept(atomic_by_class, questions, wide))}
    classes = sorted({name for name, _ in cells})
    labels = {str(run["run_id"]): str(run["label"]) for run in runs}
    keys = list(labels)
    clicked = clickable_table(
        drawn_once("classes", (questions, wide), lambda: _heat(classes, keys, cells, wide)),
        key="classes",
        words=lambda row, column: _words(classes[row], labels.get(column)),
        ask="Choose a cell to open the cases in which such a part was answered wrong.",
        column_config={
            "class": st.column_config.TextColumn("Question class", pinned=True, width=170),
            "n": st.column_config.NumberColumn("n", help="Atomic questions of the class", width=60, format="localized"),
            **{
                key: st.column_config.NumberColumn(label, help=plain(label), width=_width(label, wide))
                for key, label in labels.items()
            },
        },
    )
    if clicked is None or clicked[1] not in keys:
        return None
    run_id, name = clicked[1], classes[clicked[0]]
    return replace(questions, runs=(run_id,), groups=(), origins=(), classes=(name,), part_wrong=True)


def _words(name: str, label: str | None) -> str | None:
    return None if label is None else f"{label}: {name.replace('_', ' ')}, answered wrong"


def _width(label: str, wide: bool) -> int:
    """Return a width in pixels that shows a name of common length whole, and no longer one."""
    return max(145 if wide else 90, min(34 + 8 * len(label), 150))


def _heat(classes: Sequence[str], keys: Sequence[str], cells: Mapping[tuple[str, str], Row], wide: bool) -> "Styler":
    import pandas as pd

    largest = {name: max(row["n_atomic"] for (of, _), row in cells.items() if of == name) for name in classes}
    table: dict[str, list[Any]] = {"class": [name.replace("_", " ") for name in classes], "n": list(largest.values())}
    for key in keys:
        table[key] = [cells[name, key]["atomic_accuracy"] if (name, key) in cells else None for name in classes]
    texts = {(classes.index(name), key): _text(cell) for (name, key), cell in cells.items() if key in keys}
    return class_heat(pd.DataFrame(table), keys, texts if wide else None)


def _text(cell: Row) -> str:
    value = f"{100 * cell['atomic_accuracy']:.1f}"
    low, high = cell["atomic_accuracy_low"], cell["atomic_accuracy_high"]
    return value if low is None else f"{value} ({100 * low:.1f}–{100 * high:.1f})"
