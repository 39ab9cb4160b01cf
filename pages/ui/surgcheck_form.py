"""The form that brings in SurgCheck: what a VLM answered to pairs, or questions: the release, or scene graphs."""

__all__ = ["surgcheck_form"]

from collections.abc import Callable, Mapping
from contextlib import ExitStack

import streamlit as st

from backend.errors import AppError
from backend.services.ingest.files import SourceFile
from backend.services.ingest.roots import allowed_path
from backend.services.ingest.surgcheck import Wanted
from backend.services.ingest.surgcheck_names import Variant
from backend.services.ingest.surgcheck_places import PlacedFile, opened_files
from backend.services.ingest.surgcheck_preview import FilePreview, preview_file
from backend.services.ingest.tasks import surgcheck_task
from backend.services.ingest.uploads import Uploads
from backend.services.jobs import Task
from backend.store.store import Store
from backend.surgcheck.tasks import Mode
from pages.ui.errors import show_error
from pages.ui.file_picker import Chosen, pick_files, pick_folder, pick_source
from pages.ui.import_fields import (
    choose_form,
    group_field,
    lenient_field,
    setting_field,
    suite_field,
    suite_names,
    vlm_field,
)
from pages.ui.import_start import CHOOSE_FIRST, fresh, go_button, start_with_files
from pages.ui.plain import plain
from pages.ui.surgcheck_columns import ColumnChoice, choose_columns

ANSWERS = "Answers of a VLM"
QUESTIONS = "Questions and scene graphs"

FILES = {
    Variant.ORIGINAL: "Answers to the original questions",
    Variant.LESS_BIASED: "Answers to the less-biased ones",
    Variant.TEXT_ONLY: "Answers without the image, if any",
}
"""What a file's rows are → its label."""

MODES = {
    Mode.STRICT: "strict: only what has one answer",
    Mode.OFFICIAL: "official: as the release makes them",
}

NO_VLM = "Say which VLM answered: no column says it."


def surgcheck_form(store: Store) -> None:
    """Draw the import of SurgCheck."""
    if choose_form([ANSWERS, QUESTIONS], key="surgcheck_form") == ANSWERS:
        _answers_form(store)
    else:
        _questions_form(store)


def _answers_form(store: Store) -> None:
    st.caption(
        "What one VLM answered to the two questions of each pair, one file each: JSON lines, a JSON list, CSV or "
        "Parquet, plain or gzipped. Scores of a judge come with them. Without a stored suite that holds the pairs, "
        "their references make one."
    )
    key = fresh(store, "pairs")
    source = pick_source("Answers of a VLM", key="pairs")
    chosen: dict[Variant, Chosen] = {}
    for place, (variant, label) in zip(st.columns(len(FILES)), FILES.items(), strict=True):
        with place:
            chosen[variant] = pick_files(label, key=f"{key}_{variant}", several=False, source=source)
    chosen = {variant: choice for variant, choice in chosen.items() if not choice.is_empty}
    previews = _previews(chosen)
    columns = ColumnChoice({}, "")
    if previews:
        _say_if_misplaced(previews)
        columns = choose_columns(previews, needs_reference=not suite_names("surgcheck"), key="surgcheck_columns")
    fields = st.columns(4)
    with fields[0]:
        vlm = vlm_field(
            key="surgcheck_vlm", placeholder="choose, or type a name",
            help="Several files fill one run where the name is the same. It comes before what rows say.",
        )  # fmt: skip
    with fields[1]:
        setting = setting_field(key="surgcheck_setting")
    with fields[2]:
        suite = suite_field(
            "surgcheck", key="surgcheck_suite", placeholder="the one that matches",
            help="Which suite the answers belong to, or the name of the one that their references make.",
        )  # fmt: skip
    with fields[3]:
        group = group_field("Group of the VLM", key="surgcheck_group")
    lenient = lenient_field(key="surgcheck_lenient")
    wanted = Wanted(vlm, setting, suite, group, columns.named, lenient=lenient)
    unread = len(previews) < len(chosen)
    unnamed = vlm is None and not all("model" in preview.known for preview in previews.values())
    why = CHOOSE_FIRST if not chosen or unread else columns.problem or (NO_VLM if unnamed else "")

    def task(uploads: Uploads) -> Task:
        placed = [
            _placed(choice, file, variant) for variant, choice in chosen.items() for file in choice.resolve(uploads)
        ]
        return surgcheck_task(store, placed, wanted, release=uploads.delete)

    if go_button("Import", "pairs_import", missing=bool(why), why=why):
        start_with_files(store, task, "pairs")
    if why and previews:
        st.caption(plain(why))


def _questions_form(store: Store) -> None:
    st.caption(
        "The release as it is (the zip archive, its folders or their files), or scene graphs: an annotation file of "
        "Endoscapes-SG201, of which the questions are made. What is left out is counted by reason and listed."
    )
    key = fresh(store, "questions")
    left, right = st.columns(2)
    with left:
        chosen = pick_files("Release or scene graphs", key=key, folders=True)
    with right:
        folder = pick_folder("Frames and pictures, if at hand", key="surgcheck_frames")
        st.caption("Nothing is copied. Missing pictures with a box or an arrow are drawn where their frame is there.")
    left, right = st.columns(2)
    with left:
        suite = suite_field(
            "surgcheck", key="questions_suite", placeholder="after the files or their folders",
            help="A name for the questions, where the files hold those of one suite.",
        )  # fmt: skip
    mode = right.selectbox(
        "Questions made of scene graphs", list(MODES), format_func=lambda mode: MODES[mode], key="surgcheck_mode",
        persist_state="page",
        help="Strict leaves out what a cue does not tell apart, such as two tools in one place; official keeps it, "
        "as the authors do.",
    )  # fmt: skip
    lenient = lenient_field(key="questions_lenient")
    wanted = Wanted(suite=suite, mode=mode, lenient=lenient)

    def task(uploads: Uploads) -> Task:
        images = allowed_path(folder) if folder.strip() else None
        with ExitStack() as opened:
            opened.callback(uploads.delete)
            files = [_placed(chosen, file) for file in chosen.resolve(uploads)]
            found = opened.enter_context(opened_files(files))
            return surgcheck_task(store, found, wanted, images=images, release=opened.pop_all().close)

    if go_button("Import", "questions_import", missing=chosen.is_missing):
        start_with_files(store, task, "questions")


def _placed(choice: Chosen, file: SourceFile, variant: Variant | None = None) -> PlacedFile:
    """Return a file with the name of its folder, which helps to name a suite; a sent file has none."""
    return PlacedFile(file, "" if choice.paths is None else file.path.parent.name, variant)


def _previews(chosen: Mapping[Variant, Chosen]) -> dict[Variant, FilePreview]:
    """Return a look into each file; one that cannot be looked into says why."""
    found: dict[Variant, FilePreview] = {}
    for variant, choice in chosen.items():
        try:
            found[variant] = _preview(choice)
        except AppError as error:
            show_error(error)
    return found


def _preview(choice: Chosen) -> FilePreview:
    if choice.paths is not None:
        path = allowed_path(choice.paths)
        state = path.stat()
        return _looked_into((str(path), state.st_mtime_ns, state.st_size), lambda: preview_file(SourceFile.at(path)))
    [sent] = choice.uploads

    def look() -> FilePreview:
        uploads = Uploads()
        try:
            [file] = choice.resolve(uploads)
            return preview_file(file)
        finally:
            uploads.delete()

    return _looked_into((sent.file_id, sent.name, sent.size), look)


@st.cache_data(max_entries=12, show_spinner="Reading the first rows")
def _looked_into(file: tuple[object, ...], _look: Callable[[], FilePreview]) -> FilePreview:
    return _look()


def _say_if_misplaced(previews: Mapping[Variant, FilePreview]) -> None:
    """Say it where a file's name tells another variant than the place it was put in."""
    for variant, preview in previews.items():
        told = preview.name.variant
        if told is not None and told is not variant:
            st.caption(
                f"{plain(preview.file)} is called {told.replace('_', '-')}, and stands under “{FILES[variant]}”."
            )
