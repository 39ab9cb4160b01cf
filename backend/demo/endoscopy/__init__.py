"""Endoscopy-like frames, drawn with the exact mask of everything in them."""

from backend.demo.endoscopy.scene import draw_endoscopy
from backend.demo.endoscopy.vocabulary import (
    BOX,
    COLITIS,
    FINDINGS,
    INSTRUMENTS,
    LANDMARKS,
    OESOPHAGITIS,
    POLYP,
    RESECTION,
    TEXT,
)

__all__ = [
    "BOX",
    "COLITIS",
    "FINDINGS",
    "INSTRUMENTS",
    "LANDMARKS",
    "OESOPHAGITIS",
    "POLYP",
    "RESECTION",
    "TEXT",
    "draw_endoscopy",
]
