"""The printed tables of ASR are shown to the printed digit, and keep the identities they must."""

from pathlib import Path

import pytest

from backend.domain.metric import percent, points
from backend.services.endoca_series import records, series_table
from backend.services.opening import open_store
from backend.services.published import ABLATION_COLUMNS, ASR_COLUMNS, AVERAGE, printed_ablation, printed_asr
from backend.store.filters import UnitFilter

TABLE_V = """
Qwen3-VL-8B 55.1 54.7 +5.3 −10.3 73.0 68.3
MedGemma-FT 74.5 76.0 +8.1 −9.2 95.7 76.8
Qwen2.5-VL-FT 72.1 69.6 +3.1 −6.6 76.1 74.9
Lingshu-7B 51.6 48.4 +5.2 −15.5 58.9 63.9
average 63.3 62.2 +5.4 −10.4 75.9 71.0
"""
TABLE_VI = """
direct 63.3 45.5 27.4 100.0 63.3
without_atomic 60.6 43.0 28.2 84.5 66.8
asr 62.2 50.9 17.1 75.9 71.0
"""


def lines(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def test_table_v_reads_as_printed() -> None:
    changes = ("joint_change", "inconsistency_change")
    shown = [
        [
            row["vlm"],
            *(
                points(row[key]).removesuffix(" points") if key in changes else percent(row[key]).removesuffix(" %")
                for key in ASR_COLUMNS.values()
            ),
        ]
        for row in records(printed_asr())
    ]
    assert shown == lines(TABLE_V)


def test_table_vi_reads_as_printed() -> None:
    shown = [
        [row["method"], *(percent(row[key]).removesuffix(" %") for key in ABLATION_COLUMNS.values())]
        for row in records(printed_ablation())
    ]
    assert shown == lines(TABLE_VI)


def test_the_shipped_files_are_those_of_the_research_data(root: Path, shared: Path) -> None:
    for name in ("endoca_asr.csv", "endoca_ablation.csv"):
        assert (root / "data/published" / name).read_text("utf-8") == (shared / "published" / name).read_text("utf-8")


def test_the_printed_average_is_that_of_the_four_vlms_to_rounding() -> None:
    rows = {row["vlm"]: row for row in records(printed_asr())}
    average = rows.pop(AVERAGE)
    for key in ASR_COLUMNS.values():
        assert average[key] == pytest.approx(sum(row[key] for row in rows.values()) / 4, abs=0.00051), key


def test_direct_answers_and_joint_accuracy_agree_with_the_table_of_paired_answers(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.duckdb") as store:
        paired = {row["vlm"]: row for row in records(series_table(store, UnitFilter(suite="core")))}
    for row in records(printed_asr())[:-1]:
        before = paired[row["vlm"]]
        assert row["direct_accuracy"] == before["complex_accuracy"]
        joint = before["joint_accuracy"] + row["joint_change"]
        consistency = 1 - before["inconsistency"] - row["inconsistency_change"]
        assert joint == pytest.approx(row["revised_accuracy"] * consistency, abs=0.0015), row["vlm"]


def test_the_two_printed_tables_agree_where_they_say_the_same() -> None:
    average = records(printed_asr())[-1]
    direct, _, asr = records(printed_ablation())
    assert direct["complex_accuracy"] == average["direct_accuracy"]
    assert asr["complex_accuracy"] == average["revised_accuracy"]
    assert (asr["coverage"], asr["selective_accuracy"]) == (average["coverage"], average["selective_accuracy"])
    assert asr["joint_accuracy"] - direct["joint_accuracy"] == pytest.approx(average["joint_change"])
    # Table VI gives −10.3 where Table V prints −10.4: each rounded for itself
    moved = asr["inconsistency"] - direct["inconsistency"]
    assert moved == pytest.approx(average["inconsistency_change"], abs=0.0011)
