"""Which stored question a prediction line answers, and which suite lines make that answer none.

A line finds its probe by ``probe_id`` and question. Lines that match nothing name the suite they
make: files of one command that share a sample speak of one suite.
"""

__all__ = ["StoredProbe", "StoredProbes", "match_probe", "stored_probes", "suites_to_make"]

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.records import LIVE_SUITE, Origin, System
from backend.endoca.paired_units import NumberedLine
from backend.errors import AppError

if TYPE_CHECKING:
    import duckdb


class StoredProbe(NamedTuple):
    """One question in the store."""

    suite: str
    question: str
    probe_id: str
    reference: str


class StoredProbes(NamedTuple):
    """All EndoCA questions in the store, and who answers them."""

    probes: dict[str, list[StoredProbe]]
    """By the id they have in their file."""
    answering: set[tuple[str, str]]
    """VLM and suite of every imported run."""


def stored_probes(cursor: "duckdb.DuckDBPyConnection") -> StoredProbes:
    """Return what the store holds, as the caller's transaction sees it, but for the suite of live questions."""
    rows = cursor.execute(
        "SELECT p.source_id, p.suite, p.question, p.probe_id, p.reference FROM probes p "
        "JOIN suites s ON s.suite = p.suite WHERE s.system = ? AND s.suite <> ?",
        [System.ENDOCA, LIVE_SUITE],
    ).fetchall()
    probes: dict[str, list[StoredProbe]] = defaultdict(list)
    for source_id, *rest in rows:
        probes[source_id].append(StoredProbe(*rest))
    runs = cursor.execute("SELECT vlm, suite FROM runs WHERE origin = ?", [Origin.IMPORTED]).fetchall()
    return StoredProbes(probes, set(runs))


def match_probe(numbered: NumberedLine, stored: StoredProbes, suite: str | None) -> StoredProbe | None:
    """Return the stored probe a line answers: same id, same question where it carries one, and the suite asked for.

    Of several suites that hold the probe, the one counts in which the VLM has answers already,
    so that a file finds its way back.

    Raises:
        AppError: There are several, and nothing says which is meant.
    """
    line = numbered.line
    candidates = [
        probe
        for probe in stored.probes.get(line.probe_id, ())
        if (not line.question or line.question == probe.question) and (suite is None or probe.suite == suite)
    ]
    if len(candidates) > 1:
        own = [probe for probe in candidates if (line.model_id, probe.suite) in stored.answering]
        candidates = own if len(own) == 1 else candidates
    if len(candidates) > 1:
        names = ", ".join(sorted(probe.suite for probe in candidates))
        raise AppError(
            f"{numbered.file}, line {numbered.number}: probe {line.probe_id} is in several suites ({names}).",
            "Say which one is meant with --suite (on the Data page: 'suite').",
        )
    return candidates[0] if candidates else None


def suites_to_make(predictions: Sequence[tuple[str, NumberedLine]], unmatched: Sequence[int]) -> dict[int, str]:
    """Name the suite of each line that matches no stored one.

    Files that share a sample (its id and its image) speak of one suite, named after the first
    of them: several VLMs' files of one command, or one VLM's answers in several files.

    Args:
        predictions: Lines with the suite that their file or the user names.
        unmatched: Places in ``predictions`` of the lines that match no stored probe.
    """
    suite_of_sample: dict[tuple[str, str | None], str] = {}
    suite_of_file: dict[str, str] = {}
    for at in unmatched:
        name, (_, line, file) = predictions[at]
        sample = (line.unit_source_id, line.img_id or line.image)
        suite = suite_of_file.setdefault(file, suite_of_sample.get(sample, name))
        suite_of_sample.setdefault(sample, suite)
    return {at: suite_of_file[predictions[at][1].file] for at in unmatched}
