"""Fates worked out by hand over three turns, under each rule that the paper leaves open."""

import pytest

from backend.verimap.fates import Fate, LoopEnd, LoopRule, NoFate, Turn, end_of, fate_of
from backend.verimap.verifier import Verdict

VERDICTS = {"C": Verdict.CORRECT, "I": Verdict.INCORRECT, "U": Verdict.UNCERTAIN, "-": None}
ANSWERS = {"1": True, "0": False, "?": None}

RECORDED, ACCEPTED, LAST = LoopEnd.AS_RECORDED, LoopEnd.AT_ACCEPTANCE, LoopEnd.AT_LAST_TURN


def turns(said: str) -> dict[int, Turn]:
    """Read "1C 0I": right and accepted, then wrong and rejected; "." is a turn that is not on file."""
    return {
        number: Turn(ANSWERS[signs[0]], VERDICTS[signs[1]]) for number, signs in enumerate(said.split()) if signs != "."
    }


@pytest.mark.parametrize(
    ("said", "recorded", "at_acceptance", "at_last_turn"),
    [
        ("0I 1I 1C", Fate.CORRECTED, Fate.CORRECTED, Fate.CORRECTED),
        ("0I 1I 1I", Fate.CORRECTED, Fate.CORRECTED, Fate.CORRECTED),
        ("0I 0I 0I", Fate.STILL_WRONG, Fate.STILL_WRONG, Fate.STILL_WRONG),
        ("0I 0I 0U", Fate.STILL_WRONG, Fate.STILL_WRONG, Fate.STILL_WRONG),
        ("0I 0I 0-", Fate.STILL_WRONG, Fate.STILL_WRONG, Fate.STILL_WRONG),
        ("0I 0I 0C", Fate.LOCKED, Fate.LOCKED, Fate.LOCKED),
        ("1C 1C 1C", Fate.KEPT, Fate.KEPT, Fate.KEPT),
        ("1I 0I 0C", Fate.SPOILED, Fate.SPOILED, Fate.SPOILED),
        ("1I 0I 0I", Fate.SPOILED, Fate.SPOILED, Fate.SPOILED),
        # An early acceptance ends the loop, or does not.
        ("0C", Fate.LOCKED, Fate.LOCKED, NoFate.UNFINISHED),
        ("0I 0C", Fate.LOCKED, Fate.LOCKED, NoFate.UNFINISHED),
        ("0C 1C 1C", Fate.CORRECTED, Fate.LOCKED, Fate.CORRECTED),
        ("1C 0I 0I", Fate.SPOILED, Fate.KEPT, Fate.SPOILED),
        ("0C 0I 0I", Fate.STILL_WRONG, Fate.LOCKED, Fate.STILL_WRONG),
        # Turns are missing.
        ("0I", NoFate.UNFINISHED, NoFate.UNFINISHED, NoFate.UNFINISHED),
        ("0C 0I", NoFate.UNFINISHED, Fate.LOCKED, NoFate.UNFINISHED),
        (". 0I 0I", NoFate.UNFINISHED, NoFate.UNFINISHED, NoFate.UNFINISHED),
        ("0I . 0C", NoFate.UNFINISHED, NoFate.UNFINISHED, NoFate.UNFINISHED),
        ("0C . 0C", NoFate.UNFINISHED, Fate.LOCKED, NoFate.UNFINISHED),
        ("", NoFate.UNFINISHED, NoFate.UNFINISHED, NoFate.UNFINISHED),
        # Nobody judged an answer on which the fate rests.
        ("?I 0I 0I", NoFate.UNJUDGED, NoFate.UNJUDGED, NoFate.UNJUDGED),
        ("0I 0I ?C", NoFate.UNJUDGED, NoFate.UNJUDGED, NoFate.UNJUDGED),
        ("0I ?I 0C", Fate.LOCKED, Fate.LOCKED, Fate.LOCKED),
        # What comes after the last turn is put aside.
        ("0I 0I 0I 1C", Fate.STILL_WRONG, Fate.STILL_WRONG, Fate.STILL_WRONG),
    ],
)
def test_first_answer_last_answer_and_last_verdict_make_the_fate(
    said: str, recorded: Fate | NoFate, at_acceptance: Fate | NoFate, at_last_turn: Fate | NoFate
) -> None:
    found = [fate_of(turns(said), 2, end) for end in (RECORDED, ACCEPTED, LAST)]
    assert found == [recorded, at_acceptance, at_last_turn]


def test_the_end_is_the_turn_that_the_fate_rests_on() -> None:
    assert end_of(turns("0I 0C 1C"), 2, ACCEPTED) == 1
    assert end_of(turns("0I 0C"), 4, RECORDED) == 1
    assert end_of(turns("0I 0C"), 4, LAST) is None


def test_a_rule_goes_into_a_link_and_comes_back() -> None:
    for rule in (LoopRule(), LoopRule(ACCEPTED), LoopRule(LAST, 4), LoopRule(RECORDED, 5)):
        assert LoopRule.of_key(rule.key) == rule
    assert LoopRule().key == ""
    assert LoopRule(LAST, 4).sentence.endswith("Last turn: 4.")


@pytest.mark.parametrize("key", ["sometimes", "at-last-turn.0", "at-last-turn.x"])
def test_a_rule_that_does_not_exist_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"LoopEnd|turn|int"):
        LoopRule.of_key(key)


def test_every_fate_says_whose_it_is_and_in_what_words() -> None:
    assert [fate for fate in Fate if fate.of_wrong] == [Fate.CORRECTED, Fate.STILL_WRONG, Fate.LOCKED]
    assert len({fate.label for fate in Fate} | {fate.plain for fate in Fate}) == 10
    assert all(reason.plain for reason in NoFate) and all(end.plain for end in LoopEnd)
