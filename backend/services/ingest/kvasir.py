"""Suites built from the two data sets that EndoCA is made of.

Kvasir-VQA-x1 holds the complex questions with their atomic ones, Kvasir-VQA the atomic
references they were made from. What is eligible, and why a row is not, is decided in
`backend.endoca.suite_building`; here the files are read, looked up, drawn from and stored.
"""

__all__ = ["import_kvasir"]

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from backend.domain.progress import Report, silent
from backend.domain.records import Role, System
from backend.endoca.paired_units import explain_invalid
from backend.endoca.suite_building import (
    AtomicReferences,
    Exclusion,
    Sample,
    SourceRow,
    X1Row,
    available,
    exclusion_of_references,
    sample_of,
    select,
    unit_of,
)
from backend.errors import AppError, BadLine, BadLines
from backend.services.ingest.endoca import LENIENT_HINT
from backend.services.ingest.files import SourceFile, checked_suite_name, read_rows, suite_name
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.services.ingest.suites import put_suite
from backend.store.store import Store

if TYPE_CHECKING:
    import duckdb

RowModel = TypeVar("RowModel", SourceRow, X1Row)

_REPORT_EVERY = 1_000
_SPLIT = re.compile(r"(?<![a-z])(train|validation|test)(?![a-z])", re.IGNORECASE)


def import_kvasir(
    store: Store,
    vqa: SourceFile,
    x1: Sequence[SourceFile],
    *,
    suite: str | None = None,
    sizes: Sequence[int] | None = None,
    seed: int = 0,
    exclude_suite: str | None = None,
    lenient: bool = False,
    report: Report = silent,
) -> ImportReport:
    """Build a suite and store it, with the report of how it was built, in one transaction.

    A sample's id is its row number over the x1 files in the order given, from 0, unreadable
    rows counted too: train followed by test gives the ids of the benchmark. An atomic
    question that the Kvasir-VQA file does not hold is counted in a note and excludes nothing:
    files in circulation hold half of Kvasir-VQA. The split is the word train, validation or
    test in the x1 file's name. Building the same suite again changes nothing.

    Args:
        store: Where to.
        vqa: Kvasir-VQA: ``question``, ``answer``, ``img_id``.
        x1: Kvasir-VQA-x1: ``img_id``, ``complexity``, ``question``, ``answer``, ``original``,
            ``question_class`` (and ``image``).
        suite: Name of the suite; by default from the first x1 file's name.
        sizes: How many samples of complexity 1, 2 and 3 to draw; everything eligible if None.
        seed: Of the draw.
        exclude_suite: A stored suite none of whose samples may be in this one. The same
            sample is the same image, complex question and reference, whatever its row number.
        lenient: Use the good rows and list the bad ones; otherwise a bad row stops all.
        report: Told of progress; may raise `Cancelled`.

    Returns:
        What was built; ``exclusions`` counts rows by the first reason that left them out.

    Raises:
        BadLines: There are bad rows, and ``lenient`` is false; nothing was imported.
        AppError: A file cannot be used, a stratum cannot be filled, the excluded suite is not
            there, no sample is eligible, or the name belongs to a suite that is another.
    """
    if not x1:
        raise AppError("There is no Kvasir-VQA-x1 file to build from.", "Name at least one with --x1.")
    name = checked_suite_name(suite) or suite_name(x1[0])
    outcome = ImportReport("kvasir", ", ".join(file.name for file in (vqa, *x1)))
    taken = _contents_of(store, exclude_suite)
    source = _atomic_references(vqa, outcome, report)
    exclusions: Counter[Exclusion] = Counter()
    sound = _sound_samples(x1, outcome, exclusions, report)
    if outcome.bad_lines and not lenient:
        raise BadLines(outcome.bad_lines, LENIENT_HINT)
    eligible: list[Sample] = []
    for done, sample in enumerate(sound):
        if done % _REPORT_EVERY == 0:
            report("checking references", done, len(sound))
        reason = exclusion_of_references(sample, source)
        if reason is None and sample.content in taken:
            reason = Exclusion.IN_OTHER_SUITE
        if reason is None:
            eligible.append(sample)
        else:
            exclusions[reason] += 1
    report("checking references", len(sound), len(sound))
    outcome.exclusions = {str(reason): exclusions[reason] for reason in Exclusion if exclusions[reason]}
    _note_counts(outcome, sound, eligible, source)
    if not eligible:
        raise AppError(
            "No sample is eligible: " + "; ".join(f"{n} × {reason}" for reason, n in outcome.exclusions.items()) + ".",
            "Check that the files are Kvasir-VQA and Kvasir-VQA-x1, in this order.",
        )
    chosen = eligible if sizes is None else select(eligible, sizes, seed)
    build_report = {
        "built_from": {"vqa": vqa.name, "x1": [file.name for file in x1]},
        "sizes": list(sizes) if sizes is not None else None,
        "seed": seed if sizes is not None else None,
        "exclude_suite": exclude_suite,
        "sound_in_form": available(sound),
        "eligible": available(eligible),
        "chosen": available(chosen),
        "exclusions": outcome.exclusions,
        "notes": outcome.notes,
    }
    with store.write() as cursor:
        _check_name(cursor, name, chosen)
        units = [unit_of(sample, name) for sample in chosen]
        outcome.suites.append(put_suite(cursor, name, units, outcome.source, extend=False, build_report=build_report))
        write_log(cursor, outcome)
    return outcome


def _contents_of(store: Store, suite: str | None) -> set[tuple[str, str, str]]:
    """Return the `Sample.content` of a stored suite's samples."""
    if suite is None:
        return set()
    rows = store.rows(
        "SELECT u.image_id, p.question, p.reference FROM probes p JOIN units u USING (unit_id) "
        "WHERE p.suite = ? AND p.role = ?",
        [suite, Role.COMPLEX],
    )
    if not rows:
        known = store.rows("SELECT suite FROM suites WHERE system = ? ORDER BY suite", [System.ENDOCA])
        names = ", ".join(row[0] for row in known) or "none"
        raise AppError(f"There is no suite {suite} to exclude.", f"Suites in the store: {names}.")
    return {(image_id.rpartition(":")[2], question, reference) for image_id, question, reference in rows}


def _atomic_references(file: SourceFile, outcome: ImportReport, report: Report) -> AtomicReferences:
    source = AtomicReferences()
    for row in _checked_rows(file, SourceRow, outcome, report):
        if row is not None:
            source.add(row.img_id, row.question, row.answer)
    return source


def _sound_samples(
    files: Sequence[SourceFile], outcome: ImportReport, exclusions: Counter[Exclusion], report: Report
) -> list[Sample]:
    sound: list[Sample] = []
    sample_id = -1
    for file in files:
        named = _SPLIT.search(file.name)
        split = named[0].lower() if named else ""
        for row in _checked_rows(file, X1Row, outcome, report):
            sample_id += 1
            if row is None:
                continue
            sample = sample_of(row, sample_id, split)
            if isinstance(sample, Sample):
                sound.append(sample)
            else:
                exclusions[sample] += 1
    return sound


def _checked_rows(
    file: SourceFile, model: type[RowModel], outcome: ImportReport, report: Report
) -> Iterator[RowModel | None]:
    """Yield a file's rows checked at the gate; None for a row that goes to the bad lines."""
    checked_columns = False
    for row in read_rows(file, report):
        if isinstance(row, BadLine):
            outcome.bad_lines.append(row)
            yield None
            continue
        if isinstance(row.content, dict) and not checked_columns:
            _check_columns(file, model, row.content)
            checked_columns = True
        try:
            if isinstance(row.content, bytes):
                yield model.model_validate_json(row.content)
            else:
                yield model.model_validate(row.content)
        except ValidationError as error:
            outcome.bad_lines.append(BadLine(row.number, explain_invalid(error), file.name))
            yield None


def _check_columns(file: SourceFile, model: type[RowModel], cells: dict[str, Any]) -> None:
    """Refuse a table of another kind as a whole, not row by row."""
    needed = [name for name, column in model.model_fields.items() if column.is_required()]
    missing = [name for name in needed if name not in cells]
    if model is SourceRow and "original" in cells:
        raise AppError(
            f"{file.name} is Kvasir-VQA-x1, not Kvasir-VQA.",
            "Give Kvasir-VQA itself in its place (on the command line: --vqa).",
        )
    if missing:
        raise AppError(
            f"{file.name} has no column {', '.join(missing)}; it has {', '.join(cells)}.",
            f"Needed here: {', '.join(needed)}. --vqa takes Kvasir-VQA, --x1 takes Kvasir-VQA-x1.",
        )


def _note_counts(
    outcome: ImportReport, sound: Sequence[Sample], eligible: Sequence[Sample], source: AtomicReferences
) -> None:
    for samples, words in (
        (sound, "are whole and in EndoCA's nine classes"),
        (eligible, "are eligible, their references in agreement"),
    ):
        counts = ", ".join(f"complexity {c}: {n:,}" for c, n in available(samples).items())
        outcome.notes.append(f"{len(samples):,} samples {words} ({counts}).")
    asked = [(sample.img_id, atom) for sample in eligible for atom in sample.atoms]
    n_absent = sum(1 for img_id, atom in asked if not source.holds(img_id, atom))
    if n_absent:
        outcome.notes.append(
            f"{n_absent:,} of the eligible samples' {len(asked):,} atomic questions are not in the Kvasir-VQA file; "
            "their references are Kvasir-VQA-x1's alone."
        )


def _check_name(cursor: "duckdb.DuckDBPyConnection", suite: str, chosen: Sequence[Sample]) -> None:
    """Refuse to mix two draws under one name."""
    rows = cursor.execute("SELECT source_id FROM units WHERE suite = ?", [suite]).fetchall()
    if rows and {row[0] for row in rows} != {str(sample.sample_id) for sample in chosen}:
        raise AppError(
            f"Suite {suite} exists and holds other samples than these {len(chosen):,}.",
            "Name another suite with --suite (on the Data page: 'suite').",
        )
