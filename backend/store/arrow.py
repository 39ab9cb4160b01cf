"""Arrow tables from plain Python lists, made without pandas.

`pyarrow.array` imports pandas to see whether a list is one of its own, which costs an import
of a prediction file more than writing it does. Built from buffers, columns need pyarrow alone.
"""

__all__ = ["arrow_array", "arrow_table"]

from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_table(columns: Mapping[str, Any]) -> "pa.Table":
    """Return a table of columns: Arrow arrays, or sequences as `arrow_array` takes them."""
    import pyarrow as pa

    made = {name: values if isinstance(values, pa.Array) else arrow_array(values) for name, values in columns.items()}
    return pa.table(made)


def arrow_array(values: Sequence[Any]) -> "pa.Array":
    """Return a column of one kind: text, bool, int or float (None allowed), or lists of text (no None).

    The first value that is not None tells the kind; a column without one is text.

    Raises:
        TypeError: Values of several kinds, or of another.
    """
    import pyarrow as pa

    first = next((value for value in values if value is not None), "")
    if isinstance(first, bool | int | float):
        return _numbers(values, type(first))
    if isinstance(first, list):
        ends = arrow_array([0, *accumulate(map(len, values))])
        return pa.LargeListArray.from_arrays(ends, arrow_array([text for listed in values for text in listed]))
    builder = pa.lib.StringBuilder()
    builder.append_values(values)
    return builder.finish()


def _numbers(values: Sequence[Any], kind: type) -> "pa.Array":
    """Return a column of one kind of number, with a bit a value that says whether it is known, where some are not."""
    import pyarrow as pa

    known = None
    if None in values:
        known = pa.py_buffer(_bits([value is not None for value in values]))
        values = [kind() if value is None else value for value in values]
    if kind is bool:
        return pa.Array.from_buffers(pa.bool_(), len(values), [known, pa.py_buffer(_bits(values))])
    made, letter = (pa.int64(), "q") if kind is int else (pa.float64(), "d")
    return pa.Array.from_buffers(made, len(values), [known, pa.py_buffer(array(letter, values))])


def _bits(flags: Sequence[bool]) -> bytes:
    """Return flags as Arrow keeps them: eight a byte, the first in the lowest bit."""
    packed = int("0" + "".join("1" if flag else "0" for flag in reversed(flags)), 2)
    return packed.to_bytes((len(flags) + 7) // 8, "little")
