"""Promises of the Runs page: where answers come from, what is missing from a run, and what to do next."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.records import AnswerStatus
from backend.domain.vlm import Decoding
from backend.services.blind import run_blind
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.ingest.images import attach_images
from backend.services.opening import open_store
from backend.services.runs.import_run import import_run
from backend.services.runs.overview import RunSummary, run_overview
from backend.services.runs.plan import read_plan
from backend.services.runs.record import BaseRecord
from backend.services.runs.runner import run_plan
from backend.services.runs.unread import cases_of_errors, unread_answers
from backend.services.stored_saliency import LookedInto
from backend.settings import SETTINGS
from backend.store.store import Store
from pages.ui.links import RUNS
from pages.ui.resources import opened_store, the_store
from pages.ui.run_command import run_commands
from pages.ui.run_view import run_coverage
from pages.ui.run_words import overview_sentence, pace_words, provenance, provenance_sentence, seconds_words
from tests.pages.app_page import chosen_cell, html_of, told
from tests.pages.paired_store import PARTED, SILENT, STEADY, SUITE, make_empty_store, make_store
from tests.services.endoca_files import manifest_lines, write_jsonl
from tests.services.run_files import PARROT, Parrot, draw_images
from tests.services.verification_store import ATLAS, BEACON, VQA_RAD, make_verification_store, run_id

OpenRuns = Callable[..., AppTest]

COMMAND = ".venv/bin/python -m backend"


class Desk(NamedTuple):
    """A store with three runs from a file and one batch run, and what is in it."""

    path: Path
    runs: dict[str, RunSummary]
    """By VLM."""

    def copy(self, folder: Path) -> Path:
        """Return a copy of the store, so that a page may open it."""
        path = folder / "store.duckdb"
        path.write_bytes(self.path.read_bytes())
        return path


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """The parrot was asked twice: its three questions about text timed out both times."""
    folder = tmp_path_factory.mktemp("runs")
    path = folder / "store.duckdb"
    make_store(path)
    with open_store(path) as store:
        attach_images(store, draw_images(folder / "images"))
        plan = read_plan(store, SUITE, PARROT, Decoding())
        parrot = Parrot(fails="text")
        run_plan(plan, parrot, folder / "parrot")
        run_plan(plan, parrot, folder / "parrot", resume=True)
        import_run(store, folder / "parrot")
        return Desk(path, {run.vlm: run for run in run_overview(store)})


@pytest.fixture
def open_runs(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenRuns]:
    """Return a function that opens the page over a store, with parameters of the link."""

    def open_(path: Path, **query: str) -> AppTest:
        monkeypatch.setenv("PARALLAX_STORE", str(path))
        opened_store.clear()
        app = AppTest.from_file(str(root / "pages/ui/main.py"), default_timeout=60)
        app.session_state["acknowledged"] = True
        app.run().switch_page(str(RUNS))
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    yield open_
    the_store().close()
    opened_store.clear()


def texts_of(app: AppTest) -> str:
    return "\n".join(block.value for block in app.text)


def test_the_sentence_counts_runs_origins_and_what_became_of_their_questions(desk: Desk) -> None:
    """9 questions a run. Steady and Parted: all answered. Silent: 6, one of them not readable, and one
    failed, empty and missing each. The parrot: 6, of which no value can be read, and 3 failed."""
    assert overview_sentence(list(desk.runs.values())) == (
        "4 runs of 4 VLMs, 3 imported and 1 precomputed. Of 36 questions put to them 30 are answered; 4 failed, "
        "1 empty, 1 missing. 7 answers could not be read."
    )


def test_the_sentence_says_nothing_of_what_did_not_happen(desk: Desk) -> None:
    assert overview_sentence([desk.runs[STEADY]]) == (
        "1 run of 1 VLM, 1 imported. Of 9 questions put to them 9 are answered."
    )


def test_the_blind_baseline_is_no_vlm_in_the_sentence(desk: Desk) -> None:
    blind = replace(desk.runs[STEADY], vlm="Blind baseline", vlm_group="blind", origin="precomputed")
    assert overview_sentence([blind]).startswith("1 run of the blind baseline, 1 precomputed.")
    assert overview_sentence([blind, desk.runs[STEADY]]).startswith("2 runs of 1 VLM and the blind baseline, ")


def test_a_batch_run_says_when_it_was_made_and_in_how_many_sessions(desk: Desk) -> None:
    sentence = provenance_sentence(desk.runs["Parrot"])
    assert sentence.startswith("Parallax put the questions to the VLM in a batch run, begun ")
    assert ", in 2 sessions. It was finished " in sentence


def test_a_run_that_is_not_whole_says_what_is_still_to_be_asked(desk: Desk) -> None:
    whole = desk.runs["Parrot"]
    assert whole.record is not None
    counts = whole.record.counts.model_copy(update={"planned": 6, "missing": 2})
    record = whole.record.model_copy(update={"finished": None, "counts": counts})
    sentence = provenance_sentence(replace(whole, record=record))
    assert "It is not finished: 2 of 6 questions are still to be asked." in sentence
    assert sentence.endswith("It was planned over 6 of the suite's 9 questions; the others count as missing.")


def test_a_revise_run_that_asked_complex_questions_alone_says_nothing_of_a_limit(desk: Desk) -> None:
    """Its parts are those of the direct run it was made from."""
    direct = desk.runs["Parrot"]
    assert direct.record is not None
    counts = direct.record.counts.model_copy(update={"planned": 6, "done": 6})
    base = BaseRecord(run_id="direct", origin="precomputed", prompt_version="endoca-1", decoding="greedy")
    record = direct.record.model_copy(update={"counts": counts, "base": base})
    assert "planned over" not in provenance_sentence(replace(direct, record=record))


def test_a_run_from_a_file_says_that_no_more_is_known(desk: Desk) -> None:
    assert provenance_sentence(desk.runs[STEADY]).startswith("These answers came in a file.")
    told = dict(provenance(desk.runs[STEADY]))
    assert told["Prompts"] == ["not known"] and told["Decoding"] == ["not known"]
    assert told["Came from"] == ["answers.jsonl"]
    assert "Code" not in told and "Machine" not in told and "Setting" not in told


def test_a_batch_run_tells_vlm_prompts_decoding_code_machine_and_batch(desk: Desk) -> None:
    run = desk.runs["Parrot"]
    assert run.record is not None
    told = dict(provenance(run))
    assert told["VLM"] == ["Parrot", "group: general, open", "weights: none"]
    assert told["Prompts"] == ["endoca-1", f"SHA-256 {run.record.prompts_sha256}"]
    assert told["Decoding"] == ["greedy, 80 new tokens"]
    assert told["Batch"] == ["64 questions at once, at most"]
    [code], [machine] = told["Code"], told["Machine"]
    assert code.startswith("Parallax ") and run.record.sessions[0].code["code_sha256"] in code
    assert "system " in machine and "cores " in machine
    assert told["Run"] == [run.run_id]


def test_a_run_that_was_looked_into_says_how_far_and_on_what(desk: Desk) -> None:
    run = desk.runs["Parrot"]
    assert run.record is not None
    told = dict(provenance(run, LookedInto(9, 2, run.record)))["Looked into"]
    assert told[0] == "7 answers, 2 could not be"
    assert told[1].endswith(" UTC") and "cores " in told[2]
    assert "Looked into" not in dict(provenance(run))


@pytest.mark.parametrize(("pace", "words"), [(None, "N/A"), (0.25, "0.25"), (12.34, "12.3"), (1146.57, "1,147")])
def test_a_pace_is_said_to_three_digits(pace: float | None, words: str) -> None:
    assert pace_words(pace) == words


def test_seconds_that_nobody_measured_are_not_zero() -> None:
    assert (seconds_words(None), seconds_words(0.25), seconds_words(0.0204)) == ("N/A", "0.25 s", "0.0204 s")


@pytest.mark.parametrize(
    ("vlm", "status", "questions"),
    [
        (SILENT, AnswerStatus.EMPTY, ["22::complex"]),
        (SILENT, AnswerStatus.FAILED, ["22::atomic::0"]),
        (SILENT, AnswerStatus.MISSING, ["22::atomic::1"]),
        (SILENT, AnswerStatus.UNPARSED, ["33::complex"]),
        ("Parrot", AnswerStatus.FAILED, ["11::atomic::0", "33::complex", "33::atomic::1"]),
        (STEADY, AnswerStatus.FAILED, []),
    ],
)
def test_what_was_not_read_is_listed_in_the_order_of_cases(
    desk: Desk, vlm: str, status: AnswerStatus, questions: list[str]
) -> None:
    asked = {line["probe_id"]: line["question"] for line in manifest_lines()}
    with Store.open(desk.path) as store:
        found = unread_answers(store, desk.runs[vlm].run_id, status, offset=0, limit=50)
    assert list(found["question"]) == [asked[probe] for probe in questions]
    assert list(found["source_id"]) == [probe.split("::")[0] for probe in questions]


def test_the_pages_of_a_list_join_without_gap_or_overlap(desk: Desk) -> None:
    run_id = desk.runs["Parrot"].run_id
    with Store.open(desk.path) as store:
        whole = unread_answers(store, run_id, "unparsed", offset=0, limit=50)
        pages = [unread_answers(store, run_id, "unparsed", offset=at, limit=4) for at in (0, 4)]
    assert [len(page) for page in pages] == [4, 2]
    assert [*pages[0]["question"], *pages[1]["question"]] == list(whole["question"])


def test_an_answer_without_a_value_opens_among_the_run_s_others_of_its_kind(
    open_runs: OpenRuns, desk: Desk, tmp_path: Path
) -> None:
    run_id = desk.runs["Parrot"].run_id
    app = open_runs(desk.copy(tmp_path), run=run_id, answers="Failed")
    app.session_state["unread_failed"] = chosen_cell(1, "question")
    app.run()
    app.button(key="unread_failed_open").click().run()
    assert not app.exception
    [opened] = told(app, "address")
    assert opened["address"] == f"case?unit=drawn%3A33&suite=drawn&runs={run_id}&statuses=failed"


def test_every_example_of_an_error_leads_to_a_case_of_its_run(desk: Desk) -> None:
    with Store.open(desk.path) as store:
        found = cases_of_errors(store, desk.runs[SILENT].run_id, ["timeout after 60 s", "never happened"])
        assert cases_of_errors(store, desk.runs[STEADY].run_id, ["timeout after 60 s"]) == {}
    assert found == {"timeout after 60 s": "drawn:22"}


def test_the_bar_shows_each_kind_by_its_share_and_nothing_for_none(desk: Desk) -> None:
    bar = run_coverage(desk.runs[SILENT].coverage)
    assert 'aria-label="6 of 9 questions answered"' in bar
    assert '<i class="read" style="width:55.556%"></i>' in bar
    assert '<i class="missing" style="width:11.111%"></i>' in bar
    assert 'class="failed" style' not in run_coverage(desk.runs[STEADY].coverage)


def test_the_commands_name_vlm_suite_folder_and_a_store_that_is_not_the_default_one(tmp_path: Path) -> None:
    default = Path({known.name: known.default for known in SETTINGS}["PARALLAX_STORE"])
    assert run_commands("Qwen3-VL-8B", "core", default) == (
        f"{COMMAND} predict --model Qwen3-VL-8B --suite core --out data/runs/Qwen3-VL-8B.core",
        f"{COMMAND} import run data/runs/Qwen3-VL-8B.core",
    )
    predict, taking_in = run_commands("Box VLM", "my $(suite)", Path("/a b/s.duckdb"))
    assert predict == (
        f"{COMMAND} predict --model 'Box VLM' --suite 'my $(suite)' --out data/runs/Box-VLM.my-suite "
        "--store '/a b/s.duckdb'"
    )
    assert taking_in == f"{COMMAND} import run data/runs/Box-VLM.my-suite --store '/a b/s.duckdb'"
    assert "--model VLM --suite SUITE" in run_commands(None, None, default)[0]


def test_an_empty_store_says_what_to_do_next(open_runs: OpenRuns, tmp_path: Path) -> None:
    make_empty_store(tmp_path / "store.duckdb")
    app = open_runs(tmp_path / "store.duckdb")
    assert "No VLM has answered anything in this store yet." in texts_of(app)
    predict, taking_in = (block.value for block in app.code)
    assert " predict --model " in predict and " --suite SUITE " in predict and " import run " in taking_in
    assert "names that are to be chosen" in " ".join(caption.value for caption in app.caption)


def test_the_table_tells_each_run_with_its_counts_apart(open_runs: OpenRuns, desk: Desk, tmp_path: Path) -> None:
    table = open_runs(desk.copy(tmp_path)).dataframe[0].value.set_index("vlm")
    counts = table[["answered", "failed", "empty", "unparsed", "missing"]]
    assert list(counts.loc[SILENT]) == ["6 / 9", 1, 1, 1, 1]
    assert list(counts.loc[STEADY]) == ["9 / 9", 0, 0, 0, 0]
    assert list(counts.loc["Parrot"]) == ["6 / 9", 3, 0, 6, 0]
    assert list(table.loc[[PARTED, "Parrot"], "origin"]) == ["■ imported", "◆ precomputed"]
    assert table["speed"].isna().to_dict() == {"Parrot": False, PARTED: True, SILENT: True, STEADY: True}


def test_a_link_opens_a_run_with_errors_and_throughput(open_runs: OpenRuns, desk: Desk, tmp_path: Path) -> None:
    app = open_runs(desk.copy(tmp_path), run=desk.runs["Parrot"].run_id)
    shown = html_of(app)
    assert "3 calls: The call timed out after … s." in shown
    assert '<pre class="run-error">The call timed out after 30 s. Try again.</pre>' in shown
    assert "<b>0.25 s</b> a call, the median" in shown
    sessions = next(table.value for table in app.dataframe if "calls" in table.value)
    assert list(sessions["calls"]) == [9, 3]
    failed = next(table.value for table in app.dataframe if "error" in table.value)
    assert list(failed["asked"]) == ["Part 1: text presence", "Complex question", "Part 2: text presence"]


def test_a_run_from_a_file_has_no_throughput_and_says_why(open_runs: OpenRuns, desk: Desk, tmp_path: Path) -> None:
    shown = html_of(open_runs(desk.copy(tmp_path), run=desk.runs[STEADY].run_id))
    assert "<b>N/A</b> Nobody timed answers that came in a file" in shown


def test_the_link_chooses_which_kind_is_listed(open_runs: OpenRuns, desk: Desk, tmp_path: Path) -> None:
    app = open_runs(desk.copy(tmp_path), run=desk.runs[SILENT].run_id, answers="Not readable")
    listed = next(table.value for table in app.dataframe if "answer" in table.value)
    assert len(listed) == 1 and listed["answer"].iloc[0].startswith("![picture](http://example.com/x.png) <script>")


def test_words_of_vlms_and_files_are_never_markup(open_runs: OpenRuns, desk: Desk, tmp_path: Path) -> None:
    app = open_runs(desk.copy(tmp_path), run=desk.runs[SILENT].run_id)
    assert "Silent &lt;b&gt;VLM&lt;/b&gt;" in html_of(app) and "<b>VLM</b>" not in html_of(app)
    written = [*app.markdown, *app.caption, *app.subheader, *app.title]
    assert not [block.value for block in written if "Silent" in block.value or "timeout" in block.value]


def test_an_unknown_run_in_the_link_is_said_and_can_be_left(open_runs: OpenRuns, desk: Desk, tmp_path: Path) -> None:
    app = open_runs(desk.copy(tmp_path), run="<i>gone</i>")
    assert "There is no run &lt;i&gt;gone&lt;/i&gt; in this store." in html_of(app)
    next(button for button in app.button if button.label == "Show all runs").click().run()
    assert "run" not in app.query_params
    assert "There is no run" not in html_of(app)


def test_closing_a_run_leaves_the_rest_of_the_link(open_runs: OpenRuns, desk: Desk, tmp_path: Path) -> None:
    app = open_runs(desk.copy(tmp_path), run=desk.runs[SILENT].run_id, answers="Empty", vlm="demo")
    next(button for button in app.button if button.label == "Close").click().run()
    assert set(app.query_params) == {"vlm"}


def test_the_blind_baseline_is_a_run_without_a_folder(tmp_path: Path) -> None:
    lines = manifest_lines()
    others = [line | {"sample_id": line["sample_id"] + 100, "img_id": f"other-{line['img_id']}"} for line in lines]
    for line in others:
        line["probe_id"] = "1" + line["probe_id"]
    with open_store(tmp_path / "store.duckdb") as store:
        for suite, told in (("learnt", others), ("asked", lines)):
            import_endoca(store, [SourceFile.at(write_jsonl(tmp_path / f"{suite}.jsonl", told))])
        run_blind(store, "learnt", "asked")
        [run] = run_overview(store)
    assert provenance_sentence(run) == "Parallax computed these answers inside the store, without a run folder."
    assert dict(provenance(run))["Setting"] == ["learned on learnt"]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (run_id(VQA_RAD, ATLAS, BEACON), "1–1 of 1: there is an answer, but no value can be read"),
        (run_id(VQA_RAD, BEACON, ATLAS), "1–1 of 1: the call ended in an error."),
    ],
    ids=["not readable", "failed"],
)
def test_replies_of_a_verifier_that_could_not_be_read_are_listed_and_not_called_wrong(
    open_runs: OpenRuns, tmp_path: Path, run: str, said: str
) -> None:
    make_verification_store(tmp_path / "verdicts.duckdb").close()
    app = open_runs(tmp_path / "verdicts.duckdb", run=run)
    captions = [caption.value for caption in app.caption]
    assert any(caption.startswith(said) for caption in captions)
    assert not any("wrong answer" in caption for caption in captions)
    [unread] = [frame.value for frame in app.dataframe if "asked" in frame.value]
    assert list(unread["asked"]) == ["Question"]
