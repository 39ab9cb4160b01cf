"""Scoring a run: every probe of its suite gets a score, every unit an outcome.

Answers are read from the store, scored by their system's scorer and written back beside the older
scores. A probe without an answer gets a score too: its absence is a wrong answer, counted
as missing. Equal answers to equal questions are scored once. Runs of VeriMap have no scores: an
oracle judges their answers, see the tables ``oracle_judgements`` and ``verifications``.
"""

__all__ = ["Memo", "OutdatedRun", "PresentScorer", "outdated", "present_scorer", "rescore", "score_run"]

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import AnswerStatus, Role, Stage, System
from backend.endoca.outcomes import outcome_of
from backend.endoca.scoring import SCORER, SCORER_VERSION, Atom, AtomScore, score_answer
from backend.services.oracle import match_answers, refresh_verifications
from backend.store.arrow import arrow_table
from backend.store.store import Store, insert
from backend.surgcheck import scoring as surgcheck
from backend.surgcheck.answer_text import answer_text
from backend.verimap import scoring as verimap

if TYPE_CHECKING:
    import duckdb

_PROBES = """
    SELECT p.unit_id, p.probe_id, p.role, p.question, p.reference, p.question_class,
           u.image_id, u.complexity, a.answer, a.error
    FROM probes p
    JOIN units u ON u.unit_id = p.unit_id
    LEFT JOIN answers a ON a.run_id = $run AND a.probe_id = p.probe_id
    WHERE p.suite = $suite {only}
    ORDER BY p.unit_id, p.role = 'complex', p.position
"""
"""A unit's atomic probes come first: the complex answer is scored against their references."""

_PAIRS = """
    SELECT p.unit_id, p.probe_id, p.role, p.reference, p.question_class, u.image_id, a.answer, a.error, x.text
    FROM probes p
    JOIN units u ON u.unit_id = p.unit_id
    LEFT JOIN answers a ON a.run_id = $run AND a.probe_id = p.probe_id
    LEFT JOIN extractions x ON x.run_id = $run AND x.probe_id = p.probe_id
    WHERE p.suite = $suite {only}
    ORDER BY p.unit_id, p.role DESC
"""
"""The original question comes first."""

_ORIGINALS = f"AND p.role = '{Role.ORIGINAL}'"
"""All that is asked where the image is withheld."""


_SCORE_COLUMNS = ("probe_id", "unit_id", "image_id", "role", "question_class", "status", "correct", "parts")

EXACT_MATCH = "exact match"
"""Rule by which answers of pairs are judged."""


class PresentScorer(NamedTuple):
    """The scorer whose scores a run shows."""

    name: str
    version: str


_SCORERS = {
    System.ENDOCA: PresentScorer(SCORER, SCORER_VERSION),
    System.SURGCHECK: PresentScorer(surgcheck.SCORER, surgcheck.SCORER_VERSION),
    System.VERIMAP: PresentScorer(verimap.SCORER, verimap.SCORER_VERSION),
}


def present_scorer(system: System) -> PresentScorer:
    """Return the scorer of a system's answers, as it stands."""
    return _SCORERS[system]


class _Verdict(NamedTuple):
    status: AnswerStatus
    correct: bool
    parts: str


Memo = dict[tuple[Any, ...], _Verdict]


def score_run(
    cursor: "duckdb.DuckDBPyConnection",
    run_id: str,
    suite: str,
    *,
    unit_ids: Sequence[str] | None = None,
    memo: Memo | None = None,
) -> None:
    """Score a run with the present scorer, inside the caller's write transaction.

    A run of VeriMap gets no scores. A generator's answers are matched, and what that tells of them goes to the
    verdicts on them; a judge's words are not touched.

    Args:
        cursor: The caller's write transaction.
        run_id: The run.
        suite: The run's suite.
        unit_ids: Units to score again, where only some of the run's answers changed; all if None,
            and where the run's scores are another version's: what a run shows is of one version.
        memo: Verdicts already reached; shared by an import of several VLMs.
    """
    memo = {} if memo is None else memo
    [(system, stage)] = cursor.execute("SELECT system, stage FROM runs WHERE run_id = ?", [run_id]).fetchall()
    scorer = present_scorer(System(system))
    if system == System.VERIMAP:
        if stage in (Stage.DIRECT, Stage.LOOP):
            match_answers(cursor, run_id)
            refresh_verifications(cursor, run_id)
        cursor.execute("UPDATE runs SET scorer = ?, scorer_version = ? WHERE run_id = ?", [*scorer, run_id])
        return
    present = "SELECT 1 FROM runs WHERE run_id = ? AND scorer = ? AND scorer_version = ?"
    if not cursor.execute(present, [run_id, *scorer]).fetchall():
        unit_ids = None
    only = ""
    if unit_ids is not None:
        cursor.register("scored_units", arrow_table({"unit_id": unit_ids}))
        only = "AND p.unit_id IN (SELECT unit_id FROM scored_units)"
    if stage == Stage.TEXT_ONLY:
        only += f" {_ORIGINALS}"
    asked = {"run": run_id, "suite": suite}
    if system == System.SURGCHECK:
        written = {"scores": _score_pairs(cursor.execute(_PAIRS.format(only=only), asked).fetchall(), memo)}
    else:
        scores, outcomes = _score_rows(cursor.execute(_PROBES.format(only=only), asked).fetchall(), memo)
        written = {"scores": scores, "outcomes": outcomes}
    condition = "run_id = ? AND scorer = ? AND scorer_version = ?"
    if unit_ids is not None:
        condition += " AND unit_id IN (SELECT unit_id FROM scored_units)"
    for table, content in written.items():
        cursor.execute(f"DELETE FROM {table} WHERE {condition}", [run_id, *scorer])
        n = len(content["unit_id"])
        constants = {"run_id": run_id, "scorer": scorer.name, "scorer_version": scorer.version}
        filled = {name: [value] * n for name, value in constants.items()}
        insert(cursor, table, arrow_table({**filled, **content}))
    if unit_ids is not None:
        cursor.unregister("scored_units")
    cursor.execute("UPDATE runs SET scorer = ?, scorer_version = ? WHERE run_id = ?", [*scorer, run_id])


class OutdatedRun(NamedTuple):
    """A run that shows scores of another scorer than its system's present one."""

    run_id: str
    suite: str
    scorer: str
    scorer_version: str


def outdated(store: Store) -> list[OutdatedRun]:
    """Return the runs that the present scorers have not scored."""
    present = [[system, scorer.name, scorer.version] for system, scorer in _SCORERS.items()]
    rows = store.rows(
        "SELECT run_id, suite, scorer, scorer_version FROM runs WHERE list_contains($systems, system) "
        "AND NOT list_contains($present, [system, scorer, scorer_version]) ORDER BY run_id",
        {"systems": list(_SCORERS), "present": present},
    )
    return [OutdatedRun(*row) for row in rows]


def rescore(store: Store, report: Report = silent) -> int:
    """Score every run with the present scorer of its system; scores of older versions are kept.

    Returns:
        The number of runs that had no score of this scorer's version before.
    """
    runs = outdated(store)
    memo: Memo = {}
    with store.write() as cursor:
        for done, run in enumerate(runs):
            report("scoring", done, len(runs))
            score_run(cursor, run.run_id, run.suite, memo=memo)
    report("scoring", len(runs), len(runs))
    return len(runs)


def _score_rows(rows: list[tuple[str, ...]], memo: Memo) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    """Return the columns of `scores` and `outcomes` for probes sorted by unit, atomic ones first."""
    scores: dict[str, list[object]] = {name: [] for name in _SCORE_COLUMNS}
    outcome_columns = ("unit_id", "image_id", "complexity", "complex_correct", "n_atoms", "n_atoms_correct")
    counts = ("n_missing", "n_failed", "n_empty", "n_unparsed")
    outcomes: dict[str, list[object]] = {name: [] for name in (*outcome_columns, *counts, "outcome")}
    absent = {AnswerStatus.MISSING: 0, AnswerStatus.FAILED: 1, AnswerStatus.EMPTY: 2, AnswerStatus.UNPARSED: 3}
    atoms: list[Atom] = []
    n_correct = 0
    tally = [0, 0, 0, 0]
    for unit_id, probe_id, role, question, reference, question_class, image_id, complexity, answer, error in rows:
        if role == Role.ATOMIC:
            atom = Atom(question_class, reference, question)
            atoms.append(atom)
            verdict = _verdict(question, (atom,), answer, error, memo)
            n_correct += verdict.correct
        else:
            verdict = _verdict(question, tuple(atoms), answer, error, memo)
        if verdict.status in absent:
            tally[absent[verdict.status]] += 1
        record = (probe_id, unit_id, image_id, role, question_class, verdict.status, verdict.correct, verdict.parts)
        for column, value in zip(scores.values(), record, strict=True):
            column.append(value)
        if role == Role.COMPLEX:
            answered = verdict.status in (AnswerStatus.READ, AnswerStatus.UNPARSED)
            outcome = outcome_of(
                complex_correct=verdict.correct,
                n_atoms=len(atoms),
                n_atoms_correct=n_correct,
                complex_answered=answered,
            )
            unit = (unit_id, image_id, complexity, verdict.correct, len(atoms), n_correct, *tally, outcome)
            for column, value in zip(outcomes.values(), unit, strict=True):
                column.append(value)
            atoms, n_correct, tally = [], 0, [0, 0, 0, 0]
    return scores, outcomes


def _score_pairs(rows: list[tuple[Any, ...]], memo: Memo) -> dict[str, list[object]]:
    """Return the columns of `scores` for the probes of pairs."""
    scores: dict[str, list[object]] = {name: [] for name in _SCORE_COLUMNS}
    for unit_id, probe_id, role, reference, task, image_id, answer, error, extracted in rows:
        verdict = _pair_verdict(reference, answer, error, extracted, memo)
        record = (probe_id, unit_id, image_id, role, task, verdict.status, verdict.correct, verdict.parts)
        for column, value in zip(scores.values(), record, strict=True):
            column.append(value)
    return scores


def _pair_verdict(reference: str, answer: str | None, error: str | None, extracted: str | None, memo: Memo) -> _Verdict:
    if answer is None:
        return _Verdict(AnswerStatus.MISSING, False, "[]")
    if error:
        return _Verdict(AnswerStatus.FAILED, False, "[]")
    text = answer_text(answer) if extracted is None else extracted.strip()
    key = (reference, text)
    known = memo.get(key)
    if known is None:
        correct = surgcheck.exact_match(text, reference)
        said = any(letter.isalnum() for letter in text)
        reason = "the same words" if correct else "other words"
        part = {"expected": reference, "parsed": text, "correct": correct, "rule": EXACT_MATCH, "reason": reason}
        status = AnswerStatus.READ if said else AnswerStatus.EMPTY
        known = memo[key] = _Verdict(status, correct, json.dumps([part], ensure_ascii=False))
    return known


def _verdict(question: str, atoms: tuple[Atom, ...], answer: str | None, error: str | None, memo: Memo) -> _Verdict:
    if answer is None:
        return _Verdict(AnswerStatus.MISSING, False, "[]")
    if error:
        return _Verdict(AnswerStatus.FAILED, False, "[]")
    key = (question, atoms, answer)
    known = memo.get(key)
    if known is None:
        score = score_answer(question, atoms, answer)
        if score.is_empty:
            status = AnswerStatus.EMPTY
        else:
            status = AnswerStatus.READ if score.parsed_all else AnswerStatus.UNPARSED
        parts = f"[{', '.join(map(_part, score.atoms))}]"
        known = memo[key] = _Verdict(status, score.correct, parts)
    return known


@lru_cache(maxsize=16_384)
def _part(score: AtomScore) -> str:
    """Return what was made of one part, as JSON; the same few verdicts come again and again."""
    return json.dumps({name: getattr(score, name) for name in AtomScore.__slots__}, ensure_ascii=False)
