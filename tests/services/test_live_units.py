"""Promises of what can be asked live: own images are checked and kept, and the same things make the same unit."""

import hashlib
import io
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from backend.domain.records import LIVE_SUITE
from backend.domain.vlm import Decoding
from backend.errors import AppError
from backend.services.cases import load_case, load_image
from backend.services.images import image_file
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.live_units import example_units, keep_image, live_unit, unit_to_ask
from backend.services.removal import remove_suite
from backend.services.runs.plan import read_plan
from backend.services.store_contents import totals
from backend.store.store import Store
from tests.services.endoca_files import write_jsonl
from tests.services.run_files import PARROT, draw_images, drawn_store

QUESTION = "Is text visible, and how many polyps?"
PARTS = ("Is there text?", "How many polyps are in the image?", "Which colour is the wall?")


def picture(kind: str = "PNG", color: tuple[int, int, int] = (1, 2, 3)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (12, 9), color).save(buffer, kind)
    return buffer.getvalue()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-a"])) as made:
        yield made


def test_an_own_image_is_kept_with_its_bytes_and_without_its_name(store: Store) -> None:
    content = picture("JPEG")
    image_id = keep_image(store, content)
    sha256 = hashlib.sha256(content).hexdigest()
    assert image_id == f"live:{sha256}"
    found = image_file(store, image_id)
    assert found is not None
    assert (found.path.name, found.path.read_bytes()) == (f"{sha256}.jpeg", content)
    assert found.path.parent == store.path.parent.resolve() / "uploads"
    image = load_image(store, image_id)
    assert (image.dataset, image.width, image.height, image.bytes) == ("own image", 12, 9, len(content))


def test_the_same_bytes_are_the_same_image_and_change_nothing(store: Store) -> None:
    first = keep_image(store, picture())
    version = store.data_version
    assert keep_image(store, picture()) == first
    assert store.data_version == version
    assert keep_image(store, picture(color=(9, 9, 9))) != first


def test_a_kept_file_that_was_lost_is_kept_again(store: Store) -> None:
    image_id = keep_image(store, picture())
    file = image_file(store, image_id)
    assert file is not None
    file.path.unlink()
    assert image_file(store, image_id) is None
    assert keep_image(store, picture()) == image_id
    assert image_file(store, image_id) is not None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "This file is empty"),
        (b"no picture", "This file is not an image that can be read here"),
        (picture()[:50], "This file is damaged or ends early"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not an image"),
    ],
    ids=["empty", "text", "cut", "svg"],
)
def test_what_is_no_image_is_refused_in_words_and_leaves_nothing_behind(
    store: Store, content: bytes, said: str
) -> None:
    with pytest.raises(AppError, match=said):
        keep_image(store, content)
    assert list((store.path.parent / "uploads").iterdir()) == []
    assert totals(store).images == 2


def test_a_unit_made_on_the_spot_holds_its_questions_and_the_classes_their_words_tell(store: Store) -> None:
    image_id = keep_image(store, picture())
    unit_id = live_unit(store, image_id, f" {QUESTION} ", [*PARTS, "  "])
    case = load_case(store, unit_id)
    assert (case.suite, case.complexity, case.split, case.runs) == (LIVE_SUITE, 3, "", ())
    assert [(one.question, one.question_class, one.reference) for one in case.questions] == [
        (QUESTION, "", ""),
        (PARTS[0], "text_presence", ""),
        (PARTS[1], "polyp_count", ""),
        (PARTS[2], "", ""),
    ]
    asked = unit_to_ask(store, unit_id)
    assert (asked.question, asked.atomic) == (QUESTION, PARTS)


def test_the_same_image_and_questions_are_the_same_unit(store: Store) -> None:
    image_id = keep_image(store, picture())
    unit_id = live_unit(store, image_id, QUESTION, PARTS)
    assert live_unit(store, image_id, QUESTION, PARTS) == unit_id
    others = {
        live_unit(store, image_id, QUESTION, PARTS[:2]),
        live_unit(store, image_id, QUESTION, PARTS[::-1]),
        live_unit(store, image_id, PARTS[0], PARTS),
        live_unit(store, keep_image(store, picture(color=(9, 9, 9))), QUESTION, PARTS),
    }
    assert len({unit_id, *others}) == 5


def test_a_reference_that_is_given_takes_its_place_and_one_that_is_not_leaves_it(store: Store) -> None:
    image_id = keep_image(store, picture())
    unit_id = live_unit(store, image_id, QUESTION, PARTS, "Text, two polyps.", ["yes", "2", ""])
    live_unit(store, image_id, QUESTION, PARTS, "", ["", "3", "pink"])
    references = [one.reference for one in load_case(store, unit_id).questions]
    assert references == ["Text, two polyps.", "yes", "3", "pink"]


@pytest.mark.parametrize(
    ("question", "parts", "references", "said"),
    [
        (" ", PARTS, (), "no complex question"),
        (QUESTION, [" "], (), "no atomic question"),
        (QUESTION, PARTS, ("yes",), "1 references for 3 atomic questions"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    store: Store, question: str, parts: list[str], references: tuple[str, ...], said: str
) -> None:
    with pytest.raises(AppError, match=said):
        live_unit(store, keep_image(store, picture()), question, parts, "", references)


def test_a_unit_without_its_image_cannot_be_asked_about(store: Store) -> None:
    for refused in (lambda: unit_to_ask(store, "drawn:33"), lambda: live_unit(store, "drawn:frame-b", QUESTION, PARTS)):
        with pytest.raises(AppError, match="not at hand"):
            refused()
    with pytest.raises(AppError, match="no case 'nowhere'"):
        unit_to_ask(store, "nowhere")


@pytest.mark.parametrize("question", [f"Question {n_round}?" for n_round in range(5)])
def test_people_who_ask_the_same_new_question_at_once_get_the_same_unit(store: Store, question: str) -> None:
    image_id, together = keep_image(store, picture()), threading.Barrier(4)

    def ask(person: int) -> str:
        together.wait()
        return live_unit(store, image_id, question, PARTS, "", [f"reference {person}", "", ""])

    with ThreadPoolExecutor(together.parties) as people:
        [unit_id] = set(people.map(ask, range(together.parties)))
    assert load_case(store, unit_id).questions[1].reference.startswith("reference ")
    assert store.value("SELECT count(*) FROM units WHERE suite = 'live'") == 1


@pytest.mark.parametrize("loss", ["gone", "changed", "attached anew", "none"])
def test_a_unit_whose_image_is_lost_takes_the_same_picture_that_is_brought(
    store: Store, tmp_path: Path, loss: str
) -> None:
    first = load_case(store, "drawn:22").image.image_id
    file = image_file(store, first)
    assert file is not None
    content = file.path.read_bytes()
    unit_id = live_unit(store, first, QUESTION, PARTS)
    if loss == "gone":
        file.path.unlink()
    elif loss != "none":
        file.path.write_bytes(picture())
    if loss == "attached anew":
        attach_images(store, tmp_path / "images")
    brought = keep_image(store, content)
    assert live_unit(store, brought, QUESTION, PARTS, "Two polyps.") == unit_id
    asked = unit_to_ask(store, unit_id)
    assert asked.image.read_bytes() == content
    assert load_case(store, unit_id).image.image_id == (first if loss == "none" else brought)
    assert load_case(store, unit_id).questions[0].reference == "Two polyps."
    version = store.data_version
    assert live_unit(store, brought, QUESTION, PARTS) == unit_id
    assert store.data_version == version


def test_a_question_is_kept_on_one_line_and_one_that_is_too_long_is_refused(store: Store) -> None:
    image_id = keep_image(store, picture())
    broken = [text.replace(" ", " \n") for text in (QUESTION, *PARTS)]
    unit_id = live_unit(store, image_id, broken[0], broken[1:])
    assert unit_to_ask(store, unit_id).atomic == PARTS
    assert live_unit(store, image_id, QUESTION, PARTS) == unit_id
    for question, parts in (("?" * 2001, PARTS), (QUESTION, [*PARTS, "?" * 2001])):
        with pytest.raises(AppError, match="at most 2,000"):
            live_unit(store, image_id, question, parts)


def test_a_stored_image_can_be_asked_other_questions(store: Store) -> None:
    image_id = load_case(store, "drawn:22").image.image_id
    unit_id = live_unit(store, image_id, QUESTION, PARTS)
    assert load_case(store, unit_id).image.image_id == image_id


def test_examples_are_stored_units_whose_image_is_at_hand_one_an_image(store: Store) -> None:
    live_unit(store, keep_image(store, picture()), QUESTION, PARTS)
    assert [one.unit_id for one in example_units(store, 6)] == ["drawn:22"]
    assert example_units(store, 0) == []


def test_the_suite_can_be_removed_as_any_other(store: Store) -> None:
    live_unit(store, keep_image(store, picture()), QUESTION, PARTS)
    remove_suite(store, LIVE_SUITE)
    assert totals(store).images == 2


def test_no_batch_run_asks_live_questions_and_no_file_answers_them(store: Store, tmp_path: Path) -> None:
    unit_id = live_unit(store, keep_image(store, picture()), QUESTION, PARTS)
    with pytest.raises(AppError, match="holds the questions asked live"):
        read_plan(store, "live", PARROT, Decoding())
    probe = store.value("SELECT source_id FROM probes WHERE unit_id = ? AND role = 'complex'", [unit_id])
    line = {"probe_id": probe, "question": QUESTION, "prediction": "no", "error": "", "model_id": "Other"}
    predictions = write_jsonl(tmp_path / "predictions.jsonl", [line])
    with pytest.raises(AppError, match="is in no stored suite"):
        import_endoca(store, [SourceFile.at(predictions)])
    assert store.value("SELECT count(*) FROM runs") == 0
