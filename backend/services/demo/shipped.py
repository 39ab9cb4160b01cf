"""What ships: the demo's folder and the names of its suites and run folders."""

__all__ = [
    "BLIND_DIRECT",
    "BLIND_SURGICAL",
    "DEMO",
    "DEMO_SUITE",
    "DIRECT",
    "FRAMES",
    "REVISION",
    "RUNS",
    "SURGICAL",
    "SURGICAL_SUITE",
    "VERIFICATION",
    "VERIFICATION_SUITE",
    "VLM",
]

from backend.demo import files
from backend.settings import DATA

DEMO = DATA / "demo"
"""The demo's folder."""

VLM = DEMO / "vlm"
"""Holds the VLM in the box."""

RUNS = DEMO / "runs"
"""Holds the shipped run folders."""

FRAMES = DEMO / files.ENDOSCOPY
"""Holds the endoscopy-like frames."""

DEMO_SUITE, VERIFICATION_SUITE, SURGICAL_SUITE = "demo", "demo-verification", "demo-surgical"

DIRECT, BLIND_DIRECT = "endoca-direct", "endoca-direct-blind"
REVISION, VERIFICATION = "endoca-revise", "verimap-verify"
SURGICAL, BLIND_SURGICAL = "surgcheck-direct", "surgcheck-direct-blind"
"""Names of the run folders."""
