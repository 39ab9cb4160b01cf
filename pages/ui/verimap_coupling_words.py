"""Sentences about generator–verifier coupling, each made from the fits beside it."""

__all__ = ["cells_sentence", "coupling_sentence", "fit_words", "odds_sentence", "shape_legend"]

from collections.abc import Iterable, Mapping
from html import escape

from backend.figures.style import short_name
from backend.figures.verimap import SYMBOLS, symbol_of
from backend.figures.verimap_coupling import METRIC_LABELS
from backend.services.verimap_coupling import CellSource, CouplingCells
from backend.services.verimap_published import VERIMAP_PAPER
from backend.store.verification_filters import BOTH, VerificationFilter
from backend.verimap.coupling import CellFit, Coupling
from pages.ui.import_report import plural
from pages.ui.number_cell import p_words


def coupling_sentence(fit: CellFit, metric: str) -> str:
    """Return what the cell-level model says of a metric."""
    label = METRIC_LABELS[metric]
    found = fit.fit.estimates
    if found is None:
        return f"Whether {label} follows the generator's error cannot be said: {fit.fit.problem}"
    slope = found.slope
    # Per 10 points of generator error: a slope over the whole range is seldom within what was measured.
    change = f"{10 * slope.value:+.1f}".replace("-", "−")
    interval = f"{10 * slope.low:+.1f} to {10 * slope.high:+.1f}".replace("-", "−")
    verb = "changes" if slope.p < 0.05 else "does not clearly change"
    return (
        f"{label} {verb} with the generator's error: by {change} points ({interval}) where 10 points more of its "
        f"answers are wrong (p {_equals(slope.p)}, {plural(fit.fit.n, 'cell')})."
    )


def fit_words(fit: CellFit) -> str:
    """Return what has to be known of a fit besides its numbers; empty where there is nothing."""
    told = []
    if not fit.fit.converged:
        told.append(fit.fit.problem)
    elif fit.fit.singular:
        told.append("singular: not all of its random effects are seen to vary")
    if fit.left_out:
        told.append(f"only one {' and one '.join(_factor(name) for name in fit.left_out)}, so without its effect")
    return "; ".join(told)


def cells_sentence(cells: CouplingCells, source: CellSource, asked: VerificationFilter) -> str:
    """Return which cells these are, and what was left out."""
    if source is CellSource.PRINTED:
        return (
            f"{plural(len(cells.table), 'cell')} as printed ({VERIMAP_PAPER}, Tables 6 to 15), self-verification, "
            "whatever is chosen above. Printed without counts and without cases."
        )
    who = {
        "self": "each VLM verifying itself",
        "cross": "each VLM verified by others",
        BOTH: "self- and cross-verification, each pair of VLMs a level of its own",
    }[asked.pairing]
    told = f"{plural(len(cells.table), 'cell')} of this store: plain verdicts on first answers, {who}."
    if cells.n_unlabelled:
        told += f" {plural(cells.n_unlabelled, 'verdict')} on questions without a task left out."
    return f"{told} A point opens its verdicts."


def odds_sentence(coupling: Coupling) -> str:
    """Return what the answer-level models say."""
    for name, words in (("M2", ""), ("M1", " (M1; M2 did not converge)")):
        found = coupling.models[name].fit.estimates
        if found is not None:
            effect = found.fixed[1]
            return (
                f"Where the generator is wrong, the odds that the verifier errs are {effect.odds_ratio:,.1f} times as "
                f"high ({effect.odds_ratio_low:,.1f} to {effect.odds_ratio_high:,.1f}, p {_equals(effect.p)}; "
                f"{plural(coupling.models[name].fit.n, 'verdict')}){words}."
            )
    return "No model of single answers converged, so no odds ratio can be given."


def shape_legend(verifiers: Iterable[str], places: Mapping[str, int]) -> str:
    """Return the shapes of verifiers as HTML.

    Args:
        verifiers: That occur.
        places: Place of each VLM in the store.
    """
    known = sorted(set(verifiers), key=lambda vlm: (places.get(vlm, len(places)), vlm))
    entries = "".join(
        f'<span style="white-space:nowrap" title="{escape(vlm)}">{_GLYPHS[symbol_of(places.get(vlm, len(places)))]} '
        f"{escape(short_name(vlm))}</span>"
        for vlm in known
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.3em 1.1em;font-size:.88em">{entries}</div>'


_GLYPHS = dict(zip(SYMBOLS, "●■◆▲★✚⬢▼⬟✖⧓⧗", strict=True))
"""Shape of a point → a letter that looks like it."""


def _equals(p: float) -> str:
    words = p_words(p)
    return words if words.startswith("<") else f"= {words}"


def _factor(name: str) -> str:
    return {"task": "task", "model": "VLM", "dataset": "data set"}[name]
