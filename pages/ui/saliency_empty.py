"""The Saliency page of a store in which nobody looked: how to look, and what the paper prints."""

__all__ = ["saliency_commands", "show_no_looks"]

import shlex
from pathlib import Path

import streamlit as st

from backend.services.audit import AuditedFigure
from pages.ui.audit_note import show_audit_note
from pages.ui.links import DATA, LIVE
from pages.ui.resources import the_store
from pages.ui.run_command import PROGRAM, store_option
from pages.ui.saliency_words import AS_PRINTED


def show_no_looks(*, any_verification: bool) -> None:
    """Draw what to do.

    Args:
        any_verification: Whether the store holds verifications, of which nobody looked into either side.
    """
    st.text(
        "The store holds verifications, and nobody has looked yet at what the VLMs attended to."
        if any_verification
        else "The store holds no verification, so there is nothing to look into yet."
    )
    *first, look, take = saliency_commands(the_store().path)
    with st.container(border=True):
        if not any_verification:
            st.text("Let a VLM verify answers and take its verdicts in, or take in the built-in data, which has looks:")
            for command in first:
                st.code(command, language="bash", wrap_lines=True)
        st.text("Look into answers and verdicts of a stored run, and take the looks into the store:")
        for command in (look, take):
            st.code(command, language="bash", wrap_lines=True)
        st.caption(
            "VLM and DATASET stand for names that are to be chosen; the page Runs lists them. A VLM can be looked into "
            "that runs on this machine; one behind an address cannot. Only one process can have the store open, so "
            "stop the app first."
        )
        with st.container(horizontal=True):
            st.page_link(LIVE, label="Look into one verification on the Live page", query_params={"system": "verimap"})
            st.page_link(DATA, label="Open the Data page")
    st.caption(AS_PRINTED)
    show_audit_note(AuditedFigure.VERIMAP_GROUNDING)


def saliency_commands(store: Path) -> tuple[str, ...]:
    """Return the command lines that bring verifications into the store, and last those that bring in looks at them."""
    verified, looked = "data/runs/VLM.DATASET.verify", "data/runs/VLM.DATASET.saliency"
    where = store_option(store)
    whose = ["--suite", "DATASET", "--generator", "VLM", "--verifier", "VLM"]
    lines = (
        ["verify", "run", *whose, "--out", verified, *where],
        ["import", "run", verified, *where],
        ["demo", *where],
        ["saliency", "run", *whose, "--out", looked, *where],
        ["import", "run", looked, *where],
    )
    return tuple(f"{PROGRAM} {shlex.join(line)}" for line in lines)
