"""Taking a run or a whole suite out of the store, when somebody asks for it by name.

The rest stays as it is: another run of the same VLM, another suite on the same images. Images
that no unit names any more go with the suite. Of their files only those go that Parallax kept itself, of images
that people brought and cues drawn into them live; a data set's files are never touched.
"""

__all__ = ["remove_run", "remove_suite"]

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import AppError
from backend.services.ingest.log import write_note
from backend.services.live_units import uploads_folder
from backend.services.runs.reconciled_runs import dependents
from backend.store.store import Store

if TYPE_CHECKING:
    import duckdb

_OF_RUN = (
    "answers", "scores", "outcomes", "calls", "decisions", "judgements", "extractions", "oracle_judgements",
    "verifications", "saliency", "saliency_facts", "run_bases", "run_facts", "runs",
)  # fmt: skip
"""Tables whose rows belong to a run, by ``run_id``."""


def remove_run(store: Store, run_id: str) -> str:
    """Remove a run with its answers or verdicts and all its scores.

    Returns:
        What was removed, as a sentence.

    Raises:
        AppError: There is no such run, or others were made from its answers.
    """
    found = store.rows("SELECT vlm, suite FROM runs WHERE run_id = ?", [run_id])
    if not found:
        raise AppError(f"There is no run {run_id} in this store.", "List them: python -m backend metrics endoca")
    [(vlm, suite)] = found
    with store.write() as cursor:
        made_from_it = dependents(cursor, run_id)
        if made_from_it:
            raise AppError(
                f"From the answers of {run_id} other runs were made: {', '.join(made_from_it)}. Without it they could "
                "not be traced.",
                f"Take these out first: python -m backend remove run {made_from_it[-1]}",
            )
        counted = ("answers", "verifications", "saliency")
        n_answers, n_verdicts, n_looks = (_count(cursor, table, "run_id", run_id) for table in counted)
        for table in _OF_RUN:
            cursor.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])
        what = f"{n_verdicts:,} verdicts" if n_verdicts else f"{n_answers:,} answers"
        what += f" and {n_looks:,} looks at them" if n_looks else ""
        said = f"Removed the run of {vlm} on {suite} with {what}."
        write_note(cursor, "removal", run_id, said)
    return said


def remove_suite(store: Store, suite: str) -> str:
    """Remove a suite with its units, every run over it, and live traces of its units.

    The file of an image that somebody brought is deleted when no unit of this store names it any more. Another store
    in the same folder keeps its images in the same place: one that was brought to both is gone from both.

    Returns:
        What was removed, in sentences.

    Raises:
        AppError: There is no such suite; or it is removed, and files that belong to it cannot be deleted.
    """
    known = [row[0] for row in store.rows("SELECT suite FROM suites ORDER BY suite")]
    if suite not in known:
        raise AppError(f"There is no suite {suite} in this store.", f"Known: {', '.join(known) or 'none'}.")
    with store.write() as cursor:
        n_units, n_runs = _count(cursor, "units", "suite", suite), _count(cursor, "runs", "suite", suite)
        for table in _OF_RUN[:-1]:
            cursor.execute(f"DELETE FROM {table} WHERE run_id IN (SELECT run_id FROM runs WHERE suite = ?)", [suite])
        of_suite = "WHERE unit_id IN (SELECT unit_id FROM units WHERE suite = ?)"
        cursor.execute(
            f"DELETE FROM trace_saliency WHERE trace_id IN (SELECT trace_id FROM traces {of_suite})", [suite]
        )
        cursor.execute(f"DELETE FROM traces {of_suite}", [suite])
        for table in ("runs", "probes", "pairs", "frames", "examples", "units", "suites"):
            cursor.execute(f"DELETE FROM {table} WHERE suite = ?", [suite])
        named = "SELECT image_id FROM units UNION SELECT picture_id FROM pairs"
        gone = cursor.execute(f"DELETE FROM images WHERE image_id NOT IN ({named}) RETURNING root, path").fetchall()
        files = _kept_files(cursor, uploads_folder(store), gone)
        runs = f"{n_runs:,} run{'' if n_runs == 1 else 's'}"
        said = f"Removed suite {suite} with {n_units:,} units and {runs} over it."
        if files:
            said += f" With it went {len(files):,} image file{'' if len(files) == 1 else 's'} that Parallax had kept."
        write_note(cursor, "removal", suite, said)
    if left := _left_of(files):
        raise AppError(f"{said} But these cannot be deleted: {'; '.join(left)}.", "Delete them by hand.")
    return said


def _kept_files(
    cursor: "duckdb.DuckDBPyConnection", folder: Path, images: Iterable[tuple[str | None, str | None]]
) -> list[Path]:
    """Return the files in a folder of images that left the store, without those that another image is read from."""
    left = {path for (path,) in cursor.execute("SELECT path FROM images WHERE root = ?", [str(folder)]).fetchall()}
    paths = {path for root, path in images if path and root == str(folder)} - left
    return [file for path in sorted(paths) if (file := folder / path).is_file()]


def _left_of(files: Iterable[Path]) -> list[str]:
    """Delete files; return those that cannot be, each with the reason."""
    left = []
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            left.append(f"{file} ({error.strerror})")
    return left


def _count(cursor: "duckdb.DuckDBPyConnection", table: str, column: str, value: str) -> int:
    [(n,)] = cursor.execute(f"SELECT count(*) FROM {table} WHERE {column} = ?", [value]).fetchall()
    return int(n)
