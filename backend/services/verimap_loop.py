"""Feedback loops side by side: what became of first answers, and bias and right answers turn by turn.

A loop here is a generator's answers to a data set, reviewed by one verifier and given again, turn by turn. Loops
are never pooled. Fates and turns of one loop rest on the same answers: those with a fate under the rule; the others
are counted apart.
"""

__all__ = [
    "ALL_TASKS",
    "LoopChoice",
    "asked_loops",
    "asked_tasks",
    "fate_table",
    "loop_table",
    "rise_table",
    "turn_table",
]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.domain.statistics.intervals import wilson_interval
from backend.domain.statistics.paired_tests import compare_paired
from backend.services.verimap_cells import suite_place
from backend.store.loop_fates import loop_fates, loop_runs, loop_turns
from backend.store.store import Store
from backend.store.verification_filters import UNLABELLED, VerificationFilter
from backend.verimap.fates import Fate, LoopRule, NoFate
from backend.verimap.loop_turns import Cumulation, counted_turns
from backend.verimap.metrics import score_table, tally
from backend.verimap.outcomes import Policy
from backend.verimap.rank_tests import Alternative, wilcoxon_signed_rank
from backend.verimap.setups import setting_words
from backend.verimap.vocabulary import Task

if TYPE_CHECKING:
    import pandas as pd

ALL_TASKS = "all"
"""In place of a task: all questions of the loop together."""

_TASK_ORDER = (ALL_TASKS, *Task, UNLABELLED)
_CHAIN = ["loop_id", "unit_id", "place"]
_METRICS = ("bias", "fpr")


@dataclass(frozen=True, slots=True)
class LoopChoice:
    """What the figures of the loop page are made of."""

    suite: str
    """Data set."""
    rule: LoopRule = field(default_factory=LoopRule)
    how: Cumulation = Cumulation.STANDING
    policy: Policy = field(default_factory=Policy)
    tasks: tuple[str, ...] = ()
    """`Task` values, or `UNLABELLED`; empty: all questions."""
    loops: tuple[str, ...] = ()
    """Loop ids; empty: all of the data set."""


def loop_table(store: Store) -> "pd.DataFrame":
    """Return all loops.

    Returns:
        One row a loop: loop_id, suite, generator, verifier, is_self, origin, setting, label (unlike those of other
        loops of its suite), n (first answers), longest (its last turn); data sets in the paper's order.
    """
    table = loop_runs(store)
    table = table.iloc[sorted(range(len(table)), key=lambda at: (suite_place(table["suite"].iloc[at]), at))]
    labels = _labels(table.to_dict("records"))
    return table.assign(is_self=table["generator"] == table["verifier"], label=labels)


def asked_loops(loops: Sequence[Mapping[str, Any]], chosen: VerificationFilter) -> list[Mapping[str, Any]]:
    """Return the loops that a filter leaves, by data set, VLMs and origin.

    Args:
        loops: Rows of `loop_table`.
        chosen: Its other conditions are on single answers.
    """
    fields = {"suite": chosen.suites, "generator": chosen.generators, "verifier": chosen.verifiers}
    fields["origin"] = chosen.origins
    return [loop for loop in loops if all(loop[name] in wanted for name, wanted in fields.items() if wanted)]


def asked_tasks(chosen: VerificationFilter) -> tuple[str, ...]:
    """Return the tasks a filter names, those of its groups among them; none: all."""
    return (*chosen.tasks, *(task.value for task in Task if task.group in chosen.groups))


def fate_table(store: Store, choice: LoopChoice) -> "pd.DataFrame":
    """Return what became of the first answers, by loop and task.

    Args:
        store: The store.
        choice: Cumulation and policy have no part in it.

    Returns:
        One row a loop and task (`ALL_TASKS` first, tasks in the order of the groups): loop_id, task, n (first
        answers), n_wrong and n_right (those with a fate, by their first answer), last (turn), for each `Fate` F
        n_F and F with F_low and F_high: its share of n_wrong, or n_right, with Wilson's interval (None where that is
        0); n_unfinished, n_unjudged; and what the loop does to right answers, over all with a fate: before, after
        (shares right), change, change_low, change_high (images resampled), p (McNemar's, exact), n_images.
    """
    import pandas as pd

    fates = _asked(loop_fates(store, choice.suite, choice.rule), choice)
    rows = [
        {"loop_id": loop_id, "task": task, **_fate_row(group)}
        for loop_id, of_loop in fates.groupby("loop_id", sort=False)
        for task, group in _by_task(of_loop)
    ]
    return pd.DataFrame(rows, columns=["loop_id", "task", *_FATE_COLUMNS], dtype=object)


def turn_table(store: Store, choice: LoopChoice, *, intervals: bool = True) -> "pd.DataFrame":
    """Return the verifier's bias and FPR and the generator's right answers at each turn, by loop and task.

    Bias and FPR are of the verdicts that `LoopChoice.how` counts. Right answers are always those that stand: a loop
    that has ended keeps its last answer. An answer in between that nobody judged is left out of that turn.

    Returns:
        One row a loop, task (as `fate_table`) and turn: loop_id, task, turn, n (verdicts), n_dropped, tp, tn, fp,
        fn; bias and fpr with bounds, None where undefined; right (share of right answers) with bounds, right_k and
        right_n (Wilson).
    """
    import pandas as pd

    turns = _asked(_turns(store, choice), choice)
    tables = []
    for _, of_loop in turns.groupby("loop_id", sort=False):
        at = range(int(of_loop["last"].iloc[0]) + 1)
        marked = pd.concat([of_loop.assign(task=ALL_TASKS), of_loop.assign(task=of_loop["task"].fillna(UNLABELLED))])
        by = ["loop_id", "task", "at"]
        counted = counted_turns(marked, choice.how, at)
        scores = score_table(tally(counted, by, choice.policy), by, intervals=intervals)
        standing = counted_turns(marked, Cumulation.STANDING, at)
        right = _right_answers(standing[standing["oracle_correct"].notna()], by)
        tables.append(scores.merge(right, on=by, how="outer").rename(columns={"at": "turn"}))
    columns = ["loop_id", "task", "turn", *_TURN_COLUMNS]
    if not tables:
        return pd.DataFrame(columns=columns, dtype=object)
    table = pd.concat(tables, ignore_index=True)[columns].astype(object)
    table = table.where(table.notna(), None)
    order = {task: place for place, task in enumerate(_TASK_ORDER)}
    return table.sort_values(["loop_id", "task", "turn"], key=lambda c: c.map(order) if c.name == "task" else c)


def rise_table(store: Store, choices: Iterable[LoopChoice], *, self_verified: bool) -> "pd.DataFrame":
    """Return whether bias rises from turn 0 to the last turn, over loops as pairs (Fig. 7b).

    Args:
        store: The store.
        choices: One a data set.
        self_verified: Loops in which a VLM reviews itself; False: those in which another does.

    Returns:
        One row a task (`ALL_TASKS` first): task, n_pairs (loops with both values), n_equal, mean_rise, hypothesis, p
        (Wilcoxon's, one-sided), exact.
    """
    import pandas as pd

    known = loop_table(store)
    wanted = set(known[known["is_self"] == self_verified]["loop_id"])
    biases: dict[str, list[tuple[float | None, float | None]]] = {}
    for choice in choices:
        table = turn_table(store, choice, intervals=False)
        for (loop_id, task), group in table.groupby(["loop_id", "task"], sort=False):
            if loop_id in wanted:
                biases.setdefault(str(task), []).append((group["bias"].iloc[0], group["bias"].iloc[-1]))
    rows = []
    for task in _TASK_ORDER:
        first, last = zip(*biases.get(task, []), strict=True) if task in biases else ((), ())
        test = wilcoxon_signed_rank(
            last, first, names=("bias at the last turn", "bias at turn 0"), alternative=Alternative.GREATER
        )
        if test is not None:
            rises = [b - a for a, b in zip(first, last, strict=True) if a is not None and b is not None]
            rows.append(
                {
                    "task": str(task),
                    "n_pairs": test.n_pairs,
                    "n_equal": test.n_equal,
                    "mean_rise": float(np.mean(rises)),
                    "hypothesis": test.hypothesis,
                    "p": test.p,
                    "exact": test.exact,
                }
            )
    return pd.DataFrame(rows, columns=["task", "n_pairs", "n_equal", "mean_rise", "hypothesis", "p", "exact"])


_FATE_COLUMNS = (
    "n", "n_wrong", "n_right", "last",
    *(f"n_{fate}" for fate in (*Fate, *NoFate)),
    *(f"{fate}{bound}" for fate in Fate for bound in ("", "_low", "_high")),
    "before", "after", "change", "change_low", "change_high", "p", "n_images",
)  # fmt: skip

_TURN_COLUMNS = (
    "n", "n_dropped", "tp", "tn", "fp", "fn",
    *(f"{metric}{bound}" for metric in _METRICS for bound in ("", "_low", "_high")),
    "right", "right_low", "right_high", "right_k", "right_n",
)  # fmt: skip


def _labels(loops: Sequence[Mapping[Any, Any]]) -> list[str]:
    """Return what to call each loop; alike ones of a suite are told apart by origin, setting and their id's hash."""
    labels = [_plain_label(loop) for loop in loops]
    origins, settings = [loop["origin"] for loop in loops], [setting_words(loop["setting"]) for loop in loops]
    for told in (origins, settings, [loop["loop_id"].rpartition(".")[2] for loop in loops]):
        named = [(loop["suite"], label) for loop, label in zip(loops, labels, strict=True)]
        labels = [
            f"{label}, {more}" if named.count(name) > 1 and more else label
            for name, label, more in zip(named, labels, told, strict=True)
        ]
    return labels


def _plain_label(loop: Mapping[Any, Any]) -> str:
    reviewer = "itself" if loop["generator"] == loop["verifier"] else loop["verifier"]
    return f"{loop['generator']}, reviewed by {reviewer}"


def _asked(table: "pd.DataFrame", choice: LoopChoice) -> "pd.DataFrame":
    if choice.loops:
        table = table[table["loop_id"].isin(list(choice.loops))]
    return table[table["task"].fillna(UNLABELLED).isin(list(choice.tasks))] if choice.tasks else table


def _by_task(table: "pd.DataFrame") -> "Iterable[tuple[str, pd.DataFrame]]":
    named = table["task"].fillna(UNLABELLED)
    yield ALL_TASKS, table
    for task in _TASK_ORDER[1:]:
        group = table[named == task]
        if len(group):
            yield str(task), group


def _fate_row(group: "pd.DataFrame") -> dict[str, Any]:
    counts = group["fate"].value_counts()
    n_of = {fate: int(counts.get(fate, 0)) for fate in (*Fate, *NoFate)}
    whole = {is_wrong: sum(n_of[fate] for fate in Fate if fate.of_wrong == is_wrong) for is_wrong in (True, False)}
    row: dict[str, Any] = {
        "n": len(group),
        "n_wrong": whole[True],
        "n_right": whole[False],
        "last": int(group["last"].max()),
        **{f"n_{fate}": n for fate, n in n_of.items()},
    }
    for fate in Fate:
        n = whole[fate.of_wrong]
        share = n_of[fate] / n if n else None
        interval = wilson_interval(share, n) if share is not None else None
        row |= {fate.value: share, f"{fate}_low": interval and interval.low, f"{fate}_high": interval and interval.high}
    return row | _change(group[group["fate"].isin(list(Fate))])


def _change(told: "pd.DataFrame") -> dict[str, Any]:
    """Return shares of right answers before and after, and what lies between; all None without an answer."""
    fates = told["fate"]
    before = fates.isin([Fate.KEPT, Fate.SPOILED]).to_numpy(dtype=bool)
    after = fates.isin([Fate.KEPT, Fate.CORRECTED]).to_numpy(dtype=bool)
    found = compare_paired(before, after, told["image_id"].to_numpy(dtype=object))
    return {
        "before": found.share_a,
        "after": found.share_b,
        "change": found.difference,
        "change_low": found.low,
        "change_high": found.high,
        "p": found.p_value,
        "n_images": found.n_clusters,
    }


def _turns(store: Store, choice: LoopChoice) -> "pd.DataFrame":
    """Return every turn of the loops that have a fate, up to their end."""
    fates = loop_fates(store, choice.suite, choice.rule)
    told = fates[fates["fate"].isin(list(Fate))]
    return loop_turns(store, choice.suite).merge(
        told[[*_CHAIN, "image_id", "task", "last", "ends"]], on=_CHAIN, how="inner"
    )


def _right_answers(judged: "pd.DataFrame", by: Sequence[str]) -> "pd.DataFrame":
    """Return the shares of right answers by group."""
    import pandas as pd

    rows = []
    for key, group in judged.groupby(list(by), sort=False):
        k, n = int(group["oracle_correct"].astype(bool).sum()), len(group)
        interval = wilson_interval(k / n, n)
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "right": k / n,
                "right_low": interval and interval.low,
                "right_high": interval and interval.high,
                "right_k": k,
                "right_n": n,
            }
        )
    return pd.DataFrame(rows, columns=[*by, "right", "right_low", "right_high", "right_k", "right_n"], dtype=object)
