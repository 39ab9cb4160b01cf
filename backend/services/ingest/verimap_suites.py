"""Examples of VeriMap in the store: a suite is a data set, a unit is one example, and its one probe asks its question.

What is known of an example may come piece by piece: verification records often say little more than its id, its
published file brings the question later. So a unit that is there is completed where it is silent, and its own word
stands where it is not.
"""

__all__ = ["SuiteExample", "example_of", "put_examples", "stored_examples", "verimap_suite"]

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.images import IMAGE_SUFFIXES
from backend.domain.records import Image, Probe, Role, System, Unit
from backend.errors import AppError
from backend.services.ingest.files import checked_suite_name
from backend.services.ingest.report import SuiteReport
from backend.services.ingest.suites import put_suite
from backend.store.arrow import arrow_table
from backend.store.store import insert
from backend.verimap.examples import Example
from backend.verimap.vocabulary import Task, dataset_of_name

if TYPE_CHECKING:
    import duckdb

NO_OPTIONS = "[]"


class SuiteExample(NamedTuple):
    """One example as the store keeps it; what is empty is not known."""

    source_id: str
    images: tuple[str, ...] = ()
    """As the data set names them; the unit's image is the first."""
    question: str = ""
    reference: str = ""
    split: str = ""
    options: str = NO_OPTIONS
    """JSON: letter and text of each."""
    reference_letter: str = ""
    answer_type: str | None = None
    native_types: tuple[str, ...] = ()
    task: Task | None = None
    labelled_by: str | None = None
    """None as the task."""

    def completed(self, other: "SuiteExample") -> "SuiteExample":
        """Return this example with what it lacks taken from the other; a task goes with who gave it."""
        if self == other:
            return self
        chosen = self if self.options != NO_OPTIONS else other
        labelled = self if self.task is not None else other
        return SuiteExample(
            source_id=self.source_id,
            images=self.images or other.images,
            question=self.question or other.question,
            reference=self.reference or other.reference,
            split=self.split or other.split,
            options=chosen.options,
            reference_letter=chosen.reference_letter,
            answer_type=self.answer_type or other.answer_type,
            native_types=self.native_types or other.native_types,
            task=labelled.task,
            labelled_by=labelled.labelled_by,
        )

    def contradicts(self, other: "SuiteExample") -> bool:
        """Return whether question, reference, options or image are known of both, and are not the same."""
        said = ((getattr(self, name), getattr(other, name)) for name in ("question", "reference"))
        images = (_stem(self.images[0]), _stem(other.images[0])) if self.images and other.images else ("", "")
        both_have_options = NO_OPTIONS not in (self.options, other.options)
        return (
            any(one and two and one != two for one, two in said)
            or images[0] != images[1]
            or (both_have_options and self.options != other.options)
        )


def example_of(example: Example, split: str) -> SuiteExample:
    """Return a published example as the store keeps it.

    Args:
        example: As its data set publishes it.
        split: That counts where the row does not say one.
    """
    options = [{"letter": option.letter, "text": option.text} for option in example.options]
    return SuiteExample(
        source_id=example.source_id,
        images=example.images,
        question=example.question,
        reference=example.reference,
        split=example.split or split,
        options=json.dumps(options, ensure_ascii=False),
        reference_letter=example.reference_letter,
        answer_type=example.answer_type,
        native_types=example.native_types,
        task=example.task,
        labelled_by="file" if example.task else None,
    )


def verimap_suite(dataset: str) -> str:
    """Return the suite of a data set: its canonical name where it is one of the paper's, else its name as written.

    Raises:
        AppError: A suite cannot have that name.
    """
    known = dataset_of_name(dataset)
    return known.value if known else checked_suite_name(dataset) or ""


def stored_examples(cursor: "duckdb.DuckDBPyConnection", suite: str) -> dict[str, SuiteExample]:
    """Return the examples of a suite by their own ids, as the caller's transaction sees them; none of an unknown suite.

    Raises:
        AppError: There is a suite of that name, and it is another system's.
    """
    system = cursor.execute("SELECT system FROM suites WHERE suite = ?", [suite]).fetchall()
    if system and system[0][0] != System.VERIMAP:
        raise AppError(
            f"Suite {suite} exists and is one of {system[0][0]}, not of {System.VERIMAP}.",
            "Name the data set otherwise in the file, or remove that suite first: "
            f"python -m backend remove suite {suite}",
        )
    rows = cursor.execute(
        "SELECT u.source_id, e.images, p.question, p.reference, u.split, e.options, e.reference_letter, e.answer_type, "
        "e.native_types, e.task, e.labelled_by "
        "FROM units u JOIN examples e USING (unit_id) JOIN probes p USING (unit_id) WHERE u.suite = ?",
        [suite],
    ).fetchall()
    return {row[0]: _stored(row) for row in rows}


def put_examples(
    cursor: "duckdb.DuckDBPyConnection",
    suite: str,
    examples: Sequence[SuiteExample],
    held: Mapping[str, SuiteExample],
    source: str,
    *,
    build_report: dict[str, Any] | None = None,
    dataset: str = "",
) -> SuiteReport:
    """Write examples, inside the caller's transaction: new units, and what stored ones lacked.

    Args:
        cursor: The caller's write transaction.
        suite: The data set's suite.
        examples: Ids distinct.
        held: From `stored_examples`.
        source: Names of the files, for people.
        build_report: What was left out, where the suite is new.
        dataset: Of the images; empty: the suite is their data set.
    """
    new = [example for example in examples if example.source_id not in held]
    whole = [held[one.source_id].completed(one) for one in examples if one.source_id in held]
    completed = [one for one in whole if one != held[one.source_id]]
    report = put_suite(
        cursor, suite, [_unit(suite, example, dataset) for example in new], source,
        extend=True, build_report=build_report, system=System.VERIMAP,
    )  # fmt: skip
    if new:
        insert(cursor, "examples", arrow_table(_columns(suite, new)))
    if completed:
        _complete(cursor, suite, completed)
    n_images = len({_image(dataset or suite, one).image_id for one in (*new, *whole) if one.images})
    return replace(report, n_units=len(examples), n_images=n_images, n_completed=len(completed))


def _stored(row: Sequence[Any]) -> SuiteExample:
    source_id, images, question, reference, split, options, letter, answer_type, types, task, labelled_by = row
    return SuiteExample(
        source_id, tuple(images), question, reference, split, options, letter, answer_type, tuple(types),
        Task(task) if task else None, labelled_by,
    )  # fmt: skip


def _unit(suite: str, example: SuiteExample, dataset: str = "") -> Unit:
    unit_id = Unit.make_id(suite, example.source_id)
    probe = Probe(unit_id, example.source_id, Role.GENERATE, 0, example.question, example.reference, "")
    image = _image(dataset or suite, example)
    return Unit(unit_id, example.source_id, suite, image, example.split, 0, (), (probe,))


def _image(dataset: str, example: SuiteExample) -> Image:
    """Return the image of an example; where its data set names none, one of its own, so that nothing else shares it."""
    if example.images:
        name = example.images[0]
        return Image(Image.make_id(dataset, _stem(name)), dataset, name)
    return Image(Image.make_id(dataset, f"?{example.source_id}"), dataset, "")


@lru_cache(maxsize=65_536)
def _stem(name: str) -> str:
    """Return an image's name without its ending, folders included."""
    path = PurePosixPath(name.replace("\\", "/"))
    return str(path.with_suffix("")) if path.suffix.lower() in IMAGE_SUFFIXES else str(path)


def _columns(suite: str, examples: Iterable[SuiteExample]) -> dict[str, list[Any]]:
    listed = list(examples)
    return {
        "unit_id": [Unit.make_id(suite, one.source_id) for one in listed],
        "suite": [suite] * len(listed),
        "task": [one.task for one in listed],
        "labelled_by": [one.labelled_by for one in listed],
        "images": [list(one.images) for one in listed],
        "options": [one.options for one in listed],
        "reference_letter": [one.reference_letter for one in listed],
        "answer_type": [one.answer_type for one in listed],
        "native_types": [list(one.native_types) for one in listed],
    }


def _complete(cursor: "duckdb.DuckDBPyConnection", suite: str, examples: Sequence[SuiteExample]) -> None:
    """Write stored examples anew; an image that is known by now takes the place of the one of their own."""
    images = [_image(suite, example) for example in examples]
    columns = {
        **_columns(suite, examples),
        "question": [one.question for one in examples],
        "reference": [one.reference for one in examples],
        "split": [one.split for one in examples],
        "image_id": [image.image_id for image in images],
    }
    cursor.register("completed", arrow_table(columns))
    unit_ids = "(SELECT unit_id FROM completed)"
    cursor.execute(f"DELETE FROM examples WHERE unit_id IN {unit_ids}")
    names = ", ".join(_columns(suite, ()))
    cursor.execute(f"INSERT INTO examples ({names}) SELECT {names} FROM completed")
    for table, written in (
        ("probes", ("question", "reference")),
        ("units", ("split", "image_id")),
        ("verifications", ("image_id",)),
    ):
        assignments = ", ".join(f"{column} = n.{column}" for column in written)
        cursor.execute(f"UPDATE {table} SET {assignments} FROM completed n WHERE {table}.unit_id = n.unit_id")
    cursor.unregister("completed")
    known = {row[0] for row in cursor.execute("SELECT image_id FROM images").fetchall()}
    fresh = {image.image_id: image.file for image in images if image.image_id not in known}
    if fresh:
        content = {"image_id": list(fresh), "dataset": [suite] * len(fresh), "file": list(fresh.values())}
        insert(cursor, "images", arrow_table(content))
    cursor.execute(
        "DELETE FROM images WHERE dataset = ? AND file = '' AND image_id NOT IN (SELECT image_id FROM units)", [suite]
    )
