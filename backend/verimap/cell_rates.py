"""A cell's verifier metrics from its printed rates, and what an undefined rate becomes.

A cell is one task, VLM and data set. With p the generator's error rate, FP / N = p FPR and
FN / N = (1 − p) FNR, so that Bias and dSkew (section 3.3) follow from rates, without counts.
"""

__all__ = ["METRICS", "RATES", "cell_metrics"]

import numpy as np
import pandas as pd

from backend.verimap.undefined_rates import Undefined

METRICS = ("fnr", "fpr", "bias", "dskew", "fpr_minus_fnr")
"""Columns of verifier metrics. ``fpr_minus_fnr`` is what the paper's tables 4 and 5 call Bias, and ``bias``,
(FP − FN) / N, what they call dSkew."""

RATES = ("generator_accuracy", "fpr", "fnr")
"""Columns a cell is given by, in percent as the paper prints them."""


def cell_metrics(cells: pd.DataFrame, undefined: Undefined = Undefined.DROP) -> pd.DataFrame:
    """Return each cell's metrics as fractions.

    FPR is undefined where the generator gave no wrong answer, FNR where it gave no right one, dSkew where
    the verifier made no error. Bias is defined all the same: a rate over nothing contributes nothing. A rate
    that is missing although it has something to divide by is undefined under both treatments, and so is
    all that follows from it.

    Args:
        cells: `RATES` in percent, NaN where nothing is printed; other columns are kept.
        undefined: What to do with rates over nothing.

    Returns:
        The other columns of ``cells``, then ``p_g`` (the generator's error rate) and `METRICS`, NaN where undefined.
    """
    p = 1 - cells["generator_accuracy"].to_numpy(dtype=np.float64) / 100
    printed = {name: cells[name].to_numpy(dtype=np.float64, na_value=np.nan) / 100 for name in ("fpr", "fnr")}
    over_nothing = {"fpr": p == 0, "fnr": p == 1}
    contributing = {name: np.where(over_nothing[name], 0.0, rate) for name, rate in printed.items()}
    kept = {
        name: np.where(over_nothing[name], np.nan if undefined is Undefined.DROP else np.nan_to_num(rate), rate)
        for name, rate in printed.items()
    }
    accepted, rejected = p * contributing["fpr"], (1 - p) * contributing["fnr"]
    spread = accepted + rejected - 2 * accepted * rejected
    with np.errstate(invalid="ignore"):
        dskew = np.square(accepted - rejected) / spread
    if undefined is Undefined.AS_PRINTED:
        dskew[spread == 0] = 0.0
    metrics = {
        "p_g": p,
        "fnr": kept["fnr"],
        "fpr": kept["fpr"],
        "bias": accepted - rejected,
        "dskew": dskew,
        "fpr_minus_fnr": kept["fpr"] - kept["fnr"],
    }
    others = cells.drop(columns=[name for name in cells.columns if name in metrics])
    return others.assign(**metrics)
