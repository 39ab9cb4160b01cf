"""What a VLM is asked in EndoCA and ASR, word for word.

The answer template is the paper's (section III-C, the scoring table); complex and atomic
questions share it. The paper prints no wording for Revise and Select: those are our own.
Runs of different versions are never pooled.
"""

__all__ = [
    "PROMPT_VERSION",
    "TEMPLATES",
    "Premises",
    "answer_prompt",
    "revise_prompt",
    "select_prompt",
    "self_revise_prompt",
    "self_select_prompt",
]

from collections.abc import Sequence
from types import MappingProxyType

PROMPT_VERSION = "endoca-1"
"""Raised with every change of a wording below."""

_SHORT = "Respond with a concise short answer only. Do not explain."

_DECISION = (
    'Respond with one JSON object only: {{"answer": the answer, "consistency": "consistent", '
    '"partly consistent" or "inconsistent", "decision": "answer" or "abstain"}}'
)

TEMPLATES = MappingProxyType(
    {
        "answer": f"Answer the question based on the endoscopic image. {_SHORT} Question: {{question}}",
        "revise": (
            "Look at the endoscopic image again and revise the answer so that it agrees with the image and the "
            f"premises. {_SHORT}\nQuestion: {{question}}\nAnswer: {{answer}}\nPremises:\n{{premises}}"
        ),
        "self_revise": (
            "Look at the endoscopic image again and revise the answer so that it agrees with the image. "
            f"{_SHORT}\nQuestion: {{question}}\nAnswer: {{answer}}"
        ),
        "select": (
            "Check whether the answer is consistent with the endoscopic image and the premises, and decide whether "
            f"to give it or to abstain. {_DECISION}\nQuestion: {{question}}\nAnswer: {{answer}}\n"
            "Premises:\n{premises}"
        ),
        "self_select": (
            "Check whether the answer is consistent with the endoscopic image, and decide whether to give it or to "
            f"abstain. {_DECISION}\nQuestion: {{question}}\nAnswer: {{answer}}"
        ),
    }
)
"""Every wording, by its step of Workflow 1."""

Premises = Sequence[tuple[str, str]]
"""Atomic questions with the VLM's own answers (equation 7: P_i)."""


def answer_prompt(question: str) -> str:
    """Return the prompt of a complex or an atomic question (Workflow 1, steps 1 and 2)."""
    return TEMPLATES["answer"].format(question=question)


def revise_prompt(question: str, answer: str, premises: Premises) -> str:
    """Return the prompt of the Revise step (Workflow 1, step 4).

    Args:
        question: The complex question.
        answer: The VLM's direct answer to it.
        premises: The atomic questions with the VLM's own answers.
    """
    return TEMPLATES["revise"].format(question=question, answer=answer, premises=_listed(premises))


def self_revise_prompt(question: str, answer: str) -> str:
    """Return the prompt of Self-Revise: the control without premises (section V-D)."""
    return TEMPLATES["self_revise"].format(question=question, answer=answer)


def select_prompt(question: str, answer: str, premises: Premises) -> str:
    """Return the prompt of the Select step (Workflow 1, step 5).

    Args:
        question: The complex question.
        answer: The revised answer.
        premises: The atomic questions with the VLM's own answers.
    """
    return TEMPLATES["select"].format(question=question, answer=answer, premises=_listed(premises))


def self_select_prompt(question: str, answer: str) -> str:
    """Return the prompt of Self-Selective: the control without premises (section V-D)."""
    return TEMPLATES["self_select"].format(question=question, answer=answer)


def _listed(premises: Premises) -> str:
    return "\n".join(f"- {question} {answer}" for question, answer in premises)
