"""SurgCheck's VLMs side by side: what each answers to original and to less-biased questions, from one table of answers.

All figures and tables of the page start from `answer_table` of `backend.services.surgcheck_answers`.
Runs are never pooled, nor are suites, and printed figures stand beside runs with their own origin.
"""

__all__ = [
    "DROP_METRICS",
    "ablation_table",
    "drop_table",
    "printed_drops",
    "score_table",
    "vlm_places",
]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend.domain.records import Origin, Stage, System
from backend.services import endoca_series
from backend.services.endoca_series import BLIND, about_runs, records
from backend.services.surgcheck_answers import none_for_missing
from backend.services.surgcheck_published import TABLES, printed_table
from backend.services.surgcheck_suites import in_order, place_of
from backend.store.store import Store
from backend.surgcheck.metrics import Variant
from backend.surgcheck.metrics import score_table as scores_of
from backend.surgcheck.tasks import PAIRED_TASKS

if TYPE_CHECKING:
    import pandas as pd

DROP_METRICS: Mapping[str, str] = {
    "accuracy": "gap",
    "macro_f1": "macro_f1_gap",
    "judge_accuracy": "judge_gap",
}
"""Metric whose original and less-biased values are compared → column of their difference."""

_ABOUT = ["series", "run_id", "suite", "stage", "label", "vlm", "vlm_group", "setting", "origin", "place", "source"]


def vlm_places(store: Store) -> dict[str, int]:
    """Return each VLM's place, as `endoca_series.vlm_places`; those that SurgCheck alone prints come last."""
    places = endoca_series.vlm_places(store)
    for metric in TABLES:
        for vlm in printed_table(metric)["vlm"]:
            places.setdefault(vlm, len(places))
    return places


def score_table(
    store: Store, answers: "pd.DataFrame", by: Sequence[str] = (), *, intervals: bool = True
) -> "pd.DataFrame":
    """Return the metrics of each run, variant and group.

    Args:
        store: The store.
        answers: As `answer_table`, or part of it.
        by: Any of task, level and cue.
        intervals: False saves the resampling.

    Returns:
        What is known of the run (series, run_id, suite, stage, label, vlm, vlm_group, setting, origin, place,
        source), judge, then as `backend.surgcheck.metrics.score_table`; runs as lists have them, the blind
        ones last, groups in the paper's order.
    """
    scores = scores_of(answers, ["run_id", *by], intervals=intervals)
    judges = answers.drop_duplicates("run_id")[["run_id", "judge"]]
    return in_order(_about(store).merge(judges, on="run_id").merge(scores, on="run_id"), by)


def drop_table(scores: "pd.DataFrame", metric: str = "accuracy", by: Sequence[str] = ()) -> "pd.DataFrame":
    """Return what a metric loses from original to less-biased questions, a row a run and group.

    Args:
        scores: As `score_table` with the same ``by``; text-only rows are put aside.
        metric: A key of `DROP_METRICS`.
        by: The groups.

    Returns:
        What is known of the run, ``by``, metric (its key), original and less_biased with ``…_low``,
        ``…_high`` and ``…_n``, then gap, gap_low, gap_high, n_pairs, n_images, n_hint_only, n_pointed_only
        and p_value, all None where the two were not both asked; p_value and p_mcnemar are of accuracy, None elsewhere.
    """
    import pandas as pd

    gap = DROP_METRICS[metric]
    n_of = "n_judged" if metric == "judge_accuracy" else "n"
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for score in records(scores):
        side = score["variant"]
        if side == Variant.TEXT_ONLY:
            continue
        keys = [*_ABOUT, *by]
        row = rows.setdefault(
            (score["run_id"], *(score[name] for name in by)),
            {**{name: score[name] for name in keys}, "metric": metric, **dict.fromkeys(_DROP_COLUMNS)},
        )
        row |= {f"{side}{bound}": score[f"{metric}{bound}"] for bound in ("", "_low", "_high")}
        unscored = score["n_unscored"] if metric == "judge_accuracy" else 0
        row |= {f"{side}_n": score[n_of] - unscored, "n_images": score["n_images"]}
        if side == Variant.LESS_BIASED:
            row |= {f"gap{bound}": score[f"{gap}{bound}"] for bound in ("", "_low", "_high")}
            row |= {name: score[name] for name in ("n_pairs", "n_hint_only", "n_pointed_only")}
            if metric == "accuracy":
                row |= {name: score[name] for name in ("p_value", "p_mcnemar")}
            if metric == "judge_accuracy":
                row |= {"n_pairs": score["n_judged_pairs"], "n_hint_only": None, "n_pointed_only": None}
    found = [row for row in rows.values() if row["original"] is not None or row["less_biased"] is not None]
    return pd.DataFrame(found, columns=[*_ABOUT, *by, "metric", *_DROP_COLUMNS], dtype=object)


_DROP_COLUMNS = (
    *(f"{side}{part}" for side in ("original", "less_biased") for part in ("", "_low", "_high", "_n")),
    *("gap", "gap_low", "gap_high", "n_pairs", "n_images", "n_hint_only", "n_pointed_only", "p_value", "p_mcnemar"),
)


def printed_drops(store: Store, metric: str) -> "pd.DataFrame":
    """Return a printed table as rows of `drop_table`: origin published, no run, no counts and no intervals.

    It belongs beside runs over the full test set (`is_full_test`) and nowhere else.

    Args:
        store: Knows the VLMs' places.
        metric: A key of `backend.services.surgcheck_published.TABLES`; of any other nothing is printed.
    """
    import pandas as pd

    places = vlm_places(store)
    rows = [
        {
            "series": f"printed.{printed['vlm']}.{printed['setting']}",
            "label": f"{printed['vlm']}, {printed['setting']}, printed",
            "origin": Origin.PUBLISHED.value,
            "place": places[printed["vlm"]],
            "metric": metric,
            **printed,
        }
        for printed in (records(printed_table(metric)) if metric in TABLES else ())
    ]
    table = pd.DataFrame(rows, columns=[*_ABOUT, "metric", *_DROP_COLUMNS], dtype=object)
    return none_for_missing(table, list(table.columns))


def ablation_table(store: Store, answers: "pd.DataFrame", metric: str = "accuracy") -> "pd.DataFrame":
    """Return the text-only ablation by paired task: what each VLM scores with the image withheld.

    A text-only run is set beside the direct runs of the same VLM and setting (of its own origin where there
    are such). Runs of baselines that never look are rows of their own: what their look-ups reach.

    Args:
        store: The store.
        answers: As `answer_table`.
        metric: ``accuracy`` or ``macro_f1``.

    Returns:
        One row a (text-only run, direct run) and task, then one a blind run and task: what is known of the
        direct (or blind) run, text_run_id (None for a blind run), task, metric; original, less_biased and
        text_only with ``…_low``, ``…_high`` and ``…_n``, None where not asked; and image_gain with bounds:
        original minus text-only, over the same questions, by frames.
    """
    import pandas as pd

    paired = answers[answers["task"].isin(list(PAIRED_TASKS))]
    about = {row["run_id"]: row for row in records(_about(store))}
    runs = [about[run_id] for run_id in dict.fromkeys(paired["run_id"])]
    rows: list[dict[str, Any]] = []
    for text_run, direct in _text_only_pairs(runs):
        both = paired[paired["run_id"].isin([text_run["run_id"], direct["run_id"]])]
        rows += _ablation_rows(both, metric, {**direct, "text_run_id": text_run["run_id"]})
    for run in runs:
        if run["vlm_group"] == BLIND:
            rows += _ablation_rows(paired[paired["run_id"] == run["run_id"]], metric, {**run, "text_run_id": None})
    return pd.DataFrame(rows, columns=[*_ABOUT, "text_run_id", "task", "metric", *_ABLATION_COLUMNS], dtype=object)


_ABLATION_COLUMNS = (
    *(f"{variant}{part}" for variant in Variant for part in ("", "_low", "_high", "_n")),
    *("image_gain", "image_gain_low", "image_gain_high"),
)


def _text_only_pairs(runs: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return each text-only run with the direct runs it is an ablation of."""
    found = []
    for text_run in runs:
        if text_run["stage"] != Stage.TEXT_ONLY:
            continue
        same = ("vlm", "setting", "suite")
        direct = [
            run for run in runs if run["stage"] == Stage.DIRECT and all(run[name] == text_run[name] for name in same)
        ]
        own = [run for run in direct if run["origin"] == text_run["origin"]]
        found += [(text_run, run) for run in own or direct]
    return found


def _ablation_rows(answers: "pd.DataFrame", metric: str, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for score in records(scores_of(answers, ["task"])):
        row = rows.setdefault(
            score["task"], {**about, "task": score["task"], "metric": metric, **dict.fromkeys(_ABLATION_COLUMNS)}
        )
        row |= {f"{score['variant']}{bound}": score[f"{metric}{bound}"] for bound in ("", "_low", "_high")}
        row[f"{score['variant']}_n"] = score["n"]
    withheld = answers[answers["variant"] != Variant.LESS_BIASED]
    against = withheld.assign(variant=withheld["variant"].replace(Variant.TEXT_ONLY, Variant.LESS_BIASED))
    for score in records(scores_of(against, ["task"])):
        if score["n_pairs"]:
            gap = DROP_METRICS[metric]
            rows[score["task"]] |= {f"image_gain{bound}": score[f"{gap}{bound}"] for bound in ("", "_low", "_high")}
    return sorted(rows.values(), key=lambda row: place_of("task", row["task"]))


def _about(store: Store) -> "pd.DataFrame":
    """Return what is known of each run."""
    table = about_runs(store, System.SURGCHECK)
    settings = dict(store.rows("SELECT run_id, setting FROM runs"))
    places = vlm_places(store)
    return table.assign(
        setting=[settings[run_id] for run_id in table["run_id"]],
        place=[
            -1 if group == BLIND else places[vlm] for vlm, group in zip(table["vlm"], table["vlm_group"], strict=True)
        ],
    )[_ABOUT]
