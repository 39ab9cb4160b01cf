"""What ships: the demo's folder and the names of its suites and run folders."""

__all__ = [
    "BLIND_DIRECT",
    "BLIND_SURGICAL",
    "DEMO",
    "DEMO_SUITE",
    "DIRECT",
    "FRAMES",
    "MIRAGE_BLIND",
    "MIRAGE_BY_BLIND",
    "MIRAGE_CHAINS",
    "MIRAGE_SALIENCY",
    "MIRAGE_SELF",
    "MIRAGE_SUITE",
    "MIRAGE_SWAPPED",
    "MIRAGE_WITHHELD",
    "RECONCILED",
    "REVISION",
    "RUNS",
    "SELECTION",
    "SELF_REVISION",
    "SELF_SELECTION",
    "SURGICAL",
    "SURGICAL_FRAMES",
    "SURGICAL_LOOKUP",
    "SURGICAL_SUITE",
    "SURGICAL_TEXT_ONLY",
    "VERIFICATION",
    "VERIFICATION_SUITE",
    "VLM",
]

from collections.abc import Mapping
from types import MappingProxyType

from backend.demo import files
from backend.endoca.asr import Variant
from backend.settings import DATA

DEMO = DATA / "demo"
"""The demo's folder."""

VLM = DEMO / "vlm"
"""Holds the VLM in the box."""

RUNS = DEMO / "runs"
"""Holds the shipped run folders."""

FRAMES = DEMO / files.ENDOSCOPY
"""Holds the endoscopy-like frames."""

SURGICAL_FRAMES = DEMO / files.LAPAROSCOPY
"""Holds the laparoscopy-like frames."""

DEMO_SUITE, VERIFICATION_SUITE, SURGICAL_SUITE = "demo", "demo-verification", "demo-surgical"
MIRAGE_SUITE = "demo-verimap"

DIRECT, BLIND_DIRECT = "endoca-direct", "endoca-direct-blind"
REVISION, SELECTION = "endoca-revise", "endoca-select"
SELF_REVISION, SELF_SELECTION = "endoca-self-revise", "endoca-self-select"
VERIFICATION = "verimap-verify"
SURGICAL, BLIND_SURGICAL = "surgcheck-direct", "surgcheck-direct-blind"
SURGICAL_TEXT_ONLY, SURGICAL_LOOKUP = "surgcheck-text-only", "surgcheck-text-lookup"
"""Names of the run folders."""

MIRAGE_SELF, MIRAGE_BY_BLIND, MIRAGE_BLIND = "verimap-self", "verimap-by-blind", "verimap-of-blind"
MIRAGE_WITHHELD, MIRAGE_SWAPPED = "verimap-withheld", "verimap-swapped"
MIRAGE_CHAINS = (MIRAGE_SELF, MIRAGE_BLIND, MIRAGE_BY_BLIND, MIRAGE_WITHHELD, MIRAGE_SWAPPED)
"""Names of the folders of chains, those with first answers before those made from them."""
MIRAGE_SALIENCY = "verimap-saliency"
"""Name of the folder with looks at the VLM's own first answers and at its verdicts on them."""

RECONCILED: Mapping[Variant, tuple[str, str]] = MappingProxyType(
    {Variant.ASR: (REVISION, SELECTION), Variant.SELF: (SELF_REVISION, SELF_SELECTION)}
)
"""Run folders of each variant's Revise and Select."""
