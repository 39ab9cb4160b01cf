"""VeriMap's slopes task by task (Fig. 4), fitted again to the printed cells."""

__all__ = ["CHECKS"]

from typing import TYPE_CHECKING

from backend.domain.records import System
from backend.services.audit.finding import AuditedFigure, Check, Finding, Verdict
from backend.services.audit.verimap_models import METRIC_WORDS, SIGNIFICANT, TREATMENTS, metrics_under, slope_words
from backend.services.audit.words import joined, signed
from backend.services.endoca_series import records
from backend.store.store import Store
from backend.verimap.undefined_rates import Undefined
from backend.verimap.vocabulary import Task

if TYPE_CHECKING:
    import pandas as pd

    from backend.verimap.slopes import Slope


def _task_slopes(metrics: tuple[str, ...]) -> "pd.DataFrame":
    import pandas as pd

    from backend.verimap.slopes import slopes_by

    rows = []
    for metric in metrics:
        for undefined, treatment in TREATMENTS.items():
            for task, slope in slopes_by(metrics_under(undefined), metric).items():
                if slope is not None:
                    rows.append((Task(task).label, METRIC_WORDS[metric], treatment, *_slope_numbers(slope)))
    return pd.DataFrame(rows, columns=["name", "metric", "treatment", "n", "slope", "low", "high", "p"])


def _slope_numbers(slope: "Slope") -> tuple[int, float, float, float, float]:
    return slope.n, slope.slope, slope.low, slope.high, slope.p


def _steepest_slopes(_: Store) -> Finding:
    table = _task_slopes(("fpr", "fpr_minus_fnr"))
    significant = table[table["p"] < SIGNIFICANT]
    causal = table[table["name"] == Task.CAUSAL_EXPLANATION.label]
    fpr, bias = (records(causal[causal["metric"] == METRIC_WORDS[name]]) for name in ("fpr", "fpr_minus_fnr"))
    kept = significant[significant["treatment"] == TREATMENTS[Undefined.DROP]]
    left = (
        f"Of all seven tasks {len(kept)} keep a significant slope" if len(kept) else "No task keeps a significant one"
    )
    return Finding(
        key="verimap-10",
        paper=System.VERIMAP,
        title="The steepest slopes, causal explanation",
        claim="Causal explanation has the steepest significant slopes of FPR and Bias.",
        where="Fig. 4, section 4.3",
        printed="No number, a point of Fig. 4",
        recomputed=(
            f"FPR {slope_words(fpr[0])} with undefined rates taken as 0, {slope_words(fpr[1])} without them; what the "
            f"paper calls Bias here, FPR − FNR, {slope_words(bias[0])} and {slope_words(bias[1])}. {left}, of either "
            "metric, once undefined rates are left out."
        ),
        definition="Ordinary least squares of the metric on the generator's error rate, over a task's 30 cells.",
        consequence="The task-conditioned slope is that of two cells with a rate over nothing.",
        verdict=Verdict.OTHERWISE if kept.empty else Verdict.HOLDS,
        data=table,
    )


def _all_tasks(_: Store) -> Finding:
    table = _task_slopes(("bias", "dskew"))
    table = table[table["treatment"] == TREATMENTS[Undefined.DROP]]
    rising = table[(table["slope"] > 0) & (table["p"] < SIGNIFICANT)]
    counts = {metric: len(rising[rising["metric"] == metric]) for metric in (METRIC_WORDS["bias"], "dSkew")}
    ranges = {metric: table.loc[table["metric"] == metric, "slope"] for metric in counts}
    return Finding(
        key="verimap-16",
        paper=System.VERIMAP,
        title="dSkew rises in all seven tasks",
        claim="dSkew rises significantly with the generator's error rate in all seven tasks.",
        where="Fig. 4, section 4.3",
        printed="7 of 7 tasks",
        recomputed=joined(
            [
                f"{metric}: {n} of {len(Task)}, slopes {signed(ranges[metric].min())} to {signed(ranges[metric].max())}"
                for metric, n in counts.items()
            ]
        )
        + ".",
        definition=(
            "Ordinary least squares over a task's 30 cells, for what the paper fitted under this name, (FP − FN) / N, "
            "and for dSkew as defined."
        ),
        consequence=(
            "It holds under both readings. Both are bounded by the generator's error rate itself, so part of the slope "
            "is built in, as the paper says."
        ),
        verdict=Verdict.HOLDS if set(counts.values()) == {len(Task)} else Verdict.FAILS,
        data=table,
    )


CHECKS = (
    Check("verimap-10", (AuditedFigure.VERIMAP_SLOPES,), _steepest_slopes),
    Check("verimap-16", (AuditedFigure.VERIMAP_SLOPES,), _all_tasks),
)
"""In the order of their numbers."""
