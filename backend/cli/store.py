"""``init``: an empty store."""

__all__ = ["register"]

import typer

from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import print_json, print_text


def register(app: typer.Typer) -> None:
    """Add the commands about the store as a whole."""
    app.command("init", epilog=examples("init", "init --store trial.duckdb"))(init)


def init(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Make an empty store; where there is a sound one, leave it as it is."""
    options = options_of(ctx, store, as_json)
    path = options.store_path
    existed = path.exists()
    options.make_store().close()
    if options.as_json:
        print_json({"store": str(path), "created": not existed})
    else:
        print_text(f"{'There is a sound store at' if existed else 'Made an empty store at'} {path}.")
