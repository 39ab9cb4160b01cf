"""Promises of the words that are marked in a pair's two texts."""

import pytest
from hypothesis import given

from backend.surgcheck.differing_words import Words, differing_words
from backend.surgcheck.question_pairs import all_pairs
from backend.surgcheck.scene_graphs import TOOLS, SceneGraph
from backend.surgcheck.tasks import PAIRED_TASKS, Task
from tests.surgcheck.scenes import FEW, scene_graphs


def marked(words: tuple[Words, ...]) -> list[str]:
    return [one.text for one in words if one.differ]


@pytest.mark.parametrize(
    ("original", "less_biased", "in_original", "in_less_biased"),
    [
        (
            "What action is grasper in the red box performing?",
            "What action is the tool in the red box performing?",
            ["grasper"],
            ["the tool"],
        ),
        (
            "Which tool is used by the operator’s left hand, performing retract on gallbladder?",
            "Which tool is used by the operator’s left hand?",
            ["performing retract on gallbladder?"],
            [],
        ),
        (
            "Which tool, operated by the assistant’s hand, is in the red box?",
            "Which tool is in the red box?",
            ["operated by the assistant’s hand,"],
            [],
        ),
        ("How many tools are visible in this scene?", "How many tools are visible in this scene?", [], []),
        ("", "", [], []),
    ],
)
def test_only_the_words_that_the_other_text_lacks_are_marked(
    original: str, less_biased: str, in_original: list[str], in_less_biased: list[str]
) -> None:
    one, other = differing_words(original, less_biased)
    assert (marked(one), marked(other)) == (in_original, in_less_biased)


@FEW
@given(scene_graphs())
def test_the_stretches_give_the_texts_back_and_what_names_a_tool_is_marked(scene: SceneGraph) -> None:
    for pair in all_pairs(scene).pairs:
        texts = (pair.original, pair.less_biased)
        both = differing_words(*texts)
        assert tuple(" ".join(one.text for one in words) for words in both) == texts
        assert bool(marked(both[0])) == (pair.task in PAIRED_TASKS)
        if pair.task in (Task.ACTION, Task.TARGET, Task.ANATOMY_HOP):
            named = next(tool for tool in TOOLS if f" {tool} " in pair.original)
            assert any(named in text.split() for text in marked(both[0]))
