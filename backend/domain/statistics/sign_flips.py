"""A paired test in which whole clusters stand together: the exact sign-flip test.

Answers about one image share its difficulty, so McNemar's test, which takes pairs as
independent, finds differences too easily. Here the cluster is what may fall on either side.
"""

__all__ = ["sign_flip_exact"]

import numpy as np
import numpy.typing as npt


def sign_flip_exact(differences: npt.ArrayLike) -> float:
    """Return the two-sided p-value of the exact sign-flip test (Fisher's randomisation test for pairs).

    With no difference between two conditions, each cluster's summed difference has either sign like
    a fair coin. p is the share of all sign combinations whose total is at least as far from zero as
    the one seen; it is counted, not drawn. Clusters without a difference say nothing and change
    nothing; where there is no other, p is 1.0, as in `mcnemar_exact`. With at most one
    discordant pair a cluster this is the exact McNemar test.

    Args:
        differences: Of each cluster: pairs right under one condition alone, minus pairs right under the
            other alone; whole numbers.

    Returns:
        p in (0, 1].

    Raises:
        ValueError: A difference is no whole number.
    """
    given = np.asarray(differences, dtype=np.float64)
    steps = np.abs(given).astype(np.int64)
    if not np.array_equal(steps, np.abs(given)):
        raise ValueError("a cluster's difference counts pairs, so it is a whole number")
    seen, furthest = abs(int(given.sum())), int(steps.sum())
    chances = np.zeros(furthest + 1)
    chances[0] = 1.0
    reached = 0
    for step in steps[steps > 0].tolist():
        reached += step
        chances[step : reached + 1] += chances[: reached + 1 - step].copy()
        chances[: reached + 1] /= 2
    totals = np.abs(2 * np.arange(furthest + 1) - furthest)
    return min(1.0, float(chances[totals >= seen].sum()))
