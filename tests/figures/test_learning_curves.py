"""Promises of the learning curves: every point tells its counts, every line its shape, every stage its place."""

import pandas as pd
import plotly.graph_objects as go
import pytest

from backend.figures.learning_curves import TASKS, learning_curves
from backend.figures.style import DARK, LIGHT, Theme

LOSSES = pd.DataFrame(
    [("naming", 250, 9.0), ("naming", 600, 4.0), ("answering", 750, 2.0), ("answering", 1200, 1.0)],
    columns=["stage", "step", "loss"],
)
ACCURACY = pd.DataFrame(
    [
        ("answering", 750, "atomic", 300, 1000),
        ("answering", 750, "complex", 1, 4),
        ("answering", 1200, "atomic", 1870, 2000),
        ("answering", 1200, "complex", 0, 4),
        ("answering", 1200, "<b>new</b>_task", 3, 3),
    ],
    columns=["stage", "step", "task", "n_right", "n"],
)


def lines_of(figure: go.Figure, axis: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if (trace.yaxis or "y") == axis]


def test_a_line_a_task_the_best_at_the_end_first() -> None:
    names = [line.name for line in lines_of(learning_curves(ACCURACY, LOSSES), "y")]
    assert names == ["&lt;b&gt;new&lt;/b&gt; task", "Atomic question", "Complex question"]


def test_a_point_tells_share_counts_step_and_stage() -> None:
    [atomic] = [line for line in lines_of(learning_curves(ACCURACY, LOSSES), "y") if line.name == "Atomic question"]
    assert list(atomic.x) == [750, 1200]
    assert list(atomic.y) == [0.3, 0.935]
    assert atomic.hovertext[1] == "<b>Atomic question</b><br>93.5 %, 1,870/2,000<br>step 1,200, answering"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_no_two_tasks_share_colour_or_shape_and_none_is_orange(theme: Theme) -> None:
    every = pd.DataFrame([("all", 10, task, 1, 2) for task in TASKS], columns=["stage", "step", "task", "n_right", "n"])
    lines = lines_of(learning_curves(every, LOSSES, theme), "y")
    assert len({line.line.color for line in lines}) == len({line.marker.symbol for line in lines}) == len(TASKS)
    assert theme.contradiction not in {line.line.color for line in lines}


def test_a_task_keeps_its_colour_whatever_else_is_drawn() -> None:
    alone = ACCURACY[ACCURACY["task"] == "complex"]
    [complex_line] = lines_of(learning_curves(alone, LOSSES), "y")
    others = {line.name: line.line.color for line in lines_of(learning_curves(ACCURACY, LOSSES), "y")}
    assert others["Complex question"] == complex_line.line.color


def test_stages_lie_between_thin_lines_with_their_names_above() -> None:
    figure = learning_curves(ACCURACY, LOSSES)
    assert [shape.x0 for shape in figure.layout.shapes] == [600]
    places = {note.text: note.x for note in figure.layout.annotations}
    assert (places["naming"], places["answering"]) == (300, 900)


def test_the_loss_is_a_line_a_stage_since_stages_do_not_compare() -> None:
    losses = lines_of(learning_curves(ACCURACY, LOSSES), "y2")
    assert [(list(line.x), list(line.y)) for line in losses] == [
        ([250, 600], [9.0, 4.0]),
        ([750, 1200], [2.0, 1.0]),
    ]
    assert losses[0].hovertext[0] == "training loss 9.000<br>step 250, naming"


def test_a_training_that_has_asked_nothing_yet_has_its_loss() -> None:
    figure = learning_curves(ACCURACY.iloc[:0], LOSSES)
    assert not lines_of(figure, "y") and len(lines_of(figure, "y2")) == 2
