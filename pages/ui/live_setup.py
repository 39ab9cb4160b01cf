"""What to ask live: an image, a complex question and its parts, and who is asked.

The link holds the case (``?unit=``) or the image (``?image=``). What is typed stays while the image or
the VLM is changed, and when something goes wrong.
"""

__all__ = ["show_setup"]

import streamlit as st

from backend.domain.records import LIVE_SUITE
from backend.endoca.asr import Variant
from backend.endoca.question_templates import propose_atomic_questions
from backend.endoca.typed_questions import MAX_QUESTION
from backend.errors import AppError
from backend.services.cases import Case, CaseImage, load_case
from backend.services.live_units import example_units, live_unit
from backend.store.store import Store
from pages.ui.errors import show_error
from pages.ui.live_start import choose_vlm, start_live
from pages.ui.live_subject import choose_or_show
from pages.ui.untrained import note_untrained
from pages.ui.vlm_picker import NO_VLM

MAX_PARTS = 10 * MAX_QUESTION
"""Characters of all parts together."""

QUESTION, ATOMIC, REFERENCE = "live_question", "live_atomic", "live_reference"
"""Session state: what is typed."""

NOTHING_PROPOSED = "live_nothing_proposed"
"""Session state: whether the last press proposed nothing."""

FILLED_FROM = "live_filled_from"
"""Session state: the case whose questions were put into the fields last."""

WHAT = (
    "A VLM is asked the whole question and each of its parts, is told its own answers to the parts, and is asked "
    "again; then it decides whether to give its answer (Atomic-Support Reconciliation, ASR)."
)


def show_setup(store: Store) -> None:
    """Draw the choice of what to ask about, or, where the link holds that, what to ask and whom."""
    st.text(WHAT)
    choose_or_show(
        store,
        load_case,
        _ask,
        examples=example_units,
        others="Choose another case; its page leads back here",
        none="No case in the store has its image at hand.",
        bring="Import a suite, or attach images, on the Data page",
        upload="live_upload",
    )


def _fill(case: Case | None) -> None:
    """Put a case's questions into the fields, once; without a case, what is typed stays."""
    state = st.session_state
    if case is not None and (state.get(FILLED_FROM) != case.unit_id or QUESTION not in state):
        lead, *parts = case.questions
        state[QUESTION] = lead.question
        state[ATOMIC] = "\n".join(" ".join(part.question.split()) for part in parts)
        state[REFERENCE] = lead.reference if case.suite == LIVE_SUITE else ""
        for at, part in enumerate(parts):
            state[f"{REFERENCE}_{at}"] = part.reference if case.suite == LIVE_SUITE else ""
        state[FILLED_FROM] = case.unit_id


def _ask(store: Store, case: Case | None, image: CaseImage) -> None:
    """Draw the questions, who is asked, and the button that starts."""
    _fill(case)
    typed = st.text_area("Complex question", key=QUESTION, height=68, max_chars=MAX_QUESTION, persist_state="page")
    question = " ".join(str(typed or "").split())
    st.button("Propose its parts", key="propose", disabled=not question, on_click=_propose)
    if st.session_state.pop(NOTHING_PROPOSED, False):
        st.caption("Nothing is proposed: the question names nothing that Kvasir-VQA asks about. Write its parts.")
    typed = st.text_area(
        "Its parts, one question a line", key=ATOMIC, height=110, max_chars=MAX_PARTS, persist_state="page"
    )
    atomic = [" ".join(line.split()) for line in str(typed or "").splitlines() if line.strip()]
    is_own = case is None or case.suite == LIVE_SUITE or not _are_those_of(case, question, atomic)
    references = _references(atomic) if is_own else None
    chosen = choose_vlm()
    if chosen is not None:
        note_untrained([chosen.entry], [question, *(atomic if chosen.variant is Variant.ASR else [])])
    missing = _missing(question, atomic, has_vlm=chosen is not None)
    if st.button("Run ASR", type="primary", disabled=bool(missing), key="run_asr") and chosen is not None:
        try:
            if references is None and case is not None:
                unit_id = case.unit_id
            else:
                reference, *parts = references or [""]
                unit_id = live_unit(store, image.image_id, question, atomic, reference, parts)
            start_live(store, unit_id, chosen)
        except AppError as error:
            show_error(error)
    if missing:
        st.caption(missing)


def _propose() -> None:
    """Put the parts that the complex question seems to ask about into their field; leave it where there are none."""
    proposed = propose_atomic_questions(str(st.session_state[QUESTION] or ""))
    if proposed:
        st.session_state[ATOMIC] = "\n".join(one.question for one in proposed)
    else:
        st.session_state[NOTHING_PROPOSED] = True


def _references(atomic: list[str]) -> list[str]:
    """Draw the fields of the references and return what stands in them, the complex question's first."""
    with st.expander("References, where you know them"):
        st.caption(
            "The VLM never sees them. Afterwards each answer is judged by them; the whole answer needs those of all "
            "its parts."
        )
        whole = st.text_input("Of the complex question", key=REFERENCE, persist_state="page")
        parts = [
            st.text_input(f"Of part {at + 1}", key=f"{REFERENCE}_{at}", persist_state="page")
            for at in range(len(atomic))
        ]
    return [str(text or "") for text in (whole, *parts)]


def _are_those_of(case: Case, question: str, atomic: list[str]) -> bool:
    """Return whether what is typed is what the case asks, spaces aside."""
    typed = [" ".join(text.split()) for text in (question, *atomic)]
    return typed == [" ".join(asked.question.split()) for asked in case.questions]


def _missing(question: str, atomic: list[str], *, has_vlm: bool) -> str:
    """Return what is still missing before anything can be asked; empty where nothing is."""
    if not question:
        return "A complex question is missing."
    if not atomic:
        return "At least one part is missing: the whole answer is held against its parts."
    return "" if has_vlm else NO_VLM
