"""What an answer states: every thing it mentions, and whether it affirms, denies or hedges it.

One walk over the words. Each kind of word has its handler; the handlers stand with the rule they keep:
`nouns`, `numbers`, `negation`, `clauses`, `hedges`.
"""

__all__ = ["statements_of"]

from functools import lru_cache

from backend.endoca.scoring import clauses, hedges, negation, nouns, numbers
from backend.endoca.scoring.mentions import Statements
from backend.endoca.scoring.walk import Walk
from backend.endoca.scoring.words import words_of

_HANDLERS = {
    **nouns.HANDLERS,
    **numbers.HANDLERS,
    **negation.HANDLERS,
    **clauses.HANDLERS,
    **hedges.HANDLERS,
}


@lru_cache(maxsize=16_384)
def statements_of(text: str) -> Statements:
    """Read a plain answer (`backend.domain.text.plain_answer`).

    The result is shared between callers: nobody may change it.
    """
    walk = Walk(words_of(text))
    words = walk.words
    i = 0
    while i < len(words):
        handler = _HANDLERS.get(words[i].kind)
        i = handler(walk, i) if handler else i + 1
    walk.end_clause()
    return walk.out
