"""Hand-made files of VeriMap for tests: published questions, verification records, label files."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from backend.services.ingest.files import SourceFile
from backend.store.store import Store

Row = Mapping[str, Any]


def vqa_rad_row(qid: int, question: str, answer: str = "Yes", image: str = "synpic1.jpg", **cells: Any) -> Row:
    """Return a row as VQA-RAD publishes it."""
    return {
        "qid": qid, "image_name": image, "question": question, "answer": answer, "answer_type": "CLOSED ",
        "question_type": "PRES", "phrase_type": "freeform", **cells,
    }  # fmt: skip


QUESTIONS = (
    vqa_rad_row(1, "Is this a CT?"),
    vqa_rad_row(2, "Where is the mass?", "left", answer_type="OPEN"),
    vqa_rad_row(3, "Is there a fracture?", "No", "synpic2.jpg"),
)


def record(source_id: str, oracle_correct: bool | None, verdict: str | None, **cells: Any) -> Row:
    """Return a verification record; A verifies itself, on a data set of its own, unless told otherwise."""
    return {
        "id": source_id, "dataset": "own", "task": "modality", "generator": "A", "verifier": "A",
        "oracle_correct": oracle_correct, "verdict": verdict, **cells,
    }  # fmt: skip


def json_list(path: Path, rows: Iterable[Row]) -> SourceFile:
    """Write one JSON list."""
    path.write_text(json.dumps(list(rows), indent=1), "utf-8")
    return SourceFile.at(path)


def json_lines(path: Path, rows: Iterable[Row]) -> SourceFile:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return SourceFile.at(path)


TABLES = ("suites", "units", "probes", "images", "examples", "runs", "verifications", "imports")


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of the tables that an import of VeriMap writes."""
    return {table: sorted(store.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def tasks(store: Store, suite: str) -> dict[str, tuple[str | None, str | None]]:
    """Return task and its origin by the questions' own ids."""
    rows = store.rows(
        "SELECT u.source_id, e.task, e.labelled_by FROM examples e JOIN units u USING (unit_id) WHERE e.suite = ?",
        [suite],
    )
    return {source_id: (task, by) for source_id, task, by in rows}
