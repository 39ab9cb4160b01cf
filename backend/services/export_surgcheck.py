"""A run over pairs out of the store, as a prediction file of the layout in which others publish theirs.

Both variants stand in one file, told apart by ``variant``. Importing it gives the same pairs, answers,
judgements and metrics.
"""

__all__ = ["export_surgcheck"]

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import Role, Stage
from backend.errors import AppError
from backend.services.export import write_lines
from backend.services.ingest.surgcheck_names import Variant
from backend.store.store import Store
from backend.surgcheck.release_rows import main_tag
from backend.surgcheck.tasks import Cue, Task

_ROWS = """
    SELECT r.vlm, r.setting, r.stage, q.role, picture.file, frame.file, q.question, q.reference, p.task, p.cue,
           a.answer, coalesce(a.error, ''), x.text, j.judge, j.score, j.reason
    FROM runs r
    JOIN units u ON u.suite = r.suite
    JOIN pairs p ON p.unit_id = u.unit_id
    JOIN probes q ON q.unit_id = u.unit_id
    JOIN images frame ON frame.image_id = u.image_id
    JOIN images picture ON picture.image_id = p.picture_id
    LEFT JOIN answers a ON a.run_id = r.run_id AND a.probe_id = q.probe_id
    LEFT JOIN extractions x ON x.run_id = r.run_id AND x.probe_id = q.probe_id
    LEFT JOIN (
        SELECT run_id, probe_id, min(judge) AS judge, arg_min(score, judge) AS score, arg_min(reason, judge) AS reason
        FROM judgements GROUP BY ALL
    ) j ON j.run_id = r.run_id AND j.probe_id = q.probe_id
    WHERE r.run_id = $run AND (r.stage <> $text_only OR q.role = $original)
    ORDER BY try_cast(u.source_id AS BIGINT), u.source_id, q.role <> $original
"""
"""Where several judges scored an answer, the first by name."""


class _Row(NamedTuple):
    vlm: str
    setting: str
    stage: str
    role: str
    picture: str
    frame: str
    question: str
    reference: str
    task: str
    cue: str
    answer: str | None
    error: str
    extracted: str | None
    judge: str | None
    score: int | None
    reason: str | None


def export_surgcheck(store: Store, run_id: str, out: Path, report: Report = silent) -> int:
    """Write a run as a prediction file: every question of its suite, answered or not.

    A question that the run has no answer to has a null ``pred``. The file appears whole or not at all,
    and takes the place of an older one.

    Args:
        store: The store.
        run_id: The run.
        out: JSON lines; gzipped where the name ends in ``.gz``.
        report: Told of progress in lines; may raise `Cancelled`.

    Returns:
        The number of lines.

    Raises:
        AppError: The run is not in the store, or the file cannot be written.
    """
    asked = {"run": run_id, "text_only": Stage.TEXT_ONLY, "original": Role.ORIGINAL}
    rows = [_Row(*row) for row in store.rows(_ROWS, asked)]
    if not rows:
        raise AppError(
            f"There is no run {run_id} over pairs in this store.", "List them: python -m backend metrics surgcheck"
        )
    write_lines(store, out, _lines(rows), len(rows), report)
    return len(rows)


def _lines(rows: list[_Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        variant = Variant.TEXT_ONLY if row.stage == Stage.TEXT_ONLY else Variant(row.role)
        line: dict[str, Any] = {
            "image": row.picture,
            "question": row.question,
            "pred": row.answer,
            "gt": row.reference,
            "ori_img_tag": row.frame,
            "main_tag": main_tag(Task(row.task)),
            "sub_tag": Cue(row.cue).tag,
            "sub_sub_tag": row.task,
            "variant": variant,
            "model": row.vlm,
        }
        if row.setting:
            line["setting"] = row.setting
        if row.extracted is not None:
            line["pred_extracted"] = row.extracted
        if row.judge is not None:
            line["judge"] = {"score": row.score, "reason": row.reason, "model": row.judge}
        if row.error:
            line["error"] = row.error
        yield line
