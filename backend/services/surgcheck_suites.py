"""What a suite of pairs is made of, where that bounds what its figures can say."""

__all__ = ["ceiling_table", "in_order", "is_balanced", "is_full_test", "place_of", "repeats", "surgcheck_suites"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from backend.domain.records import LIVE_PAIRS, System
from backend.services.endoca_series import records
from backend.services.surgcheck_published import PRINTED_PAIRS
from backend.store.store import Store
from backend.surgcheck.scoring import label_of
from backend.surgcheck.tasks import Cue, Level, Task

if TYPE_CHECKING:
    import pandas as pd

_ORDERS: Mapping[str, Sequence[str]] = {"task": tuple(Task), "level": tuple(Level), "cue": tuple(Cue)}
"""Columns of ours whose values have an order of their own."""


def surgcheck_suites(store: Store) -> list[str]:
    """Return the suites of pairs, without those made live.

    Those that a run has answered come first, and of them the full test set, which the paper's tables are of.
    """
    rows = store.rows(
        "SELECT s.suite FROM suites s WHERE s.system = ? AND s.suite <> ? "
        "ORDER BY NOT EXISTS (SELECT 1 FROM runs r WHERE r.suite = s.suite), "
        "(SELECT count(*) FROM pairs p WHERE p.suite = s.suite) <> ?, s.suite",
        [System.SURGCHECK, LIVE_PAIRS, PRINTED_PAIRS],
    )
    return [row[0] for row in rows]


def ceiling_table(store: Store, suite: str) -> "pd.DataFrame":
    """Return how much exact match can reach where one question about one picture has several answers.

    Returns:
        One row a task, cue and variant in which some question has: task, cue, variant, n (questions),
        n_conflicting (rows of questions with several references), n_reachable (rows right at best), ceiling
        (n_reachable / n).
    """
    import pandas as pd

    rows = store.rows(
        "SELECT p.task, p.cue, q.role, p.picture_id, q.question, q.reference "
        "FROM probes q JOIN pairs p USING (unit_id) WHERE q.suite = ?",
        [suite],
    )
    names = ["task", "cue", "variant", "picture", "question", "label"]
    asked = pd.DataFrame([(*row[:5], label_of(row[5])) for row in rows], columns=names, dtype=object)
    counts = asked.groupby(names, as_index=False).size()
    same = counts.groupby(names[:-1], as_index=False).agg(
        n=("size", "sum"), n_reachable=("size", "max"), n_labels=("label", "size")
    )
    same["n_conflicting"] = same["n"].where(same["n_labels"] > 1, 0)
    table = same.groupby(names[:3], as_index=False)[["n", "n_conflicting", "n_reachable"]].sum()
    table["ceiling"] = table["n_reachable"] / table["n"]
    return in_order(table[table["n_conflicting"] > 0].sort_values("variant", ascending=False), ("task", "cue"))


def is_balanced(store: Store, suite: str) -> bool:
    """Return whether the four cues are asked of the same pairs, so that nothing but the cue differs between them.

    Compared are frame, task, answer and how often each occurs.
    """
    asked = store.rows(
        "SELECT p.cue, u.image_id, p.task, q.reference, count(*) FROM pairs p JOIN units u USING (unit_id) "
        "JOIN probes q ON q.unit_id = p.unit_id AND q.role = 'original' WHERE p.suite = ? GROUP BY ALL",
        [suite],
    )
    by_cue = {cue: {tuple(row[1:]) for row in asked if row[0] == cue} for cue in {row[0] for row in asked}}
    return set(by_cue) == set(Cue) - {Cue.NONE} and len({frozenset(pairs) for pairs in by_cue.values()}) == 1


def is_full_test(store: Store, suite: str) -> bool:
    """Return whether a suite can be the full test set, the only one that the paper's printed tables are of."""
    return bool(store.value("SELECT count(*) FROM pairs WHERE suite = ?", [suite]) == PRINTED_PAIRS)


def repeats(store: Store, suite: str) -> int:
    """Return how many pairs repeat another one exactly: picture, both questions, task, cue and answer."""
    return int(
        store.value(
            "WITH alike AS (SELECT count(*) AS n FROM pairs p JOIN probes o ON o.unit_id = p.unit_id AND o.role = "
            "'original' JOIN probes l ON l.unit_id = p.unit_id AND l.role = 'less_biased' WHERE p.suite = ? "
            "GROUP BY p.picture_id, p.task, p.cue, o.question, l.question, o.reference) "
            "SELECT coalesce(sum(n - 1), 0) FROM alike",
            [suite],
        )
    )


def in_order(table: "pd.DataFrame", by: Sequence[str]) -> "pd.DataFrame":
    """Return the rows with groups in the paper's order, and what was in order before kept so within a group."""
    known = [name for name in by if name in _ORDERS]
    if not known or table.empty:
        return table.reset_index(drop=True)
    runs = list(dict.fromkeys(table["run_id"])) if "run_id" in table else []
    keys = [
        (runs.index(row["run_id"]) if runs else 0, *(place_of(name, row[name]) for name in known))
        for row in records(table)
    ]
    order = sorted(range(len(keys)), key=lambda at: keys[at])
    return table.iloc[order].reset_index(drop=True)


def place_of(column: str, value: str) -> tuple[int, str]:
    """Return a key to sort values of task, level or cue by; one that is not ours comes after them."""
    known = list(_ORDERS[column])
    return (known.index(value), "") if value in known else (len(known), value)
