"""What all figures and tables of the plane page rest on, worked out once for each choice of verifications.

Tables are shared between reruns and readers: never change one.
"""

__all__ = [
    "cells_of",
    "conditions_of",
    "crossings_of",
    "has_self",
    "matrix_of",
    "of_figures",
    "of_pairing",
    "printed_of",
    "related_of",
    "usual_part",
    "verdicts_of",
]

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from backend.services.verimap_cells import cell_table, verdict_table
from backend.services.verimap_comparisons import condition_table, relation_table, self_to_cross, verifier_matrix
from backend.services.verimap_kinship import relations
from backend.services.verimap_plane import printed_points
from backend.store.store import Store
from backend.store.verification_filters import BOTH, PAIRINGS, VerificationFilter, verification_count
from backend.verimap.conditions import Condition
from pages.ui.resources import drawn_once, kept, the_store

if TYPE_CHECKING:
    import pandas as pd

KEPT_VERDICTS = 3
"""Tables of verdicts kept: some 10 MB for a hundred thousand verdicts."""


def of_figures(chosen: VerificationFilter) -> VerificationFilter:
    """Return the part of a filter that figures rest on: conditions on outcomes, fates and words choose cases only."""
    return replace(chosen, verdict_outcomes=(), text="", loop="", fates=(), loop_rule="")


def verdicts_of(chosen: VerificationFilter) -> "pd.DataFrame":
    """Return `verdict_table` of the chosen verifications: of all conditions, and of self- and cross-verification."""
    store = the_store()
    asked = replace(of_figures(chosen), conditions=(), pairing="", uncertain="", unparsed="")
    table: pd.DataFrame = _verdicts(asked, str(store.path), store.data_version, _store=store)
    return table


@st.cache_resource(max_entries=KEPT_VERDICTS, show_spinner="Reading the verdicts")
def _verdicts(asked: VerificationFilter, path: str, data_version: int, *, _store: Store) -> "pd.DataFrame":
    return verdict_table(_store, asked)


def of_pairing(verdicts: "pd.DataFrame", pairing: str) -> "pd.DataFrame":
    """Return the verdicts that VLMs gave on their own answers, or on each other's; all where neither is chosen."""
    if pairing not in PAIRINGS:
        return verdicts
    own = (verdicts["generator"].astype(object) == verdicts["verifier"].astype(object)).to_numpy()
    return verdicts[own if pairing == "self" else ~own]


def cells_of(chosen: VerificationFilter) -> "pd.DataFrame":
    """Return `cell_table` of the chosen verifications."""

    def make() -> "pd.DataFrame":
        return cell_table(the_store(), of_pairing(_of_conditions(chosen), chosen.pairing), chosen.policy)

    return drawn_once("verimap_cells", (of_figures(chosen),), make)


def crossings_of(chosen: VerificationFilter) -> "pd.DataFrame":
    """Return `self_to_cross` of the chosen verifications."""
    asked = replace(of_figures(chosen), pairing="")
    return drawn_once("verimap_crossings", (asked,), lambda: self_to_cross(_of_conditions(asked), chosen.policy))


def matrix_of(chosen: VerificationFilter) -> "pd.DataFrame":
    """Return `verifier_matrix` of the chosen verifications."""
    asked = replace(of_figures(chosen), pairing="")
    return drawn_once("verimap_matrix", (asked,), lambda: verifier_matrix(_of_conditions(asked), chosen.policy))


def related_of(chosen: VerificationFilter) -> "pd.DataFrame":
    """Return `relation_table` of the chosen verifications and all relatives among their VLMs."""
    asked = replace(of_figures(chosen), pairing="")

    def make() -> "pd.DataFrame":
        verdicts = _of_conditions(asked)
        vlms = sorted({*verdicts["generator"], *verdicts["verifier"]})
        return relation_table(verdicts, chosen.policy, relations(vlms))

    return drawn_once("verimap_related", (asked,), make)


def conditions_of(chosen: VerificationFilter, condition: Condition) -> "pd.DataFrame":
    """Return `condition_table` of the chosen verifications."""
    asked = replace(of_figures(chosen), pairing="", conditions=())
    return drawn_once(
        "verimap_conditions",
        (asked, condition),
        lambda: condition_table(verdicts_of(asked), chosen.policy, condition),
    )


def _of_conditions(chosen: VerificationFilter) -> "pd.DataFrame":
    verdicts = verdicts_of(chosen)
    wanted = chosen.conditions or (Condition.PLAIN.value,)
    return verdicts[verdicts["condition"].astype(object).isin(wanted).to_numpy()]


def has_self() -> bool:
    """Return whether some VLM has verified its own answers."""
    return bool(kept(verification_count, VerificationFilter(pairing="self", conditions=tuple(Condition))))


def usual_part(asked: VerificationFilter, whole: VerificationFilter) -> VerificationFilter:
    """Return what holds where the link leaves pairing and turns open.

    Args:
        asked: The filter as the link has it.
        whole: What the page shows where the link asks for nothing.

    A link to runs shows them: a verifier of another VLM's answers is not put aside as cross-verification, nor a later
    turn because the page shows first answers.
    """
    if not asked.runs:
        return whole
    first = replace(of_figures(asked), turns=whole.turns)
    return replace(whole, pairing=BOTH, turns=whole.turns if kept(verification_count, first) else ())


def printed_of(chosen: VerificationFilter) -> "pd.DataFrame":
    """Return the printed points that fit; they are of self-verification, and none is of one data set alone."""
    printed = drawn_once("verimap_printed", (), printed_points)
    if chosen.suites or chosen.pairing == "cross" or chosen.conditions or (chosen.turns and 0 not in chosen.turns):
        return printed.iloc[:0]
    fits = printed["task"].notna()
    if chosen.tasks or chosen.groups:
        fits &= printed["task"].isin(chosen.tasks) | printed["group"].isin(chosen.groups)
    for name, wanted in (("generator", chosen.generators), ("verifier", chosen.verifiers)):
        if wanted:
            fits &= printed[name].isin(wanted)
    if chosen.origins:
        fits &= printed["origin"].isin(chosen.origins)
    return printed[fits]
