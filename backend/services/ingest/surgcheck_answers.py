"""Writing what a VLM answered to pairs: answers verbatim, what stands for them, what a judge said."""

__all__ = ["Given", "put_given"]

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import RunKey
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.judgements import put_judgements
from backend.services.ingest.report import ImportReport, RunReport
from backend.services.ingest.surgcheck_rows import PairRow
from backend.services.scoring import Memo, score_run
from backend.store.arrow import arrow_table
from backend.store.store import insert

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


class Given(NamedTuple):
    """A row, and the probe it is about."""

    probe_id: str
    row: PairRow


def put_given(
    cursor: "duckdb.DuckDBPyConnection",
    key: RunKey,
    given: Mapping[str, Given],
    outcome: ImportReport,
    vlm_group: str | None,
    memo: Memo,
) -> RunReport:
    """Write a run's rows and score it, inside the caller's transaction; what was taken from chats is noted."""
    rows = list(given.values())
    answered = [one for one in rows if one.row.answer is not None or one.row.error]
    n_chats = sum(one.row.is_chat for one in answered)
    if n_chats:
        outcome.notes.append(
            f"{n_chats:,} answers of {key.vlm} on {key.suite} stand at the end of whole chats; what follows the last "
            "line that says assistant was taken, and the whole text is kept."
        )
    n_named = sum(one.row.extracted is not None for one in answered)
    if n_named:
        outcome.notes.append(
            f"{n_named:,} answers of {key.vlm} on {key.suite} are the text that the file names for them."
        )
    changed = _put_extractions(cursor, key.run_id, answered)
    answers = [Answer(one.probe_id, one.row.answer or "", one.row.error) for one in answered]
    report = put_answers(cursor, key, answers, outcome.source, vlm_group, memo)
    if changed:
        units = cursor.execute(
            "SELECT DISTINCT unit_id FROM probes WHERE list_contains($changed, probe_id)", {"changed": changed}
        ).fetchall()
        score_run(cursor, key.run_id, key.suite, unit_ids=[row[0] for row in units], memo=memo)
    judged = {one.probe_id: one.row.judged for one in rows if one.row.judged is not None}
    return replace(report, n_judged_changed=put_judgements(cursor, key.run_id, judged))


def _put_extractions(cursor: "duckdb.DuckDBPyConnection", run_id: str, answered: list[Given]) -> list[str]:
    """Write the texts that a file names for its answers; return the probes whose text is another than before."""
    held = dict(cursor.execute("SELECT probe_id, text FROM extractions WHERE run_id = ?", [run_id]).fetchall())
    told = {one.probe_id: one.row.extracted for one in answered}
    changed = [probe_id for probe_id, text in told.items() if held.get(probe_id) != text]
    if not changed:
        return []
    kept = {probe_id: text for probe_id, text in told.items() if text is not None}
    columns = {"run_id": [run_id] * len(kept), "probe_id": list(kept), "text": list(kept.values())}
    _replace(cursor, "extractions", run_id, changed, arrow_table(columns))
    return changed


def _replace(
    cursor: "duckdb.DuckDBPyConnection", table: str, run_id: str, probe_ids: list[str], rows: "pa.Table"
) -> None:
    cursor.register("replaced_probes", arrow_table({"probe_id": probe_ids}))
    cursor.execute(
        f"DELETE FROM {table} o USING replaced_probes n WHERE o.run_id = ? AND o.probe_id = n.probe_id", [run_id]
    )
    cursor.unregister("replaced_probes")
    insert(cursor, table, rows)
