"""Sentences of the Saliency page, each made from the figures on it; of the paper's, what it prints."""

__all__ = [
    "AS_PRINTED",
    "boxes_caption",
    "counts_sentence",
    "failures_sentence",
    "headline",
    "ranks_caption",
]

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.metric import NOT_AVAILABLE
from backend.services.grounding import GroundingCounts
from backend.verimap.proxies import Proxy
from pages.ui.import_report import plural
from pages.ui.number_cell import p_words

Row = Mapping[str, Any]

AS_PRINTED = (
    "As printed (VeriMap, section 4.4 and Fig. 5, five data sets and five VLMs pooled): Δ = +0.027, d = 2.33 by image "
    "saliency fraction; Δ = +0.020, d = 0.60 by mean gradient activation; p < 0.001 both. The paper prints no even "
    "share beside them."
)
"""What the paper says of its gap; it prints no table."""

_CORRELATIONAL = (
    "Correlational, not causal: a gap does not say that a verdict would be better, had the verifier looked longer."
)

_LONGER = (
    "A verifier's prompt is longer, as it holds the answer, and a longer prompt alone leaves the image a smaller "
    "share: so the even share stands beside."
)

_DEPENDENT = (
    "Pairs of one image are not independent: the interval of Δ resamples images, the p of Wilcoxon's test takes no "
    "account of it."
)


def headline(by_fraction: Row | None, by_times_even: Row | None) -> str:
    """Return the page's sentence: in how many verifications the verifier looked less, raw and against an even spread.

    Args:
        by_fraction: The row over all pairs by `Proxy.FRACTION`; None where there is no pair.
        by_times_even: The same by `Proxy.TIMES_EVEN`.
    """
    if by_fraction is None or not by_fraction["n"]:
        return "No verification that fits these filters was looked into on both sides."
    said = (
        f"In {by_fraction['n_lower']:,} of {plural(by_fraction['n'], 'verification')} the verifier gave the image a "
        "smaller share of its attention than the generator had; measured against an even spread, in "
    )
    if by_times_even is None or not by_times_even["n"]:
        return f"{said}none, for no even share is known."
    of = "" if by_times_even["n"] == by_fraction["n"] else f" of {by_times_even['n']:,}"
    return f"{said}{by_times_even['n_lower']:,}{of}."


def counts_sentence(counts: GroundingCounts) -> str:
    """Return how many verifications were looked into on both sides, and what is with the rest."""
    told = [
        f"{n:,} {words}"
        for n, words in (
            (counts.n_generator_only, "at the generator's answer alone"),
            (counts.n_verifier_only, "at the verifier's reply alone"),
            (counts.n_failed, "with a look that failed"),
            (counts.n_neither, "not looked into"),
        )
        if n
    ]
    rest = f"; the others: {', '.join(told)}" if told else ""
    return f"Looked into on both sides: {counts.n_both:,} of {plural(counts.n, 'verification')}{rest}."


def failures_sentence(counts: GroundingCounts, most: int = 4) -> str:
    """Return why looks failed, the most frequent reasons first; empty where none did.

    Args:
        counts: Of `grounding_counts`.
        most: So many reasons are told; more are counted.
    """
    if not counts.failures:
        return ""
    told = [f"{one.n:,}/{counts.n:,} {_WHOSE[one.side]}: {one.reason.rstrip('.')}" for one in counts.failures[:most]]
    if more := counts.failures[most:]:
        told.append(f"{sum(one.n for one in more):,} for {plural(len(more), 'further reason')}")
    return f"Failed looks. {'; '.join(told)}."


_WHOSE = {"generator": "at the answer", "verifier": "at the verifier's reply"}


def boxes_caption(proxy: Proxy, vlms: Sequence[str]) -> str:
    """Return what the boxes show and what they do not say, for a proxy.

    Args:
        proxy: What is drawn.
        vlms: All VLMs of the pairs; gradients of several are not on one scale.
    """
    told = [proxy.plain, f"{proxy.label}: {proxy.formula}.", f"{proxy.source[0].upper()}{proxy.source[1:]}."]
    if proxy is not Proxy.GRADIENT:
        told.append(_LONGER)
    elif len(vlms) > 1:
        told.append(f"{len(vlms)} VLMs are pooled here, each with a scale of its own: choose one to compare.")
    return " ".join([*told, _CORRELATIONAL, "A point opens its two looks."])


def ranks_caption(overall: Row, by: str) -> str:
    """Return what the tests test, and what Kruskal and Wallis' says of the differences between groups.

    Args:
        overall: The row over all pairs.
        by: ``task`` or ``outcome``.
    """
    if overall["kruskal_p"] is None:
        between = f"Kruskal and Wallis' test between {by}s: {NOT_AVAILABLE}, there are not two of them to compare."
    else:
        h, df, p = (overall[f"kruskal_{part}"] for part in ("statistic", "df", "p"))
        between = (
            f"Kruskal and Wallis' test of the differences between {by}s ({overall['kruskal_hypothesis']}): "
            f"H = {h:.2f}, df = {df}, p {_relation(p)}."
        )
    return f"Wilcoxon's signed-rank test, {overall['hypothesis']}. {between} {_DEPENDENT}"


def _relation(p: float) -> str:
    words = p_words(p)
    return words if words.startswith("<") else f"= {words}"
