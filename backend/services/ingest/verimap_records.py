"""Verification records into the store: what verifiers said of generators' answers, as files of results hold it.

Records find their question by data set and id; where the store lacks it, it is made of what they say. One run holds
what one verifier said of one generator's answers to one data set. Records that are alike stay apart, so that n is the
file's n. One import is one transaction: all of it, or nothing.
"""

__all__ = ["import_verification_records"]

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import AnswerStatus, Origin, RunKey, Stage, System, Unit
from backend.errors import AppError, BadLine, BadLines
from backend.services.ingest.endoca import LENIENT_HINT
from backend.services.ingest.files import SourceFile, read_rows
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport, RunReport
from backend.services.ingest.suites import put_run
from backend.services.ingest.verifications import StoredVerification, put_verifications
from backend.services.ingest.verimap_labels import FILE, RULES
from backend.services.ingest.verimap_suites import SuiteExample, put_examples, stored_examples, verimap_suite
from backend.store.arrow import arrow_array, arrow_table
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.verification_records import COLUMNS, NEEDED, VerificationRecord, parse_record

if TYPE_CHECKING:
    import duckdb

ORACLE = "file"
"""Who judged the answers, as the store says it: whoever made the file."""


class _Line(NamedTuple):
    number: int
    file: str
    record: VerificationRecord


class _RunRows(NamedTuple):
    key: RunKey
    generator: str
    condition: Condition
    rows: list[StoredVerification]


def import_verification_records(
    store: Store, files: Sequence[SourceFile], *, lenient: bool = False, report: Report = silent
) -> ImportReport:
    """Import verification records, in one transaction. Importing them again changes nothing.

    Where the store holds questions of a data set, ids are theirs; an id that it does not hold makes a question
    of its own, from what the record says. A record whose task is another than its question's is a bad line, unless
    the question has none, or only what a rule proposed, whose place the record's takes. Question, reference and image
    that the store knows already stay as they are.

    An import replaces what its run holds of the questions and turns it names, and keeps the rest.

    Args:
        store: Where to.
        files: JSON lines, CSV or Parquet, plain or gzipped.
        lenient: Import the good lines and list the bad ones; otherwise a bad line stops all.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        BadLines: There are bad lines, and ``lenient`` is false; nothing was imported.
        AppError: A file cannot be read at all, or a suite of that name is another system's.
    """
    outcome = ImportReport("verimap records", ", ".join(file.name for file in files))
    by_suite = _read(files, outcome, report)
    with store.write() as cursor:
        runs: list[_RunRows] = []
        for suite, lines in by_suite.items():
            report(f"writing suite {suite}", 0, None)
            images, good = _put_questions(cursor, suite, lines, outcome)
            runs.extend(_runs(suite, good, images))
        outcome.bad_lines.sort(key=lambda line: (line.file, line.number))
        if outcome.bad_lines and (not lenient or not runs):
            hint = LENIENT_HINT if runs else "No line was good. data/README.md says what each line needs."
            raise BadLines(outcome.bad_lines, hint)
        if not runs:
            raise AppError(f"{outcome.source} holds no record to import.", "data/README.md says what a file holds.")
        report("writing verdicts", 0, None)
        outcome.runs.extend(_put_runs(cursor, runs, outcome))
        write_log(cursor, outcome)
    return outcome


def _read(files: Sequence[SourceFile], outcome: ImportReport, report: Report) -> dict[str, list[_Line]]:
    """Return the good lines by suite."""
    by_suite: dict[str, list[_Line]] = defaultdict(list)
    suites: dict[str, str] = {}
    for file in files:
        is_checked = False
        for row in read_rows(file, report):
            if isinstance(row, BadLine):
                outcome.bad_lines.append(row)
                continue
            if isinstance(row.content, dict) and not is_checked:
                _check_columns(file, row.content)
                is_checked = True
            try:
                record = parse_record(row.content)
                if record.dataset not in suites:
                    suites[record.dataset] = verimap_suite(record.dataset)
            except (ValueError, AppError) as error:
                outcome.bad_lines.append(BadLine(row.number, str(error), file.name))
                continue
            by_suite[suites[record.dataset]].append(_Line(row.number, file.name, record))
    return by_suite


def _check_columns(file: SourceFile, cells: Mapping[str, Any]) -> None:
    """Refuse a table of another kind as a whole, not row by row."""
    names = {str(name).strip().lower() for name in cells}
    lacking = [name for name in NEEDED if name not in names]
    if lacking:
        shown = ", ".join(repr(name) for name in list(cells)[:12])
        raise AppError(
            f"{file.name} has no column {', '.join(lacking)}; it has {shown}.",
            f"A file of verification records has the columns {', '.join(NEEDED)}, and may have "
            f"{', '.join(name for name in COLUMNS if name not in NEEDED)}.",
        )


def _put_questions(
    cursor: "duckdb.DuckDBPyConnection", suite: str, lines: Sequence[_Line], outcome: ImportReport
) -> tuple[dict[str, str], list[_Line]]:
    """Write what records say of their questions.

    Returns:
        The image of each unit by the unit's own id, and the lines that stand.
    """
    stored = stored_examples(cursor, suite)
    labelled = {line.record.source_id for line in lines if line.record.task is not None}
    held = {
        source_id: one._replace(task=None, labelled_by=None)
        if one.labelled_by == RULES and source_id in labelled
        else one
        for source_id, one in stored.items()
    }
    given: dict[str, SuiteExample] = {}
    good: list[_Line] = []
    n_differing = 0
    for line in lines:
        said = _example(line.record)
        known = given.get(said.source_id) or held.get(said.source_id, said)
        if said.task is not None and known.task is not None and said.task != known.task:
            reason = f"{said.source_id} of {suite} has the task {known.task}, not {said.task}"
            outcome.bad_lines.append(BadLine(line.number, reason, line.file))
            continue
        n_differing += known.contradicts(said)
        given[said.source_id] = known.completed(said)
        good.append(line)
    if given:
        outcome.suites.append(put_examples(cursor, suite, list(given.values()), held, outcome.source))
        outcome.notes.extend(_notes(suite, stored, given, n_differing))
    rows = cursor.execute("SELECT source_id, image_id FROM units WHERE suite = ?", [suite]).fetchall()
    return dict(rows), good


def _notes(
    suite: str, stored: Mapping[str, SuiteExample], given: Mapping[str, SuiteExample], n_differing: int
) -> Iterator[str]:
    if n_differing:
        yield (
            f"Records with another question, reference or image than what is known of their id in {suite}: "
            f"{n_differing:,}. What is known is kept."
        )
    n_made = sum(source_id not in stored for source_id in given)
    if stored and n_made:
        yield f"Ids that {suite} did not hold: {n_made:,}. Their questions are what the records say of them."
    known = [stored[source_id] for source_id in given if source_id in stored]
    n_set = sum(one.labelled_by == RULES and given[one.source_id].task != one.task for one in known)
    if n_set:
        yield f"Tasks of {suite} of which rules had proposed another than the records say: {n_set:,}. Records count."


def _example(record: VerificationRecord) -> SuiteExample:
    return SuiteExample(
        source_id=record.source_id,
        images=(record.image,) if record.image else (),
        question=record.question or "",
        reference=record.reference or "",
        task=record.task,
        labelled_by=FILE if record.task else None,
    )


def _runs(suite: str, lines: Iterable[_Line], images: Mapping[str, str]) -> list[_RunRows]:
    """Return records by run; those alike in run, question and turn are numbered in their order."""
    runs: dict[tuple[str, str, Condition], _RunRows] = {}
    places: Counter[tuple[str, str, Condition, str, int]] = Counter()
    for line in lines:
        record = line.record
        group = (record.generator, record.verifier, record.condition)
        if group not in runs:
            runs[group] = _RunRows(_key(suite, *group), record.generator, record.condition, [])
        alike = (*group, record.source_id, record.turn)
        runs[group].rows.append(_row(suite, record, images[record.source_id], places[alike]))
        places[alike] += 1
    return list(runs.values())


def _key(suite: str, generator: str, verifier: str, condition: Condition) -> RunKey:
    setting = f"answers of {generator}"
    if condition is not Condition.PLAIN:
        setting += f", {condition.label}"
    return RunKey(System.VERIMAP, suite, verifier, Stage.VERIFY, Origin.IMPORTED, setting)


def _row(suite: str, record: VerificationRecord, image_id: str, place: int) -> StoredVerification:
    """Return a record as it is stored; without a verdict its reply counts as unparsed, unless its call failed."""
    status = AnswerStatus.READ if record.verdict else AnswerStatus.UNPARSED
    return StoredVerification(
        unit_id=Unit.make_id(suite, record.source_id),
        image_id=image_id,
        turn=record.turn,
        place=place,
        answer=record.answer,
        oracle_correct=record.oracle_correct,
        oracle=None if record.oracle_correct is None else ORACLE,
        verdict=record.verdict,
        explanation=record.explanation,
        status=AnswerStatus.FAILED if record.error else status,
        error=record.error or "",
    )


_COMPARED = ("answer", "oracle_correct", "oracle", "verdict", "explanation", "status", "error")


def _put_runs(cursor: "duckdb.DuckDBPyConnection", runs: Sequence[_RunRows], outcome: ImportReport) -> list[RunReport]:
    """Write the rows that are new or other than before, drop those that their file no longer holds, and count."""
    _register(cursor, runs)
    at = "o.run_id = n.run_id AND o.unit_id = n.unit_id AND o.turn = n.turn AND o.place = n.place"
    same = " AND ".join(f"o.{column} IS NOT DISTINCT FROM n.{column}" for column in _COMPARED)
    kinds = cursor.execute(
        f"SELECT o.run_id IS NOT NULL, {same} FROM incoming_records n LEFT JOIN verifications o ON {at} ORDER BY n.at"
    ).fetchall()
    removed = cursor.execute(
        "DELETE FROM verifications o USING (SELECT run_id, unit_id, turn, count(*) AS n FROM incoming_records "
        "GROUP BY ALL) c WHERE o.run_id = c.run_id AND o.unit_id = c.unit_id AND o.turn = c.turn AND o.place >= c.n "
        "RETURNING o.run_id"
    ).fetchall()
    n_removed = Counter(run_id for (run_id,) in removed)
    cursor.unregister("incoming_records")
    known = {row[0] for row in cursor.execute("SELECT run_id FROM runs").fetchall()}
    first = 0
    counts: list[RunReport] = []
    for run in runs:
        of_run = kinds[first : first + len(run.rows)]
        first += len(run.rows)
        run_id = run.key.run_id
        if run_id not in known:
            put_run(cursor, run.key, None, outcome.source)
        changed = [row for row, (is_known, is_same) in zip(run.rows, of_run, strict=True) if not (is_known and is_same)]
        if changed:
            put_verifications(cursor, run_id, run.key.suite, run.generator, run.key.vlm, run.condition, changed)
        n_known = sum(is_known for is_known, _ in of_run)
        n_unchanged = len(of_run) - len(changed)
        counts.append(_report(run, len(of_run) - n_known, n_unchanged, n_removed[run_id]))
    return _as_they_stand(cursor, counts)


def _register(cursor: "duckdb.DuckDBPyConnection", runs: Sequence[_RunRows]) -> None:
    rows = [(run_id, row) for run in runs for run_id in [run.key.run_id] for row in run.rows]
    columns: dict[str, Any] = {
        "at": list(range(len(rows))),
        "run_id": [run_id for run_id, _ in rows],
        "unit_id": [row.unit_id for _, row in rows],
        "turn": [row.turn for _, row in rows],
        "place": [row.place for _, row in rows],
    }
    for name in _COMPARED:
        columns[name] = [getattr(row, name) for _, row in rows]
    judged = [None if value is None else str(value).lower() for value in columns["oracle_correct"]]
    columns["oracle_correct"] = arrow_array(judged).cast("bool")
    cursor.register("incoming_records", arrow_table(columns))


def _report(run: _RunRows, n_new: int, n_unchanged: int, n_removed: int) -> RunReport:
    return RunReport(
        run_id=run.key.run_id,
        vlm=run.key.vlm,
        suite=run.key.suite,
        n_answers=len(run.rows),
        n_new=n_new,
        n_replaced=len(run.rows) - n_new - n_unchanged,
        n_unchanged=n_unchanged,
        n_missing=0,
        n_failed=0,
        n_empty=0,
        n_unparsed=0,
        n_removed=n_removed,
        stage=run.key.stage,
        setting=run.key.setting,
    )


def _as_they_stand(cursor: "duckdb.DuckDBPyConnection", reports: Sequence[RunReport]) -> list[RunReport]:
    """Return the reports with what is failed, unparsed and unjudged in their runs, as these now stand."""
    rows = cursor.execute(
        "SELECT run_id, count(*) FILTER (status = 'failed'), count(*) FILTER (status = 'unparsed'), "
        "count(*) FILTER (oracle_correct IS NULL) FROM verifications GROUP BY run_id"
    ).fetchall()
    stands = {run_id: counts for run_id, *counts in rows}
    return [
        replace(report, n_failed=n_failed, n_unparsed=n_unparsed, n_unjudged=n_unjudged)
        for report in reports
        for n_failed, n_unparsed, n_unjudged in [stands[report.run_id]]
    ]
