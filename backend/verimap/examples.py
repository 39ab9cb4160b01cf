"""One example of VeriMap: image, question, reference and task (section 3.1).

An example is as its data set publishes it: question and reference stand verbatim, outer spaces
off. Options, where there are any, stand apart from the question; whether a VLM is shown them is a
setting of its run, since the paper does not say.
"""

__all__ = ["AnswerType", "Example", "Option", "question_with_options"]

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.verimap.vocabulary import Dataset, Task


class AnswerType(StrEnum):
    """Whether a question leaves the answer to the VLM's words."""

    OPEN = "open"
    CLOSED = "closed"
    """Yes or no, or one of the things that the question or its options name."""
    SET = "set"
    """Any of a fixed list of things, all that apply, with semicolons between them."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a multiple-choice question."""

    letter: str
    """Capital letter."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One question of a data set with its reference.

    Raises:
        ValueError: There are options, and none of them has the reference's letter.
    """

    source_id: str
    """Its id in the data set; where the format has none, a name made of the file's name and the row's number."""
    dataset: Dataset
    images: tuple[str, ...]
    """File names as the data set writes them, folders included; empty where it names none."""
    question: str
    reference: str
    """The ground-truth answer; of a multiple-choice question the text of the right option."""
    reference_letter: str = ""
    """Letter of the right option; empty without options."""
    options: tuple[Option, ...] = ()
    answer_type: AnswerType | None = None
    """None where the data set does not say."""
    task: Task | None = None
    """None until it is labelled."""
    native_types: tuple[str, ...] = ()
    """The data set's own question types, misspelt ones corrected; they are no tasks of VeriMap."""
    split: str = ""
    """As the row itself says; empty where it does not."""

    def __post_init__(self) -> None:
        if self.options and self.reference_letter not in {option.letter for option in self.options}:
            raise ValueError(f"no option has the letter {self.reference_letter!r}")


def question_with_options(question: str, options: Sequence[Option]) -> str:
    """Return the question with one line an option below it, or the question alone where it has none."""
    return "\n".join([question, *(f"{option.letter}: {option.text}" for option in options)])
