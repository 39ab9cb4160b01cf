"""Which column of a person's SurgCheck files holds what: what is known by its name, and a choice for the rest."""

__all__ = ["ColumnChoice", "choose_columns"]

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
import streamlit as st

from backend.errors import AppError, BadLine
from backend.services.ingest.surgcheck_names import Variant
from backend.services.ingest.surgcheck_preview import FilePreview, read_as
from backend.services.ingest.surgcheck_rows import PairRow
from backend.surgcheck.answer_text import answer_text
from pages.ui.errors import show_error
from pages.ui.pair_words import CUE_WORDS, TASK_WORDS
from pages.ui.plain import plain

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "image": "Picture",
        "question": "Question",
        "pred": "Answer",
        "gt": "Reference",
        "extracted": "Answer, extracted",
        "task": "Task",
        "cue": "Cue",
        "judge_score": "Judge’s score",
        "judge_reason": "Judge’s reason",
        "judge": "Score and reason",
    }
)
"""Field of the import → what it is called; two rows of five."""

HELP: Mapping[str, str] = MappingProxyType(
    {
        "gt": "Not needed where a stored suite holds these questions.",
        "extracted": "The part of the answer that counts. Where there is none, it is what follows the last line that "
        "says assistant, or the whole answer.",
        "task": "Where there is none, the question’s own words tell it.",
        "cue": "Where there is none, the file’s name or the question’s own words tell it.",
        "judge_score": "From 1 to 5, given by an LLM. Anything else counts as unscored.",
        "judge": "An object with score and reason in one column.",
    }
)

NEEDED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "image": frozenset({"image", "frame"}),
        "question": frozenset({"question", "conversations"}),
        "pred": frozenset({"pred", "extracted"}),
    }
)
"""What a row of answers has to say → fields of which any one will do."""

REFERENCE = frozenset({"gt", "conversations"})
"""The same of the reference, where no stored suite can hold it."""

EACH_ITS_OWN = "as each file names it"
NOT_THERE = "not there"
CHOOSE = "choose a column"

APART = (("question", "image"), ("pred", "image"), ("pred", "question"), ("pred", "gt"), ("question", "gt"))
"""Fields that cannot be the same column."""

SHOWN_ROWS = 3


class ColumnChoice(NamedTuple):
    """What a person said of the columns."""

    named: Mapping[str, str]
    """Column by field, as the import takes it; empty where the names are known as they are."""
    problem: str
    """Why the files cannot be imported so, in a sentence; empty where they can."""


def choose_columns(previews: Mapping[Variant, FilePreview], *, needs_reference: bool, key: str) -> ColumnChoice:
    """Draw the choice of columns, open where something has to be chosen, and the first rows of the files.

    One choice is for all files, so only columns that all of them have are offered.

    Args:
        previews: The files chosen so far, at least one.
        needs_reference: Whether no stored suite can hold the references, so that the files have to.
        key: Unique on the page. Choices stay for files with the same columns.
    """
    files = list(previews.values())
    common = [name for name in files[0].columns if all(name in file.columns for file in files)]
    needed = {**NEEDED, "gt": REFERENCE} if needs_reference else NEEDED
    unknown = _unknown(files, {}, needed)
    key = f"{key}_{abs(hash(tuple(common)))}"
    said = f"which hold {_listed(unknown)}?" if unknown else "known by their names"
    part = st.expander(f"Columns: {said}", expanded=bool(unknown), key=f"{key}_open", on_change="rerun")
    with part:
        if any(len(file.columns) > len(common) for file in files):
            st.caption("The files have different columns. Those that all of them have can be chosen here.")
        chosen = _draw_fields(files, common, unknown, key)
        choice = _choice(files, chosen, needed)
        others = {name for file in files for name in file.known.values()} - set(chosen.values())
        if others:
            st.caption(f"Known besides: {', '.join(plain(name) for name in sorted(others))}.")
        if part.open:
            _show_first_rows(previews, choice)
    return choice


def _unknown(
    files: Sequence[FilePreview], chosen: Mapping[str, str], needed: Mapping[str, frozenset[str]]
) -> list[str]:
    """Return the fields that are needed and that neither a known name nor the person says of every file."""
    return [
        field for field, any_of in needed.items()
        if not all(file.known.keys() & any_of or chosen.keys() & any_of for file in files)
    ]  # fmt: skip


def _draw_fields(
    files: Sequence[FilePreview], common: Sequence[str], unknown: Sequence[str], key: str
) -> dict[str, str]:
    """Draw a field for each thing that a row can say; return the columns that are chosen, by field."""
    chosen: dict[str, str] = {}
    half = len(LABELS) // 2
    places = (place for _ in range(2) for place in st.columns(half))
    for (field, label), place in zip(LABELS.items(), places, strict=True):
        known = {file.known.get(field) for file in files}
        [agreed, *_] = known if len(known) == 1 else [None]
        unsaid = CHOOSE if field in unknown else EACH_ITS_OWN if len(known) > 1 else NOT_THERE
        column = place.selectbox(
            label, common if agreed else ["", *common], index=common.index(agreed) if agreed else 0,
            key=f"{key}_{field}", format_func=partial(_column_words, unsaid), help=HELP.get(field),
            persist_state="page",
        )  # fmt: skip
        if column:
            chosen[field] = column
    return chosen


def _column_words(unsaid: str, column: str) -> str:
    return column or unsaid


def _choice(files: Sequence[FilePreview], chosen: dict[str, str], needed: Mapping[str, frozenset[str]]) -> ColumnChoice:
    """Return what was said. Where anything is other than known, all that was chosen is said."""
    is_known = all(file.known.get(field) == column for field, column in chosen.items() for file in files)
    named = {} if is_known else chosen
    unknown = _unknown(files, chosen, needed)
    if unknown:
        return ColumnChoice(named, f"Say under Columns which one holds: {_listed(unknown)}.")
    for one, other in APART:
        if one in chosen and chosen[one] == chosen.get(other):
            return ColumnChoice(
                named, f"The column {chosen[one]} cannot be both the {_listed([one])} and the {_listed([other])}."
            )
    return ColumnChoice(named, "")


def _show_first_rows(previews: Mapping[Variant, FilePreview], choice: ColumnChoice) -> None:
    first, *rest = previews.values()
    alike = [plain(file.file) for file in rest if set(file.columns) == set(first.columns)]
    same = f"; {' and '.join(alike)} with the same columns" if alike else ""
    st.caption(f"The first rows of {plain(first.file)}{same}")
    contents = [record.content for record in first.records[:SHOWN_ROWS]]
    rows = [{name: _cell(content.get(name)) for name in first.columns} for content in contents]
    st.dataframe(pd.DataFrame(rows), hide_index=True, height="content")
    if choice.problem:
        return
    st.caption("The first row of each file as it is taken")
    try:
        taken = [
            {"file": preview.file, **_row_words(read_as(preview, choice.named, variant))}
            for variant, preview in previews.items()
        ]
    except AppError as error:
        show_error(error)
    else:
        st.dataframe(pd.DataFrame(taken), hide_index=True, height="content")


def _row_words(row: PairRow | BadLine) -> dict[str, str]:
    if isinstance(row, BadLine):
        return {"cannot be used": row.reason}
    judged = row.judged
    return {
        "picture": row.picture,
        "task": TASK_WORDS[row.task],
        "cue": CUE_WORDS[row.cue],
        "question": row.question,
        "answer": _cell(row.extracted or (None if row.answer is None else answer_text(row.answer))),
        "reference": _cell(row.reference),
        "judge’s score": "" if judged is None else "unscored" if judged.score is None else str(judged.score),
    }


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def _listed(fields: Sequence[str]) -> str:
    return ", ".join(LABELS[field].lower() for field in fields)
