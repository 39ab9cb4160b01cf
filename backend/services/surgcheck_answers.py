"""What every run answered to pairs, as one table: the base of all figures and tables of SurgCheck.

What a run was never asked is no missing answer: questions of one kind (original or less-biased,
and cue) to which it holds no answer at all are left out of the table and counted in
`unasked_table`, so that a file of one cue, or of original questions alone, can be looked at.
"""

__all__ = ["answer_table", "flipped", "judges_of", "none_for_missing", "of_questions", "unasked_table"]

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.surgcheck.metrics import Variant
from backend.surgcheck.outcomes import PairOutcome, pair_outcome

if TYPE_CHECKING:
    import pandas as pd


def of_questions(chosen: PairFilter) -> PairFilter:
    """Return the part of a filter that does not look at the answers, on which all figures rest."""
    return replace(chosen, pair_outcomes=(), statuses=(), variant="", text="")


_ANSWERS = """
    WITH judges AS (
        SELECT run_id, judge FROM judgements WHERE $judge = '' OR judge = $judge GROUP BY run_id, judge
        QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY count(score) DESC, judge) = 1
    ), kinds AS (
        SELECT DISTINCT s.run_id, s.role, p.cue FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
        JOIN pairs p USING (unit_id) WHERE s.status <> 'missing'
    ), answered AS (
        SELECT s.run_id, r.vlm, r.vlm_group, r.setting, r.stage, r.origin, r.suite, s.unit_id, u.image_id,
               p.task, p.level, p.cue, s.role, q.reference, json_extract_string(s.parts, '$[0].parsed') AS answer,
               s.status, s.correct, j.score AS judge_score, j.probe_id IS NOT NULL AS judged, g.judge,
               k.run_id IS NOT NULL AS asked
        FROM scores s JOIN runs r USING (run_id, scorer, scorer_version)
        JOIN units u USING (unit_id) JOIN pairs p USING (unit_id) JOIN probes q ON q.probe_id = s.probe_id
        LEFT JOIN kinds k ON k.run_id = s.run_id AND k.role = s.role AND k.cue = p.cue
        LEFT JOIN judges g ON g.run_id = s.run_id
        LEFT JOIN judgements j ON j.run_id = s.run_id AND j.probe_id = s.probe_id AND j.judge = g.judge
        WHERE r.system = 'surgcheck' AND (r.stage <> 'text_only' OR s.role = 'original')
          AND (len($only) = 0 OR list_contains($only::TEXT[], s.run_id)) AND ({where})
    )
"""


def answer_table(store: Store, chosen: PairFilter, *, judge: str = "") -> "pd.DataFrame":
    """Return every answer of the chosen runs to the chosen pairs, scored.

    Args:
        store: The store.
        chosen: Which pairs of which runs; conditions on answers are put aside.
        judge: Whose scores to show; where not said, of each run's judges the one that scored most answers
            (of equals the alphabetically first): scores of several judges are never pooled.

    Returns:
        One row a run and question it was asked: run_id, vlm, vlm_group (None: not known), setting, stage,
        origin, suite, unit_id, image_id (the frame), task, level, cue, variant (a `Variant`), reference,
        answer (the text that was scored; None where there is none), status, correct (bool), judge_score (1 to
        5, or None), judged (bool), judge (None: the run was not judged).
    """
    sql, parameters = _answers_sql(chosen)
    return none_for_missing(
        store.read(
            sql + "SELECT * EXCLUDE (role, asked), CASE stage WHEN 'text_only' THEN stage ELSE role END AS variant "
            "FROM answered WHERE asked ORDER BY run_id, unit_id, variant DESC",
            {**parameters, "judge": judge},
        ),
        ["vlm_group", "answer", "judge_score", "judge"],
    )


def unasked_table(store: Store, chosen: PairFilter) -> "pd.DataFrame":
    """Return what is left out because a run holds no answer of its kind: run_id, variant, cue, task, level, n."""
    sql, parameters = _answers_sql(chosen)
    return store.read(
        sql + "SELECT run_id, CASE stage WHEN 'text_only' THEN stage ELSE role END AS variant, cue, task, level, "
        "count(*) AS n FROM answered WHERE NOT asked GROUP BY ALL ORDER BY ALL",
        {**parameters, "judge": ""},
    )


def judges_of(store: Store, run_id: str) -> dict[str, int]:
    """Return the judges of a run's answers, each with the number of answers it scored, most first."""
    return dict(
        store.rows(
            "SELECT judge, count(score) AS n FROM judgements WHERE run_id = ? GROUP BY judge ORDER BY n DESC, judge",
            [run_id],
        )
    )


def flipped(answers: "pd.DataFrame", run_id: str, outcome: PairOutcome) -> list[str]:
    """Return the pairs of a run with an outcome, by exact match, among those it was asked in both ways."""
    own = answers[answers["run_id"] == run_id]
    sides = {
        variant: own[own["variant"] == variant].set_index("unit_id")["correct"]
        for variant in (Variant.ORIGINAL, Variant.LESS_BIASED)
    }
    both = sides[Variant.ORIGINAL].to_frame("one").join(sides[Variant.LESS_BIASED].to_frame("two"), how="inner")
    return [str(unit) for unit, one, two in both.itertuples() if pair_outcome(one, two) is outcome]


def _answers_sql(chosen: PairFilter) -> tuple[str, dict[str, object]]:
    questions = of_questions(chosen)
    where, parameters = replace(questions, runs=()).where()
    return _ANSWERS.format(where=where), {**parameters, "only": list(questions.runs)}


def none_for_missing(table: "pd.DataFrame", columns: Sequence[str]) -> "pd.DataFrame":
    """Return the table with None for every missing value of some columns, never NaN."""
    if table.empty:
        return table
    return table.assign(**{name: table[name].astype(object).where(table[name].notna(), None) for name in columns})
