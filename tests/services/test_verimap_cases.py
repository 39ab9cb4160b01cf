"""Promises of an example of VeriMap as a case: answers, truth, verdicts, and which turns make one loop."""

from collections.abc import Iterator

import pytest

from backend.domain.records import Origin, System
from backend.errors import AppError
from backend.services.cases import suite_system, unit_system
from backend.services.verimap_case_loading import asked_verdicts, load_verification_case
from backend.services.verimap_cases import GeneratorCase, VerificationCase
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.examples import AnswerType, Option
from backend.verimap.outcomes import Policy, VerdictOutcome
from backend.verimap.verifier import Verdict
from tests.services.verification_store import (
    ATLAS,
    BEACON,
    DISEASE,
    GROUPS,
    JUDGE,
    MODALITY,
    OWN,
    VQA_RAD,
    make_verification_store,
    run_id,
    unit_of,
)


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("cases") / "verifications.duckdb") as opened:
        yield opened


def case_of(store: Store, suite: str, name: str) -> VerificationCase:
    return load_verification_case(store, unit_of(suite, name))


def generator_of(case: VerificationCase, vlm: str) -> GeneratorCase:
    return next(one for one in case.generators if one.vlm == vlm)


def test_a_case_knows_its_question_options_task_and_image(store: Store) -> None:
    case = case_of(store, VQA_RAD, "4")
    assert (case.question, case.reference, case.reference_letter) == ("Which sequence is it?", "T2", "B")
    assert case.options == (Option("A", "T1"), Option("B", "T2"))
    assert (case.task, case.labelled_by, case.answer_type) == (MODALITY, "vote", AnswerType.CLOSED)
    assert (case.image.file, case.image.at_hand) == ("c.jpg", False)


def test_a_question_without_a_label_or_an_image_is_a_case_too(store: Store) -> None:
    assert (case_of(store, OWN, "p1").task, case_of(store, OWN, "p1").labelled_by) == (None, None)
    assert case_of(store, OWN, "p5").image.file == ""
    assert case_of(store, OWN, "p5").task is DISEASE


def test_an_answer_stands_once_with_its_truth_and_every_verdict_on_it(store: Store) -> None:
    atlas = generator_of(case_of(store, VQA_RAD, "2"), ATLAS)
    [answer] = atlas.answers
    assert (answer.text, answer.oracle_correct, answer.oracle) == ("CT", True, JUDGE)
    assert [run.run_id for run in answer.runs] == [run_id(VQA_RAD, ATLAS)]
    assert [(one.oracle, one.correct, one.reason) for one in answer.judgements] == [(JUDGE, True, "because")]
    assert [(one.verifier, one.condition, one.verdict) for one in answer.verdicts] == [
        (ATLAS, Condition.PLAIN, Verdict.CORRECT),
        (ATLAS, Condition.TWO_STEP, Verdict.CORRECT),
        (ATLAS, Condition.IMAGE_WITHHELD, Verdict.CORRECT),
        (ATLAS, Condition.IMAGE_SWAPPED, Verdict.INCORRECT),
        (BEACON, Condition.PLAIN, Verdict.INCORRECT),
    ]
    assert (atlas.vlm_group, answer.verdicts[0].run.origin) == (GROUPS[ATLAS], Origin.PRECOMPUTED)


def test_a_verdict_keeps_the_verifiers_whole_reply(store: Store) -> None:
    [answer] = generator_of(case_of(store, VQA_RAD, "1"), ATLAS).answers
    assert answer.verdicts[0].reply == "VERDICT: CORRECT\nEXPLANATION: Atlas sees the <u>1</u>."
    [imported] = generator_of(case_of(store, OWN, "p1"), ATLAS).answers
    assert imported.verdicts[0].reply is None and imported.runs == ()


def test_a_two_step_verdict_keeps_what_was_said_at_the_first_look(store: Store) -> None:
    two_step = run_id(VQA_RAD, ATLAS, ATLAS, condition=Condition.TWO_STEP)
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO runs SELECT * REPLACE ('look' AS run_id, 'look' AS stage) FROM runs WHERE run_id = ?",
            [two_step],
        )
        cursor.execute("INSERT INTO run_bases VALUES (?, 'look')", [two_step])
        cursor.execute(
            "INSERT INTO answers VALUES ('look', ?, 'A ring of bone.', '')", [f"{unit_of(VQA_RAD, '2')}:generate"]
        )
    [answer] = generator_of(case_of(store, VQA_RAD, "2"), ATLAS).answers
    looked = {one.condition: one.looked for one in answer.verdicts if one.verifier == ATLAS}
    assert looked.pop(Condition.TWO_STEP) == "A ring of bone."
    assert set(looked.values()) == {None}


def test_an_answer_that_failed_says_why_and_was_not_verified(store: Store) -> None:
    unit = unit_of(VQA_RAD, "2")
    with store.write() as cursor:
        cursor.execute(
            "UPDATE verifications SET answer = NULL, oracle_correct = NULL, oracle = NULL, verdict = NULL, "
            "status = 'failed', error = 'there was no answer to verify' WHERE unit_id = ? AND generator = ?",
            [unit, BEACON],
        )
        cursor.execute(
            "UPDATE answers SET answer = '', error = 'out of memory' WHERE run_id = ? AND probe_id = ?",
            [run_id(VQA_RAD, BEACON), f"{unit}:generate"],
        )
    [answer] = generator_of(case_of(store, VQA_RAD, "2"), BEACON).answers
    assert (answer.text, answer.error) == (None, "out of memory")
    assert {one.error for one in answer.verdicts} == {"there was no answer to verify"}


def test_turns_of_computed_runs_make_one_loop_from_the_first_answer_on(store: Store) -> None:
    [loop] = generator_of(case_of(store, VQA_RAD, "2"), ATLAS).loops
    assert (loop.verifier, loop.condition) == (ATLAS, Condition.PLAIN)
    assert [(step.turn, step.answer, step.oracle_correct, step.verdict) for step in loop.steps] == [
        (0, "CT", True, Verdict.CORRECT),
        (1, "MRI", False, Verdict.CORRECT),
        (2, "MRI", False, Verdict.CORRECT),
    ]
    assert generator_of(case_of(store, VQA_RAD, "2"), BEACON).loops == ()


def test_a_turns_oracle_is_asked_about_that_turns_answer(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute("DELETE FROM oracle_judgements WHERE run_id = ?", [run_id(VQA_RAD, ATLAS, turn=1)])
    [loop] = generator_of(case_of(store, VQA_RAD, "2"), ATLAS).loops
    assert [len(step.judgements) for step in loop.steps] == [1, 0, 1]


def test_turns_of_a_file_make_a_loop_a_place(store: Store) -> None:
    run = run_id(OWN, ATLAS, ATLAS)
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO verifications SELECT * REPLACE (1 AS turn, true AS oracle_correct) FROM verifications "
            "WHERE run_id = ? AND unit_id = ?",
            [run, unit_of(OWN, "p3")],
        )
    loops = generator_of(case_of(store, OWN, "p3"), ATLAS).loops
    assert [[(step.turn, step.place, step.oracle_correct) for step in loop.steps] for loop in loops] == [
        [(0, 0, False), (1, 0, True)],
        [(0, 1, False), (1, 1, True)],
    ]


def test_a_loop_whose_first_verdict_is_not_known_begins_later(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute("DELETE FROM verifications WHERE turn = 0 AND unit_id = ?", [unit_of(VQA_RAD, "2")])
    atlas = generator_of(case_of(store, VQA_RAD, "2"), ATLAS)
    assert [[step.turn for step in loop.steps] for loop in atlas.loops] == [[1, 2]]


def test_every_verdict_is_counted_once(store: Store) -> None:
    for suite, name in ((VQA_RAD, "2"), (VQA_RAD, "8"), (OWN, "p3")):
        case = case_of(store, suite, name)
        keys = [verdict.key for one in case.generators for verdict in one.verdicts]
        stored = store.value("SELECT count(*) FROM verifications WHERE unit_id = ?", [case.unit_id])
        assert len(keys) == len(set(keys)) == stored


def test_an_answer_that_no_verifier_has_judged_is_shown_too(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute("DELETE FROM verifications WHERE generator = ?", [BEACON])
    beacon = generator_of(case_of(store, VQA_RAD, "2"), BEACON)
    [answer] = beacon.answers
    assert (answer.text, answer.oracle_correct, answer.verdicts) == ("MRI", False, ())


def test_matching_stands_before_a_judge_and_what_cannot_tell_before_nobody(store: Store) -> None:
    run, probe = run_id(VQA_RAD, BEACON), f"{unit_of(VQA_RAD, '2')}:generate"
    with store.write() as cursor:
        cursor.execute("DELETE FROM verifications WHERE generator = ?", [BEACON])
        cursor.execute("INSERT INTO oracle_judgements VALUES (?, ?, 'matching', NULL, 'open', '')", [run, probe])
    [answer] = generator_of(case_of(store, VQA_RAD, "2"), BEACON).answers
    assert [one.oracle for one in answer.judgements] == ["matching", JUDGE]
    assert (answer.oracle_correct, answer.oracle) == (False, JUDGE)


def test_different_first_answers_of_one_vlm_stand_apart(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute(
            "UPDATE verifications SET answer = 'Ultrasound' WHERE unit_id = ? AND generator = ? AND verifier = ?",
            [unit_of(VQA_RAD, "2"), ATLAS, BEACON],
        )
    answers = generator_of(case_of(store, VQA_RAD, "2"), ATLAS).answers
    assert [(answer.text, len(answer.verdicts)) for answer in answers] == [("CT", 4), ("Ultrasound", 1)]


@pytest.mark.parametrize(
    ("name", "generator", "verifier", "outcome", "contradicts"),
    [
        ("1", ATLAS, ATLAS, VerdictOutcome.TRUE_ACCEPTANCE, False),
        ("3", ATLAS, ATLAS, VerdictOutcome.FALSE_ACCEPTANCE, True),
        ("5", ATLAS, ATLAS, VerdictOutcome.FALSE_REJECTION, True),
        ("3", ATLAS, BEACON, VerdictOutcome.TRUE_REJECTION, False),
        ("7", BEACON, ATLAS, VerdictOutcome.FALSE_REJECTION, False),
        ("7", ATLAS, BEACON, None, False),
        ("8", ATLAS, ATLAS, None, False),
    ],
)
def test_only_a_decided_verdict_can_part_from_the_truth(
    store: Store, name: str, generator: str, verifier: str, outcome: VerdictOutcome | None, contradicts: bool
) -> None:
    [answer] = generator_of(case_of(store, VQA_RAD, name), generator).answers
    verdict = answer.plain_verdict(verifier)
    assert verdict is not None
    assert (verdict.outcome(Policy()), verdict.contradicts) == (outcome, contradicts)


def test_a_control_never_parts_from_a_truth_about_another_image(store: Store) -> None:
    [answer] = generator_of(case_of(store, VQA_RAD, "2"), ATLAS).answers
    swapped = next(one for one in answer.verdicts if one.condition is Condition.IMAGE_SWAPPED)
    assert (swapped.verdict, swapped.oracle_correct, swapped.contradicts) == (Verdict.INCORRECT, True, False)


def test_two_plain_verdicts_that_differ_are_no_ground_to_compare_with(store: Store) -> None:
    [answer] = generator_of(case_of(store, OWN, "p3"), ATLAS).answers
    assert answer.plain_verdict(ATLAS) is not None, "both alike records say CORRECT"
    with store.write() as cursor:
        cursor.execute("UPDATE verifications SET verdict = 'INCORRECT' WHERE place = 1")
    [answer] = generator_of(case_of(store, OWN, "p3"), ATLAS).answers
    assert answer.plain_verdict(ATLAS) is None


def test_a_filter_asks_for_verdicts_of_the_example_alone(store: Store) -> None:
    unit = unit_of(VQA_RAD, "2")
    chosen = VerificationFilter(verifiers=(BEACON,), verdict_outcomes=("fn",))
    assert asked_verdicts(store, chosen, unit) == {(run_id(VQA_RAD, ATLAS, BEACON), 0, 0)}
    assert asked_verdicts(store, VerificationFilter(), "nobody") == frozenset()


def test_a_case_that_is_not_there_says_what_to_do(store: Store) -> None:
    with pytest.raises(AppError, match="no example 'nobody'") as caught:
        load_verification_case(store, "nobody")
    assert "Choose a case from a list" in caught.value.hint
    assert unit_system(store, unit_of(OWN, "p1")) == suite_system(store, OWN) == System.VERIMAP
