"""Answers that nobody verified: a list of verdicts holds none of them, so it says so, and how to have them verified."""

__all__ = ["show_unverified"]

import shlex
from collections.abc import Sequence
from html import escape

import streamlit as st

from backend.domain.records import Stage
from backend.services.explore import run_names
from backend.services.verimap_lists import UnverifiedRun
from pages.ui.import_report import plural
from pages.ui.links import CASE
from pages.ui.resources import kept, the_store
from pages.ui.run_command import PROGRAM, folder_name, store_option


def show_unverified(runs: Sequence[UnverifiedRun]) -> None:
    """Draw which runs nobody verified, the way to their answers, and the commands of a run that verifies them.

    Args:
        runs: From `backend.services.verimap_lists.unverified_runs`, at least one.
    """
    names = kept(run_names)
    for run in runs:
        st.html(f"Nobody verified the {plural(run.n_answers, 'answer')} of {escape(names[run.run_id])} yet.")
        st.page_link(CASE, label="Open its first answer as a case", query_params={"unit": run.first_unit})
        if run.stage == Stage.DIRECT:
            for command in _commands(run):
                st.code(command, language="bash", wrap_lines=True)
        else:
            st.text("Its verify run was not finished. Go on with it by its command and --resume, and import it again.")
    if any(run.stage == Stage.DIRECT for run in runs):
        st.caption(
            "VLM stands for the verifier, the same VLM or any other. Only one process can have the store open, so stop "
            "the app first."
        )


def _commands(run: UnverifiedRun) -> tuple[str, str]:
    where = store_option(the_store().path)
    folder = f"data/runs/verified.{folder_name(run.run_id)}"
    verify = ["verify", "run", "--suite", run.suite, "--generator", run.run_id, "--verifier", "VLM", "--out", folder]
    return f"{PROGRAM} {shlex.join([*verify, *where])}", f"{PROGRAM} {shlex.join(['import', 'run', folder, *where])}"
