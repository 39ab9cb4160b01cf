"""The jobs that bring something into the store, ready to be started: import, build, attach, learn, score anew.

Each ends in an `ImportReport`, so that one view shows them all.
"""

__all__ = ["blind_task", "endoca_task", "images_task", "kvasir_task", "rescore_task", "surgcheck_task"]

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from backend.domain.progress import Report
from backend.errors import AppError
from backend.services.blind import run_blind
from backend.services.ingest.cue_pictures import draw_cue_pictures
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.ingest.kvasir import import_kvasir
from backend.services.ingest.report import ImportReport
from backend.services.ingest.surgcheck import Wanted, import_surgcheck
from backend.services.ingest.surgcheck_places import PlacedFile
from backend.services.jobs import Task, nothing
from backend.services.scoring import rescore
from backend.store.store import Store


def endoca_task(
    store: Store,
    files: Sequence[SourceFile],
    *,
    suite: str | None = None,
    vlm_group: str | None = None,
    lenient: bool = False,
    release: Callable[[], None] = nothing,
) -> Task:
    """Return the import of EndoCA manifests and prediction files; see `import_endoca`.

    Args:
        store: Where to.
        files: The files.
        suite: As for `import_endoca`.
        vlm_group: As for `import_endoca`.
        lenient: As for `import_endoca`.
        release: Deletes temporary files among ``files``.

    Raises:
        AppError: There is no file.
    """
    if not files:
        raise AppError("No file was chosen.", "Choose at least one manifest or prediction file.")

    def work(lenient: bool, report: Report) -> ImportReport:
        return import_endoca(store, files, suite=suite, vlm_group=vlm_group, lenient=lenient, report=report)

    return Task(f"Import {_names(files)}", partial(work, lenient), partial(work, True), release)


def surgcheck_task(
    store: Store,
    files: Sequence[PlacedFile],
    wanted: Wanted,
    *,
    release: Callable[[], None] = nothing,
) -> Task:
    """Return the import of SurgCheck's questions, scene graphs and answers; see `import_surgcheck`.

    Args:
        store: Where to.
        files: The files; one whose variant its name does not say needs it said.
        wanted: What the user says of all of them.
        release: Deletes temporary files among ``files``.

    Raises:
        AppError: There is no file.
    """
    if not files:
        raise AppError("No file was chosen.", "Choose the two files of a pair, or a file of scene graphs.")

    def work(lenient: bool, report: Report) -> ImportReport:
        return import_surgcheck(store, files, replace(wanted, lenient=lenient), report=report)

    named = _names([placed.file for placed in files])
    return Task(f"Import {named}", partial(work, wanted.lenient), partial(work, True), release)


def kvasir_task(
    store: Store,
    vqa: Sequence[SourceFile],
    x1: Sequence[SourceFile],
    *,
    suite: str | None = None,
    sizes: Sequence[int] | None = None,
    seed: int = 0,
    exclude_suite: str | None = None,
    release: Callable[[], None] = nothing,
) -> Task:
    """Return the building of a suite from Kvasir-VQA and Kvasir-VQA-x1; see `import_kvasir`.

    Args:
        store: Where to.
        vqa: The one Kvasir-VQA file.
        x1: The Kvasir-VQA-x1 files, in the order that numbers their samples.
        suite: As for `import_kvasir`.
        sizes: As for `import_kvasir`.
        seed: As for `import_kvasir`.
        exclude_suite: As for `import_kvasir`.
        release: Deletes temporary files among the files.

    Raises:
        AppError: There is not exactly one Kvasir-VQA file, or no Kvasir-VQA-x1 file.
    """
    if len(vqa) != 1:
        raise AppError(f"{len(vqa) or 'No'} Kvasir-VQA files were chosen.", "Choose exactly one.")
    if not x1:
        raise AppError("No Kvasir-VQA-x1 file was chosen.", "Choose at least one; train first, then test.")

    def build(lenient: bool, report: Report) -> ImportReport:
        return import_kvasir(
            store, vqa[0], x1, suite=suite, sizes=sizes, seed=seed, exclude_suite=exclude_suite,
            lenient=lenient, report=report,
        )  # fmt: skip

    return Task(f"Build a suite from {_names(x1)}", partial(build, False), partial(build, True), release)


def images_task(store: Store, folder: Path) -> Task:
    """Return the attaching of a folder's images, see `attach_images`, and the drawing of pictures with cues."""

    def work(report: Report) -> ImportReport:
        outcome = attach_images(store, folder, report=report)
        outcome.notes.extend(draw_cue_pictures(store, report=report))
        return outcome

    return Task(f"Attach the images of {folder.name}", work)


def blind_task(store: Store, learn: str, answer: str) -> Task:
    """Return a run of the blind baseline; see `run_blind`."""
    return Task(f"Blind baseline: learn on {learn}, answer {answer}", partial(run_blind, store, learn, answer))


def rescore_task(store: Store) -> Task:
    """Return the scoring of every run with the present scorer; see `rescore`."""

    def work(report: Report) -> ImportReport:
        n = rescore(store, report)
        note = f"{n} run{'' if n == 1 else 's'} scored with the present scorer; the older scores are kept beside them."
        return ImportReport("rescore", "", notes=[note])

    return Task("Score runs with the present scorer", work)


def _names(files: Sequence[SourceFile]) -> str:
    shown = ", ".join(file.name for file in files[:3])
    return f"{shown} and {len(files) - 3} more" if len(files) > 3 else shown
