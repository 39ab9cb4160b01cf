"""Sentences of the EndoCA page, each made from the figures on it; no number is typed in."""

__all__ = [
    "blind_sentence",
    "counted",
    "gaps_sentence",
    "headline",
    "legend",
    "metric_help",
    "nothing_shown",
    "quiet_line",
    "shift_sentence",
    "suite_notes",
]

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from backend.domain.metric import NOT_AVAILABLE, percent, points
from backend.domain.records import Origin
from backend.endoca.metrics import METRICS
from backend.figures.style import BLIND_GROUP, short_name
from backend.services.endoca_series import BlindFinding, PrintedShift, SuiteFacts, lacks_answers
from pages.ui.tags import origin_tag, vlm_mark

Row = Mapping[str, Any]

NAMED_GAPS = 3
"""So many runs that lack answers are named; more are counted."""

_HOLE = "display:inline-flex;mask:radial-gradient(circle closest-side at 50% 55%,transparent 50%,black 62%)"
"""Makes a mark hollow."""


def counted(units: int) -> str:
    """Return "1 unit", "412 units"."""
    return f"{units:,} unit{'' if units == 1 else 's'}"


def headline(rows: Sequence[Row]) -> str:
    """Return the page's sentence about the VLM that answers most complex questions right.

    Runs go before printed rows, since there are answers behind them, and whole runs before those
    that lack answers: of such a one the sentence does not tell what its right answers rest on.

    Args:
        rows: Rows of `series_table`, at least one.
    """
    vlms = [row for row in rows if row["vlm_group"] != BLIND_GROUP and row["complex_accuracy"] is not None]
    if not vlms:
        return "Only the blind baseline is shown, and no VLM."
    best = max(vlms, key=lambda row: (row["run_id"] is not None and not lacks_answers(row), row["complex_accuracy"]))
    right, wrong = percent(best["complex_accuracy"]), percent(best["inconsistency"])
    if best["run_id"] is None:
        return (
            f"{best['vlm']} answers {right} of complex questions right; {wrong} of those rest on a wrong part "
            "(as printed)."
        )
    answers = f"{best['label']} answers {right} of complex questions right (n = {best['n_units']:,})"
    if lacks_answers(best):
        return f"{answers}; many of its answers are missing or failed."
    if best["inconsistency"] is None:
        return f"{answers}."
    return f"{answers}; {wrong} of those {best['inconsistency_n']:,} rest on a wrong part."


def gaps_sentence(rows: Sequence[Row]) -> str:
    """Return which runs lack many of their answers, which the figures show as wrong; empty where none does."""
    gaps = [row for row in rows if lacks_answers(row)]
    if not gaps:
        return ""
    told = []
    for row in gaps[:NAMED_GAPS]:
        n = row["n_units"] + row["n_atomic"]
        told.append(f"of {short_name(str(row['label']))}, {row['n_missing'] + row['n_failed']:,} of {n:,}")
    if len(gaps) > NAMED_GAPS:
        others = len(gaps) - NAMED_GAPS
        told.append(f"of {others} other run{'' if others == 1 else 's'}, many")
    return (
        f"Missing or failed answers count as wrong: {'; '.join(told)}. A right answer with a missing part thus counts "
        "as inconsistent, though nothing contradicts it."
    )


def nothing_shown(suite: str, *, units: bool, runs: bool, filtered: bool) -> str:
    """Return why there is no series to draw.

    Args:
        suite: Its name.
        units: Whether the store holds its units.
        runs: Whether a run answers it.
        filtered: Whether anything but the suite is chosen.
    """
    if runs:
        return f"No run over suite {suite} fits these filters, so there is nothing to compare. Clear them to see all."
    if not units:
        return f"The store holds no unit of suite {suite}, and its printed table does not fit these filters."
    if filtered:
        return f"No VLM has answered suite {suite} in this store, and no printed figure fits these filters."
    return f"No VLM has answered suite {suite} in this store yet, so there is nothing to compare."


def blind_sentence(finding: BlindFinding) -> str:
    """Return what answering without looking reaches, and whether that is more than any VLM here."""
    base = finding.baseline
    reached = (
        "Without looking at any image, a look-up of the usual answers reaches "
        f"{percent(base['atomic_accuracy'])} atomic, {percent(base['complex_accuracy'])} complex and "
        f"{percent(base['joint_accuracy'])} joint accuracy here"
    )
    if finding.best is None:
        return f"{reached}."
    best = f"{finding.best['label']}, {percent(finding.best['joint_accuracy'])}"
    if finding.beats_all:
        return f"{reached}. Its joint accuracy is above that of every VLM shown (best: {best})."
    compared = "the same" if finding.best["joint_accuracy"] == base["joint_accuracy"] else "higher"
    return f"{reached}; the best VLM's joint accuracy is {compared} ({best})."


def suite_notes(facts: SuiteFacts, rows: Sequence[Row]) -> list[str]:
    """Return what bounds the reading of the figures, as far as this store's data can say it."""
    notes = []
    if facts.n_one_part:
        share = percent(facts.n_one_part / facts.n_units)
        notes.append(
            f"{share} of the suite's units ({facts.n_one_part:,}/{facts.n_units:,}) "
            "have a single part, so their complex and atomic question ask the same in other words."
        )
    repeats = facts.n_atomic - facts.n_distinct_atomic
    if repeats:
        notes.append(
            f"{repeats:,} of {facts.n_atomic:,} atomic questions ask the same of the same image again; "
            "intervals therefore rest on images, not on single questions."
        )
    adapted = any(row["vlm_group"] == "endoscopy_adapted" for row in rows)
    if facts.n_train and adapted:
        notes.append(
            f"{facts.n_train:,} of {facts.n_units:,} units come from the training split of the source data: VLMs "
            "adapted to endoscopy may have seen them."
        )
    return notes


def shift_sentence(shift: PrintedShift) -> str:
    """Return how far one printed VLM moves between the suites, and how little the others do."""
    direction = "falls" if shift.values[1] < shift.values[0] else "rises"
    return (
        f"{shift.vlm}'s printed atomic accuracy {direction} from {percent(shift.values[0])} on "
        f"{shift.suites[0]} to {percent(shift.values[1])} on {shift.suites[1]}; no other printed VLM moves by more "
        f"than {points(shift.next_largest).removeprefix('+')}."
    )


def quiet_line(words: str) -> str:
    """Return a note that may hold a data set's text as HTML; `st.caption` would read it as Markdown."""
    return f'<p style="font-size:.875rem;opacity:.65;margin:0">{escape(words)}</p>'


def legend(rows: Sequence[Row]) -> str:
    """Return the marks and names of some series as HTML, hollow for printed, each with the tag of its origin."""
    entries = []
    for row in rows:
        place = int(row["place"]) if int(row["place"]) >= 0 else None
        name = str(row["vlm"] if row["run_id"] is None else row["label"])
        mark, tag = vlm_mark(row["vlm_group"], place), origin_tag(row["origin"])
        if row["run_id"] is None:
            mark = f'<span style="{_HOLE}">{mark}</span>'
        entries.append(
            '<span style="display:inline-flex;align-items:baseline;gap:.45em;white-space:nowrap">'
            f'{mark}<span title="{escape(name)}">{escape(short_name(name))}</span>{tag}</span>'
        )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.3em 1.1em;font-size:.88em">{"".join(entries)}</div>'


def metric_help(key: str, rows: Sequence[Row]) -> str:
    """Return one sentence, one formula and one example for a metric, for a tooltip.

    A tooltip is Markdown, so the name of the example's run, a data set's text, stands in it as code.

    Args:
        key: A key of `METRICS`.
        rows: Rows of the table shown; the first run with counts that does not lack answers gives the
            example, and is named.
    """
    metric = METRICS[key]
    text = f"{metric.plain.capitalize()} ({metric.term}): {metric.formula}. N/A when {metric.undefined_when}."
    for row in rows:
        if row.get("run_id") is not None and lacks_answers(row):
            continue
        if row.get(f"{key}_n") and row["origin"] != Origin.PUBLISHED and row["vlm_group"] != BLIND_GROUP:
            value = percent(row[key])
            if value != NOT_AVAILABLE:
                name = short_name(str(row.get("label") or row["vlm_group"])).replace("`", "'")
                text += f" Here, for example, `{name}`: {row[f'{key}_k']:,} / {row[f'{key}_n']:,} = {value}."
            break
    return text
