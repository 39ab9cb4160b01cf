"""Promises of the case page of an example of VeriMap: its words, its blocks, its list, and what it says of gaps."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.services.removal import remove_run
from backend.services.verimap_case_loading import asked_verdicts, load_verification_case
from backend.services.verimap_cases import CaseVerdict, VerificationCase
from backend.store.store import Store
from backend.store.verification_filters import VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.outcomes import Policy, Treatment
from backend.verimap.verifier import Verdict
from pages.ui.verification_marks import answer_html, explanation_html
from pages.ui.verification_table import Shown, example_html, generator_html
from pages.ui.verification_words import (
    answer_truth,
    control_words,
    meaning_sentence,
    outcome_words,
    verification_sentence,
)
from tests.pages.app_page import html_of, open_page, place_of
from tests.services.verification_store import ATLAS, BEACON, OWN, VQA_RAD, make_verification_store, run_id, unit_of

EVERYTHING = VerificationFilter()

opened = partial(open_page, "case")


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verifications") / "verifications.duckdb"
    make_verification_store(path).close()
    return path


def case_of(store_file: Path, suite: str, name: str) -> VerificationCase:
    with Store.open(store_file) as store:
        return load_verification_case(store, unit_of(suite, name))


def shown(store_file: Path, case: VerificationCase, chosen: VerificationFilter = EVERYTHING) -> Shown:
    with Store.open(store_file) as store:
        return Shown(case, asked_verdicts(store, chosen, case.unit_id), chosen.policy, {})


def verdict_of(
    case: VerificationCase, generator: str, verifier: str, condition: Condition = Condition.PLAIN
) -> CaseVerdict:
    return next(
        verdict
        for one in case.generators if one.vlm == generator
        for verdict in one.verdicts
        if (verdict.verifier, verdict.condition, verdict.turn) == (verifier, condition, 0)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "generator", "verifier", "sentence"),
    [
        (
            "3", ATLAS, ATLAS,
            "“coronal” is wrong (the reference is “axial”), yet it accepts its own answer. "
            "Whoever relies on the verdict takes a wrong answer for a checked one.",
        ),
        (
            "2", ATLAS, BEACON,
            "“CT” is right, yet Beacon <b>VLM</b> rejects it. Whoever relies on the verdict gives up a right answer.",
        ),
        ("1", ATLAS, ATLAS, "“Yes” is right, and the verdict says so."),
        ("3", ATLAS, BEACON, "“coronal” is wrong (the reference is “axial”), and the verdict notices."),
        (
            "7", BEACON, ATLAS,
            "“a mass” is right. The verifier is not sure, which counts as not accepted.",
        ),
        (
            "7", ATLAS, BEACON,
            "“the <b>heart</b> is enlarged” is wrong (the reference is “a mass”). There is no verdict (the reply "
            "names none), which is left out of the rates, and counted.",
        ),
        (
            "8", BEACON, ATLAS,
            "“No” is wrong (the reference is “Yes”). There is no verdict (call failed), which is left out of the "
            "rates, and counted.",
        ),
        (
            "8", ATLAS, ATLAS,
            "Nobody judged the answer, so that the verdict is neither right nor wrong. It is in no rate, and counted.",
        ),
    ],
)  # fmt: skip
def test_a_verdict_is_told_in_a_clinicians_words(
    store_file: Path, name: str, generator: str, verifier: str, sentence: str
) -> None:
    case = case_of(store_file, VQA_RAD, name)
    assert meaning_sentence(case, verdict_of(case, generator, verifier), Policy()) == sentence


def test_what_becomes_of_an_undecided_verdict_is_the_policys_to_say(store_file: Path) -> None:
    case = case_of(store_file, VQA_RAD, "7")
    unsure = verdict_of(case, BEACON, ATLAS)
    drops = Policy(uncertain=Treatment.DROP)
    assert outcome_words(unsure.outcome(Policy()), True, unsure.verdict) == "right answer, not accepted (not sure)"
    assert outcome_words(unsure.outcome(drops), True, unsure.verdict) == "right answer, not sure, left out"
    assert meaning_sentence(case, unsure, drops).endswith("not sure, which is left out of the rates, and counted.")
    silent = verdict_of(case, ATLAS, BEACON)
    assert outcome_words(silent.outcome(Policy()), False, None) == "wrong answer, no verdict, left out"
    assert not unsure.contradicts and not silent.contradicts


@pytest.mark.parametrize(
    ("name", "condition", "words"),
    [
        (
            "2",
            Condition.IMAGE_WITHHELD,
            ("verdict unchanged", "The same as with the right image: it did not depend on what the image shows."),
        ),
        ("2", Condition.IMAGE_SWAPPED, ("verdict changed", "With the right image it said CORRECT.")),
        ("3", Condition.TWO_STEP, ("verdict changed", "Without the first look it said CORRECT.")),
        ("2", Condition.TWO_STEP, ("verdict unchanged", "The same as without the first look.")),
    ],
)
def test_a_control_is_held_against_the_same_verifiers_plain_verdict(
    store_file: Path, name: str, condition: Condition, words: tuple[str, str]
) -> None:
    case = case_of(store_file, VQA_RAD, name)
    [answer] = case.generators[0].answers
    verdict = next(one for one in answer.verdicts if (one.verifier, one.condition) == (ATLAS, condition))
    assert control_words(answer, verdict) == words
    assert control_words(replace(answer, verdicts=(verdict,)), verdict)[0] == "N/A"


def test_who_says_that_an_answer_is_right_is_told(store_file: Path) -> None:
    assert answer_truth(True, "matching") == "right (compared with the reference)"
    assert answer_truth(False, "file") == "wrong (its file says so)"
    assert answer_truth(False, "Judge") == "wrong (judged by Judge)"
    assert answer_truth(None, None) == "N/A: nobody judged this answer"


@pytest.mark.parametrize(
    ("suite", "name", "sentence"),
    [
        (
            VQA_RAD, "2",
            "1 of 2 first answers is right. Of 4 verdicts, 1 accepts a wrong answer and 1 rejects a right one.",
        ),
        (OWN, "p3", "The first answer is wrong. Of 3 verdicts, 2 accept a wrong answer."),
        (VQA_RAD, "1", "2 of 2 first answers are right. Of 4 verdicts, none parts from the truth."),
        (
            VQA_RAD, "8",
            "0 of 2 first answers are right, 1 not judged. Of 4 verdicts, 1 accepts a wrong answer.",
        ),
    ],
)  # fmt: skip
def test_the_page_counts_answers_and_verdicts(store_file: Path, suite: str, name: str, sentence: str) -> None:
    assert verification_sentence(case_of(store_file, suite, name)) == sentence


def test_orange_marks_the_verdicts_that_part_from_the_truth_and_no_others(store_file: Path) -> None:
    case = case_of(store_file, VQA_RAD, "2")
    atlas, beacon = (generator_html(shown(store_file, case), one) for one in case.generators)
    first_answers = atlas.partition('<details class="loop"')[0]
    assert first_answers.count('<tr class="parts') == 1, (
        "Beacon rejects a right answer; Atlas too, but of another image"
    )
    assert beacon.count('<tr class="parts') == 1, "it accepts its own wrong answer"
    assert "control: image withheld" in first_answers and "control: another image shown" in first_answers


def test_a_loop_reads_as_a_conversation_turn_by_turn(store_file: Path) -> None:
    case = case_of(store_file, VQA_RAD, "2")
    html = generator_html(shown(store_file, case), case.generators[0])
    loop = html.partition('<details class="loop" open>')[2]
    assert "Reviewed turn by turn by itself: " in loop and "right → wrong → wrong" in loop
    assert [loop.count(f'class="turn">{turn}<') for turn in ("first answer", "turn 1", "turn 2")] == [1, 1, 1]
    assert loop.count("Atlas answers again") == 2 and loop.count("Atlas reviews") == 3


def test_a_first_look_can_be_read_and_a_failed_answer_says_why(store_file: Path) -> None:
    case = case_of(store_file, VQA_RAD, "2")
    two_step = verdict_of(case, ATLAS, ATLAS, Condition.TWO_STEP)
    assert "<pre>a <i>dark</i> ring</pre>" not in explanation_html(replace(two_step, looked="a <i>dark</i> ring"))
    assert "a &lt;i&gt;dark&lt;/i&gt; ring" in explanation_html(replace(two_step, looked="a <i>dark</i> ring"))
    assert answer_html(None, "timeout after 60 s") == '<span class="error">timeout after 60 s</span>'


def test_words_of_data_sets_and_vlms_are_never_markup(store_file: Path) -> None:
    for name in ("6", "7"):
        case = case_of(store_file, VQA_RAD, name)
        html = example_html(case) + "".join(generator_html(shown(store_file, case), one) for one in case.generators)
        for markup in ("<b>VLM</b>", "<i>liver</i>", "<b>heart</b>", "<u>"):
            assert markup not in html
        assert "Beacon &lt;b&gt;VLM&lt;/b&gt;" in html


def test_options_stand_below_the_question_and_the_right_one_is_marked(store_file: Path) -> None:
    html = example_html(case_of(store_file, VQA_RAD, "4"))
    assert "<li><b>A</b> T1</li><li class=right><b>B</b> T2</li>" in html
    assert '<p class="reference">B: T2</p>' in html
    assert "modality recognition (perceptual)" in html and "majority of three labels" in html


def test_what_is_not_known_is_said(store_file: Path) -> None:
    unlabelled = case_of(store_file, OWN, "p1")
    assert "N/A: nobody has labelled it" in example_html(unlabelled)
    lost = replace(unlabelled, question="", reference="")
    assert example_html(lost).count("N/A: the file of records does not hold it") == 2
    verdict = replace(verdict_of(unlabelled, ATLAS, ATLAS), answer=None, explanation=None)
    [generator] = unlabelled.generators
    bare = replace(generator, answers=(replace(generator.answers[0], text=None, verdicts=(verdict,)),))
    html = generator_html(shown(store_file, unlabelled), bare)
    assert "N/A: the file of records does not hold the answer" in html
    assert "N/A: no explanation on file" in html


def test_alike_records_stay_apart(store_file: Path) -> None:
    case = case_of(store_file, OWN, "p3")
    html = generator_html(shown(store_file, case), case.generators[0])
    assert html.count("alike record 2") == 1
    assert sum(len(answer.verdicts) for answer in case.generators[0].answers) == 3


def test_verifiers_outside_the_filter_stand_below_those_it_asks_for(store_file: Path) -> None:
    case = case_of(store_file, VQA_RAD, "2")
    chosen = VerificationFilter(verifiers=(BEACON,))
    html = generator_html(shown(store_file, case, chosen), case.generators[0])
    asked, apart, others = html.partition("Verifiers whose verdicts are not in this list")
    assert apart and "another VLM&#x27;s answer" not in others.partition("How it was judged")[0]
    assert "another VLM's answer" in asked and "its own answer" in others


def test_the_case_page_shows_an_example_with_its_place_in_the_list(page: AppTest) -> None:
    opened(page, unit=unit_of(VQA_RAD, "3"), suites=VQA_RAD, verdict_outcomes="fp")
    assert page.text[0].value.startswith("1 of 2 first answers is right.")
    assert "List: data set VQA-RAD, false acceptance." in html_of(page)
    place = place_of(page)
    assert (place["position"], place["total"]) == (2, 6)
    assert place["list"] == "verimap?suites=vqa-rad&pairing=both&turns=0~1~2&verdict_outcomes=fp#cases"
    assert "No usable image file was found" in html_of(page)


def test_a_case_out_of_a_list_of_fates_leads_back_to_the_loop_page(page: AppTest) -> None:
    opened(page, unit=unit_of(VQA_RAD, "2"), fates="spoiled")
    assert place_of(page)["list"] == "loop?fates=spoiled#cases"


def test_a_question_without_a_named_image_says_so(page: AppTest) -> None:
    opened(page, unit=unit_of(VQA_RAD, "8"))
    assert "No image is named for this question." in html_of(page)
    assert "Attach images on the Data page" not in [link.proto.label for link in page.main.get("page_link")]


def test_generators_outside_the_filter_are_folded_away(page: AppTest) -> None:
    opened(page, unit=unit_of(VQA_RAD, "2"), generators=ATLAS)
    assert [block.label for block in page.expander] == ["What 1 other VLM answered"]


@pytest.mark.parametrize("query", [{"suites": VQA_RAD}, {"suite": VQA_RAD}])
def test_a_list_of_verifications_can_be_chosen_from(page: AppTest, query: dict[str, str]) -> None:
    opened(page, **query)
    table = page.dataframe[0].value
    assert len(table) == 48
    assert list(table["outcome"])[:12].count("false acceptance") == 12
    assert "List: data set VQA-RAD." in html_of(page)


def test_the_list_holds_failures_first_and_says_what_is_left_out(page: AppTest) -> None:
    opened(page, suites=VQA_RAD, turns="0")
    outcomes = list(page.dataframe[0].value["outcome"])
    assert outcomes[:8] == ["false acceptance"] * 8
    assert sorted(outcomes[8:12]) == ["false rejection"] * 3 + ["right answer, not accepted (not sure)"]
    assert outcomes[12:14] == ["wrong answer, no verdict, left out"] * 2
    assert sorted(set(outcomes[14:])) == [
        "answer not judged",
        "right answer, accepted",
        "wrong answer, not accepted (not sure)",
        "wrong answer, rejected",
    ]


def test_a_control_in_the_list_says_that_it_is_one_and_what_the_verifier_was_shown(page: AppTest) -> None:
    opened(page, conditions="image_swapped", verdict_outcomes="fp")
    table = page.dataframe[0].value
    assert list(table["outcome"]) == ["false acceptance (control)"] * 3
    assert set(table["condition"]) == {"image swapped"}


def test_an_empty_list_says_what_to_do(page: AppTest) -> None:
    opened(page, suites="nope")
    assert "No verification fits these filters. Take one of them away, or clear them all." in [
        text.value for text in page.text
    ]


def test_a_list_of_answers_that_nobody_verified_says_so_and_how_to_have_them_verified(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "unverified.duckdb"
    with make_verification_store(path) as store:
        for verifier in (ATLAS, BEACON):
            remove_run(store, run_id(VQA_RAD, BEACON, verifier))
    monkeypatch.setenv("PARALLAX_STORE", str(path))
    generator = run_id(VQA_RAD, BEACON)
    opened(page, suites=VQA_RAD, runs=generator)
    assert "Nobody verified the 8 answers of Beacon &lt;b&gt;VLM&lt;/b&gt; (vqa-rad) yet." in html_of(page)
    verify, taken_in = (code.value for code in page.code)
    assert f"verify run --suite vqa-rad --generator {generator} --verifier VLM --out data/runs/" in verify
    assert taken_in.startswith(".venv/bin/python -m backend import run data/runs/")
    opened(page, unit=unit_of(VQA_RAD, "1"))
    assert "N/A: no verifier has judged this answer yet." in html_of(page)


def test_a_link_that_cannot_be_meant_is_refused_and_everything_can_be_shown(page: AppTest) -> None:
    opened(page, unit=unit_of(VQA_RAD, "2"), conditions="upside_down")
    assert "The link asks for conditions" in html_of(page)
    page.button[0].click().run()
    assert not page.exception
    assert len(page.dataframe[0].value) == 43


def test_an_unknown_verdict_has_no_outcome_but_its_reason() -> None:
    assert outcome_words(None, None, Verdict.CORRECT) == "answer not judged"
