"""The last section of the plane page: whether the verifier errs where the generator does (section 4.3, Appendix D)."""

__all__ = ["show_coupling", "verdicts_of_group"]

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from backend.figures.style import Theme
from backend.figures.verimap_coupling import METRIC_LABELS, cell_scatter, slope_dots
from backend.services.audit import AuditedFigure
from backend.services.endoca_series import records
from backend.services.verimap_cells import verifier_places
from backend.services.verimap_coupling import (
    CellSource,
    CouplingCells,
    cell_points,
    coupling_cells,
    fitted_line,
    metric_fits,
    task_slopes,
)
from backend.store.verification_filters import VerificationFilter
from backend.verimap.coupling import CellFit
from backend.verimap.undefined_rates import Undefined
from backend.verimap.vocabulary import Task
from pages.ui.audit_note import show_audit_note
from pages.ui.clicks import clickable_chart
from pages.ui.filters import link_choice
from pages.ui.loop_words import task_legend
from pages.ui.resources import drawn_once, kept, the_store
from pages.ui.verimap_coupling_tables import show_cell_models
from pages.ui.verimap_coupling_words import cells_sentence, coupling_sentence, shape_legend
from pages.ui.verimap_odds import show_odds
from pages.ui.verimap_rank_tests import show_rank_tests

Row = Mapping[str, Any]

SOURCE_NAMES = {"Cells of this store": CellSource.STORE, "Cells as printed": CellSource.PRINTED}
"""What the switch says → where cells come from."""

UNDEFINED_NAMES = {"Undefined rates left out": Undefined.DROP, "Taken as the printed 0": Undefined.AS_PRINTED}
"""What the switch says → what becomes of a rate over nothing."""

ENOUGH = 10
"""With fewer cells of its own a store's section begins with the printed ones."""


def show_coupling(chosen: VerificationFilter, theme: Theme) -> VerificationFilter | None:
    """Draw the section; return the verdicts of the cell just clicked, else None.

    Args:
        chosen: The page's filter. Where it asks for no pairing, self-verification counts, as in the paper.
        theme: Light or dark.
    """
    asked = replace(
        chosen,
        pairing=chosen.pairing or "self",
        conditions=(),
        turns=(),
        verdict_outcomes=(),
        text="",
        loop="",
        fates=(),
        loop_rule="",
    )
    st.subheader(
        "Does a verifier err where the generator does?",
        anchor="coupling",
        help="Each point is one cell: the answers of one VLM to one task of one data set, and the verdicts on them",
    )
    own = _cells(asked, CellSource.STORE)
    order = list(SOURCE_NAMES) if len(own.table) >= ENOUGH else list(SOURCE_NAMES)[::-1]
    with st.container(horizontal=True, gap="small"):
        source = SOURCE_NAMES[link_choice("cells", "Cells", order)]
        metric = _metric(link_choice("coupled", "Metric", tuple(METRIC_LABELS.values())))
        undefined = Undefined.DROP
        if source is CellSource.PRINTED:
            undefined = UNDEFINED_NAMES[link_choice("undefined", "Undefined rates", tuple(UNDEFINED_NAMES))]
    cells = own if source is CellSource.STORE else _cells(asked, CellSource.PRINTED)
    made_of = (asked, source, undefined)
    if cells.table.empty:
        st.text("No judged verdict on a first answer to a labelled question fits these filters, so there is no cell.")
        return None
    fits: dict[str, CellFit] = drawn_once("coupling_fits", made_of, lambda: metric_fits(cells, undefined))
    st.text(coupling_sentence(fits[metric], metric))
    clicked = _show_cells(cells, fits[metric], metric, undefined, made_of, theme, asked)
    st.caption(cells_sentence(cells, source, asked))
    if source is CellSource.PRINTED:
        show_audit_note(AuditedFigure.VERIMAP_SLOPES)
    show_cell_models(fits, source, undefined)
    if source is CellSource.PRINTED:
        show_audit_note(AuditedFigure.VERIMAP_CELLS)
    group = show_odds(cells, source, made_of, theme)
    show_rank_tests(asked, cells, source, undefined)
    return clicked if group is None else verdicts_of_group(cells, asked, *group)


def _cells(asked: VerificationFilter, source: CellSource) -> CouplingCells:
    return drawn_once("coupling_cells", (asked, source), lambda: coupling_cells(the_store(), asked, source))


def _show_cells(
    cells: CouplingCells,
    fit: CellFit,
    metric: str,
    undefined: Undefined,
    made_of: tuple[object, ...],
    theme: Theme,
    asked: VerificationFilter,
) -> VerificationFilter | None:
    rows = drawn_once("coupling_points", made_of, lambda: records(cell_points(cells, undefined)))
    found = fit.fit.estimates
    drawn_of = (made_of, metric, theme.name)
    places = kept(verifier_places)
    st.html(task_legend([row["task"] for row in rows], theme) + shape_legend([row["verifier"] for row in rows], places))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        errors = [row["p_g"] for row in rows]
        point = clickable_chart(
            drawn_once(
                "coupling_scatter",
                drawn_of,
                lambda: cell_scatter(
                    rows,
                    metric,
                    fitted_line(fit, min(errors), max(errors)),
                    found.slope.p if found else None,
                    places,
                    theme,
                ),
            ),
            key="coupling_chart",
            alt=f"{METRIC_LABELS[metric]} against generator error, a point a cell, with the mixed model's line",
        )
        st.caption(
            "Line: the mixed model's, with its 95 % band; dashed where p ≥ 0.05."
            if found
            else "No line: the mixed model did not converge."
        )
    with right:
        slopes = _slope_rows(drawn_once("coupling_slopes", made_of, lambda: task_slopes(cells, undefined))[metric], fit)
        slope = clickable_chart(
            drawn_once("coupling_slope_dots", drawn_of, lambda: slope_dots(slopes, metric, theme)),
            key="slopes_chart",
            alt=f"Slope of {METRIC_LABELS[metric]} on generator error by task, with 95 % intervals",
        )
        st.caption(
            "Least squares within a task; grey where p ≥ 0.05. No point: fewer than three cells, or no variation."
        )
    if slope is not None and cells.table["suite"].notna().any():
        return verdicts_of_group(cells, asked, *slope)
    if point is None or point[0] is None:
        return None
    suite, task, generator, verifier = point
    return VerificationFilter(
        suites=(suite,), tasks=(task,), generators=(generator,), verifiers=(verifier,), pairing="both", turns=(0,)
    )


def verdicts_of_group(
    cells: CouplingCells, asked: VerificationFilter, factor: str | None, level: str | None
) -> VerificationFilter:
    """Return the verdicts on labelled questions of one task, VLM or data set; without a level those of all cells."""
    table = cells.table[cells.table[factor] == level] if factor and level else cells.table
    of_vlm = factor == "model"
    return replace(
        asked,
        suites=tuple(table["suite"].unique()) if factor == "dataset" else asked.suites,
        tasks=tuple(task.value for task in Task if task.value in set(table["task"])),
        groups=(),
        generators=tuple(table["generator"].unique()) if of_vlm else asked.generators,
        verifiers=tuple(table["verifier"].unique()) if of_vlm else asked.verifiers,
        turns=(0,),
    )


def _slope_rows(by_task: Mapping[str, Any], fit: CellFit) -> list[Row]:
    """Return what `slope_dots` draws: tasks in their order, the mixed model's slope last."""
    rows: list[Row] = []
    for task in Task:
        if task.value in by_task:
            slope = by_task[task.value]
            rows.append({"task": task.value, **{name: getattr(slope, name, None) for name in _SLOPE}})
    found = fit.fit.estimates
    population = dict.fromkeys(_SLOPE)
    if found is not None:
        effect = found.slope
        population = {"n": fit.fit.n, "slope": effect.value, "low": effect.low, "high": effect.high, "p": effect.p}
    return [*rows, {"task": None, **population}]


_SLOPE = ("n", "slope", "low", "high", "p")


def _metric(label: str) -> str:
    return next(key for key, words in METRIC_LABELS.items() if words == label)
