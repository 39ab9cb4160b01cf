"""A training that was stopped takes the steps it would have taken, and leaves a VLM like any other."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from backend.demo import training
from backend.demo.curriculum import Stage
from backend.demo.curves import CurvePoint
from backend.demo.scenes import Split
from backend.demo.training import Training, prompts_hash
from backend.demo.training_frames import endoscopy_picture, surgical_pictures
from backend.domain.progress import Cancelled, silent
from backend.endoca import prompts as endoca
from backend.surgcheck import prompts as surgcheck
from backend.verimap import prompts as verimap
from tests.demo.material import tiny_architecture, varied_facts

FRAMES = 12
CURRICULUM = (
    Stage("naming", 4, endoscopy=2, surgical=2, learning_rate=2e-3, last_rate=0.5, naming=20),
    Stage(
        "answering",
        4,
        endoscopy=2,
        surgical=1,
        learning_rate=2e-3,
        last_rate=0.5,
        naming=3,
        mix={"atomic": 2, "verify": 0.7, "select": 0.5},
        surgical_mix={"answer": 2, "verify": 0.5},
    ),
)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Sums of several threads differ in the last bit from one time to the next."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", autouse=True)
def tiny() -> Iterator[None]:
    """Few frames and a narrow VLM; the curves are measured every third step."""
    with pytest.MonkeyPatch.context() as patch:
        tiny_architecture(patch)
        for name in ("ENDOSCOPY_FRAMES", "LAPAROSCOPY_FRAMES", "VALIDATION_FRAMES"):
            patch.setattr(training, name, 100)
        patch.setattr(training, "EVERY", 3)
        yield


@pytest.fixture(scope="module")
def blocks() -> Mapping[str, Mapping[str, Any]]:
    """A block of each kind and split, of a few pictures."""
    found = {}
    for split in (Split.TRAIN, Split.VALIDATION):
        endoscopic = [endoscopy_picture(split, number) for number in range(FRAMES)]
        surgical = [picture for number in range(4) for picture in surgical_pictures(split, number)]
        for kind, pictures, facts in (
            ("endoscopy", endoscopic, varied_facts(FRAMES)),
            ("laparoscopy", surgical, [asked for _, _, asked in surgical]),
        ):
            found[f"{kind}-{split}-0000.npz"] = {
                "pixels": np.stack([pixels for pixels, _, _ in pictures]),
                "coverage": np.stack([names for _, names, _ in pictures]),
                "facts": np.array(json.dumps(facts)),
            }
    return found


def work_folder(folder: Path, blocks: Mapping[str, Mapping[str, Any]]) -> Path:
    folder.mkdir()
    for name, block in blocks.items():
        np.savez(folder / name, **block)
    return folder


def begun(folder: Path, report: Any = silent) -> Training:
    """The training as it stands; no process may draw."""
    return Training(folder, 0, report, CURRICULUM)


def state_of(of: Training) -> dict[str, Any]:
    state = {f"vlm.{name}": tensor.clone() for name, tensor in of.vlm.state_dict().items()}
    moments = of._optimizer.state_dict()["state"]
    return state | {f"{index}.{name}": value for index, own in moments.items() for name, value in own.items()}


def assert_same(found: Training, expected: dict[str, Any]) -> None:
    state = state_of(found)
    assert state.keys() == expected.keys()
    assert all(torch.equal(state[name], expected[name]) for name in expected)


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, blocks: Mapping[str, Mapping[str, Any]]
) -> tuple[Training, list[CurvePoint]]:
    """A training of all eight steps in one go, with its curves."""
    of = begun(work_folder(tmp_path_factory.mktemp("demo") / "undisturbed", blocks))
    points: list[CurvePoint] = []
    of.run(60, points.append)
    return of, points


Undisturbed = tuple[Training, list[CurvePoint]]


def without_times(points: list[CurvePoint]) -> list[tuple[Any, ...]]:
    return [(point.stage, point.step, point.accuracy) for point in points]


def test_training_changes_all_weights_that_are_taught(undisturbed: Undisturbed, tmp_path: Path, blocks: Any) -> None:
    of, _ = undisturbed
    fresh = begun(work_folder(tmp_path / "fresh", blocks))
    assert fresh.standing.step == 0 and not fresh.is_done
    assert of.standing.step == of.total_steps == 8 and of.is_done
    untaught = {
        name
        for name, tensor in fresh.vlm.named_parameters()
        if torch.equal(tensor, dict(of.vlm.named_parameters())[name])
    }
    assert not {name for name in untaught if "vision_tower" not in name}
    assert untaught <= {"model.vision_tower.post_layernorm.weight", "model.vision_tower.post_layernorm.bias"}


def test_the_curves_have_a_point_every_so_many_steps_and_at_the_end_of_a_stage(undisturbed: Undisturbed) -> None:
    _, points = undisturbed
    assert [(point.stage, point.step) for point in points] == [
        ("naming", 3), ("naming", 4), ("answering", 6), ("answering", 8)
    ]  # fmt: skip
    assert [bool(point.accuracy) for point in points] == [False, False, True, True]
    assert all(point.training_loss > 0 for point in points)
    assert [point.seconds for point in points] == sorted(point.seconds for point in points)


def test_a_point_counts_every_validation_lesson_once(undisturbed: Undisturbed) -> None:
    _, points = undisturbed
    counts = {task: sum(n for _, n in kinds.values()) for task, kinds in points[-1].accuracy.items()}
    surgical, surgical_verify = counts.pop("surgical"), counts.pop("surgical_verify")
    per_frame = {"atomic": 10, "complex": 3, "verify": 5, "verify_complex": 1, "revise": 1, "select": 1, "loop": 1}
    assert counts == {task: n * FRAMES for task, n in per_frame.items()}
    assert 0 < surgical_verify < surgical
    assert {n for _, n in points[-1].accuracy["atomic"].values()} == {FRAMES}


@pytest.mark.parametrize("killed_after", [4, 6])
def test_a_training_that_was_killed_ends_where_it_would_have_ended(
    killed_after: int, undisturbed: Undisturbed, tmp_path: Path, blocks: Any
) -> None:
    """Its last checkpoint is of step 4, where the first stage ends; killed after 6, it takes two steps again."""
    folder = work_folder(tmp_path / "work", blocks)

    def kill(stage: str, done: int, total: int | None) -> None:
        if stage.startswith("training") and done == killed_after:
            raise Cancelled

    killed = begun(folder, kill)
    with pytest.raises(Cancelled):
        killed.run(60, lambda point: None)
    assert killed.standing.step == killed_after
    again = begun(folder)
    assert again.standing.step == 4 and 0 < again.standing.seconds <= killed.standing.seconds
    points: list[CurvePoint] = []
    again.run(60, points.append)
    assert_same(again, state_of(undisturbed[0]))
    assert without_times(points) == without_times(undisturbed[1])[2:]


def test_a_training_in_sessions_too_short_for_two_steps_ends_where_it_would_have_ended(
    undisturbed: Undisturbed, tmp_path: Path, blocks: Any
) -> None:
    folder = work_folder(tmp_path / "work", blocks)
    sessions = 0
    while not (session := begun(folder)).is_done:
        session.run(0, lambda point: None)
        sessions += 1
        assert session.standing.step == sessions
    assert sessions == 8
    assert_same(session, state_of(undisturbed[0]))


def test_a_finished_training_takes_no_further_step(undisturbed: Undisturbed) -> None:
    of, _ = undisturbed
    before = state_of(of)
    of.run(60, lambda point: pytest.fail("a step was taken"))
    assert_same(of, before)


def test_nothing_that_is_written_is_a_pickle(undisturbed: Undisturbed, tmp_path: Path, blocks: Any) -> None:
    folder = work_folder(tmp_path / "work", blocks)
    session = begun(folder)
    session.run(0, lambda point: None)
    session.save_vlm(folder / "vlm")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".npz", ".safetensors", ".json", ".jinja"}
    for path in files:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as block:
                assert set(block.files) == {"pixels", "coverage", "facts"}
                assert all(block[name].dtype != object for name in block.files)


def test_the_vlm_that_is_saved_loads_like_any_other_and_answers(undisturbed: Undisturbed, tmp_path: Path) -> None:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    of, _ = undisturbed
    of.save_vlm(tmp_path / "vlm")
    vlm: Any = AutoModelForImageTextToText.from_pretrained(tmp_path / "vlm", local_files_only=True)
    auto: Any = AutoProcessor
    processor = auto.from_pretrained(tmp_path / "vlm", local_files_only=True)
    kept = load_file(tmp_path / "vlm" / "model.safetensors")
    assert {tensor.dtype for tensor in kept.values()} == {torch.bfloat16}
    expected = of.vlm.state_dict()
    assert vlm.state_dict().keys() == expected.keys()
    for name, tensor in vlm.state_dict().items():
        torch.testing.assert_close(tensor, expected[name].to(torch.bfloat16).to(tensor.dtype), rtol=0, atol=0)
    prompt = endoca.answer_prompt("Is there text?")
    messages = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": prompt}]}]
    text = processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    picture = Image.fromarray(np.zeros((512, 400, 3), np.uint8))
    inputs = processor(images=[picture], text=[text], return_tensors="pt")
    answered = vlm.generate(**inputs, max_new_tokens=3, do_sample=False)
    assert answered.shape[1] > inputs["input_ids"].shape[1]


@pytest.mark.parametrize("system", [endoca, surgcheck, verimap], ids=["endoca", "surgcheck", "verimap"])
def test_the_hash_of_the_prompts_changes_with_any_wording(system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = prompts_hash()
    assert prompts_hash() == before
    for name, wording in system.TEMPLATES.items():
        with monkeypatch.context() as patch:
            patch.setattr(system, "TEMPLATES", MappingProxyType({**system.TEMPLATES, name: wording + " "}))
            assert prompts_hash() != before
