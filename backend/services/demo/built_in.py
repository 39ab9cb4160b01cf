"""The built-in data set's way into a store: its suite, its frames, and the answers to it."""

__all__ = ["DemoStopped", "demo_task", "put_demo", "wants_demo"]

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

from backend.demo.files import MANIFEST, SCENE_GRAPHS
from backend.domain.progress import Cancelled, Report, silent
from backend.errors import AppError
from backend.services.demo.shipped import (
    BLIND_DIRECT,
    BLIND_SURGICAL,
    DEMO,
    DEMO_SUITE,
    DIRECT,
    FRAMES,
    MIRAGE_CHAINS,
    MIRAGE_SALIENCY,
    RECONCILED,
    RUNS,
    SURGICAL,
    SURGICAL_FRAMES,
    SURGICAL_LOOKUP,
    SURGICAL_SUITE,
    SURGICAL_TEXT_ONLY,
)
from backend.services.demo.synthetic import SYNTHETIC_SURGERY
from backend.services.demo.verification_examples import put_demo_examples
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.ingest.log import write_note
from backend.services.ingest.report import ImportReport, RunReport
from backend.services.ingest.scene_graphs import import_scene_graphs
from backend.services.jobs import Task
from backend.services.runs.import_run import import_run
from backend.settings import setting
from backend.store.store import Store

BEGUN = "demo begun"
"""Kind of the row in the log of imports that stands there while the data set comes in."""


class DemoStopped(Cancelled):
    """The person who started it stopped it when a part was in the store already."""

    def __init__(self) -> None:
        AppError.__init__(
            self,
            "Stopped; a part of the built-in data set is in the store.",
            "Bring in the rest with the app closed: python -m backend demo",
        )


def put_demo(store: Store, report: Report = silent, *, attach: bool = True) -> ImportReport:
    """Put the built-in data set into a store; what is there already stays as it is.

    Args:
        store: Where to.
        report: Told of progress; may raise `Cancelled`.
        attach: Whether to attach the frames.

    Raises:
        AppError: A shipped file is absent or damaged, or the store holds another suite of this name.
    """
    done = ImportReport("demo", "the built-in data set (synthetic)")
    steps: list[Callable[[], ImportReport]] = [
        partial(import_endoca, store, [SourceFile.at(DEMO / MANIFEST)], suite=DEMO_SUITE, report=report)
    ]
    answered = (DIRECT, BLIND_DIRECT, *chain.from_iterable(RECONCILED.values()))
    steps.append(partial(import_run, store, *(RUNS / run for run in answered), report=report))
    scenes = SourceFile.at(DEMO / SCENE_GRAPHS)
    surgical = partial(import_scene_graphs, dataset=SYNTHETIC_SURGERY, with_balanced=False, report=report)
    steps.append(partial(surgical, store, scenes, SURGICAL_SUITE))
    answered = (SURGICAL, BLIND_SURGICAL, SURGICAL_LOOKUP, SURGICAL_TEXT_ONLY)
    steps.append(partial(import_run, store, *(RUNS / run for run in answered), report=report))
    steps.append(partial(put_demo_examples, store, DEMO, report))
    judged = (*MIRAGE_CHAINS, MIRAGE_SALIENCY)
    steps.append(partial(import_run, store, *(RUNS / run for run in judged), report=report))
    if attach:
        steps += [partial(_attach, store, folder, done.runs, report) for folder in (FRAMES, SURGICAL_FRAMES)]
    with _begun(store), _uncollected():
        for number, step in enumerate(steps):
            try:
                brought = step()
            except Cancelled as cancelled:
                raise DemoStopped if number else cancelled from cancelled
            done.suites += brought.suites
            done.runs += brought.runs
            done.notes += brought.notes
            summed = {name: done.images.get(name, 0) + n for name, n in brought.images.items() if name != "missing"}
            done.images |= brought.images | summed
    return done


@contextmanager
def _begun(store: Store) -> Iterator[None]:
    """Keep a row in the log of imports for as long as parts come in; only a process that was killed leaves it there."""
    with store.write() as cursor:
        write_note(cursor, BEGUN, "the built-in data set (synthetic)", "It is being brought in.")
    try:
        yield
    finally:
        with store.write() as cursor:
            cursor.execute("DELETE FROM imports WHERE kind = ?", [BEGUN])


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let cyclic garbage lie: the search for it walks through all rows again and again, and finds next to none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _attach(store: Store, folder: Path, runs: Sequence[RunReport], report: Report) -> ImportReport:
    """Attach shipped frames. What has the SHA-256 that a shipped run was given was decoded whole when that was made."""
    given = "SELECT DISTINCT image_sha256 FROM calls WHERE list_contains(?, run_id) AND image_sha256 IS NOT NULL"
    decoded = {row[0] for row in store.rows(given, [[run.run_id for run in runs]])}
    return attach_images(store, folder, decoded=decoded, report=report)


def demo_task(store: Store) -> Task:
    """Return the job that puts the built-in data set into a store."""
    return Task("Bring in the built-in data set (synthetic)", partial(put_demo, store))


def wants_demo(store: Store) -> bool:
    """Return whether the app should fill the store with the built-in data set.

    So it should where nothing was ever brought into it, or where it was killed while that data set came
    in; unless the setting PARALLAX_DEMO is off.
    """
    if setting("PARALLAX_DEMO").casefold() == "off":
        return False
    if store.value("SELECT count(*) FROM imports WHERE kind = ?", [BEGUN]):
        return True
    return not store.value("SELECT (SELECT count(*) FROM suites) + (SELECT count(*) FROM imports)")
