"""Promises of the case page: its words, its table, its list, and what it says where something is missing."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.domain.records import AnswerStatus
from backend.services.cases import Case, CaseAnswer, CaseRun, Part, load_case, runs_in_order
from backend.store.filters import UnitFilter
from backend.store.store import Store
from pages.ui.answer_table import FOLDED_FROM, answer_table
from pages.ui.answer_words import case_sentence, judged, run_sentence
from pages.ui.case_view import identity
from pages.ui.links import CASE, ENDOCA, OVERVIEW, address_of, case_query
from tests.pages.app_page import html_of, open_page, place_of
from tests.pages.paired_store import PARTED, SILENT, STEADY, TRICKY, make_store

opened = partial(open_page, "case")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("paired") / "paired.duckdb"
    make_store(path)
    return path


@pytest.fixture
def case(store_file: Path) -> Iterator[Case]:
    """Sample 22: two parts, of which every VLM makes something else."""
    with Store.open(store_file) as store:
        yield load_case(store, "drawn:22")


def run_of(case: Case, vlm: str) -> CaseRun:
    return next(run for run in case.runs if run.vlm == vlm)


@pytest.mark.parametrize(
    ("vlm", "sentence"),
    [
        (STEADY, "Right answer, and every part is right when asked alone."),
        (
            PARTED,
            "Right answer, wrong part: it says “Two polyps and a green box artifact.” (right), but asked alone "
            "“How many polyps are in the image?” it says “3” (wrong; the reference is “2”).",
        ),
        (
            SILENT,
            "No complex answer (empty answer), counted as wrong; 0 of 2 parts are right when asked alone.",
        ),
    ],
)
def test_a_run_is_told_in_a_sentence_for_a_clinician(case: Case, vlm: str, sentence: str) -> None:
    assert run_sentence(case, run_of(case, vlm)) == sentence


def test_the_page_counts_who_is_right_and_who_of_them_contradicts_itself(case: Case) -> None:
    assert case_sentence(case.runs) == "2 of 3 runs answer the complex question right; 1 of these on a wrong part."
    assert case_sentence([run_of(case, STEADY)]) == (
        "1 of 1 run answers the complex question right; all on right parts."
    )
    assert case_sentence([run_of(case, SILENT)]) == "0 of 1 run answers the complex question right."
    assert case_sentence([]) == "No VLM has answered it yet."


def test_empty_failed_and_missing_answers_are_told_apart(case: Case) -> None:
    words = [judged(answer) for answer in run_of(case, SILENT).answers]
    assert words == ["empty answer", "call failed", "no answer on file"]
    assert [judged(answer) for answer in run_of(case, PARTED).answers] == ["right", "wrong", "right"]


def test_contradictions_come_first_and_runs_outside_the_filter_last(case: Case) -> None:
    def names(chosen: UnitFilter) -> tuple[list[str], list[str]]:
        asked, others = runs_in_order(case.runs, chosen)
        return [run.vlm for run in asked], [run.vlm for run in others]

    steady, silent = run_of(case, STEADY).run_id, run_of(case, SILENT).run_id
    assert names(UnitFilter()) == ([PARTED, SILENT, STEADY], [])
    assert names(UnitFilter(runs=(steady,))) == ([STEADY], [PARTED, SILENT])
    assert names(UnitFilter(right=steady, wrong=silent)) == ([SILENT, STEADY], [PARTED])
    assert names(UnitFilter(outcomes=("not_answered",))) == ([SILENT], [PARTED, STEADY])
    assert names(UnitFilter(origins=("live",))) == ([], [PARTED, SILENT, STEADY])


def without(run: CaseRun, position: int, status: AnswerStatus) -> CaseRun:
    """The same run, one of its answers gone."""
    gone = replace(run.answers[position], text="", status=status, correct=False, parts=())
    return replace(run, answers=tuple(gone if i == position else answer for i, answer in enumerate(run.answers)))


@pytest.mark.parametrize("status", [AnswerStatus.MISSING, AnswerStatus.FAILED, AnswerStatus.EMPTY])
def test_a_part_without_an_answer_is_no_contradiction(case: Case, status: AnswerStatus) -> None:
    run = without(run_of(case, PARTED), 1, status)
    assert run.part_unanswered and not run.contradicts
    assert run_sentence(case, run) == ("The complex answer is right; part 1 was not answered, which counts as wrong.")
    table = answer_table(case, [run], [], {})
    assert "right answer, part not answered" in table
    assert 'class="apart"' not in table and 'class="contradicts"' not in table
    assert case_sentence([run]) == (
        "1 of 1 run answers the complex question right; 1 of these with a part not answered."
    )
    assert runs_in_order([run, run_of(case, PARTED)], UnitFilter())[0] == [run_of(case, PARTED), run]


def test_of_a_contradiction_only_the_parts_that_were_answered_are_marked(case: Case) -> None:
    run = without(run_of(case, PARTED), 2, AnswerStatus.MISSING)
    assert run.contradicts and not run.part_unanswered
    assert answer_table(case, [run], [], {}).count('class="contradicts"') == 1
    assert "there is no answer (no answer on file)" in run_sentence(case, run)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (("hedge",), "gives no definite answer"),
        (("refusal",), "gives no definite answer"),
        (("non-committal", "non-committal"), "gives no definite answer"),
        (("unanswered",), "could not be read"),
        (("hedge", "alternatives"), "could not be read"),
    ],
)
def test_an_answer_that_does_not_commit_itself_is_not_called_unreadable(rules: tuple[str, ...], words: str) -> None:
    parts = tuple(Part("2", None, False, rule, "") for rule in rules)
    assert judged(CaseAnswer("p", "Possibly two.", "", AnswerStatus.UNPARSED, False, parts)) == words


def test_the_table_marks_the_part_that_contradicts_and_no_other(case: Case) -> None:
    asked, others = runs_in_order(case.runs, UnitFilter())
    table = answer_table(case, asked, others, {})
    assert table.count('<td class="contradicts">') == 1
    assert table.count('<tbody class="apart">') == 1
    assert table.index(PARTED) < table.index(STEADY)
    assert "timeout after 60 s" in table


def test_every_judgement_names_what_was_expected_what_was_read_and_what_judged_it(case: Case) -> None:
    run = run_of(case, PARTED)
    table = answer_table(case, [run], [], {})
    wrong = run.answers[1].parts[0]
    assert f"<td>{wrong.expected}</td><td>{wrong.parsed}</td><td>✗ wrong</td><td>{wrong.rule}</td>" in table
    for fact in (f"{run.scorer} {run.scorer_version}", run.prompt_version, run.decoding, run.source, run.run_id):
        assert f"<dd>{fact}</dd>" in table


def test_what_a_vlm_or_a_file_says_is_never_taken_for_markup(store_file: Path) -> None:
    with Store.open(store_file) as store:
        case = load_case(store, "drawn:33")
    table = answer_table(case, case.runs, [], {})
    assert "<script>" not in table and "<b>VLM</b>" not in table
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in table


def test_a_long_answer_is_folded_and_stays_whole(store_file: Path) -> None:
    with Store.open(store_file) as store:
        case = load_case(store, "drawn:33")
    table = answer_table(case, [run_of(case, SILENT)], [], {})
    assert len(TRICKY) > FOLDED_FROM
    assert f"all {len(TRICKY):,} letters" in table
    assert TRICKY.count("and more of it") == 40 and "and more of it " * 40 in table


def test_the_list_says_where_the_case_stands_and_leads_on(page: AppTest) -> None:
    app = opened(page, unit="drawn:22", suite="drawn")
    assert app.text[0].value == "2 of 3 runs answer the complex question right; 1 of these on a wrong part."
    assert "List: suite drawn." in html_of(app)
    place = place_of(app)
    assert (place["position"], place["total"], place["list"]) == (2, 3, "endoca?suite=drawn#cases")


def test_the_row_is_told_which_request_was_heard_wherever_it_led(page: AppTest) -> None:
    app = opened(page, unit="drawn:22", suite="drawn")
    assert place_of(app)["heard"] is None
    for at, position in ((7, 2), (8, 99)):
        app.session_state["case_steps"] = {"asked": {"position": position, "at": at}}
        app.run()
        assert not app.exception
        assert (place_of(app)["position"], place_of(app)["heard"]) == (2, at)


def test_the_case_at_a_position_of_the_list_is_the_one_that_stands_there(page: AppTest) -> None:
    for unit, position in (("drawn:11", 1), ("drawn:33", 3)):
        assert place_of(opened(page, unit=unit, suite="drawn"))["position"] == position


def test_a_case_outside_its_list_says_so(page: AppTest) -> None:
    app = opened(page, unit="drawn:22", complexities="3")
    assert (place_of(app)["position"], place_of(app)["total"]) == (None, 1)
    assert "This case is not among them." in html_of(app)


def test_a_missing_image_is_named_with_the_way_to_attach_it(page: AppTest) -> None:
    app = opened(page, unit="drawn:22")
    assert "No usable image file was found." in html_of(app)
    assert "images/frame-a.jpg" in html_of(app)
    assert "under Images on the Data page" in html_of(app)
    assert "import log" in html_of(app)


def test_an_unknown_case_is_said_calmly_with_a_next_step(page: AppTest) -> None:
    app = opened(page, unit="<b>nowhere</b>", suite="drawn")
    assert "There is no case &#x27;&lt;b&gt;nowhere&lt;/b&gt;&#x27; in this store." in html_of(app)
    app.button[-1].click().run()
    assert "unit" not in app.query_params
    assert app.query_params["suite"] == "drawn"


def test_a_link_that_cannot_be_meant_has_a_way_out(page: AppTest) -> None:
    app = opened(page, outcomes="zzz", suite="drawn")
    assert "The link asks for the outcome" in html_of(app)
    app.button[-1].click().run()
    assert not app.query_params
    assert "Choose one." in app.text[0].value


def test_a_case_of_a_training_split_says_that_vlms_may_have_seen_it(case: Case) -> None:
    assert "may have seen it" in identity(replace(case, split="train"))
    assert "may have seen it" not in identity(replace(case, split="test"))


def test_addresses_lead_from_any_page_to_any_other() -> None:
    assert address_of(OVERVIEW, {}) == "./"
    assert address_of(CASE, case_query("core:1", UnitFilter(suite="core"))) == "case?unit=core%3A1&suite=core"
    assert address_of(ENDOCA, {"suite": "core"}, "cases") == "endoca?suite=core#cases"


def test_without_a_case_the_page_lists_what_can_be_chosen(page: AppTest) -> None:
    app = opened(page, complexities="1")
    assert "Choose one." in app.text[0].value
    assert "List: complexity 1." in html_of(app)
    assert [str(sample) for sample in app.dataframe[0].value["source_id"]] == ["11"]


def test_an_empty_store_says_where_cases_come_from(page_of_empty_store: AppTest) -> None:
    app = opened(page_of_empty_store)
    assert app.text[0].value.endswith("There is none in the store yet.")
