"""What generator and verifier are asked in VeriMap, word for word.

The paper's prompt boxes are lost; these wordings are our own. The verifier first says what
it sees and then judges. Runs of different versions are never pooled.
"""

__all__ = ["PROMPT_VERSION", "TEMPLATES", "generate_prompt", "loop_prompt", "verify_prompt"]

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


def generate_prompt(question: str) -> str:
    """Return the generator's prompt (section 3.2)."""
    return TEMPLATES["generate"].format(question=question)


def verify_prompt(question: str, answer: str) -> str:
    """Return the verifier's prompt: image, question and answer, nothing of how it was made (section 3.2)."""
    return TEMPLATES["verify"].format(question=question, answer=answer)


def loop_prompt(question: str, answer: str, verdict: str, explanation: str) -> str:
    """Return the generator's prompt of one revision turn (section 4.6)."""
    return TEMPLATES["loop"].format(question=question, answer=answer, verdict=verdict, explanation=explanation)
