"""One run: where its answers come from, how much it covers, what failed, and how fast it went."""

__all__ = ["close_run", "open_run", "run_coverage", "show_run"]

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from backend.domain.metric import NOT_AVAILABLE, percent
from backend.domain.records import AnswerStatus, System
from backend.services.runs.overview import Coverage, ErrorClass, RunSummary, Throughput
from backend.services.runs.unread import cases_of_errors
from backend.services.stored_saliency import looked_into
from pages.ui.copy import copy_button
from pages.ui.import_report import plural
from pages.ui.links import CASE, write_link
from pages.ui.resources import kept
from pages.ui.run_tables import show_sessions, show_unread
from pages.ui.run_words import FAILURES, NO_SPEED, pace_words, provenance, provenance_sentence, run_name, seconds_words
from pages.ui.suite_names import suite_tag
from pages.ui.system_links import PAGES, query_of
from pages.ui.tags import origin_tag, vlm_mark

STYLE = Path(__file__).resolve().parent / "static" / "runs.css"

SHOWN_CLASSES = 5
"""Error classes drawn at once, the commonest; the rest is folded."""

OWN = ("run", "answers")
"""Parameters of the link that belong to the run shown."""

_HASH = re.compile(r"\b[0-9a-f]{64}\b")


def show_run(run: RunSummary, place: int | None) -> None:
    """Draw a run.

    Args:
        run: The run.
        place: The VLM's place in the store, which gives it its colour.
    """
    query, (page, name) = query_of(run.system, [run.suite], (run.run_id,)), PAGES[System(run.system)]
    st.html(STYLE)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.html(_head(run, place), width="stretch")
        copy_button("Copy link", key="run_link")
        st.button("Close", key="run_close", type="tertiary", on_click=close_run)
    st.text(provenance_sentence(run))
    st.html(run_coverage(run.coverage))
    with st.container(horizontal=True, gap="medium"):
        st.page_link(CASE, label="Open the cases of this run", query_params=query)
        st.page_link(page, label=f"Open this run in {name}", query_params=query)

    left, right = st.columns([6, 5], gap="large")
    with left:
        st.subheader("How the answers were made")
        st.html(_facts(provenance(run, kept(looked_into, run.run_id))))
    with right:
        st.subheader("How fast it went")
        st.html(_speed(run.throughput))
        if run.record is not None and len(run.record.sessions) > 1:
            show_sessions(run.record)
        if run.errors:
            st.subheader("What went wrong")
            _show_errors(run, query)

    if run.coverage.n_read < run.coverage.n_probes:
        st.subheader("Questions without a readable answer")
        show_unread(run)


def open_run(run_id: str) -> None:
    """Write a run into the link."""
    write_link(OWN, {"run": run_id})


def close_run() -> None:
    """Take the run out of the link; the table stays."""
    write_link(OWN, {})


def _head(run: RunSummary, place: int | None) -> str:
    return (
        f'<div class="run-head">{vlm_mark(run.vlm_group, place)}'
        f'<strong title="{escape(run.run_id)}">{escape(run_name(run))}</strong>'
        f"<span>on {escape(run.suite)}, {escape(run.stage)}</span>{suite_tag(run.suite)}{origin_tag(run.origin)}</div>"
    )


def run_coverage(coverage: Coverage) -> str:
    """Return what became of the questions as a bar, and each kind with its count and share."""
    kinds = {
        "read": ("answered and readable", coverage.n_read),
        "unparsed": ("answered, not readable", coverage.n_unparsed),
        **{
            status.value: (FAILURES[status][0].lower(), getattr(coverage, f"n_{status.value}"))
            for status in (AnswerStatus.EMPTY, AnswerStatus.FAILED, AnswerStatus.MISSING)
        },
    }
    n = coverage.n_probes
    bar = "".join(f'<i class="{kind}" style="width:{100 * k / n:.3f}%"></i>' for kind, (_, k) in kinds.items() if k)
    key = "".join(
        f'<span><i class="{kind}"></i><b>{k:,}</b> {name} <small>{percent(k / n if n else None)}</small></span>'
        for kind, (name, k) in kinds.items()
    )
    said = f"{coverage.n_answered:,} of {plural(n, 'question')} answered"
    return f'<div class="run-bar" role="img" aria-label="{said}">{bar}</div><div class="run-key">{key}</div>'


def _facts(facts: Sequence[tuple[str, Sequence[str]]]) -> str:
    rows = "".join(
        f"<dt>{escape(about)}</dt><dd>{''.join(f'<span>{_line(line)}</span>' for line in lines)}</dd>"
        for about, lines in facts
    )
    return f'<dl class="run-facts">{rows}</dl>'


def _line(text: str) -> str:
    """Return a line, escaped; a hash in it is shown short, and whole as its tooltip."""
    return _HASH.sub(lambda found: f'<code title="{found[0]}">{found[0]}</code>', escape(text))


def _speed(throughput: Throughput | None) -> str:
    if throughput is None:
        return f'<div class="run-speed"><p><b>{NOT_AVAILABLE}</b> {NO_SPEED}</p></div>'
    figures = (
        (pace_words(throughput.answers_per_second), "answers a second"),
        (seconds_words(throughput.median_seconds), "a call, the median"),
        (f"{throughput.n_cut:,}", "cut by the token limit"),
    )
    return f'<div class="run-speed">{"".join(f"<p><b>{value}</b> {what}</p>" for value, what in figures)}</div>'


def _show_errors(run: RunSummary, query: Mapping[str, str]) -> None:
    examples = tuple(error for one in run.errors for error in one.examples)
    cases = kept(cases_of_errors, run.run_id, examples)
    for one in run.errors[:SHOWN_CLASSES]:
        _show_class(one, cases, query)
    rest = run.errors[SHOWN_CLASSES:]
    if rest:
        with st.expander(f"{plural(sum(one.n for one in rest), 'call')} with rarer errors, of {len(rest):,} kinds"):
            for one in rest:
                _show_class(one, cases, query)


def _show_class(found: ErrorClass, cases: dict[str, str], query: Mapping[str, str]) -> None:
    with st.container(gap="xsmall"):
        st.html(f'<p class="run-class">{plural(found.n, "call")}: {escape(found.name)}</p>')
        for error in found.examples:
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                st.html(f'<pre class="run-error">{escape(error)}</pre>', width="stretch")
                if error in cases:
                    st.page_link(CASE, label="Open its case", query_params={"unit": cases[error], **query})
