"""The jobs that bring something into the store, ready to be started: import, build, attach, learn, score anew.

Each ends in an `ImportReport`, so that one view shows them all.
"""

__all__ = [
    "blind_task",
    "endoca_task",
    "images_task",
    "kvasir_task",
    "rescore_task",
    "surgcheck_task",
    "verimap_questions_task",
    "verimap_records_task",
]

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from backend.domain.progress import Cancelled, Report
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
from backend.services.ingest.verimap_labels import LabelFiles
from backend.services.ingest.verimap_questions import import_verimap, question_files
from backend.services.ingest.verimap_records import import_verification_records
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
    images: Path | None = None,
    release: Callable[[], None] = nothing,
) -> Task:
    """Return the import of SurgCheck's questions, scene graphs and answers; see `import_surgcheck`.

    Args:
        store: Where to.
        files: The files; one whose variant its name does not say needs it said.
        wanted: What the user says of all of them.
        images: Folder with frames and pictures, to be attached afterwards.
        release: Deletes temporary files among ``files``.

    Raises:
        AppError: There is no file.
    """
    if not files:
        raise AppError("No file was chosen.", "Choose the two files of a pair, or a file of scene graphs.")

    def work(lenient: bool, report: Report) -> ImportReport:
        outcome = import_surgcheck(store, files, replace(wanted, lenient=lenient), report=report)
        return _with_images(store, images, outcome, report)

    named = _names([placed.file for placed in files])
    return Task(f"Import {named}", partial(work, wanted.lenient), partial(work, True), release)


def verimap_questions_task(
    store: Store,
    files: Sequence[SourceFile],
    dataset: str,
    *,
    labels: LabelFiles | None = None,
    images: Path | None = None,
    lenient: bool = False,
    release: Callable[[], None] = nothing,
) -> Task:
    """Return the import of a data set's questions, of labels of its questions, or of both; see `import_verimap`.

    Args:
        store: Where to.
        files: The data set's files and folders; none where labels alone are brought to a stored suite.
        dataset: As for `import_verimap`.
        labels: As for `import_verimap`.
        images: Folder with the image files, to be attached afterwards.
        lenient: As for `import_verimap`.
        release: Deletes temporary files among the files.

    Raises:
        AppError: There is neither a file nor a label, or a folder holds no data file.
    """
    if not files and labels is None:
        raise AppError("No file was chosen.", "Choose a data set's files or its folder, or labels of its questions.")
    opened = [
        found for file in files for found in (question_files(file.path, dataset) if file.path.is_dir() else [file])
    ]

    def work(lenient: bool, report: Report) -> ImportReport:
        outcome = import_verimap(store, opened, dataset, labels=labels, lenient=lenient, report=report)
        return _with_images(store, images, outcome, report)

    title = f"Import {_names(opened)}" if files else f"Label the questions of {dataset}"
    return Task(title, partial(work, lenient), partial(work, True), release)


def verimap_records_task(
    store: Store, files: Sequence[SourceFile], *, lenient: bool = False, release: Callable[[], None] = nothing
) -> Task:
    """Return the import of verification records; see `import_verification_records`.

    Args:
        store: Where to.
        files: The files.
        lenient: As for `import_verification_records`.
        release: Deletes temporary files among ``files``.

    Raises:
        AppError: There is no file.
    """
    if not files:
        raise AppError("No file was chosen.", "Choose at least one file of verification records.")

    def work(lenient: bool, report: Report) -> ImportReport:
        return import_verification_records(store, files, lenient=lenient, report=report)

    return Task(f"Import {_names(files)}", partial(work, lenient), partial(work, True), release)


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


def _with_images(store: Store, folder: Path | None, outcome: ImportReport, report: Report) -> ImportReport:
    """Attach a folder's images after an import, and add to its report.

    The lines are in the store by then: where the images cannot be attached, or somebody stops the job, the
    report says so, and the job does not fail.
    """
    if folder is None:
        return outcome
    try:
        attached = attach_images(store, folder, report=report)
        outcome.images = attached.images
        outcome.notes.extend((*attached.notes, *draw_cue_pictures(store, report=report)))
    except Cancelled:
        outcome.notes.append("Stopped while images were attached: the lines are in the store.")
    except AppError as error:
        outcome.notes.append(f"The lines are in the store, the images were not attached. {error.message} {error.hint}")
    return outcome


def _names(files: Sequence[SourceFile]) -> str:
    shown = ", ".join(file.name for file in files[:3])
    return f"{shown} and {len(files) - 3} more" if len(files) > 3 else shown
