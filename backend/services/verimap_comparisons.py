"""Verifiers compared on the same answers: self against cross, a VLM against its relative, with and without the image.

Two sets of verdicts are compared on those answers alone that both have judged, so that nothing but the verifier (or
what it was shown) differs. Counts of the answers compared are added up over data sets and generators; self and cross
stay apart.
"""

__all__ = [
    "COMPARED",
    "condition_table",
    "relation_table",
    "self_to_cross",
    "shared_answers",
    "verifier_matrix",
]

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backend.domain.statistics.ratio_table import RatioMetric, ratio_table
from backend.services.verimap_cells import task_place
from backend.services.verimap_kinship import Relation
from backend.store.verification_filters import UNLABELLED
from backend.verimap.conditions import Condition
from backend.verimap.metrics import differences, score_table, tally
from backend.verimap.outcomes import Policy

if TYPE_CHECKING:
    import pandas as pd

COMPARED = ("error", "fpr", "fnr", "bias", "dskew")
"""Metrics that are compared."""

UNCHANGED = RatioMetric(
    key="unchanged",
    label="Verdict unchanged",
    term="share of unchanged verdicts",
    plain="verdicts that stay the same",
    formula="verdicts that are the same / answers with a verdict under both conditions",
    higher_is_better=False,
    undefined_when="no answer has a verdict under both conditions",
    numerator="n_same",
    denominator="n_both",
)
"""Of a control; without the image, or with another one, a verdict that was given for what the image shows would
change."""


def shared_answers(
    a: "pd.DataFrame", b: "pd.DataFrame", *, same_verifier: bool = False
) -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """Return the rows of both whose answer the other has judged, too.

    Args:
        a: Of `verdict_table`.
        b: Likewise.
        same_verifier: Whether the other has to be by the same verifier.
    """
    key = "asked_key" if same_verifier else "answer_key"
    return a[a[key].isin(b[key])], b[b[key].isin(a[key])]


def self_to_cross(verdicts: "pd.DataFrame", policy: Policy) -> "pd.DataFrame":
    """Return what changes, task by task, when other VLMs verify the answers that a VLM verified itself (Fig. 6).

    The paper averages cells; here counts are added up, so that every figure has an n and an interval.

    Args:
        verdicts: As `verdict_table`, of one condition and turn.
        policy: What to make of undecided verdicts.

    Returns:
        One row a task (None: unlabelled), in the paper's order: task, n_generators, n_verifiers (cross), and as
        `_compared` with a self and b cross. Empty where no answer has both.
    """
    own = (verdicts["generator"].astype(object) == verdicts["verifier"].astype(object)).to_numpy()
    a, b = shared_answers(verdicts[own], verdicts[~own])
    table = _compared(a, b, ["task"], policy)
    for name, frame, column in (("n_generators", a, "generator"), ("n_verifiers", b, "verifier")):
        counts = {None if key != key else key: n for key, n in _distinct(frame, "task", column).items()}
        table.insert(1, name, [counts[task] for task in table["task"]])
    return _in_order(table)


def verifier_matrix(verdicts: "pd.DataFrame", policy: Policy) -> "pd.DataFrame":
    """Return the metrics of each generator and verifier, over all that is chosen.

    Args:
        verdicts: As `verdict_table`, of one condition and turn.
        policy: What to make of undecided verdicts.

    Returns:
        generator, verifier, then as `backend.verimap.metrics.score_table`.
    """
    by = ["generator", "verifier"]
    return score_table(tally(verdicts, by, policy), by)


def relation_table(verdicts: "pd.DataFrame", policy: Policy, relations: Sequence[Relation]) -> "pd.DataFrame":
    """Return what changes, task by task, when a VLM's relative verifies its answers (Figs. B3 and B4).

    Args:
        verdicts: As `verdict_table`, of one condition and turn.
        policy: What to make of undecided verdicts.
        relations: Which VLMs stand beside which.

    Returns:
        One row a relation and task: base, other, kind, task, and as `_compared` with a the base verifying itself
        and b the other verifying the base. Relations without an answer that both verified have no row.
    """
    import pandas as pd

    generator, verifier = verdicts["generator"].astype(object), verdicts["verifier"].astype(object)
    found = []
    for relation in relations:
        of_base = generator == relation.base
        a, b = shared_answers(
            verdicts[of_base & (verifier == relation.base)], verdicts[of_base & (verifier == relation.other)]
        )
        table = _in_order(_compared(a, b, ["task"], policy))
        found.append(table.assign(base=relation.base, other=relation.other, kind=relation.kind.value))
    if not found:
        return pd.DataFrame(columns=["base", "other", "kind", "task"], dtype=object)
    whole = pd.concat(found, ignore_index=True)
    return whole[["base", "other", "kind", *(name for name in whole.columns if name not in ("base", "other", "kind"))]]


def condition_table(verdicts: "pd.DataFrame", policy: Policy, condition: Condition) -> "pd.DataFrame":
    """Return what a condition changes, on the answers that a verifier judged plainly, too.

    Args:
        verdicts: As `verdict_table`, of one turn and all conditions.
        policy: What to make of undecided verdicts.
        condition: Any but the plain one.

    Returns:
        One row a generator and verifier: generator, verifier, as `_compared` with a plain and b the condition; and
        the columns of `ratio_table` for `UNCHANGED` (by images), n_without: answers without a verdict under one of
        the two. Answers that nobody judged count there as well, for no reference is needed.
    """
    said = verdicts["condition"].astype(object)
    a, b = shared_answers(
        verdicts[said == Condition.PLAIN.value], verdicts[said == condition.value], same_verifier=True
    )
    by = ["generator", "verifier"]
    table = _compared(a, b, by, policy)
    if table.empty:
        return table
    sides = [frame.astype({"verdict": object}).drop_duplicates("asked_key") for frame in (a, b)]
    pairs = sides[0].merge(sides[1][["asked_key", "verdict"]], on="asked_key", suffixes=("", "_other"))
    both = pairs["verdict"].notna() & pairs["verdict_other"].notna()
    pairs = pairs.assign(
        n_both=both.astype(int),
        n_same=(both & (pairs["verdict"] == pairs["verdict_other"])).astype(int),
        n_without=(~both).astype(int),
    )
    shares = ratio_table(
        pairs[[*by, "image_id", "n_both", "n_same", "n_without"]].astype(dict.fromkeys((*by, "image_id"), object)),
        by,
        [UNCHANGED],
        counts=["n_without"],
        cluster_count="unchanged_images",
    )
    return table.merge(shares, on=by, how="left")


def _compared(a: "pd.DataFrame", b: "pd.DataFrame", by: Sequence[str], policy: Policy) -> "pd.DataFrame":
    """Return the metrics of two sets of verdicts on the same answers, side by side, a row a group that both have.

    Returns:
        ``by``; n_a, n_b (verdicts counted), n_images; and of each of `COMPARED`: ``…_a``, ``…_b`` (None where
        undefined) with ``_low`` and ``_high``, ``…_change`` (b − a) with its interval, images resampled for both
        together.
    """
    import pandas as pd

    tallies = [tally(frame, by, policy) for frame in (a, b)]
    scores = [{_group(row, by): row for row in score_table(sums, by).to_dict("records")} for sums in tallies]
    parts = [
        {
            _group(dict(zip(by, key, strict=True)), by): part
            for key, part in sums.groupby(list(by), dropna=False, observed=True)
        }
        for sums in tallies
    ]
    rows: list[dict[str, Any]] = []
    for group, one in scores[0].items():
        other = scores[1].get(group)
        if other is None:
            continue
        changes = differences(parts[0][group], parts[1][group])
        row: dict[str, Any] = dict(zip(by, group, strict=True))
        row |= {"n_a": one["n"], "n_b": other["n"], "n_images": changes["error"].n_images}
        for key in COMPARED:
            for side, score in (("a", one), ("b", other)):
                row |= {f"{key}_{side}{bound}": score[f"{key}{bound}"] for bound in ("", "_low", "_high")}
            change = changes[key]
            row |= {
                f"{key}_change": change.difference,
                f"{key}_change_low": change.low,
                f"{key}_change_high": change.high,
            }
        rows.append(row)
    return pd.DataFrame(rows, columns=[*by, *_COMPARED_COLUMNS], dtype=object)


_COMPARED_COLUMNS = (
    "n_a",
    "n_b",
    "n_images",
    *(f"{key}_{part}{bound}" for key in COMPARED for part in ("a", "b", "change") for bound in ("", "_low", "_high")),
)


def _group(row: dict[Any, Any], by: Sequence[str]) -> tuple[Any, ...]:
    """Return a group's values; a missing one, NaN in a key, is None."""
    return tuple(None if row[name] != row[name] else row[name] for name in by)


def _distinct(frame: "pd.DataFrame", by: str, column: str) -> dict[Any, int]:
    counts = frame.astype({by: object, column: object}).groupby(by, dropna=False)[column].nunique()
    return {key: int(n) for key, n in counts.items()}


def _in_order(table: "pd.DataFrame") -> "pd.DataFrame":
    tasks = table["task"].tolist()
    order = sorted(range(len(tasks)), key=lambda at: task_place(tasks[at] or UNLABELLED))
    return table.iloc[order].reset_index(drop=True)
