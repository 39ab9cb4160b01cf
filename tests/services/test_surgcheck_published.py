"""The SurgCheck paper's printed figures are shown to the printed digit, with their source."""

from pathlib import Path

import pytest

from backend.domain.metric import NOT_AVAILABLE
from backend.services.endoca_series import records
from backend.services.surgcheck_published import TABLES, printed_ablation, printed_table
from backend.surgcheck.tasks import Task

TABLE_1 = """
Qwen2.5-VL-7B 28.06 24.62 3.44
LLaVA-OneVision-1.5-8B 23.08 22.72 0.36
PaliGemma2-10B-Mix 20.59 21.74 -1.15
EndoChat 18.24 16.40 1.84
"""
TABLE_2 = """
Qwen2.5-VL-7B 71.40 66.74 4.66
LLaVA-OneVision-1.5-8B 71.19 63.19 8.00
PaliGemma2-10B-Mix 77.64 N/A N/A
PitVQA-Net 74.05 66.81 7.24
EndoChat 62.41 55.19 7.22
"""
FIG_5 = """
Action 79.40 29.70 72.60
Target 52.60 36.90 47.80
anatomy_hop N/A 20.30 11.10
Triplet N/A 16.50 6.40
"""


def words(fraction: float | None) -> str:
    return NOT_AVAILABLE if fraction is None else f"{100 * fraction:.2f}"


@pytest.mark.parametrize(
    ("metric", "expected", "setting"),
    [("judge_accuracy", TABLE_1, "zero-shot"), ("accuracy", TABLE_2, "fine-tuned")],
)
def test_a_printed_table_reads_as_printed(metric: str, expected: str, setting: str) -> None:
    rows = records(printed_table(metric))
    shown = [" ".join([row["vlm"], *(words(row[key]) for key in ("original", "less_biased", "gap"))]) for row in rows]
    assert shown == expected.strip().splitlines()
    assert {(row["setting"], row["source"]) for row in rows} == {(setting, TABLES[metric].source)}


def test_the_printed_ablation_reads_as_printed_and_names_the_release_s_tasks() -> None:
    rows = records(printed_ablation())
    shown = [
        " ".join([row["task"], *(words(row[key]) for key in ("original", "less_biased", "text_only"))]) for row in rows
    ]
    assert shown == FIG_5.strip().splitlines()
    assert {row["task"] for row in rows} <= set(Task)
    assert {(row["vlm"], row["setting"]) for row in rows} == {("LLaVA-OneVision-1.5-8B", "fine-tuned")}


def test_a_printed_drop_is_the_difference_of_what_is_printed_beside_it() -> None:
    for metric in TABLES:
        for row in records(printed_table(metric)):
            if row["less_biased"] is not None:
                assert row["gap"] == pytest.approx(row["original"] - row["less_biased"], abs=1e-9)


def test_surgical_vlms_stand_in_another_group_than_general_ones() -> None:
    groups = {row["vlm"]: row["vlm_group"] for row in records(printed_table("accuracy"))}
    assert groups["EndoChat"] == groups["PitVQA-Net"] == "endoscopy_adapted"
    assert groups["Qwen2.5-VL-7B"] == "general_open"


def test_the_shipped_files_are_those_of_the_research_data(root: Path, shared: Path) -> None:
    for path in sorted((shared / "published").glob("surgcheck_*.csv")):
        assert (root / "data/published" / path.name).read_bytes() == path.read_bytes()
