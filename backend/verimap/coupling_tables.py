"""Tables that coupling is fitted to, checked row by row: cells with rates, and counts of verifier errors.

A wrong row is an error that names its line; no row is passed over in silence.
"""

__all__ = ["CELL_COLUMNS", "COUNT_COLUMNS", "NumberedRow", "cell_table", "count_table"]

from collections.abc import Callable, Iterable, Mapping
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from backend.errors import MAX_LISTED_LINES, AppError, BadLine, describe_bad_line
from backend.verimap.cell_rates import RATES
from backend.verimap.grouping import FACTORS

CELL_COLUMNS = (*FACTORS, *RATES)
COUNT_COLUMNS = (*FACTORS, "gen_err", "ver_err", "n")

_UNDEFINED = frozenset({"", "n/a", "na", "nan", "-", "–", "—"})
"""How an undefined rate may stand in a file, in lower case."""


_Read = Callable[[Mapping[str, Any]], Mapping[str, float]]


class NumberedRow(NamedTuple):
    """A row of a file."""

    number: int
    """1-based line."""
    cells: Mapping[str, Any]
    """By column name, as they stand in the file."""


class _WrongRow(ValueError):
    """A row that cannot be used; its text is the reason."""


def cell_table(rows: Iterable[NumberedRow], bad: Iterable[BadLine] = ()) -> pd.DataFrame:
    """Return cells with rates in percent.

    Args:
        rows: With `CELL_COLUMNS`; other columns are passed over. FPR and FNR may be empty or N/A.
        bad: Lines that could not be read at all; they are listed with the wrong rows.

    Returns:
        `CELL_COLUMNS`, NaN for a rate that is not given.

    Raises:
        AppError: A column is absent, a row is wrong, or there is no row.
    """
    table = _table(rows, bad, CELL_COLUMNS, _cell)
    if len(table) > 1 and np.nanmax(table[list(RATES)].to_numpy(dtype=np.float64)) <= 1:
        raise AppError(
            "All rates lie between 0 and 1, so they look like fractions.",
            f"Give {', '.join(RATES)} in percent, between 0 and 100.",
        )
    return table


def count_table(rows: Iterable[NumberedRow], bad: Iterable[BadLine] = ()) -> pd.DataFrame:
    """Return counts of verifier errors.

    Args:
        rows: With `COUNT_COLUMNS`; other columns are passed over. ``gen_err`` is 0 or 1; ``ver_err`` of ``n``.
        bad: Lines that could not be read at all; they are listed with the wrong rows.

    Returns:
        `COUNT_COLUMNS`, counts as whole numbers.

    Raises:
        AppError: A column is absent, a row is wrong, or no row counts an answer.
    """
    table = _table(rows, bad, COUNT_COLUMNS, _counts)
    if not table["n"].sum():
        raise AppError("No row counts an answer.", "Give a file in which n is above 0.")
    return table


def _table(rows: Iterable[NumberedRow], bad: Iterable[BadLine], columns: tuple[str, ...], read: _Read) -> pd.DataFrame:
    records, wrong = [], list(bad)
    for row in rows:
        cells = {str(name).strip(): value for name, value in row.cells.items()}
        absent = [name for name in columns if name not in cells]
        if absent:
            raise AppError(
                f"There is no column {', '.join(absent)}.", f"The columns are {', '.join(columns)}; others may follow."
            )
        try:
            records.append({**_names(cells), **read(cells)})
        except _WrongRow as reason:
            wrong.append(BadLine(row.number, str(reason)))
    if wrong:
        wrong.sort(key=lambda line: line.number)
        listed = "\n".join(describe_bad_line(line) for line in wrong[:MAX_LISTED_LINES])
        rest = f"\n… and {len(wrong) - MAX_LISTED_LINES} more." if len(wrong) > MAX_LISTED_LINES else ""
        count = f"{len(wrong)} bad line{'s' if len(wrong) > 1 else ''}; nothing was fitted."
        raise AppError(f"{count}\n{listed}{rest}", "Mend these lines and run the command again.")
    if not records:
        raise AppError("There is no row.", f"Give a file with a header and rows: {', '.join(columns)}.")
    return pd.DataFrame(records, columns=list(columns))


def _names(cells: Mapping[str, Any]) -> dict[str, str]:
    names = {factor: str(cells[factor] if cells[factor] is not None else "").strip() for factor in FACTORS}
    if empty := [factor for factor, name in names.items() if not name]:
        raise _WrongRow(f"{empty[0]} is empty")
    return names


def _cell(cells: Mapping[str, Any]) -> dict[str, float]:
    rates = {}
    for name in RATES:
        text = str(cells[name] if cells[name] is not None else "").strip().removesuffix("%").strip()
        if name != "generator_accuracy" and text.lower() in _UNDEFINED:
            rates[name] = nan
            continue
        rates[name] = _number(name, text)
        if not 0 <= rates[name] <= 100:
            raise _WrongRow(f"{name} is {text}, not a percentage between 0 and 100")
    return rates


def _counts(cells: Mapping[str, Any]) -> dict[str, int]:
    counts = {}
    for name in ("gen_err", "ver_err", "n"):
        text = str(cells[name] if cells[name] is not None else "").strip()
        number = _number(name, text)
        if number < 0 or number != int(number):
            raise _WrongRow(f"{name} is {text}, not a whole number from 0")
        counts[name] = int(number)
    if counts["gen_err"] > 1:
        raise _WrongRow(f"gen_err is {counts['gen_err']}, not 0 or 1")
    if counts["ver_err"] > counts["n"]:
        raise _WrongRow(f"ver_err is {counts['ver_err']}, more than the {counts['n']} answers of its row")
    return counts


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise _WrongRow(f"{name} is {text or 'empty'}, not a number")
    return number
