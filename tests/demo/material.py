"""References of frames that were never drawn, and a LLaVA small enough to be trained in a test."""

__all__ = ["facts_from", "tiny_architecture", "varied_facts"]

import numpy as np
import pytest

from backend.demo import architecture
from backend.demo.endoscopy import COLITIS, INSTRUMENTS, LANDMARKS, OESOPHAGITIS, POLYP
from backend.demo.endoscopy_questions import DEMO_CLASSES, Facts
from backend.endoca.vocabulary import CELLS


def facts_from(seed: int) -> Facts:
    """Return references that some frame could have: of up to four polyps and two patches, as the drawn ones have."""
    rng = np.random.default_rng(seed)

    def some(labels: tuple[str, ...], least: int, most: int) -> str:
        chosen = set(rng.permutation(len(labels))[: rng.integers(least, most + 1)].tolist())
        return "; ".join(label for place, label in enumerate(labels) if place in chosen) or "none"

    polyps, oesophagitis, colitis = int(rng.integers(5)), int(rng.integers(2)), int(rng.integers(2))
    findings = polyps + oesophagitis + colitis
    kinds = [kind for kind, n in ((POLYP, polyps), (OESOPHAGITIS, oesophagitis), (COLITIS, colitis)) if n]
    instruments = some(INSTRUMENTS, 0, 3)
    return {
        "text_presence": str(rng.choice(["yes", "no"])),
        "box_artifact_presence": str(rng.choice(["yes", "no"])),
        "finding_count": str(findings),
        "polyp_count": str(polyps),
        "polyp_removal_status": "no" if polyps else str(rng.choice(["yes", "not relevant"])),
        "instrument_presence": instruments,
        "instrument_location": "none" if instruments == "none" else some(CELLS, 1, 4),
        "landmark_presence": some(LANDMARKS, 0, 2),
        "abnormality_presence": "; ".join(kinds) or "none",
        "abnormality_location": some(CELLS, 1, 5) if findings else "none",
    }


def varied_facts(count: int) -> list[Facts]:
    """Return references of several frames; of every question class at least two differ."""
    facts = [facts_from(seed) for seed in range(count)]
    assert all(len({own[name] for own in facts}) > 1 for name in DEMO_CLASSES)
    return facts


def tiny_architecture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the VLM in the box narrow and flat; pictures and prompts stay as they are."""
    monkeypatch.setattr(architecture, "WIDTH", 16)
    monkeypatch.setattr(architecture, "LAYERS", 2)
    monkeypatch.setattr(architecture, "HEADS", 2)
