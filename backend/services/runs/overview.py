"""All runs of a store, each with where it comes from, how much it covers, what failed, and how fast it went."""

__all__ = ["Coverage", "ErrorClass", "RunSummary", "Throughput", "run_overview"]

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from backend.domain.records import AnswerStatus
from backend.services.runs.error_classes import error_class
from backend.services.runs.record import RunRecord
from backend.services.runs.statuses import STATUSES
from backend.store.store import Store

MAX_EXAMPLES = 3
"""So many different errors of a class are shown."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of the probes of the run's suite, by the run's present scorer.

    A VeriMap run has no scorer: a verifier's probes are its verifications, read where they hold a verdict; a
    generator's those it was to ask.
    """

    n_probes: int
    n_read: int
    n_unparsed: int
    n_empty: int
    n_failed: int
    n_missing: int

    @property
    def n_answered(self) -> int:
        """Probes the VLM said something to."""
        return self.n_read + self.n_unparsed


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """Errors that differ only by a name or a number."""

    name: str
    n: int
    examples: tuple[str, ...]
    """Verbatim, each different, at most `MAX_EXAMPLES`."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """How fast a batch run went."""

    answers_per_second: float | None
    """Calls by their wall time; None where none was made."""
    median_seconds: float | None
    """Of an answered call, a batch's shared out; None where none was answered."""
    n_cut: int
    """Answers that the token limit ended."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run."""

    run_id: str
    system: str
    suite: str
    vlm: str
    vlm_group: str | None
    setting: str
    stage: str
    origin: str
    prompt_version: str
    decoding: str
    scorer: str
    scorer_version: str
    source: str
    created_at: datetime
    """When it came into the store."""
    coverage: Coverage
    errors: tuple[ErrorClass, ...]
    """The commonest first."""
    record: RunRecord | None
    """What its run folder said: build of the VLM, hash of the prompts, sessions; None for a run from elsewhere."""
    throughput: Throughput | None
    """None for a run from elsewhere."""


def run_overview(store: Store) -> list[RunSummary]:
    """Return all runs, those of a suite together, by VLM."""
    coverage, errors, throughput = _coverage(store), _errors(store), _throughput(store)
    records = {
        run_id: RunRecord.model_validate_json(record)
        for run_id, record in store.rows("SELECT run_id, record FROM run_facts")
    }
    runs = store.rows(
        "SELECT run_id, system, suite, vlm, vlm_group, setting, stage, origin, prompt_version, decoding, scorer, "
        "scorer_version, source, created_at FROM runs ORDER BY system, suite, lower(vlm), stage, setting, run_id"
    )
    none = Coverage(0, 0, 0, 0, 0, 0)
    summaries = []
    for run in runs:
        run_id = run[0]
        record = records.get(run_id)
        seconds, n_cut = throughput.get(run_id, (None, 0))
        fast = Throughput(record.answers_per_second, seconds, n_cut) if record else None
        facts = run, (coverage.get(run_id, none), errors.get(run_id, ()), record, fast)
        summaries.append(RunSummary(*chain.from_iterable(facts)))
    return summaries


def _coverage(store: Store) -> dict[str, Coverage]:
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for run_id, status, n in store.rows(f"SELECT run_id, status, count(*) FROM ({STATUSES}) GROUP BY ALL"):
        counts[run_id][status] = n
    for run_id, n_planned in store.rows(_PLANNED):
        missing = n_planned - sum(counts[run_id].values())
        if missing > 0:
            counts[run_id][AnswerStatus.MISSING] = missing
    order = (
        AnswerStatus.READ,
        AnswerStatus.UNPARSED,
        AnswerStatus.EMPTY,
        AnswerStatus.FAILED,
        AnswerStatus.MISSING,
    )
    return {
        run_id: Coverage(sum(of_run.values()), *(of_run.get(status, 0) for status in order))
        for run_id, of_run in counts.items()
    }


_PLANNED = """
    SELECT f.run_id, json_extract(f.record, '$.counts.planned')::BIGINT
    FROM run_facts f JOIN runs r USING (run_id) WHERE r.system = 'verimap'
"""
"""Probes that a VeriMap run was to ask."""


def _errors(store: Store) -> dict[str, tuple[ErrorClass, ...]]:
    by_class: dict[str, dict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
    rows = store.rows(
        "SELECT run_id, error, count(*) AS n FROM answers WHERE error <> '' GROUP BY ALL ORDER BY n DESC, error"
    )
    for run_id, error, n in rows:
        by_class[run_id][error_class(error)].append((error, n))
    return {
        run_id: tuple(
            sorted(
                (
                    ErrorClass(name, sum(n for _, n in errors), tuple(error for error, _ in errors[:MAX_EXAMPLES]))
                    for name, errors in classes.items()
                ),
                key=lambda found: (-found.n, found.name),
            )
        )
        for run_id, classes in by_class.items()
    }


def _throughput(store: Store) -> dict[str, tuple[float | None, int]]:
    """Return the median seconds of answered calls, and how many were cut, by run."""
    rows = store.rows(
        "SELECT c.run_id, median(c.seconds) FILTER (a.error = ''), count(*) FILTER (c.was_cut) "
        "FROM calls c JOIN answers a USING (run_id, probe_id) GROUP BY ALL"
    )
    return {run_id: (seconds, n_cut) for run_id, seconds, n_cut in rows}
