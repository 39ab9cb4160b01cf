"""A plan without a store of one's own: a manifest file, and the folder its images lie in.

The file is imported into a store that lives only as long as it is read, so that it is checked,
named and ordered as any import is, and a run over it fits the suite that a later import makes.
"""

__all__ = ["is_file_name", "read_manifest_plan"]

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from backend.domain.progress import Report, silent
from backend.domain.vlm import Decoding
from backend.errors import AppError
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.runs.plan import Plan, VlmIdentity, read_plan
from backend.store.store import Store

_FILE = re.compile(r"\.(jsonl|ndjson|json|csv|parquet)(\.gz)?$", re.IGNORECASE)


def is_file_name(suite: str) -> bool:
    """Return whether what was given as a suite means a file: it ends as data files do, or a file lies there.

    What can be no path (too long, of an unknown user) means none.
    """
    return _FILE.search(suite) is not None or _is(lambda path: path.expanduser().is_file(), Path(suite))


def read_manifest_plan(
    manifest: Path,
    images: Path | None,
    vlm: VlmIdentity,
    decoding: Decoding,
    *,
    setting: str = "",
    limit: int | None = None,
    report: Report = silent,
) -> Plan:
    """Plan a run over a manifest file.

    Args:
        manifest: As ``import endoca`` takes it; its name is the suite's, in the same way.
        images: Folder with the image files, searched downwards; None leaves all images missing.
        vlm: As for `read_plan`.
        decoding: As for `read_plan`.
        setting: As for `read_plan`.
        limit: As for `read_plan`.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        BadLines: The file has bad lines.
        AppError: It cannot be read, or the folder is none.
    """
    if not _is(Path.exists, manifest):
        raise AppError(f"There is no file {manifest}.", "Check the path.")
    if images is not None and not _is(Path.is_dir, images):
        raise AppError(f"There is no folder {images}.", "Check the path given to --images.")
    with (
        tempfile.TemporaryDirectory(prefix="parallax-plan-") as folder,
        Store.create(Path(folder, "plan.duckdb")) as store,
    ):
        import_endoca(store, [SourceFile.at(manifest)], report=report)
        if images is not None:
            attach_images(store, images, report=report)
        suite = str(store.value("SELECT suite FROM suites"))
        return read_plan(store, suite, vlm, decoding, setting=setting, limit=limit)


def _is(what: Callable[[Path], bool], path: Path) -> bool:
    """Return what the system says of a path; of what can be none, it is nothing."""
    try:
        return what(path)
    except (OSError, RuntimeError, ValueError):
        return False
