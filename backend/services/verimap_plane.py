"""The printed plane: the paper's 42 points (Fig. 2), made from its printed cells.

The paper prints rates in percent and no counts: nothing here has an n or an interval.
"""

__all__ = ["PLANE_SOURCE", "cells_behind", "printed_points", "printed_vlms"]

from typing import TYPE_CHECKING, Any

from backend.domain.records import Origin
from backend.services.verimap_published import VERIMAP_PAPER, printed_cells
from backend.verimap.cell_rates import cell_metrics
from backend.verimap.vocabulary import Task, task_of_name

if TYPE_CHECKING:
    import pandas as pd

PLANE_SOURCE = f"{VERIMAP_PAPER}, Tables 6 to 15; the plane is its Fig. 2"

_COLUMNS = {"error": "error", "fpr": "fpr", "fnr": "fnr", "bias": "bias", "dskew": "dskew", "generator_error": "p_g"}
"""Key of a metric → column of the cells."""


def printed_vlms() -> list[str]:
    """Return the VLMs of the paper, as printed."""
    return list(dict.fromkeys(printed_cells()["model"].tolist()))


def printed_points() -> "pd.DataFrame":
    """Return the 42 printed points of the plane: each task and VLM, a plain mean over the data sets.

    A rate that is undefined in a data set (no wrong answer, so no FPR; no verifier error, so no dSkew) is left
    out of its mean, and counted. Bias and dSkew follow from the printed rates by the definitions of section 3.3.

    Returns:
        One row a point, tasks in the paper's order: key, task, group, generator and verifier (the same VLM), is_self,
        origin, n_cells (data sets); error, fpr, fnr, bias, dskew and generator_error (fractions; None where no data
        set defines it), and of each ``…_left_out``, the data sets left out of it.
    """
    import pandas as pd

    printed = printed_cells()
    cells = cell_metrics(printed).assign(error=1 - printed["verifier_accuracy"] / 100)
    rows: list[dict[str, Any]] = []
    for (name, vlm), of_point in cells.groupby(["task", "model"], sort=False):
        task = task_of_name(str(name))
        if task is None:
            raise ValueError(f"{name!r} is no task")
        row = {
            "key": f"printed/{task.value}/{vlm}",
            "task": task.value,
            "group": task.group.value,
            "generator": vlm,
            "verifier": vlm,
            "is_self": True,
            "origin": Origin.PUBLISHED.value,
            "n_cells": len(of_point),
        }
        for key, column in _COLUMNS.items():
            defined = of_point[column].dropna()
            row |= {key: float(defined.mean()) if len(defined) else None}
            row |= {f"{key}_left_out": len(of_point) - len(defined)}
        rows.append(row)
    order = {vlm: place for place, vlm in enumerate(printed_vlms())}
    rows.sort(key=lambda row: (list(Task).index(Task(row["task"])), order[row["verifier"]]))
    return pd.DataFrame(rows, dtype=object)


def cells_behind(task: str, vlm: str) -> "pd.DataFrame":
    """Return the printed cells that a point is the mean of: as `printed_cells`, a row a data set."""
    cells = printed_cells()
    return cells[(cells["task"] == task) & (cells["model"] == vlm)].reset_index(drop=True)
