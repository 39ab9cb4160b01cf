"""Which part of what a VLM returned is its answer."""

__all__ = ["answer_text"]

_MARK = "\nassistant\n"


def answer_text(raw: str) -> str:
    """Return the answer in what a VLM returned, outer spaces off.

    Some prediction files hold the whole chat; the answer is what follows the last line that says
    ``assistant``, whichever way lines end. Any other text is the answer as it stands.
    """
    chat = f"\n{raw}"
    if "\r" in chat:
        chat = chat.replace("\r\n", "\n").replace("\r", "\n")
    _, mark, answer = chat.rpartition(_MARK)
    return (answer if mark else raw).strip()
