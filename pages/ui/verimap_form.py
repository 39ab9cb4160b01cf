"""The form that brings in VeriMap: verification records, or a data set's questions and their task labels."""

__all__ = ["verimap_form"]

import streamlit as st

from backend.services.ingest.roots import allowed_path
from backend.services.ingest.tasks import verimap_questions_task, verimap_records_task
from backend.services.ingest.uploads import Uploads
from backend.services.ingest.verimap_labels import LabelFiles
from backend.services.jobs import Task
from backend.store.store import Store
from backend.verimap.vocabulary import Dataset
from pages.ui.file_picker import Chosen, pick_files, pick_folder
from pages.ui.import_fields import choose_form, lenient_field, suite_names
from pages.ui.import_start import fresh, go_button, start_with_files

RECORDS = "Verification records"
QUESTIONS = "Questions of a data set"
LABELS = "Task labels"

FROM_FILES = "label files"
FROM_RULES = "proposed by rules, from the questions’ words"


def verimap_form(store: Store) -> None:
    """Draw the import of VeriMap."""
    chosen = choose_form([RECORDS, QUESTIONS, LABELS], key="verimap_form")
    if chosen == RECORDS:
        _records_form(store)
    elif chosen == QUESTIONS:
        _questions_form(store)
    else:
        _labels_form(store)


def _records_form(store: Store) -> None:
    st.caption(
        "What verifiers said of generators’ answers, a verdict a line: JSON lines, CSV or Parquet, plain or gzipped, "
        "with `id`, `dataset`, `task`, `generator`, `verifier`, `oracle_correct`, `verdict`, and where known `turn`, "
        "`question`, `reference`, `answer`, `explanation`, `image`."
    )
    chosen = pick_files("Verification records", key=fresh(store, "records"))
    lenient = lenient_field(key="records_lenient")

    def task(uploads: Uploads) -> Task:
        return verimap_records_task(store, chosen.resolve(uploads), lenient=lenient, release=uploads.delete)

    if go_button("Import", "records_import", missing=chosen.is_missing):
        start_with_files(store, task, "records")


def _questions_form(store: Store) -> None:
    st.caption(
        "The files as they are published; the test split alone, or several. Rows that are not taken, such as those in "
        "another language, are counted by reason. The data are public and not shipped with Parallax."
    )
    dataset = st.selectbox(
        "Data set", [*Dataset], format_func=lambda one: one.label, key="verimap_dataset", persist_state="page"
    )
    left, right = st.columns(2)
    with left:
        chosen = pick_files("Files of the data set", key=fresh(store, "examples"), folders=True)
    with right:
        folder = pick_folder("Images, if at hand", key="verimap_images")
        st.caption("Nothing is copied.")
    lenient = lenient_field(key="examples_lenient")

    def task(uploads: Uploads) -> Task:
        images = allowed_path(folder) if folder.strip() else None
        files = chosen.resolve(uploads)
        return verimap_questions_task(store, files, dataset, images=images, lenient=lenient, release=uploads.delete)

    if go_button("Import", "examples_import", missing=chosen.is_missing):
        start_with_files(store, task, "examples")


def _labels_form(store: Store) -> None:
    st.caption(
        "Which of the seven tasks each question is of. One file labels as it stands; of three annotators’ files the "
        "majority does. A file has an id and a task a line. Rules only propose: what has a label keeps it."
    )
    suites = suite_names("verimap")
    if not suites:
        st.info("Labels are given to questions that are there: import the questions of a data set first.")
        return
    suite = st.selectbox("Data set", suites, key="labels_suite", persist_state="page")
    source = st.radio("Labels", [FROM_FILES, FROM_RULES], key="labels_source", horizontal=True, persist_state="page")
    none = Chosen([], None)
    files = checked = none
    key = fresh(store, "labels")
    left, right = st.columns(2)
    if source == FROM_FILES:
        with left:
            files = pick_files("Label files, one an annotator", key=f"{key}_files")
    with right if source == FROM_FILES else left:
        checked = pick_files("Labels by hand, to compare with; if any", key=f"{key}_checked", several=False)
    lenient = lenient_field(key="labels_lenient")

    def task(uploads: Uploads) -> Task:
        by_hand = checked.resolve(uploads)
        labels = LabelFiles(
            tuple(files.resolve(uploads)), rules=source == FROM_RULES, checked=by_hand[0] if by_hand else None
        )
        return verimap_questions_task(store, [], suite, labels=labels, lenient=lenient, release=uploads.delete)

    if go_button("Label", "labels_import", missing=source == FROM_FILES and files.is_missing):
        start_with_files(store, task, "labels")
