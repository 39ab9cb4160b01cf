"""Where the pages lie, and how one page leads to another.

Streamlit takes relative paths from the frame's own folder, so these are absolute.
"""

__all__ = [
    "ASR",
    "AUDIT",
    "CASE",
    "CUE_WORKSHOP",
    "DATA",
    "ENDOCA",
    "LIST",
    "LIVE",
    "LOOP",
    "OVERVIEW",
    "RUNS",
    "SALIENCY",
    "SURGCHECK",
    "VERIMAP",
    "address_of",
    "case_query",
    "open_page",
    "write_link",
]

from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from backend.store.filters import UnitFilter

_PAGES = Path(__file__).resolve().parent.parent

OVERVIEW = _PAGES / "overview.py"
ENDOCA = _PAGES / "endoca.py"
ASR = _PAGES / "asr.py"
CASE = _PAGES / "case.py"
RUNS = _PAGES / "runs.py"
LIVE = _PAGES / "live.py"
DATA = _PAGES / "data.py"
SURGCHECK = _PAGES / "surgcheck.py"
CUE_WORKSHOP = _PAGES / "cue_workshop.py"
VERIMAP = _PAGES / "verimap.py"
LOOP = _PAGES / "loop.py"
SALIENCY = _PAGES / "saliency.py"
AUDIT = _PAGES / "audit.py"

LIST = "cases"
"""The anchor of the list on Paired answers."""

GO = """
  history.pushState({}, "", new URL(address, window.location.href))
  window.dispatchEvent(new PopStateEvent("popstate"))
"""
"""JavaScript that goes to ``address`` as the browser's Forward would: one entry of its history."""

JS = f"""
export default function ({{ data, parentElement }}) {{
  const mark = parentElement.querySelector("i")
  if (mark.dataset.gone) return
  mark.dataset.gone = "yes"
  const address = data.address
  {GO}
}}
"""

mount = st.components.v2.component("parallax_open", html="<i></i>", js=JS)


def case_query(unit_id: str, chosen: UnitFilter) -> dict[str, str]:
    """Return the link parameters of a case inside the list a filter chooses."""
    return {"unit": unit_id, **chosen.to_query()}


def address_of(page: Path, query: Mapping[str, str], place: str = "") -> str:
    """Return a page's address, relative to that of any page.

    Args:
        page: One of the pages of this module.
        query: The link's parameters.
        place: The anchor of a heading to land at; empty is the top.
    """
    path = "./" if page == OVERVIEW else page.stem
    return path + (f"?{urlencode(query)}" if query else "") + (f"#{place}" if place else "")


def write_link(own: Collection[str], parts: Mapping[str, str]) -> None:
    """Write parameters into the page's link, in one step of the browser's history; those of others stay.

    Args:
        own: All that may be written here; those without a part are taken out.
        parts: The parameters.
    """
    others = {name: value for name, value in st.query_params.to_dict().items() if name not in own}
    st.query_params.from_dict({**others, **parts})


def open_page(page: Path, query: Mapping[str, str], place: str = "") -> None:
    """Open a page, as one step of the browser's history.

    `st.switch_page` with parameters makes two: it writes the parameters to the address of the page
    left behind before it turns to the new one, and Back then stops at a page nobody saw.

    Args:
        page: One of the pages of this module.
        query: The link's parameters.
        place: The anchor of a heading to land at; empty is the top.
    """
    address = address_of(page, query, place)
    mount(key=f"open_{address}", data={"address": address}, height=1)
