"""Looks at a stored run's answers: what is looked into, in folders as any run's, and where it comes in the store."""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backend.domain.progress import Cancelled, Report, silent
from backend.domain.records import Stage
from backend.errors import AppError
from backend.services.ingest.images import attach_images
from backend.services.runs.folder import read_plan_table, read_record, read_shards
from backend.services.runs.import_run import import_run
from backend.services.runs.plan import Plan, VlmIdentity
from backend.services.runs.runner import RunStopped, run_plan
from backend.services.runs.saliency_choice import Sides, choose_units, find_verification, sides_of
from backend.services.runs.saliency_plan import look_text, read_look_text, saliency_plan
from backend.services.runs.saliency_run import LookingVlm, Part, run_saliency
from backend.services.runs.verification_run import Chain
from backend.services.stored_saliency import run_looks
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.vlm.saliency.kept import KeptSaliency
from backend.vlm.saliency.result import Saliency, SaliencyError
from tests.services.run_files import draw_images
from tests.services.verification_files import (
    ATLAS,
    BEACON,
    QUESTIONS,
    SUITE,
    Rote,
    asked_store,
    chain_into,
    first_plan,
    said,
)
from tests.vlm.saliency.test_result import saliency

THOUGHT = {"Is this a CT?": "<think>Bright bone.</think> Yes", "How many nodules are seen?": "<think>Hm."}


def thinks(prompt: str) -> str:
    """Say what all say; first answers to two questions with thinking before them, one of them nothing else."""
    if prompt.startswith("Answer the question"):
        return next((reply for question, reply in THOUGHT.items() if question in prompt), said(prompt))
    return said(prompt)


class Transparent:
    """A VLM that can be looked into, and does nothing else.

    Args:
        identity: Its name.
        refuses: No look at an answer that this holds of.
        ends: Raised in the place of the look of that number, from 1.
    """

    def __init__(
        self,
        identity: VlmIdentity = ATLAS,
        refuses: Callable[[str], bool] = lambda answer: False,
        ends: tuple[int, BaseException] | None = None,
    ) -> None:
        self.name = identity.name
        self.refuses, self.ends = refuses, ends
        self.looks: list[tuple[Path, str, str]] = []

    def saliency(self, image: Path, prompt: str, answer: str) -> Saliency:
        self.looks.append((image, prompt, answer))
        if self.ends and self.ends[0] == len(self.looks):
            raise self.ends[1]
        if self.refuses(answer):
            raise SaliencyError("The answer is too long.", "Choose another.")
        return replace(saliency(), log_likelihood=-float(len(prompt + answer)))

    def answer(self, *_: object) -> None:
        raise AssertionError("nothing is asked")

    answer_all = answer


def looking(vlm: Transparent | None = None) -> LookingVlm:
    return LookingVlm(vlm or Transparent())  # type: ignore[arg-type]


class World(NamedTuple):
    """A store with a chain in it."""

    store: Store
    runs: dict[str, str]
    """Ids by the names of the chain's folders."""
    vlm: Rote
    """Knows all it was asked."""
    folder: Path


def world(folder: Path, chain: Chain, says: Callable[[str], str] = said, verifier: Rote | None = None) -> World:
    store = asked_store(folder)
    vlm = Rote(ATLAS, says=says)
    records = chain_into(folder / "chain", first_plan(store), chain, vlm, verifier)
    import_run(store, folder / "chain")
    return World(store, {name: record.key.run_id for name, record in records.items()}, verifier or vlm, folder)


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[World]:
    """A chain of one turn, in which Atlas verifies itself."""
    made = world(tmp_path, Chain(turns=1))
    with made.store:
        yield made


def questions(plan: Plan) -> list[str]:
    return [item.probe_id.removeprefix(f"{SUITE}:") for item in plan.items]


def kept_texts(folder: Path) -> dict[str, str]:
    record = read_record(folder)
    assert record is not None
    rows = read_shards(folder, record).answers.to_pylist()
    return {row["probe_id"].removeprefix(f"{SUITE}:"): row["error"] or row["answer"] for row in rows}


# What is planned ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["generate", "turn-0-verify", "turn-1-loop", "turn-1-verify"])
def test_every_answer_is_looked_at_with_the_very_prompt_and_image_it_was_given_to(loop: World, part: str) -> None:
    plan = saliency_plan(loop.store, loop.runs[part], ATLAS)
    assert (plan.key.stage, plan.key.setting, plan.key.vlm) == (Stage.SALIENCY, loop.runs[part], "Atlas")
    assert (plan.key.prompt_version, plan.key.decoding, plan.decoding.label) == (
        "looks-1", "teacher-forced", "teacher-forced",
    )  # fmt: skip
    folder = loop.folder / "chain" / part
    sent = {row["probe_id"]: (row["prompt"], row["image_sha256"]) for row in read_plan_table(folder).to_pylist()}
    record = read_record(folder)
    assert record is not None
    replies = {row["probe_id"]: row["answer"] for row in read_shards(folder, record).answers.to_pylist()}
    looked = {item.probe_id: (*read_look_text(item.prompt), item.image_sha256) for item in plan.items if item.prompt}
    assert looked == {
        probe: (prompt, replies[probe], sha256) for probe, (prompt, sha256) in sent.items() if replies[probe]
    }
    assert questions(plan) == list(QUESTIONS)


def test_thinking_is_left_aside_and_what_cannot_be_looked_into_says_why(tmp_path: Path) -> None:
    made = world(tmp_path, Chain(), thinks)
    with made.store:
        with made.store.write() as cursor:
            cursor.execute("UPDATE answers SET answer = '', error = 'Timed out.' WHERE probe_id = 'vqa-rad:3'")
        plan = saliency_plan(made.store, made.runs["generate"], ATLAS)
    told = {
        name: item.not_asked or read_look_text(item.prompt).said
        for name, item in zip(QUESTIONS, plan.items, strict=True)
    }
    assert told == {
        "1": "Yes",
        "2": "an opacity",
        "3": "Not looked into: the call for this answer failed.",
        "4": "Not looked into: this answer is nothing but thinking.",
        "5": "Not looked into: this answer is empty.",
    }
    assert [item.image is None for item in plan.items] == [False, False, True, True, True]


def test_of_exchanged_images_those_are_looked_at_that_were_sent(tmp_path: Path) -> None:
    made = world(tmp_path, Chain(Condition.IMAGE_SWAPPED))
    with made.store:
        plan = saliency_plan(made.store, made.runs["turn-0-verify"], ATLAS)
    sent = {ask.prompt: ask.image for ask in made.vlm.asked}
    own = {name: f"{one.image}.png" for name, one in QUESTIONS.items()}
    for name, item in zip(questions(plan), plan.items, strict=True):
        assert item.image is not None
        assert item.image == sent[read_look_text(item.prompt).prompt]
        assert item.image_name == item.image.name != own[name]


def test_an_answer_that_had_no_image_is_not_looked_into_and_a_run_of_such_alone_is_refused(tmp_path: Path) -> None:
    made = world(tmp_path, Chain(Condition.IMAGE_WITHHELD))
    with made.store, pytest.raises(AppError, match=r"None of the 5 answers .* this answer had no image"):
        saliency_plan(made.store, made.runs["turn-0-verify"], ATLAS)


def test_a_look_keeps_its_id_while_its_image_is_gone_and_lacks_it_under_its_content(loop: World) -> None:
    run_id = loop.runs["generate"]
    before = saliency_plan(loop.store, run_id, ATLAS)
    (loop.folder / "images" / "frame-a.png").unlink()
    after = saliency_plan(loop.store, run_id, ATLAS)
    assert [item.item_id for item in after.items] == [item.item_id for item in before.items]
    assert [item.lacks_image for item in after.items] == [True, True, False, False, False]
    assert [*after.missing_images.values()] == ["frame-a.png"]
    draw_images(loop.folder / "images", ["other", "frame-a"])
    attach_images(loop.store, loop.folder / "images")
    drawn_over = saliency_plan(loop.store, run_id, ATLAS)
    assert [item.lacks_image for item in drawn_over.items] == [True, True, False, False, False], "another file now"


def test_another_prompt_answer_image_or_vlm_is_another_look(loop: World) -> None:
    first = saliency_plan(loop.store, loop.runs["generate"], ATLAS).items[0]
    with loop.store.write() as cursor:
        cursor.execute("UPDATE answers SET answer = 'No' WHERE probe_id = 'vqa-rad:1'")
    second = saliency_plan(loop.store, loop.runs["generate"], ATLAS).items[0]
    with loop.store.write() as cursor:
        cursor.execute("UPDATE calls SET prompt = prompt || '.' WHERE probe_id = 'vqa-rad:1'")
    third = saliency_plan(loop.store, loop.runs["generate"], ATLAS).items[0]
    with loop.store.write() as cursor:
        cursor.execute("UPDATE calls SET image_sha256 = repeat('0', 64) WHERE probe_id = 'vqa-rad:1'")
    fourth = saliency_plan(loop.store, loop.runs["generate"], ATLAS).items[0]
    assert len({item.item_id for item in (first, second, third, fourth)}) == 4


@pytest.mark.parametrize("told", [("Is it?\n", "Yes"), ("", ""), ("“é” \x1f", '{"said": 1}')])
def test_what_a_look_is_asked_reads_as_it_was_written(told: tuple[str, str]) -> None:
    assert read_look_text(look_text(*told)) == told


@pytest.mark.parametrize("text", ["", "Is it?", "[1, 2]", '{"prompt": "p"}', '{"prompt": "p", "said": "s", "more": 1}'])
def test_another_text_is_no_look(text: str) -> None:
    with pytest.raises(ValueError):
        read_look_text(text)


@pytest.mark.parametrize(
    ("change", "vlm", "words"),
    [
        ("DELETE FROM runs WHERE stage = 'verify'", ATLAS, "There is no run .* prompts and images are known: Atlas"),
        ("DELETE FROM calls", ATLAS, "it is not known what exactly Atlas was told"),
        ("DELETE FROM run_facts", ATLAS, "it is not known what exactly Atlas was told"),
        ("UPDATE runs SET stage = 'select'", ATLAS, "decides on the answers of its Revise run"),
        ("SELECT 1", BEACON, "holds answers of Atlas, not of Beacon"),
        (
            "SELECT 1",
            VlmIdentity("Atlas", None, {"weights": "z"}),
            r"another build of Atlas \(weights: a there, z here",
        ),
        ("UPDATE answers SET answer = ''", ATLAS, "None of the 5 answers"),
        ("DELETE FROM answers", ATLAS, "holds no answer to look into"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(loop: World, change: str, vlm: VlmIdentity, words: str) -> None:
    with loop.store.write() as cursor:
        cursor.execute(change)
    with pytest.raises(AppError) as refused:
        saliency_plan(loop.store, loop.runs["turn-0-verify"], vlm)
    assert refused.match(words)
    assert refused.value.hint


# What is chosen -------------------------------------------------------------------------------------------------------


def test_the_first_units_are_the_suites_first(loop: World) -> None:
    units = choose_units(loop.store, loop.runs["turn-0-verify"], limit=2)
    assert units == ("vqa-rad:1", "vqa-rad:2")
    assert questions(saliency_plan(loop.store, loop.runs["generate"], ATLAS, units=units)) == ["1", "2"]
    assert choose_units(loop.store, loop.runs["generate"]) is None


@pytest.mark.parametrize(
    ("per_task", "chosen"),
    [(1, "15"), (2, "135"), (3, "1235"), (9, "12345")],
    ids=["the first", "the first of each half", "of each third", "no more than there are"],
)
def test_of_each_task_as_many_are_taken_from_all_over_the_suite(loop: World, per_task: int, chosen: str) -> None:
    with loop.store.write() as cursor:  # 1, 2, 3 and 4 are of one task, 5 of another
        cursor.execute("UPDATE examples SET task = if(unit_id = 'vqa-rad:5', 'causal_explanation', 'object')")
    units = choose_units(loop.store, loop.runs["generate"], per_task=per_task)
    assert units == tuple(f"vqa-rad:{name}" for name in chosen)


@pytest.mark.parametrize(
    ("ways", "words"), [({"per_task": 1}, "have no tasks"), ({"per_task": 1, "limit": 1}, "two ways to choose")]
)
def test_a_choice_that_cannot_be_made_is_refused(loop: World, ways: dict[str, int], words: str) -> None:
    with pytest.raises(AppError, match=words):
        choose_units(loop.store, loop.runs["generate"], **ways)


def test_a_verification_is_found_by_who_took_part_and_has_two_sides(loop: World) -> None:
    for turn, answers in enumerate(("generate", "turn-1-loop")):
        run_id = find_verification(loop.store, SUITE, "Atlas", "Atlas", turn=turn)
        assert run_id == loop.runs[f"turn-{turn}-verify"]
        assert sides_of(loop.store, run_id) == Sides(run_id, loop.runs[answers])
    assert sides_of(loop.store, loop.runs["turn-1-loop"]) == Sides(loop.runs["turn-1-loop"], None)
    with pytest.raises(AppError, match=r"There are: Atlas by Atlas on vqa-rad \(plain, turn 0\)"):
        find_verification(loop.store, SUITE, "Beacon", "Atlas")


def test_the_two_step_verifiers_side_is_not_its_own_first_look(tmp_path: Path) -> None:
    made = world(tmp_path, Chain(Condition.TWO_STEP), verifier=Rote(BEACON))
    with made.store:
        found = sides_of(made.store, made.runs["turn-0-verify"])
    assert found.generator_run == made.runs["generate"]


def test_several_runs_that_fit_are_listed(loop: World) -> None:
    with loop.store.write() as cursor:
        cursor.execute("INSERT INTO verifications SELECT * REPLACE ('other' AS run_id) FROM verifications")
        cursor.execute("INSERT INTO calls SELECT DISTINCT ON (run_id) * REPLACE ('other' AS run_id) FROM calls")
    with pytest.raises(AppError, match=rf"--run: {loop.runs['turn-0-verify']}, other\."):
        find_verification(loop.store, SUITE, "Atlas", "Atlas")


# What is run ----------------------------------------------------------------------------------------------------------


def test_a_folder_keeps_each_look_and_a_refused_one_is_an_error_of_its_own(loop: World, tmp_path: Path) -> None:
    plan = saliency_plan(loop.store, loop.runs["generate"], ATLAS)
    record = run_plan(plan, looking(Transparent(refuses=lambda answer: answer == "several")), tmp_path / "looks")
    assert (record.counts.done, record.counts.failed, record.stage) == (3, 2, Stage.SALIENCY)
    texts = kept_texts(tmp_path / "looks")
    assert texts["4"] == "The answer is too long. Choose another."
    assert texts["5"] == "Not looked into: this answer is empty."
    assert KeptSaliency.from_json(texts["1"]).log_likelihood == -len("".join(read_look_text(plan.items[0].prompt)))


def test_the_first_look_is_taken_twice_so_that_loading_is_no_look(loop: World, tmp_path: Path) -> None:
    vlm = Transparent()
    plan = saliency_plan(loop.store, loop.runs["turn-0-verify"], ATLAS)
    run_plan(plan, looking(vlm), tmp_path / "looks")
    prompts = [read_look_text(item.prompt).prompt for item in plan.items]
    assert [prompt for _, prompt, _ in vlm.looks] == [prompts[0], *prompts]


def test_a_vlm_that_cannot_go_on_ends_the_run_and_a_resumed_one_takes_what_is_left(loop: World, tmp_path: Path) -> None:
    plan = saliency_plan(loop.store, loop.runs["turn-0-verify"], ATLAS)
    vlm = Transparent(ends=(6, AppError("The GPU reported an error.", "Start again.")))
    with pytest.raises(AppError, match=r"The GPU reported an error. Start again. 3 of 5 answers are kept"):
        run_plan(plan, looking(vlm), tmp_path / "looks")
    rest = Transparent()
    run_plan(plan, looking(rest), tmp_path / "looks", resume=True)
    assert {prompt for _, prompt, _ in rest.looks} == {read_look_text(item.prompt).prompt for item in plan.items[3:]}
    run_plan(plan, looking(), tmp_path / "whole")
    assert kept_texts(tmp_path / "looks") == kept_texts(tmp_path / "whole")


@pytest.mark.parametrize("part", ["generator", "verifier"])
def test_both_sides_have_a_folder_each_and_can_be_stopped_in_either(loop: World, tmp_path: Path, part: str) -> None:
    sides = {"generator": loop.runs["generate"], "verifier": loop.runs["turn-0-verify"]}
    vlm = looking()
    parts = {name: Part(saliency_plan(loop.store, run_id, ATLAS), vlm) for name, run_id in sides.items()}

    def stops(stage: str, done: int, total: int | None) -> None:
        if done:
            raise Cancelled

    def reporting(name: str) -> Report:
        if name == part:
            return stops
        return silent

    with pytest.raises(RunStopped, match="To go on"):
        run_saliency(parts, tmp_path / "looks", report=reporting)
    records = run_saliency(parts, tmp_path / "looks", resume=True)
    assert {name: (one.counts.done, one.counts.failed) for name, one in records.items()} == {
        "generator": (4, 1),
        "verifier": (5, 0),
    }


# What is imported -----------------------------------------------------------------------------------------------------


def look_into(loop: World, folder: Path, only: Collection[str] | None = None) -> Path:
    sides = {"generator": loop.runs["generate"], "verifier": loop.runs["turn-0-verify"]}
    plans = {name: saliency_plan(loop.store, run_id, ATLAS, units=only) for name, run_id in sides.items()}
    run_saliency({name: Part(plan, looking()) for name, plan in plans.items()}, folder)
    return folder


def test_looks_come_beside_both_answers_and_no_run_is_made(loop: World, tmp_path: Path) -> None:
    before = loop.store.rows("SELECT run_id FROM runs ORDER BY 1")
    report = import_run(loop.store, look_into(loop, tmp_path / "looks"))
    assert [(run.run_id, run.stage, run.n_answers, run.n_looks_changed, run.n_failed) for run in report.runs] == [
        (loop.runs["generate"], "saliency", 5, 5, 1),
        (loop.runs["turn-0-verify"], "saliency", 5, 5, 0),
    ]
    assert loop.store.rows("SELECT run_id FROM runs ORDER BY 1") == before
    looks = run_looks(loop.store, ["vqa-rad:1", "vqa-rad:5"])
    assert {run_id for run_id, _ in looks} == {loop.runs["generate"], loop.runs["turn-0-verify"]}
    empty = looks[loop.runs["generate"], "vqa-rad:5"]
    assert (empty.kept, empty.error) == (None, "Not looked into: this answer is empty.")
    kept = looks[loop.runs["turn-0-verify"], "vqa-rad:5"].kept
    assert kept is not None and kept.fraction == pytest.approx(0.3)
    again = import_run(loop.store, tmp_path / "looks")
    assert ([run.n_looks_changed for run in again.runs], again.changed) == ([0, 0], False)


def test_a_folder_of_some_units_leaves_the_looks_at_others_alone(loop: World, tmp_path: Path) -> None:
    import_run(loop.store, look_into(loop, tmp_path / "one", ["vqa-rad:1"]))
    report = import_run(loop.store, look_into(loop, tmp_path / "two", ["vqa-rad:1", "vqa-rad:2"]))
    assert [run.n_looks_changed for run in report.runs] == [1, 1]
    assert loop.store.value("SELECT count(*) FROM saliency") == 4


def test_a_chain_and_its_looks_go_in_together(loop: World, tmp_path: Path) -> None:
    looks = look_into(loop, tmp_path / "looks")
    with asked_store(tmp_path / "elsewhere") as store:
        with pytest.raises(AppError, match="which is not in this store") as refused:
            import_run(store, looks)
        assert "Import that run's folder first" in refused.value.hint
        report = import_run(store, looks, loop.folder / "chain")
        assert [run.stage for run in report.runs][-2:] == ["saliency", "saliency"]
        assert store.value("SELECT count(*) FROM saliency WHERE error = ''") == 9


def test_a_folder_of_looks_with_more_inside_it_goes_in_whole(loop: World, tmp_path: Path) -> None:
    run_plan(saliency_plan(loop.store, loop.runs["turn-1-loop"], ATLAS), looking(), tmp_path / "looks")
    report = import_run(loop.store, look_into(loop, tmp_path / "looks"))
    expected = ("turn-1-loop", "generate", "turn-0-verify")
    assert [run.run_id for run in report.runs] == [loop.runs[name] for name in expected]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "UPDATE answers SET answer = 'No' WHERE probe_id = 'vqa-rad:1'",
            "looks at 1 answers that the run .* vqa-rad:1",
        ),
        ("UPDATE calls SET prompt = prompt || '.'", "looks at 4 answers"),
        ("UPDATE calls SET image_sha256 = repeat('0', 64)", "looks at 4 answers"),
        ("UPDATE answers SET answer = 'a fall' WHERE probe_id = 'vqa-rad:5'", "looks at 1 answers"),
        ("DELETE FROM answers WHERE probe_id = 'vqa-rad:3'", "looks at 1 answers"),
        ('UPDATE run_facts SET record = replace(record, \'"weights":"a"\', \'"weights":"z"\')', "another build"),
        ("UPDATE runs SET suite = 'slake'", f"changed after its run: it says Atlas on {SUITE}"),
        ("DELETE FROM calls", "it is not known what exactly"),
    ],
)
def test_looks_at_what_the_run_does_not_hold_now_are_refused_whole(
    loop: World, tmp_path: Path, change: str, words: str
) -> None:
    looks = look_into(loop, tmp_path / "looks")
    with loop.store.write() as cursor:
        cursor.execute(change)
    with pytest.raises(AppError, match=words):
        import_run(loop.store, looks)
    assert loop.store.value("SELECT count(*) FROM saliency") == 0


@pytest.mark.parametrize(
    "text", ["", "no look", "{}", '{"tokens": ["a"]}'], ids=["nothing", "words", "an empty object", "half a look"]
)
def test_a_folder_that_holds_no_looks_was_changed_after_its_run(loop: World, tmp_path: Path, text: str) -> None:
    looks = look_into(loop, tmp_path / "looks")
    shard = looks / "verifier" / "answers-00001.parquet"
    table = pq.read_table(shard)
    column = pa.array([text, text, *table.column("answer").to_pylist()[2:]])
    changed = table.set_column(table.column_names.index("answer"), "answer", column)
    pq.write_table(changed, shard, write_page_checksum=True)
    with pytest.raises(AppError, match=r"verifier was changed after its run: 2 of 5 looks"):
        import_run(loop.store, looks)
    assert loop.store.value("SELECT count(*) FROM saliency") == 0


def test_a_look_whose_number_is_not_that_of_its_maps_was_changed_after_its_run(loop: World, tmp_path: Path) -> None:
    looks = look_into(loop, tmp_path / "looks")
    shard = looks / "verifier" / "answers-00001.parquet"
    table = pq.read_table(shard)
    texts = table.column("answer").to_pylist()
    changed = json.dumps(json.loads(texts[0]) | {"fraction": 0.9})
    column = pa.array([changed, *texts[1:]])
    pq.write_table(table.set_column(table.column_names.index("answer"), "answer", column), shard)
    with pytest.raises(AppError, match=r"verifier was changed after its run: 1 of 5 looks"):
        import_run(loop.store, looks)


def test_the_run_imported_again_with_another_answer_leaves_a_look_that_is_not_shown(
    loop: World, tmp_path: Path
) -> None:
    import_run(loop.store, look_into(loop, tmp_path / "looks"))
    import_run(loop.store, loop.folder / "chain")
    assert len(run_looks(loop.store, ["vqa-rad:1"])) == 2
    with loop.store.write() as cursor:
        cursor.execute("UPDATE answers SET answer = 'No' WHERE run_id = ?", [loop.runs["generate"]])
    assert [run_id for run_id, _ in run_looks(loop.store, ["vqa-rad:1"])] == [loop.runs["turn-0-verify"]]


def test_a_run_that_is_not_finished_goes_in_as_far_as_it_is(loop: World, tmp_path: Path) -> None:
    plan = saliency_plan(loop.store, loop.runs["turn-0-verify"], ATLAS)
    vlm = Transparent(ends=(6, AppError("The GPU reported an error.", "Start again.")))
    with pytest.raises(AppError):
        run_plan(plan, looking(vlm), tmp_path / "looks")
    report = import_run(loop.store, tmp_path / "looks")
    assert report.runs[0].n_looks_changed == 3
    run_plan(plan, looking(), tmp_path / "looks", resume=True)
    assert import_run(loop.store, tmp_path / "looks").runs[0].n_looks_changed == 2
