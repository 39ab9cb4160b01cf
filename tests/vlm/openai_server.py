"""A server of the tests' own that speaks the OpenAI chat protocol, faults included.

It answers every chat with `said_about`, which depends on prompt and image alone, unless a
fault was scripted: each is used for one request, in order.
"""

import base64
import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def said_about(prompt: str, image: bytes | None) -> str:
    """What the server's VLM says: the same for the same prompt and image, and no other."""
    digest = hashlib.sha256(prompt.encode() + b"\0" + (image or b"")).hexdigest()
    return f"one polyp, “{digest[:6]}” seen"


@dataclass(frozen=True)
class Fault:
    """One request that goes otherwise."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """Sent as it is, instead of an answer."""
    content: str | None = None
    """Said by the VLM instead of its answer; with ``null`` nothing at all."""
    null: bool = False
    refusal: str | None = None
    finish_reason: str | None = "stop"
    choices: bool = True
    cut: bool = False
    """The connection ends in the middle of the body."""
    silent: bool = False
    """Nothing is sent until the client goes or the server stops."""


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        content = self.body["messages"][0]["content"]
        return content if isinstance(content, str) else next(part["text"] for part in content if part["type"] == "text")

    @property
    def image(self) -> bytes | None:
        content = self.body["messages"][0]["content"]
        if isinstance(content, str):
            return None
        address = next(part["image_url"]["url"] for part in content if part["type"] == "image_url")
        return base64.b64decode(address.partition(";base64,")[2])


class OpenAiServer:
    """One server in threads of its own; made by `serving`."""

    def __init__(self) -> None:
        self.faults: deque[Fault] = deque()
        self.seen: list[Seen] = []
        self.arrived = threading.Condition()
        self.stopping = threading.Event()
        self.most_at_once = 0
        self.now_answering = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.answer(self, Seen(self.path, dict(self.headers), body))

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def wait_for(self, n_requests: int) -> None:
        """Return once so many requests have come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.seen) >= n_requests, timeout=30)

    def answer(self, handler: BaseHTTPRequestHandler, seen: Seen) -> None:
        with self.arrived:
            fault = self.faults.popleft() if self.faults else Fault()
            self.seen.append(seen)
            self.now_answering += 1
            self.most_at_once = max(self.most_at_once, self.now_answering)
            self.arrived.notify_all()
        try:
            if fault.silent:
                self.stopping.wait(30)
                handler.close_connection = True
            elif seen.body.get("stream") and fault.status == 200 and fault.body is None:
                self._stream(handler, seen, fault)
            else:
                self._whole(handler, seen, fault)
        except OSError:
            handler.close_connection = True
        finally:
            with self.arrived:
                self.now_answering -= 1
                self.arrived.notify_all()

    def _text(self, seen: Seen, fault: Fault) -> str | None:
        if fault.null or fault.refusal is not None:
            return None
        return fault.content if fault.content is not None else said_about(seen.prompt, seen.image)

    def _whole(self, handler: BaseHTTPRequestHandler, seen: Seen, fault: Fault) -> None:
        text = self._text(seen, fault)
        message = {"role": "assistant", "content": text, "refusal": fault.refusal}
        choice = {"index": 0, "message": message, "finish_reason": fault.finish_reason}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": seen.body["model"],
            "choices": [choice] if fault.choices else [],
            "usage": {"prompt_tokens": 5, "completion_tokens": len((text or "").split()), "total_tokens": 5},
        }
        sent = (fault.body if fault.body is not None else json.dumps(answer)).encode()
        handler.send_response(fault.status)
        for name, value in fault.headers.items():
            handler.send_header(name, value)
        if "Content-Type" not in fault.headers:
            handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent[: len(sent) // 2] if fault.cut else sent)
        handler.close_connection = fault.cut

    def _stream(self, handler: BaseHTTPRequestHandler, seen: Seen, fault: Fault) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        text, field_name = self._text(seen, fault), "content"
        if fault.refusal is not None:
            text, field_name = fault.refusal, "refusal"
        pieces = [text[start : start + 7] for start in range(0, len(text or ""), 7)] if text else []
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{field_name: piece} for piece in pieces]
        chunks = [self._chunk(seen, delta, None) for delta in deltas]
        chunks.append(self._chunk(seen, {}, fault.finish_reason))
        usage = {"prompt_tokens": 5, "completion_tokens": len((text or "").split()), "total_tokens": 5}
        chunks.append({**self._chunk(seen, {}, None), "choices": [], "usage": usage})
        if not fault.choices:
            chunks = chunks[-1:]
        if fault.cut:
            chunks = chunks[: len(chunks) // 2]
        for chunk in chunks:
            self._event(handler, json.dumps(chunk))
        if not fault.cut:
            self._event(handler, "[DONE]")
            handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = fault.cut

    @staticmethod
    def _chunk(seen: Seen, delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": seen.body["model"],
            "choices": [choice],
        }

    @staticmethod
    def _event(handler: BaseHTTPRequestHandler, data: str) -> None:
        sent = f"data: {data}\n\n".encode()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent))
        handler.wfile.flush()


@contextmanager
def serving() -> Iterator[OpenAiServer]:
    """Serve on a free port of this machine."""
    server = OpenAiServer()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()
