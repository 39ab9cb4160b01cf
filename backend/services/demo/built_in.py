"""The built-in data set's way into a store: its suite, its frames, and the answers to it."""

__all__ = ["DemoStopped", "demo_task", "put_demo", "wants_demo"]

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain

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
from backend.services.ingest.report import ImportReport
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
    steps.append(partial(import_run, store, *(RUNS / chain for chain in MIRAGE_CHAINS), report=report))
    if attach:
        steps += [partial(attach_images, store, folder, report=report) for folder in (FRAMES, SURGICAL_FRAMES)]
    with _begun(store):
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
