"""What every command understands: ``--store PATH`` and ``--json``, before or after the command's name."""

__all__ = ["PROGRAM", "JsonOption", "Options", "StoreOption", "command_group", "examples", "options_of"]

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.settings import store_path

if TYPE_CHECKING:
    from backend.store.store import Store

PROGRAM = "python -m backend"

_HELP = {"help_option_names": ["-h", "--help"]}

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="PATH", help="The store; else PARALLAX_STORE, else data/parallax.duckdb."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout, and nothing else.")]


@dataclass(frozen=True, slots=True)
class Options:
    """The options that all commands share."""

    store: Path | None = None
    """As given; None where the setting decides."""
    as_json: bool = False

    @property
    def store_path(self) -> Path:
        """Where the store lies."""
        return self.store.expanduser() if self.store is not None else store_path()

    def open_store(self) -> "Store":
        """Open the store for a command that needs one to be there.

        Raises:
            AppError: There is none, or it cannot be used.
        """
        from backend.store.store import Store

        return Store.open(self.store_path)

    def make_store(self) -> "Store":
        """Open the store for a command that fills it, making it where there is none.

        Raises:
            AppError: It cannot be made or used.
        """
        from backend.services.opening import open_store

        return open_store(self.store_path)


def options_of(ctx: typer.Context, store: Path | None, as_json: bool) -> Options:
    """Return the shared options as they stand after this command's own; the innermost ``--store`` counts."""
    outer = ctx.obj if isinstance(ctx.obj, Options) else Options()
    return Options(store if store is not None else outer.store, as_json or outer.as_json)


def command_group(name: str, about: str) -> typer.Typer:
    """Return an empty group of commands that takes the shared options itself."""
    group = typer.Typer(
        name=name,
        help=about,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_HELP,
    )

    @group.callback()
    def shared_options(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
        ctx.obj = options_of(ctx, store, as_json)

    return group


def examples(*commands: str) -> str:
    """Return the last paragraph of a command's help: whole command lines; an indented one continues the one above."""
    lines = [f"  {command}" if command.startswith(" ") else f"  {PROGRAM} {command}" for command in commands]
    whole = [command for command in commands if not command.startswith(" ")]
    return "\n".join(("\b", "Example:" if len(whole) == 1 else "Examples:", *lines))
