"""Figures of map checks: chance stands beside every line, compared maps share one scale, intervals are the table's."""

from typing import Any

import numpy as np
import pytest

from backend.figures.saliency_checks import faithfulness_curves, maps_beside, pointing_marks
from backend.figures.style import DARK, LIGHT, Theme

CURVES = {
    "shares": (0.0, 0.5, 1.0),
    "deletion": (0.9, 0.2, 0.1),
    "insertion": (0.1, 0.8, 0.9),
    "chance_deletion": (0.9, 0.5, 0.1),
    "chance_insertion": (0.1, 0.5, 0.9),
}


def a_row(name: str, seat: str, kind: str, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "vlm": "<b>VLM</b>", "object": name, "seat": seat, "map": kind, "n": 9, "n_images": 7, "mass": 0.2, "area": 0.1,
        "times_chance": value, "times_chance_low": 1.5, "times_chance_high": 3.0, "hits_k": 4, "chance_hit": 0.05,
        **more,
    }  # fmt: skip


def test_each_panel_has_a_line_a_map_and_one_for_chance() -> None:
    figure = faithfulness_curves({"attention": CURVES, "gradient": {**CURVES, "deletion": (0.9, 0.8, 0.1)}})
    lines = [(line.name, line.xaxis, tuple(line.y)) for line in figure.data]
    assert lines == [
        ("attention map", "x", CURVES["deletion"]),
        ("gradient map", "x", (0.9, 0.8, 0.1)),
        ("random order", "x", CURVES["chance_deletion"]),
        ("attention map", "x2", CURVES["insertion"]),
        ("gradient map", "x2", CURVES["insertion"]),
        ("random order", "x2", CURVES["chance_insertion"]),
    ]
    assert len({line.line.dash for line in figure.data}) == 3
    assert sum(line.showlegend for line in figure.data) == 3
    assert figure.layout.yaxis.range == figure.layout.yaxis2.range == (-0.03, 1.03)


def test_no_curves_draw_empty_panels() -> None:
    assert len(faithfulness_curves({}).data) == 0


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_maps_of_one_kind_share_a_scale_of_shares_and_other_kinds_have_theirs(theme: Theme) -> None:
    real, other = np.array([[1.0, 3.0]]), np.array([[20.0, 20.0]])
    figure = maps_beside([("attention", real, other), ("gradient", other, np.zeros((1, 2)))], ("real", "<i>"), theme)
    attention, shuffled, gradient, nothing = figure.data
    np.testing.assert_allclose(attention.z, [[0.25, 0.75]])
    np.testing.assert_allclose(shuffled.z, [[0.5, 0.5]])
    assert (attention.zmin, attention.zmax) == (shuffled.zmin, shuffled.zmax) == (0, 0.75)
    assert (gradient.zmax, nothing.zmax, float(np.max(nothing.z))) == (0.5, 0.5, 0.0)
    assert [note.text for note in figure.layout.annotations][1] == "attention, &lt;i&gt;"


def test_marks_carry_the_tables_ratio_and_interval_and_chance_is_a_line_at_one() -> None:
    figure = pointing_marks(
        [
            a_row("all", "generator", "attention", 2.0),
            a_row("all", "verifier", "attention", 1.0, times_chance_low=None, times_chance_high=None),
            a_row("lesion", "generator", "attention", 4.0, times_chance_high=8.0),
        ]
    )
    first = figure.data[0]
    assert list(first.x) == [2.0, 4.0]
    assert (list(first.error_x.arrayminus), list(first.error_x.array)) == ([0.5, 2.5], [1.0, 4.0])
    assert figure.layout.shapes[0].x0 == figure.layout.shapes[0].x1 == 1
    assert [tick.strip() for tick in figure.layout.yaxis.ticktext] == ["all of them", "lesion"]
    hollow = next(trace for trace in figure.data if trace.name == "verifier, attention")
    assert hollow.marker.symbol.endswith("-open")
    assert list(hollow.error_x.array) == [0]
    assert "&lt;b&gt;VLM" in first.hovertext[0]
    assert "4/9" in first.hovertext[0]


@pytest.mark.parametrize("value", [None, 0.0])
def test_what_has_no_place_on_the_scale_is_left_out(value: float | None) -> None:
    figure = pointing_marks([a_row("all", "generator", "attention", value)])
    assert all(len(trace.x) == 0 for trace in figure.data)
