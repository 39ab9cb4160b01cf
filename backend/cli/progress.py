"""Progress on stderr: a bar on a terminal, else one short line a stage."""

__all__ = ["progress"]

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from backend.cli.output import say
from backend.domain.progress import Report


@contextmanager
def progress() -> Iterator[Report]:
    """Give work something to report to; the bar is gone when the work is."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(stage: str, done: int, total: int | None) -> None:
            bar.update(task, description=stage, completed=done, total=total)

        yield show


def _lines() -> Report:
    said: set[str] = set()

    def show(stage: str, done: int, total: int | None) -> None:
        if stage not in said:
            said.add(stage)
            say(f"{stage[:1].upper()}{stage[1:]} …")

    return show
