"""VeriMap's answer-level models (Tables 1 to 3, Appendix D.1): what the printed numbers say of each other.

The answers they were fitted to are not public, so nothing is fitted here.
"""

__all__ = ["CHECKS"]

from math import exp
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import System
from backend.services.audit.finding import AuditedFigure, Check, Finding, Verdict
from backend.services.audit.verimap_models import conditional_r2
from backend.services.audit.words import joined
from backend.services.endoca_series import records
from backend.services.verimap_published import (
    printed_logistic_effects,
    printed_logistic_models,
    printed_logistic_numbers,
    printed_logistic_variances,
)
from backend.store.store import Store
from backend.verimap.goodness_of_fit import LOGIT_VARIANCE, akaike, mcfadden

if TYPE_CHECKING:
    import pandas as pd

_HALF = 0.05
"""By how much rounding to one decimal moves a number at most."""


def _loglik() -> dict[str, float]:
    table = printed_logistic_models()
    return dict(zip(table["model"].tolist(), table["loglik"].tolist(), strict=True))


def _likelihood_ratios(_: Store) -> Finding:
    import pandas as pd

    loglik, numbers = _loglik(), printed_logistic_numbers()
    rows = []
    for null, alternative, key in (("M0", "M1", "chi2_m0_m1"), ("M1", "M2", "chi2_m1_m2")):
        statistic = 2 * (loglik[alternative] - loglik[null])
        rows.append((null, alternative, numbers[key], statistic, numbers[key] - statistic, 4 * _HALF + _HALF))
    table = pd.DataFrame(
        rows, columns=["null", "alternative", "printed", "recomputed", "difference", "most_that_rounding_explains"]
    )
    off = table[table["difference"].abs() > table["most_that_rounding_explains"]]
    return Finding(
        key="verimap-6",
        paper=System.VERIMAP,
        title="Likelihood-ratio statistics",
        claim="Two likelihood-ratio tests show that verifier errors hang on generator errors, and that this varies.",
        where="Appendix D.1, Table 3",
        printed=joined([f"{row['null']} against {row['alternative']} {row['printed']:,.1f}" for row in records(table)]),
        recomputed=joined(
            [f"{row['null']} against {row['alternative']}: {row['recomputed']:,.1f}" for row in records(table)]
        )
        + f". Rounding of the log-likelihoods explains {table['most_that_rounding_explains'].max():.2f} at most.",
        definition="Twice the difference of the two log-likelihoods printed in Table 3.",
        consequence=(
            "Too small a slip to change either test; the statistic of the first was not made from the log-likelihoods "
            "printed."
        ),
        verdict=Verdict.FAILS if len(off) else Verdict.HOLDS,
        data=table,
    )


def _answers_fitted(_: Store) -> Finding:
    import pandas as pd

    rows = []
    for row in records(printed_logistic_models()):
        excess, slack = row["bic"] + 2 * row["loglik"], 3 * _HALF
        implied = [exp((excess + off) / row["df"]) for off in (-slack, 0.0, slack)]
        rows.append((row["model"], row["df"], row["loglik"], row["bic"], *implied))
    table = pd.DataFrame(rows, columns=["model", "df", "loglik", "bic", "n_lowest", "n", "n_highest"])
    agree = table["n_lowest"].max() <= table["n_highest"].min()
    return Finding(
        key="verimap-11",
        paper=System.VERIMAP,
        title="How many answers the models were fitted to",
        claim="The three nested models are fitted to the same answers, about 32,000.",
        where="Table 3, Appendix D.2",
        printed=joined([f"BIC {row['bic']:,.1f} ({row['model']})" for row in records(table)]),
        recomputed=(
            "Answers that each BIC stands for, with what rounding leaves open: "
            + joined(
                [
                    f"{row['model']} about {_hundreds(row['n'])} "
                    f"({_hundreds(row['n_lowest'])} to {_hundreds(row['n_highest'])})"
                    for row in records(table)
                ]
            )
            + "."
        ),
        definition="BIC = df × log N − 2 × log-likelihood, solved for N.",
        consequence=(
            "Either M0's BIC is misprinted, or M0 was fitted to other answers; models of different answers cannot be "
            "tested against each other."
        ),
        verdict=Verdict.HOLDS if agree else Verdict.FAILS,
        data=table,
    )


def _hundreds(n: float) -> str:
    return f"{round(n, -2):,.0f}"


class _Checked(NamedTuple):
    """One printed number beside what the others make of it."""

    number: str
    printed: float
    recomputed: float
    rounding: float
    """By how much rounding of all numbers involved moves the difference at most."""


def _numbers_that_agree(_: Store) -> Finding:
    table = _checked_numbers()
    off = table[table["difference"].abs() > table["most_that_rounding_explains"]]
    return Finding(
        key="verimap-17",
        paper=System.VERIMAP,
        title="Odds ratio and R² of the answer-level model",
        claim="A generator error raises the odds of a verifier error 57-fold; the model explains 77 % of the variance.",
        where="Tables 1 to 3, equations 5 to 7",
        printed=joined([f"{row['number']} {row['printed']:g}" for row in records(table) if row["number"] in _TOLD]),
        recomputed=joined(
            [f"{row['number']} {row['recomputed']:.3f}" for row in records(table) if row["number"] in _TOLD]
        )
        + f". {len(table) - len(off)} of {len(table)} numbers agree within their rounding.",
        definition=(
            "Odds ratio = exp(slope); z = slope / SE; McFadden = 1 − log-likelihood of M2 / that of M0; conditional R² "
            "from the printed marginal one and the sum of all variances of Table 2, with π² / 3 for a single answer; "
            "AIC = 2 df − 2 × log-likelihood."
        ),
        consequence=(
            "These tables agree with each other. A slope's variance counts whole in this R², whatever share of answers "
            "is wrong; the form that heeds it is another number."
        ),
        verdict=Verdict.FAILS if len(off) else Verdict.HOLDS,
        data=table,
    )


_TOLD = ("odds ratio of a generator error", "conditional R²", "McFadden R²")


def _checked_numbers() -> "pd.DataFrame":
    import pandas as pd

    numbers, loglik = printed_logistic_numbers(), _loglik()
    effects = {row["effect"]: row for row in records(printed_logistic_effects())}
    names = {"intercept": "the intercept", "gen_err": "a generator error"}
    half, ratio_half = 0.0005, {"intercept": 0.005, "gen_err": 0.05}
    rows = []
    for effect, words in names.items():
        row = effects[effect]
        z = row["beta"] / row["se"]
        rows.append(
            _Checked(f"z of {words}", row["z"], z, abs(z) * (half / row["se"] + half / abs(row["beta"])) + 0.005)
        )
        ratio = exp(row["beta"])
        rows.append(_Checked(f"odds ratio of {words}", row["odds_ratio"], ratio, ratio * half + ratio_half[effect]))
    rows.append(_Checked(_TOLD[2], numbers["r2_mcfadden"], mcfadden(loglik["M2"], loglik["M0"]) or 0.0, half))
    variances = printed_logistic_variances()
    random = float(variances["var_intercept"].sum() + variances["var_slope"].sum())
    rows.append(
        _Checked(
            _TOLD[1],
            numbers["r2_conditional"],
            conditional_r2(random, LOGIT_VARIANCE, numbers["r2_marginal"]),
            2 * half,
        )
    )
    rows += [
        _Checked(f"AIC of {row['model']}", row["aic"], akaike(row["loglik"], row["df"]), 3 * _HALF)
        for row in records(printed_logistic_models())
    ]
    table = pd.DataFrame(rows, columns=["number", "printed", "recomputed", "most_that_rounding_explains"])
    table.insert(3, "difference", table["recomputed"] - table["printed"])
    return table


CHECKS = (
    Check("verimap-6", (AuditedFigure.VERIMAP_LOGISTIC,), _likelihood_ratios),
    Check("verimap-11", (AuditedFigure.VERIMAP_LOGISTIC,), _answers_fitted),
    Check("verimap-17", (AuditedFigure.VERIMAP_LOGISTIC,), _numbers_that_agree),
)
"""In the order of their numbers."""
