"""Guesses are looked up in the text, and whatever is guessed, the reply stays."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.vlm import Ask, Decoding, Reply, said_nothing
from backend.vlm import greedy
from backend.vlm.lookup import FIRST_GUESS, LONGEST_GUESS, guess
from backend.vlm.transformers_local import TransformersLocal
from tests.vlm.conftest import QUESTIONS, Vlms
from tests.vlm.watching import told

LIMIT = 24
DECODING = Decoding(max_new_tokens=LIMIT)
TAKING_BACK = ("llava", "qwen2_5_vl", "qwen3_vl", "internvl", "idefics3", "smolvlm")
"""Families that look up; Gemma 3's sliding layers cannot take a wrong guess back."""

Guess = Callable[[list[int], int], list[int]]


@pytest.mark.parametrize(
    ("text", "longest", "guessed"),
    [
        pytest.param([1, 2, 3, 4, 5, 1, 2, 3], 9, [4, 5, 1, 2, 3], id="what followed three tokens"),
        pytest.param([1, 2, 3, 4, 5, 1, 2, 3], 2, [4, 5], id="no longer than asked for"),
        pytest.param([1, 2, 4, 3, 2, 5, 1, 2], 9, [4, 3, 2, 5, 1, 2], id="what followed two tokens"),
        pytest.param([7, 1, 2, 4, 0, 1, 2, 5, 7, 1, 2], 1, [4], id="three tokens before the latest two"),
        pytest.param([1, 2, 4, 0, 1, 2, 5, 1, 2], 1, [5], id="the latest place"),
        pytest.param([6, 6, 6], 9, [6], id="a repetition"),
        pytest.param([1, 2, 1], 9, [], id="one token alone is not looked for"),
        pytest.param([1, 2, 3], 9, [], id="nothing"),
        pytest.param([], 9, [], id="no text"),
        pytest.param([1, 2, 3, 1, 2], 0, [], id="nothing asked for"),
    ],
)
def test_a_guess_is_what_followed_the_last_tokens_before(text: list[int], longest: int, guessed: list[int]) -> None:
    assert guess(text, longest) == guessed


@given(text=st.lists(st.integers(0, 3), max_size=80), longest=st.integers(0, 40))
def test_a_guess_stands_in_the_text_behind_its_last_two_tokens(text: list[int], longest: int) -> None:
    guessed = guess(text, longest)
    assert len(guessed) <= min(longest, LONGEST_GUESS)
    if guessed:
        whole = [*text[-2:], *guessed]
        assert any(text[place : place + len(whole)] == whole for place in range(len(text)))


@pytest.mark.parametrize("family", TAKING_BACK)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param(9, 0, id="all right"),
        pytest.param(1, 0, id="one right"),
        pytest.param(0, 5, id="all wrong"),
        pytest.param(2, 4, id="wrong after two"),
        pytest.param(0, 0, id="no guess"),
    ],
)
def test_whatever_is_guessed_the_reply_is_what_generate_says(
    family: str, right: int, wrong: int, vlms: Vlms, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = vlms(family)
    for question in QUESTIONS:
        ask = Ask(frames[0], question)
        plain, ids, passes = plainly(vlm, ask, DECODING, monkeypatch)
        passed: list[int] = []
        hook = vlm._model.register_forward_hook(lambda *_, passed=passed: passed.append(1))
        with monkeypatch.context() as patch:
            patch.setattr(greedy, "guess", oracle(ids, right, wrong))
            reply = vlm.answer(ask.image, ask.prompt, DECODING, said_nothing)
        hook.remove()
        assert told(reply) == told(plain)
        assert passes == len(ids)
        assert len(passed) <= math.ceil(len(ids) / (1 + min(right, FIRST_GUESS)))


def test_pieces_come_token_by_token_as_from_generate(
    vlms: Vlms, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm, ask = vlms("llava"), Ask(frames[0], QUESTIONS[2])
    pieces: list[list[str]] = [[], []]
    with monkeypatch.context() as patch:
        patch.setattr(greedy, "_can_be_guessed", lambda *_: False)
        vlm.answer(ask.image, ask.prompt, DECODING, pieces[0].append)
    _, ids, _ = plainly(vlm, ask, DECODING, monkeypatch)
    monkeypatch.setattr(greedy, "guess", oracle(ids, 3, 1))
    vlm.answer(ask.image, ask.prompt, DECODING, pieces[1].append)
    assert pieces[0] == pieces[1]


def test_a_guess_goes_neither_over_the_limit_nor_over_the_end_mark(
    vlms: Vlms, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = vlms("llava")
    seen = set()
    for question in QUESTIONS:
        for frame in frames:
            for limit in (1, 2, 5, LIMIT):
                ask, decoding = Ask(frame, question), Decoding(max_new_tokens=limit)
                plain, ids, _ = plainly(vlm, ask, decoding, monkeypatch)
                with monkeypatch.context() as patch:
                    patch.setattr(greedy, "guess", oracle([*ids, 40, 41, 42, 43], 9, 0))
                    reply = vlm.answer(ask.image, ask.prompt, decoding, said_nothing)
                assert told(reply) == told(plain)
                seen.add(reply.was_cut)
    assert seen == {True, False}


def test_watched_words_have_the_probabilities_that_generate_gives(
    vlms: Vlms, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = vlms("llava")
    watching = Decoding(max_new_tokens=LIMIT, watched=tuple("abcdefghijklmnop"))
    noted = 0
    for question in QUESTIONS:
        for frame in frames:
            plain, ids, _ = plainly(vlm, Ask(frame, question), watching, monkeypatch)
            with monkeypatch.context() as patch:
                patch.setattr(greedy, "guess", oracle(ids, 4, 2))
                reply = vlm.answer(frame, question, watching, said_nothing)
            assert dict(reply.probabilities) == pytest.approx(dict(plain.probabilities), abs=1e-5)
            noted += bool(reply.probabilities)
    assert noted


@pytest.mark.parametrize(
    ("family", "setting"),
    [
        pytest.param("gemma3", {}, id="a sliding layer forgets"),
        pytest.param("paligemma", {}, id="the whole prompt is generated"),
        pytest.param("llava", {"repetition_penalty": 1.3}, id="tokens are weighed"),
        pytest.param("llava", {"suppress_tokens": [50, 51]}, id="tokens are forbidden"),
    ],
)
def test_where_a_guess_could_change_a_reply_nothing_is_guessed(
    family: str, setting: dict[str, Any], vlms: Vlms, frames: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = vlms(family)
    for name, value in setting.items():
        monkeypatch.setattr(vlm._model.generation_config, name, value)

    def never(*_: Any) -> list[int]:
        raise AssertionError

    monkeypatch.setattr(greedy, "guess", never)
    for frame in frames:
        assert vlm.answer(frame, QUESTIONS[0], DECODING, said_nothing).n_tokens
        (reply,) = vlm.answer_all([Ask(frame, QUESTIONS[1])], DECODING)
        assert reply.n_tokens


def plainly(
    vlm: TransformersLocal, ask: Ask, decoding: Decoding, monkeypatch: pytest.MonkeyPatch
) -> tuple[Reply, list[int], int]:
    """Answer by ``generate``; return the reply, its tokens, and how often the VLM was run for it."""
    ids: list[int] = []
    passes: list[int] = []

    def remembering(*given: Any, **named: Any) -> list[greedy.Generated]:
        said = greedy.decode_greedily(*given, **named)
        ids.extend(said[0].ids)
        return said

    hook = vlm._model.register_forward_hook(lambda *_: passes.append(1))
    with monkeypatch.context() as patch:
        patch.setattr(greedy, "_can_be_guessed", lambda *_: False)
        vlm.answer(ask.image, ask.prompt, Decoding(max_new_tokens=1), said_nothing)
        passes.clear()
        patch.setattr("backend.vlm.transformers_local.decode_greedily", remembering)
        reply = vlm.answer(ask.image, ask.prompt, decoding, said_nothing)
    hook.remove()
    return reply, ids, len(passes)


def oracle(ids: list[int], right: int, wrong: int) -> Guess:
    """Return who guesses so many tokens of a reply rightly, and so many more wrongly."""
    prompt_length = -1

    def foretell(text: list[int], longest: int) -> list[int]:
        nonlocal prompt_length
        prompt_length = len(text) if prompt_length < 0 else prompt_length
        coming = ids[len(text) - prompt_length :]
        others = [token + 1 if token < 100 else token - 1 for token in coming[right : right + wrong]]
        return [*coming[:right], *others][:longest]

    return foretell
