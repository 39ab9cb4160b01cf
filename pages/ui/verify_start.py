"""Who answers and who judges, how often it goes back, and the start of a live verification."""

__all__ = ["VerifyChosen", "choose_verification", "start_verification"]

from functools import partial
from typing import NamedTuple

import streamlit as st

from backend.services.live_examples import example_to_ask
from backend.services.live_verification import VERIFICATIONS, Line, LiveVerification
from backend.services.runs.identity import identity_of
from backend.store.store import Store
from backend.verimap.verification import Course
from backend.vlm.entries import VlmEntry
from backend.vlm.registry import Registry
from pages.ui.filters import link_choice
from pages.ui.live_start import LIVE_LINK
from pages.ui.untrained import BOX_GROUP
from pages.ui.vlm_picker import vlm_picker

SELF, CROSS = "It judges its own answer", "Another VLM judges"

MAX_TURNS = 4
"""As many as in the paper (section 4.6)."""


class VerifyChosen(NamedTuple):
    """Who is asked, and what is to be done."""

    verifier: VlmEntry
    generator: VlmEntry | None
    """None where no call is the generator's."""
    course: Course

    @property
    def vlms(self) -> tuple[VlmEntry, ...]:
        """All that are asked."""
        both = (self.verifier, *((self.generator,) if self.generator else ()))
        return tuple({entry.name: entry for entry in both}.values())


def choose_verification(answer: str = "") -> VerifyChosen | None:
    """Draw the choice of VLMs and of the course, all in the link; None where no VLM can be asked here.

    Args:
        answer: A person's, which is verified; empty where the generator answers first.
    """
    turns = _choose_turns()
    if answer and not turns:
        generator, verifier = None, vlm_picker("verifier", "VLM that judges")
    else:
        generator = vlm_picker("vlm", "VLM that answers")
        verifier = generator
        if link_choice("judge", "Who judges", [SELF, CROSS]) == CROSS and generator is not None:
            verifier = vlm_picker("verifier", "VLM that judges", beside=generator.name)
            if verifier is not None and verifier.name == generator.name:
                st.caption("This is the VLM that answers: it judges itself.")
    two_step = _choose_flag("look", "The verifier looks first, before it is shown the answer (two steps)")
    stop = bool(turns) and _choose_flag("stop", "The verdict CORRECT ends it")
    if verifier is None:
        return None
    if two_step and verifier.group == BOX_GROUP:
        st.caption("The VLM in the box was not trained to look first: what it writes then means nothing.")
    return VerifyChosen(verifier, generator, Course(answer, two_step, turns, stop))


def start_verification(store: Store, unit_id: str, chosen: VerifyChosen) -> None:
    """Start a verification, put it into the link, and draw the page anew with it.

    Raises:
        AppError: The example cannot be asked about, or a VLM cannot be opened.
    """
    example = example_to_ask(store, unit_id)
    registry = Registry.load()
    lines = {entry.name: Line(registry.open_vlm(entry.name), partial(identity_of, entry)) for entry in chosen.vlms}
    verifier = lines[chosen.verifier.name]
    generator = lines[chosen.generator.name] if chosen.generator else None
    live = LiveVerification(store, example, chosen.course, verifier, generator)
    VERIFICATIONS.begin(live, verifier.identify)
    LIVE_LINK.show_started(live.id)


def _choose_turns() -> int:
    """Draw how often verdict and explanation go back."""
    asked = st.query_params.get("turns", "0")
    state = "verify_turns"
    st.session_state[state] = int(asked) if asked in {str(n) for n in range(MAX_TURNS + 1)} else 0
    picked = st.segmented_control(
        "How often the verdict goes back to the VLM that answers",
        list(range(MAX_TURNS + 1)),
        key=state,
        required=True,
        format_func=lambda n: f"{n} times" if n > 1 else "once" if n else "never",
        on_change=_write,
        args=("turns", state),
        help="Verdict and explanation go back, and it answers again (feedback loop). The paper takes four turns.",
    )
    return int(picked or 0)


def _choose_flag(name: str, label: str) -> bool:
    state = f"verify_{name}"
    st.session_state[state] = st.query_params.get(name) == "1"
    return st.checkbox(label, key=state, on_change=_write, args=(name, state))


def _write(name: str, state: str) -> None:
    value = st.session_state[state]
    if value:
        st.query_params[name] = str(int(value))
    else:
        st.query_params.pop(name, None)
