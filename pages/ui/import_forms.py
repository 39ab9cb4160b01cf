"""The forms of the Data page: what to bring in, from where, and under which name."""

__all__ = ["blind_form", "endoca_form", "images_form", "kvasir_form"]

from collections.abc import Callable

import streamlit as st

from backend.errors import AppError
from backend.figures.style import GROUP_LABELS
from backend.services.ingest.roots import allowed_path
from backend.services.ingest.tasks import blind_task, endoca_task, images_task, kvasir_task
from backend.services.ingest.uploads import Uploads
from backend.services.jobs import Task
from backend.store import queries
from backend.store.store import Store
from pages.ui.errors import show_error
from pages.ui.file_picker import pick_files, pick_folder
from pages.ui.job_view import start_job

BY_NAME = "as the paper groups it, if it does"
EVERYTHING = "everything eligible"


def endoca_form(store: Store) -> None:
    """Draw the import of EndoCA manifests and prediction files."""
    st.caption(
        "Manifests (questions and references) and prediction files (the same lines with `model_id` and "
        "`prediction`), in any mix, several VLMs in one file too: .jsonl, .jsonl.gz, .csv or .parquet."
    )
    chosen = pick_files("Manifests and prediction files", key=_fresh("endoca"))
    left, right = st.columns(2)
    suite = left.text_input(
        "Suite", placeholder="by default the suite that matches, or the file's name", key="endoca_suite",
        help="Give a name to bring the questions in under it, or to say which suite the answers belong to.",
    )  # fmt: skip
    group = right.selectbox(
        "Group of the VLMs", ["", *GROUP_LABELS], format_func=lambda key: GROUP_LABELS.get(key, BY_NAME),
        key="endoca_group", help="Decides the shape of their marks in figures.",
    )  # fmt: skip
    lenient = st.checkbox(
        "Skip bad lines", key="endoca_lenient",
        help="Import the good lines and list the bad ones. Without it a bad line stops the whole import.",
    )  # fmt: skip

    def task(uploads: Uploads) -> Task:
        return endoca_task(
            store, chosen.resolve(uploads), suite=suite.strip() or None, vlm_group=group or None, lenient=lenient,
            release=uploads.delete,
        )  # fmt: skip

    if _go_button("Import", "endoca_import", missing=chosen.is_missing):
        _start_with_files(store, task, "endoca")


def kvasir_form(store: Store) -> None:
    """Draw the building of a suite from Kvasir-VQA and Kvasir-VQA-x1."""
    st.caption(
        "Builds a suite in the paper's manner: complex questions of Kvasir-VQA-x1 whose atomic questions are in "
        "EndoCA's nine classes and whose references agree. What is left out is counted by reason."
    )
    left, right = st.columns(2)
    with left:
        st.markdown("**Kvasir-VQA** (.csv or .parquet)")
        vqa = pick_files("Kvasir-VQA", key=_fresh("vqa"), several=False)
    with right:
        st.markdown("**Kvasir-VQA-x1** (.parquet or .csv; train first, then test)")
        x1 = pick_files("Kvasir-VQA-x1", key=_fresh("x1"))
    columns = st.columns(4)
    suite = columns[0].text_input("Suite", placeholder="by default the file's name", key="kvasir_suite")
    sizes = columns[1].text_input(
        "Samples of complexity 1, 2, 3", placeholder=EVERYTHING, key="kvasir_sizes",
        help="Three numbers, such as 8264, 3736, 0. Empty takes everything eligible.",
    )  # fmt: skip
    seed = columns[2].number_input("Seed of the draw", min_value=0, value=0, key="kvasir_seed")
    names = list(queries.suite_table(store)["suite"])
    without = columns[3].selectbox(
        "Without the samples of suite", ["", *names], key="kvasir_exclude", format_func=lambda name: name or "none"
    )

    def task(uploads: Uploads) -> Task:
        return kvasir_task(
            store, vqa.resolve(uploads), x1.resolve(uploads), suite=suite.strip() or None, sizes=three_sizes(sizes),
            seed=int(seed), exclude_suite=without or None, release=uploads.delete,
        )  # fmt: skip

    if _go_button("Build", "kvasir_import", missing=vqa.is_missing or x1.is_missing):
        _start_with_files(store, task, "vqa", "x1")


def images_form(store: Store) -> None:
    """Draw the attaching of image files."""
    st.caption(
        "Image files stay where they are; nothing is copied. A file belongs to an image when its name without the "
        "ending is the image's id or name in the data set; the folders below are looked through too."
    )
    typed = pick_folder("Folder of images", key="images")
    if st.button("Attach", type="primary", key="images_attach"):
        _start(store, lambda: images_task(store, allowed_path(typed)))


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
        _start(store, lambda: blind_task(store, learn, answer))


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


def _go_button(label: str, key: str, *, missing: bool) -> bool:
    why = "Choose the files first; a file that is still being sent does not count yet." if missing else None
    return st.button(label, type="primary", key=key, disabled=missing, help=why)


def _fresh(form: str) -> str:
    """Return the key of a form's file choice; it changes when an import has taken the files."""
    return f"{form}_{st.session_state.get(f'{form}_taken', 0)}"


def _start_with_files(store: Store, task: Callable[[Uploads], Task], *forms: str) -> None:
    uploads = Uploads()

    def made() -> Task:
        try:
            return task(uploads)
        except BaseException:
            uploads.delete()
            raise

    _start(store, made, *forms)


def _start(store: Store, task: Callable[[], Task], *forms: str) -> None:
    """Start a job, or say here why it cannot be; the files chosen in ``forms`` are then forgotten."""
    try:
        made = task()
    except AppError as error:
        show_error(error)
        return
    for form in forms:
        st.session_state[f"{form}_taken"] = st.session_state.get(f"{form}_taken", 0) + 1
    start_job(store, made)
