"""Promises of the cue workshop: what can be chosen, what each cue says, and that nothing that was answered is lost."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.live_pairs import PAIRS
from backend.services.pair_traces import unit_pair_traces
from backend.vlm.worker import WORKERS
from pages.ui.resources import the_store
from tests.pages.app_page import FAKE, app_over, asked, html_of, open_page, over_of, pressed, told
from tests.services.live_fakes import orders
from tests.services.pair_fakes import FACTORY
from tests.services.pair_store import ARROW_ACTION, make_pair_store

FRAME = "drawn:7_100.png"

opened = partial(open_page, "cue_workshop")
over = partial(over_of, PAIRS)


@pytest.fixture
def vlm(vlm: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A VLM that leans on the hint; its folder takes orders."""
    monkeypatch.setattr(WORKERS, "_factory", FACTORY)
    return vlm


@pytest.fixture
def page(tmp_path: Path, vlm: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    make_pair_store(tmp_path / "store.duckdb").close()
    yield from app_over(tmp_path / "store.duckdb", monkeypatch)


def viewer(app: AppTest) -> dict[str, Any]:
    return told(app, "layers")[0]


def test_a_frame_is_chosen_from_the_store_or_brought(page: AppTest) -> None:
    opened(page)
    assert len(page.get("file_uploader")) == 1
    pressed(page, f"frame_{FRAME}")
    assert asked(page, "image") == FRAME


def test_all_four_cues_and_both_texts_stand_side_by_side_and_say_what_the_vlm_sees(page: AppTest) -> None:
    opened(page, image=FRAME, vlm=FAKE)
    html = html_of(page)
    for name in ("Red box", "Red arrow", "Position", "Periphrasis"):
        assert f"<strong>{name}</strong>" in html
    assert html.count("drawn in, seen by the VLM") == html.count("drawn here, not seen by the VLM") == 2
    assert html.count('<span class="role">original</span>') == 4
    assert "Which tool is located at the bottom-left of the image?" in html
    page.selectbox(key="workshop_question").select_index(1).run()
    assert "What action is <mark>grasper</mark> in the red box performing?" in html_of(page)


def test_the_thing_that_is_pointed_at_lives_in_the_link(page: AppTest) -> None:
    opened(page, image=FRAME, thing="2", vlm=FAKE)
    assert page.selectbox(key="workshop_thing").value == 2
    page.selectbox(key="workshop_thing").select_index(2).run()
    assert asked(page, "thing") == "3"
    assert "Which anatomical structure is in the red box?" in html_of(page)
    assert "Periphrasis" not in html_of(page)


def test_a_box_of_ones_own_is_described_and_what_does_not_apply_says_why(page: AppTest) -> None:
    opened(page, image=FRAME, thing="-1", vlm=FAKE)
    assert "Does not apply: another tool is used by the same hand." in html_of(page)
    assert page.button(key="ask_periphrasis").disabled
    page.selectbox(key="workshop_hand").select("assi").run()
    assert "Which tool is used by the assistant’s hand" in html_of(page)
    page.slider[0].set_range(10, 120).run()
    page.slider[1].set_range(10, 90).run()
    assert "located at the top-left of the image" in html_of(page)
    assert [layer["label"] for layer in viewer(page)["layers"] if layer["is_shown"]] == ["Red box"]


def test_both_questions_are_asked_and_the_shortcut_is_said_in_words(page: AppTest) -> None:
    opened(page, image=FRAME, vlm=FAKE)
    page.selectbox(key="workshop_question").select_index(1).run()
    pressed(page, "ask_arrow")
    trace_id = over(page)
    html = html_of(page)
    assert (
        "Right with the hint, wrong without it. With the hint it says “retract” (right); without it “clip” (wrong). "
        "The reference is “retract”."
    ) in html
    assert html.count("Fake VLM") and "Hinted &lt;b&gt;VLM&lt;/b&gt;" in html, "runs over the suite stand beside it"
    assert [trace.trace_id for trace in unit_pair_traces(the_store(), ARROW_ACTION)] == [trace_id]


def test_a_stored_pair_opens_by_its_link_and_is_asked_again(page: AppTest) -> None:
    opened(page, unit=ARROW_ACTION, vlm=FAKE)
    assert "As the VLM saw it" in html_of(page)
    pressed(page, "ask_again")
    first = over(page)
    pressed(page, "ask_again")
    assert over(page) != first
    assert len(unit_pair_traces(the_store(), ARROW_ACTION)) == 2
    pressed(page, "another_cue")
    assert (asked(page, "image"), asked(page, "thing")) == (FRAME, "1")


def test_a_cancelled_pair_keeps_what_was_answered(page: AppTest, vlm: Path) -> None:
    orders(vlm, less_biased="wait")
    opened(page, unit=ARROW_ACTION, vlm=FAKE)
    pressed(page, "ask_again")
    calls = PAIRS.known(asked(page, "trace"))
    assert calls is not None
    while not (calls.calls and calls.asking and calls.asking[0].said):
        assert not calls.wait(0.05)
    assert "waits for its turn" not in html_of(page)
    calls.cancel()
    over(page)
    assert "Cancelled. What was answered until then is kept." in html_of(page)
    assert "With the hint it says “retract” (right)" in html_of(page)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"image": "nobody"}, "There is no image &#x27;nobody&#x27; in this store."),
        ({"unit": "nobody"}, "There is no pair &#x27;nobody&#x27; in this store."),
        ({"trace": "nobody"}, "There is no pair asked live as &#x27;nobody&#x27; in this store."),
    ],
)
def test_a_link_to_what_is_not_there_says_so_and_leads_back(page: AppTest, query: dict[str, str], words: str) -> None:
    opened(page, **query)
    assert words in html_of(page)
    page.button[0].click().run()
    assert not page.exception
    assert not {"image", "unit", "trace"} & set(page.query_params)


def test_a_frame_whose_file_is_not_at_hand_says_so(page: AppTest) -> None:
    opened(page, image="drawn:7_200.png")
    assert "No usable image file was found." in html_of(page)


def test_without_a_vlm_the_cues_are_shown_and_nothing_can_be_asked(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.ui.workshop_setup.vlm_picker", lambda key: None)
    opened(page, image=FRAME)
    assert page.button(key="ask_box").disabled
    assert "Which tool is in the red box?" in html_of(page)
