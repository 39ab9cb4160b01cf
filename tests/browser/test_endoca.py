"""Journeys over the EndoCA page in a real browser: filter, click a point, and be at its cases."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.store.store import Store
from tests.browser.harness import ROOT, running_server, screenshot, wait_for_app
from tests.pages.paired_store import PARTED, SUITE, make_store
from tests.services.endoca_files import prediction_lines, write_jsonl

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

POINTS = ".js-plotly-plot .points path"
OPEN_BUTTON = 0.04
"""Where the buttons of a list's rows stand, as a share of its width."""

SEGMENTS = ".js-plotly-plot .barlayer .point path"


@pytest.fixture(scope="module")
def paired(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over three samples, three VLMs with known faults, and a blind baseline."""
    folder = tmp_path_factory.mktemp("endoca")
    make_store(folder / "store.duckdb")
    with Store.open(folder / "store.duckdb") as store:
        blind = write_jsonl(folder / "blind.jsonl", prediction_lines("Usual answers"))
        import_endoca(store, [SourceFile.at(blind)], vlm_group="blind")
    with running_server(ROOT / "app.py", folder) as address:
        yield address


def settle(page: Any) -> None:
    """Wait until a click has reached the server and its page is drawn."""
    page.wait_for_timeout(400)
    wait_for_app(page)
    page.wait_for_timeout(400)


def click_middle(page: Any, target: Any) -> None:
    """Hover, then click the middle of a mark, as a person does."""
    target.evaluate("mark => mark.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(300)
    box = target.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.wait_for_timeout(200)
    page.mouse.click(x, y)
    settle(page)


def click_cell(page: Any, table: Any, *, across: float, row: int) -> None:
    """Click a row of a table, at a share of its width."""
    canvas = table.locator("canvas").first
    canvas.evaluate("table => table.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(300)
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + across * box["width"], box["y"] + 36 + 34 * row + 17)
    settle(page)


def press_header(page: Any, table: Any, *, across: float) -> None:
    """Click a table's header, at a share of its width."""
    canvas = table.locator("canvas").first
    canvas.evaluate("table => table.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(300)
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + across * box["width"], box["y"] + 17)
    settle(page)


def column_of(table: Any, number: int) -> list[str]:
    """Return the cells of a column, from 1, as a screen reader finds them."""
    cells: list[str] = table.locator(f"canvas [role=gridcell][aria-colindex='{number}']").all_text_contents()
    return cells


def open_chosen(page: Any, within: Any) -> None:
    """Press the button below a table that opens its chosen cell."""
    within.get_by_role("button", name="Open", exact=True).last.click()
    settle(page)


def query_of(page: Any) -> str:
    query: str = page.evaluate("decodeURIComponent(location.search)")
    return query


def test_a_filter_is_said_lives_in_the_link_and_is_cleared(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    assert page.get_by_text("suite drawn:").is_visible()
    page.get_by_role("button", name="Complexity").click()
    page.get_by_role("combobox", name="Complexity").click()
    page.get_by_role("option", name="2").click()
    page.get_by_text("suite drawn, complexity 2:").wait_for()
    assert query_of(page) == f"?suite={SUITE}&complexities=2"

    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_text("suite drawn:").wait_for()
    assert query_of(page) == f"?suite={SUITE}"
    page.go_back()
    page.get_by_text("suite drawn, complexity 2:").wait_for()


def test_a_point_of_the_complexity_plot_leads_to_its_cases_and_on_to_the_next(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    settle(page)
    click_middle(page, page.locator(f".st-key-complexity_chart_0 {POINTS}").last)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("complexity 3:").wait_for()
    assert dialog.get_by_text("1 unit").is_visible()
    screenshot(page, "endoca_cases_behind_a_point")
    click_cell(page, dialog, across=OPEN_BUTTON, row=0)
    page.wait_for_url("**/case?**")
    assert f"unit={SUITE}:33" in query_of(page) and "complexities=3" in query_of(page)
    page.get_by_text("1 of 1", exact=True).wait_for()


def test_a_radar_point_opens_its_cases_and_a_row_of_them_the_case_and_next(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    settle(page)
    click_middle(page, page.locator(f".st-key-radar_chart_0 {POINTS}").last)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Open, in a row, opens its case.").wait_for()
    click_cell(page, dialog, across=OPEN_BUTTON, row=0)
    page.wait_for_url("**/case?**")
    page.get_by_text("1 of", exact=False).first.wait_for()
    page.keyboard.press("j")
    page.get_by_text("2 of", exact=False).first.wait_for()


def test_the_orange_segment_opens_the_contradictions_again_and_again(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    settle(page)
    for times in range(2):
        orange = page.locator(f".st-key-outcome_chart_{times} {SEGMENTS}[style*='rgb(213, 94, 0)']").first
        click_middle(page, orange)
        dialog = page.get_by_role("dialog")
        dialog.get_by_text(f"suite {SUITE}, {PARTED}, “right answer, wrong part”:").wait_for()
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")


def test_a_printed_point_says_where_it_is_printed(open_page: OpenPage, server: str) -> None:
    page = open_page("/endoca", address=server)
    settle(page)
    click_middle(page, page.locator(f".st-key-slope_chart_0 {POINTS}").first)
    page.get_by_role("dialog").get_by_text("no case to open").wait_for()


def test_a_cell_of_the_class_table_opens_the_cases_with_that_part_wrong(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    settle(page)
    click_cell(page, page.locator(".st-key-classes"), across=0.4, row=2)
    page.get_by_text(f"{PARTED}: polyp count, answered wrong").wait_for()
    assert not page.get_by_role("dialog").count(), "a choice alone opens nothing"
    open_chosen(page, page.locator(".st-key-classes_open"))
    page.get_by_role("dialog").get_by_text(f"suite {SUITE}, {PARTED}, polyp count part answered wrong:").wait_for()


@pytest.mark.parametrize("table", ["cases_table", "scores", "classes"])
def test_a_header_sorts_and_opens_nothing(open_page: OpenPage, paired: str, table: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    settle(page)
    place = page.locator(f".st-key-{table}")
    across, column = {"cases_table": (0.11, 2), "scores": (0.08, 1), "classes": (0.08, 1)}[table]
    as_drawn = column_of(place, column)
    press_header(page, place, across=across)
    once = column_of(place, column)
    press_header(page, place, across=across)
    again = column_of(place, column)
    assert sorted(as_drawn) == sorted(once) == sorted(again) and len(once) > 2
    assert again == once[::-1], "up, then down"
    assert query_of(page) == f"?suite={SUITE}"
    assert not page.get_by_role("dialog").count()


def test_a_sorted_row_opens_its_own_case(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    settle(page)
    cases = page.locator(".st-key-cases_table")
    press_header(page, cases, across=0.11)
    press_header(page, cases, across=0.11)
    [first, *_] = column_of(cases, 2)
    assert first == "33"
    click_cell(page, cases, across=OPEN_BUTTON, row=0)
    page.wait_for_url("**/case?**")
    assert f"unit={SUITE}:33" in query_of(page)


def test_the_keyboard_walks_a_list_and_opens_with_enter(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    settle(page)
    page.locator(".st-key-cases_table canvas").first.focus()
    page.keyboard.press("ArrowDown")
    settle(page)
    assert query_of(page) == f"?suite={SUITE}", "to walk is not to open"
    second = column_of(page.locator(".st-key-cases_table"), 2)[1]
    page.get_by_text(f"Sample {second}:").wait_for()
    page.keyboard.press("Escape")
    settle(page)
    focused = "document.activeElement.innerText"
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "Open":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/case?**")
    assert f"unit={SUITE}:{second}" in query_of(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", [f"/endoca?suite={SUITE}", "/endoca?suite=core"])
def test_the_page_is_drawn_whole_in_both_themes(open_page: OpenPage, paired: str, path: str, scheme: str) -> None:
    page = open_page(path, address=paired, scheme=scheme, size=(1280, 2600))
    settle(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Do right complex answers stand on right parts?"
    assert page.locator(".js-plotly-plot").count() == (4 if SUITE in path else 2)
    ink = page.locator(".js-plotly-plot text").first.evaluate("text => getComputedStyle(text).fill")
    assert (int(ink.removeprefix("rgb(").split(",")[0]) > 128) is (scheme == "dark"), "figures follow the theme"
    screenshot(page, f"endoca_{path.rpartition('=')[2]}_{scheme}")
