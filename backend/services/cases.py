"""One case: an image, its questions and references, and what every VLM answered, judged and why.

The shape is the same for all three systems, so that one view shows them all: a case has
questions, and each run has one answer to each of them and a verdict on the whole.
"""

__all__ = [
    "Case",
    "CaseAnswer",
    "CaseImage",
    "CaseQuestion",
    "CaseRun",
    "Part",
    "Verdict",
    "load_case",
    "load_image",
    "runs_in_order",
    "suite_system",
    "unit_system",
]

import json
from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.records import AnswerStatus, Role
from backend.endoca.outcomes import Outcome
from backend.errors import AppError
from backend.store.filters import UnitFilter
from backend.store.store import Store


@dataclass(frozen=True, slots=True)
class CaseImage:
    """The image as the store knows it; sizes and hash are None where its file is not at hand."""

    image_id: str
    dataset: str
    file: str
    width: int | None
    height: int | None
    sha256: str | None
    bytes: int | None

    @property
    def at_hand(self) -> bool:
        """Whether the file was found, checked and hashed."""
        return self.sha256 is not None


@dataclass(frozen=True, slots=True)
class CaseQuestion:
    """One question of the case."""

    probe_id: str
    role: str
    position: int
    question: str
    reference: str
    question_class: str
    """Empty for a complex question."""


@dataclass(frozen=True, slots=True)
class Part:
    """What the scorer made of one part of an answer."""

    expected: str
    parsed: str | None
    """None: no value could be read."""
    correct: bool
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """One VLM's answer to one question, verbatim, with its score."""

    probe_id: str
    text: str
    error: str
    status: AnswerStatus
    correct: bool
    parts: tuple[Part, ...]
    """A complex answer has as many as the unit has atomic questions, in their order."""

    @property
    def answered(self) -> bool:
        """Whether the VLM said anything; a missing, failed or empty answer counts as wrong and says nothing."""
        return self.status not in (AnswerStatus.MISSING, AnswerStatus.FAILED, AnswerStatus.EMPTY)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the answers of one run mean together."""

    key: str
    label: str
    """The paper's term."""
    plain: str
    """The same for a clinician."""


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run's answers to the case's questions."""

    run_id: str
    vlm: str
    vlm_group: str | None
    setting: str
    stage: str
    origin: str
    scorer: str
    scorer_version: str
    prompt_version: str
    decoding: str
    source: str
    verdict: Verdict
    answers: tuple[CaseAnswer, ...]
    """One a question of the case, in the same order."""

    @property
    def contradicts(self) -> bool:
        """Whether a right complex answer meets a part that was answered, and wrong."""
        return self._inconsistent and any(part.answered and not part.correct for part in self.answers[1:])

    @property
    def part_unanswered(self) -> bool:
        """Whether the outcome is inconsistent only because parts have no answer, which counts as wrong."""
        return self._inconsistent and not self.contradicts

    @property
    def _inconsistent(self) -> bool:
        return self.verdict.key == Outcome.INCONSISTENT


@dataclass(frozen=True, slots=True)
class Case:
    """A paired unit with everything that was said about it."""

    unit_id: str
    source_id: str
    suite: str
    system: str
    split: str
    complexity: int
    image: CaseImage
    questions: tuple[CaseQuestion, ...]
    """The complex question first, then its parts in order."""
    runs: tuple[CaseRun, ...]


def load_case(store: Store, unit_id: str) -> Case:
    """Return a case by its unit's id.

    Raises:
        AppError: The store holds no such unit.
    """
    found = store.rows(
        "SELECT u.source_id, u.suite, s.system, u.split, u.complexity, i.image_id, i.dataset, i.file, i.width, "
        "i.height, i.sha256, i.bytes FROM units u JOIN suites s USING (suite) JOIN images i USING (image_id) "
        "WHERE u.unit_id = ?",
        [unit_id],
    )
    if not found:
        raise AppError(
            f"There is no case {unit_id!r} in this store.",
            "The link may come from another store. Choose a case from a list, or import the suite it belongs to.",
        )
    source_id, suite, system, split, complexity, *image = found[0]
    questions = tuple(
        CaseQuestion(*row)
        for row in store.rows(
            "SELECT probe_id, role, position, question, reference, question_class FROM probes "
            "WHERE unit_id = ? ORDER BY role <> ?, position",
            [unit_id, Role.COMPLEX],
        )
    )
    return Case(
        unit_id=unit_id,
        source_id=source_id,
        suite=suite,
        system=system,
        split=split,
        complexity=complexity,
        image=CaseImage(*image),
        questions=questions,
        runs=_runs(store, unit_id, questions),
    )


def load_image(store: Store, image_id: str) -> CaseImage:
    """Return an image by its id.

    Raises:
        AppError: The store knows no such image.
    """
    found = store.rows(
        "SELECT image_id, dataset, file, width, height, sha256, bytes FROM images WHERE image_id = ?", [image_id]
    )
    if not found:
        raise AppError(f"There is no image {image_id!r} in this store.", "Choose a case, or bring the image again.")
    return CaseImage(*found[0])


def unit_system(store: Store, unit_id: str) -> str | None:
    """Return the research system a unit belongs to; None: the store holds no such unit."""
    rows = store.rows("SELECT s.system FROM units u JOIN suites s USING (suite) WHERE u.unit_id = ?", [unit_id])
    return str(rows[0][0]) if rows else None


def suite_system(store: Store, suite: str) -> str | None:
    """Return the research system a suite belongs to; None: the store holds no such suite."""
    rows = store.rows("SELECT system FROM suites WHERE suite = ?", [suite])
    return str(rows[0][0]) if rows else None


def runs_in_order(runs: Sequence[CaseRun], chosen: UnitFilter) -> tuple[list[CaseRun], list[CaseRun]]:
    """Return the runs a filter asks for, and the others; contradictions first, then by VLM.

    A run that the filter names as right or wrong is asked for too. Where the filter says nothing
    about runs, all are asked for.
    """
    named = {*chosen.runs, chosen.right, chosen.wrong} - {""}

    def asked(run: CaseRun) -> bool:
        return (
            (not named or run.run_id in named)
            and (not chosen.groups or run.vlm_group in chosen.groups)
            and (not chosen.origins or run.origin in chosen.origins)
            and (not chosen.outcomes or run.verdict.key in chosen.outcomes)
        )

    ordered = sorted(runs, key=lambda run: (not run.contradicts, run.vlm.lower(), run.stage, run.run_id))
    return [run for run in ordered if asked(run)], [run for run in ordered if not asked(run)]


def _runs(store: Store, unit_id: str, questions: tuple[CaseQuestion, ...]) -> tuple[CaseRun, ...]:
    answers: dict[str, dict[str, CaseAnswer]] = {}
    rows = store.rows(
        "SELECT s.run_id, s.probe_id, coalesce(a.answer, ''), coalesce(a.error, ''), s.status, s.correct, s.parts "
        "FROM scores s JOIN runs r USING (run_id, scorer, scorer_version) "
        "LEFT JOIN answers a ON a.run_id = s.run_id AND a.probe_id = s.probe_id WHERE s.unit_id = ?",
        [unit_id],
    )
    for run_id, probe_id, text, error, status, correct, parts in rows:
        read = tuple(Part(**part) for part in json.loads(parts))
        answer = CaseAnswer(probe_id, text, error, AnswerStatus(status), correct, read)
        answers.setdefault(run_id, {})[probe_id] = answer
    runs = store.rows(
        "SELECT r.run_id, r.vlm, r.vlm_group, r.setting, r.stage, r.origin, r.scorer, r.scorer_version, "
        "r.prompt_version, r.decoding, r.source, o.outcome FROM outcomes o "
        "JOIN runs r USING (run_id, scorer, scorer_version) WHERE o.unit_id = ? ORDER BY r.vlm, r.stage, r.run_id",
        [unit_id],
    )
    return tuple(
        CaseRun(  # type: ignore[call-arg]  # the row holds the first eleven fields
            *run,
            Verdict(outcome, Outcome(outcome).label, Outcome(outcome).plain),
            tuple(answers[run[0]][question.probe_id] for question in questions),
        )
        for *run, outcome in runs
    )
