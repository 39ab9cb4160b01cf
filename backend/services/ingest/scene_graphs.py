"""Scene graphs into the store: the questions that can be asked about their frames, and the frames' annotations."""

__all__ = [
    "BALANCED",
    "ReadScenes",
    "import_scene_graphs",
    "is_scene_file",
    "put_scenes",
    "read_scene_file",
    "read_scenes",
]

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.progress import Report, silent
from backend.domain.records import Image
from backend.errors import AppError, BadLine
from backend.services.ingest.files import SourceFile
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.services.ingest.surgcheck_names import read_name, split_of
from backend.services.ingest.surgcheck_rows import load_records
from backend.services.ingest.surgcheck_suites import DATASET, SuitePair, put_pairs
from backend.store.arrow import arrow_table
from backend.store.store import Store, insert
from backend.surgcheck.exclusions import Exclusion, count_by_reason
from backend.surgcheck.question_pairs import Pair
from backend.surgcheck.question_sets import balanced_set, full_set
from backend.surgcheck.scene_graphs import SceneGraph, read_scene_graphs
from backend.surgcheck.stored_scenes import dump_scene
from backend.surgcheck.tasks import Mode

if TYPE_CHECKING:
    import duckdb

BALANCED = "-balanced"
"""Behind the name of a suite: the same scene graphs' balanced set."""

SCENE_GRAPHS = "scene graphs"
"""What such a suite was made from, as its report says it."""


class ReadScenes(NamedTuple):
    """A file of scene graphs."""

    file: str
    name: str
    """Of the suite they make, where nobody names another."""
    scenes: tuple[SceneGraph, ...]
    n_without_boxes: int = 0
    """Frames that are left out, because nobody drew boxes in them."""


def is_scene_file(content: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a COCO file."""
    return "images" in content and "annotations" in content


def read_scenes(content: Mapping[str, Any], file: str) -> ReadScenes:
    """Read a COCO file.

    Raises:
        AppError: As `read_scene_graphs`.
    """
    scenes = read_scene_graphs(content)
    return ReadScenes(file, read_name(file).suite, scenes, len(content["images"]) - len(scenes))


def read_scene_file(file: SourceFile, report: Report = silent) -> ReadScenes:
    """Read a COCO file from its place, plain or gzipped.

    Raises:
        AppError: It cannot be read, or is of another layout.
    """
    records = load_records(file, report)
    only = records[0] if len(records) == 1 else None
    if only is None or isinstance(only, BadLine) or not is_scene_file(only.content):
        raise AppError(
            f"{file.name} is no file of scene graphs.",
            "Give an annotation file in the COCO layout of Endoscapes-SG201: images, annotations, categories.",
        )
    return read_scenes(only.content, file.name)


def import_scene_graphs(
    store: Store,
    file: SourceFile,
    suite: str,
    *,
    dataset: str = DATASET,
    mode: Mode = Mode.STRICT,
    with_balanced: bool = True,
    report: Report = silent,
) -> ImportReport:
    """Import the questions about one file of scene graphs, in one transaction; see `put_scenes`.

    Raises:
        AppError: As `read_scene_file` and `put_scenes`; nothing was imported.
    """
    outcome = ImportReport("surgcheck", file.name)
    read = read_scene_file(file, report)
    report(f"writing questions about {file.name}", 0, None)
    with store.write() as cursor:
        put_scenes(cursor, read, suite, mode, outcome, dataset=dataset, with_balanced=with_balanced)
        write_log(cursor, outcome)
    return outcome


def put_scenes(
    cursor: "duckdb.DuckDBPyConnection",
    read: ReadScenes,
    suite: str | None,
    mode: Mode,
    outcome: ImportReport,
    *,
    dataset: str = DATASET,
    with_balanced: bool = True,
) -> None:
    """Write the full set of questions, and the balanced one beside it, inside the caller's transaction.

    Every question that is not asked is counted by its reason, in the report and with the suite.

    Args:
        cursor: The caller's write transaction.
        read: From `read_scenes`.
        suite: Name of the full set's suite; the file's own where None.
        mode: Which pairs count as sound.
        outcome: The import's report.
        dataset: Of the frames.
        with_balanced: Whether to write the balanced set too, where a tool has all four cues.

    Raises:
        AppError: The file holds no frame; or as `put_pairs`.
    """
    name = suite or read.name
    if not read.scenes:
        raise AppError(f"{read.file} holds no annotated frame.", "Give an annotation file of Endoscapes-SG201.")
    if read.n_without_boxes:
        outcome.notes.append(
            f"Frames of {read.file} that are no detection keyframes: {read.n_without_boxes:,}. Nobody drew boxes in "
            "them, and nothing is asked about them."
        )
    full = full_set(read.scenes, mode)
    numbered = [suite_pair_of(pair, f"{number:05}") for number, pair in enumerate(full.pairs, 1)]
    sets = [(name, numbered, full.exclusions)]
    if with_balanced:
        balanced = balanced_set(read.scenes, mode)
        aligned = [
            suite_pair_of(pair, f"{cue}-{number:05}")
            for cue, pairs in balanced.by_cue.items()
            for number, pair in enumerate(pairs, 1)
        ]
        if aligned:
            sets.append((f"{name}{BALANCED}", aligned, balanced.exclusions))
        else:
            outcome.notes.append(
                f"No tool of {read.file} can be asked about with all four cues; there is no balanced set."
            )
    for suite_name, pairs, exclusions in sets:
        counts = _counted(exclusions)
        for reason, n in counts.items():
            outcome.exclusions[f"{suite_name}: {reason}"] = n
        built = {
            "made_from": SCENE_GRAPHS,
            "files": [read.file],
            "mode": mode,
            "n_frames": len(read.scenes),
            "n_frames_without_boxes": read.n_without_boxes,
            "exclusions": counts,
        }
        outcome.suites.append(
            put_pairs(
                cursor, suite_name, pairs, read.file,
                split=split_of(read.file), extend=False, build_report=built, dataset=dataset,
            )
        )  # fmt: skip
        _put_frames(cursor, suite_name, read.scenes, dataset)


def suite_pair_of(pair: Pair, source_id: str) -> SuitePair:
    """Return a generated pair as a suite has it, under an id of its own."""
    return SuitePair(
        source_id=source_id,
        picture=pair.image,
        frame=pair.frame,
        task=pair.task,
        cue=pair.cue,
        original=pair.original,
        less_biased=pair.less_biased,
        reference=pair.reference,
        hand=pair.slot,
        annotation_id=pair.annotation_id,
        box=pair.target_box,
        drawing=pair.drawing,
    )


def _counted(exclusions: Sequence[Exclusion]) -> dict[str, int]:
    return {str(reason): n for reason, n in count_by_reason(exclusions).items()}


def _put_frames(cursor: "duckdb.DuckDBPyConnection", suite: str, scenes: Sequence[SceneGraph], dataset: str) -> None:
    """Write what is annotated in frames, in the place of what stood there for the suite."""
    cursor.execute("DELETE FROM frames WHERE suite = ?", [suite])
    names = [PurePosixPath(scene.file_name) for scene in scenes]
    table = {
        "image_id": [Image.make_id(dataset, name.stem if name.suffix else name.name) for name in names],
        "suite": [suite] * len(scenes),
        "scene": [dump_scene(scene) for scene in scenes],
    }
    insert(cursor, "frames", arrow_table(table))
