"""The set-up of one VeriMap run: whose answers, in which turn of the loop, under which condition.

What the paper leaves open is a recorded choice here: whether options are shown, and whether CORRECT
ends the loop.
"""

__all__ = ["OptionsShown", "Setup", "setting_words"]

import re
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.records import Stage
from backend.verimap.conditions import Condition

_BASE = re.compile(r" \([0-9a-f]{10}\)$")


class OptionsShown(StrEnum):
    """Whether the options of a question stand below it, for generator and verifier alike."""

    SHOWN = "shown"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Setup:
    """What one run is in its chain of generating, verifying and answering again."""

    generator: str = ""
    """VLM whose answers are given or verified; empty where no answer is seen, as in the first of two steps."""
    verifier: str = ""
    """VLM that judges them, or whose verdicts came back to the generator; empty for first answers."""
    turn: int = 0
    """Of the feedback loop; 0: the first answer."""
    condition: Condition | None = None
    """Of the verifier; None for a generator's run, and for the first of two steps."""
    options: OptionsShown | None = None
    """None where no question of the suite has any."""
    stop_at_correct: bool = False
    """Whether an answer whose verdict was CORRECT was left out of the turn; True for turns of a loop alone."""
    looked: str = ""
    """Id of the run that holds the first of two steps; empty elsewhere."""
    swap_seed: int | None = None
    """Seed of the exchange of images; None where none were."""

    def setting(self, stage: Stage, base_run_id: str = "") -> str:
        """Return it as a run's setting has it: in words, with what tells its base from others of the same words.

        Args:
            stage: The run's.
            base_run_id: Id of the run it is made from; empty for first answers and first steps.
        """
        words = []
        if stage == Stage.VERIFY:
            words.append(f"answers of {self.generator}")
        if self.turn:
            words.append(f"turn {self.turn}")
        if stage == Stage.LOOP:
            words.append(f"verified by {self.verifier}")
        if self.stop_at_correct:
            words.append("CORRECT ends")
        if self.condition not in (None, Condition.PLAIN):
            words.append(self.condition.label)
        if stage in (Stage.DIRECT, Stage.LOOK) and self.options:
            words.append(f"options {self.options}")
        told = ", ".join(words)
        return f"{told} ({base_run_id.rpartition('.')[2]})" if base_run_id else told


def setting_words(setting: str) -> str:
    """Return a run's setting without the hash that names the run it was made from: ``answers of Gemma-3, turn 1``."""
    return _BASE.sub("", setting)
