"""Where the plane is cut, how undecided verdicts are counted, and which corner is looked at: choices in the link."""

__all__ = [
    "OWN_PARAMETERS",
    "asked_quadrants",
    "asked_thresholds",
    "in_quadrants",
    "show_counting",
    "show_quadrants",
    "show_thresholds",
]

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.errors import AppError
from backend.store.verification_filters import VerificationFilter
from backend.verimap.metrics import METRICS
from backend.verimap.outcomes import Treatment
from backend.verimap.quadrants import BiasAxis, PlaneThresholds, Quadrant
from pages.ui.linked_key import linked_key
from pages.ui.verimap_filters import set_verification_filter

if TYPE_CHECKING:
    import pandas as pd

_SHARES = {"error": "Verifier error from", "fpr": "FPR from", "bias": "Bias from", "dskew": "dSkew from"}
"""Threshold → what its slider says; in percent."""
_MIN_N = "min_n"
_MOST = 200
"""Largest number of verdicts that can be asked of a cell."""
_SEPARATOR = "~"

OWN_PARAMETERS = (*(f"cut_{name}" for name in (*_SHARES, _MIN_N)), "quadrants", "quadrant_of")
"""Parameters of the link that thresholds and corners live in."""

_TREATED = {Treatment.REJECT: "not accepted", Treatment.DROP: "left out"}


def asked_thresholds() -> PlaneThresholds:
    """Return the thresholds that the link asks for; where it names none, the paper's.

    Raises:
        AppError: One is no whole number in its range.
    """
    values: dict[str, Any] = {}
    for name, most in (dict.fromkeys(_SHARES, 100) | {_MIN_N: _MOST}).items():
        text = st.query_params.get(f"cut_{name}", "")
        if not text:
            continue
        least = 1 if name == _MIN_N else 0
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise AppError(f"The link asks for the threshold {text!r}.", f"It is a whole number, {least} to {most}.")
        values[name] = int(text) if name == _MIN_N else int(text) / 100
    return replace(PlaneThresholds(), **values)


def show_thresholds(thresholds: PlaneThresholds) -> None:
    """Draw a slider a threshold."""
    with st.popover("Thresholds", type="secondary" if thresholds == PlaneThresholds() else "primary"):
        st.caption("The paper cuts the plane at 40, 60, 35 and 30 %; it prints no n, so 30 verdicts are our choice.")
        for name, label in _SHARES.items():
            key = linked_key(f"slide_{name}", round(100 * getattr(thresholds, name)))
            st.slider(label, 0, 100, key=key, format="%d %%", on_change=_write_threshold, args=(name, key), width=320)
        key = linked_key(f"slide_{_MIN_N}", thresholds.min_n)
        st.slider(
            "Verdicts a cell needs",
            1,
            _MOST,
            key=key,
            on_change=_write_threshold,
            args=(_MIN_N, key),
            width=320,
            help="Cells with fewer are hollow: too small to judge",
        )
        st.button("The paper's thresholds", on_click=_forget_thresholds, disabled=thresholds == PlaneThresholds())


def show_counting(chosen: VerificationFilter) -> None:
    """Draw what is made of UNCERTAIN and of replies without a verdict."""
    policy = chosen.policy
    changed = bool(chosen.uncertain or chosen.unparsed)
    with st.popover("Counting", type="primary" if changed else "secondary"):
        for name, label in (("uncertain", "UNCERTAIN counts as"), ("unparsed", "A reply without a verdict counts as")):
            key = linked_key(f"count_{name}", getattr(policy, name))
            st.segmented_control(
                label,
                list(Treatment),
                key=key,
                format_func=lambda treatment: _TREATED[treatment],
                required=True,
                on_change=_write_counting,
                args=(name, key),
            )


def asked_quadrants() -> tuple[tuple[str, ...], BiasAxis]:
    """Return the corners that the link asks for, none for all, and the axis they are of.

    Raises:
        AppError: There is no such corner or axis.
    """
    asked = tuple(part for part in st.query_params.get("quadrants", "").split(_SEPARATOR) if part)
    axis = st.query_params.get("quadrant_of", BiasAxis.FPR)
    for value, known in ((one, tuple(Quadrant)) for one in asked):
        if value not in known:
            raise AppError(f"The link asks for the quadrant {value!r}.", f"Known: {', '.join(known)}.")
    if axis not in tuple(BiasAxis):
        raise AppError(f"The link asks for the axis {axis!r}.", f"Known: {', '.join(BiasAxis)}.")
    return asked, BiasAxis(axis)


def show_quadrants(quadrants: tuple[str, ...], axis: BiasAxis) -> None:
    """Draw the choice of corners."""
    keys = (linked_key("cells_quadrants", list(quadrants)), linked_key("cells_axis", axis))
    head = f"Quadrant: {len(quadrants)}" if len(quadrants) > 1 else "Quadrant"
    with st.popover(head, type="primary" if quadrants else "secondary"):
        st.multiselect(
            "Quadrant",
            list(Quadrant),
            key=keys[0],
            format_func=lambda quadrant: Quadrant(quadrant).label,
            on_change=_write_quadrants,
            args=keys,
            placeholder="All",
            width=360,
            help="Cells without a place on the plane are in none",
        )
        st.segmented_control(
            "By error and",
            [BiasAxis.FPR, BiasAxis.BIAS, BiasAxis.DSKEW],
            key=keys[1],
            format_func=lambda one: METRICS[one].label,
            required=True,
            on_change=_write_quadrants,
            args=keys,
        )


def in_quadrants(cells: "pd.DataFrame", quadrants: tuple[str, ...], axis: BiasAxis) -> "pd.DataFrame":
    """Return those of some placed cells, or points, that lie in one of the corners."""
    return cells[cells[f"quadrant_{axis}"].isin(quadrants)] if quadrants else cells


def _write_threshold(name: str, key: str) -> None:
    st.query_params[f"cut_{name}"] = str(st.session_state[key])


def _forget_thresholds() -> None:
    st.query_params.from_dict({k: v for k, v in st.query_params.to_dict().items() if not k.startswith("cut_")})


def _write_counting(name: str, key: str) -> None:
    chosen = VerificationFilter.from_query(st.query_params.to_dict())
    value = Treatment(st.session_state[key])
    usual = getattr(VerificationFilter().policy, name)
    changed: dict[str, Any] = {name: "" if value is usual else value.value}
    set_verification_filter(replace(chosen, **changed))


def _write_quadrants(corners: str, axis: str) -> None:
    others = {k: v for k, v in st.query_params.to_dict().items() if k not in ("quadrants", "quadrant_of")}
    picked = st.session_state[corners]
    own = {"quadrants": _SEPARATOR.join(picked)} if picked else {}
    if st.session_state[axis] != BiasAxis.FPR:
        own["quadrant_of"] = str(st.session_state[axis])
    st.query_params.from_dict({**others, **own})
