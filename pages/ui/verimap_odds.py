"""Answer by answer: the logistic mixed models, and odds ratios by task, VLM and data set (Fig. 3, Tables 1 to 3)."""

__all__ = ["show_odds"]

from collections.abc import Mapping
from html import escape
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.figures.style import Theme
from backend.figures.verimap_coupling import odds_forest
from backend.services.audit import AuditedFigure
from backend.services.endoca_series import records
from backend.services.verimap_coupling import CellSource, CouplingCells, count_fits
from backend.services.verimap_published import (
    VERIMAP_PAPER,
    printed_logistic_effects,
    printed_logistic_models,
    printed_logistic_numbers,
    printed_logistic_variances,
)
from backend.verimap.coupling import COUNT_MODELS, CountModel, Coupling
from backend.verimap.grouping import FACTORS
from backend.verimap.likelihood_ratio import LikelihoodRatio
from backend.verimap.vocabulary import Task
from pages.ui.audit_note import show_audit_note
from pages.ui.clicks import clickable_chart
from pages.ui.endoca_words import quiet_line
from pages.ui.number_cell import p_words
from pages.ui.resources import drawn_once
from pages.ui.verimap_coupling_words import odds_sentence


def show_odds(
    cells: CouplingCells, source: CellSource, made_of: tuple[object, ...], theme: Theme
) -> tuple[str | None, str] | None:
    """Draw the models of the store's counts; of the paper's, which are not published, the printed tables.

    Returns:
        Factor and level of the odds ratio just clicked (None and "": of all), else None.

    Args:
        cells: Of `coupling_cells`.
        source: Whose cells.
        made_of: What the cells depend on.
        theme: Light or dark.
    """
    st.markdown("**Answer by answer: logistic mixed models**")
    if source is CellSource.PRINTED:
        _show_printed()
        return None
    with st.spinner("Fitting three mixed models; this takes a few seconds", show_time=True):
        coupling: Coupling | None = drawn_once("coupling_counts", made_of, lambda: count_fits(cells))
    if coupling is None:
        st.text("There are no counts to fit.")
        return None
    point: list[Any] | None = None
    st.text(odds_sentence(coupling))
    groups = _groups(coupling)
    if groups:
        point = clickable_chart(
            drawn_once("coupling_odds", (made_of, theme.name), lambda: odds_forest(groups, theme)),
            key="odds_chart",
            alt="Odds ratios of a verifier error when the generator is wrong, by task, VLM and data set",
        )
        st.caption(
            "Above 1 the verifier errs more often where the generator is wrong. M2; the intervals of single groups "
            "take the estimated variances as known. A point opens its verdicts."
        )
    else:
        st.text("M2 did not converge, so there are no odds ratios by group.")
    told = "".join(
        f"<li>{name}: {escape(words.plain)} <code style='font-size:.8em'>{escape(words.formula)}</code></li>"
        for name, words in COUNT_MODELS.items()
    )
    st.html(f'<ul style="list-style:none;padding:0;margin:0;font-size:.95em">{told}</ul>')
    _show_models(coupling)
    st.html(quiet_line(" ".join(_test_words(*pair, test) for pair, test in coupling.tests.items())))
    st.html(quiet_line(_r2_words(coupling)))
    if coupling.left_out:
        st.caption(f"Only one {' and one '.join(map(_factor, coupling.left_out))}, so without its random effect.")
    return None if point is None else (point[0], point[1])


def _groups(coupling: Coupling) -> list[Mapping[str, Any]]:
    """Return the population's odds ratio and those of the groups; none where M2 did not converge."""
    found = coupling.models["M2"].fit.estimates
    if found is None:
        return []
    effect = found.fixed[1]
    every = {"factor": None, "level": "", "odds_ratio": effect.odds_ratio}
    rows: list[Mapping[str, Any]] = [{**every, "low": effect.odds_ratio_low, "high": effect.odds_ratio_high}]
    order = {task.value: place for place, task in enumerate(Task)}
    for factor in FACTORS:
        for term in (term for term in found.terms if term.factor == factor):
            for level in sorted(term.levels, key=lambda one: order.get(one.level, len(order))):
                if level.odds_ratio is not None and level.odds_ratio_low is not None:
                    bounds = {"low": level.odds_ratio_low, "high": level.odds_ratio_high}
                    rows.append({"factor": factor, "level": level.level, "odds_ratio": level.odds_ratio, **bounds})
    return rows


def _show_models(coupling: Coupling) -> None:
    import pandas as pd

    text = st.column_config.TextColumn
    st.dataframe(
        pd.DataFrame([{"model": name, **_model_row(model)} for name, model in coupling.models.items()]),
        hide_index=True,
        placeholder=NOT_AVAILABLE,
        column_order=_MODEL_COLUMNS,
        column_config={
            "model": text("Model", width=60, pinned=True),
            "n": st.column_config.NumberColumn("Verdicts", width=80, format="localized"),
            "df": st.column_config.NumberColumn("df", width=45),
            "loglik": text("Log-likelihood", width=110),
            "aic": text("AIC", width=90),
            "bic": text("BIC", width=90),
            "effect": text("Effect of a generator error", width=180, help="In log-odds, with its standard error"),
            "z": text("z", width=60),
            "p": text("p", width=65),
            "odds": text("Odds ratio", width=160),
            "variances": text("Variances of intercept, slope (correlation)", width=330),
            "note": text("Fit", width=280),
        },
    )


_MODEL_COLUMNS = ("model", "n", "df", "loglik", "aic", "bic", "effect", "z", "p", "odds", "variances", "note")


def _model_row(model: CountModel) -> dict[str, Any]:
    fit, found = model.fit, model.fit.estimates
    row: dict[str, Any] = {"n": fit.n, "df": fit.df}
    if found is None or model.aic is None or model.bic is None:
        return row | {"note": fit.problem}
    row |= {"loglik": _number(found.loglik, 1), "aic": _number(model.aic, 1), "bic": _number(model.bic, 1)}
    if len(found.fixed) > 1:
        effect = found.fixed[1]
        row |= {
            "effect": f"{effect.value:.3f} ({effect.se:.3f})".replace("-", "−"),
            "z": f"{effect.z:.2f}".replace("-", "−"),
            "p": p_words(effect.p),
            "odds": f"{effect.odds_ratio:,.1f} ({effect.odds_ratio_low:,.1f}–{effect.odds_ratio_high:,.1f})",
        }
    told = []
    for term in found.terms:
        slope = "" if term.slope_variance is None else f", {term.slope_variance:.3f}"
        rho = "" if term.correlation is None else f" ({term.correlation:.2f})"
        told.append(f"{_factor(term.factor)} {term.intercept_variance:.3f}{slope}{rho}")
    singular = "singular: not all of its random effects are seen to vary" if fit.singular else ""
    return row | {"variances": "; ".join(told).replace("-", "−"), "note": singular}


def _test_words(null: str, alternative: str, test: LikelihoodRatio | None) -> str:
    if test is None:
        return f"{null} against {alternative}: N/A, a model did not converge or they are the same."
    mixture = "" if test.p_mixture is None else f", by the mixture {p_words(test.p_mixture)}"
    return (
        f"{null} against {alternative}: likelihood ratio {test.statistic:,.1f}, df {test.df}, p {p_words(test.p)}"
        f"{mixture}. {test.note}"
    )


def _r2_words(coupling: Coupling) -> str:
    r2 = coupling.r2
    told = [f"McFadden's R² {NOT_AVAILABLE if r2.mcfadden is None else f'{r2.mcfadden:.3f}'} (M2 against M0)"]
    for shares, words in (
        (r2.nakagawa, "as the paper computes it (equations 5 and 6)"),
        (r2.slope_aware, "with the variance that slopes add to an answer (Johnson 2014)"),
    ):
        if shares is not None:
            told.append(f"R² {words}: marginal {shares.marginal:.3f}, conditional {shares.conditional:.3f}")
    return f"{'; '.join(told)}."


def _show_printed() -> None:
    import pandas as pd

    st.text("The paper does not publish the counts these models are fitted to, so they stand here as printed.")
    [effect] = [row for row in records(printed_logistic_effects()) if row["effect"] == "gen_err"]
    st.text(
        f"Where the generator is wrong, the odds that the verifier errs are {effect['odds_ratio']:g} times as high "
        f"(log-odds {effect['beta']:.3f}, SE {effect['se']:.3f}, p {str(effect['p']).replace('<', '< ')}; M2)."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.dataframe(
            pd.DataFrame(
                [
                    row | {name: _number(row[name], 1) for name in ("loglik", "aic", "bic")}
                    for row in records(printed_logistic_models())
                ]
            ),
            hide_index=True,
            column_config={"model": "Model", "loglik": "Log-likelihood", "aic": "AIC", "bic": "BIC"},
        )
    with right:
        variances = [
            row | {"factor": _factor(row["factor"]), "rho": _number(row["rho"], 3)}
            for row in records(printed_logistic_variances())
        ]
        st.dataframe(
            pd.DataFrame(variances),
            hide_index=True,
            column_config={
                "factor": "M2 by",
                "var_intercept": st.column_config.NumberColumn("Var. intercept", format="%.3f"),
                "var_slope": st.column_config.NumberColumn("Var. slope", format="%.3f"),
                "rho": "Correlation",
            },
        )
    numbers = printed_logistic_numbers()
    st.caption(
        f"▢ published: {VERIMAP_PAPER}, Tables 1 to 3. Likelihood ratios {numbers['chi2_m0_m1']:,.1f} (M0 against M1) "
        f"and {numbers['chi2_m1_m2']:,.1f} (M1 against M2); R² marginal {numbers['r2_marginal']:.3f}, conditional "
        f"{numbers['r2_conditional']:.3f}, McFadden {numbers['r2_mcfadden']:.3f}."
    )
    show_audit_note(AuditedFigure.VERIMAP_LOGISTIC)


def _number(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}".replace("-", "−")


def _factor(name: str) -> str:
    return {"task": "task", "model": "VLM", "dataset": "data set"}.get(name, name)
