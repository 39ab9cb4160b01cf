"""The forms of the Data page: what to bring in, from where, and under which name."""

__all__ = ["blind_form", "endoca_form", "images_form", "kvasir_form"]

import streamlit as st

from backend.errors import AppError
from backend.services.ingest.roots import allowed_path
from backend.services.ingest.tasks import blind_task, endoca_task, images_task, kvasir_task
from backend.services.ingest.uploads import Uploads
from backend.services.jobs import Task
from backend.store import queries
from backend.store.store import Store
from pages.ui.file_picker import pick_files, pick_folder
from pages.ui.import_fields import group_field, lenient_field, suite_field
from pages.ui.import_start import fresh, go_button, start, start_with_files

EVERYTHING = "everything eligible"


def endoca_form(store: Store) -> None:
    """Draw the import of EndoCA manifests and prediction files."""
    st.caption(
        "Manifests (questions and references) and prediction files (the same lines with `model_id` and "
        "`prediction`), in any mix, several VLMs in one file too: .jsonl, .jsonl.gz, .csv or .parquet."
    )
    chosen = pick_files("Manifests and prediction files", key=fresh(store, "endoca"))
    left, right = st.columns(2)
    with left:
        suite = suite_field(
            "endoca", key="endoca_suite", placeholder="the one that matches, or the file's name",
            help="Give a name to bring the questions in under it, or to say which suite the answers belong to.",
        )  # fmt: skip
    with right:
        group = group_field("Group of the VLMs", key="endoca_group")
    lenient = lenient_field(key="endoca_lenient")

    def task(uploads: Uploads) -> Task:
        return endoca_task(
            store, chosen.resolve(uploads), suite=suite, vlm_group=group, lenient=lenient,
            release=uploads.delete,
        )  # fmt: skip

    if go_button("Import", "endoca_import", missing=chosen.is_missing):
        start_with_files(store, task, "endoca")


def kvasir_form(store: Store) -> None:
    """Draw the building of a suite from Kvasir-VQA and Kvasir-VQA-x1."""
    st.caption(
        "Builds a suite in the paper's manner: complex questions of Kvasir-VQA-x1 whose atomic questions are in "
        "EndoCA's nine classes and whose references agree. What is left out is counted by reason."
    )
    left, right = st.columns(2)
    with left:
        st.markdown("**Kvasir-VQA** (.csv or .parquet)")
        vqa = pick_files("Kvasir-VQA", key=fresh(store, "vqa"), several=False)
    with right:
        st.markdown("**Kvasir-VQA-x1** (.parquet or .csv; train first, then test)")
        x1 = pick_files("Kvasir-VQA-x1", key=fresh(store, "x1"))
    columns = st.columns(4)
    suite = columns[0].text_input("Suite", placeholder="the file's name", key="kvasir_suite", persist_state="page")
    sizes = columns[1].text_input(
        "Samples of complexity 1, 2, 3", placeholder=EVERYTHING, key="kvasir_sizes",
        help="Three numbers, such as 8264, 3736, 0. Empty takes everything eligible.", persist_state="page",
    )  # fmt: skip
    seed = columns[2].number_input("Seed of the draw", min_value=0, value=0, key="kvasir_seed", persist_state="page")
    names = list(queries.suite_table(store)["suite"])
    without = columns[3].selectbox(
        "Without the samples of suite", ["", *names], key="kvasir_exclude", format_func=lambda name: name or "none",
        persist_state="page",
    )  # fmt: skip

    def task(uploads: Uploads) -> Task:
        return kvasir_task(
            store, vqa.resolve(uploads), x1.resolve(uploads), suite=suite.strip() or None, sizes=three_sizes(sizes),
            seed=int(seed), exclude_suite=without or None, release=uploads.delete,
        )  # fmt: skip

    if go_button("Build", "kvasir_import", missing=vqa.is_missing or x1.is_missing):
        start_with_files(store, task, "vqa", "x1")


def images_form(store: Store) -> None:
    """Draw the attaching of image files."""
    st.caption(
        "Image files stay where they are; nothing is copied. A file belongs to an image when its name without the "
        "ending is the image's id or name in the data set; the folders below are looked through too."
    )
    typed = pick_folder("Folder of images", key="images")
    if st.button("Attach", type="primary", key="images_attach"):
        start(store, lambda: images_task(store, allowed_path(typed)))


def blind_form(store: Store) -> None:
    """Draw the blind baseline: which suite it learns from, and which it answers."""
    st.caption(
        "Answers every question with the commonest reference for its question classes, learned on another suite, "
        "without ever seeing an image. What it gets right shows how far one comes without looking."
    )
    suites = queries.suite_table(store)
    names = list(suites.loc[suites["system"] == "endoca", "suite"])
    if len(names) < 2:
        st.info("The blind baseline learns on one suite and answers another: import a second manifest first.")
        return
    left, right = st.columns(2)
    learn = left.selectbox("Learn on", names, index=1, key="blind_learn")
    answer = right.selectbox("Answer", names, index=0, key="blind_answer")
    if st.button("Run the blind baseline", type="primary", key="blind_run"):
        start(store, lambda: blind_task(store, learn, answer))


def three_sizes(text: str) -> tuple[int, int, int] | None:
    """Return the numbers of samples a person typed; None for an empty field.

    Raises:
        AppError: They are not three whole numbers.
    """
    parts = text.replace(",", " ").split()
    if not parts:
        return None
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise AppError(f"{text!r} is not three whole numbers.", "Write them like this: 8264, 3736, 0.")
    return int(parts[0]), int(parts[1]), int(parts[2])
