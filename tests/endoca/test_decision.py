"""The decision object of Select: what is read, and what is an abstention."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.endoca.decision import Consistency, Verdict, failed_decision, plain_words, read_decision

OBJECT = {"answer": "one polyp", "consistency": "consistent", "decision": "answer"}


def reply(**changed: object) -> str:
    return json.dumps({**OBJECT, **changed})


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("consistency", list(Consistency))
@pytest.mark.parametrize("around", ["{}", "  {}\n", "```json\n{}\n```", "```\n{}\n```"])
def test_an_object_as_it_was_asked_for_is_read(verdict: Verdict, consistency: Consistency, around: str) -> None:
    said = around.replace("{}", reply(consistency=consistency, decision=verdict))
    decision = read_decision(said)
    assert (decision.verdict, decision.consistency, decision.echoed) == (verdict, consistency, "one polyp")
    assert decision.problem == ""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "not one JSON object"),
        ("answer", "not one JSON object"),
        (f"Here it is: {reply()}", "not one JSON object"),
        (f"{reply()} I hope this helps.", "not one JSON object"),
        (reply() + reply(), "not one JSON object"),
        (reply()[:-1], "not one JSON object"),
        (f"```json\n{reply()}", "not one JSON object"),
        ("[" * 500 + "]" * 500, "not one JSON object"),
        (f"[{reply()}]", "not one JSON object"),
        ("null", "not one JSON object"),
        (json.dumps({"answer": "one", "consistency": "consistent"}), "lacks decision"),
        (reply(reason="it fits"), "has reason, which was not asked for"),
        (reply(decision="Answer"), "unknown label"),
        (reply(decision="maybe"), "unknown label"),
        (reply(consistency="mostly consistent"), "unknown label"),
        (reply(decision=None), "decision"),
        (reply(answer=1), "answer"),
        (reply(decision=["answer"]), "decision"),
        (reply(decision={"decision": "answer"}), "decision"),
        (reply().replace("one polyp", "\\ud800"), "not one JSON object"),
        (reply(**{"\ud800": 1}), "not one JSON object"),
        ('{"\\ud800": 1, "\\ud800": 2}', "says \\ud800 twice"),
        (reply(answer=[]).replace("[]", "[" * 300 + "]" * 300), "not one JSON object"),
        ("9" * 5000, "not one JSON object"),
        ('{"answer": NaN, "consistency": "consistent", "decision": "answer"}', ""),
        ('{"answer": "a", "decision": "answer", "consistency": "consistent", "decision": "abstain"}', "twice"),
    ],
)
def test_what_cannot_be_read_is_an_abstention_that_says_why(said: str, why: str) -> None:
    decision = read_decision(said)
    assert (decision.verdict, decision.consistency, decision.echoed) == (Verdict.ABSTAIN, None, "")
    assert decision.problem
    assert why in decision.problem
    assert decision.problem.encode()


@given(st.text())
def test_no_reply_whatever_breaks_the_reading(said: str) -> None:
    decision = read_decision(said)
    assert decision.verdict is Verdict.ABSTAIN or not decision.problem


@pytest.mark.parametrize(
    ("echoed", "revised", "another"),
    [
        ("one polyp", "one polyp", False),
        ("One  polyp.", "one polyp", False),
        ("two polyps", "one polyp", True),
        ("", "one polyp", True),
    ],
)
def test_an_object_that_carries_another_answer_is_noticed(echoed: str, revised: str, another: bool) -> None:
    assert read_decision(reply(answer=echoed)).echoes_another(revised) is another


def test_a_decision_that_was_not_reached_echoes_nothing() -> None:
    assert not failed_decision("the call failed").echoes_another("one polyp")


@given(st.text())
def test_spaces_capitals_and_a_full_stop_make_no_other_answer(said: str) -> None:
    assert plain_words(f"  {said} .".upper()) == plain_words(said.upper())
    assert plain_words(plain_words(said)) == plain_words(said)
