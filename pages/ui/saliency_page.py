"""What the Saliency page shows: which verifications, which proxy, grouped by what; all of it lives in the link."""

__all__ = ["asked_pairs", "show_boxes", "show_choices", "show_differences", "usual_pairs"]

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from backend.figures.saliency import grounding_boxes, grounding_differences
from backend.figures.style import Theme
from backend.services.endoca_series import records
from backend.services.grounding import By
from backend.services.verimap_cells import verification_choices
from backend.store.verification_filters import BOTH, VerificationFilter, verification_count
from backend.verimap.conditions import Condition
from backend.verimap.proxies import Proxy
from pages.ui.clicks import clickable_chart
from pages.ui.filters import link_choice
from pages.ui.resources import drawn_once, kept
from pages.ui.saliency_tables import pairs_of, tests_of
from pages.ui.verimap_plane import show_pairing
from pages.ui.verimap_tables import usual_part

if TYPE_CHECKING:
    import plotly.graph_objects as go

_PROXIES = {proxy.label: proxy for proxy in Proxy}
"""What the switch says → the proxy it means."""

_BY: dict[str, By] = {"By task": "task", "By outcome": "outcome"}


def usual_pairs() -> VerificationFilter:
    """Return what the page shows where the link asks for nothing: first answers, judged by the VLM that gave them.

    Where the VLM is the same, the two prompts alone differ. A store in which only other VLMs' answers were looked into
    shows those; one without looks at first answers, all turns.
    """
    first = (0,) if 0 in kept(verification_choices).turns else ()
    for turns, pairing in product(dict.fromkeys((first, ())), ("self", BOTH)):
        usual = VerificationFilter(pairing=pairing, turns=turns)
        if kept(verification_count, replace(usual, looked=BOTH)):
            return usual
    return VerificationFilter(pairing="self", turns=first)


def asked_pairs(asked: VerificationFilter, usual: VerificationFilter) -> VerificationFilter:
    """Return what the page shows: the link's choice, and where it leaves pairing and turns open, the usual one.

    That both sides were looked into goes without saying here, so that a link with and without it is one.
    """
    part = usual_part(asked, usual)
    return replace(asked, pairing=asked.pairing or part.pairing, turns=asked.turns or part.turns, looked="")


def show_choices(chosen: VerificationFilter) -> tuple[Proxy, By]:
    """Draw whose answers are verified, the proxy and the grouping; return the last two.

    Args:
        chosen: The page's filter, its pairing filled in.
    """
    crossed = replace(chosen, pairing="cross", conditions=tuple(Condition), looked=BOTH)
    if chosen.pairing != "self" or kept(verification_count, crossed):
        show_pairing(
            chosen.pairing,
            "saliency_pairing",
            "Self: a VLM verifies its own answers. Cross: it verifies another's, and two VLMs are compared.",
        )
    proxy = _PROXIES[link_choice("proxy", "Proxy", tuple(_PROXIES))]
    return proxy, _BY[link_choice("by", "Groups", tuple(_BY))]


def show_boxes(chosen: VerificationFilter, proxy: Proxy, by: By, theme: Theme) -> Sequence[Any] | None:
    """Draw both sides' boxes by group; return unit, run and side of the point just clicked, else None."""

    def draw() -> "go.Figure":
        return grounding_boxes(records(pairs_of(chosen)), tests_of(chosen, proxy, by), proxy, by, theme)

    return clickable_chart(
        drawn_once("saliency_boxes", (chosen, proxy, by, theme.name), draw),
        key="boxes_chart",
        alt=f"{proxy.label} of generators and verifiers, two boxes a {by}, with a point each verification",
    )


def show_differences(chosen: VerificationFilter, proxy: Proxy, by: By, theme: Theme) -> Sequence[Any] | None:
    """Draw generator minus verifier by group; return unit and run of the point just clicked, else None."""

    def draw() -> "go.Figure":
        return grounding_differences(records(pairs_of(chosen)), tests_of(chosen, proxy, by), proxy, by, theme)

    return clickable_chart(
        drawn_once("saliency_differences", (chosen, proxy, by, theme.name), draw),
        key="differences_chart",
        alt=f"{proxy.label}, generator minus verifier, by {by}: means with their intervals, a point each verification",
    )
