"""The gate of verification records."""

from typing import Any

import pytest

from backend.verimap.conditions import Condition
from backend.verimap.verification_records import COLUMNS, parse_record
from backend.verimap.verifier import Verdict
from backend.verimap.vocabulary import Task

ROW: dict[str, Any] = {
    "id": "q1",
    "dataset": "own",
    "task": "spatial",
    "generator": "one",
    "verifier": "two",
    "oracle_correct": True,
    "verdict": "CORRECT",
}


def test_a_record_is_read_from_a_line_of_json() -> None:
    found = parse_record(
        b'{"id": 7, "dataset": "own", "task": "causal reasoning", "generator": "one",'
        b' "verifier": "one", "oracle_correct": false, "verdict": null, "turn": 2, "note": "mine"}'
    )
    assert (found.source_id, found.task, found.oracle_correct, found.verdict, found.turn) == (
        "7", Task.CAUSAL_EXPLANATION, False, None, 2,
    )  # fmt: skip
    assert found.is_self
    assert not parse_record(ROW).is_self


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"verdict": "incorrect "}, "verdict", Verdict.INCORRECT),
        ({"verdict": ""}, "verdict", None),
        ({"verdict": float("nan")}, "verdict", None),
        ({"verdict": "null"}, "verdict", None),
        ({"verdict": " None"}, "verdict", None),
        ({"oracle_correct": "nan"}, "oracle_correct", None),
        ({"oracle_correct": "N/A"}, "oracle_correct", None),
        ({"task": "NA"}, "task", None),
        ({"turn": "null"}, "turn", 0),
        ({"answer": "none"}, "answer", "none"),
        ({"explanation": "half of a pair: \ud800"}, "explanation", "half of a pair: \ufffd"),
        ({"id": "\udfff"}, "source_id", "\ufffd"),
        ({"oracle_correct": "false"}, "oracle_correct", False),
        ({"oracle_correct": 1.0}, "oracle_correct", True),
        ({"oracle_correct": None}, "oracle_correct", None),
        ({"task": None}, "task", None),
        ({"turn": "3"}, "turn", 3),
        ({"turn": ""}, "turn", 0),
        ({"condition": None}, "condition", Condition.PLAIN),
        ({"condition": "Image-swapped"}, "condition", Condition.IMAGE_SWAPPED),
        ({"condition": "two step"}, "condition", Condition.TWO_STEP),
        ({"error": "timeout"}, "error", "timeout"),
        ({"error": ""}, "error", None),
        ({"id": 12.0}, "source_id", "12"),
        ({"answer": " no "}, "answer", "no"),
        ({"answer": ""}, "answer", None),
    ],
)
def test_a_tables_cells_are_taken_for_what_they_mean(change: dict[str, Any], field: str, value: object) -> None:
    assert getattr(parse_record(ROW | change), field) == value


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verdict": "perhaps"}, "CORRECT, INCORRECT, UNCERTAIN"),
        ({"task": "surgery"}, "modality_recognition, anatomical_identification"),
        ({"oracle_correct": "perhaps"}, "oracle_correct is neither true nor false"),
        ({"condition": "blurred"}, "plain, two_step, image_withheld, image_swapped"),
        ({"turn": -1}, "turn"),
        ({"turn": 1.5}, "turn"),
        ({"turn": True}, "turn"),
        ({"turn": 1000}, "turn"),
        ({"turn": float("inf")}, "turn"),
        ({"Verdict": "INCORRECT"}, "has verdict twice"),
        ({"generator": ""}, "generator is empty"),
        ({"id": None}, "id is empty"),
    ],
)
def test_what_is_wrong_is_said_with_the_right_values(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_record(ROW | change)


@pytest.mark.parametrize("column", COLUMNS[:7])
def test_each_needed_column_is_missed_by_its_name(column: str) -> None:
    with pytest.raises(ValueError, match=f"lacks {column}"):
        parse_record({name: value for name, value in ROW.items() if name != column})


@pytest.mark.parametrize("line", [b"{", b"[1]", b"null"])
def test_what_is_no_object_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="not "):
        parse_record(line)
