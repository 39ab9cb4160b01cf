"""Which pairs of SurgCheck a page looks at, and where one stands among them: as SQL, as a sentence, in a link.

The sibling of `backend.store.filters` for units that are pairs.
"""

__all__ = ["ASKED", "PairFilter", "pair_count", "pair_neighbours", "pair_page"]

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Self

from backend.domain.records import Role, Stage
from backend.errors import AppError
from backend.store.filters import UNREAD, Clause, unread_words
from backend.store.store import Store
from backend.store.unit_lists import Neighbours, neighbours_in
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Cue, Level, Task

if TYPE_CHECKING:
    import pandas as pd

_SEPARATOR = "~"
"""Between the values of one field in a link."""

_ORDER = "suite, try_cast(source_id AS BIGINT), source_id"


@dataclass(frozen=True, slots=True)
class PairFilter:
    """A choice of pairs; an empty field does not restrict. Its fields are the link's parameters."""

    suite: str = ""
    runs: tuple[str, ...] = ()
    """Run ids: pairs of their suites; with `pair_outcomes` or `statuses` those that one of these runs answered so."""
    tasks: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    pair_outcomes: tuple[str, ...] = ()
    """`PairOutcome` values, by exact match; of any run that was asked both questions, where `runs` names none.
    No answer is a wrong one."""
    statuses: tuple[str, ...] = ()
    """Keys of `UNREAD`: pairs of which an answer is of one of these, to a question that its run was asked."""
    variant: str = ""
    """With `statuses`: a `backend.surgcheck.metrics.Variant`, of answers to questions asked so; empty: of all."""
    text: str = ""
    """Letters that a question, the reference or an answer must hold, or the image's name, or the whole of a
    pair's id; case and outer spaces are ignored."""

    def clauses(self, names: Mapping[str, str] | None = None) -> list[Clause]:
        """Return the conditions that are set, on units ``u`` joined with pairs ``p``.

        Args:
            names: What to call a run in the sentence, by run id.
        """
        called = names or {}
        chosen: list[Clause] = []
        if self.suite:
            chosen.append(Clause("u.suite = $suite", {"suite": self.suite}, f"suite {self.suite}"))
        if self.runs and not (self.pair_outcomes or self.statuses):
            sql = "u.suite IN (SELECT suite FROM runs WHERE list_contains($runs, run_id))"
            chosen.append(Clause(sql, {"runs": list(self.runs)}, self._run_words(called)))
        for name, column, words in (
            ("tasks", "task", "{} questions"),
            ("levels", "level", "level {}"),
            ("cues", "cue", "cue {}"),
        ):
            values = getattr(self, name)
            if values:
                sql = f"list_contains(${name}, p.{column})"
                told = _either([value.replace("_", " ") for value in values])
                chosen.append(Clause(sql, {name: list(values)}, words.format(told)))
        if self.pair_outcomes:
            plain = _either([f"“{PairOutcome(key).plain}”" for key in self.pair_outcomes])
            wanted = {"pair_runs": list(self.runs), "pair_outcomes": list(self.pair_outcomes)}
            by = f" by {self._run_words(called)}" if self.runs else ""
            chosen.append(Clause(_OUTCOME_SQL, wanted, f"{plain}{by}"))
        if self.statuses:
            asked = {"status_runs": list(self.runs), "statuses": list(self.statuses), "variant": self.variant}
            by = f" by {self._run_words(called)}" if self.runs else ""
            how = f" {_ASKED_AS[self.variant]}" if self.variant else ""
            chosen.append(Clause(_STATUS_SQL, asked, f"with {unread_words(self.statuses)}{how}{by}"))
        if self.text.strip():
            chosen.append(Clause(_TEXT_SQL, {"text": self.text.strip().lower()}, f"with “{self.text.strip()}”"))
        return chosen

    def where(self) -> tuple[str, dict[str, object]]:
        """Return the conditions as one SQL expression with its named parameters."""
        chosen = self.clauses()
        parameters: dict[str, object] = {}
        for clause in chosen:
            parameters.update(clause.parameters)
        return " AND ".join(f"({clause.sql})" for clause in chosen) or "true", parameters

    def sentence(self, names: Mapping[str, str] | None = None) -> str:
        """Return what is chosen, for people: ``suite balanced, Action questions, cue arrow``."""
        return ", ".join(clause.sentence for clause in self.clauses(names)) or "every pair in the store"

    def to_query(self) -> dict[str, str]:
        """Return the fields that are set, as link parameters."""
        query = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                query[field.name] = _SEPARATOR.join(value) if isinstance(value, tuple) else value
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Return the filter a link asks for; parameters that are no field of it are left alone.

        Raises:
            AppError: A task, level, cue or outcome that does not exist.
        """
        values: dict[str, object] = {}
        for field in fields(cls):
            text = query.get(field.name, "")
            if not text:
                continue
            parts = tuple(part for part in text.split(_SEPARATOR) if part)
            known = _KNOWN.get(field.name)
            unknown = [part for part in parts if known is not None and part not in known]
            if known is not None and unknown:
                what = "answer status" if field.name == "statuses" else field.name.replace("_", " ").removesuffix("s")
                raise AppError(f"The link asks for the {what} {unknown[0]!r}.", f"Known: {', '.join(known)}.")
            values[field.name] = parts if isinstance(field.default, tuple) else text
        return replace(cls(), **values)  # type: ignore[arg-type]

    def _run_words(self, called: Mapping[str, str]) -> str:
        return _either([called.get(run, run) for run in self.runs])


_ASKED_AS: Mapping[str, str] = {
    Role.ORIGINAL: "to the original question",
    Role.LESS_BIASED: "to the less-biased question",
    Stage.TEXT_ONLY: "without the image",
}
"""How a question was asked → in the sentence."""

_KNOWN: Mapping[str, tuple[str, ...]] = {
    "tasks": tuple(Task),
    "levels": tuple(Level),
    "cues": tuple(Cue),
    "pair_outcomes": tuple(PairOutcome),
    "statuses": tuple(UNREAD),
    "variant": tuple(_ASKED_AS),
}
"""Fields that take words of ours."""

ASKED = """(
    s.status <> 'missing' OR (s.run_id, s.role, (SELECT cue FROM pairs WHERE pairs.unit_id = s.unit_id)) IN (
        SELECT DISTINCT t.run_id, t.role, c.cue FROM scores t JOIN pairs c ON c.unit_id = t.unit_id
        WHERE t.status <> 'missing')
)"""
"""Whether a score ``s`` is of a question that its run was asked: it holds an answer of that role and cue."""

_ANSWERED_SQL = f"""
    SELECT s.run_id, s.unit_id,
           CASE bool_or(s.correct) FILTER (s.role = 'original')::INT
                + 2 * bool_or(s.correct) FILTER (s.role = 'less_biased')::INT
               WHEN 3 THEN 'both_right' WHEN 1 THEN 'hint_only' WHEN 2 THEN 'pointed_only' WHEN 0 THEN 'both_wrong'
           END AS outcome
    FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
    WHERE r.system = 'surgcheck' AND r.stage <> 'text_only' AND {ASKED}
    GROUP BY ALL
"""
"""What became of each pair in each run, `pair_outcome` as SQL; NULL where one of its questions was not asked."""

_OUTCOME_SQL = f"""
    u.unit_id IN (SELECT unit_id FROM ({_ANSWERED_SQL}) WHERE list_contains($pair_outcomes, outcome)
        AND (len($pair_runs) = 0 OR list_contains($pair_runs::TEXT[], run_id)))
"""

_STATUS_SQL = f"""
    u.unit_id IN (
        SELECT s.unit_id FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
        WHERE r.system = 'surgcheck' AND list_contains($statuses::TEXT[], s.status) AND {ASKED}
          AND (r.stage <> 'text_only' OR s.role = 'original')
          AND $variant IN ('', CASE r.stage WHEN 'text_only' THEN r.stage ELSE s.role END)
          AND (len($status_runs) = 0 OR list_contains($status_runs::TEXT[], s.run_id)))
"""

_TEXT_SQL = """
    lower(u.source_id) = $text OR contains(lower(u.image_id), $text)
    OR u.unit_id IN (
        SELECT unit_id FROM probes WHERE contains(lower(question), $text) OR contains(lower(reference), $text))
    OR u.unit_id IN (
        SELECT q.unit_id FROM answers a JOIN probes q USING (probe_id) WHERE contains(lower(a.answer), $text))
"""

_PAIRS = "units u JOIN pairs p ON p.unit_id = u.unit_id"


def pair_count(store: Store, chosen: PairFilter) -> int:
    """Return how many pairs are chosen."""
    where, parameters = chosen.where()
    return int(store.value(f"SELECT count(*) FROM {_PAIRS} WHERE {where}", parameters))


def pair_neighbours(store: Store, chosen: PairFilter, unit_id: str) -> Neighbours:
    """Return the pairs before and after one in the chosen list, and the list's length."""
    where, parameters = chosen.where()
    listed = f"SELECT u.unit_id, u.suite, u.source_id FROM {_PAIRS} WHERE {where}"
    return neighbours_in(store, listed, _ORDER, parameters, unit_id)


def pair_page(store: Store, chosen: PairFilter, *, offset: int, limit: int) -> "pd.DataFrame":
    """Return one page of the chosen pairs, a row a pair, whatever the number of runs.

    Returns:
        unit_id, suite, source_id, image_id (the frame), image_at_hand, task, level, cue, original,
        less_biased, reference, and of the runs that were asked both (those that the filter names,
        where it names any): n_runs, n_hint_only, n_pointed_only.
    """
    where, parameters = chosen.where()
    return store.read(
        f"""
        WITH page AS (
            SELECT u.unit_id, u.suite, u.source_id, u.image_id, p.task, p.level, p.cue FROM {_PAIRS} WHERE {where}
            ORDER BY {_ORDER.replace("suite", "u.suite").replace("source_id", "u.source_id")}
            LIMIT $limit OFFSET $offset
        ), answered AS (
            SELECT unit_id, count(outcome) AS n_runs, count(*) FILTER (outcome = 'hint_only') AS n_hint_only,
                   count(*) FILTER (outcome = 'pointed_only') AS n_pointed_only
            FROM ({_ANSWERED_SQL.replace("GROUP BY", "AND s.unit_id IN (SELECT unit_id FROM page) GROUP BY")})
            WHERE len($named) = 0 OR list_contains($named::TEXT[], run_id) GROUP BY unit_id
        )
        SELECT page.unit_id, page.suite, page.source_id, page.image_id, i.path IS NOT NULL AS image_at_hand,
               page.task, page.level, page.cue, o.question AS original, l.question AS less_biased, o.reference,
               coalesce(n_runs, 0) AS n_runs, coalesce(n_hint_only, 0) AS n_hint_only,
               coalesce(n_pointed_only, 0) AS n_pointed_only
        FROM page LEFT JOIN answered ON answered.unit_id = page.unit_id
        JOIN probes o ON o.unit_id = page.unit_id AND o.role = 'original'
        JOIN probes l ON l.unit_id = page.unit_id AND l.role = 'less_biased'
        LEFT JOIN images i ON i.image_id = page.image_id
        ORDER BY {_ORDER.replace("suite", "page.suite").replace("source_id", "page.source_id")}
        """,
        {**parameters, "named": list(chosen.runs), "limit": limit, "offset": offset},
    )


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
