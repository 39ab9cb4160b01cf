"""How much faster a batched local run is than one `generate` call a question, and whether both say the same.

    python -m tests.benchmarks.shared_image [--probes 3000] [--threads 2]

Both sides answer the same questions of the built-in test split with the VLM in the box, in one
process, in turns of a few frames, so that neither has the quieter machine. Where two answers
differ, the first token at which they part is looked up: a difference is a floating-point tie
where the two tokens' logits, computed once more in float64, lie within a thousandth.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL.Image import Image

from backend.domain.vlm import Ask, Decoding
from backend.endoca.prompts import answer_prompt
from backend.services.demo.questions import samples
from backend.services.demo.shipped import DEMO, VLM
from backend.vlm.loading import LocalSpec
from backend.vlm.picture import open_picture
from backend.vlm.transformers_local import load_vlm

FRAMES_A_TURN = 20
TIE = 1e-3


class Plain:
    """The VLM asked by the library's own means: processor, `generate`, decode.

    Args:
        folder: Holds the VLM.
        opened: Opens an image file.
    """

    def __init__(self, folder: Path, opened: Callable[[Path], Image] = open_picture) -> None:
        import torch
        from transformers import AutoModelForImageTextToText, AutoProcessor

        processors: Any = AutoProcessor
        models: Any = AutoModelForImageTextToText
        self._opened = opened
        self.processor = processors.from_pretrained(folder)
        self.model = models.from_pretrained(folder, dtype=torch.float32).eval()

    def inputs(self, ask: Ask) -> Any:
        """Return the tensors of a question."""
        assert ask.image is not None
        content = [{"type": "image", "image": self._opened(ask.image)}, {"type": "text", "text": ask.prompt}]
        return self.processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )

    def answer(self, ask: Ask, limit: int) -> str:
        """Answer one question."""
        import torch

        inputs = self.inputs(ask)
        with torch.inference_mode():
            said = self.model.generate(**inputs, max_new_tokens=limit, do_sample=False)
        return str(self.processor.tokenizer.decode(said[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))

    def gap(self, ask: Ask, one: str, other: str) -> float:
        """Return how far apart the logits of two answers' first different tokens are, in float64."""
        import torch

        tokenizer = self.processor.tokenizer
        first, second = ([*tokenizer(text).input_ids, tokenizer.eos_token_id] for text in (one, other))
        place = next(at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
        inputs = self.inputs(ask)
        tokens = torch.cat([inputs["input_ids"], torch.tensor([first[:place]], dtype=torch.long)], 1)
        model = self.model.double()
        with torch.inference_mode():
            logits = model(input_ids=tokens, pixel_values=inputs["pixel_values"].double()).logits[0, -1]
        self.model = model.float()
        return abs(float(logits[first[place]] - logits[second[place]]))


def asks(count: int) -> list[Ask]:
    """Return the first questions of the test split, those of a frame together."""
    found = [
        Ask(DEMO / question.image, answer_prompt(question.question)) for sample in samples() for question in sample
    ]
    return found[:count]


def turns(questions: Sequence[Ask]) -> list[list[Ask]]:
    """Return the questions, those of a few frames at a time."""
    frames = [list(group) for _, group in groupby(questions, key=lambda ask: ask.image)]
    return [
        [ask for frame in frames[start : start + FRAMES_A_TURN] for ask in frame]
        for start in range(0, len(frames), FRAMES_A_TURN)
    ]


def main() -> None:
    """Run the benchmark."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probes", type=int, default=3000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    shared, plain, decoding = load_vlm(LocalSpec(source=str(VLM), name="Box VLM")), Plain(VLM), Decoding()
    together = apart = 0.0
    different: list[tuple[Ask, str, str]] = []
    questions = asks(options.probes)
    for turn in turns(questions):
        start = time.perf_counter()
        batched = shared.answer_all(turn, decoding)
        between = time.perf_counter()
        single = [plain.answer(ask, decoding.max_new_tokens) for ask in turn]
        together, apart = together + between - start, apart + time.perf_counter() - between
        both = zip(turn, (reply.text for reply in batched), single, strict=True)
        different += [found for found in both if found[1] != found[2]]
    gaps = [plain.gap(*found) for found in different]
    ties = sum(gap < TIE for gap in gaps)
    print(f"{len(questions):,} questions on {options.threads} threads")
    print(f"batched: {together:.1f} s, {len(questions) / together:,.0f} answers/s")
    print(f"one generate call each: {apart:.1f} s, {len(questions) / apart:,.0f} answers/s")
    print(f"ratio: {apart / together:.1f}")
    print(f"different answers: {len(different)}, of them floating-point ties: {ties}")
    for gap, (_, one, other) in sorted(zip(gaps, different, strict=True), key=lambda found: found[0])[-10:]:
        print(f"  gap {gap:.2e}: {one!r} against {other!r}")


if __name__ == "__main__":
    main()
