"""What generator and verifier are asked in VeriMap, word for word.

The paper's prompt boxes are lost; these wordings are our own. The verifier first says what
it sees and then judges. Runs of different versions are never pooled.
"""

__all__ = [
    "PROMPT_VERSION",
    "TEMPLATES",
    "TWO_STEP_TEMPLATES",
    "TWO_STEP_VERSION",
    "generate_prompt",
    "look_prompt",
    "loop_prompt",
    "two_step_prompt",
    "verify_prompt",
]

from types import MappingProxyType

PROMPT_VERSION = "verimap-1"
"""Raised with every change of a wording below."""

TEMPLATES = MappingProxyType(
    {
        "generate": "Answer the question about the medical image with a short answer only.\nQuestion: {question}",
        "verify": (
            "You check an answer to a question about a medical image. Do not assume that it is right or wrong. "
            "Look at the image first, then judge only whether the answer is correct.\n"
            "Question: {question}\nAnswer: {answer}\n"
            "Reply in two lines.\nEXPLANATION: what the image shows\nVERDICT: CORRECT, INCORRECT or UNCERTAIN"
        ),
        "loop": (
            "You answered a question about a medical image, and a reviewer judged your answer. Look at the image "
            "again and give your final answer, kept or changed.\n"
            "Question: {question}\nYour answer: {answer}\n"
            "Reviewer's verdict: {verdict}\nReviewer's explanation: {explanation}\n"
            "Reply in one line.\nANSWER: your final answer"
        ),
    }
)
"""Every wording, by its step."""

TWO_STEP_VERSION = "verimap-two-step-1"
"""The same for the wordings of the two-step verifier, which the paper does not have."""

TWO_STEP_TEMPLATES = MappingProxyType(
    {
        "look": (
            "Look at the medical image. You will be shown an answer to this question later.\n"
            "Question: {question}\n"
            "Say in a few sentences what must be visible to answer it, what of that you see, and how you would answer."
        ),
        "verify": (
            "You check an answer to a question about a medical image. Do not assume that it is right or wrong. "
            "Before the answer was shown to you, you looked at the image and wrote:\n"
            "{looked}\n"
            "Look at the image again, then judge only whether the answer is correct.\n"
            "Question: {question}\nAnswer: {answer}\n"
            "Reply in two lines.\nEXPLANATION: what the image shows\nVERDICT: CORRECT, INCORRECT or UNCERTAIN"
        ),
    }
)
"""Every wording of the two-step verifier, by its step."""


def generate_prompt(question: str) -> str:
    """Return the generator's prompt (section 3.2)."""
    return TEMPLATES["generate"].format(question=question)


def verify_prompt(question: str, answer: str) -> str:
    """Return the verifier's prompt: image, question and answer, nothing of how it was made (section 3.2)."""
    return TEMPLATES["verify"].format(question=question, answer=answer)


def loop_prompt(question: str, answer: str, verdict: str, explanation: str) -> str:
    """Return the generator's prompt of one revision turn (section 4.6)."""
    return TEMPLATES["loop"].format(question=question, answer=answer, verdict=verdict, explanation=explanation)


def look_prompt(question: str) -> str:
    """Return what the two-step verifier is asked before it sees the answer."""
    return TWO_STEP_TEMPLATES["look"].format(question=question)


def two_step_prompt(question: str, answer: str, looked: str) -> str:
    """Return the two-step verifier's prompt: question and answer, and what it said of the image before."""
    return TWO_STEP_TEMPLATES["verify"].format(question=question, answer=answer, looked=looked)
