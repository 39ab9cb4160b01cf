"""Promises of the coupling section: cells of the store or as printed; what did not converge is no result."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.figures.verimap_coupling import METRIC_LABELS
from backend.services.verimap_coupling import CellSource, coupling_cells, metric_fits
from backend.store.store import Store
from backend.store.verification_filters import BOTH, VerificationFilter, verification_count
from backend.verimap.undefined_rates import Undefined
from pages.ui.resources import opened_store, the_store
from pages.ui.verimap_coupling import verdicts_of_group
from pages.ui.verimap_coupling_words import cells_sentence, coupling_sentence, fit_words, shape_legend
from tests.pages.app_page import captions, html_of, texts_of
from tests.services.verification_store import ATLAS, BEACON, DISEASE, MODALITY, VQA_RAD, make_verification_store

SELF = VerificationFilter(pairing="self")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("coupling") / "coupling.duckdb"
    make_verification_store(path).close()
    return path


@pytest.fixture
def page(store_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The section alone, over the small store."""
    monkeypatch.setenv("PARALLAX_STORE", str(store_file))
    opened_store.clear()
    yield AppTest.from_function(_section, default_timeout=60)
    the_store().close()
    opened_store.clear()


def _section() -> None:
    import streamlit as st

    from backend.figures.style import LIGHT
    from backend.store.verification_filters import VerificationFilter
    from pages.ui.verimap_coupling import show_coupling

    behind = show_coupling(VerificationFilter.from_query(st.query_params.to_dict()), LIGHT)
    st.text(f"behind {None if behind is None else behind.sentence()}")


def opened(app: AppTest, **query: str) -> AppTest:
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def models(app: AppTest) -> list[dict[str, Any]]:
    frame = next(frame.value for frame in app.dataframe if "slope" in frame.value)
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def test_a_store_with_few_cells_begins_with_the_printed_ones(page: AppTest) -> None:
    app = opened(page)
    assert texts_of(app)[0] == (
        "FPR does not clearly change with the generator's error: by +0.2 points (−1.1 to +1.5) where 10 points more of "
        "its answers are wrong (p = 0.741, 208 cells)."
    )
    assert "210 cells as printed" in captions(app)
    rows = models(app)
    assert [row["metric"] for row in rows] == [
        "FPR", "FPR", "FNR", "FNR", "Bias", "Bias (printed as dSkew)", "dSkew", "FPR − FNR",
        "FPR − FNR (printed as Bias)",
    ]  # fmt: skip
    assert {row["metric"]: row["slope"] for row in rows if row["origin"] == "▢ published"} == {
        "FPR": "0.215", "FNR": "−0.040", "Bias (printed as dSkew)": "0.917", "FPR − FNR (printed as Bias)": "0.305",
    }  # fmt: skip


def test_printed_zeros_are_taken_as_rates_where_asked(page: AppTest) -> None:
    app = opened(page, undefined="Taken as the printed 0", coupled="FPR")
    slopes = {(row["metric"], row["origin"]): row["slope"] for row in models(app)}
    assert slopes["FPR", "computed"] == "0.216", "as printed, but for the last digit"
    assert float(slopes["FPR − FNR", "computed"]) == pytest.approx(0.305, abs=0.003)


def test_the_paper_s_answer_level_models_stand_as_printed(page: AppTest) -> None:
    app = opened(page)
    assert (
        "The paper does not publish the counts these models are fitted to, so they stand here as printed."
        in texts_of(app)
    )
    assert any("57.4 times as high" in text for text in texts_of(app))
    assert "odds_chart" not in " ".join(str(chart.proto.id) for chart in app.main.get("plotly_chart"))


def test_the_store_s_cells_are_fitted_and_what_does_not_converge_has_no_numbers(page: AppTest) -> None:
    app = opened(page, cells="Cells of this store", coupled="FNR")
    assert texts_of(app)[0].startswith("Whether FNR follows the generator's error cannot be said: ")
    rows = {row["metric"]: row for row in models(app)}
    assert list(rows) == list(METRIC_LABELS.values())
    assert rows["FNR"]["n"] == 5 and not isinstance(rows["FNR"]["slope"], str)
    assert "without a residual" in rows["FNR"]["note"]
    assert "No line: the mixed model did not converge." in captions(app)
    assert "2 verdicts on questions without a task left out." in captions(app)
    assert any("the odds that the verifier errs are" in text for text in texts_of(app))
    assert "M0 against M1: likelihood ratio" in html_of(app)


def test_self_and_cross_are_tested_with_their_hypothesis_and_pairs(page: AppTest) -> None:
    app = opened(page, cells="Cells of this store")
    table = next(frame.value for frame in app.dataframe if "d_paired" in frame.value)
    assert list(table["pairs"]) == [6, 6, 6, 4]
    assert "H1: self > cross, one-sided" in captions(app)
    assert "Kruskal and Wallis' test over 3 tasks" in captions(app)


def test_a_cell_of_the_store_opens_its_verdicts_and_a_printed_one_opens_nothing(page: AppTest) -> None:
    app = opened(page, cells="Cells of this store")
    app.session_state["coupling_chart_clicked"] = [VQA_RAD, MODALITY, ATLAS, BEACON]
    app.run()
    behind = next(text for text in texts_of(app) if text.startswith("behind"))
    assert behind.startswith("behind data set VQA-RAD, modality recognition questions, answers of Atlas, verified by")
    app.query_params["cells"] = "Cells as printed"
    app.session_state["coupling_chart_clicked"] = [None, MODALITY, "Gemma-3", "Gemma-3"]
    app.run()
    assert "behind None" in texts_of(app)


def test_filters_without_a_verdict_say_so(page: AppTest) -> None:
    app = opened(page, cells="Cells of this store", generators="nobody")
    assert any("there is no cell" in text for text in texts_of(app))


def test_sentences_say_which_cells_and_which_fit(store_file: Path) -> None:
    with Store.open(store_file) as store:
        cells = coupling_cells(store, SELF, CellSource.STORE)
        fits = metric_fits(cells, Undefined.DROP)
    assert "each VLM verifying itself" in cells_sentence(cells, CellSource.STORE, SELF)
    both = VerificationFilter(pairing=BOTH)
    assert "each pair of VLMs a level of its own" in cells_sentence(cells, CellSource.STORE, both)
    assert fit_words(fits["fpr"]).startswith("singular")
    assert coupling_sentence(fits["bias"], "bias").startswith(
        "Bias changes with the generator's error: by −19.2 points"
    )
    assert BEACON not in shape_legend([ATLAS, BEACON], {ATLAS: 0}) and "● Atlas" in shape_legend([ATLAS], {ATLAS: 0})


def test_a_slope_of_the_store_opens_its_verdicts_and_a_printed_one_nothing(page: AppTest) -> None:
    for source, told in (
        ("Cells of this store", "disease classification questions, VLMs verifying their own answers, first answers"),
        ("Cells as printed", "None"),
    ):
        app = opened(page, cells=source)
        app.session_state["slopes_chart_clicked"] = ["task", DISEASE.value]
        app.run()
        assert texts_of(app)[-1] == f"behind {told}"


def test_an_odds_ratio_opens_the_verdicts_on_labelled_questions_of_its_group(store_file: Path) -> None:
    asked = VerificationFilter(pairing="self")
    with Store.open(store_file) as store:
        cells = coupling_cells(store, asked, CellSource.STORE)
        counts = {
            (factor, level): verification_count(store, verdicts_of_group(cells, asked, factor, level))
            for factor, level in ((None, ""), ("task", DISEASE), ("model", ATLAS), ("dataset", "VQA-RAD"))
        }
    assert list(counts.values()) == [20, 9, 12, 16]
