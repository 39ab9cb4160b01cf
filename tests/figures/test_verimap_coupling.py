"""The figures of coupling show what their rows hold: cells with their line, slopes, odds ratios."""

from typing import Any

import pytest

from backend.figures.style import DARK, LIGHT, Theme
from backend.figures.verimap import symbol_of
from backend.figures.verimap_coupling import cell_scatter, odds_forest, slope_dots

TASK = "causal_explanation"


def a_cell(p_g: float, fpr: float | None, *, vlm: str = "A", n: int | None = 40) -> dict[str, Any]:
    return {
        "task": TASK, "model": vlm, "dataset": "<i>mine</i>", "suite": "mine", "generator": vlm, "verifier": vlm,
        "n": n, "p_g": p_g, "fpr": fpr, "fnr": None, "bias": 0.1, "dskew": None, "fpr_minus_fnr": None,
    }  # fmt: skip


LINE = [(0.0, 0.1, 0.0, 0.2), (1.0, 0.5, 0.4, 0.6)]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_cells_with_a_value_are_drawn_with_the_line_and_its_band(theme: Theme) -> None:
    cells = [a_cell(0.2, 0.5), a_cell(0.9, None), a_cell(0.4, 0.6, vlm="B")]
    figure = cell_scatter(cells, "fpr", LINE, 0.001, {"A": 0, "B": 1}, theme)
    points = figure.data[-1]
    assert list(points.x) == [0.2, 0.4], "an undefined cell has no place"
    assert list(points.marker.symbol) == [symbol_of(0), symbol_of(1)]
    assert list(points.customdata[0]) == ["mine", TASK, "A", "A"]
    assert "<i>mine" not in points.hovertext[0] and "n = 40" in points.hovertext[0]
    upper, lower, line = figure.data[:3]
    assert (list(upper.y), list(lower.y), list(line.y)) == ([0.2, 0.6], [0.0, 0.4], [0.1, 0.5])
    assert line.line.dash == "solid"


def test_a_slope_that_is_not_significant_is_dashed_and_one_that_did_not_converge_is_not_drawn() -> None:
    assert cell_scatter([a_cell(0.2, 0.5)], "fpr", LINE, 0.2, {}).data[2].line.dash == "dash"
    assert len(cell_scatter([a_cell(0.2, 0.5)], "fpr", [], None, {}).data) == 1


def test_printed_cells_say_that_they_have_no_n() -> None:
    [points] = cell_scatter([a_cell(0.2, 0.5, n=None)], "fpr", [], None, {}).data
    assert "as printed, without n" in points.hovertext[0]


def test_slopes_without_significance_are_grey_and_undefined_ones_have_no_point() -> None:
    rows: list[dict[str, Any]] = [
        {"task": TASK, "n": 30, "slope": 0.8, "low": 0.5, "high": 1.1, "p": 0.001},
        {"task": "modality_recognition", "n": 30, "slope": 0.1, "low": -0.3, "high": 0.5, "p": 0.6},
        {"task": "spatial_localization", "n": None, "slope": None, "low": None, "high": None, "p": None},
        {"task": None, "n": 210, "slope": 0.4, "low": 0.2, "high": 0.6, "p": 0.01},
    ]
    figure = slope_dots(rows, "bias")
    assert [trace.marker.symbol for trace in figure.data] == ["circle", "circle", "diamond"]
    assert figure.data[1].marker.color == LIGHT.quiet and figure.data[0].marker.color != LIGHT.quiet
    assert list(figure.data[0].error_x.array) == pytest.approx([0.3])
    assert "30 cells" in figure.data[0].hovertext[0]


def test_odds_ratios_stand_on_a_log_axis_with_their_intervals_and_names_escaped() -> None:
    rows: list[dict[str, Any]] = [
        {"factor": None, "level": "", "odds_ratio": 20.0, "low": 10.0, "high": 40.0},
        {"factor": "task", "level": TASK, "odds_ratio": 30.0, "low": 10.0, "high": 90.0},
        {"factor": "model", "level": "<b>A</b>", "odds_ratio": 5.0, "low": 1.0, "high": 25.0},
    ]
    figure = odds_forest(rows)
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.yaxis.ticktext) == ["All  ", "Task: Causal  ", "VLM: &lt;b&gt;A&lt;/b&gt;  "]
    assert [list(trace.error_x.array) for trace in figure.data] == [[20.0], [60.0], [20.0]]
    assert "odds ratio 5.00 (1.00 to 25.00)" in figure.data[2].hovertext[0]
    assert "<b>A</b></b>" not in figure.data[2].hovertext[0]
