"""Any image-text-to-text VLM that transformers can load, behind the contract of `Vlm`.

It decodes greedily, sees the image at its own size through its own processor, and is given no
system prompt. One call runs at a time. Whatever goes wrong with one ask is the error of its reply:
processors, templates and models raise anything for what they cannot digest.
What it computed of the last image is kept for the next call, and changes no answer.
"""

__all__ = ["LocalSpec", "TransformersLocal", "load_vlm"]

import contextlib
import gc
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.errors import AppError
from backend.vlm.batching import Batching, BatchPlan, batching_of, plan_batches
from backend.vlm.chat_prompts import ChatPrompts, Encoded
from backend.vlm.failures import MEMORY_HINT, first_line, is_of_device, is_out_of_memory
from backend.vlm.greedy import Batch, Generated, Streamer, Watch, decode_greedily, watch_words
from backend.vlm.loading import DeviceFacts, Loaded, LocalSpec, device_facts, load
from backend.vlm.picture import KeptPicture
from backend.vlm.prefix import KeptPrefix
from backend.vlm.saliency.compute import answer_probability, compute_saliency
from backend.vlm.saliency.faithfulness import Curves, deletion_and_insertion
from backend.vlm.saliency.randomised import randomised_weights
from backend.vlm.saliency.result import Saliency, SaliencyError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from PIL import Image

ROWS_ON_CPU = 64
ROWS_ON_GPU = 16
"""Prompts decoded side by side; on a GPU their keys and values share the memory with the weights."""

BATCHES_A_CHUNK = 2
"""So many batches' asks are sorted by length together, and their images held computed."""


def load_vlm(spec: LocalSpec) -> "TransformersLocal":
    """Load a VLM.

    Raises:
        AppError: Something is missing: the weights, a package, a GPU, memory, a chat template.
    """
    return TransformersLocal(spec, load(spec))


class TransformersLocal:
    """A VLM on this machine; make one with `load_vlm`.

    Args:
        spec: Where it came from.
        loaded: Its weights and processor.
    """

    def __init__(self, spec: LocalSpec, loaded: Loaded) -> None:
        self.spec = spec
        self._model = loaded.model
        self._tokenizer = loaded.processor.tokenizer
        self._family: str = loaded.model.config.model_type
        self._prompts = ChatPrompts(loaded.processor, self._family)
        self._image_processor = loaded.processor.image_processor
        self._dtype = loaded.dtype
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._watches: dict[tuple[str, ...], Watch] = {}
        self._picture = KeptPicture()
        self._prefix = KeptPrefix()
        self.batching: Batching = batching_of(self._family)
        """How several asks are answered."""
        self.batch_size = ROWS_ON_CPU if self._model.device.type == "cpu" else ROWS_ON_GPU
        """Prompts decoded side by side at most."""

    @property
    def name(self) -> str:
        """Its name among the VLMs of a store."""
        return self.spec.name

    def device_facts(self) -> DeviceFacts:
        """Return where it runs and how much memory that has left."""
        return device_facts(str(self._model.device))

    def facts(self) -> Mapping[str, str]:
        """Return what a record says of it: its dtype, and what its chat template says without being asked.

        ``dtype``; ``chat template``, all that is written around a question; ``system prompt``, where one stays.
        """
        told = {"chat template": self._prompts.around, "system prompt": self._prompts.system_prompt}
        return {"dtype": self._dtype, **{name: words for name, words in told.items() if words}}

    def cancel(self) -> None:
        """Stop the call that runs now at its next token; it raises `Cancelled`."""
        self._stop.set()

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        """Answer one prompt in a fresh context.

        The text is what the VLM said, without special tokens and otherwise untouched; the
        pieces told to ``on_text`` add up to it.

        Raises:
            AppError: The device failed, so that nothing can be asked any more.
            Cancelled: Somebody called `cancel`, or ``on_text`` raised it.
        """
        with self._lock:
            self._stop.clear()
            started = time.perf_counter()
            reply = self._answer(Ask(image, prompt), decoding, on_text)
            return replace(reply, seconds=time.perf_counter() - started)

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        """Answer several prompts, each in a fresh context, in their order.

        A batch that does not fit into memory is tried in halves, these in halves again, down to single
        asks. One that fails otherwise is asked one by one, so that an ask fails alone.

        Raises:
            AppError: The device failed, so that nothing can be asked any more.
            Cancelled: Somebody called `cancel`.
        """
        replies: dict[int, Reply] = {}
        with self._lock:
            self._stop.clear()
            for places in self._chunks(asks):
                started = time.perf_counter()
                chunk = self._answer_chunk([asks[place] for place in places], decoding)
                share = (time.perf_counter() - started) / len(places)
                replies |= {place: replace(reply, seconds=share) for place, reply in zip(places, chunk, strict=True)}
        return [replies[place] for place in range(len(asks))]

    def saliency(self, image: Path, prompt: str, answer: str, randomised: int | None = None) -> Saliency:
        """Return what an answer to a prompt attended to, and what it depended on; no later answer changes.

        Args:
            image: File of the image.
            prompt: As it was, or would be, asked.
            answer: Said by this VLM, or not: it is read as if it had been.
            randomised: Seed by which all weights are shuffled for this call; None leaves them alone.

        Raises:
            AppError: The device failed, so that nothing can be asked any more.
            SaliencyError: It cannot be had for this; the VLM goes on.
            Cancelled: Somebody called `cancel`.
        """
        shuffled = contextlib.nullcontext() if randomised is None else randomised_weights(self._model, randomised)
        with self._lock, self._refusing(), shuffled:
            picture = self._picture.open(image).image
            return compute_saliency(
                self._model,
                self._tokenizer,
                self._image_processor,
                self._prompts.encode(picture, prompt),
                answer,
                size=picture.size,
                stop=self._stop,
            )

    def faithfulness(self, image: Path, prompt: str, answer: str, heat: "ArrayLike", steps: int = 10) -> Curves:
        """Return how an answer's probability changes as the image goes and comes in the order of a map.

        Args:
            image: File of the image.
            prompt: As it was asked.
            answer: Whose probability is followed.
            heat: The map, of shape (rows, columns); see `deletion_and_insertion`.
            steps: Points of a curve but one.

        Raises:
            AppError: As `saliency` does, and SaliencyError and Cancelled, too.
        """
        with self._lock, self._refusing():
            picture = self._picture.open(image).image
            return deletion_and_insertion(picture, heat, partial(self._probability, prompt, answer), steps)

    def _probability(self, prompt: str, answer: str, picture: "Image.Image") -> float:
        """Return the probability of an answer's token given a picture, the geometric mean over its tokens."""
        if self._stop.is_set():
            raise Cancelled
        return answer_probability(self._model, self._tokenizer, self._prompts.encode(picture, prompt), answer)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """Begin a call whose errors refuse it and nothing else, but for those of the device."""
        self._stop.clear()
        try:
            yield
        except (Cancelled, SaliencyError):
            raise
        except AppError as error:
            raise SaliencyError(error.message, error.hint) from error
        except Exception as error:
            raise SaliencyError(self._explained(error), "Choose another VLM for saliency.") from error

    def _chunks(self, asks: Sequence[Ask]) -> Iterator[list[int]]:
        """Yield places of asks that are worked on together, those about one image side by side."""
        by_image: dict[Path | None, list[int]] = {}
        for place, ask in enumerate(asks):
            by_image.setdefault(ask.image, []).append(place)
        places = [place for group in by_image.values() for place in group]
        step = self.batch_size * BATCHES_A_CHUNK
        for first in range(0, len(places), step):
            yield places[first : first + step]

    def _answer(self, ask: Ask, decoding: Decoding, on_text: OnText | None = None) -> Reply:
        try:
            encoded, picture = self._encode(ask)
            (plan,) = self._plans({0: encoded}, {0: picture}, decoding)
            streamer = None if on_text is None else Streamer(self._decode, on_text)
            (said,) = self._generate(plan.build(plan.places), decoding, streamer)
            return self._reply(said)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - a contract: see `Vlm.answer`
            return Reply("", error=self._explained(error))

    def _answer_chunk(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        if self.batching is Batching.ONE_BY_ONE:
            return [self._answer(ask, decoding) for ask in asks]
        replies: dict[int, Reply] = {}
        encoded: dict[int, Encoded] = {}
        pictures: dict[int, str | None] = {}
        for place, outcome in enumerate(self._encode_all(asks)):
            if isinstance(outcome, str):
                replies[place] = Reply("", error=outcome)
            else:
                encoded[place], pictures[place] = outcome
        try:
            for plan in self._plans(encoded, pictures, decoding):
                replies |= dict(zip(plan.places, self._decode_plan(plan, plan.places, decoding), strict=True))
        except AppError:
            raise
        except Exception:  # noqa: BLE001 - what cannot be planned together is asked alone, and says why itself
            replies |= {place: self._answer(asks[place], decoding) for place in encoded if place not in replies}
        return [replies[place] for place in range(len(asks))]

    def _plans(
        self, encoded: Mapping[int, Encoded], pictures: Mapping[int, str | None], decoding: Decoding
    ) -> Iterator[BatchPlan]:
        return plan_batches(
            self._model,
            encoded,
            pictures,
            kept=self._prefix if self.batching is Batching.SHARED_PREFIX else None,
            rows=self.batch_size,
            limit=decoding.max_new_tokens,
        )

    def _encode_all(self, asks: Sequence[Ask]) -> Iterator[tuple[Encoded, str | None] | str]:
        """Yield each ask as `_encode` does, or why it cannot be."""
        for ask in asks:
            try:
                yield self._encode(ask)
            except Exception as error:  # noqa: BLE001 - a contract: see `Vlm.answer`
                yield self._explained(error)

    def _encode(self, ask: Ask) -> tuple[Encoded, str | None]:
        """Return an ask as tensors, and the hash of its image."""
        if ask.image is None:
            return self._prompts.encode(None, ask.prompt), None
        picture = self._picture.open(ask.image)
        return self._prompts.encode(picture.image, ask.prompt), picture.sha256

    def _decode_plan(self, plan: BatchPlan, places: Sequence[int], decoding: Decoding) -> list[Reply]:
        """Decode asks of a planned batch; in parts where the whole does not work."""
        try:
            return [self._reply(said) for said in self._generate(plan.build(places), decoding)]
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - a contract: see `Vlm.answer`
            explained, halves_may_fit = self._explained(error), is_out_of_memory(error)
        if len(places) == 1:
            return [Reply("", error=explained)]
        middle = len(places) // 2
        parts = [places[:middle], places[middle:]] if halves_may_fit else [[place] for place in places]
        return [reply for part in parts for reply in self._decode_plan(plan, part, decoding)]

    def _generate(self, batch: Batch, decoding: Decoding, streamer: Streamer | None = None) -> list[Generated]:
        return decode_greedily(
            self._model,
            batch,
            limit=decoding.max_new_tokens,
            watch=self._watch(decoding.watched),
            stop=self._stop,
            streamer=streamer,
        )

    def _watch(self, words: tuple[str, ...]) -> Watch:
        if words not in self._watches:
            self._watches[words] = watch_words(self._tokenizer, words)
        return self._watches[words]

    def _decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _reply(self, said: Generated) -> Reply:
        return Reply(
            self._decode(said.ids), n_tokens=len(said.ids), was_cut=said.was_cut, probabilities=said.probabilities
        )

    def _explained(self, error: Exception) -> str:
        """Return in words why an ask failed.

        Raises:
            AppError: The device itself failed; every later ask would, too.
        """
        if isinstance(error, AppError):
            return str(error)
        if is_out_of_memory(error):
            self._free_memory()
            return f"The memory of {self.device_facts().name} was full. {MEMORY_HINT}"
        if is_of_device(error):
            raise AppError(
                f"{self.name}: the GPU reported an error and cannot go on.", "Start this VLM again."
            ) from error
        return f"{self.name} could not take this: {first_line(error) or type(error).__name__}"

    def _free_memory(self) -> None:
        import torch

        self._prefix.forget()
        self._picture.forget()
        gc.collect()
        if self._model.device.type == "cuda":
            torch.cuda.empty_cache()
        elif self._model.device.type == "mps":
            torch.mps.empty_cache()
