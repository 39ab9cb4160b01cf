"""Journeys over the EndoCA page in a real browser: filter, click a point, and be at its cases."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.figures.style import DARK, LIGHT, Theme
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.store.store import Store
from tests.browser.harness import (
    ROOT,
    click_cell,
    css_color,
    expect,
    press_header,
    running_server,
    screenshot,
    steady_box,
    wait_for_app,
    wait_until,
)
from tests.pages.paired_store import PARTED, SUITE, make_store
from tests.services.endoca_files import prediction_lines, write_jsonl

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

POINTS = ".points path"
OPEN_BUTTON = 0.04
"""Where the buttons of a list's rows stand, as a share of its width."""

ORANGE_SEGMENT = ".barlayer .point path[style*='rgb(213, 94, 0)']"


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


def click_middle(page: Any, chart: Any, mark: str) -> None:
    """Hover over the last such mark of a chart until it says what it is, then click it, as a person does."""
    box = steady_box(chart.locator(mark).last)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    chart.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.click(x, y)


def cells_of(table: Any, column: int) -> Any:
    """Return the cells of a column, from 1, as a screen reader finds them."""
    return table.locator(f"canvas [role=gridcell][aria-colindex='{column}']")


def header_of(table: Any, column: int) -> Any:
    """Return the header of a column, from 1; an arrow says how it is sorted."""
    return table.locator(f"canvas [role=columnheader][aria-colindex='{column}']")


def open_chosen(within: Any) -> None:
    """Press the button below a table that opens its chosen cell."""
    within.get_by_role("button", name="Open", exact=True).last.click()


def query_of(page: Any) -> str:
    query: str = page.evaluate("decodeURIComponent(location.search)")
    return query


def wait_for_query(page: Any, query: str) -> None:
    wait_until(page, lambda: query_of(page) == query, f"the address says {query}")


def test_a_filter_is_said_lives_in_the_link_and_is_cleared(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    expect(page.get_by_text("suite drawn:")).to_be_visible()
    page.get_by_role("button", name="Complexity").click()
    page.get_by_role("combobox", name="Complexity").click()
    page.get_by_role("option", name="2").click()
    page.get_by_text("suite drawn, complexity 2:").wait_for()
    wait_for_query(page, f"?suite={SUITE}&complexities=2")

    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_text("suite drawn:").wait_for()
    wait_for_query(page, f"?suite={SUITE}")
    page.go_back()
    page.get_by_text("suite drawn, complexity 2:").wait_for()


def test_what_was_cleared_does_not_come_back_with_the_next_choice(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    page.get_by_role("button", name="Words").click()
    words = page.get_by_label("Words in the question, the reference or an answer")
    words.fill("polyp")
    words.press("Enter")
    wait_for_query(page, f"?suite={SUITE}&text=polyp")
    wait_for_app(page)
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()
    page.get_by_role("button", name="Clear", exact=True).click()
    wait_for_query(page, f"?suite={SUITE}")
    wait_for_app(page)
    page.get_by_role("button", name="Complexity").click()
    page.get_by_role("combobox", name="Complexity").click()
    page.get_by_role("option", name="2").click()
    page.get_by_text("suite drawn, complexity 2:").wait_for()
    wait_for_query(page, f"?suite={SUITE}&complexities=2")


def test_a_point_of_the_complexity_plot_leads_to_its_cases_and_on_to_the_next(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    click_middle(page, page.locator(".st-key-complexity_chart_0"), POINTS)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("complexity 3:").wait_for()
    expect(dialog.get_by_text("1 unit")).to_be_visible()
    screenshot(page, "endoca_cases_behind_a_point")
    click_cell(dialog, across=OPEN_BUTTON, row=0)
    page.wait_for_url("**/case?**")
    assert f"unit={SUITE}:33" in query_of(page) and "complexities=3" in query_of(page)
    page.get_by_role("status").get_by_text("1 of 1", exact=True).wait_for()


def test_a_radar_point_opens_its_cases_and_a_row_of_them_the_case_and_next(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    click_middle(page, page.locator(".st-key-radar_chart_0"), POINTS)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Open, in a row, opens its case.").wait_for()
    click_cell(dialog, across=OPEN_BUTTON, row=0)
    page.wait_for_url("**/case?**")
    page.get_by_role("status").get_by_text("1 of ").wait_for()
    page.keyboard.press("j")
    page.get_by_role("status").get_by_text("2 of ").wait_for()


def test_the_orange_segment_opens_the_contradictions_again_and_again(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    for times in range(2):
        wait_for_app(page)
        click_middle(page, page.locator(f".st-key-outcome_chart_{times}"), ORANGE_SEGMENT)
        dialog = page.get_by_role("dialog")
        dialog.get_by_text(f"suite {SUITE}, {PARTED}, “right answer, wrong part”:").wait_for()
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")


def test_a_printed_point_says_where_it_is_printed(open_page: OpenPage, server: str) -> None:
    page = open_page("/endoca", address=server)
    click_middle(page, page.locator(".st-key-slope_chart_0"), POINTS)
    page.get_by_role("dialog").get_by_text("no case to open").wait_for()


def test_a_cell_of_the_class_table_opens_the_cases_with_that_part_wrong(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    click_cell(page.locator(".st-key-classes"), across=0.4, row=2)
    page.get_by_text(f"{PARTED}: polyp count, answered wrong").wait_for()
    wait_for_app(page)
    assert not page.get_by_role("dialog").count(), "a choice alone opens nothing"
    open_chosen(page.locator(".st-key-classes_open"))
    page.get_by_role("dialog").get_by_text(f"suite {SUITE}, {PARTED}, polyp count part answered wrong:").wait_for()


@pytest.mark.parametrize(
    ("table", "across", "column", "cell", "words"),
    [
        ("cases_table", 0.11, 2, 0.3, "Sample 33: "),
        ("scores", 0.08, 1, 0.08, "Usual answers: all its cases"),
        ("classes", 0.08, 1, 0.4, f"{PARTED}: text presence, answered wrong"),
    ],
)
def test_a_header_sorts_and_opens_nothing(
    open_page: OpenPage, paired: str, table: str, across: float, column: int, cell: float, words: str
) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    place = page.locator(f".st-key-{table}")
    header, cells = header_of(place, column), cells_of(place, column)
    cells.nth(2).wait_for(state="attached")
    upwards = sorted(cells.all_text_contents())
    press_header(place, across=across)
    expect(header).to_contain_text("↑")
    expect(cells).to_have_text(upwards)
    press_header(place, across=across)
    expect(header).to_contain_text("↓")
    expect(cells).to_have_text(upwards[::-1])

    click_cell(place, across=cell, row=0)
    page.get_by_text(words).wait_for()
    wait_for_app(page)
    assert query_of(page) == f"?suite={SUITE}"
    assert not page.get_by_role("dialog").count(), "the server has heard of all clicks and opened nothing"


def test_a_sorted_row_opens_its_own_case(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    cases = page.locator(".st-key-cases_table")
    for arrow in "↑↓":
        press_header(cases, across=0.11)
        expect(header_of(cases, 2)).to_contain_text(arrow)
    expect(cells_of(cases, 2).first).to_have_text("33")
    click_cell(cases, across=OPEN_BUTTON, row=0)
    page.wait_for_url("**/case?**")
    assert f"unit={SUITE}:33" in query_of(page)


def test_the_keyboard_walks_a_list_and_opens_with_enter(open_page: OpenPage, paired: str) -> None:
    page = open_page(f"/endoca?suite={SUITE}", address=paired)
    cells = cells_of(page.locator(".st-key-cases_table"), 2)
    cells.nth(1).wait_for(state="attached")
    second = cells.nth(1).text_content()
    page.locator(".st-key-cases_table canvas").first.focus()
    page.keyboard.press("ArrowDown")
    page.get_by_text(f"Sample {second}:").wait_for()
    wait_for_app(page)
    assert query_of(page) == f"?suite={SUITE}", "to walk is not to open"
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-cases_table [aria-selected=true]")).to_have_count(0)
    focused = "document.activeElement.innerText"
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "Open":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/case?**")
    assert f"unit={SUITE}:{second}" in query_of(page)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("path", [f"/endoca?suite={SUITE}", "/endoca?suite=core"])
def test_the_page_is_drawn_whole_in_both_themes(open_page: OpenPage, paired: str, path: str, scheme: Theme) -> None:
    page = open_page(path, address=paired, scheme=scheme.name, size=(1280, 2600))
    expect(page.get_by_role("heading", level=1)).to_have_text("Do right complex answers stand on right parts?")
    expect(page.locator(".js-plotly-plot")).to_have_count(4 if SUITE in path else 2)
    expect(page.locator(".js-plotly-plot text").first).to_have_css("fill", css_color(scheme.text))
    screenshot(page, f"endoca_{path.rpartition('=')[2]}_{scheme.name}")
