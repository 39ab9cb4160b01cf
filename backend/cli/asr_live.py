"""``asr live``: Atomic-Support Reconciliation about one image, told call by call."""

__all__ = ["register"]

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.live_calls import Told, error_words, failed_call, say_untrained
from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import print_json, print_text, say
from backend.domain.progress import Cancelled
from backend.endoca.asr import Step, StepName, Trace, Variant, reconcile
from backend.endoca.decision import Decision
from backend.errors import AppError

if TYPE_CHECKING:
    from backend.store.store import Store
    from backend.vlm.entries import VlmEntry


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(
        "live",
        epilog=examples(
            'asr live --image frame.png --question "How many polyps are visible and is there any text?"',
            "asr live --image frame.png --question Q --atomic Q1 --atomic Q2 --model Qwen3-VL-8B --save --json",
        ),
    )(asr_live)


def asr_live(
    ctx: typer.Context,
    image: Annotated[Path, typer.Option(metavar="FILE", help="The image that is asked about.")],
    question: Annotated[str, typer.Option(metavar="TEXT", help="The complex question.")],
    atomic: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="An atomic question; once for each. Else they are proposed from its words."),
    ] = None,
    model: Annotated[str, typer.Option(metavar="VLM", help="The VLM's name; an unknown one lists the known.")] = "demo",
    variant: Annotated[
        Variant, typer.Option(help="With the VLM's atomic answers as premises, or (self) without.")
    ] = Variant.ASR,
    save: Annotated[bool, typer.Option("--save", help="Keep image, questions and trace in the store.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a VLM about one image, and let it revise its answer with its own atomic answers.

    Each step is told on stderr while it is made. However it ends, what was answered is printed, and kept where
    --save is given: where a call fails, or keeping fails, the exit code is 2; where it is cancelled, 130. No store
    is opened unless --save is given.
    """
    from backend.domain.images import check_image
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    image = image.expanduser()
    facts = check_image(image)
    registry = Registry.load()
    entry = registry.find(model)
    question, parts = _questions(question, atomic or [], are_needed=save or variant is Variant.ASR)
    say_untrained([entry], [question, *(parts if variant is Variant.ASR else [])])
    trace_id = None
    with ExitStack() as held:
        opened = held.enter_context(options.open_store()) if save else None
        say(f"Loading {entry.name} …")
        vlm, told = registry.open_vlm(model, in_worker=False), _Told(question, variant)
        told.follow(lambda: reconcile(vlm, image, question, parts, told, variant))
        error = told.error or _failed_call(told)
        try:
            if opened is not None and told.has_answers:
                trace_id = _kept(opened, image, facts.sha256, parts, told, entry)
        except BaseException as unkept:
            _print(told.trace, [error, unkept], None, as_json=options.as_json)
            if error is not None:
                say(error_words(error))
            raise
    _print(told.trace, [error], trace_id, as_json=options.as_json)
    if isinstance(error, Cancelled):
        say(error_words(error))
        raise KeyboardInterrupt
    if error is not None:
        raise error


def _questions(question: str, atomic: list[str], *, are_needed: bool) -> tuple[str, list[str]]:
    from backend.endoca.question_templates import propose_atomic_questions
    from backend.endoca.typed_questions import typed_question

    question, atomic = typed_question(question), [typed_question(part) for part in atomic]
    if not question or not all(atomic):
        raise AppError("A question is empty.", "Write one behind --question and behind each --atomic.")
    if atomic:
        return question, atomic
    proposed = [proposal.question for proposal in propose_atomic_questions(question)]
    if are_needed and not proposed:
        raise AppError(
            "No atomic question is given, and the words of this question suggest none.",
            "Write at least one behind --atomic: one fact the complex question depends on.",
        )
    if are_needed:
        say(f"Atomic questions, proposed from its words: {' '.join(proposed)}")
    return question, proposed


@dataclass
class _Told(Told[Step]):
    """Follows a reconciliation."""

    question: str
    variant: Variant

    @property
    def trace(self) -> Trace:
        return Trace(self.question, self.variant, tuple(self.steps))

    def begins(self, name: StepName, position: int, question: str, prompt: str) -> None:
        self.n_pieces = 0
        if name is not StepName.ATOMIC:
            say(f"{name.capitalize()}: ", end="")
        elif position == 0:
            say("Atomic:")

    def ends(self, step: Step) -> None:
        if step.name is StepName.ATOMIC:
            say(f"  {step.question} ", end="")
        super().ends(step)


def _failed_call(told: _Told) -> AppError | None:
    failed = told.trace.failed_step
    return failed_call(failed.name, failed.reply, has_answers=told.has_answers) if failed else None


def _kept(store: "Store", image: Path, image_sha256: str, parts: list[str], told: _Told, entry: "VlmEntry") -> str:
    """Keep image, questions and what was answered in the store; return the trace's id."""
    from backend.services.live_traces import store_trace
    from backend.services.live_units import keep_image, live_unit
    from backend.services.runs.identity import identity_of

    unit_id = live_unit(store, keep_image(store, image.read_bytes()), told.question, parts)
    return store_trace(
        store,
        unit_id,
        told.trace,
        identity_of(entry),
        image_sha256,
        was_cancelled=told.was_cancelled,
        problem=told.problem,
    )


def _print(trace: Trace, errors: Sequence[BaseException | None], trace_id: str | None, *, as_json: bool) -> None:
    if as_json:
        said = " ".join(error_words(error) for error in errors if error is not None)
        print_json({**_figures(trace), "error": said or None, "trace_id": trace_id})
    else:
        _print_trace(trace, trace_id)


def _figures(trace: Trace) -> dict[str, Any]:
    premises = [{"question": question, "answer": answer} for question, answer in trace.premises]
    decision = trace.decision
    return {
        "direct": trace.direct,
        "atomic": premises,
        "premises": premises,
        "revised": trace.revised,
        "decision": decision.verdict.value if decision else None,
        "consistency": decision.consistency.value if decision and decision.consistency else None,
        "problem": decision.problem or None if decision else None,
        "echoed": decision.echoed if decision and not decision.problem else None,
        "final": trace.final,
        "steps": [
            {
                "name": step.name.value,
                "prompt": step.prompt,
                "output": step.reply.text,
                "seconds": step.reply.seconds,
                "error": step.reply.error or None,
            }
            for step in trace.steps
        ],
    }


def _print_trace(trace: Trace, trace_id: str | None) -> None:
    if trace.direct is not None:
        print_text(f"Direct: {trace.direct}")
    for question, answer in trace.premises:
        print_text(f"  {question} {answer}")
    if trace.revised is not None:
        print_text(f"Revised: {trace.revised}")
    if decision := trace.decision:
        print_text(f"Decision: {decision.verdict} ({_label(trace, decision)})")
        if trace.revised is not None and decision.echoes_another(trace.revised):
            echoed = f"another answer: {decision.echoed}" if decision.echoed.strip() else "no answer."
            print_text(f"Its decision repeats {echoed}")
        print_text("Final: withheld" if trace.final is None else f"Final: {trace.final}")
    if trace_id:
        print_text(f"Kept in the store as trace {trace_id}.")


def _label(trace: Trace, decision: Decision) -> str:
    if decision.consistency is not None:
        return decision.consistency
    failed = trace.failed_step
    if failed is not None and failed.name is StepName.SELECT:
        return f"the call failed: {decision.problem}"
    return f"it could not be read: {decision.problem}"
