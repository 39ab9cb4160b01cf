"""A VLM at a service: what leaves this machine, and what each thing that goes wrong becomes."""

import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from backend.domain.images import check_image
from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, Reply, said_nothing
from backend.errors import AppError
from backend.vlm.openai_compatible import OpenAiCompatible
from backend.vlm.retries import Retries, retry_after
from backend.vlm.sent_picture import sent_picture
from backend.vlm.service import Service
from tests.vlm.openai_server import Fault, OpenAiServer, said_about, serving

DECODING = Decoding()
KEY, VARIABLE = "sk-secret-0123456789", "PARALLAX_TEST_KEY"
AT_ONCE = Retries(tries=3, first_wait=0.0)
PROMPT = "How many polyps?"


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    path = tmp_path / "frame.png"
    Image.new("RGB", (8, 8), "red").save(path)
    return path


Opener = Callable[..., OpenAiCompatible]


@pytest.fixture
def vlm_at(server: OpenAiServer) -> Opener:
    def opened(retries: Retries = AT_ONCE, **fields: object) -> OpenAiCompatible:
        service = {"base_url": server.base_url, "model": "vlm-1", "key_variable": VARIABLE, **fields}
        return OpenAiCompatible("Remote", Service.model_validate(service), retries)

    return opened


def said(vlm: OpenAiCompatible, image: Path | None = None, streams: bool = False) -> Reply:
    return vlm.answer(image, PROMPT, DECODING, list[str]().append if streams else said_nothing)


class TestWhatIsAsked:
    def test_one_message_holds_the_image_and_then_the_prompt(
        self, vlm_at: Opener, server: OpenAiServer, frame: Path
    ) -> None:
        reply = said(vlm_at(), frame)
        (seen,) = server.seen
        assert seen.path == "/v1/chat/completions"
        assert [message["role"] for message in seen.body["messages"]] == ["user"]
        assert [part["type"] for part in seen.body["messages"][0]["content"]] == ["image_url", "text"]
        assert (seen.image, seen.prompt) == (frame.read_bytes(), PROMPT)
        assert reply.text == said_about(PROMPT, frame.read_bytes())
        assert reply.n_tokens == len(reply.text.split())

    @pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
    def test_decoding_is_greedy_and_limited_in_the_services_own_word(
        self, vlm_at: Opener, server: OpenAiServer, field: str
    ) -> None:
        vlm_at(limit_field=field).answer(None, PROMPT, Decoding(17), said_nothing)
        body = server.seen[0].body
        assert {key: body.get(key) for key in ("model", "temperature", field)} == {
            "model": "vlm-1",
            "temperature": 0,
            field: 17,
        }
        assert ("max_tokens" in body) != ("max_completion_tokens" in body)
        assert "reasoning_effort" not in body

    def test_reasoning_effort_is_the_decodings(self, vlm_at: Opener, server: OpenAiServer) -> None:
        vlm_at().answer(None, PROMPT, Decoding(reasoning_effort="xhigh"), said_nothing)
        assert server.seen[0].body["reasoning_effort"] == "xhigh"

    def test_temperature_stays_out_where_the_service_refuses_it(self, vlm_at: Opener, server: OpenAiServer) -> None:
        said(vlm_at(sends_temperature=False))
        assert "temperature" not in server.seen[0].body

    def test_nothing_is_told_of_this_machine_or_of_other_accounts(
        self, vlm_at: Opener, server: OpenAiServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
            monkeypatch.setenv(name, "another-account")
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: another-account\nAuthorization: Bearer another-account")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        said(vlm_at())
        said(vlm_at(key_variable=""))
        with_key, without = ({name.lower(): value for name, value in seen.headers.items()} for seen in server.seen)
        assert with_key["authorization"] == f"Bearer {KEY}"
        assert "authorization" not in without
        assert set(without) == {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
        assert "another-account" not in str(server.seen)


def png_of_16_bits(samples: list[int]) -> bytes:
    """Return a PNG of one pixel, in grey or in colour."""
    header = struct.pack(">IIBBBBB", 1, 1, 16, 2 if len(samples) == 3 else 0, 0, 0, 0)
    pixels = zlib.compress(b"\0" + struct.pack(f">{len(samples)}H", *samples))
    chunks = [(b"IHDR", header), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


class TestPictures:
    def test_plain_files_go_out_byte_by_byte(self, tmp_path: Path) -> None:
        for suffix in ("png", "jpg", "webp", "gif"):
            path = tmp_path / f"plain.{suffix}"
            Image.new("RGB", (8, 8), "red").save(path)
            sent = sent_picture(path)
            assert sent.content == path.read_bytes()
            assert sent.data_url.startswith(f"data:{check_image(path).media_type};base64,")

    @pytest.mark.parametrize(
        ("name", "mode", "options"),
        [
            ("turned.jpg", "RGB", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"}),
            ("deep.png", "I;16", {}),
            ("print.jpg", "CMYK", {}),
            ("seen_through.png", "RGBA", {}),
            ("moving.gif", "L", {"save_all": True, "append_images": [Image.new("L", (8, 4), 200)]}),
            ("old.bmp", "RGB", {}),
            ("scan.tif", "L", {}),
        ],
    )
    def test_others_go_out_as_the_picture_a_local_vlm_sees(
        self, tmp_path: Path, name: str, mode: str, options: dict[str, object]
    ) -> None:
        path = tmp_path / name
        Image.new(mode, (8, 4)).save(path, **options)  # type: ignore[arg-type]
        sent, facts = sent_picture(path), check_image(path)
        with Image.open(BytesIO(sent.content)) as picture:
            assert (picture.format, picture.mode, picture.size) == ("PNG", "RGB", (facts.width, facts.height))
        assert sent.media_type == "image/png"

    @pytest.mark.parametrize("is_colour", [True, False])
    def test_a_png_of_16_bits_goes_out_as_the_eight_bits_a_local_vlm_sees(
        self, tmp_path: Path, is_colour: bool
    ) -> None:
        """Pillow calls colours of 16 bits RGB, and reads their upper bytes."""
        samples = [0x9CFF, 0x0180, 0xFF00] if is_colour else [0x9CFF]
        path = tmp_path / "deep.png"
        path.write_bytes(png_of_16_bits(samples))
        sent = sent_picture(path)
        assert sent.content[24] == 8, "the bit depth in the PNG's header"
        with Image.open(BytesIO(sent.content)) as picture:
            assert picture.convert("RGB").getpixel((0, 0)) == ((0x9C, 0x01, 0xFF) if is_colour else (0x9C, 0x9C, 0x9C))

    def test_an_unusable_file_is_that_asks_error_and_nothing_is_sent(
        self, vlm_at: Opener, server: OpenAiServer, tmp_path: Path
    ) -> None:
        (tmp_path / "broken.png").write_bytes(b"no image")
        reply = said(vlm_at(), tmp_path / "broken.png")
        assert "broken.png is not an image" in reply.error
        assert not server.seen


HTML = {"Content-Type": "text/html"}
EVENTS = {"Content-Type": "text/event-stream"}


class TestWhatComesBack:
    @pytest.mark.parametrize("streams", [False, True])
    @pytest.mark.parametrize(
        ("fault", "text", "was_cut"),
        [
            (Fault(content=" Two  polyps.\n"), " Two  polyps.\n", False),
            (Fault(content="one polyp and", finish_reason="length"), "one polyp and", True),
            (Fault(null=True), "", False),
            (Fault(null=True, finish_reason="length"), "", True),
            (Fault(content=""), "", False),
            (Fault(refusal="I cannot help with this."), "I cannot help with this.", False),
        ],
        ids=["verbatim", "cut by the limit", "null", "reasoned to the limit", "empty", "refusal"],
    )
    def test_what_the_vlm_said_is_the_reply(
        self, vlm_at: Opener, server: OpenAiServer, fault: Fault, text: str, was_cut: bool, streams: bool
    ) -> None:
        server.faults.append(fault)
        reply = said(vlm_at(), streams=streams)
        assert (reply.text, reply.was_cut, reply.error) == (text, was_cut, "")

    @pytest.mark.parametrize("streams", [False, True])
    @pytest.mark.parametrize(
        ("fault", "words"),
        [
            (Fault(choices=False), "no choice"),
            (Fault(body='{"choices": ['), "sent"),
            (Fault(body="<html>gateway</html>", headers=HTML), "sent"),
            (Fault(body='{"answer": 42}'), "sent"),
            (Fault(body='data: {"choices": [\n\n', headers=EVENTS), "no chat completion"),
            (Fault(body='data: {"choices": "none"}\n\n', headers=EVENTS), "no chat completion"),
            (Fault(content="x", finish_reason="content_filter"), "content filter"),
            (Fault(status=400, body='{"error": {"message": "image too large"}}'), "refuses the question (400): image"),
            (Fault(status=413, body="too large", headers=HTML), "refuses the question (413)"),
        ],
    )
    def test_an_answer_that_is_none_fails_alone_and_is_not_asked_again(
        self, vlm_at: Opener, server: OpenAiServer, fault: Fault, words: str, streams: bool
    ) -> None:
        server.faults.append(fault)
        vlm = vlm_at()
        reply = said(vlm, streams=streams)
        assert reply.text == ""
        assert words in reply.error
        assert len(server.seen) == 1
        assert said(vlm, streams=streams).error == ""

    @pytest.mark.parametrize("streams", [False, True])
    @pytest.mark.parametrize(
        ("fault", "words"),
        [
            (Fault(status=429, headers={"Retry-After": "0"}), "fails (429)"),
            (Fault(status=500, body="oh", headers=HTML), "fails (500)"),
            (Fault(status=503, body='{"error": {"message": "loading"}}'), "fails (503): loading"),
            (Fault(cut=True), "broke the connection off"),
            (Fault(silent=True), "said nothing for 0.2 s"),
        ],
        ids=["429", "500", "503", "cut", "silent"],
    )
    def test_a_passing_fault_is_tried_again_and_a_lasting_one_is_that_asks_error(
        self, vlm_at: Opener, server: OpenAiServer, fault: Fault, words: str, streams: bool
    ) -> None:
        vlm = vlm_at(timeout_seconds=0.2 if fault.silent else 30)
        if not (fault.cut and streams):
            server.faults.extend([fault, fault])
            assert said(vlm, streams=streams).text == said_about(PROMPT, None)
            server.seen.clear()
        server.faults.extend([fault] * 3)
        reply = said(vlm, streams=streams)
        assert reply.text == ""
        assert words in reply.error
        assert len(server.seen) == (1 if fault.cut and streams else 3)

    def test_what_was_told_is_not_told_twice(self, vlm_at: Opener, server: OpenAiServer) -> None:
        server.faults.append(Fault(cut=True, content="one polyp, and a long rest of the sentence"))
        told: list[str] = []
        reply = vlm_at().answer(None, PROMPT, DECODING, told.append)
        assert "".join(told).startswith("one pol")
        assert (reply.text, len(server.seen)) == ("", 1)
        assert "broke the connection off" in reply.error

    def test_a_service_that_asks_for_too_long_a_wait_is_not_waited_for(
        self, vlm_at: Opener, server: OpenAiServer
    ) -> None:
        server.faults.append(Fault(status=429, headers={"Retry-After": "3600"}))
        assert "asks to wait 3600 s" in said(vlm_at()).error
        assert len(server.seen) == 1

    @pytest.mark.parametrize(
        ("fault", "words"),
        [
            (Fault(status=401, body=f'{{"error": {{"message": "Incorrect API key: {KEY}"}}}}'), "refuses the key"),
            (Fault(status=402), "wants to be paid"),
            (Fault(status=403), "forbids"),
            (Fault(status=404), "does not know this VLM"),
            (Fault(status=307, headers={"Location": "http://127.0.0.1:9/"}), "sends elsewhere"),
            (Fault(status=429, body='{"error": {"code": "insufficient_quota"}}'), "quota is used up"),
        ],
    )
    @pytest.mark.parametrize("streams", [False, True])
    def test_what_every_call_would_meet_ends_the_vlm_as_a_whole(
        self, vlm_at: Opener, server: OpenAiServer, fault: Fault, words: str, streams: bool
    ) -> None:
        server.faults.append(fault)
        with pytest.raises(AppError, match=words):
            said(vlm_at(), streams=streams)
        assert len(server.seen) == 1

    def test_nobody_at_the_address_ends_the_vlm_as_a_whole(self, vlm_at: Opener, server: OpenAiServer) -> None:
        vlm = vlm_at()
        server.http.shutdown()
        server.http.server_close()
        with pytest.raises(AppError, match=r"cannot be reached \(3 tries\)"):
            said(vlm)


class TestManyAtOnce:
    def test_replies_keep_their_order_and_calls_their_bound(
        self, vlm_at: Opener, server: OpenAiServer, frame: Path
    ) -> None:
        asks = [Ask(frame if number % 2 else None, f"question {number}") for number in range(24)]
        replies = vlm_at(concurrency=3).answer_all(asks, DECODING)
        assert [reply.text for reply in replies] == [
            said_about(ask.prompt, ask.image.read_bytes() if ask.image else None) for ask in asks
        ]
        assert 1 <= server.most_at_once <= 3

    @pytest.mark.parametrize(
        ("fault", "words"),
        [
            (Fault(status=401), "refuses the key"),
            (Fault(status=429, body='{"error": {"code": "insufficient_quota"}}'), "quota is used up"),
        ],
    )
    def test_what_was_answered_before_the_vlm_stopped_is_kept_and_no_more_is_asked(
        self, vlm_at: Opener, server: OpenAiServer, fault: Fault, words: str
    ) -> None:
        server.faults.extend([Fault()] * 2 + [fault] * 2)
        vlm, asks = vlm_at(concurrency=1), [Ask(None, str(number)) for number in range(20)]
        replies = vlm.answer_all(asks, DECODING)
        assert [reply.text for reply in replies[:2]] == [said_about("0", None), said_about("1", None)]
        assert all(words in reply.error and not reply.text for reply in replies[2:])
        assert len(server.seen) == 3
        with pytest.raises(AppError, match=words):
            vlm.answer_all(asks[2:], DECODING)

    def test_failed_calls_alone_are_nothing_to_keep(self, vlm_at: Opener, server: OpenAiServer) -> None:
        server.faults.extend([Fault(status=400), Fault(status=401)])
        with pytest.raises(AppError, match="refuses the key"):
            vlm_at(concurrency=1).answer_all([Ask(None, str(number)) for number in range(20)], DECODING)

    def test_a_run_gives_it_two_rounds_of_calls_at_once(self, vlm_at: Opener) -> None:
        assert vlm_at(concurrency=6).batch == 12

    @pytest.mark.parametrize("streams", [False, True])
    def test_whatever_a_call_raises_is_its_replys_error_without_the_key(
        self, vlm_at: Opener, monkeypatch: pytest.MonkeyPatch, streams: bool
    ) -> None:
        vlm = vlm_at()

        def odd(**_: object) -> None:
            raise ZeroDivisionError(f"no such thing as {KEY}\nat all")

        monkeypatch.setattr(vlm._client.chat.completions, "create", odd)
        replies = [said(vlm, streams=streams), *vlm.answer_all([Ask(None, PROMPT)] * 3, DECODING)]
        assert {reply.error for reply in replies} == {"Remote could not be asked this: no such thing as …"}

    def test_whatever_an_image_raises_is_that_asks_error(
        self, vlm_at: Opener, server: OpenAiServer, frame: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def odd(path: Path) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("backend.vlm.openai_compatible.sent_picture", odd)
        with_image, without = vlm_at().answer_all([Ask(frame, PROMPT), Ask(None, PROMPT)], DECODING)
        assert with_image.error == "Remote could not be asked this: ZeroDivisionError"
        assert without.text == said_about(PROMPT, None)

    def test_a_prompt_that_is_no_text_is_not_blamed_on_the_service(self, vlm_at: Opener, server: OpenAiServer) -> None:
        bad, good = vlm_at().answer_all([Ask(None, "\ud800"), Ask(None, PROMPT)], DECODING)
        assert "Remote could not be asked this: 'utf-8' codec can't encode" in bad.error
        assert good.text == said_about(PROMPT, None)
        assert len(server.seen) == 1


class TestCancel:
    @pytest.mark.parametrize("fault", [Fault(silent=True), Fault(status=429, headers={"Retry-After": "50"})])
    @pytest.mark.parametrize("batch", [False, True])
    def test_a_call_ends_at_once_whether_it_waits_for_the_service_or_for_its_next_try(
        self, vlm_at: Opener, server: OpenAiServer, fault: Fault, batch: bool
    ) -> None:
        server.faults.append(fault)
        vlm = vlm_at(Retries(), concurrency=1)
        ended: list[type[BaseException]] = []

        def ask() -> None:
            try:
                vlm.answer_all([Ask(None, "a"), Ask(None, "b")], DECODING) if batch else said(vlm)
            except Cancelled as error:
                ended.append(type(error))

        thread = threading.Thread(target=ask)
        thread.start()
        server.wait_for(1)
        vlm.cancel()
        thread.join(timeout=30)
        assert ended == [Cancelled]
        assert said(vlm).text == said_about(PROMPT, None), "the next call works"

    def test_a_listener_that_stops_ends_the_call(self, vlm_at: Opener) -> None:
        def stop(piece: str) -> None:
            raise Cancelled

        with pytest.raises(Cancelled):
            vlm_at().answer(None, PROMPT, DECODING, stop)


class TestKeys:
    def test_no_error_and_no_picture_of_the_object_holds_the_key(self, vlm_at: Opener, server: OpenAiServer) -> None:
        echo = f'{{"error": {{"message": "bad request with {KEY} in it"}}}}'
        server.faults.extend([Fault(status=401, body=echo), Fault(status=400, body=echo), *[Fault(status=500)] * 3])
        vlm = vlm_at()
        with pytest.raises(AppError) as refused:
            said(vlm)
        error: BaseException | None = refused.value
        while error is not None:
            assert KEY not in repr(error) + str(error) + str(vars(error))
            error = error.__cause__
        assert "bad request with … in it" in (shown := said(vlm).error)
        assert KEY not in shown + said(vlm).error + repr(vlm) + repr(vars(vlm)) + repr(vars(vlm._client))

    @pytest.mark.parametrize(
        ("value", "words"), [("", "no key in"), ("  ", "no key in"), ("two words", "cannot be a key"), ("é", "cannot")]
    )
    def test_a_key_that_is_none_is_told_by_its_variable_alone(
        self, vlm_at: Opener, monkeypatch: pytest.MonkeyPatch, value: str, words: str
    ) -> None:
        monkeypatch.setenv(VARIABLE, value)
        with pytest.raises(AppError, match=words) as refused:
            vlm_at()
        assert VARIABLE in str(refused.value)

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("ftp://host/v1", "no"),
            ("host/v1", "not an http"),
            ("https://", "not an http"),
            ("https://host:port/v1", "not an address"),
            ("https://user:password@host/v1", "name, a password"),
            ("https://host/v1?key=1", "query"),
            ("http://example.org/v1", "unencrypted"),
            ("http://8.8.8.8/v1", "unencrypted"),
            ("http://localhost.example.org/v1", "unencrypted"),
        ],
    )
    def test_an_unsafe_address_is_refused(self, address: str, words: str) -> None:
        with pytest.raises(AppError, match=words):
            OpenAiCompatible("Remote", Service(base_url=address, model="vlm-1"))

    @pytest.mark.parametrize(
        ("address", "plain_http"),
        [
            ("https://example.org/v1", False),
            ("http://localhost:8000/v1", False),
            ("http://127.0.0.1:8000/v1", False),
            ("http://[::1]:8000/v1", False),
            ("http://192.168.1.20:8000/v1", False),
            ("http://gpu.example.org/v1", True),
        ],
    )
    def test_a_safe_address_is_taken(self, address: str, plain_http: bool) -> None:
        assert OpenAiCompatible("Remote", Service(base_url=address, model="vlm-1", plain_http=plain_http)).name


class TestWaits:
    @pytest.mark.parametrize(
        ("n_tries", "asked_for", "chance", "wait"),
        [
            (1, None, 1.0, 1.0),
            (1, None, 0.0, 0.5),
            (2, None, 1.0, 2.0),
            (3, None, 0.5, 3.0),
            (4, None, 0.5, None),
            (1, 7.0, 0.5, 7.0),
            (1, 0.1, 1.0, 1.0),
            (1, 10.0, 0.0, 10.0),
            (1, 10.1, 0.0, None),
        ],
    )
    def test_a_wait_doubles_is_jittered_and_heeds_the_service(
        self, n_tries: int, asked_for: float | None, chance: float, wait: float | None
    ) -> None:
        assert Retries(tries=4, first_wait=1.0, longest_wait=10.0).wait_after(n_tries, asked_for, chance) == wait

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({}, None),
            ({"retry-after": "7"}, 7.0),
            ({"retry-after": "0.5"}, 0.5),
            ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
            ({"retry-after": "-1"}, None),
            ({"retry-after": "nan"}, None),
            ({"retry-after": "inf"}, None),
            ({"retry-after": "soon"}, None),
            ({"retry-after": "Fri, 01 Jan 2027 00:00:30 GMT"}, 30.0),
            ({"retry-after": "Thu, 31 Dec 2026 23:00:00 GMT"}, 0.0),
        ],
    )
    def test_retry_after_is_read_in_all_its_forms(self, headers: dict[str, str], seconds: float | None) -> None:
        assert retry_after(headers, datetime(2027, 1, 1, tzinfo=UTC)) == seconds
