"""Local VLMs, each in a warm child process, shared by everybody who uses this one.

`WorkerVlm` is one user's line to a VLM: cheap to make, and what it cancels are its own calls
alone. `WORKERS` holds the child processes, started at the first call and kept warm; it outlives
pages and their threads. Who goes first, and what is stopped to make room, is settled by
`backend.vlm.worker_queue`.
"""

__all__ = ["WORKERS", "Phase", "Standing", "WorkerError", "WorkerStatus", "WorkerVlm", "Workers"]

import atexit
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply, said_nothing
from backend.vlm.loading import LocalSpec
from backend.vlm.saliency.faithfulness import Curves
from backend.vlm.saliency.result import Saliency
from backend.vlm.worker_child import GRACE, ChildProcess, WorkerError
from backend.vlm.worker_process import Do, Said
from backend.vlm.worker_queue import Call, CallQueue, Phase, Worker

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FACTORY = "backend.vlm.transformers_local:load_vlm"
"""Makes a VLM from a `LocalSpec` in the child process; the only one outside the tests."""

HEAVY = ("torch", "transformers")
"""Imported before the weights are loaded, so that people are told which of the two takes its time."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one user's call stands, at one moment."""

    phase: Phase
    """Of the VLM, where there is no call."""
    n_before: int
    """Calls that come before a waiting one; 0 otherwise."""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """One VLM's process, at one moment."""

    name: str
    phase: Phase
    since: datetime | None
    """When the VLM was ready, UTC; None where it is not loaded."""
    process_bytes: int | None
    """Memory of the process after its last call; None where unknown, as are those below."""
    device: str | None
    """Name of what it runs on."""
    total_bytes: int | None
    """Memory of the device; of the machine, where that is the CPU."""
    free_bytes: int | None
    """What of it was free after the last call."""
    n_calls: int
    """Calls that run or wait."""
    n_replies: int
    """Replies that the running call has had so far."""
    n_asks: int
    """Prompts of the running call; 0 where none runs."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What a record says of the VLM beside its device, as its dtype; empty where it is not loaded."""


class Heard(NamedTuple):
    """What a VLM said to one request."""

    replies: list[Reply]
    result: bytes
    """Of a look into the VLM, which has no replies; empty otherwise."""


class Workers:
    """The warm VLMs of a process: one child process for each `LocalSpec` in use.

    Args:
        factory: ``module:function`` that makes a VLM from a `LocalSpec` in the child.
        imports: Modules the child imports before it loads the weights.
        room: VLMs that may be warm at a time.
    """

    def __init__(self, factory: str = FACTORY, imports: tuple[str, ...] = HEAVY, room: int = 1) -> None:
        self._factory = factory
        self._imports = imports
        self._queue = CallQueue(room)

    def call(self, vlm: "WorkerVlm", request: dict[str, Any], n_asks: int, on_text: OnText) -> Heard:
        """Wait for the turn, start the VLM where it is not warm, and have a request answered.

        Raises:
            SaliencyError: A look into the VLM is not possible.
            WorkerError: The VLM cannot be loaded, or its process ended; the next call starts it anew.
            Cancelled: `cancel` was called, or ``on_text`` raised it.
        """
        with self._queue.changed:
            call = Call(vlm, self._queue.worker(vlm.spec), n_asks)
        in_the_way = self._queue.enter(call)
        try:
            for idle in in_the_way:
                idle.end()
            was_warm = call.worker.child is not None
            child = self._warm_child(call)
            try:
                heard = self._converse(child, request, call, on_text)
            except WorkerError:
                if not was_warm or child.took_request or call.is_cancelled:
                    raise
                self._settle(call.worker)  # it died idle, and its end was seen only now
                heard = self._converse(self._warm_child(call), request, call, on_text)
        except WorkerError:
            if call.is_cancelled:
                raise Cancelled from None
            raise
        finally:
            self._settle(call.worker)
            self._queue.leave(call)
        if call.is_cancelled:
            raise Cancelled
        return heard

    def cancel(self, vlm: "WorkerVlm") -> None:
        """Stop what this user has running and waiting; calls of others are not touched.

        A running answer has `GRACE` seconds to stop at its next token, which keeps the VLM
        warm. After that, or where the VLM is still being loaded, its process is killed.
        """
        with self._queue.changed:
            mine = [call for call in self._queue.calls if call.caller is vlm]
            self._queue.cancel(mine)
            running = next((call for call in mine if call.is_running), None)
            child = running.worker.child if running else None
            if running is None or child is None:
                return
            is_loaded = running.worker.since is not None
            if is_loaded:
                child.interrupt()
        if is_loaded and running.is_over.wait(GRACE):
            return
        with self._queue.changed:
            if not running.is_over.is_set():
                child.kill()

    def standing(self, vlm: "WorkerVlm") -> Standing:
        """Return where this user's first call stands, or the VLM where there is none."""
        with self._queue.changed:
            call = next((call for call in self._queue.calls if call.caller is vlm), None)
            if call is None or call.is_running:
                return Standing(self._queue.worker(vlm.spec).phase, 0)
            return Standing(Phase.WAITING, self._queue.n_before(call))

    def status(self) -> list[WorkerStatus]:
        """Return what is loaded or asked for, in the order of first use."""
        with self._queue.changed:
            everyone = [self._status_of(worker) for worker in self._queue.workers.values()]
        return [status for status in everyone if status.n_calls or status.phase != Phase.ABSENT]

    def stop_all(self) -> None:
        """Cancel every call and end every process; the next call starts one anew."""
        with self._queue.changed:
            self._queue.cancel(list(self._queue.calls))
            busy = [call.worker for call in self._queue.calls]
            for worker in busy:
                if worker.child is not None:
                    worker.child.kill()
            idle = [worker for worker in self._queue.workers.values() if worker not in busy]
            children = [child for worker in idle for child in worker.let_go()]
        for child in children:
            child.end()

    def _warm_child(self, call: Call) -> ChildProcess:
        """Return the child with the VLM loaded; start one where there is none, or where it died idle."""
        worker = call.worker
        if worker.child is not None and not worker.child.is_alive:
            self._settle(worker)
        with self._queue.changed:
            if call.is_cancelled:
                raise Cancelled
            if worker.child is not None:
                return worker.child
            worker.child = child = ChildProcess(self._factory, self._imports)
            worker.phase = Phase.STARTING
        for message in child.converse({"do": Do.LOAD, "spec": asdict(worker.spec)}):
            with self._queue.changed:
                if message["is"] == Said.LOADING:
                    worker.phase = Phase.LOADING
                else:
                    worker.since, worker.whereabouts = datetime.now(UTC), message
        return child

    def _converse(self, child: ChildProcess, request: dict[str, Any], call: Call, on_text: OnText) -> Heard:
        with self._queue.changed:
            call.worker.phase = Phase.ANSWERING
        replies, parts = [], []
        conversation = child.converse(request)
        try:
            for message in conversation:
                if message["is"] == Said.TEXT:
                    on_text(message["text"])
                elif message["is"] == Said.REPLY:
                    replies.append(message["reply"])
                    call.n_replies += 1
                elif message["is"] == Said.PART:
                    parts.append(message["bytes"])
                else:
                    call.worker.whereabouts = message
        except BaseException:  # on_text may raise anything: the child must not talk on into the next call
            child.give_up(conversation)
            raise
        if len(replies) + bool(parts) != call.n_asks:
            raise child.unreadable()
        return Heard(replies, b"".join(parts))

    def _settle(self, worker: Worker) -> None:
        """After a call: keep the child warm, or end it where it cannot go on."""
        with self._queue.changed:
            child = worker.child
            if child is not None and child.is_free and child.is_alive and worker.since is not None:
                worker.phase = Phase.READY
                return
            ended = worker.let_go()
        for child in ended:
            child.end()

    def _status_of(self, worker: Worker) -> WorkerStatus:
        calls = [call for call in self._queue.calls if call.worker is worker]
        running = next((call for call in calls if call.is_running), None)
        return WorkerStatus(
            name=worker.spec.name,
            phase=worker.phase,
            since=worker.since,
            process_bytes=worker.whereabouts.get("process_bytes"),
            device=worker.whereabouts.get("device"),
            total_bytes=worker.whereabouts.get("total_bytes"),
            free_bytes=worker.whereabouts.get("free_bytes"),
            n_calls=len(calls),
            n_replies=running.n_replies if running else 0,
            n_asks=running.n_asks if running else 0,
            facts=worker.whereabouts.get("facts", {}),
        )


WORKERS = Workers()
"""The workers of this process."""

atexit.register(WORKERS.stop_all)


class WorkerVlm:
    """One user's line to a local VLM in a warm process; a `Vlm`.

    Make one for each user, or each chain of calls: `cancel` stops all that is asked through it.
    """

    def __init__(self, spec: LocalSpec, workers: Workers = WORKERS) -> None:
        self.spec = spec
        self._workers = workers

    @property
    def name(self) -> str:
        """The VLM's name."""
        return self.spec.name

    @property
    def standing(self) -> Standing:
        """Where this user's call stands, or the VLM where there is none."""
        return self._workers.standing(self)

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Answer one prompt in a fresh context; see `Vlm.answer`.

        Raises:
            WorkerError: The VLM cannot be loaded, or its process ended; the next call starts it anew.
            Cancelled: `cancel` was called, or ``on_text`` raised it.
        """
        request = {"do": Do.ANSWER, **_told(Ask(image, prompt)), "decoding": asdict(decoding)}
        return self._workers.call(self, request, 1, on_text).replies[0]

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Answer several prompts in their order, as one call; see `Vlm.answer_all` and `answer`."""
        if not asks:
            return []
        request = {"do": Do.ANSWER_ALL, "asks": [_told(ask) for ask in asks], "decoding": asdict(decoding)}
        return self._workers.call(self, request, len(asks), said_nothing).replies

    def saliency(self, image: Path, prompt: str, answer: str, randomised: int | None = None) -> Saliency:
        """Return what an answer attended to and depended on; see `TransformersLocal.saliency`.

        Raises:
            SaliencyError: It cannot be had for this; the VLM goes on.
            WorkerError: As `answer` does, and Cancelled, too.
        """
        request = {"do": Do.SALIENCY, **_told(Ask(image, prompt)), "answer": answer, "randomised": randomised}
        return Saliency.from_npz(self._workers.call(self, request, 1, said_nothing).result)

    def faithfulness(self, image: Path, prompt: str, answer: str, heat: "ArrayLike", steps: int = 10) -> Curves:
        """Return how an answer's probability follows a map; see `TransformersLocal.faithfulness`.

        Raises:
            SaliencyError: As `saliency` does, and WorkerError and Cancelled, too.
        """
        rows = np.asarray(heat, dtype=np.float64).tolist()
        request = {"do": Do.FAITHFULNESS, **_told(Ask(image, prompt)), "answer": answer, "heat": rows, "steps": steps}
        return Curves.from_bytes(self._workers.call(self, request, 1, said_nothing).result)

    def cancel(self) -> None:
        """Stop, from any thread, what was asked through this line: its calls raise `Cancelled`."""
        self._workers.cancel(self)


def _told(ask: Ask) -> dict[str, str | None]:
    return {"image": None if ask.image is None else str(ask.image.absolute()), "prompt": ask.prompt}
