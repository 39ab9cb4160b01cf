"""The headlines of SurgCheck and VeriMap: where the words did the looking most, and what verifiers let through.

The siblings of `backend.services.headlines`, under the same rule: of each suite one run, never pooled, over enough
of its questions. Blind baselines are no VLMs and have none, and no more have live questions.
"""

__all__ = ["FalseAcceptance", "WidestDrop", "false_acceptances", "widest_drops"]

from typing import NamedTuple

from backend.domain.metric import Estimate
from backend.domain.records import LIVE_PAIRS, Stage, System
from backend.domain.statistics.intervals import wilson_interval
from backend.services.endoca_series import BLIND, MOST_UNANSWERED, records
from backend.services.headlines import FEWEST_UNITS
from backend.services.surgcheck_answers import answer_table
from backend.services.surgcheck_series import drop_table, score_table
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.verifier import Verdict


class WidestDrop(NamedTuple):
    """The run of one suite of pairs that loses most without the names."""

    suite: str
    run_id: str
    label: str
    vlm: str
    vlm_group: str | None
    origin: str
    original: float
    """Accuracy by exact match with original questions, in [0, 1]."""
    less_biased: float
    low: float | None
    """Lower 95 % bound of the drop original − less_biased, frames resampled; None where that cannot vary."""
    high: float | None
    n_pairs: int


_PAIRED = f"""
    SELECT r.suite, o.run_id, count(*) FILTER (o.correct) - count(*) FILTER (l.correct) AS lost
    FROM scores o JOIN scores l USING (run_id, unit_id, scorer, scorer_version)
    JOIN runs r USING (run_id, scorer, scorer_version)
    WHERE r.system = '{System.SURGCHECK}' AND r.stage = '{Stage.DIRECT}' AND r.suite <> '{LIVE_PAIRS}'
      AND coalesce(r.vlm_group, '') <> '{BLIND}' AND o.role = 'original' AND l.role = 'less_biased'
    GROUP BY r.suite, o.run_id
    HAVING count(*) >= $fewest
       AND count(*) FILTER (o.status IN ('missing', 'failed') OR l.status IN ('missing', 'failed'))
           <= $unanswered * count(*)
    QUALIFY row_number() OVER (PARTITION BY r.suite ORDER BY lost / count(*) DESC, o.run_id) = 1
    ORDER BY r.suite
"""


def widest_drops(store: Store) -> list[WidestDrop]:
    """Return of each suite of pairs the run whose accuracy drops most from original to less-biased questions."""
    found = []
    for suite, run_id, _ in store.rows(_PAIRED, {"fewest": FEWEST_UNITS, "unanswered": MOST_UNANSWERED}):
        answers = answer_table(store, PairFilter(suite=suite, runs=(run_id,)))
        [row] = records(drop_table(score_table(store, answers)))
        found.append(
            WidestDrop(
                suite=suite,
                run_id=run_id,
                label=row["label"],
                vlm=row["vlm"],
                vlm_group=row["vlm_group"],
                origin=row["origin"],
                original=row["original"],
                less_biased=row["less_biased"],
                low=row["gap_low"],
                high=row["gap_high"],
                n_pairs=row["n_pairs"],
            )
        )
    return found


class FalseAcceptance(NamedTuple):
    """The verifier of one data set that accepts most of its own wrong answers."""

    suite: str
    run_id: str
    vlm: str
    vlm_group: str | None
    origin: str
    accepted: Estimate
    """Of its own wrong first answers those it accepts (FPR), with counts and Wilson interval."""
    error: Estimate
    """Verdicts that part from the truth, likewise."""


_VERIFIED = f"""
    SELECT v.suite, v.run_id, v.verifier, r.vlm_group, r.origin,
           count(*) FILTER (NOT v.oracle_correct) AS n_wrong,
           count(*) FILTER (NOT v.oracle_correct AND v.verdict = '{Verdict.CORRECT}') AS n_accepted,
           count(*) AS n, count(*) FILTER (v.oracle_correct <> (v.verdict = '{Verdict.CORRECT}')) AS n_errors
    FROM verifications v JOIN runs r USING (run_id)
    WHERE v.condition = '{Condition.PLAIN}' AND v.turn = 0 AND v.generator = v.verifier
      AND v.oracle_correct IS NOT NULL AND v.verdict IS NOT NULL AND coalesce(r.vlm_group, '') <> '{BLIND}'
    GROUP BY v.suite, v.run_id, v.verifier, r.vlm_group, r.origin HAVING n >= $fewest AND n_wrong > 0
    QUALIFY row_number() OVER (PARTITION BY v.suite ORDER BY n_accepted / n_wrong DESC, v.run_id) = 1
    ORDER BY v.suite
"""
"""UNCERTAIN is not accepted, and a reply without a verdict is left out: the paper's policy."""


def false_acceptances(store: Store) -> list[FalseAcceptance]:
    """Return of each data set the verifier that accepts the largest share of its own wrong first answers."""
    return [
        FalseAcceptance(suite, run_id, vlm, group, origin, _share(accepted, wrong), _share(errors, n))
        for suite, run_id, vlm, group, origin, wrong, accepted, n, errors in store.rows(
            _VERIFIED, {"fewest": FEWEST_UNITS}
        )
    ]


def _share(k: int, n: int) -> Estimate:
    interval = wilson_interval(k / n, n)
    if interval is None:
        return Estimate(k / n, None, None, k, n)
    return Estimate(k / n, interval.low, interval.high, k, n, interval.method)
