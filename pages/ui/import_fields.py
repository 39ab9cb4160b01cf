"""Fields that the import forms share, so that all look like one hand. What was typed stays as long as the page."""

__all__ = [
    "choose_form",
    "group_field",
    "lenient_field",
    "setting_field",
    "suite_field",
    "suite_names",
    "vlm_field",
]

from collections.abc import Sequence

import streamlit as st

from backend.figures.style import GROUP_LABELS
from backend.store import queries
from pages.ui.resources import kept

BY_NAME = "as the paper groups it, if it does"
AS_SAID = "as rows or file names say"
NO_SETTING = "none"


def choose_form(forms: Sequence[str], *, key: str) -> str:
    """Draw the choice between the forms of one system, and return it."""
    return st.segmented_control(
        "What to bring in", list(forms), default=forms[0], required=True, key=key, label_visibility="collapsed",
        persist_state="page",
    )  # fmt: skip


def suite_field(system: str, *, key: str, placeholder: str, help: str) -> str | None:
    """Draw the choice of a stored suite or a new name; None: none was named."""
    return _name_field("Suite", suite_names(system), key, placeholder, help)


def suite_names(system: str) -> list[str]:
    """Return the names of a system's stored suites."""
    suites = kept(queries.suite_table)
    return list(suites.loc[suites["system"] == system, "suite"])


def vlm_field(*, key: str, placeholder: str, help: str) -> str | None:
    """Draw the choice of a VLM whose answers are stored, or a new name; None: none was named."""
    return _name_field("VLM", sorted(kept(queries.run_table)["vlm"].unique()), key, placeholder, help)


def _name_field(label: str, names: list[str], key: str, placeholder: str, help: str) -> str | None:
    chosen: str | None = st.selectbox(
        label, names, index=None, key=key, placeholder=placeholder, help=help, accept_new_options=True,
        persist_state="page",
    )  # fmt: skip
    return (chosen or "").strip() or None


def setting_field(*, key: str) -> str | None:
    """Draw how the VLM was set; None: what rows and names say; empty: nothing."""
    said: dict[str, str | None] = {AS_SAID: None, "zero-shot": "zero-shot", "fine-tuned": "fine-tuned", NO_SETTING: ""}
    chosen = st.selectbox(
        "Setting", list(said), key=key, persist_state="page",
        help="Runs of one VLM with different settings stay apart. A file's name says it with zero-shot, frozen, "
        "fine-tuned or lora.",
    )  # fmt: skip
    return said[chosen]


def group_field(label: str, *, key: str) -> str | None:
    """Draw the choice of a group of VLMs; None: as the paper groups it."""
    chosen = st.selectbox(
        label, ["", *GROUP_LABELS], format_func=lambda group: GROUP_LABELS.get(group, BY_NAME), key=key,
        help="Decides the shape of their marks in figures.", persist_state="page",
    )  # fmt: skip
    return chosen or None


def lenient_field(*, key: str) -> bool:
    """Draw whether bad lines are passed over."""
    return st.checkbox(
        "Skip bad lines", key=key, persist_state="page",
        help="Import the good lines and list the bad ones. Without it a bad line stops the whole import.",
    )  # fmt: skip
