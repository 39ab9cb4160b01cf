"""Where can a verifier be trusted?"""

from dataclasses import replace

import streamlit as st

from backend.errors import AppError
from backend.figures.style import theme_of
from backend.services.audit import AuditedFigure
from backend.services.endoca_series import records
from backend.services.explore import run_names
from backend.services.verimap_cells import any_verification, placed, verification_choices, verifier_places
from backend.services.verimap_plane import PLANE_SOURCE
from backend.store.verification_filters import BOTH, VerificationFilter, verification_count
from pages.ui.audit_note import show_audit_note
from pages.ui.endoca_words import quiet_line
from pages.ui.errors import show_error
from pages.ui.landing import land_at
from pages.ui.links import LIST
from pages.ui.resources import kept
from pages.ui.verification_list import show_verifications
from pages.ui.verimap_cases import cases_behind, show_printed_point, show_verdicts_behind
from pages.ui.verimap_controls import show_controls
from pages.ui.verimap_coupling import show_coupling
from pages.ui.verimap_empty import show_printed_plane
from pages.ui.verimap_filters import (
    asked_verifications,
    show_verification_filters,
    show_verification_sentence,
    verifications_counted,
)
from pages.ui.verimap_plane import PRINTED_ALONE, STORE_ALONE, show_panels, show_plane_choices
from pages.ui.verimap_scores import show_cells
from pages.ui.verimap_tables import cells_of, has_self, of_figures, printed_of, usual_part
from pages.ui.verimap_thresholds import (
    OWN_PARAMETERS,
    asked_quadrants,
    asked_thresholds,
    in_quadrants,
    show_counting,
    show_quadrants,
    show_thresholds,
)
from pages.ui.verimap_verifiers import show_crossings, show_matrix, show_relatives
from pages.ui.verimap_words import counting_sentence, headline, mean_words, printed_headline, quadrant_sentence

with st.container(gap=None):
    st.title("Where can a verifier be trusted?")
    land_at(LIST)

OPENS = (
    "A point opens its verdicts, false acceptances first. Of points on top of each other only the upper one can be "
    "clicked; the table opens all."
)

theme = theme_of(st.context.theme.type)
try:
    asked, thresholds = asked_verifications(), asked_thresholds()
    quadrants, quadrant_axis = asked_quadrants()
except AppError as error:
    show_error(error)
    st.button("Show everything", on_click=st.query_params.clear)
    st.stop()
if not kept(any_verification):
    show_printed_plane(thresholds, theme)
    st.stop()

choices = kept(verification_choices)
places = kept(verifier_places)
names = kept(run_names)
whole = VerificationFilter(pairing="self" if has_self() else BOTH, turns=(0,) if 0 in choices.turns else ())
usual = usual_part(asked, whole)
chosen = replace(asked, pairing=asked.pairing or usual.pairing, turns=asked.turns or usual.turns)

every = placed(cells_of(chosen), thresholds)
cells = in_quadrants(every, quadrants, quadrant_axis)
rows = records(cells)
head = st.empty()


def show_own_chips() -> None:
    """Draw the controls that other pages of verifications do not have."""
    show_quadrants(quadrants, quadrant_axis)
    show_thresholds(thresholds)
    show_counting(chosen)


show_verification_filters(chosen, choices, whole=whole, more=show_own_chips)
counted = verifications_counted(kept(verification_count, chosen))
show_verification_sentence(chosen, names, counted, whole=whole, more=OWN_PARAMETERS)
if quadrants:
    st.caption(quadrant_sentence(quadrants, quadrant_axis, len(cells), len(every)))
with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
    shown, by = show_plane_choices(chosen, crossed=has_self() and len({*choices.generators, *choices.verifiers}) > 1)
every_printed = placed(printed_of(chosen), thresholds)
printed = in_quadrants(every_printed, quadrants, quadrant_axis)
if shown == STORE_ALONE:
    printed = printed.iloc[:0]
drawn = cells.iloc[:0] if shown == PRINTED_ALONE else cells
head.text(
    printed_headline(records(every_printed), thresholds)
    if shown == PRINTED_ALONE
    else headline(records(every), thresholds)
)

if chosen != of_figures(chosen):
    st.subheader("Cases", anchor=LIST)
    st.caption("Conditions on outcomes, fates and words choose cases only. Figures keep all verdicts.")
    show_verifications(chosen, key="cases")

made_of = (of_figures(chosen), thresholds, quadrants, quadrant_axis)
point = show_panels(drawn, printed, thresholds, places, theme, by=by, made_of=(*made_of, shown))
told = [chosen.policy.sentence, counting_sentence(rows)]
if shown != STORE_ALONE:
    told += [f"Printed: {PLANE_SOURCE}.", mean_words(records(printed))]
    if not len(printed):
        told.append("Printed points are means over data sets, of self-verification; they do not fit these filters.")
st.html(quiet_line(" ".join(filter(None, [*told, OPENS]))))
if shown != STORE_ALONE:
    show_audit_note(AuditedFigure.VERIMAP_PLANE)

st.subheader("All cells", help="One row a verifier, generator, task and data set; nothing is pooled")
cell = show_cells(rows, theme, made_of) if rows else None
if rows:
    show_audit_note(AuditedFigure.VERIMAP_ROUTING)
else:
    st.text("No cell fits these filters. Take one of them away, or clear them all.")

behind = None
st.subheader("Does another verifier do better?", help="The same answers, verified by their own VLM and by others")
behind = show_crossings(chosen, theme)
if len(choices.generators) > 1 or len(choices.verifiers) > 1:
    st.subheader("Who verifies whom", anchor="matrix")
    behind = show_matrix(chosen, theme) or behind
behind = show_relatives(chosen, theme) or behind
behind = show_controls(chosen, choices.conditions, theme) or behind

if chosen == of_figures(chosen):
    st.subheader("Cases", anchor=LIST)
    show_verifications(chosen, key="cases")

by_key = {row["key"]: row for row in [*rows, *records(printed)]}
if point is not None:
    row = by_key[point[0]]
    if "run_id" in row:
        show_verdicts_behind(cases_behind(row, chosen, rows), names)
    else:
        show_printed_point(row)
elif cell is not None:
    show_verdicts_behind(cases_behind(cell[0], chosen, rows), names, cell[1])
elif behind is not None:
    show_verdicts_behind(behind, names)

behind = show_coupling(chosen, theme)
if behind is not None:
    show_verdicts_behind(behind, names)
