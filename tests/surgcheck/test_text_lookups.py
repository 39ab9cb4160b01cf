"""A look-up answers by what a question names, and reaches what is known of the release."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.surgcheck.boxes import Relation
from backend.surgcheck.grounding_cues import Position
from backend.surgcheck.question_texts import (
    action_texts,
    cue_phrase,
    hop_texts,
    instrument_periphrasis_texts,
    instrument_texts,
    target_texts,
    triplet_texts,
)
from backend.surgcheck.scene_graphs import Hand, Triplet
from backend.surgcheck.tasks import Cue
from backend.surgcheck.text_lookups import Example, TextLookups, named_in

BOX = cue_phrase(Cue.BOX)
AT = cue_phrase(Cue.POSITION, Position.TOP_LEFT)
BY = cue_phrase(Cue.PERIPHRASIS, Hand.ASSISTANT)
RIGHT = ("operator's right",)
DONE = Triplet("hook", "dissect", "gallbladder")


@pytest.mark.parametrize(
    ("task", "texts", "original", "less_biased"),
    [
        ("Instrument", instrument_texts(BOX, Hand.LEFT), (("operator's left",),), ()),
        (
            "Instrument",
            instrument_periphrasis_texts(Hand.RIGHT, DONE),
            (("operator's right",),),
            (("operator's right",),),
        ),
        ("Triplet", triplet_texts(AT, Hand.ASSISTANT), (("assistant's",),), ()),
        ("Action", action_texts(BOX, "hook", Cue.BOX), (("hook",),), ()),
        ("Action", action_texts(BY, "clipper", Cue.PERIPHRASIS), (("clipper",), ("assistant's",)), (("assistant's",),)),
        ("Target", target_texts(AT, "bipolar"), (("bipolar",),), ()),
        ("anatomy_hop", hop_texts(AT, "hook", Relation.ABOVE), (("above", "hook"), ("above",)), (("above",),)),
        ("something else", action_texts(BOX, "hook", Cue.BOX), (), ()),
    ],
)
def test_what_a_question_names_is_found_in_both_its_texts(
    task: str, texts: tuple[str, str], original: tuple[Any, ...], less_biased: tuple[Any, ...]
) -> None:
    assert named_in(task, texts[0]) == original
    assert named_in(task, texts[1]) == less_biased


def test_the_commonest_reference_of_what_is_named_is_the_answer_and_ties_are_alphabetical() -> None:
    hook, grasper, tool = (
        f"What action is the {name} in the red box performing?" for name in ("hook", "grasper", "tool")
    )
    learned = TextLookups.learn(
        [
            Example("Action", hook, "dissect"),
            Example("Action", hook, "dissect"),
            Example("Action", hook, "coagulate"),
            Example("Action", grasper, "retract"),
            Example("Action", grasper, "grasp"),
            Example("Action", grasper, "retract"),
            Example("Action", grasper, "grasp"),
        ]
    )
    assert learned.answer("Action", hook) == "dissect"
    assert learned.answer("Action", grasper) == "grasp"
    # All together: dissect, grasp and retract twice each.
    assert learned.answer("Action", tool) == "dissect"
    assert learned.answer("Action", hook.replace("hook", "clipper")) == "dissect"
    assert learned.answer("Target", hook) == "", "a task that was never learned is no guess"


def test_a_hand_is_learned_from_questions_that_name_the_tool_too() -> None:
    learned = TextLookups.learn(
        [
            Example("Action", action_texts(cue_phrase(Cue.PERIPHRASIS, hand), tool, Cue.PERIPHRASIS).original, verb)
            for hand, tool, verb in (
                (Hand.LEFT, "grasper", "retract"),
                (Hand.RIGHT, "hook", "dissect"),
                (Hand.RIGHT, "hook", "dissect"),
            )
        ]
    )
    less_biased = action_texts(cue_phrase(Cue.PERIPHRASIS, Hand.LEFT), "hook", Cue.PERIPHRASIS).less_biased
    assert learned.answer("Action", less_biased) == "retract"
    assert learned.answer("Action", less_biased.replace("’", "'")) == "retract", "either apostrophe"


def release(shared: Path, name: str) -> Iterator[tuple[dict[str, Any], Example]]:
    with zipfile.ZipFile(shared / "data/endoscapes/surgcheck/SurgCheck_annotations.zip") as bundle:
        for line in bundle.read(f"data/{name}.jsonl").decode().splitlines():
            row = json.loads(line)
            question, reference = (turn["value"] for turn in row["conversations"])
            yield (
                row,
                Example(row["sub_sub_tag"], question.rpartition("1-5 words. ")[2].removeprefix("<image>\n"), reference),
            )


@pytest.fixture(scope="module")
def learned(shared: Path) -> TextLookups:
    """Learned on the official training file, the 1,058 rows left out whose original text is the less-biased one."""
    both = zip(release(shared, "full/train_original"), release(shared, "full/train_less_biased"), strict=True)
    kept = [one for (row, one), (_, two) in both if row["sub_tag"] != "Word_Cue" or one.question != two.question]
    assert len(kept) == 19_604 - 1_058
    return TextLookups.learn(kept)


@pytest.mark.parametrize(
    ("file", "task", "expected"),
    [
        ("box_original", "Action", 0.971),
        ("position_original", "Action", 0.971),
        ("box_original", "Instrument", 0.883),
        ("periphrasis_original", "Instrument", 0.883),
        ("box_less_biased", "Action", 0.543),
        ("periphrasis_less_biased", "Action", 0.870),
        ("periphrasis_less_biased", "Target", 0.722),
    ],
)
def test_on_the_balanced_set_it_reaches_what_is_known(
    shared: Path, learned: TextLookups, file: str, task: str, expected: float
) -> None:
    """Tool → action, hand → tool, hand → action, hand → target and the commonest action, found independently."""
    asked = [one for _, one in release(shared, f"balanced_4cue_test/{file}") if one.task == task]
    right = sum(learned.answer(one.task, one.question) == one.reference for one in asked)
    assert right / len(asked) == pytest.approx(expected, abs=0.0005)
