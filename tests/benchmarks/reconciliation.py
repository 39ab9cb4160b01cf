"""What a whole reconciliation costs beside m + 3 plain `generate` calls, and whether both say the same.

    python -m tests.benchmarks.reconciliation [--frames 20] [--rounds 3] [--threads 1] [--vlm FOLDER]

Both sides run Workflow 1 on the same frames of the built-in test split with the same weights,
in one process and in turns, so that neither has the quieter machine. Each frame is new to the
VLM: nothing of it is kept from before. The plain side opens the frame's file once, and prepares
it anew for each call, as whoever calls `generate` does. Every trace is counted as said the same
only where all its replies are equal, word for word.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.domain.vlm import Ask, Decoding, OnText, Reply, Vlm, said_nothing
from backend.endoca.asr import Step, StepName, Trace, reconcile
from backend.services.demo.questions import Question, samples
from backend.services.demo.shipped import DEMO, VLM
from backend.vlm.loading import LocalSpec
from backend.vlm.picture import KeptPicture
from backend.vlm.transformers_local import load_vlm
from tests.benchmarks.shared_image import TIE, Plain

N_ATOMIC = (1, 2, 3)


class PlainVlm:
    """A VLM each of whose calls is a `generate` call of its own."""

    name = "plain"

    def __init__(self, folder: Path) -> None:
        pictures = KeptPicture()
        self.plain = Plain(folder, lambda path: pictures.open(path).image)

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Answer one prompt; see `Vlm.answer`."""
        return Reply(self.plain.answer(Ask(image, prompt), decoding.max_new_tokens))

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Answer prompts one by one; see `Vlm.answer_all`."""
        return [self.answer(ask.image, ask.prompt, decoding, said_nothing) for ask in asks]


class Nobody:
    """A watcher that looks away."""

    def begins(self, name: StepName, position: int, question: str, prompt: str) -> None:
        """See `Watcher.begins`."""

    def says(self, text: str) -> None:
        """See `Watcher.says`."""

    def ends(self, step: Step) -> None:
        """See `Watcher.ends`."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A trace and what it took, in seconds."""

    trace: Trace
    wall: float
    cpu: float


def timed(vlm: Vlm, sample: Sequence[Question]) -> Timed:
    """Reconcile one complex question."""
    whole, *atomic = sample
    wall, cpu = time.perf_counter(), time.process_time()
    trace = reconcile(vlm, DEMO / whole.image, whole.question, [part.question for part in atomic], Nobody())
    return Timed(trace, time.perf_counter() - wall, time.process_time() - cpu)


def chosen(n_atomic: int, frames: int) -> list[tuple[Question, ...]]:
    """Return questions with so many atomic ones, each about a frame of its own."""
    by_frame = {sample[0].image: sample for sample in samples() if len(sample) == n_atomic + 1}
    return list(by_frame.values())[:frames]


def parting(one: Trace, other: Trace) -> tuple[Step, Step] | None:
    """Return the first step at which two traces say different things; None where none does."""
    both = zip(one.steps, other.steps, strict=True)
    return next((found for found in both if found[0].reply.text != found[1].reply.text), None)


def summary(name: str, times: Sequence[Timed], others: Sequence[Timed], of: Callable[[Timed], float]) -> str:
    """Return a line about times of one kind, medians in milliseconds."""
    here, there = [of(found) for found in times], [of(found) for found in others]
    tenths = statistics.quantiles([one / other for one, other in zip(here, there, strict=True)], n=10)
    return (
        f"  {name:<5}{1000 * statistics.median(here):>8.0f} ms against {1000 * statistics.median(there):>6.0f} ms"
        f"   ratio of sums {sum(here) / sum(there):.2f}, of pairs {tenths[0]:.2f} to {tenths[-1]:.2f} (middle 80%)"
    )


def main() -> None:
    """Run the benchmark."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--vlm", type=Path, default=VLM)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    kept, plain = load_vlm(LocalSpec(source=str(options.vlm), name="Box VLM")), PlainVlm(options.vlm)
    print(f"{options.frames} frames, {options.rounds} rounds, {options.threads} threads")
    for n_atomic in N_ATOMIC:
        questions = chosen(n_atomic, options.frames)
        for vlm in (kept, plain):
            timed(vlm, questions[-1])
        pairs = [(timed(kept, one), timed(plain, one)) for _ in range(options.rounds) for one in questions]
        here, there = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        print(f"m = {n_atomic}, {len(questions)} questions")
        print(summary("wall", here, there, lambda found: found.wall))
        print(summary("CPU", here, there, lambda found: found.cpu))
        partings = [parting(one.trace, other.trace) for one, other in pairs[: len(questions)]]
        for found in filter(None, partings):
            text, other = found[0].reply.text, found[1].reply.text
            image = next(one[0].image for one, part in zip(questions, partings, strict=True) if part is found)
            gap = plain.plain.gap(Ask(DEMO / image, found[0].prompt), text, other)
            print(f"  differs at {found[0].name}: {text!r} against {other!r}, gap {gap:.1e}, tie: {gap < TIE}")
        print(f"  traces that differ: {sum(part is not None for part in partings)} of {len(questions)}")


if __name__ == "__main__":
    main()
