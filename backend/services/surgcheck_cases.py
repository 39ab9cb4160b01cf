"""One pair of SurgCheck as a case: a frame, both questions about it, and what every VLM answered to each.

The frame is there twice: as it was taken, and as the VLM saw it, with a box or an arrow drawn in
where the cue is one. What is annotated in the frame is there too, where it was imported.
"""

__all__ = [
    "Judgement",
    "PairAnswer",
    "PairCase",
    "PairRun",
    "frame_scene",
    "load_pair",
    "pair_runs_in_order",
]

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.domain.records import AnswerStatus, Role, Stage
from backend.errors import AppError
from backend.services.cases import CaseAnswer, CaseImage, CaseQuestion, Part
from backend.store.pair_filters import ASKED, PairFilter
from backend.store.store import Store
from backend.surgcheck.boxes import Box
from backend.surgcheck.grounding_cues import Arrow, Outline
from backend.surgcheck.outcomes import PairOutcome, pair_outcome
from backend.surgcheck.scene_graphs import Hand, SceneGraph
from backend.surgcheck.stored_scenes import load_box, load_drawing, load_scene
from backend.surgcheck.tasks import Cue, Level, Task


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge made of an answer."""

    judge: str
    score: int | None
    """From 1 (opposite) to 5 (equivalent); None: unscored, which is not wrong."""
    reason: str
    error: str


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """One VLM's answer to one of the two questions."""

    said: CaseAnswer
    """Verbatim, with its score by exact match."""
    judgements: tuple[Judgement, ...] = ()

    @property
    def read_as(self) -> str:
        """The text that was compared with the reference; the whole answer where nothing was taken out of it."""
        part = self.said.parts[0] if self.said.parts else None
        return self.said.text if part is None or part.parsed is None else part.parsed


@dataclass(frozen=True, slots=True)
class PairRun:
    """One run's answers to the two questions."""

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
    original: PairAnswer | None
    less_biased: PairAnswer | None
    """None where it was not asked: with the image withheld, or where the run holds no answer of its kind at all."""

    @property
    def is_text_only(self) -> bool:
        """Whether the VLM was asked without the image."""
        return self.stage == Stage.TEXT_ONLY

    @property
    def outcome(self) -> PairOutcome | None:
        """What became of the pair, no answer counted as wrong; None where one of its questions was not asked."""
        if self.original is None or self.less_biased is None:
            return None
        return pair_outcome(self.original.said.correct, self.less_biased.said.correct)

    @property
    def is_answered(self) -> bool:
        """Whether both questions have an answer."""
        return all(answer is not None and answer.said.answered for answer in (self.original, self.less_biased))

    @property
    def contradicts(self) -> bool:
        """Whether the two answers part: both were given, one is right and one is wrong."""
        return self.is_answered and self.outcome in (PairOutcome.HINT_ONLY, PairOutcome.POINTED_ONLY)


@dataclass(frozen=True, slots=True)
class PairCase:
    """A pair with everything that was said about it."""

    unit_id: str
    source_id: str
    suite: str
    split: str
    task: Task
    level: Level
    cue: Cue
    hand: Hand | None
    """Of the tool pointed at; None where it is not known, or no tool is."""
    annotation_id: int | None
    """Of what is pointed at; None where it is not known, or the whole frame is asked about."""
    box: Box | None
    """Of what is pointed at; None where it is not known, as with the release's own files."""
    drawing: Outline | Arrow | None
    """What is drawn into the picture; None where that is not known, or nothing is."""
    frame: CaseImage
    picture: CaseImage
    """What the VLM was shown: the frame itself, or its copy with the cue drawn in."""
    original: CaseQuestion
    less_biased: CaseQuestion
    scene: SceneGraph | None
    """What is annotated in the frame; None where it was not imported."""
    runs: tuple[PairRun, ...] = field(default=())

    @property
    def reference(self) -> str:
        """The answer to both questions."""
        return self.original.reference

    @property
    def is_paired(self) -> bool:
        """Whether the two texts differ; in the other tasks both are one question, a shared baseline."""
        return self.original.question != self.less_biased.question


def load_pair(store: Store, unit_id: str) -> PairCase:
    """Return a pair by its unit's id.

    Raises:
        AppError: The store holds no such pair.
    """
    found = store.rows(
        "SELECT u.source_id, u.suite, u.split, u.image_id, p.task, p.level, p.cue, p.picture_id, p.hand, "
        "p.annotation_id, p.box, p.drawing FROM units u JOIN pairs p USING (unit_id) WHERE u.unit_id = ?",
        [unit_id],
    )
    if not found:
        raise AppError(
            f"There is no pair {unit_id!r} in this store.",
            "The link may come from another store. Choose a case from a list, or import the suite it belongs to.",
        )
    [(source_id, suite, split, image_id, task, level, cue, picture_id, hand, annotation_id, box, drawing)] = found
    questions = {
        row[1]: CaseQuestion(*row)
        for row in store.rows(
            "SELECT probe_id, role, position, question, reference, question_class FROM probes WHERE unit_id = ?",
            [unit_id],
        )
    }
    frame = _image(store, image_id)
    return PairCase(
        unit_id=unit_id,
        source_id=source_id,
        suite=suite,
        split=split,
        task=Task(task),
        level=Level(level),
        cue=Cue(cue),
        hand=Hand(hand) if hand else None,
        annotation_id=annotation_id,
        box=load_box(box) if box else None,
        drawing=load_drawing(drawing) if drawing else None,
        frame=frame,
        picture=frame if picture_id == image_id else _image(store, picture_id),
        original=questions[Role.ORIGINAL],
        less_biased=questions[Role.LESS_BIASED],
        scene=frame_scene(store, image_id, suite),
        runs=_runs(store, unit_id),
    )


def pair_runs_in_order(runs: Sequence[PairRun], chosen: PairFilter) -> tuple[list[PairRun], list[PairRun]]:
    """Return the runs a filter asks for, and the others; contradictions first, then by VLM, text-only runs last."""

    def asked(run: PairRun) -> bool:
        return (not chosen.runs or run.run_id in chosen.runs) and (
            not chosen.pair_outcomes or run.outcome in chosen.pair_outcomes
        )

    ordered = sorted(runs, key=lambda run: (run.is_text_only, not run.contradicts, run.vlm.lower(), run.run_id))
    return [run for run in ordered if asked(run)], [run for run in ordered if not asked(run)]


def _image(store: Store, image_id: str) -> CaseImage:
    """Return what the store knows of an image; a picture it does not list is one whose file is not at hand."""
    rows = store.rows(
        "SELECT image_id, dataset, file, width, height, sha256, bytes FROM images WHERE image_id = ?", [image_id]
    )
    return CaseImage(*rows[0]) if rows else CaseImage(image_id, "", image_id, None, None, None, None)


def frame_scene(store: Store, image_id: str, suite: str = "") -> SceneGraph | None:
    """Return a frame's scene graph, that of a suite first, where several annotate the frame; None: none is known."""
    text = store.value(
        "SELECT scene FROM frames WHERE image_id = ? ORDER BY suite <> ?, suite LIMIT 1", [image_id, suite]
    )
    return load_scene(text) if text else None


def _runs(store: Store, unit_id: str) -> tuple[PairRun, ...]:
    judgements: dict[tuple[str, str], list[Judgement]] = {}
    for run_id, probe_id, *judged in store.rows(
        "SELECT j.run_id, j.probe_id, j.judge, j.score, j.reason, j.error FROM judgements j "
        "JOIN probes p USING (probe_id) WHERE p.unit_id = ? ORDER BY j.judge",
        [unit_id],
    ):
        judgements.setdefault((run_id, probe_id), []).append(Judgement(*judged))
    answers: dict[str, dict[str, PairAnswer]] = {}
    for run_id, probe_id, role, text, error, status, correct, parts in store.rows(
        "SELECT s.run_id, s.probe_id, s.role, coalesce(a.answer, ''), coalesce(a.error, ''), s.status, s.correct, "
        "s.parts FROM scores s JOIN runs r USING (run_id, scorer, scorer_version) "
        "LEFT JOIN answers a ON a.run_id = s.run_id AND a.probe_id = s.probe_id "
        f"WHERE s.unit_id = ? AND {ASKED}",
        [unit_id],
    ):
        read = tuple(Part(**part) for part in json.loads(parts))
        said = CaseAnswer(probe_id, text, error, AnswerStatus(status), correct, read)
        answers.setdefault(run_id, {})[role] = PairAnswer(said, tuple(judgements.get((run_id, probe_id), ())))
    runs = store.rows(
        "SELECT run_id, vlm, vlm_group, setting, stage, origin, scorer, scorer_version, prompt_version, decoding, "
        "source FROM runs WHERE list_contains(?, run_id) ORDER BY vlm, stage, run_id",
        [list(answers)],
    )
    return tuple(
        PairRun(  # type: ignore[call-arg]  # the row holds the first eleven fields
            *run,
            answers[run[0]].get(Role.ORIGINAL),
            None if run[4] == Stage.TEXT_ONLY else answers[run[0]].get(Role.LESS_BIASED),
        )
        for run in runs
    )
