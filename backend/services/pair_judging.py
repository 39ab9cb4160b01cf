"""Judging answers to SurgCheck's pairs: a score from 1 to 5 by the rubric, without the image."""

__all__ = ["PAIRS"]

from collections.abc import Mapping
from typing import TYPE_CHECKING

from backend.services.ingest.judgements import Judged, put_judgements
from backend.services.judge_kinds import Fetch, JudgeKind, ToJudge, Written
from backend.services.runs.direct_answers import Said
from backend.surgcheck.judge_rubric import RUBRIC_VERSION, TEMPLATES, again_prompt, read_judgement, rubric_prompt
from backend.vlm.judge import Rubric

if TYPE_CHECKING:
    import duckdb

_ANSWERS = """
    SELECT s.probe_id, s.unit_id, q.question, q.reference, json_extract_string(s.parts, '$[0].parsed') AS text
    FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
    JOIN units u USING (unit_id) JOIN probes q ON q.probe_id = s.probe_id
    WHERE s.run_id = ? AND s.status IN ('read', 'empty')
    ORDER BY try_cast(u.source_id AS BIGINT), u.source_id, s.role DESC
"""
"""What can be judged, the original before the less-biased answer; what is missing or failed says nothing."""


def _answers(fetch: Fetch, run_id: str) -> list[ToJudge]:
    return [
        ToJudge(probe_id, unit_id, rubric_prompt(question, reference, text or ""))
        for probe_id, unit_id, question, reference, text in fetch(_ANSWERS, [run_id])
    ]


def _put(cursor: "duckdb.DuckDBPyConnection", run_id: str, label: str, replies: Mapping[str, Said]) -> Written:
    judged = {probe_id: _judged(label, *said) for probe_id, said in replies.items()}
    n_unread = sum(one.score is None and not replies[probe_id].error for probe_id, one in judged.items())
    return Written(put_judgements(cursor, run_id, judged), n_unread)


def _judged(label: str, reply: str, error: str) -> Judged:
    if error:
        return Judged(label, None, "", error)
    judgement = read_judgement(reply)
    if judgement is None:
        return Judged(
            label, None, "", f"no score from 1 to 5 in the reply: {reply[:200]}" if reply else "an empty reply"
        )
    return Judged(label, judgement.score, judgement.reason, "")


PAIRS = JudgeKind(
    RUBRIC_VERSION,
    TEMPLATES,
    Rubric(lambda reply: read_judgement(reply) is not None, again_prompt),
    _answers,
    _put,
)
"""How SurgCheck's answers are judged."""
