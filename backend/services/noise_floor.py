"""The noise floor: how far a direct run differs from one that should say the same.

A VLM decoded again, or in batches of another composition, does not always repeat itself, though
decoding is greedy. What reconciliation changes has to be seen against that.
"""

__all__ = ["NoiseFloor", "noise_floor"]

from dataclasses import replace
from typing import NamedTuple

from backend.domain.metric import Estimate
from backend.domain.statistics.paired_tests import PairedComparison, compare_paired
from backend.domain.statistics.ratio_table import RatioMetric, estimate_of, ratio_table
from backend.services.endoca_series import of_questions
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.store import Store


class NoiseFloor(NamedTuple):
    """Two direct runs that should say the same: one VLM, suite and prompt version, decoded twice."""

    first: str
    second: str
    """Run ids."""
    result: PairedComparison
    """The complex answers, over units that both runs answered."""
    differing: Estimate
    """Share of units that one run has right and the other wrong, whole images resampled."""
    n_other_words: int
    """Units whose complex answer is not the same, word for word."""


def noise_floor(store: Store, base: str, chosen: UnitFilter) -> list[NoiseFloor]:
    """Return how far a direct run differs from each other run of the same VLM, suite and prompt version.

    What differs here is not reconciliation's doing: another decoding, setting or batch
    composition. Units that one of the two runs lacks an answer to are left out.

    Args:
        store: The store.
        base: A direct run's id.
        chosen: Which units; its own choice of runs is put aside.
    """
    others = store.rows(
        "SELECT x.run_id FROM runs x JOIN runs b ON b.run_id = $base WHERE x.run_id <> b.run_id "
        "AND x.system = b.system AND x.suite = b.suite AND x.vlm = b.vlm AND x.stage = b.stage "
        "AND x.prompt_version = b.prompt_version ORDER BY x.run_id",
        {"base": base},
    )
    floors = (_noise(store, base, other, of_questions(chosen)) for (other,) in others)
    return [floor for floor in floors if floor is not None]


_DIFFERING = RatioMetric(
    key="differing", label="Differing", term="noise floor", plain="units right in one run alone",
    formula="units that one run has right and the other wrong / units that both answered",
    higher_is_better=False, undefined_when="no unit is answered by both", numerator="n_differing", denominator="n_both",
)  # fmt: skip


def _noise(store: Store, base: str, other: str, questions: UnitFilter) -> NoiseFloor | None:
    """Return how two runs differ; None where no chosen unit is answered by both."""
    import pandas as pd

    units = queries.unit_outcomes(store, replace(questions, runs=(base,), groups=(), origins=()))
    rows = store.rows(
        """
        WITH said AS (
            SELECT s.*, a.answer FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
            JOIN answers a ON a.run_id = s.run_id AND a.probe_id = s.probe_id
            WHERE s.role = 'complex' AND s.status <> 'failed'
        )
        SELECT x.unit_id, x.image_id, x.correct, y.correct, x.answer <> y.answer
        FROM said x JOIN said y USING (probe_id)
        WHERE x.run_id = $base AND y.run_id = $other ORDER BY x.unit_id
        """,
        {"base": base, "other": other},
    )
    both = pd.DataFrame(rows, columns=["unit_id", "image_id", "first", "second", "other_words"])
    both = both[both["unit_id"].isin(units["unit_id"])]
    if both.empty:
        return None
    first, second = both["first"].to_numpy(dtype=bool), both["second"].to_numpy(dtype=bool)
    sums = both[["image_id"]].assign(n_differing=(first != second).astype(int), n_both=1)
    [share] = ratio_table(sums, [], [_DIFFERING]).to_dict("records")
    return NoiseFloor(
        base,
        other,
        compare_paired(first, second, both["image_id"].to_numpy(dtype=str)),
        estimate_of({str(key): value for key, value in share.items()}, "differing"),
        int(both["other_words"].sum()),
    )
