"""Slopes before and after: every number of the table is on the figure, and text of a table is no markup."""

import pandas as pd
import pytest

from backend.figures.slope_change import slope_change
from backend.figures.style import DARK, LIGHT, Theme

SLOPES = pd.DataFrame(
    [
        ("FPR", "before", 210, 0.2, 0.1, 0.4, 0.003),
        ("FPR", "after", 208, -0.1, -0.3, 0.2, 0.74),
        ("<b>x</b>", "before", 30, 0.9, 0.8, 1.0, 0.0001),
        ("<b>x</b>", "after", 30, 0.9, 0.8, 1.0, 0.0001),
    ],
    columns=["name", "treatment", "n", "slope", "low", "high", "p"],
)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_treatment_is_a_trace_with_its_intervals(theme: Theme) -> None:
    figure = slope_change(SLOPES, theme).to_plotly_json()
    before, after = figure["data"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert list(before["x"]) == [0.2, 0.9] and list(after["x"]) == [-0.1, 0.9]
    assert list(after["error_x"]["array"]) == pytest.approx([0.3, 0.1])
    assert list(after["error_x"]["arrayminus"]) == pytest.approx([0.2, 0.1])
    assert before["marker"]["symbol"] != after["marker"]["symbol"], "told apart without colour too"


def test_a_row_s_two_marks_stand_beside_each_other_in_the_table_s_order() -> None:
    before, after = slope_change(SLOPES).to_plotly_json()["data"]
    assert [round((a + b) / 2, 9) for a, b in zip(before["y"], after["y"], strict=True)] == [0, 1]


def test_hover_says_slope_interval_p_and_n_and_names_are_plain_text() -> None:
    figure = slope_change(SLOPES).to_plotly_json()
    before, after = figure["data"]
    assert "−0.100 (−0.300 to +0.200), p 0.740, n = 208 cells" in after["hovertext"][0]
    assert "p < 0.001" in before["hovertext"][1]
    assert "&lt;b&gt;x&lt;/b&gt;" in before["hovertext"][1]
    assert figure["layout"]["yaxis"]["ticktext"][1].startswith("&lt;b&gt;")
