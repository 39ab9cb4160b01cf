"""Promises of the printed plane: 42 points, means of what the paper prints, undefined rates left out and counted."""

import csv
from statistics import mean
from typing import Any

import pytest

from backend.services.verimap_cells import placed
from backend.services.verimap_plane import cells_behind, printed_points, printed_vlms
from backend.settings import DATA
from backend.verimap.quadrants import PlaneThresholds


def printed() -> list[dict[str, str]]:
    with (DATA / "published" / "verimap_cells.csv").open(encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def points() -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in printed_points().to_dict("records")]


def test_there_is_a_point_a_task_and_vlm() -> None:
    rows = points()
    assert len(rows) == 42
    assert len({(row["task"], row["verifier"]) for row in rows}) == 42
    assert {row["n_cells"] for row in rows} == {5}
    assert len(printed_vlms()) == 6


def test_a_point_s_error_and_fpr_are_plain_means_over_the_data_sets() -> None:
    for row in points():
        own = [one for one in printed() if (one["task"], one["model"]) == (row["task"], row["verifier"])]
        assert row["error"] == pytest.approx(mean(1 - float(one["verifier_accuracy"]) / 100 for one in own))
        defined = [float(one["fpr"]) / 100 for one in own if float(one["generator_accuracy"]) < 100]
        assert row["fpr"] == pytest.approx(mean(defined))
        assert row["fpr_left_out"] == 5 - len(defined)


def test_the_two_cells_without_a_wrong_answer_are_left_out_of_the_means() -> None:
    left_out = {(row["task"], row["verifier"]): row["fpr_left_out"] for row in points() if row["fpr_left_out"]}
    assert left_out == {("causal_explanation", "Gemma-3"): 1, ("causal_explanation", "MedGemma"): 1}


def test_bias_and_dskew_follow_from_the_printed_rates() -> None:
    for row in points():
        biases, dskews = [], []
        for one in printed():
            if (one["task"], one["model"]) != (row["task"], row["verifier"]):
                continue
            wrong = 1 - float(one["generator_accuracy"]) / 100
            accepted, rejected = wrong * float(one["fpr"]) / 100, (1 - wrong) * float(one["fnr"]) / 100
            biases.append(accepted - rejected)
            if accepted + rejected:
                dskews.append((accepted - rejected) ** 2 / (accepted + rejected - 2 * accepted * rejected))
        assert row["bias"] == pytest.approx(mean(biases))
        assert row["dskew"] == pytest.approx(mean(dskews))
        assert row["dskew_left_out"] == 5 - len(dskews)


def test_a_point_has_no_n_so_it_is_never_judged_large_enough() -> None:
    rows = placed(printed_points(), PlaneThresholds())
    assert rows["too_small"].all() and "n" not in rows
    assert rows["quadrant_fpr"].notna().all()


def test_the_cells_behind_a_point_are_those_the_paper_prints() -> None:
    cells = cells_behind("causal_explanation", "Gemma-3")
    assert sorted(cells["dataset"]) == ["MedXpertQA", "PMC-VQA", "PathVQA", "SLAKE", "VQA-RAD"]
