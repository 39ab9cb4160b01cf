"""``blind``: what a VLM that never looks would reach."""

__all__ = ["group"]

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.options import JsonOption, Options, StoreOption, command_group, examples, options_of
from backend.cli.output import print_json, print_text, run_sentence
from backend.cli.progress import progress

if TYPE_CHECKING:
    from backend.domain.progress import Report
    from backend.services.ingest.report import ImportReport
    from backend.store.store import Store

group = command_group("blind", "The blind baseline: answers from the questions alone, the image unseen.")


@group.command("endoca", epilog=examples("blind endoca --learn diagnostic --answer core"))
def blind_endoca(
    ctx: typer.Context,
    learn: Annotated[str, typer.Option(metavar="SUITE", help="Suite whose references it learns from.")],
    answer: Annotated[str, typer.Option(metavar="SUITE", help="Suite whose questions it answers; another one.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run of the blind baseline: the commonest references of one suite as answers to another."""
    from backend.services.blind import run_blind

    _write_run(options_of(ctx, store, as_json), run_blind, learn, answer)


@group.command("surgcheck", epilog=examples("blind surgcheck --learn full_train --answer full_test"))
def blind_surgcheck(
    ctx: typer.Context,
    learn: Annotated[str, typer.Option(metavar="SUITE", help="Suite whose original questions it learns from.")],
    answer: Annotated[str, typer.Option(metavar="SUITE", help="Suite whose questions it answers; other frames.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run of the text look-ups: what a question names (tool, hand) answered by its commonest reference.

    Original and less-biased questions are both answered: the first say what words give away,
    the second what is left of that.
    """
    from backend.services.blind import run_text_lookup

    _write_run(options_of(ctx, store, as_json), run_text_lookup, learn, answer)


@group.command("verimap", epilog=examples("blind verimap --learn slake --answer vqa-rad"))
def blind_verimap(
    ctx: typer.Context,
    learn: Annotated[str, typer.Option(metavar="SUITE", help="Data set whose references it learns from.")],
    answer: Annotated[str, typer.Option(metavar="SUITE", help="Data set whose questions it answers; another one.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run of the blind baseline as a generator: of each task the commonest reference of another data set."""
    from backend.services.blind import run_blind_verimap

    _write_run(options_of(ctx, store, as_json), run_blind_verimap, learn, answer)


def _write_run(
    options: Options, baseline: "Callable[[Store, str, str, Report], ImportReport]", learn: str, answer: str
) -> None:
    with options.open_store() as opened, progress() as report:
        [run] = baseline(opened, learn, answer, report).runs
    if options.as_json:
        print_json(asdict(run))
    else:
        print_text(run_sentence(run))
