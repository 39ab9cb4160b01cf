"""Greedy decoding of one prompt or a batch of them.

A batch is decoded by transformers' own ``generate`` until half of its rows have ended; the
others go on from their cache in a batch of their own, so that a short answer does not wait for
a long one. One row behind a computed image is decoded several tokens a pass where they can be
guessed (`backend.vlm.lookup`). Both say what ``generate`` says, up to ties in floating-point
numbers.
"""

__all__ = ["Batch", "Generated", "Streamer", "Watch", "decode_greedily", "keep_rows", "watch_words"]

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backend.domain.progress import Cancelled
from backend.vlm.lookup import FIRST_GUESS, guess

if TYPE_CHECKING:
    import torch

SMALLEST_SPLIT = 4
"""Batches of fewer rows are decoded to their end: going on costs more than waiting."""


_HARMLESS = frozenset(
    {
        "_from_model_config",
        "bos_token_id",
        "cache_implementation",
        "do_sample",
        "eos_token_id",
        "max_length",
        "max_new_tokens",
        "num_beams",
        "output_attentions",
        "output_hidden_states",
        "pad_token_id",
        "transformers_version",
        "use_cache",
    }
)
"""Of a VLM's own settings those under which the most probable token is said, whatever their values here."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Words whose probabilities are noted where the first of them is said."""

    tokens: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By word the tokens it may begin with; no token belongs to two words."""

    @property
    def ids(self) -> list[int]:
        """All these tokens, word by word."""
        return [token for tokens in self.tokens.values() for token in tokens]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Prompts as tensors, padded on the left."""

    ids: "torch.Tensor"
    """Token ids, of shape (rows, length); with a cache they include what it holds."""
    mask: "torch.Tensor"
    """1 at tokens, 0 at padding; same shape."""
    others: Mapping[str, Any]
    """What else the VLM's forward pass takes: image tensors, token types."""
    cache: Any
    """Keys and values of the first tokens of each row; may be empty."""


@dataclass(frozen=True, slots=True)
class Generated:
    """What one row said."""

    ids: tuple[int, ...]
    """Tokens, up to the end mark and with it."""
    was_cut: bool
    """Whether the limit ended it."""
    probabilities: Mapping[str, float]
    """Of the watched words; empty where none was said."""


def watch_words(tokenizer: Any, words: Sequence[str]) -> Watch:
    """Find the tokens that words begin with, with and without a space before them.

    Words that share a first token cannot be told apart by it: then nothing is watched.
    """
    tokens = {word: _first_tokens(tokenizer, word) for word in words}
    watch = Watch(tokens)
    return watch if len(set(watch.ids)) == len(watch.ids) else Watch()


def decode_greedily(
    model: Any,
    batch: Batch,
    *,
    limit: int,
    watch: Watch,
    stop: threading.Event,
    streamer: "Streamer | None" = None,
) -> list[Generated]:
    """Generate each row's most probable tokens, one after the other.

    Args:
        model: A transformers model.
        batch: The rows; its cache is used up.
        limit: New tokens a row at most.
        watch: Words to note.
        stop: Checked before each token.
        streamer: Told of tokens; for a batch of one row.

    Raises:
        Cancelled: ``stop`` was set.
        RuntimeError: The device could not.
    """
    import torch

    ends = _end_marks(model)
    if _can_be_guessed(model, batch):
        return [_decode_guessing(model, batch, ends, limit=limit, watch=watch, stop=stop, streamer=streamer)]
    rows = [_Row() for _ in batch.ids]
    going = list(range(len(rows)))
    ids, mask, others, start = batch.ids, batch.mask, batch.others, batch.ids.shape[1]
    while going:
        before = ids.shape[1]
        scores = _WatchedScores(watch.ids)
        ids = model.generate(
            input_ids=ids,
            attention_mask=mask,
            cache=batch.cache,
            max_new_tokens=limit - (before - start),
            stopping_criteria=[_HalfEnded(ends, stop)],
            logits_processor=[scores] if watch.tokens else [],
            streamer=streamer,
            **others,
        )
        for place, row in enumerate(going):
            rows[row].take(ids[place, before:].tolist(), ends, watch, scores, place)
        left = [place for place, row in enumerate(going) if not rows[row].ended]
        if ids.shape[1] - start >= limit:
            break
        others = {}
        mask = torch.cat([mask, mask.new_ones(len(going), ids.shape[1] - before)], dim=1)[left]
        ids = ids[left]
        keep_rows(model, batch.cache, left)
        going = [going[place] for place in left]
    return [Generated(tuple(row.ids), not row.ended, row.probabilities) for row in rows]


def _can_be_guessed(model: Any, batch: Batch) -> bool:
    """Return whether wrong guesses can be taken back, and nothing but the most probable token is ever said.

    A sliding attention layer forgets what it would need then. A VLM whose own settings weigh
    tokens, as a repetition penalty does, is left to ``generate``.
    """
    return (
        len(batch.ids) == 1
        and not batch.others
        and batch.cache.get_seq_length() > 0
        and not any(layer.is_sliding for layer in batch.cache.layers)
        and set(model.generation_config.to_diff_dict()) <= _HARMLESS
    )


def _decode_guessing(
    model: Any,
    batch: Batch,
    ends: frozenset[int],
    *,
    limit: int,
    watch: Watch,
    stop: threading.Event,
    streamer: "Streamer | None",
) -> Generated:
    """Decode one row; see `decode_greedily`. Of a guess so much is said as the VLM says itself."""
    import torch

    ids: list[int] = batch.ids[0].tolist()
    start, prefix = len(ids), batch.cache.get_seq_length()
    row, longest = _Row(), FIRST_GUESS
    takes_count = "logits_to_keep" in inspect.signature(model.forward).parameters
    if streamer is not None:
        streamer.put(batch.ids)
    while not row.ended and len(ids) - start < limit:
        guessed = guess(ids[prefix:], min(longest, limit - (len(ids) - start) - 1))
        new = torch.tensor([[*ids[batch.cache.get_seq_length() :], *guessed]], device=model.device)
        fewest = {"logits_to_keep": len(guessed) + 1} if takes_count else {}
        with torch.inference_mode():
            logits = model(input_ids=new, cache=batch.cache, use_cache=True, **fewest).logits[0, -len(guessed) - 1 :]
        best: list[int] = logits.argmax(dim=-1).tolist()
        n_right = next((place for place, token in enumerate(guessed) if token != best[place]), len(guessed))
        batch.cache.crop(n_right - len(guessed))
        if guessed:
            longest = 2 * longest if n_right == len(guessed) else FIRST_GUESS
        for place, token in enumerate(best[: n_right + 1]):
            if stop.is_set():
                raise Cancelled
            scores = _WatchedScores(watch.ids)
            scores(batch.ids, logits[place : place + 1])
            row.take([token], ends, watch, scores, 0)
            ids.append(token)
            if streamer is not None:
                streamer.put(torch.tensor([token]))
            if row.ended:
                break
    if streamer is not None:
        streamer.end()
    return Generated(tuple(row.ids), not row.ended, row.probabilities)


def keep_rows(model: Any, cache: Any, rows: Sequence[int]) -> None:
    """Make row i of a cache what row ``rows[i]`` was; rows may repeat.

    The Qwen VLMs keep, beside the cache, how far an image shifts the positions after it.
    """
    import torch

    index = torch.tensor(list(rows), dtype=torch.long, device=model.device)
    if cache.get_seq_length() > 0:
        cache.reorder_cache(index)
    holder = getattr(model, "model", None)
    shift = getattr(holder, "rope_deltas", None)
    if holder is not None and shift is not None:
        holder.rope_deltas = shift.index_select(0, index.to(shift.device))


def _end_marks(model: Any) -> frozenset[int]:
    ends = model.generation_config.eos_token_id
    return frozenset(ends if isinstance(ends, list) else [ends]) - {None}


def _first_tokens(tokenizer: Any, word: str) -> tuple[int, ...]:
    firsts = []
    for text in (word, f" {word}"):
        ids = tokenizer.encode(text, add_special_tokens=False)
        firsts.extend([token for token in ids if tokenizer.decode([token]).strip()][:1])
    return tuple(dict.fromkeys(firsts))


@dataclass(slots=True)
class _Row:
    """A row while it is generated."""

    ids: list[int] = field(default_factory=list)
    ended: bool = False
    probabilities: Mapping[str, float] = field(default_factory=dict)

    def take(
        self, new: Sequence[int], ends: frozenset[int], watch: Watch, scores: "_WatchedScores", place: int
    ) -> None:
        """Add new tokens up to the end mark, and note the watched words at the first of them."""
        watched = frozenset(watch.ids)
        for step, token in enumerate(new):
            self.ids.append(token)
            if not self.probabilities and token in watched:
                self.probabilities = scores.probabilities(step, place, watch)
            if token in ends:
                self.ended = True
                return


class _HalfEnded:
    """Stops a batch once half of its rows have ended; raises where somebody stopped it all."""

    def __init__(self, ends: frozenset[int], stop: threading.Event) -> None:
        self._ends = ends
        self._stop = stop
        self._ended: Any = None

    def __call__(self, ids: "torch.Tensor", scores: Any, **_: Any) -> "torch.Tensor":
        import torch

        if self._stop.is_set():
            raise Cancelled
        ended = torch.isin(ids[:, -1], torch.tensor(sorted(self._ends), device=ids.device))
        self._ended = ended if self._ended is None else self._ended | ended
        n_going = int((~self._ended).sum())
        enough = len(ids) >= SMALLEST_SPLIT and n_going <= len(ids) // 2
        return torch.full_like(ended, enough)


class _WatchedScores:
    """Keeps the scores of a few tokens at every step."""

    def __init__(self, ids: list[int]) -> None:
        self._ids = ids
        self._steps: list[Any] = []

    def __call__(self, ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        self._steps.append(scores[:, self._ids].float().cpu())
        return scores

    def probabilities(self, step: int, row: int, watch: Watch) -> dict[str, float]:
        """Return the words' shares of the probability that their first tokens have together."""
        shares = iter(self._steps[step][row].softmax(dim=0).tolist())
        return {word: sum(next(shares) for _ in tokens) for word, tokens in watch.tokens.items()}


class Streamer:
    """Hands on the text of one row as it grows."""

    def __init__(self, decode: Callable[[Sequence[int]], str], on_text: Callable[[str], None]) -> None:
        self._decode = decode
        self._on_text = on_text
        self._ids: list[int] | None = None
        self._told = ""

    def put(self, value: "torch.Tensor") -> None:
        """Take new tokens; the first call brings the prompt."""
        if self._ids is None:
            self._ids = []
            return
        self._ids.extend(value.flatten().tolist())
        text = self._decode(self._ids)
        if not text.endswith("\ufffd"):
            self._tell(text)

    def end(self) -> None:
        """Tell what was held back, an incomplete character at the very end."""
        self._tell(self._decode(self._ids or []))

    def _tell(self, text: str) -> None:
        if len(text) > len(self._told):
            self._on_text(text[len(self._told) :])
            self._told = text
