"""One shared part a page, chosen by ``?show=``."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from PIL import Image

from backend.errors import AppError
from pages.ui.copy import copy_button
from pages.ui.saliency_view import saliency_view
from pages.ui.viewer import Arrow, Box, image_viewer
from tests.browser.apps.made_looks import PANES

FRAME_CSS = Path(__file__).resolve().parents[3] / "pages/ui/static/frame.css"


def heatmap_png() -> bytes:
    """Return an 8 × 5 map, transparent at the left and blue at the right."""
    grid = np.zeros((5, 8, 4), dtype=np.uint8)
    grid[..., 2] = 255
    grid[..., 3] = np.linspace(0, 255, 8).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(grid, "RGBA").save(buffer, "PNG")
    return buffer.getvalue()


st.set_page_config(layout="wide")
st.html(FRAME_CSS)
match st.query_params.get("show"):
    case "viewer":
        image_viewer(
            "/img/drawn",
            640,
            400,
            boxes=[Box(200, 90, 140, 120, "<b>polyp</b>")],
            arrows=[Arrow(500, 60, 350, 140, "here")],
            heatmap_png=heatmap_png(),
            label="Drawn frame",
            key="viewer",
            height_px=500,
        )
        if st.button("Run the script again"):
            st.text("The script has run again.")
    case "saliency":
        st.session_state["runs"] = st.session_state.get("runs", 0) + 1
        st.text(f"Run {st.session_state['runs']}")
        panes = PANES[st.query_params.get("panes", "two")]
        name = st.query_params.get("image", "drawn")
        url = None if name == "none" else f"/img/{name}"
        saliency_view(url, 640, 40 if name == "long" else 400, panes, label="Drawn frame", key="saliency")
        st.button("Run the script again")
    case "missing":
        image_viewer("/img/missing", 640, 400, label="Missing frame", key="viewer")
    case "other size":
        image_viewer("/img/drawn", 1280, 800, label="Other frame", key="viewer")
    case "app error":
        raise AppError("The store is in use by process 4711.", "Close the other program, then reload this page.")
    case "bug":
        raise ValueError("an index nobody expected")
    case "copy":
        copy_button("Copy link", key="copy")
    case "charts":
        values = np.linspace(0, 1, 50, dtype=np.float32)
        for trace in (
            go.Scatter(x=values, y=values**2),
            go.Scattergl(x=values, y=values**2, mode="markers"),
            go.Scatterpolar(r=values, theta=values * 360),
            go.Heatmap(z=np.outer(values, values)),
            go.Bar(x=["a", "b"], y=[1, 2]),
            go.Sankey(node={"label": ["a", "b"]}, link={"source": [0], "target": [1], "value": [1]}),
        ):
            st.plotly_chart(go.Figure(trace), key=type(trace).__name__, height=220)
        st.dataframe(pd.DataFrame({"answer": ["yes", "no"], "n": [1, 2]}))
        st.download_button("Download", "text", "answers.txt")
        st.file_uploader("Prediction file")
