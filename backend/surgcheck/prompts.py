"""What a VLM is asked in SurgCheck, word for word: the release's own prefix before the question."""

__all__ = ["PROMPT_VERSION", "TEMPLATES", "answer_prompt"]

from types import MappingProxyType

PROMPT_VERSION = "surgcheck-1"
"""Raised with every change of a wording below."""

TEMPLATES = MappingProxyType(
    {
        "answer": (
            "You are an assistant with surgical expertise. Given a surgical scene, answer the question in 1-5 words. "
            "{question}"
        )
    }
)
"""Every wording, by its step."""


def answer_prompt(question: str) -> str:
    """Return the prompt of an original or a less-biased question."""
    return TEMPLATES["answer"].format(question=question)
