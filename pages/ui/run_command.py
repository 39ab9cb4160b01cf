"""The commands by which a VLM answers a suite, and its answers come into the store."""

__all__ = ["run_commands", "show_commands"]

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
    store = the_store()
    st.code(
        run_commands(entry.name if entry else None, suite, store.path),
        language="bash",
        wrap_lines=True,
    )
    unknown = "VLM and SUITE stand for names that are to be chosen. " if entry is None or suite is None else ""
    st.caption(
        f"{unknown}Run them in Parallax's folder. Stopped or killed, the first command with --resume goes on where it "
        "was; with --dry-run it only shows what would be asked. Both commands open this store file, which only one "
        "process can have open: stop the app before them. The first needs it no longer once it asks."
    )


def run_commands(vlm: str | None, suite: str | None, store: Path) -> str:
    """Return two command lines: the batch run into a run folder, and the folder into the store.

    Args:
        vlm: The VLM's name; None is written VLM.
        suite: The suite's name; None is written SUITE.
        store: The store's file, named where it is not the default one.
    """
    folder = f"data/runs/{_plain(vlm or 'VLM')}.{_plain(suite or 'SUITE')}"
    where = [] if str(store) == _DEFAULT_STORE else ["--store", str(store)]
    predict = ["predict", "--model", vlm or "VLM", "--suite", suite or "SUITE", "--out", folder]
    commands = (predict, ["import", "run", folder])
    return "\n".join(f"{PROGRAM} {shlex.join([*command, *where])}" for command in commands)


def _plain(name: str) -> str:
    """Return a name as a folder can have it without quotes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"
