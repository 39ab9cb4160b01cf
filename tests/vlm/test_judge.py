"""A judge asks about text alone, once for equal prompts, and again where its reply cannot be read."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from backend.domain.vlm import Ask, Decoding, Reply, said_nothing
from backend.surgcheck.judge_rubric import again_prompt, read_judgement
from backend.vlm.judge import TRIES, Judge, Rubric
from backend.vlm.openai_compatible import OpenAiCompatible
from backend.vlm.service import Service
from tests.vlm.openai_server import Fault, serving

GOOD = '{"score": 4, "reason": "Same tool."}'
DECODING = Decoding(max_new_tokens=200)
RUBRIC = Rubric(lambda reply: read_judgement(reply) is not None, again_prompt)


class Scripted:
    """A VLM that says what was prepared, call by call, and keeps what it was asked."""

    name = "Scripted"

    def __init__(self, *replies: str | Reply) -> None:
        self.replies = [Reply(one, seconds=1.0) if isinstance(one, str) else one for one in replies]
        self.asked: list[Ask] = []

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: object) -> Reply:
        return self.answer_all([Ask(image, prompt)], decoding)[0]

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        self.asked += asks
        return [self.replies.pop(0) for _ in asks]


def test_a_reply_with_a_score_is_returned_as_it_is_and_no_image_is_shown() -> None:
    vlm = Scripted(GOOD)
    [reply] = Judge(vlm, RUBRIC).answer_all([Ask(Path("frame.jpg"), "prompt")], DECODING)
    assert reply.text == GOOD
    assert vlm.asked == [Ask(None, "prompt")]
    assert Judge(vlm, RUBRIC).name == "Scripted"


def test_equal_prompts_are_asked_once_also_in_later_batches() -> None:
    vlm = Scripted(GOOD, GOOD.replace("4", "2"))
    judge = Judge(vlm, RUBRIC)
    first = judge.answer_all([Ask(None, "a"), Ask(None, "b"), Ask(None, "a")], DECODING)
    again = judge.answer_all([Ask(None, "b")], DECODING)
    assert [reply.text for reply in first] == [GOOD, GOOD.replace("4", "2"), GOOD]
    assert again == [first[1]] and len(vlm.asked) == 2


def test_what_was_said_before_is_known() -> None:
    vlm = Scripted()
    assert Judge(vlm, RUBRIC, {"a": Reply(GOOD)}).answer_all([Ask(None, "a")], DECODING) == [Reply(GOOD)]
    assert vlm.asked == []


def test_an_unreadable_reply_is_asked_for_again_with_a_reminder_and_the_others_are_not() -> None:
    vlm = Scripted("The tool is right.", GOOD, GOOD.replace("4", "1"))
    unread, read = Judge(vlm, RUBRIC).answer_all([Ask(None, "a"), Ask(None, "b")], DECODING)
    assert (unread.text, read.text) == (GOOD.replace("4", "1"), GOOD)
    assert unread.seconds == 2.0, "both tries took their time"
    assert [ask.prompt.split("\n")[0] for ask in vlm.asked] == ["a", "b", "a"]
    assert "no such object" in vlm.asked[2].prompt


def test_after_the_last_try_the_reply_stays_as_it_is_without_an_error() -> None:
    vlm = Scripted(*["I cannot say."] * TRIES)
    [reply] = Judge(vlm, RUBRIC).answer_all([Ask(None, "a")], DECODING)
    assert (reply.text, reply.error, len(vlm.asked)) == ("I cannot say.", "", TRIES)


def test_a_failed_call_is_an_error_at_once_and_can_be_made_again() -> None:
    vlm = Scripted(Reply("", error="The service fails."), GOOD)
    judge = Judge(vlm, RUBRIC)
    [failed] = judge.answer_all([Ask(None, "a")], DECODING)
    assert (failed.error, len(vlm.asked)) == ("The service fails.", 1)
    assert judge.answer_all([Ask(None, "a")], DECODING)[0].text == GOOD


def test_one_answer_is_told_in_one_piece() -> None:
    told: list[str] = []
    reply = Judge(Scripted(GOOD), RUBRIC).answer(None, "a", DECODING, told.append)
    assert told == [reply.text] == [GOOD]
    assert Judge(Scripted(*[""] * TRIES), RUBRIC).answer(None, "a", DECODING, said_nothing).text == ""


@pytest.mark.parametrize("content", ["no object", '{"score": 9, "reason": "x"}'])
def test_through_a_service_that_speaks_the_chat_protocol(content: str) -> None:
    with serving() as server:
        server.faults.extend([Fault(content=content), Fault(content=GOOD)])
        vlm = OpenAiCompatible("LLM", Service(base_url=server.base_url, model="llm", concurrency=1))
        [reply] = Judge(vlm, RUBRIC).answer_all([Ask(None, "prompt")], DECODING)
    assert reply.text == GOOD
    assert [seen.image for seen in server.seen] == [None, None]
    assert server.seen[0].prompt == "prompt" and server.seen[1].prompt.startswith("prompt\n")
