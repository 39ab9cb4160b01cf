"""A journey on the Runs page: from the table to a run, to a call that failed, to its case, and back."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.domain.vlm import Decoding
from backend.services.ingest.images import attach_images
from backend.services.opening import open_store
from backend.services.runs.import_run import import_run
from backend.services.runs.plan import read_plan
from backend.services.runs.runner import run_plan
from tests.browser.harness import ROOT, click_cell, copied, expect, running_server, screenshot, wait_for_app
from tests.pages.paired_store import SUITE, make_store
from tests.services.run_files import PARROT, Parrot, draw_images

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Any]

OWN_LIST = "\n".join(
    f"""
- name: {name}
  group: general_open
  family: any
  licence: own weights
  answers: yes
  attention: yes
  gradients: yes
  openai: {{base_url: "http://127.0.0.1:9/v1", model: m}}"""
    for name in ("First VLM", "Second VLM")
)


@pytest.fixture(scope="module")
def runs(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app over three runs from a file and a batch run, three of whose calls timed out."""
    folder = tmp_path_factory.mktemp("runs")
    make_store(folder / "store.duckdb")
    with open_store(folder / "store.duckdb") as store:
        attach_images(store, draw_images(folder / "images"))
        run_plan(read_plan(store, SUITE, PARROT, Decoding()), Parrot(fails="text"), folder / "parrot")
        import_run(store, folder / "parrot")
    own_list = folder / "mine.yaml"
    own_list.write_text(OWN_LIST)
    with running_server(ROOT / "app.py", folder, {"PARALLAX_MODELS": str(own_list)}) as address:
        yield address


def shown_run(page: Any) -> Any:
    return page.locator(".st-key-one_run")


def test_from_a_run_to_a_failed_call_to_its_case_and_back(open_page: OpenPage, runs: str) -> None:
    page = open_page("/runs", address=runs)
    expect(page.get_by_text("4 runs of 4 VLMs, 3 imported and 1 precomputed.")).to_be_visible()
    click_cell(page.locator(".st-key-all_runs"), across=0.04, row=0)
    expect(page).to_have_url(re.compile(r"run=Parrot\."))
    expect(shown_run(page).get_by_text("3 calls: The call timed out after … s.")).to_be_visible()
    wait_for_app(page)
    screenshot(page, "runs_one")
    assert copied(page, "Copy link") == page.url

    shown_run(page).get_by_role("link", name="Open its case").click()
    page.wait_for_url("**/case?unit=drawn*")
    expect(page.get_by_text("The call timed out after 30 s. Try again.").first).to_be_attached()
    page.go_back()
    expect(shown_run(page).get_by_text("How the answers were made")).to_be_visible()
    shown_run(page).get_by_role("button", name="Close").click()
    expect(shown_run(page)).to_be_hidden()
    expect(page).to_have_url(re.compile(r"/runs$"))


def test_the_commands_follow_the_chosen_vlm(open_page: OpenPage, runs: str) -> None:
    page = open_page("/runs?vlm=Second+VLM", address=runs)
    expect(page.get_by_test_id("stCode").first).to_contain_text("predict --model 'Second VLM' --suite drawn")
    expect(page.get_by_text("images and questions leave this machine")).to_be_hidden()
    screenshot(page, "runs_commands")
