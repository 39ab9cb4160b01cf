"""What every VLM promises, whatever is behind it: the same tests for all backends."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from backend.domain.progress import Cancelled
from backend.domain.records import Role
from backend.domain.vlm import Ask, Decoding, Reply, Vlm, said_nothing
from backend.vlm.blind import BLIND_VLM, BlindBaseline, Example
from backend.vlm.loading import LocalSpec
from backend.vlm.openai_compatible import OpenAiCompatible
from backend.vlm.replay import Replay, StoredAnswer
from backend.vlm.retries import Retries
from backend.vlm.service import Service
from backend.vlm.transformers_local import load_vlm
from backend.vlm.worker import Workers, WorkerVlm
from tests.vlm.openai_server import serving
from tests.vlm.tiny_models import tiny_llava

DECODING = Decoding(max_new_tokens=12)
PROMPTS = ("How many polyps are there?", "Is there text?", "Where is the instrument, and what is it?")


@dataclass(frozen=True)
class Kit:
    """One backend, with what it can answer and what it cannot."""

    vlm: Vlm
    asks: tuple[Ask, ...]
    """It answers each of them; several are about one image, the last about none."""
    bad: Ask
    """A call about this fails, and it alone."""


@pytest.fixture(scope="module")
def asks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ask, ...]:
    folder = tmp_path_factory.mktemp("frames")
    asks = []
    for number, color in enumerate(("red", "green")):
        path = folder / f"{color}.png"
        image = Image.new("RGB", (40 + 8 * number, 32), color)
        image.paste("white", (4, 4, 16, 16))
        image.save(path)
        asks += [Ask(path, prompt) for prompt in PROMPTS]
    return (*asks[::2], *asks[1::2], Ask(None, PROMPTS[0]))


@pytest.fixture(scope="module")
def broken(asks: tuple[Ask, ...]) -> Ask:
    assert asks[0].image is not None
    path = asks[0].image.with_name("broken.png")
    path.write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    return Ask(path, PROMPTS[0])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> LocalSpec:
    return LocalSpec(source=str(tiny_llava(tmp_path_factory.mktemp("tiny"))), name="Tiny", device="cpu")


def replay(asks: tuple[Ask, ...]) -> Replay:
    """Stored answers, one for each ask."""
    said = [Reply(f" answer {number}\n", n_tokens=number) for number in range(len(asks))]
    return Replay("Stored", [stored(ask, reply) for ask, reply in zip(asks, said, strict=True)])


def blind(asks: tuple[Ask, ...]) -> Replay:
    """The blind baseline's answers, each learned for the question class its prompt belongs to."""
    kinds = dict(zip(PROMPTS, ("polyp_count", "text_presence", "instrument_location"), strict=True))
    learned = BlindBaseline.learn(Example(Role.ATOMIC, (kind,), ("1",), f"{kind}: 1") for kind in kinds.values())
    replies = [Reply(learned.answer(Role.ATOMIC, (kinds[ask.prompt],))) for ask in asks]
    return Replay(BLIND_VLM, [stored(ask, reply) for ask, reply in zip(asks, replies, strict=True)])


def stored(ask: Ask, reply: Reply) -> StoredAnswer:
    return StoredAnswer(ask.image.name if ask.image else None, ask.prompt, reply)


BACKENDS = ("openai, streamed", "openai, whole", "replay", "blind", "transformers", "worker")


@pytest.fixture(scope="module", params=BACKENDS)
def kit(request: pytest.FixtureRequest, asks: tuple[Ask, ...], broken: Ask) -> Iterator[Kit]:
    with ExitStack() as closing:
        match request.param:
            case "openai, streamed" | "openai, whole":
                server = closing.enter_context(serving())
                service = Service(base_url=server.base_url, model="v", streams="streamed" in request.param)
                yield Kit(OpenAiCompatible("Remote", service, Retries(tries=2, first_wait=0.0)), asks, broken)
            case "replay":
                yield Kit(replay(asks), asks, Ask(asks[0].image, "What was never asked?"))
            case "blind":
                yield Kit(blind(asks), asks, Ask(asks[0].image, "What was never asked?"))
            case "transformers":
                yield Kit(load_vlm(request.getfixturevalue("tiny")), asks, broken)
            case "worker":
                workers = Workers()
                closing.callback(workers.stop_all)
                yield Kit(WorkerVlm(request.getfixturevalue("tiny"), workers), asks, broken)


def one_by_one(vlm: Vlm, asks: tuple[Ask, ...]) -> list[Reply]:
    return [vlm.answer(ask.image, ask.prompt, DECODING, said_nothing) for ask in asks]


def test_it_has_a_name(kit: Kit) -> None:
    assert kit.vlm.name.strip()


def test_it_answers_with_an_image_and_without_one(kit: Kit) -> None:
    for reply in one_by_one(kit.vlm, kit.asks):
        assert reply.error == ""
        assert reply.text


def test_the_same_call_has_the_same_answer_whatever_was_asked_before(kit: Kit) -> None:
    first = one_by_one(kit.vlm, kit.asks)
    again = one_by_one(kit.vlm, kit.asks[::-1])[::-1]
    assert [reply.text for reply in again] == [reply.text for reply in first]


def test_the_pieces_told_add_up_to_the_text(kit: Kit) -> None:
    for ask in kit.asks:
        pieces: list[str] = []
        reply = kit.vlm.answer(ask.image, ask.prompt, DECODING, pieces.append)
        assert "".join(pieces) == reply.text
        assert all(pieces)


def test_a_batch_has_the_replies_of_single_calls_in_their_order(kit: Kit) -> None:
    alone, together = one_by_one(kit.vlm, kit.asks), kit.vlm.answer_all(kit.asks, DECODING)
    assert [(one.text, one.error, one.n_tokens, one.was_cut) for one in together] == [
        (one.text, one.error, one.n_tokens, one.was_cut) for one in alone
    ]


def test_an_empty_batch_has_no_replies(kit: Kit) -> None:
    assert kit.vlm.answer_all([], DECODING) == []


def test_a_call_that_fails_is_a_reply_with_an_error_and_fails_alone(kit: Kit) -> None:
    bad = kit.vlm.answer(kit.bad.image, kit.bad.prompt, DECODING, said_nothing)
    assert bad.error
    assert bad.text == ""
    before, between, after = kit.vlm.answer_all([kit.asks[0], kit.bad, kit.asks[1]], DECODING)
    assert between.error == bad.error
    assert [before.text, after.text] == [reply.text for reply in one_by_one(kit.vlm, kit.asks[:2])]


def test_a_missing_file_never_stops_a_run(kit: Kit, tmp_path: Path) -> None:
    (reply,) = kit.vlm.answer_all([Ask(tmp_path / "gone.png", PROMPTS[0])], DECODING)
    assert reply.error
    assert reply.text == ""


def test_a_listener_that_stops_is_heard_and_the_next_call_works(kit: Kit) -> None:
    def stop(piece: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        kit.vlm.answer(kit.asks[0].image, kit.asks[0].prompt, DECODING, stop)
    assert one_by_one(kit.vlm, kit.asks[:1])[0].error == ""


def test_what_is_measured_is_in_range(kit: Kit) -> None:
    watching = Decoding(max_new_tokens=12, watched=("Yes", "No"))
    for reply in kit.vlm.answer_all(kit.asks, watching):
        assert reply.seconds >= 0
        assert reply.n_tokens is None or reply.n_tokens >= 0
        assert not reply.probabilities or sum(reply.probabilities.values()) == pytest.approx(1)
