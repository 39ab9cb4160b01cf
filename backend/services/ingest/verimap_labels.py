"""Task labels of VeriMap's questions into the store: one file's, the vote of several annotators, or rules' proposals.

A label says how it came to be. Rules only propose, so they label nothing that has a label already; files and votes
take the place of what was there.
"""

__all__ = ["RULES", "GivenLabels", "LabelFiles", "put_labels", "read_label_files"]

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.metric import percent
from backend.domain.progress import Report
from backend.errors import AppError, BadLine
from backend.services.ingest.files import SourceFile
from backend.services.ingest.objects import Record, load_objects
from backend.services.ingest.report import ImportReport, LabelReport
from backend.services.ingest.verimap_suites import SuiteExample, stored_examples
from backend.store.arrow import arrow_table
from backend.verimap.task_labels import (
    Agreement,
    Checked,
    Labels,
    VoteKind,
    agreement,
    check_labels,
    confusion,
    read_labels,
    vote_all,
)
from backend.verimap.task_rules import propose_task
from backend.verimap.vocabulary import Task

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

FILE, VOTE, RULES = "file", "vote", "rules"
"""How a label came to be, as the store says it."""

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class LabelFiles:
    """Where the labels come from: files, of one annotator or of several who vote, or the rules."""

    files: tuple[SourceFile, ...] = ()
    rules: bool = False
    """Tasks are proposed from the questions' words; then there are no files."""
    checked: SourceFile | None = None
    """Labels that a person gave to some of the questions, to compare with; they label nothing."""


class GivenLabels(NamedTuple):
    """Label files, read."""

    annotators: tuple[Labels, ...]
    """Empty: the rules propose."""
    by_hand: Mapping[str, Task] | None


def read_label_files(labels: LabelFiles, outcome: ImportReport, report: Report) -> GivenLabels:
    """Return what the files say; lines that cannot be used go to the report.

    Raises:
        AppError: A file cannot be read at all, or is named twice, or there are files beside the rules, or neither.
    """
    if labels.rules == bool(labels.files):
        raise AppError(
            "Labels come from files or from the rules, from one of the two.",
            "Name one file, the files of several annotators, or: --labels rules",
        )
    paths = [file.path.resolve() for file in labels.files]
    if twice := [file.name for place, file in enumerate(labels.files) if paths[place] in paths[:place]]:
        raise AppError(f"{twice[0]} is named twice.", "An annotator has one vote: name each file once.")
    annotators = tuple(
        _read(file, _name(file, labels.files), outcome, report) for file in labels.files
    )  # fmt: skip
    if labels.checked is None:
        return GivenLabels(annotators, None)
    by_hand = _read(labels.checked, labels.checked.name, outcome, report)
    valid = {source_id: task for source_id, task in by_hand.by_id.items() if task is not None}
    if not valid:
        raise AppError(f"{labels.checked.name} holds no label of a known task.", f"The tasks are {', '.join(Task)}.")
    return GivenLabels(annotators, valid)


def put_labels(
    cursor: "duckdb.DuckDBPyConnection", suite: str, given: GivenLabels, outcome: ImportReport
) -> LabelReport:
    """Label the questions of a suite, inside the caller's transaction, and say in the report what became of them.

    A question on which no annotator gave a valid label keeps the label it has.

    Args:
        cursor: The caller's write transaction.
        suite: The suite, which is there.
        given: From `read_label_files`.
        outcome: The import's report.
    """
    held = stored_examples(cursor, suite)
    kinds: dict[str, int] = {}
    agreed: Agreement | None = None
    if not given.annotators:
        how = RULES
        proposed, kinds = _proposals(held)
    elif len(given.annotators) == 1:
        how = FILE
        proposed = dict(given.annotators[0].by_id)
    else:
        how = VOTE
        votes = vote_all(given.annotators)
        proposed = {source_id: found.task for source_id, found in votes.items()}
        agreed = agreement(given.annotators)
        kinds = {str(kind): n for kind, n in agreed.kinds.items()}
    labelled = {source_id: task for source_id, task in proposed.items() if task is not None and source_id in held}
    news = {
        source_id: task
        for source_id, task in labelled.items()
        if (held[source_id].task, held[source_id].labelled_by) != (task, how)
    }
    _write(cursor, suite, news, how)
    now = {source_id: labelled.get(source_id, example.task) for source_id, example in held.items()}
    checked = check_labels(now, given.by_hand) if given.by_hand is not None else None
    made = LabelReport(
        suite=suite,
        how=how,
        n_questions=len(held),
        n_labelled=sum(task is not None for task in now.values()),
        n_changed=len(news),
        n_unknown=sum(source_id not in held for source_id in proposed),
        kinds=kinds,
        pairs=[_pair(pair) for pair in agreed.pairs] if agreed else [],
        confusion=[cell for a, b in combinations(given.annotators, 2) for cell in _confused(a, b)],
        checked=_checked(checked) if checked else None,
    )
    outcome.notes.extend(_sentences(made, given.annotators, checked))
    return made


def _name(file: SourceFile, files: tuple[SourceFile, ...]) -> str:
    """Return what to call an annotator: the file's name, told apart where two are the same."""
    same = [other for other in files if other.name == file.name]
    return file.name if len(same) == 1 else f"{file.name} ({same.index(file) + 1})"


def _read(file: SourceFile, name: str, outcome: ImportReport, report: Report) -> Labels:
    records = load_objects(file, report, lambda content: not any(isinstance(one, list) for one in content.values()))
    bad = [record for record in records if isinstance(record, BadLine)]
    found = read_labels(name, [(record.number, record.content) for record in records if isinstance(record, Record)])
    outcome.bad_lines.extend((*bad, *(BadLine(line.number, line.reason, file.name) for line in found.bad_lines)))
    return found


def _proposals(held: Mapping[str, SuiteExample]) -> tuple[dict[str, Task | None], dict[str, int]]:
    """Return the rules' labels of questions that have none but a proposal, and how often each rule spoke."""
    proposed: dict[str, Task | None] = {}
    rules: Counter[str] = Counter()
    for source_id, example in held.items():
        if example.task is not None and example.labelled_by != RULES:
            continue
        found = propose_task(example.question)
        proposed[source_id] = found.task if found else None
        if found:
            rules[found.rule] += 1
    return proposed, dict(rules.most_common())


def _write(cursor: "duckdb.DuckDBPyConnection", suite: str, news: Mapping[str, Task], how: str) -> None:
    if not news:
        return
    cursor.register("labelled", arrow_table({"source_id": list(news), "task": list(news.values())}))
    cursor.execute(
        "UPDATE examples SET task = n.task, labelled_by = ? FROM labelled n JOIN units u ON u.source_id = n.source_id "
        "WHERE u.suite = ? AND examples.unit_id = u.unit_id",
        [how, suite],
    )
    cursor.unregister("labelled")


def _pair(pair: Any) -> dict[str, Any]:
    return {name: getattr(pair, name) for name in ("a", "b", "n", "k", "share", "kappa")}


def _confused(a: Labels, b: Labels) -> Iterator[dict[str, Any]]:
    names = {"a": a.annotator, "b": b.annotator}
    yield from ({**names, **cell} for cell in _cells(confusion(a.by_id, b.by_id), "task_a", "task_b"))


def _cells(table: "pd.DataFrame", row: str, column: str) -> Iterator[dict[str, Any]]:
    for one, counts in zip(table.index, table.to_numpy().tolist(), strict=True):
        yield from ({row: one, column: two, "n": n} for two, n in zip(table.columns, counts, strict=True) if n)


def _checked(checked: Checked) -> dict[str, Any]:
    interval = checked.interval
    return {
        "n": checked.n,
        "k": checked.k,
        "share": checked.share,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n_absent": checked.n_absent,
        "confusion": list(_cells(checked.table, "by_hand", "labelled")),
    }


_KINDS = {
    VoteKind.UNANIMOUS: "all annotators agree",
    VoteKind.MAJORITY: "a majority",
    VoteKind.ALPHABETICAL: "no majority, first by alphabet",
    VoteKind.NONE: "no valid label",
}


def _sentences(made: LabelReport, annotators: tuple[Labels, ...], checked: Checked | None) -> Iterator[str]:
    """Say what became of the labels, for people."""
    yield (
        f"Questions of {made.suite} with a task: {made.n_labelled:,} of {made.n_questions:,} "
        f"({made.n_changed:,} new or changed)."
    )
    if made.how == VOTE:
        yield f"The vote: {'; '.join(f'{words} {made.kinds[kind]:,}' for kind, words in _KINDS.items())}."
    elif made.how == RULES:
        yield f"Proposed by rules: {'; '.join(f'{rule} {n:,}' for rule, n in made.kinds.items()) or 'none'}."
    for labels in annotators:
        if labels.n_invalid:
            yield f"Labels of {labels.annotator} that are none of the seven tasks: {labels.n_invalid:,}."
    for pair in made.pairs:
        kappa = "undefined" if pair["kappa"] is None else f"{pair['kappa']:.2f}"
        yield (
            f"{pair['a']} and {pair['b']} agree on {pair['k']:,} of {pair['n']:,} questions "
            f"({percent(pair['share'])}); kappa {kappa}."
        )
        apart = [
            cell
            for cell in made.confusion
            if (cell["a"], cell["b"]) == (pair["a"], pair["b"]) and cell["task_a"] != cell["task_b"]
        ]
        if apart:
            worst = sorted(apart, key=lambda cell: -cell["n"])[:_SHOWN]
            told = "; ".join(f"{Task(c['task_a']).label} – {Task(c['task_b']).label} {c['n']:,}" for c in worst)
            yield f"Where {pair['a']} and {pair['b']} differ most: {told}."
    if checked:
        yield (
            f"Against labels by hand: {checked.k:,} of {checked.n:,} agree ({percent(checked.share)}); "
            f"labelled by hand alone: {checked.n_absent:,}."
        )
    if made.n_unknown:
        yield f"Ids with a label that {made.suite} does not hold: {made.n_unknown:,}."
