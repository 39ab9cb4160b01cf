"""The two looks of a verification: the saliency of the answer it is on, and that of the verifier's reply.

A computed verdict knows the run whose answer it is on (`run_bases`), so both looks can be found. Verdicts of imported
records have no reply and no such run in the store, and alike rows of one file (`place` above 0) no reply of their
own; so they have no looks. A look at an answer that was replaced since is none.
"""

__all__ = ["ANSWERED_IN", "BOTH_LOOKED", "LOOKS_OF", "PRESENT_LOOKS"]

from backend.domain.records import Stage

PRESENT_LOOKS = """
    SELECT s.run_id, s.probe_id, s.n_tokens, s.fraction, s.uniform_fraction, s.gradient_mean, s.error
    FROM saliency s JOIN answers a USING (run_id, probe_id, answer)
"""
"""The numbers of looks at answers that still stand. The maps are never read here: they are most of the table."""

ANSWERED_IN = f"""
    SELECT b.run_id, b.base_run_id FROM run_bases b JOIN runs r ON r.run_id = b.base_run_id
    WHERE r.stage IN ('{Stage.DIRECT}', '{Stage.LOOP}')
"""
"""Verifier's run → the run whose answers it judged; the other run a two-step verdict is made from is no answer."""

LOOKS_OF = f"""
    LEFT JOIN probes p ON p.unit_id = v.unit_id AND p.role = 'generate' AND v.place = 0
    LEFT JOIN ({ANSWERED_IN}) b ON b.run_id = v.run_id
    LEFT JOIN ({PRESENT_LOOKS}) g ON g.run_id = b.base_run_id AND g.probe_id = p.probe_id
    LEFT JOIN ({PRESENT_LOOKS}) w ON w.run_id = v.run_id AND w.probe_id = p.probe_id
"""
"""To join to ``VERIFICATIONS``: ``g`` is the look at the generator's answer, ``w`` that at the verifier's reply, all
NULL where nobody looked; ``b.base_run_id`` is the generator's run."""

BOTH_LOOKED = f"""
    v.place = 0 AND (v.run_id, v.unit_id) IN (
        SELECT (w.run_id, p.unit_id)
        FROM ({PRESENT_LOOKS}) w JOIN probes p ON p.probe_id = w.probe_id AND p.role = 'generate'
        JOIN ({ANSWERED_IN}) b ON b.run_id = w.run_id
        JOIN ({PRESENT_LOOKS}) g ON g.run_id = b.base_run_id AND g.probe_id = w.probe_id
        WHERE w.error = '' AND g.error = '')
"""
"""Condition on ``VERIFICATIONS``: both sides were looked into, and neither look failed."""
