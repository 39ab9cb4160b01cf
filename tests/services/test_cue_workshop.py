"""Promises of the cue workshop: what can be asked of a thing, with which cues, and why others do not apply."""

from pathlib import Path

from backend.services.cue_workshop import (
    OWN,
    CueChoice,
    Question,
    cue_choices,
    empty_scene,
    questions_about,
    with_own,
    workshop_frames,
)
from backend.surgcheck.boxes import Box
from backend.surgcheck.exclusions import Reason
from backend.surgcheck.scene_graphs import Anatomy, Hand, Tool, Triplet
from backend.surgcheck.tasks import Cue, Task
from tests.services.pair_store import HEIGHT, SCENE, SUITE, WIDTH, make_pair_store

EMPTY = empty_scene("mine.png", WIDTH, HEIGHT)

MINE = Tool(7, "hook", Box(300, 160, 200, 150), Hand.RIGHT, Triplet("hook", "dissect", "cystic_duct"))


def texts(choices: list[CueChoice]) -> dict[Cue, tuple[str, str] | None]:
    return {one.cue: (one.pair.original, one.pair.less_biased) if one.pair else None for one in choices}


def test_of_an_annotated_tool_every_paired_task_can_be_asked() -> None:
    tasks = [question.task for question in questions_about(SCENE, 1)]
    assert tasks == [Task.INSTRUMENT, Task.ACTION, Task.TARGET, Task.TRIPLET, Task.ANATOMY_HOP]
    assert [question.task for question in questions_about(SCENE, 3)] == [Task.ANATOMY]


def test_a_drawn_box_gets_all_four_cues_and_both_texts() -> None:
    scene = with_own(EMPTY, MINE)
    assert texts(cue_choices(scene, OWN, Question(Task.ACTION, 0))) == {
        Cue.BOX: (
            "What action is hook in the red box performing?",
            "What action is the tool in the red box performing?",
        ),
        Cue.ARROW: (
            "What action is the hook indicated by the red arrow performing?",
            "What action is the tool indicated by the red arrow performing?",
        ),
        Cue.POSITION: (
            "What action is the hook located at the center of the image performing?",
            "What action is the tool located at the center of the image performing?",
        ),
        Cue.PERIPHRASIS: (
            "What action is the hook used by the operator’s right hand performing?",
            "What action is the tool used by the operator’s right hand performing?",
        ),
    }


def test_a_cue_that_does_not_apply_says_why() -> None:
    scene = with_own(SCENE, MINE)
    by_cue = {one.cue: one for one in cue_choices(scene, OWN, Question(Task.ACTION, 0))}
    assert by_cue[Cue.PERIPHRASIS].pair is None
    assert by_cue[Cue.PERIPHRASIS].reasons == (Reason.SHARED_HAND,)
    assert by_cue[Cue.BOX].pair is not None and by_cue[Cue.BOX].reasons == ()


def test_a_drawn_structure_is_asked_for_with_the_three_cues_that_anatomy_has() -> None:
    scene = with_own(EMPTY, Anatomy(7, "cystic_duct", Box(20, 20, 100, 80)))
    assert questions_about(scene, OWN) == [Question(Task.ANATOMY, 0)]
    choices = cue_choices(scene, OWN, Question(Task.ANATOMY, 0))
    assert [choice.cue for choice in choices] == [Cue.BOX, Cue.ARROW, Cue.POSITION]
    assert all(choice.pair and choice.pair.reference == "cystic_duct" for choice in choices)


def test_each_of_two_hops_is_a_question_of_its_own() -> None:
    hops = [question for question in questions_about(SCENE, 2) if question.task is Task.ANATOMY_HOP]
    asked = [texts(cue_choices(SCENE, 2, hop)) for hop in hops]
    assert len({str(one) for one in asked}) == len(hops) >= 1


def test_nothing_can_be_asked_of_a_tool_of_which_neither_hand_nor_action_is_known() -> None:
    assert questions_about(with_own(EMPTY, Tool(7, "hook", MINE.box, None, None)), OWN) == []


def test_frames_to_begin_with_have_their_scene_graph_and_their_file(tmp_path: Path) -> None:
    with make_pair_store(tmp_path / "pairs.duckdb") as store:
        assert [(one.file, one.suite) for one in workshop_frames(store, 5)] == [("7_100.png", SUITE)]
