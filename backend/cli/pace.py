"""Rate and time left of a long stage, in the words that progress shows."""

__all__ = ["rate_words", "with_pace"]

from time import monotonic

from backend.domain.progress import Report

_EVERY = 10.0
"""Seconds between two estimates: a log gets one line for each."""


def with_pace(report: Report) -> Report:
    """Add how far it is, rate and time left to the words of a stage.

    The clock starts with the first items that are done: what comes before them is the loading of a
    VLM, and items done in an earlier session. From the second ones on there is an estimate.

    Args:
        report: Gets the stage with these words; it is told of one stage alone.
    """
    start: int | None = None
    first: tuple[int, float] | None = None
    estimated = float("-inf")
    words = ""

    def paced(stage: str, done: int, total: int | None) -> None:
        nonlocal start, first, estimated, words
        now = monotonic()
        start = done if start is None else start
        if first is None and done > start:
            first = done, now
        elif first and total is not None and done > first[0] and now - estimated >= _EVERY:
            rate = (done - first[0]) / (now - first[1])
            left = _duration((total - done) / rate)
            words, estimated = f", {done:,} of {total:,}, {rate_words(rate)}, about {left} left", now
        report(stage + words, done, total)

    return paced


def rate_words(rate: float) -> str:
    """Return items a second in words: ``3.2 a second``, ``12.5 s each``."""
    return f"{rate:.1f} a second" if rate >= 1 else f"{1 / rate:.1f} s each"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
