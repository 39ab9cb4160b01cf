"""Does another verifier do better: self against cross, each generator and verifier, and relatives of a VLM."""

__all__ = ["crossing_sentence", "show_crossings", "show_matrix", "show_relatives"]

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.domain.metric import percent, points
from backend.figures.class_heat import class_heat
from backend.figures.style import Theme
from backend.figures.verimap_verifiers import crossing_arrows, relation_lines
from backend.services.endoca_series import records
from backend.services.verimap_kinship import Kinship
from backend.store.verification_filters import BOTH, UNLABELLED, VerificationFilter
from backend.verimap.metrics import METRICS
from pages.ui.clicks import clickable_chart, clickable_table
from pages.ui.endoca_words import quiet_line
from pages.ui.filters import link_choice
from pages.ui.import_report import plural
from pages.ui.plain import plain
from pages.ui.resources import drawn_once
from pages.ui.verimap_compared import show_compared
from pages.ui.verimap_filters import task_words
from pages.ui.verimap_tables import crossings_of, matrix_of, of_figures, related_of
from pages.ui.verimap_words import metric_words

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]

_MATRIX = {"FPR": "fpr", "Verifier error": "error", "FNR": "fnr", "dSkew": "dskew"}

_KINDS = {
    Kinship.ADAPTED: "A medical VLM in its base's place",
    Kinship.SCALED: "A larger VLM in the smaller one's place",
}


def show_crossings(chosen: VerificationFilter, theme: Theme) -> VerificationFilter | None:
    """Draw the arrows from self to cross, and their table; return the verdicts of what was just opened, else None."""
    table = crossings_of(chosen)
    rows = records(table)
    if not rows:
        st.text(
            "No answer here was verified by its own VLM and by another one. With both, an arrow a task shows what "
            "another verifier changes."
        )
        return None
    st.html(quiet_line(crossing_sentence(rows)))
    point = clickable_chart(
        drawn_once("verimap_arrows", (of_figures(chosen), theme.name), lambda: crossing_arrows(table, theme)),
        key="crossing_chart",
        alt="Arrows from self- to cross-verification on the three panels, one a task",
    )
    st.caption(
        "Filled: the VLM verifies its own answers. Hollow: other VLMs verify the same answers. Verdicts are added up "
        "over data sets and VLMs; the paper averages cells. A mark opens its verdicts."
    )
    opened = show_compared(rows, {"Task": lambda row: task_words(row["task"])}, ("self", "cross"), key="crossings")
    if point is not None:
        return _of_task(chosen, None if point[0] == "" else point[0], point[1])
    return None if opened is None else _of_task(chosen, opened[0]["task"], "self" if opened[1] == "a" else "cross")


def show_matrix(chosen: VerificationFilter, theme: Theme) -> VerificationFilter | None:
    """Draw a table of generators and verifiers; return the verdicts of the cell just opened, else None."""
    rows = records(matrix_of(chosen))
    generators = list(dict.fromkeys(row["generator"] for row in rows))
    verifiers = list(dict.fromkeys(row["verifier"] for row in rows))
    metric = _MATRIX[link_choice("matrix", "Metric", tuple(_MATRIX))]
    cells = {(row["generator"], row["verifier"]): row for row in rows}
    config = {
        "generator": st.column_config.TextColumn("Answers of", pinned=True, width=170),
        **{
            f"v{at}": st.column_config.NumberColumn(vlm, help=plain(vlm), width=165) for at, vlm in enumerate(verifiers)
        },
    }

    def words(at: int, column: str) -> str | None:
        if column == "generator":
            return None
        row = cells.get((generators[at], verifiers[int(column[1:])]))
        if row is None:
            return None
        counts = f", {row[f'{metric}_k']:,}/{row[f'{metric}_n']:,}" if f"{metric}_n" in row else f", n = {row['n']:,}"
        return f"{row['verifier']} on answers of {row['generator']}: {METRICS[metric].label}{counts}"

    clicked = clickable_table(
        drawn_once("verimap_heat", (of_figures(chosen), metric), lambda: _heat(generators, verifiers, cells, metric)),
        key="matrix",
        words=words,
        ask="Choose a cell to open the verdicts behind it.",
        column_config=config,
        placeholder="–",
    )
    st.caption(
        f"{metric_words(metric)} Rows: whose answers; columns: who verifies them. Percent with 95 % interval, dark for "
        "0 and light for 100, over all tasks, data sets and turns chosen."
    )
    if clicked is None or clicked[1] == "generator":
        return None
    return replace(
        of_figures(chosen),
        pairing=BOTH,
        generators=(generators[clicked[0]],),
        verifiers=(verifiers[int(clicked[1][1:])],),
    )


def show_relatives(chosen: VerificationFilter, theme: Theme) -> VerificationFilter | None:
    """Draw each VLM beside its relative; return the verdicts of the point just opened, else None."""
    table = related_of(chosen)
    opened = None
    for kind, title in _KINDS.items():
        of_kind = table[table["kind"] == kind.value]
        if of_kind.empty:
            continue
        st.subheader(title, help=metric_words("fpr"))
        pairs = list(dict.fromkeys(zip(of_kind["base"], of_kind["other"], strict=True)))
        columns = st.columns(2, gap="medium")
        for at, (base, other) in enumerate(pairs):
            own = of_kind[(of_kind["base"] == base) & (of_kind["other"] == other)]
            with columns[at % 2]:
                point = _show_relation(own, (base, other), at, chosen, theme)
            if point is not None:
                verifier = base if point[1] == "a" else other
                opened = replace(
                    _of_task(chosen, None if point[0] == "" else point[0], BOTH),
                    generators=(base,),
                    verifiers=(verifier,),
                )
        st.caption(
            "FPR by task, on the same answers. Circle: the VLM verifies its own answers. Diamond: its relative does. "
            "Solid: fewer wrong answers are accepted; dotted: not fewer. A mark opens its verdicts."
        )
    return opened


def _show_relation(
    table: "pd.DataFrame", names: tuple[str, str], at: int, chosen: VerificationFilter, theme: Theme
) -> list[Any] | None:
    kind = table["kind"].iloc[0]
    st.html(quiet_line(f"Answers of {names[0]}, verified by itself and by {names[1]}"))
    return clickable_chart(
        drawn_once(
            "verimap_relation",
            (of_figures(chosen), kind, names, theme.name),
            lambda: relation_lines(table, names, theme),
        ),
        key=f"relation_{kind}_{at}",
        alt="FPR by task of a VLM verifying itself and of its relative",
    )


def _of_task(chosen: VerificationFilter, task: str | None, pairing: str) -> VerificationFilter:
    return replace(of_figures(chosen), tasks=(task or UNLABELLED,), groups=(), pairing=pairing)


def crossing_sentence(rows: Sequence[Row]) -> str:
    """Return in how many tasks other verifiers clearly accept fewer wrong answers, and where that changes most."""
    known = [row for row in rows if row["fpr_change"] is not None]
    if not known:
        return "In no task is the FPR of both defined."
    falling = [row for row in known if row["fpr_change_high"] is not None and row["fpr_change_high"] < 0]
    count = f"{plural(len(known), 'task')} other verifiers clearly accept fewer wrong answers"
    if not falling:
        return f"In none of {count}: no 95 % interval of the change lies below zero."
    most = min(falling, key=lambda row: float(row["fpr_change"]))
    low, high = (points(most[f"fpr_change_{bound}"]).removesuffix(" points") for bound in ("low", "high"))
    return (
        f"In {len(falling):,} of {count} (the 95 % interval of the change lies below zero); most on "
        f"{task_words(most['task'])}: FPR {percent(most['fpr_a'])} → {percent(most['fpr_b'])}, "
        f"{points(most['fpr_change'])} ({low} to {high})."
    )


def _heat(
    generators: Sequence[str], verifiers: Sequence[str], cells: Mapping[tuple[str, str], Row], metric: str
) -> Any:
    import pandas as pd

    table: dict[str, list[Any]] = {"generator": list(generators)}
    texts = {}
    for column, verifier in enumerate(verifiers):
        found = [cells.get((generator, verifier)) for generator in generators]
        table[f"v{column}"] = [None if row is None else row[metric] for row in found]
        for at, row in enumerate(found):
            if row is not None and row[metric] is not None:
                interval = (
                    ""
                    if row[f"{metric}_low"] is None
                    else f" ({100 * row[f'{metric}_low']:.1f}–{100 * row[f'{metric}_high']:.1f})"
                )
                texts[at, f"v{column}"] = f"{100 * row[metric]:.1f}{interval}"
    return class_heat(pd.DataFrame(table), [f"v{at}" for at in range(len(verifiers))], texts)
