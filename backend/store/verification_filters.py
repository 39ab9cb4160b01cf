"""Which verifications a page looks at: as SQL, as a sentence, in a link.

The sibling of `backend.store.pair_filters`. What becomes of a verdict depends on what is made of UNCERTAIN and of
replies without a verdict, so that choice is part of the filter.
"""

__all__ = [
    "APART",
    "BOTH",
    "PAIRINGS",
    "UNLABELLED",
    "VERIFICATIONS",
    "VerificationFilter",
    "outcome_sql",
    "verification_count",
]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Self

from backend.errors import AppError
from backend.store.filters import Clause
from backend.store.loop_fates import FATES, loop_clause
from backend.store.store import Store
from backend.store.verification_looks import BOTH_LOOKED
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import Policy, Treatment, VerdictOutcome
from backend.verimap.vocabulary import Task, TaskGroup, dataset_of_name

VERIFICATIONS = "verifications v JOIN examples e ON e.unit_id = v.unit_id"
"""What the conditions are on."""

UNLABELLED = "unlabelled"
"""In place of a task: the question has none."""

PAIRINGS: Mapping[str, str] = MappingProxyType(
    {"self": "VLMs verifying their own answers", "cross": "VLMs verifying each other's answers"}
)
"""Who verifies whom → in words."""

BOTH = "both"
"""In place of one pairing: asked for expressly, where a page would take self-verification alone. Of looks: at the
generator's answer and at the verifier's reply."""

APART: Mapping[str, str] = MappingProxyType(
    {"uncertain": "verdict UNCERTAIN", "unparsed": "reply without a verdict", "unjudged": "answer not judged"}
)
"""Kinds of verifications that are counted apart → in words; the first two are of judged answers."""

_SEPARATOR = "~"
"""Between the values of one field in a link."""


@dataclass(frozen=True, slots=True)
class VerificationFilter:
    """A choice of verifications; an empty field does not restrict, but for `conditions`. Its fields are the link's."""

    suites: tuple[str, ...] = ()
    """Data sets."""
    tasks: tuple[str, ...] = ()
    """`Task` values, or `UNLABELLED`."""
    groups: tuple[str, ...] = ()
    """`TaskGroup` values; with `tasks` a question of either fits."""
    generators: tuple[str, ...] = ()
    verifiers: tuple[str, ...] = ()
    pairing: str = ""
    """``self`` or ``cross``; `BOTH` does not restrict either, and says so."""
    conditions: tuple[str, ...] = ()
    """`Condition` values. Empty: plain verifications alone, for the others are never pooled with them."""
    turns: tuple[int, ...] = ()
    """Of the feedback loop; 0 is the first answer."""
    runs: tuple[str, ...] = ()
    """Run ids of verifiers."""
    origins: tuple[str, ...] = ()
    verdict_outcomes: tuple[str, ...] = ()
    """`VerdictOutcome` values under `policy`, or keys of `APART`."""
    uncertain: str = ""
    """A `Treatment` of UNCERTAIN; empty is the paper's."""
    unparsed: str = ""
    """A `Treatment` of replies without a verdict; empty is the paper's."""
    loop: str = ""
    """Id of a feedback loop, as `backend.store.loop_fates` has it: its verifications alone."""
    fates: tuple[str, ...] = ()
    """`FATES`: the last verification of each example with such a fate, in that loop or in any."""
    loop_rule: str = ""
    """`LoopRule.key` of the fates; empty is the default rule."""
    looked: str = ""
    """`BOTH`: the saliency of the answer and of the verifier's reply is in the store; it says so."""
    text: str = ""
    """Letters that question, reference, answer or explanation must hold, or the image's name, or the whole of an
    example's id; case and outer spaces are ignored."""

    @property
    def policy(self) -> Policy:
        """What is made of undecided verdicts."""
        paper = Policy()
        return Policy(
            uncertain=Treatment(self.uncertain or paper.uncertain), unparsed=Treatment(self.unparsed or paper.unparsed)
        )

    def clauses(self, names: Mapping[str, str] | None = None) -> list[Clause]:
        """Return the conditions that are set, on `VERIFICATIONS`; one that goes without saying has no sentence.

        Args:
            names: What to call a run in the sentence, by run id.
        """
        called = names or {}
        chosen: list[Clause] = []

        def listed(name: str, sql: str, words: str, values: Sequence[object]) -> None:
            chosen.append(Clause(sql, {name: list(values)}, words))

        if self.suites:
            words = f"data set {_either([_dataset_words(suite) for suite in self.suites])}"
            listed("suites", "list_contains($suites, v.suite)", words, self.suites)
        if self.tasks or self.groups:
            chosen.append(self._task_clause())
        if self.generators:
            words = f"answers of {_either(self.generators)}"
            listed("generators", "list_contains($generators, v.generator)", words, self.generators)
        if self.verifiers:
            words = f"verified by {_either(self.verifiers)}"
            listed("verifiers", "list_contains($verifiers, v.verifier)", words, self.verifiers)
        if self.pairing in PAIRINGS:
            sign = "=" if self.pairing == "self" else "<>"
            chosen.append(Clause(f"v.generator {sign} v.verifier", {}, PAIRINGS[self.pairing]))
        conditions = self.conditions or (Condition.PLAIN.value,)
        told = _either([Condition(one).label for one in conditions]) if self.conditions else ""
        listed("conditions", "list_contains($conditions, v.condition)", told, conditions)
        if self.turns:
            words = "first answers" if self.turns == (0,) else f"turn {_either([str(turn) for turn in self.turns])}"
            listed("turns", "list_contains($turns, v.turn)", words, self.turns)
        if self.runs:
            words = _either([called.get(run, run) for run in self.runs])
            listed("runs", "list_contains($runs, v.run_id)", words, self.runs)
        if self.origins:
            sql = "v.run_id IN (SELECT run_id FROM runs WHERE list_contains($origins, origin))"
            listed("origins", sql, f"{_either(self.origins)} verdicts", self.origins)
        if self.verdict_outcomes:
            chosen.append(self._outcome_clause())
        if self.loop or self.fates:
            chosen.append(loop_clause(self.loop, self.fates, self.loop_rule, called.get(self.loop, self.loop)))
        if self.looked:
            chosen.append(Clause(BOTH_LOOKED, {}, "with saliency of both generator and verifier"))
        if self.text.strip():
            chosen.append(Clause(_TEXT_SQL, {"text": self.text.strip().lower()}, f"with “{self.text.strip()}”"))
        return chosen

    def where(self) -> tuple[str, dict[str, object]]:
        """Return the conditions as one SQL expression on `VERIFICATIONS`, with its named parameters."""
        chosen = self.clauses()
        parameters: dict[str, object] = {}
        for clause in chosen:
            parameters.update(clause.parameters)
        return " AND ".join(f"({clause.sql})" for clause in chosen), parameters

    def sentence(self, names: Mapping[str, str] | None = None) -> str:
        """Return what is chosen, for people: ``data set SLAKE, answers of Gemma-3, false acceptance``."""
        said = ", ".join(clause.sentence for clause in self.clauses(names) if clause.sentence)
        return said or "every verification in the store"

    def to_query(self) -> dict[str, str]:
        """Return the fields that are set, as link parameters."""
        query = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                query[field.name] = (
                    _SEPARATOR.join(_quoted(str(part)) for part in value) if isinstance(value, tuple) else value
                )
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Return the filter a link asks for; parameters that are no field of it are left alone.

        Raises:
            AppError: A value that cannot be meant, such as a task that does not exist.
        """
        values: dict[str, object] = {}
        for field in fields(cls):
            text = query.get(field.name, "")
            if not text:
                continue
            is_list = isinstance(field.default, tuple)
            parts = tuple(_plain(part) for part in text.split(_SEPARATOR) if part) if is_list else (text,)
            if field.name == "turns":
                if not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
                    raise AppError(f"The link asks for turn {text!r}.", "Turns are whole numbers from 0.")
                values[field.name] = tuple(int(part) for part in parts)
                continue
            known = _KNOWN.get(field.name)
            unknown = [part for part in parts if known is not None and part not in known]
            if known is not None and unknown:
                raise AppError(
                    f"The link asks for {field.name.replace('_', ' ')} {unknown[0]!r}.", f"Known: {', '.join(known)}."
                )
            values[field.name] = parts if is_list else text
        return replace(cls(), **values)  # type: ignore[arg-type]

    def _task_clause(self) -> Clause:
        tasks = [task for task in self.tasks if task != UNLABELLED]
        of_groups = [task.value for task in Task if task.group in self.groups]
        sql = "list_contains($tasks::TEXT[], e.task)"
        if UNLABELLED in self.tasks:
            sql += " OR e.task IS NULL"
        words = [*(UNLABELLED if task == UNLABELLED else Task(task).label for task in self.tasks), *self.groups]
        return Clause(sql, {"tasks": [*tasks, *of_groups]}, f"{_either(words)} questions")

    def _outcome_clause(self) -> Clause:
        outcomes = [key for key in self.verdict_outcomes if key not in APART]
        sql = [f"list_contains($verdict_outcomes::TEXT[], {outcome_sql(self.policy)})"]
        sql += [_APART_SQL[key] for key in self.verdict_outcomes if key in APART]
        words = _either([APART[key] if key in APART else VerdictOutcome(key).label for key in self.verdict_outcomes])
        return Clause(" OR ".join(f"({one})" for one in sql), {"verdict_outcomes": outcomes}, words)


_KNOWN: Mapping[str, tuple[str, ...]] = {
    "tasks": (*Task, UNLABELLED),
    "groups": tuple(TaskGroup),
    "pairing": (*PAIRINGS, BOTH),
    "conditions": tuple(Condition),
    "verdict_outcomes": (*VerdictOutcome, *APART),
    "uncertain": tuple(Treatment),
    "unparsed": tuple(Treatment),
    "fates": FATES,
    "looked": (BOTH,),
}
"""Fields that take words of ours."""

_APART_SQL: Mapping[str, str] = {
    "uncertain": "v.oracle_correct IS NOT NULL AND v.verdict = 'UNCERTAIN'",
    "unparsed": "v.oracle_correct IS NOT NULL AND v.verdict IS NULL",
    "unjudged": "v.oracle_correct IS NULL",
}

_TEXT_SQL = """
    contains(lower(coalesce(v.answer, '')), $text) OR contains(lower(coalesce(v.explanation, '')), $text)
    OR contains(lower(v.image_id), $text)
    OR v.unit_id IN (SELECT unit_id FROM units WHERE lower(source_id) = $text)
    OR v.unit_id IN (
        SELECT unit_id FROM probes WHERE contains(lower(question), $text) OR contains(lower(reference), $text))
"""


def outcome_sql(policy: Policy) -> str:
    """Return `backend.verimap.outcomes.verdict_outcome` as SQL on `VERIFICATIONS`.

    Its value is NULL where the policy drops the verdict, and where nobody judged the answer.
    """
    dropped = [
        sql
        for treatment, sql in (
            (policy.unparsed, "v.verdict IS NULL"),
            (policy.uncertain, "v.verdict = 'UNCERTAIN'"),
        )
        if treatment is Treatment.DROP
    ]
    left_out = " OR ".join(["v.oracle_correct IS NULL", *dropped])
    return (
        f"CASE WHEN {left_out} THEN NULL "
        "WHEN v.oracle_correct THEN CASE WHEN coalesce(v.verdict, '') = 'CORRECT' THEN 'tp' ELSE 'fn' END "
        "ELSE CASE WHEN coalesce(v.verdict, '') = 'CORRECT' THEN 'fp' ELSE 'tn' END END"
    )


def verification_count(store: Store, chosen: VerificationFilter) -> int:
    """Return how many verifications are chosen."""
    where, parameters = chosen.where()
    return int(store.value(f"SELECT count(*) FROM {VERIFICATIONS} WHERE {where}", parameters))


def _dataset_words(suite: str) -> str:
    known = dataset_of_name(suite)
    return known.label if known else suite


def _quoted(part: str) -> str:
    """Return a value as it stands in a list; names of VLMs and data sets are a user's own and may hold anything."""
    return part.replace("%", "%25").replace(_SEPARATOR, "%7E")


def _plain(part: str) -> str:
    return part.replace("%7E", _SEPARATOR).replace("%25", "%")


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
