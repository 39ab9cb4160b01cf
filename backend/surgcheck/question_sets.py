"""The two sets of question pairs that SurgCheck asks, chosen from all that can be asked.

The full set asks one question of each frame and paired task and spreads the cues evenly. The
balanced set asks about a tool with each of the four cues, so that nothing but the cue differs
(SurgCheck, the balanced evaluation subset).
"""

__all__ = ["BALANCED_TASKS", "BalancedSet", "balanced_set", "full_set"]

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from backend.surgcheck.exclusions import Exclusion
from backend.surgcheck.question_pairs import Pair, PairSet, all_pairs
from backend.surgcheck.scene_graphs import SceneGraph, Tool
from backend.surgcheck.tasks import CUES_OF, PAIRED_TASKS, Cue, Mode, Task

BALANCED_TASKS = (Task.INSTRUMENT, Task.ACTION, Task.TARGET, Task.ANATOMY_HOP)
"""The tasks that have all four cues."""

_FOUR_CUES = CUES_OF[Task.ACTION]

_Choice = TypeVar("_Choice")


class BalancedSet(NamedTuple):
    """Pairs aligned by line: line i has the same frame, task, tool and answer with every cue."""

    by_cue: Mapping[Cue, tuple[Pair, ...]]
    """The four cues, each with as many pairs as the others."""
    exclusions: tuple[Exclusion, ...]
    """What was not asked about the tools in these tasks; it tells why a tool is left out."""


def full_set(scenes: Iterable[SceneGraph], mode: Mode = Mode.STRICT, *, seed: int = 0) -> PairSet:
    """Return the full set: one question of each frame and paired task, about one tool with one cue.

    Instrument Count and CVS are asked of every frame, and Anatomy about each structure that the
    frame's one cue for that task applies to. The cue is the one that the task had least so far
    among those that apply in the frame. Chance decides between equals, and between the
    questions with that cue. The same scenes, mode and seed give the same set. The exclusions
    are those of all pairs: a question that is merely not chosen is none.
    """
    random = np.random.default_rng(seed)
    asked: Counter[tuple[Task, Cue]] = Counter()
    pairs: list[Pair] = []
    exclusions: list[Exclusion] = []
    for scene in scenes:
        found = all_pairs(scene, mode)
        exclusions += found.exclusions
        for task in Task:
            cues = [cue for cue in CUES_OF[task] if any(_asks(pair, task, cue) for pair in found.pairs)]
            if not cues:
                continue
            least = min(asked[task, cue] for cue in cues)
            cue = _one_of([cue for cue in cues if asked[task, cue] == least], random)
            chosen = [pair for pair in found.pairs if _asks(pair, task, cue)]
            if task in PAIRED_TASKS:
                chosen = [_one_of(chosen, random)]
            asked[task, cue] += len(chosen)
            pairs += chosen
    return PairSet(tuple(pairs), tuple(exclusions))


def balanced_set(scenes: Iterable[SceneGraph], mode: Mode = Mode.STRICT) -> BalancedSet:
    """Return the balanced set: the tools with an action and a hand to which all four cues apply.

    Each is asked for by Instrument, Action, Target and, where there is one, by each hop; frame
    by frame, tool by tool.
    """
    by_cue: dict[Cue, list[Pair]] = {cue: [] for cue in _FOUR_CUES}
    exclusions: list[Exclusion] = []
    for scene in scenes:
        found = all_pairs(scene, mode)
        tools = {tool.annotation_id for tool in scene.tools}
        exclusions += [e for e in found.exclusions if e.task in BALANCED_TASKS and e.annotation_id in tools]
        for tool in scene.tools:
            with_cue = {cue: _about(tool, cue, found.pairs) for cue in _FOUR_CUES}
            tasks = [{pair.task for pair in pairs} for pairs in with_cue.values()]
            if all({Task.INSTRUMENT, Task.ACTION, Task.TARGET} <= asked for asked in tasks):
                for cue, pairs in with_cue.items():
                    by_cue[cue] += pairs
    return BalancedSet(MappingProxyType({cue: tuple(pairs) for cue, pairs in by_cue.items()}), tuple(exclusions))


def _asks(pair: Pair, task: Task, cue: Cue) -> bool:
    return pair.task is task and pair.cue is cue


def _about(tool: Tool, cue: Cue, pairs: Iterable[Pair]) -> list[Pair]:
    """Return what the balanced set asks about a tool with one cue."""
    return [p for p in pairs if p.annotation_id == tool.annotation_id and p.cue is cue and p.task in BALANCED_TASKS]


def _one_of(choices: Sequence[_Choice], random: np.random.Generator) -> _Choice:
    return choices[int(random.integers(len(choices)))]
