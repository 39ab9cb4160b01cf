"""Guesses of what a VLM says next, looked up in what the prompt and the reply say already.

Prompt lookup decoding: Revise repeats most of the answer it is given, and Select's reply that
answer and the words of its prompt. Where the last few tokens stand earlier in the text, what
followed them there is a guess that costs nothing; the VLM checks many tokens in one pass
(speculative decoding, Leviathan et al. 2023). A wrong guess costs time and changes no reply.
"""

__all__ = ["LONGEST_GUESS", "guess"]

LONGEST_GUESS = 10
"""Tokens of a guess at most; a pass over so many takes hardly longer than over one."""

ALIKE = (3, 2)
"""So many last tokens are looked for, the most telling first; one alone stands in too many places."""


def guess(text: list[int], longest: int) -> list[int]:
    """Return tokens that may come next.

    Of several places the latest counts.

    Args:
        text: The token ids so far.
        longest: Tokens to guess at most.

    Returns:
        The guess; empty where nothing was found.
    """
    for length in ALIKE:
        end = text[-length:]
        for place in range(len(text) - length - 1, -1, -1):
            if text[place : place + length] == end:
                return text[place + length :][: min(longest, LONGEST_GUESS)]
    return []
