"""EndoCA manifests and prediction files into the store.

Lines with a ``prediction`` are answers, the others questions. Answers find their suite among
the stored ones by ``probe_id`` and question; those that match none make a suite of their own
from the references they carry. One import is one transaction: all of it, or nothing.
"""

__all__ = ["import_endoca"]

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from backend.domain.progress import Report, silent
from backend.domain.records import Origin, RunKey, Stage, System
from backend.endoca.paired_units import KNOWN_COLUMNS, NumberedLine, UnitBuilder, explain_invalid, parse_line
from backend.errors import AppError, BadLine, BadLines
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.files import SourceFile, checked_suite_name, read_rows, suite_name
from backend.services.ingest.log import write_log
from backend.services.ingest.matching import StoredProbe, match_probe, stored_probes, suites_to_make
from backend.services.ingest.report import ImportReport
from backend.services.ingest.suites import put_suite
from backend.services.runs.reconciled_runs import check_made_from, dependents
from backend.services.scoring import Memo
from backend.store.store import Store

if TYPE_CHECKING:
    import duckdb

LENIENT_HINT = "Mend these lines, or import the good ones alone with --lenient (on the Data page: 'skip bad lines')."


class _Answered(NamedTuple):
    line: NumberedLine
    answer: Answer | None
    """None: the line says that there is none."""


class _Lines(NamedTuple):
    questions: dict[str, list[NumberedLine]]
    """Manifest lines by suite."""
    predictions: list[tuple[str, NumberedLine]]
    """Prediction lines, each with the suite named for it: the user's, or its file's."""


def import_endoca(
    store: Store,
    files: Sequence[SourceFile],
    *,
    suite: str | None = None,
    vlm_group: str | None = None,
    lenient: bool = False,
    report: Report = silent,
) -> ImportReport:
    """Import manifests and prediction files, in one transaction.

    A probe asked twice in a manifest, or answered twice by one VLM, is a bad line: the file
    contradicts itself, or two VLMs share a name. An import replaces the answers of its run to
    the probes it names and keeps the rest, so importing a file twice changes nothing. A null
    ``prediction`` without an ``error`` says that the VLM gave no answer to that probe: it
    counts as missing, and an answer that the store holds is kept.

    Args:
        store: Where to.
        files: Manifests and prediction files, in any mix.
        suite: Name of the suite; by default the suite that matches, or the file's name.
        vlm_group: Group of the VLMs; by default the one the papers print for that VLM, if any.
        lenient: Import the good lines and list the bad ones; otherwise a bad line stops all.
        report: Told of progress; may raise `Cancelled`.

    Returns:
        What went in and what did not.

    Raises:
        BadLines: There are bad lines, and ``lenient`` is false; nothing was imported.
        AppError: A file cannot be read at all, or contradicts what the store holds.
    """
    suite = checked_suite_name(suite)
    outcome = ImportReport("endoca", ", ".join(file.name for file in files))
    lines = _read(files, suite, outcome, report)
    with store.write() as cursor:
        for name, questions in lines.questions.items():
            report(f"writing suite {name}", 0, None)
            _put_questions(cursor, name, questions, outcome, extend=suite is not None)
        report("matching answers to questions", 0, None)
        answers = _find_probes(cursor, lines.predictions, suite, outcome)
        outcome.bad_lines.sort(key=lambda line: (line.file, line.number))
        if outcome.bad_lines and not lenient:
            raise BadLines(outcome.bad_lines, LENIENT_HINT)
        if not outcome.suites and not answers:
            if outcome.bad_lines:
                raise BadLines(outcome.bad_lines, "No line was good. data/README.md says what each line needs.")
            raise AppError(f"{outcome.source} holds no line to import.", "data/README.md says what a file holds.")
        memo: Memo = {}
        for done, (key, of_run) in enumerate(answers.items()):
            report(f"scoring {key.vlm}", done, len(answers))
            given = [answered.answer for answered in of_run.values() if answered.answer is not None]
            outcome.runs.append(put_answers(cursor, key, given, outcome.source, vlm_group, memo))
        for run in outcome.runs:
            if run.n_replaced or run.n_new:
                check_made_from(cursor, dependents(cursor, run.run_id))
        report("scoring", len(answers), len(answers))
        write_log(cursor, outcome)
    return outcome


def _read(files: Sequence[SourceFile], suite: str | None, outcome: ImportReport, report: Report) -> _Lines:
    lines = _Lines(defaultdict(list), [])
    ignored: Counter[str] = Counter()
    n_null = 0
    for file in files:
        name = suite or suite_name(file)
        for row in read_rows(file, report):
            if isinstance(row, BadLine):
                outcome.bad_lines.append(row)
                continue
            if isinstance(row.content, dict):
                _check_columns(file, row.content)
            try:
                line = parse_line(row.content)
            except ValidationError as error:
                outcome.bad_lines.append(BadLine(row.number, explain_invalid(error), file.name))
                continue
            if line.model_extra:
                ignored.update(line.model_extra.keys() - KNOWN_COLUMNS)
            if line.is_prediction and line.prediction is None and not line.error:
                n_null += 1
            numbered = NumberedLine(row.number, line, file.name)
            if not line.is_prediction:
                if line.model_id:
                    outcome.bad_lines.append(BadLine(row.number, "has a model_id, but no prediction", file.name))
                    continue
                lines.questions[name].append(numbered)
            elif not line.model_id:
                outcome.bad_lines.append(BadLine(row.number, "has a prediction, but no model_id", file.name))
            else:
                lines.predictions.append((name, numbered))
    outcome.notes.extend(f"Column {column} is not used ({n} lines)." for column, n in sorted(ignored.items()))
    if n_null:
        outcome.notes.append(f"{n_null} prediction lines hold no prediction (null); they bring no answer.")
    return lines


def _check_columns(file: SourceFile, cells: dict[str, Any]) -> None:
    """Refuse a table of another kind as a whole, not row by row."""
    if "probe_id" not in cells:
        shown = ", ".join(repr(name) for name in list(cells)[:12])
        raise AppError(
            f"{file.name} has no column probe_id; it has {shown}.",
            "data/README.md names the columns of EndoCA's files.",
        )


def _put_questions(
    cursor: "duckdb.DuckDBPyConnection",
    suite: str,
    lines: Iterable[NumberedLine],
    outcome: ImportReport,
    *,
    extend: bool,
    fill_missing_atoms: bool = False,
) -> None:
    builder = UnitBuilder(suite, fill_missing_atoms=fill_missing_atoms)
    for line in lines:
        builder.add(line)
    units = list(builder.build())
    outcome.bad_lines.extend(builder.bad_lines)
    if builder.n_filled:
        outcome.notes.append(
            f"Atomic questions of suite {suite} that stand in no line: {builder.n_filled}. They are asked in "
            "Kvasir-VQA's standard words, and count as missing where not answered."
        )
    if units:
        outcome.suites.append(put_suite(cursor, suite, units, outcome.source, extend=extend))


def _find_probes(
    cursor: "duckdb.DuckDBPyConnection",
    predictions: list[tuple[str, NumberedLine]],
    suite: str | None,
    outcome: ImportReport,
) -> dict[RunKey, dict[str, _Answered]]:
    """Give every prediction line its probe, making suites where none matches; return answers by run."""
    if not predictions:
        return {}
    stored = stored_probes(cursor)
    matches = [match_probe(numbered, stored, suite) for _, numbered in predictions]
    unmatched = [at for at, found in enumerate(matches) if found is None]
    names = {at: suite or name for at, name in suites_to_make(predictions, unmatched).items()}
    known_suites = {probe.suite for probes in stored.probes.values() for probe in probes}
    made: dict[str, list[NumberedLine]] = defaultdict(list)
    for at, name in names.items():
        made[name].append(predictions[at][1])
    for name, lines in made.items():
        if name in known_suites:
            for n in lines:
                reason = (
                    f"probe {n.line.probe_id} (with this question) is not in suite {name}; "
                    "to add questions to a suite, import their manifest lines with --suite"
                )
                outcome.bad_lines.append(BadLine(n.number, reason, n.file))
            continue
        _make_suite(cursor, name, lines, outcome)
    if unmatched:
        stored = stored_probes(cursor)
        for at, name in names.items():
            matches[at] = match_probe(predictions[at][1], stored, name)
    return _by_run([numbered for _, numbered in predictions], matches, outcome)


def _make_suite(
    cursor: "duckdb.DuckDBPyConnection", name: str, lines: list[NumberedLine], outcome: ImportReport
) -> None:
    """Make a suite from the references that prediction lines carry, each question once."""
    without = [n for n in lines if not n.line.question or not n.line.gold_answer]
    for number, line, file in without:
        reason = f"probe {line.probe_id} is in no stored suite, and the line lacks the references to make one"
        outcome.bad_lines.append(BadLine(number, reason, file))
    refused = set(map(id, without))
    asked_once = {n.line.probe_id: n for n in reversed(lines) if id(n) not in refused}
    n_suites = len(outcome.suites)
    in_order = sorted(asked_once.values(), key=lambda n: (n.file, n.number))
    _put_questions(cursor, name, in_order, outcome, extend=True, fill_missing_atoms=True)
    if len(outcome.suites) > n_suites:
        outcome.notes.append(
            f"{len(lines)} prediction lines match no stored manifest; suite {name} was made from the references "
            "they carry."
        )


def _by_run(
    predictions: list[NumberedLine], matches: list[StoredProbe | None], outcome: ImportReport
) -> dict[RunKey, dict[str, _Answered]]:
    answers: dict[RunKey, dict[str, _Answered]] = {}
    keys: dict[tuple[str, str], RunKey] = {}
    differing = 0
    reported = {(bad.file, bad.number) for bad in outcome.bad_lines}
    for numbered, found in zip(predictions, matches, strict=True):
        number, line, file = numbered
        if found is None:
            if (file, number) not in reported:
                reason = f"probe {line.probe_id} belongs to a sample that could not be used"
                outcome.bad_lines.append(BadLine(number, reason, file))
            continue
        vlm = line.model_id or ""
        key = keys.get((vlm, found.suite))
        if key is None:
            key = keys[vlm, found.suite] = RunKey(System.ENDOCA, found.suite, vlm, Stage.DIRECT, Origin.IMPORTED)
        of_run = answers.setdefault(key, {})
        if found.probe_id in of_run:
            first = of_run[found.probe_id].line
            place = f"line {first.number}" if first.file == file else f"{first.file}, line {first.number}"
            reason = (
                f"{vlm} answers probe {line.probe_id} a second time (first on {place}); "
                "if two VLMs share a name, give each its own model_id"
            )
            outcome.bad_lines.append(BadLine(number, reason, file))
            continue
        differing += bool(line.gold_answer) and line.gold_answer != found.reference
        said_nothing = line.prediction is None and not line.error
        answer = None if said_nothing else Answer(found.probe_id, line.prediction or "", line.error or "")
        of_run[found.probe_id] = _Answered(numbered, answer)
    if differing:
        outcome.notes.append(
            f"{differing} prediction lines carry a gold_answer other than the stored reference; the stored one is used."
        )
    return answers
