"""A chain of generating, verifying and answering again: fresh contexts, no reference, stopped and resumed at will."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled
from backend.domain.records import Stage
from backend.domain.vlm import Decoding
from backend.errors import AppError
from backend.services.runs.folder import read_plan_table, read_record, read_shards
from backend.services.runs.plan import Plan, VlmIdentity, read_plan
from backend.services.runs.runner import RunStopped, run_plan
from backend.services.runs.verification_plan import swapped
from backend.services.runs.verification_run import Chain, Participant, chain_folders, run_chain
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.prompts import generate_prompt, loop_prompt, two_step_prompt, verify_prompt
from backend.verimap.setups import OptionsShown
from tests.services.verification_files import (
    AGAIN,
    ATLAS,
    BEACON,
    FIRST,
    QUESTIONS,
    SUITE,
    Asked,
    Rote,
    asked_store,
    chain_into,
    first_plan,
)

SELF_LOOP = Chain(turns=2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with asked_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def first(store: Store) -> Plan:
    return first_plan(store)


def parts_of(folder: Path) -> list[str]:
    return [path.name for path in chain_folders(folder) if path.is_dir()]


def prompts_in(folder: Path) -> dict[str, str]:
    return {row["probe_id"].removeprefix(f"{SUITE}:"): row["prompt"] for row in read_plan_table(folder).to_pylist()}


def answers_in(folder: Path) -> dict[str, str]:
    record = read_record(folder)
    assert record is not None
    rows = read_shards(folder, record).answers.to_pylist()
    return {row["probe_id"].removeprefix(f"{SUITE}:"): row["answer"] or row["error"] for row in rows}


def test_the_generator_is_asked_each_question_once_with_verimaps_prompt(first: Plan) -> None:
    assert [item.prompt for item in first.items] == [generate_prompt(one.question) for one in QUESTIONS.values()]
    assert (first.key.stage, first.key.setting, first.key.prompt_version) == ("direct", "", "verimap-1")
    assert first.setup is not None and (first.setup.generator, first.setup.options) == ("Atlas", None)


def test_each_part_lies_in_a_folder_of_its_own_in_the_order_it_was_made(first: Plan, tmp_path: Path) -> None:
    records = chain_into(tmp_path / "chain", first, SELF_LOOP, Rote())
    names = ["generate", "turn-0-verify", "turn-1-loop", "turn-1-verify", "turn-2-loop", "turn-2-verify"]
    assert list(records) == parts_of(tmp_path / "chain") == names
    assert [record.base_run_id for record in records.values()] == [
        None, *(record.key.run_id for record in list(records.values())[:-1]),
    ]  # fmt: skip
    assert {record.counts.done for record in records.values()} == {5}


def test_an_answer_is_verified_as_it_was_given_and_a_review_goes_back_whole(first: Plan, tmp_path: Path) -> None:
    chain_into(tmp_path / "chain", first, SELF_LOOP, Rote())
    question = QUESTIONS["2"].question
    assert prompts_in(tmp_path / "chain/turn-0-verify")["2"] == verify_prompt(question, FIRST["2"])
    assert prompts_in(tmp_path / "chain/turn-1-loop")["3"] == loop_prompt(
        QUESTIONS["3"].question, FIRST["3"], "CORRECT", "The image shows 3."
    )
    assert answers_in(tmp_path / "chain/turn-1-loop")["2"] == "ANSWER: a mass"
    assert prompts_in(tmp_path / "chain/turn-1-verify")["2"] == verify_prompt(question, AGAIN["2"]), "its last line"


def test_no_reference_ever_reaches_a_prompt(first: Plan, tmp_path: Path) -> None:
    vlm = Rote()
    for condition in Condition:
        chain_into(tmp_path / condition, first, Chain(condition, turns=1), vlm)
    assert len(vlm.prompts) > 80
    assert not any("zz-reference" in prompt for prompt in vlm.prompts)


def test_every_call_stands_alone_with_its_whole_context_in_its_prompt(first: Plan, tmp_path: Path) -> None:
    """A verifier's prompt holds question and answer alone, so nothing of how the answer was made reaches it."""
    chain_into(tmp_path / "chain", first, SELF_LOOP, Rote())
    for turn, answers in ((0, FIRST), (1, AGAIN)):
        assert prompts_in(tmp_path / f"chain/turn-{turn}-verify") == {
            name: verify_prompt(one.question, answers[name]) for name, one in QUESTIONS.items()
        }


def test_any_verifier_judges_any_generator_and_the_loop_asks_the_generator_again(first: Plan, tmp_path: Path) -> None:
    atlas, beacon = Rote(), Rote(BEACON)
    records = chain_into(tmp_path / "chain", first, Chain(turns=1), atlas, beacon)
    assert [(record.stage, record.vlm.name) for record in records.values()] == [
        ("direct", "Atlas"), ("verify", "Beacon"), ("loop", "Atlas"), ("verify", "Beacon"),
    ]  # fmt: skip
    assert (len(atlas.asked), len(beacon.asked)) == (10, 10)
    last = records["turn-1-verify"].setup
    assert last is not None and (last.generator, last.verifier, last.turn) == ("Atlas", "Beacon", 1)
    settings = [record.setting.rpartition(" (")[0] for record in records.values()]
    assert settings == ["", "answers of Atlas", "turn 1, verified by Beacon", "answers of Atlas, turn 1"]


def test_self_and_cross_verification_are_runs_apart(first: Plan, tmp_path: Path) -> None:
    own = chain_into(tmp_path / "self", first, Chain(), Rote())
    cross = chain_into(tmp_path / "cross", first, Chain(), Rote(), Rote(BEACON))
    assert own["generate"].key == cross["generate"].key
    assert own["turn-0-verify"].key.run_id != cross["turn-0-verify"].key.run_id


def test_correct_ends_the_loop_where_it_is_asked_to(first: Plan, tmp_path: Path) -> None:
    records = chain_into(tmp_path / "chain", first, Chain(turns=3, stop_at_correct=True), Rote())
    asked = {name: sorted(prompts_in(tmp_path / "chain" / name)) for name in records if name != "generate"}
    assert asked == {
        "turn-0-verify": ["1", "2", "3", "4", "5"],
        "turn-1-loop": ["4", "5"],
        "turn-1-verify": ["4", "5"],
        "turn-2-loop": ["4", "5"],
        "turn-2-verify": ["4", "5"],
        "turn-3-loop": ["4", "5"],
        "turn-3-verify": ["4", "5"],
    }
    assert records["turn-1-loop"].setting.startswith("turn 1, verified by Atlas, CORRECT ends (")


def test_a_loop_ends_before_its_last_turn_where_all_is_accepted(store: Store, tmp_path: Path) -> None:
    only = first_plan(store, limit=2)
    records = chain_into(tmp_path / "chain", only, Chain(turns=3, stop_at_correct=True), Rote())
    assert list(records) == ["generate", "turn-0-verify"]


def test_in_two_steps_the_verifier_looks_before_it_sees_an_answer(first: Plan, tmp_path: Path) -> None:
    vlm = Rote()
    records = chain_into(tmp_path / "chain", first, Chain(Condition.TWO_STEP, turns=1), vlm)
    assert list(records) == ["generate", "look", "turn-0-verify", "turn-1-loop", "turn-1-verify"]
    looks = prompts_in(tmp_path / "chain/look")
    assert not any("Answer:" in prompt for prompt in looks.values())
    order = [prompt.split(" ")[0] for prompt in vlm.prompts]
    assert order == ["Answer"] * 5 + ["Look"] * 5 + ["You"] * 15, "all looks come before any answer is shown"
    assert prompts_in(tmp_path / "chain/turn-0-verify")["2"] == two_step_prompt(
        QUESTIONS["2"].question, FIRST["2"], "I see what 2 asks for."
    )
    verified = records["turn-0-verify"]
    assert verified.setup is not None and verified.setup.looked == records["look"].key.run_id
    assert verified.prompt_version == records["look"].prompt_version == "verimap-two-step-1"


def test_a_withheld_image_is_not_sent_and_a_swapped_one_is_never_the_questions_own(first: Plan, tmp_path: Path) -> None:
    own = {item.prompt: item.image for item in first.items}
    for condition in (Condition.IMAGE_WITHHELD, Condition.IMAGE_SWAPPED):
        vlm, verifier = Rote(), Rote(BEACON)
        chain_into(tmp_path / condition, first, Chain(condition), vlm, verifier)
        assert {ask.prompt: ask.image for ask in vlm.asked} == own, "the generator sees its image"
        images = {next(n for n, one in QUESTIONS.items() if one.question in a.prompt): a.image for a in verifier.asked}
        assert len(images) == 5
        for name, one in QUESTIONS.items():
            if condition is Condition.IMAGE_WITHHELD:
                assert images[name] is None
            else:
                other = images[name]
                assert other is not None and other.stem != one.image
    assert images["1"] == images["2"], "questions of one image get the same other one"


def test_a_limit_exchanges_the_same_images(store: Store, first: Plan) -> None:
    part = first_plan(store, limit=3)
    mapping = swapped(first.items, 0)
    assert all(mapping[content].image_sha256 != content for content in mapping)
    assert len({item.image_sha256 for item in mapping.values()}) == len(mapping) == 3
    assert {item.image_sha256 for item in part.items} < set(mapping)
    again = swapped(tuple(reversed(first.items)), 0)
    assert {content: item.image_id for content, item in again.items()} == {
        content: item.image_id for content, item in mapping.items()
    }, "their order is no matter"


def test_a_single_image_cannot_be_exchanged(store: Store, tmp_path: Path) -> None:
    only = first_plan(store, limit=2)
    with pytest.raises(AppError, match="fewer than two different ones"):
        chain_into(tmp_path / "chain", only, Chain(Condition.IMAGE_SWAPPED), Rote())


def test_what_a_failed_call_stands_before_is_an_error_row_and_no_call(first: Plan, tmp_path: Path) -> None:
    vlm = Rote(fails=lambda prompt: prompt == generate_prompt(QUESTIONS["3"].question))
    records = chain_into(tmp_path / "chain", first, Chain(turns=1), vlm)
    assert [record.counts.failed for record in records.values()] == [1, 1, 1, 1]
    assert len(vlm.asked) == 5 + 3 * 4
    for part in ("turn-0-verify", "turn-1-loop", "turn-1-verify"):
        assert answers_in(tmp_path / "chain" / part)["3"].startswith("Not asked: the call for the")


def test_a_mended_chain_asks_what_failed_and_nothing_twice(first: Plan, tmp_path: Path) -> None:
    vlm = Rote(fails=lambda prompt: prompt == generate_prompt(QUESTIONS["3"].question))
    chain_into(tmp_path / "chain", first, Chain(turns=1), vlm)
    before = len(vlm.asked)
    vlm.fails = lambda prompt: False
    records = chain_into(tmp_path / "chain", first, Chain(turns=1), vlm, resume=True)
    assert {record.counts.done for record in records.values()} == {5}
    assert len(vlm.asked) == before + 4
    assert all(QUESTIONS["3"].question in prompt for prompt in vlm.prompts[before:])
    chain_into(tmp_path / "chain", first, Chain(turns=1), vlm, resume=True)
    assert len(vlm.asked) == before + 4


@pytest.mark.parametrize("at", range(0, 20, 3))
def test_a_chain_stopped_anywhere_goes_on_and_repeats_no_call(first: Plan, tmp_path: Path, at: int) -> None:
    whole, vlm = Rote(), Rote()
    chain_into(tmp_path / "whole", first, Chain(turns=1), whole, batch=1)

    class Killed(KeyboardInterrupt):
        pass

    def fails(prompt: str) -> bool:
        if len(vlm.asked) > at:
            vlm.asked.pop()
            raise Killed
        return False

    vlm.fails = fails
    with pytest.raises(Killed):
        chain_into(tmp_path / "chain", first, Chain(turns=1), vlm, batch=1)
    vlm.fails = lambda prompt: False
    chain_into(tmp_path / "chain", first, Chain(turns=1), vlm, resume=True, batch=1)
    assert vlm.prompts == whole.prompts
    for part in parts_of(tmp_path / "whole"):
        assert answers_in(tmp_path / "chain" / part) == answers_in(tmp_path / "whole" / part)


def test_a_chain_stopped_by_hand_says_how_to_go_on(first: Plan, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        raise Cancelled

    who = Participant(ATLAS, Rote())
    with pytest.raises(RunStopped, match="To go on: the same command and --resume"):
        run_chain(first, None, who, tmp_path / "chain", Chain(), generator=who, report=lambda part: stop)


def test_options_are_shown_to_generator_and_verifier_alike_or_to_neither_and_the_run_says_which(
    tmp_path: Path,
) -> None:
    questions = {"1": Asked("frame-a", "Which plane?", "axial", {"A": "axial", "B": "coronal"})}
    shown, hidden = OptionsShown.SHOWN, OptionsShown.HIDDEN
    with asked_store(tmp_path, questions) as store:
        plans = {option: read_plan(store, SUITE, ATLAS, Decoding(), options=option) for option in OptionsShown}
    assert plans[shown].items[0].prompt == generate_prompt("Which plane?\nA: axial\nB: coronal")
    assert plans[hidden].items[0].prompt == generate_prompt("Which plane?")
    assert [plans[option].key.setting for option in (shown, hidden)] == ["options shown", "options hidden"]
    for option, plan in plans.items():
        chain_into(tmp_path / option, plan, Chain(), Rote(says=lambda prompt: "axial"))
        [prompt] = prompts_in(tmp_path / option / "turn-0-verify").values()
        assert ("B: coronal" in prompt) == (option is shown)


def test_a_question_about_no_image_or_several_is_not_asked(tmp_path: Path) -> None:
    questions = {
        "1": Asked("frame-a", "Is this a CT?", "Yes"),
        "2": Asked("", "Is the liver enlarged?", "No"),
        "3": Asked("frame-b", "How many nodules are seen?", "3", images=2),
    }
    with asked_store(tmp_path, questions) as store:
        plan = first_plan(store)
    vlm = Rote()
    run_plan(plan, vlm, tmp_path / "run")
    assert len(vlm.asked) == 1
    assert answers_in(tmp_path / "run")["2"] == "Not asked: the data set names no image for this question."
    assert answers_in(tmp_path / "run")["3"].startswith("Not asked: the question is about 2 images")


def test_verdicts_of_another_build_or_condition_never_share_a_folder(first: Plan, tmp_path: Path) -> None:
    chain_into(tmp_path / "chain", first, Chain(), Rote())
    with pytest.raises(AppError, match="holds another run"):
        chain_into(tmp_path / "chain", first, Chain(Condition.IMAGE_WITHHELD), Rote(), resume=True)
    other = Rote(VlmIdentity("Atlas", "general_open", {"weights": "other"}))
    with pytest.raises(AppError, match="VLM's weights"):
        chain_into(tmp_path / "chain", first, Chain(), Rote(), other, resume=True)


def test_a_verdicts_words_are_watched(first: Plan, tmp_path: Path) -> None:
    records = chain_into(tmp_path / "chain", first, Chain(), Rote())
    assert records["turn-0-verify"].decoding.watched == ("CORRECT", "INCORRECT", "UNCERTAIN")
    assert records["turn-0-verify"].stage == Stage.VERIFY
