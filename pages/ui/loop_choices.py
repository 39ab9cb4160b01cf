"""What the loop page shows: which loops, what to call them, and when they end; all of it lives in the link."""

__all__ = ["READABLE", "loop_choices", "named_loops", "picked_rule", "show_loop_sentence"]

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from backend.services.verimap_cells import VerificationChoices, suite_place
from backend.store.verification_filters import UNLABELLED, VerificationFilter, verification_count
from backend.verimap.fates import LoopRule
from backend.verimap.vocabulary import Task
from pages.ui.filter_row import FilterRow
from pages.ui.filters import link_choice
from pages.ui.import_report import plural
from pages.ui.loop_words import END_NAMES
from pages.ui.resources import kept
from pages.ui.verimap_filters import dataset_words, verifications_counted

Row = Mapping[str, Any]

READABLE = 3
"""So many loops stand side by side in the charts; the filters choose others."""

_ALL_TURNS = "All turns"

_ROW = FilterRow(VerificationFilter, "loops")


def loop_choices(loops: Sequence[Row]) -> VerificationChoices:
    """Return what loops can be chosen by.

    Args:
        loops: Rows of `loop_table`.
    """
    return VerificationChoices(
        suites=tuple(sorted({str(loop["suite"]) for loop in loops}, key=suite_place)),
        tasks=(*Task, UNLABELLED),
        generators=tuple(dict.fromkeys(str(loop["generator"]) for loop in loops)),
        verifiers=tuple(dict.fromkeys(str(loop["verifier"]) for loop in loops)),
        conditions=(),
        turns=(),
        origins=tuple(sorted({str(loop["origin"]) for loop in loops})),
    )


def named_loops(loops: Sequence[Row]) -> dict[str, str]:
    """Return what to call each loop; its data set is named where there are several.

    Args:
        loops: Rows of `loop_table`.
    """
    several = len({loop["suite"] for loop in loops}) > 1
    return {
        str(loop["loop_id"]): f"{loop['label']} ({dataset_words(loop['suite'])})" if several else str(loop["label"])
        for loop in loops
    }


def show_loop_sentence(chosen: VerificationFilter, names: Mapping[str, str], fitting: Sequence[Row]) -> None:
    """Draw which loops are chosen as a sentence, with the link to copy and the way back to all.

    Args:
        chosen: The filter.
        names: What to call a loop, by its id.
        fitting: The loops that are left, rows of `loop_table`.
    """
    n = sum(int(loop["n"]) for loop in fitting)
    told = "every loop in the store" if chosen == VerificationFilter() else chosen.sentence(names)
    count = f"{plural(len(fitting), 'loop')}, {plural(n, 'first answer')}"
    if chosen.loop or chosen.fates:
        count = f"{verifications_counted(kept(verification_count, chosen))}, of {count}"
    cleared = None if chosen == VerificationFilter() else VerificationFilter()
    _ROW.show_sentence(told, count, cleared=cleared)
    if len(fitting) > READABLE:
        st.caption(f"Charts show {READABLE} of {len(fitting):,} loops, the table below all. The filters choose others.")


def picked_rule(longest: int) -> LoopRule:
    """Draw the choice of when loops end, and return it.

    Args:
        longest: The last turn of the longest loop shown.
    """
    end = END_NAMES[link_choice("end", "When a loop ends", tuple(END_NAMES))]
    last = _ALL_TURNS
    if longest > 1:
        last = link_choice("last", "Last turn", (_ALL_TURNS, *(f"To turn {turn}" for turn in range(1, longest))))
    return LoopRule(end, None if last == _ALL_TURNS else int(last.removeprefix("To turn ")))
