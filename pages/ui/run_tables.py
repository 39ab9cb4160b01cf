"""Runs as tables: all of them with what became of their questions, and of one what no value was read from."""

__all__ = ["show_run_table", "show_sessions", "show_unread"]

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE
from backend.domain.records import AnswerStatus, Role, System
from backend.domain.stage_words import stage_words
from backend.figures.style import GROUP_LABELS, ORIGIN_GLYPHS
from backend.services.runs.overview import RunSummary
from backend.services.runs.record import RunRecord
from backend.services.runs.unread import unread_answers
from pages.ui.answer_words import role_name
from pages.ui.clicks import OPEN, clickable_table
from pages.ui.filters import link_choice
from pages.ui.links import CASE, open_page
from pages.ui.resources import kept
from pages.ui.run_words import FAILURES, NO_SPEED, known, named_runs
from pages.ui.store_tables import SYSTEMS
from pages.ui.suite_names import suite_words
from pages.ui.system_links import query_of

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 9
"""A longer table scrolls, so that the run chosen in it stays in sight."""

PAGE_SIZE = 50


def show_run_table(runs: Sequence[RunSummary]) -> str | None:
    """Draw the runs; return the id of the one just opened, else None.

    Args:
        runs: At least one.
    """
    import pandas as pd

    names, covered = named_runs(runs), [run.coverage for run in runs]
    table = pd.DataFrame(
        {
            OPEN: "Open",
            "vlm": names,
            "suite": [suite_words(run.suite) for run in runs],
            "origin": [ORIGIN_GLYPHS[run.origin] for run in runs],  # type: ignore[index]
            "answered": [f"{one.n_answered:,} / {one.n_probes:,}" for one in covered],
            "failed": [one.n_failed for one in covered],
            "empty": [one.n_empty for one in covered],
            "unparsed": [one.n_unparsed for one in covered],
            "missing": [one.n_missing for one in covered],
            "speed": [_speed(run) for run in runs],
            "prompts": [known(run.prompt_version) for run in runs],
            "decoding": [known(run.decoding) for run in runs],
            "group": [GROUP_LABELS.get(run.vlm_group or "", run.vlm_group or "not known") for run in runs],
            "since": [run.created_at for run in runs],
            "stage": [stage_words(run.stage) for run in runs],
            "system": [SYSTEMS.get(run.system, run.system) for run in runs],
        }
    ).astype({"speed": "Float64"})
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    clicked = clickable_table(
        table,
        key="run_table",
        words=lambda row, _: f"{names[row]} on {runs[row].suite}",
        ask="Open, in a row, shows the run below. So does this button for a chosen row.",
        column_config={
            "vlm": text("VLM", width=170),
            "suite": text("Suite", width=115),
            "origin": text("Origin", width=105),
            "answered": text("Answered", width=95, help="Questions of the suite the VLM said something to"),
            **{
                status.value: number(name, width=width, help=f"{meaning}; counted as wrong", format="localized")
                for (status, (name, meaning)), width in zip(FAILURES.items(), (55, 55, 90, 65), strict=True)
            },
            "speed": number("Answers/s", width=75, format="localized", help=f"Calls by their wall time. {NO_SPEED}"),
            "prompts": text("Prompts", width=90),
            "decoding": text("Decoding", width=180),
            "group": text("Group", width=150),
            "since": st.column_config.DatetimeColumn("Imported, UTC", format="YYYY-MM-DD HH:mm", width=130),
            "stage": text("Stage", width=70),
            "system": text("System", width=80),
        },
        height="content" if len(runs) <= SHOWN_ROWS else 36 * (SHOWN_ROWS + 1),
        placeholder=NOT_AVAILABLE,
    )
    return None if clicked is None else runs[clicked[0]].run_id


def _speed(run: RunSummary) -> float | None:
    """Return answers a second to three figures; None where nobody timed them."""
    return float(f"{run.throughput.answers_per_second:.3g}") if run.throughput else None


def show_sessions(record: RunRecord) -> None:
    """Draw the sessions of a batch run: each start of the command, to its end or its being killed."""
    import pandas as pd

    rows = [
        {
            "started, UTC": session.started,
            "last saved, UTC": session.last_saved,
            "calls": session.n_asked,
            "answers/s": session.n_asked / session.seconds if session.seconds else None,
        }
        for session in record.sessions
    ]
    times = {name: st.column_config.DatetimeColumn(width=125, format="YYYY-MM-DD HH:mm") for name in list(rows[0])[:2]}
    numbers = {
        "calls": st.column_config.NumberColumn(width=60, format="localized"),
        "answers/s": st.column_config.NumberColumn(width=75, format="%.2f"),
    }
    st.dataframe(
        pd.DataFrame(rows).astype({"answers/s": "Float64"}),
        hide_index=True,
        width="content",
        height="content" if len(rows) <= SHOWN_ROWS else 36 * (SHOWN_ROWS + 1),
        column_config={**times, **numbers},
        placeholder=NOT_AVAILABLE,
    )


def show_unread(run: RunSummary) -> None:
    """Draw what became of the questions no value was read for: one kind at a time, each with the way to its case.

    Args:
        run: At least one of its questions has no readable answer.
    """
    counts = {status: getattr(run.coverage, f"n_{status.value}") for status in FAILURES}
    offered = {FAILURES[status][0]: status for status, n in counts.items() if n}
    status = offered[link_choice("answers", "Kind", list(offered))]
    total = counts[status]
    n_pages = ceil(total / PAGE_SIZE)
    page = 1
    if n_pages > 1:
        page = st.pagination(n_pages, key=f"unread_page_{run.run_id}_{status}")
    first = (page - 1) * PAGE_SIZE
    answers = kept(unread_answers, run.run_id, status.value, offset=first, limit=PAGE_SIZE)
    counted = "" if run.system == System.VERIMAP else " Each is a wrong answer."
    st.caption(f"{first + 1:,}–{first + len(answers):,} of {total:,}: {FAILURES[status][1]}.{counted}")
    clicked = clickable_table(
        _listed(answers, status),
        key=f"unread_{status}",
        words=lambda row, _: f"Sample {answers['source_id'].iloc[row]}: {answers['question'].iloc[row]}",
        ask="Open, in a row, opens its case. So does this button for a chosen row.",
        column_config={
            "sample": st.column_config.TextColumn("Sample", width=80),
            "asked": st.column_config.TextColumn("Asked", width=190),
            "question": st.column_config.TextColumn("Question", width=330),
            "reference": st.column_config.TextColumn("Reference", width=170),
            "answer": st.column_config.TextColumn("Answer", width=330),
            "error": st.column_config.TextColumn("Error", width=330),
        },
        height="content" if len(answers) <= SHOWN_ROWS else 36 * (SHOWN_ROWS + 1),
    )
    if clicked is not None:
        cases = query_of(run.system, [run.suite], (run.run_id,))
        if run.system == System.ENDOCA:
            cases["statuses"] = status.value
        open_page(CASE, {"unit": str(answers["unit_id"].iloc[clicked[0]]), **cases})


def _listed(answers: "pd.DataFrame", status: AnswerStatus) -> "pd.DataFrame":
    """Return what the table of one status shows; nothing was said where nothing is shown."""
    import pandas as pd

    asked = zip(answers["role"], answers["position"], answers["question_class"], strict=True)
    shown = pd.DataFrame(
        {
            OPEN: "Open",
            "sample": answers["source_id"],
            "asked": [_asked(role, position, name) for role, position, name in asked],
            "question": answers["question"],
            "reference": answers["reference"],
        }
    )
    said = {AnswerStatus.UNPARSED: "answer", AnswerStatus.FAILED: "error"}.get(status)
    if said:
        shown.insert(3, said, answers[said])
    return shown


def _asked(role: str, position: int, question_class: str) -> str:
    if role != Role.ATOMIC:
        return role_name(role)
    return f"{role_name(role)} {position + 1}: {question_class.replace('_', ' ')}"
