"""The figures of SurgCheck show what their tables hold, and every point says what lies behind it."""

from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

from backend.figures.style import DARK, LIGHT, Theme
from backend.figures.surgcheck import CUE_WORDS, ablation_bars, cue_ladder, drop_slope, task_drops
from backend.surgcheck.metrics import Variant
from backend.surgcheck.tasks import Cue

TRICKY = "<a href='http://example.com'>VLM</a>"


def a_drop(name: str, original: float | None, less_biased: float | None, **about: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "series": f"run.{name}", "run_id": f"run.{name}", "label": name, "vlm": name, "vlm_group": "general_open",
        "origin": "imported", "place": 0, "metric": "accuracy", "gap": None, "gap_low": None, "gap_high": None,
        "n_pairs": None, "n_images": 10, "n_hint_only": None, "n_pointed_only": None, "p_value": None,
    }  # fmt: skip
    for side, value in (("original", original), ("less_biased", less_biased)):
        row |= {side: value, f"{side}_n": None, f"{side}_low": None, f"{side}_high": None}
        if value is not None and about.get("origin") != "published":
            row |= {f"{side}_n": 50, f"{side}_low": value - 0.1, f"{side}_high": value + 0.1}
    if original is not None and less_biased is not None:
        row["gap"] = original - less_biased
        if about.get("origin") != "published":
            row |= {"gap_low": row["gap"] - 0.05, "gap_high": row["gap"] + 0.05, "n_pairs": 1234}
            row |= {"n_hint_only": 30, "n_pointed_only": 4, "p_value": 0.0004}
    return row | about


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), dtype=object)


LEANING = a_drop("Leaning", 0.8, 0.5)
STEADY = a_drop(TRICKY, 0.7, 0.71, place=1)
PRINTED = a_drop("Paper VLM", 0.712, 0.632, origin="published", run_id=None, series="printed.Paper VLM", place=2)
BLIND = a_drop("Text look-up, learned on train", 0.65, 0.59, vlm="Text look-up", vlm_group="blind", place=-1)
ONE_SIDE = a_drop("One side", 0.776, None, origin="published", run_id=None, place=3)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_slope_leads_from_the_original_to_the_less_biased_value(theme: Theme) -> None:
    figure = drop_slope(frame(LEANING, STEADY, PRINTED, BLIND), theme)
    assert [list(trace.y) for trace in figure.data] == [[0.8, 0.5], [0.7, 0.71], [0.712, 0.632], [0.65, 0.59]]
    assert [trace.line.dash for trace in figure.data] == ["solid", "solid", "dot", "dash"]
    assert figure.data[2].marker.symbol == "circle-open"
    assert list(map(list, figure.data[0].customdata)) == [["run.Leaning", "original"], ["run.Leaning", "less_biased"]]


def test_two_that_see_no_image_are_told_apart_by_their_lines() -> None:
    other = BLIND | {"series": "run.Blind baseline", "vlm": "Blind baseline", "label": "Blind baseline"}
    dashes = [trace.line.dash for trace in drop_slope(frame(LEANING, BLIND, other)).data]
    assert dashes == ["solid", "dash", "dot"]
    look_ups = [row for row in ABLATION if row["vlm_group"] == "blind"]
    both = [*ABLATION, *(row | {"series": "run.Blind baseline", "vlm": "Blind baseline"} for row in look_ups)]
    assert [trace.line.dash for trace in ablation_bars(frame(*both)).data[3:]] == ["dash", "dot"]


def test_the_names_at_the_ends_tell_the_change_and_do_not_overlap() -> None:
    near = a_drop("Near", 0.6, 0.5001)
    figure = drop_slope(frame(LEANING, near, BLIND, ONE_SIDE))
    texts = [note.text for note in figure.layout.annotations]
    assert "Leaning  <b>−30.0</b>" in texts and "Text look-up  <b>−6.0</b>" in texts
    assert "One side" in texts, "with the original value alone there is no change"
    low, high = figure.layout.yaxis.range
    heights = sorted(note.y for note in figure.layout.annotations)
    assert all(b - a > (high - low) / 30 for a, b in pairwise(heights))
    assert max(heights) < high


def test_a_series_with_one_side_is_a_point_and_says_that_it_is_printed() -> None:
    [trace] = drop_slope(frame(ONE_SIDE)).data
    assert list(trace.y) == [0.776, None]
    assert trace.hovertext[0] == "<b>One side</b><br>Original questions<br>Accuracy 77.6 %<br>as printed"


def test_hover_text_tells_value_interval_count_and_drop_and_escapes_names() -> None:
    leaning, steady = drop_slope(frame(LEANING, STEADY)).data
    assert leaning.hovertext[1] == (
        "<b>Leaning</b><br>Less-biased questions<br>Accuracy 50.0 % (40.0–60.0)<br>n = 50"
        "<br>drop +30.0 points (+25.0 to +35.0)"
    )
    assert "<a href" not in steady.hovertext[0] and "<a href" not in steady.name


BY_TASK = [
    a_drop("Leaning", 0.9, 0.5, task="Instrument", level="observation"),
    a_drop("Leaning", 0.9, 0.4, task="Action", level="observation"),
    a_drop("Leaning", 0.5, 0.52, task="anatomy_hop", level="composition"),
    a_drop("Other", 0.8, 0.7, task="Action", level="observation", place=1),
    a_drop("Other", None, 0.7, task="Instrument", level="observation", place=1),
]


def test_the_drop_by_task_has_a_place_a_task_and_series_beside_each_other() -> None:
    figure = task_drops(frame(*BY_TASK))
    assert list(figure.layout.xaxis.ticktext) == ["Instrument", "Action", "Anatomy-hop"]
    leaning, other = figure.data
    assert list(leaning.y) == pytest.approx([0.4, 0.5, -0.02])
    assert [round(x) for x in leaning.x] == [0, 1, 2] and [round(x) for x in other.x] == [1]
    assert leaning.x[1] < other.x[0]
    assert leaning.mode == "markers"
    assert list(leaning.customdata[1]) == ["run.Leaning", "gap", "Action"]
    assert list(leaning.error_y.array) == pytest.approx([0.05] * 3)
    assert leaning.hovertext[1] == (
        "<b>Leaning</b><br>Action<br>Accuracy 90.0 % → 40.0 %<br>drop +50.0 points (+45.0 to +55.0)<br>1,234 pairs, "
        "10 frames<br>right by the original alone 30, by the less-biased alone 4<br>p < 0.001 (frames)"
    )


def test_levels_are_named_above_their_tasks_and_parted() -> None:
    figure = task_drops(frame(*BY_TASK))
    assert [(note.text, note.x) for note in figure.layout.annotations] == [("observation", 0.5), ("composition", 2.0)]
    assert [shape.x0 for shape in figure.layout.shapes] == [1.5]
    without = task_drops(frame(*BY_TASK).drop(columns="level"))
    assert not without.layout.annotations and not without.layout.shapes


def test_a_gain_lies_below_the_zero_line_and_ticks_are_points() -> None:
    figure = task_drops(frame(*BY_TASK))
    low, high = figure.layout.yaxis.range
    assert low < -0.02 and high > 0.55
    assert list(figure.layout.yaxis.ticktext) == ["−10", "0", "10", "20", "30", "40", "50"]
    assert figure.layout.yaxis.title.text == "drop of accuracy, points"


def test_the_ladder_goes_from_the_plainest_cue_to_the_vaguest() -> None:
    rows = [
        a_drop("Leaning", 0.8, 0.8 - drop, cue=cue)
        for cue, drop in (("arrow", 0.2), ("periphrasis", 0.1), ("box", 0.3))
    ]
    figure = cue_ladder(frame(*rows))
    assert list(figure.layout.xaxis.ticktext) == ["Box", "Arrow", "Periphrasis"]
    assert list(figure.data[0].y) == pytest.approx([0.3, 0.2, 0.1])
    assert figure.data[0].mode == "lines+markers"
    assert list(figure.data[0].customdata[2]) == ["run.Leaning", "gap", "periphrasis"]
    assert set(CUE_WORDS) == set(Cue)


def an_ablation(name: str, task: str, values: tuple[float | None, ...], **about: Any) -> dict[str, Any]:
    row = a_drop(name, None, None, task=task, text_run_id="text", **about)
    for variant, value in zip(Variant, values, strict=True):
        row |= {variant.value: value, f"{variant}_n": None, f"{variant}_low": None, f"{variant}_high": None}
        if value is not None:
            row |= {f"{variant}_n": 50, f"{variant}_low": value - 0.1, f"{variant}_high": value + 0.05}
    return row


ABLATION = (
    an_ablation("Leaning", "Action", (0.9, 0.5, 0.88)),
    an_ablation("Leaning", "Triplet", (0.6, 0.4, None)),
    an_ablation("Text look-up, learned", "Action", (0.97, 0.6, None), vlm="Text look-up", vlm_group="blind", place=-1),
)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_ablation_has_three_bars_a_task_and_the_look_up_across(theme: Theme) -> None:
    figure = ablation_bars(frame(*ABLATION), theme)
    original, less_biased, text_only, look_up = figure.data
    assert [trace.name for trace in figure.data] == ["Original", "Less-biased", "Text only", "Text look-up"]
    assert (list(original.y), list(less_biased.y), list(text_only.y)) == ([0.9, 0.6], [0.5, 0.4], [0.88])
    assert text_only.marker.color == "rgba(0,0,0,0)", "without the image the bar is hollow"
    assert list(look_up.y) == [0.97, 0.97, None] and look_up.line.dash == "dash"
    assert list(look_up.x)[:2] == pytest.approx([-0.39, 0.39])
    assert list(text_only.customdata[0]) == ["run.Leaning", "text_only", "Action", "text"]
    assert text_only.hovertext[0].startswith(
        "<b>Leaning</b><br>Action, original questions, image withheld<br>Accuracy 88.0 %"
    )
    assert list(original.error_y.arrayminus) == pytest.approx([0.1, 0.1])


def test_without_a_text_only_run_its_bars_are_left_out() -> None:
    figure = ablation_bars(frame(*ABLATION[1:]))
    assert [trace.name for trace in figure.data] == ["Original", "Less-biased", "Text look-up"]
    assert list(figure.layout.xaxis.ticktext) == ["Triplet", "Action"]


@pytest.mark.parametrize("draw", [drop_slope, task_drops, cue_ladder, ablation_bars])
def test_no_rows_give_an_empty_figure(draw: Any) -> None:
    columns = frame(*BY_TASK).assign(cue="box", text_run_id=None).columns
    assert len(draw(pd.DataFrame(columns=columns, dtype=object)).data) == 0


def test_nothing_is_drawn_in_the_colour_of_contradiction() -> None:
    for figure in (drop_slope(frame(LEANING, STEADY)), task_drops(frame(*BY_TASK)), ablation_bars(frame(*ABLATION))):
        assert LIGHT.contradiction not in str(figure.to_plotly_json()["data"])
