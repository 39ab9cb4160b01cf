"""The grounding gap: by hand, against scipy, and what must hold of any pairs."""

from math import nan
from statistics import mean, median, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kruskal, wilcoxon

from backend.domain.statistics.resampling import RESAMPLES, SEED
from backend.verimap.grounding import gaps_between, grounding_gap
from backend.verimap.proxies import Proxy

GENERATOR = [0.7, 0.8, 0.6, 0.9, None]
VERIFIER = [0.5, 0.5, 0.7, 0.5, 0.4]
IMAGES = ["a", "a", "b", "c", "c"]
DIFFERENCES = [0.2, 0.3, -0.1, 0.4]


def test_a_gap_by_hand() -> None:
    gap = grounding_gap(GENERATOR, VERIFIER, IMAGES)
    assert (gap.n, gap.n_undefined, gap.n_images, gap.n_lower) == (4, 1, 3, 3)
    assert [gap.generator_mean, gap.generator_median] == pytest.approx([0.75, 0.75])
    assert [gap.verifier_mean, gap.verifier_median] == pytest.approx([0.55, 0.5])
    assert gap.gap == pytest.approx(0.2)
    assert gap.effect is not None and gap.effect.d_paired == pytest.approx(mean(DIFFERENCES) / stdev(DIFFERENCES))
    assert gap.test is not None
    # ranks of 0.2, 0.3, 0.4 are 2, 3, 4: their sum is 9; of 16 sign patterns 9 and 10 are reached by two
    assert [gap.test.statistic, gap.test.p] == pytest.approx([9, 2 / 16])


def test_the_test_is_scipy_s_and_one_sided() -> None:
    drawn = np.random.default_rng(7)
    first, second = drawn.normal(0.1, 1, 70), drawn.normal(0, 1, 70)
    gap = grounding_gap(first.tolist(), second.tolist(), [str(at // 2) for at in range(70)])
    expected = wilcoxon(first, second, alternative="greater", method="asymptotic")
    assert gap.test is not None
    assert gap.test.p == pytest.approx(expected.pvalue)
    assert gap.test.hypothesis == "H1: generator > verifier, one-sided"


def test_the_interval_is_that_of_whole_images_resampled_one_by_one() -> None:
    gap = grounding_gap(GENERATOR[:4], VERIFIER[:4], IMAGES[:4])
    by_image = [[0.2, 0.3], [-0.1], [0.4]]
    drawn = np.random.default_rng(SEED).integers(3, size=(RESAMPLES, 3), dtype=np.int32)
    means = [mean(difference for image in row for difference in by_image[image]) for row in drawn.tolist()]
    assert gap.interval is not None
    assert (gap.interval.low, gap.interval.high) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=1e-6)


def test_one_image_alone_has_no_interval() -> None:
    gap = grounding_gap([0.7, 0.8], [0.5, 0.5], ["a", "a"])
    assert gap.gap == pytest.approx(0.25) and gap.interval is None


@pytest.mark.parametrize("generator", [[], [None, nan]])
def test_without_a_whole_pair_every_number_is_undefined(generator: list[float | None]) -> None:
    gap = grounding_gap(generator, [0.5] * len(generator), ["a"] * len(generator))
    assert (gap.n, gap.n_undefined, gap.n_images, gap.n_lower) == (0, len(generator), 0, 0)
    assert (gap.generator_mean, gap.verifier_median, gap.gap, gap.interval, gap.test, gap.effect) == (None,) * 6


def test_one_pair_has_a_gap_and_no_effect_size() -> None:
    gap = grounding_gap([0.7], [0.5], ["a"])
    assert gap.n == 1 and gap.gap == pytest.approx(0.2) and gap.effect is None


def test_gaps_are_compared_between_groups_by_their_differences() -> None:
    first, second, groups = [0.9, 0.8, 0.7, 0.4, 0.5, None], [0.1, 0.2, 0.2, 0.3, 0.1, 0.1], list("xxxyyz")
    test = gaps_between(first, second, groups)
    expected = kruskal([0.8, 0.6, 0.5], [0.1, 0.4])
    assert test is not None
    assert [test.statistic, test.p, test.df] == pytest.approx([expected.statistic, expected.pvalue, 1])
    assert test.groups == {"x": 3, "y": 2}, "a group without a whole pair is none"
    assert gaps_between(first, second, ["x"] * 6) is None
    assert gaps_between([1, 1], [0, 0], ["x", "y"]) is None


def test_differences_that_part_by_rounding_alone_are_a_tie() -> None:
    first, second = [0.8, 0.7, 0.1 + 0.2], [0.5, 0.4, 0.3]
    gap = grounding_gap(first, second, list("abc"))
    assert gap.n_lower == 2, "0.1 + 0.2 is 0.3"
    assert gaps_between(first[:2], second[:2], ["x", "y"]) is None, "both differ by 0.3"


def test_differences_too_small_for_their_decimals_are_told_apart_all_the_same() -> None:
    """A confident VLM's gradients are as small as they like: ranks do not depend on the unit."""
    first, second = ([None if value is None else value * 1e-15 for value in side] for side in (GENERATOR, VERIFIER))
    gap, whole = grounding_gap(first, second, IMAGES), grounding_gap(GENERATOR, VERIFIER, IMAGES)
    assert gap.test == whole.test
    assert gap.n_lower == whole.n_lower
    assert gap.gap == pytest.approx(0.2e-15)
    assert gaps_between(first, second, IMAGES) == gaps_between(GENERATOR, VERIFIER, IMAGES)


def test_a_proxy_says_what_it_is_and_whose() -> None:
    assert [proxy.label for proxy in Proxy] == [
        "Image saliency fraction", "Times even share", "Mean gradient activation",
    ]  # fmt: skip
    for proxy in Proxy:
        assert proxy.plain.endswith(".") and proxy.formula and proxy.undefined_when
        assert ("section 4.4" in proxy.source) == (proxy is not Proxy.TIMES_EVEN)
        for word in ("token", "logit", "p_g"):
            assert word not in proxy.plain


shares = st.one_of(st.none(), st.integers(0, 64).map(lambda part: part / 64))
pairs = st.lists(st.tuples(shares, shares, st.sampled_from("abcd")), max_size=14)


@given(pairs)
def test_swapping_the_sides_negates_the_gap(rows: list[tuple[float | None, float | None, str]]) -> None:
    first, second, images = ([row[at] for row in rows] for at in range(3))
    one, other = grounding_gap(first, second, images), grounding_gap(second, first, images)  # type: ignore[arg-type]
    assert (one.n, one.n_undefined, one.n_images) == (other.n, other.n_undefined, other.n_images)
    assert one.gap is None or (other.gap is not None and one.gap == pytest.approx(-other.gap, abs=1e-12))
    if one.interval is not None:
        assert other.interval is not None
        assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-6)
        assert one.interval.high == pytest.approx(-other.interval.low, abs=1e-6)
    if one.effect is not None and one.effect.d_paired is not None:
        assert other.effect is not None and other.effect.d_paired == pytest.approx(-one.effect.d_paired)


@given(pairs, st.randoms())
def test_the_order_of_rows_does_not_matter(
    rows: list[tuple[float | None, float | None, str]], random: "np.random.Generator"
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (
        grounding_gap([row[0] for row in given], [row[1] for row in given], [row[2] for row in given])
        for given in (rows, shuffled)
    )
    assert (one.n, one.n_lower, one.n_images) == (other.n, other.n_lower, other.n_images)
    if one.n:
        assert one.generator_median == median(row[0] for row in rows if row[0] is not None and row[1] is not None)
        assert one.gap == pytest.approx(other.gap) and one.test is not None and other.test is not None
        assert one.test.p == pytest.approx(other.test.p)
        assert (one.interval is None) == (other.interval is None)
        if one.interval is not None and other.interval is not None:
            assert (one.interval.low, one.interval.high) == pytest.approx(
                (other.interval.low, other.interval.high), abs=1e-6
            )
