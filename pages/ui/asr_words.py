"""Sentences of the ASR page, each made from the figures on it; no number is typed in."""

__all__ = [
    "VARIANT_WORDS",
    "asr_commands",
    "decision_notes",
    "gaps_sentence",
    "headline",
    "metric_words",
    "noise_commands",
    "noise_sentence",
    "nothing_reconciled",
    "printed_headline",
    "tracking_sentence",
]

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.metric import NOT_AVAILABLE, describe_estimate, percent, points
from backend.endoca.asr import Variant
from backend.endoca.metrics import METRICS
from backend.endoca.reconciliation import Tracking
from backend.services.noise_floor import NoiseFloor, again_setting
from pages.ui.import_report import plural
from pages.ui.number_cell import p_words
from pages.ui.run_command import PROGRAM, folder_name, store_option

Row = Mapping[str, Any]

VARIANT_WORDS = {Variant.ASR: "With its parts (ASR)", Variant.SELF: "Without them (Self)"}
"""Variant → heading, in plain words first."""


def headline(rows: Sequence[Row]) -> str:
    """Return the page's sentence about the reconciliation over most units, one with premises where there is any.

    Broken is what was answered again, wrong; answers that are missing or failed are told apart.

    Args:
        rows: Of `reconciled_table`, at least one.
    """
    best = max(rows, key=lambda row: (row["variant"] == Variant.ASR, row["n_units"]))
    how = "with its own parts as premises" if best["variant"] == Variant.ASR else "without its parts"
    text = (
        f"Asked again {how}, {best['vlm']} mends {plural(best['repairs'], 'wrong answer')} and breaks "
        f"{plural(best['harms'] - best['harms_unanswered'], 'right one')} ({_of_units(best)}); joint accuracy moves by "
        f"{points(best['joint_change'])}"
    )
    control = next(
        (row for row in rows if row["base"] == best["base"] and row["variant"] == Variant.SELF and row is not best),
        None,
    )
    if control is not None:
        text += f", without the parts by {points(control['joint_change'])}"
        text += f" ({_of_units(control)})" if control["n_unanswered"] else ""
    return f"{text}."


def _of_units(row: Row) -> str:
    """Return how many units there are, and how many of them were not answered again."""
    if not row["n_unanswered"]:
        return f"n = {row['n_units']:,}"
    text = f"of {row['n_units']:,}; {row['n_unanswered']:,} were not answered again and count as wrong"
    return text + (f", {row['harms_unanswered']:,} of them right before" if row["harms_unanswered"] else "")


def printed_headline(rows: Sequence[Row], average: Row) -> str:
    """Return what the paper's table says in one sentence.

    Args:
        rows: Of `printed_asr`, the VLMs.
        average: Its last row.
    """
    moves = [row["joint_change"] for row in rows]
    return (
        f"Asked again with their own parts as premises, {len(rows)} VLMs gain {points(min(moves))} to "
        f"{points(max(moves))} of joint accuracy, while complex accuracy goes from "
        f"{percent(average['direct_accuracy'])} to {percent(average['revised_accuracy'])} (averages as printed)."
    )


def nothing_reconciled(suite: str, *, runs: bool, filtered: bool) -> str:
    """Return why there is no reconciliation to show.

    Args:
        suite: Its name.
        runs: Whether the suite has reconciled runs at all.
        filtered: Whether anything but the suite is chosen.
    """
    if runs and filtered:
        return f"No reconciled run over suite {suite} fits these filters. Clear them to see all."
    return f"No VLM's answers over suite {suite} have been reconciled in this store yet."


def asr_commands(vlm: str | None, suite: str | None, store: Path) -> tuple[str, ...]:
    """Return the command lines that reconcile a suite in both variants and take the runs into the store.

    Args:
        vlm: The VLM's name; None is written VLM.
        suite: The suite's name; None is written SUITE.
        store: The store's file, named where it is not the default one.
    """
    name, of = vlm or "VLM", suite or "SUITE"
    where = store_option(store)
    lines = []
    for variant in Variant:
        folder = f"data/runs/{folder_name(name)}.{folder_name(of)}.{variant}"
        again = ["--from", f"data/runs/{folder_name(name)}.{folder_name(of)}.{Variant.ASR}/direct"]
        asked = ["asr", "run", "--model", name, "--suite", of, "--variant", variant.value, "--out", folder]
        lines += [[*asked, *(again if variant is Variant.SELF else []), *where], ["import", "run", folder, *where]]
    return tuple(f"{PROGRAM} {shlex.join(line)}" for line in lines)


def noise_commands(vlm: str, suite: str, store: Path, setting: str = "") -> tuple[str, str]:
    """Return the command lines that decode a direct run again, question by question, and take it into the store.

    Args:
        vlm: The VLM's name.
        suite: The suite's name.
        store: The store's file, named where it is not the default one.
        setting: The direct run's.
    """
    again, where = again_setting(setting), store_option(store)
    folder = f"data/runs/{folder_name(vlm)}.{folder_name(suite)}.{folder_name(again)}"
    predict = ["predict", "--model", vlm, "--suite", suite, "--setting", again, "--batch", "1", "--out", folder]
    return f"{PROGRAM} {shlex.join([*predict, *where])}", f"{PROGRAM} {shlex.join(['import', 'run', folder, *where])}"


def gaps_sentence(rows: Sequence[tuple[str, Row]]) -> str:
    """Return which reconciliations lack revised answers, which the figures show as wrong; empty where none does.

    Args:
        rows: What to call each, and its row of `reconciled_table`.
    """
    gaps = [f"of {label}, {row['n_unanswered']:,} of {row['n_units']:,}" for label, row in rows if row["n_unanswered"]]
    if not gaps:
        return ""
    return (
        f"Missing or failed revised answers count as wrong, and so as harms where the direct answer was right: "
        f"{'; '.join(gaps)}."
    )


def tracking_sentence(found: Tracking) -> str:
    """Return how well the decisions tell right from wrong answers."""
    right, wrong = found.n_answer_right + found.n_abstain_right, found.n_answer_wrong + found.n_abstain_wrong
    if found.area is None:
        return (
            f"All {found.n:,} revised answers are {'right' if right else 'wrong'}, so there is nothing to tell apart."
        )
    area = found.area
    # A width of zero, at an area of 1, would claim certainty.
    interval = "" if area.low == area.high else f"{100 * area.low:.1f}–{100 * area.high:.1f}; "
    return (
        f"A right answer is trusted more than a wrong one with a chance of {percent(area.value)} "
        f"({interval}50 % tells nothing apart): {right:,} right, {wrong:,} wrong."
    )


def decision_notes(row: Row) -> str:
    """Return how many decisions were not reached, each for its reason, and how many repeat another answer.

    Args:
        row: Of `reconciled_table`.

    Returns:
        One sentence; empty where there is none of these.
    """
    notes = []
    if row["n_unreadable"]:
        notes.append(f"{plural(row['n_unreadable'], 'decision')} could not be read: withheld")
    if row["n_select_failed"]:
        notes.append(f"{plural(row['n_select_failed'], 'decision')} failed or could not be asked for: withheld")
    if row["n_undecided"]:
        notes.append(f"{plural(row['n_undecided'], 'question')} without a decision on file: withheld")
    if row["n_echoed"]:
        notes.append(
            f"{plural(row['n_echoed'], 'decision')} told another answer than the revised one, which is returned "
            "all the same"
        )
    return f"{'; '.join(notes).capitalize()}." if notes else ""


def noise_sentence(floor: NoiseFloor, name: str) -> str:
    """Return how far a second direct run differs from the first.

    Args:
        floor: The two runs.
        name: What to call the second.
    """
    result = floor.result
    return (
        f"Decoded again ({name}), {describe_estimate(floor.differing)}, complex answers are right in one run and wrong "
        f"in the other: {result.a_wrong_b_right:,} became right and {result.a_right_b_wrong:,} wrong, with nothing "
        f"revised (p = {p_words(result.p_value)}). In other words: {plural(floor.n_other_words, 'answer')}."
    )


def metric_words(key: str) -> str:
    """Return one sentence and one formula for a metric, for a tooltip."""
    metric = METRICS[key]
    return (
        f"{metric.plain.capitalize()} ({metric.term}): {metric.formula}. {NOT_AVAILABLE} when {metric.undefined_when}."
    )
