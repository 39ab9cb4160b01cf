"""A saliency run's folder into the store: its looks beside the very answers that were looked into."""

__all__ = ["put_looked"]

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backend.domain.records import Stage
from backend.errors import AppError
from backend.services.ingest.report import RunReport
from backend.services.runs.saliency_plan import LOOKS_VERSION, Present, looked_run, present_answers
from backend.services.stored_saliency import LookRow, put_looks
from backend.vlm.saliency.kept import KeptSaliency

if TYPE_CHECKING:
    import duckdb

    from backend.services.runs.checked_folder import CheckedFolder

_AS_IT_WAS = "Import the folder as the run left it, or get it again from whoever made it."


def put_looked(cursor: "duckdb.DuckDBPyConnection", read: "CheckedFolder") -> RunReport:
    """Write a folder's looks, inside the caller's transaction, in the place of those at the same answers before.

    Returns:
        What became of them: n_answers looks, n_looks_changed that are new or other than before, n_failed that
        could not be had.

    Raises:
        AppError: The store lacks the run that was looked into, or holds it by another build of the VLM; what was
            looked into is not what the run holds now; or the folder holds what no look is.
    """
    record, answers, prompts, source = read

    def fetch(sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        return cursor.execute(sql, parameters).fetchall()

    if not fetch("SELECT 1 FROM runs WHERE run_id = ?", [record.setting]):
        raise AppError(
            f"{source} holds looks at answers of the run {record.setting}, which is not in this store.",
            "Import that run's folder first, or both at once: python -m backend import run DIR DIR",
        )
    run = looked_run(fetch, record.setting)
    if record.prompt_version != LOOKS_VERSION:
        raise AppError(
            f"{source} holds looks of the form {record.prompt_version}; this Parallax reads {LOOKS_VERSION}.",
            "Import it with the Parallax that made it, or look anew: saliency run.",
        )
    if (record.system, record.suite, record.vlm.name) != (run.system, run.suite, run.vlm):
        raise AppError(
            f"{source} was changed after its run: it says {record.vlm.name} on {record.suite}, and the run "
            f"{run.run_id} holds answers of {run.vlm} to {run.suite}. Nothing was imported.",
            _AS_IT_WAS,
        )
    if record.vlm.details != run.details:
        raise AppError(
            f"{source} holds looks into another build of {run.vlm} than the one that gave the answers of the run "
            f"{run.run_id}.",
            "Look into the run's present answers, in another folder: saliency run.",
        )
    now = {one.probe_id: one for one in present_answers(fetch, run)}
    columns = (answers.column(name).to_pylist() for name in ("probe_id", "image_sha256", "answer", "error"))
    rows = list(zip(*columns, prompts, strict=True))
    others = [
        probe_id
        for probe_id, sha256, _, error, prompt in rows
        if not _is_present(now.get(probe_id), prompt, sha256, has_failed=bool(error))
    ]
    if others:
        raise AppError(
            f"{source} holds looks at {len(others):,} answers that the run {run.run_id} does not hold now, that to "
            f"{others[0]} among them.",
            "Look into the run's present answers, in another folder: saliency run.",
        )
    looks = []
    unread = []
    for probe_id, _, text, error, _ in rows:
        kept = None if error else _read(text)
        if kept is None and not error:
            unread.append(probe_id)
        looks.append(LookRow(probe_id, now[probe_id].answer, kept, error))
    if unread:
        raise AppError(
            f"{source} was changed after its run: {len(unread):,} of {len(rows):,} looks, that at the answer to "
            f"{unread[0]} among them, are none. Nothing was imported.",
            _AS_IT_WAS,
        )
    n_changed = put_looks(cursor, run.run_id, record.model_dump_json(), looks)
    return RunReport(
        run_id=run.run_id,
        vlm=run.vlm,
        suite=run.suite,
        n_answers=len(looks),
        n_new=0,
        n_replaced=0,
        n_unchanged=0,
        n_missing=0,
        n_failed=sum(look.kept is None for look in looks),
        n_empty=0,
        n_unparsed=0,
        n_looks_changed=n_changed,
        stage=Stage.SALIENCY,
        setting=run.setting,
    )


def _read(text: str) -> KeptSaliency | None:
    """Return a look; None where the text is none, or its numbers are not those of its maps."""
    try:
        kept = KeptSaliency.from_json(text)
    except ValueError:
        return None
    return kept if kept.adds_up else None


def _is_present(now: Present | None, prompt: str, image_sha256: str | None, *, has_failed: bool) -> bool:
    """Return whether a run still holds what was looked into; a look that failed may have had no image."""
    if now is None or now.text != prompt:
        return False
    return not prompt or image_sha256 == now.image_sha256 or (has_failed and image_sha256 is None)
