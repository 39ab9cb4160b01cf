"""Do the printed claims follow from the printed numbers?"""

import streamlit as st

from backend.figures.style import theme_of
from backend.services.audit import findings
from pages.ui.audit_card import STYLE, show_finding
from pages.ui.audit_words import PAPERS, VERDICTS, counted_sentence, in_reading_order
from pages.ui.filters import link_choice
from pages.ui.landing import land_at
from pages.ui.resources import kept

with st.container(gap=None):
    st.title("Do the printed claims follow from the printed numbers?")
    found = kept(findings)
    land_at(*(finding.key for finding in found))

st.text(counted_sentence(found))
with st.container(horizontal=True, gap="medium"):
    paper = PAPERS[link_choice("paper", "Paper", tuple(PAPERS))]
    verdict = VERDICTS[link_choice("verdict", "Verdict", tuple(VERDICTS))]
shown = [
    finding
    for finding in found
    if (paper is None or finding.paper is paper) and (verdict is None or finding.verdict is verdict)
]
st.caption(
    "Printed numbers are the papers'; recomputed ones are made by code, from the printed tables or from suites in this "
    "store, whenever the store changes."
)
if not shown:
    st.text("No claim fits this choice.")
st.html(STYLE)
theme = theme_of(st.context.theme.type)
for finding in in_reading_order(shown):
    show_finding(finding, theme)
