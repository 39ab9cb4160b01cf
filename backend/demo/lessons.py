"""What the VLM in the box is taught about a drawn frame: prompts with the replies they should get.

Every prompt comes from the prompt builders that Parallax asks all VLMs with. Where a prompt
holds earlier answers (verify, revise, select, loop), these are drawn with errors as a VLM
makes them: plausible values of other frames.
"""

__all__ = ["Lesson", "Mix", "endoscopy_lessons", "surgical_lessons", "verification_lesson"]

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from backend.demo.endoscopy_questions import (
    DEMO_CLASSES,
    ComplexQuestion,
    Facts,
    complex_answer,
    complex_questions,
    statement,
)
from backend.endoca.prompts import (
    answer_prompt,
    revise_prompt,
    select_prompt,
    self_revise_prompt,
    self_select_prompt,
)
from backend.endoca.vocabulary import BY_NAME
from backend.surgcheck.prompts import answer_prompt as surgical_prompt
from backend.verimap.prompts import generate_prompt, loop_prompt, verify_prompt

Mix = Mapping[str, float]
"""How many lessons of each task a frame gives, on average.

Tasks: atomic, generate, verify; about a complex question complex, verify_complex, revise,
self_revise, select, self_select and loop. Of a laparoscopy-like picture: answer and verify.
"""

WRONG_PREMISE = 0.15
"""Share of wrong atomic answers among premises."""

WRONG_PART = 0.25
"""Share of wrong parts in the direct answer that Revise starts from."""

WRONG_VERDICT = 0.2
"""Share of wrong verdicts the loop's generator is told."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One prompt with the reply it should get."""

    task: str
    """A task of the mix; of a laparoscopy-like picture ``surgical`` or ``surgical_verify``."""
    kind: str
    """Question class, or complexity, or surgical task: what the learning curves are kept by."""
    prompt: str
    reply: str


def endoscopy_lessons(facts: Facts, others: Sequence[Facts], mix: Mix, rng: np.random.Generator) -> list[Lesson]:
    """Draw the lessons one frame gives.

    Args:
        facts: The frame's references.
        others: References of other frames, where wrong answers come from.
        mix: Lessons a task, on average.
        rng: Chooses.

    Raises:
        ValueError: A wrong answer is to be given, and no other frame has another value.
    """
    wanted = {task: int(share + rng.random()) for task, share in mix.items()}
    classes = [str(name) for name in rng.permutation(DEMO_CLASSES)]
    lessons = []
    for number in range(wanted.get("atomic", 0)):
        name = classes[number % len(classes)]
        lessons.append(Lesson("atomic", name, answer_prompt(BY_NAME[name].question), facts[name]))
    for _ in range(wanted.get("generate", 0)):
        name = str(rng.choice(DEMO_CLASSES))
        lessons.append(Lesson("generate", name, generate_prompt(BY_NAME[name].question), facts[name]))
    for _ in range(wanted.get("verify", 0)):
        name = _verified_class(rng)
        lessons.append(verification_lesson(name, facts, others, rng))
    for task in (task for task in wanted if task in _OF_A_COMPLEX_QUESTION):
        for _ in range(wanted[task]):
            asked = _one_complex(facts, rng)
            prompt, reply = _OF_A_COMPLEX_QUESTION[task](asked, facts, others, rng)
            lessons.append(Lesson(task, str(len(asked.question_classes)), prompt, reply))
    return lessons


def verification_lesson(name: str, facts: Facts, others: Sequence[Facts], rng: np.random.Generator) -> Lesson:
    """Draw an answer to an atomic question, right or wrong with equal chances, and the verdict on it.

    Args:
        name: Question class.
        facts: The frame's references.
        others: References of other frames, where the wrong answer comes from.
        rng: Chooses.

    Raises:
        ValueError: The answer is to be wrong, and no other frame has another value.
    """
    is_right = rng.random() < 0.5
    value = facts[name] if is_right else _wrong(name, facts, others, rng)
    answer = value if rng.random() < 0.7 else _as_sentence(statement(name, value))
    verdict = "CORRECT" if is_right else "INCORRECT"
    seen = _as_sentence(statement(name, facts[name]))
    return Lesson("verify", name, verify_prompt(BY_NAME[name].question, answer), _verification(seen, verdict))


def surgical_lessons(
    asked: Sequence[Sequence[str]], others: Mapping[str, Sequence[str]], mix: Mix, rng: np.random.Generator
) -> list[Lesson]:
    """Draw the lessons one laparoscopy-like picture gives: each question in one of its two texts.

    Args:
        asked: Task, original, less-biased text and reference of each question.
        others: References of other pictures by task, where wrong answers come from.
        mix: Lessons of ``answer`` and ``verify``, on average.
        rng: Chooses.
    """
    lessons = []
    for task, share in mix.items():
        for index in rng.permutation(len(asked))[: int(share + rng.random())]:
            name, original, less_biased, reference = asked[index]
            question = original if rng.random() < 0.5 else less_biased
            if task == "answer":
                lessons.append(Lesson("surgical", name, surgical_prompt(question), reference))
                continue
            wrong = [value for value in others[name] if value != reference]
            is_right = not wrong or rng.random() < 0.5
            answer = reference if is_right else str(rng.choice(wrong))
            seen = f"The answer is {reference}."
            reply = _verification(seen, "CORRECT" if is_right else "INCORRECT")
            lessons.append(Lesson("surgical_verify", name, verify_prompt(question, answer), reply))
    return lessons


def _verified_class(rng: np.random.Generator) -> str:
    """Choose a class whose answer is verified: more than half the time (0.4 + 0.6 × 3/10) one of yes and no.

    Their answers are the hardest to judge.
    """
    yes_no = ("text_presence", "box_artifact_presence", "polyp_removal_status")
    return str(rng.choice(yes_no if rng.random() < 0.4 else DEMO_CLASSES))


def _one_complex(facts: Facts, rng: np.random.Generator) -> ComplexQuestion:
    complexity = int(rng.integers(1, 4))
    return complex_questions(facts, rng, [int(complexity == number) for number in (1, 2, 3)])[0]


def _complex(
    asked: ComplexQuestion, facts: Facts, others: Sequence[Facts], rng: np.random.Generator
) -> tuple[str, str]:
    return answer_prompt(asked.question), complex_answer(facts, asked.question_classes)


def _verify_complex(
    asked: ComplexQuestion, facts: Facts, others: Sequence[Facts], rng: np.random.Generator
) -> tuple[str, str]:
    classes = asked.question_classes
    said = dict(facts)
    is_right = rng.random() < 0.5
    if not is_right:
        name = str(rng.choice(classes))
        said[name] = _wrong(name, facts, others, rng)
    verdict = "CORRECT" if is_right else "INCORRECT"
    prompt = verify_prompt(asked.question, complex_answer(said, classes))
    return prompt, _verification(complex_answer(facts, classes), verdict)


def _revise(asked: ComplexQuestion, facts: Facts, others: Sequence[Facts], rng: np.random.Generator) -> tuple[str, str]:
    classes = asked.question_classes
    direct = complex_answer(_with_errors(classes, facts, others, WRONG_PART, rng), classes)
    premises = _premises(classes, _with_errors(classes, facts, others, WRONG_PREMISE, rng))
    return revise_prompt(asked.question, direct, premises), complex_answer(facts, classes)


def _self_revise(
    asked: ComplexQuestion, facts: Facts, others: Sequence[Facts], rng: np.random.Generator
) -> tuple[str, str]:
    classes = asked.question_classes
    direct = complex_answer(_with_errors(classes, facts, others, WRONG_PART, rng), classes)
    return self_revise_prompt(asked.question, direct), complex_answer(facts, classes)


def _select(asked: ComplexQuestion, facts: Facts, others: Sequence[Facts], rng: np.random.Generator) -> tuple[str, str]:
    classes = asked.question_classes
    said = _with_errors(classes, facts, others, WRONG_PART, rng)
    premises = _with_errors(classes, said, others, WRONG_PREMISE, rng)
    answer = complex_answer(said, classes)
    agreeing = sum(said[name] == premises[name] for name in classes)
    return select_prompt(asked.question, answer, _premises(classes, premises)), _decision(answer, agreeing, classes)


def _self_select(
    asked: ComplexQuestion, facts: Facts, others: Sequence[Facts], rng: np.random.Generator
) -> tuple[str, str]:
    classes = asked.question_classes
    said = _with_errors(classes, facts, others, WRONG_PART, rng)
    answer = complex_answer(said, classes)
    agreeing = sum(said[name] == facts[name] for name in classes)
    return self_select_prompt(asked.question, answer), _decision(answer, agreeing, classes)


def _loop(asked: ComplexQuestion, facts: Facts, others: Sequence[Facts], rng: np.random.Generator) -> tuple[str, str]:
    """Draw one revision turn about an atomic question of the complex one."""
    name = asked.question_classes[0]
    said = _with_errors([name], facts, others, 0.5, rng)[name]
    seen = _with_errors([name], facts, others, WRONG_VERDICT, rng)[name]
    verdict = "CORRECT" if seen == said else "INCORRECT"
    prompt = loop_prompt(BY_NAME[name].question, said, verdict, _as_sentence(statement(name, seen)))
    return prompt, f"ANSWER: {facts[name]}"


_OF_A_COMPLEX_QUESTION: Mapping[
    str, Callable[[ComplexQuestion, Facts, Sequence[Facts], np.random.Generator], tuple[str, str]]
] = {
    "complex": _complex,
    "verify_complex": _verify_complex,
    "revise": _revise,
    "self_revise": _self_revise,
    "select": _select,
    "self_select": _self_select,
    "loop": _loop,
}
"""What makes prompt and reply of each task that is about a complex question."""


def _premises(classes: Sequence[str], values: Facts) -> list[tuple[str, str]]:
    return [(BY_NAME[name].question, values[name]) for name in classes]


def _verification(seen: str, verdict: str) -> str:
    return f"EXPLANATION: {seen}\nVERDICT: {verdict}"


def _decision(answer: str, agreeing: int, classes: Sequence[str]) -> str:
    consistency = "consistent" if agreeing == len(classes) else "partly consistent" if agreeing else "inconsistent"
    decision = "answer" if consistency == "consistent" else "abstain"
    return json.dumps({"answer": answer, "consistency": consistency, "decision": decision})


def _as_sentence(clause: str) -> str:
    return clause[0].upper() + clause[1:] + "."


def _with_errors(
    classes: Sequence[str], facts: Facts, others: Sequence[Facts], share: float, rng: np.random.Generator
) -> dict[str, str]:
    said = dict(facts)
    for name in classes:
        if rng.random() < share:
            said[name] = _wrong(name, facts, others, rng)
    return said


def _wrong(name: str, facts: Facts, others: Sequence[Facts], rng: np.random.Generator) -> str:
    """Return a wrong value: another frame's, or of a count, half the time, the next one up or down (of 0: 1)."""
    if name.endswith("_count") and rng.random() < 0.5:
        return str(abs(int(facts[name]) + int(rng.choice((-1, 1)))))
    if all(other[name] == facts[name] for other in others):
        raise ValueError(f"no other frame has another {name}")
    while True:
        value = others[int(rng.integers(len(others)))][name]
        if value != facts[name]:
            return value
