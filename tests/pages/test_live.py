"""Promises of the Live page: what can be asked, what a trace says, and that nothing typed or answered is lost."""

import io
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from backend.domain.vlm import Reply
from backend.endoca.asr import Step, StepName, Trace, Variant
from backend.endoca.typed_questions import MAX_QUESTION
from backend.services.cases import load_case
from backend.services.live import LIVE
from backend.services.live_traces import store_trace, unit_traces
from backend.services.live_units import live_unit
from backend.services.runs.plan import VlmIdentity
from pages.ui.resources import the_store
from tests.pages.app_page import FAKE, app_over, asked, html_of, open_page, over_of, pressed
from tests.services.live_fakes import orders
from tests.services.run_files import draw_images, drawn_store

UNIT = "drawn:22"
WHO = VlmIdentity("Fake <b>VLM</b>", "general_open")

opened = partial(open_page, "live")
over = partial(over_of, LIVE)


@pytest.fixture
def page(tmp_path: Path, vlm: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app over three cases, one of which has its image, acknowledged."""
    drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-a"])).close()
    yield from app_over(tmp_path / "store.duckdb", monkeypatch)


def typed(app: AppTest, key: str) -> str:
    """Return what stands in a field."""
    return app.text_area(key=key).value or ""


def trace_of(
    revised: str = "one polyp",
    selected: str = '{"answer": "one polyp", "consistency": "consistent", "decision": "answer"}',
    **replies: Reply,
) -> Trace:
    said = {"direct": Reply("One polyp."), "atomic": Reply("1"), "revise": Reply(revised), "select": Reply(selected)}
    said |= replies
    names = [(StepName.DIRECT, 0), (StepName.ATOMIC, 0), (StepName.ATOMIC, 1), (StepName.REVISE, 0)]
    steps = [
        Step(name, at, f"{name}?", f"<i>{name}</i> {at}", said[name]) for name, at in [*names, (StepName.SELECT, 0)]
    ]
    return Trace("How many polyps?", Variant.ASR, tuple(steps))


def stored(trace: Trace, who: VlmIdentity = WHO, unit: str = UNIT) -> str:
    return store_trace(the_store(), unit, trace, who, "00ff")


def test_without_a_subject_it_offers_examples_and_an_upload(page: AppTest) -> None:
    app = opened(page)
    assert [button.label for button in app.button if button.key and button.key.startswith("example_")] == ["Ask this"]
    pressed(app, f"example_{UNIT}")
    assert asked(app, "unit") == UNIT
    assert app.text_area(key="live_question").value == "How many polyps are there, and is there a box artifact?"
    assert typed(app, "live_atomic").splitlines() == [
        "How many polyps are in the image?",
        "Is there a green/black box artefact?",
    ]


def test_a_press_runs_it_and_the_link_holds_the_trace(page: AppTest) -> None:
    app = pressed(opened(page, unit=UNIT, vlm=FAKE), "run_asr")
    trace_id = over(app)
    shown = html_of(app)
    assert "<strong>Changed</strong>, because asked again with its parts it says “two polyps” in place of" in shown
    assert "By the references:" in shown
    assert "wrong answer, some parts right" in shown
    assert [one.trace_id for one in unit_traces(the_store(), UNIT)] == [trace_id]


def test_one_that_is_stored_while_the_page_is_drawn_is_not_said_to_be_lost(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = pressed(opened(page, unit=UNIT, vlm=FAKE), "run_asr")
    run = LIVE.known(over(app))
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(LIVE, "find", lambda store, trace_id: run)
        assert "nothing is kept" not in html_of(app.run())
    assert "<strong>Changed</strong>" in html_of(app.run())


def test_while_it_runs_the_steps_stand_in_order_and_it_can_be_cancelled(page: AppTest, vlm: Path) -> None:
    orders(vlm, revise="wait")
    app = pressed(opened(page, unit=UNIT, vlm=FAKE), "run_asr")
    trace_id = asked(app, "trace")
    run = LIVE.known(trace_id)
    assert run is not None
    deadline = time.monotonic() + 20
    while not any(one.said for one in run.asking if one.name == "revise"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    app.run()
    shown = html_of(app)
    places = [shown.index(f"Step {number}:") for number in range(1, 6)]
    assert places == sorted(places)
    assert "so far" in shown
    pressed(app, f"cancel_{trace_id}")
    over(app)
    assert "Cancelled. What was answered until then is kept." in html_of(app)
    orders(vlm)
    pressed(app, "run_again")
    over(app)
    assert len(unit_traces(the_store(), UNIT)) == 2
    assert "shown above" in html_of(app)


def test_coming_back_without_a_link_shows_what_this_person_left_running(page: AppTest, vlm: Path) -> None:
    orders(vlm, direct="wait")
    app = pressed(opened(page, unit=UNIT, vlm=FAKE), "run_asr")
    trace_id = asked(app, "trace")
    open_page("runs", app)
    app.query_params.clear()
    app.switch_page("../live.py").run()
    assert asked(app, "trace") == trace_id
    (vlm / "go").touch()
    over(app)


def test_changed_questions_make_a_case_of_their_own_on_the_same_image(page: AppTest) -> None:
    app = opened(page, unit=UNIT, vlm=FAKE)
    app.text_area(key="live_atomic").set_value("Is there text?\n\nIs the <b>wall</b> pink?").run()
    app.text_input(key="live_reference_0").set_value("no").run()
    pressed(app, "run_asr")
    trace_id = over(app)
    unit_id = the_store().value("SELECT unit_id FROM traces WHERE trace_id = ?", [trace_id])
    case = load_case(the_store(), unit_id)
    assert (case.suite, case.image.image_id) == ("live", load_case(the_store(), UNIT).image.image_id)
    assert [one.reference for one in case.questions] == ["", "no", ""]
    shown = html_of(app)
    assert "Is the &lt;b&gt;wall&lt;/b&gt; pink?" in shown
    assert "<b>wall</b>" not in shown


def test_parts_are_proposed_from_the_complex_question_and_can_be_edited(page: AppTest) -> None:
    app = opened(page, unit=UNIT, vlm=FAKE)
    app.text_area(key="live_question").set_value("Is there any text, and how many polyps are visible?").run()
    pressed(app, "propose")
    assert typed(app, "live_atomic").splitlines() == [
        "Is there text?",
        "How many polyps are in the image?",
    ]
    app.text_area(key="live_question").set_value("What is the weather?").run()
    pressed(app, "propose")
    assert typed(app, "live_atomic").splitlines()[0] == "Is there text?"
    assert any("Nothing is proposed" in caption.value for caption in app.caption)


def test_the_vlm_in_the_box_says_which_questions_it_never_learned(page: AppTest) -> None:
    app = opened(page, unit=UNIT, vlm="Box VLM")
    if not app.selectbox or not str(app.selectbox[0].value).startswith("Box VLM"):
        pytest.skip("the VLM in the box is not trained yet")
    app.text_area(key="live_question").set_value("What is the <b>weather</b>?").run()
    assert "was not trained for" in html_of(app)
    assert "<li>What is the &lt;b&gt;weather&lt;/b&gt;?</li>" in html_of(app)
    assert "<li>How many polyps are in the image?</li>" not in html_of(app)


def sent(app: AppTest, content: bytes) -> AppTest:
    """Send an image of one's own, with whatever else was pressed and not run."""
    app.file_uploader[0].set_value(("scan.png", content, "image/png"))
    app.run()
    assert not app.exception
    return app


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (12, 9), "pink").save(buffer, "PNG")
    return buffer.getvalue()


def test_an_image_that_is_sent_stands_in_the_link_and_what_is_typed_stays(page: AppTest) -> None:
    app = opened(page, unit=UNIT, vlm=FAKE)
    app.text_area(key="live_question").set_value("Is there text?").run()
    sent(app, picture())
    assert asked(app, "image").startswith("live:")
    assert "unit" not in app.query_params
    assert typed(app, "live_question") == "Is there text?"
    sent(app, picture()[:50])
    assert "This file is damaged or ends early" in html_of(app)
    assert asked(app, "image").startswith("live:")
    assert typed(app, "live_question") == "Is there text?"
    sent(app, picture())
    assert "This file is damaged" not in html_of(app)


def test_a_press_made_while_an_image_is_sent_is_not_lost(page: AppTest) -> None:
    app = opened(page, unit=UNIT, vlm=FAKE)
    app.button(key="run_asr").click()
    sent(app, picture())
    trace_id = over(app)
    unit_id = the_store().value("SELECT unit_id FROM traces WHERE trace_id = ?", [trace_id])
    assert load_case(the_store(), unit_id).image.image_id.startswith("live:")


def test_whoever_sent_an_image_can_choose_something_else_and_send_it_again(page: AppTest) -> None:
    app = sent(opened(page), picture())
    image_id = asked(app, "image")
    pressed(app, "begin_anew")
    assert "image" not in app.query_params
    assert app.button(key=f"example_{UNIT}")
    assert asked(sent(app, picture()), "image") == image_id


def test_a_question_is_no_longer_than_can_be_asked_and_stands_on_one_line(page: AppTest) -> None:
    app = opened(page, unit=UNIT, vlm=FAKE)
    app.text_area(key="live_question").set_value("green " * 1000).run()
    assert len(typed(app, "live_question")) == MAX_QUESTION
    app.text_area(key="live_question").set_value("How many\npolyps?").run()
    app.text_area(key="live_atomic").set_value("Is   there text?\n" + "?" * (MAX_QUESTION + 1)).run()
    pressed(app, "run_asr")
    assert "A question has 2,001 characters; at most 2,000 can be asked." in html_of(app)
    app.text_area(key="live_atomic").set_value("Is   there text?").run()
    pressed(app, "run_asr")
    run = LIVE.known(over(app))
    assert run is not None
    assert (run.unit.question, run.unit.atomic) == ("How many polyps?", ("Is there text?",))


def test_what_is_missing_is_said_and_nothing_is_asked(page: AppTest) -> None:
    app = opened(page, unit=UNIT, vlm=FAKE)
    app.text_area(key="live_atomic").set_value(" ").run()
    assert app.button(key="run_asr").disabled
    assert any("At least one part is missing" in caption.value for caption in app.caption)


def test_a_case_whose_image_is_not_at_hand_cannot_be_asked_and_what_is_typed_stays(page: AppTest) -> None:
    app = opened(page, unit="drawn:33")
    app.text_area(key="live_question").set_value("Is there text?").run()
    pressed(app, "run_asr")
    assert "is not at hand, and a VLM has to see it" in html_of(app)
    assert app.text_area(key="live_question").value == "Is there text?"


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (
            trace_of(),
            "<strong>Kept</strong>, because asked again with its parts it gives the same answer, and it",
        ),
        (trace_of(selected="yes"), "<strong>Abstained</strong>, because its decision could not be read (not one JSON"),
        (
            trace_of(select=Reply("", error="It timed out. Ask again.")),
            "<strong>Abstained</strong>, because the call that decides failed (It timed out. Ask again), which counts",
        ),
        (
            trace_of(selected='{"answer": "none", "consistency": "inconsistent", "decision": "abstain"}'),
            "<strong>Abstained</strong>, because it calls its revised answer inconsistent with the image and its parts",
        ),
        (
            trace_of(selected='{"answer": "two", "consistency": "consistent", "decision": "answer"}'),
            "Its decision repeats another answer, “two”; the revised one is returned all the same.",
        ),
    ],
)
def test_a_stored_trace_opens_by_its_link_and_says_what_it_came_to(page: AppTest, trace: Trace, said: str) -> None:
    page.run()
    app = opened(page, trace=stored(trace))
    shown = html_of(app)
    assert said in shown
    assert "&lt;i&gt;direct&lt;/i&gt; 0" in shown
    assert "<i>direct</i>" not in shown
    assert "Fake &lt;b&gt;VLM&lt;/b&gt;" in shown


def test_a_trace_that_failed_says_where_and_what_to_do(page: AppTest) -> None:
    page.run()
    trace = trace_of(revise=Reply("", error="The call timed out. Ask again."))
    app = opened(page, trace=stored(Trace(trace.question, trace.variant, trace.steps[:4])))
    shown = html_of(app)
    assert "The call timed out. Ask again." in shown
    assert "A call failed; its card says why. What was answered until then is kept." in shown


def test_traces_of_one_case_stand_side_by_side(page: AppTest) -> None:
    page.run()
    first, second = stored(trace_of()), stored(trace_of("two polyps"), VlmIdentity("Other VLM"))
    app = opened(page, trace=first)
    shown = html_of(app)
    assert "Other VLM" in shown
    pressed(app, f"open_{second}")
    assert asked(app, "trace") == second


def test_an_unknown_trace_is_said_calmly_with_a_way_out(page: AppTest) -> None:
    app = opened(page, trace="<b>gone</b>")
    assert "There is no trace &#x27;&lt;b&gt;gone&lt;/b&gt;&#x27; in this store." in html_of(app)
    app.button[-1].click().run()
    assert "trace" not in app.query_params


def test_the_case_page_holds_the_traces_of_its_case(page: AppTest) -> None:
    page.run()
    stored(trace_of())
    app = open_page("case", page, unit=UNIT)
    assert "ASR traces" in [one.value for one in app.subheader]
    assert "<strong>Kept</strong>" in html_of(app)


def test_a_case_asked_live_opens_on_the_case_page(page: AppTest) -> None:
    page.run()
    image_id = load_case(the_store(), UNIT).image.image_id
    unit_id = live_unit(the_store(), image_id, "How many polyps?", ["How many polyps are in the image?", "Why?"])
    app = open_page("case", page, unit=unit_id)
    assert app.text[0].value == "No VLM has answered it yet."
    assert app.info[0].value == "No answer to this case was kept. Ask a VLM live."
    stored(trace_of(), unit=unit_id)
    app.run()
    assert not app.info
    assert app.text[0].value == "Asked live; no batch run answers it."
    assert "Part 2" in html_of(app)


@pytest.mark.parametrize("name", ["overview", "endoca", "asr", "data", "runs"])
def test_the_suite_of_live_cases_disturbs_no_other_page(page: AppTest, name: str) -> None:
    page.run()
    image_id = load_case(the_store(), UNIT).image.image_id
    live_unit(the_store(), image_id, "How many polyps?", ["How many polyps are in the image?", "Why?"])
    for query in ({}, {"suite": "live"}):
        open_page(name, page, **query)
