"""A judge's run folder can be stopped and resumed, and its scores go to the run that was judged."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from backend.domain.records import System
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.errors import AppError
from backend.services.endoca_series import records
from backend.services.judging import judge_label, open_judge, plan_judging
from backend.services.opening import open_store
from backend.services.runs.import_run import import_run
from backend.services.runs.plan import Plan, VlmIdentity
from backend.services.runs.runner import run_plan
from backend.services.surgcheck_answers import answer_table
from backend.services.surgcheck_series import score_table
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.surgcheck.judge_rubric import RUBRIC_VERSION
from tests.services.surgcheck_store import SUITE, put_answered, put_pairs, references

JUDGE = VlmIdentity("LLM", None, {"service": "localhost"})
LABEL = judge_label("LLM", RUBRIC_VERSION)
DECODING = Decoding(max_new_tokens=1000)


class Judging:
    """A VLM that judges by a rule, and counts what it is asked."""

    name = "LLM"

    def __init__(self, rule: Callable[[str], str]) -> None:
        self.rule = rule
        self.prompts: list[str] = []

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        return self.answer_all([Ask(image, prompt)], decoding)[0]

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        self.prompts += [ask.prompt for ask in asks]
        said = [self.rule(ask.prompt) for ask in asks]
        return [Reply("", error=text[1:]) if text.startswith("!") else Reply(text) for text in said]


def part(prompt: str, name: str) -> str:
    return prompt.rpartition(f"\n{name}: ")[2].partition("\n")[0]


def strict(prompt: str) -> str:
    score = 5 if part(prompt, "Prediction") == part(prompt, "Reference") else 2
    return f'{{"score": {score}, "reason": "a comparison of words"}}'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.duckdb") as opened:
        put_pairs(opened)
        yield opened


@pytest.fixture
def run_id(store: Store) -> str:
    """All right but the less-biased answers to pairs 1 (another tool) and 2 (nothing), and 5, which is missing."""
    said = references() | {"1:less_biased": "the grasper", "2:less_biased": ""}
    return put_answered(store, "Leaning", {probe: text for probe, text in said.items() if probe != "5:less_biased"})


def a_plan(store: Store, run_id: str, limit: int | None = None) -> Plan:
    return plan_judging(store, run_id, JUDGE, DECODING, limit=limit)


def judged(store: Store) -> dict[str, tuple[int | None, str]]:
    rows = store.rows("SELECT probe_id, score, error FROM judgements WHERE judge = ?", [LABEL])
    return {probe_id.removeprefix(f"{SUITE}:"): (score, error) for probe_id, score, error in rows}


def test_a_plan_asks_for_each_answer_with_its_question_and_reference_and_no_image(store: Store, run_id: str) -> None:
    plan = a_plan(store, run_id)
    assert len(plan.items) == 9, "of ten questions one has no answer, and there is nothing to judge"
    assert plan.images == {}
    item = next(item for item in plan.items if item.probe_id == "small:1:less_biased")
    assert [part(item.prompt, name) for name in ("Question", "Reference", "Prediction")] == [
        "Which tool is in the red box?",
        "hook",
        "the grasper",
    ]
    empty = next(item for item in plan.items if item.probe_id == "small:2:less_biased")
    assert part(empty.prompt, "Prediction") == "(nothing)"
    assert (plan.key.stage, plan.key.vlm, plan.key.setting, plan.key.prompt_version) == (
        "judge", "LLM", run_id, RUBRIC_VERSION,
    )  # fmt: skip


def test_a_limit_takes_both_answers_of_the_first_pairs(store: Store, run_id: str) -> None:
    assert [item.probe_id for item in a_plan(store, run_id, 2).items] == [
        "small:1:original", "small:1:less_biased", "small:2:original", "small:2:less_biased",
    ]  # fmt: skip


def test_scores_go_to_the_judged_run_and_no_run_is_made(store: Store, run_id: str, tmp_path: Path) -> None:
    folder = tmp_path / "judged"
    run_plan(a_plan(store, run_id), open_judge(Judging(strict), folder, System.SURGCHECK), folder)
    [report] = import_run(store, folder).runs
    assert (report.run_id, report.vlm, report.n_answers, report.n_judged_changed) == (run_id, "Leaning", 9, 9)
    assert store.rows("SELECT run_id FROM runs") == [(run_id,)]
    assert judged(store)["1:less_biased"] == (2, "") and judged(store)["1:original"] == (5, "")
    table = score_table(store, answer_table(store, PairFilter(suite=SUITE)))
    rows = {row["variant"]: row for row in records(table)}
    assert (rows["original"]["judge_mean"], rows["original"]["judge_accuracy"]) == (5.0, 1.0)
    assert (rows["less_biased"]["judge_accuracy_k"], rows["less_biased"]["n_judged"], rows["less_biased"]["judge"]) == (
        2, 4, LABEL,
    )  # fmt: skip


def test_importing_again_changes_nothing_and_a_new_judgement_replaces_the_old(
    store: Store, run_id: str, tmp_path: Path
) -> None:
    folder = tmp_path / "judged"
    run_plan(a_plan(store, run_id), open_judge(Judging(strict), folder, System.SURGCHECK), folder)
    import_run(store, folder)
    again = import_run(store, folder)
    assert (again.runs[0].n_judged_changed, again.changed) == (0, False)
    other = tmp_path / "other"
    run_plan(a_plan(store, run_id), open_judge(Judging(lambda _: '{"score": 3}'), other, System.SURGCHECK), other)
    assert import_run(store, other).runs[0].n_judged_changed == 9
    assert set(judged(store).values()) == {(3, "")}


def test_a_reply_without_a_score_and_a_failed_call_are_unscored_and_told_apart(
    store: Store, run_id: str, tmp_path: Path
) -> None:
    def rule(prompt: str) -> str:
        said = part(prompt, "Prediction")
        return "!The service fails." if said == "the grasper" else "I cannot say." if said == "hook" else strict(prompt)

    folder = tmp_path / "judged"
    record = run_plan(a_plan(store, run_id), open_judge(Judging(rule), folder, System.SURGCHECK), folder)
    assert (record.counts.done, record.counts.failed) == (8, 1)
    [report] = import_run(store, folder).runs
    assert (report.n_unparsed, report.n_failed) == (1, 1)
    assert judged(store)["1:original"] == (None, "no score from 1 to 5 in the reply: I cannot say.")
    assert judged(store)["1:less_biased"] == (None, "The service fails.")
    run_plan(a_plan(store, run_id), open_judge(Judging(strict), folder, System.SURGCHECK), folder, resume=True)
    import_run(store, folder)
    assert judged(store)["1:less_biased"] == (2, ""), "a failed call is made again"
    assert judged(store)["1:original"][0] is None, "an unreadable reply was one"


def test_equal_answers_to_equal_questions_are_judged_once_also_after_a_resumption(
    store: Store, run_id: str, tmp_path: Path
) -> None:
    """Pair 4 asks the same in both ways and was answered alike."""
    folder = tmp_path / "judged"
    first = Judging(strict)
    run_plan(a_plan(store, run_id, 4), open_judge(first, folder, System.SURGCHECK), folder)
    assert (len(a_plan(store, run_id, 4).items), len(first.prompts)) == (8, 7)
    second = Judging(strict)
    judge = open_judge(second, folder, System.SURGCHECK)
    judge.answer_all([Ask(None, first.prompts[0])], DECODING)
    assert second.prompts == []
    record = run_plan(a_plan(store, run_id), judge, folder, resume=True)
    assert (record.counts.done, len(second.prompts)) == (9, 1)


def test_a_judge_of_other_answers_than_the_run_now_holds_is_refused(store: Store, run_id: str, tmp_path: Path) -> None:
    folder = tmp_path / "judged"
    run_plan(a_plan(store, run_id), open_judge(Judging(strict), folder, System.SURGCHECK), folder)
    import_run(store, folder)
    put_answered(store, "Leaning", {"1:less_biased": "a clipper"})
    assert "1:less_biased" not in judged(store), "a score goes with the answer it was given for"
    assert len(judged(store)) == 8
    with pytest.raises(AppError, match=r"1 answers that the run .* does not hold now"):
        import_run(store, folder)


def test_what_cannot_be_judged_says_why(store: Store, run_id: str, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="There is no run nobody"):
        a_plan(store, "nobody")
    silent = put_answered(store, "Silent", {})
    with pytest.raises(AppError, match="holds no answer to judge"):
        a_plan(store, silent)
    folder = tmp_path / "judged"
    run_plan(a_plan(store, run_id), open_judge(Judging(strict), folder, System.SURGCHECK), folder)
    with open_store(tmp_path / "other.duckdb") as other:
        put_pairs(other)
        with pytest.raises(AppError, match="There is no run"):
            import_run(other, folder)
