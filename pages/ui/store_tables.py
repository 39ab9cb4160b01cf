"""What is in the store as tables: suites, runs and printed results, each row with its way on."""

__all__ = ["answers_held", "show_import_log", "show_printed", "show_runs", "show_suites"]

import json
from collections.abc import Callable, Mapping
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from backend.domain.records import Origin, System
from backend.domain.stage_words import stage_words
from backend.figures.style import GROUP_LABELS, ORIGIN_GLYPHS
from backend.services.endoca_series import records
from backend.services.explore import run_labels
from backend.services.ingest.log import logged_imports
from backend.services.removal import remove_run, remove_suite
from backend.services.store_contents import Totals, printed_sources
from backend.store import queries
from backend.store.store import Store
from backend.verimap.setups import setting_words
from pages.ui.clicks import chosen_cell
from pages.ui.import_report import KINDS, number_columns, plural, show_report, summary
from pages.ui.links import CASE, ENDOCA
from pages.ui.plain import plain
from pages.ui.suite_names import suite_words
from pages.ui.system_links import PAGES, query_of

SYSTEMS = {"endoca": "EndoCA", "surgcheck": "SurgCheck", "verimap": "VeriMap"}
"""System, as the store names it → as its paper does."""

REMOVALS = {
    "run": "The run goes with its answers and all its scores.",
    "suite": "The suite goes with its units, with every run over it, and with images brought for it alone.",
}
"""What else goes."""

SHOWN_ROWS = 12
"""Longer tables scroll."""

REMOVED = "removed"
"""Session state: what was just removed, until it has been said."""

WIDTHS = {"VLM": 170, "suite": 125, "files": 260, "what changed": 380}
"""In pixels, of columns whose texts may be long."""

ASK_WAYS = "Click a row for its cases, and what else can be done with it."


def show_suites(store: Store, *, removable: bool = True) -> None:
    """Draw the suites; a chosen row shows the way to its cases and how it was built.

    Args:
        store: The open store.
        removable: Whether a suite can be removed here.
    """
    suites = queries.suite_table(store)
    rows = pd.DataFrame(
        {
            "suite": suites["suite"].map(suite_words),
            "system": suites["system"].map(_system_words),
            "units": suites["n_units"],
            "atomic questions": suites["n_atomic"],
            "images": suites["n_images"],
            "with a file": suites["n_images_at_hand"],
            "runs": suites["n_runs"],
            "source": suites["source"],
            "since": suites["created_at"],
        }
    )
    chosen = _choose(rows, key=f"suites_{store.data_version}", ask=ASK_WAYS)
    if chosen is None:
        return
    suite = suites.iloc[chosen]
    if isinstance(suite["report"], str):
        _show_building(json.loads(suite["report"]))
    name = str(suite["suite"])
    query = query_of(suite["system"], [name])
    _show_ways(suite["system"], query, "suite", name, partial(remove_suite, store, name) if removable else None)


def show_runs(store: Store) -> None:
    """Draw the runs, restricted by system, suite, VLM and origin; a chosen row shows the way to its cases."""
    runs = queries.run_table(store)
    runs["label"] = run_labels(records(runs))
    filters = (("system", "System"), ("suite", "Suite"), ("vlm", "VLM"), ("origin", "Origin"))
    for place, (column, label) in zip(st.columns(len(filters)), filters, strict=True):
        wanted = place.multiselect(
            label, sorted(runs[column].unique()), key=f"runs_{column}", placeholder="all",
            format_func=_system_words if column == "system" else str,
        )  # fmt: skip
        if wanted:
            runs = runs[runs[column].isin(wanted)]
    rows = pd.DataFrame(
        {
            "VLM": runs["vlm"],
            "stage": runs["stage"].map(stage_words),
            "system": runs["system"].map(_system_words),
            "suite": runs["suite"].map(suite_words),
            "origin": runs["origin"].map(ORIGIN_GLYPHS),
            "answers": runs["n_answers"],
            "group": [_group_words(group) for group in runs["vlm_group"]],
            "source": runs["source"],
            "since": runs["created_at"],
            "setting": runs["setting"].map(setting_words),
            "prompt": runs["prompt_version"],
            "decoding": runs["decoding"],
            "scorer": runs["scorer"] + " " + runs["scorer_version"],
        }
    )
    chosen = _choose(rows, key=f"runs_{store.data_version}", ask=ASK_WAYS)
    if chosen is None:
        return
    run = runs.iloc[chosen]
    name = f"{run['label']} on {run['suite']}"
    query = query_of(run["system"], [run["suite"]], (run["run_id"],))
    _show_ways(run["system"], query, "run", name, partial(remove_run, store, run["run_id"]))


def answers_held(held: Totals) -> str:
    """Return how many answers there are, and how many verdicts on answers where there are any."""
    verdicts = f" and {plural(held.verdicts, 'verdict')}" if held.verdicts else ""
    return plural(held.answers, "answer") + verdicts


def show_printed(store: Store) -> None:
    """Draw which printed tables are there: figures without answers behind them."""
    printed = printed_sources(store)
    st.dataframe(
        pd.DataFrame({
            "table": printed["source"],
            "suite": printed["suite"],
            "origin": ORIGIN_GLYPHS[Origin.PUBLISHED],
            "VLMs": printed["n_vlms"],
            "questions": printed["n"],
        }),
        hide_index=True, width="content", column_config=number_columns("VLMs", "questions"),
    )  # fmt: skip
    st.caption("Figures as the paper prints them. They have no answers behind them and are never pooled with runs.")
    st.page_link(ENDOCA, label="See them on Paired answers")


def show_import_log(store: Store) -> None:
    """Draw the imports that changed the store, newest first; a chosen row shows its report."""
    log = logged_imports(store)
    said = st.session_state.pop(REMOVED, None)
    if said:
        st.toast(plain(said))
    if not log:
        st.caption("Nothing has been imported yet.")
        return
    rows = pd.DataFrame(
        {
            "when": [entry.at for entry in log],
            "what": [KINDS.get(entry.report.kind, entry.report.kind) for entry in log],
            "files": [entry.report.source for entry in log],
            "what changed": [summary(entry.report) for entry in log],
            "bad lines": [len(entry.report.bad_lines) for entry in log],
        }
    )
    chosen = _choose(rows, key="imports", ask="Click a row to see its report.")
    if chosen is None:
        return
    with st.container(border=True):
        show_report(log[chosen].report, key="logged")


def _choose(rows: pd.DataFrame, *, key: str, ask: str) -> int | None:
    """Draw a table and return the place of the row of the chosen cell, if any; else say what to choose it for.

    The key of a table from which rows can be removed holds the store's data version: a choice
    must not pass on to the row that takes the place of a removed one.
    """
    times = {
        name: st.column_config.DatetimeColumn(f"{name}, UTC", format="YYYY-MM-DD HH:mm") for name in ("since", "when")
    }
    numbers = number_columns(*(name for name in rows.columns if pd.api.types.is_integer_dtype(rows[name])))
    widths = {name: st.column_config.TextColumn(width=width) for name, width in WIDTHS.items()}
    cell = chosen_cell(
        rows, key=f"{key}_table", height="content" if len(rows) <= SHOWN_ROWS else 36 * SHOWN_ROWS,
        column_config={**widths, **times, **numbers},
    )  # fmt: skip
    if cell is None:
        st.caption(ask)
        return None
    return cell[0]


def _group_words(group: str | None) -> str:
    return GROUP_LABELS.get(group, group) if isinstance(group, str) else "not known"


def _system_words(system: str) -> str:
    return SYSTEMS.get(system, system)


def _show_ways(system: str, query: Mapping[str, str], noun: str, name: str, remove: Callable[[], str] | None) -> None:
    """Draw what can be done with the chosen row.

    Args:
        system: Whose it is.
        query: The link's parameters of its cases.
        noun: What it is, one of `REMOVALS`.
        name: Which one it is; plain text.
        remove: Takes it out of the store and says so; None: not here.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f"<b style='overflow-wrap:anywhere'>{escape(name)}</b>", width="content")
        page, called = PAGES[System(system)]
        st.page_link(CASE, label=f"Open the cases of this {noun}", query_params=query)
        st.page_link(page, label=f"Open this {noun} in {called}", query_params=query)
        if remove is None:
            return
        with st.popover(f"Remove this {noun}"):
            st.text(f"Remove {name}?")
            st.markdown(f"{REMOVALS[noun]} Import the file again to have it back.")
            if st.button(f"Remove the {noun}", key=f"remove_{noun}"):
                st.session_state[REMOVED] = remove()
                st.rerun()


def _show_building(report: dict[str, object]) -> None:
    """Draw how a suite was built from Kvasir-VQA-x1: what was left out, and why."""
    exclusions = report.get("exclusions")
    if isinstance(exclusions, dict) and exclusions:
        st.dataframe(
            pd.DataFrame(list(exclusions.items()), columns=["samples left out, by their first reason", "number"]),
            hide_index=True, width="content",
        )  # fmt: skip
    told = [(key.replace("_", " "), report[key]) for key in report if key not in ("exclusions", "notes")]
    words = "; ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in told)
    st.html(f"<p style='margin:0;overflow-wrap:anywhere'>How it was built: {escape(words)}.</p>")
