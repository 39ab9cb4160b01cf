"""Grouping factors."""

import pandas as pd

from backend.verimap.grouping import grouped

TABLE = pd.DataFrame({"task": ["b", "a", "b"], "model": ["x", "x", "x"], "dataset": ["p", "q", "q"]})


def test_levels_are_alphabetical_and_rows_point_to_theirs() -> None:
    [task, dataset] = grouped(TABLE).used
    assert (task.factor, task.levels, task.codes.tolist()) == ("task", ("a", "b"), [1, 0, 1])
    assert (dataset.factor, dataset.levels) == ("dataset", ("p", "q"))
    assert task.indicators().tolist() == [[0, 1], [1, 0], [0, 1]]


def test_a_factor_with_one_level_is_left_out_and_named() -> None:
    assert grouped(TABLE).left_out == ("model",)
