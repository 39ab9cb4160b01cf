"""Judging the answers of VeriMap's generators: right or wrong by the reference, without the image.

A judge is asked about what deterministic matching could not tell; what it told stands.
"""

__all__ = ["ORACLE"]

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from backend.domain.records import Stage
from backend.errors import AppError
from backend.services.judge_kinds import Fetch, JudgeKind, ToJudge, Written
from backend.services.oracle import MATCHING, OracleWord, put_oracle_words, refresh_verifications
from backend.services.runs.direct_answers import Said
from backend.services.runs.plan import shown_question
from backend.services.runs.verification_plan import answer_of
from backend.verimap.oracle_prompt import ORACLE_VERSION, TEMPLATES, again_prompt, oracle_prompt, read_oracle
from backend.verimap.setups import OptionsShown
from backend.vlm.judge import Rubric

if TYPE_CHECKING:
    import duckdb

_ANSWERS = f"""
    SELECT a.probe_id, p.unit_id, r.stage, a.answer, p.question, p.reference, e.reference_letter, e.options,
           json_extract_string(f.record, '$.setup.options'),
           EXISTS (FROM oracle_judgements o WHERE o.run_id = a.run_id AND o.probe_id = a.probe_id
                   AND o.oracle = '{MATCHING}' AND o.correct IS NOT NULL)
    FROM answers a JOIN runs r USING (run_id) LEFT JOIN run_facts f USING (run_id)
    JOIN probes p ON p.probe_id = a.probe_id JOIN units u ON u.unit_id = p.unit_id
    JOIN examples e ON e.unit_id = p.unit_id
    WHERE a.run_id = ? AND a.error = '' AND p.reference <> ''
    ORDER BY try_cast(u.source_id AS BIGINT), u.source_id
"""
"""Answers with a reference; what is missing or failed says nothing."""


def _answers(fetch: Fetch, run_id: str) -> list[ToJudge]:
    [(stage,)] = fetch("SELECT stage FROM runs WHERE run_id = ?", [run_id])
    if stage not in (Stage.DIRECT, Stage.LOOP):
        raise AppError(
            f"The run {run_id} is of stage {stage}; judged are a generator's answers.",
            "Name the run whose answers it is made from.",
        )
    return [_to_judge(*row) for row in fetch(_ANSWERS, [run_id])]


def _to_judge(
    probe_id: str,
    unit_id: str,
    stage: str,
    reply: str,
    question: str,
    reference: str,
    letter: str,
    choices: str,
    options: str | None,
    is_settled: bool,
) -> ToJudge:
    shown = OptionsShown(options) if options else None
    asked = shown_question(question, choices, shown)
    expected = f"{letter}: {reference}" if shown is OptionsShown.SHOWN and json.loads(choices) else reference
    return ToJudge(probe_id, unit_id, oracle_prompt(asked, expected, answer_of(stage, reply)), is_settled)


def _put(cursor: "duckdb.DuckDBPyConnection", run_id: str, label: str, replies: Mapping[str, Said]) -> Written:
    words = {probe_id: _word(*said) for probe_id, said in replies.items()}
    n_unread = sum(word.correct is None and not replies[probe_id].error for probe_id, word in words.items())
    n_changed = put_oracle_words(cursor, run_id, label, words)
    refresh_verifications(cursor, run_id)
    return Written(n_changed, n_unread)


def _word(reply: str, error: str) -> OracleWord:
    if error:
        return OracleWord(None, "", error)
    verdict = read_oracle(reply)
    if verdict is None:
        return OracleWord(None, "", f"no verdict in the reply: {reply[:200]}" if reply else "an empty reply")
    return OracleWord(verdict.correct, verdict.reason, "")


ORACLE = JudgeKind(
    ORACLE_VERSION,
    TEMPLATES,
    Rubric(lambda reply: read_oracle(reply) is not None, again_prompt),
    _answers,
    _put,
)
"""How the answers of VeriMap's generators are judged."""
