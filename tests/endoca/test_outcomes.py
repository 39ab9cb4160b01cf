"""Every unit has exactly one outcome."""

import pytest

from backend.endoca.outcomes import Outcome, outcome_of


@pytest.mark.parametrize(
    ("complex_correct", "n_atoms", "n_atoms_correct", "complex_answered", "outcome"),
    [
        (True, 1, 1, True, Outcome.SUPPORTED),
        (True, 3, 3, True, Outcome.SUPPORTED),
        (True, 3, 2, True, Outcome.INCONSISTENT),
        (True, 1, 0, True, Outcome.INCONSISTENT),
        (False, 2, 2, True, Outcome.COMPOSITION_FAILURE),
        (False, 2, 1, True, Outcome.MIXED),
        (False, 1, 0, True, Outcome.VISUAL_FACT_FAILURE),
        (False, 2, 2, False, Outcome.NOT_ANSWERED),
        (False, 2, 0, False, Outcome.NOT_ANSWERED),
    ],
)
def test_an_outcome_follows_from_the_answer_and_the_share_of_parts_right(
    complex_correct: bool, n_atoms: int, n_atoms_correct: int, complex_answered: bool, outcome: Outcome
) -> None:
    assert outcome_of(complex_correct, n_atoms, n_atoms_correct, complex_answered) is outcome


@pytest.mark.parametrize(("n_atoms", "n_atoms_correct"), [(0, 0), (1, 2), (2, -1)])
def test_impossible_counts_of_parts_are_refused(n_atoms: int, n_atoms_correct: int) -> None:
    with pytest.raises(ValueError, match="atom"):
        outcome_of(True, n_atoms, n_atoms_correct)


def test_every_outcome_has_a_term_and_plain_words() -> None:
    for outcome in Outcome:
        assert outcome == outcome.value
        assert outcome.label
        assert outcome.plain
    assert len({outcome.label for outcome in Outcome}) == len(Outcome)
