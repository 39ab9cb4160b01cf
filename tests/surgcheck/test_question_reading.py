"""Promises of what a question's words and its picture's name say."""

import pytest

from backend.surgcheck.answer_text import answer_text
from backend.surgcheck.question_pairs import Pair, all_pairs
from backend.surgcheck.question_reading import (
    cue_of_question,
    frame_of_picture,
    hand_of,
    plain_question,
    shared_words,
    task_of_question,
)
from backend.surgcheck.release_rows import release_row
from backend.surgcheck.scene_graphs import Anatomy, Cvs, Hand
from backend.surgcheck.tasks import Cue, Task
from tests.surgcheck.scenes import box, scene, tool

SCENE = scene(
    (
        tool(1, box(40, 40, 120, 90), Hand.LEFT, "retract gallbladder"),
        tool(2, box(600, 300, 120, 90), Hand.RIGHT, "dissect cystic_duct", "hook"),
    ),
    (
        Anatomy(3, "gallbladder", box(300, 20, 120, 90)),
        Anatomy(4, "cystic_duct", box(300, 200, 120, 90)),
        Anatomy(5, "cystic_artery", box(600, 20, 120, 60)),
    ),
    Cvs(True, False, False),
)
PAIRS = all_pairs(SCENE).pairs


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.task}-{pair.cue}-{pair.annotation_id}")
def test_every_question_tells_its_task_and_its_cue(pair: Pair) -> None:
    for question in (pair.original, pair.less_biased, pair.original.replace("’", "'"), pair.original.upper()):
        assert (task_of_question(question), cue_of_question(question)) == (pair.task, pair.cue)


def test_every_task_and_cue_is_among_them() -> None:
    assert {pair.task for pair in PAIRS} == set(Task) and {pair.cue for pair in PAIRS} == set(Cue)


@pytest.mark.parametrize("question", ["Is there text?", "", "Where is the tool?"])
def test_other_questions_have_no_task(question: str) -> None:
    assert task_of_question(question) is None


def test_the_hand_is_in_the_pictures_name_or_in_the_question() -> None:
    for pair in PAIRS:
        told = hand_of(pair.image, pair.original)
        assert told in (pair.slot, None)
        if pair.cue is not Cue.POSITION:
            assert told == pair.slot


@pytest.mark.parametrize(
    ("picture", "frame"),
    [
        ("164_2700_bbox_lt.jpg", "164_2700.jpg"),
        ("164_2700_arrow_cystic_duct.jpg", "164_2700.jpg"),
        ("164_2700_arrow_gallbladder_35.png", "164_2700.png"),
        ("164_2700.jpg", "164_2700.jpg"),
        ("box_1_arrow", "box_1_arrow"),
        ("1_1_bbox_rt", "1_1"),
    ],
)
def test_a_picture_is_a_copy_of_its_frame(picture: str, frame: str) -> None:
    assert frame_of_picture(picture) == frame


@pytest.mark.parametrize("mark", ["<image>\n", "<image> ", "<IMAGE>", "<|image|>\n", ""])
def test_the_mark_of_the_image_and_the_prefix_are_no_part_of_a_question(mark: str) -> None:
    prefix = "You are an assistant with surgical expertise. Given a surgical scene, answer the question in 1-5 words. "
    for before in ("", prefix):
        assert plain_question(f"{mark}{before}Which tool is in the red box?") == "Which tool is in the red box?"


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("hook", "hook"),
        ("  Hook.\n", "Hook."),
        ("system\nx\nuser\nq\nassistant\nhook", "hook"),
        ("user\nq\nassistant\nmaybe\nassistant\nhook\n", "hook"),
        ("assistant\nhook", "hook"),
        ("system\r\nx\r\nuser\r\nq\r\nassistant\r\nhook\r\n", "hook"),
        ("user\rq\rassistant\rhook", "hook"),
        ("assistant\nassistant\nhook", "hook"),
        ("the assistant\nuses a hook", "the assistant\nuses a hook"),
        ("user\nq\nassistant\n", ""),
        ("", ""),
    ],
)
def test_an_answer_is_what_follows_the_last_line_that_says_assistant(raw: str, answer: str) -> None:
    assert answer_text(raw) == answer


def test_twins_share_what_they_ask_about_and_no_other_question_of_the_frame_does() -> None:
    for pair in PAIRS:
        shared = shared_words(pair.task, pair.cue, pair.original)
        assert shared == shared_words(pair.task, pair.cue, pair.less_biased)
    hand = "Which tool is used by the assistant’s hand?"
    assert shared_words(Task.INSTRUMENT, Cue.PERIPHRASIS, hand) == ("used by the assistant's hand",)
    triplet = "Which tool in the red box is being used by the assistant’s hand, what action is it performing?"
    assert shared_words(Task.TRIPLET, Cue.BOX, triplet) == ()
    hop = "Which anatomical structure lies immediately left of the structure that the tool in the red box is acting on?"
    assert shared_words(Task.ANATOMY_HOP, Cue.BOX, hop) == ("immediately left of",)
    assert shared_words(Task.CVS, Cue.NONE, "Is it  achieved?") == ("is it achieved?",)


def test_a_pair_is_written_as_the_release_writes_it() -> None:
    pair = next(pair for pair in PAIRS if pair.task is Task.CVS)
    assert release_row(pair, pair.original, prefixed=True) == {
        "image": "7_100.jpg",
        "conversations": [
            {
                "from": "human",
                "value": "<image>\nYou are an assistant with surgical expertise. Given a surgical scene, answer the "
                f"question in 1-5 words. {pair.original}",
            },
            {"from": "gpt", "value": "Yes"},
        ],
        "ori_img_tag": "7_100.jpg",
        "main_tag": "Reasoning_QA",
        "sub_sub_tag": "CVS",
        "sub_tag": "No_Cue",
    }
