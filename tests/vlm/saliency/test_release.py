"""Whatever happens in a saliency call, the VLM is as it was; and what cannot be had is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backend.domain.progress import Cancelled
from backend.domain.vlm import Decoding, said_nothing
from backend.vlm.saliency import attention, compute, gradient
from backend.vlm.saliency.randomised import randomised_weights, rank_correlation
from backend.vlm.saliency.result import SaliencyError
from backend.vlm.transformers_local import TransformersLocal, load_vlm
from tests.vlm.conftest import Vlms
from tests.vlm.saliency.test_every_family import ANSWER, PROMPT, left_behind

STEPS = {
    "attention": (attention.Recording, "keep"),
    "forward pass": (compute, "log_likelihood"),
    "embeddings": (gradient.Embeddings, "take"),
}


@pytest.fixture
def vlm(vlms: Vlms) -> TransformersLocal:
    return vlms("qwen3_vl")


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_leaves_nothing_behind_and_is_a_refusal(
    step: str, vlm: TransformersLocal, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("shapes differ")

    before = left_behind(vlm)
    with monkeypatch.context() as patched:
        patched.setattr(*STEPS[step], fail)
        if step == "embeddings":
            assert "shapes differ" in vlm.saliency(frames[0], PROMPT, ANSWER).why_no_gradient
        else:
            with pytest.raises(SaliencyError, match="shapes differ"):
                vlm.saliency(frames[0], PROMPT, ANSWER)
    assert left_behind(vlm) == before
    assert vlm.saliency(frames[0], PROMPT, ANSWER).gradient is not None


def test_a_call_is_cancelled_at_the_next_layer(
    vlm: TransformersLocal, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, kept = left_behind(vlm), []

    def cancel_then_keep(recording: attention.Recording, *_: Any) -> None:
        kept.append(recording)
        vlm.cancel()

    with monkeypatch.context() as patched:
        patched.setattr(attention.Recording, "keep", cancel_then_keep)
        with pytest.raises(Cancelled):
            vlm.saliency(frames[0], PROMPT, ANSWER)
    assert len(kept) == 1
    assert left_behind(vlm) == before
    assert not vlm.answer(frames[0], PROMPT, Decoding(max_new_tokens=3), said_nothing).error


@pytest.mark.parametrize("reason", ["quantised", "memory was full", "no numbers"])
def test_without_a_gradient_attention_is_the_same_and_the_reason_is_told(
    reason: str, vlm: TransformersLocal, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = vlm.saliency(frames[0], PROMPT, ANSWER)

    def times_gradient(*_: Any) -> Any:
        if reason == "memory was full":
            raise torch.OutOfMemoryError("CUDA out of memory")
        return torch.tensor([1.0, float("nan")])

    if reason == "quantised":
        monkeypatch.setattr(vlm._model, "is_quantized", True, raising=False)
    else:
        monkeypatch.setattr(gradient.Embeddings, "times_gradient", times_gradient)
    part = vlm.saliency(frames[0], PROMPT, ANSWER)
    assert part.gradient is None
    assert part.gradient_mean is None
    assert {"quantised": "quantised", "memory was full": "memory", "no numbers": "no numbers"}[reason] in (
        part.why_no_gradient
    )
    np.testing.assert_allclose(part.maps, whole.maps, atol=1e-6)
    assert part.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-5)


@pytest.mark.parametrize(
    ("answer", "why"), [("", "no answer"), (" \n", "no answer"), ("Yes<|im_end|>", "control word")]
)
def test_what_is_no_answer_is_refused(vlm: TransformersLocal, frames: list[Path], answer: str, why: str) -> None:
    with pytest.raises(SaliencyError, match=why) as refusal:
        vlm.saliency(frames[0], PROMPT, answer)
    assert refusal.value.hint


def test_a_file_that_is_no_image_is_refused(vlm: TransformersLocal, tmp_path: Path) -> None:
    (tmp_path / "frame.png").write_text("no image")
    with pytest.raises(SaliencyError):
        vlm.saliency(tmp_path / "frame.png", PROMPT, ANSWER)


def test_a_family_whose_attention_cannot_be_recorded_is_refused_in_words(
    vlm: TransformersLocal, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(vlm._model), "_can_set_attn_implementation", lambda *_: False)
    with pytest.raises(SaliencyError, match="cannot be recorded"):
        vlm.saliency(frames[0], PROMPT, ANSWER)


@pytest.mark.parametrize(
    ("way", "tolerance"), [({"attn_implementation": "eager"}, 1e-6), ({"dtype": "bfloat16"}, 0.03)]
)
def test_how_a_vlm_is_loaded_makes_no_difference_but_for_rounding(
    way: dict[str, Any], tolerance: float, vlms: Vlms, frames: list[Path]
) -> None:
    vlm = vlms("gemma3")
    expected = vlm.saliency(frames[0], PROMPT, ANSWER)
    found = load_vlm(replace(vlm.spec, **way)).saliency(frames[0], PROMPT, ANSWER)
    np.testing.assert_allclose(found.shares, expected.shares, atol=tolerance)
    np.testing.assert_allclose(found.uniform, expected.uniform)
    assert found.gradient is not None and expected.gradient is not None
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=3 * tolerance * np.abs(expected.gradient).max())


def test_a_vlm_whose_layers_report_nothing_is_refused(
    vlm: TransformersLocal, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention.Recording, "keep", lambda *_: None)
    with pytest.raises(SaliencyError, match="cannot be recorded"):
        vlm.saliency(frames[0], PROMPT, ANSWER)


def test_shuffled_weights_give_another_map_and_come_back_to_the_last_bit(vlms: Vlms, frames: list[Path]) -> None:
    vlm = vlms("llava")
    before = [weights.clone() for weights in vlm._model.parameters()]
    learnt = vlm.saliency(frames[0], PROMPT, ANSWER)
    shuffled = vlm.saliency(frames[0], PROMPT, ANSWER, randomised=1)
    again = vlm.saliency(frames[0], PROMPT, ANSWER, randomised=1)
    assert all(torch.equal(one, other) for one, other in zip(before, vlm._model.parameters(), strict=True))
    np.testing.assert_array_equal(shuffled.maps, again.maps)
    assert not np.allclose(shuffled.maps, learnt.maps, atol=1e-3)
    np.testing.assert_array_equal(vlm.saliency(frames[0], PROMPT, ANSWER).maps, learnt.maps)


def test_weights_come_back_also_after_an_exception(vlms: Vlms) -> None:
    model = vlms("llava")._model
    before = [weights.clone() for weights in model.parameters()]
    with pytest.raises(RuntimeError), randomised_weights(model, 3):
        changed = [not torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True)]
        raise RuntimeError
    assert sum(changed) > len(changed) / 2
    assert all(torch.equal(one, other) for one, other in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize(
    ("heat", "other", "expected"),
    [([1, 2, 3], [10, 20, 90], 1.0), ([1, 2, 3], [3, 2, 1], -1.0), ([1, 1, 1], [1, 2, 3], None)],
)
def test_maps_are_compared_by_rank(heat: list[float], other: list[float], expected: float | None) -> None:
    assert rank_correlation(heat, other) == (None if expected is None else pytest.approx(expected))


def test_faithfulness_follows_the_probability_of_the_answer(vlms: Vlms, frames: list[Path]) -> None:
    vlm = vlms("internvl")
    saliency = vlm.saliency(frames[1], PROMPT, ANSWER)
    heat = saliency.painted(saliency.attention_map)
    curves = vlm.faithfulness(frames[1], PROMPT, ANSWER, heat, steps=3)
    assert curves.deletion[0] == pytest.approx(np.exp(saliency.log_likelihood / len(saliency.tokens)), rel=1e-4)
    assert len(set(curves.deletion)) == 4
    assert all(0 <= value <= 1 for value in (*curves.deletion, *curves.chance_insertion))
