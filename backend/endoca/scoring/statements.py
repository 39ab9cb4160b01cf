"""What an answer states: every thing it mentions, and whether it affirms, denies or hedges it.

One walk over the words keeps the few facts that decide scope in a short clinical sentence:

- a negator ("no", "without", "does not contain") denies what follows until its clause has its predicate;
  "no X, Y or Z" denies all three, "no X, Y is present" only X, "no X is visible and Y" only X;
- a denied predicate ("X and Y are not visible", "X: absent") denies its subjects;
- two negators cancel each other ("not free of text");
- "other than" lifts the negation from what it excepts;
- a hedge touches what follows it up to the comma, or the subject where a predicate follows it;
- a number belongs to the next countable noun of its phrase, or stands alone ("two are visible").
"""

__all__ = ["NO_COUNT", "Mention", "Statements", "statements_of"]

from dataclasses import dataclass, field
from functools import lru_cache

from backend.endoca.scoring.lexicon import Kind, Topic
from backend.endoca.scoring.words import Word, words_of

NO_COUNT = -1
"""A quantity that is no count ("several", "1-2")."""

_NOUNS = frozenset(
    {Topic.TEXT, Topic.BOX, Topic.FINDING, Topic.POLYP, Topic.DISEASE, Topic.INSTRUMENT, Topic.LANDMARK}
)
_SKIPPED = frozenset({Kind.ADVERB, Kind.COPULA, Kind.IGNORED})
_BOUNDARIES = frozenset({Kind.COMMA, Kind.STOP, Kind.END, Kind.QUESTION, Kind.CLOSE})
_CLAUSE_ENDS = frozenset({Kind.STOP, Kind.END, Kind.QUESTION})
_STARTS_ANEW = frozenset(
    {Kind.ARTICLE, Kind.NUMBER, Kind.VAGUE, Kind.AFFIRM, Kind.VERB, Kind.YES, Kind.BOTH, Kind.ANOTHER, Kind.NO}
)
_AFTER_CELL = frozenset(
    {
        Kind.PLACE_NOUN, Kind.AND, Kind.OR, Kind.COMMA, Kind.STOP, Kind.END, Kind.CLOSE, Kind.OF, Kind.PREPOSITION,
        Kind.PREDICATE, Kind.SLASH, Kind.COPULA, Kind.WITH, Kind.DASH, Kind.WHICH, Kind.NOT, Kind.CONTRAST, Kind.OPEN,
        Kind.COLON, Kind.NO, Kind.YES, Kind.ADVERB, Kind.HEDGE, Kind.EXCEPT,
    }
)


@dataclass(slots=True, eq=False)
class Mention:
    """One thing an answer speaks of."""

    topic: str
    """"" for an elliptical statement ("not visible", "there are two")."""
    label: str = ""
    plural: bool = False
    number: int | None = None
    """Bound number; `NO_COUNT` for a quantity that is no count; None where nothing is said."""
    explicit: bool = False
    """The number was given as a number and not by an article."""
    negated: bool = False
    hedged: bool = False
    unreal: bool = False
    """Inside a counterfactual or conditional clause."""
    excepted: bool = False
    """The negation over it was lifted by "other than"."""
    other: bool = False
    """ "no other polyps": not the thing asked for."""
    alternative: bool = False
    definite: bool = False
    after_preposition: bool = False
    added: bool = False
    """Joined by "and" or "another" to the mention before it, inside one phrase."""
    also: str = ""
    """Topic of the denied noun this one was excepted from."""
    subjects: tuple["Mention", ...] = ()
    """For a cell or colour: the nouns it is said of."""
    colors: frozenset[str] = frozenset()
    clause: int = 0
    position: int = 0


@dataclass(slots=True, eq=False)
class Statements:
    """All mentions of an answer and its words of plain yes or no."""

    mentions: list[Mention] = field(default_factory=list)
    polars: list[tuple[bool, int]] = field(default_factory=list)
    """Each free-standing yes (True) or no (False), with the number of mentions before it."""
    corrected: bool = False
    """The answer takes something back ("wait, …")."""
    undecided: bool = False
    """Somewhere it says that nothing can be said."""
    hedged: bool = False
    """Somewhere a hedge occurs."""
    all_or_none: bool | None = None
    """True for a bare "both", False for a bare "neither"."""


class _Walk:
    """The walk over one answer's words."""

    def __init__(self, words: tuple[Word, ...]) -> None:
        self.words = words
        self.out = Statements()
        self.clause = 0
        self.last_nouns: list[Mention] = []
        self.excepted_topic = ""
        self.part_number: int | None = None
        self.part_ready = False
        self.last_number: int | None = None
        self.in_brackets = False
        self.unreal = False
        self.undecided = False
        self.sentence_first = 0
        self.start_clause()

    # -- clause state -----------------------------------------------------------------------------
    def start_clause(self) -> None:
        """Forget scope: a new clause has its own negators, hedges and subjects."""
        self.clause += 1
        self.negators = 0
        self.last_negator_verbal = False
        self.mentions_since_negator = 0
        self.hedge = False
        self.subjects: list[Mention] = []
        self.predicated = False
        self.nouns: list[Mention] = []
        self.open_nouns = True
        self.copula_seen = False
        self.waiting: list[Mention] = []
        self.number: int | None = None
        self.number_explicit = False
        self.number_spoiled = False
        """A word the lexicon does not know followed the number: it may count something else."""
        self.sum = 0
        self.definite = False
        self.after_preposition = False
        self.other = False
        self.or_open = False
        self.and_open = False
        self.another_open = False
        self.start_segment()

    def start_segment(self) -> None:
        self.segment_things = 0
        self.segment_predicate = False
        self.segment_none = False
        self.segment_neither = False
        self.segment_both = False
        self.segment_polar = False
        self.segment_denied = False
        self.segment_first = len(self.out.mentions)

    def end_segment(self) -> None:
        self.settle_number()
        if not self.segment_things and not self.segment_polar:
            if self.segment_neither and self.out.all_or_none is None:
                self.out.all_or_none = False
            elif self.segment_both and self.segment_predicate:
                self.out.all_or_none = True
            elif self.segment_none or self.segment_predicate:
                denied = self.segment_none != self.segment_denied
                self.add(Mention("", negated=denied, number=0 if self.segment_none and denied else None))
        self.start_segment()

    def end_clause(self) -> None:
        self.end_segment()
        for cell in self.waiting:
            if not cell.subjects:
                cell.subjects = tuple(self.last_nouns)
        if self.nouns:
            self.last_nouns = self.nouns
        self.start_clause()

    # -- mentions ---------------------------------------------------------------------------------
    def add(self, mention: Mention) -> None:
        mention.clause = self.clause
        mention.position = len(self.out.mentions)
        mention.hedged = mention.hedged or self.hedge or self.undecided
        mention.unreal = mention.unreal or self.unreal
        self.out.mentions.append(mention)

    def settle_number(self) -> None:
        """A number without a noun stands for the thing asked about."""
        number = self.number
        if self.sum:
            number = (self.sum + number) if number is not None and number > 0 else self.sum
        self.sum = 0
        vague_elsewhere = number == NO_COUNT and self.segment_things
        if number is not None and self.number_explicit and not self.number_spoiled and not vague_elsewhere:
            last = self.last_counted()
            bracketed = self.in_brackets and last is not None and last.number is not None
            if not bracketed:
                topic, label = self.counted_before(last)
                negated = bool(self.negators % 2) or number == 0
                colors = frozenset(m.label for m in self.waiting if m.topic == Topic.COLOR)
                added = self.and_open
                self.add(Mention(topic, label, False, number, True, negated, added=added, colors=colors))
                self.segment_things += 1
        self.number = None
        self.number_explicit = False
        self.number_spoiled = False

    def counted_before(self, last: Mention | None) -> tuple[str, str]:
        """Return topic and label of the noun that a number without one takes up ("…, one in the centre")."""
        if self.excepted_topic:
            topic, self.excepted_topic = self.excepted_topic, ""
            return topic, ""
        if last is None or last.position < self.sentence_first or (last.negated and not last.excepted):
            return "", ""
        return last.topic, last.label

    def last_counted(self) -> Mention | None:
        for mention in reversed(self.out.mentions):
            if mention.topic in _NOUNS or not mention.topic:
                return mention
        return None

    def ahead(self, i: int, skipped: frozenset[Kind] = _SKIPPED) -> Kind:
        """Return the kind of the next word that is not stepped over."""
        words = self.words
        while i < len(words) and words[i].kind in skipped:
            i += 1
        return words[i].kind if i < len(words) else Kind.END

    def thing_follows(self, i: int, stop: frozenset[Kind] = _BOUNDARIES) -> bool:
        """Whether a noun comes before this phrase ends."""
        for word in self.words[i:]:
            if word.kind in stop or word.kind in (Kind.COPULA, Kind.PREPOSITION, Kind.WITH, Kind.WHICH):
                return False
            if word.kind is Kind.THING:
                return True
        return False

    # -- the walk ---------------------------------------------------------------------------------
    def run(self) -> Statements:
        i = 0
        words = self.words
        handlers = _HANDLERS
        while i < len(words):
            handler = handlers.get(words[i].kind)
            i = handler(self, i) if handler else i + 1
        self.end_clause()
        return self.out

    def thing(self, i: int) -> int:
        word = self.words[i]
        topic, label = word.topic, word.label
        if topic == Topic.COLOR:
            box = self.box_behind(i)
            if box:
                colors = frozenset(w.label for w in self.words[i:box] if w.topic == Topic.COLOR)
                return self.noun(box, Topic.BOX, "", colors)
        elif topic == Topic.CELL and label[0] == "*":
            following = self.words[i + 1] if i + 1 < len(self.words) else None
            if following and following.kind not in _AFTER_CELL and following.topic != Topic.CELL:
                return i + 1
        elif topic == Topic.PARIS and self.words[i].text == "depressed" and not self.nouns:
            return i + 1
        return self.noun(i, topic, label, frozenset())

    def box_behind(self, i: int) -> int:
        """Index of the box noun that a row of colours belongs to, 0 where there is none."""
        for j in range(i, min(i + 12, len(self.words))):
            word = self.words[j]
            if word.topic == Topic.BOX:
                return j
            if word.topic != Topic.COLOR and word.kind not in (
                Kind.AND, Kind.OR, Kind.SLASH, Kind.COMMA, Kind.IGNORED, Kind.DASH,
            ):
                return 0
        return 0

    def noun(self, i: int, topic: str, label: str, colors: frozenset[str]) -> int:
        word = self.words[i]
        mention = Mention(
            topic,
            label,
            word.plural,
            negated=bool(self.negators % 2) and not self.is_setting(topic),
            definite=self.definite,
            after_preposition=self.after_preposition,
            other=self.other,
            colors=colors,
        )
        self.segment_things += 1
        self.mentions_since_negator += 1
        is_noun = topic in _NOUNS
        if is_noun:
            self.bind_number(mention)
            self.definite = False
            self.other = False
            if self.excepted_topic and not mention.negated:
                mention.also = self.excepted_topic
                if mention.number is None and not mention.plural:
                    mention.number = 1
                self.excepted_topic = ""
        if self.or_open:
            self.mark_alternatives(mention)
            self.or_open = False
        last = self.last_counted() if self.and_open and is_noun else None
        same_phrase = last is not None and (self.another_open or last.clause == self.clause)
        mention.added = self.and_open and (same_phrase or not is_noun)
        if is_noun or topic in (Topic.CELL, Topic.COLOR):
            self.and_open = self.another_open = False
        self.add(mention)
        if is_noun:
            if not self.open_nouns:
                self.nouns = []
                self.open_nouns = True
            self.nouns.append(mention)
            for cell in self.waiting:
                cell.subjects = (*cell.subjects, mention)
        elif topic in (Topic.CELL, Topic.COLOR):
            if self.nouns and not (topic == Topic.COLOR and self.colors_a_noun(i + 1)):
                mention.subjects = tuple(self.nouns)
                self.predicated = self.predicated or topic == Topic.CELL or self.copula_seen
            else:
                self.waiting.append(mention)
        self.subjects.append(mention)
        if topic == Topic.REMAINS or (topic == Topic.REMOVED and not label):
            self.predicated = self.predicated or any(m.topic == Topic.POLYP for m in self.subjects)
        self.after_preposition = False
        return i + 1

    def colors_a_noun(self, i: int) -> bool:
        """Whether a colour stands before its noun ("a red landmark")."""
        words = self.words
        while i < len(words):
            word = words[i]
            if word.kind is Kind.THING:
                if word.topic != Topic.COLOR:
                    return word.topic in _NOUNS
            elif word.kind in (Kind.AND, Kind.COMMA, Kind.SLASH):
                if i + 1 >= len(words) or words[i + 1].topic != Topic.COLOR and words[i + 1].kind is not Kind.AND:
                    return False
            elif word.kind not in (Kind.IGNORED, Kind.ADVERB, Kind.UNKNOWN):
                return False
            i += 1
        return False

    def is_setting(self, topic: str) -> bool:
        """Whether a procedure or organ is only where something was denied ("no polyp in this gastroscopy")."""
        return topic in (Topic.PROCEDURE, Topic.PLACE) and self.after_preposition and self.mentions_since_negator > 0

    def bind_number(self, mention: Mention) -> None:
        number = self.number
        if self.sum and number is not None:
            number = NO_COUNT if number == NO_COUNT else number + self.sum
        self.sum = 0
        if number is not None:
            mention.number = number
            mention.explicit = self.number_explicit
            if number == 0:
                mention.negated = True
            elif self.number_explicit:
                self.last_number = number
        if self.part_number is not None and self.part_ready:
            mention.number = self.part_number
            mention.explicit = True
            self.part_number = None
            self.part_ready = False
        self.number = None
        self.number_explicit = False
        self.number_spoiled = False

    def mark_alternatives(self, mention: Mention) -> None:
        if not self.out.mentions or mention.negated:
            return
        before = self.out.mentions[-1]
        if before.clause == self.clause and not before.negated and (before.topic, before.label) != (
            mention.topic,
            mention.label,
        ):
            before.alternative = mention.alternative = True

    # -- numbers ----------------------------------------------------------------------------------
    def see_number(self, i: int) -> int:
        word = self.words[i]
        value = word.number
        following = self.words[i + 1].kind if i + 1 < len(self.words) else Kind.END
        if following is Kind.OF and i + 2 < len(self.words):
            after = self.words[i + 2]
            if after.kind in (Kind.WHICH, Kind.DEFINITE, Kind.BOTH) or after.text in {"them", "these", "those", "which", "whom"}:
                self.part_number = value
                self.part_ready = after.kind is not Kind.DEFINITE
                return i + 2
        if i and self.words[i - 1].text == "between":
            self.number, self.number_explicit = NO_COUNT, True
            return i + 3
        if following is Kind.VAGUE and self.words[i + 1].label == "range":
            self.number, self.number_explicit = NO_COUNT, True
            return i + 2
        if self.number == NO_COUNT and self.number_explicit:
            return i + 1
        if self.or_open and self.number is not None and self.number_explicit:
            self.or_open = False
            self.number = NO_COUNT if self.number != value else value
            return i + 1
        previous = self.words[i - 1].kind if i else Kind.END
        if self.number is not None and self.number_explicit:
            if previous is Kind.OPEN:
                self.number = value if self.number == value else NO_COUNT
                return i + 1
            if previous in (Kind.AND, Kind.COMMA):
                self.sum += max(self.number, 0)
            elif previous is Kind.PREPOSITION:
                self.number = NO_COUNT
                return i + 1
        last = self.last_counted()
        if previous in (Kind.COLON, Kind.DASH, Kind.OPEN, Kind.COPULA, Kind.THING) and last and last.clause == self.clause and last.topic:
            if last.number is None or not last.explicit:
                if not self.thing_follows(i + 1):
                    last.number, last.explicit = value, True
                    last.negated = False
                    self.predicated = True
                    return i + 1
            elif previous is Kind.OPEN and not self.thing_follows(i + 1):
                return self.skip_brackets(i)
        self.number, self.number_explicit, self.number_spoiled = value, True, False
        return i + 1

    def skip_brackets(self, i: int) -> int:
        while i < len(self.words) and self.words[i].kind is not Kind.CLOSE:
            i += 1
        return i

    def unknown(self, i: int) -> int:
        self.number_spoiled = self.number is not None
        return i + 1

    def place_noun(self, i: int) -> int:
        """ "in two regions": the regions were counted."""
        self.number, self.number_explicit, self.number_spoiled = None, False, False
        return i + 1

    def article(self, i: int) -> int:
        if self.number is None:
            self.number, self.number_explicit = 1, False
        return i + 1

    def definite_article(self, i: int) -> int:
        self.definite = True
        return i + 1

    def vague(self, i: int) -> int:
        self.number, self.number_explicit = NO_COUNT, True
        return i + 1

    def both(self, i: int) -> int:
        self.segment_both = True
        if self.last_number == 2 and self.thing_follows(i + 1, frozenset({Kind.END, Kind.STOP})):
            self.part_number, self.part_ready = 2, True
        elif self.words[i - 1].kind is Kind.COMMA and self.last_number == 2:
            self.part_number, self.part_ready = 2, True
        return i + 1

    def another(self, i: int) -> int:
        self.number, self.number_explicit = 1, True
        self.and_open = self.another_open = True
        return i + 1

    # -- yes and no ---------------------------------------------------------------------------------
    def is_answer_word(self, i: int) -> bool:
        following = self.words[i + 1].kind if i + 1 < len(self.words) else Kind.END
        return following in _BOUNDARIES or following in (Kind.COLON, Kind.DASH, Kind.AND, Kind.OR, Kind.SLASH, Kind.OPEN)

    def say(self, value: bool, i: int) -> int:
        if self.subjects and not self.predicated:
            if not value:
                self.flip_subjects()
            self.predicated = True
        elif not (self.out.polars and self.out.polars[-1] == (value, len(self.out.mentions))):
            self.out.polars.append((value, len(self.out.mentions)))
            self.segment_polar = True
        else:
            self.segment_polar = True
        return i + 1

    def yes(self, i: int) -> int:
        return self.say(True, i)

    def no(self, i: int) -> int:
        if self.words[i].text in ("no", "nope", "false", "incorrect") and self.is_answer_word(i):
            return self.say(False, i)
        self.deny(verbal=False, noun=True)
        return i + 1

    def deny(self, *, verbal: bool, noun: bool) -> None:
        """Open a negator; two that follow each other without a noun between cancel out."""
        nested = self.negators > 0 and not self.mentions_since_negator and (self.last_negator_verbal or not noun)
        if self.predicated and not nested:
            self.subjects, self.predicated, self.open_nouns = [], False, False
        self.negators = self.negators + 1 if nested else 1
        self.last_negator_verbal = verbal
        self.mentions_since_negator = 0
        self.segment_denied = bool(self.negators % 2)

    def lack(self, i: int) -> int:
        self.settle_number()
        self.deny(verbal=False, noun=False)
        self.last_negator_verbal = True
        return i + 1

    def neither(self, i: int) -> int:
        self.segment_neither = True
        self.deny(verbal=False, noun=True)
        return i + 1

    def nor(self, i: int) -> int:
        self.end_segment()
        self.negators = 1
        self.mentions_since_negator = 0
        return i + 1

    def negate(self, i: int) -> int:
        """Attach "not": to the subject where a predicate follows, else to what comes after."""
        j = i + 1
        while j < len(self.words) and self.words[j].kind in _SKIPPED:
            j += 1
        following = self.words[j] if j < len(self.words) else None
        kind = following.kind if following else Kind.END
        governs = j + 1 < len(self.words) and self.words[j + 1].text in ("as", "to")
        if kind is Kind.PREDICATE and not governs and not self.object_follows(j + 1):
            if self.subjects and not self.predicated:
                self.flip_subjects()
                self.predicated = True
            else:
                self.segment_denied = True
            self.segment_predicate = True
            return j + 1
        if kind is Kind.ABSENT:
            self.segment_predicate = True
            self.predicated = bool(self.subjects)
            return j + 1
        if kind is Kind.END and self.subjects and not self.predicated:
            self.flip_subjects()
            return j
        self.deny(verbal=True, noun=False)
        return i + 1

    def object_follows(self, i: int) -> bool:
        """Whether "not identify/found …" has an object of its own ("did not find any polyps")."""
        if self.subjects:
            return False
        for word in self.words[i:]:
            if word.kind is Kind.THING and word.topic in _NOUNS:
                return True
            if word.kind in _BOUNDARIES or word.kind is Kind.PREPOSITION:
                return False
        return False

    def flip_subjects(self) -> None:
        for mention in self.subjects:
            mention.negated = not mention.negated

    def none(self, i: int) -> int:
        previous = self.words[i - 1].kind if i else Kind.END
        if self.subjects and not self.predicated and previous in (Kind.COLON, Kind.DASH, Kind.COPULA, Kind.THING, Kind.PLACE_NOUN, Kind.IGNORED):
            for mention in self.subjects:
                mention.negated = True
            self.predicated = True
        else:
            self.segment_none = True
            self.deny(verbal=False, noun=True)
            self.segment_denied = False
        return i + 1

    def absent(self, i: int) -> int:
        if self.follows_remain(i):
            return i + 1
        if self.subjects:
            self.flip_subjects()
            self.predicated = True
        elif self.thing_follows(i + 1):
            self.deny(verbal=False, noun=False)
        else:
            self.segment_predicate = True
            self.segment_denied = not self.segment_denied
        return i + 1

    def follows_remain(self, i: int) -> bool:
        """Polyps that "remain unidentified" remain."""
        return bool(i) and self.words[i - 1].topic == Topic.REMAINS and self.words[i - 1].text.startswith("remain")

    def exception(self, i: int) -> int:
        self.settle_number()
        topic = ""
        for mention in self.out.mentions:
            if mention.negated and mention.clause == self.clause:
                mention.excepted = True
                if mention.topic in _NOUNS:
                    topic = mention.topic
        self.excepted_topic = topic
        if self.negators % 2 == 0 and self.subjects:
            self.negators = 1
        else:
            self.negators = 0
            self.segment_none = False
        self.subjects, self.predicated, self.open_nouns = [], False, False
        self.segment_things += 1
        return i + 1

    def contrast(self, i: int) -> int:
        self.settle_number()
        self.subjects, self.predicated = [], False
        self.negators = 1
        self.mentions_since_negator = 0
        return i + 1

    # -- verbs and predicates ---------------------------------------------------------------------
    def predicate(self, i: int) -> int:
        if self.number is not None and self.number_explicit and not self.thing_follows(i + 1):
            self.settle_number()
        if self.subjects or self.segment_none or self.segment_neither:
            self.predicated = bool(self.subjects)
            self.segment_predicate = True
        elif not self.thing_follows(i + 1):
            self.segment_predicate = True
        return i + 1

    def copula(self, i: int) -> int:
        self.copula_seen = bool(self.subjects)
        if self.part_number is not None:
            self.part_ready = True
        elif self.number is not None and self.number_explicit:
            self.settle_number()
        self.number = None if not self.number_explicit else self.number
        return i + 1

    def verb(self, i: int) -> int:
        if self.number is not None and self.number_explicit:
            self.settle_number()
        return i + 1

    # -- connectors ---------------------------------------------------------------------------------
    def number_goes_on(self, i: int) -> bool:
        """Whether "one large and two small polyps" is being counted."""
        if self.number is None or not self.number_explicit:
            return False
        return self.ahead(i + 1) is Kind.NUMBER and self.thing_follows(i + 2)

    def join_and(self, i: int) -> int:
        if self.number_goes_on(i):
            return i + 1
        self.settle_number()
        if self.enumeration_goes_on(i + 1):
            self.and_open = True
            return i + 1
        if self.denial_follows(i + 1) or self.predicated or (self.negators and self.positive_clause_follows(i + 1)):
            self.end_segment_and_restart()
        self.hedge = self.hedge and not self.predicated
        self.and_open = True
        self.or_open = False
        return i + 1

    def end_segment_and_restart(self) -> None:
        """Begin a clause of its own while the sentence goes on."""
        self.end_clause()

    def denial_follows(self, i: int) -> bool:
        """Whether the next phrase brings its own "no"."""
        return self.ahead(i, frozenset({Kind.ADVERB})) in (Kind.NO, Kind.NEITHER, Kind.LACK)

    def positive_clause_follows(self, i: int) -> bool:
        """Whether what follows a connector stands outside the open negation."""
        kind = self.ahead(i, frozenset({Kind.ADVERB}))
        if kind in _STARTS_ANEW or kind in (Kind.PREDICATE, Kind.COPULA):
            return True
        for word in self.words[i:]:
            if word.kind in _CLAUSE_ENDS or word.kind in (Kind.COMMA, Kind.AND, Kind.OR, Kind.WITH):
                return False
            if word.kind is Kind.VERB or (word.kind is Kind.COPULA and word.text in ("is", "was", "has", "has been")):
                return True
        return False

    def join_or(self, i: int) -> int:
        self.or_open = self.negators % 2 == 0
        if self.number is not None and self.number_explicit:
            self.or_open = True
        elif self.subjects and self.subjects[-1].number is not None and self.ahead(i + 1) in (Kind.NUMBER, Kind.VAGUE):
            self.subjects[-1].number = NO_COUNT
            self.subjects[-1].explicit = True
        if self.predicated and self.negators:
            self.predicated = False
        return i + 1

    def enumeration_goes_on(self, i: int) -> bool:
        """Whether a row of cells or colours is being listed ("in the center-left, and upper-left regions")."""
        before = self.out.mentions[-1] if self.out.mentions else None
        if before is None or before.topic not in (Topic.CELL, Topic.COLOR) or before.clause != self.clause:
            return False
        while i < len(self.words) and self.words[i].kind in (
            Kind.AND, Kind.OR, Kind.DEFINITE, Kind.PREPOSITION, Kind.ADVERB, Kind.COMMA, Kind.ARTICLE,
        ):
            i += 1
        return i < len(self.words) and self.words[i].topic == before.topic and not self.box_behind(i)

    def comma(self, i: int) -> int:
        if self.number_goes_on(i):
            return i + 1
        if self.enumeration_goes_on(i + 1):
            self.settle_number()
            self.and_open = True
            return i + 1
        self.settle_number()
        negated = self.negators % 2 == 1
        if self.predicated or self.denial_follows(i + 1) or self.ahead(i + 1) in (Kind.WITH, Kind.NOT, Kind.HEDGE):
            self.end_segment_and_restart()
        elif negated and self.list_ends_here(i + 1):
            self.end_segment_and_restart()
        else:
            if not self.segment_things:
                self.end_segment()
            self.hedge = False
            self.and_open = self.ahead(i + 1) is not Kind.WHICH
        return i + 1

    def list_ends_here(self, i: int) -> bool:
        """Whether the comma after "no X" ends the denied list.

        It does where a phrase with a start of its own follows ("no X, one Y"), or a clause with its own
        predicate before any further "or"/"and" ("no X, Y is present"); "no X, Y or Z" goes on.
        """
        if self.ahead(i, frozenset({Kind.ADVERB})) in _STARTS_ANEW:
            return True
        seen_thing = False
        for word in self.words[i:]:
            kind = word.kind
            if kind in _CLAUSE_ENDS:
                return False
            if kind in (Kind.OR, Kind.AND, Kind.NOR, Kind.COMMA):
                return False
            if kind is Kind.THING:
                seen_thing = True
            elif seen_thing and kind in (Kind.COPULA, Kind.PREDICATE, Kind.VERB):
                return True
        return False

    def stop(self, i: int) -> int:
        self.end_clause()
        self.unreal = False
        self.undecided = False
        return i + 1

    def sentence_end(self, i: int) -> int:
        self.part_number = None
        i = self.stop(i)
        self.excepted_topic = ""
        self.sentence_first = len(self.out.mentions)
        return i

    def question(self, i: int) -> int:
        """A restated question states nothing."""
        self.end_clause()
        del self.out.mentions[self.sentence_first :]
        return self.sentence_end(i)

    def colon(self, i: int) -> int:
        if self.number is not None and self.number_explicit:
            self.settle_number()
        return i + 1

    def open_bracket(self, i: int) -> int:
        self.in_brackets = True
        return i + 1

    def close_bracket(self, i: int) -> int:
        if self.in_brackets and not (self.number is not None and self.thing_follows(i + 1)):
            self.settle_number()
        self.in_brackets = False
        self.hedge = False
        return i + 1

    def joined_with(self, i: int) -> int:
        self.settle_number()
        if self.predicated or self.denial_follows(i + 1) or (self.negators and self.with_starts_anew(i + 1)):
            self.end_segment_and_restart()
        return i + 1

    def with_starts_anew(self, i: int) -> bool:
        return self.ahead(i, frozenset({Kind.ADVERB})) in _STARTS_ANEW | {Kind.PREDICATE}

    def including(self, i: int) -> int:
        self.settle_number()
        return i + 1

    def preposition(self, i: int) -> int:
        if self.number is not None and self.number_explicit:
            if self.ahead(i + 1) is Kind.NUMBER:
                return i + 1
            self.settle_number()
        self.number = None
        self.after_preposition = True
        self.open_nouns = False if self.predicated else self.open_nouns
        return i + 1

    def of(self, i: int) -> int:
        if not self.number_explicit:
            self.number = None
        self.after_preposition = True
        return i + 1

    def which(self, i: int) -> int:
        if self.part_number is not None:
            self.part_ready = True
        return i + 1

    def other_word(self, i: int) -> int:
        self.other = True
        return i + 1

    # -- certainty ------------------------------------------------------------------------------------
    def see_hedge(self, i: int) -> int:
        self.out.hedged = True
        following = self.ahead(i + 1)
        if following in (Kind.PREDICATE, Kind.ABSENT, Kind.END, Kind.STOP, Kind.COMMA, Kind.CLOSE, Kind.UNDECIDED):
            if self.subjects:
                for mention in self.subjects:
                    mention.hedged = True
            elif self.out.mentions and following is not Kind.PREDICATE:
                self.out.mentions[-1].hedged = True
            else:
                self.out.undecided = True
        self.hedge = True
        return i + 1

    def see_undecided(self, i: int) -> int:
        if self.follows_remain(i):
            return i + 1
        self.out.undecided = True
        for mention in self.subjects:
            mention.hedged = True
        self.undecided = True
        return i + 1

    def irreal(self, i: int) -> int:
        for mention in self.out.mentions[self.segment_first :]:
            mention.unreal = True
        self.settle_number()
        for mention in self.out.mentions[self.segment_first :]:
            mention.unreal = True
        self.unreal = True
        return i + 1

    def correction(self, i: int) -> int:
        if self.out.mentions or self.out.polars or self.number is not None:
            self.out.corrected = True
        return i + 1


_HANDLERS = {
    Kind.UNKNOWN: _Walk.unknown,
    Kind.PLACE_NOUN: _Walk.place_noun,
    Kind.THING: _Walk.thing,
    Kind.NUMBER: _Walk.see_number,
    Kind.ARTICLE: _Walk.article,
    Kind.DEFINITE: _Walk.definite_article,
    Kind.VAGUE: _Walk.vague,
    Kind.BOTH: _Walk.both,
    Kind.ANOTHER: _Walk.another,
    Kind.NO: _Walk.no,
    Kind.NEITHER: _Walk.neither,
    Kind.NOR: _Walk.nor,
    Kind.LACK: _Walk.lack,
    Kind.NOT: _Walk.negate,
    Kind.NONE: _Walk.none,
    Kind.ABSENT: _Walk.absent,
    Kind.YES: _Walk.yes,
    Kind.EXCEPT: _Walk.exception,
    Kind.CONTRAST: _Walk.contrast,
    Kind.PREDICATE: _Walk.predicate,
    Kind.COPULA: _Walk.copula,
    Kind.VERB: _Walk.verb,
    Kind.AND: _Walk.join_and,
    Kind.SLASH: _Walk.join_and,
    Kind.OR: _Walk.join_or,
    Kind.COMMA: _Walk.comma,
    Kind.STOP: _Walk.stop,
    Kind.END: _Walk.sentence_end,
    Kind.COLON: _Walk.colon,
    Kind.DASH: _Walk.colon,
    Kind.OPEN: _Walk.open_bracket,
    Kind.CLOSE: _Walk.close_bracket,
    Kind.WITH: _Walk.joined_with,
    Kind.INCLUDING: _Walk.including,
    Kind.PREPOSITION: _Walk.preposition,
    Kind.OF: _Walk.of,
    Kind.WHICH: _Walk.which,
    Kind.QUESTION: _Walk.question,
    Kind.HEDGE: _Walk.see_hedge,
    Kind.UNDECIDED: _Walk.see_undecided,
    Kind.IRREALIS: _Walk.irreal,
    Kind.CORRECTION: _Walk.correction,
    Kind.OTHER: _Walk.other_word,
}


@lru_cache(maxsize=16_384)
def statements_of(text: str) -> Statements:
    """Read a plain answer once; the result is shared, so nobody may change it."""
    return _Walk(words_of(text)).run()
