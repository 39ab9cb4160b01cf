"""Sentences of the SurgCheck page, each made from the figures on it; no number is typed in."""

__all__ = [
    "CLEARLY",
    "METRIC_NAMES",
    "ablation_sentence",
    "gaps_sentence",
    "headline",
    "judge_commands",
    "metric_words",
    "pairs_counted",
    "printed_headline",
    "text_only_commands",
    "unasked_sentence",
]

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.metric import NOT_AVAILABLE, percent, points
from backend.figures.style import BLIND_GROUP, short_name
from backend.surgcheck.metrics import METRICS
from backend.surgcheck.tasks import Cue
from pages.ui.import_report import plural
from pages.ui.pair_words import CUE_WORDS
from pages.ui.run_command import PROGRAM, folder_name, store_option

Row = Mapping[str, Any]

METRIC_NAMES = {"Accuracy": "accuracy", "Macro F1": "macro_f1", "Judge": "judge_accuracy"}
"""What the switch says → the metric it means."""

NAMED = 3
"""So many runs are named in a sentence; more are counted."""

CLEARLY = "Clearly: the 95 % interval of the drop lies above zero."

_REACHES = {
    "accuracy": "answers {original} of original questions right and {less_biased} of less-biased ones",
    "macro_f1": "reaches a macro F1 of {original} with original questions and of {less_biased} with less-biased ones",
    "judge_accuracy": "has {original} of original answers and {less_biased} of less-biased ones judged 4 or 5",
}


def pairs_counted(n: int) -> str:
    """Return "1 pair", "412 pairs"."""
    return plural(n, "pair")


def headline(rows: Sequence[Row], metric: str) -> str:
    """Return the page's sentence: how many runs clearly lose, and which loses most.

    Args:
        rows: Of `drop_table`, of the metric.
        metric: A key of `DROP_METRICS`.
    """
    vlms = [row for row in rows if row["run_id"] is not None and row["vlm_group"] != BLIND_GROUP]
    both = [row for row in vlms if row["gap"] is not None]
    if not both:
        if metric == "judge_accuracy":
            return "No answer to these pairs has been scored by a judge in both ways."
        return "No VLM was asked these pairs in both ways, so there is nothing to compare."
    worst = max(both, key=lambda row: float(row["gap"]))
    reached = _REACHES[metric].format(original=percent(worst["original"]), less_biased=percent(worst["less_biased"]))
    told = f"{reached}, {_drop_words(worst)}."
    if len(both) == 1:
        return f"{worst['label']} {told}"
    losing = sum(row["gap_low"] is not None and row["gap_low"] > 0 for row in both)
    if not losing:
        return f"None of {len(both):,} runs clearly loses when a question only points. {worst['label']} {told}"
    lose = "loses" if losing == 1 else "lose"
    count = f"{losing:,} of {len(both):,} runs clearly {lose} when a question only points"
    return f"{count}. {worst['label']} loses most: it {told}"


def _drop_words(row: Row) -> str:
    word = "a drop of" if row["gap"] > 0 else "a gain of" if row["gap"] < 0 else "no drop"
    size = "" if row["gap"] == 0 else f" {points(abs(row['gap'])).removeprefix('+')}"
    interval = ""
    if row["gap_low"] is not None:
        bounds = (row["gap_low"], row["gap_high"]) if row["gap"] >= 0 else (-row["gap_high"], -row["gap_low"])
        interval = " to ".join(points(bound).removesuffix(" points").removeprefix("+") for bound in bounds) + "; "
    return f"{word}{size} ({interval}{pairs_counted(row['n_pairs'])}, {plural(row['n_images'], 'frame')})"


def printed_headline(rows: Sequence[Row]) -> str:
    """Return what the paper's table says in one sentence.

    Args:
        rows: Of `printed_drops`, fine-tuned VLMs.
    """
    gaps = [float(row["gap"]) for row in rows if row["gap"] is not None]
    return (
        f"{len(gaps)} fine-tuned VLMs lose {100 * min(gaps):.1f} to {100 * max(gaps):.1f} points of accuracy when a "
        "question only points at what it asks about (as printed)."
    )


def gaps_sentence(scores: Sequence[Row]) -> str:
    """Return which runs lack answers, which the figures show as wrong; empty where none does.

    Args:
        scores: Of `score_table`, a row a run and variant.
    """
    lacking: dict[str, list[int]] = {}
    for row in scores:
        n = row["n_missing"] + row["n_failed"] + row["n_empty"]
        if n:
            counts = lacking.setdefault(str(row["label"]), [0, 0])
            counts[0] += n
            counts[1] += row["n"]
    told = [f"of {short_name(label)}, {n:,} of {of:,}" for label, (n, of) in lacking.items()]
    return f"Missing, failed and empty answers count as wrong: {_listed(told)}." if told else ""


def unasked_sentence(unasked: Iterable[Row], labels: Mapping[str, str]) -> str:
    """Return which questions are left out because a run holds no answer of their kind; empty where none is.

    Args:
        unasked: Of `unasked_table`.
        labels: What to call a run, by run id.
    """
    counts: dict[tuple[str, str, str], int] = {}
    for row in unasked:
        key = (labels.get(row["run_id"], row["run_id"]), str(row["variant"]).replace("_", "-"), row["cue"])
        counts[key] = counts.get(key, 0) + row["n"]
    told = [
        f"of {short_name(label)}, {n:,} {variant} with {CUE_WORDS[Cue(cue)]}"
        for (label, variant, cue), n in counts.items()
    ]
    return f"Questions of a kind that a run was never asked are left out: {_listed(told)}." if told else ""


def _listed(told: Sequence[str]) -> str:
    more = len(told) - NAMED
    return "; ".join([*told[:NAMED], *([f"and {more} more"] if more > 0 else [])])


def ablation_sentence(rows: Sequence[Row]) -> str:
    """Return what one VLM reaches with the image withheld, in the task where that is most of what it reaches.

    Args:
        rows: Of `ablation_table`, of one direct run.
    """
    known = [row for row in rows if row["text_only"] is not None and row["original"]]
    if not known:
        return ""
    most = max(known, key=lambda row: float(row["text_only"]) / float(row["original"]))
    gain = "" if most["image_gain"] is None else f"; the image adds {_with_interval(most, 'image_gain')}"
    metric = METRICS[most["metric"]].label.lower().replace("f1", "F1")
    task = str(most["task"]).replace("_", "-").lower()
    return (
        f"Without the image {most['label']} still reaches {percent(most['text_only'])} {metric} in {task} questions "
        f"(with it {percent(most['original'])}, n = {most['text_only_n']:,}){gain}."
    )


def _with_interval(row: Row, key: str) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    interval = "" if low is None else f" ({_signed(low)} to {_signed(high)})"
    return f"{points(row[key])}{interval}"


def _signed(fraction: float) -> str:
    return points(fraction).removesuffix(" points")


def metric_words(key: str) -> str:
    """Return one sentence and one formula for a metric, for a tooltip."""
    metric = METRICS[key]
    return (
        f"{metric.plain.capitalize()} ({metric.term}): {metric.formula}. {NOT_AVAILABLE} when {metric.undefined_when}."
    )


def text_only_commands(suite: str, store: Path) -> tuple[str, ...]:
    """Return the command lines that ask a VLM the original questions without the image, and that make the look-ups."""
    folder = f"data/runs/VLM.{folder_name(suite)}.text-only"
    where = store_option(store)
    asked = ["predict", "--model", "VLM", "--suite", suite, "--without-image", "--out", folder, *where]
    brought = ["import", "run", folder, *where]
    look_ups = ["blind", "surgcheck", "--learn", "SUITE", "--answer", suite, *where]
    return tuple(f"{PROGRAM} {shlex.join(line)}" for line in (asked, brought, look_ups))


def judge_commands(suite: str, store: Path) -> tuple[str, str]:
    """Return the command lines that have an LLM score a run's answers, and take the scores into the store."""
    folder = f"data/runs/LLM.{folder_name(suite)}.judged"
    where = store_option(store)
    judged = ["judge", "--model", "LLM", "--run", "VLM", "--suite", suite, "--out", folder, *where]
    return f"{PROGRAM} {shlex.join(judged)}", f"{PROGRAM} {shlex.join(['import', 'run', folder, *where])}"
