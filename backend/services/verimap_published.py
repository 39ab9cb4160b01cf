"""Figures printed in the VeriMap paper, read where they are shown and never mixed with runs.

The tables lie in ``data/published/`` as printed: cells and means in percent, tables of models as they stand.
"""

__all__ = [
    "VERIMAP_PAPER",
    "printed_cells",
    "printed_logistic_effects",
    "printed_logistic_models",
    "printed_logistic_numbers",
    "printed_logistic_variances",
    "printed_means",
    "printed_slopes",
    "printed_variances",
]

from typing import TYPE_CHECKING

from backend.settings import DATA

if TYPE_CHECKING:
    import pandas as pd

VERIMAP_PAPER = "Verification Mirage (VeriMap)"


def printed_cells() -> "pd.DataFrame":
    """Return the 210 cells of Tables 6 to 15.

    Returns:
        One row a data set, task and VLM (``model``): dataset, task, model, generator_accuracy, verifier_accuracy,
        fpr, fnr, in percent; a rate over nothing is printed 0.0.
    """
    return _table("cells")


def printed_means() -> "pd.DataFrame":
    """Return the columns "Mean" of Tables 6 to 15: as `printed_cells`, without ``model``."""
    return _table("means")


def printed_slopes() -> "pd.DataFrame":
    """Return Table 4: metric (the name printed), beta0, beta1, se, p (text: one is "<0.001"), ci_low, ci_high."""
    return _table("slopes")


def printed_variances() -> "pd.DataFrame":
    """Return Table 5: metric, var_task, var_model, var_dataset, var_resid, r2_marginal, r2_conditional."""
    return _table("variances")


def printed_logistic_effects() -> "pd.DataFrame":
    """Return Table 1, fixed effects of M2: effect, beta, se, z, p (text), odds_ratio."""
    return _table("logistic_effects")


def printed_logistic_variances() -> "pd.DataFrame":
    """Return Table 2, random effects of M2: factor, var_intercept, var_slope, rho."""
    return _table("logistic_variances")


def printed_logistic_models() -> "pd.DataFrame":
    """Return Table 3: model (M0, M1, M2), df, loglik, aic, bic."""
    return _table("logistic_models")


def printed_logistic_numbers() -> dict[str, float]:
    """Return the numbers in the text of Appendix D.1.

    Returns:
        chi2_m0_m1 and chi2_m1_m2 (likelihood-ratio tests), r2_marginal, r2_conditional, r2_mcfadden (of M2).
    """
    table = _table("logistic_numbers")
    return dict(zip(table["name"].tolist(), table["value"].tolist(), strict=True))


def _table(name: str) -> "pd.DataFrame":
    import pandas as pd

    return pd.read_csv(DATA / "published" / f"verimap_{name}.csv")
