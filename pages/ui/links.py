"""Where the pages lie, for `st.switch_page` and `st.page_link`.

Streamlit takes relative paths from the frame's own folder, so these are absolute.
"""

__all__ = ["CASE", "DATA", "ENDOCA", "OVERVIEW", "case_query"]

from pathlib import Path

from backend.store.filters import UnitFilter

_PAGES = Path(__file__).resolve().parent.parent

OVERVIEW = _PAGES / "overview.py"
ENDOCA = _PAGES / "endoca.py"
CASE = _PAGES / "case.py"
DATA = _PAGES / "data.py"


def case_query(unit_id: str, chosen: UnitFilter) -> dict[str, str]:
    """Return the link parameters of a case inside the list a filter chooses."""
    return {"unit": unit_id, **chosen.to_query()}
