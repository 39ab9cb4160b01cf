"""What is kept beside the weights: how they were made."""

__all__ = ["RECORD", "read_record", "write_record"]

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backend import __version__
from backend.demo.curriculum import SEED, Stage
from backend.endoca.prompts import PROMPT_VERSION as ENDOCA_VERSION
from backend.errors import AppError
from backend.surgcheck.prompts import PROMPT_VERSION as SURGCHECK_VERSION
from backend.verimap.prompts import PROMPT_VERSION as VERIMAP_VERSION

RECORD = "training.json"
"""Name of the file."""

COMMAND = "python -m backend demo train"


def write_record(folder: Path, curriculum: Sequence[Stage], seconds: float, threads: int) -> None:
    """Write how a training was made.

    Args:
        folder: Where the weights lie.
        curriculum: What was taught.
        seconds: Spent on steps.
        threads: That trained.
    """
    import torch
    import transformers

    from backend.demo.training import prompts_hash

    record = {
        "command": COMMAND,
        "seed": SEED,
        "steps": {stage.name: stage.steps for stage in curriculum},
        "curriculum": [asdict(stage) for stage in curriculum],
        "seconds": round(seconds),
        "threads": threads,
        "prompt_versions": [ENDOCA_VERSION, SURGCHECK_VERSION, VERIMAP_VERSION],
        "prompts_sha256": prompts_hash(),
        "versions": {"parallax": __version__, "torch": torch.__version__, "transformers": transformers.__version__},
    }
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """Return how the VLM in a folder was made.

    Raises:
        AppError: Nothing is kept beside its weights.
    """
    path = folder / RECORD
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror}).", "Restore data/demo from the project.") from error
