"""Saliency of tiny VLMs of every family, and of the VLM in the box, against the same computed the wasteful way."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.domain.vlm import Ask, Decoding, said_nothing
from backend.vlm.loading import LocalSpec
from backend.vlm.saliency.kept import KeptSaliency, keep
from backend.vlm.saliency.result import Saliency
from backend.vlm.transformers_local import TransformersLocal, load_vlm
from tests.conftest import ROOT
from tests.vlm.conftest import Vlms
from tests.vlm.saliency.by_hand import ByHand, picture_at
from tests.vlm.tiny_models import FAMILIES, GEMMA_WINDOW
from tests.vlm.watching import told

PROMPT, ANSWER = "How many polyps?", "Two, near é."
LONG = "Is it there? " * 12
BOX = ROOT / "data" / "demo" / "vlm"
ALL = [*FAMILIES, "box"]
TOLERANCE = 1e-5

Hands = Callable[[str], ByHand]
Found = Callable[[str], Saliency]


@pytest.fixture(scope="session")
def hands(folders: Callable[[str], Path]) -> Hands:
    return cache(lambda family: ByHand(BOX if family == "box" else folders(family)))


@pytest.fixture(scope="session")
def loaded(vlms: Vlms) -> Vlms:
    """Tiny VLMs, and the one in the box."""
    box = cache(lambda: load_vlm(LocalSpec(str(BOX), "box")))
    return lambda family: box() if family == "box" else vlms(family)


@pytest.fixture(scope="session")
def found(loaded: Vlms, frames: list[Path]) -> Found:
    """Saliency of one answer about the frame that is no square."""
    return cache(lambda family: loaded(family).saliency(frames[1], PROMPT, ANSWER))


@pytest.mark.parametrize("family", ALL)
class TestEveryFamily:
    def test_attention_is_what_a_plain_pass_with_all_attentions_gives(
        self, family: str, found: Found, hands: Hands, frames: list[Path]
    ) -> None:
        weights, places = hands(family).attentions(Image.open(frames[1]), PROMPT, ANSWER)
        on_image = weights[..., places]
        np.testing.assert_allclose(found(family).shares, on_image.sum(-1), atol=TOLERANCE)
        np.testing.assert_allclose(found(family).maps, on_image.mean(1), atol=TOLERANCE)
        assert found(family).fraction == pytest.approx(float(on_image.sum(-1).mean()), abs=TOLERANCE)
        assert 0 < found(family).fraction < 1

    def test_the_even_share_counts_what_each_layer_sees_from_each_token(
        self, family: str, loaded: Vlms, hands: Hands, frames: list[Path]
    ) -> None:
        saliency = loaded(family).saliency(frames[1], LONG, ANSWER)
        weights, places = hands(family).attentions(Image.open(frames[1]), LONG, ANSWER)
        seen = (weights > 0).any(1)
        np.testing.assert_allclose(saliency.uniform, seen[..., places].sum(-1) / seen.sum(-1), atol=TOLERANCE)
        if family == "gemma3":
            assert len(LONG) > GEMMA_WINDOW
            assert (saliency.uniform[0] == 0).all(), "the sliding layer no longer sees the image"
            assert (saliency.uniform[1] > 0).all()
            assert "limited number of tokens" in saliency.note

    def test_the_answer_is_as_likely_as_while_it_is_generated(
        self, family: str, found: Found, hands: Hands, frames: list[Path]
    ) -> None:
        expected = hands(family).log_likelihood_while_generating(Image.open(frames[1]), PROMPT, ANSWER)
        assert found(family).log_likelihood == pytest.approx(expected, rel=1e-4)

    def test_the_gradient_is_that_of_a_pass_followed_from_the_pixels_on(
        self, family: str, found: Found, hands: Hands, frames: list[Path]
    ) -> None:
        expected = hands(family).gradient_times_embedding(Image.open(frames[1]), PROMPT, ANSWER)
        saliency = found(family)
        assert saliency.gradient is not None
        assert not saliency.why_no_gradient
        np.testing.assert_allclose(saliency.gradient, expected, atol=1e-4 * np.abs(expected).max())
        assert saliency.gradient_mean == pytest.approx(np.abs(expected).mean(), rel=1e-4)
        assert ("deepstack" in saliency.note) == (family == "qwen3_vl")

    def test_the_pieces_join_to_the_answer(self, family: str, found: Found) -> None:
        saliency = found(family)
        assert saliency.answer == ANSWER
        assert saliency.shares.shape[2] == saliency.maps.shape[1] == len(saliency.tokens)
        if family != "box":
            assert saliency.tokens[-3:] == ("", "é", ".")

    def test_maps_sum_to_the_shares_also_when_painted(self, family: str, found: Found) -> None:
        saliency = found(family)
        np.testing.assert_allclose(saliency.maps.sum(-1), saliency.shares.mean(1), rtol=1e-5)
        painted = saliency.painted(saliency.attention_map)
        assert painted.shape == saliency.grid
        assert painted.sum() == pytest.approx(saliency.fraction, rel=1e-5)
        assert saliency.painted(saliency.attention_map, (56, 84)).sum() == pytest.approx(saliency.fraction, rel=1e-5)

    def test_what_is_kept_of_it_adds_up(self, family: str, found: Found) -> None:
        assert KeptSaliency.from_json(keep(found(family)).to_json()).adds_up

    @pytest.mark.parametrize("shape", [(84, 56), (56, 84), (56, 56)])
    def test_a_change_in_one_place_is_felt_by_the_tokens_that_lie_there(
        self, family: str, shape: tuple[int, int], loaded: Vlms, hands: Hands, tmp_path: Path
    ) -> None:
        scale = 4 if family == "box" else 1
        base = _noise((shape[0] * scale, shape[1] * scale))
        base.save(tmp_path / "frame.png")
        saliency = loaded(family).saliency(tmp_path / "frame.png", PROMPT, ANSWER)
        assert saliency.regions is not None and saliency.grid is not None
        rows, columns = saliency.grid
        before = hands(family).embeddings(base, PROMPT)
        for row, column in _cells(rows, columns, at_most=12):
            spot = (column / columns, row / rows, (column + 1) / columns, (row + 1) / rows)
            moved = (hands(family).embeddings(picture_at(base, spot), PROMPT) - before).norm(dim=-1).numpy()
            x, y = (column + 0.5) / columns, (row + 0.5) / rows
            left, top, right, bottom = saliency.regions.T
            there = (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
            assert there[moved.argmax()], f"a change at {row}, {column} is felt elsewhere"
            assert (moved[~there] < moved.max() / 2).all(), f"a change at {row}, {column} is felt elsewhere, too"

    def test_no_later_answer_changes_and_nothing_is_left_behind(
        self, family: str, loaded: Vlms, frames: list[Path]
    ) -> None:
        vlm = loaded(family)
        asks = [Ask(frame, prompt) for frame in frames for prompt in (PROMPT, "Why?")]
        decoding = Decoding(max_new_tokens=8)
        before = [told(reply) for reply in vlm.answer_all(asks, decoding)]
        traces = left_behind(vlm)
        vlm.saliency(frames[0], PROMPT, ANSWER)
        assert left_behind(vlm) == traces
        assert told(vlm.answer(asks[2].image, asks[2].prompt, decoding, said_nothing)) == before[2]
        assert [told(reply) for reply in vlm.answer_all(asks, decoding)] == before


@pytest.mark.parametrize("family", FAMILIES)
def test_the_gradient_says_how_the_likelihood_changes_with_each_patch(
    family: str, found: Found, hands: Hands, frames: list[Path]
) -> None:
    slopes = np.array(hands(family).slopes(Image.open(frames[1]), PROMPT, ANSWER))
    saliency = found(family)
    assert saliency.gradient is not None
    np.testing.assert_allclose(saliency.gradient, slopes, atol=0.02 * np.abs(slopes).max())


def left_behind(vlm: TransformersLocal) -> list[object]:
    """Return what a saliency call touches on a VLM."""
    model = vlm._model
    return [
        model.config._attn_implementation,
        model.config.get_text_config(decoder=True)._attn_implementation,
        model.config.vision_config._attn_implementation,
        [weights.requires_grad for weights in model.parameters()],
        [weights.grad is None for weights in model.parameters()],
        [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules()],
        ["forward" in vars(module) for module in model.modules()],
        model.training,
        str(getattr(model.model, "rope_deltas", None)),
    ]


def _noise(size: tuple[int, int]) -> Image.Image:
    width, height = size
    noise = np.random.default_rng(7).integers(0, 255, (height // 7, width // 7, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((width, height))


def _cells(rows: int, columns: int, at_most: int) -> list[tuple[int, int]]:
    """Return all cells of a grid, or some spread over it."""
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    step = max(len(cells) // at_most, 1)
    return cells[::step]
