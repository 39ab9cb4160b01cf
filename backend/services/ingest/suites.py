"""Writing suites, runs and images: the rows that every kind of import shares."""

__all__ = ["put_run", "put_suite"]

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backend.domain.records import Image, Role, RunKey, System, Unit
from backend.errors import AppError
from backend.services.ingest.report import SuiteReport
from backend.services.scoring import present_scorer, score_run
from backend.store.arrow import arrow_array, arrow_table
from backend.store.store import insert

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


def put_suite(
    cursor: "duckdb.DuckDBPyConnection",
    suite: str,
    units: Sequence[Unit],
    source: str,
    *,
    extend: bool,
    build_report: dict[str, Any] | None = None,
    system: System = System.ENDOCA,
    pictures: Sequence[Image] = (),
) -> SuiteReport:
    """Write a suite's units, inside the caller's transaction. Units that are there already stay as they are.

    Args:
        cursor: The caller's write transaction.
        suite: The suite's name.
        units: Whole units of that suite, ids distinct.
        source: Names of the files, for people.
        extend: Whether a suite that exists may get further units, because the caller named it.
        build_report: How the suite was built, where it was built here.
        system: Whose units these are.
        pictures: Further images that are asked about: copies of the units' own with something drawn in.

    Raises:
        AppError: The suite exists and is another system's, holds something else under the same ids, or would
            grow unasked.
    """
    columns = _unit_columns(units, pictures)
    incoming = {name: arrow_table(content) for name, content in columns.items()}
    exists = cursor.execute("SELECT system FROM suites WHERE suite = ?", [suite]).fetchall()
    if exists:
        _check_system(suite, exists[0][0], system)
        _check_same(cursor, suite, incoming)
    known = {row[0] for row in cursor.execute("SELECT unit_id FROM units WHERE suite = ?", [suite]).fetchall()}
    n_new = sum(1 for unit in units if unit.unit_id not in known)
    if exists and n_new and not extend:
        raise AppError(
            f"Suite {suite} exists with {len(known)} units; this file would add {n_new} others to it.",
            "Name another suite with --suite, or this one to add to it (on the Data page: 'suite').",
        )
    if n_new:
        _insert_new(cursor, incoming, "unit_id", known)
        known_images = {row[0] for row in cursor.execute("SELECT image_id FROM images").fetchall()}
        _insert_new(cursor, {"images": incoming["images"]}, "image_id", known_images)
    if not exists:
        report = json.dumps(build_report) if build_report is not None else None
        cursor.execute(
            "INSERT INTO suites (suite, system, source, report) VALUES (?, ?, ?, ?)",
            [suite, system, source, report],
        )
    elif n_new:
        _score_new_units(cursor, suite, [unit.unit_id for unit in units if unit.unit_id not in known])
    return SuiteReport(
        suite=suite,
        n_units=len(units),
        n_new=n_new,
        n_complex=sum(probe.role == Role.COMPLEX for unit in units for probe in unit.probes),
        n_atomic=sum(probe.role == Role.ATOMIC for unit in units for probe in unit.probes),
        n_pairs=sum(probe.role == Role.ORIGINAL for unit in units for probe in unit.probes),
        n_images=len({unit.image.image_id for unit in units}),
    )


def put_run(cursor: "duckdb.DuckDBPyConnection", key: RunKey, vlm_group: str | None, source: str) -> None:
    """Write a new run; its group, where not given, is the one the papers print for a VLM of that name."""
    if vlm_group is None:
        printed = cursor.execute("SELECT vlm_group FROM published WHERE vlm = ? LIMIT 1", [key.vlm]).fetchall()
        vlm_group = printed[0][0] if printed else None
    scorer = present_scorer(key.system)
    cursor.execute(
        "INSERT INTO runs (run_id, system, suite, vlm, vlm_group, setting, stage, prompt_version, decoding, origin, "
        "source, scorer, scorer_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            key.run_id, key.system, key.suite, key.vlm, vlm_group, key.setting, key.stage,
            key.prompt_version, key.decoding, key.origin, source, scorer.name, scorer.version,
        ],
    )  # fmt: skip


def _unit_columns(units: Sequence[Unit], pictures: Sequence[Image]) -> dict[str, dict[str, list[Any]]]:
    probes = [(unit, probe) for unit in units for probe in unit.probes]
    images = {image.image_id: image for image in (*(unit.image for unit in units), *pictures)}
    return {
        "units": {
            "unit_id": [unit.unit_id for unit in units],
            "suite": [unit.suite for unit in units],
            "source_id": [unit.source_id for unit in units],
            "image_id": [unit.image.image_id for unit in units],
            "split": [unit.split for unit in units],
            "complexity": [unit.complexity for unit in units],
            "question_classes": [list(unit.question_classes) for unit in units],
        },
        "probes": {
            "probe_id": [probe.probe_id for _, probe in probes],
            "unit_id": [unit.unit_id for unit, _ in probes],
            "suite": [unit.suite for unit, _ in probes],
            "source_id": [probe.source_id for _, probe in probes],
            "role": [probe.role for _, probe in probes],
            "position": [probe.position for _, probe in probes],
            "question": [probe.question for _, probe in probes],
            "reference": [probe.reference for _, probe in probes],
            "question_class": [probe.question_class for _, probe in probes],
        },
        "images": {
            "image_id": list(images),
            "dataset": [image.dataset for image in images.values()],
            "file": [image.file for image in images.values()],
        },
    }


def _insert_new(cursor: "duckdb.DuckDBPyConnection", tables: dict[str, "pa.Table"], key: str, known: set[str]) -> None:
    for name, table in tables.items():
        if key in table.column_names:
            fresh = arrow_array([value not in known for value in table.column(key).to_pylist()])
            insert(cursor, name, table.filter(fresh) if known else table)


def _check_system(suite: str, stored: str, system: System) -> None:
    if stored != system:
        raise AppError(
            f"Suite {suite} exists and is one of {stored}, not of {system}.",
            "Name another suite with --suite (on the Data page: 'suite').",
        )


def _check_same(cursor: "duckdb.DuckDBPyConnection", suite: str, incoming: dict[str, "pa.Table"]) -> None:
    """Refuse units and probes that share an id with stored ones and differ from them."""
    for name, key in (("units", "unit_id"), ("probes", "probe_id")):
        table = incoming[name]
        cursor.register("incoming_same", table)
        compared = [column for column in table.column_names if column not in (key, "suite")]
        differs = " OR ".join(f"o.{column} IS DISTINCT FROM n.{column}" for column in compared)
        [(n_differing, example)] = cursor.execute(
            f"SELECT count(*), any_value(n.source_id) FROM incoming_same n JOIN {name} o ON o.{key} = n.{key} "
            f"WHERE {differs}"
        ).fetchall()
        cursor.unregister("incoming_same")
        if n_differing:
            raise AppError(
                f"Suite {suite} already holds other content under the same ids "
                f"({n_differing} {name} differ, {example} among them).",
                "Import the file under another name with --suite (on the Data page: 'suite').",
            )


def _score_new_units(cursor: "duckdb.DuckDBPyConnection", suite: str, unit_ids: list[str]) -> None:
    """Give the suite's runs a score (missing) for the probes it did not have before."""
    for (run_id,) in cursor.execute("SELECT run_id FROM runs WHERE suite = ?", [suite]).fetchall():
        score_run(cursor, run_id, suite, unit_ids=unit_ids)
