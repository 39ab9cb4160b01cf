"""Reconciliations that run while somebody watches, in threads that outlive pages."""

__all__ = ["LIVE", "Asking", "LiveRun", "LiveRuns", "Standing"]

from collections.abc import Callable

from backend.domain.vlm import Vlm
from backend.endoca.asr import Step, Trace, Variant, reconcile
from backend.services.live_calls import Asking, LiveCalls, LiveRegistry
from backend.services.live_traces import StoredTrace, load_trace, store_trace
from backend.services.live_units import LiveUnit
from backend.services.runs.plan import VlmIdentity
from backend.store.store import Store
from backend.vlm.worker import Standing


class LiveRun(LiveCalls):
    """One reconciliation of one unit. Made by `LiveRuns.start`; it is the `Watcher` of its own reconciliation."""

    def __init__(self, store: Store, unit: LiveUnit, vlm: Vlm, variant: Variant) -> None:
        super().__init__(store, vlm)
        self.unit = unit
        self.variant = variant
        self._steps: list[Step] = []

    @property
    def trace(self) -> Trace:
        """What was answered so far."""
        with self._lock:
            return Trace(self.unit.question, self.variant, tuple(self._steps))

    def ends(self, step: Step) -> None:
        """Take note of a reply; see `Watcher`. One that came is kept, though somebody cancels meanwhile."""
        with self._lock:
            self._steps.append(step)
            self._end_call(step.name, step.position)

    def _ask(self) -> None:
        reconcile(self.vlm, self.unit.image, self.unit.question, self.unit.atomic, self, self.variant)

    def _was_answered(self) -> bool:
        return any(not step.reply.error for step in self._steps)

    def _keep(self, identity: VlmIdentity) -> None:
        store_trace(
            self.store,
            self.unit.unit_id,
            self.trace,
            identity,
            self.unit.image_sha256,
            trace_id=self.id,
            device=self.device,
            was_cancelled=self.is_stopping,
            problem=str(self.error) if self.error else "",
        )


class LiveRuns(LiveRegistry[LiveRun]):
    """All live reconciliations of a process, by id."""

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
        return self.begin(LiveRun(store, unit, vlm, variant), identify)

    def find(self, store: Store, trace_id: str) -> LiveRun | StoredTrace | None:
        """Return the reconciliation of an id: stored, or else still known here; None where it is neither."""
        return self.unstored(store, trace_id) or load_trace(store, trace_id)


LIVE = LiveRuns()
"""The live reconciliations of this process."""
