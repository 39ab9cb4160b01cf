"""Promises of the VLM picker: what can be asked comes first, what cannot says why, and nothing heavy is loaded."""

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from backend.vlm.availability import Gpu, Machine
from backend.vlm.registry import Registry
from backend.vlm.worker import WORKERS, Phase, WorkerStatus
from pages.ui import vlm_picker
from pages.ui.resources import opened_store, the_store
from tests.pages.paired_store import make_empty_store

OpenPicker = Callable[..., AppTest]

NEAR = """
- name: Near <b>VLM</b>
  also: [near]
  group: medical_open
  family: any
  size: 8B
  licence: <i>own</i> weights
  note: Served in this room.
  answers: yes
  attention: the server does not give it
  gradients: the server does not give them
  openai: {base_url: "http://127.0.0.1:9/v1", model: m}
"""

FAR = """
- name: Far VLM
  group: general_open
  family: any
  licence: terms of the service
  answers: yes
  attention: yes
  gradients: yes
  openai: {base_url: "https://vlm.example/v1", model: m}
"""

BROKEN = """
- name: Broken
  group: nowhere
  family: any
  licence: none
  answers: yes
  attention: yes
  gradients: yes
"""

SMALL_MACHINE = Machine((), 12.4)


def page() -> None:
    """Draw the picker and what it returns."""
    import streamlit as st  # this function is run by its text alone

    from pages.ui.vlm_picker import vlm_picker

    chosen = vlm_picker("vlm")
    st.code(chosen.name if chosen else "nobody")


@pytest.fixture
def open_picker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenPicker]:
    """Return a function that draws the picker over a user's list, on a machine with these means."""
    store = tmp_path / "store.duckdb"
    make_empty_store(store)
    monkeypatch.setenv("PARALLAX_STORE", str(store))
    for key in ("OPENAI_API_KEY", "XAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setattr("backend.vlm.availability.weights_folder", lambda *_: None)
    opened_store.clear()

    def open_(listed: str = "", machine: Machine = SMALL_MACHINE, **query: str) -> AppTest:
        own = tmp_path / "mine.yaml"
        own.write_text(listed)
        monkeypatch.setenv("PARALLAX_MODELS", str(own))
        monkeypatch.setattr(vlm_picker, "look_at_machine", lambda: machine)
        st.cache_data.clear()
        app = AppTest.from_function(page, default_timeout=60)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    yield open_
    st.cache_data.clear()
    the_store().close()
    opened_store.clear()


def html_of(app: AppTest) -> str:
    return "\n".join(block.proto.body for block in app.get("html"))


def row_of(app: AppTest, name: str) -> str:
    """Return the row of a VLM in the list."""
    return html_of(app).split(f"<span>{name}</span>")[-1].split("</tr>")[0]


def test_only_what_can_be_asked_is_offered(open_picker: OpenPicker) -> None:
    app = open_picker(NEAR + FAR)
    assert app.selectbox[0].options == ["Far VLM, general, open", "Near <b>VLM</b>, 8B, medical, open"]
    assert app.code[0].value == "Far VLM"


def test_the_list_has_what_can_be_asked_first_and_every_other_one_with_what_it_lacks(open_picker: OpenPicker) -> None:
    app = open_picker(NEAR)
    shown = html_of(app)
    assert shown.index("Can be asked here") < shown.index("Near &lt;b&gt;") < shown.index("Not available here")
    assert shown.index("Not available here") < shown.index("<span>Qwen3-VL-8B</span>")
    lacking = row_of(app, "Qwen3-VL-8B")
    assert "its weights are not on this machine" in lacking
    assert "needs a GPU with 21 GB, or 42 GB of free memory; there are 12 GB" in lacking
    assert "<td>8B</td><td>general, open</td><td>Apache 2.0</td>" in lacking
    assert "no key in the environment variable OPENAI_API_KEY" in row_of(app, "GPT-5.5")
    assert app.expander[0].label == "22 VLMs in the list, 1 can be asked here"


def test_where_none_can_be_asked_nothing_is_chosen_and_the_list_says_why(open_picker: OpenPicker) -> None:
    app = open_picker()
    assert app.code[0].value == "nobody"
    assert not app.selectbox
    assert "None of the VLMs in the list can be asked on this machine." in app.text[0].value
    assert app.expander[0].proto.expanded
    assert "its weights are not on this machine" in row_of(app, "Box VLM")


def test_the_choice_lives_in_the_link(open_picker: OpenPicker) -> None:
    app = open_picker(NEAR + FAR)
    app.selectbox[0].set_value("Near <b>VLM</b>").run()
    assert app.code[0].value == "Near <b>VLM</b>"
    assert app.query_params["vlm"] == "Near <b>VLM</b>"


@pytest.mark.parametrize(
    ("asked", "chosen", "said"),
    [
        ("near", "Near <b>VLM</b>", ""),
        ("Qwen3-VL-8B", "Far VLM", "The link asks for Qwen3-VL-8B, which cannot be asked here: its weights"),
        ("<b>nobody</b>", "Far VLM", "The link asks for another VLM. There is no VLM <b>nobody</b>."),
    ],
)
def test_a_link_to_a_vlm_is_followed_or_told_why_not(
    open_picker: OpenPicker, asked: str, chosen: str, said: str
) -> None:
    app = open_picker(NEAR + FAR, vlm=asked)
    assert app.code[0].value == chosen
    assert [text.value for text in app.text if not text.value.startswith(said)] == []
    assert bool(app.text) is bool(said)


def test_what_is_chosen_says_licence_and_whether_images_leave_the_machine(open_picker: OpenPicker) -> None:
    far = html_of(open_picker(NEAR + FAR))
    assert "Asked at vlm.example: images and questions leave this machine." in far
    near = html_of(open_picker(NEAR + FAR, vlm="near"))
    assert "Asked at 127.0.0.1:9. No attention maps: the server does not give it." in near
    assert "Licence: &lt;i&gt;own&lt;/i&gt; weights" in near and "Served in this room." in near


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (SMALL_MACHINE, "This machine: no GPU; 12 GB of memory free."),
        (Machine((), 20.0, is_apple=True), "This machine: an Apple GPU, which shares the memory; 20 GB"),
        (Machine((Gpu("H200", 150.0, 139.6),), 100.0), "This machine: H200, 140 of 150 GB free; 100 GB"),
    ],
)
def test_the_machines_free_memory_is_said(open_picker: OpenPicker, machine: Machine, words: str) -> None:
    assert words in html_of(open_picker(NEAR, machine))


def test_what_is_warm_is_said(open_picker: OpenPicker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Loaded and warm: none." in html_of(open_picker(NEAR))
    ready = WorkerStatus(
        "Box <i>VLM</i>", Phase.READY, datetime(2026, 1, 2, 3, 4, tzinfo=UTC), 1_250_000_000, "CPU", None, None, 0, 0, 0
    )
    monkeypatch.setattr(WORKERS, "status", lambda: [ready])
    shown = html_of(open_picker(NEAR))
    assert "Loaded and warm: Box &lt;i&gt;VLM&lt;/i&gt;, ready, since 03:04 UTC, on CPU, 1.2 GB." in shown


def test_a_fault_in_a_users_list_is_told_with_line_and_field(open_picker: OpenPicker) -> None:
    app = open_picker(NEAR + BROKEN)
    assert "1 fault in the lists of VLMs." in html_of(app)
    assert "mine.yaml, line 15: Broken: group: groups are general_open" in html_of(app)
    assert app.code[0].value == "Near <b>VLM</b>"


def test_a_changed_list_is_seen_at_the_next_rerun(
    open_picker: OpenPicker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_picker(NEAR)
    (tmp_path / "mine.yaml").write_text(NEAR + FAR)
    app.run()
    assert len(app.selectbox[0].options) == 2


def test_a_rerun_neither_reads_the_lists_nor_looks_at_the_machine_again(
    open_picker: OpenPicker, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_picker(NEAR)

    def never() -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(vlm_picker, "look_at_machine", never)
    monkeypatch.setattr(Registry, "load", never)
    app.run()
    assert not app.exception


def test_drawing_the_picker_imports_no_torch(open_picker: OpenPicker) -> None:
    before = {name for name in ("torch", "transformers") if name in sys.modules}
    open_picker(NEAR)
    assert {name for name in ("torch", "transformers") if name in sys.modules} == before
