"""What the name of a file of SurgCheck says: which questions it is about, the cue, the setting, the suite.

Only asked where the rows themselves do not say it.
"""

__all__ = ["FileName", "Variant", "read_name", "split_of", "variant_of_word"]

import re
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.records import Role
from backend.surgcheck.tasks import Cue


class Variant(StrEnum):
    """Which question the rows of a file answer, and on what."""

    ORIGINAL = "original"
    LESS_BIASED = "less_biased"
    TEXT_ONLY = "text_only"
    """The original question, the image withheld."""

    @property
    def role(self) -> Role:
        """Of the probe that such a row is about."""
        return Role.LESS_BIASED if self is Variant.LESS_BIASED else Role.ORIGINAL


def _word(pattern: str) -> re.Pattern[str]:
    """Return a pattern for words of a file's name, with the separator before or behind them."""
    return re.compile(rf"(?:(?<=^)|[^a-z0-9]+)(?:{pattern})(?=$|[^a-z0-9])", re.IGNORECASE)


_SEP = r"[^a-z0-9]*"
_VARIANTS = (
    (Variant.TEXT_ONLY, _word(rf"text{_SEP}only|no{_SEP}image|without{_SEP}image")),
    (Variant.LESS_BIASED, _word(rf"less{_SEP}bias(?:ed)?|debiased|unbiased")),
    (Variant.ORIGINAL, _word(r"original|orig|general|bias(?:ed)?")),
)
_CUES = (
    (Cue.BOX, _word(rf"(?:b?box)(?:{_SEP}cue)?")),
    (Cue.ARROW, _word(rf"arrow(?:{_SEP}cue)?")),
    (Cue.POSITION, _word(rf"(?:position|pos)(?:{_SEP}cue)?")),
    (Cue.PERIPHRASIS, _word(rf"(?:word|periphrasis)(?:{_SEP}cue)?")),
    (Cue.NONE, _word(rf"no{_SEP}cue")),
)
_SETTINGS = (
    ("zero-shot", re.compile(rf"zero{_SEP}shot|frozen", re.IGNORECASE)),
    ("fine-tuned", re.compile(rf"fine{_SEP}tun|(?<![a-z])lora(?![a-z])", re.IGNORECASE)),
)
_SPLIT = re.compile(r"(?<![a-z])(train|val|validation|test)(?![a-z])", re.IGNORECASE)
_ENDINGS = re.compile(r"(\.(jsonl|ndjson|json|csv|parquet|txt|gz))+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileName:
    """What a file's name says; None where it says nothing."""

    variant: Variant | None
    cue: Cue | None
    setting: str | None
    stem: str
    """The name without its endings and without the words of its variant: files of one pair share it."""
    suite: str
    """The same without the cue: files of the four cues share it."""


def read_name(name: str, folder: str = "") -> FileName:
    """Return what the name of a file says.

    Args:
        name: The file's, endings and all.
        folder: Of the folder it lies in. It comes before a suite's name that would be empty, or would be no more
            than a split: ``full/test_original.jsonl`` is of the suite full_test.
    """
    stem = _ENDINGS.sub("", name)
    variant = None
    for candidate, words in _VARIANTS:
        if words.search(stem):
            variant, stem = candidate, _without(stem, words)
            break
    cue, suite = None, stem
    for candidate_cue, words in _CUES:
        if words.search(stem):
            cue, suite = candidate_cue, _without(stem, words)
            break
    if not suite or _SPLIT.fullmatch(suite):
        suite = "_".join(part for part in (folder, suite) if part)
    setting = next((told for told, words in _SETTINGS if words.search(name)), None)
    return FileName(variant, cue, setting, stem, suite or "surgcheck")


def variant_of_word(word: str) -> Variant | None:
    """Return the variant that a row's own word names; None for an unknown word."""
    return next((variant for variant, words in _VARIANTS if words.fullmatch(word.strip())), None)


def split_of(file: str) -> str:
    """Return the split that a file's name says: train, val or test; empty where it says none."""
    found = _SPLIT.search(file)
    return found[0].lower().replace("validation", "val") if found else ""


def _without(name: str, words: re.Pattern[str]) -> str:
    return words.sub("", name, count=1).strip(" ._-")
