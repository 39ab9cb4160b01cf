"""Promises of live verification on the Live page: what can be asked, and that the verdict stands beside the truth."""

import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.records import LIVE_EXAMPLES, Stage
from backend.domain.vlm import Reply
from backend.services.ingest.verimap_suites import SuiteExample, put_examples
from backend.services.live_traces import new_trace_id
from backend.services.live_verification import VERIFICATIONS
from backend.services.runs.plan import VlmIdentity
from backend.services.verification_traces import Asked, store_verification_trace, verification_traces
from backend.store.store import Store
from backend.verimap.verification import Course, Step, Verification
from pages.ui.resources import the_store
from tests.pages.app_page import FAKE, LISTED, app_over, asked, html_of, open_page, over_of, pressed
from tests.pages.test_live import opened, picture, sent, typed
from tests.services.live_fakes import ACCEPTS, orders
from tests.services.run_files import draw_images, drawn_store

UNIT, CHOICE = "vqa-rad:1", "vqa-rad:2"
QUESTION = "How many polyps are in the image?"
OTHER = "Judge <b>VLM</b>"
VERIMAP = {"system": "verimap", "vlm": FAKE}

over = partial(over_of, VERIFICATIONS)


def fill(store: Store) -> None:
    """Put two examples on the frame that is at hand, and one on a frame that is not."""
    with store.write() as cursor:
        examples = [
            SuiteExample("1", ("frame-a.png",), QUESTION, "2"),
            SuiteExample("2", ("frame-a.png",), "Which?", "CT", "", '[{"letter": "A", "text": "CT <i>scan</i>"}]', "A"),
            SuiteExample("3", ("frame-b.png",), QUESTION, "2"),
        ]
        put_examples(cursor, "vqa-rad", examples, {}, "a file", dataset="drawn")


@pytest.fixture
def page(tmp_path: Path, vlm: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app over three examples, acknowledged."""
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-a"])) as store:
        fill(store)
    yield from app_over(tmp_path / "store.duckdb", monkeypatch)


def stored(verdict: str, answer: str = "one polyp", unit: str = UNIT, **course: int) -> str:
    """Store a verification by another VLM, and return its trace's id."""
    steps = (
        Step(Stage.DIRECT, 0, "<i>prompt</i>", Reply(answer)),
        Step(Stage.VERIFY, 0, "<i>judge</i>", Reply(verdict)),
    )
    trace_id = new_trace_id()
    store_verification_trace(
        the_store(),
        trace_id,
        unit,
        Verification(QUESTION, Course(turns=course.get("turns", 0)), steps),
        Asked(VlmIdentity(OTHER)),
        Asked(VlmIdentity(FAKE)),
        "00ff",
    )
    return trace_id


def test_the_live_page_asks_for_parts_or_for_a_verdict_and_the_link_says_which(page: AppTest) -> None:
    app = opened(page)
    assert app.title[0].value.startswith("Does the answer stand")
    app.segmented_control(key="live_system").set_value("verimap").run()
    assert app.title[0].value == "Does the verifier notice when the answer is wrong?"
    assert asked(app, "system") == "verimap"
    assert [button.key for button in app.button if button.label == "Ask this"] == [f"example_{UNIT}"]
    pressed(app, f"example_{UNIT}")
    assert (asked(app, "unit"), typed(app, "verify_question")) == (UNIT, QUESTION)
    app.segmented_control(key="live_system").set_value("endoca").run()
    assert "unit" not in app.query_params, "a case belongs to one system"


def test_a_press_answers_and_judges_and_the_verdict_stands_beside_the_truth(page: AppTest) -> None:
    app = pressed(opened(page, unit=UNIT, **VERIMAP), "run_verify")
    trace_id = over(app)
    shown = html_of(app)
    assert '<span class="verdict">CORRECT</span>' in shown
    assert '<span class="truth wrong"><b aria-hidden="true">✗</b> wrong</span>' in shown
    assert "<small>the reference is <q>2</q></small>" in shown
    assert "<strong>False acceptance</strong>" in shown
    assert "accepts its own answer. Whoever relies on the verdict takes a wrong answer for a checked one." in shown
    [trace] = verification_traces(the_store(), UNIT)
    assert trace.trace_id == trace_id
    assert "judged by itself" in shown


def test_the_verdict_goes_back_and_the_turns_stand_as_a_conversation(page: AppTest) -> None:
    app = pressed(opened(page, unit=UNIT, turns="1", **VERIMAP), "run_verify")
    over(app)
    shown = html_of(app)
    places = [shown.index(f"Step {number}:") for number in range(1, 5)]
    assert places == sorted(places)
    assert "Turn by turn: <b class=parts>wrong, accepted</b> → <b>right, accepted</b>" in shown
    assert "<strong>Right answer, accepted</strong>" in shown
    assert "whole reply" in shown, "the answer is read from a line of the reply"


def test_while_it_runs_it_can_be_cancelled_and_what_was_answered_is_kept(page: AppTest, vlm: Path) -> None:
    orders(vlm, verify="wait")
    app = pressed(opened(page, unit=UNIT, **VERIMAP), "run_verify")
    trace_id = asked(app, "trace")
    live = VERIFICATIONS.known(trace_id)
    assert live is not None
    deadline = time.monotonic() + 20
    while not any(one.said for one in live.asking):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    app.run()
    shown = html_of(app)
    assert "so far" in shown and "one polyp" in shown
    pressed(app, f"cancel_{trace_id}")
    over(app)
    assert "Cancelled. What was answered until then is kept." in html_of(app)
    orders(vlm)
    pressed(app, "run_again")
    over(app)
    assert len(verification_traces(the_store(), UNIT)) == 2
    assert "shown above" in html_of(app)


def test_coming_back_without_a_link_shows_what_this_person_left_running(page: AppTest, vlm: Path) -> None:
    orders(vlm, direct="wait")
    app = pressed(opened(page, unit=UNIT, **VERIMAP), "run_verify")
    trace_id = asked(app, "trace")
    open_page("runs", app)
    app.query_params.clear()
    app.switch_page("../live.py").run()
    assert (asked(app, "trace"), asked(app, "system")) == (trace_id, "verimap")
    app.segmented_control(key="live_system").set_value("endoca").run()
    assert "trace" not in app.query_params, "the other kind can be chosen meanwhile"
    (vlm / "go").touch()
    live = VERIFICATIONS.known(trace_id)
    assert live is not None and live.wait(60)


def test_an_answer_of_ones_own_is_judged_and_no_vlm_answers(page: AppTest) -> None:
    app = opened(page, unit=UNIT, verifier=FAKE, system="verimap")
    app.text_input(key="verify_answer").set_value("<b>three</b>").run()
    assert [box.label for box in app.selectbox] == ["VLM that judges"]
    pressed(app, "run_verify")
    over(app)
    shown = html_of(app)
    assert "given by a person" in shown and '<p class="said">&lt;b&gt;three&lt;/b&gt;</p>' in shown
    [trace] = verification_traces(the_store(), UNIT)
    assert trace.generator is None and [step.name for step in trace.verification.steps] == ["verify"]


def test_another_question_makes_an_example_of_its_own_and_is_judged_by_the_reference_given(page: AppTest) -> None:
    app = opened(page, unit=UNIT, **VERIMAP)
    app.text_area(key="verify_question").set_value("How many\n  polyps?").run()
    app.text_input(key="verify_reference").set_value("1").run()
    pressed(app, "run_verify")
    trace_id = over(app)
    unit_id = the_store().value("SELECT unit_id FROM traces WHERE trace_id = ?", [trace_id])
    assert unit_id.startswith(f"{LIVE_EXAMPLES}:")
    assert "<strong>Right answer, accepted</strong>" in html_of(app)
    app = open_page("case", app, unit=unit_id)
    assert app.text[0].value == "Asked live; no batch run answers it."
    assert "Verified live" in [one.value for one in app.subheader]


def test_without_a_reference_nobody_says_whether_the_answer_is_right(page: AppTest) -> None:
    app = sent(opened(page, **VERIMAP), picture())
    app.text_area(key="verify_question").set_value("What is it?").run()
    pressed(app, "run_verify")
    over(app)
    shown = html_of(app)
    assert "not known: there is no reference" in shown
    assert "<strong>CORRECT</strong>" in shown
    assert "Whether the answer is right is not known: there is no reference." in shown
    assert "the file of records" not in shown


def test_a_question_with_options_shows_them_and_they_are_asked(page: AppTest) -> None:
    app = opened(page, unit=CHOICE, **VERIMAP)
    assert "A: CT <i>scan</i>" in [one.value for one in app.text]
    pressed(app, "run_verify")
    over(app)
    [trace] = verification_traces(the_store(), CHOICE)
    assert trace.verification.question == "Which?\nA: CT <i>scan</i>"
    assert "<i>scan</i>" not in html_of(app)


def test_two_vlms_take_part_and_both_are_named_with_nothing_read_as_markup(page: AppTest) -> None:
    page.run()
    app = opened(page, system="verimap", trace=stored(ACCEPTS, "<b>one</b>"))
    shown = html_of(app)
    assert "Judge &lt;b&gt;VLM&lt;/b&gt;" in shown and "<b>VLM</b>" not in shown
    assert "&lt;b&gt;one&lt;/b&gt;" in shown and "&lt;i&gt;judge&lt;/i&gt;" in shown
    assert "judged by" in shown


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("VERDICT: INCORRECT", "<strong>Wrong answer, rejected</strong>"),
        ("VERDICT: UNCERTAIN", "<strong>Wrong answer, not accepted (not sure)</strong>"),
        ("Well.", "<strong>Wrong answer, no verdict, left out</strong>"),
        ("", "<strong>Wrong answer, no verdict, left out</strong>"),
    ],
)
def test_a_stored_verification_opens_by_its_link_and_says_what_it_came_to(
    page: AppTest, verdict: str, said: str
) -> None:
    page.run()
    app = opened(page, system="verimap", trace=stored(verdict))
    assert said in html_of(app)


def test_the_case_page_holds_its_live_verifications_and_leads_to_the_next(page: AppTest) -> None:
    page.run()
    stored(ACCEPTS)
    app = open_page("case", page, unit=UNIT)
    assert "Verified live" in [one.value for one in app.subheader]
    assert "<strong>False acceptance</strong>" in html_of(app)


def test_a_case_whose_image_is_not_at_hand_cannot_be_verified_and_what_is_typed_stays(page: AppTest) -> None:
    app = opened(page, unit="vqa-rad:3", **VERIMAP)
    app.text_input(key="verify_answer").set_value("three").run()
    pressed(app, "run_verify")
    assert "is not at hand, and a VLM has to see it" in html_of(app)
    assert app.text_input(key="verify_answer").value == "three"


def test_an_unknown_trace_is_said_calmly_with_a_way_out(page: AppTest) -> None:
    app = opened(page, system="verimap", trace="<b>gone</b>")
    assert "There is no verification &#x27;&lt;b&gt;gone&lt;/b&gt;&#x27; in this store." in html_of(app)
    app.button[-1].click().run()
    assert "trace" not in app.query_params


@pytest.mark.parametrize("name", ["overview", "verimap", "loop", "data", "runs"])
def test_the_suite_of_live_examples_disturbs_no_other_page(page: AppTest, name: str) -> None:
    page.run()
    app = opened(page, unit=UNIT, **VERIMAP)
    app.text_area(key="verify_question").set_value("Is there text?").run()
    over(pressed(app, "run_verify"))
    for query in ({}, {"suites": LIVE_EXAMPLES}):
        open_page(name, page, **query)


def test_another_vlm_is_offered_first_as_the_judge_and_both_are_asked(
    page: AppTest, vlm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "two.yaml"
    second = vlm.parent / "second"
    shutil.copytree(vlm, second)
    listed.write_text(LISTED.format(folder=vlm) + LISTED.format(folder=second).replace(FAKE, "Second VLM"))
    monkeypatch.setenv("PARALLAX_MODELS", str(listed))
    app = opened(page, unit=UNIT, judge="Another VLM judges", **VERIMAP)
    assert [box.label for box in app.selectbox] == ["VLM that answers", "VLM that judges"]
    assert app.selectbox[1].value != app.selectbox[0].value
    app.selectbox[1].set_value("Second VLM").run()
    assert asked(app, "verifier") == "Second VLM"
    pressed(app, "run_verify")
    over(app)
    [trace] = verification_traces(the_store(), UNIT)
    assert trace.generator is not None
    assert (trace.generator.vlm.name, trace.verifier.vlm.name) == (FAKE, "Second VLM")
    assert (trace.generator.device, trace.verifier.device) == ("abacus", "abacus")
    assert "yet Second VLM accepts it." in html_of(app)
