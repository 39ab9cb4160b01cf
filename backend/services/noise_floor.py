"""The noise floor: how far a direct run differs from one that should say the same.

A VLM decoded again, or in batches of another composition, does not always repeat itself, though
decoding is greedy. What reconciliation changes has to be seen against that. So only a run of the
same VLM, asked in the same words under the same setting, is its decoding again: another setting
(fine-tuned beside zero-shot), token limit or build of the weights is another experiment. A store
keeps two such runs apart by a setting that ends in `AGAIN`.
"""

__all__ = ["AGAIN", "NoiseFloor", "again_setting", "noise_floor"]

from dataclasses import replace
from typing import NamedTuple

from backend.domain.metric import Estimate
from backend.domain.statistics.paired_tests import PairedComparison, compare_paired
from backend.domain.statistics.ratio_table import RatioMetric, estimate_of, ratio_table
from backend.services.endoca_series import of_questions
from backend.services.runs.record import RunRecord
from backend.store import queries
from backend.store.filters import UnitFilter
from backend.store.store import Store

AGAIN = "again"
"""Last word of a setting under which a VLM is asked again just as before; what stands before it is the setting."""


class NoiseFloor(NamedTuple):
    """Two direct runs that should say the same: one VLM, suite, prompt version and setting, decoded twice."""

    first: str
    second: str
    """Run ids."""
    result: PairedComparison
    """The complex answers, over units that both runs answered."""
    differing: Estimate
    """Share of units that one run has right and the other wrong, whole images resampled."""
    n_other_words: int
    """Units whose complex answer is not the same, word for word."""


def again_setting(setting: str) -> str:
    """Return the setting under which a run of ``setting`` is decoded again: ``zero-shot again``."""
    return f"{_plain_setting(setting)} {AGAIN}".strip()


def noise_floor(store: Store, base: str, chosen: UnitFilter) -> list[NoiseFloor]:
    """Return how far a direct run differs from each other run that decodes the same again.

    That is a run of the same VLM, suite, prompt version, decoding and setting, an `AGAIN` at its end put
    aside; where the build of the VLM is known of both runs, of the same build. What differs between the
    two is then neither reconciliation's doing nor another experiment's: they were decoded at another
    time, on another machine, or in batches of another composition. Units that one of the two lacks an
    answer to are left out.

    Args:
        store: The store.
        base: A direct run's id.
        chosen: Which units; its own choice of runs is put aside.
    """
    rows = store.rows(
        "SELECT x.run_id, x.setting, f.record FROM runs x JOIN runs b ON b.run_id = $base "
        "LEFT JOIN run_facts f ON f.run_id = x.run_id "
        "WHERE x.system = b.system AND x.suite = b.suite AND x.vlm = b.vlm AND x.stage = b.stage "
        "AND x.prompt_version = b.prompt_version AND x.decoding = b.decoding ORDER BY x.run_id",
        {"base": base},
    )
    facts = {run_id: (_plain_setting(setting), _build(record)) for run_id, setting, record in rows}
    if base not in facts:
        return []
    setting, build = facts.pop(base)
    others = [
        run_id
        for run_id, (its_setting, its_build) in facts.items()
        if its_setting == setting and (build is None or its_build is None or its_build == build)
    ]
    units = queries.unit_outcomes(store, replace(of_questions(chosen), runs=(base,), groups=(), origins=()))
    floors = (_noise(store, base, other, set(units["unit_id"])) for other in others)
    return [floor for floor in floors if floor is not None]


def _plain_setting(setting: str) -> str:
    """Return a setting without the word that says it is decoded again."""
    words = setting.split()
    return " ".join(words[:-1] if words[-1:] == [AGAIN] else words)


def _build(record: str | None) -> dict[str, str] | None:
    """Return what is known of the VLM's build; None of a run that came without its record."""
    return RunRecord.model_validate_json(record).vlm.details if record else None


_DIFFERING = RatioMetric(
    key="differing", label="Differing", term="noise floor", plain="units right in one run alone",
    formula="units that one run has right and the other wrong / units that both answered",
    higher_is_better=False, undefined_when="no unit is answered by both", numerator="n_differing", denominator="n_both",
)  # fmt: skip


def _noise(store: Store, base: str, other: str, units: set[str]) -> NoiseFloor | None:
    """Return how two runs differ over some units; None where none of them is answered by both."""
    import pandas as pd

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
    both = both[both["unit_id"].isin(units)]
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
