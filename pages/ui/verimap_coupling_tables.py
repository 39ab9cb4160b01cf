"""The cell-level mixed models as a table, beside the paper's printed ones (Tables 4 and 5)."""

__all__ = ["show_cell_models"]

from collections.abc import Mapping
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.figures.verimap_coupling import METRIC_LABELS
from backend.services.endoca_series import records
from backend.services.verimap_coupling import CellSource
from backend.services.verimap_published import VERIMAP_PAPER, printed_slopes, printed_variances
from backend.verimap.coupling import CELL_MODEL, CellFit
from backend.verimap.undefined_rates import Undefined
from pages.ui.number_cell import p_words
from pages.ui.verimap_coupling_words import fit_words

PRINTED_NAMES = {"fnr": "FNR", "fpr": "FPR", "fpr_minus_fnr": "Bias", "bias": "dSkew"}
"""Metric → the name of the row that the paper prints of it; of dSkew proper it prints none."""

_VARIANCES = ("task", "model", "dataset")


def show_cell_models(fits: Mapping[str, CellFit], source: CellSource, undefined: Undefined) -> None:
    """Draw a row a metric, and beside it what the paper prints where its own cells are fitted.

    Args:
        fits: By metric.
        source: Whose cells.
        undefined: What was made of rates over nothing.
    """
    import pandas as pd

    st.markdown("**Cell by cell: linear mixed models**")
    st.text(CELL_MODEL.plain)
    st.caption(f"In lme4's notation: `{CELL_MODEL.formula}`, a model a metric.")
    rows = []
    slopes = {row["metric"]: row for row in records(printed_slopes())}
    variances = {row["metric"]: row for row in records(printed_variances())}
    for metric, label in METRIC_LABELS.items():
        rows.append({"metric": label, "origin": "computed", **_computed(fits[metric])})
        name = PRINTED_NAMES.get(metric)
        if source is CellSource.PRINTED and name is not None:
            about = label if name == label else f"{label} (printed as {name})"
            rows.append({"metric": about, "origin": "▢ published", **_printed(slopes[name], variances[name])})
    text = st.column_config.TextColumn
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        placeholder=NOT_AVAILABLE,
        column_config={
            "metric": text("Metric", width=170, pinned=True),
            "origin": text("Origin", width=95),
            "n": st.column_config.NumberColumn("Cells", width=60),
            "dropped": st.column_config.NumberColumn("Left out", width=70, help="Cells where the metric is undefined"),
            "intercept": text("Intercept", width=75),
            "slope": text("Slope", width=70, help="Change as generator error goes from 0 to 100 %"),
            "se": text("SE", width=60),
            "df": text("df", width=60, help="After Satterthwaite"),
            "p": text("p", width=65),
            "interval": text("95 % interval", width=125),
            "var_task": text("Var. task", width=75),
            "var_model": text("Var. VLM", width=75),
            "var_dataset": text("Var. data set", width=95),
            "var_resid": text("Residual", width=75),
            "r2": text("R² marginal, conditional", width=165),
            "note": text("Fit", width=260),
        },
    )
    if source is CellSource.PRINTED:
        taken = "left out" if undefined is Undefined.DROP else "taken as the printed 0"
        st.caption(
            f"Printed: {VERIMAP_PAPER}, Tables 4 and 5. Its Bias is FPR − FNR and its dSkew (FP − FN) / N there; with "
            "undefined rates taken as the printed 0 its slopes come out. Here, rates with nothing to divide by are "
            f"{taken}."
        )


def _computed(fit: CellFit) -> dict[str, Any]:
    row: dict[str, Any] = {"n": fit.fit.n, "dropped": fit.n_dropped}
    found = fit.fit.estimates
    if found is not None:
        slope = found.slope
        row |= {
            "intercept": _number(found.intercept.value),
            "slope": _number(slope.value),
            "se": _number(slope.se),
            "df": f"{slope.df:.1f}",
            "p": p_words(slope.p),
            "interval": f"{_number(slope.low)} to {_number(slope.high)}",
            **{f"var_{name}": _variance(found.variances.get(name)) for name in _VARIANCES},
            "var_resid": _variance(found.residual_variance),
            "r2": f"{found.r2.marginal:.3f}, {found.r2.conditional:.3f}",
        }
    return row | {"note": fit_words(fit)}


def _printed(slope: Mapping[str, Any], variance: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "intercept": _number(slope["beta0"]),
        "slope": _number(slope["beta1"]),
        "se": _number(slope["se"]),
        "p": str(slope["p"]).replace("<", "< "),
        "interval": f"{_number(slope['ci_low'])} to {_number(slope['ci_high'])}",
        **{f"var_{name}": _variance(variance[f"var_{name}"]) for name in (*_VARIANCES, "resid")},
        "r2": f"{variance['r2_marginal']:.3f}, {variance['r2_conditional']:.3f}",
        "note": "",
    }


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _variance(value: float | None) -> str | None:
    """Return a variance; None, shown as N/A, where the factor has a single level."""
    return None if value is None else f"{value:.4f}"
