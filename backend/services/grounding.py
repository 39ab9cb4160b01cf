"""The visual grounding gap from the store: verifications of which both sides were looked into, and their tests.

The formulas are those of `backend.verimap.grounding`. Every choice that a page makes of verifications holds here too,
that by outcome among them: unlike a rate, a gap over false acceptances alone does say something.
"""

__all__ = [
    "By",
    "FailedLooks",
    "GroundingCounts",
    "any_look",
    "grounding_counts",
    "grounding_table",
    "grounding_tests",
    "group_filter",
]

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from backend.services.verimap_cells import suite_place, task_place
from backend.store.store import Store
from backend.store.verification_filters import (
    BOTH,
    UNLABELLED,
    VERIFICATIONS,
    VerificationFilter,
    outcome_sql,
)
from backend.store.verification_looks import LOOKS_OF
from backend.verimap.grounding import gaps_between, grounding_gap
from backend.verimap.outcomes import Treatment, VerdictOutcome
from backend.verimap.proxies import ALL, NO_OUTCOME, SIDES, Proxy

if TYPE_CHECKING:
    import pandas as pd

By = Literal["task", "outcome"]


def any_look(store: Store) -> bool:
    """Return whether anybody looked into an answer or verdict of VeriMap, with success or without."""
    return bool(
        store.value("SELECT EXISTS (SELECT 1 FROM saliency s JOIN runs r USING (run_id) WHERE r.system = 'verimap')")
    )


class FailedLooks(NamedTuple):
    """Looks that could not be had, for one reason."""

    side: str
    """Of `SIDES`."""
    reason: str
    n: int
    """Verifications that lack it; one look at an answer may be lacking to several verifiers of it."""


@dataclass(frozen=True, slots=True)
class GroundingCounts:
    """How many of the chosen verifications were looked into. The parts add up to `n`."""

    n: int
    """Verifications that fit the filter, looked into or not."""
    n_both: int
    """With both looks: the rows of `grounding_table`."""
    n_generator_only: int
    """Nobody looked at the verifier's reply."""
    n_verifier_only: int
    """Nobody looked at the generator's answer."""
    n_failed: int
    """One look or both could not be had."""
    n_neither: int
    """Nobody looked."""
    failures: tuple[FailedLooks, ...]
    """The most frequent first. A verification of which both failed stands in two."""


def grounding_counts(store: Store, chosen: VerificationFilter) -> GroundingCounts:
    """Return how many of the chosen verifications were looked into; a choice by looks is put aside for that."""
    where, parameters = replace(chosen, looked="").where()
    rows = store.rows(
        f"""
        SELECT g.error, w.error, count(*) FROM {VERIFICATIONS} {LOOKS_OF} WHERE {where} GROUP BY ALL
        """,
        parameters,
    )
    parts = dict.fromkeys(("n_both", "n_generator_only", "n_verifier_only", "n_failed", "n_neither"), 0)
    failures: dict[tuple[str, str], int] = {}
    for generator, verifier, n in rows:
        parts[_part(generator, verifier)] += n
        for side, error in zip(SIDES, (generator, verifier), strict=True):
            if error:
                failures[side, error] = failures.get((side, error), 0) + n
    listed = [FailedLooks(side, reason, n) for (side, reason), n in failures.items()]
    return GroundingCounts(
        n=sum(parts.values()), **parts, failures=tuple(sorted(listed, key=lambda one: (-one.n, one.side, one.reason)))
    )


def _part(generator: str | None, verifier: str | None) -> str:
    """Return where a verification counts, by why its looks could not be had: "" where they were, None without one."""
    if generator or verifier:
        return "n_failed"
    if generator is None and verifier is None:
        return "n_neither"
    if verifier is None:
        return "n_generator_only"
    return "n_verifier_only" if generator is None else "n_both"


def grounding_table(store: Store, chosen: VerificationFilter) -> "pd.DataFrame":
    """Return the chosen verifications of which both the generator's answer and the verifier's reply were looked into.

    Returns:
        One row a verification, data sets and tasks in the paper's order: unit_id, suite, source_id, image_id, task
        (None: not labelled), generator, verifier, condition, turn, run_id (the verifier's), base_run_id (the
        generator's), oracle_correct (None: not judged), verdict (None: none), outcome (a `VerdictOutcome` under the
        filter's policy; None: not judged or left out); and for each of `SIDES`: ``…_fraction`` and ``…_even`` (0 to
        1), ``…_times_even`` (None where the even share is 0), ``…_gradient`` (None: the VLM gives none) and
        ``…_tokens``.
    """
    import pandas as pd

    where, parameters = chosen.where()
    table = store.table(
        f"""
        SELECT v.unit_id, v.suite, u.source_id, v.image_id, e.task, v.generator, v.verifier, v.condition, v.turn,
               v.run_id, b.base_run_id, v.oracle_correct, v.verdict, {outcome_sql(chosen.policy)} AS outcome,
               {_numbers_of("g", "generator")}, {_numbers_of("w", "verifier")}
        FROM {VERIFICATIONS} JOIN units u ON u.unit_id = v.unit_id {LOOKS_OF}
        WHERE g.error = '' AND w.error = '' AND {where}
        """,
        parameters,
    )
    rows = table.to_pylist()
    suites = {suite: suite_place(suite) for suite in {row["suite"] for row in rows}}
    tasks = {task: task_place(task or UNLABELLED) for task in {row["task"] for row in rows}}
    rows.sort(
        key=lambda row: (
            suites[row["suite"]], tasks[row["task"]], _number(row["source_id"]), row["generator"], row["verifier"],
            row["condition"], row["turn"], row["run_id"],
        )
    )  # fmt: skip
    return pd.DataFrame(rows, columns=table.column_names, dtype=object)


def _numbers_of(look: str, side: str) -> str:
    return (
        f"{look}.fraction AS {side}_fraction, {look}.uniform_fraction AS {side}_even, "
        f"CASE WHEN {look}.uniform_fraction > 0 THEN {look}.fraction / {look}.uniform_fraction END "
        f"AS {side}_times_even, {look}.gradient_mean AS {side}_gradient, {look}.n_tokens AS {side}_tokens"
    )


def _number(source_id: str) -> tuple[int, int, str]:
    """Return a key to sort a data set's own ids by: numbers as numbers, before words."""
    return (0, int(source_id), source_id) if source_id.isascii() and source_id.isdigit() else (1, 0, source_id)


def grounding_tests(table: "pd.DataFrame", proxy: Proxy, by: By = "task") -> "pd.DataFrame":
    """Return what the tests of Fig. 5 say of each group, and of all together.

    Whatever the table holds is pooled: gradients of several VLMs are on different scales, so a table of several says
    less of them. Every p takes pairs as independent; see `backend.verimap.grounding`.

    Args:
        table: As `grounding_table`.
        proxy: Which number of the two sides.
        by: ``task`` or ``outcome``.

    Returns:
        `ALL` first, then one row a group in the paper's order: group (`ALL`; a `Task` or `UNLABELLED`; a
        `VerdictOutcome` or `NO_OUTCOME`), n (pairs with both values), n_undefined, n_images, n_lower (verifier below
        generator), generator_mean, generator_median, verifier_mean, verifier_median, generator_even and verifier_even
        (mean even shares of these pairs; None for the gradient), gap, gap_low, gap_high, hypothesis, statistic, p and
        exact (Wilcoxon), d_paired, d_pooled; and of `ALL` alone, else None: kruskal_hypothesis, kruskal_statistic,
        kruskal_df, kruskal_p. None where undefined. Empty for an empty table.
    """
    import pandas as pd

    groups = _groups(table, by)
    found = [_row(ALL, table, proxy)] if len(table) else []
    between = gaps_between(*_sides(table, proxy), groups)
    for row in found:
        row |= {
            "kruskal_hypothesis": between.hypothesis if between else None,
            "kruskal_statistic": between.statistic if between else None,
            "kruskal_df": between.df if between else None,
            "kruskal_p": between.p if between else None,
        }
    for group in sorted(set(groups), key=lambda one: _place(one, by)):
        found.append(_row(group, table[[one == group for one in groups]], proxy))
    return pd.DataFrame(found, columns=_TEST_COLUMNS, dtype=object)


_TEST_COLUMNS = [
    "group", "n", "n_undefined", "n_images", "n_lower", "generator_mean", "generator_median", "verifier_mean",
    "verifier_median", "generator_even", "verifier_even", "gap", "gap_low", "gap_high", "hypothesis", "statistic", "p",
    "exact", "d_paired", "d_pooled", "kruskal_hypothesis", "kruskal_statistic", "kruskal_df", "kruskal_p",
]  # fmt: skip


def _row(group: str, table: "pd.DataFrame", proxy: Proxy) -> dict[str, Any]:
    sides = _sides(table, proxy)
    gap = grounding_gap(*sides, table["image_id"].tolist())
    has_even = proxy is not Proxy.GRADIENT and gap.n
    whole = [None not in pair for pair in zip(*sides, strict=True)]
    even = {f"{side}_even": float(table.loc[whole, f"{side}_even"].mean()) if has_even else None for side in SIDES}
    test, effect, interval = gap.test, gap.effect, gap.interval
    return dict.fromkeys(_TEST_COLUMNS) | {
        "group": group,
        "n": gap.n,
        "n_undefined": gap.n_undefined,
        "n_images": gap.n_images,
        "n_lower": gap.n_lower,
        "generator_mean": gap.generator_mean,
        "generator_median": gap.generator_median,
        "verifier_mean": gap.verifier_mean,
        "verifier_median": gap.verifier_median,
        **even,
        "gap": gap.gap,
        "gap_low": interval.low if interval else None,
        "gap_high": interval.high if interval else None,
        "hypothesis": test.hypothesis if test else None,
        "statistic": test.statistic if test else None,
        "p": test.p if test else None,
        "exact": test.exact if test else None,
        "d_paired": effect.d_paired if effect else None,
        "d_pooled": effect.d_pooled if effect else None,
    }


def _sides(table: "pd.DataFrame", proxy: Proxy) -> tuple[list[float | None], list[float | None]]:
    first, second = (table[f"{side}_{proxy}"].tolist() for side in SIDES)
    return first, second


def _groups(table: "pd.DataFrame", by: By) -> list[str]:
    without = UNLABELLED if by == "task" else NO_OUTCOME
    return [without if value is None else value for value in table[by].tolist()]


def _place(group: str, by: By) -> int:
    if by == "task":
        return task_place(group)
    return list(VerdictOutcome).index(VerdictOutcome(group)) if group != NO_OUTCOME else len(VerdictOutcome)


def group_filter(chosen: VerificationFilter, by: By, group: str) -> VerificationFilter:
    """Return the filter of the verifications behind a group of `grounding_tests`: looked into on both sides.

    An outcome takes the place of those that were chosen. So where UNCERTAIN verdicts alone were, which count as
    rejections, the rejections behind a group hold the others, too.

    Args:
        chosen: What the table was made of.
        by: ``task`` or ``outcome``.
        group: As in the column.
    """
    looked = replace(chosen, looked=BOTH)
    if group == ALL:
        return looked
    if by == "task":
        return replace(looked, tasks=(group,), groups=())
    if group != NO_OUTCOME:
        return replace(looked, verdict_outcomes=(group,))
    policy = chosen.policy
    left_out = [
        key
        for key, treatment in (("uncertain", policy.uncertain), ("unparsed", policy.unparsed))
        if treatment is Treatment.DROP
    ]
    asked = chosen.verdict_outcomes
    return replace(looked, verdict_outcomes=tuple(key for key in (*left_out, "unjudged") if not asked or key in asked))
