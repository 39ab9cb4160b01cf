"""``saliency live``: one image, one question, and what a VLM attended to when it answered and when it judged."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from PIL import Image

from backend.domain.progress import Cancelled
from backend.domain.vlm import Reply, Vlm
from backend.errors import AppError
from backend.services.opening import open_store
from backend.services.stored_saliency import trace_looks
from backend.services.verification_traces import load_verification_trace
from backend.store.store import Store
from backend.verimap.prompts import generate_prompt, verify_prompt
from backend.vlm.registry import Registry
from tests.cli.calling import call, done
from tests.services.test_looks import FRAME, LookedInto, needs_box_vlm
from tests.verimap.test_verification import RIGHT, Scripted
from tests.vlm.saliency.test_result import saliency

QUESTION = "How many polyps are in the image?"
CONTRACT = ["fraction", "uniform_fraction", "gradient_mean", "grid", "map", "gradient_map"]
BESIDE = ["tokens", "note", "why_no_gradient", "why_no_regions"]

ENTRY = """
- name: {name}
  group: general_open
  family: rote
  licence: none
  answers: yes
  attention: {attention}
  gradients: yes
  {way_in}
"""
SERVICE = 'openai: {base_url: "http://localhost:1/v1", model: m}'


class Door:
    """Opens one VLM, in this process; counts how often."""

    def __init__(self, vlm: Scripted) -> None:
        self.vlm = vlm
        self.n_opened = 0

    def open_vlm(self, name: str, *, in_worker: bool = True) -> Vlm:
        assert not in_worker
        self.n_opened += 1
        return self.vlm


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A small image file."""
    path = tmp_path / "frame.png"
    Image.new("RGB", (40, 30), "pink").save(path)
    return path


@pytest.fixture
def asked(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str | Path, ...]:
    """The command; Atlas runs here, Remote and Boast behind a service, whatever Boast's entry says."""
    entries = (
        ENTRY.format(name="Atlas", attention="yes", way_in="transformers: {source: ./atlas}"),
        ENTRY.format(name="Remote", attention="the service does not give it", way_in=SERVICE),
        ENTRY.format(name="Boast", attention="yes", way_in=SERVICE),
    )
    (tmp_path / "models.yaml").write_text("".join(entries))
    monkeypatch.setenv("PARALLAX_MODELS", str(tmp_path / "models.yaml"))
    return ("saliency", "live", "--image", image, "--question", QUESTION, "--model", "atlas")


def behind_the_door(vlm: Scripted, image: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    vlm.sees(image)
    door = Door(vlm)
    monkeypatch.setattr(Registry, "open_vlm", lambda self, name, **how: door.open_vlm(name, **how))
    return door


def test_the_json_holds_both_looks_as_the_contract_says(
    asked: tuple[str | Path, ...], image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind_the_door(LookedInto("Atlas", "one", RIGHT), image, monkeypatch)
    told = done(*asked, "--json", "--store", tmp_path / "no.duckdb").json
    assert list(told) == ["generator", "verifier"]
    assert list(told["generator"]) == [*CONTRACT, *BESIDE, "answer"]
    assert list(told["verifier"]) == [*CONTRACT, *BESIDE, "reply"]
    assert (told["generator"]["answer"], told["verifier"]["reply"]) == ("one", RIGHT)
    look = told["generator"]
    assert [look["fraction"], look["uniform_fraction"], look["gradient_mean"]] == pytest.approx([0.3, 0.3, 1.5])
    assert (look["grid"], look["gradient_map"]) == ([1, 2], [[2.0, 1.0]])
    np.testing.assert_allclose(look["map"], [[0.2, 0.1]], rtol=1e-6)
    assert (look["tokens"], look["note"]) == (["é"], "Deepstack.")
    assert look["why_no_gradient"] is look["why_no_regions"] is None
    assert not (tmp_path / "no.duckdb").exists()


def test_what_a_vlm_cannot_give_is_null_with_its_reason(
    asked: tuple[str | Path, ...], image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = saliency(with_map=False, with_gradient=False)
    behind_the_door(LookedInto("Atlas", "one", RIGHT, gives=bare), image, monkeypatch)
    look = done(*asked, "--json").json["verifier"]
    assert [look[key] for key in CONTRACT[2:]] == [None] * 4
    assert (look["why_no_gradient"], look["why_no_regions"]) == ("Quantised.", "Unknown.")
    assert look["fraction"] == pytest.approx(0.3)


@pytest.mark.parametrize("with_map", [True, False])
@pytest.mark.parametrize("with_gradient", [True, False])
def test_a_map_is_null_only_where_it_is_the_one_that_is_missing(
    asked: tuple[str | Path, ...], image: Path, monkeypatch: pytest.MonkeyPatch, with_map: bool, with_gradient: bool
) -> None:
    gives = saliency(with_map=with_map, with_gradient=with_gradient)
    behind_the_door(LookedInto("Atlas", "one", RIGHT, gives=gives), image, monkeypatch)
    look = done(*asked, "--json").json["generator"]
    assert (look["map"] is not None, look["gradient_map"] is not None) == (with_map, with_map and with_gradient)
    assert (look["gradient_mean"] is not None) == with_gradient


def test_the_table_and_how_to_read_it_go_to_stdout_and_the_calls_to_stderr(
    asked: tuple[str | Path, ...], image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = saliency(with_gradient=False)
    behind_the_door(LookedInto("Atlas", "one", RIGHT, gives=bare), image, monkeypatch)
    result = done(*asked)
    rows = [line.split() for line in result.out.splitlines()]
    assert ["Generator", "0.300", "0.300", "N/A"] in rows
    assert ["Verifier", "0.300", "0.300", "N/A"] in rows
    assert "The brighter a region" in result.out and "this does not say why." in result.out
    assert result.out.splitlines()[-2:] == ["Deepstack.", "Quantised."]
    assert result.err.splitlines() == [
        "Loading Atlas …",
        "Answer: one (0.0 s)",
        "Verifier: EXPLANATION: There are two.",
        "VERDICT: CORRECT (0.0 s)",
        "Looking into both …",
    ]


def test_kept_in_a_store_the_live_page_finds_what_was_said_and_both_maps(
    asked: tuple[str | Path, ...], image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind_the_door(LookedInto("Atlas", "one", RIGHT), image, monkeypatch)
    path = tmp_path / "parallax.duckdb"
    Store.create(path).close()
    told = done(*asked, "--save", "--json", "--store", path).json
    assert list(told) == ["generator", "verifier", "trace_id"]
    with open_store(path) as store:
        trace = load_verification_trace(store, told["trace_id"])
        looks = trace_looks(store, told["trace_id"])
    assert trace is not None and [step.reply.text for step in trace.verification.steps] == ["one", RIGHT]
    assert {key: look.fraction for key, look in looks.items()} == pytest.approx(
        {("direct", 0): 0.3, ("verify", 0): 0.3}
    )


def test_what_was_answered_is_kept_though_it_cannot_be_looked_into(
    asked: tuple[str | Path, ...], image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind_the_door(LookedInto("Atlas", "one", ""), image, monkeypatch)
    path = tmp_path / "parallax.duckdb"
    Store.create(path).close()
    result = call(*asked, "--save", "--store", path)
    assert (result.code, result.out) == (2, "")
    with open_store(path) as store:
        [(kept,)] = store.rows("SELECT trace_id FROM traces")
    assert f"Kept in the store as trace {kept}." in result.err


def test_an_answer_that_is_given_is_looked_at_and_judged_and_nobody_answers(
    asked: tuple[str | Path, ...], image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = LookedInto("Atlas", RIGHT)
    behind_the_door(vlm, image, monkeypatch)
    told = done(*asked, "--answer", " two ", "--json").json
    assert told["generator"]["answer"] == "two"
    assert vlm.asked == [verify_prompt(QUESTION, "two")]
    assert vlm.looks == [(generate_prompt(QUESTION), "two"), (verify_prompt(QUESTION, "two"), RIGHT)]


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ([""], "Saliency of the generator's answer: There is no answer."),
        (["one", ""], "Saliency of the verifier's reply: There is no answer."),
        ([Reply("", error="The server is gone.")], "The direct call failed: The server is gone."),
        (["one", Reply("", error="The server is gone.")], "The verify call failed: The server is gone."),
    ],
    ids=["no answer", "no reply", "a failed answer", "a failed verdict"],
)
def test_a_look_that_cannot_be_had_is_an_error_in_words_and_nothing_on_stdout(
    asked: tuple[str | Path, ...],
    image: Path,
    monkeypatch: pytest.MonkeyPatch,
    replies: list[str | Reply],
    words: str,
) -> None:
    behind_the_door(LookedInto("Atlas", *[*replies, RIGHT][:2]), image, monkeypatch)
    result = call(*asked, "--json")
    assert (result.code, result.out) == (2, "")
    assert words in result.err


@pytest.mark.parametrize(
    ("ends", "code", "words"),
    [
        (KeyboardInterrupt(), 130, Cancelled().message),
        (Cancelled(), 130, Cancelled().message),
        (AppError("The GPU reported an error.", "Start again."), 2, "The GPU reported an error.\nStart again."),
    ],
    ids=["Ctrl-C", "cancelled", "ended"],
)
def test_whatever_ends_it_is_said_on_a_line_of_its_own_and_nothing_goes_to_stdout(
    asked: tuple[str | Path, ...],
    image: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: BaseException,
    code: int,
    words: str,
) -> None:
    behind_the_door(LookedInto("Atlas", "one", ends), image, monkeypatch)
    result = call(*asked, "--json")
    assert (result.code, result.out) == (code, "")
    assert result.err.endswith(f"\nVerifier: \n{words}\n")


def test_a_look_can_be_cancelled_too(
    asked: tuple[str | Path, ...], image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = LookedInto("Atlas", "one", RIGHT)
    monkeypatch.setattr(vlm, "saliency", Mock(side_effect=KeyboardInterrupt))
    behind_the_door(vlm, image, monkeypatch)
    result = call(*asked, "--json")
    assert (result.code, result.out) == (130, "")
    assert result.err.endswith(f"\nLooking into both …\n{Cancelled().message}\n")


def test_a_vlm_whose_entry_says_why_not_is_refused_before_it_is_opened(
    asked: tuple[str | Path, ...], image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = behind_the_door(LookedInto("Remote"), image, monkeypatch)
    result = call(*asked[:-1], "Remote")
    assert (result.code, door.n_opened) == (2, 0)
    assert "Remote gives no saliency: the service does not give it.\nThose that do: Box VLM," in result.err
    assert result.err.rstrip().endswith("Atlas.")


def test_a_vlm_that_turns_out_to_have_no_saliency_is_refused_before_it_is_asked(
    asked: tuple[str | Path, ...], image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vlm = Scripted("Boast")
    behind_the_door(vlm, image, monkeypatch)
    result = call(*asked[:-1], "Boast")
    assert (result.code, vlm.asked) == (2, [])
    assert "Boast gives no saliency: it does not run on this machine." in result.err


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (("--question", " "), "The question is empty."),
        (("--image", "nowhere.png"), "nowhere.png is no regular file."),
        (("--model", "Nobody"), "There is no VLM Nobody."),
    ],
)
def test_what_is_wrong_with_the_request_is_said_before_anything_is_loaded(
    asked: tuple[str | Path, ...],
    image: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: tuple[str, str],
    words: str,
) -> None:
    door = behind_the_door(LookedInto("Atlas"), image, monkeypatch)
    result = call(*asked, *changed)
    assert (result.code, door.n_opened, result.out) == (2, 0, "")
    assert words in result.err


@pytest.fixture(scope="module")
def looked() -> list[Any]:
    """The VLM in the box about a drawn frame, twice."""
    command = ("saliency", "live", "--image", FRAME, "--question", QUESTION, "--json")
    return [done(*command).json for _ in range(2)]


@needs_box_vlm
@pytest.mark.parametrize("who", ["generator", "verifier"])
class TestTheVlmInTheBox:
    """One promise a method, checked for each look."""

    def test_maps_have_the_shape_of_the_grid(self, looked: list[Any], who: str) -> None:
        look = looked[0][who]
        assert np.shape(look["map"]) == np.shape(look["gradient_map"]) == tuple(look["grid"])

    def test_the_map_adds_up_to_the_fraction(self, looked: list[Any], who: str) -> None:
        look = looked[0][who]
        assert np.sum(look["map"]) == pytest.approx(look["fraction"], rel=1e-5)
        assert 0 < look["fraction"] < 1 and 0 < look["uniform_fraction"] < 1

    def test_the_gradient_map_is_of_absolute_values_and_means_the_gradient_mean(
        self, looked: list[Any], who: str
    ) -> None:
        look = looked[0][who]
        assert np.min(look["gradient_map"]) >= 0
        assert np.mean(look["gradient_map"]) == pytest.approx(look["gradient_mean"], rel=1e-5)

    def test_the_same_call_gives_the_same_numbers(self, looked: list[Any], who: str) -> None:
        first, second = (look[who] for look in looked)
        assert first == second

    def test_the_tokens_spell_what_was_said(self, looked: list[Any], who: str) -> None:
        look = looked[0][who]
        assert "".join(look["tokens"]) == look["answer" if who == "generator" else "reply"]
