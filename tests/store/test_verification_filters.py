"""Promises of the choice of verifications: what fits, in which words, and that a link gives it back."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import AppError
from backend.store.store import Store
from backend.store.verification_filters import (
    BOTH,
    UNLABELLED,
    VERIFICATIONS,
    VerificationFilter,
    outcome_sql,
    verification_count,
)
from backend.verimap.outcomes import Policy, Treatment, verdict_outcome
from backend.verimap.verifier import Verdict
from tests.services.grounding_store import make_grounding_store
from tests.services.verification_store import ATLAS, BEACON, OWN, VQA_RAD, make_verification_store, run_id

PLAIN = 59
"""Plain verifications in the store: six runs of eight, and eleven records."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("verdicts") / "verdicts.duckdb") as made:
        yield made


@pytest.mark.parametrize(
    ("chosen", "n", "sentence"),
    [
        (VerificationFilter(), PLAIN, "every verification in the store"),
        (VerificationFilter(suites=(OWN,)), 11, "data set own"),
        (VerificationFilter(suites=(VQA_RAD,)), 48, "data set VQA-RAD"),
        (VerificationFilter(suites=(VQA_RAD, OWN), turns=(0,)), 43, "data set VQA-RAD or own, first answers"),
        (VerificationFilter(tasks=("spatial_localization",)), 5, "spatial localization questions"),
        (VerificationFilter(tasks=(UNLABELLED,)), 4, "unlabelled questions"),
        (VerificationFilter(tasks=(UNLABELLED, "spatial_localization")), 9, None),
        (VerificationFilter(groups=("perceptual",)), 29, "perceptual questions"),
        (VerificationFilter(groups=("quantitative",)), 0, "quantitative questions"),
        (VerificationFilter(generators=(BEACON,)), 16, f"answers of {BEACON}"),
        (VerificationFilter(verifiers=(BEACON,)), 21, f"verified by {BEACON}"),
        (VerificationFilter(pairing="self", turns=(0,)), 22, "VLMs verifying their own answers, first answers"),
        (VerificationFilter(pairing="cross"), 21, "VLMs verifying each other's answers"),
        (VerificationFilter(pairing=BOTH), PLAIN, "every verification in the store"),
        (VerificationFilter(conditions=("image_withheld", "image_swapped")), 16, "image withheld or image swapped"),
        (VerificationFilter(turns=(1, 2)), 16, "turn 1 or 2"),
        (VerificationFilter(runs=(run_id(OWN, ATLAS, BEACON),)), 5, run_id(OWN, ATLAS, BEACON)),
        (VerificationFilter(origins=("imported",)), 11, "imported verdicts"),
        (VerificationFilter(verdict_outcomes=("fp",)), 17, "false acceptance"),
        (VerificationFilter(verdict_outcomes=("fp",), turns=(0,)), 11, "first answers, false acceptance"),
        (VerificationFilter(verdict_outcomes=("unparsed",)), 2, "reply without a verdict"),
        (VerificationFilter(verdict_outcomes=("uncertain",)), 2, "verdict UNCERTAIN"),
        (VerificationFilter(verdict_outcomes=("unjudged",)), 4, "answer not judged"),
        (VerificationFilter(verdict_outcomes=("fn", "unjudged")), 9, "false rejection or answer not judged"),
        (VerificationFilter(verdict_outcomes=("fn",), uncertain="drop"), 4, None),
        (VerificationFilter(verdict_outcomes=("tn",), unparsed="reject", suites=(VQA_RAD,), turns=(0,)), 8, None),
        (VerificationFilter(text=" LIVER "), 6, "with “LIVER”"),
        (VerificationFilter(text="p3"), 3, "with “p3”"),
        (VerificationFilter(text="sees the <u>7</u>"), 6, None),
    ],
)
def test_a_filter_chooses_what_its_sentence_says(
    store: Store, chosen: VerificationFilter, n: int, sentence: str | None
) -> None:
    assert verification_count(store, chosen) == n
    assert sentence is None or chosen.sentence() == sentence
    assert VerificationFilter.from_query(chosen.to_query()) == chosen


def test_controls_are_never_among_plain_verifications(store: Store) -> None:
    every = VerificationFilter(conditions=("plain", "two_step", "image_withheld", "image_swapped"))
    assert verification_count(store, every) == PLAIN + 3 * 8


@pytest.mark.parametrize(("uncertain", "unparsed"), list(product(Treatment, Treatment)))
def test_the_store_names_outcomes_as_the_formulas_do(store: Store, uncertain: Treatment, unparsed: Treatment) -> None:
    policy = Policy(uncertain=uncertain, unparsed=unparsed)
    rows = store.rows(f"SELECT v.oracle_correct, v.verdict, {outcome_sql(policy)} FROM {VERIFICATIONS}")
    assert rows
    for right, verdict, outcome in rows:
        said = Verdict(verdict) if verdict else None
        expected = None if right is None else verdict_outcome(right, said, policy)
        assert outcome == expected


names = st.text(min_size=1).filter(str.strip)


@given(st.lists(names, min_size=1).map(tuple), st.lists(names).map(tuple), st.sets(st.integers(0, 999)), st.text())
def test_a_link_gives_back_any_name(
    generators: tuple[str, ...], suites: tuple[str, ...], turns: set[int], text: str
) -> None:
    chosen = VerificationFilter(generators=generators, suites=suites, turns=tuple(sorted(turns)), text=text)
    assert VerificationFilter.from_query(chosen.to_query()) == chosen


@pytest.mark.parametrize(
    ("query", "known"),
    [
        ({"tasks": "surgery"}, "modality_recognition"),
        ({"groups": "easy"}, "knowledge-intensive"),
        ({"pairing": "other"}, "cross"),
        ({"conditions": "blindfolded"}, "image_withheld"),
        ({"turns": "first"}, "whole numbers"),
        ({"verdict_outcomes": "fx"}, "unparsed"),
        ({"uncertain": "guess"}, "reject"),
        ({"looked": "once"}, "both"),
    ],
)
def test_a_link_that_cannot_be_meant_names_what_can(query: dict[str, str], known: str) -> None:
    with pytest.raises(AppError, match=known) as caught:
        VerificationFilter.from_query(query)
    assert known in f"{caught.value} {caught.value.hint}"


def test_a_link_s_other_parameters_are_left_alone() -> None:
    assert VerificationFilter.from_query({"unit": "x", "table": "All"}) == VerificationFilter()


def test_without_a_word_the_policy_is_the_paper_s() -> None:
    assert VerificationFilter().policy == Policy()
    other = replace(VerificationFilter(), uncertain="drop", unparsed="reject")
    assert other.policy == Policy(uncertain=Treatment.DROP, unparsed=Treatment.REJECT)


@pytest.mark.parametrize(
    ("chosen", "n", "sentence"),
    [
        (VerificationFilter(looked=BOTH), 7, "with saliency of both generator and verifier"),
        (
            VerificationFilter(verifiers=(BEACON,), looked=BOTH), 1,
            f"verified by {BEACON}, with saliency of both generator and verifier",
        ),
        (VerificationFilter(runs=(run_id(VQA_RAD, ATLAS, ATLAS, turn=1),), looked=BOTH), 0, None),
        (VerificationFilter(suites=(OWN,), looked=BOTH), 0, None),
    ],
)  # fmt: skip
def test_a_choice_by_looks_takes_what_was_looked_into_on_both_sides(
    tmp_path: Path, chosen: VerificationFilter, n: int, sentence: str | None
) -> None:
    with make_grounding_store(tmp_path / "looks.duckdb") as looked:
        assert verification_count(looked, chosen) == n
        assert sentence is None or chosen.sentence() == sentence
        assert VerificationFilter.from_query(chosen.to_query()) == chosen
        every = replace(chosen, looked="")
        where, parameters = chosen.where()
        left = looked.value(f"SELECT count(*) FROM {VERIFICATIONS} WHERE NOT ({where})", parameters)
        assert left + n == looked.value("SELECT count(*) FROM verifications"), "looked into or not, never unknown"
        assert verification_count(looked, every) >= n
