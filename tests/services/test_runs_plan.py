"""A plan asks each probe of a suite once, in one order, under ids that say what decides the answer."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from backend.domain.records import Origin, System
from backend.domain.vlm import Decoding
from backend.endoca.prompts import answer_prompt
from backend.errors import AppError, BadLines
from backend.services.ingest.images import attach_images
from backend.services.runs import plan as plans
from backend.services.runs.manifest import is_file_name, read_manifest_plan
from backend.services.runs.plan import Asked, VlmIdentity, read_plan
from tests.services.endoca_files import manifest_lines, write_jsonl
from tests.services.run_files import PARROT, draw_images, drawn_plan, drawn_store


def test_every_probe_is_asked_once_with_the_systems_own_prompt(tmp_path: Path) -> None:
    plan = drawn_plan(tmp_path)
    questions = {f"drawn:{line['probe_id']}": line["question"] for line in manifest_lines()}
    assert {item.probe_id: item.prompt for item in plan.items} == {
        probe: answer_prompt(question) for probe, question in questions.items()
    }
    assert len(plan.items) == len({item.item_id for item in plan.items}) == 9


def test_the_run_is_a_precomputed_one_of_the_suite(tmp_path: Path) -> None:
    key = drawn_plan(tmp_path, setting="zero-shot").key
    assert (key.system, key.suite, key.vlm, key.stage, key.origin, key.setting) == (
        System.ENDOCA, "drawn", "Parrot", "direct", Origin.PRECOMPUTED, "zero-shot",
    )  # fmt: skip
    assert (key.prompt_version, key.decoding) == ("endoca-1", "greedy, 80 new tokens")


def test_the_questions_of_an_image_stand_together(tmp_path: Path) -> None:
    """Samples 2 and 10 are on one image, 3 between them on another: numbers order as numbers, the image comes first."""
    lines = [
        {**line, "sample_id": sample, "probe_id": f"{sample}::{line['probe_id'].split('::', 1)[1]}", "img_id": image}
        for sample, image in ((10, "x"), (3, "y"), (2, "x"))
        for line in manifest_lines()
        if line["sample_id"] == 22
    ]
    with drawn_store(tmp_path, lines) as store:
        plan = read_plan(store, "drawn", PARROT, Decoding())
    assert plan.unit_ids == ("drawn:2", "drawn:10", "drawn:3")
    assert len([image for image, _ in groupby(item.image_id for item in plan.items)]) == 2
    assert [item.probe_id for item in plan.items[:3]] == [
        "drawn:2::complex",
        "drawn:2::atomic::0",
        "drawn:2::atomic::1",
    ]


def test_a_limit_takes_whole_units_from_the_first(tmp_path: Path) -> None:
    whole, limited = drawn_plan(tmp_path / "a"), drawn_plan(tmp_path / "b", limit=2)
    assert len(limited.unit_ids) == 2
    assert limited.items == tuple(
        replace(item, image=there.image)
        for item, there in zip(whole.items[: len(limited.items)], limited.items, strict=True)
    )
    assert whole.items[len(limited.items)].unit_id not in limited.unit_ids


def test_planning_twice_gives_the_same_ids_wherever_the_images_lie(tmp_path: Path) -> None:
    first, second = drawn_plan(tmp_path / "a"), drawn_plan(tmp_path / "b")
    assert [item.item_id for item in first.items] == [item.item_id for item in second.items]
    assert first.items[0].image != second.items[0].image


@pytest.mark.parametrize(
    ("vlm", "decoding"),
    [
        (replace(PARROT, name="Other"), Decoding()),
        (replace(PARROT, details={"weights": "others"}), Decoding()),
        (PARROT, Decoding(max_new_tokens=120)),
        (PARROT, Decoding(reasoning_effort="low")),
    ],
)
def test_what_could_change_an_answer_changes_every_id(tmp_path: Path, vlm: VlmIdentity, decoding: Decoding) -> None:
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images")) as store:
        one = {item.item_id for item in read_plan(store, "drawn", PARROT, Decoding()).items}
        other = {item.item_id for item in read_plan(store, "drawn", vlm, decoding).items}
    assert not one & other


def test_another_file_of_an_image_changes_the_ids_of_its_questions_alone(tmp_path: Path) -> None:
    images = draw_images(tmp_path / "images")
    with drawn_store(tmp_path, images=images) as store:
        before = read_plan(store, "drawn", PARROT, Decoding())
        (images / "frame-b.png").write_bytes((images / "frame-a.png").read_bytes())
        attach_images(store, images)
        after = read_plan(store, "drawn", PARROT, Decoding())
    changed = [old.image_name for old, new in zip(before.items, after.items, strict=True) if old.item_id != new.item_id]
    assert changed == ["images/frame-b.jpg"] * 4


def test_images_that_are_not_at_hand_are_named(tmp_path: Path) -> None:
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-b"])) as store:
        plan = read_plan(store, "drawn", PARROT, Decoding())
    assert list(plan.images.values()) == ["images/frame-a.jpg", "images/frame-b.jpg"]
    assert list(plan.missing_images.values()) == ["images/frame-a.jpg"]
    assert [item.lacks_image for item in plan.items] == [True] * 5 + [False] * 4


def test_a_link_that_leads_out_of_its_folder_is_no_image_at_hand(tmp_path: Path) -> None:
    images, outside = draw_images(tmp_path / "images"), draw_images(tmp_path / "outside")
    with drawn_store(tmp_path, images=images) as store:
        (images / "frame-a.png").unlink()
        (images / "frame-a.png").symlink_to(outside / "frame-a.png")
        plan = read_plan(store, "drawn", PARROT, Decoding())
    assert list(plan.missing_images.values()) == ["images/frame-a.jpg"]


def test_a_system_may_ask_about_the_text_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blindfold = plans.ASKINGS[System.ENDOCA]._replace(ask=lambda role, question: Asked(question, role == "complex"))
    monkeypatch.setattr(plans, "ASKINGS", {System.ENDOCA: blindfold})
    plan = drawn_plan(tmp_path)
    alone = [item for item in plan.items if "atomic" in item.probe_id]
    assert {(item.image_id, item.image_name, item.image, item.image_sha256) for item in alone} == {("", "", None, None)}
    assert not plan.missing_images
    assert all(item.image for item in plan.items if item not in alone)


def test_an_unknown_suite_lists_the_known_ones(tmp_path: Path) -> None:
    with drawn_store(tmp_path) as store, pytest.raises(AppError, match="no suite core") as caught:
        read_plan(store, "core", PARROT, Decoding())
    assert "drawn" in caught.value.hint


def test_a_suite_without_a_unit_is_refused(tmp_path: Path) -> None:
    with drawn_store(tmp_path) as store:
        with store.write() as cursor:
            cursor.execute("INSERT INTO suites (suite, system, source) VALUES ('slake', 'verimap', 'test')")
        with pytest.raises(AppError, match="Suite slake has no unit to ask about"):
            read_plan(store, "slake", PARROT, Decoding())


def test_a_manifest_file_gives_the_plan_its_suite_would_give(tmp_path: Path) -> None:
    plan = drawn_plan(tmp_path)
    manifest = write_jsonl(tmp_path / "endoca_drawn.jsonl.gz", manifest_lines())
    assert read_manifest_plan(manifest, tmp_path / "images", PARROT, Decoding()) == plan


def test_a_manifest_without_an_image_folder_lacks_all_images(tmp_path: Path) -> None:
    manifest = write_jsonl(tmp_path / "drawn.jsonl", manifest_lines())
    plan = read_manifest_plan(manifest, None, PARROT, Decoding())
    assert (len(plan.items), len(plan.missing_images)) == (9, 2)


def test_a_bad_line_of_a_manifest_is_named(tmp_path: Path) -> None:
    manifest = write_jsonl(tmp_path / "drawn.jsonl", [*manifest_lines(), "{"])
    with pytest.raises(BadLines, match="line 10"):
        read_manifest_plan(manifest, None, PARROT, Decoding())


@pytest.mark.parametrize(
    ("text", "is_file"),
    [("core", False), ("core.jsonl", True), ("a/endoca_core.jsonl.gz", True), ("mine.csv", True), ("v1.2", False)],
)
def test_a_file_is_told_from_a_suite_by_its_ending(text: str, is_file: bool) -> None:
    assert is_file_name(text) is is_file
