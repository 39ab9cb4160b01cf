"""How well maps point, summed up over looks: against the mask's share of the image, and against another frame's map."""

__all__ = ["EVERY", "pointing_figures", "pointing_table"]

from typing import TYPE_CHECKING, Any

import numpy as np

from backend.domain.statistics.intervals import Interval, wilson_interval
from backend.domain.statistics.resampling import percentile_interval, resampled_sums
from backend.services.saliency_pointing import pointing_scores
from backend.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

EVERY = "all"
"""In place of an object: all of them."""


def pointing_table(scores: "pd.DataFrame") -> "pd.DataFrame":
    """Sum up scores.

    Means are over maps. A ratio is one of means, for the mean of ratios would be ruled by the tiniest masks. Intervals
    of ratios resample images; that of hits is Wilson's, over maps. Maps that are 0 everywhere are left out.

    Args:
        scores: As in `backend.services.saliency_pointing.Pointed`.

    Returns:
        One row a VLM, object (`EVERY` first), seat and map: vlm, object, seat, map; n (maps), n_images; mass and area
        (means, 0 to 1); times_chance (mass over area) with _low and _high; n_other (of n: with another frame's map
        beside), other_mass (its mean), times_other (mass over other_mass, on those n_other) with _low and _high;
        hits_k, hits (their share) with _low and _high, chance_hit (mean). Undefined is None.
    """
    import pandas as pd

    defined = scores[scores["mass"].notna()]
    rows = []
    for vlm, of_vlm in defined.groupby("vlm", sort=True):
        for name in (EVERY, *sorted(of_vlm["object"].unique())):
            of_object = of_vlm if name == EVERY else of_vlm[of_vlm["object"] == name]
            for (seat, kind), own in of_object.groupby(["seat", "map"], sort=True):
                rows.append({"vlm": vlm, "object": name, "seat": seat, "map": kind, **_summed(own)})
    return pd.DataFrame(rows, columns=_COLUMNS, dtype=object)


def pointing_figures(store: Store) -> dict[str, Any]:
    """Return the pointing scores of a store as plain numbers for a report.

    Returns:
        n_looks, n_scored, n_absent, n_other_frame, n_no_place as in `Pointed`, and rows: those of `pointing_table`.
    """
    found = pointing_scores(store)
    counts = ("n_looks", "n_scored", "n_absent", "n_other_frame", "n_no_place")
    return {
        **{name: getattr(found, name) for name in counts},
        "rows": pointing_table(found.scores).to_dict("records"),
    }


_COLUMNS = (
    "vlm", "object", "seat", "map", "n", "n_images", "mass", "area",
    "times_chance", "times_chance_low", "times_chance_high",
    "n_other", "other_mass", "times_other", "times_other_low", "times_other_high",
    "hits_k", "hits", "hits_low", "hits_high", "chance_hit",
)  # fmt: skip


def _summed(scores: "pd.DataFrame") -> dict[str, Any]:
    mass, area = scores["mass"].to_numpy(float), scores["area"].to_numpy(float)
    beside = scores["other_mass"].notna().to_numpy()
    other = scores["other_mass"].to_numpy(float)[beside]
    images = scores["image_id"].to_numpy(str)
    hits, n = int(scores["is_hit"].astype(bool).sum()), len(scores)
    row: dict[str, Any] = {
        "n": n,
        "n_images": len(set(images)),
        "mass": float(mass.mean()),
        "area": float(area.mean()),
        "n_other": int(beside.sum()),
        "other_mass": float(other.mean()) if len(other) else None,
        "hits_k": hits,
        "hits": hits / n,
        **_bounds("hits", wilson_interval(hits / n, n)),
        "chance_hit": float(scores["chance_hit"].mean()),
    }
    return row | _ratio("times_chance", mass, area, images) | _ratio("times_other", mass[beside], other, images[beside])


def _ratio(key: str, above: Any, below: Any, images: Any) -> dict[str, float | None]:
    """Return a ratio of sums and its interval; None where nothing lies below the line."""
    if not below.sum() > 0:
        return {key: None, **_bounds(key, None)}
    _, places = np.unique(images, return_inverse=True)
    sums = np.stack([np.bincount(places, above), np.bincount(places, below)], axis=1)
    interval = None
    if len(sums) > 1:
        drawn = resampled_sums(sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            interval = percentile_interval(np.where(drawn[:, 1] > 0, drawn[:, 0] / drawn[:, 1], np.nan))
    return {key: float(above.sum() / below.sum()), **_bounds(key, interval)}


def _bounds(key: str, interval: Interval | None) -> dict[str, float | None]:
    return {f"{key}_low": interval.low if interval else None, f"{key}_high": interval.high if interval else None}
