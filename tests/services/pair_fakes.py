"""A fake VLM in a worker's child process that leans on the hint: right where the question names the tool.

Its ``source`` is a folder that takes orders for the steps ``original`` and ``less_biased`` (`live_fakes.orders`).
"""

import os
from pathlib import Path

from backend.domain.vlm import Decoding, OnText, Reply
from backend.surgcheck.scene_graphs import TOOLS
from backend.vlm.loading import LocalSpec
from tests.services.live_fakes import ScriptedVlm

FACTORY = "tests.services.pair_fakes:load"

RIGHT, WRONG = "retract", "clip"


def load(spec: LocalSpec) -> "HintedVlm":
    """Make it, and note whose process it is."""
    Path(spec.source, "pid").write_text(str(os.getpid()))
    return HintedVlm(spec.name, Path(spec.source))


class HintedVlm(ScriptedVlm):
    """Says what the grasper does where it is named, and something else where it is only pointed at."""

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        self._stop.clear()
        is_named = any(tool in prompt for tool in TOOLS)
        return self._step("original" if is_named else "less_biased", RIGHT if is_named else WRONG, on_text)
