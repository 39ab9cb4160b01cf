"""Choosing files: sent by the browser, or by their path under a registered folder.

Large files go by path: nothing is copied, and the file is streamed.
"""

__all__ = ["Chosen", "pick_files", "pick_folder", "pick_source"]

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from backend.errors import AppError
from backend.services.ingest.files import SourceFile
from backend.services.ingest.roots import allowed_path, entries
from backend.services.ingest.uploads import Uploads
from backend.settings import import_roots
from pages.ui.errors import show_error

UPLOAD = "Upload"
PATH = "Path on this computer"


class Chosen(NamedTuple):
    """Files chosen so far; nothing is copied or opened before `resolve`."""

    uploads: Sequence[UploadedFile]
    paths: str | None
    """One path a line, as typed; None where files are sent instead."""

    @property
    def is_missing(self) -> bool:
        """Whether a file shall be sent and none has arrived yet."""
        return self.paths is None and not self.uploads

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been sent or typed yet."""
        return not self.uploads and not (self.paths or "").strip()

    def resolve(self, uploads: Uploads) -> list[SourceFile]:
        """Return the files: sent ones copied into ``uploads``, paths checked against the registered folders.

        Raises:
            AppError: A path lies outside, or nothing is there.
        """
        first = len(uploads.files)
        for sent in self.uploads:
            uploads.add(sent.name, sent)
        typed = [line for line in (self.paths or "").splitlines() if line.strip()]
        return [*uploads.files[first:], *(SourceFile.at(allowed_path(line)) for line in typed)]


def pick_source(what: str, *, key: str) -> str:
    """Draw where files come from, and return it: one choice for several `pick_files`.

    Args:
        what: The files; our own words.
        key: Unique on the page.
    """
    return st.segmented_control(
        f"Where from: {what}", [UPLOAD, PATH], default=UPLOAD, required=True, key=f"{key}_source",
        label_visibility="collapsed", persist_state="page",
    )  # fmt: skip


def pick_files(
    label: str, *, key: str, several: bool = True, folders: bool = False, source: str | None = None
) -> Chosen:
    """Draw the choice of files.

    Args:
        label: What they are; our own words.
        key: Unique on the page.
        several: Whether more than one may be chosen.
        folders: Whether a path may be a folder's.
        source: As `pick_source` returned it; None draws that choice too.
    """
    if (source or pick_source(label, key=key)) == UPLOAD:
        sent = st.file_uploader(label, accept_multiple_files=several, key=f"{key}_upload")
        return Chosen(sent if isinstance(sent, list) else [sent] if sent else [], None)
    text_key = f"{key}_paths"
    st.text_area(
        f"{label}: path, one a line" if several else f"{label}: path",
        key=text_key, height=80, placeholder=_example(), persist_state="page",
    )  # fmt: skip
    _browse(key, partial(_put_file, text_key, several), files=True, folders=folders)
    return Chosen([], str(st.session_state[text_key]))


def pick_folder(label: str, *, key: str) -> str:
    """Draw the choice of a folder under a registered one; return what was typed or chosen."""
    text_key = f"{key}_path"
    st.text_input(f"{label}: path", key=text_key, placeholder=_example(), persist_state="page")
    _browse(key, partial(_put_file, text_key, False), files=False, folders=True)
    return str(st.session_state[text_key])


def _browse(key: str, put: Callable[[Path], None], *, files: bool, folders: bool) -> None:
    """Draw the folders under the registered roots, to walk through by clicking rows.

    Args:
        key: Unique on the page.
        put: Takes the chosen file or folder.
        files: Whether a file may be taken.
        folders: Whether a folder may be taken.
    """
    place_key = f"{key}_folder"
    part = st.expander("Browse", key=f"{key}_browse", on_change="rerun")
    if not part.open:
        return
    with part:
        folder: Path | None = st.session_state.get(place_key)
        if folder is None:
            rows = [{"name": str(root), "kind": "folder", "size": ""} for root in import_roots()]
            targets = list(import_roots())
            st.caption("Folders this page may read. More are registered with PARALLAX_ROOTS, before the start.")
        else:
            try:
                found = [entry for entry in entries(folder) if entry.is_folder or files]
            except AppError as error:
                show_error(error)
                found = []
            rows = [
                {"name": e.name, "kind": "folder" if e.is_folder else "file", "size": size_words(e.bytes)}
                for e in found
            ]
            targets = [folder / entry.name for entry in found]
            st.text(str(folder))
            with st.container(horizontal=True):
                st.button("Up", key=f"{key}_up", on_click=_go, args=(place_key, _above(folder)))
                if folders:
                    st.button("Use this folder", key=f"{key}_use", on_click=put, args=(folder,))
        if not rows:
            st.caption("Nothing here.")
            return
        table_key = f"{key}_entries_{folder}"
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, height=min(36 * len(rows) + 38, 260), key=table_key,
            selection_mode="single-row", on_select=partial(_step, table_key, place_key, targets, put),
        )  # fmt: skip


def _step(table_key: str, place_key: str, targets: Sequence[Path], put: Callable[[Path], None]) -> None:
    """Follow a click on a row: into a folder, or take a file."""
    selected = st.session_state[table_key]["selection"]["rows"]
    if not selected or selected[0] >= len(targets):
        return
    target = targets[selected[0]]
    if target.is_dir():
        st.session_state[place_key] = target
    else:
        put(target)


def _put_file(text_key: str, several: bool, path: Path) -> None:
    """Write a chosen path into the text field: below what is there, or in its place."""
    lines = [line for line in str(st.session_state.get(text_key, "")).splitlines() if line.strip()]
    if not several:
        lines = []
    if str(path) not in lines:
        lines.append(str(path))
    st.session_state[text_key] = "\n".join(lines)


def _go(place_key: str, folder: Path | None) -> None:
    st.session_state[place_key] = folder


def _above(folder: Path) -> Path | None:
    """Return the folder above, None where that would leave the root."""
    return None if folder in import_roots() else folder.parent


def _example() -> str:
    return str(next(iter(import_roots()), ""))


def size_words(size: int | None) -> str:
    """Return a size in words: ``812 bytes``, ``3.4 MB``; empty for None."""
    if size is None:
        return ""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"
