"""Writing a run's answers: what every way to get answers shares."""

__all__ = ["Answer", "put_answers"]

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import AnswerStatus, RunKey
from backend.services.ingest.report import RunReport
from backend.services.ingest.suites import put_run
from backend.services.scoring import Memo, score_run
from backend.store.arrow import arrow_table
from backend.store.store import insert

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


class Answer(NamedTuple):
    """What a VLM said to one probe."""

    probe_id: str
    """The store's id."""
    answer: str
    """Verbatim; empty when it said nothing."""
    error: str
    """Empty when the call went well."""


def put_answers(
    cursor: "duckdb.DuckDBPyConnection",
    key: RunKey,
    answers: Sequence[Answer],
    source: str,
    vlm_group: str | None,
    memo: Memo | None = None,
) -> RunReport:
    """Write a run's answers and score it, inside the caller's transaction.

    Answers take the place of those the run holds to the same probes, and what a judge said of
    these goes with them; the rest is kept, so that writing the same answers twice changes nothing.

    Args:
        cursor: The caller's write transaction.
        key: The run; made where it is not there.
        answers: At most one a probe of the run's suite.
        source: The files or the command they came from, for people.
        vlm_group: Group of the VLM, new for a run that has one; by default the one the papers
            print, if any.
        memo: Verdicts already reached; shared by an import of several VLMs.
    """
    run_id = key.run_id
    is_new = not cursor.execute("SELECT 1 FROM runs WHERE run_id = ?", [run_id]).fetchall()
    table = _answer_table(run_id, answers)
    n_replaced = n_unchanged = 0
    changed_units: list[str] | None = None
    regrouped = False
    if is_new:
        put_run(cursor, key, vlm_group, source)
    else:
        regrouped = _regroup(cursor, run_id, vlm_group)
        cursor.register("incoming_answers", table)
        same = "o.run_id = n.run_id AND o.probe_id = n.probe_id"
        kinds = cursor.execute(
            "SELECT n.probe_id, o.probe_id IS NOT NULL, o.answer = n.answer AND o.error = n.error "
            f"FROM incoming_answers n LEFT JOIN answers o ON {same}"
        ).fetchall()
        unchanged = {probe_id for probe_id, _, is_same in kinds if is_same}
        n_unchanged = len(unchanged)
        n_replaced = sum(1 for probe_id, known, _ in kinds if known and probe_id not in unchanged)
        cursor.unregister("incoming_answers")
        table = _answer_table(run_id, [a for a in answers if a.probe_id not in unchanged])
        changed_units = _units_of(cursor, table)
        cursor.register("incoming_answers", table)
        for written in ("answers", "judgements", "oracle_judgements"):  # a judge's word is of the answer it was given
            cursor.execute(f"DELETE FROM {written} o USING incoming_answers n WHERE {same}")
        cursor.unregister("incoming_answers")
    insert(cursor, "answers", table)
    if changed_units is None or changed_units:
        score_run(cursor, run_id, key.suite, unit_ids=changed_units, memo=memo)
    counts: dict[str, int] = dict(
        cursor.execute(
            "SELECT s.status, count(*) FROM scores s JOIN runs r USING (run_id, scorer, scorer_version) "
            "WHERE run_id = ? GROUP BY 1",
            [run_id],
        ).fetchall()
    )
    return RunReport(
        run_id=run_id,
        vlm=key.vlm,
        suite=key.suite,
        n_answers=len(answers),
        n_new=len(answers) - n_replaced - n_unchanged,
        n_replaced=n_replaced,
        n_unchanged=n_unchanged,
        n_missing=counts.get(AnswerStatus.MISSING, 0),
        n_failed=counts.get(AnswerStatus.FAILED, 0),
        n_empty=counts.get(AnswerStatus.EMPTY, 0),
        n_unparsed=counts.get(AnswerStatus.UNPARSED, 0),
        regrouped=regrouped,
        stage=key.stage,
        setting=key.setting,
    )


def _regroup(cursor: "duckdb.DuckDBPyConnection", run_id: str, vlm_group: str | None) -> bool:
    """Give a stored run another group where one is named; return whether that is news."""
    [(before,)] = cursor.execute("SELECT vlm_group FROM runs WHERE run_id = ?", [run_id]).fetchall()
    if vlm_group is None or vlm_group == before:
        return False
    cursor.execute("UPDATE runs SET vlm_group = ? WHERE run_id = ?", [vlm_group, run_id])
    return True


def _answer_table(run_id: str, answers: Sequence[Answer]) -> "pa.Table":
    return arrow_table(
        {
            "run_id": [run_id] * len(answers),
            "probe_id": [a.probe_id for a in answers],
            "answer": [a.answer for a in answers],
            "error": [a.error for a in answers],
        }
    )


def _units_of(cursor: "duckdb.DuckDBPyConnection", answers: "pa.Table") -> list[str]:
    """Return the units to which the answers' probes belong."""
    cursor.register("answered_probes", answers)
    rows = cursor.execute("SELECT DISTINCT unit_id FROM probes JOIN answered_probes USING (probe_id)").fetchall()
    cursor.unregister("answered_probes")
    return [row[0] for row in rows]
