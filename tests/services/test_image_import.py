"""Image files of a folder go to the images that stored units name, and never to another."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from backend.domain import records
from backend.domain.progress import Cancelled
from backend.errors import AppError
from backend.services.images import image_file
from backend.services.ingest.images import attach_images
from backend.services.ingest.log import logged_imports
from backend.store.store import Store, insert


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store that names three images, none with a file."""
    with Store.create(tmp_path / "store.duckdb") as made:
        name_images(made, ("Kvasir-VQA-x1", "aaa", "Kvasir-VQA-x1/images/aaa.jpg"))
        name_images(made, ("Kvasir-VQA-x1", "bbb", "bbb"), ("Kvasir-VQA-x1", "ccc.1", "ccc.1"))
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for image files."""
    made = tmp_path / "frames"
    made.mkdir()
    return made


def name_images(store: Store, *images: tuple[str, str, str]) -> None:
    """Write rows of images that have no file: data set, name, file."""
    import pyarrow as pa

    rows = [
        {"image_id": records.Image.make_id(dataset, name), "dataset": dataset, "file": file}
        for dataset, name, file in images
    ]
    with store.write() as cursor:
        insert(cursor, "images", pa.Table.from_pylist(rows))


def draw(path: Path, color: str = "red") -> Path:
    """Write a small picture; its content depends on the colour and the ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (6, 4), color).save(path)
    return path


def attached(store: Store) -> dict[str, str]:
    """Return the path of every image that has a file."""
    return dict(store.rows("SELECT image_id, path FROM images WHERE root IS NOT NULL"))


@pytest.mark.parametrize(
    "file", ["aaa.jpg", "aaa.JPG", "aaa.png", "aaa.TIFF", "deep/down/aaa.webp", "Kvasir-VQA-x1/images/aaa.jpeg"]
)
def test_a_file_is_found_by_name_at_any_depth_and_with_any_image_ending(store: Store, folder: Path, file: str) -> None:
    draw(folder / file)
    outcome = attach_images(store, folder)
    assert attached(store) == {"kvasir-vqa-x1:aaa": file}
    assert outcome.images == {"found": 1, "new": 1, "ambiguous": 0, "missing": 2, "broken": 0, "not_named": 0}


def test_a_name_that_holds_a_dot_is_found_whole(store: Store, folder: Path) -> None:
    draw(folder / "ccc.1.png")
    draw(folder / "ccc.png")
    outcome = attach_images(store, folder)
    assert attached(store) == {"kvasir-vqa-x1:ccc.1": "ccc.1.png"}
    assert outcome.images["not_named"] == 1


def test_what_was_found_is_stored_as_it_was_checked(store: Store, folder: Path) -> None:
    content = draw(folder / "bbb.png").read_bytes()
    attach_images(store, folder)
    [(root, width, height, image_format, n_bytes)] = store.rows(
        "SELECT root, width, height, format, bytes FROM images WHERE image_id = 'kvasir-vqa-x1:bbb'"
    )
    assert (root, width, height, image_format, n_bytes) == (str(folder), 6, 4, "PNG", len(content))
    assert store.rows("SELECT root FROM image_roots") == [(str(folder),)]


def test_importing_the_same_folder_twice_changes_nothing(store: Store, folder: Path) -> None:
    draw(folder / "aaa.png")
    attach_images(store, folder)
    version = store.data_version
    outcome = attach_images(store, folder)
    assert (outcome.images["found"], outcome.images["new"]) == (1, 0)
    assert store.data_version == version
    assert store.rows("SELECT root FROM image_roots") == [(str(folder),)]


def test_what_was_attached_is_logged_once(store: Store, folder: Path) -> None:
    draw(folder / "aaa.png")
    outcome = attach_images(store, folder)
    attach_images(store, folder)
    [logged] = [entry.report for entry in logged_imports(store) if entry.report.kind == "images"]
    assert logged == outcome


def test_a_broken_file_is_listed_with_its_reason_and_the_others_go_in(store: Store, folder: Path) -> None:
    draw(folder / "aaa.png")
    (folder / "sub").mkdir()
    (folder / "sub/bbb.jpg").write_bytes(b"")
    (folder / "ccc.1.png").write_bytes(b"not a picture")
    outcome = attach_images(store, folder)
    assert attached(store) == {"kvasir-vqa-x1:aaa": "aaa.png"}
    assert (outcome.images["broken"], outcome.images["missing"]) == (2, 2)
    assert outcome.notes == [
        "Not used, in ccc.1.png: ccc.1.png is not an image that can be read here.",
        "Not used, in sub/bbb.jpg: bbb.jpg is empty (zero bytes).",
    ]


def test_two_different_files_for_one_image_leave_it_without_a_file_and_are_listed(store: Store, folder: Path) -> None:
    draw(folder / "one/aaa.png", "red")
    draw(folder / "two/aaa.png", "blue")
    outcome = attach_images(store, folder)
    assert attached(store) == {}
    assert (outcome.images["ambiguous"], outcome.images["missing"]) == (1, 3)
    [note] = outcome.notes
    assert note.startswith("kvasir-vqa-x1:aaa got no file")
    assert "one/aaa.png, two/aaa.png" in note


def test_an_ambiguous_name_takes_no_file_away(store: Store, folder: Path, tmp_path: Path) -> None:
    draw(folder / "aaa.png")
    attach_images(store, folder)
    other = tmp_path / "other"
    draw(other / "one/aaa.png", "red")
    draw(other / "two/aaa.png", "blue")
    outcome = attach_images(store, other)
    assert attached(store) == {"kvasir-vqa-x1:aaa": "aaa.png"}
    assert outcome.images["missing"] == 2


def test_two_copies_of_one_file_are_one_file(store: Store, folder: Path) -> None:
    draw(folder / "two/aaa.png")
    draw(folder / "one/aaa.png")
    assert attach_images(store, folder).images["ambiguous"] == 0
    assert attached(store) == {"kvasir-vqa-x1:aaa": "one/aaa.png"}


def test_a_sound_file_is_taken_where_the_other_of_its_name_is_broken(store: Store, folder: Path) -> None:
    (folder / "aaa.jpg").write_bytes(b"")
    draw(folder / "aaa.png")
    outcome = attach_images(store, folder)
    assert attached(store) == {"kvasir-vqa-x1:aaa": "aaa.png"}
    assert outcome.images["broken"] == 1


def test_folders_decide_where_the_name_leaves_a_choice_of_files(store: Store, folder: Path) -> None:
    draw(folder / "Kvasir-VQA-x1/images/aaa.jpg", "red")
    draw(folder / "Kvasir-VQA-x1/previews/aaa.jpg", "blue")
    attach_images(store, folder)
    assert attached(store) == {"kvasir-vqa-x1:aaa": "Kvasir-VQA-x1/images/aaa.jpg"}


def test_folders_decide_where_several_images_have_one_name(store: Store, folder: Path) -> None:
    name_images(store, ("Cholec", "VID01/0001", "VID01/0001.png"), ("Cholec", "VID02/0001", "VID02/0001.png"))
    draw(folder / "VID01/0001.jpg", "red")
    draw(folder / "VID02/0001.jpg", "blue")
    draw(folder / "VID03/0001.jpg", "green")
    attach_images(store, folder)
    first, second = (records.Image.make_id("Cholec", f"{video}/0001") for video in ("VID01", "VID02"))
    assert attached(store) == {first: "VID01/0001.jpg", second: "VID02/0001.jpg"}


def test_one_file_for_images_of_two_data_sets_is_noted(store: Store, folder: Path) -> None:
    name_images(store, ("Kvasir-VQA", "bbb", "bbb.jpg"))
    draw(folder / "bbb.png")
    outcome = attach_images(store, folder)
    assert attached(store) == {"kvasir-vqa-x1:bbb": "bbb.png", "kvasir-vqa:bbb": "bbb.png"}
    assert any("share a file" in note for note in outcome.notes)


def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_followed(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    (folder / "aaa.png").symlink_to(draw(tmp_path / "outside.png"))
    (folder / "bbb.png").symlink_to(draw(folder / "inside.png"))
    (folder / "linked").symlink_to(tmp_path, target_is_directory=True)
    draw(tmp_path / "ccc.1.png")
    outcome = attach_images(store, folder)
    assert attached(store) == {"kvasir-vqa-x1:bbb": "bbb.png"}
    assert outcome.notes == ["Not used, in aaa.png: aaa.png is a link that leads out of the folder."]


def test_another_folder_takes_the_place_of_the_first(store: Store, folder: Path, tmp_path: Path) -> None:
    draw(folder / "aaa.png", "red")
    draw(folder / "bbb.png", "red")
    attach_images(store, folder)
    draw(tmp_path / "other/aaa.png", "blue")
    assert attach_images(store, tmp_path / "other").images["new"] == 1
    roots = dict(store.rows("SELECT image_id, root FROM images WHERE root IS NOT NULL"))
    assert roots == {"kvasir-vqa-x1:aaa": str(tmp_path / "other"), "kvasir-vqa-x1:bbb": str(folder)}


def test_a_folder_in_which_nothing_is_found_is_not_registered(store: Store, folder: Path) -> None:
    draw(folder / "unknown.png")
    (folder / "notes.txt").write_text("aaa")
    outcome = attach_images(store, folder)
    assert outcome.images == {"found": 0, "new": 0, "ambiguous": 0, "missing": 3, "broken": 0, "not_named": 1}
    assert store.rows("SELECT * FROM image_roots") == []


def test_stopping_leaves_the_store_as_it_was(store: Store, folder: Path) -> None:
    draw(folder / "aaa.png")

    def stop(stage: str, done: int, total: int | None) -> None:
        if stage == "checking images" and done:
            raise Cancelled

    with pytest.raises(Cancelled):
        attach_images(store, folder, report=stop)
    assert attached(store) == {}


def test_an_absent_folder_a_file_and_a_store_without_images_are_errors_with_a_next_step(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(AppError, match="There is no folder"):
        attach_images(store, tmp_path / "absent")
    with pytest.raises(AppError, match="is a file"):
        attach_images(store, draw(tmp_path / "aaa.png"))
    with Store.create(tmp_path / "empty.duckdb") as empty, pytest.raises(AppError, match="names no image yet"):
        attach_images(empty, tmp_path)


class TestImageFile:
    """An id leads to a file in a registered folder, or to nothing."""

    def test_a_stored_image_leads_to_its_file(self, store: Store, folder: Path) -> None:
        file = draw(folder / "sub/aaa.png")
        attach_images(store, folder)
        found = image_file(store, "kvasir-vqa-x1:aaa")
        assert found is not None
        assert (found.path, found.media_type, len(found.sha256)) == (file, "image/png", 64)

    @pytest.mark.parametrize("image_id", ["", "unknown", "../aaa.png", "kvasir-vqa-x1:bbb"])
    def test_an_unknown_id_and_an_image_without_a_file_lead_nowhere(
        self, store: Store, folder: Path, image_id: str
    ) -> None:
        draw(folder / "aaa.png")
        attach_images(store, folder)
        assert image_file(store, image_id) is None

    def test_a_file_that_is_gone_leads_nowhere(self, store: Store, folder: Path) -> None:
        file = draw(folder / "aaa.png")
        attach_images(store, folder)
        file.unlink()
        assert image_file(store, "kvasir-vqa-x1:aaa") is None

    def test_a_folder_that_is_registered_no_longer_is_not_served(self, store: Store, folder: Path) -> None:
        draw(folder / "aaa.png")
        attach_images(store, folder)
        with store.write() as cursor:
            cursor.execute("DELETE FROM image_roots")
        assert image_file(store, "kvasir-vqa-x1:aaa") is None

    @pytest.mark.parametrize("path", ["../outside.png", "sub/../../outside.png", "{tmp}/outside.png"])
    def test_a_path_that_leads_out_of_its_folder_is_not_served(
        self, store: Store, folder: Path, tmp_path: Path, path: str
    ) -> None:
        draw(folder / "aaa.png")
        draw(tmp_path / "outside.png")
        attach_images(store, folder)
        with store.write() as cursor:
            cursor.execute("UPDATE images SET path = ? WHERE path = 'aaa.png'", [path.format(tmp=tmp_path)])
        assert image_file(store, "kvasir-vqa-x1:aaa") is None

    def test_a_file_that_became_a_link_out_of_its_folder_is_not_served(
        self, store: Store, folder: Path, tmp_path: Path
    ) -> None:
        file = draw(folder / "aaa.png")
        attach_images(store, folder)
        file.unlink()
        file.symlink_to(draw(tmp_path / "outside.png"))
        assert image_file(store, "kvasir-vqa-x1:aaa") is None
