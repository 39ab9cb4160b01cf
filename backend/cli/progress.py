"""Progress on stderr: a bar on a terminal, else one short line a stage; and Ctrl-C as a cancel.

While work reports, Ctrl-C is heard at its next report, where it can stop without a trace. Past
the last report the work is being committed, and is finished. A second Ctrl-C ends at once.
"""

__all__ = ["progress"]

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from backend.cli.output import say
from backend.domain.progress import Cancelled, Report


@contextmanager
def progress() -> Iterator[Report]:
    """Give work something to report to; the bar is gone when the work is."""
    with _cancel_at_report() as cancellable, _shown() as show:
        yield cancellable(show)


@contextmanager
def _cancel_at_report() -> Iterator[Callable[[Report], Report]]:
    """Turn Ctrl-C into a `Cancelled` that the next report raises."""
    asked: list[int] = []

    def ask(signum: int, frame: object) -> None:
        asked.append(signum)
        signal.signal(signal.SIGINT, before)

    def cancellable(show: Report) -> Report:
        def report(stage: str, done: int, total: int | None) -> None:
            if asked:
                raise Cancelled
            show(stage, done, total)

        return report

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield cancellable
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _shown() -> Iterator[Report]:
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
