"""Promises of the click that shows where the VLM looked: one press, two replies, kept with the trace, never faked."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.records import Role, Stage
from backend.endoca.asr import StepName, Variant
from backend.services.live_looks import LOOKS
from backend.services.live_traces import unit_traces
from backend.services.pair_traces import unit_pair_traces
from backend.services.runs.plan import VlmIdentity
from backend.services.stored_saliency import put_trace_look, trace_looks
from backend.services.trace_replies import TraceReply
from backend.vlm.saliency.kept import keep
from backend.vlm.worker import WORKERS
from pages.ui.asr_words import VARIANT_WORDS
from pages.ui.look_names import reply_name, when_words
from pages.ui.resources import the_store
from tests.pages import test_cue_workshop as workshop_tests
from tests.pages import test_live as live_tests
from tests.pages.app_page import FAKE, LISTED, app_over, asked, html_of, pressed, told
from tests.pages.test_live import opened
from tests.pages.test_verify_live import OTHER, UNIT, VERIMAP, over, page, stored
from tests.services import pair_fakes
from tests.services.live_fakes import ACCEPTS, look_at, orders
from tests.services.pair_store import ARROW_ACTION, make_pair_store

__all__ = ["page"]

HEADING, BUTTON = "Where the VLM looked", "Show where it looked"


@pytest.fixture
def workshop(tmp_path: Path, vlm: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app over pairs, with a VLM that answers them."""
    make_pair_store(tmp_path / "store.duckdb").close()
    monkeypatch.setattr(WORKERS, "_factory", pair_fakes.FACTORY)
    yield from app_over(tmp_path / "store.duckdb", monkeypatch)


def verified(app: AppTest) -> str:
    """Verify an example, wait until it is over, and return its trace."""
    return over(pressed(opened(app, unit=UNIT, **VERIMAP), "run_verify"))


def looked(app: AppTest, trace_id: str) -> None:
    """Press the button, and wait until the looks are over."""
    pressed(app, f"look_into_{trace_id}")
    looks = LOOKS.of(the_store(), trace_id)
    assert looks is not None and looks.wait(60)
    app.run()
    assert not app.exception


def panes(app: AppTest) -> list[dict[str, Any]]:
    """Return what the view of looks shows; empty where it is not there."""
    return next((one["panes"] for one in told(app, "panes")), [])


def words(pane: dict[str, Any]) -> str:
    return "".join(piece["text"] for piece in pane["pieces"]).strip()


def titles(app: AppTest) -> list[str]:
    return [one["title"] for one in panes(app)]


def buttons(app: AppTest) -> list[bool]:
    """Return whether each button that looks is disabled."""
    return [one.disabled for one in app.button if one.label == BUTTON]


def texts(app: AppTest) -> str:
    return "\n".join(one.value for one in app.text)


def sentences(app: AppTest) -> str:
    """Return the page's words, numbers and signs apart by plain spaces."""
    return html_of(app).replace("\u00a0", " ")


def chosen(app: AppTest) -> list[str]:
    return [one.label for one in app.selectbox if one.label in ("Left picture", "Right picture")]


def test_a_press_looks_into_the_first_answer_and_the_first_verdict_and_shows_them_side_by_side(page: AppTest) -> None:
    app = opened(page, unit=UNIT, **VERIMAP)
    assert HEADING not in [one.value for one in app.subheader], "nothing was said yet"
    trace_id = over(pressed(app, "run_verify"))
    assert HEADING in [one.value for one in app.subheader]
    assert (buttons(app), panes(app), chosen(app)) == ([False], [], [])
    looked(app, trace_id)
    assert set(trace_looks(the_store(), trace_id)) == {(Stage.DIRECT, 0), (Stage.VERIFY, 0)}
    assert titles(app) == [f"Generator ({FAKE})", f"Verifier ({FAKE})"]
    assert [words(one) for one in panes(app)] == ["one polyp", " ".join(ACCEPTS.split())]
    assert "When answering, the VLM gave the image 33.3 % of its attention; when judging, " in sentences(app)
    assert (buttons(app), chosen(app)) == ([], ["Left picture", "Right picture"])


def test_another_reply_can_be_chosen_and_one_that_was_not_looked_into_offers_the_same_click(page: AppTest) -> None:
    trace_id = over(pressed(opened(page, unit=UNIT, turns="1", **VERIMAP), "run_verify"))
    looked(page, trace_id)
    page.selectbox(key=f"look_Left_{trace_id}").set_value(("loop", 1)).run()
    assert titles(page) == [f"Verifier ({FAKE})"], "what there is stays"
    assert f"Not looked into yet: Generator ({FAKE}), turn 1." in texts(page)
    looked(page, trace_id)
    assert titles(page) == [f"Generator ({FAKE}), turn 1", f"Verifier ({FAKE})"]
    page.selectbox(key=f"look_Right_{trace_id}").set_value(("loop", 1)).run()
    assert titles(page) == [f"Generator ({FAKE}), turn 1"], "chosen twice it stands once"


def test_whoever_opens_the_link_sees_what_was_kept_without_any_vlm(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace_id = verified(page)
    looked(page, trace_id)
    WORKERS.stop_all()
    monkeypatch.delenv("PARALLAX_MODELS")
    app = opened(page, system="verimap", trace=trace_id)
    assert (len(panes(app)), buttons(app)) == (2, [])
    assert not [one for one in WORKERS.status() if one.name == FAKE]


def test_a_vlm_that_cannot_be_looked_into_disables_the_button_with_its_reason(
    page: AppTest, vlm: Path, tmp_path: Path
) -> None:
    verified(page)
    listed = LISTED.format(folder=vlm).replace("attention: yes", "attention: its <b>code</b> hides it")
    (tmp_path / "mine.yaml").write_text(listed)
    page.run()
    assert buttons(page) == [True]
    assert f"{FAKE} cannot be looked into: its <b>code</b> hides it." in texts(page)


def test_of_two_vlms_the_one_that_can_be_looked_into_is_and_the_other_is_told_of(page: AppTest) -> None:
    page.run()
    trace_id = stored(ACCEPTS)
    app = opened(page, system="verimap", trace=trace_id)
    assert buttons(app) == [False]
    assert f"{OTHER} is not in the list of VLMs any more." in texts(app)


def test_where_two_vlms_looked_the_sentence_names_both(page: AppTest) -> None:
    page.run()
    trace_id = stored(ACCEPTS)
    for step in (Stage.DIRECT, Stage.VERIFY):
        put_trace_look(the_store(), trace_id, step, 0, keep(look_at("one polyp")))
    app = opened(page, system="verimap", trace=trace_id)
    assert (
        f"When answering, {FAKE} gave the image 33.3 % of its attention; when judging, "
        "Judge &lt;b&gt;VLM&lt;/b&gt; gave it 33.3 %." in sentences(app)
    )


def test_an_image_that_is_not_at_hand_is_said_and_what_was_kept_shows_its_numbers(page: AppTest) -> None:
    page.run()
    trace_id = stored(ACCEPTS)
    app = opened(page, system="verimap", trace=trace_id)
    pressed(app, f"look_into_{trace_id}")
    assert "The image that the VLM was shown is not at hand any more, or has changed since." in html_of(app)
    put_trace_look(the_store(), trace_id, Stage.DIRECT, 0, keep(look_at("one polyp")))
    app.run()
    assert "so its maps lie over nothing" in texts(app)
    assert titles(app) == [f"Generator ({FAKE})"]


def test_a_vlm_whose_weights_have_changed_since_is_not_looked_into(page: AppTest, vlm: Path) -> None:
    trace_id = verified(page)
    (vlm / "config.json").write_text('{"trained": "since"}')
    looked(page, trace_id)
    assert panes(page) == []
    assert f"{FAKE} has changed since it gave this reply" in html_of(page)
    assert buttons(page) == [False], "it may be asked again"


def test_a_reply_that_is_refused_says_why_in_words(page: AppTest, vlm: Path) -> None:
    trace_id = verified(page)
    orders(vlm, saliency="fail")
    looked(page, trace_id)
    assert html_of(page).count("The answer holds a control word of this VLM.") == 2
    orders(vlm)
    looked(page, trace_id)
    assert len(panes(page)) == 2
    assert "control word" not in html_of(page)


def test_a_vlm_that_dies_under_the_look_is_said_and_can_be_asked_again(page: AppTest, vlm: Path) -> None:
    trace_id = verified(page)
    orders(vlm, saliency="die")
    looked(page, trace_id)
    assert panes(page) == [] and "ended" in html_of(page)
    orders(vlm)
    looked(page, trace_id)
    assert len(panes(page)) == 2


def test_while_it_looks_it_says_how_far_it_is_and_can_be_cancelled(page: AppTest, vlm: Path) -> None:
    trace_id = verified(page)
    orders(vlm, saliency="wait")
    pressed(page, f"look_into_{trace_id}")
    looks = LOOKS.of(the_store(), trace_id)
    assert looks is not None
    end = time.monotonic() + 20
    while not looks.asking:
        assert time.monotonic() < end
        time.sleep(0.01)
    page.run()
    assert "0 of 2 answers looked into" in html_of(page)
    assert f"now: Generator ({FAKE})" in html_of(page)
    assert [one.key for one in page.button if one.key == "run_again"], "the page goes on below"
    pressed(page, f"cancel_{trace_id}")
    assert looks.wait(60)
    page.run()
    assert "Cancelled. What was looked into until then is kept." in html_of(page)
    assert buttons(page) == [False]


def test_a_persons_answer_is_said_to_be_one(page: AppTest) -> None:
    app = opened(page, unit=UNIT, verifier=FAKE, system="verimap")
    app.text_input(key="verify_answer").set_value("<b>three</b>").run()
    trace_id = over(pressed(app, "run_verify"))
    looked(app, trace_id)
    assert titles(app) == [f"A person’s answer, read by {FAKE}", f"Verifier ({FAKE})"]
    assert f"A person gave this answer: it is read as if {FAKE} had given it to the question." in texts(app)
    assert words(panes(app)[0]) == "<b>three</b>"


@pytest.mark.parametrize("variant", [Variant.ASR, Variant.SELF])
def test_of_a_reconciliation_the_direct_and_the_revised_answer_are_shown(page: AppTest, variant: Variant) -> None:
    query = {"unit": live_tests.UNIT, "vlm": FAKE, "variant": VARIANT_WORDS[variant]}
    app = pressed(opened(page, **query), "run_asr")
    trace_id = live_tests.over(app)
    assert [one.trace_id for one in unit_traces(the_store(), live_tests.UNIT)] == [trace_id]
    looked(app, trace_id)
    assert titles(app) == ["Complex answer", "Revised answer"]
    assert "When answering, the VLM gave the image 33.3 % of its attention; when asked again, " in sentences(app)


def test_of_a_pair_both_replies_are_shown_over_the_picture_with_the_cue(workshop: AppTest) -> None:
    app = workshop_tests.opened(workshop, unit=ARROW_ACTION, vlm=FAKE)
    trace_id = workshop_tests.over(pressed(app, "ask_again"))
    assert [one.trace_id for one in unit_pair_traces(the_store(), ARROW_ACTION)] == [trace_id]
    looked(app, trace_id)
    assert titles(app) == ["Original question", "Less-biased question"]
    assert "With the original question, the VLM gave the image" in html_of(app)
    assert asked(app, "trace") == trace_id


def test_nothing_of_a_name_is_read_as_markup(page: AppTest) -> None:
    page.run()
    app = opened(page, trace=live_tests.stored(live_tests.trace_of()))
    assert buttons(app) == [True]
    assert "Fake <b>VLM</b> is not in the list of VLMs any more." in texts(app)
    assert "<b>VLM</b>" not in html_of(app)


V = VlmIdentity("V")


@pytest.mark.parametrize(
    ("reply", "name", "when"),
    [
        (TraceReply(StepName.DIRECT, 0, "Both?", "", "", V), "Complex answer", "When answering"),
        (TraceReply(StepName.ATOMIC, 1, "Any?", "", "", V), "Part 2: Any?", "When answering this part"),
        (TraceReply(StepName.SELECT, 0, "Both?", "", "", V), "Decision on it", "When deciding"),
        (TraceReply(Role.LESS_BIASED, 0, "", "", "", V), "Less-biased question", "With the less-biased question"),
        (TraceReply(Stage.DIRECT, 0, "", "", "", V), "Generator (V)", "When answering"),
        (TraceReply(Stage.LOOP, 2, "", "", "", V), "Generator (V), turn 2", "When answering again"),
        (TraceReply(Stage.LOOK, 0, "", "", "", V), "Verifier (V), first look", "When looking first"),
        (TraceReply(Stage.VERIFY, 2, "", "", "", V), "Verifier (V), turn 2", "When judging"),
        (TraceReply(Stage.DIRECT, 0, "", "", "", V, by_person=True), "A person’s answer, read by V", "When answering"),
    ],
)
def test_each_reply_has_a_name_and_a_when(reply: TraceReply, name: str, when: str) -> None:
    assert (reply_name(reply), when_words(reply)) == (name, when)
