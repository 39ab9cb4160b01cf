"""``export``, ``blind`` and ``rescore``: runs out of the store, into it, and scored anew."""

from pathlib import Path
from typing import Any

import duckdb

from tests.cli.calling import call, done
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl


def metrics(store: Path) -> list[dict[str, Any]]:
    """Return the metric rows."""
    return list(done("metrics", "endoca", "--store", store, "--json").json["rows"])


def test_an_export_round_trips_through_the_command_line(filled: Path, tmp_path: Path) -> None:
    out, second = tmp_path / "drawn.jsonl.gz", tmp_path / "second.duckdb"
    value = done("export", "endoca", "--model", "Half", "--out", out, "--store", filled, "--json").json
    assert (value["model"], value["suite"], value["file"], value["n_lines"]) == ("Half", "drawn", str(out), 9)
    done("import", "endoca", out, "--store", second)
    assert metrics(second) == [row for row in metrics(filled) if row["model"] == "Half"]


def test_exporting_an_unknown_vlm_lists_the_known_ones(filled: Path, tmp_path: Path) -> None:
    result = call("export", "endoca", "--model", "Nobody", "--out", tmp_path / "x.jsonl", "--store", filled)
    assert (result.code, "Good, Half" in result.err) == (2, True)
    assert not (tmp_path / "x.jsonl").exists()


def test_the_blind_baseline_is_a_run_like_others(filled: Path, tmp_path: Path) -> None:
    other = [{**line, "img_id": f"other-{line['img_id']}"} for line in manifest_lines()]
    done("import", "endoca", write_jsonl(tmp_path / "other.jsonl", other), "--store", filled)
    run = done("blind", "endoca", "--learn", "drawn", "--answer", "other", "--store", filled, "--json").json
    assert (run["suite"], run["n_answers"], run["n_missing"]) == ("other", 9, 0)
    [row] = [row for row in metrics(filled) if row["suite"] == "other"]
    assert (row["vlm_group"], row["origin"], row["setting"]) == ("blind", "precomputed", "learned on drawn")
    assert row["run_id"] == run["run_id"]
    refused = call("blind", "endoca", "--learn", "drawn", "--answer", "drawn", "--store", filled)
    assert (refused.code, "learning from the test" in refused.err) == (2, True)


def make_older(store: Path) -> None:
    """Turn the store's scores into those of an older scorer that found every answer wrong."""
    with duckdb.connect(str(store)) as connection:
        connection.execute("UPDATE runs SET scorer_version = '0'")
        connection.execute("UPDATE scores SET scorer_version = '0', correct = false")
        connection.execute("UPDATE outcomes SET scorer_version = '0', complex_correct = false, n_atoms_correct = 0")


def test_rescoring_brings_the_present_scores_and_keeps_the_old_ones(filled: Path) -> None:
    before = metrics(filled)
    make_older(filled)
    assert [row["joint_accuracy"] for row in metrics(filled)] == [0, 0]
    assert done("rescore", "endoca", "--store", filled, "--json").json["n_rescored"] == 2
    assert metrics(filled) == before
    with duckdb.connect(str(filled), read_only=True) as connection:
        kept = connection.execute("SELECT count(*) FROM scores WHERE scorer_version = '0'").fetchall()
    assert kept == [(18,)]
    assert "0 runs" in done("rescore", "endoca", "--store", filled).out


def test_an_import_into_a_run_of_older_scores_scores_the_whole_run_anew(filled: Path, tmp_path: Path) -> None:
    make_older(filled)
    lines = [{**prediction_lines("Half")[0], "prediction": "There is text."}]
    done("import", "endoca", write_jsonl(tmp_path / "one.jsonl", lines), "--store", filled)
    half = metrics(filled)[1]
    assert (half["n_units"], half["complex_accuracy"]) == (3, 2 / 3)
