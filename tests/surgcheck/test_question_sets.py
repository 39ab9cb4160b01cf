"""The full and the balanced set: by hand, for any frames, and against the release's own files."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.surgcheck.boxes import Box
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.grounding_cues import Position
from backend.surgcheck.prompts import answer_prompt
from backend.surgcheck.question_pairs import Pair, all_pairs
from backend.surgcheck.question_sets import BALANCED_TASKS, balanced_set, full_set
from backend.surgcheck.scene_graphs import Anatomy, Cvs, Hand, SceneGraph, Tool, Triplet
from backend.surgcheck.tasks import PAIRED_TASKS, Cue, Mode, Task
from tests.surgcheck.scenes import FEW, HEIGHT, WIDTH, handmade_scenes, read_lines, scene_graphs, tool

FOUR_CUES = (Cue.BOX, Cue.ARROW, Cue.POSITION, Cue.PERIPHRASIS)


def simple_scene(number: int) -> SceneGraph:
    """A frame to which every cue applies."""
    tools = (
        tool(1, Box(40, 180, 240, 150), Hand.LEFT, "retract gallbladder"),
        tool(2, Box(560, 350, 200, 100), Hand.RIGHT, "dissect cystic_duct", category="hook"),
    )
    structures = (Anatomy(3, "gallbladder", Box(300, 60, 260, 100)), Anatomy(4, "cystic_duct", Box(360, 330, 110, 70)))
    return SceneGraph(f"7_{number}.jpg", WIDTH, HEIGHT, "7", tools, structures, Cvs(True, True, True))


def test_the_full_set_asks_each_frame_and_task_once_and_spreads_the_cues_evenly() -> None:
    pairs = full_set([simple_scene(number) for number in range(42)]).pairs
    for task in PAIRED_TASKS:
        of_task = [pair for pair in pairs if pair.task is task]
        assert len(of_task) == len({pair.frame for pair in of_task}) == 42
        counts = Counter(pair.cue for pair in of_task)
        assert len(counts) == (3 if task is Task.TRIPLET else 4)
        assert max(counts.values()) - min(counts.values()) <= 1
        assert len({pair.slot for pair in of_task}) == 2
    anatomy = Counter(pair.cue for pair in pairs if pair.task is Task.ANATOMY)
    assert anatomy == {Cue.BOX: 28, Cue.ARROW: 28, Cue.POSITION: 28}
    assert sum(pair.task is Task.CVS for pair in pairs) == 4 * 42
    assert sum(pair.task is Task.INSTRUMENT_COUNT for pair in pairs) == 42


def test_a_seed_gives_one_full_set() -> None:
    scenes = [simple_scene(number) for number in range(12)]
    assert full_set(scenes, seed=1) == full_set(scenes, seed=1)
    assert full_set(scenes, seed=1) != full_set(scenes, seed=2)


@FEW
@given(st.lists(scene_graphs(), max_size=4), st.integers(0, 3))
def test_the_full_set_chooses_from_all_pairs_and_keeps_every_exclusion(scenes: list[SceneGraph], seed: int) -> None:
    for mode in Mode:
        chosen, everything = full_set(scenes, mode, seed=seed), [all_pairs(each, mode) for each in scenes]
        possible = [pair for found in everything for pair in found.pairs]
        assert not Counter(chosen.pairs) - Counter(possible)
        assert list(chosen.exclusions) == [exclusion for found in everything for exclusion in found.exclusions]
        assert {pair.task for pair in chosen.pairs} == {pair.task for pair in possible}


@FEW
@given(st.lists(scene_graphs(), max_size=3))
def test_balanced_lines_differ_in_their_cue_alone(scenes: list[SceneGraph]) -> None:
    for mode in Mode:
        by_cue = balanced_set(scenes, mode).by_cue
        assert tuple(by_cue) == FOUR_CUES
        for line in zip(*by_cue.values(), strict=True):
            same = {(pair.frame, pair.task, pair.annotation_id, pair.slot, pair.reference) for pair in line}
            assert len(same) == 1
            assert [pair.cue for pair in line] == list(FOUR_CUES)
            assert line[0].task in BALANCED_TASKS
            assert line[0].slot is not None


def test_a_tool_that_one_cue_cannot_show_is_in_no_balanced_file(shared: Path) -> None:
    scenes = handmade_scenes(shared)
    strict, official = balanced_set(scenes), balanced_set(scenes, Mode.OFFICIAL)

    def slots(pairs: tuple[Pair, ...]) -> Counter[str]:
        return Counter(pair.frame[9:11] for pair in pairs if pair.task is Task.ACTION)

    one_each = ["04", "05", "06", "07", "09", "11", "12", "13", "14"]
    assert slots(strict.by_cue[Cue.BOX]) == {"01": 2, "02": 2, **dict.fromkeys(one_each, 1)}
    assert slots(official.by_cue[Cue.BOX]) == {"01": 2, "02": 2, "03": 2, "08": 2, **dict.fromkeys(one_each, 1)}
    assert {exclusion.reason for exclusion in strict.exclusions} >= {
        Reason.SHARED_HAND,
        Reason.NO_HAND,
        Reason.NULL_ACTION,
        Reason.OVERLAPPING_BOX,
    }


def cell(word: str) -> Box:
    """A box in the middle of a cell of the grid."""
    row, column = divmod(list(Position).index(Position(word)), 3)
    return Box(WIDTH * (column + 0.5) / 3 - 10, HEIGHT * (row + 0.5) / 3 - 10, 20, 20)


STEPS = {"right": (1, 0), "left": (-1, 0), "below": (0, 1), "above": (0, -1)}


def structures_of(target: str, hops: list[tuple[str, str]]) -> tuple[Anatomy, ...]:
    """A target in the middle of the frame with its neighbours where the hops say."""
    places = [(target, 0, 0)] + [
        (name, 60 * n * STEPS[where][0], 60 * n * STEPS[where][1]) for n, (where, name) in enumerate(hops, 1)
    ]
    return tuple(Anatomy(100 + n, name, Box(417 + x, 230 + y, 20, 20)) for n, (name, x, y) in enumerate(places))


def scenes_of(facts: dict[str, Any]) -> Iterator[SceneGraph]:
    """One scene for each tool of a frame of the release, as its questions tell it; tools without action last."""
    tools = [
        Tool(n, t["tool"], cell(t["position"]), Hand(t["slot"]), Triplet(t["tool"], t["verb"], t["target"]))
        for n, t in enumerate(facts["tools"])
    ]
    for known, t in zip(tools, facts["tools"], strict=True):
        structures = structures_of(t["target"], t["hops"])
        yield SceneGraph(facts["frame"], WIDTH, HEIGHT, "", (known,), structures, None)


def row_of(pair: Pair, text: str) -> tuple[str, ...]:
    return pair.image, pair.frame, pair.task, pair.cue.tag, text, pair.reference


def released(path: Path) -> Iterator[tuple[str, ...]]:
    for row in read_lines(path):
        human, gpt = row["conversations"]
        text = human["value"].removeprefix("<image>\n").removeprefix(answer_prompt(""))
        yield row["image"], row["ori_img_tag"], row["sub_sub_tag"], row["sub_tag"], text, gpt["value"]


@pytest.mark.parametrize("cue", FOUR_CUES)
def test_the_official_balanced_set_is_the_release_row_by_row(shared: Path, cue: Cue) -> None:
    """446 tools and their 560 hops, told from the release's own answers; only the order of frames is not compared."""
    data = shared / "data" / "endoscapes"
    facts = read_lines(data / "derived" / "test_scene_facts.jsonl")
    ours = balanced_set((each for frame in facts for each in scenes_of(frame)), Mode.OFFICIAL).by_cue[cue]
    assert len(ours) == 446 * 3 + 560
    for variant in ("original", "less_biased"):
        theirs = Counter(released(data / "surgcheck" / "balanced_4cue_test" / f"{cue}_{variant}.jsonl"))
        assert Counter(row_of(pair, getattr(pair, variant)) for pair in ours) == theirs


def test_the_official_baselines_are_the_release_row_by_row(shared: Path) -> None:
    data = shared / "data" / "endoscapes"
    ours: Counter[tuple[str, ...]] = Counter()
    for facts in read_lines(data / "derived" / "test_scene_facts.jsonl"):
        tools = tuple(tool(n, Box(10 + 90 * n, 10, 50, 50)) for n in range(facts["instrument_count"]))
        cvs = Cvs(*(facts["cvs"][name] == "Yes" for name in ("C1", "C2", "C3")))
        frame = SceneGraph(facts["frame"], WIDTH, HEIGHT, "", tools, (), cvs)
        pairs = full_set([frame], Mode.OFFICIAL).pairs
        ours.update(row_of(pair, pair.original) for pair in pairs if pair.cue is Cue.NONE)
    theirs = Counter(row for row in released(data / "surgcheck" / "full" / "test_original.jsonl") if row[3] == "No_Cue")
    assert ours == theirs
    assert sum(ours.values()) == 5 * 312


def test_every_paired_question_of_the_released_test_set_can_be_asked(shared: Path) -> None:
    """But those of tools without action, whose place the release tells nowhere; misnamed images are not compared."""
    data = shared / "data" / "endoscapes"
    facts = list(read_lines(data / "derived" / "test_scene_facts.jsonl"))
    ours = {
        (pair.frame, pair.task, pair.cue.tag, pair.original, pair.less_biased, pair.reference)
        for frame in facts
        for each in scenes_of(frame)
        for pair in all_pairs(each, Mode.OFFICIAL).pairs
    }
    unplaced = {frame["frame"] for frame in facts if frame["null_verb_tools"]}
    full = data / "surgcheck" / "full"
    originals, less_biased = (released(full / f"test_{variant}.jsonl") for variant in ("original", "less_biased"))
    compared = 0
    for (_, frame, task, cue, text, reference), twin in zip(originals, less_biased, strict=True):
        if task in PAIRED_TASKS and not (task == Task.INSTRUMENT and frame in unplaced):
            assert (frame, task, cue, text, twin[4], reference) in ours
            compared += 1
    assert compared > 1200
