"""The figures of reconciled answers show what their tables hold, and every point says what lies behind it."""

from itertools import pairwise
from typing import Any

import pytest

from backend.figures.asr import STEPS, change_bars, coverage_lines, steps_slope
from backend.figures.style import DARK, LIGHT, Theme

TRICKY = "<a href='http://example.com'>VLM</a>"


def a_line(name: str, values: tuple[float | None, ...], **about: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "series": f"run.{name}", "revised": f"run.{name}", "label": name, "vlm_group": "general_open",
        "origin": "precomputed", "place": 0, "is_control": False, "coverage": 0.8,
    }  # fmt: skip
    for step, value in zip(STEPS, values, strict=True):
        row |= {step: value, f"{step}_k": None, f"{step}_n": None, f"{step}_low": None, f"{step}_high": None}
        if value is not None and about.get("origin") != "published":
            row |= {f"{step}_k": round(50 * value), f"{step}_n": 50}
            row |= {f"{step}_low": value - 0.1, f"{step}_high": value + 0.1}
    return row | about


OWN = a_line(TRICKY, (0.5, 0.6, 0.7))
CONTROL = a_line("Control", (0.5, 0.4, None), is_control=True, coverage=None)
PRINTED = a_line("Paper VLM", (0.551, 0.547, 0.683), origin="published", place=1)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_each_line_goes_through_its_steps_and_ends_where_it_has_none(theme: Theme) -> None:
    figure = steps_slope([OWN, CONTROL, PRINTED], theme)
    assert [list(trace.y) for trace in figure.data] == [[0.5, 0.6, 0.7], [0.5, 0.4, None], [0.551, 0.547, 0.683]]
    assert [trace.line.dash for trace in figure.data] == ["longdash", "longdash", "dot"]
    assert figure.data[1].opacity < figure.data[0].opacity, "the control steps back"
    assert list(figure.data[0].customdata[2]) == [f"run.{TRICKY}", "selective_accuracy"]


def test_the_names_at_the_ends_tell_the_coverage_and_do_not_overlap() -> None:
    figure = steps_slope([OWN, PRINTED, a_line("Near", (0.5, 0.5, 0.7001))])
    assert any("covers 80 %" in note.text for note in figure.layout.annotations)
    heights = sorted(note.y for note in figure.layout.annotations)
    low, high = figure.layout.yaxis.range
    assert all(b - a > (high - low) / 30 for a, b in pairwise(heights))


def test_hover_text_tells_counts_or_that_it_is_printed_and_escapes_names() -> None:
    own, printed = steps_slope([OWN, PRINTED]).data
    assert own.hovertext[1].endswith("complex accuracy 60.0 % (50.0–70.0)<br>30/50")
    assert "as printed" in printed.hovertext[0] and "coverage 80.0 %" in printed.hovertext[2]
    assert "<a href" not in own.hovertext[0] and "<a href" not in own.name


def a_change(by: str, group: int | str, n: int, repairs: int, harms: int) -> dict[str, Any]:
    change = (repairs - harms) / n
    low, high = (None, None) if n < 10 else (change - 0.1, change + 0.1)
    return {
        "revised": "r", "by": by, "group": group, "n": n, "repairs": repairs, "harms": harms,
        "change": change, "change_low": low, "change_high": high,
    }  # fmt: skip


def test_repairs_go_right_and_harms_left_as_shares_of_their_group() -> None:
    repairs, harms = change_bars(
        [a_change("complexity", 1, 20, 3, 1), a_change("question_class", "polyp_count", 4, 0, 2)]
    ).data
    assert list(repairs.x) == [0.15, 0.0] and list(harms.x) == [-0.05, -0.5]
    assert list(repairs.y) == ["1 part", "polyp count"]
    assert list(repairs.text) == ["3", ""] and list(harms.text) == ["1", "2"]
    assert list(harms.customdata[1]) == ["r", "harms", "question_class", "polyp_count"]
    assert "3 of 20 became right" in repairs.hovertext[0] and "+10.0 points (0.0 to +20.0)" in repairs.hovertext[0]
    assert "(" not in harms.hovertext[1].split("accuracy")[1], "no interval, none shown"


CURVE: list[dict[str, Any]] = [
    {"decision": "answer", "consistency": "consistent", "agreement": 1.0, "n": 2, "n_covered": 2, "n_right": 2,
     "coverage": 0.25, "accuracy": 1.0},
    {"decision": "answer", "consistency": "consistent", "agreement": 0.5, "n": 2, "n_covered": 4, "n_right": 3,
     "coverage": 0.5, "accuracy": 0.75},
    {"decision": "abstain", "consistency": None, "agreement": 0.0, "n": 4, "n_covered": 8, "n_right": 4,
     "coverage": 1.0, "accuracy": 0.5},
]  # fmt: skip


def test_the_curve_follows_every_place_and_marks_where_a_label_ends() -> None:
    line, marks = coverage_lines([(OWN, CURVE)]).data
    assert list(line.x) == [0.25, 0.5, 1.0] and line.hoverinfo == "skip"
    assert list(marks.x) == [0.5, 1.0]
    assert marks.marker.size[0] > marks.marker.size[1], "Selective's own choice is the large mark"
    assert list(marks.customdata[0])[1:] == ["coverage", "answer", "consistent", True]
    assert list(marks.customdata[1])[1:] == ["coverage", "abstain", "unreadable", False]
    assert "Selective's own choice" in marks.hovertext[0] and "3/4" in marks.hovertext[0]


def test_the_dotted_line_is_the_accuracy_of_all_revised_answers() -> None:
    figure = coverage_lines([(OWN, CURVE), (CONTROL, [])])
    assert [(shape.y0, shape.y1) for shape in figure.layout.shapes] == [(0.5, 0.5)]


def test_no_row_makes_an_empty_figure() -> None:
    assert not steps_slope([]).data
    assert not coverage_lines([]).data
    assert not any(len(trace.y) for trace in change_bars([]).data)
