"""What a service of the OpenAI chat protocol sent back, read as a reply or as a failure."""

__all__ = ["CallFailed", "read_pieces", "read_whole", "unreadable"]

from collections.abc import Callable, Iterable

from pydantic import BaseModel, ConfigDict, ValidationError

from backend.domain.vlm import Reply

_OTHER = "Ask again; if it stays so, look into the service's own log."


class CallFailed(Exception):
    """A call that ended without a reply.

    Args:
        what: What the service did, to follow "The service at host …".
        can_be_tried_again: Whether the same call may go better.
        concerns_all: Whether every other call would fail too.
        wait: Seconds the service asks to wait, None where it asks nothing.
        hint: What to do next.
    """

    def __init__(
        self,
        what: str,
        can_be_tried_again: bool,
        *,
        concerns_all: bool = False,
        wait: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.can_be_tried_again = can_be_tried_again
        self.concerns_all = concerns_all
        self.wait = wait
        self.hint = hint


class _Read(BaseModel):
    """What is read of a body; services add fields of their own."""

    model_config = ConfigDict(extra="ignore", from_attributes=True)


class _Said(_Read):
    content: str | None = None
    refusal: str | None = None


class _Choice(_Read):
    message: _Said | None = None
    delta: _Said | None = None
    finish_reason: str | None = None


class _Usage(_Read):
    completion_tokens: int | None = None


class _Body(_Read):
    choices: list[_Choice]
    usage: _Usage | None = None


def read_whole(body: object) -> Reply:
    """Return the reply in a body that came at once.

    A VLM that refuses says so: its refusal is its answer, verbatim. One that says nothing (no
    content, no refusal) has an empty answer; where the token limit ended it before it said a
    word, as with one that reasons first, `Reply.was_cut` tells. What a filter of the service
    held back is an error, since the VLM's answer is not known.

    Raises:
        CallFailed: There is no choice, or the body is no chat completion.
    """
    read = _read(body)
    if not read.choices or read.choices[0].message is None:
        raise CallFailed("sent no answer (no choice)", False, hint=_OTHER)
    choice, said = read.choices[0], read.choices[0].message
    return _reply(said.content or said.refusal or "", choice.finish_reason, read.usage)


def read_pieces(chunks: Iterable[object], tell: Callable[[str], None]) -> Reply:
    """Return the reply in a stream, telling each piece as it comes; refusals as in `read_whole`.

    Raises:
        CallFailed: The stream held no choice, ended before the answer did, or is no stream of
            chat completions.
        ValueError: The stream holds what is not JSON.
    """
    pieces: list[str] = []
    reason, usage, any_choice = None, None, False
    for chunk in chunks:
        read = _read(chunk)
        usage = read.usage or usage
        for choice in read.choices[:1]:
            any_choice = True
            reason = choice.finish_reason or reason
            piece = (choice.delta.content or choice.delta.refusal or "") if choice.delta else ""
            if piece:
                pieces.append(piece)
                tell(piece)
    if not any_choice:
        raise CallFailed("sent no answer (no choice)", False, hint=_OTHER)
    if reason is None:
        raise CallFailed("broke the answer off", True, hint=_OTHER)
    return _reply("".join(pieces), reason, usage)


def _reply(text: str, reason: str | None, usage: _Usage | None) -> Reply:
    if reason == "content_filter":
        raise CallFailed("held the answer back (content filter)", False, hint="Nothing can be said about this item.")
    return Reply(text, n_tokens=usage.completion_tokens if usage else None, was_cut=reason == "length")


def _read(body: object) -> _Body:
    try:
        return _Body.model_validate(body)
    except ValidationError:
        raise unreadable() from None


def unreadable() -> CallFailed:
    """Return the failure of an answer that nobody can read."""
    return CallFailed("sent something that is no chat completion", False, hint=_OTHER)
