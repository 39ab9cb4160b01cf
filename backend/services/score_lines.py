"""Scoring lines without a store: a complex or atomic question, its references and an answer.

Lines come in EndoCA's own shape (``gold_atoms``, ``prediction``) or in that of the scorer's
check files (``atomic`` with a type for each part, ``candidate``). Every line is answered by
one record in the same place, a line that cannot be used by one that says why.
"""

__all__ = ["score_line"]

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from backend.endoca.paired_units import as_text, explain_invalid
from backend.endoca.scoring import SCORER, SCORER_VERSION, AnswerScore, Atom, AtomScore, score_answer
from backend.endoca.vocabulary import QuestionType
from backend.errors import BadLine

_PASSED_THROUGH = ("id", "sample_id", "probe_id", "model_id")
"""Keys that come out as they went in, so that lines can be joined again."""

_FAILED = "failed"
"""Rule of a call that ended in an error; the answer beside it is not looked at."""

Text = Annotated[str, BeforeValidator(as_text)]

TextOrNothing = Annotated[str, BeforeValidator(lambda value: "" if value is None else as_text(value))]


class _GoldAtom(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    question_class: str
    reference: Text = Field(validation_alias=AliasChoices("raw_answer", "parsed"))


class _TypedAtom(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    q: str
    a: Text
    type: QuestionType | None = None


class _Line(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    question: str = Field(validation_alias=AliasChoices("question", "complex_question"))
    answer: TextOrNothing = Field(validation_alias=AliasChoices("prediction", "candidate"))
    error: TextOrNothing = ""
    probe_kind: str | None = None
    gold_atoms: list[_GoldAtom] | None = None
    atomic: list[_TypedAtom] | None = None
    gold_question_class: str | None = None
    gold_answer: Text | None = None

    def atoms(self) -> list[Atom]:
        """Return the references to score against; none where the line carries none."""
        of_complex = self.probe_kind != "atomic_direct"
        if of_complex and self.gold_atoms is not None:
            return [Atom(atom.question_class, atom.reference) for atom in self.gold_atoms]
        if of_complex and self.atomic is not None:
            return [Atom("", atom.a, atom.q, atom.type) for atom in self.atomic]
        if self.gold_question_class is not None and self.gold_answer is not None:
            return [Atom(self.gold_question_class, self.gold_answer, self.question)]
        return []


def score_line(number: int, line: bytes | BadLine) -> dict[str, Any]:
    """Score one line.

    Args:
        number: Its place in the file, from 1.
        line: One JSON object: ``question`` (or ``complex_question``), ``prediction`` (or
            ``candidate``), and ``gold_atoms`` or ``atomic``, or for an atomic question
            ``gold_question_class`` and ``gold_answer``. With a non-empty ``error`` the call
            failed, and the answer is wrong whatever it says.

    Returns:
        ``correct``, ``atoms`` (expected, parsed, correct, rule, reason for each), ``scorer``,
        ``scorer_version``, after the keys of `_PASSED_THROUGH` that the line has; or ``line``
        and ``error`` where it cannot be scored.
    """
    if isinstance(line, BadLine):
        return {"line": number, "error": line.reason}
    if not line.strip():
        return {"line": number, "error": "is blank"}
    try:
        content = json.loads(line.removeprefix(b"\xef\xbb\xbf"), parse_constant=lambda not_a_number: None)
        checked = _Line.model_validate(content)
    except ValidationError as error:
        return {"line": number, "error": explain_invalid(error)}
    except UnicodeDecodeError:
        return {"line": number, "error": "not UTF-8; save the file as UTF-8"}
    except (ValueError, RecursionError) as error:
        return {"line": number, "error": f"no JSON object ({error})"}
    atoms = checked.atoms()
    if not atoms:
        return {"line": number, "error": "lacks gold_atoms, atomic, or gold_question_class with gold_answer"}
    score = _failed(checked, atoms) if checked.error else score_answer(checked.question, atoms, checked.answer)
    return {
        **{key: content[key] for key in _PASSED_THROUGH if key in content},
        "correct": score.correct,
        "atoms": [{name: getattr(atom, name) for name in AtomScore.__slots__} for atom in score.atoms],
        "scorer": SCORER,
        "scorer_version": SCORER_VERSION,
    }


def _failed(line: _Line, atoms: Sequence[Atom]) -> AnswerScore:
    unread = score_answer(line.question, atoms, "").atoms
    reason = f"the call failed: {line.error}"
    return AnswerScore(False, tuple(replace(atom, rule=_FAILED, reason=reason) for atom in unread))
