"""The VeriMap paper's tables are shipped as printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.services.endoca_series import records
from backend.services.verimap_published import (
    printed_cells,
    printed_logistic_effects,
    printed_logistic_models,
    printed_logistic_numbers,
    printed_logistic_variances,
    printed_means,
    printed_slopes,
    printed_variances,
)


@pytest.fixture(scope="module")
def reference(shared: Path) -> dict[str, Any]:
    """The tables as another person typed them."""
    tables: dict[str, Any] = json.loads(
        (shared / "reference_values" / "verimap_published_tables_1_5.json").read_text("utf-8")
    )
    return tables


def test_all_cells_and_their_means_are_there() -> None:
    cells, means = printed_cells(), printed_means()
    assert len(cells) == 210 == cells.groupby(["dataset", "task", "model"]).ngroups
    own = cells.groupby(["dataset", "task"])["fpr"].mean()
    printed = means.set_index(["dataset", "task"])["fpr"]
    assert (own - printed).abs().max() < 0.07, "means of numbers with one decimal, rounded once more"


def test_tables_4_and_5_are_as_printed(reference: dict[str, Any]) -> None:
    for row in records(printed_slopes()):
        theirs = reference["table4"][row["metric"]]
        assert [row["beta0"], row["beta1"], row["se"]] == [theirs["beta0"], theirs["beta1"], theirs["se"]]
        assert [row["ci_low"], row["ci_high"]] == theirs["ci"]
        assert row["p"] == str(theirs["p"])
    for row in records(printed_variances()):
        theirs = reference["table5"][row["metric"]]
        ours = [row[name] for name in ("var_task", "var_model", "var_dataset", "var_resid")]
        assert ours == [theirs[name] for name in ("rt", "model", "ds", "sigma2")]
        assert [row["r2_marginal"], row["r2_conditional"]] == [theirs["r2m"], theirs["r2c"]]


def test_tables_1_to_3_and_the_numbers_of_the_text_are_as_printed(reference: dict[str, Any]) -> None:
    for row in records(printed_logistic_effects()):
        theirs = reference["table1"][row["effect"]]
        assert [row[name] for name in ("beta", "se", "z", "odds_ratio")] == [
            theirs[n] for n in ("beta", "se", "z", "OR")
        ]
    for row in records(printed_logistic_variances()):
        theirs = reference["table2"][row["factor"]]
        assert [row["var_intercept"], row["var_slope"], row["rho"]] == list(theirs.values())
    for row in records(printed_logistic_models()):
        assert {name: row[name] for name in ("df", "loglik", "aic", "bic")} == reference["table3"][row["model"]]
    assert list(printed_logistic_numbers().values()) == list(reference["glmm_fit"].values())
