"""Linear mixed models with random slopes: the fits of lme4 1.1-31, planted slopes, and what has no slopes to show."""

import numpy as np
import pandas as pd
import pytest

from backend.verimap.cell_rates import cell_metrics
from backend.verimap.grouping import grouped
from backend.verimap.random_slopes import RandomSlopesFit, fit_random_slopes
from backend.verimap.undefined_rates import Undefined
from tests.conftest import ROOT

PUBLISHED = pd.read_csv(ROOT / "data" / "published" / "verimap_cells.csv")

LME4 = (
    ("fnr", Undefined.AS_PRINTED, True, 84.206146, (0.016785, 0.001808, 0.009039)),
    ("fpr", Undefined.AS_PRINTED, False, 95.329401, (0.093687, 0.045406, 0.032775)),
    ("bias", Undefined.AS_PRINTED, True, 142.840511, (0.011902, 0.030867, 0.000646)),
    ("fnr", Undefined.DROP, True, 80.799540, (0.015393, 0.005490, 0.000784)),
    ("fpr", Undefined.DROP, True, 118.774413, (0.034256, 0.037870, 0.052013)),
    ("fpr_minus_fnr", Undefined.DROP, True, -6.781963, (0.006356, 0.107956, 0.000057)),
)
"""Metric, treatment, isSingular, restricted log-likelihood, slope variances of task, VLM and data set:
lmer(y ~ p_g + (1 + p_g | task) + (1 + p_g | model) + (1 + p_g | dataset)), bobyqa, on R 4.2.2."""

LME4_LOWER = (
    ("fpr_minus_fnr", Undefined.AS_PRINTED, -12.191792),
    ("dskew", Undefined.AS_PRINTED, 139.179958),
    ("dskew", Undefined.DROP, 138.719761),
)
"""Where lme4's search ended below the top."""


def published(metric: str, undefined: Undefined) -> RandomSlopesFit:
    """Fit one metric of the published cells."""
    cells = cell_metrics(PUBLISHED, undefined)
    cells = cells[cells[metric].notna()]
    return fit_random_slopes(cells[metric], cells["p_g"], grouped(cells).used)


SLOPES = np.linspace(-0.6, 0.6, 12)
"""What twelve tasks add to the common slope of drawn cells."""


def drawn(seed: int) -> pd.DataFrame:
    """Draw cells of twelve tasks whose slopes differ, and of four VLMs that are alike."""
    random = np.random.default_rng(seed)
    rows = []
    for task, model, _ in np.ndindex(12, 4, 6):
        x = random.uniform()
        rows.append((f"t{task}", f"m{model}", x, 0.3 + (0.5 + SLOPES[task]) * x + random.normal(0, 0.05)))
    return pd.DataFrame(rows, columns=["task", "model", "x", "y"])


def fitted(table: pd.DataFrame) -> RandomSlopesFit:
    """Fit drawn cells."""
    return fit_random_slopes(table["y"], table["x"], grouped(table, ("task", "model")).used)


@pytest.mark.parametrize(("metric", "undefined", "singular", "loglik", "variances"), LME4)
def test_published_cells_are_fitted_as_by_lme4(
    metric: str, undefined: Undefined, singular: bool, loglik: float, variances: tuple[float, ...]
) -> None:
    fit = published(metric, undefined)
    assert fit.converged and fit.singular is singular
    assert fit.reml_loglik == pytest.approx(loglik, abs=1e-5)
    assert [term.factor for term in fit.terms] == ["task", "model", "dataset"]
    assert [term.slope_variance for term in fit.terms] == pytest.approx(variances, abs=2e-6)


@pytest.mark.parametrize(("metric", "undefined", "loglik"), LME4_LOWER)
def test_the_likelihood_is_never_below_that_of_lme4(metric: str, undefined: Undefined, loglik: float) -> None:
    fit = published(metric, undefined)
    assert fit.converged and fit.singular
    assert fit.reml_loglik is not None and fit.reml_loglik > loglik


def test_planted_slopes_are_found_and_those_that_do_not_vary_are_near_zero() -> None:
    fit = fitted(drawn(seed=3))
    task, model = fit.terms
    assert task.slope_variance == pytest.approx(np.var(SLOPES, ddof=1), rel=0.2)
    assert model.slope_variance < 0.001
    assert fit.converged


def test_another_unit_of_the_metric_changes_variances_by_its_square_and_nothing_else() -> None:
    table = drawn(seed=4)
    one, other = fitted(table), fitted(table.assign(y=100 * table["y"]))
    assert [term.slope_variance for term in other.terms] == pytest.approx(
        [1e4 * term.slope_variance for term in one.terms], rel=1e-4, abs=1e-3
    )
    assert other.reml_loglik is not None and one.reml_loglik is not None
    assert other.reml_loglik == pytest.approx(one.reml_loglik - (other.n - 2) * np.log(100), abs=1e-5)
