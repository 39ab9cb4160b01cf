"""Suites built from Kvasir-VQA-x1: whole, counted to the last row, and the same every time."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from backend.domain.progress import Cancelled
from backend.errors import AppError, BadLines
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.kvasir import import_kvasir
from backend.services.ingest.report import ImportReport
from backend.services.opening import open_store
from backend.store.store import Store

CONTRADICTING = {145030, 145878, 158421}
"""The benchmark's samples from the test file whose complex reference contradicts an atomic one."""

TEXT, POLYPS, TYPE = "Is there text?", "How many polyps are in the image?", "What type of polyp is present?"

N_TRAIN = 143_594
"""Rows of Kvasir-VQA-x1's train file: the benchmark's sample ids count them before the test file's."""


def x1(img_id: str, question: str, answer: str, *atoms: tuple[str, str, str]) -> dict[str, Any]:
    """A row of Kvasir-VQA-x1; atoms are (class, question, answer)."""
    return {
        "img_id": img_id,
        "image": f"images/{img_id}.jpg",
        "complexity": len(atoms),
        "question": question,
        "answer": answer,
        "original": json.dumps([{"q": asked, "a": told} for _, asked, told in atoms]),
        "question_class": [name for name, _, _ in atoms],
    }


ROWS = [
    x1("a", "Is any text visible?", "Text is visible.", ("text_presence", TEXT, "yes")),
    x1("a", "What kind of polyp is seen?", "No polyp.", ("polyp_type", TYPE, "none")),
    x1("b", "How many polyps are there?", "Three polyps.", ("polyp_count", POLYPS, "2")),
    x1("b", "Is any text visible?", "No text.", ("text_presence", TEXT, "no")),
    x1("c", "How many polyps are there?", "One polyp.", ("polyp_count", POLYPS, "1")),
    x1(
        "c", "Is there text, and how many polyps?", "Text, and one polyp.",
        ("text_presence", TEXT, "yes"), ("polyp_count", POLYPS, "1"),
    ),
    {**x1("d", "Is any text visible?", "No text.", ("text_presence", TEXT, "no")), "complexity": 2},
]  # fmt: skip
"""Sample ids 0 to 6. 1: another class; 2: contradicts its atom; 3: contradicted by VQA; 6: complexity."""

VQA = [
    {"source": "s", "question": TEXT, "answer": "yes", "img_id": "a"},
    {"source": "s", "question": TEXT, "answer": "yes", "img_id": "b"},
    {"source": "s", "question": "Is this finding easy to detect?", "answer": "no", "img_id": "c"},
]

ELIGIBLE = ["0", "4", "5"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path / "store.duckdb") as opened:
        yield opened


@pytest.fixture
def vqa(tmp_path: Path) -> SourceFile:
    """Kvasir-VQA in small, as CSV."""
    return written(tmp_path / "vqa.csv", VQA)


@pytest.fixture
def rows(tmp_path: Path) -> SourceFile:
    """Kvasir-VQA-x1 in small, as Parquet."""
    return written(tmp_path / "x1-test.parquet", ROWS)


def written(path: Path, rows: list[dict[str, Any]]) -> SourceFile:
    """Write rows in the format of the file's name."""
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return SourceFile.at(path)


def samples(store: Store, suite: str) -> list[str]:
    """Return the suite's sample ids."""
    return [row[0] for row in store.rows("SELECT source_id FROM units WHERE suite = ? ORDER BY source_id", [suite])]


def test_everything_eligible_makes_a_suite_named_after_the_file(
    store: Store, vqa: SourceFile, rows: SourceFile
) -> None:
    outcome = import_kvasir(store, vqa, [rows])
    [suite] = outcome.suites
    assert (suite.suite, suite.n_units, suite.n_new, suite.n_atomic) == ("x1-test", 3, 3, 4)
    assert samples(store, "x1-test") == ELIGIBLE
    assert store.rows("SELECT DISTINCT split FROM units") == [("test",)]
    assert store.rows("SELECT image_id, file FROM images ORDER BY 1") == [
        ("kvasir-vqa-x1:a", "a.jpg"),
        ("kvasir-vqa-x1:c", "c.jpg"),
    ]


def test_every_row_left_out_is_counted_once_and_by_its_reason(store: Store, vqa: SourceFile, rows: SourceFile) -> None:
    outcome = import_kvasir(store, vqa, [rows])
    assert outcome.exclusions == {
        "complexity, atomic questions and question classes differ in number": 1,
        "a question class is not one of EndoCA's nine": 1,
        "Kvasir-VQA answers an atomic question otherwise": 1,
        "the complex reference contradicts its atomic references": 1,
    }
    assert sum(outcome.exclusions.values()) + len(ELIGIBLE) == len(ROWS)
    assert outcome.notes == [
        "5 samples are whole and in EndoCA's nine classes (complexity 1: 4, complexity 2: 1, complexity 3: 0).",
        "3 samples are eligible, their references in agreement (complexity 1: 2, complexity 2: 1, complexity 3: 0).",
        "3 of the eligible samples' 4 atomic questions are not in the Kvasir-VQA file; "
        "their references are Kvasir-VQA-x1's alone.",
    ]


def test_the_suite_keeps_how_it_was_built(store: Store, vqa: SourceFile, rows: SourceFile) -> None:
    outcome = import_kvasir(store, vqa, [rows], suite="mine", sizes=(1, 1, 0), seed=4)
    report = json.loads(store.value("SELECT report FROM suites WHERE suite = 'mine'"))
    assert report == {
        "built_from": {"vqa": "vqa.csv", "x1": ["x1-test.parquet"]},
        "sizes": [1, 1, 0],
        "seed": 4,
        "exclude_suite": None,
        "sound_in_form": {"1": 4, "2": 1, "3": 0},
        "eligible": {"1": 2, "2": 1, "3": 0},
        "chosen": {"1": 1, "2": 1, "3": 0},
        "exclusions": outcome.exclusions,
        "notes": outcome.notes,
    }


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.parquet"])
def test_the_same_rows_make_the_same_suite_in_every_format(
    store: Store, vqa: SourceFile, tmp_path: Path, name: str
) -> None:
    import_kvasir(store, vqa, [written(tmp_path / name, ROWS)])
    assert samples(store, "rows") == ELIGIBLE


def test_sample_ids_run_on_over_the_files_in_the_order_given(store: Store, vqa: SourceFile, tmp_path: Path) -> None:
    files = [written(tmp_path / "x1-train.jsonl", ROWS[:3]), written(tmp_path / "x1-test.parquet", ROWS[3:])]
    import_kvasir(store, vqa, files, suite="forth")
    import_kvasir(store, vqa, files[::-1], suite="back")
    assert dict(store.rows("SELECT source_id, split FROM units WHERE suite = 'forth'")) == {
        "0": "train", "4": "test", "5": "test",
    }  # fmt: skip
    assert samples(store, "back") == ["1", "2", "4"]


def test_building_the_same_suite_again_changes_nothing(store: Store, vqa: SourceFile, rows: SourceFile) -> None:
    import_kvasir(store, vqa, [rows], sizes=(1, 1, 0), seed=2)
    before = store.rows("SELECT * FROM suites")
    assert import_kvasir(store, vqa, [rows], sizes=(1, 1, 0), seed=2).suites[0].n_new == 0
    assert store.rows("SELECT * FROM suites") == before


def test_two_draws_are_never_mixed_under_one_name(store: Store, vqa: SourceFile, rows: SourceFile) -> None:
    import_kvasir(store, vqa, [rows], suite="mine", sizes=(1, 0, 0))
    with pytest.raises(AppError, match="Suite mine exists and holds other samples"):
        import_kvasir(store, vqa, [rows], suite="mine")
    assert len(samples(store, "mine")) == 1


def test_a_stratum_that_cannot_be_filled_names_what_is_available_and_imports_nothing(
    store: Store, vqa: SourceFile, rows: SourceFile
) -> None:
    with pytest.raises(AppError, match="complexity 1: 3 wanted, 2 available"):
        import_kvasir(store, vqa, [rows], sizes=(3, 1, 0))
    assert store.rows("SELECT * FROM suites") == []


def test_no_sample_of_the_excluded_suite_is_drawn_whatever_its_row_number(
    store: Store, vqa: SourceFile, rows: SourceFile, tmp_path: Path
) -> None:
    import_kvasir(store, vqa, [rows], suite="first", sizes=(0, 1, 0))
    turned = written(tmp_path / "turned.jsonl", ROWS[::-1])
    outcome = import_kvasir(store, vqa, [turned], suite="second", exclude_suite="first")
    assert samples(store, "first") == ["5"]
    assert samples(store, "second") == ["2", "6"]
    assert outcome.exclusions["the sample is in the excluded suite"] == 1


def test_an_excluded_suite_that_is_not_there_is_an_error_that_lists_those_that_are(
    store: Store, vqa: SourceFile, rows: SourceFile
) -> None:
    import_kvasir(store, vqa, [rows], suite="first")
    with pytest.raises(AppError, match="Suites in the store: first"):
        import_kvasir(store, vqa, [rows], suite="second", exclude_suite="furst")


def test_a_bad_row_stops_all_unless_the_good_ones_are_asked_for(store: Store, vqa: SourceFile, tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in ROWS]
    lines[0] = "{broken"
    lines[1] = json.dumps({**ROWS[1], "complexity": "two"})
    path = tmp_path / "x1.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BadLines) as refused:
        import_kvasir(store, vqa, [SourceFile.at(path)])
    assert [(bad.number, bad.file) for bad in refused.value.lines] == [(1, "x1.jsonl"), (2, "x1.jsonl")]
    assert store.rows("SELECT * FROM suites") == []
    outcome = import_kvasir(store, vqa, [SourceFile.at(path)], lenient=True)
    assert len(outcome.bad_lines) == 2
    assert samples(store, "x1") == ["4", "5"]


def test_files_of_the_wrong_kind_are_refused_as_a_whole(store: Store, vqa: SourceFile, rows: SourceFile) -> None:
    with pytest.raises(AppError, match=r"vqa\.csv has no column complexity, original, question_class"):
        import_kvasir(store, vqa, [vqa])
    with pytest.raises(AppError, match="is Kvasir-VQA-x1, not Kvasir-VQA"):
        import_kvasir(store, rows, [rows])
    with pytest.raises(AppError, match="no Kvasir-VQA-x1 file"):
        import_kvasir(store, vqa, [])


def test_nothing_eligible_is_an_error_that_says_why(store: Store, vqa: SourceFile, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="1 × a question class is not one of EndoCA's nine"):
        import_kvasir(store, vqa, [written(tmp_path / "x1.jsonl", ROWS[1:2])])


def test_stopping_leaves_the_store_as_it_was(store: Store, vqa: SourceFile, rows: SourceFile) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        if stage == "checking references":
            raise Cancelled

    with pytest.raises(Cancelled):
        import_kvasir(store, vqa, [rows], report=stop)
    assert store.rows("SELECT * FROM suites") == []


@pytest.fixture(scope="module")
def built(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, ImportReport]]:
    """A suite of everything eligible in the test file of Kvasir-VQA-x1."""
    data = shared / "data/kvasir"
    with open_store(tmp_path_factory.mktemp("kvasir") / "store.duckdb") as opened:
        vqa = SourceFile.at(data / "kvasir_vqa/kvasir_vqa_rows_29307.csv")
        x1_test = SourceFile.at(data / "kvasir_vqa_x1/Kvasir-VQA-x1-test.parquet")
        yield opened, import_kvasir(opened, vqa, [x1_test], suite="built")


class TestRealFiles:
    """The files at hand give the counts that are known of them."""

    def test_exactly_4845_samples_are_in_the_nine_classes(self, built: tuple[Store, ImportReport]) -> None:
        store, outcome = built
        report = json.loads(store.value("SELECT report FROM suites"))
        assert report["sound_in_form"] == {"1": 2_916, "2": 1_318, "3": 611}
        assert outcome.notes[0].startswith("4,845 samples")
        assert outcome.exclusions["a question class is not one of EndoCA's nine"] == 15_955 - 4_845

    def test_only_contradicting_references_leave_out_any_of_them(self, built: tuple[Store, ImportReport]) -> None:
        store, outcome = built
        assert set(outcome.exclusions) == {
            "a question class is not one of EndoCA's nine",
            "the complex reference contradicts its atomic references",
        }
        assert sum(outcome.exclusions.values()) + len(samples(store, "built")) == 15_955

    @pytest.mark.parametrize("suite", ["core", "diagnostic"])
    def test_units_are_those_of_the_benchmark_for_the_rows_both_have(
        self, built: tuple[Store, ImportReport], shared: Path, suite: str
    ) -> None:
        store, _ = built
        ours = {
            source_id: rest
            for source_id, *rest in store.rows(
                "SELECT p.source_id, image_id, split, role, position, question, reference, question_class "
                "FROM probes p JOIN units u USING (unit_id) WHERE p.suite = 'built'"
            )
        }
        n_same, absent = 0, set()
        path = shared / f"data/kvasir/endoca/endoca_{suite}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                row = line["sample_id"] - N_TRAIN
                if row < 0:
                    continue
                is_complex = line["probe_kind"] == "complex_direct"
                name = line["probe_id"].replace(str(line["sample_id"]), str(row), 1)
                if name not in ours:
                    absent.add(line["sample_id"])
                    continue
                assert ours[name] == [
                    f"kvasir-vqa-x1:{line['img_id']}",
                    "test",
                    "complex" if is_complex else "atomic",
                    0 if is_complex else line["atomic_index"],
                    line["question"],
                    line["gold_answer"],
                    "" if is_complex else line["gold_question_class"],
                ]
                n_same += 1
        assert n_same > 1_000
        assert absent <= CONTRADICTING

    def test_a_second_suite_shares_no_sample_with_the_benchmark(
        self, built: tuple[Store, ImportReport], shared: Path
    ) -> None:
        store, outcome = built
        data = shared / "data/kvasir"
        import_endoca(store, [SourceFile.at(data / "endoca/endoca_core.jsonl.gz")])
        files = (
            SourceFile.at(data / "kvasir_vqa/kvasir_vqa_rows_29307.csv"),
            [SourceFile.at(data / "kvasir_vqa_x1/Kvasir-VQA-x1-test.parquet")],
        )
        rest = import_kvasir(store, *files, suite="rest", exclude_suite="core")
        n_core_from_test = store.value(
            "SELECT count(*) FROM units WHERE suite = 'core' AND source_id::INTEGER >= ?", [N_TRAIN]
        )
        n_excluded = rest.exclusions["the sample is in the excluded suite"]
        assert n_core_from_test - len(CONTRADICTING) <= n_excluded <= n_core_from_test
        assert rest.suites[0].n_units == outcome.suites[0].n_units - n_excluded
