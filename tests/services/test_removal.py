"""What is removed is gone, and nothing else is."""

import io
from pathlib import Path

import pytest
from PIL import Image

from backend.domain.records import LIVE_EXAMPLES, LIVE_SUITE
from backend.errors import AppError
from backend.services.images import image_file
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.log import logged_imports
from backend.services.live_examples import live_example
from backend.services.live_units import keep_image, live_unit
from backend.services.opening import open_store
from backend.services.removal import remove_run, remove_suite
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl
from tests.services.run_files import draw_images, drawn_store
from tests.services.verification_store import ATLAS, OWN, VQA_RAD, make_verification_store, run_id

VERIMAP_TABLES = ("suites", "units", "probes", "images", "examples", "verifications", "oracle_judgements", "answers",
                  "runs", "run_bases")  # fmt: skip
TABLES = ("suites", "images", "units", "probes", "runs", "answers", "scores", "outcomes")


def test_a_removed_run_leaves_the_other_run_and_the_suite_as_they_were(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "small.jsonl", manifest_lines()))])
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "a.jsonl", prediction_lines("A")))])
        before = {table: sorted(store.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}
        [run] = import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "b.jsonl", prediction_lines("B")))]).runs
        assert remove_run(store, run.run_id) == "Removed the run of B on small with 9 answers."
        assert {table: sorted(store.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES} == before
        assert logged_imports(store)[0].report.kind == "removal"


def test_a_removed_suite_takes_its_runs_and_its_images_with_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "small.jsonl", manifest_lines()))])
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "a.jsonl", prediction_lines("A")))])
        assert remove_suite(store, "small") == "Removed suite small with 3 units and 1 run over it."
        assert {table: store.value(f"SELECT count(*) FROM {table}") for table in TABLES} == dict.fromkeys(TABLES, 0)


def test_images_that_another_suite_names_stay(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.duckdb") as store:
        file = SourceFile.at(write_jsonl(tmp_path / "small.jsonl", manifest_lines()))
        import_endoca(store, [file])
        import_endoca(store, [file], suite="twin")
        remove_suite(store, "twin")
        assert store.value("SELECT count(*) FROM images") == 2


def test_what_is_not_there_is_said_with_what_is(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.duckdb") as store:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "small.jsonl", manifest_lines()))])
        with pytest.raises(AppError) as caught:
            remove_suite(store, "smal")
        assert caught.value.hint == "Known: small."
        with pytest.raises(AppError, match="no run nobody"):
            remove_run(store, "nobody")


def test_a_removed_data_set_takes_its_examples_and_verdicts_with_it_and_leaves_the_others(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "s.duckdb") as store:
        kept = store.rows("SELECT * FROM verifications WHERE suite = ? ORDER BY ALL", [OWN])
        remove_suite(store, VQA_RAD)
        assert store.rows("SELECT * FROM verifications ORDER BY ALL") == kept
        assert store.rows("SELECT DISTINCT suite FROM examples") == [(OWN,)]
        remove_suite(store, OWN)
        assert {table: store.value(f"SELECT count(*) FROM {table}") for table in VERIMAP_TABLES} == dict.fromkeys(
            VERIMAP_TABLES, 0
        )


def test_a_removed_verifiers_run_takes_its_verdicts_and_one_that_others_were_made_from_stays(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "s.duckdb") as store:
        run = run_id(OWN, ATLAS, ATLAS)
        assert remove_run(store, run) == "Removed the run of Atlas on own with 6 verdicts."
        assert not store.rows("SELECT 1 FROM verifications WHERE run_id = ?", [run])
        with pytest.raises(AppError, match="other runs were made"):
            remove_run(store, run_id(VQA_RAD, ATLAS))


def test_images_that_people_brought_go_with_their_last_unit_and_files_of_a_data_set_never(tmp_path: Path) -> None:
    frames = draw_images(tmp_path / "images", ["frame-a"])
    with drawn_store(tmp_path, images=frames) as store:
        both, one = (keep_image(store, picture(shade)) for shade in (10, 20))
        for image_id in (both, one):
            live_unit(store, image_id, "How many polyps?", ["Is there text?"])
        live_example(store, both, "Is this a polyp?", "yes")
        files = {image_id: found.path for image_id in (both, one) if (found := image_file(store, image_id))}
        assert remove_suite(store, LIVE_SUITE) == (
            f"Removed suite {LIVE_SUITE} with 2 units and 0 runs over it. With it went 1 image file that Parallax had "
            "kept."
        )
        assert (files[both].exists(), files[one].exists()) == (True, False)
        assert remove_suite(store, LIVE_EXAMPLES).endswith("With it went 1 image file that Parallax had kept.")
        assert not files[both].exists()
        assert "image file" not in remove_suite(store, "drawn")
        assert store.value("SELECT count(*) FROM images") == 0
    assert list(frames.iterdir())


def test_a_file_that_another_image_is_read_from_stays(tmp_path: Path) -> None:
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-a"])) as store:
        image_id = keep_image(store, picture(10))
        live_unit(store, image_id, "How many polyps?", ["Is there text?"])
        [(root, path)] = store.rows("SELECT root, path FROM images WHERE image_id = ?", [image_id])
        with store.write() as cursor:
            cursor.execute("UPDATE images SET root = ?, path = ? WHERE image_id <> ?", [root, path, image_id])
        assert "image file" not in remove_suite(store, LIVE_SUITE)
        assert Path(root, path).exists()


def test_a_file_that_cannot_be_deleted_is_named_and_keeps_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(file: Path, missing_ok: bool = False) -> None:
        asked.append(file)
        raise PermissionError(13, "Permission denied")

    asked: list[Path] = []
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-a"])) as store:
        for shade in (10, 20):
            live_unit(store, keep_image(store, picture(shade)), "How many polyps?", ["Is there text?"])
        monkeypatch.setattr(Path, "unlink", refuses)
        with pytest.raises(AppError) as caught:
            remove_suite(store, LIVE_SUITE)
    assert len(asked) == 2
    assert all(f"{file} (Permission denied)" in caught.value.message for file in asked)


def picture(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (12, 9), (shade, 0, 0)).save(buffer, "PNG")
    return buffer.getvalue()
