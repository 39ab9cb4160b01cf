"""The wording of SurgCheck's questions: each original and its less-biased twin, as in the release.

A text points with a cue phrase, and the less-biased one calls every tool "tool" and names
neither hand (but as a periphrasis), action nor target. In Instrument Count, Anatomy and CVS
both texts are the same.
"""

__all__ = [
    "CVS_QUESTIONS",
    "INSTRUMENT_COUNT_QUESTION",
    "Wording",
    "action_texts",
    "anatomy_texts",
    "cue_phrase",
    "hand_phrase",
    "hop_texts",
    "instrument_periphrasis_texts",
    "instrument_texts",
    "shared_text",
    "target_texts",
    "triplet_texts",
]

from typing import NamedTuple

from backend.surgcheck.boxes import Relation
from backend.surgcheck.grounding_cues import Position
from backend.surgcheck.scene_graphs import Hand, Triplet
from backend.surgcheck.tasks import Cue

INSTRUMENT_COUNT_QUESTION = "How many tools are visible in this scene?"

CVS_QUESTIONS = (
    "Are both the cystic duct and cystic artery identifiable as they connect to the gallbladder?",
    "Is the hepatocystic triangle cleared and adequately exposed for visibility?",
    "Is the lower third of the gallbladder detached from the liver bed?",
    "Is the Critical View of Safety (CVS) achieved in this scene?",
)
"""The three criteria, then the whole."""

_HANDS = {
    Hand.LEFT: "operator’s left hand",
    Hand.RIGHT: "operator’s right hand",
    Hand.ASSISTANT: "assistant’s hand",
}


class Wording(NamedTuple):
    """The two texts of a pair."""

    original: str
    less_biased: str


def hand_phrase(hand: Hand) -> str:
    """Return a hand in words; its apostrophe is the typographic one, as in the release."""
    return _HANDS[hand]


def cue_phrase(cue: Cue, value: Position | Hand | None = None) -> str:
    """Return the words that point at a tool or structure.

    Args:
        cue: Any kind but none.
        value: The position of a position cue, the hand of a periphrasis.
    """
    match cue, value:
        case Cue.BOX, _:
            return "in the red box"
        case Cue.ARROW, _:
            return "indicated by the red arrow"
        case Cue.POSITION, Position():
            return f"located at the {value} of the image"
        case Cue.PERIPHRASIS, Hand():
            return f"used by the {hand_phrase(value)}"
    raise ValueError(f"no phrase for the cue {cue} with {value!r}")


def shared_text(question: str) -> Wording:
    """Return a question whose two texts are the same."""
    return Wording(question, question)


def anatomy_texts(phrase: str) -> Wording:
    """Which structure is it."""
    return shared_text(f"Which anatomical structure is {phrase}?")


def instrument_texts(phrase: str, hand: Hand) -> Wording:
    """Which tool is it; the original adds the hand."""
    return Wording(f"Which tool, operated by the {hand_phrase(hand)}, is {phrase}?", f"Which tool is {phrase}?")


def instrument_periphrasis_texts(hand: Hand, triplet: Triplet) -> Wording:
    """Which tool is it, by its hand; the original adds verb and target."""
    less_biased = f"Which tool is {cue_phrase(Cue.PERIPHRASIS, hand)}?"
    return Wording(f"{less_biased[:-1]}, performing {triplet.verb} on {triplet.target}?", less_biased)


def action_texts(phrase: str, tool: str, cue: Cue) -> Wording:
    """What does the tool do. With a box the release leaves out "the" before the tool's name."""
    article = "" if cue is Cue.BOX else "the "
    return Wording(
        f"What action is {article}{tool} {phrase} performing?", f"What action is the tool {phrase} performing?"
    )


def target_texts(phrase: str, tool: str) -> Wording:
    """What does the tool act on."""
    original, less_biased = (
        f"Which anatomical structure is the {name} {phrase} interacting with?" for name in (tool, "tool")
    )
    return Wording(original, less_biased)


def triplet_texts(phrase: str, hand: Hand) -> Wording:
    """Tool, action and target at once; the original adds the hand."""
    rest = "what action is it performing, and which anatomical structure is it interacting with?"
    return Wording(
        f"Which tool {phrase} is being used by the {hand_phrase(hand)}, {rest}", f"Which tool is {phrase}, {rest}"
    )


def hop_texts(phrase: str, tool: str, direction: Relation) -> Wording:
    """Which structure lies beside the one the tool acts on. The release says "above of" and "below of"."""
    original, less_biased = (
        f"Which anatomical structure lies immediately {direction} of "
        f"the structure that the {name} {phrase} is acting on?"
        for name in (tool, "tool")
    )
    return Wording(original, less_biased)
