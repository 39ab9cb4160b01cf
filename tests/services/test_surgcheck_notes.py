"""Beside a figure stands what bounds it: counted where the store holds it, cited where it does not."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.services.ingest.surgcheck_pairing import LEAKED
from backend.services.opening import open_store
from backend.services.surgcheck_answers import answer_table
from backend.services.surgcheck_notes import CITED, Figure, Note, notes
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from tests.services.surgcheck_store import PAIRS, SUITE, APair, put_answered, put_judgements, put_pairs, references


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.duckdb") as opened:
        put_pairs(opened)
        put_pairs(opened, PAIRS, suite="release", dataset="Endoscapes")
        yield opened


def told(store: Store, figure: Figure, suite: str = SUITE) -> list[Note]:
    return notes(store, suite, figure, answer_table(store, PairFilter(suite=suite)))


def texts(store: Store, figure: Figure, suite: str = SUITE) -> str:
    return " ".join(note.text for note in told(store, figure, suite))


def test_shared_baselines_and_repeats_are_counted(store: Store) -> None:
    assert "1 of 5 pairs ask the same in both ways" in texts(store, Figure.BY_VLM)
    assert "more than once" not in texts(store, Figure.BY_VLM)
    put_pairs(store, [PAIRS[0], PAIRS[0]._replace(name="again")], suite="twice")
    assert "1 pair is in this suite more than once" in texts(store, Figure.BY_VLM, "twice")


def test_judged_runs_over_another_set_are_told_apart_from_the_printed_table(store: Store) -> None:
    assert "judged" not in texts(store, Figure.BY_VLM)
    put_judgements(store, put_answered(store, "Judged", references()), {"1:original": 4})
    assert "1 judged run is over this suite, not over the full test set" in texts(store, Figure.BY_VLM)


def test_a_hop_with_two_answers_caps_exact_match(store: Store) -> None:
    assert "cannot pass" not in texts(store, Figure.BY_TASK)
    hop = APair("6", "a", "anatomy_hop", "box", "left of the hook?", "left of the tool?", "cystic_duct")
    put_pairs(store, [hop, hop._replace(name="7", reference="gallbladder")], suite="hops")
    assert "of 4 asked, exact match cannot pass 2 (50.0 %)" in texts(store, Figure.BY_TASK, "hops")


def test_the_leak_of_the_training_file_is_cited_until_a_store_holds_it_and_then_counted(store: Store) -> None:
    cited = next(note for note in told(store, Figure.BY_CUE, "release") if "training file" in note.text)
    assert not cited.is_computed and cited.text.endswith(CITED) and "1,058 of 1,328" in cited.text
    assert "training file" not in texts(store, Figure.BY_CUE), "no word of the release beside a suite of other frames"
    taught = APair("p", "z", "Action", "periphrasis", "the hook used by …?", "the tool used by …?", "dissect")
    put_pairs(store, [taught, taught._replace(name="q")], suite="train", dataset="Endoscapes")
    with store.write() as cursor:
        report = json.dumps({"left_out": {LEAKED: 7}})
        cursor.execute("UPDATE suites SET report = ? WHERE suite = 'train'", [report])
    counted = next(note for note in told(store, Figure.BY_CUE, "release") if "training file" in note.text)
    assert counted.is_computed and "7 of 9 periphrasis originals" in counted.text and CITED not in counted.text


def test_look_ups_are_cited_until_one_has_run_and_then_counted(store: Store) -> None:
    [cited, *_] = told(store, Figure.ABLATION, "release")
    assert not cited.is_computed and "97.1 %" in cited.text and cited.text.endswith(CITED)
    said = references() | {"3:original": "clip", "1:original": "hook"}
    put_answered(store, "Text look-up", said, suite="release", group="blind", setting="learned on train")
    [counted, *_] = told(store, Figure.ABLATION, "release")
    assert counted.is_computed
    assert "the action in 50.0 %, and the hand the tool in 100.0 % of original questions" in counted.text


def test_what_a_periphrasis_gives_away_is_counted_from_the_look_up_s_answers(store: Store) -> None:
    asked = [
        APair(task, "a", task, "periphrasis", "the hook used by …?", "the tool used by …?", reference)
        for task, reference in (("Action", "dissect"), ("Target", "gallbladder"))
    ]
    put_pairs(store, asked, suite="words")
    said = references(asked) | {"Target:less_biased": "cystic_duct"}
    put_answered(store, "Text look-up", said, suite="words", group="blind")
    assert "the action in 100.0 % and the target in 0.0 %" in texts(store, Figure.BY_CUE, "words")


def test_cues_over_different_pairs_are_told_and_those_of_a_balanced_suite_not(store: Store) -> None:
    assert "asked of different pairs" in texts(store, Figure.BY_CUE)
    cues = ("box", "arrow", "position", "periphrasis")
    put_pairs(store, [APair(cue, "a", "Action", cue, "a", "b", "clip") for cue in cues], suite="four")
    assert "asked of different pairs" not in texts(store, Figure.BY_CUE, "four")


def test_the_paper_s_claim_is_held_against_its_own_table(store: Store) -> None:
    [against, *others] = told(store, Figure.PRINTED)
    assert against.is_computed and "PaliGemma2-10B-Mix, zero-shot: 20.6 % with original and 21.7 %" in against.text
    assert others and not any(note.is_computed for note in others)


@pytest.mark.parametrize("suite", [SUITE, "release"])
def test_a_note_says_that_its_numbers_are_cited_exactly_when_they_are(store: Store, suite: str) -> None:
    put_answered(store, "Steady", references(), suite=suite)
    for figure in Figure:
        for note in told(store, figure, suite):
            assert note.is_computed is (CITED not in note.text), note
            assert re.fullmatch(r"[A-Z0-9“].*\.", note.text, re.S), note
