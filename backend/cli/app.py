"""All commands under one name, and what becomes of their errors.

Exit codes: 0 done, 1 a bug, 2 an error with its next step (wrong usage too), 130 cancelled.
Only results go to stdout; a reader that closes the pipe early ends the command quietly.
"""

__all__ = ["app", "main", "run"]

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

from backend.cli import (
    asr,
    blind,
    compare,
    demo,
    export,
    import_,
    judge,
    metrics,
    predict,
    remove,
    rescore,
    saliency,
    score,
    store,
    surgcheck,
    verify,
    verimap,
)
from backend.cli.options import PROGRAM, command_group
from backend.cli.output import say
from backend.domain.progress import Cancelled
from backend.errors import AppError
from backend.settings import setting

DONE, BUG, ERROR, CANCELLED = 0, 1, 2, 130

_GC_THRESHOLD = (1_000_000, 50, 50)
"""Rows of a file live as long as the command: looking through them for cycles, again and again and
once more at the end, is a third of an import's time."""

app = command_group(
    "parallax",
    "Parallax: where the answers of medical vision-language models contradict each other.\n\n"
    "Results go to stdout, progress and errors to stderr. Add --json to any command for one JSON value.",
)
store.register(app)
predict.register(app)
judge.register(app)
app.add_typer(asr.group)
app.add_typer(verify.group)
app.add_typer(saliency.group)
app.add_typer(demo.group)
app.add_typer(import_.group)
app.add_typer(score.group)
app.add_typer(surgcheck.group)
app.add_typer(verimap.group)
app.add_typer(metrics.group)
app.add_typer(compare.group)
app.add_typer(blind.group)
app.add_typer(export.group)
app.add_typer(rescore.group)
app.add_typer(remove.group)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors are said on stderr."""
    try:
        app(args=list(arguments), prog_name=PROGRAM)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            return DONE
        return ended.code if isinstance(ended.code, int) else DONE
    except Cancelled as cancelled:
        say(cancelled.message)
        return CANCELLED
    except KeyboardInterrupt:
        say("Cancelled.")
        return CANCELLED
    except AppError as error:
        say(f"{error.message.rstrip()}\n{error.hint}")
        return ERROR
    except Exception as error:  # noqa: BLE001 - the outermost place: a bug ends in one line and its exit code
        say(f"This is a bug in Parallax ({type(error).__name__}: {error}). PARALLAX_DEBUG=1 shows where it happened.")
        if setting("PARALLAX_DEBUG"):
            traceback.print_exc()
        return BUG
    return DONE


def main() -> NoReturn:
    """Run the command that the process was started with, and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    gc.set_threshold(*_GC_THRESHOLD)
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    gc.freeze()
    sys.exit(code)
