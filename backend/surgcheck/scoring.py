"""Scoring of SurgCheck's answers: exact match (SurgCheck, fine-tuned setting)."""

__all__ = ["SCORER", "SCORER_VERSION", "exact_match"]

SCORER = "parallax-surgcheck-exact-match"
"""Name of this scorer, stored with every score."""
SCORER_VERSION = "1"
"""Raised whenever a rule changes a verdict."""


def exact_match(answer: str, reference: str) -> bool:
    """Say whether an answer is the reference, leaving aside case and the number of spaces."""
    return _plain(answer) == _plain(reference)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
