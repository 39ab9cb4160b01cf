"""``verify live``: a VLM answers about one image and a verifier judges it, told call by call."""

__all__ = ["register"]

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from backend.cli.kept_verification import keep_verification
from backend.cli.live_calls import Told, error_words, failed_call, say_untrained
from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import print_json, print_text, say
from backend.domain.progress import Cancelled
from backend.domain.records import Stage
from backend.errors import AppError
from backend.verimap.examples import AnswerType, Option
from backend.verimap.verification import Course, Step, Turn, Verification, verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.domain.vlm import Vlm
    from backend.services.oracle import OracleWord
    from backend.vlm.entries import VlmEntry

_TITLES = {Stage.DIRECT: "Answer", Stage.LOOK: "First look", Stage.VERIFY: "Verifier", Stage.LOOP: "Answer again"}


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(
        "live",
        epilog=examples(
            'verify live --image frame.png --question "Is there text?"',
            'verify live --image frame.png --question "Is there text?" --answer no --reference yes --json',
            "verify live --image frame.png --question Q --generator demo --verifier MedGemma --turns 4 --save",
        ),
    )(verify_live)


def verify_live(
    ctx: typer.Context,
    image: Annotated[Path, typer.Option(metavar="FILE", help="The image that is asked about.")],
    question: Annotated[str, typer.Option(metavar="TEXT", help="The question.")],
    answer: Annotated[
        str, typer.Option(metavar="TEXT", help="An answer to verify; else the generator answers first.")
    ] = "",
    generator: Annotated[
        str | None, typer.Option(metavar="VLM", help="Who answers; else the verifier, and demo where none is named.")
    ] = None,
    verifier: Annotated[
        str | None, typer.Option(metavar="VLM", help="Who judges; else the generator judges its own answer.")
    ] = None,
    turns: Annotated[
        int, typer.Option(min=0, max=20, metavar="N", help="Turns in which verdict and explanation go back, at most.")
    ] = 0,
    stop_at_correct: Annotated[bool, typer.Option("--stop-at-correct", help="The verdict CORRECT ends it.")] = False,
    two_step: Annotated[
        bool, typer.Option("--two-step", help="The verifier looks at the image before it is shown an answer.")
    ] = False,
    reference: Annotated[
        str, typer.Option(metavar="TEXT", help="The right answer; no VLM sees it, the answers are compared with it.")
    ] = "",
    save: Annotated[bool, typer.Option("--save", help="Keep image, question and trace in the store.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a VLM answer a question about one image, and a verifier judge the answer in a fresh context.

    The first answer with its verdict and explanation is printed; --turns sends them back to the generator, and turns
    lists what it then answers, each with the verdict on it. Each step is told on stderr while it is made. However it
    ends, what was answered is printed, and kept where --save is given: where a call fails, or keeping fails, the exit
    code is 2; where it is cancelled, 130. No store is opened unless --save is given.
    """
    from backend.domain.images import check_image
    from backend.endoca.typed_questions import typed_question
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    image = image.expanduser()
    facts = check_image(image)
    question, answer = typed_question(question), answer.strip()
    if not question:
        raise AppError("The question is empty.", "Write one behind --question.")
    course = Course(answer, two_step, turns, stop_at_correct)
    registry = Registry.load()
    judging = registry.find(verifier or generator or "demo")
    answering = registry.find(generator or verifier or "demo") if course.asks_generator else None
    say_untrained([judging, *([answering] if answering else [])], [question])
    trace_id = None
    with ExitStack() as held:
        opened = held.enter_context(options.open_store()) if save else None
        vlms = _opened(judging, answering)
        told = _Told(question, course)
        told.follow(lambda: verify(vlms.generator, vlms.verifier, image, question, told, course))
        error = told.error or _failed_call(told)
        about = _About(question, reference.strip(), answering.name if answering else None, judging.name)
        try:
            if opened is not None and told.has_answers:
                trace_id = keep_verification(
                    opened,
                    image,
                    facts.sha256,
                    told.verification,
                    judging,
                    answering,
                    reference=about.reference,
                    was_cancelled=told.was_cancelled,
                    problem=told.problem,
                )
        except BaseException as unkept:
            _print(about, told.verification, [error, unkept], None, as_json=options.as_json)
            if error is not None:
                say(error_words(error))
            raise
    _print(about, told.verification, [error], trace_id, as_json=options.as_json)
    if isinstance(error, Cancelled):
        say(error_words(error))
        raise KeyboardInterrupt
    if error is not None:
        raise error


class _About(NamedTuple):
    """What is asked, and who is: a `Question` to matching."""

    question: str
    reference: str
    generator: str | None
    verifier: str
    reference_letter: str = ""
    options: "Sequence[Option]" = ()
    answer_type: AnswerType | None = None


class _Vlms(NamedTuple):
    verifier: "Vlm"
    generator: "Vlm | None"


def _opened(judging: "VlmEntry", answering: "VlmEntry | None") -> _Vlms:
    """Return the VLMs, one that judges itself once."""
    from backend.vlm.registry import Registry

    registry = Registry.load()
    say(f"Loading {judging.name} …")
    verifier = registry.open_vlm(judging.name, in_worker=False)
    if answering is None or answering.name == judging.name:
        return _Vlms(verifier, verifier if answering else None)
    say(f"Loading {answering.name} …")
    return _Vlms(verifier, registry.open_vlm(answering.name, in_worker=False))


@dataclass
class _Told(Told[Step]):
    """Follows a verification."""

    question: str
    course: Course

    @property
    def verification(self) -> Verification:
        return Verification(self.question, self.course, tuple(self.steps))

    def begins(self, name: Stage, turn: int, question: str, prompt: str) -> None:
        self.n_pieces = 0
        say(f"{_TITLES[name]}{f' (turn {turn})' if turn else ''}: ", end="")


def _failed_call(told: _Told) -> AppError | None:
    failed = told.verification.failed_step
    return failed_call(failed.name, failed.reply, has_answers=told.has_answers) if failed else None


def _print(
    about: _About,
    verification: Verification,
    errors: "Sequence[BaseException | None]",
    trace_id: str | None,
    *,
    as_json: bool,
) -> None:
    if as_json:
        said = " ".join(error_words(error) for error in errors if error is not None)
        print_json({**_figures(about, verification), "error": said or None, "trace_id": trace_id})
    else:
        _print_turns(about, verification, trace_id)


def _truth(about: _About, answer: str) -> "OracleWord | None":
    from backend.services.oracle import match_answer

    return match_answer(about, answer)


def _figures(about: _About, verification: Verification) -> dict[str, Any]:
    first, *later = verification.turns or (None,)
    return {
        **_turn_figures(about, first),
        "turns": [{"turn": turn.number, **_turn_figures(about, turn)} for turn in later],
        "reference": about.reference or None,
        "generator": about.generator,
        "verifier": about.verifier,
        "steps": [
            {
                "name": step.name.value,
                "turn": step.turn,
                "prompt": step.prompt,
                "output": step.reply.text,
                "seconds": step.reply.seconds,
                "error": step.reply.error or None,
            }
            for step in verification.steps
        ],
    }


def _turn_figures(about: _About, turn: Turn | None) -> dict[str, Any]:
    """Return an answer with what was said of it; ``correct`` is null where matching cannot tell; ``why`` says why."""
    word = _truth(about, turn.answer) if turn else None
    review = turn.review if turn else None
    return {
        "answer": turn.answer if turn else None,
        "verdict": review.verdict.value if review and review.verdict else None,
        "explanation": review.explanation if review else None,
        "correct": word.correct if word else None,
        "why": _why(about, word) if turn else None,
    }


def _why(about: _About, word: "OracleWord | None") -> str:
    if word is not None:
        return word.reason or word.error
    return "an open answer needs a judge" if about.reference else "no reference is given"


def _print_turns(about: _About, verification: Verification, trace_id: str | None) -> None:
    for turn in verification.turns:
        word = _truth(about, turn.answer)
        truth = "not judged" if word is None or word.correct is None else "right" if word.correct else "wrong"
        named = f"Turn {turn.number}: " if turn.number else ""
        print_text(f"{named}Answer: {turn.answer}")
        print_text(f"  The answer is {truth} ({_why(about, word)}).")
        if turn.review is not None:
            print_text(f"  Verdict: {turn.review.verdict or 'none in the reply'}")
            if turn.review.explanation:
                print_text(f"  Explanation: {turn.review.explanation}")
    if trace_id:
        print_text(f"Kept in the store as trace {trace_id}.")
