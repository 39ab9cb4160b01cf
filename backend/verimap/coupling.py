"""Generator–verifier coupling: does the verifier err where the generator does (section 3.4, Appendix D)?

Two families answer it. Cell by cell, a verifier metric is a line in the generator's error rate (linear
mixed models, `fit_cells`). Answer by answer, the log-odds of a verifier error depend on whether the
generator erred (three nested logistic mixed models, `fit_counts`), fitted to counts: rows of one task,
VLM, data set and ``gen_err`` say the same as their single answers. In both, tasks, VLMs and data sets are crossed
random factors. Each fit says whether it converged, whether it is singular, and what was left out; one
that did not converge carries no numbers.
"""

__all__ = [
    "CELL_MODEL",
    "COUNT_MODELS",
    "CellFit",
    "CountModel",
    "Coupling",
    "CouplingR2",
    "ModelWords",
    "fit_cells",
    "fit_counts",
]

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from backend.verimap.cell_rates import METRICS, cell_metrics
from backend.verimap.goodness_of_fit import (
    LOGIT_VARIANCE,
    VarianceExplained,
    akaike,
    bayes,
    mcfadden,
    slope_aware_variance,
    trace_variance,
    variance_explained,
)
from backend.verimap.grouping import FACTORS, Groupings, grouped
from backend.verimap.laplace import LogisticDesign, RandomTerm
from backend.verimap.likelihood_ratio import LikelihoodRatio, likelihood_ratio
from backend.verimap.mixed_linear import LinearFit, fit_linear
from backend.verimap.mixed_logistic import LogisticFit, fit_logistic
from backend.verimap.undefined_rates import Undefined


@dataclass(frozen=True, slots=True)
class ModelWords:
    """A model, said twice."""

    plain: str
    """In words."""
    formula: str
    """In the notation of lme4."""


CELL_MODEL = ModelWords(
    "Metric of a cell = intercept + slope × generator error rate + what its task, its VLM and its data set add + rest. "
    "Fitted by restricted maximum likelihood; degrees of freedom after Satterthwaite.",
    "metric ~ p_g + (1 | task) + (1 | model) + (1 | dataset)",
)

COUNT_MODELS: Mapping[str, ModelWords] = MappingProxyType(
    {
        "M0": ModelWords(
            "Log-odds of a verifier error = intercept + what the task, the VLM and the data set add.",
            "ver_err ~ 1 + (1 | task) + (1 | model) + (1 | dataset)",
        ),
        "M1": ModelWords(
            "Log-odds of a verifier error = intercept + effect of a generator error + what the task, the VLM and the "
            "data set add.",
            "ver_err ~ gen_err + (1 | task) + (1 | model) + (1 | dataset)",
        ),
        "M2": ModelWords(
            "As M1, and the effect of a generator error differs by task, by VLM and by data set.",
            "ver_err ~ gen_err + (1 + gen_err | task) + (1 + gen_err | model) + (1 + gen_err | dataset)",
        ),
    }
)
"""The three nested models of Appendix D.1, by maximum likelihood with Laplace's approximation."""


@dataclass(frozen=True, slots=True)
class CellFit:
    """The linear mixed model of one metric."""

    metric: str
    fit: LinearFit
    n_dropped: int
    """Cells left out because the metric is undefined there."""
    left_out: tuple[str, ...]
    """Factors with a single level among the cells that were used."""


@dataclass(frozen=True, slots=True)
class CountModel:
    """One of the nested logistic models."""

    fit: LogisticFit
    aic: float | None
    bic: float | None
    """Over single answers, as the paper's M1 and M2; None where the fit did not converge."""


@dataclass(frozen=True, slots=True)
class CouplingR2:
    """How much M2 explains; each None where the fits it needs did not converge."""

    mcfadden: float | None
    """M2 against M0 (equation 7)."""
    nakagawa: VarianceExplained | None
    """The paper's (equations 5 and 6): random effects count with the traces of their covariances."""
    slope_aware: VarianceExplained | None
    """Johnson 2014: random effects count with the variance they add to an answer."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """The three nested models, their tests and their fit."""

    models: Mapping[str, CountModel]
    """M0, M1, M2."""
    tests: Mapping[tuple[str, str], LikelihoodRatio | None]
    """By smaller and larger model; None where either did not converge."""
    r2: CouplingR2
    n_dropped: int
    """Rows left out because they count no answer."""
    left_out: tuple[str, ...]
    """Factors with a single level."""


def fit_cells(cells: pd.DataFrame, undefined: Undefined = Undefined.DROP) -> dict[str, CellFit]:
    """Fit the linear mixed model of each metric in `METRICS`.

    Args:
        cells: ``task``, ``model``, ``dataset`` and the rates of `backend.verimap.cell_rates` in percent.
        undefined: What to do with rates over nothing.
    """
    metrics = cell_metrics(cells, undefined)
    fits = {}
    for name in METRICS:
        defined = metrics[metrics[name].notna()]
        groupings = grouped(defined)
        fit = fit_linear(defined[name], defined["p_g"], groupings.used)
        fits[name] = CellFit(name, fit, len(metrics) - len(defined), groupings.left_out)
    return fits


def fit_counts(counts: pd.DataFrame) -> Coupling:
    """Fit M0, M1 and M2.

    Rows of one group and ``gen_err`` are added up first, so single answers (n = 1) and counts give the same fit.

    Args:
        counts: ``task``, ``model``, ``dataset``, ``gen_err`` (0 or 1), ``ver_err`` (errors of the verifier) and
            ``n`` (answers), a row a group; rows with n = 0 are left out.
    """
    counted = counts[counts["n"] > 0]
    keys = [*FACTORS, "gen_err"]
    rows = counted.groupby(keys, as_index=False, sort=True)[["ver_err", "n"]].sum()
    groupings = grouped(rows)
    fits = {"M0": fit_logistic(_design(rows, groupings, fixed_slope=False, random_slopes=False))}
    fits["M1"] = fit_logistic(_design(rows, groupings, fixed_slope=True, random_slopes=False))
    full = _design(rows, groupings, fixed_slope=True, random_slopes=True)
    fits["M2"] = fit_logistic(full, _as_start(fits["M1"], len(groupings.used)))
    slopes = len(groupings.used)
    tests = {
        ("M0", "M1"): _test(fits, "M0", "M1", 0),
        ("M1", "M2"): _test(fits, "M1", "M2", slopes) if slopes else None,
    }
    models = {name: _count_model(fit) for name, fit in fits.items()}
    return Coupling(models, tests, _r2(fits, full), len(counts) - len(counted), groupings.left_out)


def _design(rows: pd.DataFrame, groupings: Groupings, *, fixed_slope: bool, random_slopes: bool) -> LogisticDesign:
    """Return counts and design matrices of one of the nested models."""
    n = len(rows)
    predictors = np.column_stack([np.ones(n), rows["gen_err"].to_numpy(dtype=np.float64)])
    effects = 2 if random_slopes else 1
    blocks = [np.zeros((n, 0))]
    for one in groupings.used:
        block = one.indicators()[:, :, None] * predictors[:, None, :effects]
        blocks.append(block.reshape(n, -1))
    return LogisticDesign(
        errors=rows["ver_err"].to_numpy(dtype=np.float64),
        trials=rows["n"].to_numpy(dtype=np.float64),
        fixed=predictors if fixed_slope else predictors[:, :1],
        random=np.concatenate(blocks, axis=1),
        terms=tuple(RandomTerm(one.factor, one.levels, effects) for one in groupings.used),
    )


def _as_start(smaller: LogisticFit, n_terms: int) -> list[npt.NDArray[np.float64]]:
    """Return M1's estimates as parameters of M2, with slopes that vary a little: M2 then ends no lower than M1."""
    if smaller.estimates is None:
        return []
    intercepts, beta = smaller.estimates.parameters[:n_terms], smaller.estimates.parameters[n_terms:]
    entries = [entry for intercept in intercepts for entry in (max(float(intercept), 0.01), 0.0, 0.01)]
    return [np.array([*entries, *beta])]


def _test(fits: Mapping[str, LogisticFit], null: str, alternative: str, new_slopes: int) -> LikelihoodRatio | None:
    smaller, larger = fits[null], fits[alternative]
    if smaller.estimates is None or larger.estimates is None:
        return None
    return likelihood_ratio(
        null,
        alternative,
        smaller.estimates.loglik,
        larger.estimates.loglik,
        larger.df - smaller.df,
        new_slopes=new_slopes,
    )


def _count_model(fit: LogisticFit) -> CountModel:
    if fit.estimates is None:
        return CountModel(fit, None, None)
    loglik = fit.estimates.loglik
    return CountModel(fit, akaike(loglik, fit.df), bayes(loglik, fit.df, fit.n))


def _r2(fits: Mapping[str, LogisticFit], full: LogisticDesign) -> CouplingR2:
    null, found = fits["M0"].estimates, fits["M2"].estimates
    if found is None:
        return CouplingR2(None, None, None)
    predicted = full.fixed @ [effect.value for effect in found.fixed]
    fixed = float(np.cov(predicted, fweights=full.trials.astype(np.int64)))
    covariances = [term.covariance for term in found.terms]
    return CouplingR2(
        mcfadden(found.loglik, null.loglik) if null else None,
        variance_explained(fixed, trace_variance(covariances), LOGIT_VARIANCE),
        variance_explained(fixed, slope_aware_variance(covariances, full.fixed, full.trials), LOGIT_VARIANCE),
    )
