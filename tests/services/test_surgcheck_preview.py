"""Promises of the look into a SurgCheck file before its import: it says what the import would make of it."""

import json
from pathlib import Path

import pytest

from backend.errors import AppError, BadLine
from backend.services.ingest.files import SourceFile
from backend.services.ingest.surgcheck_names import Variant
from backend.services.ingest.surgcheck_places import PlacedFile, opened_files
from backend.services.ingest.surgcheck_preview import SAMPLE, preview_file, read_as
from backend.services.ingest.surgcheck_rows import PairRow
from backend.surgcheck.tasks import Cue, Task
from tests.services.surgcheck_files import prediction_rows, write, write_release


def test_known_columns_are_told_by_field(tmp_path: Path) -> None:
    seen = preview_file(SourceFile.at(write(tmp_path / "a.jsonl", prediction_rows("original"))))
    assert seen.columns == (
        "image", "question", "pred", "gt", "ori_img_tag", "main_tag", "sub_tag", "sub_sub_tag",
    )  # fmt: skip
    assert seen.known == {
        "image": "image", "question": "question", "pred": "pred", "gt": "gt", "frame": "ori_img_tag",
        "cue": "sub_tag", "task": "sub_sub_tag",
    }  # fmt: skip


def test_a_row_reads_as_an_import_would_read_it(tmp_path: Path) -> None:
    rows = [{"shown": row["image"], "asked": row["question"], "said": "two"} for row in prediction_rows("original")]
    seen = preview_file(SourceFile.at(write(tmp_path / "mine.jsonl", rows)))
    with pytest.raises(AppError, match="has no column for: image, question"):
        read_as(seen, {}, None)
    row = read_as(seen, {"image": "shown", "question": "asked", "pred": "said"}, Variant.ORIGINAL)
    assert isinstance(row, PairRow)
    assert (row.picture, row.task, row.cue, row.answer) == ("1_25.jpg", Task.INSTRUMENT_COUNT, Cue.NONE, "two")


def test_a_row_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    rows = prediction_rows("original", more={"sub_sub_tag": "Colour"})
    row = read_as(preview_file(SourceFile.at(write(tmp_path / "a.jsonl", rows))), {}, None)
    assert isinstance(row, BadLine) and "'Colour' is not known" in row.reason


def test_no_more_rows_are_kept_than_tell_the_columns(tmp_path: Path) -> None:
    rows = prediction_rows("original") * SAMPLE
    assert len(preview_file(SourceFile.at(write(tmp_path / "a.jsonl", rows))).records) == SAMPLE


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello\n", "holds no row that can be read"),
        (json.dumps({"images": [], "annotations": []}).encode(), "is a file of scene graphs"),
    ],
)
def test_a_file_without_rows_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(AppError, match=said):
        preview_file(SourceFile(path, "mine.jsonl"))


def test_a_sent_file_keeps_the_name_it_had_and_a_folder_gives_way_to_its_files(tmp_path: Path) -> None:
    write_release(tmp_path / "release")
    sent = PlacedFile(SourceFile(write(tmp_path / "0", prediction_rows("original")), "mine.jsonl"), "")
    folder = PlacedFile(SourceFile.at(tmp_path / "release"), "")
    with opened_files([sent, folder]) as found:
        assert [(one.file.name, one.folder, one.optional) for one in found] == [
            ("mine.jsonl", "", False), ("test_less_biased.jsonl", "full", True), ("test_original.jsonl", "full", True),
        ]  # fmt: skip
