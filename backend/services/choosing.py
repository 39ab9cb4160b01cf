"""From what a person types to what the store holds; an unknown name is answered with the known ones."""

__all__ = ["RunInfo", "find_pair", "find_run", "find_runs", "find_suite"]

from collections.abc import Sequence
from typing import NamedTuple

from backend.domain.records import Stage, System
from backend.errors import AppError
from backend.store.store import Store


class RunInfo(NamedTuple):
    """What tells a run from others."""

    run_id: str
    vlm: str
    vlm_group: str | None
    suite: str
    setting: str
    stage: str
    origin: str


def find_suite(store: Store, system: System, suite: str) -> str:
    """Return the suite's name where the store has such a suite of that system.

    Raises:
        AppError: It has none.
    """
    rows = store.rows("SELECT suite FROM suites WHERE system = ? ORDER BY suite", [system])
    known = [row[0] for row in rows]
    if suite not in known:
        raise AppError(f"There is no suite {suite!r} in this store.", f"Suites: {_listed(known)}.")
    return suite


def find_runs(store: Store, system: System, *, names: Sequence[str] = (), suite: str | None = None) -> list[RunInfo]:
    """Return the runs of the VLMs (or run ids) named, over a suite; all where nothing is named.

    Args:
        store: The store.
        system: Whose runs.
        names: VLMs by name, or runs by id. Case counts.
        suite: A suite's name.

    Returns:
        Sorted by suite, VLM, setting and stage.

    Raises:
        AppError: A VLM or suite the store does not know, or a VLM that has no run over the suite.
    """
    if suite is not None:
        find_suite(store, system, suite)
    rows = store.rows(
        "SELECT run_id, vlm, vlm_group, suite, setting, stage, origin FROM runs WHERE system = ? "
        "ORDER BY suite, vlm, setting, stage, run_id",
        [system],
    )
    runs = [RunInfo(*row) for row in rows]
    chosen = runs
    if names:
        for name in names:
            of_name = [run for run in runs if name in (run.vlm, run.run_id)]
            if not of_name:
                known = sorted({run.vlm for run in runs})
                raise AppError(f"There is no VLM {name!r} in this store.", f"VLMs: {_listed(known)}.")
            if suite is not None and all(run.suite != suite for run in of_name):
                answered = sorted({run.suite for run in of_name})
                raise AppError(f"{name} has not answered suite {suite}.", f"It has answered: {_listed(answered)}.")
        chosen = [run for run in runs if run.vlm in names or run.run_id in names]
    return [run for run in chosen if suite is None or run.suite == suite]


def find_run(store: Store, system: System, name: str, *, suite: str | None = None) -> RunInfo:
    """Return the one run meant by a VLM's name (or a run id) and a suite.

    Among several runs of one VLM over one suite, the direct answers are meant where there is
    one such run.

    Raises:
        AppError: As `find_runs`; or several runs could be meant.
    """
    runs = find_runs(store, system, names=[name], suite=suite)
    suites = sorted({run.suite for run in runs})
    if len(suites) > 1:
        raise AppError(f"{name} has answered several suites.", f"Choose one with --suite: {_listed(suites)}.")
    direct = [run for run in runs if run.stage == Stage.DIRECT]
    for candidates in (runs, direct):
        if len(candidates) == 1:
            return candidates[0]
    listed = _listed([run.run_id for run in runs])
    raise AppError(f"{name} has several runs over suite {suites[0]}.", f"Name one by its id: {listed}.")


def find_pair(store: Store, system: System, a: str, b: str, *, suite: str | None = None) -> tuple[RunInfo, RunInfo]:
    """Return the two runs meant by two names, over one suite: the one both have answered, where not named.

    Raises:
        AppError: As `find_run`; or they share no suite, or several.
    """
    if suite is None:
        answered = [{run.suite for run in find_runs(store, system, names=[name])} for name in (a, b)]
        shared = sorted(answered[0] & answered[1])
        if not shared:
            each = "; ".join(f"{name}: {_listed(sorted(of))}" for name, of in zip((a, b), answered, strict=True))
            raise AppError(f"{a} and {b} share no suite.", f"Suites answered by {each}.")
        if len(shared) > 1:
            raise AppError(f"{a} and {b} share several suites.", f"Choose one with --suite: {_listed(shared)}.")
        suite = shared[0]
    return find_run(store, system, a, suite=suite), find_run(store, system, b, suite=suite)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none yet; import a file first"
