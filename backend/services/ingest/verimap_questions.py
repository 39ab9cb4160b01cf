"""The questions of VeriMap's data sets, as they are published, and their task labels into the store.

A file, several, or the folder of a data set. Rows that are not taken (another language) are counted by their reason.
One import is one transaction: all of it, or nothing.
"""

__all__ = ["import_verimap", "question_files"]

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import System
from backend.errors import AppError, BadLine, BadLines
from backend.services.ingest.endoca import LENIENT_HINT
from backend.services.ingest.files import SourceFile
from backend.services.ingest.log import write_log
from backend.services.ingest.objects import Record, load_objects
from backend.services.ingest.report import ImportReport
from backend.services.ingest.verimap_labels import LabelFiles, put_labels, read_label_files
from backend.services.ingest.verimap_suites import SuiteExample, example_of, put_examples, stored_examples
from backend.store.store import Store
from backend.verimap.published_formats import read_published, telling_dataset
from backend.verimap.published_formats.rows import RowPlace
from backend.verimap.vocabulary import Dataset, dataset_of_name

_DATA = re.compile(r"\.(jsonl|ndjson|json|csv|parquet)(\.gz)?$", re.IGNORECASE)
_SPLIT = re.compile(r"(?<![a-z])(train|val|dev|test)", re.IGNORECASE)
_SHOWN = 10


COPY = "a row without an id that repeats a question with one"


class _Read(NamedTuple):
    """The questions of all files."""

    examples: dict[str, SuiteExample]
    conflicts: list[str]
    """Ids under which two files hold different questions."""
    unnamed: set[str]
    """Ids made of a file's name and a row's number: the rows have none."""


def question_files(path: Path, dataset: str = "") -> list[SourceFile]:
    """Return the files that hold a data set's questions.

    Of a folder these are the data files nearest to its top: SLAKE, for one, has further ones beside each image.
    MedXpertQA's folder Text has no images and is passed over.

    Args:
        path: A file, or a data set's folder.
        dataset: Its name.

    Raises:
        AppError: The folder holds no data file.
    """
    if not path.is_dir():
        return [SourceFile.at(path)]
    folders = [path]
    while folders:
        files = [file for folder in folders for file in sorted(folder.iterdir()) if _is_data(file)]
        if files:
            return [SourceFile.at(file) for file in files]
        folders = [below for folder in folders for below in sorted(folder.iterdir()) if _may_hold(below, dataset)]
    raise AppError(
        f"The folder {path} holds no data file.", "It should hold .json, .jsonl, .csv or .parquet files, plain or .gz."
    )


def import_verimap(
    store: Store,
    files: Sequence[SourceFile],
    dataset: str,
    *,
    labels: LabelFiles | None = None,
    lenient: bool = False,
    report: Report = silent,
) -> ImportReport:
    """Import questions of a data set, task labels of its questions, or both, in one transaction.

    A suite may grow by further files, and by other splits. Importing a file twice changes nothing. Units that came with
    verification records get the question and the image that these did not name. Copies without ids are in circulation
    beside the files they were made of: a row without an id that says the same of the same image as a question with an
    id is left out.

    Args:
        store: Where to.
        files: As the data set is published; empty where labels alone are brought to a stored suite.
        dataset: One of the five; with labels alone any VeriMap suite of the store.
        labels: Where the tasks come from; None leaves them as they are.
        lenient: Import the good lines and list the bad ones; otherwise a bad line stops all.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        BadLines: There are bad lines, and ``lenient`` is false; nothing was imported.
        AppError: An unknown data set; a file cannot be read at all, or contradicts what the store holds.
    """
    if not files and labels is None:
        raise AppError("No file was named.", "Name the data set's files or its folder, or labels of its questions.")
    suite = _suite(store, dataset, has_files=bool(files))
    outcome = ImportReport("verimap", ", ".join(file.name for file in files) or f"labels of {suite}")
    read = _read(files, Dataset(suite), outcome, report) if files else _Read({}, [], set())
    given = read_label_files(labels, outcome, report) if labels else None
    _refuse(outcome, lenient, is_empty=bool(files) and not read.examples)
    with store.write() as cursor:
        if files:
            report(f"writing suite {suite}", 0, None)
            held = stored_examples(cursor, suite)
            _leave_out_copies(read, held, outcome)
            differing = [one for one in read.examples.values() if held.get(one.source_id, one).contradicts(one)]
            _refuse_other_content(suite, [*read.conflicts, *(one.source_id for one in differing)])
            left_out = {"exclusions": outcome.exclusions} if outcome.exclusions else None
            outcome.suites.append(
                put_examples(cursor, suite, list(read.examples.values()), held, outcome.source, build_report=left_out)
            )
            outcome.notes.extend(_image_notes(read.examples.values()))
        if given is not None:
            report("labelling", 0, None)
            outcome.labels = put_labels(cursor, suite, given, outcome)
        write_log(cursor, outcome)
    return outcome


def _suite(store: Store, dataset: str, *, has_files: bool) -> str:
    """Return the suite that a data set's name stands for.

    Raises:
        AppError: It stands for none; the known ones are listed.
    """
    known = dataset_of_name(dataset)
    listed = ", ".join(Dataset)
    if has_files:
        if known is None:
            raise AppError(f"{dataset!r} is no data set whose format is known.", f"Known: {listed}.")
        return known.value
    suite = known.value if known else dataset.strip()
    stored = [row[0] for row in store.rows("SELECT suite FROM suites WHERE system = ? ORDER BY 1", [System.VERIMAP])]
    if suite not in stored:
        raise AppError(
            f"There are no questions of {dataset!r} in this store.",
            f"Stored: {', '.join(stored) or 'none'}. A data set's files bring it in; known are {listed}.",
        )
    return suite


def _read(files: Sequence[SourceFile], dataset: Dataset, outcome: ImportReport, report: Report) -> _Read:
    read = _Read({}, [], set())
    left_out: Counter[str] = Counter()
    for file in files:
        records = load_objects(file, report, lambda content: any(name.lower() == "question" for name in content))
        outcome.bad_lines.extend(record for record in records if isinstance(record, BadLine))
        rows = [(record.number, record.content) for record in records if isinstance(record, Record)]
        _check_columns(file, rows, dataset)
        found = read_published(dataset, rows, file.name)
        outcome.bad_lines.extend(found.bad_lines)
        left_out.update(line.reason for line in found.left_out)
        read.unnamed.update(RowPlace(file.name, number).made_id for number, _ in rows)
        split = _split_of(file.name)
        for example in found.examples:
            given = example_of(example, split)
            earlier = read.examples.setdefault(given.source_id, given)
            if earlier.contradicts(given):
                read.conflicts.append(given.source_id)
            read.examples[given.source_id] = earlier.completed(given)
    outcome.exclusions.update(left_out)
    return read


def _leave_out_copies(read: _Read, held: Mapping[str, SuiteExample], outcome: ImportReport) -> None:
    everything = {**held, **read.examples}
    named = {_content(one) for one in everything.values() if one.source_id not in read.unnamed and one.images}
    copies = [
        source_id
        for source_id in read.unnamed & read.examples.keys() - held.keys()
        if _content(read.examples[source_id]) in named
    ]
    for source_id in copies:
        del read.examples[source_id]
    if copies:
        outcome.exclusions[COPY] = len(copies)


def _content(example: SuiteExample) -> tuple[object, ...]:
    return example.images, example.question, example.reference, example.options


def _check_columns(file: SourceFile, rows: Iterable[tuple[int, Mapping[str, Any]]], dataset: Dataset) -> None:
    """Refuse a file of another kind, or of another data set, as a whole, not row by row."""
    columns = dict.fromkeys(name for _, cells in rows for name in cells)
    if columns and not any(name.lower() == "question" for name in columns):
        shown = ", ".join(repr(name) for name in list(columns)[:12])
        raise AppError(
            f"{file.name} has no column for questions; it has {shown}.",
            "data/README.md names the columns of the data sets. Verification records go in with --records.",
        )
    told = telling_dataset(columns)
    if told is not None and told is not dataset:
        raise AppError(
            f"{file.name} has the columns of {told.label}, not of {dataset.label}.",
            f"Import it with --dataset {told.value}, or name a file of {dataset.label}.",
        )


def _split_of(file: str) -> str:
    """Return the split that a file's name says (train, val, dev, test); "" where it says none."""
    found = _SPLIT.search(file)
    return found[1].lower() if found else ""


def _refuse(outcome: ImportReport, lenient: bool, *, is_empty: bool) -> None:
    outcome.bad_lines.sort(key=lambda line: (line.file, line.number))
    if outcome.bad_lines and (is_empty or not lenient):
        hint = "No line was good. data/README.md says what each line needs." if is_empty else LENIENT_HINT
        raise BadLines(outcome.bad_lines, hint)
    if is_empty:
        reasons = "; ".join(f"{reason}: {n:,}" for reason, n in outcome.exclusions.items())
        raise AppError(
            f"{outcome.source} holds no question to import{f' ({reasons})' if reasons else ''}.",
            "data/README.md says what a file holds.",
        )


def _refuse_other_content(suite: str, ids: Sequence[str]) -> None:
    if ids:
        shown = ", ".join(ids[:_SHOWN]) + (" …" if len(ids) > _SHOWN else "")
        raise AppError(
            f"{len(ids):,} ids of {suite} stand for other questions already: {shown}. Nothing was imported.",
            "Where both are wanted, give the files' rows ids of their own; else take the older ones out: "
            f"python -m backend remove suite {suite}",
        )


def _image_notes(examples: Iterable[SuiteExample]) -> Iterator[str]:
    n_images = Counter(min(len(example.images), 2) for example in examples)
    if n_images[0]:
        yield f"Questions that name no image: {n_images[0]:,}. Each counts as one of an image of its own."
    if n_images[2]:
        yield f"Questions with several images: {n_images[2]:,}. VLMs are shown the first one."


def _is_data(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and bool(_DATA.search(path.name))


def _may_hold(path: Path, dataset: str) -> bool:
    is_text_only = dataset_of_name(dataset) is Dataset.MEDXPERTQA and path.name.lower() == "text"
    return path.is_dir() and not path.name.startswith(".") and not is_text_only and os.access(path, os.R_OK)
