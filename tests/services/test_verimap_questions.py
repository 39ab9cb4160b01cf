"""Data sets of VeriMap go in as they are published: every row taken, left out with its reason, or reported."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from backend.errors import AppError, BadLines
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.ingest.verimap_questions import COPY, import_verimap, question_files
from backend.services.store_contents import totals
from backend.store.queries import suite_table
from backend.store.store import Store
from tests.services.verimap_files import QUESTIONS, contents, json_lines, json_list, vqa_rad_row


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "s.duckdb") as opened:
        yield opened


def test_a_data_set_is_a_suite_and_a_row_a_unit_with_one_question(store: Store, tmp_path: Path) -> None:
    outcome = import_verimap(store, [json_list(tmp_path / "testset.json", QUESTIONS)], "VQA_RAD")
    [suite] = outcome.suites
    assert (outcome.kind, suite.suite, suite.n_units, suite.n_new, suite.n_images) == ("verimap", "vqa-rad", 3, 3, 2)
    assert store.rows("SELECT suite, system FROM suites") == [("vqa-rad", "verimap")]
    assert store.rows("SELECT * FROM units ORDER BY 1")[0] == (
        "vqa-rad:1", "vqa-rad", "1", "vqa-rad:synpic1", "test", 0, [],
    )  # fmt: skip
    assert store.rows("SELECT * EXCLUDE (probe_id) FROM probes ORDER BY source_id")[1] == (
        "vqa-rad:2", "vqa-rad", "2", "generate", 0, "Where is the mass?", "left", "",
    )  # fmt: skip
    assert store.rows("SELECT * FROM examples ORDER BY 1")[1] == (
        "vqa-rad:2", "vqa-rad", None, None, ["synpic1.jpg"], "[]", "", "open", ["PRES"],
    )  # fmt: skip


def test_importing_twice_changes_nothing_and_a_further_file_makes_the_suite_grow(store: Store, tmp_path: Path) -> None:
    file = json_list(tmp_path / "testset.json", QUESTIONS)
    import_verimap(store, [file], "vqa-rad")
    before = contents(store)
    assert not import_verimap(store, [file], "vqa-rad").changed
    assert contents(store) == before
    more = json_list(tmp_path / "trainset.json", [*QUESTIONS[:1], vqa_rad_row(9, "Is it normal?")])
    [suite] = import_verimap(store, [more], "vqa-rad").suites
    assert (suite.n_units, suite.n_new, suite.n_completed) == (2, 1, 0)
    assert dict(store.rows("SELECT source_id, split FROM units")) == {
        "1": "test", "2": "test", "3": "test", "9": "train",
    }  # fmt: skip


def test_other_content_under_known_ids_is_refused_within_an_import_and_against_the_store(
    store: Store, tmp_path: Path
) -> None:
    file = json_list(tmp_path / "testset.json", QUESTIONS)
    other = json_list(tmp_path / "other.json", [vqa_rad_row(1, "Is this an MRI?")])
    for files in ([file, other], [other]):
        with pytest.raises(AppError, match="1 ids of vqa-rad stand for other questions already: 1"):
            import_verimap(store, files, "vqa-rad")
        import_verimap(store, [file], "vqa-rad")
    assert store.value("SELECT count(*) FROM units") == 3


def test_all_bad_rows_are_listed_with_their_numbers_and_the_good_ones_can_go_in(store: Store, tmp_path: Path) -> None:
    rows = [QUESTIONS[0], vqa_rad_row(4, " "), QUESTIONS[1], vqa_rad_row(1, "Again?"), vqa_rad_row(5, "Why?", "")]
    file = json_list(tmp_path / "testset.json", rows)
    with pytest.raises(BadLines) as caught:
        import_verimap(store, [file], "vqa-rad")
    assert [(line.number, line.reason) for line in caught.value.lines] == [
        (2, "has no question"), (4, "id 1 is there already"), (5, "has no answer"),
    ]  # fmt: skip
    assert store.value("SELECT count(*) FROM suites") == 0
    outcome = import_verimap(store, [file], "vqa-rad", lenient=True)
    assert (outcome.suites[0].n_new, len(outcome.bad_lines)) == (2, 3)


def test_slakes_chinese_rows_are_counted_by_their_reason(store: Store, tmp_path: Path) -> None:
    rows = [
        {"img_name": "xmlab1/source.jpg", "question": "Is there a liver?", "answer": "Yes", "q_lang": "en", "qid": 1},
        {"img_name": "xmlab1/source.jpg", "question": "有肝脏吗?", "answer": "有", "q_lang": "zh", "qid": 2},
    ]
    outcome = import_verimap(store, [json_list(tmp_path / "test.json", rows)], "slake")
    assert (outcome.suites[0].n_units, outcome.exclusions) == (1, {"the question is not English (q_lang zh)": 1})
    assert json.loads(store.value("SELECT report FROM suites")) == {"exclusions": outcome.exclusions}
    with pytest.raises(AppError, match="holds no question to import"):
        import_verimap(store, [json_list(tmp_path / "zh.json", rows[1:])], "slake")


def test_images_of_one_name_in_several_folders_stay_apart_and_get_their_own_files(store: Store, tmp_path: Path) -> None:
    rows = [
        {"img_name": f"xmlab{n}/source.jpg", "question": "Is there a liver?", "answer": "Yes", "q_lang": "en", "qid": n}
        for n in (1, 2)
    ]
    import_verimap(store, [json_list(tmp_path / "test.json", rows)], "slake")
    for n in (1, 2):
        folder = tmp_path / "imgs" / f"xmlab{n}"
        folder.mkdir(parents=True)
        Image.new("RGB", (8, 8), (n, 0, 0)).save(folder / "source.jpg")
    assert attach_images(store, tmp_path / "imgs").images["found"] == 2
    assert store.rows("SELECT file, path FROM images ORDER BY 1") == [
        ("xmlab1/source.jpg", "xmlab1/source.jpg"), ("xmlab2/source.jpg", "xmlab2/source.jpg"),
    ]  # fmt: skip


def test_of_a_folder_the_files_nearest_to_its_top_are_taken(tmp_path: Path) -> None:
    top = tmp_path / "Slake1.0"
    for place in ("train.json", "test.json", "imgs/xmlab1/question.json", "README.md", ".hidden.json"):
        file = top / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("[]")
    assert [file.name for file in question_files(top, "slake")] == ["test.json", "train.json"]
    mm = tmp_path / "MedXpertQA"
    for place in ("MM/test.jsonl", "Text/test.jsonl"):
        file = mm / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
    assert [file.path.parent.name for file in question_files(mm, "medxpertqa")] == ["MM"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(AppError, match="holds no data file"):
        question_files(empty)


def test_a_copy_without_ids_adds_nothing_beside_the_file_it_was_made_of(store: Store, tmp_path: Path) -> None:
    row = {"img_name": "xmlab1/source.jpg", "question": "Is there a liver?", "answer": "Yes"}
    named = json_list(tmp_path / "test.json", [{**row, "q_lang": "en", "qid": 7}])
    copy = json_list(tmp_path / "copy.json", [row, {**row, "question": "Is there a spleen?"}])
    outcome = import_verimap(store, [copy, named], "slake")
    assert (outcome.suites[0].n_units, outcome.exclusions) == (2, {COPY: 1})
    assert not import_verimap(store, [copy], "slake").changed
    assert [row[0] for row in store.rows("SELECT source_id FROM units ORDER BY 1")] == ["7", "copy-2"]


def test_options_are_kept_apart_and_of_several_images_the_first_is_the_units(store: Store, tmp_path: Path) -> None:
    row = {
        "id": "MM-1", "question": "Which?\nAnswer Choices: (A) Liver (B) Spleen", "label": "B",
        "options": {"A": "Liver", "B": "Spleen"}, "images": ["MM-1-a.jpeg", "MM-1-b.jpeg"], "medical_task": "Diagnosis",
    }  # fmt: skip
    outcome = import_verimap(store, [json_lines(tmp_path / "test.jsonl", [row])], "medxpertqa")
    assert outcome.notes == ["Questions with several images: 1. VLMs are shown the first one."]
    [(images, options, letter, question, reference)] = store.rows(
        "SELECT images, options, reference_letter, question, reference FROM examples JOIN probes USING (unit_id)"
    )
    assert (images, letter, question, reference) == (["MM-1-a.jpeg", "MM-1-b.jpeg"], "B", "Which?", "Spleen")
    assert json.loads(options) == [{"letter": "A", "text": "Liver"}, {"letter": "B", "text": "Spleen"}]
    assert store.rows("SELECT file FROM images") == [("MM-1-a.jpeg",)]


def test_questions_without_an_image_are_counted_and_name_none(store: Store, tmp_path: Path) -> None:
    rows = [{"image": None, "question": "What is present?", "answer": text} for text in ("a", "b")]
    path = tmp_path / "sample.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    outcome = import_verimap(store, [SourceFile.at(path)], "pathvqa")
    assert outcome.notes == ["Questions that name no image: 2. Each counts as one of an image of its own."]
    assert store.value("SELECT count(DISTINCT image_id) FROM units") == 2
    assert (totals(store).images, suite_table(store)["n_images"].tolist()) == (0, [0])


def test_pictures_inside_a_parquet_file_are_not_read_and_their_names_are(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "test-00000-of-00001.parquet"
    images = [{"bytes": b"\x89PNG", "path": "img_1.png"}, {"bytes": b"\x89PNG", "path": None}]
    pq.write_table(pa.table({"image": images, "question": ["Q", "R"], "answer": ["yes", "no"]}), path)
    import_verimap(store, [SourceFile.at(path)], "pathvqa")
    assert store.rows("SELECT images FROM examples ORDER BY 1") == [([],), (["img_1.png"],)]


def test_an_unknown_data_set_and_a_file_of_another_kind_are_answered_with_what_is_known(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(AppError) as caught:
        import_verimap(store, [json_list(tmp_path / "t.json", QUESTIONS)], "radvqa")
    assert caught.value.hint == "Known: vqa-rad, slake, pathvqa, pmc-vqa, medxpertqa."
    with pytest.raises(AppError, match="no column for questions; it has 'image', 'text'"):
        import_verimap(store, [json_lines(tmp_path / "t.jsonl", [{"image": "a", "text": "b"}])], "slake")


def test_a_file_of_another_data_set_is_refused_with_the_name_of_its_own(store: Store, tmp_path: Path) -> None:
    slake = json_list(tmp_path / "s.json", [{"qid": 1, "img_name": "a.jpg", "question": "Why?", "answer": "no"}])
    for other in ("vqa-rad", "pathvqa"):
        with pytest.raises(AppError, match="has the columns of SLAKE") as caught:
            import_verimap(store, [slake], other)
        assert "--dataset slake" in caught.value.hint
    assert import_verimap(store, [slake], "slake").suites[0].n_new == 1


@pytest.mark.parametrize(
    ("dataset", "place", "n_units", "n_images"),
    [
        ("vqa-rad", "vqa_rad", 3515, 314),
        ("slake", "slake", 2114, 192),
        ("pathvqa", "pathvqa", 150, 0),
        ("pmc-vqa", "pmc_vqa/handmade_v2.csv", 3, 3),
        ("medxpertqa", "medxpertqa", 3, 3),
    ],
)
def test_the_published_files_go_in_whole(
    store: Store, shared: Path, dataset: str, place: str, n_units: int, n_images: int
) -> None:
    files = question_files(shared / "data" / "medvqa" / place, dataset)
    [suite] = import_verimap(store, files, dataset).suites
    assert (suite.n_units, suite.n_new, suite.n_images) == (n_units, n_units, n_images)
    assert not import_verimap(store, files, dataset).changed


def test_the_images_of_vqa_rad_are_found(store: Store, shared: Path) -> None:
    folder = shared / "data" / "medvqa" / "vqa_rad"
    import_verimap(store, [SourceFile.at(folder / "testset_with_images.json")], "vqa-rad")
    images = attach_images(store, folder / "images").images
    assert (images["found"], images["missing"], images["ambiguous"]) == (42, 0, 0)
