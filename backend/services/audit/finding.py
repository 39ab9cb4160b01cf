"""A finding: one printed claim, what comes out when it is recomputed, and what follows from that.

Numbers in a finding are either printed in a paper or made by code from the data at hand. Where that data is
absent the finding says what to import, and gives the printed number alone.
"""

__all__ = ["AuditedFigure", "Check", "Finding", "Verdict", "unseen"]

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from backend.domain.records import System
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


class Verdict(StrEnum):
    """What became of a claim."""

    FAILS = "does not hold"
    OTHERWISE = "holds only under another definition"
    HOLDS = "holds"
    OPEN = "cannot be recomputed here"


class AuditedFigure(StrEnum):
    """Figures of the pages that a finding can stand beside."""

    ENDOCA_SCORES = "endoca_scores"
    ENDOCA_ASR = "endoca_asr"
    SURGCHECK_VLMS = "surgcheck_vlms"
    SURGCHECK_TASKS = "surgcheck_tasks"
    SURGCHECK_CUES = "surgcheck_cues"
    SURGCHECK_ABLATION = "surgcheck_ablation"
    VERIMAP_PLANE = "verimap_plane"
    VERIMAP_SLOPES = "verimap_slopes"
    """Slopes by task (Fig. 4)."""
    VERIMAP_CELLS = "verimap_cells"
    """Cells with the cell-level models (Fig. B1, Tables 4 and 5)."""
    VERIMAP_LOGISTIC = "verimap_logistic"
    """Odds ratios and the answer-level models (Fig. 3, Tables 1 to 3)."""
    VERIMAP_GROUNDING = "verimap_grounding"
    """Image evidence of generator and verifier (Fig. 5)."""
    VERIMAP_LOOP = "verimap_loop"
    VERIMAP_ROUTING = "verimap_routing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One claim, checked."""

    key: str
    """Paper and number, as "verimap-2": the anchor on the audit page."""
    paper: System
    title: str
    """In a few words."""
    claim: str
    """What the paper says, in our words."""
    where: str
    """Table, figure or section."""
    printed: str
    """The number printed, or what is said in its place."""
    recomputed: str
    """What comes out; empty where nothing can be computed here."""
    definition: str
    """The computation in words; that which reproduces the printed number, where one does."""
    consequence: str
    verdict: Verdict
    missing: str = ""
    """Why it cannot be recomputed here, and what to do; empty otherwise."""
    data: "pd.DataFrame | None" = field(default=None, compare=False)
    """The numbers behind it, None where there are none. Undefined is None or NaN: an empty cell of a CSV file."""


@dataclass(frozen=True, slots=True)
class Check:
    """How a finding is made."""

    key: str
    about: tuple[AuditedFigure, ...]
    make: Callable[[Store], Finding]


def unseen(finding: Finding, missing: str) -> Finding:
    """Return a finding with its printed side alone.

    Args:
        finding: With claim, where, printed, definition and consequence; anything computed in it is dropped.
        missing: Why it cannot be recomputed, and what to do.
    """
    return replace(finding, recomputed="", verdict=Verdict.OPEN, missing=missing, data=None)
