"""Revise and Select runs in the store: beside the answers they were made from, or not at all."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from backend.domain.records import Origin
from backend.domain.vlm import Decoding
from backend.endoca.asr import Variant
from backend.errors import AppError
from backend.services.explore import endoca_metrics, run_label, run_names
from backend.services.export import export_endoca
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.log import logged_imports
from backend.services.reconciliation import reconciled_table
from backend.services.removal import remove_run, remove_suite
from backend.services.runs.direct_answers import folder_base, stored_base
from backend.services.runs.folder import read_record, write_record
from backend.services.runs.import_run import import_run
from backend.services.runs.overview import run_overview
from backend.services.runs.plan import Plan, read_plan
from backend.services.runs.reconciliation_plan import STAGES
from backend.services.runs.reconciliation_run import run_reconciliation
from backend.services.runs.runner import RunStopped, run_plan
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.store import Store
from tests.services.endoca_files import prediction_lines, write_jsonl
from tests.services.reconciled_files import Reconciler, reconcile_into
from tests.services.reconciled_store import ATOMIC, DECISIONS, DIRECT, REVISED, UNREADABLE
from tests.services.run_files import PARROT, draw_images, drawn_store
from tests.services.test_runs_runner import stop_at

TABLES = ("runs", "answers", "scores", "outcomes", "run_facts", "calls", "decisions", "run_bases")

SHARES = {
    "direct": (1 / 3, 5 / 6, 0.0, 1.0, None, None),
    "revise": (1 / 3, 5 / 6, 1 / 3, 0.0, None, None),
    "select": (1 / 3, 5 / 6, 1 / 3, 0.0, 2 / 3, 1 / 2),
    "self_revise": (2 / 3, 5 / 6, 1 / 3, 1 / 2, None, None),
    "self_select": (2 / 3, 5 / 6, 1 / 3, 1 / 2, 2 / 3, 1.0),
}
"""By hand, from `tests.services.reconciled_store`: complex, atomic, joint, inconsistency, coverage, selective accuracy.

Sample 22 alone has a wrong part, so a right answer to 22 is inconsistent and no other is. ASR is
right on 11; it gives 11 and 22 and its decision on 33 cannot be read. The control is right on 22
and 33, and gives these two.
"""


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
def folder(plan: Plan, tmp_path: Path) -> Path:
    """A whole ASR run."""
    reconcile_into(tmp_path / "asr", plan, Reconciler())
    return tmp_path / "asr"


def contents(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows that an import of a run may write, but for the log."""
    return {table: store.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in TABLES}


def both_variants(store: Store, plan: Plan, tmp_path: Path) -> None:
    """Put both variants of one direct run into the store."""
    reconcile_into(tmp_path / "asr", plan, Reconciler())
    import_run(store, tmp_path / "asr")
    answers = stored_base(store, plan.key.run_id, plan)
    own = tmp_path / "self"
    run_reconciliation(plan, answers, Reconciler(), own / "revise", own / "select", Variant.SELF)
    import_run(store, own)


def test_an_asr_folder_comes_in_whole_with_bases_and_decisions(store: Store, plan: Plan, folder: Path) -> None:
    outcome = import_run(store, folder)
    assert [(run.run_id.split(".")[2], run.n_new, run.n_missing) for run in outcome.runs] == [
        ("direct", 9, 0),
        ("revise", 9, 0),
        ("select", 9, 0),
    ]
    runs = dict(store.rows("SELECT stage, run_id FROM runs"))
    assert set(store.rows("SELECT run_id, base_run_id FROM run_bases")) == {
        (runs["revise"], plan.key.run_id),
        (runs["select"], plan.key.run_id),
    }
    atomic = {f"drawn:{probe}": answer for probe, answer in ATOMIC.items()}
    for stage, complex_answers in (("direct", DIRECT), ("revise", REVISED), ("select", REVISED)):
        held = dict(store.rows("SELECT probe_id, answer FROM answers WHERE run_id = ?", [runs[stage]]))
        assert held == atomic | {f"drawn:{sample}::complex": answer for sample, answer in complex_answers.items()}
    decided = store.rows("SELECT unit_id, decision, consistency, echoed, problem FROM decisions ORDER BY unit_id")
    assert decided == [(f"drawn:{sample}", *one) for sample, one in DECISIONS.items()]
    assert store.rows("SELECT DISTINCT run_id FROM decisions") == [(runs["select"],)]
    assert store.rows("SELECT reply FROM decisions WHERE unit_id = 'drawn:33'") == [(UNREADABLE,)]


def test_importing_twice_changes_nothing(store: Store, folder: Path) -> None:
    import_run(store, folder)
    before, log = contents(store), len(logged_imports(store))
    assert not import_run(store, folder).changed
    for part in ("direct", "revise", "select"):
        assert not import_run(store, folder / part).changed
    assert (contents(store), len(logged_imports(store))) == (before, log)


def test_the_metrics_of_all_stages_are_those_worked_out_by_hand(store: Store, plan: Plan, tmp_path: Path) -> None:
    both_variants(store, plan, tmp_path)
    stages = dict(store.rows("SELECT run_id, stage FROM runs"))
    names = (
        "complex_accuracy",
        "atomic_accuracy",
        "joint_accuracy",
        "inconsistency",
        "coverage",
        "selective_accuracy",
    )
    table = endoca_metrics(store, UnitFilter(runs=tuple(stages)), intervals=False).to_dict("records")
    assert {stages[row["run_id"]]: tuple(row[name] for name in names) for row in table} == {
        stage: tuple(share if share is None else pytest.approx(share) for share in shares)
        for stage, shares in SHARES.items()
    }


def test_a_unit_without_a_decision_in_a_select_run_is_an_abstention(store: Store, folder: Path) -> None:
    import_run(store, folder)
    with store.write() as cursor:
        cursor.execute("DELETE FROM decisions WHERE unit_id = 'drawn:11'")
    stages = dict(store.rows("SELECT run_id, stage FROM runs"))
    every = UnitFilter(runs=tuple(stages))
    rows = {stages[row["run_id"]]: row for row in endoca_metrics(store, every, intervals=False).to_dict("records")}
    assert (rows["select"]["coverage"], rows["select"]["selective_accuracy"]) == (pytest.approx(1 / 3), 0.0)
    units = queries.unit_outcomes(store, every)
    decided = {(stages[row.run_id], row.unit_id): row.decision for row in units.itertuples()}
    assert {unit: verdict for (stage, unit), verdict in decided.items() if stage == "select"} == {
        "drawn:11": "abstain",
        "drawn:22": "answer",
        "drawn:33": "abstain",
    }
    elsewhere = units[units["run_id"].map(stages) != "select"]
    assert elsewhere["decision"].isna().all()


def test_selective_accuracy_is_undefined_where_nothing_is_given(store: Store, folder: Path) -> None:
    import_run(store, folder)
    with store.write() as cursor:
        cursor.execute("UPDATE decisions SET decision = 'abstain'")
    runs = tuple(run_id for (run_id,) in store.rows("SELECT run_id FROM runs"))
    table = endoca_metrics(store, UnitFilter(runs=runs), intervals=False)
    [row] = [row for row in table.to_dict("records") if row["coverage_n"]]
    assert (row["coverage"], row["selective_accuracy"]) == (0.0, None)


def test_failed_calls_are_error_rows_and_abstentions(store: Store, plan: Plan, tmp_path: Path) -> None:
    """The direct call for sample 11 failed."""
    reconcile_into(tmp_path / "asr", plan, Reconciler(fails="Question: Is any lettering visible?"))
    import_run(store, tmp_path / "asr")
    stages = dict(store.rows("SELECT stage, run_id FROM runs"))
    for stage in ("revise", "select"):
        [(answer, error)] = store.rows(
            "SELECT answer, error FROM answers WHERE run_id = ? AND probe_id = 'drawn:11::complex'", [stages[stage]]
        )
        assert (answer, error[:44]) == ("", "Not asked: the call for its direct answer fa")
    [(decision, problem)] = store.rows("SELECT decision, problem FROM decisions WHERE unit_id = 'drawn:11'")
    assert (decision, problem[:10]) == ("abstain", "Not asked:")
    assert {run.stage: run.coverage.n_failed for run in run_overview(store)} == {"direct": 1, "revise": 1, "select": 1}


def test_a_run_mended_by_resuming_is_imported_again_as_a_whole(store: Store, plan: Plan, tmp_path: Path) -> None:
    vlm = Reconciler(fails="Question: Is any lettering visible?")
    reconcile_into(tmp_path / "asr", plan, vlm)
    import_run(store, tmp_path / "asr")
    vlm.fails = ""
    reconcile_into(tmp_path / "asr", plan, vlm, resume=True)
    before = contents(store)
    with pytest.raises(AppError, match="1 of its units differ, drawn:11 among them") as caught:
        import_run(store, tmp_path / "asr" / "direct")
    assert "import run DIR DIR …" in caught.value.hint
    assert contents(store) == before
    assert [run.n_replaced for run in import_run(store, tmp_path / "asr").runs] == [1, 1, 1]
    assert store.value("SELECT count(*) FROM answers WHERE error <> ''") == 0
    assert store.rows("SELECT decision FROM decisions WHERE unit_id = 'drawn:11'") == [("answer",)]


@pytest.fixture
def mended(store: Store, plan: Plan, tmp_path: Path) -> tuple[Path, Path]:
    """Both variants of one direct run, in the store with a failed call, and resumed in their folders since."""
    asr, control = tmp_path / "asr", tmp_path / "self"
    for vlm, resume in ((Reconciler(fails="Is any lettering visible?"), False), (Reconciler(), True)):
        reconcile_into(asr, plan, vlm, resume=resume)
        answers = folder_base(asr / "direct", plan)
        stages = control / "revise", control / "select"
        run_reconciliation(plan, answers, vlm, *stages, Variant.SELF, resume=resume)
        if not resume:
            import_run(store, asr, control)
    return asr, control


def test_both_variants_of_a_mended_direct_run_go_in_together_in_any_order(
    store: Store, mended: tuple[Path, Path]
) -> None:
    before = contents(store)
    for folder in mended:
        with pytest.raises(AppError, match="would leave them: 1 of its units differ, drawn:11 among them") as caught:
            import_run(store, folder)
        assert "python -m backend import run DIR DIR …" in caught.value.hint
    assert contents(store) == before
    asr, control = mended
    import_run(store, control, asr)
    assert store.value("SELECT count(*) FROM answers WHERE error <> ''") == 0
    assert not import_run(store, asr, control).changed


def test_what_is_to_be_taken_out_first_is_named_in_an_order_that_works(store: Store, mended: tuple[Path, Path]) -> None:
    asr, control = mended
    with pytest.raises(AppError, match="self_revise") as caught:
        import_run(store, asr)
    named = [word.rstrip(",") for word in caught.value.hint.split() if word.startswith("Parrot.")]
    assert [run_id.split(".")[2] for run_id in named] == ["self_select", "self_revise"]
    for run_id in named:
        remove_run(store, run_id)
    import_run(store, asr)
    import_run(store, control)
    assert store.value("SELECT count(*) FROM runs") == 5
    assert store.value("SELECT count(*) FROM answers WHERE error <> ''") == 0


def test_two_folders_that_hold_other_answers_of_one_run_are_refused(store: Store, plan: Plan, tmp_path: Path) -> None:
    run_plan(plan, Reconciler(), tmp_path / "one")
    run_plan(plan, Reconciler(fails="How many polyps are in the image?"), tmp_path / "other")
    with pytest.raises(AppError, match=r"Two of these folders hold the run .* differ in 2 of its answers"):
        import_run(store, tmp_path / "one", tmp_path / "other")
    assert store.value("SELECT count(*) FROM runs") == 0
    import_run(store, tmp_path / "one", tmp_path / "one")
    assert store.value("SELECT count(*) FROM answers") == 9


def test_a_control_run_comes_in_only_beside_all_parts_of_its_units(store: Store, plan: Plan, tmp_path: Path) -> None:
    """The direct run in the store was stopped after the complex question of sample 33."""
    with pytest.raises(RunStopped):
        run_plan(plan, Reconciler(), tmp_path / "self" / "direct", batch=1, report=stop_at(7))
    import_run(store, tmp_path / "self" / "direct")
    assert store.value("SELECT count(*) FROM answers WHERE probe_id = 'drawn:33::complex'") == 1
    reconcile_into(tmp_path / "self", plan, Reconciler(), Variant.SELF, resume=True)
    with pytest.raises(AppError, match="1 of its units differ, drawn:33 among them"):
        import_run(store, tmp_path / "self" / "revise")
    assert store.rows("SELECT stage FROM runs") == [("direct",)]
    import_run(store, tmp_path / "self")
    [row] = reconciled_table(store, UnitFilter(suite="drawn")).to_dict("records")
    assert (row["revised.joint_accuracy_k"], row["revised.joint_accuracy_n"]) == (1, 3)


@pytest.mark.parametrize("origin", [Origin.PRECOMPUTED, Origin.IMPORTED])
def test_new_atomic_answers_of_a_direct_run_are_held_against_the_runs_made_from_it(
    store: Store, plan: Plan, tmp_path: Path, origin: Origin
) -> None:
    """As a store may have been filled: an atomic answer is in neither run."""
    if origin is Origin.IMPORTED:
        file = SourceFile.at(write_jsonl(tmp_path / "a.jsonl", prediction_lines("Parrot")))
        again = partial(import_endoca, store, [file])
    else:
        run_plan(plan, Reconciler(), tmp_path / "direct")
        again = partial(import_run, store, tmp_path / "direct")
    again()
    [(base,)] = store.rows("SELECT run_id FROM runs")
    own = tmp_path / "self"
    run_reconciliation(plan, stored_base(store, base, plan), Reconciler(), own / "revise", own / "select", Variant.SELF)
    import_run(store, own)
    with store.write() as cursor:
        cursor.execute("DELETE FROM answers WHERE probe_id = 'drawn:33::atomic::2'")
    with pytest.raises(AppError, match="1 of its units differ, drawn:33 among them"):
        again()
    assert store.value("SELECT count(*) FROM answers WHERE probe_id = 'drawn:33::atomic::2'") == 0


def test_decisions_mended_by_resuming_are_a_change(store: Store, plan: Plan, tmp_path: Path) -> None:
    vlm = Reconciler(fails="Check whether")
    reconcile_into(tmp_path / "asr", plan, vlm)
    import_run(store, tmp_path / "asr")
    assert set(store.rows("SELECT decision, problem FROM decisions")) == {
        ("abstain", "The call timed out after 30 s. Try again.")
    }
    assert store.value("SELECT count(*) FROM answers WHERE error <> ''") == 0
    vlm.fails = ""
    reconcile_into(tmp_path / "asr", plan, vlm, resume=True)
    outcome = import_run(store, tmp_path / "asr")
    assert outcome.changed
    assert outcome.runs[-1].n_decisions_changed == 3


def test_a_revise_or_select_folder_alone_says_what_to_import_first(store: Store, plan: Plan, folder: Path) -> None:
    with pytest.raises(AppError, match=rf"direct run {plan.key.run_id}, which is not in this store") as caught:
        import_run(store, folder / "revise")
    assert "Import its run folder" in caught.value.hint
    import_run(store, folder / "direct")
    with pytest.raises(AppError, match="decides on the answers of Parrot"):
        import_run(store, folder / "select")
    for part in ("revise", "select"):
        import_run(store, folder / part)
    assert store.value("SELECT count(*) FROM runs") == 3


def test_a_run_made_from_other_answers_than_the_stores_is_refused(store: Store, plan: Plan, tmp_path: Path) -> None:
    reconcile_into(tmp_path / "asr", plan, Reconciler())
    other = Reconciler(fails="How many polyps are in the image?")  # a part of samples 22 and 33
    run_plan(plan, other, tmp_path / "other")
    import_run(store, tmp_path / "other")
    with pytest.raises(AppError, match=r"was not made from the answers of .* would leave them: 2 of its units differ"):
        import_run(store, tmp_path / "asr" / "revise")
    assert (store.value("SELECT count(*) FROM runs"), store.value("SELECT count(*) FROM run_bases")) == (1, 0)


def test_a_folder_without_its_direct_run_or_with_other_wordings_is_refused(store: Store, folder: Path) -> None:
    import_run(store, folder / "direct")
    record = read_record(folder / "revise")
    assert record is not None
    for changed, says in (
        ({"base": None}, "does not say which direct run"),
        ({"prompt_version": "endoca-0"}, "was changed after its run"),
        ({"prompts_sha256": "0" * 64}, "worded otherwise"),
    ):
        write_record(folder / "revise", record.model_copy(update=changed))
        with pytest.raises(AppError, match=says):
            import_run(store, folder / "revise")


def test_records_from_before_reconciliation_are_read(folder: Path) -> None:
    record = read_record(folder / "direct")
    assert record is not None
    (folder / "direct" / "run.json").write_text(record.model_dump_json(exclude={"base"}))
    assert read_record(folder / "direct") == record


def test_an_imported_run_can_be_revised_and_its_prompts_are_told_apart(
    store: Store, plan: Plan, tmp_path: Path
) -> None:
    """The references are right; that they are revised into the rote answers changes nothing here."""
    import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "a.jsonl", prediction_lines("Parrot")))])
    [(base,)] = store.rows("SELECT run_id FROM runs")
    answers = stored_base(store, base, plan)
    run_reconciliation(plan, answers, Reconciler(), tmp_path / "r" / "revise", tmp_path / "r" / "select", Variant.ASR)
    notes = import_run(store, tmp_path / "r").notes
    assert f"The ASR-Revise run was made from the direct answers of Parrot on drawn ({base})." in notes
    assert any("given under prompts unknown (imported)" in note for note in notes)
    assert {row[0] for row in store.rows("SELECT base_run_id FROM run_bases")} == {base}
    changed = SourceFile.at(write_jsonl(tmp_path / "b.jsonl", prediction_lines("Parrot", lambda line: "seven")))
    with pytest.raises(
        AppError, match=r"was not made from the answers of .* would leave them: 3 of its units"
    ) as caught:
        import_endoca(store, [changed])
    first, second = (
        word.rstrip(",.")
        for word in caught.value.hint.split()
        if word.startswith("Parrot.drawn.") and "direct" not in word
    )
    assert "So it is with" in caught.value.message
    assert caught.value.hint.endswith(f"asr run --from {base}")
    assert store.value("SELECT count(*) FROM answers WHERE answer = 'seven'") == 0
    for run_id in (first, second):
        remove_run(store, run_id)
    assert import_endoca(store, [changed]).runs[0].n_replaced == 9


def test_a_limited_run_copies_the_parts_of_its_own_units_alone(store: Store, folder: Path, tmp_path: Path) -> None:
    import_run(store, folder / "direct")
    limited = read_plan(store, "drawn", PARROT, Decoding(), limit=1)
    answers = stored_base(store, limited.key.run_id, limited)
    run_reconciliation(limited, answers, Reconciler(), tmp_path / "revise", tmp_path / "select", Variant.ASR)
    [run] = import_run(store, tmp_path / "revise").runs
    assert (run.n_answers, run.n_missing) == (2, 7)


def test_an_asr_folder_whose_last_stage_has_no_answer_yet_goes_in_as_far_as_it_is(store: Store, folder: Path) -> None:
    (folder / "select" / "answers-00001.parquet").unlink()
    record = read_record(folder / "select")
    assert record is not None
    write_record(folder / "select", record.model_copy(update={"n_shards": 0}))
    outcome = import_run(store, folder)
    assert [run.run_id.split(".")[2] for run in outcome.runs] == ["direct", "revise"]
    assert "The folder select holds no answer yet." in outcome.notes


def test_a_folder_that_holds_no_run_is_none(store: Store, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="no run folder"):
        import_run(store, tmp_path)


def test_runs_are_called_what_the_paper_calls_their_stage(store: Store, folder: Path) -> None:
    import_run(store, folder)
    assert sorted(run_names(store).values()) == [
        "Parrot (drawn)",
        "Parrot, ASR-Revise (drawn)",
        "Parrot, ASR-Selective (drawn)",
    ]
    for stage in STAGES:
        assert run_label({"vlm": "V", "setting": "", "stage": stage}).startswith(("V, ASR-", "V, Self-"))


def test_an_exported_select_run_carries_its_decisions(store: Store, folder: Path, tmp_path: Path) -> None:
    import_run(store, folder)
    for stage, decisions in (("revise", []), ("select", ["answer", "answer", "abstain"])):
        [(run_id,)] = store.rows("SELECT run_id FROM runs WHERE stage = ?", [stage])
        export_endoca(store, run_id, tmp_path / f"{stage}.jsonl")
        lines = [json.loads(line) for line in (tmp_path / f"{stage}.jsonl").read_text().splitlines()]
        assert [line["decision"] for line in lines if "decision" in line] == decisions


def test_a_run_that_others_were_made_from_is_not_removed_before_them(store: Store, plan: Plan, folder: Path) -> None:
    import_run(store, folder)
    runs = dict(store.rows("SELECT stage, run_id FROM runs"))
    with pytest.raises(AppError, match=f"{runs['revise']}, {runs['select']}"):
        remove_run(store, runs["direct"])
    with pytest.raises(AppError, match=runs["select"]):
        remove_run(store, runs["revise"])
    for stage in ("select", "revise", "direct"):
        remove_run(store, runs[stage])
    assert all(not rows for rows in contents(store).values())


def test_a_removed_suite_takes_reconciled_runs_with_it(store: Store, folder: Path) -> None:
    import_run(store, folder)
    remove_suite(store, "drawn")
    assert all(not rows for rows in contents(store).values())


def test_an_asr_folder_is_the_same_run_wherever_it_lies(store: Store, folder: Path, tmp_path: Path) -> None:
    import_run(store, folder)
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert not import_run(store, tmp_path / "elsewhere").changed
