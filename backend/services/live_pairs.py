"""Pairs that are asked while somebody watches: the original question, then the less-biased one, of one picture."""

__all__ = ["PAIRS", "LivePair", "find_pair"]

from backend.domain.records import Role
from backend.domain.vlm import Vlm
from backend.services.live_calls import LiveCalls, LiveRegistry
from backend.services.pair_traces import DECODING, PairTrace, Told, load_pair_trace, store_pair_trace
from backend.services.pair_units import PairToAsk
from backend.services.runs.plan import VlmIdentity
from backend.store.store import Store
from backend.surgcheck.prompts import answer_prompt


class LivePair(LiveCalls):
    """Both questions of one pair, put to one VLM."""

    def __init__(self, store: Store, pair: PairToAsk, vlm: Vlm) -> None:
        super().__init__(store, vlm)
        self.pair = pair
        self._told: dict[str, Told] = {}

    @property
    def calls(self) -> dict[str, Told]:
        """What was answered so far, by the question's role."""
        with self._lock:
            return dict(self._told)

    def _ask(self) -> None:
        """Ask the less-biased question even where the original's call failed: neither rests on the other."""
        for role, question in ((Role.ORIGINAL, self.pair.original), (Role.LESS_BIASED, self.pair.less_biased)):
            prompt = answer_prompt(question)
            self.begins(role, 0, question, prompt)
            reply = self.vlm.answer(self.pair.picture, prompt, DECODING, self.says)
            with self._lock:
                self._told[role] = Told(prompt, reply)
                self._end_call(role, 0)

    def _was_answered(self) -> bool:
        return any(not told.reply.error for told in self.calls.values())

    def _keep(self, identity: VlmIdentity) -> None:
        store_pair_trace(
            self.store,
            self.id,
            self.pair.unit_id,
            identity,
            self.calls,
            self.pair.picture_sha256,
            device=self.device,
            was_cancelled=self.is_stopping,
            problem=str(self.error) if self.error else "",
        )


PAIRS: LiveRegistry[LivePair] = LiveRegistry()
"""The pairs that are asked live in this process."""


def find_pair(store: Store, trace_id: str) -> LivePair | PairTrace | None:
    """Return the pair asked live of an id: stored, or else still known here; None where it is neither."""
    return PAIRS.unstored(store, trace_id) or load_pair_trace(store, trace_id)
