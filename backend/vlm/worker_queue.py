"""Whose turn it is: calls to local VLMs pass in the order they came, and idle VLMs make room.

Room is for a few warm VLMs, one by default. A call to a VLM that is not warm stops the warm one
that is longest idle. Idle is a VLM with nothing to do for `LINGER` seconds, since a chain of
calls leaves gaps; once the call has waited `PATIENCE` seconds it goes before calls to the warm
VLM, which then is stopped between two calls.
"""

__all__ = ["Call", "CallQueue", "Phase", "Worker"]

import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.progress import Cancelled
from backend.vlm.loading import LocalSpec
from backend.vlm.worker_child import ChildProcess

LINGER = 0.5
"""Seconds after a call in which its VLM is not stopped for another one."""

PATIENCE = 20.0
"""Seconds after which a call that needs room goes before calls to VLMs that are warm."""


class Phase(StrEnum):
    """Where a VLM, or a call to it, stands."""

    ABSENT = "not started"
    WAITING = "waiting"
    """Of a call: others come before it."""
    STARTING = "starting"
    """The process starts and its libraries are imported."""
    LOADING = "loading weights"
    READY = "ready"
    ANSWERING = "answering"


@dataclass(eq=False)
class Worker:
    """A VLM and, where it is warm, its process. Its fields belong to the lock of the queue."""

    spec: LocalSpec
    child: ChildProcess | None = None
    phase: Phase = Phase.ABSENT
    since: datetime | None = None
    """When the VLM was ready, UTC; None where it is not loaded."""
    whereabouts: dict[str, Any] = field(default_factory=dict)
    """What the child last said of its device and its memory."""
    last_used: float = 0.0

    def let_go(self) -> list[ChildProcess]:
        """Forget the process; return it, if there was one, to be ended without the lock."""
        gone = [] if self.child is None else [self.child]
        self.child, self.phase, self.since, self.whereabouts = None, Phase.ABSENT, None, {}
        return gone


@dataclass(eq=False)
class Call:
    """One call to a VLM, waiting or running. Its fields belong to the lock of the queue."""

    caller: object
    """Whose call it is: what is cancelled together."""
    worker: Worker
    n_asks: int
    n_replies: int = 0
    came: float = field(default_factory=time.monotonic)
    is_running: bool = False
    is_cancelled: bool = False
    is_over: threading.Event = field(default_factory=threading.Event)

    @property
    def needs_room(self) -> bool:
        """Whether it waits for a VLM that is not warm."""
        return self.worker.child is None and not self.is_running

    @property
    def is_impatient(self) -> bool:
        """Whether it has waited for long."""
        return time.monotonic() - self.came > PATIENCE


class CallQueue:
    """All workers of a process, and the calls to them.

    Args:
        room: VLMs that may be warm at a time.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self.changed = threading.Condition()
        """Guards the queue, its workers and its calls; told of each change."""
        self.workers: dict[LocalSpec, Worker] = {}
        """In the order of their first use."""
        self.calls: list[Call] = []
        """Running and waiting, in the order they came."""

    def worker(self, spec: LocalSpec) -> Worker:
        """Return the worker of a spec; the lock is held."""
        return self.workers.setdefault(spec, Worker(spec))

    def enter(self, call: Call) -> list[ChildProcess]:
        """Wait for the turn of a call; it then runs.

        Returns:
            Processes of idle VLMs that make room: they shall be ended before another starts.

        Raises:
            Cancelled: The call was cancelled while it waited.
        """
        with self.changed:
            self.calls.append(call)
            try:
                while not self._is_next(call):
                    self.changed.wait(LINGER)
                    if call.is_cancelled:
                        raise Cancelled
                idle = self._idle_in_the_way(call) or []
            except BaseException:  # an interrupt, too, must not leave a call behind that nobody waits for
                self._remove(call)
                raise
            call.is_running = True
            if call.worker.child is None:
                call.worker.phase = Phase.STARTING
            return [child for worker in idle for child in worker.let_go()]

    def leave(self, call: Call) -> None:
        """Give the turn of a call that ran to the next one."""
        with self.changed:
            call.worker.last_used = time.monotonic()
            self._remove(call)
            call.is_over.set()

    def cancel(self, calls: list[Call]) -> None:
        """Mark calls as cancelled and take those that wait out of the queue; the lock is held."""
        for call in calls:
            call.is_cancelled = True
            if not call.is_running:
                self._remove(call)
        self.changed.notify_all()

    def n_before(self, call: Call) -> int:
        """Return how many calls come before a waiting one; the lock is held."""
        return sum(call.needs_room or other.worker is call.worker for other in self._earlier(call))

    def _remove(self, call: Call) -> None:
        if call in self.calls:
            self.calls.remove(call)
        self.changed.notify_all()

    def _earlier(self, call: Call) -> list[Call]:
        return self.calls[: self.calls.index(call)]

    def _is_next(self, call: Call) -> bool:
        if call.is_cancelled:
            return False
        earlier = self._earlier(call)
        if any(other.worker is call.worker for other in earlier):
            return False
        if not call.needs_room:
            return not any(other.needs_room and other.is_impatient for other in earlier)
        return not any(other.needs_room for other in earlier) and self._idle_in_the_way(call) is not None

    def _idle_in_the_way(self, call: Call) -> list[Worker] | None:
        """Return the idle workers to stop for a call, longest idle first; None where too few are idle.

        A warm VLM is busy while calls to it run, and while some wait, unless this call has lost patience.
        """
        if not call.needs_room:
            return []
        busy = {
            id(other.worker) for other in self.calls if other.is_running or not (other.needs_room or call.is_impatient)
        }
        taken = [worker for worker in self.workers.values() if worker.child is not None or id(worker) in busy]
        n_to_stop = max(len(taken) + 1 - self._room, 0)
        quiet_since = time.monotonic() - (0 if call.is_impatient else LINGER)
        idle = [worker for worker in taken if id(worker) not in busy and worker.last_used <= quiet_since]
        idle.sort(key=lambda worker: worker.last_used)
        return idle[:n_to_stop] if n_to_stop <= len(idle) else None
