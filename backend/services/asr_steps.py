"""Fig. 5 as rows of one shape: complex accuracy by step, of runs in the store and as printed."""

__all__ = ["label_of", "own_steps", "printed_steps"]

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.records import Origin, System
from backend.endoca.asr import Variant
from backend.services.endoca_series import records, vlm_places
from backend.services.published import ASR_SOURCE, ASR_SUITE, AVERAGE, printed_asr
from backend.store.store import Store

_FOUND = {
    "direct_accuracy": ("direct", "complex_accuracy"),
    "revised_accuracy": ("revised", "complex_accuracy"),
    "selective_accuracy": ("select", "selective_accuracy"),
}
"""Step of Fig. 5 → where `reconciled_table` has it."""

_VARIANTS = {Variant.ASR: "ASR", Variant.SELF: "Self"}


def label_of(row: Mapping[str, Any]) -> str:
    """Return what to call a reconciliation, a row of `reconciled_table`, among others: VLM, setting, variant."""
    return ", ".join(part for part in (row["vlm"], row["setting"], _VARIANTS[Variant(row["variant"])]) if part)


def own_steps(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of reconciliations in the store.

    Args:
        rows: Of `reconciled_table`.

    Returns:
        One mapping a row, as `backend.figures.asr.steps_slope` draws it: series (the key of the
        revised run), label (with prompt version and origin where another has the same), vlm, vlm_group,
        origin, place, is_control, coverage, and each step with its bounds and counts.
    """
    alike = Counter(label_of(row) for row in rows)
    lines = []
    for row in rows:
        label = label_of(row)
        told = f" ({row['origin']}, prompt {row['prompt_version']})" if alike[label] > 1 else ""
        line = {name: row[name] for name in ("vlm", "vlm_group", "origin", "place", "base", "revised", "select")}
        line |= {"series": row["revised"], "label": label + told, "is_control": row["variant"] == Variant.SELF}
        for step, (of, key) in _FOUND.items():
            line[step] = row[f"{of}.{key}"]
            line |= {f"{step}{end}": row[f"{of}.{key}{end}"] for end in ("_low", "_high", "_k", "_n")}
        lines.append(line | {"coverage": row["select.coverage"]})
    return lines


def printed_steps(store: Store) -> list[dict[str, Any]]:
    """Return the lines of Table V and Fig. 5, in the shape of `own_steps`; the printed average is none of them."""
    groups = dict(
        store.rows("SELECT vlm, any_value(vlm_group) FROM published WHERE system = ? GROUP BY vlm", [System.ENDOCA])
    )
    places = vlm_places(store)
    unknown = {f"{step}{end}": None for step in _FOUND for end in ("_low", "_high", "_k", "_n")}
    return [
        unknown
        | {step: row[step] for step in _FOUND}
        | {
            "series": f"printed.{row['vlm']}",
            "label": f"{row['vlm']}, printed ({ASR_SUITE})",
            "vlm": row["vlm"],
            "vlm_group": groups.get(row["vlm"]),
            "origin": Origin.PUBLISHED.value,
            "place": places.get(row["vlm"], -1),
            "is_control": False,
            "coverage": row["coverage"],
            "source": ASR_SOURCE,
        }
        for row in records(printed_asr())
        if row["vlm"] != AVERAGE
    ]
