"""Where the parts go wrong: atomic accuracy by question class and VLM, each cell opening the wrong ones."""

__all__ = ["show_classes"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.figures.endoca import class_heat
from backend.services.endoca_series import of_questions, records
from backend.services.explore import atomic_by_class
from backend.store.filters import UnitFilter
from pages.ui.clicks import clickable_table
from pages.ui.resources import drawn_once, kept


def show_classes(runs: Sequence[Mapping[str, Any]], chosen: UnitFilter) -> UnitFilter | None:
    """Draw the table, a row a class and a column a run; return the cases of the cell just clicked, else None.

    Args:
        runs: The runs to show, as in `series_table`.
        chosen: The page's filter; conditions on answers are put aside.
    """
    import pandas as pd

    wide = st.toggle("Show 95 % intervals", key="class_intervals", help="Whole images resampled")
    questions = of_questions(chosen)
    cells = {(row["question_class"], row["run_id"]): row for row in records(kept(atomic_by_class, questions, wide))}
    classes = sorted({name for name, _ in cells})
    keys = [run["run_id"] for run in runs]
    counts = [max(row["n_atomic"] for (name, _), row in cells.items() if name == wanted) for wanted in classes]
    table = pd.DataFrame({"class": [name.replace("_", " ") for name in classes], "n": counts})
    for key in keys:
        table[key] = [cells[name, key]["atomic_accuracy"] if (name, key) in cells else None for name in classes]
    texts = {
        (at, key): _text(cells[name, key])
        for at, name in enumerate(classes)
        for key in keys
        if wide and (name, key) in cells
    }
    clicked = clickable_table(
        drawn_once("classes", (questions, wide), lambda: class_heat(table, keys, texts)),
        key="classes",
        column_config={
            "class": st.column_config.TextColumn("Question class", pinned=True, width=170),
            "n": st.column_config.NumberColumn("n", help="Atomic questions of the class", width=60, format="localized"),
            **{
                run["run_id"]: st.column_config.NumberColumn(str(run["label"]), width=145 if wide else 90)
                for run in runs
            },
        },
    )
    if clicked is None or clicked[1] not in keys:
        return None
    run_id, name = clicked[1], classes[clicked[0]]
    return replace(questions, runs=(run_id,), groups=(), origins=(), classes=(name,), part_wrong=True)


def _text(cell: Mapping[str, Any]) -> str:
    value = f"{100 * cell['atomic_accuracy']:.1f}"
    low, high = cell["atomic_accuracy_low"], cell["atomic_accuracy_high"]
    return value if low is None else f"{value} ({100 * low:.1f}–{100 * high:.1f})"
