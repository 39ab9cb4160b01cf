"""The figures of loops show what their tables hold, and every point says what lies behind it."""

from typing import Any

import pytest

from backend.figures.style import DARK, LIGHT, Theme
from backend.figures.verimap_loop import ALL, UNLABELLED, fate_bars, fate_color, lean_ends, turn_lines

TRICKY = "<b>VLM</b>, reviewed by itself"
LOOPS = {"one": TRICKY, "two": "Other, reviewed by itself"}
WRONG = {"locked": "accepted", "still_wrong": "not accepted", "corrected": "right in the end"}
MODALITY = "modality_recognition"


def a_fate(loop: str, task: str, locked: int, still_wrong: int, corrected: int) -> dict[str, Any]:
    n = locked + still_wrong + corrected
    row: dict[str, Any] = {"loop_id": loop, "task": task, "n_wrong": n}
    for fate, count in (("locked", locked), ("still_wrong", still_wrong), ("corrected", corrected)):
        share = count / n if n else None
        row |= {f"n_{fate}": count, fate: share}
        row |= {f"{fate}_low": None if share is None else 0.0, f"{fate}_high": None if share is None else 1.0}
    return row


def a_turn(loop: str, task: str, turn: int, value: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "loop_id": loop,
        "task": task,
        "turn": turn,
        "n": 9,
        "fp": 3,
        "fn": 1,
        "right_k": 5,
        "right_n": 10,
    }
    for metric in ("bias", "fpr", "right"):
        row |= {metric: value, f"{metric}_low": None, f"{metric}_high": None}
    return row


FATES = [
    a_fate("one", ALL, 6, 3, 1), a_fate("one", MODALITY, 6, 0, 0), a_fate("one", UNLABELLED, 0, 3, 1),
    a_fate("two", ALL, 0, 0, 0), a_fate("left out", ALL, 5, 0, 0),
]  # fmt: skip
TURNS = [
    a_turn("one", ALL, 0, 0.1), a_turn("one", ALL, 1, 0.3), a_turn("one", ALL, 2, 0.2),
    a_turn("one", MODALITY, 0, None), a_turn("one", MODALITY, 1, 0.5), a_turn("one", MODALITY, 2, -0.1),
    a_turn("two", ALL, 0, 0.4),
]  # fmt: skip


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_bars_add_up_and_the_locked_have_the_colour_of_contradiction(theme: Theme) -> None:
    figure = fate_bars(FATES, LOOPS, WRONG, "n_wrong", theme)
    bars = [trace for trace in figure.data if trace.type == "bar" and len(trace.x)]
    assert [trace.name for trace in bars] == list(WRONG.values()), "a loop without a wrong answer has no bar"
    assert [sum(shares) for shares in zip(*(trace.x for trace in bars), strict=True)] == pytest.approx([1.0, 1.0, 1.0])
    assert bars[0].marker.color == theme.contradiction == fate_color("locked", theme)
    assert [list(point) for point in bars[0].customdata] == [
        ["one", ALL, "locked"], ["one", MODALITY, "locked"], ["one", UNLABELLED, "locked"],
    ]  # fmt: skip
    counts = next(trace for trace in figure.data if trace.type == "scatter")
    assert list(counts.text) == ["10", "6", "4"]
    assert "60.0 % (0.0–100.0), 6/10" in bars[0].hovertext[0]


def test_each_loop_has_a_panel_with_its_name_escaped() -> None:
    titles = [note.text for note in fate_bars(FATES, LOOPS, WRONG, "n_wrong").layout.annotations]
    assert titles == ["&lt;b&gt;VLM&lt;/b&gt;, reviewed by itself", "Other, reviewed by itself"]
    four = {str(place): f"Loop {place}" for place in range(4)}
    assert len(fate_bars([], four, WRONG, "n_wrong").layout.annotations) == 4


def test_both_ends_are_joined_and_the_change_stands_beside() -> None:
    figure = lean_ends(TURNS, LOOPS)
    joined = next(trace for trace in figure.data if list(trace.y) == [ALL, ALL])
    assert list(joined.x) == [0.1, 0.2]
    assert list(joined.marker.symbol) == ["circle", "circle-open"]
    assert [list(point) for point in joined.customdata] == [["one", ALL, 0], ["one", ALL, 2]]
    assert "+10.0" in {note.text for note in figure.layout.annotations}
    alone = next(trace for trace in figure.data if list(trace.y) == [MODALITY])
    assert list(alone.x) == [-0.1], "where turn 0 is undefined there is no change"


def test_a_line_a_task_goes_turn_by_turn_with_gaps_where_undefined() -> None:
    figure = turn_lines(TURNS, {"one": TRICKY}, "bias")
    lines = {trace.name: trace for trace in figure.data}
    assert list(lines["All"].y) == [0.1, 0.3, 0.2] and list(lines["Modality"].y) == [None, 0.5, -0.1]
    assert lines["All"].line.width > lines["Modality"].line.width and not lines["Modality"].connectgaps
    assert [list(point) for point in lines["All"].customdata][1] == ["one", ALL, 1]
    assert "3 false acceptances, 1 false rejections" in lines["All"].hovertext[0]
    low, high = figure.layout.yaxis.range
    assert low < -0.1 and high > 0.5


def test_right_answers_tell_their_counts() -> None:
    [*_, line] = turn_lines(TURNS, {"one": TRICKY}, "right").data
    assert "right answers 10.0 %<br>5/10 answers" in line.hovertext[0]
