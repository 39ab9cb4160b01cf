"""VeriMap's printed cells (Tables 6 to 15) against what the text reads out of them."""

__all__ = ["CHECKS"]

from typing import TYPE_CHECKING

import numpy as np

from backend.domain.metric import percent
from backend.domain.records import System
from backend.domain.statistics.intervals import wilson_interval
from backend.services.audit.finding import AuditedFigure, Check, Finding, Verdict
from backend.services.audit.words import joined
from backend.services.endoca_series import records
from backend.services.verimap_plane import printed_points
from backend.services.verimap_published import printed_cells, printed_means
from backend.store.store import Store
from backend.verimap.cell_rates import cell_metrics
from backend.verimap.quadrants import BiasAxis, PlaneThresholds, Quadrant, quadrant
from backend.verimap.undefined_rates import Undefined
from backend.verimap.vocabulary import Task, TaskGroup

if TYPE_CHECKING:
    import pandas as pd

_FAR = 0.05
"""A printed accuracy further from the recomputed one than this is told."""

_MOST_QUESTIONS = 2000
"""Above this any percentage with one decimal can be reached."""

_PAIRS_PRINTED = 25
"""Pairs a task of the Wilcoxon tests of Fig. 7."""

_LOW_ERROR = 0.40
"""Up to here the text sees the lower left of the plane ("30–40 %")."""


def _dropped_verdicts(_: Store) -> Finding:
    table = printed_cells()
    rates = cell_metrics(table, Undefined.AS_PRINTED)
    error = rates["p_g"] * rates["fpr"] + (1 - rates["p_g"]) * rates["fnr"]
    table["accuracy_recomputed"] = 100 * (1 - error)
    table["difference"] = table["accuracy_recomputed"] - table["verifier_accuracy"]
    far = table[table["difference"].abs() > 100 * _FAR]
    most = far["model"].value_counts()
    return Finding(
        key="verimap-4",
        paper=System.VERIMAP,
        title="Replies without a verdict",
        claim="A verdict counts as accepting only if it is CORRECT; everything else counts as not accepting.",
        where="Section 3.1, Tables 6 to 15",
        printed=f"Verifier accuracy, FPR and FNR of {len(table)} cells",
        recomputed=(
            f"From generator accuracy, FPR and FNR the verifier's accuracy comes out more than {100 * _FAR:.0f} points "
            f"away from the printed one in {len(far)} cells, {most.iloc[0]} of them of {most.index[0]}; at most "
            f"{table['difference'].abs().max():.0f} points."
        ),
        definition="(1 − p) × (1 − FNR) + p × (1 − FPR), with p the generator's error rate.",
        consequence=(
            "That fits replies without a verdict having been left out, with no count printed: such a VLM's rates are "
            "those of its readable replies."
        ),
        verdict=Verdict.FAILS if len(far) else Verdict.HOLDS,
        data=table,
    )


def _small_cells(_: Store) -> Finding:
    import pandas as pd

    cells = printed_cells()
    rows = []
    for (dataset, task), part in cells.groupby(["dataset", "task"], sort=False):
        n = _fewest_questions(part["generator_accuracy"].to_numpy(dtype=np.float64))
        rows.append((dataset, Task(str(task)).label, n))
    table = pd.DataFrame(rows, columns=["dataset", "task", "fewest_questions"]).sort_values(
        ["fewest_questions", "dataset"], ignore_index=True
    )
    limit = PlaneThresholds().min_n
    small = table[table["fewest_questions"] < limit]
    smallest = [f"{row['dataset']} {row['task']} {row['fewest_questions']}" for row in records(table.head(4))]
    fewest = int(table["fewest_questions"].iloc[0])
    interval = wilson_interval(1.0, fewest)
    uncertain = f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %" if interval else "no width"
    return Finding(
        key="verimap-5",
        paper=System.VERIMAP,
        title="How small the cells are",
        claim="Cells are large enough to treat their proportions as Gaussian.",
        where="Appendix D.2, Tables 6 to 15",
        printed="No n and no interval",
        recomputed=(
            f"Questions a cell can have been, at the fewest: {', '.join(smallest)}; below {limit} in {len(small)} of "
            f"{len(table)} pairs of data set and task."
        ),
        definition=(
            "The smallest n for which all six printed accuracies of a data set and task are whole numbers of right "
            "answers, to one decimal. The true number may be larger."
        ),
        consequence=f"An FPR of 100 % over {fewest} answers has a 95 % interval of {uncertain}.",
        verdict=Verdict.FAILS if len(small) else Verdict.HOLDS,
        data=table,
    )


def _fewest_questions(accuracies: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> int | None:
    """Return the fewest questions that give all accuracies (percent, one decimal); None where none do."""
    for n in range(1, _MOST_QUESTIONS):
        right = np.round(accuracies / 100 * n)
        if (np.abs(100 * right / n - accuracies) <= 0.05 + 1e-9).all():
            return n
    return None


def _sign_of_dskew(_: Store) -> Finding:
    cells = printed_cells()
    rates = cell_metrics(cells)
    turned = cell_metrics(
        cells.assign(generator_accuracy=100 - cells["generator_accuracy"], fpr=cells["fnr"], fnr=cells["fpr"])
    )
    table = cells.assign(bias=rates["bias"], dskew=rates["dskew"], dskew_with_fp_and_fn_exchanged=turned["dskew"])
    rejecting = table[(table["bias"] < 0) & (table["dskew"] > 0)]
    same = np.isclose(rates["dskew"], turned["dskew"], equal_nan=True)
    return Finding(
        key="verimap-7",
        paper=System.VERIMAP,
        title="The sign of dSkew",
        claim="A positive dSkew means that the verifier accepts too much.",
        where="Section 3.3",
        printed="“Positive”",
        recomputed=(
            f"{len(rejecting)} of {len(table)} printed cells lean to rejection (FP < FN), and their dSkew is positive "
            f"all the same. Exchanging FP and FN leaves it as it is in {int(same.sum())} of {len(table)}."
        ),
        definition="(FP − FN)² / (N (FP + FN) − 2 FP FN), the closed form of the printed double sum.",
        consequence=(
            "A verifier that rejects everything stands high on that axis too. The plane here offers sign(Bias) × dSkew "
            "under a name of its own."
        ),
        verdict=Verdict.FAILS if len(rejecting) else Verdict.HOLDS,
        data=table,
    )


def _order_of_tasks(_: Store) -> Finding:
    cells = printed_cells()
    means = (100 - cells["verifier_accuracy"]).groupby(cells["task"]).mean().sort_values()
    table = means.rename("mean_verifier_error").reset_index()
    table["group"] = [Task(task).group.value for task in table["task"]]
    table["task"] = [Task(task).label for task in table["task"]]
    by_group = {group: table.loc[table["group"] == group, "mean_verifier_error"] for group in TaskGroup}
    structured = by_group[TaskGroup.QUANTITATIVE].max() <= by_group[TaskGroup.PERCEPTUAL].min()
    apart = by_group[TaskGroup.PERCEPTUAL].max() <= by_group[TaskGroup.KNOWLEDGE_INTENSIVE].min()
    listed = [f"{row['task']} {row['mean_verifier_error']:.1f}" for row in records(table)]
    return Finding(
        key="verimap-8",
        paper=System.VERIMAP,
        title="The order of the tasks",
        claim="Quantitative measurement resists most, knowledge-intensive tasks lie deepest, perceptual ones between.",
        where="Abstract, section 4.2",
        printed="An order of groups",
        recomputed=f"Mean verifier error in percent: {', '.join(listed)}.",
        definition="Unweighted mean of 100 − verifier accuracy over a task's 30 printed cells.",
        consequence=(
            "Groups overlap: a perceptual task is the easiest to verify, and one lies above a knowledge-intensive one. "
            "A task's own cells say more than its group."
        ),
        verdict=Verdict.HOLDS if structured and apart else Verdict.FAILS,
        data=table,
    )


def _trusted_perceptual(_: Store) -> Finding:
    means = printed_means()
    tasks = (Task.MODALITY_RECOGNITION, Task.ANATOMICAL_IDENTIFICATION)
    table = means[means["task"].isin(tasks)].sort_values("fpr", ignore_index=True)
    low, high = table["fpr"].min(), table["fpr"].max()
    threshold = 100 * PlaneThresholds().fpr
    return Finding(
        key="verimap-9",
        paper=System.VERIMAP,
        title="Self-verification of perceptual tasks",
        claim="For modality recognition and anatomical identification lightweight self-verification is sufficient.",
        where="Practical implications",
        printed="“Sufficient”",
        recomputed=f"Their mean FPR lies between {low:.1f} and {high:.1f} % over the five data sets.",
        definition="Printed means over six VLMs of wrong answers that the VLM's own verification accepts.",
        consequence=(
            f"Of wrong answers {low:.0f} to {high:.0f} in a hundred pass, above the {threshold:.0f} % from which the "
            "paper itself speaks of a mirage. Routing here goes by the measured cell, not by the group."
        ),
        verdict=Verdict.FAILS if high >= threshold else Verdict.HOLDS,
        data=table,
    )


def _pairs_tested(_: Store) -> Finding:
    cells = printed_cells()
    table = cells[["dataset", "model"]].drop_duplicates().reset_index(drop=True)
    n_datasets, n_vlms = table["dataset"].nunique(), table["model"].nunique()
    vlms = _PAIRS_PRINTED / n_datasets
    return Finding(
        key="verimap-13",
        paper=System.VERIMAP,
        title="Pairs of the Wilcoxon tests",
        claim=f"{n_vlms} VLMs on {n_datasets} data sets go through the loop; each task is tested over all of them.",
        where="Section 4.1, Figs. 5 and 7",
        printed=f"n = {_PAIRS_PRINTED} pairs a task",
        recomputed=f"{n_vlms} VLMs × {n_datasets} data sets = {len(table)} pairs.",
        definition="VLMs times data sets of the printed cells.",
        consequence=(
            f"{_PAIRS_PRINTED} pairs are those of {vlms:.0f} VLMs. Fig. 5 speaks of five; which one is left out, there "
            "or here, is not said."
        ),
        verdict=Verdict.HOLDS if len(table) == _PAIRS_PRINTED else Verdict.OTHERWISE,
        data=table,
    )


def _plane() -> "pd.DataFrame":
    return printed_points()[["task", "verifier", "error", "fpr", "bias", "dskew"]]


def _mirage(_: Store) -> Finding:
    table = _plane()
    thresholds = PlaneThresholds()
    axes = {BiasAxis.FPR: "FPR", BiasAxis.BIAS: "Bias", BiasAxis.DSKEW: "dSkew"}
    for axis in axes:
        table[f"quadrant_{axis}"] = [quadrant(row["error"], row[axis], axis, thresholds) for row in records(table)]
    mirage = {axis: int((table[f"quadrant_{axis}"] == Quadrant.MIRAGE).sum()) for axis in axes}
    desired = {axis: int((table[f"quadrant_{axis}"] == Quadrant.DESIRED).sum()) for axis in axes}
    n = len(table)
    return Finding(
        key="verimap-14",
        paper=System.VERIMAP,
        title="Points in the mirage corner",
        claim=(
            f"In all three panels the vast majority of the {n} points lie in the mirage corner, and almost none in the "
            "desired one."
        ),
        where="Fig. 2, section 4.2",
        printed=(
            f"Verifier error from {percent(thresholds.error)}, FPR from {percent(thresholds.fpr)}, Bias from "
            f"{percent(thresholds.bias)}, dSkew from {percent(thresholds.dskew)}"
        ),
        recomputed=(
            f"In the mirage corner {joined([f'{mirage[axis]} of {n} by {words}' for axis, words in axes.items()])}; "
            f"in the desired one {joined([f'{desired[axis]} by {words}' for axis, words in axes.items()])}."
        ),
        definition="Unweighted means of the printed cells over the five data sets, undefined rates left out.",
        consequence="A majority in each panel, smallest by Bias. Points carry no n, and each mean pools unequal cells.",
        verdict=Verdict.HOLDS if min(mirage.values()) > n / 2 else Verdict.FAILS,
        data=table,
    )


def _lower_left(_: Store) -> Finding:
    points = _plane()
    table = points[points["error"] <= _LOW_ERROR].sort_values("error", ignore_index=True)
    by_task = table["task"].value_counts()
    several = [task for task, n in by_task.items() if n > 1]
    listed = [f"{Task(row['task']).label} by {row['verifier']} ({percent(row['error'])})" for row in records(table)]
    return Finding(
        key="verimap-15",
        paper=System.VERIMAP,
        title="The lower left of the plane",
        claim="Quantitative measurement is the only task with several points of low error.",
        where="Section 4.2",
        printed="Verifier error of about 30 to 40 %",
        recomputed=f"Up to {percent(_LOW_ERROR)} lie {len(table)} points: {joined(listed)}.",
        definition="As for verimap-14.",
        consequence="What stands out there is one VLM, not one task.",
        verdict=Verdict.HOLDS if several == [Task.QUANTITATIVE_MEASUREMENT] else Verdict.FAILS,
        data=table,
    )


CHECKS = (
    Check("verimap-4", (AuditedFigure.VERIMAP_PLANE,), _dropped_verdicts),
    Check("verimap-5", (AuditedFigure.VERIMAP_PLANE, AuditedFigure.VERIMAP_CELLS), _small_cells),
    Check("verimap-7", (AuditedFigure.VERIMAP_PLANE,), _sign_of_dskew),
    Check("verimap-8", (AuditedFigure.VERIMAP_PLANE,), _order_of_tasks),
    Check("verimap-9", (AuditedFigure.VERIMAP_ROUTING,), _trusted_perceptual),
    Check("verimap-13", (AuditedFigure.VERIMAP_LOOP, AuditedFigure.VERIMAP_GROUNDING), _pairs_tested),
    Check("verimap-14", (AuditedFigure.VERIMAP_PLANE,), _mirage),
    Check("verimap-15", (AuditedFigure.VERIMAP_PLANE,), _lower_left),
)
"""In the order of their numbers."""
