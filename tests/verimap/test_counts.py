"""The rates that four counts make."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.verimap.counts import Counts

small = st.integers(0, 9)
counts = st.builds(Counts, tp=small, tn=small, fp=small, fn=small)


def double_sum(made: Counts) -> float | None:
    """Return dSkew as the paper writes it: a sum over all pairs of verifications."""
    d = [0] * (made.tp + made.tn) + [1] * made.fp + [-1] * made.fn
    apart = sum(abs(one - two) for one in d for two in d)
    together = sum(abs(one + two) for one in d for two in d)
    return float(1 - Fraction(apart, together)) if together else None


@given(counts)
def test_the_closed_form_of_dskew_is_the_papers_double_sum(made: Counts) -> None:
    assert made.dskew == double_sum(made)


@given(counts)
def test_exchanging_false_acceptances_and_rejections_leaves_dskew_and_turns_its_signed_form(made: Counts) -> None:
    turned = Counts(made.tp, made.tn, made.fn, made.fp)
    assert turned.dskew == made.dskew
    assert (turned.signed_dskew is None) == (made.signed_dskew is None)
    assert (turned.signed_dskew or 0) == -(made.signed_dskew or 0)


@given(counts)
def test_every_rate_is_undefined_or_in_its_range(made: Counts) -> None:
    for share in (made.accuracy, made.error, made.fpr, made.fnr, made.dskew, made.generator_error):
        assert share is None or 0 <= share <= 1
    for signed in (made.bias, made.signed_dskew):
        assert signed is None or -1 <= signed <= 1


@given(counts)
def test_error_is_what_accuracy_leaves_and_bias_what_the_two_mistakes_leave(made: Counts) -> None:
    if made.accuracy is None or made.error is None or made.bias is None or made.generator_error is None:
        assert made.n == 0
        return
    assert made.accuracy + made.error == pytest.approx(1)
    p = made.generator_error
    assert made.bias == pytest.approx(p * (made.fpr or 0) - (1 - p) * (made.fnr or 0))


@pytest.mark.parametrize(
    ("made", "rate"),
    [
        (Counts(), "accuracy"),
        (Counts(), "bias"),
        (Counts(tp=3, fn=1), "fpr"),
        (Counts(tn=3, fp=1), "fnr"),
        (Counts(tp=3, tn=3), "dskew"),
        (Counts(tp=3, tn=3), "signed_dskew"),
    ],
)
def test_a_rate_over_nothing_is_none_and_not_zero(made: Counts, rate: str) -> None:
    assert getattr(made, rate) is None


def test_rates_worked_out_by_hand() -> None:
    made = Counts(tp=6, tn=1, fp=2, fn=1)
    assert (made.n, made.n_right, made.n_wrong) == (10, 7, 3)
    assert (made.accuracy, made.error, made.generator_error) == (0.7, 0.3, 0.3)
    assert (made.fpr, made.fnr, made.bias) == (2 / 3, 1 / 7, 0.1)
    assert made.dskew == 1 / 26  # (2 - 1)² / (10 · 3 - 2 · 2 · 1)


def test_counts_are_not_negative() -> None:
    with pytest.raises(ValueError, match="not negative"):
        Counts(tp=-1)
