"""Runs out of the store, in the format the benchmark's users exchange.

Importing what is exported gives the same units, answers and metrics. What the store does not
keep of a manifest (``source_image``, ``trace_consistency_label``) is not written.
"""

__all__ = ["export_endoca", "open_text", "write_lines", "written_whole"]

import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import Role
from backend.endoca.vocabulary import BY_NAME, canonical_reference
from backend.errors import AppError
from backend.store.store import Store

_REPORT_EVERY = 1_000

_PROBES = """
    SELECT u.source_id, i.image_id, i.dataset, i.file, u.split, u.complexity, u.question_classes,
           p.source_id, p.role, p.position, p.question, p.reference, p.question_class,
           r.vlm, a.answer, coalesce(a.error, ''), d.decision
    FROM runs r
    JOIN units u ON u.suite = r.suite
    JOIN images i ON i.image_id = u.image_id
    JOIN probes p ON p.unit_id = u.unit_id
    LEFT JOIN answers a ON a.run_id = r.run_id AND a.probe_id = p.probe_id
    LEFT JOIN decisions d ON d.run_id = r.run_id AND d.unit_id = u.unit_id AND p.role = 'complex'
    WHERE r.run_id = ?
    ORDER BY try_cast(u.source_id AS BIGINT), u.source_id, p.role <> 'complex', p.position
"""


class _Probe(NamedTuple):
    sample: str
    image_id: str
    dataset: str
    image: str
    split: str
    complexity: int
    question_classes: list[str]
    probe_id: str
    role: str
    position: int
    question: str
    reference: str
    question_class: str
    vlm: str
    answer: str | None
    error: str
    decision: str | None
    """Of a Select run, on the unit of a complex question; None elsewhere."""


def export_endoca(store: Store, run_id: str, out: Path, report: Report = silent) -> int:
    """Write a run as a prediction file: every probe of its suite, answered or not.

    A probe the run has no answer to has a null ``prediction``; complex answers of a Select run carry
    its ``decision``, which an import does not take. The file appears whole or not
    at all, and takes the place of an older one.

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
    probes = [_Probe(*row) for row in store.rows(_PROBES, [run_id])]
    if not probes:
        raise AppError(f"There is no run {run_id} in this store.", "List them: python -m backend metrics endoca")
    write_lines(store, out, _lines(probes), len(probes), report)
    return len(probes)


def write_lines(
    store: Store, out: Path, lines: Iterable[Mapping[str, Any]], total: int, report: Report = silent
) -> None:
    """Write JSON lines, as `written_whole` writes files.

    Args:
        store: Its own file is never written over.
        out: Gzipped where the name ends in ``.gz``.
        lines: One object a line.
        total: How many there are.
        report: Told of progress in lines; may raise `Cancelled`.

    Raises:
        AppError: The file cannot be written.
    """
    with written_whole(store, out) as part, open_text(part) as file:
        for done, line in enumerate(lines):
            if done % _REPORT_EVERY == 0:
                report(f"writing {out.name}", done, total)
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    report(f"writing {out.name}", total, total)


@contextmanager
def written_whole(store: Store, out: Path) -> Iterator[Path]:
    """Yield a path to write to; the file then appears at ``out`` whole or not at all, in the place of an older one.

    Args:
        store: Its own file is never written over.
        out: Where the file shall be.

    Raises:
        AppError: The file cannot be written.
    """
    target = out.resolve()
    if target.exists() and (not target.is_file() or target.samefile(store.path)):
        raise AppError(f"{out} cannot be written over.", "Name a file for the answers with --out.")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".parallax-") as folder:
            part = Path(folder, target.name)
            yield part
            part.replace(target)
    except OSError as error:
        raise AppError(f"{out} cannot be written ({error.strerror}).", "Name another file with --out.") from error


def open_text(path: Path) -> IO[str]:
    """Open a text file to write; gzipped where its name ends in ``.gz``. Line ends are written as they are."""
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8", newline="")
    return path.open("w", encoding="utf-8", newline="")


def _lines(probes: list[_Probe]) -> Iterator[dict[str, Any]]:
    atoms: dict[str, list[dict[str, str]]] = {}
    for probe in probes:
        if probe.role == Role.ATOMIC:
            atoms.setdefault(probe.sample, []).append(
                {
                    "question_class": probe.question_class,
                    "raw_answer": probe.reference,
                    "parsed": _parsed(probe),
                }
            )
    for probe in probes:
        is_complex = probe.role == Role.COMPLEX
        line: dict[str, Any] = {
            "sample_id": _number_or_text(probe.sample),
            "image": probe.image,
            "split": probe.split,
            "dataset": probe.dataset,
            "img_id": probe.image_id.rpartition(":")[2],
            "complexity": probe.complexity,
            "question_class": probe.question_classes,
            "probe_id": probe.probe_id,
            "probe_kind": "complex_direct" if is_complex else "atomic_direct",
            "question": probe.question,
            "gold_answer": probe.reference,
        }
        if is_complex:
            line["gold_atoms"] = atoms[probe.sample]
        else:
            line["atomic_index"] = probe.position
            line["gold_question_class"] = probe.question_class
            line["gold_parsed"] = _parsed(probe)
        decided = {"decision": probe.decision} if probe.decision else {}
        yield {**line, "model_id": probe.vlm, "prediction": probe.answer, "error": probe.error, **decided}


def _parsed(probe: _Probe) -> str:
    known = probe.question_class in BY_NAME
    return canonical_reference(probe.question_class, probe.reference) if known else probe.reference


def _number_or_text(sample: str) -> int | str:
    """Return a sample's id as the benchmark writes it: a number where it is one."""
    return int(sample) if sample.isascii() and sample.isdigit() and str(int(sample)) == sample else sample
