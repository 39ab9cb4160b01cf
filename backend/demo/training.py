"""Training of the VLM in the box: seeded, resumable, with learning curves.

What a step draws depends on the seed and the step's number alone, so a training that was
stopped and resumed takes the steps it would have taken.
"""

__all__ = ["Training", "prompts_hash"]

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from backend.demo.architecture import build_processor, build_tokenizer, build_vlm
from backend.demo.batches import IGNORED, Encoder, losses, see
from backend.demo.checkpoint import Standing, load_checkpoint, save_checkpoint
from backend.demo.curriculum import CURRICULUM, SEED, Stage
from backend.demo.curves import Accuracy, CurvePoint, OnPoint
from backend.demo.lessons import Lesson, endoscopy_lessons, surgical_lessons
from backend.demo.patch_names import naming_loss, naming_parameters, word_rows
from backend.demo.scenes import Split
from backend.demo.training_frames import Pictures, draw_pictures
from backend.demo.validation import accuracy, validation_lessons
from backend.domain.progress import Report
from backend.endoca import prompts as endoca
from backend.surgcheck import prompts as surgcheck
from backend.verimap import prompts as verimap

ENDOSCOPY_FRAMES, LAPAROSCOPY_FRAMES = 12_000, 4_000
"""Frames learned from."""

VALIDATION_FRAMES = 100
"""Of each kind, for the learning curves."""

EVERY = 250
"""Steps between two points of the learning curves."""

CHECKPOINT_SECONDS = 120.0
"""Between two checkpoints within a stage."""


def prompts_hash() -> str:
    """Return a hash of every prompt template of the three systems, kept beside the weights."""
    templates = {system.PROMPT_VERSION: dict(system.TEMPLATES) for system in (endoca, surgcheck, verimap)}
    return hashlib.sha256(json.dumps(templates, sort_keys=True).encode()).hexdigest()


class Training:
    """One training, in a work folder."""

    def __init__(self, folder: Path, workers: int, report: Report, curriculum: Sequence[Stage] = CURRICULUM) -> None:
        """Draw or load the frames, build the VLM, and take up the last checkpoint where there is one.

        Args:
            folder: The work folder.
            workers: Processes that draw frames.
            report: Told of frames drawn and of steps.
            curriculum: What is taught.
        """
        import torch

        self._folder, self._report, self.curriculum = folder, report, curriculum
        self._endoscopy = draw_pictures(folder, "endoscopy", Split.TRAIN, ENDOSCOPY_FRAMES, workers, report)
        self._surgical = draw_pictures(folder, "laparoscopy", Split.TRAIN, LAPAROSCOPY_FRAMES, workers, report)
        self._validation = draw_pictures(folder, "endoscopy", Split.VALIDATION, VALIDATION_FRAMES, workers, report)
        self._surgical_validation = draw_pictures(
            folder, "laparoscopy", Split.VALIDATION, VALIDATION_FRAMES, workers, report
        )
        self._surgical_answers = _answers_by_task(self._surgical)
        self.tokenizer = build_tokenizer(self._texts())
        self.vlm = build_vlm(self.tokenizer, SEED)
        self._encoder = Encoder(self.tokenizer)
        self._word_rows = word_rows(self.tokenizer)
        self._modules = torch.nn.ModuleDict({"vlm": self.vlm, "naming": naming_parameters()})
        seeing, others = _parted(self._modules)
        self._optimizer = torch.optim.AdamW(
            [{"params": seeing}, {"params": others}], betas=(0.9, 0.98), weight_decay=0.05
        )
        self.standing = load_checkpoint(folder, self._modules, self._optimizer) or Standing(0, 0.0)

    @property
    def total_steps(self) -> int:
        """Steps of all stages."""
        return sum(stage.steps for stage in self.curriculum)

    @property
    def is_done(self) -> bool:
        """Whether every step was taken."""
        return self.standing.step >= self.total_steps

    def run(self, minutes: float, on_point: OnPoint) -> None:
        """Take steps until the training is done or the time is over, and write a checkpoint.

        Args:
            minutes: At most so long.
            on_point: Told of each point of the learning curves; of one a second time where the training
                was killed between the point and the next checkpoint.
        """
        began = saved = time.monotonic()
        before = self.standing.seconds
        recent: list[float] = []
        while not self.is_done:
            stage, number = self._place(self.standing.step)
            loss = self._step(stage, number, np.random.default_rng((SEED, self.standing.step)))
            recent.append(loss)
            now = time.monotonic()
            self.standing = Standing(self.standing.step + 1, before + now - began)
            ends_stage = number + 1 == stage.steps
            if self.standing.step % EVERY == 0 or ends_stage:
                on_point(self._point(stage, sum(recent) / len(recent)))
                recent.clear()
            out_of_time = now - began > 60 * minutes
            if ends_stage or out_of_time or now - saved > CHECKPOINT_SECONDS:
                save_checkpoint(self._folder, self.standing, self._modules, self._optimizer)
                saved = now
            if out_of_time:
                return
            self._report(f"training: {stage.name}", self.standing.step, self.total_steps)

    def save_vlm(self, folder: Path) -> None:
        """Write the VLM as it stands: bfloat16 weights, config and processor."""
        import torch

        folder.mkdir(parents=True, exist_ok=True)
        deepcopy(self.vlm).to(torch.bfloat16).save_pretrained(folder)
        build_processor(self.tokenizer).save_pretrained(folder)

    def _place(self, step: int) -> tuple[Stage, int]:
        for stage in self.curriculum:
            if step < stage.steps:
                return stage, step
            step -= stage.steps
        raise IndexError("the training is done")

    def _step(self, stage: Stage, number: int, rng: np.random.Generator) -> float:
        import torch

        seeing, others = self._optimizer.param_groups
        others["lr"] = stage.rate(number)
        seeing["lr"] = stage.seeing * others["lr"]
        chosen = rng.integers(len(self._endoscopy.facts), size=stage.endoscopy)
        surgical = rng.integers(len(self._surgical.facts), size=stage.surgical)
        lessons = list(self._lessons(stage, chosen.tolist(), surgical.tolist(), rng)) if stage.mix else []
        pixels = np.concatenate([self._endoscopy.pixels[chosen], self._surgical.pixels[surgical]])
        coverage = np.concatenate([self._endoscopy.coverage[chosen], self._surgical.coverage[surgical]])
        with torch.autocast("cpu", torch.bfloat16):
            features = self.vlm.model.multi_modal_projector(see(self.vlm, pixels))
            words = self.vlm.get_input_embeddings().weight
            loss = stage.naming * naming_loss(features, words, self._word_rows, self._modules["naming"], coverage)
            if lessons:
                batches = self._encoder.batches(lessons)
                found = losses(self.vlm, features, batches, self._encoder.user)
                learned = sum(int((batch.targets != IGNORED).sum()) for batch in batches)
                loss = loss + sum(token_losses.sum() for token_losses, _ in found) / learned
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._modules.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return float(loss.item())

    def _lessons(
        self, stage: Stage, chosen: Sequence[int], surgical: Sequence[int], rng: np.random.Generator
    ) -> Iterator[tuple[int, Lesson]]:
        for place, index in enumerate(chosen):
            for lesson in endoscopy_lessons(self._endoscopy.facts[index], self._endoscopy.facts, stage.mix, rng):
                yield place, lesson
        for place, index in enumerate(surgical, len(chosen)):
            asked = self._surgical.facts[index]
            for lesson in surgical_lessons(asked, self._surgical_answers, stage.surgical_mix, rng):
                yield place, lesson

    def _point(self, stage: Stage, training_loss: float) -> CurvePoint:
        found: Accuracy = {}
        if stage.mix:
            about = validation_lessons(self._validation, self._surgical_validation, self._surgical_answers)
            found = accuracy(self.vlm, self._encoder, about)
        return CurvePoint(stage.name, self.standing.step, round(self.standing.seconds, 1), training_loss, found)

    def _texts(self) -> Iterator[str]:
        """Yield prompts and replies for the tokenizer to learn on: of the first stage that teaches most of them."""
        rng = np.random.default_rng(SEED)
        stage = max(self.curriculum, key=lambda stage: len(stage.mix))
        frames = range(min(1000, len(self._endoscopy.facts)))
        pictures = range(min(1000, len(self._surgical.facts)))
        for _, lesson in self._lessons(stage, frames, pictures, rng):
            yield lesson.prompt
            yield lesson.reply


def _parted(modules: Any) -> tuple[list[Any], list[Any]]:
    """Return the parameters of vision tower and projector, and the others."""
    seeing: list[Any] = []
    others: list[Any] = []
    for name, parameter in modules.named_parameters():
        sees = ".vision_tower." in name or ".multi_modal_projector." in name
        (seeing if sees else others).append(parameter)
    return seeing, others


def _answers_by_task(pictures: Pictures) -> dict[str, list[str]]:
    answers: dict[str, set[str]] = defaultdict(set)
    for asked in pictures.facts:
        for task, _, _, reference in asked:
            answers[task].add(reference)
    return {task: sorted(found) for task, found in answers.items()}
