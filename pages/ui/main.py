"""The frame around every page: navigation, the store in the sidebar, the line at the bottom.

To add a page, add its line to ``PAGES``. Paths are absolute and the file of this frame
lies away from ``pages/``: beside it, Streamlit would take the first deep link after a
start for a page of its own and draw it without the frame.
"""

from pathlib import Path

import streamlit as st

from backend.services.explore import store_summary
from pages.ui import disclaimer, sidebar
from pages.ui.job_view import note_jobs, show_work
from pages.ui.resources import the_store

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"

SIDEBAR_WIDTH = 232
"""In pixels; a person can drag it wider."""

PAGES = (
    # group, title, file
    ("", "Overview", "overview.py"),
    ("EndoCA", "Paired answers", "endoca.py"),
    ("EndoCA", "ASR", "asr.py"),
    ("SurgCheck", "Shortcuts", "surgcheck.py"),
    ("SurgCheck", "Cue workshop", "cue_workshop.py"),
    ("VeriMap", "Mirage plane", "verimap.py"),
    ("VeriMap", "Feedback loop", "loop.py"),
    ("VeriMap", "Saliency", "saliency.py"),
    ("Cases and data", "Case", "case.py"),
    ("Cases and data", "Live", "live.py"),
    ("Cases and data", "Runs", "runs.py"),
    ("Cases and data", "Data", "data.py"),
    ("Cases and data", "Audit", "audit.py"),
)

SHOWING_JOBS = ("Overview", "Data")
"""Pages that show jobs in a place of their own."""

navigation: dict[str, list[st.Page]] = {}
for group, title, file in PAGES:
    path = FOLDER.parent / file
    navigation.setdefault(group, []).append(
        st.Page(path, title=title, url_path=path.stem, default=file == "overview.py")
    )
page = st.navigation(navigation, expanded=True)

st.set_page_config(
    page_title=f"{page.title} · Parallax",
    page_icon=str(STATIC / "icon.png"),
    layout="wide",
    initial_sidebar_state=SIDEBAR_WIDTH,
    menu_items={"About": disclaimer.ABOUT},
)
st.html(STATIC / "frame.css")
st.logo(str(STATIC / "logo.svg"), size="large", icon_image=str(STATIC / "icon.png"))
disclaimer.show_line()
note_jobs(the_store())
sidebar.show_store(*store_summary(the_store()))

if disclaimer.is_acknowledged():
    if page.title not in SHOWING_JOBS:
        show_work(the_store())
    page.run()
else:
    disclaimer.ask()
