"""``blind``: what a VLM that never looks would reach."""

__all__ = ["group"]

from dataclasses import asdict
from typing import Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import print_json, print_text, run_sentence
from backend.cli.progress import progress

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

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened, progress() as report:
        [run] = run_blind(opened, learn, answer, report).runs
    if options.as_json:
        print_json(asdict(run))
    else:
        print_text(run_sentence(run))
