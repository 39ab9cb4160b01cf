"""A VLM behind a service that speaks the OpenAI chat protocol: OpenAI itself, vLLM, llama.cpp and others.

One message a call: the image, then the prompt; no system prompt. What leaves this machine is
the prompt, the image and the settings of the call, with the key in its header. Nothing is
told about this machine, and no redirect is followed.

Failures that concern one call (a timeout, a full queue, a broken answer) end in a `Reply` with
an error, after further tries where these can help. Failures that concern the VLM as a whole
(a refused key, an unknown id, nobody at the address) end in an `AppError`: a run would
otherwise fail item by item. Answers that were there by then are paid for, and never lost to it.
"""

__all__ = ["OpenAiCompatible"]

import itertools
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply, said_nothing
from backend.errors import AppError
from backend.vlm.background_calls import BackgroundCalls
from backend.vlm.chat_replies import CallFailed, read_pieces, read_whole, unreadable
from backend.vlm.failures import first_line
from backend.vlm.retries import Retries, retry_after
from backend.vlm.sent_picture import SentPicture, sent_picture
from backend.vlm.service import Service, key_of

if TYPE_CHECKING:
    from pathlib import Path

    from openai import APIStatusError, OpenAI

RETRIES = Retries()
"""How often a call is made where nothing else is said."""

CONNECT_SECONDS = 15.0
"""Nobody at the address after so long means that nobody is there."""

ROUNDS_A_BATCH = 2
"""So many rounds of calls at the same time make a batch of a run: more would be saved later, fewer would wait."""

KEPT_PICTURES = 4
"""So many encoded pictures stay at hand while a batch runs; its asks come image by image."""

_HEADERS_SENT = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding"}
)
"""Every other header is taken off before a request leaves; the key is put on."""

_Told = str | tuple[int, Reply]
"""A piece of the one streamed answer, or a reply with its place."""

_FOR_THE_WHOLE_VLM = {
    401: "refuses the key",
    402: "wants to be paid",
    403: "forbids the use of this VLM",
    404: "does not know this VLM, or has no chat at this address",
}

_WORTH_ANOTHER_TRY = frozenset({408, 409, 425, 429})
"""So are all from 500."""

_CHECK = "Check base_url, model and key_variable of its entry."

_LATER = "Ask again later; a run goes on with --resume."


class OpenAiCompatible:
    """A `Vlm` at a service.

    Args:
        name: Its name among the VLMs of a store.
        service: Where it is.
        retries: How often a call is made again.

    Raises:
        AppError: The address cannot be used, or its key is not in the environment.
    """

    def __init__(self, name: str, service: Service, retries: Retries = RETRIES) -> None:
        service.check_address()
        key_of(service)
        self._name = name
        self._service = service
        self._retries = retries
        self._client = _client(service)
        self._running: set[BackgroundCalls[_Told]] = set()

    @property
    def name(self) -> str:
        """Its name among the VLMs of a store."""
        return self._name

    @property
    def batch(self) -> int:
        """How many calls a run does well to give it at once."""
        return self._service.concurrency * ROUNDS_A_BATCH

    def answer(self, image: "Path | None", prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Answer one prompt; see `Vlm`. Pieces are told on the caller's own thread.

        Once a piece was told, an answer that breaks off is not asked for again: what was told
        cannot be taken back. Where the service does not stream, the answer is one piece. No
        probabilities are asked for.
        """
        began = time.monotonic()
        streams = self._service.streams and on_text is not said_nothing
        replies = self._replies([Ask(image, prompt)], decoding, on_text if streams else None)
        if not streams and replies[0].text:
            on_text(replies[0].text)
        return replace(replies[0], seconds=time.monotonic() - began)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Answer several prompts, some at the same time; see `Vlm`.

        Where the VLM as a whole stops after some were answered, these are returned, and the others
        are replies with that error; only where none was answered is it raised.
        """
        began = time.monotonic()
        replies = self._replies(asks, decoding, None)
        share = (time.monotonic() - began) / max(len(asks), 1)
        return [replace(reply, seconds=share) for reply in replies]

    def cancel(self) -> None:
        """End every call that runs or waits now, from any thread: each raises `Cancelled`.

        A request on its way is left to itself; its answer is dropped.
        """
        for calls in tuple(self._running):
            calls.stop(Cancelled())

    def _replies(self, asks: Sequence[Ask], decoding: Decoding, on_text: OnText | None) -> list[Reply]:
        """Make the calls, `Service.concurrency` at a time, and put the replies in order."""
        waiting = iter(tuple(enumerate(asks)))
        turn = threading.Lock()
        picture = lru_cache(KEPT_PICTURES)(sent_picture)
        replies: dict[int, Reply] = {}
        with BackgroundCalls[_Told].opened() as calls:
            self._running.add(calls)

            def work() -> None:
                while True:
                    with turn:
                        position, ask = next(waiting, (-1, None))
                    if ask is None:
                        return
                    calls.tell((position, self._tried(ask, decoding, picture, calls, streams=on_text is not None)))

            try:
                for _ in range(min(self._service.concurrency, len(asks))):
                    calls.start(work)
                while len(replies) < len(asks):
                    heard = calls.hear()
                    if not isinstance(heard, str):
                        replies[heard[0]] = heard[1]
                    elif on_text:
                        on_text(heard)
            except Cancelled:
                raise
            except AppError as error:
                if all(reply.error for reply in replies.values()):
                    raise
                return [replies.get(position, Reply("", error=str(error))) for position in range(len(asks))]
            finally:
                self._running.discard(calls)
        return [replies[position] for position in range(len(asks))]

    def _tried(
        self,
        ask: Ask,
        decoding: Decoding,
        picture: "Callable[[Path], SentPicture]",
        calls: "BackgroundCalls[_Told]",
        *,
        streams: bool,
    ) -> Reply:
        """Return the reply to one ask, after as many tries as it takes or are allowed.

        Raises:
            AppError: No call can be answered any more.
            Cancelled: The caller is gone.
        """
        try:
            messages = _messages(ask, picture)
        except OSError as error:
            return Reply("", error=f"The image cannot be read ({error.strerror}). Check that it is still there.")
        except Exception as error:  # noqa: BLE001 - a contract: see `Vlm.answer`
            return Reply("", error=self._not_asked(error))
        told: list[str] = []

        def tell(piece: str) -> None:
            calls.tell(piece)
            told.append(piece)

        for n_tries in itertools.count(1):
            try:
                return self._called(messages, decoding, tell if streams else None)
            except CallFailed as failed:
                wait = self._retries.wait_after(n_tries, failed.wait, random.random())  # noqa: S311 - jitter
                if failed.can_be_tried_again and not told and wait is not None:
                    calls.wait(wait)
                    continue
                tried = f" ({n_tries} tries)" if n_tries > 1 else ""
                message = f"The service at {self._service.host} {failed.what}{tried}."
                if failed.concerns_all:
                    raise AppError(message, failed.hint) from None
                return Reply("", error=f"{message} {failed.hint}")
            except Cancelled:
                raise
            except Exception as error:  # noqa: BLE001 - a contract: see `Vlm.answer`
                return Reply("", error=self._not_asked(error))
        raise AssertionError("the tries end by a reply or an error")

    def _called(self, messages: Any, decoding: Decoding, tell: Callable[[str], None] | None) -> Reply:
        """Make one call, streamed where there is somebody to tell.

        Raises:
            CallFailed: There is no reply.
        """
        from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

        service = self._service
        options: dict[str, Any] = {"model": service.model, service.limit_field: decoding.max_new_tokens}
        if service.sends_temperature:
            options["temperature"] = 0
        if decoding.reasoning_effort:
            options["reasoning_effort"] = decoding.reasoning_effort
        create = self._client.chat.completions.create
        try:
            if tell is None:
                return read_whole(create(messages=messages, **options))
            with create(messages=messages, stream=True, stream_options={"include_usage": True}, **options) as chunks:
                return read_pieces(chunks, tell)
        except APIConnectionError as error:
            if type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout", "ProxyError"):
                raise CallFailed("cannot be reached", True, concerns_all=True, hint=_CHECK) from None
            silent = isinstance(error, APITimeoutError)
            what = f"said nothing for {service.timeout_seconds:g} s" if silent else "broke the connection off"
            raise CallFailed(what, True, hint=_LATER) from None
        except APIStatusError as error:
            raise self._status_failed(error) from None
        except APIError as error:
            raise CallFailed(f"ended the answer with an error{self._said(error.body)}", True, hint=_LATER) from None
        except UnicodeEncodeError:
            raise
        except ValueError:
            raise unreadable() from None

    def _status_failed(self, error: "APIStatusError") -> CallFailed:
        """Return what a status other than success means."""
        status, said = error.status_code, self._said(error.body)
        if status in _FOR_THE_WHOLE_VLM:
            return CallFailed(f"{_FOR_THE_WHOLE_VLM[status]} ({status})", False, concerns_all=True, hint=_CHECK)
        if error.code == "insufficient_quota":
            return CallFailed(f"says that the quota is used up ({status})", False, concerns_all=True, hint=_CHECK)
        if status < 400:
            return CallFailed(f"sends elsewhere ({status})", False, concerns_all=True, hint=_CHECK)
        if status not in _WORTH_ANOTHER_TRY and status < 500:
            return CallFailed(f"refuses the question ({status}){said}", False, hint=_CHECK)
        wait = retry_after(error.response.headers, datetime.now(UTC))
        asks = f", asks to wait {wait:g} s" if wait else ""
        return CallFailed(f"fails ({status}{asks}){said}", True, wait=wait, hint=_LATER)

    def _said(self, body: object) -> str:
        """Return a service's own message about one call, shortened; the key, should it repeat it, taken out."""
        message = body.get("message") if isinstance(body, dict) else None
        plain = self._without_key(message) if isinstance(message, str) else ""
        return f": {plain}" if plain else ""

    def _not_asked(self, error: Exception) -> str:
        """Return why an ask could not be put to the service, or its answer not be read."""
        if isinstance(error, AppError):
            return str(error)
        return f"{self.name} could not be asked this: {self._without_key(first_line(error)) or type(error).__name__}"

    def _without_key(self, text: str) -> str:
        key = key_of(self._service)
        return " ".join((text.replace(key, "…") if key else text).split())[:200]


def _messages(ask: Ask, picture: "Callable[[Path], SentPicture]") -> list[dict[str, object]]:
    if ask.image is None:
        return [{"role": "user", "content": ask.prompt}]
    parts = [
        {"type": "image_url", "image_url": {"url": picture(ask.image).data_url}},
        {"type": "text", "text": ask.prompt},
    ]
    return [{"role": "user", "content": parts}]


def _client(service: Service) -> "OpenAI":
    """Return a client that holds no key, tells nothing of this machine and tries once.

    Proxies of the environment are used for ``https`` alone, where they cannot read along.
    """
    from openai import DefaultHttpxClient, OpenAI, Timeout

    timeout = Timeout(service.timeout_seconds, connect=min(CONNECT_SECONDS, service.timeout_seconds))

    def dress(request: Any) -> None:
        for name in tuple(request.headers):
            if name.lower() not in _HEADERS_SENT:
                del request.headers[name]
        key = key_of(service)
        if key:
            request.headers["Authorization"] = f"Bearer {key}"

    return OpenAI(
        base_url=service.base_url,
        api_key="named, not held",
        max_retries=0,
        timeout=timeout,
        http_client=DefaultHttpxClient(
            trust_env=service.base_url.startswith("https:"),
            follow_redirects=False,
            timeout=timeout,
            event_hooks={"request": [dress]},
        ),
    )
