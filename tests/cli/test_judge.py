"""``judge`` has a service score a run's answers, and ``import run`` brings the scores into the store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.services.opening import open_store
from tests.cli.calling import call, done
from tests.services.surgcheck_store import put_answered, put_pairs, references
from tests.vlm.openai_server import Fault, OpenAiServer, serving

GOOD = '{"score": 4, "reason": "Interchangeable."}'


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    """A service in the list of VLMs under the name 'Judge'."""
    with serving() as opened:
        entry = tmp_path / "models.yaml"
        entry.write_text(
            "- name: Judge\n  group: closed_source\n  family: llm\n  papers: []\n  licence: a test\n  answers: yes\n"
            "  attention: it runs elsewhere\n  gradients: it runs elsewhere\n"
            f"  openai: {{base_url: {opened.base_url}, model: judge, concurrency: 1}}\n",
            "utf-8",
        )
        monkeypatch.setenv("PARALLAX_MODELS", str(entry))
        yield opened


@pytest.fixture
def answered(store: Path) -> Path:
    with open_store(store) as opened:
        put_pairs(opened)
        put_answered(opened, "Steady", references())
    return store


def test_a_dry_run_shows_the_prompt_and_asks_nobody(answered: Path, server: OpenAiServer) -> None:
    value = done("judge", "--model", "Judge", "--run", "Steady", "--dry-run", "--store", answered, "--json").json
    # Pair 4 asks the same twice: ten answers, nine different ones.
    assert (value["n_planned"], value["n_distinct"], value["n_units"], value["stage"]) == (10, 9, 5, "judge")
    assert "Reference: hook" in value["prompts"][0]
    assert (
        "The first prompt" in done("judge", "--model", "Judge", "--run", "Steady", "--dry-run", "--store", answered).out
    )
    assert server.seen == []


def test_judged_answers_come_into_the_metrics(answered: Path, server: OpenAiServer, tmp_path: Path) -> None:
    server.faults.extend([Fault(content=GOOD)] * 9)
    folder = tmp_path / "judged"
    asked = ("judge", "--model", "Judge", "--run", "Steady", "--out", folder, "--store", answered)
    value = done(*asked, "--json").json
    assert (value["n_done"], value["n_failed"], len(server.seen)) == (10, 0, 9)
    assert all(seen.image is None for seen in server.seen)
    shown = done("import", "run", folder, "--store", answered).out
    assert "10 answers judged (10 new or changed); unscored 0, failed 0." in shown
    rows = done("metrics", "surgcheck", "--store", answered, "--json").json["rows"]
    assert [(row["judge_mean"], row["judge_accuracy"], row["n_unscored"]) for row in rows] == [(4.0, 1.0, 0)] * 2
    assert {row["judge"] for row in rows} == {"Judge, surgcheck-judge-1"}
    refused = call(*asked)
    assert (refused.code, "--resume" in refused.err) == (2, True)
    assert done(*asked, "--resume").code == 0 and len(server.seen) == 9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "Judge", "--run", "Nobody"), "Steady"),
        (("--model", "Nobody", "--run", "Steady"), "Known: "),
        (("--model", "Judge", "--run", "Steady", "--suite", "other"), "small"),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(
    answered: Path, server: OpenAiServer, arguments: tuple[str, ...], words: str
) -> None:
    result = call("judge", *arguments, "--store", answered)
    assert (result.code, words in result.err) == (2, True)
