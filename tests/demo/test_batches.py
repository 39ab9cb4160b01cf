"""Sharing a picture's encoding among its lessons changes no loss."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image

from backend.demo.architecture import IMAGE_SIZE, build_processor, build_tokenizer, build_vlm
from backend.demo.batches import BUCKETS, IGNORED, IMAGE_TOKENS, Encoder, losses, see
from backend.demo.lessons import Lesson
from tests.demo.material import tiny_architecture

LESSONS = [
    (0, Lesson("atomic", "a", "Is there text?", "no")),
    (2, Lesson("atomic", "b", "Where?\nAnswer in a line.", "upper-left; center")),
    (1, Lesson("complex", "2", "Is there text, and how many polyps are in the image?", "No text, and two polyps.")),
    (0, Lesson("verify", "a", "Question: where? Answer: center", "EXPLANATION: a polyp.\nVERDICT: INCORRECT")),
    (2, Lesson("loop", "1", "Look again: ulcère, ≥ 5 mm?", "ANSWER: 2")),
    (0, Lesson("atomic", "c", "How many polyps?", "7")),
    (1, Lesson("atomic", "c", "How many polyps?", "0")),
]


@pytest.fixture(scope="module")
def tokenizer() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        tiny_architecture(patch)
        yield build_tokenizer(text for _, lesson in LESSONS for text in (lesson.prompt, lesson.reply))


@pytest.fixture(scope="module")
def vlm(tokenizer: Any) -> Any:
    return build_vlm(tokenizer, seed=3).eval()


@pytest.fixture(scope="module")
def pixels() -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (3, IMAGE_SIZE, IMAGE_SIZE, 3), np.uint8)


def inputs_of(tokenizer: Any, pixels: NDArray[np.uint8], lesson: Lesson) -> Any:
    """What the VLM's own processor makes of a picture, a prompt and its reply."""
    processor = build_processor(tokenizer)
    messages = [
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": lesson.prompt}]},
        {"role": "assistant", "content": [{"type": "text", "text": lesson.reply}]},
    ]
    text = processor.apply_chat_template(messages, tokenize=False)
    return processor(images=[Image.fromarray(pixels)], text=[text], return_tensors="pt")


def test_every_lesson_stands_in_one_batch_with_its_picture_and_like_lengths_together(tokenizer: Any) -> None:
    batches = Encoder(tokenizer).batches(LESSONS)
    assert len(batches) == BUCKETS
    found = [pair for batch in batches for pair in zip(batch.pictures.tolist(), batch.lessons, strict=True)]
    assert sorted(found, key=str) == sorted(LESSONS, key=str)
    lengths = [batch.mask.sum(1).tolist() for batch in batches]
    in_order = [length for of in lengths for length in of]
    assert in_order == sorted(in_order)
    assert all(batch.mask.shape[1] == max(of) for batch, of in zip(batches, lengths, strict=True))


def test_a_row_is_prompt_reply_and_end_and_learns_the_reply_alone(tokenizer: Any) -> None:
    [batch] = Encoder(tokenizer).batches(LESSONS[:1])
    prompt, reply = tokenizer("Is there text?").input_ids, tokenizer("no").input_ids
    answer, end = tokenizer.convert_tokens_to_ids(["<answer>", "<end>"])
    assert batch.tokens.tolist() == [[*prompt, answer, *reply, end]]
    assert batch.targets.tolist() == [[IGNORED] * len(prompt) + [*reply, end] + [IGNORED]]


def test_a_lesson_is_tokenised_as_the_chat_template_writes_it(tokenizer: Any, pixels: NDArray[np.uint8]) -> None:
    encoder = Encoder(tokenizer)
    image = tokenizer.convert_tokens_to_ids("<image>")
    for picture, lesson in LESSONS:
        [batch] = encoder.batches([(picture, lesson)])
        expected = inputs_of(tokenizer, pixels[picture], lesson).input_ids[0].tolist()
        assert [encoder.user, *[image] * IMAGE_TOKENS, *batch.tokens[0].tolist()] == expected


def test_what_the_vision_tower_sees_is_what_the_processor_gives(
    tokenizer: Any, vlm: Any, pixels: NDArray[np.uint8]
) -> None:
    given = torch.cat([inputs_of(tokenizer, own, LESSONS[0][1]).pixel_values for own in pixels])
    with torch.no_grad():
        expected = torch.stack(tuple(vlm.get_image_features(given).pooler_output))
        found = vlm.model.multi_modal_projector(see(vlm, pixels))
    assert found.shape == (3, IMAGE_TOKENS, 16)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_every_loss_is_that_of_a_plain_forward_through_one_sequence(
    tokenizer: Any, vlm: Any, pixels: NDArray[np.uint8]
) -> None:
    encoder = Encoder(tokenizer)
    batches = encoder.batches(LESSONS)
    with torch.no_grad():
        found = losses(vlm, vlm.model.multi_modal_projector(see(vlm, pixels)), batches, encoder.user)
        for batch, (loss, hit) in zip(batches, found, strict=True):
            for row, lesson in enumerate(batch.lessons):
                inputs = inputs_of(tokenizer, pixels[batch.pictures[row]], lesson)
                learned = batch.targets[row] != IGNORED
                targets = batch.targets[row][learned]
                logits = vlm(**inputs).logits[0, -len(targets) - 1 : -1]
                plain = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
                torch.testing.assert_close(loss[row][learned], plain, atol=1e-4, rtol=1e-4)
                assert not loss[row][~learned].any()
                assert hit[row][learned].tolist() == (logits.argmax(-1) == targets).tolist()
                assert hit[row][~learned].all()


def test_the_loss_of_a_batch_teaches_the_vision_tower_too(tokenizer: Any, vlm: Any, pixels: NDArray[np.uint8]) -> None:
    encoder = Encoder(tokenizer)
    features = vlm.model.multi_modal_projector(see(vlm, pixels))
    sum(loss.sum() for loss, _ in losses(vlm, features, encoder.batches(LESSONS), encoder.user)).backward()
    patches = vlm.model.vision_tower.get_input_embeddings().weight.grad
    assert patches is not None and patches.abs().sum() > 0
    vlm.zero_grad(set_to_none=True)
