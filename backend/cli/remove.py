"""``remove``: a run or a suite out of the store, named in full."""

__all__ = ["group"]

from typing import Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import print_json, print_text

group = command_group("remove", "Take a run or a suite out of the store. A data set's own files are never touched.")


@group.command("run", epilog=examples("remove run My-VLM.core.direct.0a1b2c3d4e"))
def remove_run(
    ctx: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's id, as metrics endoca --json names it.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a run with its answers and scores."""
    from backend.services.removal import remove_run

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened:
        said = remove_run(opened, run)
    _tell(said, as_json=options.as_json)


@group.command("suite", epilog=examples("remove suite my_answers"))
def remove_suite(
    ctx: typer.Context,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The suite's name.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a suite with its units, and every run over it.

    Images that somebody brought to the live pages are deleted with the last unit that asks about them.
    """
    from backend.services.removal import remove_suite

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened:
        said = remove_suite(opened, suite)
    _tell(said, as_json=options.as_json)


def _tell(said: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"removed": said})
    else:
        print_text(said)
