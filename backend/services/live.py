"""Reconciliations that run while somebody watches, in threads that outlive pages.

Whoever holds the id of one sees how far it is, from any page and any browser. Each has its own line to
its VLM, so that cancelling one stops nobody else's. What was answered is stored when it ends, in whatever
way it ends.
"""

__all__ = ["LIVE", "Asking", "LiveRun", "LiveRuns", "Standing"]

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from backend.domain.progress import Cancelled
from backend.domain.vlm import Vlm
from backend.endoca.asr import Step, StepName, Trace, Variant, reconcile
from backend.errors import AppError
from backend.services.live_traces import StoredTrace, load_trace, new_trace_id, store_trace
from backend.services.live_units import LiveUnit
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

    name: StepName
    position: int
    question: str
    prompt: str
    said: str
    """What has come of the reply so far."""
    seconds: float
    """Since it was asked."""


@dataclass(slots=True)
class _Call:
    name: StepName
    position: int
    question: str
    prompt: str
    began: float = field(default_factory=time.monotonic)
    pieces: list[str] = field(default_factory=list)


class LiveRun:
    """One reconciliation of one unit. Made by `LiveRuns.start`; read it, and `cancel` it.

    It is the `Watcher` of its own reconciliation; its methods may be called from any thread.
    """

    def __init__(self, store: Store, unit: LiveUnit, vlm: Vlm, variant: Variant) -> None:
        self.id = new_trace_id()
        """Of the trace, too, once it is stored."""
        self.store = store
        self.unit = unit
        self.vlm = vlm
        self.variant = variant
        self.error: AppError | None = None
        """What ended it, where the VLM as a whole could not go on."""
        self.unsaved: AppError | None = None
        """Why it could not be stored, where it could not."""
        self.is_stored = False
        self._lock = threading.Lock()
        self._steps: list[Step] = []
        self._calls: list[_Call] = []
        self._stopping = threading.Event()
        self._over = threading.Event()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way, and what was answered is stored."""
        return self._over.is_set()

    @property
    def is_stopping(self) -> bool:
        """Whether somebody cancelled it."""
        return self._stopping.is_set()

    @property
    def trace(self) -> Trace:
        """What was answered so far."""
        with self._lock:
            return Trace(self.unit.question, self.variant, tuple(self._steps))

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

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over, or so many seconds have passed; return whether it is over."""
        return self._over.wait(seconds)

    def cancel(self) -> None:
        """Stop it, whether it waits, loads or answers; returns at once. What was answered is kept."""
        if not self._stopping.is_set():
            self._stopping.set()
            threading.Thread(target=self._stop_calls, name=f"cancel of {self.id}", daemon=True).start()

    def begins(self, name: StepName, position: int, question: str, prompt: str) -> None:
        """Take note of a call; see `Watcher`."""
        self._go_on()
        with self._lock:
            self._calls.append(_Call(name, position, question, prompt))

    def says(self, text: str) -> None:
        """Take note of a piece of the reply; see `Watcher`."""
        self._go_on()
        with self._lock:
            self._calls[-1].pieces.append(text)

    def ends(self, step: Step) -> None:
        """Take note of a reply; see `Watcher`. One that came is kept, though somebody cancels meanwhile."""
        with self._lock:
            self._steps.append(step)
            self._calls = [call for call in self._calls if (call.name, call.position) != (step.name, step.position)]

    def run(self, identify: Callable[[], VlmIdentity]) -> None:
        """Ask all that is to be asked, in the calling thread, and store what was answered.

        Args:
            identify: Says who answers; reads the weights' files, so it is not called on a page.
        """
        try:
            identity = identify()
            reconcile(self.vlm, self.unit.image, self.unit.question, self.unit.atomic, self, self.variant)
        except Cancelled:
            self._stopping.set()
        except AppError as error:
            self.error = error
        except Exception:
            logging.getLogger(__name__).exception("A live reconciliation ended in a bug")
            self.error = AppError(
                "The reconciliation ended in a bug in Parallax, not in something you did.",
                "Ask again. If it happens again, the server's log says where.",
            )
        with self._lock:
            self._calls = []
        try:
            if any(not step.reply.error for step in self._steps):
                self._store(identity)
        finally:
            self._over.set()

    def _store(self, identity: VlmIdentity) -> None:
        try:
            store_trace(
                self.store,
                self.unit.unit_id,
                self.trace,
                identity,
                self.unit.image_sha256,
                trace_id=self.id,
                device=self._device(),
                was_cancelled=self.is_stopping,
                problem=str(self.error) if self.error else "",
            )
            self.is_stored = True
        except AppError as error:
            self.unsaved = error
        except Exception:
            logging.getLogger(__name__).exception("A live trace could not be stored")
            self.unsaved = AppError("The trace could not be stored.", "The server's log says why. Copy what you need.")

    def _device(self) -> str:
        if not isinstance(self.vlm, WorkerVlm):
            return ""
        return next((one.device for one in WORKERS.status() if one.name == self.vlm.name and one.device), "")

    def _go_on(self) -> None:
        if self._stopping.is_set():
            raise Cancelled

    def _stop_calls(self) -> None:
        while not self._over.is_set():
            if isinstance(self.vlm, _CanCancel):
                self.vlm.cancel()
            self._over.wait(CANCEL_AGAIN)


class LiveRuns:
    """All live reconciliations of a process, by id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, LiveRun] = {}

    def start(
        self, store: Store, unit: LiveUnit, vlm: Vlm, identify: Callable[[], VlmIdentity], variant: Variant
    ) -> LiveRun:
        """Start a reconciliation in a thread of its own.

        Args:
            store: Where the trace goes.
            unit: What is asked about.
            vlm: A line to the VLM that nobody else uses.
            identify: Says who answers.
            variant: With premises or without.
        """
        run = LiveRun(store, unit, vlm, variant)
        with self._lock:
            over = [one for one in self._runs.values() if one.is_over]
            for old in over[: max(len(over) - KEPT, 0)]:
                del self._runs[old.id]
            self._runs[run.id] = run
        threading.Thread(target=run.run, args=(identify,), name=f"live {run.id}", daemon=True).start()
        return run

    def known(self, trace_id: str) -> LiveRun | None:
        """Return the reconciliation of an id that ran in this process; None where there is none (any more)."""
        with self._lock:
            return self._runs.get(trace_id)

    def find(self, store: Store, trace_id: str) -> LiveRun | StoredTrace | None:
        """Return the reconciliation of an id: stored, or else still known here; None where it is neither."""
        run = self.known(trace_id)
        if run is not None and run.store is store and not run.is_stored:
            return run
        return load_trace(store, trace_id)


LIVE = LiveRuns()
"""The live reconciliations of this process."""
