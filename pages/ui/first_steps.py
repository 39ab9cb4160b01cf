"""An empty store: what to do next, step by step, and what can be looked at right away."""

__all__ = ["show_first_steps"]

import streamlit as st

from pages.ui.links import DATA, ENDOCA

STEPS = (
    (
        "Import a manifest: images by name, questions, references",
        "EndoCA's manifests are public: [github.com/Luious-LYH/EndoCA-VQA](https://github.com/Luious-LYH/EndoCA-VQA). "
        "Suites of your own are built from "
        "[github.com/simula/Kvasir-VQA-x1](https://github.com/simula/Kvasir-VQA-x1) "
        "(data sets SimulaMet/Kvasir-VQA-x1 and SimulaMet/Kvasir-VQA).",
        ".venv/bin/python -m backend import endoca endoca_core.jsonl.gz",
    ),
    (
        "Import what VLMs answered",
        "A prediction file is the manifest's lines with `model_id` and `prediction`; several VLMs may share a file.",
        ".venv/bin/python -m backend import endoca predictions.jsonl",
    ),
    (
        "Attach the images, where you have them",
        "SimulaMet/Kvasir-VQA holds them. Everything but the picture itself works without.",
        ".venv/bin/python -m backend import endoca endoca_core.jsonl.gz --images FOLDER",
    ),
)
"""Title, where the data is to be had, and the command."""


def show_first_steps() -> None:
    """Draw the three steps."""
    st.subheader("The store is empty: three steps")
    for number, (title, words, command) in enumerate(STEPS, start=1):
        st.markdown(f"**{number}. {title}.** {words}")
        st.code(command, language="bash")
    st.caption(
        "All three can be done on the Data page. The command line opens the same store file, so stop the app first."
    )
    with st.container(horizontal=True):
        st.page_link(DATA, label="Open the Data page")
        st.page_link(ENDOCA, label="Look at the papers' printed tables on Paired answers")
