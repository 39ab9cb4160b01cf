"""Tables of SurgCheck's scores: all metrics by run and variant, both ways compared and tested, the text-only ablation.

Columns sort by their values and read as value and 95 % interval; a cell opens the pairs behind it. What is right
with the hint alone, the contradiction, is the one column in orange.
"""

__all__ = ["show_ablation_table", "show_drops", "show_scores"]

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, points
from backend.domain.records import AnswerStatus, Origin
from backend.figures.style import ORIGIN_GLYPHS, Theme
from backend.store.pair_filters import PairFilter
from backend.surgcheck.metrics import METRICS, Variant
from backend.surgcheck.outcomes import PairOutcome
from backend.surgcheck.tasks import Cue, Task
from pages.ui.clicks import clickable_table
from pages.ui.number_cell import NumberCell, p_words
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS
from pages.ui.surgcheck_cases import pairs_behind
from pages.ui.surgcheck_words import metric_words

Row = Mapping[str, Any]

ASK = "Choose a cell to open the pairs behind it."

VARIANT_WORDS = {Variant.ORIGINAL: "original", Variant.LESS_BIASED: "less-biased", Variant.TEXT_ONLY: "image withheld"}
"""Variant → how it was asked."""

_SHARES = ("accuracy", "macro_f1", "macro_f1_union", "weighted_f1", "judge_accuracy")
_COUNTS = {
    "n_unscored": ("Unscored", "Judged answers without a score; not counted as wrong"),
    "n_missing": ("Missing", "Questions without an answer on file; they count as wrong"),
    "n_failed": ("Failed", "Calls that failed; they count as wrong"),
    "n_empty": ("Empty", "Empty answers; they count as wrong"),
}
_STATUSES = {"n_missing": AnswerStatus.MISSING, "n_failed": AnswerStatus.FAILED, "n_empty": AnswerStatus.EMPTY}
_HEADS = {"macro_f1_union": "F1, all labels"}
"""Metric → head of its column, where its label is too long."""
_OUTCOMES = {"n_hint_only": PairOutcome.HINT_ONLY, "n_pointed_only": PairOutcome.POINTED_ONLY}

_GROUP_HEADS = {"task": "Task", "level": "Level", "cue": "Cue"}


def show_scores(rows: Sequence[Row], chosen: PairFilter, theme: Theme) -> PairFilter | None:
    """Draw every metric, a row a run and variant; return the pairs of the cell just opened, else None.

    Args:
        rows: Of `score_table`.
        chosen: The page's filter.
        theme: Light or dark.
    """
    judged = any(row["judge"] is not None for row in rows)
    counts = [name for name in _COUNTS if (judged if name == "n_unscored" else any(row[name] for row in rows))]
    table = []
    for row in rows:
        shown: dict[str, Any] = {**_about(row), "variant": VARIANT_WORDS[Variant(row["variant"])], "n": row["n"]}
        shown |= {key: _share(row, key) for key in _SHARES}
        shown["accuracy"] = _share(row, "accuracy", f"{row['accuracy_k']:,}/{row['n']:,}")
        shown["judge_mean"] = _mean(row)
        if row["judge_accuracy"] is not None:
            scored = f"{row['judge_accuracy_k']:,}/{row['n_judged'] - row['n_unscored']:,}"
            shown["judge_accuracy"] = _share(row, "judge_accuracy", scored)
        table.append(shown | {"judge": row["judge"]} | {name: row[name] for name in counts})

    def behind(at: int, column: str) -> PairFilter | None:
        row = rows[at]
        if column in _STATUSES:
            unread = replace(pairs_behind(row["run_id"], chosen), statuses=(_STATUSES[column],), variant=row["variant"])
            return unread if row[column] else None
        is_judges = column in ("judge", "judge_mean", "judge_accuracy")
        empty = column == "n_unscored" or (is_judges and row["judge"] is None)
        return None if empty else pairs_behind(row["run_id"], chosen)

    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    judge = {
        "judge_mean": number("Judge, 1 to 5", help=metric_words("judge_mean"), width=120),
        "judge_accuracy": number("Judge ≥ 4, %", help=metric_words("judge_accuracy"), width=120),
        "judge": text("Judge", width=90, help="Who scored; where several did, the one that scored most answers"),
    }
    return _clickable(
        table,
        (*_SHARES, "judge_mean"),
        behind,
        key="scores",
        theme=theme,
        column_config={
            **_ABOUT,
            "variant": text("Asked", width=100),
            "n": number("Questions", width=80, format="localized"),
            **{
                key: number(f"{_HEADS.get(key, METRICS[key].label)}, %", help=metric_words(key), width=112)
                for key in _SHARES
                if key != "judge_accuracy"
            },
            **(judge if judged else {}),
            **{name: number(_COUNTS[name][0], help=_COUNTS[name][1], width=75, format="localized") for name in counts},
        },
    )


def show_drops(
    rows: Sequence[Row], printed: Sequence[Row], metric: str, chosen: PairFilter, theme: Theme, by: str = ""
) -> PairFilter | None:
    """Draw both ways and what lies between, with paired tests; return the pairs of the cell just opened, else None.

    Args:
        rows: Of `drop_table`.
        printed: Of `printed_drops`; they open nothing.
        metric: Of the rows.
        chosen: The page's filter.
        theme: Light or dark.
        by: ``task``, ``level`` or ``cue`` where rows are of groups.
    """
    table = []
    for row in [*rows, *printed]:
        shown = _about(row)
        if by:
            shown[by] = _group_words(by, str(row[by]))
        shown |= {side: _share(row, side) for side in (Variant.ORIGINAL, Variant.LESS_BIASED)}
        shown |= {"gap": _change(row, "gap"), "n_pairs": row["n_pairs"], "n_images": row["n_images"]}
        if metric == "accuracy":
            shown |= {name: row[name] for name in _OUTCOMES}
            shown |= {name: p_words(row[name]) for name in ("p_value", "p_mcnemar")}
        table.append(shown)

    def behind(at: int, column: str) -> PairFilter | None:
        if at >= len(rows):
            return None
        group = {by: rows[at][by]} if by else {}
        return pairs_behind(rows[at]["run_id"], chosen, group, _OUTCOMES.get(column))

    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    label = METRICS[metric].label
    tests = {
        "n_hint_only": number(
            "Only with hint", help="Pairs right by the original question alone: the words did the looking", width=98
        ),
        "n_pointed_only": number("Only without", help="Pairs right by the less-biased question alone", width=92),
        "p_value": text(
            "p (frames)",
            help="Two-sided exact sign-flip test of the drop; the pairs of a frame flip together",
            width=76,
        ),
        "p_mcnemar": text("p (pairs)", help="Exact McNemar test, which takes pairs as independent", width=68),
    }
    return _clickable(
        table,
        [Variant.ORIGINAL, Variant.LESS_BIASED, "gap"],
        behind,
        key=f"drops_{by}",
        theme=theme,
        orange="n_hint_only" if metric == "accuracy" else "",
        column_config={
            **_ABOUT,
            **({by: text(_GROUP_HEADS[by], width=130)} if by else {}),
            Variant.ORIGINAL: number("Original, %", help=f"With original questions. {metric_words(metric)}", width=112),
            Variant.LESS_BIASED: number("Less-biased, %", help=f"{label} with less-biased questions", width=112),
            "gap": number("Drop, points", help="Original minus less-biased, over the same pairs, by frames", width=134),
            **(tests if metric == "accuracy" else {}),
            "n_pairs": number("Pairs", width=55, format="localized"),
            "n_images": number("Frames", width=60, format="localized"),
        },
    )


def show_ablation_table(
    rows: Sequence[Row], printed: Sequence[Row], chosen: PairFilter, theme: Theme
) -> tuple[PairFilter, bool] | None:
    """Draw the ablation by task; return the pairs of the cell just opened and whether they have outcomes, else None.

    Args:
        rows: Of `ablation_table`.
        printed: Of `printed_ablation`; they open nothing.
        chosen: The page's filter.
        theme: Light or dark.
    """
    table = [
        {
            **_about(row),
            "task": _group_words("task", row["task"]),
            **{variant: _share(row, variant) for variant in Variant},
            "image_gain": _change(row, "image_gain"),
            "n": row["text_only_n"] or row["original_n"],
        }
        for row in rows
    ] + [
        {
            "label": f"{row['vlm']}, {row['setting']}",
            "origin": ORIGIN_GLYPHS[Origin.PUBLISHED],
            "task": _group_words("task", row["task"]),
            **{variant: _share(row, variant) for variant in Variant},
        }
        for row in printed
    ]

    def behind(at: int, column: str) -> PairFilter | None:
        if at >= len(rows):
            return None
        withheld = column in (Variant.TEXT_ONLY, "image_gain") and rows[at]["text_run_id"] is not None
        run_id = rows[at]["text_run_id"] if withheld else rows[at]["run_id"]
        return pairs_behind(run_id, chosen, {"task": rows[at]["task"]})

    number = st.column_config.NumberColumn
    found = _clickable(
        table,
        [*Variant, "image_gain"],
        behind,
        key="ablation",
        theme=theme,
        column_config={
            **_ABOUT,
            "task": st.column_config.TextColumn("Task", width=110),
            Variant.ORIGINAL: number("Original, %", width=120),
            Variant.LESS_BIASED: number("Less-biased, %", width=120),
            Variant.TEXT_ONLY: number("Image withheld, %", help="Original questions, the image withheld", width=130),
            "image_gain": number(
                "Image adds, points",
                help="Original minus image withheld, over the same questions, by frames",
                width=145,
            ),
            "n": number("Questions", width=80, format="localized"),
        },
    )
    if found is None:
        return None
    return found, all(row["text_run_id"] not in found.runs for row in rows)


_ABOUT: dict[str, Any] = {
    "label": st.column_config.TextColumn("VLM", pinned=True, width=150),
    "origin": st.column_config.TextColumn("Origin", width=101),
}


def _about(row: Row) -> dict[str, Any]:
    label = row["label"] if row["run_id"] is not None else f"{row['vlm']}, {row['setting']}"
    return {"label": label, "origin": ORIGIN_GLYPHS[Origin(row["origin"])]}


def _group_words(by: str, value: str) -> str:
    match by:
        case "task":
            return TASK_WORDS[Task(value)]
        case "cue":
            return CUE_WORDS[Cue(value)]
        case _:
            return value


def _share(row: Row, key: str, counts: str = "") -> NumberCell | None:
    value = row[key]
    if value is None:
        return None
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    interval = "" if low is None or high is None else f" ({100 * low:.1f}–{100 * high:.1f})"
    cell = NumberCell.of(100 * value, f"{100 * value:.1f}{interval}")
    if cell is not None:
        n = row.get(f"{key}_n")
        cell.counts = counts or ("" if n is None else f"n = {n:,}")
    return cell


def _mean(row: Row) -> NumberCell | None:
    value, low, high = (row[f"judge_mean{bound}"] for bound in ("", "_low", "_high"))
    interval = "" if low is None else f" ({low:.2f}–{high:.2f})"
    return None if value is None else NumberCell.of(value, f"{value:.2f}{interval}")


def _change(row: Row, key: str) -> NumberCell | None:
    value, low, high = row[key], row.get(f"{key}_low"), row.get(f"{key}_high")
    if value is None:
        return None
    interval = "" if low is None or high is None else f" ({_signed(low)} to {_signed(high)})"
    return NumberCell.of(100 * value, _signed(value) + interval)


def _signed(fraction: float) -> str:
    return points(fraction).removesuffix(" points")


def _clickable(
    rows: Sequence[Row],
    numbers: Sequence[str],
    behind: Callable[[int, str], PairFilter | None],
    *,
    key: str,
    theme: Theme,
    column_config: Mapping[str, Any],
    orange: str = "",
) -> PairFilter | None:
    """Draw a table whose numbers sort as numbers; return what the cell just opened stands for, else None."""
    import pandas as pd

    columns = list(column_config)
    frame = pd.DataFrame(list(rows), dtype=object).reindex(columns=columns)
    frame = frame.astype(object).where(frame.notna(), None)
    worded: list[Hashable] = [name for name in numbers if name in columns]
    styler = frame.style.format(str, subset=worded, na_rep=NOT_AVAILABLE)
    if orange:
        styler = styler.map(lambda n: f"color: {theme.contradiction_text}" if n else "", subset=[orange])

    def words(at: int, column: str) -> str | None:
        if behind(at, column) is None:
            return None
        of = ", ".join(str(rows[at][name]) for name in ("label", "task", "level", "cue", "variant") if name in rows[at])
        cell = rows[at].get(column)
        counts = f", {cell.counts}" if isinstance(cell, NumberCell) and cell.counts else ""
        return f"{of}: {column_config[column]['label']}{counts}"

    clicked = clickable_table(
        styler,
        key=key,
        words=words,
        ask=ASK,
        column_config=column_config,
        height="content" if len(rows) <= 15 else 530,
        placeholder=NOT_AVAILABLE,
    )
    return None if clicked is None else behind(*clicked)
