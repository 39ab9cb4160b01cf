"""Promises of SurgCheck's import: pairs, answers in any layout, and nothing that goes unsaid."""

import csv
import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.errors import AppError, BadLines
from backend.services.ingest.files import SourceFile
from backend.services.ingest.surgcheck import Wanted, import_surgcheck
from backend.services.ingest.surgcheck_columns import parse_map
from backend.services.ingest.surgcheck_names import Variant
from backend.services.ingest.surgcheck_pairing import LEAKED, NO_TWIN
from backend.services.ingest.surgcheck_places import PlacedFile
from backend.services.removal import remove_run, remove_suite
from backend.services.scoring import rescore
from backend.services.store_contents import outdated_runs
from backend.store.store import Store
from tests.services.surgcheck_files import (
    ASKED,
    N_PAIRS,
    Row,
    accuracy,
    bring,
    prediction_rows,
    release_rows,
    write,
    write_answers,
    write_both,
    write_release,
)

REFERENCES = [reference for *_, reference in ASKED]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "store.duckdb") as made:
        yield made


def content(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return every table that an import writes, but for its log."""
    tables = ("suites", "units", "probes", "pairs", "images", "runs", "answers", "scores", "judgements", "extractions")
    return {table: store.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in tables}


def as_csv(path: Path, rows: list[Row], names: dict[str, str]) -> Path:
    """Write rows as CSV under other column names; columns that are not named are left out."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names.values())
        writer.writerows([row[name] for name in names] for row in rows)
    return path


class TestQuestions:
    """The release's files."""

    def test_a_pair_of_files_makes_a_suite_of_pairs(self, store: Store, tmp_path: Path) -> None:
        report = bring(store, *write_release(tmp_path))
        assert [(suite.suite, suite.n_pairs, suite.n_new, suite.n_images) for suite in report.suites] == [
            ("full_test", N_PAIRS, N_PAIRS, 2)
        ]
        pairs = store.rows(
            "SELECT u.image_id, p.task, p.level, p.cue, p.picture_id, p.hand, u.complexity, u.question_classes, "
            "u.split FROM pairs p JOIN units u USING (unit_id) ORDER BY u.rowid"
        )
        assert pairs == [
            ("endoscapes:1_25", "Instrument_Count", "observation", "none", "endoscapes:1_25", None, 0,
             ["Instrument_Count"], "test"),
            ("endoscapes:1_25", "Action", "observation", "box", "endoscapes:1_25_bbox_rt", "rt", 0, ["Action"], "test"),
            ("endoscapes:1_25", "Instrument", "observation", "periphrasis", "endoscapes:1_25", "rt", 0, ["Instrument"],
             "test"),
            ("endoscapes:2_50", "Target", "observation", "arrow", "endoscapes:2_50_arrow_lt", "lt", 0, ["Target"],
             "test"),
            ("endoscapes:2_50", "anatomy", "observation", "position", "endoscapes:2_50", None, 0, ["anatomy"], "test"),
        ]  # fmt: skip

    def test_questions_stand_without_the_images_mark_and_the_prefix(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        rows = store.rows(
            "SELECT role, position, question, reference, question_class FROM probes WHERE question_class = 'Action' "
            "ORDER BY role DESC"
        )
        assert rows == [
            ("original", 0, "What action is hook in the red box performing?", "dissect", "Action"),
            ("less_biased", 0, "What action is the tool in the red box performing?", "dissect", "Action"),
        ]

    def test_a_folder_and_a_zip_archive_are_the_same(self, tmp_path: Path) -> None:
        write_release(tmp_path / "data")
        (tmp_path / "data" / "README.md").write_text("# not a question")
        with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
            for file in sorted((tmp_path / "data").rglob("*")):
                archive.write(file, f"data/{file.relative_to(tmp_path / 'data')}")
        held = []
        for number, path in enumerate((tmp_path / "data", tmp_path / "release.zip")):
            with Store.create(tmp_path / f"{number}.duckdb") as store:
                bring(store, path)
                held.append(store.rows("SELECT * FROM pairs ORDER BY ALL"))
        assert held[0] == held[1] and len(held[0]) == N_PAIRS

    def test_a_json_list_is_read_as_lines_are(self, store: Store, tmp_path: Path) -> None:
        for variant in ("original", "less_biased"):
            (tmp_path / f"test_{variant}.json").write_text(json.dumps(release_rows(variant), indent=1))
        report = bring(store, tmp_path / "test_original.json", tmp_path / "test_less_biased.json", suite="mine")
        assert [(suite.suite, suite.n_pairs) for suite in report.suites] == [("mine", N_PAIRS)]

    def test_four_cues_of_the_balanced_set_are_one_suite(self, store: Store, tmp_path: Path) -> None:
        for cue, word in (("box", "in the red box"), ("arrow", "indicated by the red arrow")):
            for variant, tool in (("original", "hook"), ("less_biased", "tool")):
                rows = [
                    {
                        "image": f"1_25_{cue}_rt.jpg",
                        "conversations": [
                            {"from": "human", "value": f"<image>\nWhat action is the {tool} {word} performing?"},
                            {"from": "gpt", "value": "dissect"},
                        ],
                        "ori_img_tag": "1_25.jpg",
                        "sub_sub_tag": "Action",
                        "sub_tag": f"{cue.title()}_Cue",
                    }
                ]
                write(tmp_path / "balanced_4cue_test" / f"{cue}_{variant}.jsonl", rows)
        report = bring(store, tmp_path / "balanced_4cue_test")
        assert [(suite.suite, suite.n_pairs) for suite in report.suites] == [("balanced_4cue_test", 2)]

    def test_pairs_that_are_alike_stay_apart(self, store: Store, tmp_path: Path) -> None:
        for variant in ("original", "less_biased"):
            write(tmp_path / f"test_{variant}.jsonl", release_rows(variant) * 2)
        report = bring(store, *sorted(tmp_path.glob("*.jsonl")))
        assert report.suites[0].n_new == 2 * N_PAIRS
        ids = [row[0] for row in store.rows("SELECT source_id FROM units WHERE question_classes = ['Action']")]
        assert sorted(source_id[-2:] for source_id in ids) == [".1", ".2"]

    def test_files_in_another_order_are_joined_by_what_they_ask(self, store: Store, tmp_path: Path) -> None:
        write(tmp_path / "test_original.jsonl", release_rows("original"))
        write(tmp_path / "test_less_biased.jsonl", reversed(release_rows("less_biased")))
        report = bring(store, *sorted(tmp_path.glob("*.jsonl")), suite="mine")
        assert report.suites[0].n_pairs == N_PAIRS and not report.left_out
        assert any("do not agree line by line" in note for note in report.notes)
        apart = store.value(
            "SELECT count(*) FROM probes o JOIN probes l USING (unit_id) "
            "WHERE o.role = 'original' AND l.role = 'less_biased' AND o.reference <> l.reference"
        )
        assert apart == 0

    def test_questions_about_one_picture_find_their_twins_in_any_order(self, store: Store, tmp_path: Path) -> None:
        """Four criteria of one frame with one answer, and two tools at two places of one frame."""
        criteria = [f"Is criterion {number} met?" for number in range(4)]
        asked = [("CVS", "No_Cue", text, text, "No") for text in criteria]
        for place in ("left", "right"):
            named, pointed = (
                f"What action is the {tool} located at the {place} of the image performing?"
                for tool in ("grasper", "tool")
            )
            asked.append(("Action", "Position_Cue", named, pointed, "retract"))

        def rows(variant: str) -> list[Row]:
            made = [
                {"image": "1_25.jpg", "question": less_biased if variant == "less_biased" else original, "pred": "x",
                 "gt": reference, "sub_sub_tag": task, "sub_tag": cue}
                for task, cue, original, less_biased, reference in asked
            ]  # fmt: skip
            return made if variant == "original" else made[::-1]

        write_both(tmp_path, rows)
        bring(store, tmp_path, vlm="Mine")
        found = store.rows(
            "SELECT o.question, l.question FROM probes o JOIN probes l USING (unit_id) "
            "WHERE o.role = 'original' AND l.role = 'less_biased'"
        )
        assert sorted(found) == sorted((original, less_biased) for _, _, original, less_biased, _ in asked)

    def test_a_row_without_a_twin_is_left_out_and_listed(self, store: Store, tmp_path: Path) -> None:
        write(tmp_path / "test_original.jsonl", release_rows("original"))
        write(tmp_path / "test_less_biased.jsonl", release_rows("less_biased")[:-1])
        report = bring(store, *sorted(tmp_path.glob("*.jsonl")))
        assert [(line.file, line.number, line.reason) for line in report.left_out] == [
            ("test_original.jsonl", N_PAIRS, NO_TWIN)
        ]
        assert report.exclusions == {NO_TWIN: 1} and report.suites[0].n_pairs == N_PAIRS - 1

    def test_a_paired_question_whose_texts_are_the_same_is_no_pair(self, store: Store, tmp_path: Path) -> None:
        """As in the release's train file; questions that name nothing may be the same."""
        leaked = release_rows("original")
        leaked[2] = release_rows("less_biased")[2]
        write(tmp_path / "train_original.jsonl", leaked)
        write(tmp_path / "train_less_biased.jsonl", release_rows("less_biased"))
        report = bring(store, *sorted(tmp_path.glob("*.jsonl")), suite="train")
        assert [(line.number, line.reason, line.file) for line in report.left_out] == [
            (3, LEAKED, "train_original.jsonl")
        ]
        assert report.suites[0].n_pairs == N_PAIRS - 1
        [(told,)] = store.rows("SELECT report FROM suites")
        assert json.loads(told)["left_out"] == {LEAKED: 1}

    def test_a_row_about_another_picture_than_its_frame_is_kept_and_said(self, store: Store, tmp_path: Path) -> None:
        for variant in ("original", "less_biased"):
            rows = release_rows(variant)
            rows[4]["ori_img_tag"] = "2_75.jpg"
            write(tmp_path / f"test_{variant}.jsonl", rows)
        report = bring(store, *sorted(tmp_path.glob("*.jsonl")))
        told = "Rows of test_original.jsonl that ask about another picture than the frame they name: 1 (lines 5)."
        assert any(note.startswith(told) for note in report.notes)
        assert store.rows(
            "SELECT u.image_id, p.picture_id FROM pairs p JOIN units u USING (unit_id) WHERE p.task = 'anatomy'"
        ) == [("endoscapes:2_75", "endoscapes:2_50")]

    def test_files_in_each_others_place_are_refused(self, store: Store, tmp_path: Path) -> None:
        original, less_biased = write_answers(tmp_path)
        original.rename(tmp_path / "a_less_bias.jsonl")
        less_biased.rename(tmp_path / "a.jsonl")
        with pytest.raises(AppError, match="look swapped"):
            bring(store, tmp_path, vlm="Mine")

    def test_a_file_that_is_named_twice_is_refused(self, store: Store, tmp_path: Path) -> None:
        original, _ = write_answers(tmp_path)
        with pytest.raises(AppError, match=r"pred\.jsonl is named twice"):
            bring(store, original, tmp_path, vlm="Mine")

    def test_half_a_pair_is_refused(self, store: Store, tmp_path: Path) -> None:
        original, less_biased = write_release(tmp_path)
        for half in (original, less_biased):
            with pytest.raises(AppError, match="one half of the pairs"):
                bring(store, half)

    def test_two_formats_of_one_file_are_refused(self, store: Store, tmp_path: Path) -> None:
        write_release(tmp_path, "test")
        (tmp_path / "test_original.json").write_text(json.dumps(release_rows("original")))
        with pytest.raises(AppError, match=r"Both .* hold original questions of one set"):
            bring(store, tmp_path)

    def test_every_bad_line_is_told_with_its_number(self, store: Store, tmp_path: Path) -> None:
        rows = release_rows("original")
        broken = [
            json.dumps(rows[0]),
            "{",
            json.dumps(rows[1] | {"sub_sub_tag": "Colour"}),
            json.dumps(rows[2] | {"sub_tag": "Smell_Cue"}),
            json.dumps({key: value for key, value in rows[3].items() if key not in ("image", "ori_img_tag")}),
        ]
        (tmp_path / "test_original.jsonl").write_text("\n".join(broken))
        write(tmp_path / "test_less_biased.jsonl", release_rows("less_biased"))
        with pytest.raises(BadLines) as refused:
            bring(store, tmp_path)
        told = [(line.number, line.reason) for line in refused.value.lines]
        assert [number for number, _ in told] == [2, 3, 4, 5]
        assert "no JSON object" in told[0][1] and "'Colour'" in told[1][1] and "'Smell_Cue'" in told[2][1]
        assert told[3][1] == "names no image"
        assert store.value("SELECT count(*) FROM units") == 0
        report = bring(store, tmp_path, lenient=True)
        assert (report.suites[0].n_pairs, len(report.bad_lines)) == (1, 4)

    def test_a_file_of_which_no_row_is_good_is_told_row_by_row(self, store: Store, tmp_path: Path) -> None:
        original, less_biased = write_answers(tmp_path)
        write(original, prediction_rows("original", more={"sub_tag": "Odd"}))
        with pytest.raises(BadLines) as caught:
            bring(store, original, less_biased, vlm="VLM")
        assert {(line.file, line.number) for line in caught.value.lines} == {
            (original.name, number) for number in range(1, N_PAIRS + 1)
        }

    def test_another_suite_of_the_same_name_is_refused(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        for variant in ("original", "less_biased"):
            rows = [row | {"image": row["image"].replace("1_25", "3_75")} for row in release_rows(variant)]
            write(tmp_path / "other" / "full" / f"test_{variant}.jsonl", rows)
        with pytest.raises(AppError, match="would add"):
            bring(store, tmp_path / "other")


class TestAnswers:
    """Prediction files."""

    def test_answers_find_the_stored_suite_and_are_scored_by_exact_match(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        said: dict[str, list[str | None]] = {
            "original": ["One ", "DISSECT", "hook", "gallbladder", "liver"],
            "less_biased": ["one", "", "a hook", None, "x"],
        }
        report = bring(store, *write_answers(tmp_path, said), vlm="Mine")
        [run] = report.runs
        assert (run.suite, run.n_answers, run.n_missing, run.n_empty) == ("full_test", 9, 1, 1)
        assert accuracy(store, "original") == {"Mine": 4 / 5} and accuracy(store, "less_biased") == {"Mine": 1 / 5}
        rows = store.rows(
            "SELECT s.status, s.correct, s.parts FROM scores s JOIN probes p USING (probe_id) "
            "WHERE p.role = 'less_biased' AND p.question_class = 'Instrument'"
        )
        [(status, correct, parts)] = rows
        assert (status, correct) == ("read", False)
        assert json.loads(parts) == [
            {"expected": "hook", "parsed": "a hook", "correct": False, "rule": "exact match", "reason": "other words"}
        ]

    def test_importing_twice_changes_nothing(self, store: Store, tmp_path: Path) -> None:
        files = [*write_release(tmp_path), *write_answers(tmp_path)]
        for _ in range(2):
            last = [bring(store, *files[:2]), bring(store, *files[2:], vlm="Mine")]
            held = content(store)
        assert not any(report.changed for report in last)
        assert content(store) == held
        assert store.value("SELECT count(*) FROM imports") == 2

    def test_answers_that_match_no_suite_make_one_from_their_references(self, store: Store, tmp_path: Path) -> None:
        report = bring(store, *write_answers(tmp_path), vlm="Mine")
        assert [(suite.suite, suite.n_pairs) for suite in report.suites] == [("pred", N_PAIRS)]
        assert any("was made from the references" in note for note in report.notes)
        assert accuracy(store, "original") == {"Mine": 1.0}

    def test_another_vlms_answers_find_it_in_any_order_and_with_the_prefix(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_answers(tmp_path / "one"), vlm="One")
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            rows = [row | {"question": f"<image> {row['question']}"} for row in prediction_rows(variant)]
            write(tmp_path / "two" / f"other{ending}.jsonl", reversed(rows))
        report = bring(store, tmp_path / "two", vlm="Two")
        assert (report.suites, report.runs[0].suite, report.runs[0].n_missing) == ([], "pred", 0)

    def test_what_follows_the_last_assistant_line_is_the_answer(self, store: Store, tmp_path: Path) -> None:
        chats = [
            f"system\nBe brief.\nuser\nWhat?\nassistant\nMaybe\nassistant\n{reference}" for reference in REFERENCES
        ]
        report = bring(store, *write_answers(tmp_path, {"original": [*chats], "less_biased": [*chats]}), vlm="Mine")
        assert any("10 answers of Mine on pred stand at the end of whole chats" in note for note in report.notes)
        assert accuracy(store, "original") == {"Mine": 1.0}
        assert store.value("SELECT count(*) FROM answers WHERE contains(answer, 'Be brief.')") == 2 * N_PAIRS

    def test_the_text_that_a_file_takes_for_the_answer_counts(self, store: Store, tmp_path: Path) -> None:
        raw = [f"I think: {reference}" for reference in REFERENCES]
        write_both(tmp_path, lambda v: [row | {"pred_extracted": row["gt"]} for row in prediction_rows(v, raw)])
        bring(store, tmp_path, vlm="Mine")
        assert accuracy(store, "original") == {"Mine": 1.0}
        assert store.value("SELECT count(*) FROM answers WHERE starts_with(answer, 'I think')") == 2 * N_PAIRS
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            write(
                tmp_path / f"pred{ending}.jsonl",
                [row | {"pred": f"I think: {row['gt']}"} for row in prediction_rows(variant)],
            )
        report = bring(store, tmp_path, vlm="Mine")
        assert report.runs[0].n_unchanged == 2 * N_PAIRS
        assert accuracy(store, "original") == {"Mine": 0.0}

    def test_a_judges_scores_and_reasons_are_kept_and_a_missing_one_is_no_score(
        self, store: Store, tmp_path: Path
    ) -> None:
        judged: list[Row] = [
            {"score": 5, "reason": "same"},
            {"score": 1, "reason": "no"},
            {"reason": "?"},
            {"score": 9},
            {"score": "4"},
        ]
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            asked = zip(prediction_rows(variant), judged, strict=True)
            write(tmp_path / f"pred{ending}.jsonl", [row | {"judge": judge} for row, judge in asked])
        report = bring(store, tmp_path, vlm="Mine")
        assert report.runs[0].n_judged_changed == 2 * N_PAIRS
        rows = store.rows(
            "SELECT j.judge, j.score, j.reason, j.error FROM judgements j JOIN probes p USING (probe_id) "
            "WHERE p.role = 'original' ORDER BY p.rowid"
        )
        assert [row[1:3] for row in rows] == [
            (5, "same"), (1, "no"), (None, "?"), (None, ""), (4, ""),
        ]  # fmt: skip
        assert [error for *_, error in rows if error] == [
            "the file holds no score from 1 to 5 (none)", "the file holds no score from 1 to 5 (9)",
        ]  # fmt: skip
        assert {judge for judge, *_ in rows} == {"imported"}
        assert not bring(store, tmp_path, vlm="Mine").changed

    @pytest.mark.parametrize(
        ("column", "value", "expected"),
        [
            ("judge", {"score": " 4 ", "reason": "so"}, (4, "so", "")),
            ("judge", json.dumps({"score": 4, "reason": "so"}), (4, "so", "")),
            ("judge", str({"score": 4, "reason": "so"}), (4, "so", "")),
            ("judge", 4, (4, "", "")),
            ("judge", "4.0", (None, "", "the file holds no score from 1 to 5 (4.0)")),
            ("judge", "{'score': ", (None, "", "the file holds no score from 1 to 5 ({'score':)")),
            ("judge", {"score": "²"}, (None, "", "the file holds no score from 1 to 5 (²)")),
            ("judge", {"score": True}, (None, "", "the file holds no score from 1 to 5 (True)")),
            ("llm_score", 4.0, (4, "", "")),
            ("score", 4, (4, "", "")),
        ],
    )
    def test_a_judgement_is_read_in_each_way_that_files_write_it(
        self, store: Store, tmp_path: Path, column: str, value: object, expected: tuple[int | None, str, str]
    ) -> None:
        write_both(tmp_path, lambda variant: prediction_rows(variant, more={column: value}))
        bring(store, tmp_path, vlm="Mine")
        assert set(store.rows("SELECT score, reason, error FROM judgements")) == {expected}

    def test_an_empty_judges_column_is_no_judgement(self, store: Store, tmp_path: Path) -> None:
        write_both(tmp_path, lambda variant: prediction_rows(variant, more={"judge": None}))
        bring(store, tmp_path, vlm="Mine")
        assert store.value("SELECT count(*) FROM judgements") == 0

    @pytest.mark.parametrize("scores", [(1, 1, 1, 1, 1), (1, 0, 1, 1, 0), (0.5, 1, 2, 3, 4), (None,) * 5])
    def test_exact_matches_and_shares_are_no_judges_scores(
        self, store: Store, tmp_path: Path, scores: tuple[object, ...]
    ) -> None:
        write_both(
            tmp_path,
            lambda variant: [
                row | {"score": score} for row, score in zip(prediction_rows(variant), scores, strict=True)
            ],
        )
        bring(store, tmp_path, vlm="Mine")
        assert store.value("SELECT count(*) FROM judgements") == 0
        write_both(tmp_path, lambda variant: prediction_rows(variant, more={"score": 0, "reason": "no"}))
        bring(store, tmp_path, vlm="Mine")
        assert store.value("SELECT count(*) FROM judgements WHERE score IS NULL") == 2 * N_PAIRS

    def test_half_a_surrogate_pair_is_replaced(self, store: Store, tmp_path: Path) -> None:
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            rows = prediction_rows(variant, ["\ud800hook"] * N_PAIRS)
            (tmp_path / f"pred{ending}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        bring(store, tmp_path, vlm="Mine")
        assert store.value("SELECT count(*) FROM answers WHERE answer LIKE '%\ufffdhook'") == 2 * N_PAIRS

    def test_the_setting_is_the_users_or_the_names(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_answers(tmp_path, name="zeroshot_pred"), vlm="Mine")
        bring(store, *write_answers(tmp_path, name="lora-infer"), vlm="Mine")
        bring(store, *write_answers(tmp_path, name="lora-infer"), vlm="Mine", setting="again")
        assert sorted(row[0] for row in store.rows("SELECT setting FROM runs")) == ["again", "fine-tuned", "zero-shot"]

    def test_without_an_image_only_original_questions_are_asked(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        file = write(tmp_path / "blindfold_text_only.jsonl", prediction_rows("original"))
        [run] = bring(store, file, vlm="Mine").runs
        assert (run.stage, run.n_answers, run.n_missing) == ("text_only", N_PAIRS, 0)
        assert {row[0] for row in store.rows("SELECT role FROM scores")} == {"original"}

    def test_four_files_fill_one_run(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        for at, cue in enumerate(("none", "box", "word", "arrow", "position")):
            for variant, ending in (("original", "general"), ("less_biased", "less_bias")):
                write(tmp_path / f"fair_{cue}_{ending}.jsonl", prediction_rows(variant)[at : at + 1])
            [run] = bring(store, *tmp_path.glob(f"fair_{cue}_*"), vlm="Mine").runs
            assert (run.n_new, run.n_missing) == (2, 2 * (N_PAIRS - at - 1))
        assert store.value("SELECT count(*) FROM runs") == 1

    def test_a_suite_made_from_answers_grows_by_other_cues_and_by_nothing_else(
        self, store: Store, tmp_path: Path
    ) -> None:
        def files(folder: str, cue: str, rows: slice) -> list[Path]:
            return [
                write(tmp_path / folder / f"fair_{cue}_{ending}.jsonl", prediction_rows(variant)[rows])
                for variant, ending in (("original", "general"), ("less_biased", "less_bias"))
            ]

        bring(store, *files("a", "box", slice(1, 2)), vlm="Mine")
        bring(store, *files("a", "arrow", slice(3, 4)), vlm="Mine")
        assert store.rows("SELECT suite, count(*) FROM pairs GROUP BY ALL") == [("fair", 2)]
        for path in files("b", "box", slice(1, 2)):
            path.write_text(path.read_text().replace("1_25", "9_25"))
        with pytest.raises(AppError, match="they are not pooled"):
            bring(store, tmp_path / "b", vlm="Mine")

    def test_answers_to_a_part_of_a_larger_set_are_not_pooled_with_it(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        for variant, ending in (("original", "original"), ("less_biased", "less_bias")):
            more = [row | {"image": row["image"].replace("1_25", "3_75")} for row in prediction_rows(variant)[:2]]
            write(tmp_path / "large" / f"large_{ending}.jsonl", [*prediction_rows(variant), *more])
        report = bring(store, tmp_path / "large", vlm="Mine")
        assert [(suite.suite, suite.n_pairs) for suite in report.suites] == [("large", N_PAIRS + 2)]

    def test_rows_that_a_named_suite_lacks_are_bad_lines(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        for path in write_answers(tmp_path):
            path.write_text(path.read_text().replace("2_50", "7_50"))
        with pytest.raises(BadLines, match="no question of suite full_test has this picture"):
            bring(store, *tmp_path.glob("pred*"), vlm="Mine", suite="full_test")
        report = bring(store, *tmp_path.glob("pred*"), vlm="Mine", suite="full_test", lenient=True)
        assert (report.runs[0].n_answers, len(report.bad_lines)) == (6, 4)

    def test_a_further_row_of_one_variant_is_left_out_and_listed(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        write(tmp_path / "pred.jsonl", prediction_rows("original"))
        less_biased = prediction_rows("less_biased")
        write(tmp_path / "pred_less_bias.jsonl", [*less_biased, less_biased[1]])
        report = bring(store, *tmp_path.glob("pred*"), vlm="Mine")
        assert [(line.number, line.file) for line in report.left_out] == [(N_PAIRS + 1, "pred_less_bias.jsonl")]
        assert report.runs[0].n_answers == 2 * N_PAIRS

    def test_a_row_whose_twin_is_missing_still_answers_the_stored_question(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_release(tmp_path))
        write(tmp_path / "pred.jsonl", prediction_rows("original"))
        write(tmp_path / "pred_less_bias.jsonl", prediction_rows("less_biased")[:-1])
        [run] = bring(store, *tmp_path.glob("pred*"), vlm="Mine").runs
        assert (run.n_answers, run.n_missing) == (2 * N_PAIRS - 1, 1)

    def test_nobody_answered_is_refused(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(AppError, match="does not say which VLM answered"):
            bring(store, *write_answers(tmp_path))

    def test_files_may_be_named_as_what_they_are(self, store: Store, tmp_path: Path) -> None:
        first, second = (
            write(tmp_path / f"{name}.jsonl", prediction_rows(v))
            for name, v in (("a", "original"), ("b", "less_biased"))
        )
        with pytest.raises(AppError, match="Nothing says whether"):
            bring(store, first, second, vlm="Mine")
        placed = [
            PlacedFile(SourceFile.at(first), "", Variant.ORIGINAL),
            PlacedFile(SourceFile.at(second), "", Variant.LESS_BIASED),
        ]
        assert import_surgcheck(store, placed, Wanted(vlm="Mine")).runs[0].n_missing == 0


class TestLayouts:
    """Other people's columns."""

    @pytest.mark.parametrize(
        "names",
        [
            {"image": "image_path", "question": "question", "gt": "GT", "pred": "Pred", "sub_tag": "sub_tag"},
            {"image": "img", "question": "prompt", "gt": "answer", "pred": "model_output"},
            {"image": "Image Name", "question": "Question", "gt": "ground_truth", "pred": "Answer"},
            {"image": "file_name", "question": "query", "gt": "reference", "pred": "response", "sub_sub_tag": "task"},
            {"image": "image_id", "question": "prompt", "gt": "label", "pred": "text"},
        ],
    )
    def test_common_names_of_columns_are_known(self, store: Store, tmp_path: Path, names: dict[str, str]) -> None:
        for variant, ending in (("original", "general"), ("less_biased", "less_bias")):
            as_csv(tmp_path / f"mine_{ending}.csv", prediction_rows(variant), names)
        report = bring(store, tmp_path, vlm="Mine")
        assert report.suites[0].n_pairs == N_PAIRS and accuracy(store, "less_biased") == {"Mine": 1.0}
        cues = [row[0] for row in store.rows("SELECT cue FROM pairs ORDER BY rowid")]
        tasks = [row[0] for row in store.rows("SELECT task FROM pairs ORDER BY rowid")]
        assert cues == ["none", "box", "periphrasis", "arrow", "position"]
        assert tasks == [task for _, task, *_ in ASKED]

    def test_class_numbers_beside_the_answers_are_not_taken_for_them(self, store: Store, tmp_path: Path) -> None:
        names = {
            "image": "image_path",
            "question": "question",
            "code": "pred",
            "true": "true",
            "gt": "GT",
            "said": "Pred",
        }
        for variant, ending in (("original", "general"), ("less_biased", "less_bias")):
            rows = [row | {"said": row["gt"], "code": "3", "true": "4"} for row in prediction_rows(variant)]
            as_csv(tmp_path / f"mine_{ending}.csv", rows, names)
        bring(store, tmp_path, vlm="Mine")
        assert accuracy(store, "original") == {"Mine": 1.0}

    def test_unknown_names_are_mapped(self, store: Store, tmp_path: Path) -> None:
        names = {"image": "bild", "question": "frage", "gt": "soll", "pred": "ist"}
        for variant, ending in (("original", "general"), ("less_biased", "less_bias")):
            as_csv(tmp_path / f"mine_{ending}.csv", prediction_rows(variant), names)
        files = sorted(tmp_path.glob("*.csv"))
        with pytest.raises(AppError, match=r"no column for: image, question.*bild"):
            bring(store, *files, vlm="Mine")
        with pytest.raises(AppError, match="no column 'picture'"):
            bring(store, *files, vlm="Mine", columns=parse_map("image=picture"))
        with pytest.raises(AppError, match="does not understand 'colour=x'"):
            parse_map("colour=x")
        bring(store, *files, vlm="Mine", columns=parse_map("image=bild, question=frage,gt=soll,pred=ist"))
        assert accuracy(store, "original") == {"Mine": 1.0}

    def test_a_picture_is_known_by_its_files_name_whatever_folder_it_lay_in(self, store: Store, tmp_path: Path) -> None:
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            rows = [row | {"image": f"D:\\data\\frames/{row['image']}"} for row in prediction_rows(variant)]
            write(tmp_path / f"pred{ending}.jsonl", rows)
        bring(store, tmp_path, vlm="Mine")
        assert store.value("SELECT count(*) FROM images WHERE contains(file, 'data')") == 0

    def test_the_frame_is_told_by_the_pictures_name_where_no_column_tells_it(
        self, store: Store, tmp_path: Path
    ) -> None:
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            rows = [row | {"ori_img_tag": row["image"]} for row in prediction_rows(variant)]
            write(tmp_path / f"pred{ending}.jsonl", rows)
        bring(store, tmp_path, vlm="Mine")
        assert {row[0] for row in store.rows("SELECT image_id FROM units")} == {"endoscapes:1_25", "endoscapes:2_50"}

    def test_one_file_may_hold_both_variants_and_several_vlms(self, store: Store, tmp_path: Path) -> None:
        rows = [
            row | {"model": vlm}
            for vlm in ("One", "Two")
            for variant in ("original", "less_biased")
            for row in prediction_rows(variant, more={"variant": variant})
        ]
        report = bring(store, write(tmp_path / "all.jsonl", rows))
        assert [(run.vlm, run.n_answers, run.n_missing) for run in report.runs] == [
            ("One", 2 * N_PAIRS, 0), ("Two", 2 * N_PAIRS, 0),
        ]  # fmt: skip
        assert len(report.suites) == 1

    def test_an_object_that_holds_one_list_of_rows_is_read_as_the_list(self, store: Store, tmp_path: Path) -> None:
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            held = {"file_summary": {"accuracy": 1.0}, "records": prediction_rows(variant)}
            with gzip.open(tmp_path / f"pred{ending}.json.gz", "wt", encoding="utf-8") as file:
                json.dump(held, file, indent=2)
        bring(store, tmp_path, vlm="Mine")
        assert accuracy(store, "less_biased") == {"Mine": 1.0}

    def test_answers_without_references_find_a_stored_suite_and_make_none(self, store: Store, tmp_path: Path) -> None:
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            rows = [{key: value for key, value in row.items() if key != "gt"} for row in prediction_rows(variant)]
            write(tmp_path / f"pred{ending}.jsonl", rows)
        with pytest.raises(BadLines, match="holds no reference"):
            bring(store, *tmp_path.glob("pred*"), vlm="Mine")
        bring(store, *write_release(tmp_path / "release"))
        [run] = bring(store, *tmp_path.glob("pred*"), vlm="Mine").runs
        assert (run.suite, run.n_missing) == ("full_test", 0)

    def test_other_files_of_a_folder_are_named_and_passed_over(self, store: Store, tmp_path: Path) -> None:
        write_answers(tmp_path)
        (tmp_path / "_summary.json").write_text(json.dumps({"accuracy": 0.5, "n": 5}))
        report = bring(store, tmp_path, vlm="Mine")
        assert any(note.startswith("Not used: _summary.json.") for note in report.notes)
        with pytest.raises(AppError, match="no column for"):
            bring(store, tmp_path / "_summary.json", vlm="Mine")

    def test_a_folder_without_a_file_of_use_says_what_the_files_lack(self, store: Store, tmp_path: Path) -> None:
        write_both(tmp_path, lambda variant: [{"bild": "1.jpg", "frage": "?"}])
        told = r"pred\.jsonl has no column for: image, question\. It has bild, frage\. Further files .*: 1\."
        with pytest.raises(AppError, match=told) as caught:
            bring(store, tmp_path, vlm="Mine")
        assert "--map" in caught.value.hint

    @pytest.mark.parametrize("content", ["", "\n \n"])
    def test_a_file_without_rows_is_refused(self, store: Store, tmp_path: Path, content: str) -> None:
        original, less_biased = write_answers(tmp_path)
        original.write_text(content)
        with pytest.raises(AppError, match=r"pred\.jsonl (is empty|holds no row)"):
            bring(store, original, less_biased, vlm="Mine")

    def test_answers_in_a_column_that_is_not_known_do_not_pass_for_questions(
        self, store: Store, tmp_path: Path
    ) -> None:
        rows = {
            variant: [{("said" if key == "pred" else key): value for key, value in row.items()} for row in told]
            for variant, told in ((name, prediction_rows(name)) for name in ("original", "less_biased"))
        }
        write_both(tmp_path, lambda variant: rows[variant])
        with pytest.raises(AppError, match=r"no column of answers .* nothing that Mine said"):
            bring(store, tmp_path, vlm="Mine")
        assert bring(store, tmp_path, vlm="Mine", columns={"pred": "said"}).runs[0].n_answers == 2 * N_PAIRS
        assert bring(store, tmp_path, suite="asked").suites[0].n_pairs == N_PAIRS

    def test_an_object_may_hold_rows_by_their_id_or_beside_other_lists(self, store: Store, tmp_path: Path) -> None:
        for variant, ending in (("original", ""), ("less_biased", "_less_bias")):
            rows = prediction_rows(variant)
            by_id = {str(number): row for number, row in enumerate(rows)}
            (tmp_path / f"a{ending}.json").write_text(json.dumps(by_id))
            beside = {"errors": [{"code": 1}], "results": rows}
            (tmp_path / f"b{ending}.json").write_text(json.dumps(beside, indent=1))
        for name in ("a", "b"):
            report = bring(store, tmp_path / f"{name}.json", tmp_path / f"{name}_less_bias.json", vlm=name)
            assert [run.n_answers for run in report.runs] == [2 * N_PAIRS]


class TestLater:
    """What becomes of a run afterwards."""

    def test_runs_of_an_older_scorer_are_scored_anew(self, store: Store, tmp_path: Path) -> None:
        bring(store, *write_answers(tmp_path), vlm="Mine")
        with store.write() as cursor:
            cursor.execute("UPDATE runs SET scorer_version = '0'")
            cursor.execute("UPDATE scores SET scorer_version = '0', correct = false")
        assert outdated_runs(store) == ["parallax-surgcheck-exact-match 0"]
        assert rescore(store) == 1 and outdated_runs(store) == []
        rows = store.rows("SELECT bool_and(s.correct) FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)")
        assert rows == [(True,)]
        assert store.value("SELECT count(*) FROM outcomes") == 0

    def test_a_run_goes_with_all_that_was_said_of_it(self, store: Store, tmp_path: Path) -> None:
        more = {"judge": {"score": 3, "reason": ""}, "pred_extracted": "x"}
        write_both(tmp_path, lambda variant: prediction_rows(variant, more=more))
        [run] = bring(store, tmp_path, vlm="Mine").runs
        remove_run(store, run.run_id)
        tables = ("runs", "answers", "scores", "judgements", "extractions")
        assert [store.value(f"SELECT count(*) FROM {table}") for table in tables] == [0] * 5

    def test_a_suite_goes_with_its_pairs_and_pictures_and_another_keeps_them(
        self, store: Store, tmp_path: Path
    ) -> None:
        files = write_release(tmp_path)
        for suite in ("one", "two"):
            bring(store, *files, suite=suite)
        n_images = store.value("SELECT count(*) FROM images")
        remove_suite(store, "one")
        assert store.rows("SELECT suite, count(*) FROM pairs GROUP BY ALL") == [("two", N_PAIRS)]
        assert store.value("SELECT count(*) FROM images") == n_images == 4
        remove_suite(store, "two")
        assert [store.value(f"SELECT count(*) FROM {table}") for table in ("pairs", "images", "probes")] == [0, 0, 0]
