"""Promises of the Audit page: each claim with both its numbers, choices in the link, notes on other pages."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.records import System
from backend.services.audit import AuditedFigure, Finding, Verdict, findings
from backend.services.opening import open_store
from pages.ui.audit_words import PAPERS, VERDICTS, counted_sentence, finding_html, in_reading_order
from pages.ui.resources import opened_store, the_store
from tests.pages.app_page import html_of, texts_of


@pytest.fixture
def page(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The page over an empty store."""
    monkeypatch.setenv("PARALLAX_STORE", str(tmp_path / "empty.duckdb"))
    yield from page_of(root)


def page_of(root: Path) -> Iterator[AppTest]:
    """Yield the page, and close its store."""
    opened_store.clear()
    yield AppTest.from_file(str(root / "pages/audit.py"), default_timeout=60)
    the_store().close()
    opened_store.clear()


def opened(app: AppTest, **query: str) -> AppTest:
    """Run the page with parameters of its link."""
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def keys(app: AppTest) -> list[str]:
    """Return the anchors of the cards, from top to bottom."""
    return [str(heading.anchor) for heading in app.subheader]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    """What the audit finds in an empty store."""
    with open_store(tmp_path_factory.mktemp("found") / "empty.duckdb") as store:
        return findings(store)


def test_the_page_asks_a_question_and_answers_it_in_numbers(page: AppTest, found: list[Finding]) -> None:
    app = opened(page)
    assert app.title[0].value == "Do the printed claims follow from the printed numbers?"
    assert texts_of(app)[0] == counted_sentence(found)
    assert texts_of(app)[0].startswith(f"Of {len(found)} claims checked, 5 hold,")


def test_every_finding_has_a_card_under_its_own_anchor_what_is_open_last(page: AppTest, found: list[Finding]) -> None:
    app = opened(page)
    assert keys(app) == [finding.key for finding in in_reading_order(found)]
    assert len(set(keys(app))) == len(found)
    assert keys(app)[:5] == ["endoca-3", "endoca-4", "endoca-7", "endoca-8", "endoca-1"]


def test_a_card_shows_claim_printed_recomputed_consequence_and_how(page: AppTest, found: list[Finding]) -> None:
    text = html_of(opened(page, paper="VeriMap"))
    slope = next(finding for finding in found if finding.key == "verimap-2")
    assert finding_html(slope) in text
    for part in (
        "<dt>Printed</dt>",
        "+0.215 (p 0.003)",
        "<dt>Recomputed</dt>",
        "+0.022 (p 0.741",
        "<dt>Consequence</dt>",
    ):
        assert part in finding_html(slope)


def test_a_claim_that_could_not_be_recomputed_shows_what_to_do_and_no_consequence(found: list[Finding]) -> None:
    text = finding_html(next(finding for finding in found if finding.verdict is Verdict.OPEN))
    assert "<dt>Left open</dt>" in text and "import" in text
    assert "<dt>Recomputed</dt>" not in text and "<dt>Consequence</dt>" not in text


@pytest.mark.parametrize("paper", [name for name, chosen in PAPERS.items() if chosen])
def test_a_paper_is_chosen_in_the_link(page: AppTest, paper: str) -> None:
    shown = keys(opened(page, paper=paper))
    assert shown and {key.partition("-")[0] for key in shown} == {PAPERS[paper]}


@pytest.mark.parametrize("verdict", [name for name, chosen in VERDICTS.items() if chosen])
def test_a_verdict_is_chosen_in_the_link(page: AppTest, verdict: str, found: list[Finding]) -> None:
    shown = keys(opened(page, verdict=verdict))
    assert set(shown) == {finding.key for finding in found if finding.verdict is VERDICTS[verdict]}


def test_a_choice_that_fits_nothing_says_so(page: AppTest) -> None:
    app = opened(page, paper="EndoCA", verdict="Holds")
    assert keys(app) == ["endoca-7", "endoca-8"]
    app = opened(page, paper="SurgCheck", verdict="Holds")
    assert not keys(app) and "No claim fits this choice." in texts_of(app)


def test_the_numbers_behind_a_finding_can_be_taken_along(page: AppTest, found: list[Finding]) -> None:
    app = opened(page)
    with_data = {finding.key for finding in found if finding.data is not None}
    assert {button.key for button in app.get("download_button")} == {f"numbers_{key}" for key in with_data}


def test_slopes_before_and_after_are_drawn_where_they_are_the_matter(page: AppTest) -> None:
    assert len(opened(page, paper="VeriMap").get("plotly_chart")) == 2


def test_text_in_a_finding_is_never_markup() -> None:
    finding = Finding(
        key="verimap-1", paper=System.VERIMAP, title="t", claim="<img src=x>", where="<b>", printed="<i>",
        recomputed="<u>", definition="<s>", consequence="<p>", verdict=Verdict.FAILS, data=pd.DataFrame(),
    )  # fmt: skip
    text = finding_html(finding)
    assert not [tag for tag in ("<img", "<b>", "<i>", "<u>", "<s>") if tag in text]


def noted(figure: str) -> None:
    """Draw a note alone."""
    from backend.services.audit import AuditedFigure
    from pages.ui.audit_note import show_audit_note

    show_audit_note(AuditedFigure(figure))


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (AuditedFigure.VERIMAP_ROUTING, ["verimap-9"]),
        (AuditedFigure.VERIMAP_SLOPES, ["verimap-2", "verimap-10", "verimap-16"]),
        (AuditedFigure.SURGCHECK_ABLATION, []),
    ],
)
def test_a_note_beside_a_figure_names_what_was_recomputed_about_it_and_nothing_else(
    figure: AuditedFigure, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALLAX_STORE", str(tmp_path / "empty.duckdb"))
    opened_store.clear()
    app = AppTest.from_function(noted, args=(figure.value,), default_timeout=60).run()
    assert not app.exception
    assert [button.key for button in app.button] == [f"audit_{figure}_{key}" for key in expected]
    if expected:
        assert app.button[0].label.endswith(("does not hold", "only under another definition", "holds"))
    the_store().close()
    opened_store.clear()
