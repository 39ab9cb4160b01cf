"""What an endoscopy-like frame can hold, in the words of Kvasir-VQA."""

__all__ = [
    "BOX",
    "CECUM",
    "CLIP",
    "COLITIS",
    "FINDINGS",
    "FORCEPS",
    "ILEUM",
    "INSTRUMENTS",
    "LANDMARKS",
    "NEEDLE",
    "OESOPHAGITIS",
    "POLYP",
    "PYLORUS",
    "RESECTION",
    "SNARE",
    "TEXT",
    "TUBE",
    "Z_LINE",
]

POLYP = "polyp"
RESECTION = "resection site"
"""Where a polyp was removed; no finding."""
OESOPHAGITIS = "oesophagitis"
COLITIS = "ulcerative colitis"
FINDINGS = (POLYP, OESOPHAGITIS, COLITIS)

FORCEPS = "biopsy forceps"
NEEDLE = "injection needle"
CLIP = "metal clip"
SNARE = "polyp snare"
TUBE = "tube"
INSTRUMENTS = (FORCEPS, NEEDLE, CLIP, SNARE, TUBE)

CECUM = "cecum"
ILEUM = "ileum"
PYLORUS = "pylorus"
Z_LINE = "z-line"
LANDMARKS = (CECUM, ILEUM, PYLORUS, Z_LINE)

BOX = "box artefact"
"""The coloured rectangle with a small drawing that a scope guide leaves at the lower left."""
TEXT = "text"
