"""The state of the walk over an answer's words: what is in scope at this word.

A *clause* has its own negators, hedges and subjects; it ends at a full stop, a "but", or where a connector
opens a statement of its own. A *segment* is a stretch between connectors; one without any thing ("not
visible", "there are two") is an elliptical statement about whatever was asked.
"""

__all__ = ["BOUNDARIES", "CLAUSE_ENDS", "SKIPPED", "STARTS_ANEW", "Walk"]

from backend.endoca.scoring.lexicon import Kind, Topic
from backend.endoca.scoring.mentions import NO_COUNT, NOUNS, Mention, Statements
from backend.endoca.scoring.words import Word

SKIPPED = frozenset({Kind.ADVERB, Kind.COPULA, Kind.IGNORED})
"""Words that the look-ahead steps over."""
BOUNDARIES = frozenset({Kind.COMMA, Kind.STOP, Kind.END, Kind.QUESTION, Kind.CLOSE})
"""Words that end a segment."""
CLAUSE_ENDS = frozenset({Kind.STOP, Kind.END, Kind.QUESTION})
STARTS_ANEW = frozenset(
    {Kind.ARTICLE, Kind.NUMBER, Kind.VAGUE, Kind.AFFIRM, Kind.VERB, Kind.YES, Kind.BOTH, Kind.ANOTHER, Kind.NO}
)
"""Words with which a phrase stands outside a negation opened before ("no X, one Y")."""


class Walk:
    """Everything a handler may look at or change."""

    def __init__(self, words: tuple[Word, ...]) -> None:
        self.words = words
        self.out = Statements()
        self.clause = 0
        """Number of the clause, which its mentions carry."""
        self.last_nouns: list[Mention] = []
        """The nouns that "it" or a place without a noun refers to."""
        self.excepted_topic = ""
        """Topic of a denial that "other than" has just lifted; the next noun or number is of it."""
        self.part_number: int | None = None
        """A part of what was counted ("one of the two"), for the noun it is said to be."""
        self.part_ready = False
        """The verb between the part and that noun has passed."""
        self.last_number: int | None = None
        self.in_brackets = False
        self.unreal = False
        """Inside a counterfactual clause."""
        self.undecided = False
        """Inside a clause that says that nothing can be said."""
        self.sentence_first = 0
        """Index of the sentence's first mention."""
        self.exception_ahead = False
        """The sentence opened with "apart from …": what it denies is denied with that exception."""
        self.start_clause()

    def start_clause(self) -> None:
        """Forget scope: a new clause has its own negators, hedges and subjects."""
        self.clause += 1
        self.negators = 0
        """Open negators that deny what follows; an even number cancels out."""
        self.last_negator_verbal = False
        self.mentions_since_negator = 0
        self.hedge = False
        self.subjects: list[Mention] = []
        """Mentions that a denied predicate would deny."""
        self.predicated = False
        """The subjects have their predicate; a connector now begins a clause of its own."""
        self.nouns: list[Mention] = []
        """The nouns that a place or colour is said of."""
        self.open_nouns = True
        """Whether the next noun joins these nouns or replaces them."""
        self.copula_seen = False
        self.waiting: list[Mention] = []
        """Places and colours that stand before their noun."""
        self.number: int | None = None
        """A number whose noun has not come yet."""
        self.number_explicit = False
        """It is a number and not an article."""
        self.number_spoiled = False
        """A word the lexicon does not know followed it: it may count something else."""
        self.sum = 0
        """What "one large and two small …" has added up so far."""
        self.definite = False
        self.after_preposition = False
        self.other = False
        self.or_open = False
        """An "or" stands between the mention before and the next."""
        self.or_seen = False
        self.relative = False
        self.and_open = False
        """An "and" or a comma joins the next mention to the one before."""
        self.another_open = False
        self.itemised = False
        """Behind the colon of "three findings: …" stand the items that were counted: parts, nothing new."""
        self.start_segment()

    def start_segment(self) -> None:
        """Forget what an elliptical statement would be made of."""
        self.segment_things = 0
        self.segment_predicate = False
        self.segment_none = False
        self.segment_neither = False
        self.segment_both = False
        self.segment_all = False
        self.segment_polar = False
        self.segment_denied = False
        self.segment_not = False
        self.segment_first = len(self.out.mentions)

    def end_segment(self) -> None:
        """Close a stretch between connectors; one without any thing is a statement about what was asked."""
        self.settle_number()
        if not self.segment_things and (self.segment_both or self.segment_neither or self.segment_all):
            self.answer_all()
        if not self.segment_things and not self.segment_polar and not (self.segment_both or self.segment_neither):
            if self.segment_not and not self.segment_predicate:
                self.add(Mention("", negated=bool(self.negators % 2)))
            elif self.segment_none or self.segment_predicate or self.segment_all:
                denied = self.segment_none != self.segment_denied
                self.add(Mention("", negated=denied, number=0 if self.segment_none and denied else None))
        self.start_segment()

    def answer_all(self) -> None:
        """Note an answer to all parts at once: "both", "neither", "no to both", "none of these"."""
        said_no = self.segment_polar and not self.out.polars[-1][0]
        denied = self.segment_neither or self.segment_denied or self.segment_none or said_no
        if self.out.all_or_none is None:
            self.out.all_or_none = not denied
            self.out.of_two = not self.segment_all

    def end_clause(self) -> None:
        """Close a clause; places and colours still without a noun are said of the nouns before."""
        self.end_segment()
        for cell in self.waiting:
            if not cell.subjects:
                cell.subjects = tuple(self.last_nouns)
        if self.nouns:
            self.last_nouns = self.nouns
        self.start_clause()

    def add(self, mention: Mention) -> None:
        """Record a mention with the certainty that holds at this word."""
        mention.clause = self.clause
        mention.position = len(self.out.mentions)
        mention.hedged = mention.hedged or self.hedge or self.undecided
        mention.unreal = mention.unreal or self.unreal
        self.out.mentions.append(mention)

    def settle_number(self, *, partial: bool = False) -> None:
        """Let a number without a noun stand for the noun before it, or for the thing asked about.

        Args:
            partial: It is the subject of what follows ("one is sessile") and no answer by itself.
        """
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
                mention = Mention(topic, label, False, number, True, negated, partial=partial, colors=colors)
                mention.item = self.itemised
                mention.added = self.and_open and not self.itemised
                self.add(mention)
                self.segment_things += 1
        self.number = None
        self.number_explicit = False
        self.number_spoiled = False

    def counted_before(self, last: Mention | None) -> tuple[str, str]:
        """Return topic and label of the noun that a number without one takes up ("…, one in the centre")."""
        if self.excepted_topic:
            topic, self.excepted_topic = self.excepted_topic, ""
            return topic, ""
        if last is None or last.position < self.sentence_first:
            return "", ""
        if last.negated and not last.excepted and not any(m.topic == Topic.COLOR for m in self.waiting):
            return "", ""
        return last.topic, last.label

    def last_counted(self) -> Mention | None:
        """Return the last noun or elliptical statement."""
        for mention in reversed(self.out.mentions):
            if mention.topic in NOUNS or not mention.topic:
                return mention
        return None

    def ahead(self, i: int, skipped: frozenset[Kind] = SKIPPED) -> Kind:
        """Return the kind of the next word that is not stepped over."""
        words = self.words
        while i < len(words) and words[i].kind in skipped:
            i += 1
        return words[i].kind if i < len(words) else Kind.END

    def thing_follows(self, i: int, stop: frozenset[Kind] = BOUNDARIES) -> bool:
        """Whether a noun comes before this phrase ends."""
        for word in self.words[i:]:
            if word.kind in stop or word.kind in (Kind.COPULA, Kind.PREPOSITION, Kind.WITH, Kind.WHICH):
                return False
            if word.kind is Kind.THING:
                return True
        return False

    def follows_remain(self, i: int) -> bool:
        """Polyps that "remain unidentified" remain."""
        return bool(i) and self.words[i - 1].topic == Topic.REMAINS and self.words[i - 1].text.startswith("remain")

    def flip_subjects(self) -> None:
        for mention in self.subjects:
            mention.negated = not mention.negated
