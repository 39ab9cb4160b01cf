"""The set-up of a VeriMap run, as its setting has it and as people read it."""

import pytest

from backend.domain.records import Stage
from backend.verimap.conditions import Condition
from backend.verimap.setups import OptionsShown, Setup, setting_words

BASE = "Atlas.vqa-rad.loop.371cefde8f"


@pytest.mark.parametrize(
    ("setup", "stage", "base", "setting", "words"),
    [
        (Setup("Atlas"), Stage.DIRECT, "", "", ""),
        (Setup("Atlas", options=OptionsShown.SHOWN), Stage.DIRECT, "", "options shown", "options shown"),
        (
            Setup("Atlas", "Beacon", 1, Condition.PLAIN),
            Stage.VERIFY,
            BASE,
            "answers of Atlas, turn 1 (371cefde8f)",
            "answers of Atlas, turn 1",
        ),
        (
            Setup("Atlas", "Beacon", 0, Condition.IMAGE_WITHHELD),
            Stage.VERIFY,
            BASE,
            "answers of Atlas, image withheld (371cefde8f)",
            "answers of Atlas, image withheld",
        ),
    ],
)
def test_people_read_a_setting_without_the_hash_of_the_run_it_was_made_from(
    setup: Setup, stage: Stage, base: str, setting: str, words: str
) -> None:
    assert setup.setting(stage, base) == setting
    assert setting_words(setting) == words


@pytest.mark.parametrize("setting", ["zero-shot", "answers of Gemma (4B)", "answers of Gemma (0123456789ab)", "(x)"])
def test_what_is_no_hash_of_a_run_stays_in_a_setting(setting: str) -> None:
    assert setting_words(setting) == setting
