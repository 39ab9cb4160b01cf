"""What commands print: one JSON value, or text and tables for people.

JSON is ASCII, so it survives every terminal and pipe. Text from files is shown without
control characters.
"""

__all__ = ["Table", "counted", "print_json", "print_report", "print_table", "print_text", "run_sentence", "say"]

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backend.domain.records import Stage
from backend.domain.stage_words import stage_words
from backend.errors import MAX_LISTED_LINES, describe_bad_line

if TYPE_CHECKING:
    from backend.services.ingest.report import ImportReport, RunReport

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PIPED_WIDTH = 200
"""Columns of a table that is not printed to a terminal."""


@dataclass(slots=True)
class Table:
    """A table for people: text alone, rows in order."""

    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    text_columns: int = 1
    """So many columns from the left hold words; the others hold numbers and stand to the right."""


def say(text: str, end: str = "\n") -> None:
    """Print a message to stderr; without the line's end it is a piece of one, and is seen at once."""
    print(_CONTROL.sub("", text), file=sys.stderr, end=end, flush=not end)


def print_json(value: Any) -> None:
    """Print one JSON value to stdout. A NaN would be a bug: what is undefined is null."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_text(text: str) -> None:
    """Print a line for people to stdout."""
    print(_CONTROL.sub("", text))


def print_table(table: Table) -> None:
    """Print a table to stdout, as wide as the terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, highlight=False)
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(table.columns):
        drawn.add_column(name, justify="left" if place < table.text_columns else "right", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(_CONTROL.sub("", cell)) for cell in row))
    console.print(drawn)


def print_report(report: "ImportReport", *, as_json: bool) -> None:
    """Print what an import did: the report to stdout, the bad lines to stderr as well."""
    if as_json:
        print_json(report.as_json())
    else:
        for line in _report_lines(report):
            print_text(line)
    for left_out, noun in ((report.bad_lines, "bad line"), (report.left_out, "row")):
        if left_out:
            say(f"{counted(len(left_out), noun)} left out:")
            for bad in left_out[:MAX_LISTED_LINES]:
                say(describe_bad_line(bad))
            if len(left_out) > MAX_LISTED_LINES:
                say(f"… and {len(left_out) - MAX_LISTED_LINES} more.")


def run_sentence(run: "RunReport") -> str:
    """Return what became of a run's answers, of a verifier's verdicts, of a judge's scores, or of looks."""
    if run.stage == Stage.JUDGE:
        return (
            f"{run.vlm} on {run.suite}{f' ({run.setting})' if run.setting else ''}: {counted(run.n_answers, 'answer')} "
            f"judged ({run.n_judged_changed:,} new or changed); unscored {run.n_unparsed:,}, failed {run.n_failed:,}."
        )
    if run.stage == Stage.SALIENCY:
        return (
            f"{run.vlm} on {run.suite}{f' ({run.setting})' if run.setting else ''}: "
            f"{run.n_answers - run.n_failed:,} of {counted(run.n_answers, 'answer')} looked into, "
            f"{run.n_failed:,} could not be; new or changed: {run.n_looks_changed:,}."
        )
    if run.stage == Stage.VERIFY:
        removed = f", {run.n_removed:,} taken out" if run.n_removed else ""
        return (
            f"{run.vlm} on {run.suite} ({run.setting}): {counted(run.n_answers, 'verdict')} ({run.n_new:,} new, "
            f"{run.n_replaced:,} replaced, {run.n_unchanged:,} unchanged{removed}); failed {run.n_failed:,}, "
            f"not readable {run.n_unparsed:,}, on answers that nobody judged {run.n_unjudged:,}."
        )
    told = [run.setting, "" if run.stage == Stage.DIRECT else stage_words(run.stage)]
    about = f" ({', '.join(filter(None, told))})" if any(told) else ""
    return (
        f"{run.vlm} on {run.suite}{about}: {counted(run.n_answers, 'answer')} ({run.n_new:,} new, {run.n_replaced:,} "
        f"replaced, {run.n_unchanged:,} unchanged); missing {run.n_missing:,}, failed {run.n_failed:,}, "
        f"empty {run.n_empty:,}, not readable {run.n_unparsed:,}."
    )


def _report_lines(report: "ImportReport") -> list[str]:
    lines = []
    for suite in report.suites:
        if not (suite.n_pairs or suite.n_complex or suite.n_atomic):
            completed = f", {suite.n_completed:,} completed" if suite.n_completed else ""
            what = f"{counted(suite.n_units, 'question')} ({suite.n_new:,} new{completed})"
        elif suite.n_pairs:
            what = f"{counted(suite.n_pairs, 'pair')} ({suite.n_new:,} new)"
        else:
            what = (
                f"{counted(suite.n_units, 'unit')} ({suite.n_new:,} new), {suite.n_complex:,} complex and "
                f"{counted(suite.n_atomic, 'atomic question')}"
            )
        lines.append(f"Suite {suite.suite}: {what}, {counted(suite.n_images, 'image')}.")
    for run in report.runs:
        lines.append(run_sentence(run))
    if report.exclusions:
        lines.append("Left out, by first reason:")
        lines.extend(f"  {n:,} {reason}" for reason, n in report.exclusions.items())
    if report.images:
        counts = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in report.images.items())
        lines.append(f"Image files: {counts}.")
    lines.extend(report.notes)
    if not report.changed:
        lines.append("The store held all of this already; nothing was changed.")
    return lines


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: "1 unit", "2,880 units"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
