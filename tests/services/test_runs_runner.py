"""A run folder loses nothing and asks nothing twice, whether the run ends, fails, is stopped or is damaged."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, Reply
from backend.errors import AppError
from backend.services.runs import runner
from backend.services.runs.error_classes import error_class
from backend.services.runs.folder import read_plan_table, read_record, read_shards, write_record, write_shard
from backend.services.runs.lock import LOCK, locked
from backend.services.runs.plan import Plan, VlmIdentity, item_id, read_plan
from backend.services.runs.runner import RunStopped, run_plan
from tests.conftest import ROOT
from tests.services.run_files import PARROT, Parrot, draw_images, drawn_plan, drawn_store, long_plan, said


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """Nine questions about two images: five, then four."""
    return drawn_plan(tmp_path_factory.mktemp("material"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a run can go."""
    return tmp_path / "run"


def answers(folder: Path) -> dict[str, tuple[str, str]]:
    """Return answer and error by probe, as an import would take them; each probe at most once."""
    record = read_record(folder)
    assert record is not None
    rows = read_shards(folder, record).answers.to_pylist()
    found = {row["probe_id"]: (row["answer"], row["error"]) for row in rows}
    assert len(found) == len(rows)
    return found


def images_given(folder: Path) -> dict[str, str | None]:
    """Return by probe the hash of the image that the VLM was given."""
    record = read_record(folder)
    assert record is not None
    return {row["probe_id"]: row["image_sha256"] for row in read_shards(folder, record).answers.to_pylist()}


def right_answers(plan: Plan) -> dict[str, tuple[str, str]]:
    return {item.probe_id: (said(item.image, item.prompt), "") for item in plan.items}


def stop_at(n: int) -> Any:
    """Return a report that stops the run at its n-th call."""
    calls: list[int] = []

    def report(stage: str, done: int, total: int | None) -> None:
        calls.append(done)
        if len(calls) >= n:
            raise Cancelled

    return report


def shards(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("answers-*"))


# Asking ---------------------------------------------------------------------------------------------------------------


def test_a_run_keeps_every_answer_verbatim_with_what_the_call_was(plan: Plan, folder: Path) -> None:
    record = run_plan(plan, Parrot(), folder)
    assert answers(folder) == right_answers(plan)
    [first] = [
        row for row in read_shards(folder, record).answers.to_pylist() if row["item_id"] == plan.items[0].item_id
    ]
    assert first == {
        "item_id": plan.items[0].item_id,
        "probe_id": plan.items[0].probe_id,
        "stage": "direct",
        "image_sha256": plan.items[0].image_sha256,
        "answer": said(plan.items[0].image, plan.items[0].prompt),
        "error": "",
        "n_tokens": 3,
        "was_cut": False,
        "seconds": 0.25,
        "probabilities": '{"yes": 0.75, "no": 0.25}',
    }


def test_every_answer_can_be_traced_to_its_exact_prompt(plan: Plan, folder: Path) -> None:
    record = run_plan(plan, Parrot(), folder)
    kept = {row["item_id"]: row for row in read_plan_table(folder).to_pylist()}
    assert [row["item_id"] for row in kept.values()] == [item.item_id for item in plan.items]
    for row in read_shards(folder, record).answers.to_pylist():
        asked = (kept[row["item_id"]][name] for name in ("probe_id", "prompt", "image_id", "image_sha256"))
        assert item_id(plan.key, plan.vlm, *asked) == row["item_id"]


def test_the_record_says_who_what_when_and_how_far(plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder, device=lambda: {"gpu": "none"})
    record = json.loads((folder / "run.json").read_text())
    assert (record["schema_version"], record["system"], record["suite"], record["stage"]) == (
        1,
        "endoca",
        "drawn",
        "direct",
    )
    assert record["vlm"] == {"name": "Parrot", "group": "general_open", "details": {"weights": "none"}}
    assert record["decoding"]["label"] == "greedy, 80 new tokens"
    assert record["counts"] == {"planned": 9, "done": 9, "failed": 0, "missing": 0}
    assert record["created"] <= record["finished"]
    [session] = record["sessions"]
    assert (session["n_asked"], session["machine"]["gpu"], session["code"]["parallax"]) == (9, "none", "0.1.0")
    assert session["seconds"] >= 0


def test_a_folder_names_no_path_of_the_machine(plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    place = str(plan.items[0].image.parent).encode() if plan.items[0].image else b""
    assert place
    assert not [path.name for path in folder.iterdir() if place in path.read_bytes()]
    assert sorted(path.name for path in folder.iterdir()) == ["answers-00001.parquet", "plan.parquet", "run.json"]


def test_the_questions_of_an_image_are_given_to_the_vlm_together(plan: Plan, folder: Path) -> None:
    parrot = Parrot()
    run_plan(plan, parrot, folder, batch=5)
    assert [{ask.image.stem for ask in batch if ask.image} for batch in parrot.batches] == [{"frame-a"}, {"frame-b"}]
    assert parrot.asked == [item.prompt for item in plan.items]


def test_a_text_alone_is_asked_without_an_image(plan: Plan, folder: Path) -> None:
    alone = replace(plan.items[0], image_id="", image_name="", image=None, image_sha256=None)
    parrot = Parrot()
    run_plan(replace(plan, items=(alone, *plan.items[1:])), parrot, folder)
    assert parrot.batches[0][0] == Ask(None, alone.prompt)
    assert answers(folder)[alone.probe_id] == (said(None, alone.prompt), "")


def test_half_a_surrogate_pair_costs_a_character_and_not_the_run(plan: Plan, folder: Path) -> None:
    class Broken(Parrot):
        def answer(self, *_: Any) -> Reply:
            return Reply("polyp \ud83d")

    run_plan(plan, Broken(), folder)
    assert set(answers(folder).values()) == {("polyp ���", "")}


# Failing --------------------------------------------------------------------------------------------------------------


def test_a_call_that_fails_is_a_row_and_the_others_go_on(plan: Plan, folder: Path) -> None:
    record = run_plan(plan, Parrot(fails="text"), folder)
    failed = {item.probe_id for item in plan.items if "text" in item.prompt}
    assert failed
    assert {probe for probe, (_, error) in answers(folder).items() if error} == failed
    assert (record.counts.done, record.counts.failed, record.counts.missing) == (9 - len(failed), len(failed), 0)
    assert record.errors == {"The call timed out after … s.": len(failed)}


def test_resuming_asks_the_failed_ones_again_and_no_other(plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(fails="text"), folder)
    again = Parrot()
    record = run_plan(plan, again, folder, resume=True)
    assert again.asked == [item.prompt for item in plan.items if "text" in item.prompt]
    assert answers(folder) == right_answers(plan)
    assert (record.errors, record.counts.failed, len(record.sessions)) == ({}, 0, 2)


def test_a_missing_image_makes_error_rows_and_no_call(tmp_path: Path, folder: Path) -> None:
    images = draw_images(tmp_path / "images", ["frame-b"])
    parrot = Parrot()
    with drawn_store(tmp_path, images=images) as store:
        plan = read_plan(store, "drawn", PARROT, Decoding())
    record = run_plan(plan, parrot, folder)
    assert {ask.image.stem for batch in parrot.batches for ask in batch if ask.image} == {"frame-b"}
    assert record.errors == {"The image … is not on this machine.": 5}
    assert "images/frame-a.jpg is not on this machine" in answers(folder)["drawn:11::complex"][1]
    assert images_given(folder) == {item.probe_id: item.image_sha256 for item in plan.items}


def test_an_image_found_since_is_asked_about_when_resumed(tmp_path: Path, folder: Path) -> None:
    images = draw_images(tmp_path / "images", ["frame-b"])
    with drawn_store(tmp_path, images=images) as store:
        run_plan(read_plan(store, "drawn", PARROT, Decoding()), Parrot(), folder)
    (tmp_path / "store.duckdb").unlink()
    with drawn_store(tmp_path, images=draw_images(images, ["frame-x", "frame-b", "frame-a"])) as store:
        whole = read_plan(store, "drawn", PARROT, Decoding())
    with pytest.raises(AppError, match="its images, or the answers"):
        run_plan(whole, Parrot(), folder, resume=True)
    (tmp_path / "store.duckdb").unlink()
    draw_images(images, ["frame-b", "frame-a"])
    with drawn_store(tmp_path, images=images) as store:
        whole = read_plan(store, "drawn", PARROT, Decoding())
    again = Parrot()
    record = run_plan(whole, again, folder, resume=True)
    assert len(again.asked) == 5
    assert record.counts.model_dump() == {"planned": 9, "done": 9, "failed": 0, "missing": 0}


def test_a_run_without_any_image_is_refused_before_it_begins(plan: Plan, folder: Path) -> None:
    blind = replace(plan, items=tuple(replace(item, image=None, image_sha256=None) for item in plan.items))
    with pytest.raises(AppError, match="None of the 2 images") as caught:
        run_plan(blind, Parrot(), folder)
    assert "import images" in caught.value.hint
    assert not folder.exists()


def test_an_image_that_changed_since_it_was_attached_is_not_sent(plan: Plan, folder: Path) -> None:
    other = draw_images(folder.parent / "other") / "frame-b.png"
    first = plan.items[0].image_id
    changed = tuple(replace(item, image=other) if item.image_id == first else item for item in plan.items)
    parrot = Parrot()
    record = run_plan(replace(plan, items=changed), parrot, folder)
    assert (len(parrot.asked), record.errors) == (4, {"The image … is not the file that was attached.": 5})
    assert list(images_given(folder).values()) == [None] * 5 + [plan.items[5].image_sha256] * 4


class Dying(Parrot):
    """A VLM that as a whole cannot go on after so many batches."""

    def __init__(self, after: int, error: BaseException) -> None:
        super().__init__()
        self.after, self.error = after, error

    def answer_all(self, asks: Any, decoding: Decoding) -> list[Reply]:
        if len(self.batches) == self.after:
            raise self.error
        return super().answer_all(asks, decoding)


@pytest.mark.parametrize(
    ("error", "becomes", "says"),
    [
        (AppError("The key is refused.", "Check the key."), AppError, "The key is refused"),
        (Cancelled(), RunStopped, "Stopped. 5 of 9 answers are kept"),
        (KeyboardInterrupt("twice"), KeyboardInterrupt, "twice"),
        (ZeroDivisionError("a bug"), ZeroDivisionError, "a bug"),
    ],
)
def test_whatever_ends_a_run_what_was_answered_is_kept(
    plan: Plan, folder: Path, error: BaseException, becomes: type[BaseException], says: str
) -> None:
    with pytest.raises(becomes, match=says):
        run_plan(plan, Dying(1, error), folder, batch=5)
    assert answers(folder) == {item.probe_id: right_answers(plan)[item.probe_id] for item in plan.items[:5]}
    run_plan(plan, Parrot(), folder, resume=True)
    assert answers(folder) == right_answers(plan)


def test_what_a_vlm_that_stops_gives_back_of_its_batch_is_kept(plan: Plan, folder: Path) -> None:
    """It answers three of the first batch, then its quota is used up."""

    class Broke(Parrot):
        def answer_all(self, asks: Any, decoding: Decoding) -> list[Reply]:
            if self.batches:
                raise AppError("The quota is used up.", "Pay.")
            replies = super().answer_all(asks, decoding)
            return [*replies[:3], *[Reply("", "The quota is used up. Pay.")] * (len(asks) - 3)]

    with pytest.raises(AppError, match="quota is used up") as caught:
        run_plan(plan, Broke(), folder, batch=5)
    assert "3 of 9 answers are kept" in caught.value.hint
    again = Parrot()
    run_plan(plan, again, folder, resume=True)
    assert len(again.asked) == 6
    assert answers(folder) == right_answers(plan)


def test_an_error_of_the_vlm_says_what_is_kept_and_how_to_go_on(plan: Plan, folder: Path) -> None:
    with pytest.raises(AppError) as caught:
        run_plan(plan, Dying(1, AppError("The key is refused.", "Check the key.")), folder, batch=5)
    assert caught.value.hint.startswith("Check the key. 5 of 9 answers are kept in ")
    assert caught.value.hint.endswith("the same command and --resume.")


def test_a_reply_too_few_is_a_bug_and_no_answer_of_another_probe(plan: Plan, folder: Path) -> None:
    class Short(Parrot):
        def answer_all(self, asks: Any, decoding: Decoding) -> list[Reply]:
            return super().answer_all(asks, decoding)[1:]

    with pytest.raises(ValueError, match="zip"):
        run_plan(plan, Short(), folder)
    assert answers(folder) == {}


# Stopping and resuming ------------------------------------------------------------------------------------------------


def test_a_stop_is_heard_between_batches_and_says_how_to_go_on(plan: Plan, folder: Path) -> None:
    with pytest.raises(RunStopped, match=r"5 of 9 answers are kept in .* --resume"):
        run_plan(plan, Parrot(), folder, batch=5, report=stop_at(2))
    record = read_record(folder)
    assert record is not None
    assert (record.counts.missing, record.finished) == (4, None)
    again = Parrot()
    assert run_plan(plan, again, folder, resume=True).finished is not None
    assert again.asked == [item.prompt for item in plan.items[5:]]
    assert answers(folder) == right_answers(plan)


def test_a_resumed_run_asks_in_the_batches_of_an_undisturbed_one(plan: Plan, folder: Path, tmp_path: Path) -> None:
    whole = Parrot()
    run_plan(plan, whole, tmp_path / "whole", batch=2)
    first, second = Parrot(), Parrot()
    with pytest.raises(RunStopped):
        run_plan(plan, first, folder, batch=2, report=stop_at(3))
    run_plan(plan, second, folder, resume=True, batch=7)
    assert [*first.batches, *second.batches] == whole.batches


class Paced(Parrot):
    """A VLM that answers at a pace of its own, and says so whatever the clock says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        super().__init__()
        self.now = 0.0
        self.pace = seconds
        clock = SimpleNamespace(perf_counter=lambda: self.now, monotonic=lambda: self.now)
        monkeypatch.setattr(runner, "time", clock)

    def answer_all(self, asks: Any, decoding: Decoding) -> list[Reply]:
        self.now += self.pace * len(asks)
        return [replace(reply, seconds=self.pace) for reply in super().answer_all(asks, decoding)]


@pytest.fixture
def forty(tmp_path: Path) -> Plan:
    """Forty questions, one about each image."""
    return long_plan(draw_images(tmp_path / "images", [f"frame-{n:02d}" for n in range(40)]), per_image=1)


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        pytest.param(0.01, [4, 36], id="quick"),
        pytest.param(1.0, [4, 15, 15, 6], id="a second each"),
        pytest.param(40.0, [4, *[1] * 36], id="slow"),
    ],
)
def test_a_vlm_is_given_at_once_what_it_answers_in_a_quarter_of_a_minute(
    forty: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, sizes: list[int]
) -> None:
    vlm = Paced(monkeypatch, seconds)
    run_plan(forty, vlm, folder)
    assert [len(batch) for batch in vlm.batches] == sizes


def test_no_answer_waits_longer_than_three_quarters_of_a_minute_to_be_saved(
    forty: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = Paced(monkeypatch, 1.0)
    saved: list[tuple[float, int]] = []

    def note(*shard: Any) -> None:
        saved.append((vlm.now, len(shard[2])))
        write_shard(*shard)

    monkeypatch.setattr(runner, "write_shard", note)
    run_plan(forty, vlm, folder)
    assert saved == [(34.0, 34), (40.0, 6)], "the first four were answered after 4 s and waited for 30"


def test_a_service_is_given_what_it_says_it_takes(forty: Plan, folder: Path) -> None:
    class Service(Parrot):
        batch = 12

    service = Service()
    run_plan(forty, service, folder)
    assert [len(batch) for batch in service.batches] == [12, 12, 12, 4]


@pytest.mark.parametrize("n_before", [1, 2, 3])
def test_a_later_session_keeps_the_batches_that_the_first_ones_pace_settled(
    forty: Plan, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    whole = Paced(monkeypatch, 1.0)
    run_plan(forty, whole, tmp_path / "whole")
    first = Paced(monkeypatch, 1.0)
    with pytest.raises(RunStopped):
        run_plan(forty, first, folder, report=stop_at(n_before + 1))
    second = Paced(monkeypatch, 0.001)
    run_plan(forty, second, folder, resume=True)
    assert [*first.batches, *second.batches] == whole.batches


def test_the_size_of_batches_is_on_record_before_any_answer(
    forty: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[int, int | None]] = []

    def look(*shard: Any) -> None:
        record = read_record(folder)
        assert record is not None
        found.append((record.batch, record.batch_from))
        write_shard(*shard)

    monkeypatch.setattr(runner, "write_shard", look)
    run_plan(forty, Paced(monkeypatch, 1.0), folder)
    assert set(found) == {(15, 4)}


def test_calls_that_were_not_made_tell_no_pace(forty: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The images of the first six are not at hand: four faults, then two and two calls."""
    items = tuple(replace(item, image=None) if at < 6 else item for at, item in enumerate(forty.items))
    vlm = Paced(monkeypatch, 1.0)
    record = run_plan(replace(forty, items=items), vlm, folder)
    assert [len(batch) for batch in vlm.batches] == [2, 15, 15, 2]
    assert (record.batch, record.batch_from) == (15, 8)


def test_what_sessions_differ_in_that_an_answer_can_hang_on_is_named(plan: Plan, folder: Path) -> None:
    machines: list[dict[str, str]] = [{"device": "CPU", "dtype": "float32"}, {"device": "CPU", "dtype": "bfloat16"}, {}]
    for at, machine in zip((2, 3, 99), machines, strict=True):
        with suppress(RunStopped):
            run_plan(plan, Parrot(), folder, resume=True, batch=2, device=machine.copy, report=stop_at(at))
    record = read_record(folder)
    assert record is not None
    assert record.mixed == {"dtype": ("float32", "bfloat16")}
    assert len(record.sessions) == 3


def test_a_finished_run_resumed_asks_nothing_and_changes_nothing(plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = Parrot()
    run_plan(plan, again, folder, resume=True)
    assert again.batches == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_resuming_where_nothing_is_begins(plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder, resume=True)
    assert answers(folder) == right_answers(plan)


def test_a_run_that_came_to_no_answer_may_begin_anew(plan: Plan, folder: Path) -> None:
    with pytest.raises(AppError):
        run_plan(plan, Dying(0, AppError("No weights.", "Fetch them.")), folder)
    run_plan(plan, Parrot(), folder)
    assert answers(folder) == right_answers(plan)


def test_a_folder_that_holds_a_run_is_not_written_over(plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    with pytest.raises(AppError, match=r"holds a run already \(9 of 9") as caught:
        run_plan(plan, Parrot(), folder)
    assert "--resume" in caught.value.hint


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_of_other_things_is_left_alone(plan: Plan, folder: Path, resume: bool) -> None:
    folder.mkdir()
    (folder / "thesis.tex").write_text("…")
    with pytest.raises(AppError, match=r"no run folder: thesis\.tex"):
        run_plan(plan, Parrot(), folder, resume=resume)
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("vlm", "decoding", "setting", "says"),
    [
        (replace(PARROT, name="Other"), Decoding(), "", "VLM: Parrot there, Other here"),
        (replace(PARROT, details={"weights": "b"}), Decoding(), "", "VLM's weights: none there, b here"),
        (PARROT, Decoding(max_new_tokens=9), "", "decoding: greedy, 80 new tokens there, greedy, 9 new tokens here"),
        (PARROT, Decoding(watched=("Yes",)), "", "watched words"),
        (PARROT, Decoding(), "fine-tuned", "setting"),
    ],
)
def test_another_run_in_the_folder_is_named_and_refused(
    tmp_path: Path, folder: Path, vlm: VlmIdentity, decoding: Decoding, setting: str, says: str
) -> None:
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images")) as store:
        run_plan(read_plan(store, "drawn", PARROT, Decoding()), Parrot(), folder)
        other = read_plan(store, "drawn", vlm, decoding, setting=setting)
    with pytest.raises(AppError, match="another run") as caught:
        run_plan(other, Parrot(), folder, resume=True)
    assert says in caught.value.message


def test_wordings_changed_under_one_version_are_another_run(plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    with pytest.raises(AppError, match="wordings of the prompts, under the same version"):
        run_plan(replace(plan, prompts_sha256="0" * 64), Parrot(), folder, resume=True)


def test_a_limit_may_be_raised_but_not_lowered(plan: Plan, folder: Path, tmp_path: Path) -> None:
    two = drawn_plan(tmp_path / "two", limit=2)
    run_plan(two, Parrot(), folder)
    parrot = Parrot()
    record = run_plan(plan, parrot, folder, resume=True)
    assert (record.counts.planned, len(parrot.asked)) == (9, 9 - len(two.items))
    assert answers(folder) == right_answers(plan)
    with pytest.raises(AppError, match="limit is lower"):
        run_plan(two, Parrot(), folder, resume=True)


# Damage, locks and kills ----------------------------------------------------------------------------------------------


def cut_short(shard: Path) -> None:
    shard.write_bytes(shard.read_bytes()[:-40])


def emptied(shard: Path) -> None:
    shard.write_bytes(b"")


def flipped(shard: Path) -> None:
    content = bytearray(shard.read_bytes())
    content[40] ^= 0x55
    shard.write_bytes(content)


def gone(shard: Path) -> None:
    shard.unlink()


@pytest.mark.parametrize("damage", [cut_short, emptied, flipped, gone])
def test_a_damaged_shard_is_named_set_aside_and_asked_again(
    plan: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    monkeypatch.setattr(runner, "SHARD_ROWS", 1)
    run_plan(plan, Parrot(), folder, batch=5)
    damage(folder / "answers-00001.parquet")
    again = Parrot()
    record = run_plan(plan, again, folder, resume=True)
    assert record.lost_shards == ("answers-00001.parquet",)
    assert again.asked == [item.prompt for item in plan.items[:5]]
    assert answers(folder) == right_answers(plan)
    kept = [] if damage is gone else ["answers-00001.parquet.damaged"]
    assert shards(folder) == [*kept, "answers-00002.parquet", "answers-00003.parquet"]
    assert run_plan(plan, Dying(0, AssertionError()), folder, resume=True) == record


def test_a_file_named_like_a_shard_far_beyond_the_others_is_no_shard(plan: Plan, folder: Path) -> None:
    """A hundred million numbers would be walked for it."""
    run_plan(plan, Parrot(), folder)
    stray = folder / "answers-99999999.parquet"
    stray.write_bytes((folder / "answers-00001.parquet").read_bytes())
    record = run_plan(plan, Parrot(), folder, resume=True)
    assert (record.n_shards, record.lost_shards) == (1, ())


def test_a_shard_that_the_record_does_not_know_yet_is_read(plan: Plan, folder: Path) -> None:
    """A kill between the writing of the two leaves it so; a record restored from a copy does, too."""
    run_plan(plan, Parrot(), folder)
    (folder / "answers-00001.parquet").rename(folder / "answers-00900.parquet")
    record = read_record(folder)
    assert record is not None
    write_record(folder, record.model_copy(update={"n_shards": 0}))
    again = Parrot()
    assert run_plan(plan, again, folder, resume=True).n_shards == 900
    assert again.asked == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema_version": 2}'])
def test_a_record_that_is_damaged_or_newer_is_refused(plan: Plan, folder: Path, content: bytes) -> None:
    run_plan(plan, Parrot(), folder)
    (folder / "run.json").write_bytes(content)
    with pytest.raises(AppError, match=r"run\.json is damaged, or was written by another Parallax"):
        run_plan(plan, Parrot(), folder, resume=True)


def test_a_shard_that_cannot_be_written_is_said_and_leaves_nothing_behind(
    plan: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name.startswith("answers"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(AppError, match="No space left"):
        run_plan(plan, Parrot(), folder)
    assert shards(folder) == []
    assert not list(folder.glob(".*"))


def test_a_folder_in_use_names_the_process(plan: Plan, folder: Path) -> None:
    with locked(folder), pytest.raises(AppError, match=f"Process {os.getpid()} is writing"):
        run_plan(plan, Parrot(), folder)


def test_a_lock_file_that_a_killed_process_left_holds_nobody_up(plan: Plan, folder: Path) -> None:
    folder.mkdir()
    (folder / LOCK).write_text("1")
    run_plan(plan, Parrot(), folder)
    assert not (folder / LOCK).exists()


_SESSIONS = """
import os, signal, sys, time
import fcntl, pyarrow.parquet
from pathlib import Path
from backend.services.runs import runner
from tests.services.run_files import Parrot, long_plan

runner.SHARD_ROWS = 12
plan = long_plan(Path(sys.argv[1]))
for line in sys.stdin:
    since, seconds = line.split()
    told, tell = os.pipe()
    session = os.fork()
    if not session:
        runner.run_plan(plan, Parrot(seconds=0.008), Path(sys.argv[2]), resume=True, batch=6,
                        report=lambda *_: os.write(tell, b"."))
        os._exit(0)
    if since == "answering":
        os.read(told, 1)
    time.sleep(float(seconds))
    os.kill(session, signal.SIGKILL)
    print(os.WTERMSIG(os.waitpid(session, 0)[1]), flush=True)
    os.close(told), os.close(tell)
"""
"""Begins a session for each line it is told, and kills it so many seconds after its start or its first batch."""


def test_killed_at_twenty_moments_and_resumed_a_run_is_an_undisturbed_one(tmp_path: Path, folder: Path) -> None:
    images = draw_images(tmp_path / "images", [f"frame-{n:02d}" for n in range(60)])
    plan = long_plan(images)
    run_plan(plan, Parrot(), tmp_path / "whole", batch=6)
    moments = random.Random(7)
    command = [sys.executable, "-c", _SESSIONS, str(images), str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sessions:
        assert sessions.stdin is not None
        assert sessions.stdout is not None
        for since in 10 * ("start", "answering"):
            print(since, moments.uniform(0, 0.2), file=sessions.stdin, flush=True)
            assert sessions.stdout.readline() == f"{signal.SIGKILL:d}\n"
            kept = rows_of_all_shards(folder)
            assert len(kept) == len(set(kept)) < len(plan.items)
        sessions.stdin.close()
    assert kept
    run_plan(plan, Parrot(), folder, resume=True)
    assert answers(folder) == answers(tmp_path / "whole") == right_answers(plan)
    assert sorted(rows_of_all_shards(folder)) == sorted(item.item_id for item in plan.items)
    assert not list(folder.glob(".*"))


def rows_of_all_shards(folder: Path) -> list[str]:
    """Return the item ids of all shards as they stand there."""
    return [item_id for shard in folder.glob("answers-*") for item_id in pq.read_table(shard)["item_id"].to_pylist()]


# Words ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("The image a/b.jpg is not on this machine. Attach it.", "The image … is not on this machine."),
        ("The call timed out after 30 s. Try again.", "The call timed out after … s."),
        ("Rate limited (429).", "Rate limited …"),
        ("There is no word 'polyp' in it, doesn't it say so", "There is no word … in it, doesn't it say so"),
        ("  out of\n memory ", "out of memory"),
        ("", ""),
    ],
)
def test_errors_that_differ_by_a_name_or_a_number_are_one_class(error: str, name: str) -> None:
    assert error_class(error) == name
