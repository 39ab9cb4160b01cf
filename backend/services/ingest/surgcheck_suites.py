"""Pairs as the store has them: how a pair becomes a unit, and which stored pair somebody's rows are about."""

__all__ = [
    "ANSWERS",
    "DATASET",
    "RELEASE",
    "StoredPairs",
    "SuitePair",
    "held_cues",
    "put_pairs",
    "stored_pairs",
    "suite_pair",
]

import hashlib
import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.records import Image, Probe, Role, System, Unit
from backend.services.ingest.report import SuiteReport
from backend.services.ingest.suites import put_suite
from backend.services.ingest.surgcheck_pairing import RowPair
from backend.services.ingest.surgcheck_rows import PairRow
from backend.store.arrow import arrow_array, arrow_table
from backend.store.store import insert
from backend.surgcheck.grounding_cues import Arrow, Outline
from backend.surgcheck.question_reading import hand_of
from backend.surgcheck.scene_graphs import Hand
from backend.surgcheck.scoring import label_of
from backend.surgcheck.stored_scenes import dump_box, dump_drawing
from backend.surgcheck.tasks import Cue, Task

if TYPE_CHECKING:
    import duckdb

    from backend.surgcheck.boxes import Box

DATASET = "Endoscapes"
"""The data set of SurgCheck's frames, where nothing else is said."""

ANSWERS, RELEASE = "answers", "release"
"""What a suite was made from, as its report says it under ``made_from``."""


@dataclass(frozen=True, slots=True)
class SuitePair:
    """A pair on its way into a suite."""

    source_id: str
    picture: str
    """Name of the file that is shown."""
    frame: str
    """Name of the frame's file."""
    task: Task
    cue: Cue
    original: str
    less_biased: str
    reference: str
    hand: Hand | None = None
    annotation_id: int | None = None
    box: "Box | None" = None
    drawing: Outline | Arrow | None = None


def suite_pair(pair: RowPair, repeats: Counter[str]) -> SuitePair:
    """Return the pair that two rows make. The same rows get the same id, wherever they stand in a file.

    Args:
        pair: Rows that carry their reference.
        repeats: How often each pair came so far; equal ones stay apart by this number.
    """
    original, less_biased = pair
    reference = original.reference or ""
    content = "\x1f".join((original.question, less_biased.question, reference))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    name = f"{_stem(original.picture)}.{original.task}.{original.cue}.{digest}"
    repeats[name] += 1
    return SuitePair(
        source_id=f"{name}.{repeats[name]}",
        picture=original.picture,
        frame=original.frame,
        task=original.task,
        cue=original.cue,
        original=original.question,
        less_biased=less_biased.question,
        reference=reference,
        hand=hand_of(original.picture, original.question),
    )


def put_pairs(
    cursor: "duckdb.DuckDBPyConnection",
    suite: str,
    pairs: Sequence[SuitePair],
    source: str,
    *,
    split: str,
    extend: bool,
    build_report: dict[str, Any],
    dataset: str = DATASET,
) -> SuiteReport:
    """Write a suite of pairs, inside the caller's transaction.

    Args:
        cursor: The caller's write transaction.
        suite: The suite's name.
        pairs: Ids distinct.
        source: Names of the files, for people.
        split: Of all pairs; empty where it is not known.
        extend: Whether a suite that exists may grow.
        build_report: What it was made from, what was left out and why.
        dataset: Of the frames.

    Raises:
        AppError: As `put_suite`.
    """
    units = [_unit(pair, suite, split, dataset) for pair in pairs]
    pictures = [_image(dataset, pair.picture) for pair in pairs]
    known = {row[0] for row in cursor.execute("SELECT unit_id FROM units WHERE suite = ?", [suite]).fetchall()}
    report = put_suite(
        cursor, suite, units, source,
        extend=extend, build_report=build_report, system=System.SURGCHECK, pictures=pictures,
    )  # fmt: skip
    new = [place for place, unit in enumerate(units) if unit.unit_id not in known]
    if new:
        insert(cursor, "pairs", _pair_table([(units[at], pairs[at], pictures[at]) for at in new]))
    return report


def _unit(pair: SuitePair, suite: str, split: str, dataset: str) -> Unit:
    """Return a pair as a unit."""

    def probe(role: Role, question: str) -> Probe:
        source = f"{pair.source_id}::{role}"
        return Probe(Unit.make_id(suite, source), source, role, 0, question, pair.reference, pair.task)

    return Unit(
        unit_id=Unit.make_id(suite, pair.source_id),
        source_id=pair.source_id,
        suite=suite,
        image=_image(dataset, pair.frame),
        split=split,
        complexity=0,
        question_classes=(pair.task,),
        probes=(probe(Role.ORIGINAL, pair.original), probe(Role.LESS_BIASED, pair.less_biased)),
    )


def _image(dataset: str, name: str) -> Image:
    return Image(Image.make_id(dataset, _stem(name)), dataset, name)


@lru_cache(maxsize=65_536)
def _stem(name: str) -> str:
    return PurePosixPath(name).stem


def _pair_table(rows: Iterable[tuple[Unit, SuitePair, Image]]) -> Any:
    listed = list(rows)
    numbers = [None if pair.annotation_id is None else str(pair.annotation_id) for _, pair, _ in listed]
    return arrow_table(
        {
            "unit_id": [unit.unit_id for unit, *_ in listed],
            "suite": [unit.suite for unit, *_ in listed],
            "task": [pair.task for _, pair, _ in listed],
            "level": [pair.task.level for _, pair, _ in listed],
            "cue": [pair.cue for _, pair, _ in listed],
            "picture_id": [image.image_id for *_, image in listed],
            "hand": [pair.hand for _, pair, _ in listed],
            "annotation_id": arrow_array(numbers).cast("int64"),
            "box": [dump_box(pair.box) if pair.box else None for _, pair, _ in listed],
            "drawing": [dump_drawing(pair.drawing) if pair.drawing else None for _, pair, _ in listed],
        }
    )


class _Probes(NamedTuple):
    original: str
    less_biased: str


class StoredPairs:
    """The pairs of one stored suite, to be claimed by somebody's rows: each once."""

    def __init__(self, suite: str, made_from: str, rows: Iterable[tuple[str, ...]]) -> None:
        self.suite = suite
        self.made_from = made_from
        self._pairs: dict[tuple[str, ...], list[_Probes]] = defaultdict(list)
        self._single: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for picture, reference, original, less_biased, original_id, less_biased_id in rows:
            stem, label = _stem(picture).lower(), label_of(reference)
            asked, pointed, probes = _folded(original), _folded(less_biased), _Probes(original_id, less_biased_id)
            for told in (label, ""):
                self._pairs[stem, told, asked, pointed].append(probes)
                self._single[stem, told, Role.ORIGINAL, asked].append(original_id)
                self._single[stem, told, Role.LESS_BIASED, pointed].append(less_biased_id)
        self._taken: set[str] = set()

    def holds(self, pairs: Sequence[RowPair], rows: Sequence[tuple[PairRow, Role]]) -> bool:
        """Return whether the suite has all of these pairs, or where there is no pair, all of these rows."""
        if pairs:
            wanted = Counter(_pair_key(pair) for pair in pairs)
            return all(len(self._pairs.get(key, ())) >= n for key, n in wanted.items())
        asked = Counter(_row_key(row, role) for row, role in rows)
        return bool(rows) and all(len(self._single.get(key, ())) >= n for key, n in asked.items())

    def release(self) -> None:
        """Let all pairs be claimed anew, by another run's rows."""
        self._taken.clear()

    def claim_pair(self, pair: RowPair) -> tuple[str, str] | None:
        """Return the probes that two rows are about, the first of equals that nobody claimed; None where none is."""
        for probes in self._pairs.get(_pair_key(pair), ()):
            if probes.original not in self._taken and probes.less_biased not in self._taken:
                self._taken.update(probes)
                return probes
        return None

    def claim(self, row: PairRow, role: Role) -> str | None:
        """Return the probe that a row alone is about, in the same way."""
        for probe_id in self._single.get(_row_key(row, role), ()):
            if probe_id not in self._taken:
                self._taken.add(probe_id)
                return probe_id
        return None


def stored_pairs(cursor: "duckdb.DuckDBPyConnection", suite: str | None) -> list[StoredPairs]:
    """Return the stored suites of pairs as the caller's transaction sees them: all, or the one named."""
    rows = cursor.execute(
        """
        SELECT u.suite, i.file, o.reference, o.question, l.question, o.probe_id, l.probe_id
        FROM units u JOIN pairs p USING (unit_id) JOIN images i ON i.image_id = p.picture_id
        JOIN probes o ON o.unit_id = u.unit_id AND o.role = 'original'
        JOIN probes l ON l.unit_id = u.unit_id AND l.role = 'less_biased'
        WHERE $suite IS NULL OR u.suite = $suite ORDER BY u.suite, u.rowid
        """,
        {"suite": suite},
    ).fetchall()
    reports = dict(cursor.execute("SELECT suite, report FROM suites").fetchall())
    by_suite: dict[str, deque[tuple[str, ...]]] = defaultdict(deque)
    for name, *row in rows:
        by_suite[name].append(tuple(row))
    return [StoredPairs(name, _made_from(reports[name]), held) for name, held in by_suite.items()]


def held_cues(cursor: "duckdb.DuckDBPyConnection", suite: str) -> set[str]:
    """Return the cues of a stored suite's pairs; none where there is no such suite."""
    return {row[0] for row in cursor.execute("SELECT DISTINCT cue FROM pairs WHERE suite = ?", [suite]).fetchall()}


def _made_from(report: str | None) -> str:
    return str(json.loads(report or "{}").get("made_from", RELEASE))


def _pair_key(pair: RowPair) -> tuple[str, ...]:
    original, less_biased = pair
    asked = (_folded(original.question), _folded(less_biased.question))
    return (_stem(original.picture).lower(), label_of(original.reference or ""), *asked)


def _row_key(row: PairRow, role: Role) -> tuple[str, ...]:
    return _stem(row.picture).lower(), label_of(row.reference or ""), role, _folded(row.question)


@lru_cache(maxsize=65_536)
def _folded(question: str) -> str:
    return label_of(question.replace("’", "'"))
