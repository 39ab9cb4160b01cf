"""The VLM in the box on the overview: what it is, how it was trained, and how to do both again."""

__all__ = ["show_box_vlm"]

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from backend.domain.records import Stage
from backend.errors import AppError
from backend.figures.learning_curves import learning_curves
from backend.figures.style import theme_of
from backend.services.demo import shipped
from backend.services.demo.box_training import BoxTraining, box_training
from pages.ui.contradictions import contradiction_links
from pages.ui.resources import drawn_once

if TYPE_CHECKING:
    import pandas as pd

WHAT = (
    "A small VLM of our own, trained from scratch on drawn frames alone, so that every answer in the built-in data set "
    "is one that a real VLM really gave. It learned the prompts of the three systems about such frames: complex and "
    "atomic questions, verification, revision, selection, and surgical questions with and without a cue. **It is no "
    "medical VLM**: about a real image, or asked anything else, it answers nonsense."
)

HOW_MEASURED = (
    "Measured on validation frames, which nothing is learned from. A reply counts as right only where it is the "
    "reference word for word, which is stricter than the scorer. The loss of one stage is not "
    "comparable with that of another, since each weighs its lessons in its own way."
)

REPORT = ".venv/bin/python -m backend demo report"


def show_box_vlm(runs: "pd.DataFrame") -> None:
    """Draw the section; nothing where no learning curves lie beside the weights.

    Args:
        runs: The store's runs, as `backend.services.headlines.Headlines` has them.
    """
    try:
        training = box_training(shipped.VLM)
    except AppError as error:
        st.subheader("The VLM in the box")
        st.text(f"{error.message} {error.hint}")
        return
    if training is None:
        return
    st.subheader("The VLM in the box")
    st.markdown(WHAT)
    own = runs[
        (runs["vlm_group"] == "demo") & (runs["suite"] == shipped.DEMO_SUITE) & (runs["stage"] == Stage.DIRECT.value)
    ]
    if len(own):
        contradiction_links(shipped.DEMO_SUITE, str(own["run_id"].iloc[0]))
    theme = theme_of(st.context.theme.type)
    st.plotly_chart(
        drawn_once(
            "learning curves",
            (training.seconds, tuple(training.losses["loss"]), theme.name),
            lambda: learning_curves(training.accuracy, training.losses, theme),
        ),
        theme=None,
        key="learning_curves",
        config={"displayModeBar": False, "scrollZoom": False},
        alt="Learning curves of the VLM in the box",
    )
    st.caption(HOW_MEASURED)
    st.html(_facts(training))
    left, right = st.columns(2)
    with left:
        st.caption("It is trained again by this command, 75 minutes at a time; with --resume it goes on:")
        st.code(f".venv/bin/{training.command}", language="bash")
    with right:
        st.caption("What it reached on the held-out frames, recomputed from its stored answers:")
        st.code(REPORT, language="bash")


def _facts(training: BoxTraining) -> str:
    cores = "1 processor core" if training.threads == 1 else f"{training.threads:,} processor cores"
    words = (
        f"{training.steps:,} steps in {training.seconds / 60:,.0f} minutes on {cores}, seed {training.seed}. "
        f"Prompt versions: {', '.join(training.prompt_versions)}."
    )
    return f'<p style="margin:0">{escape(words)}</p>'
