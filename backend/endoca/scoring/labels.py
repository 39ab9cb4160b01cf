"""Multi-label questions: the set of labels an answer affirms.

"Multi-label questions [are mapped] to normalized label sets." A superset or a subset is wrong, an
instrument or landmark outside the vocabulary makes a superset, a denied label ("no tube is visible") is
not in the set, and alternatives ("either forceps or a snare") name none.
"""

__all__ = ["read_colors", "read_labels"]

from collections.abc import Sequence

from backend.endoca.scoring.lexicon import Topic
from backend.endoca.scoring.mentions import Mention
from backend.endoca.scoring.reading import Reading, listed, unread, value_of
from backend.endoca.scoring.records import Rule
from backend.endoca.vocabulary import BY_NAME

_TOPICS = {
    "instrument_presence": (Topic.INSTRUMENT, "instrument", "instruments"),
    "landmark_presence": (Topic.LANDMARK, "anatomical landmark", "anatomical landmarks"),
    "abnormality_presence": (Topic.FINDING, "abnormality", "abnormalities"),
    "polyp_type": (Topic.PARIS, "Paris type", "Paris types"),
    "procedure_type": (Topic.PROCEDURE, "procedure", "procedures"),
}


def _label_set(labels: set[str], what: str = "") -> Reading:
    names = sorted(label.lstrip("?") for label in labels)
    return value_of(";".join(names), Rule.LABEL_SET, f"names {what}{listed(names)}")


def read_labels(question_class: str, mentions: Sequence[Mention]) -> Reading:
    """Read the labels of a presence question, a polyp's Paris type or the procedure."""
    topic, one, many = _TOPICS[question_class]
    nothing = BY_NAME[question_class].nothing
    about = [m for m in mentions if m.topic == topic and not (m.other and not m.label)]
    if question_class == "abnormality_presence":
        about += [m for m in mentions if m.topic in (Topic.POLYP, Topic.DISEASE)]
    elif question_class == "landmark_presence":
        about += [m for m in mentions if m.topic == Topic.PLACE and not m.after_preposition]
    named = [m for m in about if m.label]
    if question_class == "polyp_type":
        denied_polyps = [m for m in mentions if m.topic == Topic.POLYP and m.negated and not m.excepted and not m.other]
        general_denied = denied_polyps
        general_stated: list[Mention] = [m for m in mentions if m.topic == Topic.POLYP and not m.negated]
    else:
        general = [m for m in about if not m.label]
        general_denied = [m for m in general if m.negated and not m.excepted and not m.hedged]
        general_stated = [m for m in general if not m.negated]
    if any(m.hedged and not m.negated for m in named):
        return unread(Rule.HEDGE, f"names the {one} only with a hedge")
    stated = [m for m in named if not m.negated]
    if any(m.alternative for m in stated):
        return unread(Rule.ALTERNATIVES, f'names alternatives joined by "or" as the {one}')
    labels = {m.label for m in stated}
    if "short-segment barretts" in labels:
        labels.discard("barretts")
    if labels and general_denied and question_class != "polyp_type":
        return unread(Rule.CONTRADICTION, f"says that there are no {many} and names one")
    if labels:
        return _label_set(labels)
    if general_denied:
        if any(not m.hedged and not m.subjects for m in general_stated) and not all(m.other for m in general_stated):
            return unread(Rule.CONTRADICTION, f"says that there are {many} and that there are none")
        return value_of(
            nothing, Rule.NEGATION, f"states that there is no {one if question_class != 'polyp_type' else 'polyp'}"
        )
    if question_class == "abnormality_presence" and any(m.topic == Topic.NORMAL and not m.hedged for m in mentions):
        normal = not any(m.topic == Topic.NORMAL and m.negated for m in mentions)
        if normal and not general_stated:
            return value_of(nothing, Rule.STATEMENT, "states that the image is normal")
    if general_stated or named:
        return unread(Rule.NOT_NAMED, f"does not name the {one}")
    if any(m.hedged for m in about):
        return unread(Rule.HEDGE, f"speaks of {many} only with a hedge")
    return unread(Rule.UNANSWERED, f"says nothing about {many}")


def read_colors(question_class: str, mentions: Sequence[Mention]) -> Reading:
    """Read the colours of an abnormality or a landmark; a colour of another thing is not one of them."""
    of_landmark = question_class == "landmark_color"
    own = {Topic.LANDMARK, Topic.PLACE} if of_landmark else {Topic.FINDING, Topic.POLYP, Topic.DISEASE}
    found = []
    for mention in mentions:
        if mention.topic == Topic.COLOR and not mention.negated:
            topics = {s.topic for s in mention.subjects if not s.negated}
            if (
                not topics
                or topics & own
                or not topics
                & {Topic.BOX, Topic.TEXT, Topic.INSTRUMENT, Topic.LANDMARK, Topic.FINDING, Topic.POLYP, Topic.DISEASE}
            ):
                found.append(mention)
    if any(m.hedged for m in found):
        return unread(Rule.HEDGE, "names the colour only with a hedge")
    if any(m.alternative for m in found):
        return unread(Rule.ALTERNATIVES, 'names colours joined by "or"')
    if found:
        return _label_set(
            {m.label for m in found}, "the colour " if len({m.label for m in found}) == 1 else "the colours "
        )
    thing = "landmark" if of_landmark else "abnormality"
    denied = [
        m
        for m in mentions
        if m.topic in ({Topic.LANDMARK} if of_landmark else {Topic.FINDING})
        and m.negated
        and not m.excepted
        and not m.hedged
        and not m.other
        and not (m.label and of_landmark)
    ]
    if denied:
        return value_of("none", Rule.NEGATION, f"states that there is no {thing}")
    if any(m.topic in own for m in mentions):
        return unread(Rule.NOT_NAMED, f"does not name the colour of the {thing}")
    return unread(Rule.UNANSWERED, f"says nothing about the colour of the {thing}")
