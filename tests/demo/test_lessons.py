"""A lesson's prompt is what Parallax asks, and its reply is true of the frame."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.demo.curriculum import CURRICULUM
from backend.demo.endoscopy_questions import DEMO_CLASSES, Facts, complex_answer, statement
from backend.demo.lessons import Lesson, endoscopy_lessons, surgical_lessons, verification_lesson
from backend.demo.validation import MIX, SURGICAL_MIX
from backend.endoca import prompts as endoca
from backend.endoca.scoring import Atom, score_answer
from backend.endoca.vocabulary import BY_NAME
from backend.surgcheck import prompts as surgcheck
from backend.verimap import prompts as verimap
from tests.demo.material import facts_from, varied_facts

SEEDS = st.integers(0, 2**32 - 1)
OTHERS = varied_facts(60)
BY_QUESTION = {BY_NAME[name].question: name for name in DEMO_CLASSES}

TEMPLATES = {
    "atomic": endoca.TEMPLATES["answer"],
    "complex": endoca.TEMPLATES["answer"],
    "revise": endoca.TEMPLATES["revise"],
    "self_revise": endoca.TEMPLATES["self_revise"],
    "select": endoca.TEMPLATES["select"],
    "self_select": endoca.TEMPLATES["self_select"],
    "generate": verimap.TEMPLATES["generate"],
    "verify": verimap.TEMPLATES["verify"],
    "verify_complex": verimap.TEMPLATES["verify"],
    "loop": verimap.TEMPLATES["loop"],
}

CHAINS = tuple(chain for length in (1, 2, 3) for chain in permutations(DEMO_CLASSES, length))


def filled_in(template: str, prompt: str) -> Mapping[str, str]:
    """What stands in a prompt for each field of its template; fails where it is not that template's."""
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*?)", re.escape(template.replace("{{", "\0").replace("}}", "\1")))
    found = re.fullmatch(pattern.replace("\0", r"\{").replace("\1", r"\}"), prompt, re.DOTALL)
    assert found, prompt
    assert template.format(**found.groupdict()) == prompt
    return found.groupdict()


def lessons_of(task: str, seed: int, count: int = 1) -> tuple[Facts, list[Lesson]]:
    facts = facts_from(seed)
    return facts, endoscopy_lessons(facts, OTHERS, {task: count}, np.random.default_rng(seed))


def one_lesson(task: str, seed: int) -> tuple[Facts, Lesson, Mapping[str, str]]:
    facts, [lesson] = lessons_of(task, seed)
    return facts, lesson, filled_in(TEMPLATES[task], lesson.prompt)


def is_right(name: str, reference: str, answer: str) -> bool:
    """Whether an answer to an atomic question has the reference's value, as the scorer reads it."""
    return score_answer(BY_NAME[name].question, [Atom(name, reference)], answer).correct


def classes_said(facts: Facts, answer: str) -> tuple[str, ...]:
    """The classes of which an answer is the complex reference, in order; a location has something to locate."""
    nowhere = {name for name in DEMO_CLASSES if name.endswith("_location") and facts[name] == "none"}
    found = [chain for chain in CHAINS if not nowhere & set(chain) and answer == complex_answer(facts, chain)]
    assert len(found) == 1, answer
    return found[0]


def values_said(facts: Facts, answer: str, classes: tuple[str, ...]) -> dict[str, str]:
    """The values a complex answer gives, read clause by clause; the scorer refuses contradictory ones."""
    readings: list[tuple[str, dict[str, str]]] = [(answer[0].lower() + answer[1:], {})]
    separators = {1: ["."], 2: [" and ", "."], 3: [", ", ", and ", "."]}[len(classes)]
    for name, separator in zip(classes, separators, strict=True):
        known = {own[name] for own in (facts, *OTHERS)} | ({*"01234567"} if name.endswith("_count") else set())
        clauses = {value: statement(name, value) + separator for value in known}
        readings = [
            (rest[len(clause) :], read | {name: value})
            for rest, read in readings
            for value, clause in clauses.items()
            if rest.startswith(clause)
        ]
    [values] = [read for rest, read in readings if not rest]
    return values


def premises_of(listed: str, classes: tuple[str, ...]) -> dict[str, str]:
    """The values of the premises; fails where they are not the atomic questions of these classes, in order."""
    values = {}
    for name, line in zip(classes, listed.split("\n"), strict=True):
        start = f"- {BY_NAME[name].question} "
        assert line.startswith(start)
        values[name] = line.removeprefix(start)
    return values


def classes_asked(listed: str) -> tuple[str, ...]:
    """The classes of the premises' atomic questions."""
    return tuple(
        name for line in listed.split("\n") for asked, name in BY_QUESTION.items() if line.startswith(f"- {asked} ")
    )


def verdict_in(lesson: Lesson) -> tuple[str, str]:
    """Explanation and verdict of a verification."""
    found = re.fullmatch(r"EXPLANATION: (.+)\nVERDICT: (CORRECT|INCORRECT)", lesson.reply)
    assert found, lesson.reply
    return found[1], found[2]


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from(["atomic", "generate"]))
def test_an_atomic_question_is_asked_in_its_own_words_and_answered_with_the_reference(seed: int, task: str) -> None:
    facts, lesson, said = one_lesson(task, seed)
    assert said == {"question": BY_NAME[lesson.kind].question}
    assert lesson.reply == facts[lesson.kind]


def test_ten_atomic_lessons_of_a_frame_are_of_ten_classes() -> None:
    _, lessons = lessons_of("atomic", 3, 23)
    assert sorted(lesson.kind for lesson in lessons[:10]) == sorted(DEMO_CLASSES)
    assert [lesson.kind for lesson in lessons[10:]] == [lesson.kind for lesson in lessons[:13]]


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_a_complex_question_is_answered_with_its_reference(seed: int) -> None:
    facts, lesson, said = one_lesson("complex", seed)
    classes = classes_said(facts, lesson.reply)
    assert lesson.kind == str(len(classes))
    atoms = [Atom(name, facts[name]) for name in classes]
    assert score_answer(said["question"], atoms, lesson.reply).correct


@settings(max_examples=400, deadline=None)
@given(SEEDS)
def test_a_verdict_is_correct_just_where_the_answer_has_the_reference_value(seed: int) -> None:
    facts, lesson, said = one_lesson("verify", seed)
    assert said["question"] == BY_NAME[lesson.kind].question
    explanation, verdict = verdict_in(lesson)
    assert (verdict == "CORRECT") == is_right(lesson.kind, facts[lesson.kind], said["answer"])
    assert is_right(lesson.kind, facts[lesson.kind], explanation)


@pytest.mark.parametrize("name", DEMO_CLASSES)
def test_half_the_answers_to_be_verified_are_wrong_whatever_the_class(name: str) -> None:
    rng = np.random.default_rng(1)
    lessons = [verification_lesson(name, OTHERS[number % 60], OTHERS, rng) for number in range(1000)]
    assert sum(verdict_in(lesson)[1] == "CORRECT" for lesson in lessons) == pytest.approx(500, abs=60)
    as_value = sum(not filled_in(TEMPLATES["verify"], lesson.prompt)["answer"].endswith(".") for lesson in lessons)
    assert as_value == pytest.approx(700, abs=60)


def test_more_than_half_of_what_is_verified_is_a_question_of_yes_and_no() -> None:
    _, lessons = lessons_of("verify", 0, 2000)
    kinds = Counter(lesson.kind for lesson in lessons)
    yes_no = sum(kinds[name] for name in ("text_presence", "box_artifact_presence", "polyp_removal_status"))
    assert yes_no == pytest.approx(0.58 * 2000, abs=90)
    assert set(kinds) == set(DEMO_CLASSES)


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_a_complex_answer_is_correct_only_as_a_whole(seed: int) -> None:
    facts, lesson, said = one_lesson("verify_complex", seed)
    explanation, verdict = verdict_in(lesson)
    classes = classes_said(facts, explanation)
    score = score_answer(said["question"], [Atom(name, facts[name]) for name in classes], said["answer"])
    assert (verdict == "CORRECT") == score.correct
    values = values_said(facts, said["answer"], classes)
    assert sum(values[name] != facts[name] for name in classes) == (verdict == "INCORRECT")


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.sampled_from(["revise", "self_revise"]))
def test_a_revision_ends_at_the_reference_whatever_it_starts_from(seed: int, task: str) -> None:
    facts, lesson, said = one_lesson(task, seed)
    classes = classes_said(facts, lesson.reply)
    assert lesson.kind == str(len(classes))
    if task == "revise":
        assert set(premises_of(said["premises"], classes)) == set(classes)


def test_premises_and_parts_of_the_direct_answer_are_wrong_as_often_as_is_said() -> None:
    parts = wrong_parts = wrong_premises = 0
    for seed in range(500):
        facts, lesson, said = one_lesson("revise", seed)
        classes = classes_said(facts, lesson.reply)
        premises = premises_of(said["premises"], classes)
        values = values_said(facts, said["answer"], classes)
        parts += len(classes)
        wrong_parts += sum(values[name] != facts[name] for name in classes)
        wrong_premises += sum(premises[name] != facts[name] for name in classes)
    assert wrong_parts / parts == pytest.approx(0.25, abs=0.04)
    assert wrong_premises / parts == pytest.approx(0.15, abs=0.035)


def expected_decision(agreeing: int, parts: int) -> tuple[str, str]:
    if agreeing == parts:
        return "consistent", "answer"
    return ("partly consistent" if agreeing else "inconsistent"), "abstain"


def test_select_gives_the_answer_where_every_part_agrees_with_its_premise_and_abstains_elsewhere() -> None:
    seen = Counter[str]()
    for seed in range(300):
        facts, lesson, said = one_lesson("select", seed)
        classes = classes_asked(said["premises"])
        premises = premises_of(said["premises"], classes)
        values = values_said(facts, said["answer"], classes)
        agreeing = sum(values[name] == premises[name] for name in classes)
        consistency, decision = expected_decision(agreeing, len(classes))
        assert json.loads(lesson.reply) == {
            "answer": said["answer"],
            "consistency": consistency,
            "decision": decision,
        }
        seen[consistency] += 1
    assert set(seen) == {"consistent", "partly consistent", "inconsistent"}


def test_self_select_gives_the_answer_where_every_part_agrees_with_the_frame() -> None:
    seen = Counter[str]()
    for seed in range(120):
        facts, lesson, said = one_lesson("self_select", seed)
        decided = json.loads(lesson.reply)
        assert decided["answer"] == said["answer"]
        assert (decided["consistency"] == "consistent") == (decided["decision"] == "answer")
        is_reference = any(said["answer"] == complex_answer(facts, chain) for chain in CHAINS)
        assert (decided["decision"] == "answer") == is_reference
        seen[decided["consistency"]] += 1
    assert set(seen) == {"consistent", "partly consistent", "inconsistent"}


def test_the_loop_ends_at_the_reference_though_reviewers_err() -> None:
    wrong_answers = wrong_explanations = 0
    for seed in range(400):
        facts, lesson, said = one_lesson("loop", seed)
        name = BY_QUESTION[said["question"]]
        assert lesson.reply == f"ANSWER: {facts[name]}"
        agrees = is_right(name, said["answer"], said["explanation"])
        assert said["verdict"] == ("CORRECT" if agrees else "INCORRECT")
        wrong_answers += said["answer"] != facts[name]
        wrong_explanations += not is_right(name, facts[name], said["explanation"])
    assert wrong_answers == pytest.approx(200, abs=40)
    assert wrong_explanations == pytest.approx(80, abs=32)


@pytest.mark.parametrize("task", TEMPLATES)
def test_a_share_of_lessons_is_kept_on_average(task: str) -> None:
    rng = np.random.default_rng(2)
    counts = Counter(len(endoscopy_lessons(OTHERS[number % 60], OTHERS, {task: 1.3}, rng)) for number in range(600))
    assert set(counts) == {1, 2}
    assert counts[2] / 600 == pytest.approx(0.3, abs=0.06)


@pytest.mark.parametrize("mix", [*(stage.mix for stage in CURRICULUM), MIX])
def test_every_task_of_the_curriculum_is_taught_as_often_as_its_mix_says(mix: Mapping[str, float]) -> None:
    rng = np.random.default_rng(3)
    taught = Counter(
        lesson.task for number in range(400) for lesson in endoscopy_lessons(OTHERS[number % 60], OTHERS, mix, rng)
    )
    assert {task: count / 400 for task, count in taught.items()} == pytest.approx(dict(mix), abs=0.1)


def test_where_no_other_frame_differs_no_wrong_answer_is_made_up() -> None:
    facts = facts_from(0)
    with pytest.raises(ValueError, match="no other frame has another text_presence"):
        for seed in range(20):
            verification_lesson("text_presence", facts, [facts], np.random.default_rng(seed))


def test_a_wrong_count_is_never_below_zero() -> None:
    none = {**facts_from(0), "polyp_count": "0"}
    said = set()
    for seed in range(60):
        lesson = verification_lesson("polyp_count", none, [{**none, "polyp_count": "3"}], np.random.default_rng(seed))
        said.add(filled_in(TEMPLATES["verify"], lesson.prompt)["answer"])
    assert said == {
        "0", "1", "3", "No polyps are visible.", "One polyp is visible.", "Three polyps are visible."
    }  # fmt: skip


ASKED = (
    ("Instrument", "Which tool retracts the gallbladder?", "Which tool is indicated?", "grasper"),
    ("Action", "What does the hook do?", "What does the indicated tool do?", "dissect"),
    ("Instrument_Count", "How many tools are there?", "How many tools are there?", "two"),
)
ANSWERS = {"Instrument": ["grasper", "hook", "clipper"], "Action": ["dissect", "grasp"], "Instrument_Count": ["two"]}


def test_a_surgical_question_is_asked_in_one_of_its_two_texts_and_answered_with_the_reference() -> None:
    texts = {task: {original, less_biased} for task, original, less_biased, _ in ASKED}
    references = {task: reference for task, _, _, reference in ASKED}
    asked: dict[str, set[str]] = {task: set() for task in texts}
    for seed in range(30):
        lessons = surgical_lessons(ASKED, ANSWERS, {"answer": 3}, np.random.default_rng(seed))
        assert sorted(lesson.kind for lesson in lessons) == sorted(texts)
        for lesson in lessons:
            assert (lesson.task, lesson.reply) == ("surgical", references[lesson.kind])
            asked[lesson.kind].add(filled_in(surgcheck.TEMPLATES["answer"], lesson.prompt)["question"])
    assert asked == texts


def test_a_surgical_verdict_is_correct_just_where_the_answer_is_the_reference() -> None:
    references = {task: reference for task, _, _, reference in ASKED}
    said: dict[str, set[str]] = {task: set() for task in references}
    for seed in range(60):
        for lesson in surgical_lessons(ASKED, ANSWERS, {"verify": 3}, np.random.default_rng(seed)):
            answer = filled_in(TEMPLATES["verify"], lesson.prompt)["answer"]
            explanation, verdict = verdict_in(lesson)
            assert lesson.task == "surgical_verify"
            assert explanation == f"The answer is {references[lesson.kind]}."
            assert (verdict == "CORRECT") == (answer == references[lesson.kind])
            said[lesson.kind].add(answer)
    assert said == {task: set(answers) for task, answers in ANSWERS.items()}


def test_a_picture_gives_no_more_surgical_lessons_of_a_task_than_it_has_questions() -> None:
    lessons = surgical_lessons(ASKED, ANSWERS, {"answer": 9, "verify": 9}, np.random.default_rng(0))
    assert Counter(lesson.task for lesson in lessons) == {"surgical": 3, "surgical_verify": 3}


@pytest.mark.parametrize("mix", [*(stage.surgical_mix for stage in CURRICULUM), SURGICAL_MIX])
def test_the_surgical_tasks_of_the_curriculum_are_answer_and_verify(mix: Mapping[str, float]) -> None:
    assert set(mix) <= {"answer", "verify"}
