"""Which units of which runs a page looks at: a choice as SQL, as parameters, and as a sentence.

A `UnitFilter` travels in the link, so a view can be sent to somebody. Every part of it that is
set becomes one `Clause`; the page prints the clauses' sentences, so that what is filtered is
always said.
"""

__all__ = ["DECIDES", "UNREAD", "UNREADABLE", "Clause", "UnitFilter", "unread_words"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import NamedTuple, Self

from backend.domain.records import AnswerStatus
from backend.endoca.decision import Consistency, Verdict
from backend.endoca.outcomes import Outcome
from backend.endoca.reconciliation import Move
from backend.errors import AppError

_SEPARATOR = "~"
"""Between the values of one field in a link; no run id or class name holds it."""

UNREADABLE = "unreadable"
"""In place of a consistency label: the decision could not be read, or was not reached."""

UNREAD: Mapping[str, str] = MappingProxyType(
    {
        AnswerStatus.FAILED: "a failed call",
        AnswerStatus.EMPTY: "an empty answer",
        AnswerStatus.UNPARSED: "an answer that is not readable",
        AnswerStatus.MISSING: "a missing answer",
    }
)
"""Status of an answer that counts as wrong and is counted apart → in words."""


class Clause(NamedTuple):
    """One condition on rows of units ``u`` joined with outcomes ``o`` and runs ``r``."""

    sql: str
    parameters: Mapping[str, object]
    sentence: str


@dataclass(frozen=True, slots=True)
class UnitFilter:
    """A choice of units and runs; an empty field does not restrict.

    Where neither runs nor anything about reconciliation is chosen, only direct answers are looked at: a
    Revise or Select run answers the same units again, with the same atomic answers.
    """

    suite: str = ""
    runs: tuple[str, ...] = ()
    """Run ids."""
    groups: tuple[str, ...] = ()
    """VLM groups."""
    origins: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    complexities: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    """Question classes; a unit fits when one of its parts is of one of them."""
    part_wrong: bool = False
    """With `classes`: only units in which the run answered such a part wrong."""
    outcomes: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    """Keys of `UNREAD`: units in which an answer of the run, to the complex question or a part, is of one of these."""
    text: str = ""
    """Letters that the question, a reference or one of the run's answers must hold, or the image's name, or
    the whole of a sample's id; case and outer spaces are ignored."""
    right: str = ""
    """A run id: units whose complex answer that run has right …"""
    wrong: str = ""
    """… and this run has wrong."""
    decision: str = ""
    """A `Verdict`: units that the Select run decided so; one without a decision is an abstention."""
    consistency: str = ""
    """A `Consistency` label, or `UNREADABLE`: units that the Select run labelled so."""
    moved: str = ""
    """A `Move`: units in which, from the direct run to the Revise or Select run made from it, a part moved so.
    With `classes` a part of one of them."""

    @property
    def takes_direct_runs_only(self) -> bool:
        """Whether Revise and Select runs are left out, because nothing asks for them."""
        return not (self.runs or self.decision or self.consistency or self.moved)

    def clauses(self, names: Mapping[str, str] | None = None) -> list[Clause]:
        """Return the conditions that are set.

        Args:
            names: What to call a run in the sentence, by run id.
        """
        called = names or {}
        chosen: list[Clause] = []
        if self.suite:
            chosen.append(Clause("u.suite = $suite", {"suite": self.suite}, f"suite {self.suite}"))
        if self.runs:
            listed = _either([called.get(run, run) for run in self.runs])
            chosen.append(Clause("list_contains($runs, o.run_id)", {"runs": list(self.runs)}, listed))
        if self.groups:
            sentence = f"{_either([group.replace('_', ' ') for group in self.groups])} VLMs"
            chosen.append(Clause("list_contains($groups, r.vlm_group)", {"groups": list(self.groups)}, sentence))
        if self.origins:
            sentence = f"{_either(self.origins)} answers"
            chosen.append(Clause("list_contains($origins, r.origin)", {"origins": list(self.origins)}, sentence))
        if self.splits:
            sentence = f"split {_either(self.splits)}"
            chosen.append(Clause("list_contains($splits, u.split)", {"splits": list(self.splits)}, sentence))
        if self.complexities:
            sentence = f"complexity {_either([str(n) for n in self.complexities])}"
            wanted = {"complexities": list(self.complexities)}
            chosen.append(Clause("list_contains($complexities, u.complexity)", wanted, sentence))
        if self.classes:
            chosen.append(self._class_clause())
        if self.outcomes:
            plain = _either([Outcome(key).plain for key in self.outcomes])
            chosen.append(
                Clause("list_contains($outcomes, o.outcome)", {"outcomes": list(self.outcomes)}, f"“{plain}”")
            )
        if self.statuses:
            chosen.append(Clause(_STATUS_SQL, {"statuses": list(self.statuses)}, f"with {unread_words(self.statuses)}"))
        if self.text.strip():
            chosen.append(Clause(_TEXT_SQL, {"text": self.text.strip().lower()}, f"with “{self.text.strip()}”"))
        if self.right:
            sentence = f"complex answer right by {called.get(self.right, self.right)}"
            chosen.append(Clause(_correct_sql("right", True), {"right": self.right}, sentence))
        if self.wrong:
            sentence = f"complex answer wrong by {called.get(self.wrong, self.wrong)}"
            chosen.append(Clause(_correct_sql("wrong", False), {"wrong": self.wrong}, sentence))
        if self.decision:
            sentence = "answered" if self.decision == Verdict.ANSWER else "withheld"
            chosen.append(Clause(_DECISION_SQL, {"decision": self.decision}, sentence))
        if self.consistency:
            unread = self.consistency == UNREADABLE
            sentence = "decision not readable" if unread else f"labelled {self.consistency}"
            chosen.append(Clause(_CONSISTENCY_SQL, {"consistency": self.consistency}, sentence))
        if self.moved:
            part = "such a part" if self.classes else "a part"
            moved = {"moved": self.moved, "moved_classes": list(self.classes)}
            chosen.append(Clause(_MOVED_SQL, moved, f"{part} {Move(self.moved).plain}"))
        return chosen

    def where(self) -> tuple[str, dict[str, object]]:
        """Return the conditions as one SQL expression with its named parameters."""
        chosen = self.clauses()
        parameters: dict[str, object] = {}
        for clause in chosen:
            parameters.update(clause.parameters)
        return " AND ".join(f"({clause.sql})" for clause in chosen) or "true", parameters

    def sentence(self, names: Mapping[str, str] | None = None) -> str:
        """Return what is chosen, for people: ``suite core, complexity 2, “right answer, wrong part”``."""
        return ", ".join(clause.sentence for clause in self.clauses(names)) or "everything in the store"

    def to_query(self) -> dict[str, str]:
        """Return the fields that are set, as link parameters."""
        query: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, tuple):
                query[field.name] = _SEPARATOR.join(str(part) for part in value)
            else:
                query[field.name] = "1" if value is True else str(value)
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Return the filter a link asks for; parameters that are no field of it are left alone.

        Raises:
            AppError: A value that cannot be meant: a complexity that is no number, an unknown outcome.
        """
        known = cls()
        values: dict[str, object] = {}
        for field in fields(cls):
            text = query.get(field.name, "")
            if not text:
                continue
            parts = tuple(part for part in text.split(_SEPARATOR) if part)
            if field.name == "complexities":
                if not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
                    raise AppError(f"The link asks for complexity {text!r}.", "Complexity is a whole number, 1 to 3.")
                values[field.name] = tuple(int(part) for part in parts)
            elif field.name == "part_wrong":
                values[field.name] = text == "1"
            elif isinstance(field.default, tuple):
                values[field.name] = parts
            else:
                values[field.name] = text
        chosen = replace(known, **values)  # type: ignore[arg-type]
        unknown = [key for key in chosen.outcomes if key not in set(Outcome)]
        if unknown:
            raise AppError(f"The link asks for the outcome {unknown[0]!r}.", f"Known: {', '.join(Outcome)}.")
        unknown = [status for status in chosen.statuses if status not in UNREAD]
        if unknown:
            raise AppError(f"The link asks for the answer status {unknown[0]!r}.", f"Known: {', '.join(UNREAD)}.")
        for name, known_words in _CHOICES.items():
            asked = getattr(chosen, name)
            if asked and asked not in known_words:
                raise AppError(f"The link asks for {name} {asked!r}.", f"Known: {', '.join(known_words)}.")
        return chosen

    def _class_clause(self) -> Clause:
        named = _either([key.replace("_", " ") for key in self.classes])
        if not self.part_wrong:
            sql = "list_has_any(u.question_classes, $classes)"
            return Clause(sql, {"classes": list(self.classes)}, f"{named} questions")
        return Clause(_PART_WRONG_SQL, {"classes": list(self.classes)}, f"{named} part answered wrong")


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "decision": tuple(Verdict),
    "consistency": (*Consistency, UNREADABLE),
    "moved": tuple(Move),
}
"""Fields that take one of a few words."""

DECIDES = "r.stage IN ('select', 'self_select')"
"""Whether the run is of a stage that gives answers or withholds them; a unit without a decision is an abstention."""

_STATUS_SQL = " OR ".join(f"list_contains($statuses, '{status}') AND o.n_{status} > 0" for status in UNREAD)

_DECISION_SQL = f"""
    {DECIDES} AND ($decision = 'answer') = ((o.run_id, u.unit_id) IN (
        SELECT run_id, unit_id FROM decisions WHERE decision = 'answer'))
"""

_CONSISTENCY_SQL = f"""
    {DECIDES} AND coalesce((
        SELECT any_value(d.consistency) FROM decisions d WHERE d.run_id = o.run_id AND d.unit_id = u.unit_id
    ), '{UNREADABLE}') = $consistency
"""

_MOVED_SQL = """
    (o.run_id, u.unit_id) IN (
        WITH part AS (
            SELECT a.run_id, a.unit_id,
                   json_extract_string(before.parts, '$[' || q.position || '].parsed') AS direct,
                   json_extract_string(after.parts, '$[' || q.position || '].parsed') AS revised,
                   json_extract_string(a.parts, '$[0].parsed') AS premise
            FROM run_bases base
            JOIN runs x ON x.run_id = base.run_id
            JOIN runs y ON y.run_id = base.base_run_id
            JOIN scores a ON a.run_id = x.run_id AND a.role = 'atomic'
                AND a.scorer = x.scorer AND a.scorer_version = x.scorer_version
            JOIN probes q ON q.probe_id = a.probe_id
            JOIN scores after ON after.run_id = x.run_id AND after.unit_id = a.unit_id AND after.role = 'complex'
                AND after.scorer = x.scorer AND after.scorer_version = x.scorer_version
            JOIN scores before ON before.run_id = y.run_id AND before.probe_id = after.probe_id
                AND before.scorer = y.scorer AND before.scorer_version = y.scorer_version
            WHERE after.status NOT IN ('missing', 'failed') AND before.status NOT IN ('missing', 'failed')
                AND (len($moved_classes) = 0 OR list_contains($moved_classes::TEXT[], a.question_class))
        ), agreeing AS (
            SELECT run_id, unit_id, direct IS NOT DISTINCT FROM revised AS kept,
                   coalesce(list_has_any(string_split(direct, ' or '), string_split(premise, ' or ')), false) AS was,
                   coalesce(list_has_any(string_split(revised, ' or '), string_split(premise, ' or ')), false) AS does
            FROM part
        )
        SELECT run_id, unit_id FROM agreeing WHERE $moved = CASE
            WHEN kept THEN 'kept' WHEN was = does THEN 'elsewhere'
            WHEN does THEN 'to_premise' ELSE 'from_premise' END
    )
"""
"""`backend.endoca.reconciliation.move_of`, as SQL; a test holds the two together."""

_TEXT_SQL = """
    lower(u.source_id) = $text OR contains(lower(u.image_id), $text)
    OR u.unit_id IN (
        SELECT unit_id FROM probes WHERE contains(lower(question), $text) OR contains(lower(reference), $text))
    OR (o.run_id, u.unit_id) IN (
        SELECT a.run_id, p.unit_id FROM answers a JOIN probes p USING (probe_id) WHERE contains(lower(a.answer), $text))
"""

_PART_WRONG_SQL = """
    EXISTS (SELECT 1 FROM scores s
            WHERE s.run_id = o.run_id AND s.unit_id = o.unit_id AND s.role = 'atomic' AND NOT s.correct
              AND s.scorer = o.scorer AND s.scorer_version = o.scorer_version
              AND list_contains($classes, s.question_class))
"""


def _correct_sql(parameter: str, correct: bool) -> str:
    return (
        "u.unit_id IN (SELECT x.unit_id FROM outcomes x JOIN runs y USING (run_id, scorer, scorer_version) "
        f"WHERE x.run_id = ${parameter} AND {'' if correct else 'NOT '}x.complex_correct)"
    )


def unread_words(statuses: Sequence[str]) -> str:
    """Return "a failed call or a missing answer"."""
    return _either([UNREAD[status] for status in statuses])


def _either(words: tuple[str, ...] | list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
