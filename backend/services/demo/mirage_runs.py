"""How the shipped verifications come to be: chains of VeriMap over the built-in examples.

The VLM in the box answers and judges itself, over the whole feedback loop; it judges what the blind
baseline says, and that judges it in turn. In the controls it judges the same first answers. The two-step
verifier is not among them: the VLM in the box was not trained on its wordings, and replies with no verdict.
"""

__all__ = ["TURNS", "make_mirage_runs"]

import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.progress import Report
from backend.domain.records import Role, Stage, Unit
from backend.domain.vlm import Decoding, Vlm
from backend.services.demo.shipped import (
    FRAMES,
    MIRAGE_BLIND,
    MIRAGE_BY_BLIND,
    MIRAGE_SELF,
    MIRAGE_SUITE,
    MIRAGE_SWAPPED,
    MIRAGE_WITHHELD,
    RUNS,
)
from backend.services.demo.shipped_runs import BATCH, BLIND, device_of, learn_endoscopy, replayed
from backend.services.demo.verification_examples import demo_examples, put_demo_examples
from backend.services.ingest.images import attach_images
from backend.services.runs.direct_answers import RunAnswers, folder_base
from backend.services.runs.plan import Plan, VlmIdentity, read_plan
from backend.services.runs.verification_plan import answer_of, verify_plan
from backend.services.runs.verification_run import GENERATE, Chain, Participant, run_chain
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.examples import AnswerType, Option
from backend.verimap.feedback_loop import DECODINGS
from backend.verimap.scoring import score_closed
from backend.verimap.verifier import Verdict
from backend.vlm.blind import BlindBaseline

if TYPE_CHECKING:
    from backend.vlm.transformers_local import TransformersLocal

VERIFY = Decoding(max_new_tokens=120)
"""Of verdicts: what the VLM in the box was trained to say fits."""

TURNS = 4
"""Revision turns, as many as the paper's loop has."""

CONTROLS: Mapping[str, Condition] = {
    MIRAGE_WITHHELD: Condition.IMAGE_WITHHELD,
    MIRAGE_SWAPPED: Condition.IMAGE_SWAPPED,
}
"""Folder → under which condition the VLM in the box judges its own first answers there."""


def make_mirage_runs(vlm: "TransformersLocal", identity: VlmIdentity, report: Report) -> None:
    """Let the VLM in the box and the blind baseline answer and judge; go on where a folder is not finished.

    Args:
        vlm: The VLM in the box, loaded.
        identity: What makes it this one.
        report: Told of progress.
    """
    box = Participant(identity, vlm, partial(device_of, vlm))
    with (
        tempfile.TemporaryDirectory(prefix="parallax-examples-") as name,
        Store.create(Path(name) / "examples.duckdb") as store,
    ):
        put_demo_examples(store, report=report)
        attach_images(store, FRAMES, report=report)
        first, of_blind = (read_plan(store, MIRAGE_SUITE, who, DECODINGS[Stage.DIRECT]) for who in (identity, BLIND))
    blind = _Blind(learn_endoscopy(report))
    chain = partial(run_chain, resume=True, batch=BATCH, report=lambda part: report)

    chain(first, None, box, RUNS / MIRAGE_SELF, Chain(turns=TURNS, decoding=VERIFY), generator=box)
    answers = folder_base(RUNS / MIRAGE_SELF / GENERATE, first)
    for folder, condition in CONTROLS.items():
        chain(first, answers, box, RUNS / folder, Chain(condition, decoding=VERIFY), images=first.items)
    judge = Participant(BLIND, blind.verifier(first, answers))
    chain(first, answers, judge, RUNS / MIRAGE_BY_BLIND, Chain(decoding=VERIFY))
    guesser = Participant(BLIND, blind.generator(of_blind))
    chain(of_blind, None, box, RUNS / MIRAGE_BLIND, Chain(decoding=VERIFY), generator=guesser)


class _Guess(NamedTuple):
    """A question with what the blind baseline takes for its reference."""

    question: str
    reference: str
    answer_type: AnswerType | None
    reference_letter: str = ""
    options: tuple[Option, ...] = ()


class _Blind:
    """The blind baseline as generator and verifier: it accepts what it would have answered itself."""

    def __init__(self, baseline: BlindBaseline) -> None:
        self._examples = {Unit.make_id(MIRAGE_SUITE, one.source_id): one for one in demo_examples()}
        self._answers = {
            probe_id: baseline.answer(Role.ATOMIC, one.native_types) for probe_id, one in self._examples.items()
        }

    def generator(self, asked: Plan) -> Vlm:
        """Return it as a VLM that knows the questions of a plan of first answers."""
        return replayed(asked, self._answers)

    def verifier(self, asked: Plan, answers: RunAnswers) -> Vlm:
        """Return it as a VLM that knows the answers it is to judge.

        Args:
            asked: The generator's plan of first answers.
            answers: What was said to it.
        """
        verdicts = {
            probe_id: self._verdict(probe_id, answer_of(Stage.DIRECT, said.answer))
            for probe_id, said in answers.said.items()
        }
        return replayed(verify_plan(asked, answers, BLIND, decoding=VERIFY), verdicts)

    def _verdict(self, probe_id: str, answer: str) -> str:
        example, own = self._examples[probe_id], self._answers[probe_id]
        kind = AnswerType(example.answer_type) if example.answer_type else None
        score = score_closed(_Guess(example.question, own, kind), answer)
        verdict = Verdict.CORRECT if score is not None and score.correct else Verdict.INCORRECT
        return f"EXPLANATION: The commonest answer to this question is {own}.\nVERDICT: {verdict}"
