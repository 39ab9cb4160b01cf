"""Runs of the blind baseline: learned on one suite, answering another."""

__all__ = ["run_blind"]

from backend.domain.progress import Report, silent
from backend.domain.records import Origin, Role, RunKey, Stage, System
from backend.endoca.vocabulary import BY_NAME, canonical_reference
from backend.errors import AppError
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.store.store import Store
from backend.vlm.blind import BLIND_VERSION, BLIND_VLM, BlindBaseline, Example

_PROBES = """
    SELECT probe_id, role, question_class, reference
    FROM probes WHERE suite = ? ORDER BY unit_id, role = 'complex', position
"""
"""A unit's atomic probes come first: their references are the complex one's values."""

_SHARED = """
    SELECT count(*) FROM probes p JOIN units u USING (unit_id)
    WHERE p.suite = $answer AND p.role = $role AND (u.image_id, p.question, p.reference) IN (
        SELECT (u.image_id, p.question, p.reference) FROM probes p JOIN units u USING (unit_id)
        WHERE p.suite = $learn AND p.role = $role
    )
"""


def run_blind(store: Store, learn: str, answer: str, report: Report = silent) -> ImportReport:
    """Write the blind baseline's run over a suite.

    Running it again changes nothing.

    Args:
        store: Holds both suites; gets the run.
        learn: EndoCA suite whose references it learns from.
        answer: EndoCA suite whose questions it answers.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        AppError: A suite is not in the store, or the two are one or share a sample: the
            baseline would learn from the test.
    """
    _check_suites(store, learn, answer)
    report("learning", 0, None)
    baseline = BlindBaseline.learn(example for _, example in _examples(store, learn))
    answers = [
        Answer(probe_id, baseline.answer(asked.role, asked.question_classes), "")
        for probe_id, asked in _examples(store, answer)
    ]
    report("scoring", 0, len(answers))
    key = RunKey(
        system=System.ENDOCA,
        suite=answer,
        vlm=BLIND_VLM,
        stage=Stage.DIRECT,
        origin=Origin.PRECOMPUTED,
        setting=f"learned on {learn}",
        prompt_version=BLIND_VERSION,
        decoding="commonest reference",
    )
    outcome = ImportReport("blind", f"blind baseline, learned on {learn}")
    with store.write() as cursor:
        outcome.runs.append(put_answers(cursor, key, answers, outcome.source, "blind"))
        write_log(cursor, outcome)
    report("scoring", len(answers), len(answers))
    return outcome


def _examples(store: Store, suite: str) -> list[tuple[str, Example]]:
    """Return the suite's probes by id, each as an example without its image."""
    examples: list[tuple[str, Example]] = []
    classes: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    for probe_id, role, question_class, reference in store.rows(_PROBES, [suite]):
        if role == Role.ATOMIC:
            value = canonical_reference(question_class, reference) if question_class in BY_NAME else reference
            examples.append((probe_id, Example(Role.ATOMIC, (question_class,), (value,), reference)))
            classes, values = (*classes, question_class), (*values, value)
        else:
            examples.append((probe_id, Example(Role.COMPLEX, classes, values, reference)))
            classes = values = ()
    return examples


def _check_suites(store: Store, learn: str, answer: str) -> None:
    known = [row[0] for row in store.rows("SELECT suite FROM suites WHERE system = ? ORDER BY suite", [System.ENDOCA])]
    for suite in (learn, answer):
        if suite not in known:
            raise AppError(f"There is no EndoCA suite {suite}.", f"Suites in the store: {', '.join(known) or 'none'}.")
    if learn == answer:
        raise AppError(
            f"The blind baseline cannot learn on {learn} and answer {answer}: it would be learning from the test.",
            f"Name another suite to learn on; in the store: {', '.join(known)}.",
        )
    n_shared = store.value(_SHARED, {"learn": learn, "answer": answer, "role": Role.COMPLEX})
    if n_shared:
        raise AppError(
            f"{n_shared} samples of suite {answer} are in suite {learn} too (same image, complex question and "
            "reference): the blind baseline would be learning from the test.",
            f"Learn on a suite that was built without them: import kvasir … --exclude-suite {answer}",
        )
