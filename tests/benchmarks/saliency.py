"""What saliency costs at a thousand image tokens: memory against all attentions, time against plain generation.

    python -m tests.benchmarks.saliency [--layers 24] [--tokens 20]

A LLaVA of random weights sees 1,024 image tokens. Each way runs in a process of its own, since a
process does not give back its memory at once, on one thread, and once before it is measured. Told are
the peak of its tensors, the peak of the process above what it held before (allocators keep more than
they need), and its processor time, which other work on the machine hardly changes. *all attentions*
is a plain pass with ``output_attentions=True``, *attention* is saliency without its gradient,
*saliency* is all of it, *generation* says as many tokens as the others read.
"""

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from backend.domain.vlm import Decoding, said_nothing

SIDE, PATCH = 448, 14
WAYS = ("all attentions", "attention", "saliency", "generation")
PROMPT = "What is seen in this image, and where is it?"


def vlm_folder(folder: Path, layers: int) -> Path:
    """Save a LLaVA of 1,024 image tokens, width 512 and 8 heads."""
    from tests.vlm.tiny_models import TEXT, VISION, hf, save, tokenizer

    template = (
        "{% for m in messages %}{% for p in m['content'] %}{{ '<image>' if p['type'] == 'image' else p['text'] }}"
    )
    template += "{% endfor %}{% endfor %}"
    words = tokenizer(["<end>", "<image>"], template=template)
    vision = {**VISION, "hidden_size": 128, "num_attention_heads": 4, "image_size": SIDE, "patch_size": PATCH}
    text = {
        **TEXT,
        "hidden_size": 512,
        "intermediate_size": 1376,
        "num_hidden_layers": layers,
        "num_attention_heads": 8,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "max_position_embeddings": 4096,
    }
    config = hf.LlavaConfig(
        vision_config={"model_type": "siglip_vision_model", "vision_use_head": False, **vision},
        text_config={"model_type": "llama", "vocab_size": len(words), **text},
        image_token_id=1,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        tie_word_embeddings=False,
    )
    processor = hf.LlavaProcessor(
        image_processor=hf.SiglipImageProcessor(size={"height": SIDE, "width": SIDE}),
        tokenizer=words,
        patch_size=PATCH,
        vision_feature_select_strategy="full",
        chat_template=template,
    )
    return save(folder, hf.LlavaForConditionalGeneration, config, processor)


def call_of(way: str, folder: Path, n_tokens: int) -> Callable[[], Any]:
    """Load the VLM and return one way of using it."""
    import torch

    from backend.vlm.loading import LocalSpec
    from backend.vlm.transformers_local import load_vlm
    from tests.vlm.saliency.by_hand import ByHand

    frame, answer = folder / "frame.png", "x" * n_tokens
    if way == "all attentions":
        by_hand = ByHand(folder, torch.float32)
        inputs = by_hand.whole(Image.open(frame), PROMPT, answer)

        def all_attentions() -> Any:
            with torch.no_grad():
                return by_hand.model(**inputs, output_attentions=True, use_cache=False).attentions

        return all_attentions
    vlm = load_vlm(LocalSpec(str(folder), "benchmark"))
    if way == "generation":
        vlm._model.generation_config.eos_token_id = None

        def generation() -> Any:
            vlm._prefix.forget()
            return vlm.answer(frame, PROMPT, Decoding(max_new_tokens=n_tokens), said_nothing)

        return generation
    vlm._model.is_quantized = way == "attention"
    return lambda: vlm.saliency(frame, PROMPT, answer)


def memory(field: str) -> int:
    """Return a value of this process's memory in bytes, as Linux tells it."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def measure(way: str, folder: Path, n_tokens: int) -> dict[str, float]:
    """Return a call's peak of tensors and of the process, in MB, and its processor time in seconds."""
    import torch

    torch.set_num_threads(1)
    call = call_of(way, folder, n_tokens)
    call()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before, start = memory("VmRSS"), time.process_time()
    call()
    of_process, seconds = memory("VmHWM") - before, time.process_time() - start
    return {"tensors_mb": peak_of_tensors(call) / 1e6, "process_mb": of_process / 1e6, "seconds": seconds}


def peak_of_tensors(call: Callable[[], Any]) -> int:
    """Return how many bytes a call's tensors take at most at a time, as torch's allocator counts them."""
    from torch.profiler import profile

    with profile(profile_memory=True) as profiled:
        call()
    results: Any = profiled.profiler.kineto_results
    steps = sorted((event.start_ns(), event.nbytes()) for event in results.events() if event.name() == "[memory]")
    return int(max(accumulate((size for _, size in steps), initial=0)))


def main() -> None:
    """Run the benchmark, or one way of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--tokens", type=int, default=20, help="of the answer")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measure(options.way, options.folder, options.tokens)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = vlm_folder(Path(name), options.layers)
        noise = np.random.default_rng(0).integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)
        Image.fromarray(noise).save(folder / "frame.png")
        found = {}
        for way in WAYS:
            command = [sys.executable, "-m", "tests.benchmarks.saliency", "--way", way, "--folder", name]
            command += ["--tokens", str(options.tokens)]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found[way] = json.loads(said.splitlines()[-1])
    print(f"{options.layers} layers, {(SIDE // PATCH) ** 2:,} image tokens, {options.tokens} tokens of an answer")
    for way, told in found.items():
        of_tensors = told["tensors_mb"] / found["all attentions"]["tensors_mb"]
        of_process = told["process_mb"] / found["all attentions"]["process_mb"]
        of_time = told["seconds"] / found["generation"]["seconds"]
        print(
            f"{way:>15}: tensors {told['tensors_mb']:6.0f} MB ({of_tensors:.2f} of all attentions), "
            f"process {told['process_mb']:6.0f} MB ({of_process:.2f}), "
            f"{told['seconds']:6.2f} s ({of_time:.2f} of generation)"
        )


if __name__ == "__main__":
    main()
