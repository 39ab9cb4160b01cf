"""Calls to a VLM that run while somebody watches, in threads that outlive pages.

Whoever holds the id of such calls sees how far they are, from any page and any browser. Each watched thing has
its own line to its VLM, so that cancelling one stops nobody else's. What was answered is stored when it ends, in
whatever way it ends. What is asked and how it is stored is said by the subclasses.
"""

__all__ = ["Asking", "LiveCalls", "LiveRegistry", "Watched"]

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, runtime_checkable

from backend.domain.progress import Cancelled
from backend.domain.vlm import Vlm
from backend.errors import AppError
from backend.services.live_traces import new_trace_id
from backend.services.runs.plan import VlmIdentity
from backend.store.store import Store
from backend.vlm.worker import WORKERS, Standing, WorkerVlm

KEPT = 40
"""So many that are over are kept for looking back; what was answered stays in the store."""

CANCEL_AGAIN = 0.05
"""Seconds between two calls of a VLM's `cancel`: a call that had not begun at the first is met by the next."""


@runtime_checkable
class _CanCancel(Protocol):
    def cancel(self) -> None:
        """Stop all calls that run or wait."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A call that is being made."""

    name: str
    """Which of the calls it is."""
    position: int
    question: str
    prompt: str
    said: str
    """What has come of the reply so far."""
    seconds: float
    """Since it was asked."""


@dataclass(slots=True)
class _Call:
    name: str
    position: int
    question: str
    prompt: str
    began: float = field(default_factory=time.monotonic)
    pieces: list[str] = field(default_factory=list)


class LiveCalls(ABC):
    """What is asked about one thing, one call after another. Started by a `LiveRegistry`; read it, and `cancel` it.

    Its methods may be called from any thread.

    Args:
        store: Where what was answered goes.
        vlm: A line to the VLM that nobody else uses. A subclass that asks several sets the attribute at each call.
    """

    def __init__(self, store: Store, vlm: Vlm) -> None:
        self.id = new_trace_id()
        """Of the trace, too, once it is stored."""
        self.store = store
        self.vlm = vlm
        self.error: AppError | None = None
        """What ended it, where the VLM as a whole could not go on."""
        self.unsaved: AppError | None = None
        """Why it could not be stored, where it could not."""
        self.is_stored = False
        self._lock = threading.Lock()
        self._calls: list[_Call] = []
        self._stopping = threading.Event()
        self._over = threading.Event()

    @abstractmethod
    def _ask(self) -> None:
        """Make all calls; may raise `AppError` and `Cancelled`."""

    @abstractmethod
    def _was_answered(self) -> bool:
        """Return whether any call was answered, so that there is something to keep."""

    @abstractmethod
    def _keep(self, identity: VlmIdentity) -> None:
        """Store what was answered; may raise `AppError`."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way, and what was answered is stored."""
        return self._over.is_set()

    @property
    def is_stopping(self) -> bool:
        """Whether somebody cancelled it."""
        return self._stopping.is_set()

    @property
    def asking(self) -> tuple[Asking, ...]:
        """The calls that are being made now; none once it is over."""
        now = time.monotonic()
        with self._lock:
            return tuple(
                Asking(call.name, call.position, call.question, call.prompt, "".join(call.pieces), now - call.began)
                for call in self._calls
            )

    @property
    def standing(self) -> Standing | None:
        """Where the present call stands in the queue of its VLM; None for a VLM that has none."""
        return self.vlm.standing if isinstance(self.vlm, WorkerVlm) else None

    @property
    def device(self) -> str:
        """What the VLM runs on; empty where that is not known."""
        if not isinstance(self.vlm, WorkerVlm):
            return ""
        return next((one.device for one in WORKERS.status() if one.name == self.vlm.name and one.device), "")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over, or so many seconds have passed; return whether it is over."""
        return self._over.wait(seconds)

    def cancel(self) -> None:
        """Stop it, whether it waits, loads or answers; returns at once. What was answered is kept."""
        if not self._stopping.is_set():
            self._stopping.set()
            threading.Thread(target=self._stop_calls, name=f"cancel of {self.id}", daemon=True).start()

    def begins(self, name: str, position: int, question: str, prompt: str) -> None:
        """Take note of a call that is about to be made.

        Raises:
            Cancelled: Somebody cancelled it.
        """
        self._go_on()
        with self._lock:
            self._calls.append(_Call(name, position, question, prompt))

    def says(self, text: str) -> None:
        """Take note of a piece of the reply.

        Raises:
            Cancelled: Somebody cancelled it.
        """
        self._go_on()
        with self._lock:
            self._calls[-1].pieces.append(text)

    def run(self, identify: Callable[[], VlmIdentity]) -> None:
        """Ask all that is to be asked, in the calling thread, and store what was answered.

        Args:
            identify: Says who answers; reads the weights' files, so it is not called on a page.
        """
        try:
            identity = identify()
            self._ask()
        except Cancelled:
            self._stopping.set()
        except AppError as error:
            self.error = error
        except Exception:
            logging.getLogger(__name__).exception("Live calls ended in a bug")
            self.error = AppError(
                "What was asked ended in a bug in Parallax, not in something you did.",
                "Ask again. If it happens again, the server's log says where.",
            )
        with self._lock:
            self._calls = []
        try:
            if self._was_answered():
                self._keep_if_possible(identity)
        finally:
            self._over.set()

    def _keep_if_possible(self, identity: VlmIdentity) -> None:
        try:
            self._keep(identity)
            self.is_stored = True
        except AppError as error:
            self.unsaved = error
        except Exception:
            logging.getLogger(__name__).exception("A live trace could not be stored")
            self.unsaved = AppError("The trace could not be stored.", "The server's log says why. Copy what you need.")

    def _end_call(self, name: str, position: int) -> None:
        """Take a call off those that are being made; the caller holds `_lock`."""
        self._calls = [call for call in self._calls if (call.name, call.position) != (name, position)]

    def _go_on(self) -> None:
        if self._stopping.is_set():
            raise Cancelled

    def _stop_calls(self) -> None:
        while not self._over.is_set():
            if isinstance(self.vlm, _CanCancel):
                self.vlm.cancel()
            self._over.wait(CANCEL_AGAIN)


Watched = TypeVar("Watched", bound=LiveCalls)


class LiveRegistry(Generic[Watched]):
    """All live calls of one kind in a process, by id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[str, Watched] = {}

    def begin(self, calls: Watched, identify: Callable[[], VlmIdentity]) -> Watched:
        """Start them in a thread of their own.

        Args:
            calls: What is asked.
            identify: Says who answers.
        """
        with self._lock:
            over = [one for one in self._watched.values() if one.is_over]
            for old in over[: max(len(over) - KEPT, 0)]:
                del self._watched[old.id]
            self._watched[calls.id] = calls
        threading.Thread(target=calls.run, args=(identify,), name=f"live {calls.id}", daemon=True).start()
        return calls

    def known(self, trace_id: str) -> Watched | None:
        """Return the calls of an id that ran in this process; None where there are none (any more)."""
        with self._lock:
            return self._watched.get(trace_id)

    def unstored(self, store: Store, trace_id: str) -> Watched | None:
        """Return the calls of an id that this store does not hold (yet); None where it does, or none are known."""
        calls = self.known(trace_id)
        return calls if calls is not None and calls.store is store and not calls.is_stored else None
