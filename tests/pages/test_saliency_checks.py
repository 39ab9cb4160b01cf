"""Promises of the checks of maps: what is expected stands beside what came out, and what cannot be done says why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from backend.services.demo.shipped import VLM
from backend.services.saliency_checks import CHECKS, Part, Shuffled
from backend.services.saliency_pointing_table import EVERY, pointing_figures
from backend.vlm.saliency.faithfulness import Curves
from backend.vlm.saliency.kept import keep
from backend.vlm.worker import WORKERS
from pages.ui.resources import opened_store, the_store
from pages.ui.saliency_check_words import curves_sentence, pointing_sentences, shuffled_sentence, tampered_sentence
from tests.pages.app_page import html_of, texts_of
from tests.services.grounding_store import make_grounding_store
from tests.services.pointing_store import (
    GENERATOR,
    VERIFIER,
    kept,
    make_pointing_store,
    put_look,
    sha256_of,
    unit_of,
)
from tests.services.test_saliency_checks import PROMPT, UNIT, put_call
from tests.services.verification_store import ATLAS

EVEN = np.full((16, 16), 0.5 / 256)

needs_box_vlm = pytest.mark.skipif(
    not (VLM / "model.safetensors").exists(), reason="the VLM in the box is not trained yet"
)


def curves(deletion: float, insertion: float, *, whole: float = 0.9, gone: float = 0.1) -> Curves:
    """Straight lines but for their middle; a random order's runs through the mean of both ends."""
    middle = (whole + gone) / 2
    return Curves(
        (0, 0.5, 1), (whole, deletion, gone), (gone, insertion, whole), (whole, middle, gone), (gone, middle, whole)
    )


def checked_case(looks: list[tuple[str, str, str]]) -> None:
    from pages.ui.resources import the_store
    from pages.ui.saliency_checks import Checkable, show_map_checks

    show_map_checks(the_store(), [Checkable(*look) for look in looks])


def pointing_page() -> None:
    from backend.figures.style import LIGHT
    from pages.ui.resources import the_store
    from pages.ui.saliency_checks import show_pointing

    show_pointing(the_store(), LIGHT)


def tampered_page(generator: str, pairing: str = "") -> None:
    from backend.store.verification_filters import VerificationFilter
    from pages.ui.resources import the_store
    from pages.ui.saliency_checks import show_tampered

    show_tampered(the_store(), VerificationFilter(generators=(generator,), pairing=pairing))


@pytest.fixture
def store_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "parallax.duckdb"
    monkeypatch.setenv("PARALLAX_STORE", str(path))
    opened_store.clear()
    yield path
    the_store().close()
    opened_store.clear()


def drawn(function: Any, *args: object, **state: object) -> AppTest:
    app = AppTest.from_function(function, args=args, default_timeout=60)
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


def test_areas_are_told_beside_those_of_a_random_order() -> None:
    # Trapezia by hand: (0.9 + 2 · 0.2 + 0.1) / 4 = 0.35; a random order's (0.9 + 1 + 0.1) / 4 = 0.5.
    said = curves_sentence({Part.ATTENTION: curves(0.2, 0.8), Part.GRADIENT: curves(0.2, 0.2)})
    assert "falls sooner than in a random order" in said
    assert "Attention map: 0.35 against 0.50 for the random order, and 0.65 against 0.50: better both ways." in said
    assert "Gradient map: 0.35 against 0.50 for the random order, and 0.35 against 0.50: better one way only." in said
    assert "hardly hangs" not in said


def test_areas_that_print_alike_are_no_better() -> None:
    assert curves_sentence({Part.ATTENTION: curves(0.499, 0.501)}).endswith("no better than the random order.")


def test_an_answer_that_does_not_hang_on_the_image_is_told() -> None:
    said = curves_sentence({Part.ATTENTION: curves(0.9, 0.9, whole=0.91, gone=0.89)})
    assert "0.91 with the image and 0.89 with all of it blurred: the answer hardly hangs on the image" in said


@pytest.mark.parametrize(
    ("attention", "told"),
    [(0.123, "Attention: 0.12."), (-0.2, "Attention: −0.20."), (-0.001, "Attention: 0.00."), (None, "Attention: N/A"),
     (0.7, "Attention: 0.70: much the same map, which therefore says little of what was learnt.")],
)  # fmt: skip
def test_a_shuffled_map_is_told_beside_what_it_should_be(attention: float | None, told: str) -> None:
    said = shuffled_sentence(Shuffled(kept(EVEN), attention, 0.0))
    assert "a rank correlation near 0" in said
    assert told in said
    assert said.endswith("Gradient: 0.00.")


def test_pointing_is_told_for_each_vlm_with_what_was_left_out() -> None:
    row = {
        "vlm": "Atlas", "object": EVERY, "seat": "generator", "map": "attention", "n": 12, "n_images": 9,
        "mass": 0.2, "area": 0.05, "times_chance": 4.0, "times_chance_low": 3.0, "times_chance_high": 5.04,
        "times_other": 2.0,
    }  # fmt: skip
    unsure = {**row, "seat": "verifier", "times_chance": 1.0, "times_chance_low": None, "times_other": 1.5}
    found = {"n_looks": 20, "n_scored": 12, "n_absent": 7, "n_other_frame": 1, "n_no_place": 0}
    expected, told, counts = pointing_sentences({**found, "rows": [row, unsure, {**row, "object": "lesion"}]})
    assert "more of itself there than an even map would" in expected
    assert told == (
        "Atlas, times chance: generator’s attention 4.0 (3.0–5.0), verifier’s attention 1.0. 1 of 2 have a 95 % "
        "interval above 1, which is chance. Times another frame’s map, likewise: 2.0, 1.5."
    )
    assert counts == (
        "12 of 20 looks at these questions are scored; left out: 7 because nothing of what is asked about is in the "
        "frame, 1 because the frame’s file is not at hand or is drawn otherwise here."
    )


def test_verdicts_that_stay_the_same_are_counted_beside_what_is_expected() -> None:
    row = {
        "generator": "Atlas", "verifier": "Atlas", "control": "image withheld", "unchanged": 0.75, "unchanged_k": 3,
        "unchanged_n": 4, "unchanged_low": 0.3, "unchanged_high": 0.95, "n_without": 7,
    }  # fmt: skip
    said = tampered_sentence([row, {**row, "unchanged": None}])
    assert said.startswith("A verdict that is given for what the image shows should change")
    assert "image withheld: 3 of 4 verdicts stay the same (75.0 %; 30.0–95.0)." in said
    assert said.endswith("none of 7 answers has a verdict on both sides to compare.")


def test_no_looks_draw_no_checks_and_folded_up_nothing_is_read(store_file: Path) -> None:
    make_pointing_store(store_file).close()
    assert not drawn(checked_case, []).main.get("expander")
    app = drawn(checked_case, [("Verifier", "no such run", "nor probe")])
    assert [getattr(part, "label", "") for part in app.main.get("expander")] == ["Can this map be trusted?"]
    assert texts_of(app) == []


def test_a_look_that_cannot_be_checked_says_why_and_has_no_button(store_file: Path) -> None:
    store = make_pointing_store(store_file)
    put_look(store, VERIFIER.run_id, UNIT, kept(EVEN))
    store.close()
    app = drawn(checked_case, [("Verifier", VERIFIER.run_id, UNIT)], map_checks_open=True)
    assert not app.button
    assert texts_of(app)[0].startswith("Nobody knows what exactly was sent for this answer")


@needs_box_vlm
def test_one_click_checks_a_map_and_the_results_stay_for_the_session(store_file: Path) -> None:
    from backend.vlm.registry import Registry
    from backend.vlm.saliency.result import Saliency

    said = "EXPLANATION: Two polyps are visible.\nVERDICT: CORRECT"
    store = make_pointing_store(store_file)
    vlm: Any = Registry.load().open_vlm("Box VLM")
    found: Saliency = vlm.saliency(Path("data/demo/endoscopy/synthetic-0002.webp"), PROMPT, said)
    put_look(store, VERIFIER.run_id, UNIT, keep(found), said)
    put_call(store, sha256=sha256_of(2))
    store.close()
    looks = [("Generator", "r", "p"), ("Verifier", VERIFIER.run_id, UNIT)]
    app = drawn(checked_case, looks, map_checks_open=True)
    app.button(key="map_checks_start").click().run()
    check = CHECKS.known(app.session_state[f"map_check:{VERIFIER.run_id}:{UNIT}"])
    assert check is not None
    assert check.wait(120)
    app.run()
    WORKERS.stop_all()
    assert (check.error, check.n_done) == (None, 3)
    assert len(app.main.get("plotly_chart")) == 2
    shown = " ".join(texts_of(app))
    assert "Attention map: " in shown
    assert "a rank correlation near 0" in shown
    assert [button.label for button in app.button] == ["Check again"]


def test_pointing_draws_scores_or_says_that_there_are_none(store_file: Path) -> None:
    make_pointing_store(store_file).close()
    app = drawn(pointing_page)
    assert "No answer to the built-in questions was looked into yet" in html_of(app)
    assert not app.dataframe
    store = the_store()
    put_look(store, GENERATOR.run_id, unit_of(1, "polyp_count"), kept(EVEN, EVEN))
    app.run()
    assert not app.exception
    assert "times chance: generator’s attention 1.0, generator’s gradient 1.0." in " ".join(texts_of(app))
    assert len(app.dataframe[0].value) == len(pointing_figures(store)["rows"]) == 4
    assert len(app.main.get("plotly_chart")) == 1


def test_verdicts_without_the_image_are_counted_among_those_with_looks_alone(store_file: Path) -> None:
    make_grounding_store(store_file).close()
    # Both looks: questions 1 to 6, verdicts C C C I I C; withheld C C C C I C, swapped C I C C I C.
    [told] = texts_of(drawn(tampered_page, ATLAS))
    assert "image withheld: 5 of 6 verdicts stay the same" in told
    assert "image swapped: 4 of 6 verdicts stay the same" in told


def test_verdicts_without_the_image_are_of_the_pairing_that_the_page_shows(store_file: Path) -> None:
    make_grounding_store(store_file).close()
    assert "5 of 6" in texts_of(drawn(tampered_page, ATLAS, "self"))[0]
    assert texts_of(drawn(tampered_page, ATLAS, "cross")) == []


def test_a_choice_without_controls_says_how_they_are_made(store_file: Path) -> None:
    make_pointing_store(store_file).close()
    app = drawn(tampered_page, "Nobody")
    assert texts_of(app) == []
    assert "verify run --condition" in html_of(app)
