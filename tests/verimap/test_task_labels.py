"""Task labels: read, voted, compared."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.verimap.task_labels import (
    Labels,
    VoteKind,
    agreement,
    check_labels,
    confusion,
    read_labels,
    vote,
    vote_all,
)
from backend.verimap.vocabulary import Task

M, A, S, Q, D, X, C = Task


@pytest.mark.parametrize(
    ("labels", "task", "kind"),
    [
        ((D, D, D), D, VoteKind.UNANIMOUS),
        ((D, M, D), D, VoteKind.MAJORITY),
        ((D, D, None), D, VoteKind.MAJORITY),
        ((S, D, X), X, VoteKind.ALPHABETICAL),  # differential … < disease … < spatial …
        ((S, None, M), M, VoteKind.ALPHABETICAL),
        ((None, S, None), S, VoteKind.ALPHABETICAL),
        ((None, None, None), None, VoteKind.NONE),
    ],
)
def test_two_of_three_decide_and_the_alphabet_where_all_differ(
    labels: tuple[Task | None, ...], task: Task | None, kind: VoteKind
) -> None:
    found = vote(labels)
    assert (found.task, found.kind, found.labels) == (task, kind, labels)


@given(
    st.lists(st.sampled_from([*Task, None]), min_size=3, max_size=3).flatmap(
        lambda labels: st.tuples(st.just(labels), st.permutations(labels))
    )
)
def test_the_order_of_the_annotators_changes_no_vote(
    case: tuple[list[Task | None], list[Task | None]],
) -> None:
    labels, turned = case
    assert (vote(labels).task, vote(labels).kind) == (vote(turned).task, vote(turned).kind)


def test_a_file_is_read_by_the_columns_and_names_in_use_and_numbers_are_ids() -> None:
    rows: list[tuple[int, dict[str, Any]]] = [
        (1, {"qid": 7, "reasoning_type": "spatial reasoning"}),
        (2, {"id": "8", "label": "Causal"}),
        (3, {"id": "9", "label": "no idea"}),
        (4, {"id": "10", "label": None}),
        (5, {"label": "disease"}),
        (6, {"id": "11", "text": "disease"}),
        (7, {"id": "8", "label": "disease"}),
        (8, {"id": "8", "label": "causal explanation"}),
    ]
    found = read_labels("first", rows)
    assert found.by_id == {"7": S, "8": C, "9": None, "10": None}
    assert found.n_invalid == 2
    assert [line.number for line in found.bad_lines] == [5, 6, 7]


ONE = Labels("one", {"1": D, "2": D, "3": M, "4": S})
TWO = Labels("two", {"1": D, "2": X, "3": M, "4": None})
THREE = Labels("three", {"1": D, "2": C, "3": A, "5": Q})


def test_every_question_that_anybody_labelled_is_voted_on() -> None:
    votes = vote_all([ONE, TWO, THREE])
    assert {key: found.task for key, found in votes.items()} == {"1": D, "2": C, "3": M, "4": S, "5": Q}


def test_agreement_counts_votes_by_kind_and_pairs_with_cohens_kappa() -> None:
    found = agreement([ONE, TWO, THREE])
    assert found.n == 5
    assert {kind: n for kind, n in found.kinds.items() if n} == {
        VoteKind.UNANIMOUS: 1,
        VoteKind.MAJORITY: 1,
        VoteKind.ALPHABETICAL: 3,
    }
    pair = found.pairs[0]
    assert (pair.a, pair.b, pair.n, pair.k) == ("one", "two", 3, 2)
    # by chance: disease 2·1 + modality 1·1 = 3 of 9; (2/3 - 1/3) / (1 - 1/3)
    assert pair.kappa == pytest.approx(0.5)


def test_agreement_on_nothing_is_undefined() -> None:
    nothing = agreement([ONE, Labels("empty", {})]).pairs[0]
    assert (nothing.n, nothing.share, nothing.kappa) == (0, None, None)
    same = agreement([Labels("a", {"1": D}), Labels("b", {"1": D})]).pairs[0]
    assert (same.share, same.kappa) == (1.0, None)


def test_confusion_has_all_tasks_and_only_what_both_labelled() -> None:
    table = confusion(ONE.by_id, TWO.by_id)
    assert table.shape == (7, 7)
    assert table.to_numpy().sum() == 3
    assert table.loc[D.value, X.value] == 1


def test_labels_are_checked_against_a_subset_labelled_by_hand() -> None:
    found = check_labels(ONE.by_id, {"1": D, "2": C, "9": M})
    assert (found.n, found.k, found.share, found.n_absent) == (2, 1, 0.5, 1)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.0945, abs=1e-4)
    assert check_labels({}, {"1": D}).share is None
