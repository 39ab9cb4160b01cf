"""Promises of where the VLM looked, in a case: what stands beside what, its sentence, and what is said of gaps."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.stored_saliency import LookRow, put_looks
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.vlm.saliency.kept import KeptSaliency
from pages.ui.look_words import look_facts, look_gap, looked_sentence
from pages.ui.resources import opened_store, the_store
from pages.ui.saliency_view import Pane, saliency_view
from tests.browser.apps.made_looks import EMPTY, made_look
from tests.pages.app_page import open_page, told
from tests.pages.paired_store import PARTED, make_store
from tests.services import pair_store as pairs
from tests.services.verification_store import ATLAS, BEACON, VQA_RAD, make_verification_store, run_id, unit_of

GENERATOR = made_look(("coronal",), ({0: 0.5, 7: 0.22},), ({0: 0.72},), {1: 0.1}, even=0.79)
VERIFIER = made_look(("VERDICT", ":", " CORRECT"), ({0: 0.49}, {3: 0.49}, {5: 0.49}), ({0: 0.49},), None, even=0.55)
FAILED = "This answer has no tokens."
THIRD = unit_of(VQA_RAD, "3")


def put(path: Path, run: str, probe: str, kept: KeptSaliency | None, error: str = "") -> None:
    """Write a look at an answer as it stands."""
    with Store.open(path) as store:
        answer = store.value("SELECT answer FROM answers WHERE run_id = ? AND probe_id = ?", [run, probe])
        with store.write() as cursor:
            put_looks(cursor, run, "{}", [LookRow(probe, answer, kept, error)])


@pytest.fixture
def verifications(tmp_path: Path) -> Path:
    path = tmp_path / "verifications.duckdb"
    make_verification_store(path).close()
    return path


@pytest.fixture
def open_case(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that opens a case of a store."""
    opened_store.clear()

    def open_(path: Path, **query: str) -> AppTest:
        monkeypatch.setenv("PARALLAX_STORE", str(path))
        app = AppTest.from_file(str(root / "pages/ui/main.py"), default_timeout=20)
        app.session_state["acknowledged"] = True
        return open_page("case", app, **query)

    yield open_
    the_store().close()
    opened_store.clear()


def views(app: AppTest) -> list[dict[str, Any]]:
    """Return what the saliency views of a page are told."""
    return told(app, "panes")


def titles(app: AppTest) -> list[str]:
    [view] = views(app)
    return [pane["title"] for pane in view["panes"]]


def html_of(app: AppTest) -> str:
    return "\n".join(block.proto.body for block in app.main.get("html")).replace("\u00a0", " ")


def texts(app: AppTest) -> Sequence[str]:
    return [text.value for text in app.text]


def put_verification(path: Path, generator: str, verifier: str, **which: Any) -> None:
    """Look into an answer and a verdict on it."""
    put(path, run_id(VQA_RAD, generator), f"{THIRD}:generate", GENERATOR)
    put(path, run_id(VQA_RAD, generator, verifier, **which), f"{THIRD}:generate", VERIFIER)


def test_nothing_is_drawn_where_nobody_looked(open_case: Any, verifications: Path) -> None:
    app = open_case(verifications, unit=THIRD)
    assert not views(app)
    assert "Where the VLM looked" not in [head.value for head in app.subheader]


def test_the_answer_stands_left_of_the_verdict_on_it(open_case: Any, verifications: Path) -> None:
    put_verification(verifications, ATLAS, ATLAS)
    app = open_case(verifications, unit=THIRD)
    assert titles(app) == ["Generator (Atlas)", "Verifier (Atlas)"]
    assert (
        "When judging, the VLM gave the image 49.0 % of its attention; when answering, 72.0 %. "
        "An even spread would have been 55.0 % and 79.0 %." in html_of(app)
    )
    assert '<a href="#looks"' in html_of(app)
    [view] = views(app)
    assert view["url"] == ""  # no file of this image is at hand
    assert not [box for box in app.selectbox if box.label == "Verification"]


def test_two_vlms_are_told_apart_by_name_and_names_are_no_html(open_case: Any, verifications: Path) -> None:
    put_verification(verifications, ATLAS, BEACON)
    app = open_case(verifications, unit=THIRD)
    assert titles(app) == ["Generator (Atlas)", f"Verifier ({BEACON})"]
    assert (
        "When judging, Beacon &lt;b&gt;VLM&lt;/b&gt; gave the image 49.0 % of its attention; "
        "when answering, Atlas gave it 72.0 %." in html_of(app)
    )


def test_several_verifications_are_chosen_from_and_what_the_list_asks_for_comes_first(
    open_case: Any, verifications: Path
) -> None:
    put_verification(verifications, ATLAS, ATLAS)
    put_verification(verifications, ATLAS, BEACON)
    app = open_case(verifications, unit=THIRD)
    [choice] = [box for box in app.selectbox if box.label == "Verification"]
    assert choice.options == [
        "Atlas on its own answer: CORRECT (saw the image)",
        f"{BEACON} on the answer of Atlas: INCORRECT (saw the image)",
    ]
    choice.set_value(1).run()
    assert titles(app)[1] == f"Verifier ({BEACON})"
    app = open_case(verifications, unit=THIRD, verifiers=BEACON, turns="0")
    assert titles(app)[1] == f"Verifier ({BEACON})"


@pytest.mark.parametrize("condition", [Condition.IMAGE_WITHHELD, Condition.IMAGE_SWAPPED])
def test_a_control_is_not_laid_over_an_image_it_was_not_shown(
    open_case: Any, verifications: Path, condition: Condition
) -> None:
    put_verification(verifications, ATLAS, ATLAS, condition=condition)
    app = open_case(verifications, unit=THIRD)
    assert titles(app) == ["Generator (Atlas)"]
    assert "Their verifiers were not shown this image, so no map is drawn." in app.caption[-1].value


def test_a_look_of_a_control_alone_brings_no_empty_section(open_case: Any, verifications: Path) -> None:
    judging = run_id(VQA_RAD, ATLAS, ATLAS, condition=Condition.IMAGE_SWAPPED)
    put(verifications, judging, f"{THIRD}:generate", VERIFIER)
    app = open_case(verifications, unit=THIRD)
    assert not views(app)
    assert "Where the VLM looked" not in [head.value for head in app.subheader]


def test_a_later_turn_stands_beside_the_answer_of_its_own_turn(open_case: Any, verifications: Path) -> None:
    put(verifications, run_id(VQA_RAD, ATLAS, turn=1), f"{THIRD}:generate", GENERATOR)
    put(verifications, run_id(VQA_RAD, ATLAS, ATLAS, turn=1), f"{THIRD}:generate", VERIFIER)
    app = open_case(verifications, unit=THIRD)
    assert titles(app) == ["Generator (Atlas)", "Verifier (Atlas)"]


def test_failed_looks_are_counted_with_their_reason(open_case: Any, verifications: Path) -> None:
    put(verifications, run_id(VQA_RAD, ATLAS), f"{THIRD}:generate", GENERATOR)
    put(verifications, run_id(VQA_RAD, ATLAS, ATLAS), f"{THIRD}:generate", None, FAILED)
    app = open_case(verifications, unit=THIRD)
    assert titles(app) == ["Generator (Atlas)"]
    assert f"Verifier (Atlas): there is no look. {FAILED}" in texts(app)
    assert f"1 of 2 looks at answers to this case could not be had: {FAILED}" in texts(app)


def test_where_all_looks_failed_only_their_reason_is_said(open_case: Any, verifications: Path) -> None:
    put(verifications, run_id(VQA_RAD, ATLAS, ATLAS), f"{THIRD}:generate", None, FAILED)
    app = open_case(verifications, unit=THIRD)
    assert not views(app)
    assert f"1 of 1 looks at answers to this case could not be had: {FAILED}" in texts(app)


def test_a_complex_answer_stands_beside_its_first_part_until_another_is_chosen(open_case: Any, tmp_path: Path) -> None:
    path = tmp_path / "paired.duckdb"
    make_store(path)
    with Store.open(path) as store:
        run = store.value("SELECT run_id FROM runs WHERE vlm = ?", [PARTED])
        probes = store.rows(
            "SELECT p.probe_id FROM probes p JOIN answers a USING (probe_id) WHERE p.unit_id = 'drawn:22' "
            "AND a.run_id = ? ORDER BY p.role DESC, p.position",
            [run],
        )
        answers = dict(store.rows("SELECT probe_id, answer FROM answers WHERE run_id = ?", [run]))
        with store.write() as cursor:
            put_looks(cursor, run, "{}", [LookRow(probe, answers[probe], GENERATOR, "") for (probe,) in probes])
    app = open_case(path, unit="drawn:22")
    left, right = titles(app)
    assert left == f"Complex answer ({PARTED}, direct)"
    assert right.startswith("Part 1: ")
    assert "When answering the complex question, the VLM gave the image 72.0 % of its attention" in html_of(app)
    next(box for box in app.selectbox if box.label == "Right picture").set_value(2).run()
    assert titles(app)[1].startswith("Part 2: ")
    next(box for box in app.selectbox if box.label == "Right picture").set_value(0).run()
    assert titles(app) == [left]


def test_alike_answers_of_two_runs_can_both_be_chosen(open_case: Any, tmp_path: Path) -> None:
    path = tmp_path / "paired.duckdb"
    make_store(path)
    with Store.open(path) as store:
        run = store.value("SELECT run_id FROM runs WHERE vlm = ?", [PARTED])
        again = f"{run.rpartition('.')[0]}.0123456789"
        with store.write() as cursor:
            for table in ("runs", "answers", "scores", "outcomes"):
                cursor.execute(
                    f"INSERT INTO {table} SELECT * REPLACE (? AS run_id) FROM {table} WHERE run_id = ?", [again, run]
                )
        [(probe,)] = store.rows("SELECT probe_id FROM probes WHERE unit_id = 'drawn:22' AND role = 'complex'")
    put(path, run, probe, GENERATOR)
    put(path, again, probe, VERIFIER)
    called = f"Complex answer ({PARTED}, direct)"
    app = open_case(path, unit="drawn:22")
    assert set(titles(app)) == {f"{called}, {run.rpartition('.')[2]}", f"{called}, 0123456789"}
    first = titles(app)[0]
    next(box for box in app.selectbox if box.label == "Right picture").set_value(0).run()
    assert titles(app) == [first]


def test_a_pair_is_drawn_over_the_picture_that_was_sent(open_case: Any, tmp_path: Path) -> None:
    path = tmp_path / "pairs.duckdb"
    pairs.make_pair_store(path).close()
    run, unit = pairs.run_id(pairs.STEADY), pairs.ARROW_ACTION
    put(path, run, f"{unit}::original", GENERATOR)
    put(path, run, f"{unit}::less_biased", VERIFIER)
    app = open_case(path, unit=unit)
    assert titles(app) == [f"Original question ({pairs.STEADY})", f"Less-biased question ({pairs.STEADY})"]
    [view] = views(app)
    assert view["url"].startswith("/cue/")
    assert (view["width"], view["height"]) == (pairs.WIDTH, pairs.HEIGHT)
    assert "With the original question, the VLM gave the image 72.0 % of its attention" in html_of(app)


def test_the_two_numbers_stand_with_the_even_share_and_what_is_undefined_says_why() -> None:
    assert look_facts(GENERATOR) == [
        ("Image saliency fraction", "72.0\u00a0%"),
        ("Even share", "79.0\u00a0%"),
        ("Times even share", "0.91"),
        ("Mean gradient activation", "0.0002"),
    ]
    assert look_facts(VERIFIER)[3] == ("Mean gradient activation", "N/A: this VLM runs elsewhere")
    unseen = replace(GENERATOR, fraction=0.0, uniform_fraction=0.0)
    assert look_facts(unseen)[2] == ("Times even share", "N/A: no part of the image can be seen")


def test_a_gap_has_its_sign_and_none_where_one_side_has_no_number() -> None:
    assert look_gap(GENERATOR, VERIFIER) == [
        ("Image saliency fraction", "+23.0 points"),
        ("Even share", "+24.0 points"),
        ("Times even share", "+0.02"),
        ("Mean gradient activation", "N/A: one of the two has none"),
    ]
    assert look_gap(VERIFIER, GENERATOR)[0] == ("Image saliency fraction", "−23.0 points")
    assert look_gap(GENERATOR, GENERATOR)[0] == ("Image saliency fraction", "0.0 points")


def test_a_sentence_names_vlms_only_where_they_are_two() -> None:
    first, second = ("When judging", VERIFIER), ("When answering", GENERATOR)
    assert "gave the image 49.0\u00a0% of its attention; when answering, 72.0" in looked_sentence(first, second)
    told = looked_sentence(first, second, who=("Beacon", "Atlas"))
    assert "When judging, Beacon gave the image 49.0\u00a0%" in told
    assert "when answering, Atlas gave it 72.0" in told


def test_more_than_two_answers_are_not_compared() -> None:
    pane = Pane("Generator", "no", made_look(("no",), (EMPTY,), (EMPTY,)))
    with pytest.raises(ValueError, match="not 3"):
        saliency_view(None, None, None, [pane] * 3, label="", key="three")
