"""``verimap``: generator–verifier coupling from a table. No store is opened."""

__all__ = ["group"]

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli import verimap_label, verimap_route
from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import Table, print_json, print_table, print_text, say
from backend.errors import AppError, BadLine
from backend.verimap.undefined_rates import Undefined

if TYPE_CHECKING:
    from backend.verimap.coupling import CellFit, CountModel, Coupling
    from backend.verimap.coupling_tables import NumberedRow
    from backend.verimap.goodness_of_fit import VarianceExplained
    from backend.verimap.likelihood_ratio import LikelihoodRatio
    from backend.verimap.mixed_linear import LinearEstimates
    from backend.verimap.mixed_logistic import LogisticEstimates

group = command_group("verimap", "VeriMap: statistics and routing, which need no store, and task labels by a VLM.")

verimap_label.register(group)
verimap_route.register(group)

_EFFECTS = ("intercept", "gen_err")


@group.command("lmm", epilog=examples("verimap lmm --cells cells.csv", "verimap lmm --cells cells.csv --json"))
def verimap_lmm(
    ctx: typer.Context,
    cells: Annotated[
        Path,
        typer.Option(
            metavar="CSV",
            help="dataset, task, model, generator_accuracy, fpr, fnr in percent; plain or .gz.",
            show_default=False,
        ),
    ],
    undefined: Annotated[
        Undefined, typer.Option(help="Rates over nothing: leave the cell out, or take the printed number.")
    ] = Undefined.DROP,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fit each verifier metric of a cell to the generator's error rate, by linear mixed models.

    Task, VLM and data set add random intercepts; REML, with Satterthwaite's degrees of freedom. A cell
    with no wrong answer has no FPR, one with no right answer no FNR. --store is not used.
    """
    from backend.verimap.coupling import CELL_MODEL, fit_cells
    from backend.verimap.coupling_tables import cell_table

    options = options_of(ctx, store, as_json)
    fits = fit_cells(cell_table(*_rows_of(cells)), undefined)
    if options.as_json:
        print_json({"fits": {name: _cell_fit(fit) for name, fit in fits.items()}})
        return
    print_text(CELL_MODEL.plain)
    print_table(_cell_fits_table(fits))
    for name, fit in fits.items():
        _say_limits(name, fit.fit.problem, fit.fit.singular)
    _say_left_out({factor for fit in fits.values() for factor in fit.left_out})


@group.command("glmm", epilog=examples("verimap glmm --counts counts.csv", "verimap glmm --counts counts.csv --json"))
def verimap_glmm(
    ctx: typer.Context,
    counts: Annotated[
        Path,
        typer.Option(
            metavar="CSV",
            help="task, model, dataset, gen_err (0 or 1), ver_err (errors) of n answers; plain or .gz.",
            show_default=False,
        ),
    ],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fit the log-odds of a verifier error to the generator's errors, by three nested logistic mixed models.

    M0 has random intercepts of task, VLM and data set alone, M1 adds the effect of a generator error, M2 lets
    that effect differ by each of them. Laplace's approximation; log-likelihoods are of single answers. A
    model that did not converge has no numbers. --store is not used.
    """
    from backend.verimap.coupling import COUNT_MODELS, fit_counts
    from backend.verimap.coupling_tables import count_table

    options = options_of(ctx, store, as_json)
    coupling = fit_counts(count_table(*_rows_of(counts)))
    if options.as_json:
        print_json(_coupling(coupling))
        return
    for name, words in COUNT_MODELS.items():
        print_text(f"{name}  {words.plain}")
    print_table(_models_table(coupling))
    for (null, alternative), test in coupling.tests.items():
        print_text(f"{null} against {alternative}: {_test_words(test)}")
    for name, model in coupling.models.items():
        _say_limits(name, model.fit.problem, model.fit.singular)
    _say_left_out(set(coupling.left_out))
    if coupling.n_dropped:
        say(f"Rows without an answer, left out: {coupling.n_dropped:,}.")


def _rows_of(path: Path) -> "tuple[list[NumberedRow], list[BadLine]]":
    """Return the rows of a CSV file, and the lines that could not be read."""
    from backend.domain.progress import silent
    from backend.services.ingest.files import SourceFile, read_rows
    from backend.verimap.coupling_tables import NumberedRow

    rows, bad = [], []
    for row in read_rows(SourceFile.at(path), silent):
        if isinstance(row, BadLine):
            bad.append(row)
        elif isinstance(row.content, bytes):
            raise AppError(f"{path.name} holds JSON lines.", "Give a CSV file with a header.")
        else:
            rows.append(NumberedRow(row.number, row.content))
    return rows, bad


def _cell_fit(of_metric: "CellFit") -> dict[str, Any]:
    fit, found = of_metric.fit, of_metric.fit.estimates
    numbers: dict[str, Any] = dict.fromkeys(
        f"{name}{place}" for place in "01" for name in ("beta", "se", "df", "p", "ci")
    )
    numbers |= dict.fromkeys(
        ("var_task", "var_model", "var_dataset", "var_resid", "r2_marginal", "r2_conditional", "reml_loglik")
    )
    if found is not None:
        numbers |= _linear_numbers(found)
    return {
        "n": fit.n,
        "n_dropped": of_metric.n_dropped,
        **numbers,
        "converged": fit.converged,
        "singular": fit.singular,
        "left_out": list(of_metric.left_out),
        "problem": fit.problem or None,
    }


def _linear_numbers(found: "LinearEstimates") -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for place, effect in enumerate((found.intercept, found.slope)):
        numbers |= {f"beta{place}": effect.value, f"se{place}": effect.se, f"df{place}": effect.df}
        numbers |= {f"p{place}": effect.p, f"ci{place}": [effect.low, effect.high]}
    numbers |= {f"var_{factor}": variance for factor, variance in found.variances.items()}
    return numbers | {
        "var_resid": found.residual_variance,
        "r2_marginal": found.r2.marginal,
        "r2_conditional": found.r2.conditional,
        "reml_loglik": found.reml_loglik,
    }


def _coupling(coupling: "Coupling") -> dict[str, Any]:
    r2 = coupling.r2
    return {
        "models": {name: _count_model(name, model) for name, model in coupling.models.items()},
        "lrt": [_test(null, alternative, test) for (null, alternative), test in coupling.tests.items()],
        "r2": {
            "mcfadden": r2.mcfadden,
            **_shares("nakagawa", r2.nakagawa),
            **_shares("slope_aware", r2.slope_aware),
        },
        "n_dropped": coupling.n_dropped,
        "left_out": list(coupling.left_out),
    }


def _count_model(name: str, model: "CountModel") -> dict[str, Any]:
    fit, found = model.fit, model.fit.estimates
    return {
        "n": fit.n,
        "n_rows": fit.n_rows,
        "df": fit.df,
        "loglik": found.loglik if found else None,
        "aic": model.aic,
        "bic": model.bic,
        **_fixed_effects(_EFFECTS[:1] if name == "M0" else _EFFECTS, found),
        "random_effects": _random_effects(found) if found else None,
        "levels": _levels(found) if found else None,
        "converged": fit.converged,
        "singular": fit.singular,
        "max_gradient": fit.gradient,
        "problem": fit.problem or None,
    }


def _fixed_effects(names: tuple[str, ...], found: "LogisticEstimates | None") -> dict[str, Any]:
    columns = {
        "beta": "value", "se": "se", "z": "z", "p": "p", "odds_ratio": "odds_ratio",
        "odds_ratio_low": "odds_ratio_low", "odds_ratio_high": "odds_ratio_high",
    }  # fmt: skip
    if found is None:
        return {column: dict.fromkeys(names) for column in columns}
    effects = dict(zip(names, found.fixed, strict=True))
    return {
        column: {name: getattr(effect, field) for name, effect in effects.items()} for column, field in columns.items()
    }


def _random_effects(found: "LogisticEstimates") -> dict[str, Any]:
    return {
        term.factor: {"var_int": term.intercept_variance, "var_slope": term.slope_variance, "rho": term.correlation}
        for term in found.terms
    }


def _levels(found: "LogisticEstimates") -> dict[str, Any]:
    fields = ("level", "intercept", "slope", "odds_ratio", "odds_ratio_low", "odds_ratio_high")
    return {
        term.factor: [{field: getattr(level, field) for field in fields} for level in term.levels]
        for term in found.terms
    }


def _test(null: str, alternative: str, test: "LikelihoodRatio | None") -> dict[str, Any]:
    if test is None:
        fields: dict[str, Any] = dict.fromkeys(("chi2", "df", "p", "p_mixture"))
        fields["note"] = "Not tested: a model did not converge, or they are the same."
    else:
        fields = {"chi2": test.statistic, "df": test.df, "p": test.p, "p_mixture": test.p_mixture, "note": test.note}
    return {"null": null, "alternative": alternative, **fields}


def _shares(name: str, shares: "VarianceExplained | None") -> dict[str, float | None]:
    return {
        f"{name}_marginal": shares.marginal if shares else None,
        f"{name}_conditional": shares.conditional if shares else None,
    }


def _cell_fits_table(fits: "Mapping[str, CellFit]") -> Table:
    table = Table(
        ["Metric", "Cells", "Left out", "Slope", "SE", "df", "p", "95 % interval", "R² marginal", "R² conditional"]
    )
    for name, of_metric in fits.items():
        found = of_metric.fit.estimates
        cells = [name, f"{of_metric.fit.n:,}", f"{of_metric.n_dropped:,}"]
        if found is None:
            table.rows.append([*cells, *["N/A"] * 7])
            continue
        slope = found.slope
        cells += [f"{slope.value:.3f}", f"{slope.se:.3f}", f"{slope.df:.1f}", _p(slope.p)]
        cells += [f"{slope.low:.3f} to {slope.high:.3f}", f"{found.r2.marginal:.3f}", f"{found.r2.conditional:.3f}"]
        table.rows.append(cells)
    return table


def _models_table(coupling: "Coupling") -> Table:
    table = Table(
        ["Model", "Answers", "df", "Log-likelihood", "AIC", "BIC", "Effect of gen_err", "SE", "p", "Odds ratio (95 %)"]
    )
    for name, model in coupling.models.items():
        found = model.fit.estimates
        cells = [name, f"{model.fit.n:,}", str(model.fit.df)]
        if found is None or model.aic is None or model.bic is None:
            table.rows.append([*cells, *["N/A"] * 7])
            continue
        cells += [f"{number:,.1f}" for number in (found.loglik, model.aic, model.bic)]
        if len(found.fixed) > 1:
            effect = found.fixed[1]
            ratio = f"{effect.odds_ratio:.1f} ({effect.odds_ratio_low:.1f}–{effect.odds_ratio_high:.1f})"
            cells += [f"{effect.value:.3f}", f"{effect.se:.3f}", _p(effect.p), ratio]
        else:
            cells += [""] * 4
        table.rows.append(cells)
    return table


def _test_words(test: "LikelihoodRatio | None") -> str:
    if test is None:
        return "N/A"
    mixture = "" if test.p_mixture is None else f" ({_p(test.p_mixture)} by the mixture)"
    return f"chi-squared {test.statistic:,.1f}, df {test.df}, p {_p(test.p)}{mixture}. {test.note}"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _say_limits(name: str, problem: str, singular: bool | None) -> None:
    if problem:
        say(f"{name} did not converge: {problem}")
    elif singular:
        say(f"{name} is singular: the data do not show that all of its random effects vary.")


def _say_left_out(factors: set[str]) -> None:
    for factor in sorted(factors):
        say(f"Only one {factor}: it has no random effect.")
