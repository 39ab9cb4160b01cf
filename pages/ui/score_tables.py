"""Tables of EndoCA's metrics: by VLM, by VLM group, what could not be scored, and two runs compared.

Columns sort by their values and read as value and 95 % interval. Inconsistency, the
contradiction, is the one column in orange.
"""

__all__ = ["show_comparison", "show_groups", "show_quality", "show_scores"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Literal

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, percent, points
from backend.domain.records import Origin
from backend.endoca.metrics import METRICS
from backend.errors import AppError
from backend.figures.style import GROUP_LABELS, ORIGIN_GLYPHS, Theme
from backend.services.endoca_series import group_table, of_questions, records
from backend.services.explore import Comparison, compare
from backend.store.filters import UnitFilter
from pages.ui.clicks import clickable_table
from pages.ui.endoca_words import metric_help
from pages.ui.errors import show_error
from pages.ui.number_cell import NumberCell, change_interval, p_words
from pages.ui.resources import drawn_once, kept
from pages.ui.series_cases import STATUS_OF

SCORES = ("complex_accuracy", "joint_accuracy", "inconsistency", "atomic_accuracy", "all_atomic_accuracy")
RATES = ("missing_rate", "failed_rate", "empty_rate", "unparsed_rate")

ASK = "Choose a cell to open the cases behind it."

Row = Mapping[str, Any]


def show_scores(rows: Sequence[Row], questions: UnitFilter, theme: Theme) -> tuple[Row, str] | None:
    """Draw a row a series with its scores; return the row and metric just clicked, else None."""
    about = {
        **_about(rows),
        "questions": [_n_questions(row) for row in rows],
        "missing": [None if row.get("missing_rate") is None else 100 * row["missing_rate"] for row in rows],
    }
    missing = ["missing"] if any(row.get("missing_rate") for row in rows) else []
    clicked = clickable_table(
        drawn_once("scores", (questions, theme.name), lambda: _table(rows, SCORES, about, theme)),
        key="scores",
        words=lambda row, column: _words(rows[row], column),
        ask=ASK,
        column_order=["label", "origin", "questions", *missing, *SCORES, "group"],
        column_config=_config(rows, SCORES),
        height=_height(len(rows)),
        placeholder=NOT_AVAILABLE,
    )
    return None if clicked is None else (rows[clicked[0]], clicked[1])


def show_quality(rows: Sequence[Row], questions: UnitFilter, theme: Theme) -> tuple[Row, str] | None:
    """Draw how many answers could not be used, a row a run; return what was clicked, else None."""
    runs = [row for row in rows if row["run_id"] is not None]
    if not runs:
        st.text("Printed tables do not say how many answers were missing, failed or unreadable.")
        return None
    about = {**_about(runs), "questions": [_n_questions(row) for row in runs]}
    clicked = clickable_table(
        drawn_once("quality", (questions, theme.name), lambda: _table(runs, RATES, about, theme)),
        key="quality",
        words=lambda row, column: _words(runs[row], column),
        ask=ASK,
        column_order=["label", "origin", "questions", *RATES, "group"],
        column_config=_config(runs, RATES),
        height=_height(len(runs)),
        placeholder=NOT_AVAILABLE,
    )
    return None if clicked is None else (runs[clicked[0]], clicked[1])


def show_groups(chosen: UnitFilter, theme: Theme) -> UnitFilter | None:
    """Draw a row an origin and VLM group; return the cases of the row just clicked, else None."""
    rows = records(kept(group_table, of_questions(chosen)))
    if not rows:
        st.text("Groups are compared from answers, and printed tables have none.")
        return None
    about = {
        **_about(rows),
        "n_runs": [row["n_runs"] for row in rows],
        "questions": [row["n_units"] + row["n_atomic"] for row in rows],
    }

    def words(at: int, column: str) -> str | None:
        name = f"{about['group'][at]}, {about['origin'][at]}"
        return _unread_words(rows[at], name, column) if column in STATUS_OF else f"{name}: all cases of its runs"

    clicked = clickable_table(
        drawn_once("groups", (of_questions(chosen), theme.name), lambda: _table(rows, (*SCORES, *RATES), about, theme)),
        key="groups",
        words=words,
        ask="Choose a row to open the cases of its runs, or a rate of missing or unreadable answers to open those.",
        column_order=["group", "origin", "n_runs", "questions", *SCORES, *RATES],
        column_config=_config(rows, (*SCORES, *RATES)),
        height=_height(len(rows)),
        placeholder=NOT_AVAILABLE,
    )
    st.caption("All answers of a group's runs taken together, each origin apart.")
    if clicked is None:
        return None
    at, column = clicked
    statuses = (STATUS_OF[column],) if column in STATUS_OF else ()
    return replace(of_questions(chosen), runs=rows[at]["run_ids"], groups=(), origins=(), statuses=statuses)


def show_comparison(runs: Mapping[str, str], chosen: UnitFilter) -> UnitFilter | None:
    """Draw two runs on the same units: differences with intervals, the exact test, the flips both ways.

    Args:
        runs: The suite's runs and what to call them.
        chosen: The page's filter; conditions on answers are put aside.

    Returns:
        The cases of the flips just asked for, else None.
    """
    if len(runs) < 2:
        st.text("Two runs over this suite are needed. Import another VLM's answers on the Data page.")
        return None
    first, second = _pick_pair(runs)
    try:
        found: list[Comparison] = kept(compare, first, second, of_questions(chosen))
    except AppError as error:
        show_error(error)
        return None
    import pandas as pd

    st.dataframe(
        pd.DataFrame(
            [
                {
                    "metric": METRICS[metric].label,
                    "a": percent(result.share_a),
                    "b": percent(result.share_b),
                    "difference": points(result.difference),
                    "interval": change_interval(result.low, result.high),
                    "p": p_words(result.p_value),
                    "lost": result.a_right_b_wrong,
                    "won": result.a_wrong_b_right,
                    "n": result.n,
                }
                for metric, result in found
            ]
        ),
        hide_index=True,
        column_config={
            "metric": "Metric",
            "a": "A",
            "b": "B",
            "difference": st.column_config.TextColumn("B − A"),
            "interval": st.column_config.TextColumn("95 % interval", help="The range for other images like these"),
            "p": st.column_config.TextColumn("p", help="Exact McNemar test, two-sided, over the units that flip"),
            "lost": st.column_config.NumberColumn("Only A right", format="localized"),
            "won": st.column_config.NumberColumn("Only B right", format="localized"),
            "n": st.column_config.NumberColumn("Units in both", format="localized"),
        },
    )
    result = found[0].result
    alone = result.only_in_a + result.only_in_b
    if alone:
        st.text(f"{alone:,} units are in one of the two runs only, and are left out.")
    questions = replace(of_questions(chosen), runs=(first, second), groups=(), origins=())
    asked = None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for label, right, wrong, count in (
            ("A right, B wrong", first, second, result.a_right_b_wrong),
            ("B right, A wrong", second, first, result.a_wrong_b_right),
        ):
            if st.button(f"{label}: {count:,} cases", key=f"flips_{label}", disabled=not count):
                asked = replace(questions, right=right, wrong=wrong)
        st.html(
            f"<div style='font-size:.88em;opacity:.75'>Complex answers. A is {escape(runs[first])}, B is "
            f"{escape(runs[second])}.</div>"
        )
    return asked


def _pick_pair(runs: Mapping[str, str]) -> tuple[str, str]:
    """Draw the two choices, kept in the link as ``a`` and ``b``."""
    ids = list(runs)
    picked = []
    with st.container(horizontal=True, gap="small"):
        for at, name in enumerate(("a", "b")):
            asked = st.query_params.get(name, "")
            state = f"compare_{name}"
            st.session_state[state] = asked if asked in runs else ids[at]
            st.selectbox(
                f"Run {name.upper()}",
                ids,
                key=state,
                format_func=lambda run: runs.get(run, run),
                on_change=_write_pair,
                width=260,
            )
            picked.append(st.session_state[state])
    return picked[0], picked[1]


def _write_pair() -> None:
    for name in ("a", "b"):
        st.query_params[name] = st.session_state[f"compare_{name}"]


def _table(rows: Sequence[Row], keys: Sequence[str], about: dict[str, list[Any]], theme: Theme) -> Any:
    """Return a table whose numbers sort as numbers and read as value and interval."""
    import pandas as pd

    scores = {key: pd.Series([_score(row, key) for row in rows], dtype=object) for key in keys}
    styler = pd.DataFrame({**about, **scores}).style.format(str, subset=list(keys), na_rep=NOT_AVAILABLE)
    if "inconsistency" in keys:
        styler = styler.map(lambda _: f"color: {theme.contradiction_text}", subset=["inconsistency"])
    return styler


def _score(row: Row, key: str) -> NumberCell | None:
    """Return a percentage that sorts as the number it is and reads as value and interval."""
    value = row.get(key)
    return None if value is None else NumberCell.of(100 * value, _score_text(row, key))


def _score_text(row: Row, key: str) -> str:
    value = row.get(key)
    if value is None:
        return NOT_AVAILABLE
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    interval = "" if low is None or high is None else f" ({100 * low:.1f}–{100 * high:.1f})"
    return f"{100 * value:.1f}{interval}"


def _about(rows: Sequence[Row]) -> dict[str, list[Any]]:
    groups = [row["vlm_group"] or "not known" for row in rows]
    return {
        "label": [row.get("label") if row.get("run_id") is not None else row.get("vlm") for row in rows],
        "origin": [ORIGIN_GLYPHS[Origin(row["origin"])] for row in rows],
        "group": [GROUP_LABELS.get(group, group.replace("_", " ")) for group in groups],
    }


def _words(row: Row, column: str) -> str | None:
    """Return what a cell opens: whose number it is and of which metric, in full; None where that is nothing."""
    name = row["vlm"] if row["run_id"] is None else row["label"]
    if column in STATUS_OF:
        return _unread_words(row, name, column)
    return f"{name}: {METRICS[column].label}" if column in METRICS else f"{name}: all its cases"


def _unread_words(row: Row, name: str, column: str) -> str | None:
    """Return what a rate of missing or unreadable answers opens; None where there is none of them."""
    rate = f"{STATUS_OF[column]}_rate"
    return f"{name}: {METRICS[rate].label}" if row.get(rate) else None


def _config(rows: Sequence[Row], keys: Sequence[str]) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    config: dict[str, Any] = {
        "label": text("VLM", pinned=True, width=150),
        "origin": text("Origin", width=100),
        "group": text("Group", width=140),
        "n_runs": number("Runs", width=55),
        "questions": number(
            "Questions", help="Complex and atomic ones together, as the paper counts them", width=85, format="localized"
        ),
    }
    missing = "Questions without an answer on file; they count as wrong"
    config["missing"] = number("Missing, %", help=missing, width=75, format="%.1f")
    for key in keys:
        config[key] = number(
            f"{_short_label(key)}, %",
            help=metric_help(key, rows),
            width=70 if key == "missing_rate" and "complex_accuracy" in keys else 118,
        )
    return config


def _short_label(key: str) -> str:
    return METRICS[key].label.removesuffix(" accuracy").removesuffix(" answers")


def _n_questions(row: Row) -> int | None:
    return row["n_units"] + row["n_atomic"] if row["run_id"] is not None else row.get("n_printed")


def _height(n_rows: int) -> int | Literal["content"]:
    """Return a height that shows all rows, up to about a screen."""
    return "content" if n_rows <= 15 else 530
