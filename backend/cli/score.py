"""``score``: answers scored from a file or a pipe, one line out for each line in. No store is opened."""

__all__ = ["group"]

import sys
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples
from backend.cli.output import say
from backend.errors import AppError

group = command_group("score", "Score answers from a file or a pipe. Needs no store, and works while the app runs.")


@group.command("endoca", epilog=examples("score endoca answers.jsonl > scores.jsonl", "score endoca - < answers.jsonl"))
def score_endoca(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="JSON lines, plain or .gz; - is stdin (the default).", show_default=False),
    ] = Path("-"),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score EndoCA answers: one JSON line out for each line in, in order.

    A line holds question (or complex_question), prediction (or candidate) and its references:
    gold_atoms, or atomic with q, a and type, or for an atomic question gold_question_class and
    gold_answer. A line that cannot be scored comes out as {"line", "error"}. The output is JSON
    lines with and without --json; --store is not used.
    """
    import json

    from backend.services.ingest.files import SourceFile, stream_lines
    from backend.services.score_lines import score_line

    n_bad = n_lines = 0
    with ExitStack() as opened:
        if file == Path("-"):
            raw, name = sys.stdin.buffer, "standard input"
        else:
            raw, name = opened.enter_context(_open(file)), file.name
        assert isinstance(raw, BufferedReader)
        for n_lines, line in enumerate(stream_lines(raw, SourceFile(file, name)), start=1):
            scored = score_line(n_lines, line)
            n_bad += "error" in scored
            sys.stdout.write(json.dumps(scored) + "\n")
    if n_bad:
        say(f"{n_bad:,} of {n_lines:,} lines could not be scored; each says why in its place.")


def _open(file: Path) -> BufferedReader:
    try:
        return file.open("rb")
    except IsADirectoryError as error:
        raise AppError(f"{file} is a folder.", "Name the file inside it that holds the lines.") from error
    except FileNotFoundError as error:
        raise AppError(f"There is no file {file}.", "Check the path, or give - to read standard input.") from error
    except OSError as error:
        raise AppError(f"{file} cannot be read ({error.strerror}).", "Check its permissions.") from error
