"""The SurgCheck metrics: how often answers are right, and what an original question gains by its words.

Fine-tuned VLMs are scored by exact match: accuracy, and F1 over labels in three averages that the
paper's tables mix (macro over the labels that references have, macro over these and the labels
that were answered besides, weighted by support). Zero-shot VLMs are scored by a judge from 1 to 5.
The gap is the original questions' score minus the less-biased ones', over the same pairs. Every
interval resamples whole frames, both texts of a pair together.

A missing, failed or empty answer is wrong in every metric of exact match, and counted apart; it is
no label. An answer that a judge could not score is left out of the judge's metrics, and counted.
"""

__all__ = ["ANSWER_COLUMNS", "JUDGED_RIGHT", "METRICS", "Variant", "score_table"]

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from backend.domain.metric import Metric
from backend.domain.records import AnswerStatus
from backend.domain.statistics.intervals import Interval, IntervalMethod, wilson_interval
from backend.domain.statistics.paired_tests import mcnemar_exact
from backend.domain.statistics.resampling import Ratio, percentile_interval, ratio_intervals, resampled_sums
from backend.domain.statistics.sign_flips import sign_flip_exact
from backend.surgcheck.label_f1 import (
    label_sums,
    macro_f1,
    resampled_macro_f1,
    resampled_weighted_f1,
    weighted_f1,
)
from backend.surgcheck.scoring import label_of

JUDGED_RIGHT = 4
"""A judge's score from here on counts as right (SurgCheck, section on evaluation)."""


class Variant(StrEnum):
    """How a pair was asked."""

    ORIGINAL = "original"
    """By the question that names what it asks about."""
    LESS_BIASED = "less_biased"
    """By the question that only points."""
    TEXT_ONLY = "text_only"
    """By the original question, with the image withheld."""


METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric(
            key="accuracy",
            label="Accuracy",
            term="exact-match accuracy",
            plain="answers that are the reference, word for word",
            formula="answers equal to the reference, case and spaces aside / questions",
            higher_is_better=True,
            undefined_when="there are no questions",
        ),
        Metric(
            key="macro_f1",
            label="Macro F1",
            term="macro F1 over reference labels",
            plain="how well each right answer is found, rare ones counting like frequent ones",
            formula="mean of F1 over the labels that occur among the references",
            higher_is_better=True,
            undefined_when="there are no questions",
        ),
        Metric(
            key="macro_f1_union",
            label="Macro F1, all labels",
            term="macro F1 over the union of labels",
            plain="the same, each wrong label that was answered counting as 0",
            formula="mean of F1 over the labels that occur among references or answers",
            higher_is_better=True,
            undefined_when="there are no questions",
        ),
        Metric(
            key="weighted_f1",
            label="Weighted F1",
            term="weighted F1",
            plain="how well each right answer is found, frequent ones counting more",
            formula="mean of F1 over the reference labels, each weighted by its number of references",
            higher_is_better=True,
            undefined_when="there are no questions",
        ),
        Metric(
            key="judge_mean",
            label="Judge's mean",
            term="mean LLM-judge score",
            plain="how close a judge finds the answers to the references, 1 to 5",
            formula="sum of scores / answers that were scored",
            higher_is_better=True,
            undefined_when="no answer was scored by a judge",
        ),
        Metric(
            key="judge_accuracy",
            label="Judge accuracy",
            term="LLM-judge accuracy",
            plain=f"answers that a judge scores {JUDGED_RIGHT} or 5",
            formula=f"answers scored {JUDGED_RIGHT} or 5 / answers that were scored",
            higher_is_better=True,
            undefined_when="no answer was scored by a judge",
        ),
        Metric(
            key="gap",
            label="Gap",
            term="original − less-biased accuracy",
            plain="what the words of the original question add",
            formula="(right original answers − right less-biased answers) / pairs asked in both ways",
            higher_is_better=False,
            undefined_when="no pair was asked in both ways",
        ),
    )
}
"""All SurgCheck metrics by key, in the order of the tables."""

ANSWER_COLUMNS = (
    "unit_id",
    "image_id",
    "variant",
    "reference",
    "answer",
    "status",
    "correct",
    "judge_score",
    "judged",
)
"""Columns of a frame of answers, one row a run, pair and `Variant`.

unit_id is the pair, image_id its frame, answer the text that was scored (None where there is
none), status an `AnswerStatus`, correct the exact match (bool), judged whether a judge was given
the answer (bool), judge_score its 1 to 5 (None: not judged, or not scored).
"""

_STATUSES = (AnswerStatus.MISSING, AnswerStatus.FAILED, AnswerStatus.EMPTY)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def score_table(answers: pd.DataFrame, by: Sequence[str], *, intervals: bool = True) -> pd.DataFrame:
    """Return the metrics of each group and variant.

    Args:
        answers: `ANSWER_COLUMNS` and ``by``; in a group a pair stands once a variant.
        by: Columns that make a group, the run among them where there are several; empty for one
            group of everything.
        intervals: False saves the resampling; all bounds are None then.

    Returns:
        Sorted by `by`, original before less-biased before text-only. `by`, variant, n (questions),
        n_images (frames), n_missing, n_failed, n_empty; accuracy_k (right answers); then accuracy,
        macro_f1, macro_f1_union, weighted_f1; n_judged, n_unscored (judged without a score),
        judge_accuracy_k, judge_mean, judge_accuracy. On less-biased rows alone, over the n_pairs pairs
        asked in both ways: n_hint_only and n_pointed_only (right in one way alone: original, less-
        biased), gap, macro_f1_gap, p_value (sign flips of whole frames, for gap), p_mcnemar (pairs taken
        as independent); judge_gap over the n_judged_pairs scored in both ways. Metrics and gaps have
        bounds in ``…_low`` and ``…_high``, but macro_f1_union, whose number of further labels cannot be
        resampled; those of a gap that all frames share are Wilson's over frames (`_difference_interval`).
        Columns that can be None are of dtype object and never hold NaN.
    """
    coded = _coded(answers)
    rows: list[dict[str, Any]] = []
    groups = answers.groupby(list(by), sort=True, dropna=False, observed=True).indices if by else {(): slice(None)}
    for key, at in groups.items():
        values = key if isinstance(key, tuple) else (key,)
        about = dict(zip(by, values, strict=True))
        rows += [{**about, **row} for row in _group_rows(_chosen(coded, at), intervals)]
    return pd.DataFrame(rows, columns=[*by, *_COLUMNS], dtype=object)


class _Answers(NamedTuple):
    """Columns of answers as arrays."""

    unit: Ints
    image: Ints
    variant: npt.NDArray[np.object_]
    status: npt.NDArray[np.object_]
    correct: npt.NDArray[np.bool_]
    reference: Ints
    """Label of the reference."""
    said: Ints
    """Label of the answer, in the numbers of the references'; -1 where nothing was said."""
    score: Floats
    """The judge's; NaN here alone where there is none."""
    judged: npt.NDArray[np.bool_]


def _coded(answers: pd.DataFrame) -> _Answers:
    read = (answers["status"] == AnswerStatus.READ).to_numpy() & answers["answer"].notna().to_numpy()
    references, said = (_labels(answers[name]) for name in ("reference", "answer"))
    labels, _ = pd.factorize(np.concatenate([references, said]))
    reference, answer = labels[: len(answers)], labels[len(answers) :]
    return _Answers(
        unit=pd.factorize(answers["unit_id"])[0].astype(np.int64),
        image=pd.factorize(answers["image_id"])[0].astype(np.int64),
        variant=answers["variant"].to_numpy(dtype=object),
        status=answers["status"].to_numpy(dtype=object),
        correct=answers["correct"].to_numpy(dtype=bool),
        reference=reference.astype(np.int64),
        said=np.where(read, answer, -1).astype(np.int64),
        score=answers["judge_score"].to_numpy(dtype=np.float64, na_value=np.nan),
        judged=answers["judged"].to_numpy(dtype=bool),
    )


def _labels(texts: "pd.Series[Any]") -> npt.NDArray[np.object_]:
    """Return the label of each text; the same few texts come again and again."""
    places, distinct = pd.factorize(texts.astype(object).fillna(""))
    return np.array([label_of(str(text)) for text in distinct], dtype=object)[places]


def _chosen(answers: _Answers, at: Any) -> _Answers:
    return _Answers(*(column[at] for column in answers))


def _group_rows(group: _Answers, intervals: bool) -> list[dict[str, Any]]:
    """Return a group's rows; all its variants are resampled by the same frames."""
    frames, frame = np.unique(group.image, return_inverse=True)
    parts = {variant: np.flatnonzero(group.variant == variant) for variant in Variant}
    rows = []
    for variant, at in parts.items():
        if not len(at):
            continue
        row: dict[str, Any] = dict.fromkeys(_COLUMNS)
        row |= {"variant": variant.value, **_scores(_chosen(group, at), frame[at], len(frames), intervals)}
        if variant is Variant.LESS_BIASED:
            row |= _gap(group, frame, len(frames), parts, intervals)
        rows.append(row)
    return rows


def _scores(part: _Answers, frame: Ints, n_frames: int, intervals: bool) -> dict[str, Any]:
    """Return the metrics of one variant."""
    n, n_right = len(part.unit), int(part.correct.sum())
    scored = ~np.isnan(part.score)
    n_scored = int(scored.sum())
    right = part.score >= JUDGED_RIGHT
    sums = _frame_sums(frame, n_frames, np.ones(n), part.correct, scored, np.nan_to_num(part.score), right)
    counts = label_sums(part.reference, part.said, frame, n_frames)
    n_further = len(np.setdiff1d(part.said[part.said >= 0], part.reference))
    row: dict[str, Any] = {
        "n": n,
        "n_images": len(np.unique(frame)),
        **{f"n_{status}": int((part.status == status).sum()) for status in _STATUSES},
        "accuracy": n_right / n,
        "accuracy_k": n_right,
        "macro_f1": macro_f1(counts),
        "macro_f1_union": macro_f1(counts, n_further),
        "weighted_f1": weighted_f1(counts),
        "n_judged": int(part.judged.sum()),
        "n_unscored": int((part.judged & ~scored).sum()),
        "judge_mean": float(part.score[scored].mean()) if n_scored else None,
        "judge_accuracy": int(right.sum()) / n_scored if n_scored else None,
        "judge_accuracy_k": int(right.sum()) if n_scored else None,
    }
    if intervals:
        accuracy, judged = ratio_intervals(sums, [Ratio(1, 0), Ratio(4, 2)])
        row |= _bounds("accuracy", accuracy) | _bounds("judge_accuracy", judged)
        if len(np.unique(frame)) > 1:
            row |= _bounds("macro_f1", percentile_interval(resampled_macro_f1(counts)))
            row |= _bounds("weighted_f1", percentile_interval(resampled_weighted_f1(counts)))
            row |= _bounds("judge_mean", percentile_interval(_quotient(resampled_sums(sums), 3, 2)))
    return row


def _gap(
    group: _Answers, frame: Ints, n_frames: int, parts: dict[Variant, npt.NDArray[np.intp]], intervals: bool
) -> dict[str, Any]:
    """Return what stands on a less-biased row about the pairs asked in both ways."""
    one, two = parts[Variant.ORIGINAL], parts[Variant.LESS_BIASED]
    _, place, other = np.intersect1d(group.unit[one], group.unit[two], assume_unique=True, return_indices=True)
    original, less = _chosen(group, one[place]), _chosen(group, two[other])
    n = len(original.unit)
    if not n:
        return {"n_pairs": 0, "n_judged_pairs": 0}
    of = frame[one[place]]
    hint_only, pointed_only = original.correct & ~less.correct, ~original.correct & less.correct
    scored = ~np.isnan(original.score) & ~np.isnan(less.score)
    judged = np.where(scored, (original.score >= JUDGED_RIGHT).astype(float) - (less.score >= JUDGED_RIGHT), 0.0)
    sums = _frame_sums(of, n_frames, np.ones(n), hint_only.astype(float) - pointed_only, scored, judged)
    counts = [label_sums(part.reference, part.said, of, n_frames) for part in (original, less)]
    n_scored = int(scored.sum())
    row: dict[str, Any] = {
        "n_pairs": n,
        "n_hint_only": int(hint_only.sum()),
        "n_pointed_only": int(pointed_only.sum()),
        "gap": float(sums[:, 1].sum()) / n,
        "macro_f1_gap": macro_f1(counts[0]) - macro_f1(counts[1]),
        "p_value": sign_flip_exact(sums[:, 1]),
        "p_mcnemar": mcnemar_exact(int(hint_only.sum()), int(pointed_only.sum())),
        "n_judged_pairs": n_scored,
        "judge_gap": float(judged.sum()) / n_scored if n_scored else None,
    }
    if intervals and len(np.unique(of)) > 1:
        totals = resampled_sums(sums)
        row |= _bounds("gap", _difference_interval(sums, totals, 1, 0))
        row |= _bounds("judge_gap", _difference_interval(sums, totals, 3, 2))
        macros = [resampled_macro_f1(part) for part in counts]
        row |= _bounds("macro_f1_gap", percentile_interval(macros[0] - macros[1]))
    return row


def _difference_interval(sums: Floats, totals: Floats, numerator: int, denominator: int) -> Interval | None:
    """Return the interval of a mean difference between -1 and 1, from its sums by frame and by resample.

    Where all frames show the same difference, resampling cannot vary. Wilson's interval of no frame in so
    many then bounds the share of frames that could show another one, which is taken to be as far off as any.
    """
    interval = percentile_interval(_quotient(totals, numerator, denominator))
    shown = _quotient(sums[sums[:, denominator] > 0], numerator, denominator)
    if interval is not None or len(shown) < 2 or np.ptp(shown) > 0:
        return interval
    seen = float(shown[0])
    others = wilson_interval(0.0, len(shown), method=IntervalMethod.WILSON_OVER_CLUSTERS)
    return others and replace(others, low=seen - others.high * (1 + seen), high=seen + others.high * (1 - seen))


def _frame_sums(frame: Ints, n_frames: int, *columns: npt.NDArray[Any]) -> Floats:
    """Return what each frame adds to each column's total, shape (frames, columns)."""
    return np.column_stack([np.bincount(frame, weights=column, minlength=n_frames) for column in columns])


def _quotient(totals: Floats, numerator: int, denominator: int) -> Floats:
    """Return the quotient of each row; NaN, as `percentile_interval` takes it, where there is none."""
    up, down = totals[:, numerator], totals[:, denominator]
    quotient = np.full(len(down), np.nan)
    np.divide(up, down, out=quotient, where=down > 0)
    return quotient


def _bounds(key: str, interval: Interval | None) -> dict[str, float | None]:
    return {f"{key}_low": interval.low if interval else None, f"{key}_high": interval.high if interval else None}


def _with_bounds(*keys: str) -> tuple[str, ...]:
    return tuple(f"{key}{bound}" for key in keys for bound in ("", "_low", "_high"))


_COLUMNS = (
    "variant",
    "n",
    "n_images",
    *(f"n_{status}" for status in _STATUSES),
    "accuracy_k",
    *_with_bounds("accuracy", "macro_f1"),
    "macro_f1_union",
    *_with_bounds("weighted_f1"),
    "n_judged",
    "n_unscored",
    "judge_accuracy_k",
    *_with_bounds("judge_mean", "judge_accuracy"),
    "n_pairs",
    "n_hint_only",
    "n_pointed_only",
    *_with_bounds("gap", "macro_f1_gap"),
    "p_value",
    "p_mcnemar",
    "n_judged_pairs",
    *_with_bounds("judge_gap"),
)
