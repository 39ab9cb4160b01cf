"""What to verify live: an image, a question, an answer of one's own or a VLM's, and who judges.

The link holds the example (``?unit=``) or the image (``?image=``). What is typed stays while the image or a VLM is
changed, and when something goes wrong.
"""

__all__ = ["show_verify_setup"]

import streamlit as st

from backend.domain.records import LIVE_EXAMPLES
from backend.endoca.typed_questions import MAX_QUESTION
from backend.errors import AppError
from backend.services.cases import CaseImage
from backend.services.live_examples import examples_to_begin_with, live_example
from backend.services.verimap_case_loading import load_verification_case
from backend.services.verimap_cases import VerificationCase
from backend.store.store import Store
from pages.ui.errors import show_error
from pages.ui.live_subject import choose_or_show
from pages.ui.plain import plain
from pages.ui.untrained import note_untrained
from pages.ui.verify_start import choose_verification, start_verification
from pages.ui.vlm_picker import NO_VLM

QUESTION, ANSWER, REFERENCE = "verify_question", "verify_answer", "verify_reference"
"""Session state: what is typed."""

FILLED_FROM = "verify_filled_from"
"""Session state: the example whose question was put into the field last."""

WHAT = (
    "A VLM answers a question about an image. A verifier, the same VLM or another, sees image, question and answer "
    "afresh and says whether the answer is correct. Beside its verdict stands the truth, where a reference tells it "
    "(VeriMap)."
)


def show_verify_setup(store: Store) -> None:
    """Draw the choice of what to ask about, or, where the link holds that, what to ask and whom."""
    st.text(WHAT)
    choose_or_show(
        store,
        load_verification_case,
        _ask,
        examples=examples_to_begin_with,
        others="Choose another example; its page leads back here",
        query={"turns": "0"},
        none="No example of VeriMap in the store has its image at hand. An image of your own will do.",
        bring="Import a data set, or attach images, on the Data page",
        upload="verify_upload",
    )


def _fill(case: VerificationCase | None) -> None:
    """Put an example's question into the field, once; without one, what is typed stays."""
    state = st.session_state
    if case is not None and (state.get(FILLED_FROM) != case.unit_id or QUESTION not in state):
        state[QUESTION], state[ANSWER] = case.question, ""
        state[REFERENCE] = case.reference if case.suite == LIVE_EXAMPLES else ""
        state[FILLED_FROM] = case.unit_id


def _ask(store: Store, case: VerificationCase | None, image: CaseImage) -> None:
    """Draw the question, the answer, who is asked, and the button that starts."""
    _fill(case)
    typed = st.text_area("Question", key=QUESTION, height=68, max_chars=MAX_QUESTION, persist_state="page")
    question = " ".join(str(typed or "").split())
    stored = None if case is None or case.suite == LIVE_EXAMPLES else case
    if stored is not None and question != " ".join(stored.question.split()):
        stored = None
    if stored is not None and stored.options:
        st.text("\n".join(f"{option.letter}: {option.text}" for option in stored.options))
    typed = st.text_input(
        "An answer to verify, if you bring one",
        key=ANSWER,
        max_chars=MAX_QUESTION,
        persist_state="page",
        placeholder="empty: the VLM answers first",
    )
    answer = str(typed or "").strip()
    reference = "" if stored is not None else _reference()
    chosen = choose_verification(answer)
    if chosen is not None:
        note_untrained(chosen.vlms, [question])
    missing = _missing(question, has_vlm=chosen is not None)
    if st.button("Verify", type="primary", disabled=bool(missing), key="run_verify") and chosen is not None:
        try:
            unit_id = stored.unit_id if stored else live_example(store, image.image_id, question, reference)
            start_verification(store, unit_id, chosen)
        except AppError as error:
            show_error(error)
    if missing:
        st.caption(plain(missing))


def _reference() -> str:
    """Draw the field of the reference, and return what stands in it."""
    typed = st.text_input(
        "The reference, where you know it",
        key=REFERENCE,
        persist_state="page",
        help="No VLM sees it. Afterwards the answer is compared with it: yes or no and numbers exactly; an open "
        "answer is left unjudged.",
    )
    return str(typed or "").strip()


def _missing(question: str, *, has_vlm: bool) -> str:
    """Return what is still missing before anything can be asked; empty where nothing is."""
    if not question:
        return "A question is missing."
    return "" if has_vlm else NO_VLM
