"""Promises of errors, the copy button and figures under the content security policy."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.harness import copied, expect, screenshot

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]


def test_an_app_error_shows_its_own_words_and_the_next_step(open_page: OpenPage, gallery: str) -> None:
    page = open_page("/?show=app%20error", address=gallery)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The store is in use by process 4711.")
    expect(alert).to_contain_text("Close the other program, then reload this page.")
    screenshot(page, "app_error")


def test_a_bug_is_called_one_and_its_traceback_is_copied_but_never_drawn(open_page: OpenPage, gallery: str) -> None:
    page = open_page("/?show=bug", address=gallery)
    expect(page.get_by_role("alert")).to_contain_text("That is a bug in Parallax")
    assert page.get_by_text("Traceback").count() == 0
    assert page.get_by_text("an index nobody expected").count() == 0
    details = copied(page, "Copy details")
    assert details.startswith("Parallax ")
    assert details.rstrip().endswith("ValueError: an index nobody expected")


def test_copy_link_copies_the_address_as_it_stands(open_page: OpenPage, gallery: str) -> None:
    page = open_page("/?show=copy", address=gallery)
    assert copied(page, "Copy link") == f"{gallery}/?show=copy"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_figure_is_drawn_under_the_policy(open_page: OpenPage, gallery: str, scheme: str) -> None:
    page = open_page("/?show=charts", address=gallery, scheme=scheme, size=(1280, 2000))
    for figure in ("Scatter", "Scattergl", "Scatterpolar", "Heatmap", "Bar", "Sankey"):
        page.locator(f".st-key-{figure} .main-svg").first.wait_for()
    page.get_by_test_id("stDataFrame").locator("canvas").first.wait_for()
    assert page.locator(".no-webgl").count() == 0
    screenshot(page, f"charts_{scheme}")
