"""A judge tells of a generator's answers what matching could not, and its words reach every verdict on them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.records import System
from backend.domain.vlm import Ask, Decoding
from backend.errors import AppError
from backend.services.judging import find_judged_run, judge_label, open_judge, plan_judging
from backend.services.runs.import_run import import_run
from backend.services.runs.plan import Plan, VlmIdentity
from backend.services.runs.runner import run_plan
from backend.services.runs.verification_run import Chain
from backend.store.store import Store
from backend.verimap.oracle_prompt import ORACLE_VERSION
from tests.services.test_judging import Judging, part
from tests.services.verification_files import BEACON, SUITE, Asked, Rote, asked_store, chain_into, first_plan

JUDGE = VlmIdentity("LLM", None, {"service": "localhost"})
LABEL = judge_label("LLM", ORACLE_VERSION)
DECODING = Decoding(max_new_tokens=1000)


def lenient(prompt: str) -> str:
    """Right is what names a mass or an opacity."""
    right = part(prompt, "Answer") in ("an opacity", "a mass", "several")
    return f"REASON: By the words.\nVERDICT: {'CORRECT' if right else 'INCORRECT'}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Answers that Atlas and Beacon verified; Atlas in two turns."""
    with asked_store(tmp_path) as opened:
        first = first_plan(opened)
        chain_into(tmp_path / "self", first, Chain(turns=1), Rote())
        chain_into(tmp_path / "cross", first, Chain(), Rote(), Rote(BEACON))
        import_run(opened, tmp_path / "self", tmp_path / "cross")
        yield opened


@pytest.fixture
def run_id(store: Store) -> str:
    return str(store.value("SELECT run_id FROM runs WHERE stage = 'direct'"))


def a_plan(store: Store, run_id: str, limit: int | None = None) -> Plan:
    return plan_judging(store, run_id, JUDGE, DECODING, limit=limit)


def judge_into(folder: Path, plan: Plan, judge: Judging, *, resume: bool = False) -> None:
    run_plan(plan, open_judge(judge, folder, System.VERIMAP), folder, resume=resume)


def truths(store: Store, verifier: str, turn: int = 0) -> dict[str, tuple[bool | None, str | None]]:
    rows = store.rows(
        "SELECT unit_id, oracle_correct, oracle FROM verifications WHERE verifier = ? AND turn = ?", [verifier, turn]
    )
    return {unit_id.removeprefix(f"{SUITE}:"): (correct, oracle) for unit_id, correct, oracle in rows}


def test_a_judge_is_asked_about_what_matching_could_not_tell_and_sees_no_image(store: Store, run_id: str) -> None:
    plan = a_plan(store, run_id)
    assert [item.probe_id for item in plan.items] == ["vqa-rad:2", "vqa-rad:4"], "an open question, an unread number"
    asked = [[part(item.prompt, name) for name in ("Question", "Reference", "Answer")] for item in plan.items]
    assert asked == [
        ["What is abnormal in the chest?", "zz-reference-mass", "an opacity"],
        ["How many nodules are seen?", "3", "several"],
    ]
    assert plan.images == {}
    assert (plan.key.stage, plan.key.setting, plan.key.prompt_version) == ("judge", run_id, ORACLE_VERSION)


def test_its_words_reach_every_verdict_on_the_answers_and_matchings_stand(
    store: Store, run_id: str, tmp_path: Path
) -> None:
    judge_into(tmp_path / "judged", a_plan(store, run_id), Judging(lenient))
    [report] = import_run(store, tmp_path / "judged").runs
    assert (report.run_id, report.n_answers, report.n_judged_changed, report.n_unparsed) == (run_id, 2, 2, 0)
    expected = {
        "1": (True, "matching"),
        "2": (True, LABEL),
        "3": (False, "matching"),
        "4": (True, LABEL),
        "5": (False, "matching"),
    }
    assert truths(store, "Atlas") == truths(store, "Beacon") == expected
    assert truths(store, "Atlas", turn=1)["2"] == (None, None), "the turn's answers are others"
    told = dict(store.rows("SELECT oracle, count(*) FROM oracle_judgements WHERE run_id = ? GROUP BY 1", [run_id]))
    assert told == {"matching": 4, LABEL: 2}, "both are kept, and told apart"


def test_the_answers_of_a_turn_are_judged_by_their_last_line(store: Store, tmp_path: Path) -> None:
    run_id = str(store.value("SELECT run_id FROM runs WHERE stage = 'loop'"))
    plan = a_plan(store, run_id)
    assert [part(item.prompt, "Answer") for item in plan.items] == ["a mass", "a fall"]
    judge_into(tmp_path / "judged", plan, Judging(lenient))
    import_run(store, tmp_path / "judged")
    assert truths(store, "Atlas", turn=1)["2"] == (True, LABEL)
    assert truths(store, "Atlas")["2"] == (None, None)


def test_verdicts_that_come_after_the_judge_know_its_words(store: Store, run_id: str, tmp_path: Path) -> None:
    judge_into(tmp_path / "judged", a_plan(store, run_id), Judging(lenient))
    import_run(store, tmp_path / "judged")
    third = Rote(VlmIdentity("Comet"))
    chain_into(tmp_path / "third", first_plan(store), Chain(), Rote(), third)
    import_run(store, tmp_path / "third")
    assert truths(store, "Comet") == truths(store, "Atlas")


def test_importing_again_changes_nothing_and_a_second_rubrics_words_stand_beside(
    store: Store, run_id: str, tmp_path: Path
) -> None:
    judge_into(tmp_path / "judged", a_plan(store, run_id), Judging(lenient))
    import_run(store, tmp_path / "judged")
    assert not import_run(store, tmp_path / "judged").changed
    assert not import_run(store, tmp_path / "self").changed
    assert truths(store, "Atlas")["2"] == (True, LABEL)


def test_unread_replies_and_failed_calls_leave_answers_unjudged_and_can_be_made_again(
    store: Store, run_id: str, tmp_path: Path
) -> None:
    def rule(prompt: str) -> str:
        return "!The service fails." if part(prompt, "Answer") == "several" else "I cannot say."

    judge = Judging(rule)
    judge_into(tmp_path / "judged", a_plan(store, run_id), judge)
    assert len(judge.prompts) == 4, "an unread reply is asked for three times, a failed call once"
    [report] = import_run(store, tmp_path / "judged").runs
    assert (report.n_unparsed, report.n_failed) == (1, 1)
    assert (truths(store, "Atlas")["2"], truths(store, "Atlas")["4"]) == ((None, None), (None, None))
    errors = store.rows("SELECT error FROM oracle_judgements WHERE oracle = ? ORDER BY probe_id", [LABEL])
    assert errors == [("no verdict in the reply: I cannot say.",), ("The service fails.",)]
    judge_into(tmp_path / "judged", a_plan(store, run_id), Judging(lenient), resume=True)
    import_run(store, tmp_path / "judged")
    assert truths(store, "Atlas")["4"] == (True, LABEL)


def test_equal_answers_to_equal_questions_are_judged_once(tmp_path: Path) -> None:
    questions = {name: Asked("frame-a", "What is abnormal in the chest?", "a lump") for name in ("1", "2")}
    with asked_store(tmp_path, questions) as store:
        chain_into(tmp_path / "chain", first_plan(store), Chain(), Rote(says=lambda prompt: "an opacity"))
        import_run(store, tmp_path / "chain" / "generate")
        judge = Judging(lenient)
        judge_into(tmp_path / "judged", a_plan(store, str(store.value("SELECT run_id FROM runs"))), judge)
        assert len(judge.prompts) == 1
        again = Judging(lenient)
        open_judge(again, tmp_path / "judged", System.VERIMAP).answer_all([Ask(None, judge.prompts[0])], DECODING)
        assert again.prompts == []


def test_options_stand_below_the_question_where_the_generator_was_shown_them(tmp_path: Path) -> None:
    questions = {"1": Asked("frame-a", "Which plane?", "axial", {"A": "axial", "B": "coronal"})}
    with asked_store(tmp_path, questions) as store:
        chain_into(tmp_path / "chain", first_plan(store), Chain(), Rote(says=lambda prompt: "the transverse one"))
        import_run(store, tmp_path / "chain" / "generate")
        [item] = a_plan(store, str(store.value("SELECT run_id FROM runs"))).items
    assert "Question: Which plane?\nA: axial\nB: coronal\nReference: A: axial\n" in item.prompt


def test_what_needs_no_judge_or_cannot_be_judged_says_so(store: Store, run_id: str, tmp_path: Path) -> None:
    verify = str(store.value("SELECT run_id FROM runs WHERE stage = 'verify' LIMIT 1"))
    with pytest.raises(AppError, match="is of stage verify; judged are a generator's answers"):
        a_plan(store, verify)
    with store.write() as cursor:
        cursor.execute("UPDATE oracle_judgements SET correct = true WHERE correct IS NULL")
        cursor.execute("DELETE FROM answers WHERE run_id = ? AND probe_id = 'vqa-rad:2'", [run_id])
    with pytest.raises(AppError, match="Matching has told of all 4 answers"):
        a_plan(store, run_id)


def test_a_judge_of_other_answers_than_the_run_now_holds_is_refused(store: Store, run_id: str, tmp_path: Path) -> None:
    judge_into(tmp_path / "judged", a_plan(store, run_id), Judging(lenient))
    with store.write() as cursor:
        cursor.execute("UPDATE answers SET answer = 'a scar' WHERE run_id = ? AND probe_id = 'vqa-rad:2'", [run_id])
    with pytest.raises(AppError, match=r"1 answers that the run .* does not hold now"):
        import_run(store, tmp_path / "judged")


def test_the_first_answers_are_meant_where_a_vlm_is_named(store: Store, run_id: str) -> None:
    assert find_judged_run(store, "Atlas").run_id == run_id
    with pytest.raises(AppError, match="no VLM 'Beacon'") as caught:
        find_judged_run(store, "Beacon")
    assert "Atlas" in caught.value.hint
    with pytest.raises(AppError, match="has not answered suite slake"):
        find_judged_run(store, "Atlas", suite="slake")
