"""A reply that ends in the same words over and over: how a small VLM fails to stop.

It is told apart so that it can be said beside the reply, which stays as it is.
"""

__all__ = ["repeats_itself"]

_TIMES = 3
_SHORTEST = 20
_LONGEST = 200


def repeats_itself(text: str) -> bool:
    """Return whether a reply ends in something said at least three times in a row.

    Letter case and white space are no matter; the last time may lack its last character, a stop
    as a rule, and another may have begun when the token limit cut it. All of it is at least 20 characters
    long, so that "no, no, no" is a reply, and one time is at most 200.
    """
    said = "".join(text[-4 * _TIMES * _LONGEST :].split()).casefold()
    return any(_repeated(said, period) >= max(_TIMES * period - 1, _SHORTEST) for period in range(1, _LONGEST + 1))


def _repeated(said: str, period: int) -> int:
    """Return how many characters from the end on repeat themselves after so many."""
    length = min(period, len(said))
    while length < len(said) and said[-length - 1] == said[-length - 1 + period]:
        length += 1
    return length
