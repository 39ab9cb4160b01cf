"""``verify run``: generated, verified and answered again; ``judge`` and ``verimap label`` beside it."""

import csv
import json
from pathlib import Path

import pytest

from backend.cli import verify
from backend.domain.vlm import Vlm
from backend.services.runs.plan import VlmIdentity
from backend.store.store import Store
from backend.vlm.registry import Registry
from tests.cli.calling import call, done
from tests.cli.test_predict import ENTRY
from tests.services.verification_files import SUITE, Asked, Rote, asked_store


@pytest.fixture
def vlms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Rote]:
    """Atlas and Beacon in the registry, which answer by rote."""
    url = "http://localhost:1/v1"
    (tmp_path / "models.yaml").write_text("\n".join(ENTRY.format(name=name, url=url) for name in ("Atlas", "Beacon")))
    monkeypatch.setenv("PARALLAX_MODELS", str(tmp_path / "models.yaml"))
    made = {name: Rote(VlmIdentity(name)) for name in ("Atlas", "Beacon")}

    def open_vlm(self: Registry, name: str) -> Vlm:
        return made[name]

    monkeypatch.setattr(Registry, "open_vlm", open_vlm)
    return made


@pytest.fixture
def suite(tmp_path: Path, vlms: dict[str, Rote]) -> Path:
    """A store with a data set of five questions."""
    asked_store(tmp_path).close()
    return tmp_path / "store.duckdb"


def asked(suite: Path, generator: str | Path = "atlas", verifier: str = "atlas") -> tuple[str | Path, ...]:
    return ("verify", "run", "--suite", SUITE, "--generator", generator, "--verifier", verifier, "--store", suite)


def verifications(suite: Path) -> list[tuple[object, ...]]:
    with Store.open(suite) as store:
        sql = "SELECT generator, verifier, condition, turn, count(*) FROM verifications GROUP BY ALL ORDER BY ALL"
        return store.rows(sql)


def test_a_data_set_is_generated_verified_and_looped_and_taken_into_the_store(
    suite: Path, vlms: dict[str, Rote], tmp_path: Path
) -> None:
    out = tmp_path / "chain"
    said = done(*asked(suite), "--turns", "2", "--out", out, "--json").json
    assert [part["part"] for part in said["parts"]] == [
        "generate", "turn-0-verify", "turn-1-loop", "turn-1-verify", "turn-2-loop", "turn-2-verify",
    ]  # fmt: skip
    assert {part["n_done"] for part in said["parts"]} == {5}
    assert (said["generator"], said["verifier"], said["from"]) == ("Atlas", "Atlas", None)
    assert len(vlms["Atlas"].asked) == 30
    done("import", "run", out, "--store", suite)
    assert verifications(suite) == [("Atlas", "Atlas", "plain", turn, 5) for turn in range(3)]
    refused = call(*asked(suite), "--turns", "2", "--out", out)
    assert (refused.code, "--resume" in refused.err, len(vlms["Atlas"].asked)) == (2, True, 30)
    assert done(*asked(suite), "--turns", "2", "--out", out, "--resume").code == 0
    assert len(vlms["Atlas"].asked) == 30


def test_answers_that_are_there_are_verified_from_a_folder_a_chain_or_the_store(
    suite: Path, vlms: dict[str, Rote], tmp_path: Path
) -> None:
    out = tmp_path / "generated"
    done("predict", "--model", "Atlas", "--suite", SUITE, "--out", out, "--store", suite)
    done("import", "run", out, "--store", suite)
    run_id = json.loads(done(*asked(suite, out), "--dry-run", "--json").out)["from"]
    done(*asked(suite), "--out", tmp_path / "chain")
    vlms["Atlas"].asked.clear()
    for at, given in enumerate((out, tmp_path / "chain", run_id)):
        said = done(*asked(suite, given, "Beacon"), "--out", tmp_path / f"cross-{at}", "--json").json
        assert [part["part"] for part in said["parts"]] == ["turn-0-verify"]
        assert said["from"] == run_id
    assert not vlms["Atlas"].asked and len(vlms["Beacon"].asked) == 15
    done("import", "run", tmp_path / "cross-0", "--store", suite)
    again = done("import", "run", tmp_path / "cross-2", "--store", suite, "--json").json
    assert [(run["n_new"], run["n_unchanged"]) for run in again["runs"]] == [(0, 5)]
    assert verifications(suite) == [("Atlas", "Beacon", "plain", 0, 5)]


@pytest.mark.parametrize("condition", ["two_step", "image_withheld", "image_swapped"])
def test_every_condition_can_be_run_with_a_limit_raised_later(
    suite: Path, vlms: dict[str, Rote], tmp_path: Path, condition: str
) -> None:
    arguments = (*asked(suite), "--condition", condition, "--out", tmp_path / "chain")
    done(*arguments, "--limit", "3")
    before = len(vlms["Atlas"].asked)
    done(*arguments, "--resume")
    assert len(vlms["Atlas"].asked) == before // 3 * 5
    done("import", "run", tmp_path / "chain", "--store", suite)
    assert verifications(suite) == [("Atlas", "Atlas", condition, 0, 5)]


def test_a_dry_run_shows_what_would_be_asked_and_leaves_nothing(
    suite: Path, vlms: dict[str, Rote], tmp_path: Path
) -> None:
    dry = (*asked(suite, verifier="Beacon"), "--turns", "4", "--out", tmp_path / "chain", "--dry-run")
    said = done(*dry, "--json").json
    counts = ("n_questions", "n_generate", "n_look", "n_verify_most", "n_loop_most", "n_not_asked")
    assert [said[name] for name in counts] == [5, 5, 0, 25, 20, 0]
    assert said["prompts"][0].startswith("Answer the question")
    shown = done(*dry).out
    assert "Beacon would judge the answers of Atlas, which would be asked first: 5 questions of vqa-rad" in shown
    done("predict", "--model", "Atlas", "--suite", SUITE, "--out", tmp_path / "g", "--store", suite)
    for condition, begins in (("plain", "You check"), ("two_step", "Look at")):
        prompts = done(*asked(suite, tmp_path / "g"), "--condition", condition, "--dry-run", "--json").json["prompts"]
        assert len(prompts) == 3 and all(prompt.startswith(begins) for prompt in prompts)
    assert not (tmp_path / "chain").exists() and not vlms["Beacon"].asked


def test_a_chain_has_a_folder_of_its_own_name_by_default(
    suite: Path, vlms: dict[str, Rote], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "DATA", tmp_path / "data")
    ways = ((), ("--turns", "1"), ("--turns", "1", "--stop-at-correct"), ("--condition", "two_step"))
    folders = {done(*asked(suite), *way, "--json").json["folder"] for way in ways}
    assert {Path(folder).parent for folder in folders} == {tmp_path / "data" / "runs"}
    assert len(folders) == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--generator", "nobody"), "Known: "),
        (("--verifier", "nobody"), "Known: "),
        (("--suite", "core"), "Data sets: vqa-rad"),
        (("--generator", "."), "is no run folder"),
        (("--condition", "blind"), "image_withheld"),
        (("--turns", "-1"), "--turns"),
    ],
)
def test_wrong_wishes_are_said_with_the_right_ones(
    suite: Path, vlms: dict[str, Rote], arguments: tuple[str, ...], says: str
) -> None:
    result = call(*asked(suite), *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_a_loop_needs_the_very_vlm_that_answered_and_a_verdict_alone_does_not(
    suite: Path, vlms: dict[str, Rote], tmp_path: Path
) -> None:
    done("predict", "--model", "Atlas", "--suite", SUITE, "--out", tmp_path / "g", "--store", suite)
    url = "https://elsewhere.example/v1"
    (tmp_path / "models.yaml").write_text("\n".join(ENTRY.format(name=name, url=url) for name in ("Atlas", "Beacon")))
    result = call(*asked(suite, tmp_path / "g", "Beacon"), "--turns", "1", "--out", tmp_path / "chain")
    assert (result.code, "another build of Atlas" in result.err) == (2, True)
    done(*asked(suite, tmp_path / "g", "Beacon"), "--out", tmp_path / "chain")


def test_a_judge_of_verimaps_answers_is_asked_and_taken_in(suite: Path, vlms: dict[str, Rote], tmp_path: Path) -> None:
    done(*asked(suite), "--out", tmp_path / "chain")
    done("import", "run", tmp_path / "chain", "--store", suite)
    judged = ("judge", "--model", "Beacon", "--run", "Atlas", "--store", suite)
    said = done(*judged, "--dry-run", "--json").json
    assert (said["n_planned"], said["n_units"], said["prompt_version"]) == (2, 2, "verimap-oracle-1")
    assert "2 answers to 2 questions of vqa-rad" in done(*judged, "--dry-run").out
    vlms["Beacon"].says = lambda prompt: "REASON: By the words.\nVERDICT: CORRECT"
    done(*judged, "--out", tmp_path / "judged")
    shown = done("import", "run", tmp_path / "judged", "--store", suite).out
    assert "2 answers judged (2 new or changed); unscored 0, failed 0." in shown
    with Store.open(suite) as store:
        oracles = dict(store.rows("SELECT oracle, count(*) FROM verifications GROUP BY 1"))
    assert oracles == {"matching": 3, "Beacon, verimap-oracle-1": 2}


def test_a_vlm_labels_questions_from_their_words_and_the_file_can_be_taken_in(
    suite: Path, vlms: dict[str, Rote], tmp_path: Path
) -> None:
    replies = {
        "Is this a CT?": "TASK: modality_recognition",
        "What is abnormal in the chest?": "I would say disease classification.",
        "Is the liver enlarged?": "TASK: modality or disease_classification or causal_explanation",
        "How many nodules are seen?": "**Task:** quantitative",
        "What is the likely cause?": "TASK: Causal reasoning",
    }
    atlas = vlms["Atlas"]
    atlas.says = lambda prompt: next(reply for question, reply in replies.items() if question in prompt)
    atlas.fails = lambda prompt: "Is this a CT?" in prompt
    label = ("verimap", "label", "--suite", SUITE, "--model", "Atlas", "--out", tmp_path / "labels", "--store", suite)
    assert "be asked for the task of 5 questions" in done(*label, "--dry-run").out
    said = done(*label, "--json").json
    assert (said["n_labelled"], said["n_unread"], said["n_failed"]) == (3, 1, 1)
    assert {ask.image for ask in atlas.asked} == {None}
    with Path(said["labels"]).open() as file:
        assert list(csv.reader(file)) == [
            ["id", "task"],
            ["2", "disease_classification"],
            ["3", ""],
            ["4", "quantitative_measurement"],
            ["5", "causal_explanation"],
        ]
    atlas.fails = lambda prompt: False
    assert done(*label, "--resume", "--json").json["n_labelled"] == 4
    refused = call("import", "run", tmp_path / "labels", "--store", suite)
    assert (refused.code, "--labels FILE" in refused.err) == (2, True)
    done("import", "verimap", "--dataset", SUITE, "--labels", said["labels"], "--store", suite)
    with Store.open(suite) as store:
        tasks = dict(store.rows("SELECT unit_id, task FROM examples"))
    assert tasks["vqa-rad:1"] == "modality_recognition" and tasks["vqa-rad:3"] is None


def test_predict_says_in_its_key_whether_options_were_shown(tmp_path: Path, vlms: dict[str, Rote]) -> None:
    questions = {"1": Asked("frame-a", "Which plane?", "axial", {"A": "axial", "B": "coronal"})}
    asked_store(tmp_path, questions).close()
    predict = ("predict", "--model", "Atlas", "--suite", SUITE, "--store", tmp_path / "store.duckdb", "--dry-run")
    prompts = {}
    for ways in ((), ("--options", "shown"), ("--options", "hidden")):
        said = done(*predict, *ways, "--json").json
        prompts[said["run_id"]] = said["prompts"][0]
    assert sorted("B: coronal" in prompt for prompt in prompts.values()) == [False, True]
