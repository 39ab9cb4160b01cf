"""Journeys over the Audit page in a real browser: a claim found by choice, by link, and from the figure it is about."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.harness import ROOT, expect, running_server, screenshot, wait_for_app, wait_until

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def bare(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over an empty store: the printed tables are all there is to check."""
    with running_server(ROOT / "app.py", tmp_path_factory.mktemp("audit"), {"PARALLAX_DEMO": "off"}) as address:
        yield address


def is_in_sight(page: Any, anchor: str) -> bool:
    """Tell whether a heading stands in the window."""
    top: float = page.locator(f"#{anchor}").evaluate("heading => heading.getBoundingClientRect().top")
    return 0 <= top < 400


def test_claims_are_chosen_by_paper_and_verdict_and_their_numbers_taken_along(open_page: OpenPage, bare: str) -> None:
    page = open_page("/audit", address=bare)
    expect(page.get_by_role("heading", level=1)).to_have_text("Do the printed claims follow from the printed numbers?")
    page.get_by_role("radio", name="VeriMap").click()
    page.wait_for_url("**/audit?paper=VeriMap")
    page.get_by_role("radio", name="Does not hold", exact=True).click()
    page.wait_for_url("**verdict=Does**")
    wait_for_app(page)
    card = page.locator(".st-key-finding_verimap-6")
    expect(card).to_contain_text("13,577.5")
    expect(card).to_contain_text("13,576.4")
    with page.expect_download() as download:
        card.get_by_role("button", name="Numbers behind it (CSV)").click()
    assert download.value.suggested_filename == "verimap-6.csv"
    lines = Path(download.value.path()).read_text("utf-8").splitlines()
    assert lines[0].startswith("null,alternative,printed,recomputed") and len(lines) == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_link_to_a_finding_lands_at_it(open_page: OpenPage, bare: str, scheme: str) -> None:
    page = open_page("/audit#verimap-2", address=bare, scheme=scheme)
    page.locator(".st-key-slopes_verimap-2 .main-svg").first.wait_for()
    wait_until(page, lambda: is_in_sight(page, "verimap-2"), "the finding stands in sight")
    screenshot(page, f"audit_{scheme}")


def test_a_note_beside_a_figure_opens_its_finding_and_back_returns(open_page: OpenPage, bare: str) -> None:
    page = open_page("/verimap", address=bare)
    page.get_by_role("button", name="The sign of dSkew: does not hold").click()
    page.wait_for_url("**/audit#verimap-7")
    page.locator("#verimap-7").wait_for()
    wait_until(page, lambda: is_in_sight(page, "verimap-7"), "the finding stands in sight")
    page.go_back()
    page.wait_for_url("**/verimap")
    page.get_by_role("button", name="The sign of dSkew: does not hold").wait_for()
