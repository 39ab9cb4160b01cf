"""The figures of paired answers show what their tables hold, and every point says what lies behind it."""

from typing import Any

import pandas as pd
import pytest

from backend.figures.endoca import complexity_facets, rank_slope, score_radar
from backend.figures.outcome_bars import outcome_bars
from backend.figures.style import DARK, LIGHT, Theme

TRICKY = "<a href='http://example.com'>VLM</a>"
METRICS = ("complex_accuracy", "atomic_accuracy", "all_atomic_accuracy", "joint_accuracy", "consistency")


def a_series(name: str, values: dict[str, float | None], **about: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "series": f"run.{name}", "run_id": f"run.{name}", "label": name, "vlm": name, "vlm_group": "general_open",
        "origin": "imported", "place": 0, "n_printed": None,
    }  # fmt: skip
    for key in METRICS:
        value = values.get(key)
        row |= {key: value, f"{key}_k": None, f"{key}_n": 50, f"{key}_low": None, f"{key}_high": None}
        if value is not None:
            row |= {f"{key}_k": round(50 * value), f"{key}_low": value - 0.1, f"{key}_high": value + 0.1}
    return row | about


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), dtype=object)


GOOD = a_series("Good VLM", dict(zip(METRICS, (0.8, 0.7, 0.6, 0.5, 0.625), strict=True)))
WEAK = a_series(TRICKY, dict(zip(METRICS, (0.4, 0.3, 0.2, 0.1, 0.25), strict=True)), place=1)
PRINTED = a_series(
    "Paper VLM",
    {"complex_accuracy": 0.6, "atomic_accuracy": 0.5, "joint_accuracy": 0.55, "consistency": 0.9},
    series="printed.Paper VLM", run_id=None, origin="published", n_printed=27736, complex_accuracy_n=None,
    complex_accuracy_low=None, complex_accuracy_high=None, complex_accuracy_k=None, place=2,
)  # fmt: skip
BLIND = a_series("Blind", dict.fromkeys(METRICS, 0.7), vlm_group="blind", place=-1)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_radar_draws_every_axis_from_0_past_100_and_closes_its_lines(theme: Theme) -> None:
    figure = score_radar(frame(GOOD, WEAK), theme)
    assert list(figure.data[0].theta) == ["Complex", "Atomic", "All-atomic", "Joint", "Consistency", "Complex"]
    assert list(figure.data[0].r) == [0.8, 0.7, 0.6, 0.5, 0.625, 0.8]
    assert list(figure.layout.polar.radialaxis.range) == [0, 1.06], (
        "a mark at 100 % lies inside, where it can be clicked"
    )
    assert figure.layout.dragmode == "zoom", "with another mode a point of a radar cannot be clicked"
    assert figure.layout.polar.bgcolor == "rgba(0,0,0,0)"


def test_a_radar_of_printed_figures_alone_has_no_all_atomic_axis() -> None:
    figure = score_radar(frame(PRINTED))
    assert list(figure.data[0].theta) == ["Complex", "Atomic", "Joint", "Consistency", "Complex"]


def test_a_printed_series_beside_a_run_has_a_gap_where_nothing_is_printed() -> None:
    printed = score_radar(frame(GOOD, PRINTED)).data[1]
    assert list(printed.r) == [0.6, 0.5, None, 0.55, 0.9, 0.6]
    assert printed.connectgaps is False
    assert (printed.marker.symbol, printed.line.dash) == ("circle-open", "dot")


def test_a_radar_point_knows_its_series_and_metric() -> None:
    run = score_radar(frame(GOOD)).data[0]
    assert list(map(list, run.customdata))[3] == ["run.Good VLM", "joint_accuracy"]
    assert run.hovertext[3] == "<b>Good VLM</b><br>Joint 50.0 % (40.0–60.0)<br>25/50"


def test_a_printed_point_says_that_it_is_printed() -> None:
    assert score_radar(frame(PRINTED)).data[0].hovertext[0] == (
        "<b>Paper VLM</b><br>Complex 60.0 %<br>as printed (QA count 27,736)"
    )


def test_the_slope_ranks_both_sides_from_the_best_down() -> None:
    figure = rank_slope(frame(GOOD, WEAK, PRINTED, BLIND))
    ranks = {trace.customdata[0][0]: list(trace.y) for trace in figure.data}
    assert ranks == {
        "run.Good VLM": [1, 3],
        "run.Blind": [2, 1],
        "printed.Paper VLM": [3, 2],
        f"run.{TRICKY}": [4, 4],
    }
    assert figure.data[3].line.dash == "dash"


def test_a_rank_is_among_series_of_the_same_origin_and_the_baseline_has_none() -> None:
    figure = rank_slope(frame(GOOD, WEAK, PRINTED, BLIND))
    told = {
        trace.customdata[0][0]: [text.partition("<br>rank ")[2] for text in trace.hovertext] for trace in figure.data
    }
    assert told == {
        "run.Good VLM": ["1 of 2, imported", "1 of 2, imported"],
        f"run.{TRICKY}": ["2 of 2, imported", "2 of 2, imported"],
        "printed.Paper VLM": ["1 of 1, published", "1 of 1, published"],
        "run.Blind": ["", ""],
    }


def test_a_point_of_a_run_that_lacks_answers_says_so() -> None:
    lacking = GOOD | {"n_missing": 1200, "n_failed": 34}
    words = "missing or failed answers, counted as wrong: 1,234"
    assert score_radar(frame(lacking)).data[0].hovertext[0].endswith(words)
    assert words.partition(":")[0] not in score_radar(frame(GOOD)).data[0].hovertext[0]


LONG = "/mnt/checkpoints/medgemma_4b_it_endoscopy_lora_r64_alpha128_step12000"


def test_a_long_name_is_short_in_the_figures_and_whole_where_one_points() -> None:
    series = GOOD | {"label": LONG, "vlm": LONG}
    slope = rank_slope(frame(series, PRINTED))
    assert slope.data[0].text[0] == "/mnt/chec…p12000  <b>80.0</b>  "
    assert f"<b>{LONG}</b>" in slope.data[0].hovertext[0]
    assert slope.layout.margin.l + slope.layout.margin.r <= 280, "both names and a slope fit in 315 px"
    bars = outcome_bars(pd.DataFrame(outcomes(series, supported=1)))
    assert bars.layout.yaxis.ticktext[0].strip() == "/mnt/checkpoin…step12000"
    assert f"<b>{LONG}</b>" in bars.data[0].hovertext[0]
    facets = complexity_facets(frame(*levels(series, (0.8, 0.7))))
    assert facets.layout.annotations[0].text == "/mnt/checkpoin…step12000"


def test_a_narrow_segment_of_a_bar_has_no_label_and_its_hover_text() -> None:
    figure = outcome_bars(
        pd.DataFrame(outcomes(GOOD, supported=94, inconsistent=6) + outcomes(WEAK, supported=95, inconsistent=5))
    )
    assert list(figure.data[1].text) == ["6", ""]
    assert "5.0 %, 5/100 units" in figure.data[1].hovertext[1]


def test_equal_values_share_a_rank_and_not_a_place() -> None:
    twin = {**GOOD, "series": "run.Twin", "label": "Twin"}
    figure = rank_slope(frame(GOOD, twin, WEAK))
    assert [trace.y[0] for trace in figure.data] == [1, 2, 3]
    assert [trace.hovertext[0].split("<br>")[-1] for trace in figure.data] == [
        "rank 1 of 3, imported",
        "rank 1 of 3, imported",
        "rank 3 of 3, imported",
    ]


@pytest.mark.parametrize("draw", [score_radar, rank_slope])
def test_markup_in_a_vlm_name_stays_text(draw: Any) -> None:
    trace = draw(frame(WEAK)).data[0]
    drawn = [*trace.hovertext, *(trace.text or ()), trace.name or ""]
    assert drawn
    assert not [words for words in drawn if "<a" in words]
    assert "&lt;a href" in drawn[0]


def levels(series: dict[str, Any], *values: tuple[float, float]) -> list[dict[str, Any]]:
    rows = []
    for at, (complex_accuracy, every_part) in enumerate(values, start=1):
        rows.append(
            series | {"complexity": at, "complex_accuracy": complex_accuracy, "all_atomic_accuracy": every_part}
        )
        rows[-1] |= {"complex_accuracy_low": complex_accuracy - 0.05, "complex_accuracy_high": complex_accuracy + 0.02}
    return rows


def test_orange_marks_exactly_the_levels_with_more_right_answers_than_right_parts() -> None:
    figure = complexity_facets(frame(*levels(GOOD, (0.8, 0.9), (0.7, 0.5), (0.6, 0.6))))
    orange = [trace for trace in figure.data if trace.line.color == LIGHT.contradiction]
    assert [(list(trace.x), list(trace.y)) for trace in orange] == [([2, 2], [0.5, 0.7])]


def test_each_vlm_has_a_panel_with_the_blind_baseline_in_it() -> None:
    rows = [
        *levels(GOOD, (0.8, 0.7), (0.7, 0.7)),
        *levels(WEAK, (0.4, 0.5), (0.3, 0.4)),
        *levels(BLIND, (0.7, 0.7), (0.5, 0.5)),
    ]
    figure = complexity_facets(frame(*rows))
    dashed = [trace for trace in figure.data if trace.line.dash == "dash"]
    assert [trace.xaxis for trace in dashed] == ["x", "x2"]
    assert [list(trace.y) for trace in dashed] == [[0.7, 0.5]] * 2
    assert len(figure.layout.annotations) == 2


def test_a_complexity_point_knows_its_level_and_shows_its_interval() -> None:
    figure = complexity_facets(frame(*levels(GOOD, (0.8, 0.9), (0.7, 0.75))))
    trace = next(trace for trace in figure.data if trace.error_y.array is not None)
    assert list(trace.customdata[1]) == ["run.Good VLM", "complex_accuracy", 2]
    assert list(trace.error_y.array) == pytest.approx([0.02, 0.02])
    assert list(trace.error_y.arrayminus) == pytest.approx([0.05, 0.05])


def test_the_blind_baseline_alone_still_has_its_panel() -> None:
    figure = complexity_facets(frame(*levels(BLIND, (0.7, 0.7))))
    assert {trace.line.color for trace in figure.data} == {LIGHT.quiet, LIGHT.text}


def outcomes(series: dict[str, Any], **counts: int) -> list[dict[str, Any]]:
    total = sum(counts.values())
    about = {key: series[key] for key in ("series", "label", "vlm_group")}
    return [
        {**about, "outcome": name, "plain": name.replace("_", " "), "n_units": count, "n_total": total}
        for name, count in counts.items()
    ]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_outcome_bars_fill_the_whole_and_leave_the_unanswered_hollow(theme: Theme) -> None:
    rows = outcomes(GOOD, supported=6, inconsistent=2, not_answered=2) + outcomes(WEAK, supported=1, mixed=3)
    figure = outcome_bars(pd.DataFrame(rows), theme)
    for series in ("run.Good VLM", f"run.{TRICKY}"):
        parts = [x for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True) if y == series]
        assert sum(parts) == pytest.approx(1)
    hollow = figure.data[-1]
    assert hollow.marker.color == "rgba(0,0,0,0)" and hollow.marker.line.color == theme.quiet
    assert list(hollow.customdata[0]) == ["run.Good VLM", "not_answered"]
    assert figure.data[1].hovertext[0] == "<b>Good VLM</b><br>inconsistent<br>20.0 %, 2/10 units"
    assert list(figure.layout.yaxis.categoryarray)[-1] == "run.Good VLM", "the best supported run is on top"


@pytest.mark.parametrize("draw", [score_radar, rank_slope])
def test_no_series_gives_an_empty_figure(draw: Any) -> None:
    assert len(draw(frame(GOOD).iloc[:0]).data) == 0
