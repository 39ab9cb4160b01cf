"""Columns made without pandas hold what pyarrow itself would make of the same lists."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.store.arrow import arrow_array, arrow_table

COLUMNS = st.one_of(
    st.lists(st.text() | st.none()),
    st.lists(st.booleans() | st.none()),
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()),
    st.lists(st.floats(allow_nan=False) | st.none()),
    st.lists(st.lists(st.text())),
)


@given(COLUMNS)
def test_a_column_reads_back_as_the_list_it_was_made_from(values: list[object]) -> None:
    column = arrow_array(values)
    column.validate(full=True)
    assert column.to_pylist() == values
    assert len(column) == len(values)


def test_each_kind_of_value_has_its_type() -> None:
    table = arrow_table({"a": ["x"], "b": [True], "c": [1], "d": [0.5], "e": [["x", "y"]], "f": pa.array([2])})
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "bool",
        "int64",
        "double",
        "large_list<item: string>",
        "int64",
    ]


def test_values_of_several_kinds_are_refused() -> None:
    for values in (["a", 1], [1, "a"], [["a"], None]):
        with pytest.raises(TypeError):
            arrow_array(values)
