"""``saliency live``: what a VLM attended to in one image when it answered, and when it judged the answer."""

__all__ = ["no_saliency", "register"]

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.kept_verification import keep_verification
from backend.cli.live_calls import Told, failed_call, say_untrained
from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import Table, print_json, print_table, print_text, say
from backend.domain.progress import Cancelled
from backend.domain.records import Stage
from backend.errors import AppError
from backend.verimap.verification import Course, Step, Verification, verify

if TYPE_CHECKING:
    from backend.services.looks import Look, SaliencyVlm, TwoLooks
    from backend.store.store import Store
    from backend.vlm.entries import VlmEntry
    from backend.vlm.registry import Registry
    from backend.vlm.saliency.result import Saliency

_TITLES = {Stage.DIRECT: "Answer", Stage.VERIFY: "Verifier"}

_HOW_TO_READ = (
    "The brighter a region of the maps that --json prints, the more the answer attended to it (map) "
    "or depended on it (gradient_map); this does not say why."
)


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(
        "live",
        epilog=examples(
            'saliency live --image frame.png --question "Is there text?"',
            'saliency live --image frame.png --question "Is there text?" --answer no --model MedGemma --json',
            'saliency live --image frame.png --question "Is there text?" --save',
        ),
    )(saliency_live)


def saliency_live(
    ctx: typer.Context,
    image: Annotated[Path, typer.Option(metavar="FILE", help="The image that is asked about.")],
    question: Annotated[str, typer.Option(metavar="TEXT", help="The question.")],
    answer: Annotated[str, typer.Option(metavar="TEXT", help="An answer to look at; else the VLM answers first.")] = "",
    model: Annotated[str, typer.Option(metavar="VLM", help="The VLM's name; an unknown one lists the known.")] = "demo",
    save: Annotated[
        bool, typer.Option("--save", help="Keep image, question, trace and maps in the store, for the Live page.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a VLM answer a question about one image and judge the answer, and look at what it attended to both times.

    Fractions are of attention: what fell on image tokens, and what would have, had attention been even. The gradient
    is the mean over image tokens of absolute gradient × activation. With --json the maps are printed, too: rows from
    the top of one grid over the upright image. The calls are told on stderr. No store is opened unless --save is
    given; with it, trace_id stands beside the looks.
    """
    from backend.domain.images import check_image
    from backend.endoca.typed_questions import typed_question
    from backend.services.looks import two_looks
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    image = image.expanduser()
    facts = check_image(image)
    question, answer = typed_question(question), answer.strip()
    if not question:
        raise AppError("The question is empty.", "Write one behind --question.")
    registry = Registry.load()
    entry = registry.find(model)
    say_untrained([entry], [question])
    with ExitStack() as held:
        opened = held.enter_context(options.open_store()) if save else None
        vlm = _opened(registry, entry)
        try:
            verification = _verified(vlm, image, question, answer)
            trace_id = ""
            if opened is not None:
                answering = None if answer else entry
                trace_id = keep_verification(opened, image, facts.sha256, verification, entry, answering)
                say(f"Kept in the store as trace {trace_id}.")
            say("Looking into both …")
            looks = two_looks(vlm, vlm, image, verification)
        except KeyboardInterrupt:
            raise Cancelled from None
        if opened is not None:
            _keep_looks(opened, trace_id, looks)
    if options.as_json:
        print_json(_figures(looks) | ({"trace_id": trace_id} if trace_id else {}))
    else:
        _print(looks)


def _keep_looks(store: "Store", trace_id: str, looks: "TwoLooks") -> None:
    from backend.services.stored_saliency import put_trace_look
    from backend.vlm.saliency.kept import keep

    for step, look in ((Stage.DIRECT, looks.generator), (Stage.VERIFY, looks.verifier)):
        put_trace_look(store, trace_id, step, 0, keep(look.saliency))


def _opened(registry: "Registry", entry: "VlmEntry") -> "SaliencyVlm":
    """Load a VLM that can be looked into.

    Raises:
        AppError: It cannot, or cannot be loaded.
    """
    from backend.services.looks import SaliencyVlm

    if entry.attention.works:
        say(f"Loading {entry.name} …")
        vlm = registry.open_vlm(entry.name, in_worker=False)
        if isinstance(vlm, SaliencyVlm):
            return vlm
    raise no_saliency(registry, entry)


def no_saliency(registry: "Registry", entry: "VlmEntry") -> AppError:
    """Return the error of a VLM that cannot be looked into: why, and which can."""
    why_not = entry.attention.why_not or "it does not run on this machine"
    able = ", ".join(one.name for one in registry.entries if one.spec and one.answers.works and one.attention.works)
    return AppError(f"{entry.name} gives no saliency: {why_not}.", f"Those that do: {able}.")


class _Told(Told[Step]):
    """Follows a verification."""

    def begins(self, name: Stage, turn: int, question: str, prompt: str) -> None:
        self.n_pieces = 0
        say(f"{_TITLES[name]}: ", end="")


def _verified(vlm: "SaliencyVlm", image: Path, question: str, answer: str) -> Verification:
    told, course = _Told(), Course(answer)
    told.follow(lambda: verify(vlm, vlm, image, question, told, course))
    if told.error is not None:
        raise told.error
    verification = Verification(question, course, tuple(told.steps))
    if failed := verification.failed_step:
        raise failed_call(failed.name, failed.reply, has_answers=len(verification.steps) > 1)
    return verification


def _figures(looks: "TwoLooks") -> dict[str, Any]:
    return {
        "generator": {**_look_figures(looks.generator), "answer": looks.generator.said},
        "verifier": {**_look_figures(looks.verifier), "reply": looks.verifier.said},
    }


def _look_figures(look: "Look") -> dict[str, Any]:
    """Return a look's numbers and maps; what cannot be had is null, with its reason beside it."""
    found = look.saliency
    return {
        "fraction": found.fraction,
        "uniform_fraction": found.uniform_fraction,
        "gradient_mean": found.gradient_mean,
        "grid": list(found.grid) if found.grid else None,
        "map": _rows(found, found.attention_map),
        "gradient_map": _rows(found, found.gradient_map),
        "tokens": list(found.tokens),
        "note": found.note or None,
        "why_no_gradient": found.why_no_gradient or None,
        "why_no_regions": found.why_no_regions or None,
    }


def _rows(found: "Saliency", values: Any) -> list[list[float]] | None:
    """Return a map as rows from the top; None where there are no values, or nobody knows where they lie."""
    if values is None or found.grid is None:
        return None
    rows: list[list[float]] = found.painted(values).tolist()
    return rows


def _print(looks: "TwoLooks") -> None:
    table = Table(("", "Image saliency fraction", "Were attention even", "Mean gradient activation"))
    for name, look in (("Generator", looks.generator), ("Verifier", looks.verifier)):
        found = look.saliency
        gradient = "N/A" if found.gradient_mean is None else f"{found.gradient_mean:.3g}"
        table.rows.append((name, f"{found.fraction:.3f}", f"{found.uniform_fraction:.3f}", gradient))
    print_table(table)
    print_text(_HOW_TO_READ)
    for said in _remarks(looks):
        print_text(said)


def _remarks(looks: "TwoLooks") -> list[str]:
    """Return what is special, and why something is missing, each once."""
    both = (looks.generator.saliency, looks.verifier.saliency)
    return [
        said
        for said in dict.fromkeys(
            said for found in both for said in (found.note, found.why_no_gradient, found.why_no_regions)
        )
        if said
    ]
