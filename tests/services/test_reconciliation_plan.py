"""What Revise and Select are asked over a whole run: each unit's own answers, and nothing that is not the VLM's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.domain.progress import Report, silent
from backend.domain.vlm import Decoding, OnText, Reply
from backend.endoca.asr import Variant
from backend.endoca.prompts import revise_prompt, select_prompt, self_revise_prompt, self_select_prompt
from backend.errors import AppError
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.runs.direct_answers import RunAnswers, Said, folder_base, stored_base
from backend.services.runs.folder import read_plan_table, read_record, read_shards
from backend.services.runs.import_run import import_run
from backend.services.runs.manifest import read_manifest_plan
from backend.services.runs.plan import Base, Plan, VlmIdentity, read_plan
from backend.services.runs.reconciliation_plan import revise_plan, select_plan
from backend.services.runs.reconciliation_run import ASR_FOLDERS, run_reconciliation
from backend.services.runs.runner import RunStopped, run_plan
from backend.store.store import Store
from tests.services.endoca_files import SAMPLES, manifest_lines, prediction_lines, write_jsonl
from tests.services.reconciled_files import Reconciler, reconcile_into
from tests.services.reconciled_store import ATOMIC, DIRECT, REVISED
from tests.services.run_files import PARROT, draw_images, drawn_plan, drawn_store
from tests.services.test_runs_runner import stop_at

BASE = Base("Parrot.drawn.direct.0", "precomputed", "endoca-1", "greedy, 80 new tokens")

PREMISES = {
    sample: [(question, ATOMIC[f"{sample}::atomic::{at}"]) for at, (_, question, _) in enumerate(atoms)]
    for sample, _, _, _, atoms in SAMPLES
}
QUESTIONS = {sample: question for sample, _, question, _, _ in SAMPLES}


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The nine questions, images at hand."""
    return drawn_plan(tmp_path_factory.mktemp("material"))


def direct_answers(**changed: Said) -> RunAnswers:
    """Return the answers to the nine questions, some of them changed: ``s11`` is sample 11's complex one."""
    said = {f"drawn:{sample}::complex": Said(answer, "") for sample, answer in DIRECT.items()}
    said |= {f"drawn:{probe}": Said(answer, "") for probe, answer in ATOMIC.items()}
    return RunAnswers(BASE, said | {f"drawn:{name[1:]}::complex": one for name, one in changed.items()})


REVISED_SAID = {f"drawn:{sample}::complex": Said(answer, "") for sample, answer in REVISED.items()}


@pytest.mark.parametrize(
    ("variant", "stages", "revise", "select"),
    [
        (Variant.ASR, ("revise", "select"), revise_prompt, select_prompt),
        (
            Variant.SELF,
            ("self_revise", "self_select"),
            lambda question, answer, premises: self_revise_prompt(question, answer),
            lambda question, answer, premises: self_select_prompt(question, answer),
        ),
    ],
)
def test_each_unit_is_asked_once_a_stage_with_its_own_answers(
    direct: Plan, variant: Variant, stages: tuple[str, str], revise: object, select: object
) -> None:
    first = revise_plan(direct, direct_answers(), variant)
    second = select_plan(direct, direct_answers(), REVISED_SAID, variant)
    for plan, stage, prompt, before in ((first, stages[0], revise, DIRECT), (second, stages[1], select, REVISED)):
        assert (plan.key.stage, plan.decoding.max_new_tokens, plan.base) == (stage, 120, BASE)
        assert {item.probe_id: item.prompt for item in plan.items} == {
            f"drawn:{sample}::complex": prompt(QUESTIONS[sample], before[sample], PREMISES[sample])  # type: ignore[operator]
            for sample in QUESTIONS
        }
        assert [item.image for item in plan.items] == [item.image for item in direct.items if item.role == "complex"]


def test_another_answer_before_is_another_item_after(direct: Plan) -> None:
    before, after = (
        {item.probe_id: item.item_id for item in revise_plan(direct, answers, Variant.ASR).items}
        for answers in (direct_answers(), direct_answers(s11=Said("Something else.", "")))
    )
    assert {probe for probe in before if before[probe] != after[probe]} == {"drawn:11::complex"}


def test_a_unit_whose_direct_call_failed_is_an_error_row_without_a_call(direct: Plan) -> None:
    plan = revise_plan(direct, direct_answers(s11=Said("", "Timed out.")), Variant.ASR)
    assert {item.probe_id: (item.prompt, item.not_asked) for item in plan.items if item.not_asked} == {
        "drawn:11::complex": ("", "Not asked: the call for its direct answer failed. Once that is answered, resume.")
    }


def test_an_empty_answer_goes_into_the_prompt_as_it_is(direct: Plan) -> None:
    plan = revise_plan(direct, direct_answers(s11=Said("", "")), Variant.ASR)
    assert plan.items[0].prompt == revise_prompt(QUESTIONS["11"], "", PREMISES["11"])


# From folder and store ------------------------------------------------------------------------------------------------


def test_a_direct_folder_that_is_not_finished_is_refused_with_what_to_do(direct: Plan, tmp_path: Path) -> None:
    with pytest.raises(AppError):
        run_plan(direct, Reconciler(), tmp_path / "run", batch=5, report=stop_at(2))
    with pytest.raises(AppError, match="lacks 4 of the 9 direct and atomic answers") as caught:
        folder_base(tmp_path / "run", direct)
    assert "--resume" in caught.value.hint


def test_another_vlms_folder_is_refused(direct: Plan, tmp_path: Path) -> None:
    run_plan(direct, Reconciler(), tmp_path / "run")
    other = replace(direct, vlm=VlmIdentity("Parrot", None, {"weights": "others"}))
    with pytest.raises(AppError, match="VLM's weights: none there, others here"):
        folder_base(tmp_path / "run", other)


def test_a_stored_run_of_another_vlm_or_stage_is_refused_with_the_direct_runs(tmp_path: Path) -> None:
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images")) as store:
        plan = read_plan(store, "drawn", PARROT, Decoding())
        reconciled = reconcile_into(tmp_path / "asr", plan, Reconciler())
        import_run(store, tmp_path / "asr")
        assert stored_base(store, plan.key.run_id, plan).said == direct_answers().said
        other = read_plan(store, "drawn", VlmIdentity("Other"), Decoding())
        with pytest.raises(AppError, match="asked for are those of") as caught:
            stored_base(store, plan.key.run_id, other)
        assert plan.key.run_id in caught.value.hint
        with pytest.raises(AppError, match="is of stage revise; ASR starts from direct answers"):
            stored_base(store, reconciled.revise.key.run_id, plan)
        with pytest.raises(AppError, match="is not in this store"):
            stored_base(store, "nobody", plan)
        build = read_plan(store, "drawn", VlmIdentity("Parrot", None, {"weights": "others"}), Decoding())
        with pytest.raises(AppError, match="another build of Parrot"):
            stored_base(store, plan.key.run_id, build)


@pytest.fixture
def answered(tmp_path: Path) -> Iterator[tuple[Store, Plan]]:
    """A store that holds a direct run over its suite, and the plan of that run."""
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images")) as store:
        plan = read_plan(store, "drawn", PARROT, Decoding())
        run_plan(plan, Reconciler(), tmp_path / "direct")
        import_run(store, tmp_path / "direct")
        yield store, plan


def test_stored_answers_about_other_image_files_are_none_to_a_plan(
    answered: tuple[Store, Plan], tmp_path: Path
) -> None:
    store, plan = answered
    attach_images(store, draw_images(tmp_path / "images", ["frame-x", "frame-b", "frame-a"]))
    today = read_plan(store, "drawn", PARROT, Decoding())
    n_moved = sum(
        before.image_sha256 != after.image_sha256 for before, after in zip(plan.items, today.items, strict=True)
    )
    assert n_moved == 5
    with pytest.raises(AppError, match=r"lacks 5 of the 9 .* It holds 5 that were given to another question") as caught:
        stored_base(store, plan.key.run_id, today)
    assert "leave --from out" in caught.value.hint


@pytest.mark.parametrize("stored", [True, False])
def test_stored_answers_to_other_questions_are_none_to_a_plan(
    answered: tuple[Store, Plan], tmp_path: Path, stored: bool
) -> None:
    """A manifest names its suite and probes as the stored one does, and asks one thing in other words."""
    store, plan = answered
    base = plan.key.run_id
    if not stored:
        import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / "a.jsonl", prediction_lines("Parrot")))])
        [(base,)] = store.rows("SELECT run_id FROM runs WHERE origin = 'imported'")
    lines = manifest_lines()
    lines[0]["question"] = "Is any lettering to be seen?"
    manifest = write_jsonl(tmp_path / "endoca_drawn.jsonl", lines)
    other = read_manifest_plan(manifest, tmp_path / "images", PARROT, Decoding())
    with pytest.raises(AppError, match=r"lacks 1 of the 9 .* drawn:11::complex among them. It holds 1 that were given"):
        stored_base(store, base, other)
    same = read_manifest_plan(
        write_jsonl(tmp_path / "endoca_drawn.jsonl", manifest_lines()), tmp_path / "images", PARROT, Decoding()
    )
    assert len(stored_base(store, base, same).said) == 9


def test_stored_answers_under_other_prompts_are_taken_where_the_questions_are_the_same(
    answered: tuple[Store, Plan],
) -> None:
    store, plan = answered
    later = replace(
        plan,
        key=replace(plan.key, prompt_version="endoca-9"),
        items=tuple(replace(item, prompt=f"Look. {item.prompt}") for item in plan.items),
    )
    assert len(stored_base(store, plan.key.run_id, later).said) == 9


# Run folders ----------------------------------------------------------------------------------------------------------


def prompts_asked(folder: Path) -> list[str]:
    """Return all prompts in the run folders of an ASR run."""
    return [prompt for name in ASR_FOLDERS for prompt in read_plan_table(folder / name).column("prompt").to_pylist()]


def test_a_failed_direct_call_costs_no_call_later_and_is_mended_by_resuming(direct: Plan, tmp_path: Path) -> None:
    vlm = Reconciler(fails="Question: Is any lettering visible?")
    reconciled = reconcile_into(tmp_path, direct, vlm)
    assert len(vlm.asked) == 9 + 2 + 2
    for record in reconciled:
        assert (record.counts.done, record.counts.failed) == (2, 1)
        assert list(record.errors) == ["Not asked: the call for its direct answer failed."]
    vlm.fails = ""
    mended = reconcile_into(tmp_path, direct, vlm, resume=True)
    assert len(vlm.asked) == 13 + 3
    assert [(record.counts.done, record.counts.failed) for record in mended] == [(3, 0), (3, 0)]


def test_a_failed_revision_is_not_selected(direct: Plan, tmp_path: Path) -> None:
    vlm = Reconciler(fails="Look at the endoscopic image again")
    reconciled = reconcile_into(tmp_path, direct, vlm)
    assert len(vlm.asked) == 9 + 3
    assert list(reconciled.select.errors) == ["Not asked: the call for its revised answer failed."]


def test_resuming_a_finished_run_asks_nothing(direct: Plan, tmp_path: Path) -> None:
    vlm = Reconciler()
    reconcile_into(tmp_path, direct, vlm)
    assert len(vlm.asked) == 9 + 3 + 3
    reconcile_into(tmp_path, direct, vlm, resume=True)
    assert len(vlm.asked) == 15


def test_a_run_stopped_in_its_last_stage_goes_on_there(direct: Plan, tmp_path: Path) -> None:
    vlm = Reconciler()
    run_plan(direct, vlm, tmp_path / "direct")
    answers = folder_base(tmp_path / "direct", direct)
    folders = tmp_path / "revise", tmp_path / "select"

    def stopping(stage: str) -> Report:
        return stop_at(2) if stage == "select" else silent

    with pytest.raises(RunStopped, match="1 of 3 answers are kept"):
        run_reconciliation(direct, answers, vlm, *folders, Variant.ASR, batch=1, report=stopping)
    assert len(vlm.asked) == 9 + 3 + 1
    reconciled = reconcile_into(tmp_path, direct, vlm, resume=True)
    assert len(vlm.asked) == 9 + 3 + 3
    assert reconciled.select.counts.done == 3
    assert len(set(vlm.asked[9:])) == 6


class Changing(Reconciler):
    """Says its direct and atomic answers with a space after them: the same words, and another prompt after."""

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        reply = super().answer(image, prompt, decoding, on_text)
        return reply if "\n" in prompt else replace(reply, text=f"{reply.text} ")


def test_a_direct_answer_that_was_lost_and_is_another_now_is_named_as_the_cause(direct: Plan, tmp_path: Path) -> None:
    reconcile_into(tmp_path / "asr", direct, Reconciler())
    (tmp_path / "asr" / "direct" / "answers-00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(AppError, match="holds 3 answers made from others than those that now stand before them") as one:
        reconcile_into(tmp_path / "asr", direct, Changing(), resume=True)
    assert direct.key.run_id in one.value.message and "limit" not in one.value.message
    assert "--out" in one.value.hint and "--from" in one.value.hint
    answers = folder_base(tmp_path / "asr" / "direct", direct)
    folders = tmp_path / "anew" / "revise", tmp_path / "anew" / "select"
    assert run_reconciliation(direct, answers, Changing(), *folders, Variant.ASR).select.counts.done == 3


def test_a_lower_limit_than_before_is_still_named_as_the_cause(direct: Plan, tmp_path: Path) -> None:
    reconcile_into(tmp_path, direct, Reconciler())
    of_first = replace(direct, items=tuple(item for item in direct.items if item.unit_id == direct.unit_ids[0]))
    answers = folder_base(tmp_path / "direct", direct)
    with pytest.raises(AppError, match="holds 2 answers that this plan does not ask for: the limit is lower"):
        run_plan(revise_plan(of_first, answers, Variant.ASR), Reconciler(), tmp_path / "revise", resume=True)


def test_a_folder_of_the_other_variant_or_of_another_direct_run_is_not_gone_on_with(
    direct: Plan, tmp_path: Path
) -> None:
    reconcile_into(tmp_path, direct, Reconciler())
    with pytest.raises(AppError, match="stage: revise there, self_revise here"):
        reconcile_into(tmp_path, direct, Reconciler(), Variant.SELF, resume=True)
    with pytest.raises(AppError, match=r"made from: Parrot\.drawn\.direct\.\w+ there, Parrot\.drawn\.direct\.0 here"):
        run_plan(revise_plan(direct, direct_answers(), Variant.ASR), Reconciler(), tmp_path / "revise", resume=True)


def test_the_record_names_the_direct_run(direct: Plan, tmp_path: Path) -> None:
    for record in reconcile_into(tmp_path, direct, Reconciler()):
        assert record.base is not None
        assert (record.base.run_id, record.base.prompt_version) == (direct.key.run_id, direct.key.prompt_version)
    of_direct = read_record(tmp_path / "direct")
    assert of_direct is not None and of_direct.base is None


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text("bcdfghjklmnpqrstvwxz", min_size=9, max_size=12), min_size=9, max_size=9, unique=True),
    st.sampled_from(Variant),
)
def test_no_reference_ever_reaches_a_prompt(
    tmp_path_factory: pytest.TempPathFactory, rare: list[str], variant: Variant
) -> None:
    folder = tmp_path_factory.mktemp("rare")
    lines = manifest_lines()
    for line, word in zip(lines, rare, strict=True):
        line["gold_answer"] = word
        if "gold_parsed" in line:
            line["gold_parsed"] = word
    for line in lines:
        atoms = [one for one in lines if one["sample_id"] == line["sample_id"] and "gold_parsed" in one]
        for known, atom in zip(line.get("gold_atoms", ()), atoms, strict=False):
            known |= {"raw_answer": atom["gold_answer"], "parsed": atom["gold_answer"]}
    with drawn_store(folder, lines, images=draw_images(folder / "images")) as store:
        plan = read_plan(store, "drawn", PARROT, Decoding())
    reconcile_into(folder / "asr", plan, Reconciler(), variant)
    prompts = prompts_asked(folder / "asr")
    assert len(prompts) == 15
    assert not [word for word in rare if any(word in prompt for prompt in prompts)]


def test_answers_are_kept_verbatim(direct: Plan, tmp_path: Path) -> None:
    reconciled = reconcile_into(tmp_path, direct, Reconciler())
    rows = read_shards(tmp_path / "revise", reconciled.revise).answers.to_pylist()
    assert {row["probe_id"]: row["answer"] for row in rows} == {
        f"drawn:{sample}::complex": answer for sample, answer in REVISED.items()
    }
