"""What became of each question of each run: in scores, or with VeriMap in verdicts and answers."""

__all__ = ["STATUSES"]

STATUSES = r"""
    SELECT s.run_id, s.probe_id, s.unit_id, s.status
    FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
    UNION ALL
    SELECT v.run_id, p.probe_id, v.unit_id, v.status FROM verifications v JOIN probes p USING (unit_id)
    UNION ALL
    SELECT a.run_id, a.probe_id, p.unit_id,
           CASE WHEN a.error <> '' THEN 'failed'
                WHEN regexp_matches(a.answer, '[\p{L}\p{N}]') THEN 'read' ELSE 'empty' END
    FROM answers a JOIN runs r USING (run_id) JOIN probes p USING (probe_id)
    WHERE r.system = 'verimap' AND r.stage <> 'verify'
"""
"""SQL: run_id, probe_id, unit_id and status (an `AnswerStatus`), by each run's present scorer."""
