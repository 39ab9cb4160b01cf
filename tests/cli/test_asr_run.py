"""``asr run``: a suite answered, revised and selected into run folders, and these into the store."""

import json
from pathlib import Path

import pytest

from backend.cli import asr
from backend.domain.vlm import Vlm
from backend.vlm.registry import Registry
from tests.cli.calling import call, done
from tests.cli.test_predict import ENTRY
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl
from tests.services.reconciled_files import Reconciler
from tests.services.run_files import draw_images


@pytest.fixture
def vlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reconciler:
    """A VLM named Parrot in the registry that reconciles by rote."""
    (tmp_path / "models.yaml").write_text(ENTRY.format(name="Parrot", url="http://localhost:1/v1"))
    monkeypatch.setenv("PARALLAX_MODELS", str(tmp_path / "models.yaml"))
    made = Reconciler()

    def open_vlm(self: Registry, name: str) -> Vlm:
        return made

    monkeypatch.setattr(Registry, "open_vlm", open_vlm)
    return made


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """The nine questions as a file, and their images beside it in ``images``."""
    draw_images(tmp_path / "images")
    return write_jsonl(tmp_path / "endoca_drawn.jsonl", manifest_lines())


@pytest.fixture
def suite(manifest: Path, store: Path) -> Path:
    """A store that holds them."""
    done("import", "endoca", manifest, "--images", manifest.parent / "images", "--store", store)
    return store


ASKED = ("asr", "run", "--model", "parrot", "--suite", "drawn")


def test_a_suite_is_reconciled_from_scratch_and_taken_into_the_store(
    suite: Path, vlm: Reconciler, tmp_path: Path
) -> None:
    out = tmp_path / "asr"
    said = done(*ASKED, "--out", out, "--store", suite, "--json").json
    assert (said["folder"], said["variant"], len(vlm.asked)) == (str(out), "asr", 15)
    stages = [(one["stage"], one["folder"], one["n_done"], one["n_failed"]) for one in said["stages"]]
    assert stages == [
        ("direct", str(out / "direct"), 9, 0),
        ("revise", str(out / "revise"), 3, 0),
        ("select", str(out / "select"), 3, 0),
    ]
    assert said["from"] == said["stages"][0]["run_id"]
    done("import", "run", out, "--store", suite)
    rows = {row["stage"]: row for row in done("metrics", "endoca", "--store", suite, "--json").json["rows"]}
    assert "coverage" not in rows["direct"]
    assert [rows["revise"][name] for name in ("coverage", "selective_accuracy")] == [None, None]
    assert rows["select"]["coverage"] == pytest.approx(2 / 3)
    assert rows["select"]["selective_accuracy"] == pytest.approx(1 / 2)
    shown = done("metrics", "endoca", "--store", suite).out
    assert "Selective" in shown and "N/A" in shown


def test_the_control_starts_from_the_same_direct_answers_by_folder_or_by_run(
    suite: Path, vlm: Reconciler, tmp_path: Path
) -> None:
    out = tmp_path / "asr"
    done(*ASKED, "--out", out, "--store", suite)
    done("import", "run", out, "--store", suite)
    run_id = json.loads((out / "revise" / "run.json").read_text())["base"]["run_id"]
    for given, own in ((out / "direct", tmp_path / "a"), (run_id, tmp_path / "b")):
        vlm.asked.clear()
        arguments = (*ASKED, "--variant", "self", "--from", given, "--out", own, "--store", suite)
        assert [one["stage"] for one in done(*arguments, "--json").json["stages"]] == ["self_revise", "self_select"]
        assert len(vlm.asked) == 6
        assert sorted(path.name for path in own.iterdir()) == ["revise", "select"]
    done("import", "run", tmp_path / "a", "--store", suite)
    again = done("import", "run", tmp_path / "b", "--store", suite, "--json").json
    assert [(run["n_new"], run["n_unchanged"]) for run in again["runs"]] == [(0, 9), (0, 9)]


def test_several_folders_go_in_by_one_command_or_not_at_all(suite: Path, vlm: Reconciler, tmp_path: Path) -> None:
    out, own = tmp_path / "asr", tmp_path / "self"
    done(*ASKED, "--out", out, "--store", suite)
    done(*ASKED, "--variant", "self", "--from", out / "direct", "--out", own, "--store", suite)
    assert call("import", "run", own, out, tmp_path / "images", "--store", suite).code == 2
    assert done("metrics", "endoca", "--store", suite, "--json").json["rows"] == []
    said = done("import", "run", own, out, "--store", suite, "--json").json
    assert [run["stage"] for run in said["runs"]] == ["direct", "self_revise", "revise", "self_select", "select"]


def test_a_manifest_file_needs_no_store(manifest: Path, vlm: Reconciler, tmp_path: Path) -> None:
    arguments = ("--suite", manifest, "--images", tmp_path / "images", "--out", tmp_path / "asr", "--limit", "1")
    shown = done("asr", "run", "--model", "Parrot", *arguments, "--store", tmp_path / "no.duckdb").out
    assert "drawn, ASR-Selective: 1 of 1 answered, 0 failed" in shown
    assert f"import run {tmp_path / 'asr'}" in shown
    assert not (tmp_path / "no.duckdb").exists()


def test_a_dry_run_shows_what_would_be_asked_and_leaves_nothing(suite: Path, vlm: Reconciler, tmp_path: Path) -> None:
    out = tmp_path / "asr"
    dry = (*ASKED, "--out", out, "--store", suite, "--dry-run")
    said = done(*dry, "--json").json
    assert [said[f"n_{name}"] for name in ("units", "direct", "revise", "select")] == [3, 9, 3, 3]
    assert (said["from"], said["missing_images"]) == (None, [])
    assert "first be asked 9 direct and atomic questions, then revise and select 3 answers" in done(*dry).out
    assert not out.exists() and not vlm.asked
    vlm.fails = "Question: Is any lettering visible?"
    done("predict", "--model", "Parrot", "--suite", "drawn", "--out", tmp_path / "direct", "--store", suite)
    said = done(*dry, "--from", tmp_path / "direct", "--json").json
    assert [said[f"n_{name}"] for name in ("direct", "revise", "not_asked")] == [0, 2, 1]
    assert "Premises:" in said["prompts"][0]
    assert not out.exists()


def test_a_second_run_into_a_folder_needs_resume_and_asks_nothing_twice(
    suite: Path, vlm: Reconciler, tmp_path: Path
) -> None:
    arguments = (*ASKED, "--out", tmp_path / "asr", "--store", suite)
    done(*arguments)
    refused = call(*arguments)
    assert (refused.code, "--resume" in refused.err, len(vlm.asked)) == (2, True, 15)
    done(*arguments, "--resume")
    assert len(vlm.asked) == 15


def test_other_prompts_than_the_direct_answers_had_are_said(suite: Path, vlm: Reconciler, tmp_path: Path) -> None:
    done("import", "endoca", write_jsonl(tmp_path / "a.jsonl", prediction_lines("Parrot")), "--store", suite)
    [row] = done("metrics", "endoca", "--store", suite, "--json").json["rows"]
    result = done(*ASKED, "--from", row["run_id"], "--out", tmp_path / "asr", "--store", suite)
    assert "given under prompts unknown; they are revised under endoca-1" in result.err


def test_a_run_goes_into_a_folder_of_its_own_name_by_default(
    suite: Path, vlm: Reconciler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asr, "DATA", tmp_path / "data")
    folders = {
        done(*ASKED, "--variant", variant, "--store", suite, "--json").json["folder"] for variant in ("asr", "self")
    }
    assert {Path(folder).parent for folder in folders} == {tmp_path / "data" / "runs"}
    assert len(folders) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--from", "nobody"), "The run nobody is not in this store"),
        (("--from", "."), "is no run folder"),
        (("--variant", "both"), "--variant"),
        (("--images", "."), "--images goes with a manifest file"),
    ],
)
def test_wrong_wishes_are_said_with_the_right_ones(
    suite: Path, vlm: Reconciler, arguments: tuple[str, ...], says: str
) -> None:
    result = call(*ASKED, *arguments, "--store", suite)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
