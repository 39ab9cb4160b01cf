"""Sentences of the ASR page: what was not answered or not decided is told as that, and as nothing else."""

from pathlib import Path
from typing import Any

import pytest

from backend.endoca.asr import Variant
from pages.ui.asr_words import decision_notes, headline, noise_commands

ROW: dict[str, Any] = {
    "variant": Variant.ASR, "vlm": "V", "base": "b", "n_units": 2880, "repairs": 156, "harms": 163,
    "joint_change": 0.01, "n_unanswered": 0, "harms_unanswered": 0,
}  # fmt: skip
CONTROL = ROW | {"variant": Variant.SELF, "joint_change": -0.02}
GAPS = {"n_unanswered": 120, "harms_unanswered": 40}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROW], "breaks 163 right ones (n = 2,880); joint accuracy moves by +1.0 points."),
        (
            [ROW | GAPS],
            "breaks 123 right ones (of 2,880; 120 were not answered again and count as wrong, 40 of them right before)",
        ),
        (
            [ROW | {"n_unanswered": 7}],
            "breaks 163 right ones (of 2,880; 7 were not answered again and count as wrong); joint",
        ),
        ([ROW, CONTROL], "without the parts by −2.0 points."),
        (
            [ROW, CONTROL | {"n_unanswered": 9}],
            "without the parts by −2.0 points (of 2,880; 9 were not answered again and count as wrong).",
        ),
    ],
)
def test_what_was_not_answered_again_is_not_called_broken(rows: list[dict[str, Any]], said: str) -> None:
    assert said in headline(rows)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 0, 0, 0), ""),
        ((2, 0, 0, 0), "2 decisions could not be read: withheld."),
        ((0, 1, 0, 0), "1 decision failed or could not be asked for: withheld."),
        ((0, 0, 3, 0), "3 questions without a decision on file: withheld."),
        ((1, 0, 1, 0), "1 decision could not be read: withheld; 1 question without a decision on file: withheld."),
        ((0, 0, 0, 1), "1 decision told another answer than the revised one, which is returned all the same."),
    ],
)
def test_each_reason_for_no_decision_has_its_own_words(counts: tuple[int, ...], said: str) -> None:
    names = ("n_unreadable", "n_select_failed", "n_undecided", "n_echoed")
    assert decision_notes(dict(zip(names, counts, strict=True))) == said


def test_the_command_decodes_again_under_the_setting_it_was_decoded_under() -> None:
    assert "--setting again --batch 1" in noise_commands("V", "core", Path("x"))[0]
    assert "--setting 'zero-shot again' --batch 1" in noise_commands("V", "core", Path("x"), "zero-shot")[0]
