"""``rescore``: stored answers scored with the present scorer."""

__all__ = ["group"]

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import print_json, print_text
from backend.cli.progress import progress

group = command_group("rescore", "Score stored answers with the present scorer. Older scores are kept beside the new.")


@group.command("endoca", epilog=examples("rescore endoca"))
def rescore_endoca(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Score every EndoCA run that was last scored by another version of the scorer."""
    from backend.endoca.scoring import SCORER, SCORER_VERSION
    from backend.services.scoring import rescore

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened, progress() as report:
        n_runs = rescore(opened, report)
    if options.as_json:
        print_json({"scorer": SCORER, "scorer_version": SCORER_VERSION, "n_rescored": n_runs})
    else:
        print_text(f"Scored {n_runs:,} runs with {SCORER} {SCORER_VERSION}; the others had its scores already.")
