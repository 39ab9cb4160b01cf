"""SurgCheck's files into the store: the release's questions, scene graphs, and what VLMs answered.

Rows with a prediction are answers, the others questions. Answers find their suite among the stored
ones by picture, questions and reference; those that match none make a suite of their own from the
references they carry. One import is one transaction: all of it, or nothing.
"""

__all__ = ["Wanted", "import_surgcheck"]

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.progress import Report, silent
from backend.errors import AppError, BadLine, BadLines
from backend.services.ingest.endoca import LENIENT_HINT
from backend.services.ingest.files import checked_suite_name
from backend.services.ingest.log import write_log
from backend.services.ingest.report import ImportReport
from backend.services.ingest.scene_graphs import ReadScenes, is_scene_file, put_scenes, read_scenes
from backend.services.ingest.surgcheck_answers import put_given
from backend.services.ingest.surgcheck_bundles import Bundle, PairedBundle, bundles_of
from backend.services.ingest.surgcheck_matching import AnswerFinder, put_bundles
from backend.services.ingest.surgcheck_names import FileName, Variant, read_name
from backend.services.ingest.surgcheck_pairing import (
    LEAKED,
    NO_TWIN,
    PairedRows,
    is_leaked,
    look_swapped,
    pair_rows,
)
from backend.services.ingest.surgcheck_places import PlacedFile
from backend.services.ingest.surgcheck_pointing import point_pairs
from backend.services.ingest.surgcheck_rows import FileRows, PairRow, load_records, read_pair_rows
from backend.services.ingest.surgcheck_suites import RELEASE
from backend.services.scoring import Memo
from backend.store.store import Store
from backend.surgcheck.question_reading import frame_of_picture
from backend.surgcheck.tasks import Mode

if TYPE_CHECKING:
    import duckdb

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user says about the files."""

    vlm: str | None = None
    """Who answered; needed for answers whose rows do not say it."""
    setting: str | None = None
    """Such as ``zero-shot``; None: what rows and names say."""
    suite: str | None = None
    """None: the suite that matches, or the files' own name."""
    vlm_group: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns by field, where their names are not known."""
    mode: Mode = Mode.STRICT
    """Of the questions made from scene graphs."""
    lenient: bool = False


class _Read(NamedTuple):
    """All files, read."""

    bundles: list[Bundle]
    scenes: list[ReadScenes]


def import_surgcheck(
    store: Store, files: Sequence[PlacedFile], wanted: Wanted | None = None, *, report: Report = silent
) -> ImportReport:
    """Import questions, scene graphs and answers, in one transaction. Importing them again changes nothing.

    A pair is joined from two files as `pair_rows` says. A row without a twin, and a pair of the five
    paired tasks whose two texts are the same, is left out and listed with its line. An import replaces
    the answers of its run to the probes it names and keeps the rest, so four files can fill one run. A
    null prediction says that there is no answer; it counts as missing.

    Answers go to the one stored suite that has all their pairs. Where none has, they make a suite from
    the references they carry. One made so grows by cues that it does not hold yet, and by nothing else:
    no set of questions is pooled with another.

    Args:
        store: Where to.
        files: In any mix; files of one pair are told by their names, or by what the user says of each.
        wanted: What the user says of all of them.
        report: Told of progress; may raise `Cancelled`.

    Raises:
        BadLines: There are bad lines, and the user did not ask to skip them; nothing was imported.
        AppError: A file cannot be read at all, says too little, or contradicts what the store holds.
    """
    wanted = wanted or Wanted()
    suite = checked_suite_name(wanted.suite)
    outcome = ImportReport("surgcheck", ", ".join(placed.file.name for placed in files))
    read = _read(files, wanted, outcome, report)
    paired = [_pair(bundle, outcome) for bundle in read.bundles]
    questions = [one for one in paired if not one.bundle.holds_answers]
    answers = [one for one in paired if one.bundle.holds_answers]
    _check_one_suite(suite, questions, read.scenes)
    with store.write() as cursor:
        for scenes in read.scenes:
            report(f"writing questions about {scenes.file}", 0, None)
            put_scenes(cursor, scenes, suite, wanted.mode, outcome)
        for name, of_suite in _by_suite(questions, suite).items():
            report(f"writing suite {name}", 0, None)
            _put_questions(cursor, name, of_suite, outcome, extend=suite is not None)
        given = AnswerFinder(cursor, wanted.vlm, wanted.setting, suite, outcome)
        for done, one in enumerate(answers):
            report("matching answers to questions", done, len(answers))
            given.take(one)
        outcome.bad_lines.sort(key=lambda line: (line.file, line.number))
        if outcome.bad_lines and not wanted.lenient:
            raise BadLines(outcome.bad_lines, LENIENT_HINT)
        if not outcome.suites and not given.runs:
            if outcome.bad_lines:
                raise BadLines(outcome.bad_lines, "No line was good. data/README.md says what each line needs.")
            raise AppError(f"{outcome.source} holds nothing to import.", "data/README.md says what a file holds.")
        memo: Memo = {}
        for done, (key, of_run) in enumerate(given.runs.items()):
            report(f"scoring {key.vlm}", done, len(given.runs))
            outcome.runs.append(put_given(cursor, key, of_run, outcome, wanted.vlm_group, memo))
        report("scoring", len(given.runs), len(given.runs))
        n_pointed = point_pairs(cursor)
        if n_pointed:
            outcome.notes.append(f"Pairs that got the box they point at from scene graphs: {n_pointed:,}.")
        write_log(cursor, outcome)
    return outcome


def _read(files: Sequence[PlacedFile], wanted: Wanted, outcome: ImportReport, report: Report) -> _Read:
    read: list[tuple[FileRows, FileName, str]] = []
    scenes: list[ReadScenes] = []
    unused: list[AppError] = []
    has_unusable_file = False
    _check_named_once(files)
    for placed in files:
        name = read_name(placed.file.name, placed.folder)
        try:
            records = load_records(placed.file, report)
            first = next((record for record in records if not isinstance(record, BadLine)), None)
            if first is not None and is_scene_file(first.content):
                scenes.append(read_scenes(first.content, placed.file.name))
                continue
            rows = read_pair_rows(records, placed.file.name, name, wanted.columns, placed.variant)
            if not rows.rows:
                raise AppError(f"{placed.file.name} holds no row.", "Choose a file with at least one line.")
        except AppError as error:
            if not placed.optional:
                raise
            outcome.notes.append(f"Not used: {placed.file.name}. {error.message}")
            unused.append(error)
            continue
        bad = [row for row in rows.rows if isinstance(row, BadLine)]
        outcome.bad_lines.extend(bad)
        if bad and len(bad) == len(rows.rows):
            has_unusable_file = True  # without a good row nothing says what the file holds
        else:
            read.append((rows, name, placed.folder))
    if has_unusable_file and not wanted.lenient:
        raise BadLines(outcome.bad_lines, LENIENT_HINT)
    if unused and not (read or scenes or has_unusable_file):
        further = f" Further files that cannot be used: {len(unused) - 1:,}." if len(unused) > 1 else ""
        raise AppError(f"{unused[0].message}{further}", unused[0].hint)
    if wanted.vlm is not None and read and not any(rows.holds_answers for rows, *_ in read):
        raise AppError(
            f"{', '.join(rows.file for rows, *_ in read)} has no column of answers that is known, so there is nothing "
            f"that {wanted.vlm} said.",
            "Name it, for example with --map pred=COLUMN; for questions alone leave the VLM's name out.",
        )
    together = any(placed.variant is not None for placed in files)
    return _Read(bundles_of(read, wanted.vlm, together=together), scenes)


def _check_named_once(files: Sequence[PlacedFile]) -> None:
    paths = [placed.file.path.resolve() for placed in files]
    twice = next((placed.file.name for placed, path in zip(files, paths, strict=True) if paths.count(path) > 1), None)
    if twice is not None:
        raise AppError(f"{twice} is named twice.", "Name each file once: original and less-biased questions are two.")


def _pair(bundle: Bundle, outcome: ImportReport) -> PairedBundle:
    """Join a bundle's rows; pairs that are none are left out, and what stands out is noted."""
    original, less_biased = (bundle.rows.get(variant, []) for variant in (Variant.ORIGINAL, Variant.LESS_BIASED))
    rows = pair_rows(original, less_biased)
    called = " and ".join(bundle.files)
    if original and less_biased and not rows.by_line:
        outcome.notes.append(
            f"{called} do not agree line by line ({len(original):,} and {len(less_biased):,} rows): their rows were "
            "joined by image, task, cue, reference and order."
        )
    if look_swapped(rows.pairs):
        raise AppError(
            f"{called} look swapped: the less-biased texts name tools and hands that the original ones do not.",
            "Name them the other way round, with --original and --less-biased (on the Data page: in the other field).",
        )
    leaked = [pair for pair in rows.pairs if is_leaked(pair)]
    for pair in leaked:
        outcome.leave_out(BadLine(pair.original.number, LEAKED, pair.original.file))
    others = [row for row in original if isinstance(row, PairRow) and not _shows_its_frame(row)]
    if others:
        outcome.notes.append(
            f"Rows of {others[0].file} that ask about another picture than the frame they name: {len(others):,} "
            f"(lines {_listed([row.number for row in others])}). They are kept as they stand."
        )
    pairs = tuple(pair for pair in rows.pairs if not is_leaked(pair)) if leaked else rows.pairs
    return PairedBundle(bundle, PairedRows(pairs, rows.alone, rows.by_line))


def _shows_its_frame(row: PairRow) -> bool:
    shown = frame_of_picture(row.picture)
    return row.frame == shown or PurePosixPath(row.frame).stem.casefold() == PurePosixPath(shown).stem.casefold()


def _check_one_suite(suite: str | None, questions: Sequence[PairedBundle], scenes: Sequence[ReadScenes]) -> None:
    names = list(dict.fromkeys([one.bundle.suite for one in questions] + [one.name for one in scenes]))
    if suite is not None and len(names) > 1:
        raise AppError(
            f"These files hold the questions of {len(names)} suites: {', '.join(names)}.",
            "Leave --suite (on the Data page: 'suite') out, or import the files of one suite at a time.",
        )


def _by_suite(questions: Sequence[PairedBundle], suite: str | None) -> dict[str, list[PairedBundle]]:
    named: dict[str, list[PairedBundle]] = defaultdict(list)
    for one in questions:
        named[suite or one.bundle.suite].append(one)
    return named


def _put_questions(
    cursor: "duckdb.DuckDBPyConnection",
    suite: str,
    of_suite: Sequence[PairedBundle],
    outcome: ImportReport,
    *,
    extend: bool,
) -> None:
    for one in of_suite:
        if not {Variant.ORIGINAL, Variant.LESS_BIASED} <= one.bundle.rows.keys():
            raise AppError(
                f"{', '.join(one.bundle.files)} holds one half of the pairs.",
                "Name the file with the other half too: original and less-biased questions go in together.",
            )
        for row in one.rows.alone:
            outcome.leave_out(BadLine(row.number, NO_TWIN, row.file))
    put_bundles(cursor, suite, of_suite, outcome, RELEASE, extend=extend)


def _listed(numbers: Sequence[int]) -> str:
    rest = len(numbers) - _SHOWN
    return ", ".join(map(str, numbers[:_SHOWN])) + (f" and {rest:,} more" if rest > 0 else "")
