"""Scoring of SurgCheck's answers: exact match (SurgCheck, fine-tuned setting)."""

__all__ = ["SCORER", "SCORER_VERSION", "exact_match", "label_of"]

SCORER = "parallax-surgcheck-exact-match"
"""Name of this scorer, stored with every score."""
SCORER_VERSION = "2"
"""Raised whenever a rule changes a verdict."""


def exact_match(answer: str, reference: str) -> bool:
    """Say whether an answer is the reference, leaving aside case and the number of spaces."""
    return label_of(answer) == label_of(reference)


def label_of(text: str) -> str:
    """Return an answer or a reference as the label it stands for: in lower case, with single spaces."""
    return " ".join(text.split()).casefold()
