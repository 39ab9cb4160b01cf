"""Promises of comparisons: the same answers on both sides, every figure as worked out by hand."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from backend.services.verimap_cells import verdict_table
from backend.services.verimap_comparisons import (
    condition_table,
    relation_table,
    self_to_cross,
    shared_answers,
    verifier_matrix,
)
from backend.services.verimap_kinship import Kinship, Relation
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import Policy
from tests.services.verification_store import ATLAS, BEACON, DISEASE, MODALITY, SPATIAL, make_verification_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("verdicts") / "verdicts.duckdb") as made:
        yield made


@pytest.fixture(scope="module")
def verdicts(store: Store) -> pd.DataFrame:
    return verdict_table(store, VerificationFilter(turns=(0,)))


@pytest.fixture(scope="module")
def plain(verdicts: pd.DataFrame) -> pd.DataFrame:
    return verdicts[verdicts["condition"].astype(object) == "plain"]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def test_self_and_cross_are_compared_on_the_answers_that_both_judged(plain: pd.DataFrame) -> None:
    rows = {row["task"]: row for row in rows_of(self_to_cross(plain, Policy()))}
    assert list(rows) == [MODALITY, SPATIAL, DISEASE, None]
    modality = rows[MODALITY]
    assert (modality["n_a"], modality["n_b"], modality["n_generators"], modality["n_verifiers"]) == (8, 8, 2, 2)
    assert (modality["error_a"], modality["error_b"]) == (3 / 8, 1 / 8)
    assert (modality["fpr_a"], modality["fpr_b"], modality["fpr_change"]) == (3 / 4, 0, -3 / 4)
    assert (modality["bias_a"], modality["bias_b"]) == (3 / 8, -1 / 8)
    disease = rows[DISEASE]
    assert (disease["n_a"], disease["n_b"]) == (8, 6), "verdicts that were left out are on one side alone"
    assert (disease["error_a"], disease["error_b"]) == (5 / 8, 3 / 6)
    assert (disease["fpr_a"], disease["fpr_b"]) == (pytest.approx(3 / 5), pytest.approx(2 / 3))


def test_an_answer_judged_by_one_side_alone_is_left_out(plain: pd.DataFrame) -> None:
    spatial = next(row for row in rows_of(self_to_cross(plain, Policy())) if row["task"] == SPATIAL)
    assert (spatial["n_a"], spatial["n_b"]) == (2, 2), "the second record of p3 has no cross verdict"
    own = (plain["generator"].astype(object) == plain["verifier"].astype(object)).to_numpy()
    a, b = shared_answers(plain[own], plain[~own])
    assert (own.sum(), len(a), len(b)) == (22, 21, 21)


def test_without_both_kinds_there_is_nothing_to_compare(plain: pd.DataFrame) -> None:
    own = (plain["generator"].astype(object) == plain["verifier"].astype(object)).to_numpy()
    assert self_to_cross(plain[own], Policy()).empty
    assert self_to_cross(plain.iloc[:0], Policy()).empty


def test_the_matrix_keeps_generators_and_verifiers_apart(plain: pd.DataFrame) -> None:
    rows = {(row["generator"], row["verifier"]): row for row in rows_of(verifier_matrix(plain, Policy()))}
    assert {pair: (row["tp"], row["tn"], row["fp"], row["fn"]) for pair, row in rows.items()} == {
        (ATLAS, ATLAS): (4, 3, 5, 1),
        (ATLAS, BEACON): (3, 5, 1, 2),
        (BEACON, ATLAS): (3, 2, 1, 1),
        (BEACON, BEACON): (3, 0, 4, 1),
    }


def test_a_relative_is_set_beside_its_base_on_the_base_s_answers(plain: pd.DataFrame) -> None:
    rows = rows_of(relation_table(plain, Policy(), [Relation(ATLAS, BEACON, Kinship.ADAPTED)]))
    assert [row["task"] for row in rows] == [MODALITY, SPATIAL, DISEASE, None]
    assert {(row["base"], row["other"], row["kind"]) for row in rows} == {(ATLAS, BEACON, "adapted")}
    assert (rows[0]["fpr_a"], rows[0]["fpr_b"]) == (1 / 2, 0)
    assert (rows[0]["n_a"], rows[0]["n_b"], rows[0]["n_images"]) == (4, 4, 3)


def test_a_relation_that_was_never_measured_has_no_row(plain: pd.DataFrame) -> None:
    assert relation_table(plain, Policy(), [Relation("Nobody", BEACON, Kinship.SCALED)]).empty
    assert relation_table(plain, Policy(), []).empty


@pytest.mark.parametrize(
    ("condition", "same"),
    [(Condition.IMAGE_WITHHELD, 7), (Condition.IMAGE_SWAPPED, 5), (Condition.TWO_STEP, 3)],
)
def test_verdicts_that_stay_the_same_are_counted_over_all_answers(
    verdicts: pd.DataFrame, condition: Condition, same: int
) -> None:
    [row] = rows_of(condition_table(verdicts, Policy(), condition))
    assert (row["generator"], row["verifier"]) == (ATLAS, ATLAS)
    assert (row["unchanged_k"], row["unchanged_n"], row["n_without"]) == (same, 8, 0)
    assert row["unchanged_low"] < row["unchanged"] < row["unchanged_high"]
    assert (row["n_a"], row["n_b"]) == (7, 7), "the unjudged answer is in no rate"


def test_a_control_is_set_beside_the_plain_verdicts(verdicts: pd.DataFrame) -> None:
    [row] = rows_of(condition_table(verdicts, Policy(), Condition.IMAGE_WITHHELD))
    assert (row["error_a"], row["error_b"]) == (pytest.approx(3 / 7), pytest.approx(4 / 7))
    assert (row["fpr_a"], row["fpr_b"]) == (2 / 4, 3 / 4)


def test_an_answer_without_a_verdict_on_one_side_is_counted_apart(verdicts: pd.DataFrame) -> None:
    said = (
        verdicts["verdict"]
        .astype(object)
        .mask((verdicts["condition"].astype(object) == "image_withheld") & (verdicts["oracle_correct"].isna()))
    )
    [row] = rows_of(condition_table(verdicts.assign(verdict=said), Policy(), Condition.IMAGE_WITHHELD))
    assert (row["unchanged_k"], row["unchanged_n"], row["n_without"]) == (6, 7, 1)


def test_without_a_control_there_is_no_row(plain: pd.DataFrame) -> None:
    assert condition_table(plain, Policy(), Condition.IMAGE_SWAPPED).empty
