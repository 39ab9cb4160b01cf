"""Journeys on the Data page: bringing files in, being refused calmly, stopping, leaving and coming back."""

import csv
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browser.harness import ROOT, TIMEOUT_MS, click_cell, expect, running_server, screenshot, wait_for_app
from tests.services.endoca_files import manifest_lines, prediction_lines
from tests.services.surgcheck_files import N_PAIRS, prediction_rows

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

N_UNITS = 60_000
"""Units of the large file: reading it takes seconds on any machine, so it can be stopped on the way."""


WRONG = "nothing at all"
"""An answer that is no reference."""

ROW_MARK = 0.018
"""Where the box that chooses a row stands, as a share of the width of the table to browse in."""


class Desk(NamedTuple):
    """A server with a store of its own, and the folder it may read."""

    address: str
    folder: Path


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("registered") / "endoca_large.jsonl"
    question = "Is there text?"
    with path.open("w") as file:
        for unit in range(N_UNITS):
            common = {"sample_id": unit, "img_id": f"frame-{unit}", "complexity": 1, "gold_answer": "no"}
            atom = {"question_class": "text_presence", "raw_answer": "no", "parsed": "no"}
            complex_ = {"probe_id": f"{unit}::complex", "probe_kind": "complex_direct", "gold_atoms": [atom]}
            atomic = {"probe_id": f"{unit}::atomic::0", "probe_kind": "atomic_direct", "atomic_index": 0}
            for line in (complex_, {**atomic, "gold_question_class": "text_presence"}):
                file.write(json.dumps({**common, "question": question, **line}) + "\n")
    return path


@pytest.fixture(scope="module")
def desk(chromium: Any, large_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = large_file.parent
    environment = {"PARALLAX_ROOTS": str(folder)}
    with running_server(ROOT / "app.py", tmp_path_factory.mktemp("desk"), environment) as address:
        yield Desk(address, folder)


def jsonl(lines: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def upload(page: Any, name: str, content: bytes) -> None:
    """Send a file by the browser, press Import, and wait for what comes of it."""
    close_report(page)
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )
    page.get_by_role("button", name="Import", exact=True).click()
    job_panel(page).get_by_text(f"Import {name}").wait_for()
    page.locator("[class*=st-key-close_]").wait_for()
    wait_for_app(page)


def close_report(page: Any) -> None:
    """Close what an earlier job left on the page."""
    wait_for_app(page)
    closing = page.locator("[class*=st-key-close_]")
    while closing.count():
        [key] = re.findall(r"st-key-close_[\w-]+", closing.get_attribute("class"))
        closing.get_by_role("button").click()
        page.locator(f".{key}").wait_for(state="detached")
        wait_for_app(page)


def start_large(page: Any) -> None:
    """Import the large file by its path."""
    page.get_by_text("Path on this computer").click()
    field = page.get_by_label("Manifests and prediction files: path, one a line")
    field.fill("endoca_large.jsonl")
    field.press("Control+Enter")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("progressbar").wait_for()


def open_data(open_page: OpenPage, desk: Desk, path: str = "/data", **options: Any) -> Any:
    """Open the page and wait until its last part is there."""
    page = open_page(path, address=desk.address, **options)
    page.get_by_role("heading", name="Licences").wait_for()
    wait_for_app(page)
    return page


def job_panel(page: Any) -> Any:
    return page.locator(".st-key-job")


def test_a_manifest_and_answers_go_in_and_lead_to_their_cases(open_page: OpenPage, desk: Desk) -> None:
    page = open_data(open_page, desk)
    upload(page, "endoca_small.jsonl.gz", gzip.compress(jsonl(manifest_lines())))
    expect(job_panel(page)).to_contain_text("3 new units in suite small")
    upload(page, "mine.jsonl", jsonl(prediction_lines("My VLM")))
    expect(job_panel(page)).to_contain_text("9 new answers of My VLM")
    expect(page).to_have_url(re.compile("job="))
    screenshot(page, "data_report")

    page.get_by_role("link", name="Open these cases").click()
    page.wait_for_url("**/case?**")
    assert "suite=small" in page.url and "runs=My-VLM" in page.url
    page.get_by_text("Choose one.").wait_for()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cut.jsonl.gz", gzip.compress(jsonl(manifest_lines()))[:-150], "bad line"),
        ("binary.jsonl", b"\x00\x01\x02" * 400, "binary file of no known kind"),
        ("empty.jsonl", b"", "is empty"),
        ("words.jsonl", b"hello\nworld\n", "2 bad lines; nothing was imported"),
    ],
)
def test_a_broken_file_is_refused_in_calm_words(
    open_page: OpenPage, desk: Desk, name: str, content: bytes, said: str
) -> None:
    page = open_data(open_page, desk)
    upload(page, name, content)
    expect(job_panel(page)).to_contain_text(said)
    text = job_panel(page).inner_text()
    assert "Traceback" not in page.inner_text("body") and "bug" not in text
    screenshot(page, f"data_broken_{name.split('.')[0]}")


def test_all_bad_lines_can_be_taken_away_as_csv(open_page: OpenPage, desk: Desk) -> None:
    page = open_data(open_page, desk)
    upload(page, "many.jsonl", b"hello\n" * 60)
    expect(job_panel(page)).to_contain_text("The first 50 of 60 bad lines")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download all as CSV").click()
    rows = Path(download.value.path()).read_text().splitlines()
    assert rows[0] == "file,line,reason"
    assert len(rows) == 61 and rows[60].startswith("many.jsonl,60,")


def test_the_good_lines_go_in_when_bad_ones_are_skipped(open_page: OpenPage, desk: Desk) -> None:
    page = open_data(open_page, desk)
    upload(page, "some.jsonl", jsonl(manifest_lines()) + b"not json\n")
    page.get_by_role("button", name="Skip bad lines and import the rest").click()
    job_panel(page).get_by_text("3 new units in suite some; 1 bad line left out").wait_for()


def test_a_running_import_that_is_stopped_leaves_nothing(open_page: OpenPage, desk: Desk) -> None:
    page = open_data(open_page, desk)
    before = page.locator(".parallax-store").inner_text()
    start_large(page)
    screenshot(page, "data_running")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled; nothing was changed.").wait_for()
    wait_for_app(page)
    expect(page.locator(".parallax-store")).to_have_text(before, use_inner_text=True)
    close_report(page)


def test_an_import_is_found_again_after_leaving_the_page(open_page: OpenPage, desk: Desk) -> None:
    page = open_data(open_page, desk)
    start_large(page)
    expect(page).to_have_url(re.compile("job="))
    link = page.url
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url(f"{desk.address}/")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Data").click()
    page.wait_for_url("**/data")
    job_panel(page).get_by_text("Import endoca_large.jsonl").wait_for()

    other = open_data(open_page, desk, link.removeprefix(desk.address))
    for seen in (page, other):
        job_panel(seen).get_by_text(f"{N_UNITS:,} new units in suite large").wait_for(timeout=4 * TIMEOUT_MS)
        expect(seen.locator(".parallax-store")).to_contain_text(" 60,0")  # the sidebar counts the new units too
    close_report(other)


def odd_csv(variant: str) -> bytes:
    """Return answers to pairs, under names of columns that nobody knows; the less-biased ones are all wrong."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["frame_shown", "asked", "vlm_said", "truth"])
    for row in prediction_rows(variant, None if variant == "original" else [WRONG] * N_PAIRS):
        writer.writerow([row["image"], row["question"], row["pred"], row["gt"]])
    return text.getvalue().encode()


def choose(page: Any, label: str, option: str) -> None:
    """Choose from a field of the form, and wait until the page has heard of it."""
    form(page).get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    expect(form(page).get_by_role("combobox", name=label, exact=True)).to_have_value(option)
    wait_for_app(page)


def form(page: Any) -> Any:
    return page.get_by_test_id("stTabs")


def test_a_pair_with_odd_column_names_is_mapped_on_the_page_and_found_on_shortcuts(
    open_page: OpenPage, desk: Desk
) -> None:
    page = open_data(open_page, desk, "/data?bring=SurgCheck+files", size=(1280, 1500))
    close_report(page)
    for place, variant in enumerate(("original", "less_biased")):
        sent = {"name": f"odd_{variant}.csv", "mimeType": "text/csv", "buffer": odd_csv(variant)}
        form(page).locator("input[type=file]").nth(place).set_input_files(sent)
        form(page).get_by_text(re.compile(f"The first rows of .*odd_{variant}.csv")).wait_for()
        wait_for_app(page)
    form(page).get_by_text("Say under Columns which one holds: picture, question, answer").wait_for()
    importing = form(page).get_by_role("button", name="Import", exact=True)
    expect(importing).to_be_disabled()
    screenshot(page, "data_columns")
    fields = {"Picture": "frame_shown", "Question": "asked", "Answer": "vlm_said", "Reference": "truth"}
    for label, column in fields.items():
        choose(page, label, column)
    form(page).get_by_text("The first row of each file as it is taken").wait_for()
    form(page).get_by_text("Say which VLM answered").wait_for()
    vlm = form(page).get_by_role("combobox", name="VLM", exact=True)
    vlm.fill("Odd VLM")
    vlm.press("Enter")
    expect(importing).to_be_enabled()
    screenshot(page, "data_columns_chosen")
    importing.click()
    job_panel(page).get_by_text(f"{N_PAIRS} new units in suite odd; {2 * N_PAIRS} new answers of Odd VLM").wait_for()
    wait_for_app(page)
    expect(vlm).to_have_value("Odd VLM")
    screenshot(page, "data_surgcheck_report")
    job_panel(page).get_by_role("link", name="Open Shortcuts").click()
    page.wait_for_url("**/surgcheck?**suite=odd**")
    page.get_by_text("Odd VLM answers 100.0 % of original questions right and 0.0 % of less-biased ones").wait_for()


def test_a_refused_import_keeps_the_files_and_what_was_typed(open_page: OpenPage, desk: Desk) -> None:
    page = open_data(open_page, desk, "/data?bring=SurgCheck+files")
    close_report(page)
    rows = jsonl(prediction_rows("original", more={"sub_tag": "Odd", "model": "Odd VLM"}))
    sent = {"name": "kept.jsonl", "mimeType": "application/json", "buffer": rows}
    form(page).locator("input[type=file]").first.set_input_files(sent)
    form(page).get_by_text(re.compile("^Columns: ")).wait_for()
    wait_for_app(page)
    choose(page, "Setting", "zero-shot")
    form(page).get_by_role("button", name="Import", exact=True).click()
    job_panel(page).get_by_text(f"{N_PAIRS} bad lines; nothing was imported").wait_for()
    wait_for_app(page)
    expect(form(page).get_by_text("kept.jsonl", exact=True)).to_be_visible()
    expect(form(page).get_by_role("combobox", name="Setting", exact=True)).to_have_value("zero-shot")
    close_report(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("tab", "forms"),
    [
        ("SurgCheck files", {"Questions and scene graphs": "The release as it is", "Answers of a VLM": "What one VLM"}),
        (
            "VeriMap files",
            {
                "Questions of a data set": "The files as they are published",
                "Task labels": "Which of the seven tasks",
                "Verification records": "What verifiers said",
            },
        ),
    ],
)
def test_the_forms_of_the_other_systems_are_drawn_in_both_themes(
    open_page: OpenPage, desk: Desk, tab: str, forms: dict[str, str], scheme: str
) -> None:
    page = open_data(open_page, desk, f"/data?bring={tab.replace(' ', '+')}", scheme=scheme)
    for name, begins in forms.items():
        form(page).get_by_role("radio", name=name, exact=True).click()
        form(page).get_by_text(begins).wait_for()
        wait_for_app(page)
        assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
        screenshot(page, f"data_{name.replace(' ', '_').lower()}_{scheme}")


def click_first_row(page: Any, holding: str, name: str) -> None:
    """Choose the first row of the table to browse in, once it holds a name."""
    browse = page.get_by_test_id("stExpander").first
    browse.locator("[role=gridcell]").filter(has_text=holding).wait_for(state="attached")
    screenshot(page, name)
    click_cell(browse, across=ROW_MARK, row=0)


def test_files_are_found_by_browsing_the_registered_folder(open_page: OpenPage, desk: Desk) -> None:
    page = open_data(open_page, desk)
    page.get_by_text("Path on this computer").click()
    page.get_by_text("Browse", exact=True).click()
    click_first_row(page, str(desk.folder), "data_browse_roots")
    page.get_by_role("button", name="Up", exact=True).wait_for()
    click_first_row(page, "endoca_large.jsonl", "data_browse_folder")
    field = page.get_by_label("Manifests and prediction files: path, one a line")
    expect(field).to_have_value(str(desk.folder / "endoca_large.jsonl"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_drawn_in_both_themes(open_page: OpenPage, desk: Desk, scheme: str) -> None:
    page = open_data(open_page, desk, scheme=scheme, size=(1280, 2000))
    expect(page.get_by_role("heading", level=1)).to_have_text("What data is loaded, and where does it come from?")
    screenshot(page, f"data_{scheme}")
