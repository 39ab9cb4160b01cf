"""Who is asked and in which variant, and the start of a live reconciliation; the link then holds its trace."""

__all__ = ["LIVE_LINK", "Chosen", "begin_anew", "choose_vlm", "go_to", "start_live"]

from functools import partial
from typing import NamedTuple

import streamlit as st

from backend.endoca.asr import Variant
from backend.services.live import LIVE
from backend.services.live_units import unit_to_ask
from backend.services.runs.identity import identity_of
from backend.store.store import Store
from backend.vlm.entries import VlmEntry
from backend.vlm.registry import Registry
from pages.ui.asr_words import VARIANT_WORDS
from pages.ui.filters import link_choice
from pages.ui.live_link import LiveLink
from pages.ui.vlm_picker import vlm_picker

LIVE_LINK = LiveLink("live_last")

begin_anew = LIVE_LINK.begin_anew
go_to = LIVE_LINK.go_to


class Chosen(NamedTuple):
    """Who is asked, and how."""

    entry: VlmEntry
    variant: Variant


def choose_vlm() -> Chosen | None:
    """Draw the choice of a VLM and a variant, both in the link; None where no VLM can be asked here."""
    entry = vlm_picker("vlm")
    words = link_choice("variant", "With its parts or without", list(VARIANT_WORDS.values()))
    variant = next(variant for variant, said in VARIANT_WORDS.items() if said == words)
    if variant is Variant.SELF:
        st.caption("The control: it is asked again without hearing of its parts, so the parts are not asked.")
    return None if entry is None else Chosen(entry, variant)


def start_live(store: Store, unit_id: str, chosen: Chosen) -> None:
    """Start a reconciliation, put it into the link, and draw the page anew with it.

    Raises:
        AppError: The unit cannot be asked about, or the VLM cannot be opened.
    """
    unit = unit_to_ask(store, unit_id)
    vlm = Registry.load().open_vlm(chosen.entry.name)
    run = LIVE.start(store, unit, vlm, partial(identity_of, chosen.entry), chosen.variant)
    LIVE_LINK.show_started(run.id)
