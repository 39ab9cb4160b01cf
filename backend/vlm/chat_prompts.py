"""A prompt in the form a VLM was trained on: its own chat template, image first, no system prompt.

Some templates add a system prompt where none is given. It is emptied where the template
allows it. Which of a template's words are a system prompt cannot always be told; so all that it
writes around a question is told, too, and a run can keep both on record.
"""

__all__ = ["ChatPrompts", "Encoded"]

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from backend.errors import AppError

ALONG_TOKENS = frozenset({"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"})
"""Of a processor's outputs those that have one value a token; the rest describes the image."""

_WITHOUT_TEMPLATE = frozenset({"paligemma"})
"""Families that take image and prompt as they are."""

_MARK, _QUESTION = "SYSTEM PROMPT", "Why?"


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """One ask as tensors."""

    tokens: Mapping[str, Any]
    """Token ids and what runs along with them, each of shape (1, length)."""
    picture: Mapping[str, Any]
    """The image as the VLM's processor prepared it; empty for a prompt about text alone."""

    @property
    def ids(self) -> list[int]:
        """The token ids."""
        ids: list[int] = self.tokens["input_ids"][0].tolist()
        return ids


class ChatPrompts:
    """Writes asks for one VLM.

    Args:
        processor: The VLM's processor. Its image processor is replaced by one that keeps what it
            made of the last picture.
        family: Its ``model_type``.

    Raises:
        AppError: The VLM has no chat template and is of no family that goes without.
    """

    def __init__(self, processor: Any, family: str) -> None:
        self._processor = processor
        self._plain = family in _WITHOUT_TEMPLATE
        if not self._plain and getattr(processor, "chat_template", None) is None:
            raise AppError(
                f"This VLM ({family}) has no chat template, so nobody knows how to ask it.",
                "Use its instruction-tuned version, or put a chat_template.jinja into its folder.",
            )
        processor.image_processor = _LastPicture(processor.image_processor)
        self._controls = _control_words(processor)
        self._system: list[dict[str, Any]] = []
        self.system_prompt = "" if self._plain else self._without_default()
        """The system prompt that the template adds and that could not be emptied, as far as it can be told."""

    @property
    def around(self) -> str:
        """All that is written around a question without an image, control words too; ``…`` stands for the question.

        Empty where there is no template, or where it writes nothing without an image.
        """
        before, question, after = ("", "", "") if self._plain else self._written(self._system).rpartition(_QUESTION)
        return f"{before}…{after}" if question else ""

    def encode(self, picture: Image.Image | None, prompt: str) -> Encoded:
        """Return the ask as tensors on the CPU.

        Raises:
            ValueError: The prompt holds a control word, or the VLM cannot do without an image.
        """
        control = next((word for word in self._controls if word in prompt), None)
        if control is not None:
            raise ValueError(f"The prompt holds {control}, a control word of this VLM.")
        if self._plain:
            outputs = self._encode_plain(picture, prompt)
        else:
            outputs = self._processor.apply_chat_template(
                [*self._system, _user_turn(picture, prompt)],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
            )
        return Encoded(
            tokens={name: value for name, value in outputs.items() if name in ALONG_TOKENS},
            picture={name: value for name, value in outputs.items() if name not in ALONG_TOKENS},
        )

    def _encode_plain(self, picture: Image.Image | None, prompt: str) -> Any:
        if picture is None:
            raise ValueError("This VLM answers only about an image.")
        return self._processor(images=picture, text=f"{self._processor.image_token}{prompt}", return_tensors="pt")

    def _without_default(self) -> str:
        """Find a template's default system prompt, empty it, and return what remains of it.

        A prompt with a system prompt of our own is laid over one without any: where both agree
        before and after that system prompt, whatever stands there without being asked for is
        the default.
        """
        plain = self._written([])
        marked = self._written([_system_turn(_MARK)])
        before, mark, after = marked.partition(_MARK)
        if not mark or not _frames(plain, before, after):
            return ""
        default = plain[len(before) : len(plain) - len(after)].strip()
        if not default:
            return ""
        empty = self._written([_system_turn("")])
        if not _frames(empty, before, after) or empty[len(before) : len(empty) - len(after)].strip():
            return default
        self._system = [_system_turn("")]
        return ""

    def _written(self, system: list[dict[str, Any]]) -> str:
        """Return the template's text for a short question; empty where it takes no such system prompt.

        A template can raise anything. Where it does so for every ask, each reply says why.
        """
        try:
            turns = [*system, _user_turn(None, _QUESTION)]
            return str(self._processor.apply_chat_template(turns, add_generation_prompt=True))
        except Exception:  # noqa: BLE001 - see above
            return ""


def _user_turn(picture: Image.Image | None, prompt: str) -> dict[str, Any]:
    text = {"type": "text", "text": prompt}
    content = [text] if picture is None else [{"type": "image", "image": picture}, text]
    return {"role": "user", "content": content}


def _system_turn(text: str) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": "text", "text": text}]}


def _frames(text: str, before: str, after: str) -> bool:
    return text.startswith(before) and text.endswith(after) and len(text) >= len(before) + len(after)


def _control_words(processor: Any) -> tuple[str, ...]:
    """Return the strings that a tokenizer reads as marks of a turn or as an image, wherever they stand."""
    tokenizer = processor.tokenizer
    marks: set[str | None] = {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
    marks |= {*tokenizer.all_special_tokens, getattr(processor, "image_token", None)}
    return tuple(sorted(mark for mark in marks if mark))


class _LastPicture:
    """An image processor that prepares a picture once, however many prompts ask about it."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._images: Any = None
        self._options: dict[str, Any] = {}
        self._outputs: Any = None

    def __call__(self, images: Any, **options: Any) -> Any:
        if self._outputs is None or options != self._options or not _same(images, self._images):
            self._outputs = self._inner(images, **options)
            self._images, self._options = images, options
        return copy.copy(self._outputs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _same(images: Any, others: Any) -> bool:
    """Return whether two arguments, lists inside lists too, are the very same pictures."""
    if isinstance(images, list | tuple) and isinstance(others, list | tuple):
        return len(images) == len(others) and all(_same(*pair) for pair in zip(images, others, strict=True))
    return images is others
