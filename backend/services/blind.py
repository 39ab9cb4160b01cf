"""Runs of baselines that never see the image: learned on one suite, answering another."""

__all__ = ["run_blind", "run_blind_verimap", "run_text_lookup"]

from backend.domain.progress import Report, silent
from backend.domain.records import Origin, Role, RunKey, Stage, System
from backend.endoca.vocabulary import BY_NAME, canonical_reference
from backend.errors import AppError
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.store.store import Store
from backend.surgcheck.text_lookups import LOOKUP_VERSION, LOOKUP_VLM, TextLookups
from backend.surgcheck.text_lookups import Example as PairExample
from backend.vlm.blind import BLIND_VERSION, BLIND_VLM, BlindBaseline, Example

BLIND_TASKS_VERSION = "tasks-1"
"""Version of the rule for VeriMap; part of the run's key."""

_PROBES = """
    SELECT probe_id, role, question_class, reference
    FROM probes WHERE suite = ? ORDER BY unit_id, role = 'complex', position
"""
"""A unit's atomic probes come first: their references are the complex one's values."""

_PAIRS = """
    SELECT probe_id, role, question_class, question, reference
    FROM probes WHERE suite = ? ORDER BY unit_id, role = 'less_biased'
"""

_EXAMPLES = """
    SELECT p.probe_id, coalesce(e.task, ''), coalesce(e.answer_type, ''), e.reference_letter, p.reference
    FROM probes p JOIN examples e USING (unit_id) WHERE p.suite = ? ORDER BY p.probe_id
"""

_SHARED_FRAMES = """
    SELECT count(DISTINCT image_id) FROM units
    WHERE suite = $answer AND image_id IN (SELECT image_id FROM units WHERE suite = $learn)
"""

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
    _check_suites(store, System.ENDOCA, learn, answer)
    n_shared = store.value(_SHARED, {"learn": learn, "answer": answer, "role": Role.COMPLEX})
    if n_shared:
        raise AppError(
            f"{n_shared} samples of suite {answer} are in suite {learn} too (same image, complex question and "
            "reference): the blind baseline would be learning from the test.",
            f"Learn on a suite that was built without them: import kvasir … --exclude-suite {answer}",
        )
    report("learning", 0, None)
    baseline = BlindBaseline.learn(example for _, example in _examples(store, learn))
    answers = [
        Answer(probe_id, baseline.answer(asked.role, asked.question_classes), "")
        for probe_id, asked in _examples(store, answer)
    ]
    return _put(store, _key(System.ENDOCA, answer, BLIND_VLM, learn, BLIND_VERSION), answers, report)


def run_text_lookup(store: Store, learn: str, answer: str, report: Report = silent) -> ImportReport:
    """Write the run of SurgCheck's text look-ups over a suite; see `backend.surgcheck.text_lookups`.

    It learns on original questions alone, and answers both texts of every pair: what it reaches with
    the less-biased ones is what these still tell. Running it again changes nothing.

    Args:
        store: Holds both suites; gets the run.
        learn: SurgCheck suite whose original questions it learns from.
        answer: SurgCheck suite whose questions it answers.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        AppError: A suite is not in the store, or the two are one or share a frame.
    """
    _check_suites(store, System.SURGCHECK, learn, answer)
    n_shared = store.value(_SHARED_FRAMES, {"learn": learn, "answer": answer})
    if n_shared:
        raise AppError(
            f"{n_shared} frames of suite {answer} are in suite {learn} too: the look-up would be learning from the "
            "test.",
            "Learn on a suite about other frames, as the release's training set is.",
        )
    report("learning", 0, None)
    lookups = TextLookups.learn(
        PairExample(task, question, reference)
        for _, role, task, question, reference in store.rows(_PAIRS, [learn])
        if role == Role.ORIGINAL
    )
    answers = [
        Answer(probe_id, lookups.answer(task, question), "")
        for probe_id, _, task, question, _ in store.rows(_PAIRS, [answer])
    ]
    return _put(store, _key(System.SURGCHECK, answer, LOOKUP_VLM, learn, LOOKUP_VERSION), answers, report)


def run_blind_verimap(store: Store, learn: str, answer: str, report: Report = silent) -> ImportReport:
    """Write the blind baseline's run over a data set of VeriMap, as a generator.

    Of each task, open and closed questions apart, it gives the commonest reference; of questions with options
    the commonest letter. Running it again changes nothing.

    Args:
        store: Holds both suites; gets the run.
        learn: VeriMap suite whose references it learns from.
        answer: VeriMap suite whose questions it answers.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        AppError: A suite is not in the store, or the two are one or share an image.
    """
    _check_suites(store, System.VERIMAP, learn, answer)
    n_shared = store.value(_SHARED_FRAMES, {"learn": learn, "answer": answer})
    if n_shared:
        raise AppError(
            f"{n_shared} images of suite {answer} are in suite {learn} too: the blind baseline would be learning from "
            "the test.",
            "Learn on a suite about other images.",
        )
    report("learning", 0, None)
    baseline = BlindBaseline.learn(example for _, example in _verimap_examples(store, learn) if example.reference)
    answers = [
        Answer(probe_id, baseline.answer(Role.ATOMIC, asked.question_classes), "")
        for probe_id, asked in _verimap_examples(store, answer)
    ]
    return _put(store, _key(System.VERIMAP, answer, BLIND_VLM, learn, BLIND_TASKS_VERSION), answers, report)


def _verimap_examples(store: Store, suite: str) -> list[tuple[str, Example]]:
    """Return the suite's questions by probe id; the classes are task, answer type, and whether there are options."""
    found = []
    for probe_id, task, kind, letter, reference in store.rows(_EXAMPLES, [suite]):
        said = letter or reference
        asked = (task, kind, "options" if letter else "")
        found.append((probe_id, Example(Role.ATOMIC, asked, (said.strip().lower(),), said)))
    return found


def _key(system: System, suite: str, vlm: str, learn: str, version: str) -> RunKey:
    return RunKey(
        system=system,
        suite=suite,
        vlm=vlm,
        stage=Stage.DIRECT,
        origin=Origin.PRECOMPUTED,
        setting=f"learned on {learn}",
        prompt_version=version,
        decoding="commonest reference",
    )


def _put(store: Store, key: RunKey, answers: list[Answer], report: Report) -> ImportReport:
    report("scoring", 0, len(answers))
    outcome = ImportReport("blind", f"{key.vlm[:1].lower()}{key.vlm[1:]}, {key.setting}")
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


def _check_suites(store: Store, system: System, learn: str, answer: str) -> None:
    known = [row[0] for row in store.rows("SELECT suite FROM suites WHERE system = ? ORDER BY suite", [system])]
    for suite in (learn, answer):
        if suite not in known:
            raise AppError(
                f"There is no {_NAMES[system]} suite {suite}.", f"Suites in the store: {', '.join(known) or 'none'}."
            )
    if learn == answer:
        raise AppError(
            f"The blind baseline cannot learn on {learn} and answer {answer}: it would be learning from the test.",
            f"Name another suite to learn on; in the store: {', '.join(known)}.",
        )


_NAMES = {System.ENDOCA: "EndoCA", System.SURGCHECK: "SurgCheck", System.VERIMAP: "VeriMap"}
