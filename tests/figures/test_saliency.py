"""The figures of the grounding gap show what their tables hold, and a case's points say which case it is."""

from typing import Any

import numpy as np
import pytest

from backend.figures.saliency import MOST_POINTS, grounding_boxes, grounding_differences
from backend.figures.saliency_hover import UNLABELLED, difference_words, value_words
from backend.figures.style import DARK, LIGHT, Theme
from backend.store.verification_filters import UNLABELLED as UNLABELLED_OF_FILTER
from backend.verimap.proxies import ALL, NO_OUTCOME, Proxy

MODALITY, SPATIAL = "modality_recognition", "spatial_localization"
TRICKY = "<b>VLM</b>"


def a_case(
    name: str, task: str | None, generator: float, verifier: float, gradient: float | None = 0.01
) -> dict[str, Any]:
    case: dict[str, Any] = {
        "unit_id": f"s:{name}", "suite": "<i>s</i>", "source_id": name, "task": task, "generator": TRICKY,
        "verifier": TRICKY, "run_id": "run", "outcome": "fp" if task else None,
    }  # fmt: skip
    for side, value, even in (("generator", generator, 0.8), ("verifier", verifier, 0.5)):
        case |= {f"{side}_fraction": value, f"{side}_even": even, f"{side}_times_even": value / even}
        case |= {f"{side}_gradient": gradient, f"{side}_tokens": 2}
    return case


def a_test(group: str, n: int, gap: float | None = 0.2, low: float | None = 0.1) -> dict[str, Any]:
    known = n > 0
    return {
        "group": group, "n": n, "n_undefined": 1, "n_images": n, "generator_mean": 0.7 if known else None,
        "verifier_mean": 0.5 if known else None, "generator_even": 0.8 if known else None,
        "verifier_even": 0.5 if known else None, "gap": gap if known else None, "gap_low": low, "gap_high": low and 0.4,
        "p": 0.0001 if known else None, "d_paired": 2.5 if known else None,
    }  # fmt: skip


ROWS = [
    a_case("1", MODALITY, 0.7, 0.5), a_case("2", MODALITY, 0.8, 0.6), a_case("3", MODALITY, 0.6, 0.7),
    a_case("4", SPATIAL, 0.9, 0.4, None), a_case("5", None, 0.5, 0.5),
]  # fmt: skip
TESTS = [a_test(ALL, 5), a_test(MODALITY, 3), a_test(SPATIAL, 1, low=None), a_test(UNLABELLED, 1, low=None)]


def with_cases(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if trace.customdata is not None]


def test_groups_are_named_as_in_the_tests() -> None:
    assert UNLABELLED == UNLABELLED_OF_FILTER


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_case_is_a_point_on_both_sides_and_says_which_it_is(theme: Theme) -> None:
    figure = grounding_boxes(ROWS, TESTS, Proxy.FRACTION, theme=theme)
    points = [list(point) for trace in with_cases(figure) for point in trace.customdata]
    assert sorted(points) == sorted([f"s:{n}", "run", side] for n in range(1, 6) for side in ("generator", "verifier"))
    values = {
        tuple(point): y for trace in with_cases(figure) for point, y in zip(trace.customdata, trace.y, strict=True)
    }
    assert values["s:4", "run", "verifier"] == 0.4 and values["s:4", "run", "generator"] == 0.9


def test_boxes_are_quartiles_with_whiskers_to_the_last_case_in_reach() -> None:
    outlying = [a_case(str(n), MODALITY, value, 0.5) for n, value in enumerate([0.5, 0.6, 0.62, 0.64, 0.7, 1.0])]
    figure = grounding_boxes(outlying, [a_test(MODALITY, 6)], Proxy.FRACTION)
    box = next(trace for trace in figure.data if trace.type == "box" and trace.x[0] < 0)
    low, middle, high = np.quantile([0.5, 0.6, 0.62, 0.64, 0.7, 1.0], [0.25, 0.5, 0.75])
    assert (box.q1[0], box.median[0], box.q3[0]) == pytest.approx((low, middle, high))
    assert (box.lowerfence[0], box.upperfence[0]) == (0.5, 0.7), "1.0 lies beyond 1.5 times the box"


def test_groups_stand_in_the_order_of_the_tests_with_their_n() -> None:
    for figure in (grounding_boxes(ROWS, TESTS, Proxy.FRACTION), grounding_differences(ROWS, TESTS, Proxy.FRACTION)):
        assert list(figure.layout.xaxis.ticktext) == [
            "All<br>n = 5", "Modality<br>n = 3", "Spatial<br>n = 1", "Not labelled<br>n = 1",
        ]  # fmt: skip


def test_the_even_share_stands_beside_the_fraction_alone() -> None:
    def dashes(figure: Any) -> list[Any]:
        return [trace for trace in figure.data if trace.marker and trace.marker.symbol == "line-ew"]

    generators, verifiers = dashes(grounding_boxes(ROWS, TESTS, Proxy.FRACTION))
    assert (set(generators.y), set(verifiers.y)) == ({0.8}, {0.5})
    [gap] = dashes(grounding_differences(ROWS, TESTS, Proxy.FRACTION))
    assert list(gap.y) == pytest.approx([30.0] * 4), "in points"
    times = grounding_boxes(ROWS, TESTS, Proxy.TIMES_EVEN)
    assert not dashes(times) and [shape.y0 for shape in times.layout.shapes] == [1]
    assert not dashes(grounding_boxes(ROWS, TESTS, Proxy.GRADIENT))


def test_a_case_without_a_value_has_no_point() -> None:
    tests = [a_test(ALL, 4), a_test(MODALITY, 3), a_test(SPATIAL, 0), a_test(UNLABELLED, 1, low=None)]
    for figure in (grounding_boxes(ROWS, tests, Proxy.GRADIENT), grounding_differences(ROWS, tests, Proxy.GRADIENT)):
        cases = {point[0] for trace in with_cases(figure) for point in trace.customdata}
        assert cases == {"s:1", "s:2", "s:3", "s:5"}
        assert "Spatial<br>n = 0" in figure.layout.xaxis.ticktext


@pytest.mark.parametrize(("gradients", "kind"), [((0.01, 0.02), "log"), ((0.0, 0.02), None)])
def test_gradients_stand_on_a_logarithmic_axis_that_says_so_unless_one_is_zero(
    gradients: tuple[float, float], kind: str | None
) -> None:
    rows = [a_case(str(n), MODALITY, 0.5, 0.5, value) for n, value in enumerate(gradients)]
    axis = grounding_boxes(rows, [a_test(MODALITY, 2)], Proxy.GRADIENT).layout.yaxis
    assert axis.type == kind and ("logarithmic" in axis.title.text) == (kind == "log")


def test_few_pairs_are_joined_by_lines_and_many_are_thinned_and_say_so() -> None:
    def lines(figure: Any) -> list[Any]:
        return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "lines"]

    [joined, *_] = lines(grounding_boxes(ROWS, TESTS, Proxy.FRACTION))
    assert list(joined.y)[:3] == [0.7, 0.5, None]
    many = [a_case(str(n), MODALITY, 0.4 + n / 5000, 0.4) for n in range(2 * MOST_POINTS)]
    figure = grounding_boxes(many, [a_test(MODALITY, len(many))], Proxy.FRACTION)
    assert not lines(figure)
    drawn = {point[0] for trace in with_cases(figure) for point in trace.customdata}
    assert len(drawn) == MOST_POINTS and {"s:0", f"s:{len(many) - 1}"} <= drawn, "the extreme differences among them"
    assert figure.layout.xaxis.ticktext[0] == f"Modality<br>n = {len(many):,}<br>{MOST_POINTS} drawn"


def test_a_case_stays_where_it_stands_whatever_else_is_drawn() -> None:
    def at(figure: Any) -> dict[tuple[str, ...], float]:
        return {tuple(p): x for trace in with_cases(figure) for p, x in zip(trace.customdata, trace.x, strict=True)}

    one, other = (
        at(grounding_boxes(ROWS, TESTS, Proxy.FRACTION)),
        at(grounding_boxes(ROWS[::-1], TESTS, Proxy.FRACTION)),
    )
    assert one == other


def test_differences_are_signed_and_told_apart_by_shape_around_a_zero_line() -> None:
    figure = grounding_differences(ROWS, TESTS, Proxy.FRACTION)
    modality = next(trace for trace in with_cases(figure) if len(trace.y) == 3)
    assert list(modality.y) == pytest.approx([20, 20, -10])
    assert list(modality.marker.symbol) == ["circle", "circle", "diamond"]
    assert figure.layout.yaxis.zeroline and figure.layout.yaxis.rangemode == "tozero"
    means = next(trace for trace in figure.data if trace.error_y.array is not None)
    assert list(means.y) == pytest.approx([20] * 4)
    assert list(means.error_y.array) == pytest.approx([20, 20, 0, 0]), "without an interval no bar"
    assert list(means.error_y.arrayminus) == pytest.approx([10, 10, 0, 0])


def test_hover_words_hold_the_numbers_and_escape_names() -> None:
    figure = grounding_boxes(ROWS, TESTS, Proxy.FRACTION)
    case = with_cases(figure)[0].hovertext[0]
    assert "&lt;b&gt;VLM&lt;/b&gt; on its own answer" in case and "&lt;i&gt;s&lt;/i&gt; 1" in case
    assert "generator 70.0 %, even share 80.0 %" in case and "generator − verifier +20.0" in case
    assert "false acceptance" in case and "token" not in case
    mean = next(trace for trace in figure.data if trace.name == "verifier, mean").hovertext[1]
    for said in ("Δ +20.0 (+10.0 to +40.0)", "Cohen's d 2.50 paired", "p < 0.001", "n = 3 pairs", "1 left out"):
        assert said in mean


def test_by_outcome_a_case_without_one_stands_apart() -> None:
    tests = [a_test(ALL, 5), a_test("fp", 4), a_test(NO_OUTCOME, 1)]
    figure = grounding_boxes(ROWS, tests, Proxy.FRACTION, "outcome")
    assert list(figure.layout.xaxis.ticktext)[1:] == ["Wrong, accepted<br>n = 4", "No outcome<br>n = 1"]


def test_without_a_case_the_figures_are_empty() -> None:
    for figure in (grounding_boxes([], [], Proxy.FRACTION), grounding_differences([], [], Proxy.GRADIENT)):
        assert not with_cases(figure)


@pytest.mark.parametrize(
    ("proxy", "value", "words", "signed"),
    [
        (Proxy.FRACTION, -0.125, "−12.5 %", "−12.5"),
        (Proxy.TIMES_EVEN, 0.9134, "0.91 ×", "+0.91"),
        (Proxy.TIMES_EVEN, 0.001, "0.00 ×", "0.00"),
        (Proxy.GRADIENT, 0.000048, "4.8e−05", "+4.8e−05"),
        (Proxy.GRADIENT, None, "N/A", "N/A"),
    ],
)
def test_values_are_written_as_people_read_them(proxy: Proxy, value: float | None, words: str, signed: str) -> None:
    assert (value_words(proxy, value), difference_words(proxy, value)) == (words, signed)
