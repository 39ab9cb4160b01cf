"""Replay says stored answers again, word for word, and nothing else."""

from pathlib import Path

import pytest
from PIL import Image

from backend.domain.images import check_image
from backend.domain.records import Role
from backend.domain.vlm import Ask, Decoding, Reply, said_nothing
from backend.errors import AppError
from backend.vlm.blind import BLIND_VLM, BlindBaseline, Example
from backend.vlm.replay import Replay, StoredAnswer

DECODING = Decoding()


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    path = tmp_path / "frame.png"
    Image.new("RGB", (8, 8), "red").save(path)
    return path


def said(replay: Replay, image: Path | None, prompt: str) -> Reply:
    return replay.answer(image, prompt, DECODING, said_nothing)


def test_it_says_what_was_stored_with_all_that_is_known_of_it(frame: Path) -> None:
    stored = Reply(" One polyp.\n", n_tokens=4, was_cut=True, probabilities={"Yes": 0.75, "No": 0.25})
    reply = said(Replay("V", [StoredAnswer("frame.png", "How many?", stored)]), frame, "How many?")
    assert (reply.text, reply.n_tokens, reply.was_cut, reply.error) == (" One polyp.\n", 4, True, "")
    assert reply.probabilities == {"Yes": 0.75, "No": 0.25}


def test_a_file_is_known_by_name_even_where_it_is_not_there(tmp_path: Path) -> None:
    replay = Replay("V", [StoredAnswer("gone.png", "How many?", Reply("two"))])
    assert said(replay, tmp_path / "gone.png", "How many?").text == "two"


def test_a_file_is_known_by_its_content_under_any_name(frame: Path) -> None:
    replay = Replay("V", [StoredAnswer(check_image(frame).sha256, "How many?", Reply("two"))])
    assert said(replay, frame.rename(frame.with_name("other.png")), "How many?").text == "two"


@pytest.mark.parametrize(
    ("image", "prompt"),
    [("frame.png", "How many polyps?"), ("other.png", "How many?"), (None, "How many?"), ("frame.png", "how many?")],
)
def test_what_is_not_stored_is_an_error_and_never_a_guess(frame: Path, image: str | None, prompt: str) -> None:
    replay = Replay("V", [StoredAnswer("frame.png", "How many?", Reply("two"))])
    reply = said(replay, frame.with_name(image) if image else None, prompt)
    assert reply.text == ""
    assert "is stored" in reply.error


def test_a_prompt_without_an_image_is_its_own_question(frame: Path) -> None:
    replay = Replay("V", [StoredAnswer(None, "Sum up.", Reply("a")), StoredAnswer("frame.png", "Sum up.", Reply("b"))])
    assert [reply.text for reply in replay.answer_all([Ask(None, "Sum up."), Ask(frame, "Sum up.")], DECODING)] == [
        "a",
        "b",
    ]


def test_a_failed_call_fails_again_with_its_words(frame: Path) -> None:
    replay = Replay("V", [StoredAnswer("frame.png", "How many?", Reply("", error="It was cut off."))])
    assert said(replay, frame, "How many?").error == "It was cut off."


def test_two_different_answers_to_one_question_are_refused_and_equal_ones_are_one(frame: Path) -> None:
    once, other = (StoredAnswer("frame.png", "How many?", Reply(text)) for text in ("two", "three"))
    assert said(Replay("V", [once, once]), frame, "How many?").text == "two"
    with pytest.raises(AppError, match=r"two different answers of V about frame\.png"):
        Replay("V", [once, other])


def test_the_blind_baseline_comes_through_this_door(frame: Path) -> None:
    baseline = BlindBaseline.learn([Example(Role.ATOMIC, ("polyp_count",), ("1",), "one polyp")])
    asked = {"How many polyps are there?": ("polyp_count",), "Is there text?": ("text_presence",)}
    replay = Replay(
        BLIND_VLM,
        [
            StoredAnswer("frame.png", prompt, Reply(baseline.answer(Role.ATOMIC, classes)))
            for prompt, classes in asked.items()
        ],
    )
    known, unknown = replay.answer_all([Ask(frame, prompt) for prompt in asked], DECODING)
    assert (known.text, known.error) == ("one polyp", "")
    assert (unknown.text, unknown.error) == ("", ""), "nothing learned is an empty answer, not a failed call"
