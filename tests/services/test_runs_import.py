"""A run folder goes into the store as a precomputed run, whole or as far as it is, and never into the wrong suite."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backend.domain.vlm import Decoding
from backend.errors import AppError
from backend.services.blind import run_blind
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.ingest.log import logged_imports
from backend.services.runs.folder import read_record
from backend.services.runs.import_run import import_run
from backend.services.runs.overview import Coverage, RunSummary, run_overview
from backend.services.runs.plan import Plan, item_id, read_plan
from backend.services.runs.runner import RunStopped, run_plan
from backend.store.store import Store
from tests.services.endoca_files import Line, manifest_lines, prediction_lines, write_jsonl
from tests.services.run_files import PARROT, Parrot, draw_images, drawn_store, said
from tests.services.test_runs_runner import stop_at


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The suite ``drawn``, images at hand."""
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images")) as opened:
        yield opened


@pytest.fixture
def plan(store: Store) -> Plan:
    """The nine questions of the suite."""
    return read_plan(store, "drawn", PARROT, Decoding())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a run can go."""
    return tmp_path / "parrot"


def contents(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows that an import of a run may write, but for the log."""
    tables = ("runs", "answers", "scores", "outcomes", "run_facts", "calls")
    return {table: store.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in tables}


def test_a_run_comes_in_with_its_answers_and_its_provenance(store: Store, plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    [run] = import_run(store, folder).runs
    assert (run.run_id, run.n_answers, run.n_new, run.n_missing, run.n_failed) == (plan.key.run_id, 9, 9, 0, 0)
    assert store.rows("SELECT vlm, vlm_group, origin, prompt_version, decoding, source FROM runs") == [
        ("Parrot", "general_open", "precomputed", "endoca-1", "greedy, 80 new tokens", "run folder parrot")
    ]
    assert dict(store.rows("SELECT probe_id, answer FROM answers")) == {
        item.probe_id: said(item.image, item.prompt) for item in plan.items
    }
    assert store.value("SELECT count(*) FROM scores") == 9


def test_every_answer_in_the_store_is_traced_to_prompt_and_image(store: Store, plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    import_run(store, folder)
    rows = store.rows("SELECT probe_id, item_id, prompt, image_sha256 FROM calls ORDER BY probe_id")
    assert rows == sorted((item.probe_id, item.item_id, item.prompt, item.image_sha256) for item in plan.items)
    assert store.rows("SELECT DISTINCT n_tokens, was_cut, seconds, probabilities FROM calls") == [
        (3, False, 0.25, '{"yes": 0.75, "no": 0.25}')
    ]


def test_importing_twice_changes_nothing(store: Store, plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    import_run(store, folder)
    before, log = contents(store), len(logged_imports(store))
    outcome = import_run(store, folder)
    assert not outcome.changed
    assert outcome.runs[0].n_unchanged == 9
    assert (contents(store), len(logged_imports(store))) == (before, log)


def test_a_folder_of_an_earlier_build_comes_in_and_goes_on(store: Store, plan: Plan, folder: Path) -> None:
    """Earlier builds repeated the prompt's hash in every row."""
    with pytest.raises(RunStopped):
        run_plan(plan, Parrot(), folder, batch=5, report=stop_at(2))
    shard = folder / "answers-00001.parquet"
    table = pq.read_table(shard)
    hashes = pa.array(["0" * 64] * len(table))
    pq.write_table(table.append_column("prompt_sha256", hashes), shard, write_page_checksum=True)
    assert import_run(store, folder).runs[0].n_answers == 5
    asked = Parrot()
    run_plan(plan, asked, folder, resume=True)
    assert len(asked.asked) == 4
    assert import_run(store, folder).runs[0].n_new == 4


def test_a_run_that_is_not_finished_comes_in_as_far_as_it_is(store: Store, plan: Plan, folder: Path) -> None:
    with pytest.raises(RunStopped):
        run_plan(plan, Parrot(), folder, batch=5, report=stop_at(2))
    first = import_run(store, folder)
    assert (first.runs[0].n_answers, first.runs[0].n_missing) == (5, 4)
    assert "not finished: 4 of 9" in first.notes[0]
    run_plan(plan, Parrot(), folder, resume=True)
    second = import_run(store, folder).runs[0]
    assert (second.n_new, second.n_unchanged, second.n_missing) == (4, 5, 0)


def test_a_limited_run_counts_the_rest_of_the_suite_as_missing(store: Store, folder: Path) -> None:
    limited = read_plan(store, "drawn", PARROT, Decoding(), limit=1)
    run_plan(limited, Parrot(), folder)
    assert import_run(store, folder).runs[0].n_missing == 9 - len(limited.items)


def test_failed_calls_come_in_as_failed_and_are_replaced_by_a_later_answer(
    store: Store, plan: Plan, folder: Path
) -> None:
    run_plan(plan, Parrot(fails="text"), folder)
    n_failed = import_run(store, folder).runs[0].n_failed
    assert n_failed == sum("text" in item.prompt for item in plan.items)
    run_plan(plan, Parrot(), folder, resume=True)
    run = import_run(store, folder).runs[0]
    assert (run.n_replaced, run.n_failed) == (n_failed, 0)


def test_a_manifests_run_fits_the_suite_that_the_manifest_makes(plan: Plan, folder: Path, tmp_path: Path) -> None:
    run_plan(plan, Parrot(), folder)
    with Store.create(tmp_path / "other.duckdb") as other:
        import_endoca(other, [SourceFile.at(write_jsonl(tmp_path / "drawn.jsonl", manifest_lines()))])
        assert import_run(other, folder).runs[0].n_missing == 0


def test_answers_about_another_file_of_an_image_are_noted(
    store: Store, plan: Plan, folder: Path, tmp_path: Path
) -> None:
    run_plan(plan, Parrot(), folder)
    attach_images(store, draw_images(tmp_path / "images", ["frame-x", "frame-b", "frame-a"]))
    assert import_run(store, folder).notes == [
        "5 answers were given about other files than those attached to this store's images."
    ]


def without_record(folder: Path) -> None:
    (folder / "run.json").unlink()


def without_plan(folder: Path) -> None:
    (folder / "plan.parquet").write_bytes(b"PAR1")


def without_shard(folder: Path) -> None:
    (folder / "answers-00001.parquet").unlink()


def damaged_shard(folder: Path) -> None:
    (folder / "answers-00001.parquet").write_bytes(b"PAR1")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (without_record, "no run folder"),
        (without_plan, r"plan\.parquet of the run folder .* is damaged or gone"),
        (without_shard, r"answers-00001\.parquet. Nothing was imported"),
        (damaged_shard, r"answers-00001\.parquet. Nothing was imported"),
        (shutil.rmtree, "no run folder"),
    ],
)
def test_a_damaged_folder_is_refused_and_nothing_is_imported(
    store: Store, plan: Plan, folder: Path, damage: Callable[[Path], None], says: str
) -> None:
    run_plan(plan, Parrot(), folder)
    damage(folder)
    with pytest.raises(AppError, match=says):
        import_run(store, folder)
    assert contents(store)["runs"] == []


def shard_with(**changed: Any) -> Callable[[Path], None]:
    """Write a shard anew, the first value of some columns another."""
    return lambda folder: rewrite(folder / "answers-00001.parquet", changed)


def plan_with(**changed: Any) -> Callable[[Path], None]:
    """Write the plan anew, likewise."""
    return lambda folder: rewrite(folder / "plan.parquet", changed)


def rewrite(path: Path, changed: dict[str, Any]) -> None:
    table = pq.read_table(path)
    for name, value in changed.items():
        column = pa.array([value, *table[name].to_pylist()[1:]], table.schema.field(name).type)
        table = table.set_column(table.column_names.index(name), name, column)
    pq.write_table(table, path, write_page_checksum=True)


def plan_without(column: str) -> Callable[[Path], None]:
    def drop(folder: Path) -> None:
        pq.write_table(pq.read_table(folder / "plan.parquet").drop_columns([column]), folder / "plan.parquet")

    return drop


def record_with(**changed: Any) -> Callable[[Path], None]:
    """Change what run.json says; ``vlm__name`` is a field of a field."""

    def change(folder: Path) -> None:
        record = json.loads((folder / "run.json").read_text())
        for name, value in changed.items():
            *outer, last = name.split("__")
            (record[outer[0]] if outer else record)[last] = value
        (folder / "run.json").write_text(json.dumps(record))

    return change


def asked_twice(folder: Path) -> None:
    """Ask the first probe in other words, too, under an id that fits."""
    table, record = pq.read_table(folder / "plan.parquet"), read_record(folder)
    assert record is not None
    row = {**table.to_pylist()[0], "prompt": "Is any lettering visible? Yes?"}
    asked = (row[name] for name in ("probe_id", "prompt", "image_id", "image_sha256"))
    row["item_id"] = item_id(record.key, record.vlm.identity, *asked)
    again = pa.Table.from_pylist([row], schema=table.schema)
    pq.write_table(pa.concat_tables([table, again]), folder / "plan.parquet")


LOST = r"answers-00001\.parquet. Nothing was imported"
CHANGED = "was changed after its run: {n} of 9 {what}"
NO_PLAN = r"plan\.parquet of the run folder .* is damaged or gone"
ONE_ANSWER, ALL_OF_THE_PLAN = CHANGED.format(n=1, what="answers"), CHANGED.format(n=9, what="rows of its plan")
ONE_OF_THE_PLAN = CHANGED.format(n=1, what="rows of its plan")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        *[
            pytest.param(shard_with(**{name: None}), LOST, id=f"no {name}")
            for name in ("item_id", "probe_id", "stage", "answer", "error", "was_cut", "seconds")
        ],
        pytest.param(shard_with(seconds=float("nan")), LOST, id="no number of seconds"),
        pytest.param(shard_with(seconds=-1.0), LOST, id="seconds before the beginning"),
        pytest.param(shard_with(n_tokens=-1), LOST, id="fewer tokens than none"),
        pytest.param(shard_with(probe_id="drawn:22::complex"), ONE_ANSWER, id="an answer given to another probe"),
        pytest.param(shard_with(image_sha256="0" * 64), ONE_ANSWER, id="an answer given about another image"),
        pytest.param(shard_with(image_sha256=None), ONE_ANSWER, id="an answer given about no image"),
        pytest.param(shard_with(stage="revise"), ONE_ANSWER, id="an answer of another stage"),
        pytest.param(shard_with(probabilities="yes"), ONE_ANSWER, id="probabilities that are no JSON"),
        pytest.param(shard_with(probabilities='{"yes": "0.5"}'), ONE_ANSWER, id="probabilities in words"),
        pytest.param(shard_with(probabilities='{"yes": NaN}'), ONE_ANSWER, id="no probability"),
        pytest.param(shard_with(probabilities='{"yes": 1.5}'), ONE_ANSWER, id="more than certain"),
        *[
            pytest.param(plan_without(name), NO_PLAN, id=f"a plan without {name}")
            for name in ("item_id", "probe_id", "unit_id", "image_id", "image_name", "image_sha256", "prompt")
        ],
        pytest.param(plan_with(prompt=None), NO_PLAN, id="a plan that asks nothing"),
        pytest.param(plan_with(prompt=""), ONE_OF_THE_PLAN, id="an empty prompt"),
        pytest.param(plan_with(prompt="Is there a polyp?"), ONE_OF_THE_PLAN, id="another prompt"),
        pytest.param(plan_with(image_sha256="0" * 64), ONE_OF_THE_PLAN, id="another image"),
        pytest.param(plan_with(probe_id="drawn:22::x"), ONE_OF_THE_PLAN, id="another probe"),
        pytest.param(asked_twice, "its plan asks some questions twice", id="a probe asked twice"),
        pytest.param(record_with(stage="verify"), ALL_OF_THE_PLAN, id="another stage"),
        pytest.param(record_with(prompt_version="endoca-9"), ALL_OF_THE_PLAN, id="another prompt version"),
        pytest.param(record_with(decoding__label="greedy, 9 new tokens"), ALL_OF_THE_PLAN, id="another decoding"),
        pytest.param(record_with(vlm__name="Better"), ALL_OF_THE_PLAN, id="another VLM"),
        pytest.param(record_with(vlm__details={"weights": "better"}), ALL_OF_THE_PLAN, id="another build of it"),
        pytest.param(record_with(stage="nonsense"), r"damaged.* \(stage: ", id="a stage that is none"),
        pytest.param(record_with(vlm__name=""), r"damaged.* \(vlm\.name: ", id="a VLM without a name"),
        pytest.param(record_with(suite=""), r"damaged.* \(suite: ", id="a suite without a name"),
        pytest.param(record_with(counts__done=-1), r"damaged.* \(counts\.done: ", id="less than nothing done"),
        pytest.param(record_with(counts__missing=7), r"damaged.* add up to planned", id="counts that do not add up"),
        pytest.param(record_with(errors={"x": -1}), r"damaged.* \(errors\.x: ", id="less than no error"),
        pytest.param(record_with(batch=0), r"damaged.* \(batch: ", id="batches of nothing"),
        pytest.param(record_with(n_shards=10**9), r"damaged.* \(n_shards: ", id="a billion shards"),
        pytest.param(record_with(n_shards=30), "answers-00002.* and 19 more. Nothing", id="shards that are not there"),
    ],
)
def test_a_folder_that_was_changed_after_its_run_is_refused_and_nothing_is_imported(
    store: Store, plan: Plan, folder: Path, change: Callable[[Path], None], says: str
) -> None:
    run_plan(plan, Parrot(), folder)
    change(folder)
    with pytest.raises(AppError, match=says) as caught:
        import_run(store, folder)
    assert caught.value.hint
    assert contents(store)["runs"] == []


def test_an_answer_to_an_empty_prompt_is_refused(store: Store, plan: Plan, folder: Path) -> None:
    """An item that was not asked has an empty prompt, and an error that says why."""
    empty = replace(plan.items[0], prompt="")
    new = item_id(plan.key, plan.vlm, empty.probe_id, "", empty.image_id, empty.image_sha256)
    items = (replace(empty, item_id=new), *plan.items[1:])
    run_plan(replace(plan, items=items), Parrot(), folder)
    with pytest.raises(AppError, match=ONE_ANSWER):
        import_run(store, folder)


def test_error_rows_of_earlier_runs_that_name_an_image_still_come_in(store: Store, plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    shard_with(answer="", error="The image was not there.")(folder)
    assert import_run(store, folder).runs[0].n_failed == 1
    shard_with(image_sha256=None)(folder)
    assert import_run(store, folder).runs[0].n_failed == 1


def test_a_shard_lost_asked_again_and_imported_is_noted(store: Store, plan: Plan, folder: Path) -> None:
    run_plan(plan, Parrot(), folder)
    without_shard(folder)
    run_plan(plan, Parrot(), folder, resume=True)
    assert import_run(store, folder).notes == [
        "Asked again, because their first answers were lost: those of answers-00001.parquet."
    ]


def test_a_suite_the_store_lacks_is_named_with_the_command_that_brings_it(
    plan: Plan, folder: Path, tmp_path: Path
) -> None:
    run_plan(plan, Parrot(), folder)
    with Store.create(tmp_path / "empty.duckdb") as empty, pytest.raises(AppError, match="suite drawn") as caught:
        import_run(empty, folder)
    assert "import endoca FILE --suite drawn" in caught.value.hint


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda line: {**line, "question": f"{line['question']} Really?"},
            "asks 9 of the run's questions in other words",
        ),
        (lambda line: {**line, "probe_id": f"x{line['probe_id']}"}, "9 of the run's 9 answers are to probes"),
    ],
)
def test_a_suite_of_the_same_name_with_other_questions_takes_no_answer(
    plan: Plan, folder: Path, tmp_path: Path, change: Callable[[Line], Line], says: str
) -> None:
    run_plan(plan, Parrot(), folder)
    (tmp_path / "other").mkdir()
    with drawn_store(tmp_path / "other", [change(line) for line in manifest_lines()]) as other:
        with pytest.raises(AppError, match=says):
            import_run(other, folder)
        assert contents(other)["answers"] == []


def test_answers_of_other_weights_are_not_mixed_into_a_run(store: Store, folder: Path, tmp_path: Path) -> None:
    for name, weights in (("a", "first"), ("b", "second")):
        plan = read_plan(store, "drawn", replace(PARROT, details={"weights": weights}), Decoding())
        run_plan(plan, Parrot(), tmp_path / name)
    import_run(store, tmp_path / "a")
    with pytest.raises(AppError, match="VLM's weights: first there, second here") as caught:
        import_run(store, tmp_path / "b")
    assert f"remove run {plan.key.run_id}" in caught.value.hint


# Overview -------------------------------------------------------------------------------------------------------------


def summaries(store: Store) -> dict[str, RunSummary]:
    return {summary.vlm: summary for summary in run_overview(store)}


def test_the_overview_tells_coverage_errors_and_throughput(store: Store, plan: Plan, folder: Path) -> None:
    """Of nine probes those with 'text' in the prompt failed: three; the parrot's answers cannot be read."""
    run_plan(plan, Parrot(fails="text"), folder)
    import_run(store, folder)
    [run] = run_overview(store)
    n_failed = sum("text" in item.prompt for item in plan.items)
    assert (run.coverage.n_probes, run.coverage.n_failed, run.coverage.n_missing) == (9, n_failed, 0)
    assert run.coverage.n_answered == 9 - n_failed
    [error] = run.errors
    assert (error.name, error.n) == ("The call timed out after … s.", n_failed)
    assert error.examples == ("The call timed out after 30 s. Try again.",)
    assert run.record is not None
    assert run.record.vlm.details == {"weights": "none"}
    assert run.throughput is not None
    assert (run.throughput.median_seconds, run.throughput.n_cut) == (0.25, 0)
    assert run.throughput.answers_per_second == run.record.answers_per_second


def test_errors_are_shown_by_class_the_commonest_first_with_three_examples(store: Store, tmp_path: Path) -> None:
    lines = [
        {**line, "prediction": "", "error": f"Timed out after {at} s." if at < 5 else "Out of memory."}
        for at, line in enumerate(prediction_lines("Failing"))
    ]
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "failing.jsonl", lines))])
    [run] = run_overview(store)
    assert [(error.name, error.n) for error in run.errors] == [("Timed out after … s.", 5), ("Out of memory.", 4)]
    assert run.errors[0].examples == ("Timed out after 0 s.", "Timed out after 1 s.", "Timed out after 2 s.")


def test_runs_from_elsewhere_have_coverage_but_no_record(store: Store, tmp_path: Path) -> None:
    answers = prediction_lines("Imported")[:6]
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "imported.jsonl", answers))])
    other = [{**line, "img_id": f"other-{line['img_id']}"} for line in manifest_lines()]
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "other.jsonl", other))])
    run_blind(store, "other", "drawn")
    found = summaries(store)
    assert set(found) == {"Imported", "Blind baseline"}
    assert {(run.record, run.throughput) for run in found.values()} == {(None, None)}
    assert found["Imported"].coverage == Coverage(9, 6, 0, 0, 0, 3)
    assert found["Blind baseline"].origin == "precomputed"


def test_a_store_without_runs_has_an_empty_overview(store: Store) -> None:
    assert run_overview(store) == []
