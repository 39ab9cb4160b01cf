"""The audit: printed claims against their own numbers, and nothing invented where the data is not here."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from backend.domain.records import System
from backend.services.audit import AuditedFigure, Finding, Verdict, findings, findings_about
from backend.services.blind import run_blind, run_text_lookup
from backend.services.endoca_series import records
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from backend.store.store import Store
from tests.pages.paired_store import make_store
from tests.services.surgcheck_files import bring

FAILS, OTHERWISE, HOLDS, OPEN = Verdict.FAILS, Verdict.OTHERWISE, Verdict.HOLDS, Verdict.OPEN

FROM_PRINTED_TABLES: dict[str, tuple[Verdict, tuple[str, ...]]] = {
    "endoca-3": (OTHERWISE, ("8,264 of 12,000", "68.9 %")),
    "endoca-4": (FAILS, ("−19.5 points", "other 10 VLMs", "2.0 points")),
    "endoca-7": (HOLDS, ("in all rows",)),
    "endoca-8": (HOLDS, ("All 8",)),
    "surgcheck-6": (FAILS, ("Anatomy and Triplet have no periphrasis",)),
    "surgcheck-9": (FAILS, ("PaliGemma2-10B-Mix", "20.6 %", "21.7 %")),
    "verimap-1": (OTHERWISE, ("“Bias” is FPR − FNR", "“dSkew” is (FP − FN) / N", "all 40", "recomputed 0.537")),
    "verimap-2": (
        OTHERWISE,
        ("+0.216 (p 0.003, 210 cells)", "+0.022 (p 0.741, 208 cells)", "by Gemma-3", "by MedGemma", "in 6 cells"),
    ),
    "verimap-3": (FAILS, ("4 of 4 rows",)),
    "verimap-4": (FAILS, ("in 10 cells", "Phi-4-Multimodal")),
    "verimap-5": (FAILS, ("differential diagnosis 2,", "causal explanation 4,", "SLAKE differential diagnosis 13;")),
    "verimap-6": (FAILS, ("13,576.4", "2,577.0")),
    "verimap-7": (FAILS, ("5 of 210", "210 of 210")),
    "verimap-8": (
        FAILS,
        ("modality recognition 44.7, quantitative measurement 49.5", "explanation 56.0, spatial localization 56.5"),
    ),
    "verimap-9": (FAILS, ("66.3 and 90.7 %",)),
    "verimap-10": (OTHERWISE, ("+0.782 (p < 0.001, 30 cells)", "+0.068 (p 0.756, 28 cells)", "No task keeps")),
    "verimap-11": (FAILS, ("M0 about 27,600", "M1 about 31,600")),
    "verimap-12": (FAILS, ("3 of 4", "that of FPR is not")),
    "verimap-13": (OTHERWISE, ("30 pairs",)),
    "verimap-14": (HOLDS, ("38 of 42 by FPR, 31 of 42 by Bias and 34 of 42 by dSkew", "2 by FPR, 3 by Bias and 2")),
    "verimap-15": (FAILS, ("lie 3 points", "by Lingshu")),
    "verimap-16": (HOLDS, ("7 of 7",)),
    "verimap-17": (HOLDS, ("57.397", "0.407", "0.773", "9 of 9")),
}  # fmt: skip
"""What an empty store can check: verdict, and what the recomputed words hold, worked out apart in R and by hand."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the printed tables and nothing else."""
    with open_store(tmp_path_factory.mktemp("audit") / "bare.duckdb") as store:
        yield store


@pytest.fixture(scope="module")
def told(bare: Store) -> dict[str, Finding]:
    """What a bare store's audit finds."""
    return {finding.key: finding for finding in findings(bare)}


def data_of(finding: Finding) -> pd.DataFrame:
    """Return the numbers behind a finding that has some."""
    assert finding.data is not None, finding.key
    return finding.data


@pytest.mark.parametrize("key", FROM_PRINTED_TABLES)
def test_claims_about_printed_tables_are_checked_without_any_import(key: str, told: dict[str, Finding]) -> None:
    verdict, words = FROM_PRINTED_TABLES[key]
    finding = told[key]
    assert finding.verdict is verdict, finding
    for word in words:
        assert word in finding.recomputed, finding.recomputed
    assert len(data_of(finding)) > 0 and not finding.missing


def test_what_is_not_here_is_said_to_be_missing_and_no_number_stands_in_its_place(told: dict[str, Finding]) -> None:
    rest = {key: finding for key, finding in told.items() if key not in FROM_PRINTED_TABLES}
    assert {finding.verdict for finding in rest.values()} == {OPEN}
    for finding in rest.values():
        assert not finding.recomputed and finding.data is None, finding
        assert finding.missing.startswith("It needs"), finding
        for found_elsewhere in ("65.0", "73.4", "10,774", "17,9", "1,058", "97.1", "79.8", "23,464"):
            assert found_elsewhere not in f"{finding.printed} {finding.missing}", finding


def test_findings_come_paper_by_paper_in_the_order_of_their_numbers_under_keys_of_their_own(
    told: dict[str, Finding],
) -> None:
    places = [(list(System).index(finding.paper), int(key.partition("-")[2])) for key, finding in told.items()]
    assert places == sorted(places) and len(set(places)) == len(places)
    assert all(key == f"{finding.paper}-{key.partition('-')[2]}" for key, finding in told.items())
    assert set(FROM_PRINTED_TABLES) < set(told)


def test_every_finding_speaks_in_whole_plain_words(told: dict[str, Finding]) -> None:
    for finding in told.values():
        for text in (finding.claim, finding.consequence, finding.definition):
            assert text.endswith(".") and (text.startswith("dSkew") or not text[0].islower()), finding
            assert "!" not in text and "nan" not in text.lower().split(), finding
        assert "nan" not in finding.recomputed and "None" not in finding.recomputed, finding
        assert finding.where and finding.title and finding.printed, finding


def test_each_figure_of_the_pages_has_its_findings_and_only_those(bare: Store) -> None:
    assert {finding.key for finding in findings_about(bare, AuditedFigure.VERIMAP_ROUTING)} == {"verimap-9"}
    assert {finding.key for finding in findings_about(bare, AuditedFigure.VERIMAP_SLOPES)} == {
        "verimap-2", "verimap-10", "verimap-16",
    }  # fmt: skip
    assert all(findings_about(bare, figure) for figure in AuditedFigure)


def test_slopes_before_and_after_are_those_of_lme4(told: dict[str, Finding], shared: Path) -> None:
    theirs = json.loads((shared / "reference_values" / "lmm_undefined_cells_sensitivity.json").read_text("utf-8"))
    ours = {(row["name"], row["n_left_out"] > 0): row for row in records(data_of(told["verimap-2"]))}
    for name, key in (("FPR", "fpr"), ("FNR", "fnr"), ("FPR − FNR", "diff")):
        for is_left_out, end in ((False, "all"), (True, "defined")):
            reference, row = theirs[f"{key}_{end}"], ours[name, is_left_out]
            assert row["n"] == reference["n"]
            assert (row["slope"], row["p"]) == pytest.approx((reference["beta1"], reference["p"]), abs=1e-6)


def test_the_rows_of_table_4_miss_each_definition_by_what_lme4_s_fits_miss_it(
    told: dict[str, Finding], shared: Path
) -> None:
    words = {"fnr": "FNR", "fpr": "FPR", "bias": "(FP − FN) / N", "dskew": "dSkew", "fpr_minus_fnr": "FPR − FNR"}
    columns = {
        "se1": "se",
        "p1": "p",
        "ci_lo": "ci_low",
        "ci_hi": "ci_high",
        "r2m": "r2_marginal",
        "r2c": "r2_conditional",
    }
    table = data_of(told["verimap-1"]).set_index(["printed_row", "fitted_to", "number"])["recomputed"]
    with (shared / "reference_values" / "lmm_published_vs_lme4.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 60
    for row in rows:
        number = columns.get(row["stat"], row["stat"])
        ours = table[row["paper_row"], words[row["fitted_metric"]], number]
        assert ours == pytest.approx(float(row["lme4"]), abs=2e-5), row


def test_least_numbers_of_questions_are_those_of_the_data_sets(told: dict[str, Finding]) -> None:
    least = {(row["dataset"], row["task"]): row["fewest_questions"] for row in records(data_of(told["verimap-5"]))}
    assert len(least) == 35 and {n for (dataset, _), n in least.items() if dataset == "PathVQA"} == {35}
    assert (least["VQA-RAD", "quantitative measurement"], least["PMC-VQA", "differential diagnosis"]) == (23, 8)


def test_a_suite_of_that_name_that_is_not_the_whole_benchmark_is_not_taken_for_it(tmp_path: Path) -> None:
    make_store(tmp_path / "small.duckdb")
    with open_store(tmp_path / "small.duckdb") as store:
        with store.write() as cursor:
            for table in ("suites", "units", "probes", "runs"):
                cursor.execute(f"UPDATE {table} SET suite = 'core'")
        told = {finding.key: finding for finding in findings(store)}
    assert all(told[key].verdict is OPEN for key in ("endoca-1", "endoca-2", "endoca-5", "endoca-9"))


@pytest.fixture(scope="module")
def of_whole_suites(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finding]:
    """What is found with EndoCA's suites as they are published, and the blind baseline."""
    with open_store(tmp_path_factory.mktemp("whole") / "store.duckdb") as store:
        for suite in ("core", "diagnostic"):
            import_endoca(store, [SourceFile.at(shared / f"data/kvasir/endoca/endoca_{suite}.jsonl.gz")])
        run_blind(store, "diagnostic", "core")
        return {finding.key: finding for finding in findings(store)}


@pytest.mark.parametrize(
    ("key", "verdict", "words"),
    [
        ("endoca-1", FAILS, "73.4 % atomic, 71.4 % complex and 65.0 % joint"),
        ("endoca-1", FAILS, "11 of 11 VLMs"),
        ("endoca-2", OTHERWISE, "10,774 of 12,000"),
        ("endoca-5", OTHERWISE, "17,969 of 18,000"),
        ("endoca-9", OTHERWISE, "17,928 of 25,036"),
    ],
)
def test_whole_suites_of_endoca_are_counted(
    of_whole_suites: dict[str, Finding], key: str, verdict: Verdict, words: str
) -> None:
    finding = of_whole_suites[key]
    assert finding.verdict is verdict and words in finding.recomputed, finding
    assert not finding.missing and len(data_of(finding))


@pytest.fixture(scope="module")
def of_release(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finding]:
    """What is found with SurgCheck's release, the answers of one VLM, and the text look-ups."""
    data = shared / "data"
    with open_store(tmp_path_factory.mktemp("release") / "store.duckdb") as store:
        bring(store, data / "endoscapes" / "surgcheck" / "SurgCheck_annotations.zip")
        bring(store, data / "surgcheck_predictions" / "full_test" / "llava", vlm="LLaVA")
        run_text_lookup(store, "full_train", "balanced_4cue_test")
        return {finding.key: finding for finding in findings(store)}


@pytest.mark.parametrize(
    ("key", "verdict", "words"),
    [
        ("surgcheck-1", OTHERWISE, "1,058 of 1,328"),
        ("surgcheck-2", FAILS, "action in 87.0 % and the target in 72.2 %"),
        ("surgcheck-3", FAILS, "(79.8 %)"),
        ("surgcheck-5", OTHERWISE, "79.4 % printed for Action are the macro F1"),
        ("surgcheck-7", FAILS, "23,464"),
        ("surgcheck-10", OTHERWISE, "99 of 3,860"),
        ("surgcheck-11", FAILS, "2 frames"),
        ("surgcheck-12", HOLDS, "97.1 %, and the hand the tool in 88.3 %"),
        ("surgcheck-13", HOLDS, "1 of 5 printed rows"),
        ("surgcheck-14", FAILS, "54 pairs"),
    ],
)
def test_the_release_of_surgcheck_is_counted(
    of_release: dict[str, Finding], key: str, verdict: Verdict, words: str
) -> None:
    assert of_release[key].verdict is verdict and words in of_release[key].recomputed, of_release[key]


def test_what_needs_other_files_than_the_release_stays_open(of_release: dict[str, Finding]) -> None:
    assert {of_release[key].verdict for key in ("surgcheck-4", "surgcheck-8")} == {OPEN}
    assert "other rows" in of_release["surgcheck-13"].missing
