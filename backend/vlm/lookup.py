"""Guesses of what a VLM says next, looked up in what the prompt and the reply say already.

Prompt lookup decoding (Saxena 2023), a speculative decoding (Leviathan et al. 2023) without a
second VLM: Revise repeats most of the answer it is given, and Select's reply that answer and
words of its prompt. Where the last few tokens stand earlier in the text, what followed them
there is the guess; the VLM checks all of it in one pass. A wrong guess costs time and changes
no reply.
"""

__all__ = ["FIRST_GUESS", "LONGEST_GUESS", "guess"]

FIRST_GUESS = 6
"""Tokens of a first guess, and of one after a wrong one; each that is right doubles the next."""

LONGEST_GUESS = 16
"""Tokens of a guess at most."""

ALIKE = (3, 2)
"""So many last tokens are looked for, the more telling first; one alone stands in too many places."""


def guess(text: list[int], longest: int) -> list[int]:
    """Return tokens that may come next; none where the last ones stand nowhere before.

    Of several places the latest counts.

    Args:
        text: The token ids so far.
        longest: Tokens to guess at most.
    """
    for length in ALIKE:
        end = text[-length:]
        for place in range(len(text) - length - 1, -1, -1):
            if text[place : place + length] == end:
                return text[place + length :][: min(longest, LONGEST_GUESS)]
    return []
