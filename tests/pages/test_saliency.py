"""Promises of the Saliency page: looks are counted honestly, filters live in the link, points open two looks."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.grounding import FailedLooks, GroundingCounts
from backend.store.verification_filters import VerificationFilter
from backend.verimap.proxies import Proxy
from pages.ui.saliency_empty import saliency_commands
from pages.ui.saliency_words import boxes_caption, counts_sentence, failures_sentence, headline, ranks_caption
from tests.pages.app_page import (
    app_over,
    captions,
    chosen_cell,
    headings,
    html_of,
    html_of_all,
    link,
    open_page,
    texts_of,
)
from tests.services.looked_store import SWAPPED, TOO_LONG, VERIFIER, make_looked_store
from tests.services.verification_store import BEACON, DISEASE, VQA_RAD, make_verification_store, run_id, unit_of

NOT_LOOKED_INTO = run_id(VQA_RAD, BEACON, BEACON)

opened = partial(open_page, "saliency")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saliency") / "looked.duckdb"
    make_looked_store(path).close()
    return path


@pytest.fixture
def page_without_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    make_verification_store(tmp_path / "verdicts.duckdb").close()
    yield from app_over(tmp_path / "verdicts.duckdb", monkeypatch)


def gaps(app: AppTest) -> dict[str, dict[str, Any]]:
    frame = next(frame.value for frame in app.dataframe if "d_paired" in frame.value)
    return {str(row["group"]): {str(key): value for key, value in row.items()} for row in frame.to_dict("records")}


def cases(app: AppTest) -> list[str]:
    frames = [frame.value for frame in app.dataframe if "question" in frame.value]
    return sorted(frames[0]["source_id"]) if frames else []


def test_the_sentence_counts_pairs_raw_and_against_an_even_spread(page: AppTest) -> None:
    assert texts_of(opened(page))[0] == (
        "In 4 of 5 verifications the verifier gave the image a smaller share of its attention than the generator had; "
        "measured against an even spread, in 2."
    )


def test_every_verification_that_fits_is_accounted_for(page: AppTest) -> None:
    told = html_of(opened(page))
    assert "VLMs verifying their own answers, first answers:" in told and "<b>22 verdicts</b>" in told
    assert (
        "Looked into on both sides: 5 of 22 verifications; the others: 1 at the generator&#x27;s answer alone, 1 with "
        f"a look that failed, 15 not looked into. Failed looks. 1/22 at the verifier&#x27;s reply: {TOO_LONG}"
    ) in told
    assert link(page) == {}


def test_the_tests_stand_in_a_table_with_the_even_shares_beside(page: AppTest) -> None:
    app = opened(page)
    assert headings(app)[:4] == [
        "How far apart, case by case",
        "Is the gap more than chance?",
        "Cases",
        "Can these maps be trusted?",
    ]
    rows = gaps(app)
    assert list(rows) == ["All", "Modality", "Disease"]
    assert {name: (row["n"], row["n_images"]) for name, row in rows.items()} == {
        "All": (5, 3), "Modality": (4, 3), "Disease": (1, 1),
    }  # fmt: skip
    modality = rows["Modality"]
    assert [float(modality[key]) for key in ("generator_mean", "generator_even", "verifier_mean", "verifier_even")] == (
        pytest.approx([0.6, 0.8, 0.35, 0.5])
    )
    assert float(modality["gap"]) == pytest.approx(0.25) and modality["p"] == "0.062"
    assert "generator > verifier, one-sided" in captions(app) and "Correlational, not causal" in captions(app)
    assert "Δ = +0.027, d = 2.33" in html_of(app)


def test_proxy_and_grouping_live_in_the_link(page: AppTest) -> None:
    app = opened(page, proxy="Times even share", by="By outcome")
    rows = gaps(app)
    assert {name: row["n"] for name, row in rows.items()} == {
        "All": 5, "Right, accepted": 2, "Wrong, accepted": 1, "Wrong, rejected": 1, "Right, rejected": 1,
    }  # fmt: skip
    assert "generator_even" not in rows["All"]
    app.button_group(key="choice_by").set_value("By task").run()
    assert link(app)["by"] == "By task" and list(gaps(app)) == ["All", "Modality", "Disease"]


def test_without_a_gradient_the_page_says_why_there_is_none(page: AppTest) -> None:
    app = opened(page, proxy=Proxy.GRADIENT.label)
    assert "Mean gradient activation: N/A for all 5 pairs, because the VLM gives no gradient at the image." in (
        texts_of(app)
    )
    assert not app.main.get("plotly_chart") or not [f for f in app.dataframe if "d_paired" in f.value]
    assert cases(app) == ["1", "2", "3", "4", "5"]


def test_filters_come_from_the_link_and_a_choice_without_looks_says_so(page: AppTest) -> None:
    app = opened(page, tasks=DISEASE)
    assert texts_of(app)[0].startswith("In 0 of 1 verification the verifier gave")
    assert list(gaps(app)) == ["All", "Disease"]
    app = opened(page, tasks=DISEASE, verifiers=BEACON)
    assert texts_of(app)[0] == "No verification that fits these filters was looked into on both sides."
    assert "So there is nothing to compare here. Take a filter away, or clear them all." in texts_of(app)
    app.button(key="verdicts_clear").click().run()
    assert link(app) == {} and texts_of(app)[0].startswith("In 4 of 5")


def test_outcomes_choose_figures_too_for_a_gap_is_no_rate(page: AppTest) -> None:
    app = opened(page, verdict_outcomes="fp")
    assert gaps(app)["All"]["n"] == 1 and cases(app) == ["3"]


def test_a_link_that_cannot_be_meant_says_what_can(page: AppTest) -> None:
    app = opened(page, tasks="vibes")
    assert "modality_recognition" in html_of(app)
    app.button[0].click().run()
    assert link(app) == {}


@pytest.mark.parametrize("chart", ["boxes_chart", "differences_chart"])
def test_a_point_opens_its_two_looks_once(page: AppTest, chart: str) -> None:
    app = opened(page)
    app.session_state[f"{chart}_clicked"] = [unit_of(VQA_RAD, "3"), VERIFIER, "verifier"]
    app.run()
    assert not app.exception
    said = html_of_all(app)
    assert "What is the plane?" in said and "coronal" in said and "false acceptance" in said
    assert any(text.startswith("When judging, the VLM gave the image 30.0\u00a0%") for text in every_text(app))
    app.run()
    assert "What is the plane?" not in html_of_all(app)


def every_text(app: AppTest) -> list[str]:
    return [str(getattr(text, "value", "")) for text in app.get("text")]


def test_a_control_draws_the_generators_map_alone_for_its_verifier_saw_another_image(page: AppTest) -> None:
    app = opened(page, conditions="image_swapped")
    assert gaps(app)["All"]["n"] == 1
    app.session_state["boxes_chart_clicked"] = [unit_of(VQA_RAD, "3"), SWAPPED, "verifier"]
    app.run()
    assert not app.exception
    assert any(text.startswith("The verifier was shown another image") for text in every_text(app))


def test_looks_that_are_gone_are_said_to_be_gone(page: AppTest) -> None:
    app = opened(page)
    app.session_state["boxes_chart_clicked"] = [unit_of(VQA_RAD, "3"), NOT_LOOKED_INTO, "verifier"]
    app.run()
    assert any("not in the store any more" in text for text in every_text(app))


def test_a_row_opens_the_verifications_behind_it(page: AppTest) -> None:
    app = opened(page)
    app.session_state["tests"] = chosen_cell(1, "gap")
    app.run()
    assert "Modality: 4 pairs" in html_of(app)
    app.button(key="tests_open").click().run()
    assert "<strong>4 verdicts</strong>" in html_of_all(app)
    assert "with saliency of both generator and verifier" in html_of_all(app)


def test_a_link_to_looked_cases_lists_them_first_and_keeps_the_figures(page: AppTest) -> None:
    app = opened(page, looked="both", tasks=DISEASE)
    assert headings(app)[0] == "Cases" and cases(app) == ["5"]
    assert gaps(app)["All"]["n"] == 1


def test_a_case_of_the_list_leads_back_to_this_page(page: AppTest) -> None:
    page.run()
    page.switch_page("../case.py")
    for name, value in {"unit": unit_of(VQA_RAD, "5"), "looked": "both", "turns": "0"}.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    [steps] = [one for one in page.main.get("bidi_component") if "saliency?" in str(one.proto)]
    assert "looked=both" in str(steps.proto)


def test_verifications_that_nobody_looked_into_say_how_to_look(page_without_looks: AppTest) -> None:
    app = opened(page_without_looks)
    assert texts_of(app)[0].startswith("The store holds verifications, and nobody has looked yet")
    codes = [code.value for code in app.code]
    assert any("saliency run --suite DATASET" in code for code in codes)
    assert any("import run data/runs/VLM.DATASET.saliency" in code for code in codes)
    assert not any(" demo" in code for code in codes)
    assert "Δ = +0.027, d = 2.33" in captions(app)


def test_an_empty_store_says_how_to_get_verifications_first(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    assert texts_of(app)[0].startswith("The store holds no verification")
    assert [code.value.split("backend ")[1].split(" --")[0] for code in app.code] == [
        "verify run", "import run data/runs/VLM.DATASET.verify", "demo", "saliency run",
        "import run data/runs/VLM.DATASET.saliency",
    ]  # fmt: skip


def test_commands_name_a_store_that_is_not_the_default_one() -> None:
    assert all("--store '/my data/s.duckdb'" in line for line in saliency_commands(Path("/my data/s.duckdb")))


def test_the_headline_says_of_how_many_where_the_even_share_is_not_known_for_all() -> None:
    row = {"n": 30, "n_lower": 20}
    assert headline(row, {"n": 28, "n_lower": 3}).endswith("against an even spread, in 3 of 28.")
    assert headline(row, {"n": 0, "n_lower": 0}).endswith("in none, for no even share is known.")
    assert headline(None, None) == "No verification that fits these filters was looked into on both sides."


def test_failed_looks_are_counted_by_reason_and_the_rarest_together() -> None:
    failures = tuple(FailedLooks("generator", f"Reason {n}.", 9 - n) for n in range(6))
    counts = GroundingCounts(100, 40, 0, 0, 39, 21, failures)
    assert failures_sentence(counts).endswith("6/100 at the answer: Reason 3; 9 for 2 further reasons.")
    assert counts_sentence(counts).endswith("; the others: 39 with a look that failed, 21 not looked into.")
    whole = GroundingCounts(1, 1, 0, 0, 0, 0, ())
    assert failures_sentence(whole) == "" and counts_sentence(whole).endswith("1 of 1 verification.")


def test_gradients_of_several_vlms_are_not_on_one_scale_and_the_caption_says_so() -> None:
    assert "2 VLMs are pooled here" in boxes_caption(Proxy.GRADIENT, ["A", "B"])
    assert "pooled" not in boxes_caption(Proxy.GRADIENT, ["A"])
    assert "longer prompt alone leaves the image a smaller share" in boxes_caption(Proxy.FRACTION, ["A", "B"])


def test_one_group_alone_has_no_test_between_groups() -> None:
    overall = {"hypothesis": "H1: a > b", "kruskal_p": None}
    assert "between tasks: N/A, there are not two of them to compare." in ranks_caption(overall, "task")


def test_the_usual_choice_is_in_no_link_but_the_pairing_can_be_asked_for(page: AppTest) -> None:
    app = opened(page, pairing="cross")
    assert texts_of(app)[0].startswith("No verification")
    assert "VLMs verifying each other" in html_of(app)
    app.button_group(key="saliency_pairing").set_value("self").run()
    assert VerificationFilter.from_query(link(app)).pairing == "self"
    assert texts_of(app)[0].startswith("In 4 of 5")
