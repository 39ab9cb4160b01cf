"""Sentences of the loop page, each made from the figures on it; of the paper's, what it prints."""

__all__ = [
    "AS_PRINTED",
    "END_NAMES",
    "FATES_OF_RIGHT",
    "FATES_OF_WRONG",
    "HOW_NAMES",
    "apart_sentence",
    "fate_legend",
    "headline",
    "loop_commands",
    "task_legend",
]

import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

from backend.domain.metric import percent, points
from backend.figures.style import LIGHT, Theme
from backend.figures.tasks import TASK_NAMES, task_color
from backend.figures.verimap_loop import ALL, UNLABELLED, fate_color
from backend.verimap.fates import Fate, LoopEnd, NoFate
from backend.verimap.loop_turns import Cumulation
from pages.ui.import_report import plural
from pages.ui.run_command import PROGRAM, store_option

Row = Mapping[str, Any]

AS_PRINTED = (
    "As printed (VeriMap, section 4.6, self-verification, four turns): by task 2.2 to 3.8 % of wrong answers are "
    "corrected and 69.5 to 87.1 % locked by false verification; bias rises by 3.3 (modality) to 11.5 points "
    "(quantitative). The paper prints no counts and no intervals, and does not say what becomes of right answers."
)
"""What the paper says of its loops; it prints no table."""

FATES_OF_WRONG: Mapping[str, str] = MappingProxyType(
    {fate.value: fate.plain for fate in (Fate.LOCKED, Fate.STILL_WRONG, Fate.CORRECTED)}
)
"""Fates of answers wrong at first → in plain words, from the left."""

FATES_OF_RIGHT: Mapping[str, str] = MappingProxyType({fate.value: fate.plain for fate in (Fate.SPOILED, Fate.KEPT)})

END_NAMES: Mapping[str, LoopEnd] = MappingProxyType(
    {
        "Ends as recorded": LoopEnd.AS_RECORDED,
        "Ends at the first acceptance": LoopEnd.AT_ACCEPTANCE,
        "Ends at the last turn": LoopEnd.AT_LAST_TURN,
    }
)
"""What the switch says → the rule it means."""

HOW_NAMES: Mapping[str, Cumulation] = MappingProxyType(
    {
        "Last verdicts so far": Cumulation.STANDING,
        "All verdicts so far": Cumulation.ADDED_UP,
        "Verdicts of the turn": Cumulation.BY_ITSELF,
    }
)
"""What the switch says → what counts at a turn."""


def headline(fates: Sequence[Row], labels: Mapping[str, str]) -> str:
    """Return the page's sentence: whether right answers become more, and what becomes of wrong ones.

    Args:
        fates: Of `fate_table`, all questions together, a row a loop.
        labels: Loop → what to call it.
    """
    told = [row for row in fates if row["change"] is not None]
    if not told:
        return "No loop here was followed to its end and judged, so nothing can be said of it yet."
    most = max(told, key=lambda row: (row["n_wrong"], row["n"]))
    said = f"{labels[most['loop_id']]}: "
    if most["n_wrong"]:
        said += (
            f"of {plural(most['n_wrong'], 'wrong answer')}, {percent(most['locked'])} end accepted as correct and "
            f"{percent(most['corrected'])} corrected; "
        )
    said += f"right answers go from {percent(most['before'])} to {percent(most['after'])} ({_change(most)})."
    if len(told) == 1:
        return said
    better = sum(row["change_low"] is not None and row["change_low"] > 0 for row in told)
    worse = sum(row["change_high"] is not None and row["change_high"] < 0 for row in told)
    if not better and not worse:
        return f"None of {len(told):,} loops clearly gains or loses right answers. {said}"
    gains = f"{better:,} clearly {'gains' if better == 1 else 'gain'} right answers"
    return f"Of {len(told):,} loops, {gains} and {worse:,} clearly {'loses' if worse == 1 else 'lose'} some. {said}"


def _change(row: Row) -> str:
    interval = ""
    if row["change_low"] is not None:
        low, high = (points(row[f"change_{bound}"]).removesuffix(" points") for bound in ("low", "high"))
        interval = f", {low} to {high}"
    return f"{points(row['change'])}{interval}; n = {row['n_wrong'] + row['n_right']:,}"


def apart_sentence(fates: Sequence[Row]) -> str:
    """Return how many answers have no fate, by reason; empty where all have one.

    Args:
        fates: Of `fate_table`, all questions together, a row a loop.
    """
    counts = {reason: sum(row[f"n_{reason}"] for row in fates) for reason in NoFate}
    told = [f"{n:,} ({reason.plain})" for reason, n in counts.items() if n]
    total = sum(row["n"] for row in fates)
    return f"Left out of all figures: {', '.join(told)}, of {plural(total, 'first answer')}." if told else ""


def fate_legend(fates: Mapping[str, str], theme: Theme) -> str:
    """Return the colours of fates as HTML."""
    return _legend({words: fate_color(fate, theme) for fate, words in fates.items()})


def task_legend(tasks: Sequence[str], theme: Theme = LIGHT) -> str:
    """Return the colours of tasks as HTML, in the order of the figures."""
    known = [ALL, *(UNLABELLED if task is None else task for task in TASK_NAMES)]
    colors = {}
    for task in known:
        if task in tasks:
            key = None if task == UNLABELLED else task
            colors["All tasks" if task == ALL else TASK_NAMES[key]] = (
                theme.text if task == ALL else task_color(key, theme)
            )
    return _legend(colors)


def _legend(colors: Mapping[str, str]) -> str:
    entries = "".join(
        '<span style="display:inline-flex;align-items:baseline;gap:.4em;white-space:nowrap">'
        f'<i style="width:.75em;height:.75em;background:{color}"></i>{escape(words)}</span>'
        for words, color in colors.items()
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.3em 1.1em;font-size:.88em">{entries}</div>'


def loop_commands(store: Path) -> tuple[str, ...]:
    """Return the command lines that make a loop of four turns and take it, or records of one, into the store."""
    folder = "data/runs/VLM.DATASET.loop"
    where = store_option(store)
    asked = ["verify", "run", "--suite", "DATASET", "--generator", "VLM", "--verifier", "VLM", "--turns", "4"]
    lines = (
        [*asked, "--out", folder, *where],
        ["import", "run", folder, *where],
        ["import", "verimap", "--records", "RECORDS.jsonl", *where],
    )
    return tuple(f"{PROGRAM} {shlex.join(line)}" for line in lines)
