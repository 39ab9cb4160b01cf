"""What all of the Saliency page rests on, worked out once for each choice of verifications, and its table of tests.

Tables are shared between reruns and readers: never change one.
"""

__all__ = ["overall_of", "pairs_of", "show_download", "show_tests", "tests_of"]

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.figures.saliency_hover import difference_words, group_name, value_words
from backend.services.endoca_series import records
from backend.services.grounding import By, grounding_table, grounding_tests
from backend.store.verification_filters import VerificationFilter
from backend.verimap.proxies import Proxy
from pages.ui.clicks import clickable_table
from pages.ui.import_report import plural
from pages.ui.number_cell import NumberCell, p_words
from pages.ui.resources import drawn_once, the_store

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]

_VALUES = ("generator_mean", "generator_even", "verifier_mean", "verifier_even")
_WORDED = ("lower", *_VALUES, "gap", "d_paired", "d_pooled")
"""Columns of `NumberCell`."""


def pairs_of(chosen: VerificationFilter) -> "pd.DataFrame":
    """Return `grounding_table` of the chosen verifications."""
    return drawn_once("saliency_pairs", (chosen,), lambda: grounding_table(the_store(), chosen))


def tests_of(chosen: VerificationFilter, proxy: Proxy, by: By) -> list[dict[str, Any]]:
    """Return the rows of `grounding_tests` of the chosen verifications; none where there is no pair."""
    return drawn_once(
        "saliency_tests", (chosen, proxy, by), lambda: records(grounding_tests(pairs_of(chosen), proxy, by))
    )


def overall_of(chosen: VerificationFilter, proxy: Proxy) -> dict[str, Any] | None:
    """Return the row over all pairs; None where there is none."""
    rows = tests_of(chosen, proxy, "task")
    return rows[0] if rows else None


def show_tests(rows: Sequence[Row], proxy: Proxy, by: By) -> Row | None:
    """Draw a row a group; return the one just opened, else None.

    Args:
        rows: Of `tests_of`; at least one.
        proxy: What they are of.
        by: ``task`` or ``outcome``.
    """
    import pandas as pd

    is_share = proxy is Proxy.FRACTION
    table = [
        {
            "group": group_name(row["group"], by),
            "n": row["n"],
            "n_undefined": row["n_undefined"],
            "n_images": row["n_images"],
            "lower": _lower(row),
            **{key: _value(row, proxy, key) for key in _VALUES},
            "gap": NumberCell.of(row["gap"], difference_words(proxy, row["gap"])),
            "interval": _interval(row, proxy),
            "p": p_words(row["p"]),
            "d_paired": _effect(row["d_paired"]),
            "d_pooled": _effect(row["d_pooled"]),
        }
        for row in rows
    ]
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    config: dict[str, Any] = {
        "group": text("Task" if by == "task" else "Outcome", width=100, pinned=True),
        "n": number("Pairs", width=48, format="localized", help="Verifications with both values"),
        "n_undefined": number("N/A", width=42, help=f"Left out: N/A when {proxy.undefined_when}"),
        "n_images": number("Images", width=58, format="localized"),
        "lower": number("Verifier lower", width=92, help="Pairs in which the verifier's value is the smaller one"),
        "generator_mean": number("Generator", width=76, help="Mean of the pairs"),
        "generator_even": number("even", width=54, help="Had the generator's attention been spread evenly"),
        "verifier_mean": number("Verifier", width=66, help="Mean of the pairs"),
        "verifier_even": number("even", width=54, help="Had the verifier's attention been spread evenly"),
        "gap": number("Δ, points" if is_share else "Δ", width=72, help="Generator minus verifier, mean of the pairs"),
        "interval": text(
            "95 % interval", width=108 if is_share else 165, help="Of Δ; a bootstrap that resamples images"
        ),
        "p": text("p", width=60, help="Wilcoxon's signed-rank test, generator above verifier, one-sided"),
        "d_paired": number("d, paired", width=68, help="Cohen's d: mean over the deviation of the differences"),
        "d_pooled": number("d, pooled", width=72, help="Cohen's d: mean over the pooled deviation of both sides"),
    }
    if not is_share:
        del config["generator_even"], config["verifier_even"]
    frame = pd.DataFrame(table, columns=list(config), dtype=object)
    worded: list[Hashable] = [
        name for name in config if name not in ("group", "n", "n_undefined", "n_images", "interval", "p")
    ]
    clicked = clickable_table(
        frame.style.format(str, subset=worded, na_rep=NOT_AVAILABLE),
        key="tests",
        words=lambda at, _: f"{table[at]['group']}: {plural(rows[at]['n'], 'pair')}" if rows[at]["n"] else None,
        ask="Choose a cell to open the verifications behind its row.",
        column_config=config,
        height="content",
        placeholder=NOT_AVAILABLE,
    )
    return None if clicked is None or not rows[clicked[0]]["n"] else rows[clicked[0]]


def show_download(pairs: "pd.DataFrame") -> None:
    """Draw a button that saves the table of pairs, each with all its numbers and ids, as CSV."""
    st.download_button(
        f"Pairs behind it (CSV, {len(pairs):,})",
        data=lambda: pairs.to_csv(index=False).encode(),
        file_name="saliency_pairs.csv",
        mime="text/csv",
        key="pairs_csv",
        on_click="ignore",
    )


def _value(row: Row, proxy: Proxy, key: str) -> NumberCell | None:
    return NumberCell.of(row[key], value_words(proxy, row[key]))


def _lower(row: Row) -> NumberCell | None:
    return NumberCell.of(row["n_lower"] / row["n"], f"{row['n_lower']:,}/{row['n']:,}") if row["n"] else None


def _interval(row: Row, proxy: Proxy) -> str:
    if row["gap_low"] is None:
        return NOT_AVAILABLE
    low, high = (difference_words(proxy, row[f"gap_{bound}"]) for bound in ("low", "high"))
    return f"{low} to {high}"


def _effect(value: float | None) -> NumberCell | None:
    return NumberCell.of(value, "" if value is None else f"{value:.2f}".replace("-", "−"))
