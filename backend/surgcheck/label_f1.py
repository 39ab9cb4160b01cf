"""F1 of answer labels, averaged over labels, from what each frame adds: so that whole frames can be resampled.

The labels are those that occur among the references. A label's F1 is 2 right / (answered +
referred to): 0 where it was never answered.
"""

__all__ = ["label_sums", "macro_f1", "resampled_macro_f1", "resampled_weighted_f1", "weighted_f1"]

import numpy as np
import numpy.typing as npt

from backend.domain.statistics.resampling import resampled_sums

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def label_sums(reference: Ints, said: Ints, frame: Ints, n_frames: int) -> Floats:
    """Return what each frame adds to the counts of each reference label.

    Args:
        reference: Label of each question's reference, shape (questions,), at least one.
        said: Label of each answer in the same numbers; any other number is a label of no reference, or
            nothing said.
        frame: Frame of each question, from 0.
        n_frames: How many frames there are.

    Returns:
        Shape (frames, 3 labels): answered right, answered, referred to; in each the labels in order.
    """
    labels, own = np.unique(reference, return_inverse=True)
    width = len(labels)
    place = np.searchsorted(labels, said).clip(max=width - 1)
    known = labels[place] == said
    sums = np.zeros((n_frames, 3 * width))
    np.add.at(sums, (frame, own), said == reference)
    np.add.at(sums, (frame[known], place[known] + width), 1.0)
    np.add.at(sums, (frame, own + 2 * width), 1.0)
    return sums


def macro_f1(sums: Floats, n_further: int = 0) -> float:
    """Return the mean F1 over the reference labels.

    Args:
        sums: As `label_sums` returns them.
        n_further: Labels that were answered and occur among no reference: each adds an F1 of 0, for the
            macro F1 over the union of labels.
    """
    f1, _ = _f1(sums.sum(axis=0, keepdims=True))
    return float(f1.sum() / (f1.shape[1] + n_further))


def weighted_f1(sums: Floats) -> float:
    """Return the mean F1 over the reference labels, each weighted by its number of references."""
    return float(_weighted(sums.sum(axis=0, keepdims=True))[0])


def resampled_macro_f1(sums: Floats) -> Floats:
    """Return the macro F1 of each resample of the frames.

    A label that a resample lacks keeps its F1: left out, rare labels, which are mostly the worse
    answered ones, would push most resamples above the value itself.
    """
    known, _ = _f1(sums.sum(axis=0, keepdims=True))
    f1, support = _f1(resampled_sums(sums))
    return np.asarray(np.where(support > 0, f1, known).mean(axis=1))


def resampled_weighted_f1(sums: Floats) -> Floats:
    """Return the weighted F1 of each resample of the frames; NaN for one that lacks every label."""
    return _weighted(resampled_sums(sums))


def _weighted(totals: Floats) -> Floats:
    f1, support = _f1(totals)
    n = support.sum(axis=1)
    weighted = np.full(len(n), np.nan)
    np.divide((f1 * support).sum(axis=1), n, out=weighted, where=n > 0)
    return weighted


def _f1(totals: Floats) -> tuple[Floats, Floats]:
    """Return F1 and support of each label, both of shape (rows, labels); F1 is 0 where a label is absent."""
    right, answered, support = np.split(totals, 3, axis=1)
    both = answered + support
    return np.divide(2 * right, both, out=np.zeros_like(right), where=both > 0), support
