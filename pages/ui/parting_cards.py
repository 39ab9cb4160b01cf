"""The headlines of SurgCheck and VeriMap as cards, each with the way to its cases; siblings of `headline_cards`."""

__all__ = ["show_acceptance", "show_drop"]

from dataclasses import replace
from html import escape

import streamlit as st

from backend.domain.metric import describe_estimate, percent, points
from backend.domain.records import Origin
from backend.services.parting_headlines import FalseAcceptance, WidestDrop
from backend.services.verimap_lists import verification_page
from backend.store.pair_filters import PairFilter, pair_page
from backend.store.verification_filters import BOTH, VerificationFilter
from backend.surgcheck.outcomes import PairOutcome
from backend.verimap.outcomes import VerdictOutcome
from pages.ui.links import CASE, SURGCHECK, VERIMAP
from pages.ui.resources import kept
from pages.ui.suite_names import suite_tag
from pages.ui.tags import origin_tag, vlm_name


def show_drop(drop: WidestDrop, place: int | None) -> None:
    """Draw SurgCheck's card of one suite.

    Args:
        drop: What it says.
        place: The VLM's place in the store, which gives it its colour.
    """
    apart = PairFilter(suite=drop.suite, runs=(drop.run_id,), pair_outcomes=(PairOutcome.HINT_ONLY.value,))
    first = kept(pair_page, apart, offset=0, limit=1)["unit_id"]
    with st.container(border=True, height="stretch"):
        st.html(_drop_words(drop, place))
        with st.container(horizontal=True, gap="medium"):
            if len(first):
                one = {"unit": str(first.iloc[0]), **apart.to_query()}
                st.page_link(CASE, label="See one: right with the hint alone", query_params=one)
            st.page_link(SURGCHECK, label="Open Shortcuts", query_params={"suite": drop.suite})


def show_acceptance(found: FalseAcceptance, place: int | None) -> None:
    """Draw VeriMap's card of one data set; its one case is the first that was looked into, where one was.

    Args:
        found: What it says.
        place: The VLM's place in the store, which gives it its colour.
    """
    accepted = VerificationFilter(
        suites=(found.suite,), runs=(found.run_id,), verdict_outcomes=(VerdictOutcome.FALSE_ACCEPTANCE.value,)
    )
    first = kept(verification_page, replace(accepted, looked=BOTH), offset=0, limit=1)["unit_id"]
    if not len(first):
        first = kept(verification_page, accepted, offset=0, limit=1)["unit_id"]
    with st.container(border=True, height="stretch"):
        st.html(_acceptance_words(found, place))
        with st.container(horizontal=True, gap="medium"):
            if len(first):
                one = {"unit": str(first.iloc[0]), **accepted.to_query()}
                st.page_link(CASE, label="See one: wrong answer, accepted", query_params=one)
            st.page_link(VERIMAP, label="Open the plane", query_params={"suites": found.suite})


def _drop_words(drop: WidestDrop, place: int | None) -> str:
    lost = drop.original - drop.less_biased
    between = ""
    if drop.low is not None and drop.high is not None:
        between = f" ({100 * drop.low:.1f} to {100 * drop.high:.1f})"
    kept_share, apart = 100 * min(drop.original, drop.less_biased), 100 * max(lost, 0.0)
    return (
        f"{_head(drop.suite, drop.origin, drop.label, drop.vlm_group, place)}"
        f'<p class="figures"><b>{percent(drop.original)}</b> right when the question names the tool, '
        f"<b>{percent(drop.less_biased)}</b> when it only points</p>"
        f"{_bar(kept_share, apart)}"
        f"<p>{points(lost).removeprefix('+')}{between} came with the words, n = {drop.n_pairs:,} pairs.</p></div>"
    )


def _acceptance_words(found: FalseAcceptance, place: int | None) -> str:
    share = 100 * (found.accepted.value or 0.0)
    return (
        f"{_head(found.suite, found.origin, found.vlm, found.vlm_group, place)}"
        f'<p class="figures"><b>{percent(found.accepted.value)}</b> of its own wrong answers accepted as correct</p>'
        f"{_bar(0.0, share)}"
        f"<p>Accepted: {_unbroken(describe_estimate(found.accepted))}. Verdicts that part from the reference: "
        f"{_unbroken(describe_estimate(found.error))}.</p></div>"
    )


def _head(suite: str, origin: Origin | str, label: str, group: str | None, place: int | None) -> str:
    return (
        f'<div class="headline"><p class="quiet">{escape(suite)} {suite_tag(suite)} {origin_tag(origin)}</p>'
        f'<p class="vlm">{vlm_name(label, group, place)}</p>'
    )


def _bar(joint: float, apart: float) -> str:
    """Return a bar of two shares in percent; the orange one is where the answers part."""
    return (
        f'<div class="bar" aria-hidden="true"><i class="joint" style="width:{joint:.2f}%"></i>'
        f'<i class="apart" style="width:{apart:.2f}%"></i></div>'
    )


def _unbroken(words: str) -> str:
    """Return a number that no line break parts from its percent sign."""
    return words.replace(" %", "\u00a0%")
