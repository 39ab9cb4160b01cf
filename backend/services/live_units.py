"""What can be asked live: a stored unit, or one of the suite "live", made on the spot from an image and questions.

The suite "live" has no runs, so no metric counts its units. An image of a person's own is checked by
its header, kept beside the store under the name of its hash, and served as any other image is.
"""

__all__ = [
    "Example",
    "LiveUnit",
    "example_units",
    "image_to_ask",
    "keep_image",
    "live_unit",
    "shows",
    "unit_to_ask",
    "uploads_folder",
]

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from backend.domain.images import check_image
from backend.domain.records import LIVE_SUITE, Image, Probe, Role, Unit
from backend.endoca.typed_questions import typed_question
from backend.endoca.vocabulary import class_of_question
from backend.errors import AppError
from backend.services.demo.synthetic import SYNTHETIC_DATASETS
from backend.services.images import ImageFile, image_file
from backend.services.ingest.suites import put_suite
from backend.store.store import Store

OWN_IMAGE = "own image"
"""The data set of images that people brought."""

FOLDER = "uploads"
"""Beside the store; where images that people brought are kept."""

SOURCE = "asked live"

_CHECKED_AS = "This file"
"""How errors about an image call it: its own name may hold a patient's."""


@dataclass(frozen=True, slots=True)
class LiveUnit:
    """A unit as a VLM is asked about it: no references."""

    unit_id: str
    image: Path
    image_sha256: str
    question: str
    atomic: tuple[str, ...]


class Example(NamedTuple):
    """A stored unit to begin with."""

    unit_id: str
    image_id: str
    question: str
    complexity: int


def uploads_folder(store: Store) -> Path:
    """Return where a store keeps images that people brought; it may not be there yet."""
    return (store.path.parent / FOLDER).resolve()


def keep_image(store: Store, content: bytes) -> str:
    """Keep an image that somebody brought, and return its id: the same for the same bytes.

    The file keeps its bytes and loses its name.

    Raises:
        AppError: It is no image that can be used (`check_image`), or it cannot be written.
    """
    folder = uploads_folder(store)
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as aside:
            brought = Path(aside, _CHECKED_AS)
            brought.write_bytes(content)
            facts = check_image(brought)
            name = f"{facts.sha256}.{facts.media_type.partition('/')[2]}"
            brought.replace(folder / name)
    except OSError as error:
        raise AppError(
            f"The image cannot be kept in {folder} ({error.strerror}).", "Make room, or check the folder's permissions."
        ) from error
    image_id = Image.make_id(LIVE_SUITE, facts.sha256)
    where = (str(folder), name)
    if store.rows("SELECT root, path FROM images WHERE image_id = ?", [image_id]) == [where]:
        return image_id
    with store.write() as cursor:
        if not cursor.execute("SELECT 1 FROM image_roots WHERE root = ?", [str(folder)]).fetchall():
            cursor.execute("INSERT INTO image_roots (root) VALUES (?)", [str(folder)])
        cursor.execute("DELETE FROM images WHERE image_id = ?", [image_id])
        cursor.execute(
            "INSERT INTO images (image_id, dataset, file, root, path, sha256, width, height, format, bytes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                image_id, OWN_IMAGE, name, *where,
                facts.sha256, facts.width, facts.height, facts.format, facts.bytes,
            ],
        )  # fmt: skip
    return image_id


def live_unit(
    store: Store,
    image_id: str,
    question: str,
    atomic: Sequence[str],
    reference: str = "",
    atomic_references: Sequence[str] = (),
) -> str:
    """Return the id of the suite "live"'s unit of an image and questions, made where it is not there.

    The same picture and the same questions are the same unit. It keeps the image it was made with as long as that
    shows the picture; else it takes the one given. A reference that is given takes the place of the unit's; one
    that is not leaves it. Question classes are those that the atomic questions' words tell; a question outside
    the vocabulary has none.

    Args:
        store: Holds the image.
        image_id: A stored image whose file is at hand.
        question: The complex question.
        atomic: Its atomic questions, in order.
        reference: Of the complex question; empty where none is known.
        atomic_references: One an atomic question, empty where none is known; or none at all.

    Raises:
        AppError: A question is missing or too long, or the image's file is not at hand.
    """
    question, atomic = typed_question(question), [text for part in atomic if (text := typed_question(part))]
    if not question:
        raise AppError("There is no complex question.", "Type or choose one.")
    if not atomic:
        raise AppError(
            "There is no atomic question.", "Write at least one: a complex answer is held against its parts."
        )
    given = [text.strip() for text in atomic_references] or [""] * len(atomic)
    if len(given) != len(atomic):
        raise AppError(
            f"There are {len(given)} references for {len(atomic)} atomic questions.", "Give one for each, or none."
        )
    file = image_file(store, image_id)
    if file is None:
        raise _no_file(image_id)
    unit = _unit(store, image_id, file.sha256, question, atomic, [reference.strip(), *given])
    if _holds(store, unit, file.sha256, store.rows(_HELD, [unit.unit_id])):
        return unit.unit_id
    with store.write() as cursor:
        held = cursor.execute(_HELD, [unit.unit_id]).fetchall()  # somebody may have made it since
        if not held:
            put_suite(cursor, LIVE_SUITE, [unit], SOURCE, extend=True)
            return unit.unit_id
        if not shows(store, held[0][0], file.sha256):
            cursor.execute("UPDATE units SET image_id = ? WHERE unit_id = ?", [image_id, unit.unit_id])
        for probe in unit.probes:
            if probe.reference:
                cursor.execute("UPDATE probes SET reference = ? WHERE probe_id = ?", [probe.reference, probe.probe_id])
    return unit.unit_id


def unit_to_ask(store: Store, unit_id: str) -> LiveUnit:
    """Return a stored unit as a VLM is asked about it.

    Raises:
        AppError: There is no such unit, it has no atomic question, its image's file is not at hand, or is
            another one than was attached.
    """
    questions = [
        row[0]
        for row in store.rows(
            "SELECT question FROM probes WHERE unit_id = ? ORDER BY role <> ?, position", [unit_id, Role.COMPLEX]
        )
    ]
    if len(questions) < 2:
        raise AppError(f"There is no case {unit_id!r} with parts in this store.", "Choose another case.")
    file = image_to_ask(store, str(store.value("SELECT image_id FROM units WHERE unit_id = ?", [unit_id])))
    return LiveUnit(unit_id, file.path, file.sha256, questions[0], tuple(questions[1:]))


def image_to_ask(store: Store, image_id: str) -> ImageFile:
    """Return the file of an image as a VLM is shown it.

    Raises:
        AppError: It is not at hand, or is another one than was attached.
    """
    file = image_file(store, image_id)
    if file is None:
        raise _no_file(image_id)
    if not _has_bytes(file, file.sha256):
        raise AppError(
            "The file of this image has changed since it was attached.",
            "Attach its folder again on the Data page, then ask again.",
        )
    return file


def example_units(store: Store, n: int) -> list[Example]:
    """Return units to begin with, each on another image: drawn frames first, of them the test split's.

    Args:
        store: The store.
        n: At most so many. Units of several parts go before those of one.
    """
    rows = store.rows(
        """
        SELECT unit_id, image_id, question, complexity FROM (
            SELECT u.unit_id, u.image_id, u.complexity, u.suite, p.question,
                   NOT list_contains($synthetic, i.dataset) AS seen, u.split <> 'test' AS other,
                   row_number() OVER (PARTITION BY u.image_id ORDER BY u.complexity DESC, u.unit_id) AS place
            FROM units u JOIN images i USING (image_id) JOIN probes p ON p.unit_id = u.unit_id AND p.role = $complex
            WHERE i.path IS NOT NULL AND u.suite <> $live AND u.complexity > 0
        ) WHERE place = 1 ORDER BY seen, other, complexity DESC, image_id LIMIT $n
        """,
        {"synthetic": list(SYNTHETIC_DATASETS), "complex": Role.COMPLEX, "live": LIVE_SUITE, "n": n},
    )
    return [Example(*row) for row in rows]


def _unit(
    store: Store, image_id: str, sha256: str, question: str, atomic: Sequence[str], references: Sequence[str]
) -> Unit:
    source_id = hashlib.sha256("\x1f".join((sha256, question, *atomic)).encode("utf-8", "surrogatepass")).hexdigest()
    source_id = source_id[:16]
    classes = tuple(class_of_question(text) or "" for text in atomic)

    def probe(name: str, role: Role, position: int, asked: str, question_class: str, reference: str) -> Probe:
        source = f"{source_id}::{name}"
        return Probe(Unit.make_id(LIVE_SUITE, source), source, role, position, asked, reference, question_class)

    [(dataset, file)] = store.rows("SELECT dataset, file FROM images WHERE image_id = ?", [image_id])
    parts = [
        probe(f"atomic::{at}", Role.ATOMIC, at, text, classes[at], references[at + 1]) for at, text in enumerate(atomic)
    ]
    return Unit(
        unit_id=Unit.make_id(LIVE_SUITE, source_id),
        source_id=source_id,
        suite=LIVE_SUITE,
        image=Image(image_id, dataset, file),
        split="",
        complexity=len(atomic),
        question_classes=classes,
        probes=(probe("complex", Role.COMPLEX, 0, question, "", references[0]), *parts),
    )


_HELD = "SELECT u.image_id, p.probe_id, p.reference FROM units u JOIN probes p USING (unit_id) WHERE u.unit_id = ?"


def _holds(store: Store, unit: Unit, sha256: str, held: Sequence[tuple[str, str, str]]) -> bool:
    """Return whether the rows of a stored unit (`_HELD`) say all that a unit says, and its image shows the picture."""
    references = {probe_id: reference for _, probe_id, reference in held}
    return (
        bool(held)
        and all(probe.reference in ("", references[probe.probe_id]) for probe in unit.probes)
        and (held[0][0] == unit.image.image_id or shows(store, held[0][0], sha256))
    )


def shows(store: Store, image_id: str, sha256: str) -> bool:
    """Return whether a stored image's file is at hand and has these bytes still."""
    file = image_file(store, image_id)
    return file is not None and file.sha256 == sha256 and _has_bytes(file, sha256)


def _has_bytes(file: ImageFile, sha256: str) -> bool:
    with file.path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == sha256


def _no_file(image_id: str) -> AppError:
    return AppError(
        f"The file of image {image_id} is not at hand, and a VLM has to see it.",
        "Attach the folder that holds it on the Data page.",
    )
