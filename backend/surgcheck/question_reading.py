"""What a question's own words and its picture's name say: the task, the cue, the hand, the frame, the twin.

The release says these in columns too; a prediction file may have none but the question.
"""

__all__ = ["cue_of_question", "frame_of_picture", "hand_of", "plain_question", "shared_words", "task_of_question"]

import re
from functools import lru_cache
from types import MappingProxyType

from backend.surgcheck.prompts import TEMPLATES
from backend.surgcheck.question_texts import CVS_QUESTIONS, INSTRUMENT_COUNT_QUESTION, hand_phrase
from backend.surgcheck.scene_graphs import Hand
from backend.surgcheck.tasks import PAIRED_TASKS, Cue, Task

_IMAGE_MARK = re.compile(r"^\s*<\|?image\|?>\s*", re.IGNORECASE)
_PREFIX = TEMPLATES["answer"].format(question="").strip()

_TASKS = (
    (Task.TRIPLET, re.compile(r"what action is it performing, and which anatomical structure")),
    (Task.ANATOMY_HOP, re.compile(r"^which anatomical structure lies immediately ")),
    (Task.TARGET, re.compile(r"^which anatomical structure is .* interacting with\?$")),
    (Task.ANATOMY, re.compile(r"^which anatomical structure is ")),
    (Task.ACTION, re.compile(r"^what action is ")),
    (Task.INSTRUMENT, re.compile(r"^which tool\b")),
)
"""How questions begin or end, the more special ones first."""

_CUES = (
    (Cue.BOX, "in the red box"),
    (Cue.ARROW, "indicated by the red arrow"),
    (Cue.POSITION, "located at the "),
    (Cue.PERIPHRASIS, "used by the "),
)
"""Words that point; an original may name a hand besides, so the periphrasis stands last."""

_PLACE = re.compile(r"\blocated at the [a-z-]+ of the image|\bimmediately [a-z]+ of\b")
_HAND = re.compile(r"\bused by the (?:operator's (?:left|right)|assistant's) hand\b")

_PICTURE = re.compile(r"^(?P<frame>.+?)_(?:bbox|arrow)_(?P<slot>[^.]+)(?P<ending>\.[^.]*)?$", re.IGNORECASE)
"""A copy of a frame with a cue drawn in, as the release names it."""


def plain_question(text: str) -> str:
    """Return a question without the mark that stands for the image and without the release's prefix."""
    without_mark = _IMAGE_MARK.sub("", text).strip()
    return without_mark.removeprefix(_PREFIX).strip()


def task_of_question(question: str) -> Task | None:
    """Return the task that asks in such words; None where none does."""
    folded = _folded(question)
    if folded in _FRAME_QUESTIONS:
        return _FRAME_QUESTIONS[folded]
    return next((task for task, words in _TASKS if words.search(folded)), None)


def cue_of_question(question: str) -> Cue:
    """Return the cue whose words a question holds; none where it holds none."""
    folded = _folded(question)
    return next((cue for cue, words in _CUES if words in folded), Cue.NONE)


@lru_cache(maxsize=65_536)
def shared_words(task: Task, cue: Cue, question: str) -> tuple[str, ...]:
    """Return words that both texts of a pair hold; they tell twins where a file asks several things of one picture.

    The whole question in the tasks whose texts are the same; in the others the place in the image, the direction, and
    with a periphrasis the hand. Empty where the question holds none of them.
    """
    folded = _folded(question)
    if task not in PAIRED_TASKS:
        return (folded,)
    return (*_PLACE.findall(folded), *(_HAND.findall(folded) if cue is Cue.PERIPHRASIS else ()))


def hand_of(picture: str, question: str) -> Hand | None:
    """Return the hand of the tool that is pointed at.

    Args:
        picture: Name of the picture's file; that of a copy with a cue in it ends in the tool's slot.
        question: The original one, which names the hand in some tasks.

    Returns:
        None where neither says it.
    """
    named = _PICTURE.match(picture)
    if named:
        slot = named["slot"].lower().partition("_")[0]
        if slot in tuple(Hand):
            return Hand(slot)
    folded = _folded(question)
    return next((hand for hand in Hand if _folded(hand_phrase(hand)) in folded), None)


def frame_of_picture(picture: str) -> str:
    """Return the name of the frame that a picture is, or is a copy of."""
    named = _PICTURE.match(picture)
    return f"{named['frame']}{named['ending'] or ''}" if named else picture


@lru_cache(maxsize=65_536)
def _folded(question: str) -> str:
    return " ".join(question.replace("’", "'").split()).lower()


_FRAME_QUESTIONS = MappingProxyType(
    {
        _folded(INSTRUMENT_COUNT_QUESTION): Task.INSTRUMENT_COUNT,
        **{_folded(question): Task.CVS for question in CVS_QUESTIONS},
    }
)
"""Questions about the whole frame, word for word."""
