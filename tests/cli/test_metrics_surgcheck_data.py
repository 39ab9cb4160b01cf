"""The authors' own files, imported and scored by the command line, give the paper's figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import done

VLMS = {"llava": "LLaVA-OV-1.5", "qwen": "Qwen2.5-VL", "pali": "PaliGemma2"}
"""Folder of a VLM's predictions → its name in the golden numbers."""


@pytest.fixture(scope="module")
def filled(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release, three VLMs over the full test set, Qwen's judged zero-shot answers, and the text look-up."""
    store = tmp_path_factory.mktemp("surgcheck") / "store.duckdb"
    done("import", "surgcheck", shared / "data/endoscapes/surgcheck/SurgCheck_annotations.zip", "--store", store)
    predictions = shared / "data/surgcheck_predictions"
    for folder, vlm in VLMS.items():
        done("import", "surgcheck", predictions / "full_test" / folder, "--model", vlm, "--store", store)
    judged = ("--model", VLMS["qwen"], "--setting", "zero-shot")
    done("import", "surgcheck", predictions / "zero_shot_judged/qwen", *judged, "--store", store)
    done("blind", "surgcheck", "--learn", "full_train", "--answer", "balanced_4cue_test", "--store", store)
    return store


def rows_of(store: Path, *arguments: str) -> list[dict[str, Any]]:
    return list(done("metrics", "surgcheck", *arguments, "--store", store, "--json").json["rows"])


def test_the_fine_tuned_vlms_have_their_golden_numbers(filled: Path, shared: Path) -> None:
    golden = json.loads((shared / "data/endoscapes/derived/metric_goldens.json").read_text("utf-8"))["full_test_3860"]
    keys = {"acc": "accuracy", "macro_gt": "macro_f1", "macro_union": "macro_f1_union", "weighted": "weighted_f1"}
    rows = [row for row in rows_of(filled, "--suite", "full_test") if row["setting"] == "fine-tuned"]
    shown = {f"{row['model']} {row['variant']}": {name: 100 * row[key] for name, key in keys.items()} for row in rows}
    assert set(shown) == set(golden)
    for name, numbers in golden.items():
        assert shown[name] == pytest.approx(numbers, abs=0.01), name
    assert {(row["n"], row["n_missing"], row["n_unasked"]) for row in rows} == {(3860, 0, 0)}
    gaps = {row["model"]: round(100 * row["gap"], 2) for row in rows if row["gap"] is not None}
    assert gaps == {"LLaVA-OV-1.5": 8.01, "Qwen2.5-VL": 4.66, "PaliGemma2": 3.70}


def test_judged_answers_have_mean_and_accuracy_by_cue_and_task(filled: Path) -> None:
    """All four cues together 11.06 and 8.67 % at score 4 and above (facts, section 6)."""
    chosen = ("--suite", "balanced_4cue_test", "--model", "Qwen2.5-VL")
    whole = {row["variant"]: row for row in rows_of(filled, *chosen)}
    assert 100 * whole["original"]["judge_accuracy"] == pytest.approx(11.06, abs=0.005)
    assert 100 * whole["less_biased"]["judge_accuracy"] == pytest.approx(8.67, abs=0.005)
    for by, groups in (("cue", 4), ("task", 4)):
        rows = rows_of(filled, *chosen, "--by", by)
        assert len(rows) == 2 * groups
        for row in rows:
            assert 1 <= row["judge_mean_low"] < row["judge_mean"] < row["judge_mean_high"] <= 5
            assert row["n_judged"] == row["n"] and row["n_unscored"] == 0


def test_the_text_look_ups_reach_what_is_known(filled: Path) -> None:
    rows = rows_of(filled, "--model", "Text look-up", "--by", "task,cue")
    right = {(row["task"], row["cue"], row["variant"]): round(row["accuracy"], 3) for row in rows}
    for cue in ("box", "arrow", "position", "periphrasis"):
        assert (right["Action", cue, "original"], right["Instrument", cue, "original"]) == (0.971, 0.883)
    assert right["Action", "periphrasis", "less_biased"] == 0.870
    assert right["Target", "periphrasis", "less_biased"] == 0.722
    assert right["Action", "box", "less_biased"] == 0.543
