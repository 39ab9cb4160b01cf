"""Every family of VLM answers as transformers itself would have it, alone and in batches."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, said_nothing
from backend.errors import AppError
from backend.vlm.batching import Batching, batching_of
from backend.vlm.greedy import Generated, decode_greedily
from backend.vlm.loading import LocalSpec, load
from backend.vlm.transformers_local import TransformersLocal
from tests.vlm.conftest import Vlms
from tests.vlm.tiny_models import FAMILIES, GEMMA_WINDOW, hf
from tests.vlm.watching import pixels_seen, told

DECODING = Decoding(max_new_tokens=12)
DECODE = "backend.vlm.transformers_local.decode_greedily"


def turn(ask: Ask) -> list[dict[str, Any]]:
    """Return a conversation of one turn, with an empty system prompt where Qwen's template has its own."""
    text = {"type": "text", "text": ask.prompt}
    picture = [] if ask.image is None else [{"type": "image", "image": Image.open(ask.image).convert("RGB")}]
    return [{"role": "user", "content": [*picture, text]}]


def by_transformers(folder: Path, family: str, asks: list[Ask], limit: int) -> list[str]:
    """Answer with transformers alone, as its manual shows it."""
    processor = hf.AutoProcessor.from_pretrained(folder)
    model = hf.AutoModelForImageTextToText.from_pretrained(folder)
    system = [{"role": "system", "content": [{"type": "text", "text": ""}]}] if family == "qwen2_5_vl" else []
    said = []
    for ask in asks:
        if family == "paligemma":
            assert ask.image is not None
            inputs = processor(images=Image.open(ask.image), text=f"<image>{ask.prompt}", return_tensors="pt")
        else:
            inputs = processor.apply_chat_template(
                [*system, *turn(ask)],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
            )
        ids = model.generate(**inputs, do_sample=False, max_new_tokens=limit)
        said.append(processor.tokenizer.decode(ids[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))
    return said


@pytest.mark.parametrize("family", FAMILIES)
class TestEveryFamily:
    """One promise a method, kept by each family."""

    def test_an_answer_is_what_transformers_generates(
        self, family: str, vlms: Vlms, folders: Callable[[str], Path], asks: list[Ask]
    ) -> None:
        vlm = vlms(family)
        said = [vlm.answer(ask.image, ask.prompt, DECODING, said_nothing) for ask in asks[:6]]
        assert [reply.text for reply in said] == by_transformers(folders(family), family, asks[:6], 12)
        assert not any(reply.error for reply in said)
        assert len({reply.text for reply in said}) > 3, "the VLM looks neither at the image nor at the prompt"

    def test_a_batch_says_what_its_asks_say_one_by_one(self, family: str, vlms: Vlms, asks: list[Ask]) -> None:
        vlm = vlms(family)
        mixed = [
            *asks[:5],
            Ask(None, "What is a polyp?"),
            *asks[5:],
            Ask(None, "Why?"),
            Ask(asks[0].image, "Is it? " * 9),
        ]
        alone = [vlm.answer(ask.image, ask.prompt, DECODING, said_nothing) for ask in mixed]
        together = vlm.answer_all(mixed, DECODING)
        assert [told(reply) for reply in together] == [told(reply) for reply in alone]

    def test_text_alone_is_answered_or_refused_in_words(self, family: str, vlms: Vlms) -> None:
        reply = vlms(family).answer(None, "What is a polyp?", DECODING, said_nothing)
        if family == "paligemma":
            assert "answers only about an image" in reply.error
        else:
            assert reply.n_tokens
            assert not reply.error

    def test_no_system_prompt_is_left(self, family: str, vlms: Vlms) -> None:
        vlm = vlms(family)
        assert "system prompt" not in vlm.facts()
        if family != "paligemma":
            assert "helpful" not in vlm._tokenizer.decode(vlm._prompts.encode(None, "Why?").ids)

    def test_an_image_is_encoded_once_for_all_its_prompts(self, family: str, vlms: Vlms, asks: list[Ask]) -> None:
        vlm = vlms(family)
        if vlm.batching is not Batching.SHARED_PREFIX:
            assert family == "paligemma"
            return
        vlm._prefix.forget()
        with pixels_seen(vlm) as together:
            vlm.answer_all(asks, DECODING)
        vlm._prefix.forget()
        with pixels_seen(vlm) as alone:
            for ask in asks[:3]:
                vlm.answer(ask.image, ask.prompt, DECODING, said_nothing)
        assert sum(together) == sum(alone) > 0


def test_a_family_that_was_never_tried_is_asked_one_by_one(vlms: Vlms, asks: list[Ask]) -> None:
    assert batching_of("a family of next year") is Batching.ONE_BY_ONE
    vlm = TransformersLocal(vlms("llava").spec, load(vlms("llava").spec))
    vlm.batching = Batching.ONE_BY_ONE
    assert list(map(told, vlm.answer_all(asks[:4], DECODING))) == list(
        map(told, vlms("llava").answer_all(asks[:4], DECODING))
    )


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_the_size_of_a_batch_changes_no_answer(vlms: Vlms, asks: list[Ask], rows: int) -> None:
    vlm = vlms("llava")
    expected = list(map(told, vlm.answer_all(asks, DECODING)))
    vlm.batch_size, kept = rows, vlm.batch_size
    smaller = vlm.answer_all(asks, DECODING)
    vlm.batch_size = kept
    assert list(map(told, smaller)) == expected


def test_prompts_longer_than_a_sliding_window_are_batched_rightly(vlms: Vlms, frames: list[Path]) -> None:
    long = [Ask(frame, "Is it there? " * n) for n in (2, 7, 9, 9) for frame in frames]
    assert len(long[-1].prompt) > GEMMA_WINDOW
    vlm = vlms("gemma3")
    alone = [vlm.answer(ask.image, ask.prompt, DECODING, said_nothing) for ask in long]
    assert list(map(told, vlm.answer_all(long, DECODING))) == list(map(told, alone))


def with_template(folder: Path, template: Callable[[str], str]) -> TransformersLocal:
    """Return a VLM whose chat template is another than its own."""
    loaded = load(LocalSpec(str(folder), "other template"))
    loaded.processor.chat_template = template(loaded.processor.chat_template)
    return TransformersLocal(LocalSpec("", "other template"), loaded)


ADDS_TO_AN_EMPTY_ONE = (
    "{% if messages[0]['role'] != 'system' %}",
    "{% if messages[0]['role'] != 'system' or not messages[0]['content'][0]['text'] %}",
)
BEGINS_WITH_WORDS = ("{% for message in messages %}", "Today is Monday. {% for message in messages %}")
TAKES_NO_SYSTEM_TURN = (
    "{% for message in messages %}",
    "A polite chat. {% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ raise_exception('no system turn') }}{% endif %}",
)


@pytest.mark.parametrize(
    ("family", "change", "facts"),
    [
        pytest.param(
            "qwen2_5_vl",
            ADDS_TO_AN_EMPTY_ONE,
            {
                "chat template": "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
                "<|im_start|>user\n…<|im_end|>\n<|im_start|>assistant\n",
                "system prompt": "You are a helpful assistant.",
            },
            id="a default that cannot be emptied",
        ),
        pytest.param(
            "llava",
            BEGINS_WITH_WORDS,
            {"chat template": "<bos>Today is Monday. USER: … ASSISTANT:"},
            id="words that stand there with a system prompt, too",
        ),
        pytest.param(
            "llava",
            TAKES_NO_SYSTEM_TURN,
            {"chat template": "<bos>A polite chat. USER: … ASSISTANT:"},
            id="a template that takes no system prompt",
        ),
    ],
)
def test_what_a_template_says_without_being_asked_is_told(
    folders: Callable[[str], Path], family: str, change: tuple[str, str], facts: dict[str, str]
) -> None:
    vlm = with_template(folders(family), lambda template: template.replace(*change))
    assert vlm.facts() == {"dtype": "float32", **facts}


def test_a_family_without_template_adds_no_words(vlms: Vlms) -> None:
    assert vlms("paligemma").facts() == {"dtype": "float32"}


def test_a_vlm_without_chat_template_is_refused(folders: Callable[[str], Path]) -> None:
    loaded = load(LocalSpec(str(folders("llava")), "mute"))
    loaded.processor.chat_template = None
    with pytest.raises(AppError, match="no chat template"):
        TransformersLocal(LocalSpec("", "mute"), loaded)


class TestOneAnswer:
    """What `answer` adds to the text."""

    def test_the_pieces_add_up_to_the_text(self, vlms: Vlms, asks: list[Ask]) -> None:
        for ask in asks:
            pieces: list[str] = []
            reply = vlms("llava").answer(ask.image, ask.prompt, DECODING, pieces.append)
            assert "".join(pieces) == reply.text
            assert all(pieces)

    def test_tokens_are_counted_with_the_end_mark_and_a_cut_is_told(self, vlms: Vlms, asks: list[Ask]) -> None:
        vlm = vlms("llava")
        replies = vlm.answer_all(asks, DECODING)
        assert {True, False} == {reply.was_cut for reply in replies}
        for ask, reply in zip(asks, replies, strict=True):
            assert reply.n_tokens is not None
            assert 1 <= reply.n_tokens <= 12
            if reply.was_cut:
                assert reply.n_tokens == 12
            elif reply.n_tokens > 1:
                shorter = Decoding(max_new_tokens=reply.n_tokens - 1)
                assert vlm.answer(ask.image, ask.prompt, shorter, said_nothing).was_cut

    def test_a_control_word_in_a_prompt_is_refused(self, vlms: Vlms, frames: list[Path]) -> None:
        reply = vlms("llava").answer(frames[0], "Is <image> a polyp?", DECODING, said_nothing)
        assert "control word" in reply.error
        assert "<image>" in reply.error

    def test_cancel_stops_at_the_next_token_and_the_next_call_runs(self, vlms: Vlms, asks: list[Ask]) -> None:
        vlm = vlms("qwen3_vl")
        pieces: list[str] = []

        def stop_at_once(text: str) -> None:
            pieces.append(text)
            vlm.cancel()

        with pytest.raises(Cancelled):
            for ask in asks:
                vlm.answer(ask.image, ask.prompt, Decoding(max_new_tokens=200), stop_at_once)
        assert len(pieces) == 1
        assert vlm.answer(asks[0].image, asks[0].prompt, DECODING, said_nothing).n_tokens

    def test_cancel_from_another_thread_stops_a_batch(self, vlms: Vlms, asks: list[Ask]) -> None:
        vlm = vlms("llava")
        vlm._model.generation_config.eos_token_id, ends = [0], vlm._model.generation_config.eos_token_id
        steps = threading.Event()
        hook = vlm._model.register_forward_hook(lambda *_: steps.set())
        caught: list[BaseException] = []

        def run() -> None:
            try:
                vlm.answer_all(asks * 3, Decoding(max_new_tokens=800))
            except Cancelled as error:
                caught.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        assert steps.wait(60)
        vlm.cancel()
        thread.join(60)
        hook.remove()
        vlm._model.generation_config.eos_token_id = ends
        assert caught
        assert not thread.is_alive()

    def test_what_listening_raises_comes_out(self, vlms: Vlms, asks: list[Ask]) -> None:
        def hang_up(text: str) -> None:
            raise Cancelled

        with pytest.raises(Cancelled):
            for ask in asks:
                vlms("llava").answer(ask.image, ask.prompt, DECODING, hang_up)


class TestWatchedWords:
    """Probabilities where one of the words is said."""

    def test_they_are_the_softmax_over_first_tokens_where_the_first_word_is_said(
        self, vlms: Vlms, folders: Callable[[str], Path], asks: list[Ask]
    ) -> None:
        vlm = vlms("llava")
        processor = hf.AutoProcessor.from_pretrained(folders("llava"))
        model = hf.AutoModelForImageTextToText.from_pretrained(folders("llava"))
        inputs = processor.apply_chat_template(
            turn(asks[0]), add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        out = model.generate(
            **inputs, do_sample=False, max_new_tokens=12, output_logits=True, return_dict_in_generate=True
        )
        said = out.sequences[0, inputs["input_ids"].shape[1] :].tolist()
        bytes_of = {token: byte for byte in range(33, 127) for token in processor.tokenizer.encode(chr(byte))[1:]}
        step = next(place for place, token in enumerate(said) if token in bytes_of)
        spoken = chr(bytes_of[said[step]])
        other = "Q" if spoken != "Q" else "R"
        assert other not in "".join(chr(bytes_of[token]) for token in said[:step] if token in bytes_of)
        ids = processor.tokenizer.encode(spoken)[1:] + processor.tokenizer.encode(other)[1:]
        expected = out.logits[step][0, ids].softmax(dim=0).tolist()

        watching = Decoding(max_new_tokens=12, watched=(spoken, f"{other}uite"))
        alone = vlm.answer(asks[0].image, asks[0].prompt, watching, said_nothing)
        assert list(alone.probabilities) == [spoken, f"{other}uite"]
        assert list(alone.probabilities.values()) == pytest.approx(expected, abs=1e-5)
        assert sum(alone.probabilities.values()) == pytest.approx(1)
        together = vlm.answer_all(asks, watching)[0]
        assert dict(together.probabilities) == pytest.approx(dict(alone.probabilities), abs=1e-4)

    def test_words_that_begin_alike_are_not_told_apart(self, vlms: Vlms, asks: list[Ask]) -> None:
        watching = Decoding(max_new_tokens=12, watched=("YES", "YET"))
        assert not any(reply.probabilities for reply in vlms("llava").answer_all(asks, watching))

    def test_where_none_is_said_there_are_none(self, vlms: Vlms, asks: list[Ask]) -> None:
        watching = Decoding(max_new_tokens=1, watched=("YES", "NO"))
        replies = vlms("llava").answer_all(asks, watching)
        assert any(not reply.probabilities and reply.text[:1] not in {"Y", "N"} for reply in replies)


class TestFaults:
    """One ask fails alone; a dead device is said once."""

    def test_a_damaged_image_is_the_error_of_its_own_reply(self, vlms: Vlms, asks: list[Ask], tmp_path: Path) -> None:
        broken = tmp_path / "broken.png"
        broken.write_bytes(b"")
        vlm = vlms("llava")
        replies = vlm.answer_all([asks[0], Ask(broken, "Why?"), asks[1]], DECODING)
        assert "broken.png is empty" in replies[1].error
        assert [reply.text for reply in (replies[0], replies[2])] == [
            vlm.answer(ask.image, ask.prompt, DECODING, said_nothing).text for ask in asks[:2]
        ]
        assert "broken.png is empty" in vlm.answer(broken, "Why?", DECODING, said_nothing).error

    @pytest.mark.parametrize(
        ("fits", "answered"),
        [
            pytest.param(6, 12, id="halves of twelve rows fit"),
            pytest.param(5, 12, id="halves of halves fit"),
            pytest.param(1, 12, id="single asks fit"),
            pytest.param(0, 0, id="not even these"),
        ],
    )
    def test_a_batch_too_large_for_memory_is_tried_in_halves_down_to_single_asks(
        self, vlms: Vlms, asks: list[Ask], monkeypatch: pytest.MonkeyPatch, fits: int, answered: int
    ) -> None:
        square = [Ask(asks[0].image, f"{ask.prompt}{n}") for n, ask in enumerate(asks)]
        vlm = vlms("llava")
        expected = list(map(told, vlm.answer_all(square, DECODING)))

        def small(model: Any, batch: Any, **options: Any) -> list[Generated]:
            if len(batch.ids) > fits:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")
            return decode_greedily(model, batch, **options)

        monkeypatch.setattr(DECODE, small)
        replies = vlm.answer_all(square, DECODING)
        assert sum(not reply.error for reply in replies) == answered
        if answered:
            assert list(map(told, replies)) == expected
        else:
            assert all("memory" in reply.error and "was full" in reply.error for reply in replies)

    def test_images_too_many_for_memory_are_encoded_in_halves(self, vlms: Vlms, frames: list[Path]) -> None:
        vlm = vlms("llava")
        short = [Ask(frames[0], f"Why {n}?") for n in range(3)]
        long = [Ask(frames[1], f"Where is the polyp {n}?") for n in range(3)]
        expected = list(map(told, vlm.answer_all(short + long, DECODING)))

        def one_at_a_time(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
            if len(next(iter([*given, *named.values()]))) > 1:
                raise torch.OutOfMemoryError("CUDA out of memory.")

        hook = vlm._model.get_encoder(modality="image").register_forward_pre_hook(one_at_a_time, with_kwargs=True)
        replies = vlm.answer_all(short + long, DECODING)
        hook.remove()
        assert list(map(told, replies)) == expected

    def test_an_ask_that_its_template_refuses_fails_alone(self, folders: Callable[[str], Path]) -> None:
        """Templates raise errors of jinja2, which are of none of Python's own kinds."""
        refuse = "{% if 'blood' in messages|string %}{{ raise_exception('no blood') }}{% endif %}"
        vlm = with_template(folders("llava"), lambda template: refuse + template)
        asks = [Ask(None, "Why?"), Ask(None, "Is there blood?"), Ask(None, "Where?")]
        together = vlm.answer_all(asks, DECODING)
        alone = [vlm.answer(ask.image, ask.prompt, DECODING, said_nothing) for ask in asks]
        assert list(map(told, together)) == list(map(told, alone))
        assert [reply.error for reply in together] == ["", "other template could not take this: no blood", ""]

    def test_asks_that_cannot_be_planned_together_are_asked_alone(
        self, vlms: Vlms, asks: list[Ask], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        vlm = vlms("llava")
        expected = list(map(told, vlm.answer_all(asks[:3], DECODING)))
        plans = vlm._plans

        def alone(encoded: Any, *rest: Any) -> Any:
            if len(encoded) > 1:
                raise LookupError("too many")
            return plans(encoded, *rest)

        monkeypatch.setattr(vlm, "_plans", alone)
        assert list(map(told, vlm.answer_all(asks[:3], DECODING))) == expected

    @pytest.mark.parametrize("place", ["_generate", "_encode", "_reply"])
    def test_no_exception_of_a_library_comes_out(
        self, vlms: Vlms, asks: list[Ask], monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        def odd(*_: Any) -> None:
            raise ZeroDivisionError

        vlm = vlms("llava")
        monkeypatch.setattr(vlm, place, odd)
        replies = [*vlm.answer_all(asks[:3], DECODING), vlm.answer(asks[0].image, "Why?", DECODING, said_nothing)]
        assert {reply.error for reply in replies} == {"llava could not take this: ZeroDivisionError"}

    def test_an_ask_that_breaks_a_batch_fails_alone(
        self, vlms: Vlms, asks: list[Ask], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        vlm = vlms("llava")
        expected = list(map(told, vlm.answer_all(asks, DECODING)))
        poison = vlm._tokenizer.encode("@")[-1]

        def picky(model: Any, batch: Any, **options: Any) -> list[Generated]:
            if (batch.ids == poison).any():
                raise ValueError("no at signs\nplease")
            return decode_greedily(model, batch, **options)

        monkeypatch.setattr(DECODE, picky)
        replies = vlm.answer_all([*asks, Ask(asks[0].image, "Who@where?")], DECODING)
        assert replies[-1].error == "llava could not take this: no at signs"
        assert list(map(told, replies[:-1])) == expected

    def test_a_device_error_ends_it_all(self, vlms: Vlms, asks: list[Ask], monkeypatch: pytest.MonkeyPatch) -> None:
        def dead(*_: Any, **__: Any) -> list[Generated]:
            raise RuntimeError("CUDA error: device-side assert triggered")

        monkeypatch.setattr(DECODE, dead)
        for call in (
            lambda: vlms("llava").answer_all(asks, DECODING),
            lambda: vlms("llava").answer(asks[0].image, "Why?", DECODING, said_nothing),
        ):
            with pytest.raises(AppError, match="the GPU reported an error"):
                call()

    def test_the_seconds_of_a_batch_are_shared(self, vlms: Vlms, asks: list[Ask]) -> None:
        replies = vlms("llava").answer_all(asks, DECODING)
        assert len({reply.seconds for reply in replies}) == 1
        assert replies[0].seconds > 0
