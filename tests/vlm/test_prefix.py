"""Calls about one image encode it once, and no reply shows it."""

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, Reply, said_nothing
from backend.vlm.batching import Batching
from backend.vlm.chat_prompts import Encoded
from backend.vlm.greedy import Generated, decode_greedily
from backend.vlm.loading import LocalSpec
from backend.vlm.prefix import compute_prefix, extend_prefix
from backend.vlm.transformers_local import TransformersLocal, load_vlm
from tests.vlm.conftest import QUESTIONS, Vlms
from tests.vlm.tiny_models import FAMILIES, GEMMA_WINDOW
from tests.vlm.watching import pixels_seen, told

DECODING = Decoding(max_new_tokens=12)
DECODE = "backend.vlm.transformers_local.decode_greedily"
SHARING = [family for family in FAMILIES if family != "paligemma"]

LONG = "Is it there, and where? " * 6
"""Longer than a sliding window of Gemma 3, image included."""


@pytest.fixture(scope="session")
def plain_vlms(folders: Callable[[str], Path]) -> Vlms:
    """Return a loaded tiny VLM of a family that has every prompt generated whole by transformers."""

    def load_plain(family: str) -> TransformersLocal:
        vlm = load_vlm(LocalSpec(str(folders(family)), family))
        vlm.batching = Batching.ONE_BY_ONE
        return vlm

    return cache(load_plain)


def answer(vlm: TransformersLocal, ask: Ask) -> tuple[Reply, list[str]]:
    """Return a reply and the pieces it came in."""
    pieces: list[str] = []
    return vlm.answer(ask.image, ask.prompt, DECODING, pieces.append), pieces


def same(vlm: TransformersLocal, plain: TransformersLocal, *asks: Ask) -> None:
    """Ask both VLMs, the first in one call, and compare."""
    if len(asks) == 1:
        (one, pieces), (other, other_pieces) = answer(vlm, asks[0]), answer(plain, asks[0])
        assert pieces == other_pieces
        assert told(one) == told(other)
    else:
        replies = vlm.answer_all(asks, DECODING)
        assert [told(reply) for reply in replies] == [told(answer(plain, ask)[0]) for ask in asks]


@pytest.mark.parametrize("family", FAMILIES)
def test_call_after_call_says_what_plain_calls_say(
    family: str, vlms: Vlms, plain_vlms: Vlms, frames: list[Path]
) -> None:
    vlm, plain = vlms(family), plain_vlms(family)
    first, second, third = frames
    direct, one, two, revise = QUESTIONS
    same(vlm, plain, Ask(first, direct))
    same(vlm, plain, Ask(first, one), Ask(first, two))
    same(vlm, plain, Ask(first, revise))
    same(vlm, plain, Ask(second, direct))
    same(vlm, plain, Ask(first, direct))
    same(vlm, plain, Ask(first, LONG))
    same(vlm, plain, Ask(first, LONG), Ask(first, one), Ask(first, direct))
    same(vlm, plain, Ask(second, one), Ask(first, two), Ask(third, one), Ask(first, direct))
    same(vlm, plain, Ask(first, two))
    if family != "paligemma":
        same(vlm, plain, Ask(None, direct))
        same(vlm, plain, Ask(None, direct), Ask(first, one), Ask(None, two))
    same(vlm, plain, Ask(first, one))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    calls=st.lists(
        st.lists(st.tuples(st.sampled_from([0, 1, 2, None]), st.sampled_from(QUESTIONS)), min_size=1, max_size=4),
        max_size=5,
    )
)
@pytest.mark.parametrize("family", ["llava", "qwen2_5_vl"])
def test_in_whatever_order_calls_come_they_say_what_plain_calls_say(
    family: str, vlms: Vlms, plain_vlms: Vlms, frames: list[Path], calls: list[list[tuple[int | None, str]]]
) -> None:
    for call in calls:
        asks = [Ask(None if place is None else frames[place], question) for place, question in call]
        same(vlms(family), plain_vlms(family), *asks)


@pytest.mark.parametrize("family", SHARING)
def test_after_the_first_call_no_call_about_the_image_encodes_it(family: str, vlms: Vlms, frames: list[Path]) -> None:
    vlm = vlms(family)
    vlm._prefix.forget()
    with pixels_seen(vlm) as seen:
        answer(vlm, Ask(frames[0], QUESTIONS[0]))
        assert seen
        seen.clear()
        vlm.answer_all([Ask(frames[0], question) for question in QUESTIONS], DECODING)
        vlm.answer_all([Ask(frames[0], QUESTIONS[0])], DECODING)
        vlm.answer(None, QUESTIONS[0], DECODING, said_nothing)
        answer(vlm, Ask(frames[0], QUESTIONS[1]))
        assert not seen
        answer(vlm, Ask(frames[1], QUESTIONS[0]))
        assert seen
        seen.clear()
        answer(vlm, Ask(frames[0], QUESTIONS[0]))
        assert seen, "one image is kept at a time"


def test_a_batch_about_one_image_keeps_it_for_the_next_call(vlms: Vlms, frames: list[Path]) -> None:
    vlm = vlms("llava")
    vlm._prefix.forget()
    with pixels_seen(vlm) as seen:
        vlm.answer_all([Ask(frames[0], question) for question in QUESTIONS], DECODING)
        assert len(seen) == 1
        answer(vlm, Ask(frames[0], QUESTIONS[0]))
    assert len(seen) == 1


@pytest.mark.parametrize("family", ["paligemma", "a family of next year"])
def test_where_tokens_may_look_ahead_every_prompt_is_generated_whole(
    family: str, folders: Callable[[str], Path], frames: list[Path]
) -> None:
    vlm = load_vlm(LocalSpec(str(folders(family if family in FAMILIES else "llava")), family))
    if family not in FAMILIES:
        vlm.batching = Batching.ONE_BY_ONE
    with pixels_seen(vlm) as seen:
        for question in QUESTIONS:
            answer(vlm, Ask(frames[0], question))
    assert len(seen) == len(QUESTIONS)


def test_a_replaced_file_is_seen_even_where_path_size_and_time_stay(
    vlms: Vlms, plain_vlms: Vlms, frames: list[Path], tmp_path: Path
) -> None:
    vlm, plain = vlms("llava"), plain_vlms("llava")
    file = tmp_path / "frame.bmp"
    facts, texts = set(), []
    for frame in (frames[0], frames[2], frames[0]):
        Image.open(frame).save(file)
        os.utime(file, (1, 1))
        facts.add((file.stat().st_size, file.stat().st_mtime_ns))
        same(vlm, plain, Ask(file, QUESTIONS[2]))
        same(vlm, plain, Ask(file, QUESTIONS[2]), Ask(file, QUESTIONS[1]))
        texts.append(answer(vlm, Ask(file, QUESTIONS[2]))[0].text)
    assert len(facts) == 1
    assert texts[0] == texts[2] != texts[1]


def test_a_copy_under_another_name_is_the_same_image(vlms: Vlms, frames: list[Path], tmp_path: Path) -> None:
    vlm = vlms("llava")
    text = answer(vlm, Ask(frames[0], QUESTIONS[0]))[0].text
    with pixels_seen(vlm) as seen:
        twin = Path(shutil.copy(frames[0], tmp_path / "twin.png"))
        assert answer(vlm, Ask(twin, QUESTIONS[0]))[0].text == text
    assert not seen


def test_a_file_that_became_unreadable_is_an_error_and_spoils_nothing(
    vlms: Vlms, plain_vlms: Vlms, frames: list[Path], tmp_path: Path
) -> None:
    vlm, plain = vlms("llava"), plain_vlms("llava")
    file = Path(shutil.copy(frames[0], tmp_path / "frame.png"))
    same(vlm, plain, Ask(file, QUESTIONS[0]))
    file.write_bytes(b"")
    assert "frame.png is empty" in answer(vlm, Ask(file, QUESTIONS[0]))[0].error
    file.unlink()
    assert answer(vlm, Ask(file, QUESTIONS[0]))[0].error
    shutil.copy(frames[0], file)
    same(vlm, plain, Ask(file, QUESTIONS[1]))


@pytest.mark.parametrize("family", SHARING)
@pytest.mark.parametrize("passes", [1, 3])
def test_a_call_cut_off_spoils_nothing(
    family: str, passes: int, vlms: Vlms, plain_vlms: Vlms, frames: list[Path]
) -> None:
    """Be it one answer or a batch, stopped from outside, at its first token or later."""
    vlm, plain = vlms(family), plain_vlms(family)
    answer(vlm, Ask(frames[0], QUESTIONS[0]))
    asks = [Ask(frames[0], question) for question in QUESTIONS]
    endless = Decoding(max_new_tokens=200)

    def one_by_one() -> list[Reply]:
        return [vlm.answer(ask.image, ask.prompt, endless, said_nothing) for ask in asks]

    def together() -> list[Reply]:
        return vlm.answer_all(asks, endless)

    for call in (one_by_one, together):
        n_passes = 0

        def stop_in_time(*_: Any) -> None:
            nonlocal n_passes
            n_passes += 1
            if n_passes >= passes:
                vlm.cancel()

        hook = vlm._model.register_forward_hook(stop_in_time)
        with pytest.raises(Cancelled):
            call()
        hook.remove()
        with pixels_seen(vlm) as seen:
            same(vlm, plain, asks[0])
            same(vlm, plain, *asks[1:])
        assert not seen


def test_a_listener_that_hangs_up_spoils_nothing(vlms: Vlms, plain_vlms: Vlms, frames: list[Path]) -> None:
    vlm, plain = vlms("llava"), plain_vlms("llava")

    def hang_up(_: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        for question in QUESTIONS:
            vlm.answer(frames[0], question, DECODING, hang_up)
    same(vlm, plain, Ask(frames[0], QUESTIONS[0]))
    same(vlm, plain, *(Ask(frames[0], question) for question in QUESTIONS))


@pytest.mark.parametrize("family", ["llava", "qwen3_vl", "gemma3"])
def test_calls_leave_what_is_kept_as_it_was(family: str, vlms: Vlms, frames: list[Path]) -> None:
    vlm = vlms(family)
    answer(vlm, Ask(frames[0], QUESTIONS[0]))
    kept = vlm._prefix._prefix
    assert kept is not None
    before = [layer.keys.clone() for layer in kept.cache.layers]
    vlm.answer_all([Ask(frames[0], question) for question in QUESTIONS], DECODING)
    answer(vlm, Ask(frames[0], LONG))
    assert len(LONG) > GEMMA_WINDOW
    assert vlm._prefix._prefix is kept
    assert all(torch.equal(one, layer.keys) for one, layer in zip(before, kept.cache.layers, strict=True))


def test_two_vlms_share_nothing(
    vlms: Vlms, plain_vlms: Vlms, folders: Callable[[str], Path], frames: list[Path]
) -> None:
    answer(vlms("llava"), Ask(frames[0], QUESTIONS[0]))
    twin = load_vlm(LocalSpec(str(folders("llava")), "twin"))
    with pixels_seen(twin) as seen:
        same(twin, plain_vlms("llava"), Ask(frames[0], QUESTIONS[0]))
    assert seen


def test_a_full_memory_frees_what_is_kept(
    vlms: Vlms, plain_vlms: Vlms, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm, plain = vlms("llava"), plain_vlms("llava")
    answer(vlm, Ask(frames[0], QUESTIONS[0]))

    def full(*_: Any, **__: Any) -> list[Generated]:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")

    monkeypatch.setattr(DECODE, full)
    assert "was full" in answer(vlm, Ask(frames[0], QUESTIONS[0]))[0].error
    assert vlm._prefix._prefix is None
    assert vlm._picture._picture is None
    monkeypatch.setattr(DECODE, decode_greedily)
    with pixels_seen(vlm) as seen:
        same(vlm, plain, Ask(frames[0], QUESTIONS[1]))
    assert len(seen) == 1


@pytest.mark.parametrize("error", [ValueError("no such picture"), torch.OutOfMemoryError("CUDA out of memory.")])
def test_an_image_that_could_not_be_encoded_is_not_taken_for_encoded(
    vlms: Vlms, plain_vlms: Vlms, frames: list[Path], error: Exception
) -> None:
    vlm, plain = vlms("llava"), plain_vlms("llava")
    answer(vlm, Ask(frames[1], QUESTIONS[0]))

    def fail(*_: Any) -> None:
        raise error

    hook = vlm._model.get_decoder().layers[1].register_forward_pre_hook(fail)
    assert answer(vlm, Ask(frames[0], QUESTIONS[0]))[0].error
    assert all(reply.error for reply in vlm.answer_all([Ask(frames[0], question) for question in QUESTIONS], DECODING))
    hook.remove()
    same(vlm, plain, Ask(frames[0], QUESTIONS[0]))
    same(vlm, plain, *(Ask(frames[0], question) for question in QUESTIONS))


@pytest.mark.parametrize("family", SHARING)
def test_a_prefix_with_more_tokens_is_the_longer_prefix(family: str, vlms: Vlms, frames: list[Path]) -> None:
    vlm = vlms(family)
    encoded, _ = vlm._encode(Ask(frames[1], QUESTIONS[2]))
    image_end = len(encoded.ids) - encoded.ids[::-1].index(vlm._model.config.image_token_id)
    short = compute_prefix(vlm._model, [encoded], image_end)
    before = [layer.keys.clone() for layer in short.cache.layers]
    longer = extend_prefix(vlm._model, short, ids_of(encoded)[:, image_end : image_end + 9])
    whole = compute_prefix(vlm._model, [encoded], image_end + 9)
    for one, other in zip(longer.cache.layers, whole.cache.layers, strict=True):
        torch.testing.assert_close(one.keys, other.keys, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(one.values, other.values, atol=1e-4, rtol=1e-4)
    assert all(torch.equal(one, layer.keys) for one, layer in zip(before, short.cache.layers, strict=True))
    assert (longer.shifts is None) == (whole.shifts is None)
    assert longer.shifts is None or torch.equal(longer.shifts, whole.shifts)


def ids_of(encoded: Encoded) -> Any:
    """Return token ids of shape (1, length)."""
    return encoded.tokens["input_ids"]
