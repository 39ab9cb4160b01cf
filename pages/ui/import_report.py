"""What an import did, as a page shows it: what went in, what did not, and where to look next."""

__all__ = ["bad_lines_csv", "number_columns", "plural", "show_bad_lines", "show_report", "summary"]

import csv
import io
from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from backend.domain.records import Stage
from backend.domain.stage_words import stage_words
from backend.errors import MAX_LISTED_LINES, BadLine
from backend.services.demo.built_in import BEGUN
from backend.services.ingest.report import ImportReport
from backend.verimap.setups import setting_words
from pages.ui.label_report import label_words, show_labels
from pages.ui.system_links import show_ways_on

KINDS = {
    "endoca": "EndoCA files",
    "kvasir": "Suite from Kvasir-VQA-x1",
    "surgcheck": "SurgCheck files",
    "verimap": "VeriMap questions and labels",
    "verimap records": "Verification records",
    "images": "Images",
    "blind": "Blind baseline",
    "run": "Run folder",
    "demo": "Built-in data set",
    BEGUN: "Built-in data set",
    "rescore": "Scoring anew",
    "removal": "Removal",
}
"""Kind of an import → in words."""

SAID_BY_NOTES = ("rescore", "removal", BEGUN)
"""Kinds whose notes say all there is to say."""

NO_IMAGE_FOUND = "nothing changed: no file there is named like an image of the store"

IMAGE_WORDS = {
    "found": "images whose file lies in the folder",
    "new": "of these, new or changed",
    "ambiguous": "images for which several files could be meant",
    "missing": "images in the store still without a file",
    "broken": "files that cannot be used",
    "not_named": "files that no unit names",
}
"""Counts of `attach_images` → in words."""


def plural(count: int, noun: str) -> str:
    """Return ``1 unit``, ``2,000 units``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def summary(report: ImportReport) -> str:
    """Return what an import brought, in one line; names of suites and VLMs are as in the file."""
    if report.kind in SAID_BY_NOTES:
        return " ".join(report.notes)
    parts: list[str] = []
    for suite in report.suites:
        if suite.n_new:
            parts.append(f"{plural(suite.n_new, 'new unit')} in suite {suite.suite}")
        if suite.n_completed:
            parts.append(f"{plural(suite.n_completed, 'unit')} of suite {suite.suite} completed")
    given = "verdict" if report.runs and all(run.stage == Stage.VERIFY for run in report.runs) else "answer"
    new, replaced, judged, looked = (
        sum(getattr(run, field) for run in report.runs)
        for field in ("n_new", "n_replaced", "n_judged_changed", "n_looks_changed")
    )
    if new:
        parts.append(f"{plural(new, f'new {given}')} of {_whose(report, 'n_new')}")
    if replaced:
        parts.append(f"{plural(replaced, given)} of {_whose(report, 'n_replaced')} replaced")
    if judged:
        parts.append(f"a judge’s scores of {plural(judged, 'answer')}")
    if looked:
        parts.append(f"saliency of {plural(looked, 'answer')} of {_whose(report, 'n_looks_changed')}")
    if report.labels is not None and report.labels.n_changed:
        parts.append(label_words(report.labels))
    if report.images.get("new"):
        parts.append(f"files for {plural(report.images['new'], 'image')}")
    if report.bad_lines:
        parts.append(f"{plural(len(report.bad_lines), 'bad line')} left out")
    if report.left_out:
        parts.append(f"{plural(len(report.left_out), 'row')} not taken")
    if not report.changed:
        none_found = report.images and not report.images.get("found")
        parts.insert(0, NO_IMAGE_FOUND if none_found else "nothing changed: all of it was there already")
    return "; ".join(parts)


def _whose(report: ImportReport, field: str) -> str:
    """Return whose runs an import changed in a field: the VLM's name, or how many they are."""
    vlms = {run.vlm for run in report.runs if getattr(run, field)}
    return vlms.pop() if len(vlms) == 1 else plural(len(vlms), "VLM")


def show_report(report: ImportReport, *, key: str) -> None:
    """Draw the report of an import.

    Args:
        report: What the import did.
        key: Unique on the page.
    """
    if report.kind not in SAID_BY_NOTES:
        _paragraph(_as_sentence(summary(report)))
    if report.suites:
        _table([
            {
                "suite": suite.suite, "units": suite.n_units, "new": suite.n_new, "completed": suite.n_completed,
                "complex questions": suite.n_complex, "atomic questions": suite.n_atomic, "pairs": suite.n_pairs,
                "images": suite.n_images,
            }
            for suite in report.suites
        ], where_any=("completed", "complex questions", "atomic questions", "pairs"))  # fmt: skip
    if report.runs:
        _table([
            {
                "VLM": run.vlm, "stage": stage_words(run.stage), "setting": setting_words(run.setting),
                "suite": run.suite, "answers": run.n_answers, "new": run.n_new, "replaced": run.n_replaced,
                "unchanged": run.n_unchanged, "missing": run.n_missing, "failed": run.n_failed, "empty": run.n_empty,
                "not readable": run.n_unparsed, "judge’s scores, new": run.n_judged_changed,
                "not judged": run.n_unjudged, "saliency, new": run.n_looks_changed,
            }
            for run in report.runs
        ], where_any=("setting", "judge’s scores, new", "not judged", "saliency, new"))  # fmt: skip
        st.caption(_run_words(report))
    if report.labels is not None:
        show_labels(report.labels)
    if report.images:
        _table([{"images and files": IMAGE_WORDS.get(name, name), "number": n} for name, n in report.images.items()])
    if report.exclusions:
        _table([{"left out, by reason": reason, "number": n} for reason, n in report.exclusions.items()])
    if report.left_out:
        part = st.expander(
            f"The {plural(len(report.left_out), 'row')} not taken", key=f"{key}_left_out_open", on_change="rerun"
        )
        if part.open:
            with part:
                _show_lines(report.left_out, "rows", "why it was not taken", key=f"{key}_left_out")
    if report.notes:
        items = "".join(f"<li>{escape(note)}</li>" for note in report.notes[:MAX_LISTED_LINES])
        rest = len(report.notes) - MAX_LISTED_LINES
        items += f"<li>… and {rest:,} more.</li>" if rest > 0 else ""
        st.html(f"<ul style='margin:0;padding-left:1.2em'>{items}</ul>")
    if report.bad_lines:
        show_bad_lines(report.bad_lines, key=key)
    suites = {suite.suite for suite in report.suites} | {run.suite for run in report.runs}
    if report.labels is not None:
        suites.add(report.labels.suite)
    show_ways_on(suites, {run.run_id: run.suite for run in report.runs}, key=f"{key}_links")


def show_bad_lines(lines: Sequence[BadLine], *, key: str) -> None:
    """Draw the first bad lines with their numbers, and offer all of them as CSV."""
    _show_lines(lines, "bad lines", "why it cannot be used", key=f"{key}_bad_lines")


def _show_lines(lines: Sequence[BadLine], what: str, reason: str, *, key: str) -> None:
    listed = lines[:MAX_LISTED_LINES]
    shown = f"The first {len(listed)} of {len(lines):,} {what}" if len(lines) > len(listed) else what.capitalize()
    _paragraph(f"{shown}:")
    _table([{"file": line.file, "line": line.number, reason: line.reason} for line in listed])
    st.download_button(
        "Download all as CSV",
        data=lambda: bad_lines_csv(lines),
        file_name=f"{what.replace(' ', '_')}.csv",
        mime="text/csv",
        key=key,
        on_click="ignore",
    )


def bad_lines_csv(lines: Sequence[BadLine]) -> bytes:
    """Return lines as CSV: file, line, reason.

    A cell that a spreadsheet would take for a formula gets a quote mark before it.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["file", "line", "reason"])
    for line in lines:
        writer.writerow([_no_formula(line.file), line.number, _no_formula(line.reason)])
    return text.getvalue().encode()


def _no_formula(cell: str) -> str:
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _run_words(report: ImportReport) -> str:
    """Return what the counts of runs mean."""
    looked = [run.stage == Stage.SALIENCY for run in report.runs]
    of_looks = "Of saliency, failed counts answers that could not be looked into, each with its reason."
    if all(looked):
        return of_looks
    if any(looked):
        return f"{_answer_words(report)} {of_looks}"
    return _answer_words(report)


def _answer_words(report: ImportReport) -> str:
    if all(run.stage == Stage.VERIFY for run in report.runs):
        return (
            "Answers are verdicts here. Not readable: replies without a verdict. Not judged: verdicts on answers of "
            "which nobody says whether they are right. The counts are of the run as it now stands in the store."
        )
    never_asked = ", but for questions with a cue or in a text that the run was never asked"
    but = never_asked if report.kind == "surgcheck" else ""
    return (
        "Missing, failed, empty and not readable count the run as it now stands in the store; each is a wrong "
        f"answer{but}."
    )


def _paragraph(text: str) -> None:
    """Draw a line of plain text; it may hold names from a user's file."""
    st.html(f"<p style='margin:0;overflow-wrap:anywhere'>{escape(text)}</p>")


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def number_columns(*names: str) -> dict[str, Any]:
    """Return the column settings that give whole numbers their thousands separators."""
    return {name: st.column_config.NumberColumn(format="localized") for name in names}


def _table(rows: list[dict[str, object]], *, where_any: Sequence[str] = ()) -> None:
    """Draw rows as a table.

    Args:
        rows: At least one.
        where_any: Columns that are left out where no row says anything in them.
    """
    silent = [name for name in where_any if not any(row[name] for row in rows)]
    shown = pd.DataFrame(rows).drop(columns=silent)
    whole = [str(name) for name in shown if pd.api.types.is_integer_dtype(shown[name]) and name != "line"]
    numbers = number_columns(*whole)
    st.dataframe(shown, hide_index=True, width="content", column_config=numbers)
