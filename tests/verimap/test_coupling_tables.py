"""Tables that coupling is fitted to: what is taken and what is refused."""

from collections.abc import Sequence

import pandas as pd
import pytest

from backend.errors import AppError, BadLine
from backend.verimap.coupling_tables import CELL_COLUMNS, COUNT_COLUMNS, NumberedRow, cell_table, count_table

CELL = ("t", "m", "d", "60.0", "75", "16.7")
COUNT = ("t", "m", "d", "1", "3", "10")


def rows(columns: Sequence[str], *given: Sequence[object]) -> list[NumberedRow]:
    """Return rows from line 2 on."""
    return [NumberedRow(number, dict(zip(columns, row, strict=True))) for number, row in enumerate(given, start=2)]


def test_rates_are_percentages_and_an_undefined_one_may_be_left_out() -> None:
    table = cell_table(rows(CELL_COLUMNS, CELL, ("t", "m", "e", "100", "N/A", ""), ("t", "m", "f", "5 %", "–", "1")))
    assert list(table.columns) == list(CELL_COLUMNS)
    assert table["generator_accuracy"].tolist() == [60, 100, 5]
    assert pd.isna(table["fpr"]).tolist() == [False, True, True]
    assert pd.isna(table["fnr"]).tolist() == [False, True, False]


def test_counts_are_whole_numbers_and_other_columns_are_passed_over() -> None:
    given = rows((" task ", *COUNT_COLUMNS[1:], "note"), (*COUNT, "x"), (*COUNT[:3], 0, "2.0", 10, None))
    table = count_table(given)
    assert table.to_dict("list") == {
        "task": ["t", "t"], "model": ["m", "m"], "dataset": ["d", "d"], "gen_err": [1, 0], "ver_err": [3, 2],
        "n": [10, 10],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((*COUNT[:3], "2", "3", "10"), "gen_err is 2, not 0 or 1"),
        ((*COUNT[:3], "1", "11", "10"), "more than the 10 answers"),
        ((*COUNT[:3], "1", "2.5", "10"), "not a whole number"),
        ((*COUNT[:3], "1", "-1", "10"), "not a whole number"),
        ((*COUNT[:3], "1", "many", "10"), "not a number"),
        ((*COUNT[:3], "1", "1", "inf"), "not a number"),
        ((*COUNT[:3], "1", None, "10"), "ver_err is empty"),
        (("t", "", "d", "1", "3", "10"), "model is empty"),
    ],
)
def test_a_wrong_count_names_its_line_and_its_reason(row: Sequence[object], words: str) -> None:
    with pytest.raises(AppError) as raised:
        count_table(rows(COUNT_COLUMNS, COUNT, row))
    assert "line 3" in raised.value.message
    assert words in raised.value.message


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((*CELL[:3], "101", "1", "1"), "between 0 and 100"),
        ((*CELL[:3], "", "1", "1"), "generator_accuracy is empty"),
        ((*CELL[:3], "50", "-1", "1"), "between 0 and 100"),
    ],
)
def test_a_wrong_rate_names_its_line_and_its_reason(row: Sequence[object], words: str) -> None:
    with pytest.raises(AppError) as raised:
        cell_table(rows(CELL_COLUMNS, CELL, row))
    assert "line 3" in raised.value.message
    assert words in raised.value.message


def test_lines_that_could_not_be_read_are_listed_in_order_with_the_wrong_ones() -> None:
    with pytest.raises(AppError) as raised:
        count_table(rows(COUNT_COLUMNS, (*COUNT[:3], "7", "3", "10")), [BadLine(9, "not UTF-8")])
    assert raised.value.message.index("line 2") < raised.value.message.index("line 9: not UTF-8")


def test_rates_that_look_like_fractions_are_refused() -> None:
    with pytest.raises(AppError, match="fractions"):
        cell_table(rows(CELL_COLUMNS, (*CELL[:3], "0.6", "0.7", "0.1"), (*CELL[:3], "1", "0", "")))


def test_an_absent_column_and_an_empty_file_are_said() -> None:
    with pytest.raises(AppError, match="no column ver_err"):
        count_table(rows([*COUNT_COLUMNS[:4], "n"], [*COUNT[:4], "10"]))
    with pytest.raises(AppError, match="no row"):
        cell_table([])
    with pytest.raises(AppError, match="No row counts an answer"):
        count_table(rows(COUNT_COLUMNS, (*COUNT[:3], "1", "0", "0")))
