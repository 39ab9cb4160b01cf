"""A unit's reconciliations by batch runs, put together step by step from the runs they are spread over."""

__all__ = ["batch_traces"]

from collections.abc import Mapping
from typing import NamedTuple

from backend.domain.records import AnswerStatus
from backend.domain.vlm import Reply
from backend.endoca.asr import Step, StepName, Trace, Variant
from backend.endoca.decision import read_decision
from backend.services.cases import Case, CaseRun
from backend.services.live_traces import StoredTrace
from backend.services.reconciliation import Reconciliation, reconciliations
from backend.services.runs.plan import VlmIdentity
from backend.store.filters import UnitFilter
from backend.store.store import Store


class _Call(NamedTuple):
    """What is known of a call beyond its answer."""

    prompt: str = ""
    image_sha256: str | None = None
    n_tokens: int | None = None
    was_cut: bool = False
    seconds: float = 0.0


_Calls = Mapping[tuple[str, str], _Call]
"""By run and probe."""


def batch_traces(store: Store, case: Case) -> list[StoredTrace]:
    """Return what batch runs of Revise and Select made of a case; none where no such run came to it.

    A run over a part of the suite has nothing on the cases outside: neither a revised answer nor a decision. A
    step whose answer is missing is left out. Answers that came from a prediction file have no prompt.

    Args:
        store: The store.
        case: The case, with its runs.
    """
    by_id = {run.run_id: run for run in case.runs}
    found = [one for one in reconciliations(store, UnitFilter(suite=case.suite)) if one.base in by_id]
    if not found:
        return []
    runs = sorted({run for one in found for run in one.runs})
    calls = {
        (run_id, probe_id): _Call(*call)
        for run_id, probe_id, *call in store.rows(
            "SELECT run_id, probe_id, prompt, image_sha256, n_tokens, was_cut, seconds FROM calls "
            "WHERE list_contains($runs, run_id) AND list_contains($probes, probe_id)",
            {"runs": runs, "probes": [question.probe_id for question in case.questions]},
        )
    }
    decided = {
        run_id: (reply, problem)
        for run_id, reply, problem in store.rows(
            "SELECT run_id, reply, problem FROM decisions WHERE unit_id = ?", [case.unit_id]
        )
    }
    traces = [_trace(case, one, by_id, calls, decided) for one in found]
    return [one for one in traces if one.trace.steps and one.trace.steps[-1].name in (StepName.REVISE, StepName.SELECT)]


def _trace(
    case: Case,
    one: Reconciliation,
    runs: Mapping[str, CaseRun],
    calls: _Calls,
    decided: Mapping[str, tuple[str, str]],
) -> StoredTrace:
    lead, *parts = case.questions
    asked = [(StepName.DIRECT, 0, one.base, 0)]
    asked += [(StepName.ATOMIC, at, one.base, at + 1) for at in range(len(parts))] if one.variant is Variant.ASR else []
    asked.append((StepName.REVISE, 0, one.revised, 0))
    steps = []
    for name, position, run_id, place in asked:
        answer = runs[run_id].answers[place] if run_id in runs else None
        if answer is not None and answer.status is not AnswerStatus.MISSING:
            call = calls.get((run_id, answer.probe_id), _Call())
            steps.append(_step(name, position, case.questions[place].question, call, answer.text, answer.error))
    if one.select is not None and one.select in decided:
        reply, problem = decided[one.select]
        error = "" if reply.strip() or read_decision(reply).problem == problem else problem
        call = calls.get((one.select, lead.probe_id), _Call())
        steps.append(_step(StepName.SELECT, 0, lead.question, call, reply, error))
    spread = [
        (StepName.DIRECT, one.base),
        (StepName.ATOMIC, one.base),
        (StepName.REVISE, one.revised),
        (StepName.SELECT, one.select),
    ]
    decodings = {str(name): runs[run_id].decoding for name, run_id in spread if run_id is not None and run_id in runs}
    direct = calls.get((one.base, lead.probe_id), _Call())
    return StoredTrace(
        trace_id="",
        unit_id=case.unit_id,
        vlm=VlmIdentity(one.vlm, one.vlm_group),
        trace=Trace(lead.question, one.variant, tuple(steps)),
        origin=one.origin,
        prompt_version=one.prompt_version,
        decodings=decodings,
        created_at=None,
        image_sha256=direct.image_sha256 or "",
    )


def _step(name: StepName, position: int, question: str, call: _Call, text: str, error: str) -> Step:
    reply = Reply("" if error else text, error, call.n_tokens, call.was_cut, call.seconds)
    return Step(name, position, question, call.prompt, reply)
