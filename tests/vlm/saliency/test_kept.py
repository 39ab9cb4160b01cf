"""What is kept of a saliency, in numbers worked out by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from backend.vlm.saliency.geometry import View, regions_of
from backend.vlm.saliency.kept import KeptSaliency, keep
from backend.vlm.saliency.result import Saliency


def saliency(*, with_map: bool = True, with_gradient: bool = True) -> Saliency:
    """Two layers, two heads, two tokens, four patches in two rows."""
    return Saliency(
        tokens=("a", "b"),
        shares=np.array([[[0.5, 0.1], [0.1, 0.1]], [[0.3, 0.3], [0.3, 0.1]]], dtype=np.float32),
        uniform=np.array([[0.2, 0.2], [0.4, 0.2]], dtype=np.float32),
        maps=np.array(
            [[[0.1, 0.2, 0, 0], [0, 0, 0.1, 0]], [[0.3, 0, 0, 0], [0, 0.2, 0, 0]]],
            dtype=np.float32,
        ),
        gradient=np.array([-2, 1, 0, 1], dtype=np.float32) if with_gradient else None,
        why_no_gradient="" if with_gradient else "Quantised.",
        regions=regions_of([View(0, 0, 1, 1, 2, 2)]) if with_map else None,
        grid=(2, 2) if with_map else None,
        why_no_regions="" if with_map else "Unknown.",
        log_likelihood=-1.5,
        note="Deepstack.",
    )


def test_maps_of_tokens_are_means_over_layers_and_those_of_layers_over_tokens() -> None:
    kept = keep(saliency())
    assert kept.token_maps is not None
    assert kept.layer_maps is not None
    assert kept.attention_map is not None
    np.testing.assert_allclose(kept.token_maps, [[[0.2, 0.1], [0.0, 0.0]], [[0.0, 0.1], [0.05, 0.0]]], atol=1e-7)
    np.testing.assert_allclose(kept.layer_maps, [[[0.05, 0.1], [0.05, 0.0]], [[0.15, 0.1], [0.0, 0.0]]], atol=1e-7)
    np.testing.assert_allclose(kept.attention_map, [[0.1, 0.1], [0.025, 0]], atol=1e-7)
    np.testing.assert_allclose(kept.token_shares, [0.3, 0.15])
    np.testing.assert_allclose(kept.token_uniform, [0.3, 0.2])
    np.testing.assert_allclose(kept.head_shares, [[0.3, 0.1], [0.3, 0.2]])
    np.testing.assert_allclose(kept.layer_uniform, [0.2, 0.3])


def test_the_two_numbers_of_the_paper_are_those_of_the_whole() -> None:
    whole = saliency()
    kept = keep(whole)
    assert (kept.fraction, kept.uniform_fraction) == (whole.fraction, whole.uniform_fraction)
    assert kept.gradient_mean == whole.gradient_mean == 1
    assert kept.times_even == pytest.approx(0.225 / 0.25)


def test_a_map_finer_than_what_is_kept_is_summed_into_it() -> None:
    kept = keep(saliency(), most_cells=1)
    assert kept.grid == (1, 1)
    assert kept.attention_map is not None
    assert kept.gradient_map is not None
    np.testing.assert_allclose(kept.attention_map, [[0.225]])
    np.testing.assert_allclose(kept.gradient_map, [[4]])


@pytest.mark.parametrize("has_all", [True, False])
def test_it_comes_back_from_its_text_to_a_thousandth_and_its_numbers_exactly(has_all: bool) -> None:
    kept = keep(saliency(with_map=has_all, with_gradient=has_all))
    again = KeptSaliency.from_json(kept.to_json())
    for name in ("tokens", "fraction", "uniform_fraction", "gradient_mean", "log_likelihood", "why_no_gradient"):
        assert getattr(again, name) == getattr(kept, name)
    for name in ("token_shares", "token_uniform", "head_shares", "layer_uniform"):
        np.testing.assert_allclose(getattr(again, name), getattr(kept, name), rtol=1e-3)
    for name in ("token_maps", "layer_maps", "gradient_map"):
        held = getattr(kept, name)
        assert (held is None) is not has_all
        if has_all:
            np.testing.assert_allclose(getattr(again, name), held, rtol=1e-3)
    assert again.to_json() == kept.to_json()


def test_values_beyond_a_float16_are_kept_too() -> None:
    whole = saliency()
    assert whole.gradient is not None
    whole.gradient[:] *= 1e9
    again = KeptSaliency.from_json(keep(whole).to_json())
    assert again.gradient_map is not None
    np.testing.assert_allclose(again.gradient_map, [[2e9, 1e9], [0, 1e9]], rtol=1e-3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tokens": ["a"]}, "fit"),
        ({"token_maps": None}, "fit"),
        ({"head_shares": {"shape": [], "largest": 1, "values": "ADw="}}, "fit"),
        ({"token_maps": {"shape": [1, 1], "largest": 1, "values": "ADw="}}, "fit"),
        ({"fraction": 2}, "no saliency"),
        ({"gradient_mean": 1e300}, "no saliency"),
        ({"gradient_map": {"shape": [2, 2], "largest": 1e300, "values": "ADwAPAA8ADw="}}, "no saliency"),
        ({"why": "more"}, "no saliency"),
        ({"token_shares": {"shape": [2], "largest": 1, "values": "AAAA"}}, "no saliency"),
        ({"token_shares": {"shape": [2], "largest": 1, "values": "AHwAAA=="}}, "no saliency"),
    ],
)
def test_a_text_that_was_tampered_with_is_refused(change: dict[str, object], says: str) -> None:
    text = json.dumps(json.loads(keep(saliency()).to_json()) | change)
    with pytest.raises(ValueError, match=says):
        KeptSaliency.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        {"fraction": 0.3},
        {"uniform_fraction": 0.3},
        {"gradient_mean": None},
        {"token_shares": {"shape": [2], "largest": 0.5, "values": "ADwAAA=="}},
        {"layer_uniform": {"shape": [2], "largest": 1.2, "values": "ADwAAA=="}},
        {"token_maps": {"shape": [2, 2, 2], "largest": 0.2, "values": "ADwAPAA8ADwAPAA8ADwAPA=="}},
    ],
)
def test_numbers_that_are_not_those_of_the_maps_do_not_add_up(change: dict[str, object]) -> None:
    text = keep(saliency()).to_json()
    assert KeptSaliency.from_json(text).adds_up
    assert not KeptSaliency.from_json(json.dumps(json.loads(text) | change)).adds_up


def test_a_grid_finer_than_any_that_is_kept_is_refused() -> None:
    fine = keep(saliency(), most_cells=1)
    cells = np.zeros((2, 25, 1), dtype=np.float32)
    text = replace(fine, token_maps=cells, layer_maps=cells, gradient_map=cells[0]).to_json()
    with pytest.raises(ValueError, match="fit"):
        KeptSaliency.from_json(text)
