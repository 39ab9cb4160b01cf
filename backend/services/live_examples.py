"""What can be verified live: a stored example, or one of the suite `LIVE_EXAMPLES`, made on the spot.

That suite has no runs and no verdicts, so no metric counts its examples.
"""

__all__ = ["ExampleToAsk", "example_to_ask", "examples_to_begin_with", "live_example"]

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from backend.domain.records import LIVE_EXAMPLES, Image, Probe, Role, System, Unit
from backend.endoca.typed_questions import typed_question
from backend.errors import AppError
from backend.services.demo.synthetic import SYNTHETIC
from backend.services.ingest.suites import put_suite
from backend.services.live_units import SOURCE, Example, image_to_ask, shows
from backend.store.store import Store
from backend.verimap.examples import Option, question_with_options


@dataclass(frozen=True, slots=True)
class ExampleToAsk:
    """An example as a VLM is asked it: no reference."""

    unit_id: str
    image: Path
    image_sha256: str
    question: str
    """With its options below it, where it has any."""


def example_to_ask(store: Store, unit_id: str) -> ExampleToAsk:
    """Return a stored example as a VLM is asked it.

    Raises:
        AppError: There is no such example, its question is not known, or its image's file is not at hand or
            another one than was attached.
    """
    rows = store.rows(
        "SELECT u.image_id, p.question, e.options FROM units u JOIN examples e USING (unit_id) "
        "JOIN probes p USING (unit_id) WHERE u.unit_id = ?",
        [unit_id],
    )
    if not rows:
        raise AppError(f"There is no example {unit_id!r} in this store.", "Choose another.")
    [(image_id, question, options)] = rows
    if not question.strip():
        raise AppError(
            "The question of this example is not known: its file of records does not hold it.",
            "Import the data set itself, or choose another example.",
        )
    file = image_to_ask(store, image_id)
    shown = question_with_options(question, [Option(**option) for option in json.loads(options)])
    return ExampleToAsk(unit_id, file.path, file.sha256, shown)


def live_example(store: Store, image_id: str, question: str, reference: str = "") -> str:
    """Return the id of the suite's example of an image and a question, made where it is not there.

    The same picture and the same question are the same example. It keeps the image it was made with as long as
    that shows the picture. A reference that is given takes the place of the example's; none leaves it.

    Args:
        store: Holds the image.
        image_id: A stored image whose file is at hand.
        question: In one line, without options.
        reference: Empty where none is known.

    Raises:
        AppError: The question is missing or too long, or the image's file is not at hand.
    """
    question, reference = typed_question(question), reference.strip()
    if not question:
        raise AppError("There is no question.", "Type one.")
    file = image_to_ask(store, image_id)
    source_id = hashlib.sha256(f"{file.sha256}\x1f{question}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    unit_id = Unit.make_id(LIVE_EXAMPLES, source_id)
    if _holds(store, unit_id, image_id, file.sha256, reference):
        return unit_id
    [(dataset, name)] = store.rows("SELECT dataset, file FROM images WHERE image_id = ?", [image_id])
    with store.write() as cursor:
        held = cursor.execute("SELECT image_id FROM units WHERE unit_id = ?", [unit_id]).fetchall()
        if not held:
            probe = Probe(unit_id, source_id, Role.GENERATE, 0, question, reference, "")
            unit = Unit(unit_id, source_id, LIVE_EXAMPLES, Image(image_id, dataset, name), "", 0, (), (probe,))
            put_suite(cursor, LIVE_EXAMPLES, [unit], SOURCE, extend=True, system=System.VERIMAP)
            cursor.execute(
                "INSERT INTO examples (unit_id, suite, images, options, reference_letter, native_types) "
                "VALUES (?, ?, ?, '[]', '', [])",
                [unit_id, LIVE_EXAMPLES, [name]],
            )
            return unit_id
        if not shows(store, held[0][0], file.sha256):
            cursor.execute("UPDATE units SET image_id = ? WHERE unit_id = ?", [image_id, unit_id])
        if reference:
            cursor.execute("UPDATE probes SET reference = ? WHERE unit_id = ?", [reference, unit_id])
    return unit_id


def examples_to_begin_with(store: Store, n: int) -> list[Example]:
    """Return examples to begin with, each on another image: of drawn frames first, as many tasks as there are.

    Args:
        store: The store.
        n: At most so many.
    """
    rows = store.rows(
        """
        WITH one AS (
            SELECT u.unit_id, u.image_id, p.question, i.dataset <> $synthetic AS seen, e.task
            FROM units u JOIN examples e USING (unit_id) JOIN images i USING (image_id)
            JOIN probes p ON p.unit_id = u.unit_id AND p.question <> ''
            WHERE i.path IS NOT NULL AND u.suite <> $live
        ), turns AS (
            SELECT *, row_number() OVER (PARTITION BY seen, task ORDER BY image_id, unit_id) AS place FROM one
        ), apart AS (
            SELECT *, row_number() OVER (PARTITION BY image_id ORDER BY seen, place, task) AS on_image FROM turns
        )
        SELECT unit_id, image_id, question, 0 FROM apart WHERE on_image = 1
        ORDER BY seen, row_number() OVER (PARTITION BY seen, task ORDER BY place), task, image_id LIMIT $n
        """,
        {"synthetic": SYNTHETIC, "live": LIVE_EXAMPLES, "n": n},
    )
    return [Example(*row) for row in rows]


def _holds(store: Store, unit_id: str, image_id: str, sha256: str, reference: str) -> bool:
    """Return whether the store has an example with all that is given, so that nothing need be written."""
    held = store.rows(
        "SELECT u.image_id, p.reference FROM units u JOIN probes p USING (unit_id) WHERE unit_id = ?", [unit_id]
    )
    return bool(held) and reference in ("", held[0][1]) and (held[0][0] == image_id or shows(store, held[0][0], sha256))
