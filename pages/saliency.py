"""Did the verifier look?"""

from dataclasses import replace

import streamlit as st

from backend.figures.style import theme_of
from backend.services.audit import AuditedFigure
from backend.services.explore import run_names
from backend.services.grounding import any_look, grounding_counts, group_filter
from backend.services.verimap_cells import any_verification, verification_choices
from backend.store.verification_filters import BOTH
from backend.verimap.proxies import Proxy
from pages.ui.audit_note import show_audit_note
from pages.ui.endoca_words import quiet_line
from pages.ui.landing import land_at
from pages.ui.links import LIST
from pages.ui.resources import kept, the_store
from pages.ui.saliency_cases import show_pairs_behind, show_two_looks
from pages.ui.saliency_checks import show_pointing, show_tampered
from pages.ui.saliency_empty import show_no_looks
from pages.ui.saliency_page import asked_pairs, show_boxes, show_choices, show_differences, usual_pairs
from pages.ui.saliency_tables import overall_of, pairs_of, show_download, show_tests, tests_of
from pages.ui.saliency_words import (
    AS_PRINTED,
    boxes_caption,
    counts_sentence,
    failures_sentence,
    headline,
    ranks_caption,
)
from pages.ui.verification_list import show_verifications
from pages.ui.verimap_filters import (
    asked_verifications_or_stop,
    show_verification_filters,
    show_verification_sentence,
    verifications_counted,
)

with st.container(gap=None):
    st.title("Did the verifier look?")
    land_at(LIST)

theme = theme_of(st.context.theme.type)
if not kept(any_look):
    show_no_looks(any_verification=kept(any_verification))
    st.stop()
asked = asked_verifications_or_stop()

names = kept(run_names)
usual = usual_pairs()
chosen = asked_pairs(asked, usual)
listed = replace(chosen, looked=BOTH)
counts = kept(grounding_counts, chosen)
pairs = pairs_of(chosen)

st.text(headline(overall_of(chosen, Proxy.FRACTION), overall_of(chosen, Proxy.TIMES_EVEN)))
show_verification_filters(chosen, kept(verification_choices), whole=usual)
show_verification_sentence(chosen, names, verifications_counted(counts.n), whole=usual)
st.html(quiet_line(" ".join(filter(None, (counts_sentence(counts), failures_sentence(counts))))))
with st.container(horizontal=True, gap="small"):
    proxy, by = show_choices(chosen)

point, row = None, None
rows = tests_of(chosen, proxy, by)
if asked.looked:
    st.subheader("Cases", anchor=LIST)
    show_verifications(listed, key="cases")
if rows and rows[0]["n"]:
    point = show_boxes(chosen, proxy, by, theme)
    st.caption(boxes_caption(proxy, sorted({*pairs["generator"], *pairs["verifier"]})))
    st.subheader("How far apart, case by case", help="Generator minus verifier; zero: both gave the image as much")
    point = show_differences(chosen, proxy, by, theme) or point
    st.subheader("Is the gap more than chance?", help="Whether generators lie above verifiers, group by group")
    row = show_tests(rows, proxy, by)
    st.caption(ranks_caption(rows[0], by))
    show_download(pairs)
elif rows:
    st.text(f"{proxy.label}: N/A for all {len(pairs):,} pairs, because {proxy.undefined_when}.")
else:
    st.text("So there is nothing to compare here. Take a filter away, or clear them all.")
st.html(quiet_line(AS_PRINTED))
show_audit_note(AuditedFigure.VERIMAP_GROUNDING)

if not asked.looked:
    st.subheader("Cases", anchor=LIST)
    show_verifications(listed, key="cases")

if point is not None:
    show_two_looks(str(point[0]), str(point[1]), listed)
elif row is not None:
    show_pairs_behind(group_filter(chosen, by, row["group"]), names)

# Last, since frames are drawn again for it the first time: all the rest stands by then.
st.subheader("Can these maps be trusted?")
show_tampered(the_store(), chosen)
show_pointing(the_store(), theme)
