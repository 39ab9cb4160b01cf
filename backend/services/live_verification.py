"""Verifications that run while somebody watches: a generator answers, a verifier judges, turn by turn."""

__all__ = ["VERIFICATIONS", "Line", "LiveVerification", "find_verification"]

from collections.abc import Callable
from typing import NamedTuple

from backend.domain.records import Stage
from backend.domain.vlm import Vlm
from backend.services.live_calls import LiveCalls, LiveRegistry
from backend.services.live_examples import ExampleToAsk
from backend.services.runs.plan import VlmIdentity
from backend.services.verification_traces import (
    Asked,
    VerificationTrace,
    load_verification_trace,
    store_verification_trace,
)
from backend.store.store import Store
from backend.verimap.verification import Course, Step, Verification, verify


class Line(NamedTuple):
    """A line to one VLM that nobody else uses, and who answers at its end."""

    vlm: Vlm
    identify: Callable[[], VlmIdentity]
    """Reads the weights' files, so it is not called on a page."""


class LiveVerification(LiveCalls):
    """One verification of one example; the `Watcher` of its own calls. Its `vlm` is the one that is asked now.

    Args:
        store: Where the trace goes.
        example: What is asked about.
        course: What is to be done.
        verifier: Who judges.
        generator: Who answers: the verifier's own line where it judges itself; None where no call is the generator's.
    """

    def __init__(
        self, store: Store, example: ExampleToAsk, course: Course, verifier: Line, generator: Line | None
    ) -> None:
        super().__init__(store, verifier.vlm)
        self.example = example
        self.course = course
        self.verifier = verifier
        self.generator = generator
        self._steps: list[Step] = []
        self._devices: dict[str, str] = {}
        self._generator_identity: VlmIdentity | None = None

    @property
    def verification(self) -> Verification:
        """What was answered so far."""
        with self._lock:
            return Verification(self.example.question, self.course, tuple(self._steps))

    def begins(self, name: str, position: int, question: str, prompt: str) -> None:
        """Take note of a call that is about to be made; see `Watcher`."""
        asked = self.verifier if name in (Stage.LOOK, Stage.VERIFY) or self.generator is None else self.generator
        self.vlm = asked.vlm
        super().begins(name, position, question, prompt)

    def ends(self, step: Step) -> None:
        """Take note of a reply; see `Watcher`. One that came is kept, though somebody cancels meanwhile."""
        device = self.device
        with self._lock:
            self._steps.append(step)
            self._devices[self.vlm.name] = device
            self._end_call(step.name, step.turn)

    def _ask(self) -> None:
        if self.generator is not None and self.generator.vlm is not self.verifier.vlm:
            self._generator_identity = self.generator.identify()
        answering = self.generator.vlm if self.generator else None
        verify(answering, self.verifier.vlm, self.example.image, self.example.question, self, self.course)

    def _was_answered(self) -> bool:
        return any(not step.reply.error for step in self.verification.steps)

    def _keep(self, identity: VlmIdentity) -> None:
        generator = None
        if self.generator is not None:
            generator = self._asked(self._generator_identity or identity)
        store_verification_trace(
            self.store,
            self.id,
            self.example.unit_id,
            self.verification,
            self._asked(identity),
            generator,
            self.example.image_sha256,
            was_cancelled=self.is_stopping,
            problem=str(self.error) if self.error else "",
        )

    def _asked(self, identity: VlmIdentity) -> Asked:
        return Asked(identity, self._devices.get(identity.name, ""))


VERIFICATIONS: LiveRegistry[LiveVerification] = LiveRegistry()
"""The live verifications of this process."""


def find_verification(store: Store, trace_id: str) -> LiveVerification | VerificationTrace | None:
    """Return the verification of an id: stored, or else still known here; None where it is neither."""
    return VERIFICATIONS.unstored(store, trace_id) or load_verification_trace(store, trace_id)
