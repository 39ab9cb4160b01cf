"""The plane shows what its cells hold, each panel by its own axis, and every point says what lies behind it."""

from typing import Any

import pandas as pd
import pytest

from backend.figures.style import DARK, LIGHT, Theme, contrast
from backend.figures.tasks import TASK_NAMES, TASK_ORDER, task_color
from backend.figures.verimap import SYMBOLS, plane, symbol_of
from backend.figures.verimap_verifiers import crossing_arrows, relation_lines, unchanged_shares
from backend.verimap.quadrants import PlaneThresholds
from backend.verimap.vocabulary import Task

TRICKY = "<a href='http://example.com'>VLM</a>"
CUTS = PlaneThresholds()
METRICS = {"error": 0.5, "fpr": 0.8, "fnr": 0.1, "bias": 0.4, "dskew": 0.35}


def a_cell(name: str, task: str | None = "disease_classification", **about: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "key": name, "run_id": name, "suite": "vqa-rad", "task": task, "group": None, "generator": name,
        "verifier": name, "is_self": True, "origin": "imported", "place": 0, "turn": 0, "n": 100, "n_images": 60,
        "n_uncertain": 0, "n_unparsed": 0, "n_unjudged": 0, "too_small": False,
        "quadrant_fpr": "mirage", "quadrant_bias": "mirage", "quadrant_dskew": "mirage",
    }  # fmt: skip
    for key, value in (METRICS | about).items():
        if key in METRICS:
            row |= {key: value}
            row |= {f"{key}_low": None if value is None else value - 0.1}
            row |= {f"{key}_high": None if value is None else value + 0.1}
    row |= {f"{key}_{end}": n for key in ("error", "fpr", "fnr") for end, n in (("k", 40), ("n", 50))}
    return row | {key: value for key, value in about.items() if key not in METRICS}


def a_printed_point(vlm: str = "Gemma-3", **about: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "key": f"printed/{vlm}", "task": "disease_classification", "generator": vlm, "verifier": vlm, "is_self": True,
        "origin": "published", "n_cells": 5, "group": "knowledge-intensive", "too_small": True, **METRICS,
    }  # fmt: skip
    return row | {f"{key}_left_out": 0 for key in METRICS} | about


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), dtype=object)


NOTHING = frame()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_cell_stands_on_all_three_panels_and_says_which_it_is(theme: Theme) -> None:
    figure = plane(frame(a_cell("Atlas")), NOTHING, CUTS, theme)
    assert [list(trace.x) for trace in figure.data] == [[0.5]] * 3
    assert [list(trace.y) for trace in figure.data] == [[0.8], [0.4], [0.35]]
    assert [list(trace.customdata[0]) for trace in figure.data] == [
        ["Atlas", "fpr"],
        ["Atlas", "bias"],
        ["Atlas", "dskew"],
    ]
    assert figure.data[0].marker.color == task_color("disease_classification", theme)


def test_colour_is_the_task_shape_the_verifier_and_a_dot_means_another_s_answers() -> None:
    causal_cell = a_cell("C", task="causal_explanation", place=2)
    figure = plane(frame(a_cell("A"), a_cell("B", place=1, is_self=False), causal_cell), NOTHING, CUTS)
    disease, causal = [trace for trace in figure.data if trace.xaxis == "x"]
    assert set(disease.marker.symbol) == {"circle", "square-dot"}
    assert list(causal.marker.symbol) == ["diamond"]
    assert disease.marker.color != causal.marker.color


def test_a_cell_too_small_to_judge_is_hollow() -> None:
    figure = plane(frame(a_cell("A", too_small=True), a_cell("B", too_small=True, is_self=False)), NOTHING, CUTS)
    assert set(figure.data[0].marker.symbol) == {"circle-open", "circle-open-dot"}


def test_a_point_s_area_grows_with_its_verdicts() -> None:
    [trace] = [t for t in plane(frame(a_cell("A", n=25), a_cell("B", n=100)), NOTHING, CUTS).data if t.xaxis == "x"]
    small, large = sorted(trace.marker.size)
    least = 2 * small - large
    assert (small - least) ** 2 * 4 == pytest.approx((large - least) ** 2)


def test_a_cell_without_a_value_has_no_point_on_that_panel() -> None:
    figure = plane(frame(a_cell("A", fpr=None, dskew=None)), NOTHING, CUTS)
    assert [trace.xaxis for trace in figure.data] == ["x2"]


def test_printed_points_have_one_size_no_interval_and_say_so() -> None:
    figure = plane(
        NOTHING, frame(a_printed_point(), a_printed_point("Lingshu", fpr_left_out=1)), CUTS, places={"Lingshu": 4}
    )
    first = figure.data[0]
    assert first.marker.size == 9 and first.error_x.array is None
    assert list(first.marker.symbol) == ["circle-open", "star-open"]
    assert "mean over 5 data sets" in first.hovertext[0] and "no n printed" in first.hovertext[0]
    assert "FPR 80.0 % (1 left out, undefined)" in first.hovertext[1]


def test_hover_text_tells_value_interval_counts_and_place_and_escapes_names() -> None:
    row = a_cell(TRICKY, n_uncertain=2, n_unparsed=1)
    text = plane(frame(row), NOTHING, CUTS).data[0].hovertext[0]
    assert "<a href" not in text
    assert "disease classification, VQA-RAD" in text
    assert "FPR 80.0 % (70.0–90.0), 40/50" in text
    assert "Bias +40.0 % (30.0 to 50.0)" in text
    assert "n = 100 verdicts, 60 images" in text
    assert "2 UNCERTAIN, 1 without a verdict" in text
    assert "verification mirage" in text and "■ imported" in text


def test_an_undefined_metric_is_said_with_its_reason() -> None:
    text = plane(frame(a_cell("A", fnr=None)), NOTHING, CUTS).data[0].hovertext[0]
    assert "FNR N/A (no answer is right)" in text


def test_corners_follow_the_thresholds_and_are_named() -> None:
    figure = plane(frame(a_cell("A")), NOTHING, PlaneThresholds(error=0.3, fpr=0.7, bias=0.2, dskew=0.1))
    mirages = [shape for shape in figure.layout.shapes if shape.type == "rect" and shape.x0 == 0.3]
    assert [shape.y0 for shape in mirages] == [0.7, 0.2, 0.1]
    desired = [shape for shape in figure.layout.shapes if shape.type == "rect" and shape.x1 == 0.3]
    assert [shape.y1 for shape in desired] == [0.7, 0.2, 0.1]
    assert [note.text for note in figure.layout.annotations] == ["verification mirage", "desired"] * 3


def test_the_bias_axis_reaches_below_zero_where_points_or_intervals_do() -> None:
    assert plane(frame(a_cell("A")), NOTHING, CUTS).layout.yaxis2.range[0] > -0.25
    low = plane(frame(a_cell("A", bias=-0.3)), NOTHING, CUTS).layout
    assert low.yaxis2.range[0] < -0.4 and low.yaxis.range[0] > -0.25


def test_a_row_of_panels_a_facet_with_its_name_and_count() -> None:
    rows = frame(a_cell("A"), a_cell("B", suite="slake"), a_cell("C", suite="slake"))
    figure = plane(rows, NOTHING, CUTS, by="suite", names={"slake": "SLAKE", "vqa-rad": "VQA-RAD", "own": "own"})
    titles = [note.text for note in figure.layout.annotations if note.xref == "paper"]
    assert titles == ["<b>SLAKE  ·  2 cells</b>", "<b>VQA-RAD  ·  1 cell</b>"]
    assert [len(trace.x) for trace in figure.data] == [2, 2, 2, 1, 1, 1]
    assert len({tuple(figure.layout[f"xaxis{n or ''}"].range) for n in ("", 2, 3, 4, 5, 6)}) == 1, (
        "panels share a range"
    )


def test_questions_without_a_task_are_a_facet_too() -> None:
    rows = frame(a_cell("A"), a_cell("B", task=None))
    figure = plane(rows, NOTHING, CUTS, by="task", names=dict(TASK_NAMES))
    assert [note.text for note in figure.layout.annotations if note.xref == "paper"] == [
        "<b>Disease  ·  1 cell</b>",
        "<b>Not labelled  ·  1 cell</b>",
    ]


def test_the_point_last_opened_is_ringed_on_every_panel() -> None:
    figure = plane(frame(a_cell("A"), a_cell("B", error=0.2)), NOTHING, CUTS, marked="B")
    rings = [trace for trace in figure.data if trace.customdata is None]
    assert [list(trace.x) for trace in rings] == [[0.2]] * 3


def test_an_empty_plane_is_drawn_with_its_corners() -> None:
    figure = plane(NOTHING, NOTHING, CUTS, by="suite", names={})
    assert not figure.data and len(figure.layout.annotations) == 6


def test_twelve_vlms_have_shapes_of_their_own() -> None:
    assert len({symbol_of(place) for place in range(12)}) == 12 == len(SYMBOLS)
    assert symbol_of(12) == symbol_of(0)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_task_has_a_colour_that_can_be_seen_and_a_name(theme: Theme) -> None:
    colors = [task_color(task, theme) for task in TASK_ORDER]
    assert len(set(colors)) == 8 and set(TASK_ORDER) == {*(task.value for task in Task), None}
    assert all(contrast(color, theme.ground) >= 3 for color in colors)


def compared(**about: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"task": "disease_classification", "n_a": 80, "n_b": 120, "n_images": 50}
    for key in METRICS:
        row |= {f"{key}_a": 0.8, f"{key}_b": 0.6, f"{key}_change": -0.2}
        row |= {f"{key}_{side}_{bound}": v for side in "ab" for bound, v in (("low", 0.5), ("high", 0.9))}
        row |= {f"{key}_change_low": -0.3, f"{key}_change_high": -0.1}
    return row | about


def test_arrows_lead_from_self_to_cross_on_every_panel() -> None:
    figure = crossing_arrows(frame(compared(n_generators=2, n_verifiers=3)))
    arrows = [note for note in figure.layout.annotations if note.showarrow]
    assert [(arrow.ax, arrow.x) for arrow in arrows] == [(0.8, 0.6)] * 3
    assert [trace.marker.symbol for trace in figure.data] == ["circle", "circle-open"] * 3
    assert list(figure.data[1].customdata[0]) == ["disease_classification", "cross", "fpr"]
    text = figure.data[0].hovertext[0]
    assert "FPR self 80.0 % → cross 60.0 %, −20.0 points (−30.0 to −10.0)" in text
    assert "n = 80 self, 120 cross" in text


def test_a_task_without_both_values_has_no_arrow_on_that_panel() -> None:
    figure = crossing_arrows(frame(compared(n_generators=1, n_verifiers=1, dskew_b=None)))
    assert len([note for note in figure.layout.annotations if note.showarrow]) == 2


def test_a_relative_s_line_is_solid_where_it_accepts_fewer_wrong_answers() -> None:
    rows = frame(compared(), compared(task="causal_explanation", fpr_a=0.5, fpr_b=0.7), compared(task=None, fpr_b=None))
    figure = relation_lines(rows, ("Base", TRICKY))
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert sorted(trace.line.dash for trace in lines) == ["dot", "solid"]
    circles, diamonds = [trace for trace in figure.data if trace.mode == "markers"]
    assert (len(circles.x), len(diamonds.x)) == (3, 2)
    assert "<a href" not in circles.hovertext[0]
    assert list(figure.layout.yaxis.ticktext) == ["Causal", "Disease", "Not labelled"]


def test_unchanged_verdicts_have_interval_and_count() -> None:
    row = {
        "generator": "A", "verifier": "A", "unchanged": 0.9, "unchanged_low": 0.8, "unchanged_high": 0.95,
        "unchanged_k": 90, "unchanged_n": 100, "unchanged_images": 40, "n_without": 3,
    }  # fmt: skip
    other = {**row, "generator": "B", "unchanged": None}
    figure = unchanged_shares({"image withheld": frame(row), "image swapped": frame(row, other)})
    assert [list(trace.x) for trace in figure.data] == [[0.9], [0.9]]
    assert figure.data[0].error_x.array[0] == pytest.approx(0.05)
    assert list(figure.layout.yaxis.ticktext) == ["A on B", "A, own answers"]
    assert "90/100" in figure.data[0].hovertext[0] and "3 answers without a verdict" in figure.data[0].hovertext[0]
    assert list(figure.data[1].customdata[0]) == ["A", "A", "image swapped"]
