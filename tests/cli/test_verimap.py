"""``verimap``: coupling from a table, as the contract says."""

import gzip
from pathlib import Path

import pytest

from tests.cli.calling import call, done
from tests.conftest import ROOT
from tests.verimap.simulated_counts import Truth, drawn_counts

CELLS = ROOT / "data" / "published" / "verimap_cells.csv"
LMM_KEYS = {
    "n", "beta0", "beta1", "se0", "se1", "df1", "p1", "ci1", "var_task", "var_model", "var_dataset", "var_resid",
    "r2_marginal", "r2_conditional", "converged", "singular",
}  # fmt: skip
GLMM_KEYS = {
    "n", "df", "loglik", "aic", "bic", "beta", "se", "z", "p", "odds_ratio", "random_effects", "converged", "singular",
}  # fmt: skip


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """Counts that all three models converge on."""
    truth = Truth(-1, 2, [(0.5, 0.7), (1, 1), (0.3, 0.3)], -0.5)
    drawn_counts(truth, (3, 3, 2), 12, seed=5).to_csv(tmp_path / "counts.csv", index=False)
    return tmp_path / "counts.csv"


def test_lmm_prints_a_fit_a_metric_with_undefined_cells_dropped() -> None:
    fits = done("verimap", "lmm", "--cells", CELLS, "--json").json["fits"]
    assert {name: fit["n"] for name, fit in fits.items()} == {
        "fnr": 204, "fpr": 208, "bias": 210, "dskew": 207, "fpr_minus_fnr": 202,
    }  # fmt: skip
    for fit in fits.values():
        assert set(fit) >= LMM_KEYS
        assert fit["converged"] is True
        assert fit["ci1"][0] < fit["beta1"] < fit["ci1"][1]


def test_lmm_as_printed_takes_every_cell() -> None:
    fits = done("verimap", "lmm", "--cells", CELLS, "--undefined", "as-printed", "--json").json["fits"]
    assert {fit["n"] for fit in fits.values()} == {210}
    assert round(fits["fpr"]["beta1"], 3) == 0.216
    assert fits["fnr"]["singular"] is True


def test_glmm_prints_three_models_their_tests_and_r2(counts: Path) -> None:
    found = done("verimap", "glmm", "--counts", counts, "--json").json
    assert set(found["models"]) == {"M0", "M1", "M2"}
    for model in found["models"].values():
        assert set(model) >= GLMM_KEYS
    m2 = found["models"]["M2"]
    assert set(m2["beta"]) == {"intercept", "gen_err"}
    assert m2["odds_ratio_low"]["gen_err"] < m2["odds_ratio"]["gen_err"] < m2["odds_ratio_high"]["gen_err"]
    assert set(m2["random_effects"]) == {"task", "model", "dataset"}
    assert [(test["null"], test["alternative"], test["df"]) for test in found["lrt"]] == [
        ("M0", "M1", 1),
        ("M1", "M2", 6),
    ]
    assert set(found["r2"]) >= {"mcfadden", "nakagawa_marginal", "nakagawa_conditional"}


def test_a_zipped_table_gives_the_same(counts: Path, tmp_path: Path) -> None:
    zipped = tmp_path / "counts.csv.gz"
    zipped.write_bytes(gzip.compress(counts.read_bytes()))
    results = [done("verimap", "glmm", "--counts", path, "--json").json["models"]["M1"] for path in (counts, zipped)]
    assert results[0] == results[1]


def test_what_does_not_converge_is_no_error_and_has_no_numbers(tmp_path: Path) -> None:
    lines = [f"{t},{m},d,{g},{6 * g},10" for t in "ab" for m in "cd" for g in (0, 1)]
    (tmp_path / "counts.csv").write_text("\n".join(["task,model,dataset,gen_err,ver_err,n", *lines]))
    found = done("verimap", "glmm", "--counts", tmp_path / "counts.csv", "--json").json
    m1 = found["models"]["M1"]
    assert (m1["converged"], m1["loglik"], m1["beta"]) == (False, None, {"intercept": None, "gen_err": None})
    assert "separated" in m1["problem"]
    assert [test["chi2"] for test in found["lrt"]] == [None, None]
    told = done("verimap", "glmm", "--counts", tmp_path / "counts.csv")
    assert "M1 did not converge" in told.err
    assert "N/A" in told.out


def test_tables_for_people_say_the_model_in_words(counts: Path) -> None:
    lmm, glmm = done("verimap", "lmm", "--cells", CELLS), done("verimap", "glmm", "--counts", counts)
    assert "slope × generator error rate" in lmm.out
    assert "fnr is singular" in lmm.err
    assert "M1 against M2: chi-squared" in glmm.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("task,model,dataset,gen_err,ver_err\n", "no row"),
        ("task,model,dataset,gen_err,ver_err\nt,m,d,0,1\n", "no column n"),
        ("task,model,dataset,gen_err,ver_err,n\nt,m,d,3,1,2\n", "line 2: gen_err is 3"),
    ],
)
def test_a_wrong_table_is_an_error_with_its_next_step(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "counts.csv").write_text(text)
    result = call("verimap", "glmm", "--counts", tmp_path / "counts.csv")
    assert (result.code, result.out) == (2, "")
    assert words in result.err


def test_an_absent_file_and_json_lines_are_refused(tmp_path: Path) -> None:
    assert call("verimap", "lmm", "--cells", tmp_path / "none.csv").code == 2
    (tmp_path / "cells.jsonl").write_text('{"task": "t"}\n')
    assert "JSON lines" in call("verimap", "lmm", "--cells", tmp_path / "cells.jsonl").err


def test_no_store_is_opened(tmp_path: Path) -> None:
    broken = tmp_path / "broken.duckdb"
    broken.write_text("no store")
    assert call("verimap", "lmm", "--cells", CELLS, "--store", broken, "--json").code == 0
