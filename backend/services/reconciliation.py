"""Whole runs before and after reconciliation: what the paper's tables say, and what they hide.

A *reconciliation* is what one variant (with the VLM's own parts as premises, or without) made of
one direct run: its Revise run, its Select run, or both. Runs of different prompt versions,
settings, origins or decodings are never taken together. A missing or failed revised answer is
wrong, as everywhere, and counted apart.
"""

__all__ = [
    "Reconciliation",
    "change_table",
    "coverage_table",
    "decision_tracking",
    "move_table",
    "reconciled_table",
    "reconciliations",
]

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.records import Role, System
from backend.endoca.asr import Variant
from backend.endoca.decision import Consistency, Decision, Verdict, read_decision
from backend.endoca.metrics import compare_runs, metric_table
from backend.endoca.reconciliation import (
    PART_COLUMNS,
    Tracking,
    agreement,
    coverage_curve,
    inconsistency_change,
    moves_by_class,
    part_moves,
    track_decisions,
)
from backend.services.endoca_series import of_questions, vlm_places
from backend.services.runs.reconciliation_plan import STAGES
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

METRICS_SHOWN = ("complex_accuracy", "joint_accuracy", "inconsistency", "coverage", "selective_accuracy")
"""Keys of the metrics in Tables V and VI."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What one variant made of one direct run."""

    base: str
    """Id of the direct run."""
    variant: Variant
    vlm: str
    vlm_group: str | None
    setting: str
    origin: str
    prompt_version: str
    place: int
    """The VLM's place in `vlm_places`."""
    revise: str | None = None
    """Id of the Revise run; None where the store has none."""
    select: str | None = None
    """Id of the Select run; None where the store has none."""

    @property
    def revised(self) -> str:
        """Id of the run that holds the revised answers; a Select run returns them unchanged."""
        found = self.revise or self.select
        if found is None:
            raise ValueError("a reconciliation has a Revise or a Select run")
        return found

    @property
    def runs(self) -> tuple[str, ...]:
        """Ids of its runs, the direct one first."""
        return tuple(run for run in (self.base, self.revise, self.select) if run is not None)


def reconciliations(store: Store, chosen: UnitFilter) -> list[Reconciliation]:
    """Return the reconciliations of a suite: by VLM, then direct run, the one with premises first.

    Args:
        store: The store.
        chosen: A suite; of its runs, groups and origins those that are set restrict the list. A
            run chooses the reconciliations it is part of.
    """
    rows = store.rows(
        "SELECT b.base_run_id, r.run_id, r.stage, r.vlm, r.vlm_group, r.setting, r.origin, r.prompt_version, "
        "r.decoding FROM runs r JOIN run_bases b USING (run_id) JOIN runs d ON d.run_id = b.base_run_id "
        "WHERE r.system = $system AND r.suite = $suite AND list_contains($stages, r.stage) ORDER BY r.run_id",
        {"system": System.ENDOCA, "suite": chosen.suite, "stages": [str(stage) for stage in STAGES]},
    )
    places = vlm_places(store)
    found: dict[tuple[str, ...], Reconciliation] = {}
    for base, run_id, stage, vlm, group, setting, origin, prompt_version, decoding in rows:
        variant, step = STAGES[stage]
        key = (base, variant, setting, origin, prompt_version, decoding)
        new = Reconciliation(base, variant, vlm, group, setting, origin, prompt_version, places.get(vlm, -1))
        found[key] = replace(found.get(key, new), **{step.value: run_id})
    listed = [
        one
        for one in found.values()
        if (not chosen.runs or set(chosen.runs) & set(one.runs))
        and (not chosen.groups or one.vlm_group in chosen.groups)
        and (not chosen.origins or one.origin in chosen.origins)
    ]
    return sorted(listed, key=lambda one: (one.vlm, one.base, list(Variant).index(one.variant), one.revised))


def reconciled_table(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return what each reconciliation came to, in the terms of Tables V and VI.

    Args:
        store: The store.
        chosen: A suite and what else is chosen; conditions on answers are put aside.

    Returns:
        One row a reconciliation: revised (run id, the key), base, revise, select (run ids or None),
        variant, vlm, vlm_group, setting, origin, prompt_version, place; n_units; then for each of
        direct, revised and select and each metric M of `METRICS_SHOWN`: ``direct.M``,
        ``direct.M_low`` and so on as in `ratio_table` (all None for an absent Select run);
        complex_change, joint_change and inconsistency_change (fractions, after minus before) with _low
        and _high, the first two with _p (exact McNemar); repairs and harms (units whose complex answer
        became right, or wrong); n_unanswered (units whose revised answer is missing or failed) and
        harms_unanswered (those of them among the harms); of the decisions of its Select run, if any,
        n_unreadable (the reply could not be read), n_select_failed (the call failed, or was not made
        because one before it had), n_undecided (there is none on file) and n_echoed (it repeats another
        answer).
    """
    import pandas as pd

    rows = [_reconciled_row(store, one, of_questions(chosen)) for one in reconciliations(store, chosen)]
    return pd.DataFrame(rows, dtype=object)


def change_table(store: Store, chosen: UnitFilter) -> "pd.DataFrame":
    """Return repairs and harms of each reconciliation by complexity and by question class.

    A unit whose parts are of several classes stands in each of them.

    Args:
        store: The store.
        chosen: A suite and what else is chosen; conditions on answers are put aside.

    Returns:
        One row a reconciliation and group: revised, base, variant, vlm, by ("complexity" or
        "question_class"), group (a number or a class), n, n_before, n_after (complex answers
        right), repairs, harms, change (fraction), change_low, change_high, p.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    classes = _classes_of(store, chosen.suite)
    for one in reconciliations(store, chosen):
        direct, revised = _outcomes(store, one, of_questions(chosen))
        about = {"revised": one.revised, "base": one.base, "variant": one.variant.value, "vlm": one.vlm}
        for by, group, members in _groups(direct, classes, chosen.classes):
            result = compare_runs(direct[direct["unit_id"].isin(members)], revised[revised["unit_id"].isin(members)])
            rows.append(
                {
                    **about,
                    "by": by,
                    "group": group,
                    "n": result.n,
                    "n_before": result.both_right + result.a_right_b_wrong,
                    "n_after": result.both_right + result.a_wrong_b_right,
                    "repairs": result.a_wrong_b_right,
                    "harms": result.a_right_b_wrong,
                    "change": result.difference,
                    "change_low": result.low,
                    "change_high": result.high,
                    "p": result.p_value,
                }
            )
    return pd.DataFrame(rows, dtype=object)


def move_table(store: Store, one: Reconciliation, chosen: UnitFilter) -> "pd.DataFrame":
    """Return which parts the reconciliation moved, as `backend.endoca.reconciliation.moves_by_class`."""
    parts = part_moves(_parts(store, one, _outcomes(store, one, of_questions(chosen))[1]))
    return moves_by_class(parts[parts["question_class"].isin(chosen.classes)] if chosen.classes else parts)


def coverage_table(store: Store, one: Reconciliation, chosen: UnitFilter) -> "pd.DataFrame":
    """Return accuracy against coverage, as `coverage_curve`; empty without a Select run."""
    return coverage_curve(_decided(store, one, of_questions(chosen)))


def decision_tracking(store: Store, one: Reconciliation, chosen: UnitFilter) -> Tracking | None:
    """Return how well the decisions track correctness; None without a Select run."""
    return None if one.select is None else track_decisions(_decided(store, one, of_questions(chosen)))


def _reconciled_row(store: Store, one: Reconciliation, questions: UnitFilter) -> dict[str, Any]:
    import pandas as pd

    direct, revised = _outcomes(store, one, questions)
    row: dict[str, Any] = {
        "revised": one.revised, "base": one.base, "revise": one.revise, "select": one.select,
        "variant": one.variant.value, "vlm": one.vlm, "vlm_group": one.vlm_group, "setting": one.setting,
        "origin": one.origin, "prompt_version": one.prompt_version, "place": one.place, "n_units": len(revised),
    }  # fmt: skip
    frames = {"direct": direct, "revised": revised.assign(decision=None)}
    decisions = _decisions(store, one)
    if one.select is not None:
        frames["select"] = revised.assign(decision=[decisions.get(unit, _NONE).verdict for unit in revised["unit_id"]])
    stacked = pd.concat([frame.assign(step=step) for step, frame in frames.items()])
    # Runs of one frame are told apart by their step: a Select run returns Revise's own answers.
    measured = metric_table(stacked.assign(run_id=stacked["step"]), ["step"]).set_index("step")
    for step in ("direct", "revised", "select"):
        for key in METRICS_SHOWN:
            for end in ("", "_low", "_high", "_k", "_n", "_interval"):
                row[f"{step}.{key}{end}"] = measured.at[step, key + end] if step in measured.index else None
    flips = compare_runs(direct, revised, "complex_accuracy")
    for name, result in (("complex_change", flips), ("joint_change", compare_runs(direct, revised, "joint_accuracy"))):
        row |= {name: result.difference, f"{name}_low": result.low, f"{name}_high": result.high}
        row[f"{name}_p"] = result.p_value
    parted = inconsistency_change(direct, revised)
    listed = [decisions.get(unit, _NONE) for unit in revised["unit_id"]] if one.select is not None else []
    reached = Counter(decided.reached for decided in listed)
    unanswered = _unanswered(store, one.revised) & set(revised["unit_id"])
    right_before = set(direct.loc[direct["complex_correct"].astype(bool), "unit_id"])
    return row | {
        "inconsistency_change": parted.value,
        "inconsistency_change_low": parted.low,
        "inconsistency_change_high": parted.high,
        "repairs": flips.a_wrong_b_right,
        "harms": flips.a_right_b_wrong,
        "n_unanswered": len(unanswered),
        "harms_unanswered": len(unanswered & right_before),
        "n_unreadable": reached[_Reached.UNREADABLE],
        "n_select_failed": reached[_Reached.FAILED],
        "n_undecided": reached[_Reached.NOT],
        "n_echoed": sum(decided.echoes for decided in listed),
    }


class _Reached(StrEnum):
    """How far a decision came."""

    READ = "read"
    UNREADABLE = "unreadable"
    """There is a reply, and it is no decision."""
    FAILED = "failed"
    """The call failed, or was not made because one before it had."""
    NOT = "not"
    """The Select run holds nothing on the unit."""


class _Decided(NamedTuple):
    """What the store says a Select run decided on one unit."""

    verdict: Verdict
    consistency: str | None
    reached: _Reached
    echoes: bool
    """Whether the object repeats another answer than Revise's."""


_NONE = _Decided(Verdict.ABSTAIN, None, _Reached.NOT, False)
"""A unit that the Select run has no decision on: an abstention."""


def _decisions(store: Store, one: Reconciliation) -> dict[str, _Decided]:
    """Return the decisions of a reconciliation's Select run by unit; empty without one."""
    rows = store.rows(
        "SELECT d.unit_id, d.decision, d.consistency, d.echoed, d.problem, d.reply, coalesce(a.answer, '') "
        "FROM decisions d "
        "JOIN probes p ON p.unit_id = d.unit_id AND p.role = $role "
        "LEFT JOIN answers a ON a.run_id = d.run_id AND a.probe_id = p.probe_id WHERE d.run_id = $run",
        {"run": one.select, "role": Role.COMPLEX},
    )
    found = {}
    for unit_id, verdict, consistency, echoed, problem, reply, revised in rows:
        label = None if consistency is None else Consistency(consistency)
        decision = Decision(Verdict(verdict), label, echoed, problem)
        found[unit_id] = _Decided(decision.verdict, label, _reached(problem, reply), decision.echoes_another(revised))
    return found


def _reached(problem: str, reply: str) -> _Reached:
    """Return how far a stored decision came: a problem that the reply does not have is that of the call."""
    if not problem:
        return _Reached.READ
    return _Reached.UNREADABLE if read_decision(reply).problem == problem else _Reached.FAILED


def _outcomes(store: Store, one: Reconciliation, questions: UnitFilter) -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """Return `UNIT_COLUMNS` of the direct and of the revised answers, over the chosen units."""
    runs = (one.base, one.revised)
    units = queries.unit_outcomes(store, replace(questions, runs=runs, groups=(), origins=()))
    direct, revised = (units[units["run_id"] == run].sort_values("unit_id").reset_index(drop=True) for run in runs)
    return direct, revised


def _parts(store: Store, one: Reconciliation, revised: "pd.DataFrame") -> "pd.DataFrame":
    """Return the `PART_COLUMNS` of a reconciliation's units that have a direct and a revised answer."""
    import pandas as pd

    rows = store.rows(
        """
        WITH scored AS (SELECT s.* FROM scores s JOIN runs r USING (run_id, scorer, scorer_version))
        SELECT p.unit_id, p.position, p.question_class,
               json_extract_string(b.parts, '$[' || p.position || '].parsed'),
               json_extract_string(a.parts, '$[' || p.position || '].parsed'),
               json_extract_string(s.parts, '$[0].parsed'),
               json_extract_string(b.parts, '$[' || p.position || '].correct') = 'true',
               json_extract_string(a.parts, '$[' || p.position || '].correct') = 'true'
        FROM scored s JOIN probes p USING (probe_id)
        JOIN scored a ON a.run_id = s.run_id AND a.unit_id = s.unit_id AND a.role = 'complex'
        JOIN scored b ON b.run_id = $base AND b.probe_id = a.probe_id
        WHERE s.run_id = $revised AND s.role = 'atomic'
          AND a.status NOT IN ('missing', 'failed') AND b.status NOT IN ('missing', 'failed')
        ORDER BY p.unit_id, p.position
        """,
        {"base": one.base, "revised": one.revised},
    )
    parts = pd.DataFrame(rows, columns=list(PART_COLUMNS), dtype=object)
    return parts[parts["unit_id"].isin(revised["unit_id"])].reset_index(drop=True)


def _decided(store: Store, one: Reconciliation, questions: UnitFilter) -> "pd.DataFrame":
    """Return the `RECONCILED_COLUMNS` of the units that a Select run decided on; no row without one."""
    import pandas as pd

    revised = _outcomes(store, one, questions)[1]
    if one.select is None:
        revised = revised.iloc[:0]
    decisions = _decisions(store, one)
    listed = [decisions.get(unit, _NONE) for unit in revised["unit_id"]]
    shares = agreement(part_moves(_parts(store, one, revised)))
    return revised[["unit_id", "image_id"]].assign(
        revised_correct=revised["complex_correct"].astype(bool),
        decision=[decided.verdict.value for decided in listed],
        consistency=pd.Series([decided.consistency for decided in listed], index=revised.index, dtype=object),
        agreement=[float(shares.get(unit, 0.0)) for unit in revised["unit_id"]],
    )


def _classes_of(store: Store, suite: str) -> dict[str, set[str]]:
    """Return the units of each question class of a suite."""
    rows = store.rows("SELECT unit_id, unnest(question_classes) FROM units WHERE suite = ?", [suite])
    members: dict[str, set[str]] = {}
    for unit_id, name in rows:
        members.setdefault(name, set()).add(unit_id)
    return members


def _groups(
    units: "pd.DataFrame", classes: dict[str, set[str]], wanted: tuple[str, ...]
) -> Iterator[tuple[str, int | str, set[str]]]:
    """Yield each group of units that has any: what it is by, which it is, and its units."""
    for level in sorted(int(level) for level in units["complexity"].unique()):
        yield "complexity", level, set(units.loc[units["complexity"] == level, "unit_id"])
    present = set(units["unit_id"])
    for name in sorted(classes):
        members = classes[name] & present
        if members and (not wanted or name in wanted):
            yield "question_class", name, members


def _unanswered(store: Store, run_id: str) -> set[str]:
    """Return the units that have no complex answer in a run, or a failed one."""
    rows = store.rows(
        "SELECT s.unit_id FROM scores s JOIN runs r USING (run_id, scorer, scorer_version) "
        "WHERE s.run_id = ? AND s.role = 'complex' AND s.status IN ('missing', 'failed')",
        [run_id],
    )
    return {unit for (unit,) in rows}
