"""A filter says what it does, survives a link, and refuses what cannot be meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.endoca.outcomes import Outcome
from backend.errors import AppError
from backend.store.filters import UNREAD, UNREADABLE, UnitFilter

WORDS = st.text("abcdefghijklmnopqrstuvwxyz.-_ é%", min_size=1, max_size=12)
FILTERS = st.builds(
    UnitFilter,
    suite=st.one_of(st.just(""), WORDS),
    runs=st.lists(WORDS, max_size=3).map(tuple),
    splits=st.lists(WORDS, max_size=2).map(tuple),
    complexities=st.lists(st.integers(0, 20), max_size=3).map(tuple),
    classes=st.lists(WORDS, max_size=3).map(tuple),
    part_wrong=st.booleans(),
    outcomes=st.lists(st.sampled_from(Outcome), max_size=3).map(lambda keys: tuple(str(key) for key in keys)),
    text=st.one_of(st.just(""), WORDS),
    right=st.one_of(st.just(""), WORDS),
    wrong=st.one_of(st.just(""), WORDS),
    decision=st.sampled_from(["", "answer", "abstain"]),
    consistency=st.sampled_from(["", "consistent", "partly consistent", "inconsistent", UNREADABLE]),
    statuses=st.lists(st.sampled_from(list(UNREAD)), max_size=3).map(lambda keys: tuple(str(key) for key in keys)),
    moved=st.sampled_from(["", "kept", "to_premise", "from_premise", "elsewhere"]),
)


@given(FILTERS)
def test_a_filter_survives_its_link(chosen: UnitFilter) -> None:
    assert UnitFilter.from_query(chosen.to_query()) == chosen


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        (UnitFilter(), "everything in the store"),
        (UnitFilter(suite="core"), "suite core"),
        (UnitFilter(suite="core", complexities=(2, 3)), "suite core, complexity 2 or 3"),
        (
            UnitFilter(suite="core", complexities=(2,), classes=("instrument_presence",), outcomes=("inconsistent",)),
            "suite core, complexity 2, instrument presence questions, “right answer, wrong part”",
        ),
        (
            UnitFilter(runs=("r1",), right="r1", wrong="r2"),
            "VLM A, complex answer right by VLM A, complex answer wrong by VLM B",
        ),
        (UnitFilter(classes=("polyp_count",), part_wrong=True), "polyp count part answered wrong"),
        (UnitFilter(text="snare"), "with “snare”"),
        (UnitFilter(decision="answer", consistency="partly consistent"), "answered, labelled partly consistent"),
        (UnitFilter(decision="abstain", consistency=UNREADABLE), "withheld, decision not readable"),
        (UnitFilter(runs=("r2",), statuses=("failed",)), "VLM B, with a failed call"),
        (UnitFilter(statuses=("unparsed", "missing")), "with an answer that is not readable or a missing answer"),
        (UnitFilter(moved="to_premise"), "a part moved to its premise"),
        (
            UnitFilter(classes=("polyp_count",), moved="from_premise"),
            "polyp count questions, such a part moved away from its premise",
        ),
    ],
)
def test_a_filter_says_what_it_chooses(chosen: UnitFilter, sentence: str) -> None:
    assert chosen.sentence({"r1": "VLM A", "r2": "VLM B"}) == sentence


def test_an_empty_filter_puts_nothing_in_the_link() -> None:
    assert UnitFilter().to_query() == {}


def test_parameters_of_other_parts_of_the_page_are_left_alone() -> None:
    assert UnitFilter.from_query({"unit": "core:1", "suite": "core"}) == UnitFilter(suite="core")


@pytest.mark.parametrize(
    ("query", "known"),
    [
        ({"complexities": "two"}, "whole number"),
        ({"outcomes": "lucky"}, "supported"),
        ({"decision": "maybe"}, "Known: answer, abstain."),
        ({"consistency": "so so"}, "unreadable"),
        ({"moved": "away"}, "to_premise"),
        ({"statuses": "failed~read"}, "Known: failed, empty, unparsed, missing."),
    ],
)
def test_a_link_that_cannot_be_meant_is_refused_with_what_can(query: dict[str, str], known: str) -> None:
    with pytest.raises(AppError) as caught:
        UnitFilter.from_query(query)
    assert known in caught.value.hint


@given(FILTERS)
def test_no_text_of_the_user_stands_in_the_sql(chosen: UnitFilter) -> None:
    _, parameters = chosen.where()
    empty_sql = {clause.sql for clause in UnitFilter(
        suite="s", runs=("r",), splits=("s",), complexities=(1,), classes=("c",), part_wrong=chosen.part_wrong,
        outcomes=("mixed",), text="t", right="r", wrong="r",
        decision="answer", consistency="consistent", moved="kept", statuses=("missing",),
    ).clauses()}  # fmt: skip
    assert {clause.sql for clause in chosen.clauses()} <= empty_sql
    assert set(parameters) <= {
        "suite",
        "runs",
        "splits",
        "complexities",
        "classes",
        "outcomes",
        "text",
        "right",
        "wrong",
        "decision",
        "consistency",
        "moved",
        "moved_classes",
        "statuses",
    }
