"""Which part of what a VLM returned is its answer."""

__all__ = ["answer_text"]

_MARK = "\nassistant\n"


def answer_text(raw: str) -> str:
    """Return the answer in what a VLM returned, outer spaces off.

    Some prediction files hold the whole chat; the answer is what follows the last line that says
    ``assistant``. Any other text is the answer as it stands.
    """
    return f"\n{raw}".rpartition(_MARK)[2].strip()
