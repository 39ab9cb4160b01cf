"""Promises of the built-in data set's way into a store, and of what is said about its VLM."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

import pytest
from PIL import Image

from backend.demo.curves import CURVES, CurvePoint, keep_point
from backend.demo.files import ENDOSCOPY
from backend.demo.training_record import RECORD
from backend.domain.progress import Cancelled
from backend.errors import AppError
from backend.services.demo import built_in, report
from backend.services.demo.box_training import box_training
from backend.services.demo.built_in import DemoStopped, put_demo, wants_demo
from backend.services.demo.questions import samples, surgical_pairs
from backend.services.demo.shipped import DEMO_SUITE, MIRAGE_SUITE, SURGICAL_SUITE
from backend.services.demo.synthetic import SYNTHETIC, synthetic_suites
from backend.services.demo.verification_examples import demo_examples
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.log import write_note
from backend.services.opening import open_store
from backend.services.removal import remove_suite
from backend.services.store_contents import totals
from backend.store.store import Store
from tests.services.demo_files import (
    N_APART,
    N_ATOMIC,
    N_EXAMPLES,
    N_LOOKED_RUNS,
    N_MIRAGE_RUNS,
    N_PAIRS,
    N_RUNS,
    N_SURGICAL_ANSWERS,
    N_SURGICAL_RUNS,
    N_UNITS,
    make_demo,
    needs_answers,
    ship,
)
from tests.services.endoca_files import manifest_lines, write_jsonl

N_ALL_RUNS = N_RUNS + N_SURGICAL_RUNS + N_MIRAGE_RUNS

BY_TASK = {
    "modality_recognition": (2, 1, 1),
    "spatial_localization": (2, 0, 2),
    "quantitative_measurement": (0, 0, 0),
    "disease_classification": (4, 2, 2),
}
"""Verdicts, right and wrong answers accepted: "no" is never a number, so the two counts are not judged."""

N_SHIPPED_CHAINS = N_MIRAGE_RUNS + 6
"""The shipped loop has three more turns, of two runs each."""

MIRAGE_VLMS = ["Box VLM", "Blind baseline", *["Box VLM"] * 2, "Blind baseline", *["Box VLM"] * 4]
"""First answers, verdicts on them, then the loop."""

POINTS = (
    CurvePoint("naming", 2, 1.0, 9.5),
    CurvePoint("answering", 4, 3.0, 2.5, {"atomic": {"polyp_count": (1, 4), "text_presence": (2, 6)}}),
    CurvePoint("answering", 6, 5.0, 1.5, {"atomic": {"polyp_count": (4, 4)}, "complex": {"2": (0, 5)}}),
)
"""Atomic: 3 of 10, then 4 of 4; complex: 0 of 5."""

TRAINED = {
    "command": "python -m backend demo train",
    "seed": 7,
    "steps": {"naming": 2, "answering": 4},
    "seconds": 120,
    "threads": 2,
    "prompt_versions": ["endoca-1", "surgcheck-1"],
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built-in data set in small."""
    return make_demo(tmp_path_factory.mktemp("demo") / "demo")


@pytest.fixture
def shipped_demo(demo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small one in the place of the shipped one."""
    ship(demo, monkeypatch)
    return demo


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting that lets the app fill an empty store."""
    monkeypatch.setenv("PARALLAX_DEMO", "on")


def keep_training(folder: Path) -> Path:
    """Write learning curves and record as a training leaves them."""
    folder.mkdir(parents=True, exist_ok=True)
    for point in POINTS:
        keep_point(folder, point)
    (folder / RECORD).write_text(json.dumps(TRAINED))
    return folder


def a_point(**wrong: object) -> str:
    """Return a line of the curves' file with something wrong in it."""
    return json.dumps({"stage": "naming", "step": 1, "seconds": 1.0, "training_loss": 1.0, **wrong}) + "\n"


def test_the_built_in_data_set_brings_suite_frames_and_runs(shipped_demo: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        done = put_demo(store)
        held = totals(store)
        apart = store.value(
            "SELECT count(*) FROM outcomes JOIN runs USING (run_id) WHERE stage = 'direct' AND outcome = 'inconsistent'"
        )
        n_frames = store.value("SELECT count(*) FROM frames")
        n_pictures = store.value("SELECT count(DISTINCT picture_id) FROM pairs WHERE drawing IS NOT NULL")
    assert (held.suites, held.units, held.images_at_hand, n_frames) == (3, N_UNITS + N_PAIRS + N_EXAMPLES, 4, 2)
    assert held.images == 4 + n_pictures
    n_answers = N_RUNS * (N_UNITS + N_ATOMIC) + N_SURGICAL_ANSWERS + N_MIRAGE_RUNS * N_EXAMPLES
    assert (held.runs, held.vlms, held.answers) == (N_ALL_RUNS, 1, n_answers)
    assert [run.vlm for run in done.runs] == [
        "Box VLM", "Blind baseline", *["Box VLM"] * 5, "Blind baseline", "Text look-up", "Box VLM",
        *MIRAGE_VLMS, *["Box VLM"] * N_LOOKED_RUNS,
    ]  # fmt: skip
    assert done.images["found"] == 4
    assert apart == N_APART


def test_reconciled_runs_are_reported(shipped_demo: Path, tmp_path: Path) -> None:
    """Every unit of the small data set has one, two or three parts; those of two parts are not decided on by ASR."""
    with Store.create(tmp_path / "store.duckdb") as store:
        done = put_demo(store)
        stages = {row[0] for row in store.rows("SELECT stage FROM runs")}
        n_pairs = store.value("SELECT count(*) FROM units WHERE complexity = 2")
    assert stages == {"direct", "revise", "select", "self_revise", "self_select", "text_only", "verify", "loop"}
    assert [(run.n_missing, run.n_failed) for run in done.runs] == [(0, 0)] * (N_ALL_RUNS + N_LOOKED_RUNS)
    with report.shipped_store() as store:
        figures = report.paired_figures(store)
        mirage = report.mirage_figures(store)
    assert {task: (of["n"], of["tp"], of["fp"]) for task, of in mirage["by_task"].items()} == BY_TASK
    assert [(turn, of["n"], of["fn"], of["tn"]) for turn, of in mirage["by_turn"].items()] == [
        (0, 8, 0, 0),
        (1, 8, 0, 0),
    ]
    assert figures["n_apart"] == N_APART
    assert figures["revise"]["before"] == 1.0
    assert (figures["select"]["n_unreadable"], figures["self_select"]["n_unreadable"]) == (n_pairs, 0)
    assert (figures["select"]["n_selected"], figures["self_select"]["n_selected"]) == (N_UNITS - n_pairs, N_UNITS)
    assert figures["select"]["coverage"] == pytest.approx(1 - n_pairs / N_UNITS)
    assert figures["self_select"]["coverage"] == 1.0
    assert figures["self_select"]["selective_accuracy"] == figures["self_revise"]["after"]


def test_what_its_runs_were_made_from_is_counted_a_kind(shipped_demo: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        made = [note for note in put_demo(store).notes if "made from" in note]
    assert made == [
        "4 runs were made from the direct answers of others: "
        "1 ASR-Revise, 1 Self-Revise, 1 ASR-Selective, 1 Self-Selective.",
        "7 runs were made from others: 6 verify, 1 loop.",
    ]


def test_a_frame_that_was_exchanged_since_its_runs_is_still_decoded(
    demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A JPEG without its end has a sound header; its bytes are not those that a run was given."""
    ship(copytree(demo, tmp_path / "demo"), monkeypatch)
    frame = min((tmp_path / "demo" / ENDOSCOPY).iterdir())
    with Image.open(frame) as drawn:
        drawn.convert("RGB").save(frame, "JPEG")
    frame.write_bytes(frame.read_bytes()[:-200])
    with Store.create(tmp_path / "store.duckdb") as store:
        done = put_demo(store)
    assert (done.images["broken"], done.images["found"]) == (1, 3)


def test_looks_are_reported_with_the_gap_between_generator_and_verifier(shipped_demo: Path) -> None:
    """The fake gives the image 1 / (1 + n) of its attention for n words: two of every answer, six of every verdict."""
    with report.shipped_store() as store:
        found = report.saliency_figures(store)
    whole = found["gaps"]["fraction"]["all"]
    assert (whole["n"], whole["n_lower"]) == (N_EXAMPLES, N_EXAMPLES)
    assert (whole["generator_mean"], whole["verifier_mean"]) == pytest.approx((1 / 3, 1 / 7))
    assert whole["gap"] == pytest.approx(4 / 21)
    assert found["gaps"]["times_even"]["all"]["generator_mean"] == pytest.approx(1 / 3 / 0.6)
    assert found["pointing"]["n_looks"] == 2 * N_EXAMPLES


def test_stopped_half_way_it_says_that_a_part_is_there_and_the_rest_can_be_brought_in(
    shipped_demo: Path, tmp_path: Path
) -> None:
    def stop_at_the_frames(stage: str, done: int, total: int | None) -> None:
        if stage.startswith("looking through"):
            raise Cancelled

    with Store.create(tmp_path / "store.duckdb") as store:
        with pytest.raises(DemoStopped, match="a part of the built-in data set is in the store"):
            put_demo(store, stop_at_the_frames)
        assert totals(store).images_at_hand == 0
        put_demo(store)
        assert totals(store).images_at_hand == 4


def test_a_first_start_that_was_killed_goes_on_at_the_next(
    asked_for: None, shipped_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """As a process ends that is killed: nothing after it runs."""

    path = tmp_path / "store.duckdb"
    store = Store.create(path)
    monkeypatch.setattr(built_in, "_begun", _begun_and_never_ended)

    def kill_at_the_answers(stage: str, done: int, total: int | None) -> None:
        if stage.startswith("reading endoca"):
            raise Killed

    with pytest.raises(Killed):
        put_demo(store, kill_at_the_answers)
    store.close()
    monkeypatch.undo()
    monkeypatch.setenv("PARALLAX_DEMO", "on")
    ship(shipped_demo, monkeypatch)
    with open_store(path) as opened:
        assert totals(opened).runs == 0 and wants_demo(opened)
        put_demo(opened)
        assert totals(opened).runs == N_ALL_RUNS and not wants_demo(opened)


@contextmanager
def _begun_and_never_ended(store: Store) -> Iterator[None]:
    with store.write() as cursor:
        write_note(cursor, built_in.BEGUN, "demo", "It is being brought in.")
    yield


def test_to_bring_it_in_again_changes_nothing(shipped_demo: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        put_demo(store)
        before = totals(store), store.value("SELECT count(*) FROM imports")
        again = put_demo(store)
        assert not again.changed
        assert (totals(store), store.value("SELECT count(*) FROM imports")) == before


def test_its_frames_can_be_left_out(shipped_demo: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "store.duckdb") as store:
        put_demo(store, attach=False)
        assert totals(store).images_at_hand == 0


def test_only_a_suite_of_drawn_frames_is_synthetic(shipped_demo: Path, tmp_path: Path) -> None:
    other = write_jsonl(tmp_path / "other.jsonl", manifest_lines())
    lines = [line | {"dataset": SYNTHETIC} if line["sample_id"] == 22 else line for line in manifest_lines()]
    mixed = write_jsonl(tmp_path / "mixed.jsonl", lines)
    with Store.create(tmp_path / "store.duckdb") as store:
        assert synthetic_suites(store) == frozenset()
        put_demo(store)
        import_endoca(store, [SourceFile.at(other)])
        import_endoca(store, [SourceFile.at(mixed)])
        assert store.value("SELECT count(*) FROM suites") == 5
        assert synthetic_suites(store) == {DEMO_SUITE, SURGICAL_SUITE, MIRAGE_SUITE}


def test_an_empty_store_is_filled_unless_the_setting_says_off(
    asked_for: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "store.duckdb") as store:
        assert wants_demo(store)
        for off in ("off", "OFF"):
            monkeypatch.setenv("PARALLAX_DEMO", off)
            assert not wants_demo(store)


def test_a_store_with_data_of_its_own_is_not_filled(asked_for: None, tmp_path: Path) -> None:
    manifest = write_jsonl(tmp_path / "own.jsonl", manifest_lines())
    with open_store(tmp_path / "store.duckdb") as store:
        import_endoca(store, [SourceFile.at(manifest)])
        assert not wants_demo(store)


def test_what_was_taken_out_does_not_come_back(asked_for: None, shipped_demo: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "store.duckdb") as store:
        put_demo(store)
        assert not wants_demo(store)
        for suite in (DEMO_SUITE, SURGICAL_SUITE, MIRAGE_SUITE):
            remove_suite(store, suite)
        assert totals(store).suites == 0
        assert not wants_demo(store)


@needs_answers
def test_the_shipped_data_set_goes_in_whole(tmp_path: Path) -> None:
    asked = samples()
    with Store.create(tmp_path / "store.duckdb") as store:
        done = put_demo(store)
        assert synthetic_suites(store) == {DEMO_SUITE, SURGICAL_SUITE, MIRAGE_SUITE}
        held = totals(store)
    surgical = surgical_pairs()
    n_examples = len(demo_examples())
    assert (held.units, held.images_at_hand) == (len(asked) + len(surgical) // 2 + n_examples, 600)
    assert held.answers == N_RUNS * sum(map(len, asked)) + 7 * len(surgical) // 2 + N_SHIPPED_CHAINS * n_examples
    assert {(run.n_missing, run.n_failed) for run in done.runs} == {(0, 0)}


def test_a_training_is_told_by_its_record_and_its_curves(tmp_path: Path) -> None:
    training = box_training(keep_training(tmp_path / "vlm"))
    assert training is not None
    assert (training.command, training.steps, training.seconds) == ("python -m backend demo train", 6, 120)
    assert (training.threads, training.seed, training.prompt_versions) == (2, 7, ("endoca-1", "surgcheck-1"))
    assert training.losses.to_dict("list") == {
        "stage": ["naming", "answering", "answering"],
        "step": [2, 4, 6],
        "loss": [9.5, 2.5, 1.5],
    }
    assert list(training.accuracy.itertuples(index=False, name=None)) == [
        ("answering", 4, "atomic", 3, 10),
        ("answering", 6, "atomic", 4, 4),
        ("answering", 6, "complex", 0, 5),
    ]


def test_where_nothing_was_trained_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert box_training(tmp_path / "absent") is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (CURVES, ""),
        (CURVES, "{"),
        (CURVES, "[1, 2]\n"),
        (CURVES, '"words"\n'),
        (CURVES, '{"stage": "a", "step": 1}\n'),
        (CURVES, a_point(training_loss="much")),
        (CURVES, a_point(training_loss=float("nan"))),
        (CURVES, a_point(accuracy=3)),
        (CURVES, a_point(accuracy={"atomic": 3})),
        (CURVES, a_point(accuracy={"atomic": {}})),
        (CURVES, a_point(accuracy={"atomic": {"polyp_count": [5]}})),
        (CURVES, a_point(accuracy={"atomic": {"polyp_count": [5, 4]}})),
        (RECORD, "{"),
        (RECORD, "{}"),
        (RECORD, "[]"),
        (RECORD, json.dumps(TRAINED | {"steps": 6})),
        (RECORD, json.dumps(TRAINED | {"seconds": None})),
        (RECORD, None),
    ],
)
def test_a_damaged_file_is_an_error_that_says_what_to_do(tmp_path: Path, name: str, content: str | None) -> None:
    folder = keep_training(tmp_path / "vlm")
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)
    with pytest.raises(AppError, match="Restore data/demo from the project") as told:
        box_training(folder)
    assert name in told.value.message


def test_a_file_that_is_no_text_is_damaged_too(tmp_path: Path) -> None:
    folder = keep_training(tmp_path / "vlm")
    (folder / CURVES).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AppError, match="damaged"):
        box_training(folder)
