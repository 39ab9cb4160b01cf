"""Loops in the store: which runs make one, and that fates in SQL are those of the pure rule."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.records import AnswerStatus, Origin, RunKey, Stage, System
from backend.errors import AppError
from backend.services.ingest.suites import put_run
from backend.services.ingest.verifications import StoredVerification, put_verifications
from backend.store.loop_fates import FATES, loop_clause, loop_fates, loop_runs, loop_turns
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter, verification_count
from backend.verimap.conditions import Condition
from backend.verimap.fates import Fate, LoopEnd, LoopRule, NoFate, Turn, fate_of
from backend.verimap.verifier import Verdict
from tests.services.verification_store import ATLAS, OWN, VQA_RAD, make_verification_store, run_id, unit_of

LOOP = run_id(VQA_RAD, ATLAS, ATLAS, turn=2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("loops") / "loops.duckdb") as made:
        yield made


def test_the_runs_of_a_chain_are_one_loop_and_a_first_verdict_alone_is_none(store: Store) -> None:
    [loop] = loop_runs(store).to_dict("records")
    assert (loop["loop_id"], loop["suite"], loop["n"], loop["longest"]) == (LOOP, VQA_RAD, 8, 2)
    assert (loop["generator"], loop["verifier"], loop["origin"]) == (ATLAS, ATLAS, "precomputed")


def test_every_turn_of_a_loop_is_there_and_no_control(store: Store) -> None:
    turns = loop_turns(store, VQA_RAD)
    assert turns.groupby("turn").size().to_dict() == {0: 8, 1: 8, 2: 8}
    assert loop_turns(store, OWN).empty


def test_fates_are_those_the_store_s_docstring_tells(store: Store) -> None:
    fates = loop_fates(store, VQA_RAD, LoopRule())
    assert dict(zip(fates["unit_id"], fates["fate"], strict=True)) == {
        unit_of(VQA_RAD, name): fate
        for name, fate in {
            "1": "kept", "2": "spoiled", "3": "locked", "4": "corrected", "5": "kept", "6": "locked",
            "7": "still_wrong", "8": "unjudged",
        }.items()
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fates", "rule", "units"),
    [
        (("locked",), LoopRule(), ["3", "6"]),
        (("spoiled", "corrected"), LoopRule(), ["2", "4"]),
        (("unjudged",), LoopRule(), ["8"]),
        (("kept",), LoopRule(LoopEnd.AT_ACCEPTANCE), ["1", "2", "5"]),
        (("locked",), LoopRule(last_turn=1), ["3", "6"]),
        (("unfinished",), LoopRule(LoopEnd.AT_LAST_TURN, 4), list("12345678")),
    ],
)
def test_a_filter_chooses_the_last_verification_of_each_fate(
    store: Store, fates: tuple[str, ...], rule: LoopRule, units: list[str]
) -> None:
    for loop in (LOOP, ""):
        chosen = VerificationFilter(loop=loop, fates=fates, loop_rule=rule.key)
        where, parameters = chosen.where()
        rows = store.rows(
            f"SELECT v.unit_id FROM verifications v JOIN examples e USING (unit_id) WHERE {where} ORDER BY 1",
            parameters,
        )
        assert [row[0] for row in rows] == [unit_of(VQA_RAD, name) for name in units]
        assert VerificationFilter.from_query(chosen.to_query()) == chosen


def test_a_loop_without_fates_chooses_all_its_verifications(store: Store) -> None:
    assert verification_count(store, VerificationFilter(loop=LOOP)) == 24
    assert verification_count(store, VerificationFilter(loop=LOOP, turns=(1,))) == 8
    assert VerificationFilter(loop=LOOP).sentence({LOOP: "Atlas again"}) == "in the loop Atlas again"
    assert "“wrong in the end, and accepted as correct” in a loop" in VerificationFilter(fates=("locked",)).sentence()


def test_a_link_cannot_ask_for_a_fate_or_rule_that_does_not_exist() -> None:
    with pytest.raises(AppError, match="fates"):
        VerificationFilter.from_query({"fates": "lost"})
    with pytest.raises(AppError, match="loop rule"):
        loop_clause("", ("locked",), "sometimes")


TURNS = st.dictionaries(
    st.integers(0, 4),
    st.tuples(st.sampled_from([True, False, None]), st.sampled_from([*Verdict, None])),
    min_size=1,
)


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.create(tmp_path_factory.mktemp("drawn") / "drawn.duckdb") as made:
        yield made


@settings(max_examples=40, deadline=None)
@given(
    loops=st.lists(TURNS, min_size=1, max_size=8),
    end=st.sampled_from(LoopEnd),
    last=st.one_of(st.none(), st.integers(1, 5)),
)
def test_the_fate_in_sql_is_the_pure_one(
    empty_store: Store, loops: list[dict[int, tuple[bool | None, Verdict | None]]], end: LoopEnd, last: int | None
) -> None:
    key = RunKey(System.VERIMAP, "drawn", "V", Stage.VERIFY, Origin.IMPORTED)
    rows = [
        StoredVerification(
            f"drawn:{place % 2}", "i", turn, place // 2, "a", correct, None, verdict, None, AnswerStatus.READ, ""
        )
        for place, loop in enumerate(loops)
        for turn, (correct, verdict) in loop.items()
    ]
    with empty_store.write() as cursor:
        for table in ("verifications", "runs", "examples"):
            cursor.execute(f"DELETE FROM {table}")
        put_run(cursor, key, None, "drawn")
        put_verifications(cursor, key.run_id, "drawn", "G", "V", Condition.PLAIN, rows)
        for unit in ("drawn:0", "drawn:1"):
            cursor.execute("INSERT INTO examples VALUES (?, 'drawn', NULL, NULL, [], '[]', '', NULL, [])", [unit])
    longest = max(max(loop) for loop in loops)
    found = loop_fates(empty_store, "drawn", LoopRule(end, last))
    if not longest:
        assert found.empty, "first answers alone are no loop"
        return
    told = {(row["unit_id"], row["place"]): row["fate"] for row in found.to_dict("records")}
    expected: dict[tuple[str, int], Fate | NoFate] = {
        (f"drawn:{place % 2}", place // 2): fate_of(
            {turn: Turn(*said) for turn, said in loop.items()}, last or longest, end
        )
        for place, loop in enumerate(loops)
    }
    assert told == expected
    for fate in FATES:
        count = verification_count(empty_store, VerificationFilter(fates=(fate,), loop_rule=LoopRule(end, last).key))
        assert count == list(expected.values()).count(fate)


def test_a_loop_that_branches_is_two_that_share_their_beginning(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "branched.duckdb") as store:
        again = RunKey(System.VERIMAP, VQA_RAD, ATLAS, Stage.VERIFY, Origin.PRECOMPUTED, "again, turn 1")
        unit = unit_of(VQA_RAD, "3")
        row = StoredVerification(unit, "i", 1, 0, "a", True, "file", Verdict.CORRECT, None, AnswerStatus.READ, "")
        with store.write() as cursor:
            put_run(cursor, again, None, "a test")
            cursor.execute("INSERT INTO run_bases VALUES (?, ?)", [again.run_id, run_id(VQA_RAD, ATLAS, ATLAS, turn=0)])
            put_verifications(cursor, again.run_id, VQA_RAD, ATLAS, ATLAS, Condition.PLAIN, [row])
        assert set(loop_runs(store)["loop_id"]) == {LOOP, again.run_id}
        fates: pd.DataFrame = loop_fates(store, VQA_RAD, LoopRule())
        by_loop = fates[fates["unit_id"] == unit].set_index("loop_id")["fate"].to_dict()
        assert by_loop == {LOOP: "locked", again.run_id: "corrected"}
