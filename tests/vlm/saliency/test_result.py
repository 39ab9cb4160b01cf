"""What a saliency call returns, in numbers worked out by hand."""

import numpy as np
import pytest

from backend.vlm.saliency.geometry import View, regions_of
from backend.vlm.saliency.result import Saliency, SaliencyError


def saliency(*, with_map: bool = True, with_gradient: bool = True) -> Saliency:
    """Two layers, two heads, one token, two patches side by side."""
    return Saliency(
        tokens=("é",),
        shares=np.array([[[0.5], [0.1]], [[0.3], [0.3]]], dtype=np.float32),
        uniform=np.array([[0.2], [0.4]], dtype=np.float32),
        maps=np.array([[[0.1, 0.2]], [[0.3, 0.0]]], dtype=np.float32),
        gradient=np.array([-2, 1], dtype=np.float32) if with_gradient else None,
        why_no_gradient="" if with_gradient else "Quantised.",
        regions=regions_of([View(0, 0, 1, 1, 1, 2)]) if with_map else None,
        grid=(1, 2) if with_map else None,
        why_no_regions="" if with_map else "Unknown.",
        log_likelihood=-1.5,
        note="Deepstack.",
    )


def test_the_fraction_is_the_mean_over_layers_heads_and_tokens() -> None:
    found = saliency()
    assert found.fraction == pytest.approx(0.3)
    assert found.uniform_fraction == pytest.approx(0.3)
    assert (found.answer, found.n_layers, found.n_heads, found.n_image_tokens) == ("é", 2, 2, 2)


def test_maps_are_chosen_by_token_and_layer() -> None:
    found = saliency()
    np.testing.assert_allclose(found.attention_map, [0.2, 0.1])
    np.testing.assert_allclose(found.token_map(0, layer=1), [0.3, 0.0])
    np.testing.assert_allclose(found.painted(found.attention_map), [[0.2, 0.1]])
    np.testing.assert_allclose(found.painted(found.attention_map, (1, 4)), [[0.1, 0.1, 0.05, 0.05]])


def test_the_mean_gradient_is_of_absolute_values() -> None:
    found = saliency()
    assert found.gradient_mean == 1.5
    assert found.gradient_map is not None
    np.testing.assert_array_equal(found.gradient_map, [2, 1])


def test_what_cannot_be_had_is_none_with_its_reason() -> None:
    found = saliency(with_map=False, with_gradient=False)
    assert found.gradient_mean is None
    assert found.gradient_map is None
    with pytest.raises(SaliencyError, match="Unknown"):
        found.painted(found.attention_map)


@pytest.mark.parametrize("has_all", [True, False])
def test_it_travels_unchanged(has_all: bool) -> None:
    found = saliency(with_map=has_all, with_gradient=has_all)
    again = Saliency.from_npz(found.to_npz())
    for name in Saliency.__dataclass_fields__:
        one, other = getattr(found, name), getattr(again, name)
        np.testing.assert_array_equal(one, other) if isinstance(one, np.ndarray) else None
        assert isinstance(one, np.ndarray) or one == other
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)


def test_other_bytes_are_no_saliency() -> None:
    with pytest.raises(ValueError, match="no saliency"):
        Saliency.from_npz(b"PK")
