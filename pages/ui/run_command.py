"""The commands by which a VLM answers a suite, and its answers come into the store."""

__all__ = ["PROGRAM", "folder_name", "run_commands", "show_commands", "store_option"]

import re
import shlex
from pathlib import Path

import streamlit as st

from backend.services.runs.plan import ASKINGS
from backend.settings import SETTINGS
from backend.store.queries import suite_table
from pages.ui.links import DATA
from pages.ui.resources import kept, the_store
from pages.ui.vlm_picker import vlm_picker

PROGRAM = ".venv/bin/python -m backend"

_DEFAULT_STORE = {known.name: known.default for known in SETTINGS}["PARALLAX_STORE"]


def show_commands() -> None:
    """Draw the choice of a suite and a VLM, and the commands for the two."""
    table = kept(suite_table)
    asked = table[table["system"].isin([system.value for system in ASKINGS]) & (table["n_units"] > 0)]
    suites = list(asked["suite"])
    left, right = st.columns([1, 3], gap="medium")
    with left:
        suite = st.selectbox("Suite", suites, key="command_suite", disabled=not suites, placeholder="none in the store")
        if not suites:
            st.page_link(DATA, label="Import a suite on the Data page")
    with right:
        entry = vlm_picker("vlm")
    for command in run_commands(entry.name if entry else None, suite, the_store().path):
        st.code(command, language="bash", wrap_lines=True)
    unknown = "VLM and SUITE stand for names that are to be chosen. " if entry is None or suite is None else ""
    st.caption(
        f"{unknown}Batch runs are made on the command line, in Parallax's folder. Only one process can have the store "
        "open, so stop the app first; once the first command asks, the app may run again until the second. A run "
        "that was stopped or killed goes on with --resume; --dry-run only shows what would be asked."
    )


def run_commands(vlm: str | None, suite: str | None, store: Path) -> tuple[str, str]:
    """Return the command lines of a batch run into a run folder, and of that folder's import into the store.

    Args:
        vlm: The VLM's name; None is written VLM.
        suite: The suite's name; None is written SUITE.
        store: The store's file, named where it is not the default one.
    """
    folder = f"data/runs/{folder_name(vlm or 'VLM')}.{folder_name(suite or 'SUITE')}"
    where = store_option(store)
    predict = ["predict", "--model", vlm or "VLM", "--suite", suite or "SUITE", "--out", folder, *where]
    return f"{PROGRAM} {shlex.join(predict)}", f"{PROGRAM} {shlex.join(['import', 'run', folder, *where])}"


def store_option(store: Path) -> list[str]:
    """Return the option that names a store's file; nothing for the default one."""
    return [] if str(store) == _DEFAULT_STORE else ["--store", str(store)]


def folder_name(name: str) -> str:
    """Return a name as a folder can have it without quotes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"
