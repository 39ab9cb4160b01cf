"""Where to send a question's verification, from what was measured of the chosen verifier (`backend.verimap.routing`).

What was measured are the store's verdicts on first answers, or, without a store, the cells that the paper prints:
their unweighted means over data sets, which come without an n.
"""

__all__ = ["printed_route", "route_of_cell", "stored_route"]

from collections.abc import Mapping
from typing import Any

from backend.errors import AppError
from backend.services.verimap_cells import suite_place
from backend.services.verimap_published import VERIMAP_PAPER, printed_cells
from backend.store.store import Store
from backend.store.verification_filters import VERIFICATIONS, VerificationFilter, outcome_sql
from backend.verimap.cell_rates import cell_metrics
from backend.verimap.counts import Counts
from backend.verimap.routing import MeasuredCell, Route, RoutingThresholds, cell_of_counts, route
from backend.verimap.vocabulary import Task, dataset_of_name


def route_of_cell(row: Mapping[str, Any], thresholds: RoutingThresholds | None = None) -> Route | None:
    """Return the decision that a cell of verdicts leads to; None where its questions have no task.

    Args:
        row: Of `backend.services.verimap_cells.cell_table`; suite, task, generator, verifier, tp, tn, fp, fn count.
        thresholds: The defaults where None.
    """
    if row["task"] is None:
        return None
    task = Task(row["task"])
    counts = Counts(*(int(row[name]) for name in ("tp", "tn", "fp", "fn")))
    cell = cell_of_counts(
        counts, task=task, verifier=row["verifier"], generator=row["generator"], source=_dataset_words(row["suite"])
    )
    return route(task, cell, thresholds)


def stored_route(store: Store, task: Task, verifier: str, generator: str | None = None) -> Route:
    """Return the decision that the store's plain verdicts on first answers lead to, counts of all data sets added up.

    Args:
        store: The store.
        task: Of the question.
        verifier: The chosen one.
        generator: Whose answers it is to verify; None: its own.

    Raises:
        AppError: The store holds no verdict of that verifier, or none on that generator's answers.
    """
    known = store.rows("SELECT DISTINCT verifier, generator FROM verifications WHERE condition = 'plain' ORDER BY ALL")
    verifiers = list(dict.fromkeys(one for one, _ in known))
    if verifier not in verifiers:
        raise AppError(
            f"There is no verifier {verifier!r} in this store.", f"Verifiers: {', '.join(verifiers) or 'none yet'}."
        )
    asked = generator or verifier
    generators = [whose for one, whose in known if one == verifier]
    if asked not in generators:
        whose = "its own answers" if asked == verifier else f"answers of {asked}"
        raise AppError(
            f"{verifier} has not verified {whose} in this store.",
            f"Choose with --generator whose answers: {', '.join(generators)}.",
        )
    chosen = VerificationFilter(tasks=(task.value,), generators=(asked,), verifiers=(verifier,), turns=(0,))
    where, parameters = chosen.where()
    found = store.rows(
        f"SELECT v.suite, {outcome_sql(chosen.policy)} AS outcome, count(*), count(DISTINCT v.run_id) "
        f"FROM {VERIFICATIONS} WHERE {where} GROUP BY ALL ORDER BY ALL",
        parameters,
    )
    if not found:
        return route(task, None)
    n = {name: sum(row[2] for row in found if row[1] == name) for name in ("tp", "tn", "fp", "fn")}
    datasets = ", ".join(map(_dataset_words, sorted({row[0] for row in found}, key=suite_place)))
    cell = cell_of_counts(
        Counts(**n), task=task, verifier=verifier, generator=asked, source=f"verdicts in the store on {datasets}"
    )
    return route(task, cell)


def printed_route(task: Task, verifier: str) -> Route:
    """Return the decision that the paper's printed cells lead to: self-verification, averaged over data sets.

    Raises:
        AppError: The paper prints no such VLM.
    """
    cells = printed_cells()
    verifiers = list(dict.fromkeys(cells["model"]))
    if verifier not in verifiers:
        raise AppError(
            f"The paper prints no figures of the verifier {verifier!r}.",
            f"Verifiers: {', '.join(verifiers)}. For any other, name the store that has its verdicts with --store.",
        )
    own = cells[(cells["model"] == verifier) & (cells["task"] == task.value)]
    fpr = cell_metrics(own)["fpr"].dropna()
    cell = MeasuredCell(
        task=task,
        verifier=verifier,
        generator=verifier,
        source=f"{VERIMAP_PAPER}, Tables 6 to 15, mean of {len(own)} data sets (FPR: of {len(fpr)})",
        error=float(1 - own["verifier_accuracy"].mean() / 100),
        fpr=float(fpr.mean()) if len(fpr) else None,
        n=None,
        n_wrong=None,
    )
    return route(task, cell)


def _dataset_words(suite: str) -> str:
    known = dataset_of_name(suite)
    return known.label if known else suite
