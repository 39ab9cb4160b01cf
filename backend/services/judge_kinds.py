"""What judging the answers of a system comes to: what is asked about an answer, and where a judge's word goes."""

__all__ = ["Fetch", "JudgeKind", "ToJudge", "Written"]

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.services.runs.direct_answers import Said
from backend.vlm.judge import Rubric

if TYPE_CHECKING:
    import duckdb

Fetch = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Runs a query with its parameters."""


class ToJudge(NamedTuple):
    """One answer that a run holds."""

    probe_id: str
    unit_id: str
    prompt: str
    """What a judge is asked about it."""
    is_settled: bool = False
    """Whether no judge is needed any more."""


class Written(NamedTuple):
    """What became of a judge's replies."""

    n_changed: int
    """Words that are new, or other than before."""
    n_unread: int
    """Replies that say nothing that could be read."""


class JudgeKind(NamedTuple):
    """How one system's answers are judged."""

    version: str
    templates: Mapping[str, str]
    """Every wording of that version."""
    rubric: Rubric
    answers: Callable[[Fetch, str], list[ToJudge]]
    """From a run's id: all its answers that say something, in order."""
    put: "Callable[[duckdb.DuckDBPyConnection, str, str, Mapping[str, Said]], Written]"
    """Writes a judge's replies by probe into the caller's transaction: to a run, under the judge's label."""
