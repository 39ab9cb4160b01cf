"""EndoCA manifests and prediction files into the store.

Lines with a ``prediction`` are answers, the others questions. Answers find their suite among
the stored ones by ``probe_id`` and question; those that match none make a suite of their own
from the references they carry. One import is one transaction: all of it, or nothing.
"""

__all__ = ["import_endoca"]

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from backend.domain.progress import Report, silent
from backend.domain.records import Origin, RunKey, Stage, System
from backend.endoca.paired_units import KNOWN_COLUMNS, NumberedLine, UnitBuilder, explain_invalid, parse_line
from backend.errors import AppError, BadLine, BadLines
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.files import SourceFile, read_rows, suite_name
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.services.ingest.suites import put_suite
from backend.services.scoring import Memo
from backend.store.store import Store

if TYPE_CHECKING:
    import duckdb

LENIENT_HINT = "Mend these lines, or import the good ones alone with --lenient (on the Data page: 'skip bad lines')."


class _Answered(NamedTuple):
    number: int
    answer: Answer | None
    """None: the line says that there is none."""


class _Lines(NamedTuple):
    questions: dict[str, list[NumberedLine]]
    """Manifest lines by suite."""
    predictions: list[tuple[str, NumberedLine]]
    """Prediction lines, each with the name of the suite it makes where no stored one matches."""


class _StoredProbe(NamedTuple):
    suite: str
    question: str
    probe_id: str
    reference: str


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
    outcome = ImportReport("endoca", ", ".join(file.name for file in files))
    lines = _read(files, suite, outcome, report)
    with store.write() as cursor:
        for name, questions in lines.questions.items():
            report(f"writing suite {name}", 0, None)
            _put_questions(cursor, name, questions, outcome, extend=suite is not None)
        report("matching answers to questions", 0, None)
        answers = _find_probes(cursor, lines.predictions, suite, outcome)
        if outcome.bad_lines and not lenient:
            outcome.bad_lines.sort(key=lambda line: (line.file, line.number))
            raise BadLines(outcome.bad_lines, LENIENT_HINT)
        if not lines.questions and not answers:
            raise AppError(f"{outcome.source} holds no line that could be imported.", "See the bad lines above.")
        memo: Memo = {}
        for done, (key, of_run) in enumerate(answers.items()):
            report(f"scoring {key.vlm}", done, len(answers))
            given = [answered.answer for answered in of_run.values() if answered.answer is not None]
            outcome.runs.append(put_answers(cursor, key, given, outcome.source, vlm_group, memo))
        report("scoring", len(answers), len(answers))
        write_log(cursor, outcome)
    return outcome


def _read(files: Sequence[SourceFile], suite: str | None, outcome: ImportReport, report: Report) -> _Lines:
    lines = _Lines(defaultdict(list), [])
    ignored: Counter[str] = Counter()
    for file in files:
        name = suite or suite_name(file)
        for row in read_rows(file, report):
            if isinstance(row, BadLine):
                outcome.bad_lines.append(row)
                continue
            try:
                line = parse_line(row.content)
            except ValidationError as error:
                outcome.bad_lines.append(BadLine(row.number, explain_invalid(error), file.name))
                continue
            if line.model_extra:
                ignored.update(line.model_extra.keys() - KNOWN_COLUMNS)
            numbered = NumberedLine(row.number, line, file.name)
            if not line.is_prediction:
                if line.model_id is not None:
                    outcome.bad_lines.append(BadLine(row.number, "has a model_id, but no prediction", file.name))
                    continue
                lines.questions[name].append(numbered)
            elif line.model_id is None:
                outcome.bad_lines.append(BadLine(row.number, "has a prediction, but no model_id", file.name))
            else:
                lines.predictions.append((name, numbered))
    outcome.notes.extend(f"Column {column} is not used ({n} lines)." for column, n in sorted(ignored.items()))
    return lines


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
            f"{builder.n_filled} atomic questions of suite {suite} stand in no line; they are asked in Kvasir-VQA's "
            "standard words and count as missing where not answered."
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
    stored = _stored_probes(cursor)
    matches = [_match(numbered, stored, suite) for _, numbered in predictions]
    unmatched: dict[str, list[NumberedLine]] = defaultdict(list)
    for (name, numbered), found in zip(predictions, matches, strict=True):
        if found is None:
            unmatched[name].append(numbered)
    known_suites = {probe.suite for probes in stored.values() for probe in probes}
    for name, lines in unmatched.items():
        if name in known_suites:
            for n in lines:
                reason = f"probe {n.line.probe_id} (with this question) is not in suite {name}"
                outcome.bad_lines.append(BadLine(n.number, reason, n.file))
            continue
        asked_once = {n.line.probe_id: n for n in reversed(lines)}
        in_order = sorted(asked_once.values(), key=lambda n: (n.file, n.number))
        _put_questions(cursor, name, in_order, outcome, extend=True, fill_missing_atoms=True)
        outcome.notes.append(
            f"{len(lines)} prediction lines match no stored manifest; suite {name} was made from the references "
            "they carry."
        )
    if unmatched:
        stored = _stored_probes(cursor)
        matches = [
            found or _match(numbered, stored, name)
            for (name, numbered), found in zip(predictions, matches, strict=True)
        ]
    return _by_run([numbered for _, numbered in predictions], matches, outcome)


def _by_run(
    predictions: list[NumberedLine], matches: list[_StoredProbe | None], outcome: ImportReport
) -> dict[RunKey, dict[str, _Answered]]:
    answers: dict[RunKey, dict[str, _Answered]] = {}
    keys: dict[tuple[str, str], RunKey] = {}
    differing = 0
    reported = {(bad.file, bad.number) for bad in outcome.bad_lines}
    for (number, line, file), found in zip(predictions, matches, strict=True):
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
            reason = (
                f"{vlm} answers probe {line.probe_id} a second time (first on line {of_run[found.probe_id].number}); "
                "if two VLMs share a name, give each its own model_id"
            )
            outcome.bad_lines.append(BadLine(number, reason, file))
            continue
        differing += line.gold_answer is not None and line.gold_answer != found.reference
        said_nothing = line.prediction is None and not line.error
        answer = None if said_nothing else Answer(found.probe_id, line.prediction or "", line.error or "")
        of_run[found.probe_id] = _Answered(number, answer)
    if differing:
        outcome.notes.append(
            f"{differing} prediction lines carry a gold_answer other than the stored reference; the stored one is used."
        )
    return answers


def _stored_probes(cursor: "duckdb.DuckDBPyConnection") -> dict[str, list[_StoredProbe]]:
    rows = cursor.execute(
        "SELECT p.source_id, p.suite, p.question, p.probe_id, p.reference FROM probes p "
        "JOIN suites s ON s.suite = p.suite WHERE s.system = ?",
        [System.ENDOCA],
    ).fetchall()
    probes: dict[str, list[_StoredProbe]] = defaultdict(list)
    for source_id, *rest in rows:
        probes[source_id].append(_StoredProbe(*rest))
    return probes


def _match(numbered: NumberedLine, stored: dict[str, list[_StoredProbe]], suite: str | None) -> _StoredProbe | None:
    """Return the stored probe a line answers: same id, same question where it carries one, and the suite asked for."""
    line = numbered.line
    candidates = [
        probe
        for probe in stored.get(line.probe_id, ())
        if (line.question is None or line.question == probe.question) and (suite is None or probe.suite == suite)
    ]
    if len(candidates) > 1:
        names = ", ".join(sorted(probe.suite for probe in candidates))
        raise AppError(
            f"{numbered.file}, line {numbered.number}: probe {line.probe_id} is in several suites ({names}).",
            "Say which one is meant with --suite (on the Data page: 'suite').",
        )
    return candidates[0] if candidates else None
