"""Sentences on whether saliency maps can be trusted: what is to be expected of an honest map, and what came out."""

__all__ = ["curves_sentence", "pointing_sentences", "shuffled_sentence", "tampered_sentence"]

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.metric import NOT_AVAILABLE, percent
from backend.services.saliency_checks import Part, Shuffled
from backend.services.saliency_pointing_table import EVERY
from backend.vlm.saliency.faithfulness import Curves
from pages.ui.verimap_words import pair_words

Row = Mapping[str, Any]

HARDLY = 0.05
"""A change of the answer's probability below which the answer hangs on the image so little that no order of its places
could show anything. Ours."""

ALIKE = 0.5
"""A rank correlation from which on a map under shuffled weights counts as much the same. Ours."""


_BETTER = ("no better than the random order", "better one way only", "better both ways")
"""By how many of the two curves are better than those of the random order."""


def curves_sentence(curves: Mapping[Part, Curves]) -> str:
    """Return what deletion and insertion are expected to show, and what they showed, map by map.

    Areas that print alike count as equal.
    """
    told = [
        "With an honest map, the answer’s probability falls sooner than in a random order when the brightest places "
        "are blurred first, and rises sooner when they come back first: a smaller area under the first curve, a larger "
        "one under the second."
    ]
    own = next(iter(curves.values()), None)
    if own is None:
        return told[0]
    whole, blurred = own.deletion[0], own.deletion[-1]
    if abs(whole - blurred) < HARDLY:
        told.append(
            f"Here the probability is {whole:.2f} with the image and {blurred:.2f} with all of it blurred: the answer "
            "hardly hangs on the image, so the curves can say little."
        )
    for part, one in curves.items():
        deletion, insertion, first, second = (
            round(one.area(name), 2) for name in ("deletion", "insertion", "chance_deletion", "chance_insertion")
        )
        n_better = (deletion < first) + (insertion > second)
        told.append(
            f"{part.capitalize()} map: {deletion:.2f} against {first:.2f} for the random order, and "
            f"{insertion:.2f} against {second:.2f}: {_BETTER[n_better]}."
        )
    return " ".join(told)


def shuffled_sentence(shuffled: Shuffled) -> str:
    """Return what a map under shuffled weights is expected to look like, and how alike the two are."""
    told = [
        "With its weights shuffled the VLM knows nothing any more, so an honest map becomes another one: a rank "
        "correlation near 0 with the map as it is; 1 would be the same order of places."
    ]
    for name, value in (("Attention", shuffled.attention), ("Gradient", shuffled.gradient)):
        if value is None:
            told.append(f"{name}: {NOT_AVAILABLE}, one of the two maps is even or not there.")
        else:
            alike = ": much the same map, which therefore says little of what was learnt" if value >= ALIKE else ""
            told.append(f"{name}: {_signed(value)}{alike}.")
    return " ".join(told)


def pointing_sentences(found: Mapping[str, Any]) -> list[str]:
    """Return what is to be expected, what came out for each VLM, and what was left out.

    Args:
        found: As `backend.services.saliency_pointing_table.pointing_figures` returns it.
    """
    told = [
        "On drawn frames the place of what is asked about is known. An honest map has more of itself there than an "
        "even map would (chance), and more than the map of another frame has there."
    ]
    every = [row for row in found["rows"] if row["object"] == EVERY]
    for vlm in dict.fromkeys(row["vlm"] for row in every):
        told.append(_pointed(vlm, [row for row in every if row["vlm"] == vlm]))
    left = [
        f"{found[key]:,} {words}"
        for key, words in (
            ("n_absent", "because nothing of what is asked about is in the frame"),
            ("n_other_frame", "because the frame’s file is not at hand or is drawn otherwise here"),
            ("n_no_place", "because nobody knows where their maps lie"),
        )
        if found[key]
    ]
    scored = f"{found['n_scored']:,} of {found['n_looks']:,} looks at these questions are scored"
    told.append(f"{scored}; left out: {', '.join(left)}." if left else f"{scored}.")
    return told


def tampered_sentence(rows: Sequence[Row]) -> str:
    """Return what is to be expected of a verdict without its image, and what became of those with saliency.

    Args:
        rows: Of `condition_table`, each with its ``control``: "image withheld" or "image swapped".
    """
    told = ["A verdict that is given for what the image shows should change where the image is taken away or swapped."]
    for row in rows:
        if row["unchanged"] is None:
            told.append(
                f"{pair_words(row)}, {row['control']}: none of {row['n_without']:,} answers has a verdict on both "
                "sides to compare."
            )
            continue
        told.append(
            f"{pair_words(row)}, {row['control']}: {row['unchanged_k']:,} of {row['unchanged_n']:,} verdicts stay the "
            f"same ({percent(row['unchanged'])}{_bounds(row, 'unchanged')})."
        )
    return " ".join(told)


def _pointed(vlm: str, rows: Sequence[Row]) -> str:
    """Return the ratios of a VLM's maps, and how many lie above chance by their interval."""
    ratios = []
    for row in rows:
        low, high = row["times_chance_low"], row["times_chance_high"]
        interval = "" if low is None else f" ({low:.1f}–{high:.1f})"
        ratios.append(f"{row['seat']}’s {row['map']} {row['times_chance']:.1f}{interval}")
    beside = [f"{row['times_other']:.1f}" for row in rows if row["times_other"] is not None]
    others = f" Times another frame’s map, likewise: {', '.join(beside)}." if len(beside) == len(rows) else ""
    above = sum(row["times_chance_low"] is not None and row["times_chance_low"] > 1 for row in rows)
    return (
        f"{vlm}, times chance: {', '.join(ratios)}. {above} of {len(rows)} have a 95 % interval above 1, which is "
        f"chance.{others}"
    )


def _bounds(row: Row, key: str) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return "" if low is None else f"; {100 * low:.1f}–{100 * high:.1f}"


def _signed(value: float) -> str:
    rounded = f"{abs(value):.2f}"
    return f"−{rounded}" if value < 0 and float(rounded) else rounded
