"""What a click on the Saliency page opens: the two looks of one verification, or the verifications behind a row."""

__all__ = ["show_pairs_behind", "show_two_looks"]

from collections.abc import Mapping
from html import escape

import streamlit as st

from backend.errors import AppError
from backend.services.case_looks import example_looks
from backend.services.images import image_file
from backend.services.verimap_case_loading import load_verification_case
from backend.services.verimap_cases import CaseVerdict, VerificationCase
from backend.store.verification_filters import VerificationFilter, verification_count
from backend.verimap.conditions import Condition
from backend.verimap.feedback_loop import given_answer
from backend.verimap.outcomes import Policy
from backend.vlm.saliency.kept import KeptSaliency
from pages.ui.errors import show_error
from pages.ui.image_routes import image_url
from pages.ui.links import CASE, SALIENCY
from pages.ui.look_words import looked_sentence
from pages.ui.opened_list import show_opened
from pages.ui.resources import kept, the_store
from pages.ui.saliency_view import Pane, saliency_view
from pages.ui.verification_list import show_verifications
from pages.ui.verification_marks import answer_html, outcome_html, truth_html, verdict_html
from pages.ui.verification_table import STYLE
from pages.ui.verification_words import condition_words
from pages.ui.verimap_filters import task_words, verifications_counted


@st.dialog("Two looks at one image", width="large")
def show_two_looks(unit_id: str, run_id: str, listed: VerificationFilter) -> None:
    """Draw what the generator and the verifier of one verification attended to, over the page.

    Args:
        unit_id: The example.
        run_id: The verifier's run.
        listed: The list the case stands in.
    """
    store = the_store()
    try:
        case = load_verification_case(store, unit_id)
    except AppError as error:
        show_error(error)
        return
    verdict, looks = _verdict_of(case, run_id), _looks_of(unit_id, run_id)
    if verdict is None or looks is None:
        st.text("These looks are not in the store any more: another answer took the place of the one looked into.")
        return
    generator, verifier = looks
    st.html(STYLE)
    with st.container(horizontal=True, gap="small"):
        st.html(_said(case, verdict, listed.policy), width="stretch")
        st.page_link(CASE, label="Open its case", query_params={"unit": unit_id, **listed.to_query()})
    who = (verdict.verifier, verdict.generator)
    st.text(looked_sentence(("When judging", verifier), ("When answering", generator), who=who))
    panes = [
        Pane(f"Generator ({verdict.generator})", verdict.answer or generator.answer, generator),
        Pane(f"Verifier ({verdict.verifier})", given_answer(verdict.reply or ""), verifier),
    ]
    if verdict.condition.is_control:
        st.text("The verifier was shown another image, so its map is not drawn over this one.")
        del panes[1]
    image = case.image
    at_hand = bool(image.width and image.height and image_file(store, image.image_id))
    saliency_view(
        image_url(image.image_id) if at_hand else None,
        image.width,
        image.height,
        panes,
        label=image.file,
        key=f"looks_{run_id}_{unit_id}",
        height_px=300,
    )


@st.dialog("Cases", width="large")
def show_pairs_behind(behind: VerificationFilter, names: Mapping[str, str]) -> None:
    """Draw the list of verifications over the page.

    Args:
        behind: Which verifications.
        names: What to call a run in the sentence, by its id.
    """
    count = verifications_counted(kept(verification_count, behind))
    show_opened(behind, names, count, SALIENCY, stays=("proxy", "by"))
    st.caption("A case shows both looks side by side.")
    show_verifications(behind, key="behind", height=420)


def _said(case: VerificationCase, verdict: CaseVerdict, policy: Policy) -> str:
    """Return question, answer and verdict as HTML."""
    shown = "" if verdict.condition is Condition.PLAIN else f" ({condition_words(verdict.condition)})"
    what = task_words(case.task.value if case.task else None)
    return (
        '<section class="verified" style="border:none;padding:0">'
        f'<div><span class="role">question</span> {escape(case.question)} '
        f"<small>{escape(what)}; reference: {escape(case.reference or 'N/A')}</small></div>"
        f'<div class="answer"><span class="role">answered</span>{answer_html(verdict.answer)}'
        f"{truth_html(verdict.oracle_correct, verdict.oracle)}</div>"
        f'<div class="answer {"parts" if verdict.contradicts else ""}"><span class="role">judged{escape(shown)}</span>'
        f"{verdict_html(verdict)}{outcome_html(verdict, policy)}</div></section>"
    )


def _looks_of(unit_id: str, run_id: str) -> tuple[KeptSaliency, KeptSaliency] | None:
    """Return the generator's look and the verifier's; None where one of the two is not there."""
    found = example_looks(the_store(), unit_id)
    if found is None:
        return None
    generator, verifier = (found.looks.get(run) for run in (found.answered_in.get(run_id, ""), run_id))
    if generator is None or verifier is None or generator.kept is None or verifier.kept is None:
        return None
    return generator.kept, verifier.kept


def _verdict_of(case: VerificationCase, run_id: str) -> CaseVerdict | None:
    """Return the verdict of a run, on a first answer or in a loop."""
    for generator in case.generators:
        first = [verdict for answer in generator.answers for verdict in answer.verdicts]
        later = [verdict for loop in generator.loops for verdict in loop.steps]
        for verdict in (*first, *later):
            if verdict.run.run_id == run_id and verdict.place == 0:
                return verdict
    return None
