"""The oracle of VeriMap in the store: what was said of a generator's answers, and which word counts.

Deterministic matching tells what it can of an answer; a judge's word stands for the rest. Both are
kept and told apart. What nobody could tell is unjudged (NULL), and never wrong.
"""

__all__ = ["MATCHING", "OracleWord", "match_answer", "match_answers", "put_oracle_words", "refresh_verifications"]

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import AnswerStatus
from backend.services.runs.verification_plan import answer_of
from backend.store.arrow import arrow_array, arrow_table
from backend.store.store import insert
from backend.verimap.examples import AnswerType, Option
from backend.verimap.scoring import Question, score_closed

if TYPE_CHECKING:
    import duckdb

MATCHING = "matching"
"""What deterministic matching is called among the oracles."""

COUNTING = f"""
    SELECT run_id, probe_id, correct, oracle FROM oracle_judgements WHERE correct IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY run_id, probe_id ORDER BY oracle <> '{MATCHING}', oracle) = 1
"""
"""The words that count: matching's before a judge's; of several judges' the first by name."""


class OracleWord(NamedTuple):
    """What an oracle said of an answer."""

    correct: bool | None
    """None: it could not tell, or the call failed."""
    reason: str
    error: str
    """Why it is not judged; empty otherwise."""


def match_answers(cursor: "duckdb.DuckDBPyConnection", run_id: str) -> None:
    """Judge a generator's answers by deterministic matching, in the place of what it said before.

    An answer of no words is wrong, whatever was asked. Of the others it judges those to closed questions;
    one that it cannot read is unjudged. On an answer to an open question, or to one without a reference, and
    on a failed call it says nothing.

    Args:
        cursor: The caller's write transaction.
        run_id: The generator's run.
    """
    rows = cursor.execute(
        "SELECT a.probe_id, r.stage, a.answer, p.question, p.reference, e.reference_letter, e.options, e.answer_type "
        "FROM answers a JOIN runs r USING (run_id) JOIN probes p ON p.probe_id = a.probe_id "
        "JOIN examples e ON e.unit_id = p.unit_id WHERE a.run_id = ? AND a.error = ''",
        [run_id],
    ).fetchall()
    words = {}
    for probe_id, stage, reply, *about in rows:
        word = match_answer(_question(*about), answer_of(stage, reply))
        if word:
            words[probe_id] = word
    cursor.execute("DELETE FROM oracle_judgements WHERE run_id = ? AND oracle = ?", [run_id, MATCHING])
    put_oracle_words(cursor, run_id, MATCHING, words)


def put_oracle_words(
    cursor: "duckdb.DuckDBPyConnection", run_id: str, oracle: str, words: Mapping[str, OracleWord]
) -> int:
    """Write what an oracle said by probe, in the place of what it said before; return how many are news."""
    held = {
        row[0]: OracleWord(*row[1:])
        for row in cursor.execute(
            "SELECT probe_id, correct, reason, error FROM oracle_judgements WHERE run_id = ? AND oracle = ?",
            [run_id, oracle],
        ).fetchall()
    }
    news = {probe_id: word for probe_id, word in words.items() if held.get(probe_id) != word}
    if not news:
        return 0
    told = {True: "true", False: "false", None: None}
    table = arrow_table(
        {
            "run_id": [run_id] * len(news),
            "probe_id": list(news),
            "oracle": [oracle] * len(news),
            "correct": arrow_array([told[word.correct] for word in news.values()]).cast("bool"),
            "reason": [word.reason for word in news.values()],
            "error": [word.error for word in news.values()],
        }
    )
    cursor.register("incoming_words", table)
    cursor.execute(
        "DELETE FROM oracle_judgements o USING incoming_words n "
        "WHERE o.run_id = n.run_id AND o.probe_id = n.probe_id AND o.oracle = n.oracle"
    )
    cursor.unregister("incoming_words")
    insert(cursor, "oracle_judgements", table)
    return len(news)


def refresh_verifications(cursor: "duckdb.DuckDBPyConnection", run_id: str) -> None:
    """Write the oracle's present words into all verifications of a generator's answers.

    Args:
        cursor: The caller's write transaction.
        run_id: The generator's run.
    """
    cursor.execute(
        f"""
        UPDATE verifications v SET oracle_correct = n.correct, oracle = n.oracle
        FROM (
            SELECT p.unit_id, w.correct, w.oracle FROM probes p
            JOIN runs r ON r.suite = p.suite LEFT JOIN ({COUNTING}) w ON w.run_id = r.run_id AND w.probe_id = p.probe_id
            WHERE r.run_id = $run
        ) n
        WHERE n.unit_id = v.unit_id AND v.run_id IN (SELECT run_id FROM run_bases WHERE base_run_id = $run)
        """,
        {"run": run_id},
    )


class _Question(NamedTuple):
    question: str
    reference: str
    reference_letter: str
    options: Sequence[Option]
    answer_type: AnswerType | None


def _question(question: str, reference: str, letter: str, choices: str, answer_type: str | None) -> _Question:
    options = [Option(**choice) for choice in json.loads(choices)]
    return _Question(question, reference, letter, options, AnswerType(answer_type) if answer_type else None)


def match_answer(question: Question, answer: str) -> OracleWord | None:
    """Return what matching says of one answer; None where it says nothing. See `match_answers`."""
    score = score_closed(question, answer) if question.reference else None
    if score is None:
        return None if re.search(r"\w", answer) else OracleWord(False, "nothing was said", "")
    if score.status is AnswerStatus.UNPARSED:
        return OracleWord(None, "", f"the answer cannot be read; asked for was: {score.rule}")
    read = "nothing was said" if score.read is None else f"read as “{score.read}”"
    return OracleWord(score.correct, f"{score.rule}: {read}, expected “{score.expected}”", "")
