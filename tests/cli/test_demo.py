"""Promises of ``demo``: what it puts into a store, when it trains, and what it reports."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.demo import training
from backend.demo.checkpoint import Standing
from backend.demo.curriculum import Stage
from backend.demo.curves import CURVES, CurvePoint, OnPoint
from backend.demo.training_record import RECORD
from backend.domain.progress import Report
from backend.endoca.vocabulary import BY_NAME
from backend.services.demo.questions import samples
from backend.verimap.vocabulary import Task
from tests.cli.calling import call, done
from tests.services.demo_files import (
    N_ATOMIC,
    N_EXAMPLES,
    N_LOOKED_RUNS,
    N_MIRAGE_RUNS,
    N_PAIRS,
    N_RUNS,
    N_SURGICAL_RUNS,
    N_UNITS,
    make_demo,
    needs_answers,
    ship,
)


class ThreeSteps:
    """A training of three steps that teaches nothing: keeps its step in the work folder as the real one does."""

    total_steps = 3
    curriculum = (Stage("naming", 3, endoscopy=1, surgical=1, learning_rate=1e-3, last_rate=1, naming=1),)

    def __init__(self, work: Path, threads: int, report: Report) -> None:
        self._kept = work / "checkpoint" / "standing.json"
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        kept = json.loads(self._kept.read_text()) if self._kept.exists() else {"step": 0, "seconds": 0.0}
        self.standing = Standing(**kept)

    @property
    def is_done(self) -> bool:
        return self.standing.step == self.total_steps

    def run(self, minutes: float, on_point: OnPoint) -> None:
        while not self.is_done:
            step = self.standing.step + 1
            self.standing = Standing(step, float(step))
            on_point(CurvePoint("naming", step, float(step), 1 / step))
            self._kept.write_text(json.dumps({"step": step, "seconds": float(step)}))
            if not minutes:
                return

    def save_vlm(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "model.safetensors").touch()


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that calls ``demo train`` for a training of three steps."""
    monkeypatch.setattr(training, "Training", ThreeSteps)
    places = ("--work", tmp_path / "work", "--out", tmp_path / "vlm", "--threads", "1")
    return lambda *options: call("demo", "train", *places, *options)


def steps_of(curves: Path) -> list[int]:
    return [json.loads(line)["step"] for line in curves.read_text().splitlines()]


def test_demo_fills_a_new_store_and_the_second_time_changes_nothing(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(make_demo(tmp_path / "demo"), monkeypatch)
    first, second = (done("demo", "--store", store, "--json").json for _ in range(2))
    suite, surgical, verified = first["suites"]
    assert (suite["suite"], suite["n_units"], suite["n_new"], suite["n_images"]) == ("demo", N_UNITS, N_UNITS, 2)
    assert (surgical["suite"], surgical["n_pairs"], surgical["n_images"]) == ("demo-surgical", N_PAIRS, 2)
    assert (verified["suite"], verified["n_units"], verified["n_images"]) == ("demo-verimap", N_EXAMPLES, 2)
    n = [N_UNITS + N_ATOMIC] * N_RUNS + [2 * N_PAIRS] * (N_SURGICAL_RUNS - 1) + [N_PAIRS]
    n += [N_EXAMPLES] * N_MIRAGE_RUNS
    looks = [0] * N_LOOKED_RUNS  # their answers are those of two of these runs
    assert [run["n_new"] for run in first["runs"]] == n + looks
    assert (first["images"]["found"], first["images"]["new"], first["images"]["missing"]) == (4, 4, 0)
    assert [suite["n_new"] for suite in second["suites"]] == [0, 0, 0]
    unchanged = [(run["n_new"], run["n_replaced"], run["n_unchanged"]) for run in second["runs"]]
    assert unchanged == [(0, 0, of_run) for of_run in n + looks]
    assert second["images"]["new"] == 0


def test_demo_needs_no_argument(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ship(make_demo(tmp_path / "demo"), monkeypatch)
    monkeypatch.setenv("PARALLAX_STORE", str(store))
    assert "Suite demo: 12 units (12 new)" in done("demo").out
    assert store.is_file()


@needs_answers
def test_demo_puts_the_shipped_answers_into_a_new_store(store: Path) -> None:
    said = done("demo", "--store", store, "--json").json
    assert said["suites"][0]["n_units"] == len(samples())
    assert {run["vlm"] for run in said["runs"]} == {"Box VLM", "Blind baseline", "Text look-up"}
    assert all(run["n_missing"] == run["n_failed"] == 0 for run in said["runs"])


@needs_answers
def test_demo_report_recomputes_the_held_out_figures() -> None:
    said = done("demo", "report", "--json").json
    vlm, surgical = said["vlm"], said["surgical"]
    shares = [vlm[name] for name in ("atomic_accuracy", "complex_accuracy", "joint_accuracy", "inconsistency")]
    shares += [share for both in vlm["by_class"].values() for share in (both["vlm"], both["blind"])]
    shares += [*vlm["verifier_auc"].values(), vlm["revise"]["before"], vlm["revise"]["after"]]
    shares += [surgical[name] for name in ("atomic_accuracy", "original", "less_biased")]
    assert all(0 <= share <= 1 for share in shares)
    assert vlm["n_units"] == len(samples())
    assert len(vlm["by_class"]) >= 8 and vlm["by_class"].keys() <= BY_NAME.keys()
    assert vlm["verifier_auc"].keys() == {str(BY_NAME[name].type) for name in vlm["by_class"]}
    assert said["gate"]["passed"] is not bool(said["gate"]["failures"])


@needs_answers
def test_demo_report_shows_people_where_the_vlm_looked_task_by_task() -> None:
    shown = done("demo", "report").out
    [head] = [line for line in shown.splitlines() if "answering → judging" in line]
    tasks = shown[shown.index(head) :].splitlines()[2:8]
    assert [line.split()[0] for line in tasks] == ["all", *list(Task)[:5]]


def test_training_stops_when_its_time_is_over_and_goes_on_when_asked(train: Callable[..., Any], tmp_path: Path) -> None:
    stopped = train("--minutes", "0", "--json")
    assert stopped.json == {"step": 1, "seconds": 1.0, "steps": 3, "done": False}
    assert "step 1 (naming): loss 1.000" in stopped.err
    assert not (tmp_path / "vlm").exists()
    assert train("--resume", "--json").json == {"step": 3, "seconds": 3.0, "steps": 3, "done": True}
    assert steps_of(tmp_path / "vlm" / CURVES) == [1, 2, 3]
    record = json.loads((tmp_path / "vlm" / RECORD).read_text())
    assert (record["steps"], record["seconds"], record["threads"]) == ({"naming": 3}, 3, 1)
    assert record["command"] == "python -m backend demo train"


def test_a_stopped_training_says_how_to_go_on(train: Callable[..., Any]) -> None:
    assert "1 of 3 steps done. To go on: demo train --resume" in train("--minutes", "0").out


def test_a_begun_training_is_not_begun_anew_unasked(train: Callable[..., Any], tmp_path: Path) -> None:
    train("--minutes", "0")
    refused = train()
    assert refused.code == 2
    assert "holds a training already" in refused.err and "--resume" in refused.err
    assert steps_of(tmp_path / "work" / CURVES) == [1]


def test_points_after_the_last_checkpoint_are_not_kept_twice(train: Callable[..., Any], tmp_path: Path) -> None:
    train("--minutes", "0")
    curves = tmp_path / "work" / CURVES
    lost = json.dumps({"stage": "naming", "step": 2, "seconds": 2.0, "training_loss": 9.0, "accuracy": {}})
    curves.write_text(curves.read_text() + lost + "\n")
    train("--resume")
    assert steps_of(curves) == [1, 2, 3]
    assert json.loads(curves.read_text().splitlines()[1])["training_loss"] == 0.5
