"""Looks into replies of a stored trace that are taken while somebody watches: each is kept as it arrives.

Nothing new is asked: the prompts are read again with what was said behind them (`looks`). Only the VLM that gave a
reply, in the build in which it did, is looked into for it.
"""

__all__ = ["LOOKS", "LiveLooks", "LooksRegistry", "lines_to", "why_no_look"]

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from backend.domain.progress import Cancelled
from backend.errors import AppError
from backend.services.live_calls import LiveCalls, LiveRegistry
from backend.services.live_verification import Line
from backend.services.looks import SaliencyVlm
from backend.services.runs.identity import identity_of
from backend.services.runs.plan import VlmIdentity
from backend.services.stored_saliency import put_trace_look, trace_looks
from backend.services.trace_replies import AnyTrace, TraceReply, image_to_look_at
from backend.store.store import Store
from backend.vlm.registry import Registry
from backend.vlm.saliency.kept import keep
from backend.vlm.saliency.result import SaliencyError


class LiveLooks(LiveCalls):
    """Looks into some replies of one trace, whose id it bears. Made by `LooksRegistry.start`.

    Args:
        store: Holds the trace, and takes the looks.
        trace_id: The trace's.
        image: The file that was shown.
        wanted: The replies, at least one.
        lines: A line to each of their VLMs, by name.
        refused: What earlier looks into other replies of the trace were refused for.
    """

    def __init__(
        self,
        store: Store,
        trace_id: str,
        image: Path,
        wanted: Sequence[TraceReply],
        lines: Mapping[str, Line],
        refused: Mapping[tuple[str, int], AppError],
    ) -> None:
        super().__init__(store, lines[wanted[0].vlm.name].vlm)
        self.id = trace_id
        self.wanted = tuple(wanted)
        self._image = image
        self._lines = lines
        self._refused = dict(refused)
        self._n_kept = 0
        self._n_done = 0
        self._checked: dict[str, AppError | None] = {}

    @property
    def n_done(self) -> int:
        """Replies of `wanted` that were looked into or refused."""
        return self._n_done

    @property
    def refused(self) -> Mapping[tuple[str, int], AppError]:
        """Why a reply could not be looked into, by step and position; kept as long as this process runs."""
        with self._lock:
            return dict(self._refused)

    def _ask(self) -> None:
        """Look into one reply after another; what one is refused for, or one VLM fails for, leaves the others."""
        for reply in self.wanted:
            line = self._lines[reply.vlm.name]
            self.vlm = line.vlm
            self.begins(reply.step, reply.position, reply.question, reply.prompt)
            try:
                self._look(reply, line)
            except Cancelled:
                raise
            except AppError as error:
                with self._lock:
                    self._refused[reply.key] = error
            with self._lock:
                self._n_done += 1
                self._end_call(reply.step, reply.position)

    def _look(self, reply: TraceReply, line: Line) -> None:
        who = reply.vlm.digest
        if who not in self._checked:
            self._checked[who] = _fault(reply.vlm, line)
        if (fault := self._checked[who]) is not None:
            raise fault
        assert isinstance(line.vlm, SaliencyVlm)  # `_fault` says where it is none
        try:
            found = line.vlm.saliency(self._image, reply.prompt, reply.said)
        except (Cancelled, SaliencyError):
            raise
        except AppError as error:
            self._checked[who] = error
            raise
        put_trace_look(self.store, self.id, reply.step, reply.position, keep(found))
        self._n_kept += 1

    def _was_answered(self) -> bool:
        return self._n_kept > 0

    def _keep(self, identity: VlmIdentity) -> None:
        """Do nothing: each look is in the store since it came."""


class LooksRegistry(LiveRegistry[LiveLooks]):
    """All live looks of a process, by the trace's id: at most one at a time for each trace."""

    def __init__(self) -> None:
        super().__init__()
        self._starting = threading.Lock()

    def of(self, store: Store, trace_id: str) -> LiveLooks | None:
        """Return the last looks into a trace of this store, running or over; None where there are none (any more)."""
        known = self.known(trace_id)
        return known if known is not None and known.store is store else None

    def start(
        self, store: Store, trace: AnyTrace, wanted: Sequence[TraceReply], lines: Mapping[str, Line]
    ) -> LiveLooks | None:
        """Start looking in a thread of its own; where somebody does already, return that.

        Args:
            store: Holds the trace.
            trace: Whose replies.
            wanted: The replies; those that were looked into are left out.
            lines: A line to each of their VLMs, by name (`lines_to`).

        Returns:
            None where all were looked into already.

        Raises:
            AppError: The image that was shown is not at hand.
        """
        with self._starting:
            earlier = self.of(store, trace.trace_id)
            if earlier is not None and not earlier.is_over:
                return earlier
            kept = trace_looks(store, trace.trace_id)
            missing = [reply for reply in wanted if reply.key not in kept]
            if not missing:
                return None
            again = {reply.key for reply in missing}
            refused = {key: why for key, why in (earlier.refused if earlier else {}).items() if key not in again}
            image = image_to_look_at(store, trace)
            looks = LiveLooks(store, trace.trace_id, image, missing, lines, refused)
            return self.begin(looks, lambda: missing[0].vlm)


LOOKS = LooksRegistry()
"""The live looks of this process."""


def why_no_look(registry: Registry, name: str) -> str:
    """Return why a VLM cannot be looked into here, in words; empty where it may. Nothing is loaded.

    Args:
        registry: The VLMs that are known.
        name: As a trace names it.
    """
    entry = next((one for one in registry.entries if one.name == name), None)
    if entry is None:
        return f"{name} is not in the list of VLMs any more"
    why_not = entry.answers.why_not or entry.attention.why_not or ("" if entry.spec else "it does not run here")
    return f"{name} cannot be looked into: {why_not}" if why_not else ""


def lines_to(registry: Registry, replies: Sequence[TraceReply]) -> dict[str, Line]:
    """Return a line of one's own to each VLM of the replies, by name.

    Raises:
        AppError: One cannot be opened; `why_no_look` says so beforehand.
    """
    names = dict.fromkeys(reply.vlm.name for reply in replies)
    return {name: Line(registry.open_vlm(name), partial(identity_of, registry.find(name))) for name in names}


def _fault(who: VlmIdentity, line: Line) -> AppError | None:
    """Return why a VLM may not be looked into for what it said then; None where it may."""
    if not isinstance(line.vlm, SaliencyVlm):
        return AppError(f"{who.name} cannot be looked into from here.", "Choose a reply of a VLM that runs here.")
    try:
        now = line.identify()
    except AppError as error:
        return error
    if now.digest != who.digest:
        return AppError(
            f"{who.name} has changed since it gave this reply: its weights or how they are loaded are others now.",
            "Ask again, and look into the new answer.",
        )
    return None
