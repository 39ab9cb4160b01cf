"""``verify live``: one image, one question, an answer and the verdict on it, told as the calls are made."""

from pathlib import Path

import pytest
from PIL import Image

from backend.domain.progress import Cancelled
from backend.domain.vlm import Reply, Vlm
from backend.errors import AppError
from backend.services.verification_traces import VerificationTrace, verification_traces
from backend.store.store import Store
from backend.vlm.registry import Registry
from tests.cli.calling import call, done
from tests.cli.test_predict import ENTRY
from tests.conftest import ROOT
from tests.verimap.test_verification import RIGHT, WRONG, Scripted

QUESTION = "How many polyps are in the image?"
KEYS = [
    "answer", "verdict", "explanation", "correct", "why", "turns", "reference", "generator", "verifier", "steps",
    "error", "trace_id",
]  # fmt: skip
GONE = Reply("", error="The server is gone. Start it.")

Said = dict[str, list[str | Reply | BaseException]]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A small image file."""
    path = tmp_path / "frame.png"
    Image.new("RGB", (40, 30), "pink").save(path)
    return path


@pytest.fixture
def said(image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """What Atlas and Beacon, two VLMs in the registry, say one after another; opened in this process."""
    entries = (ENTRY.format(name=name, url="http://localhost:1/v1") for name in ("Atlas", "Beacon"))
    (tmp_path / "models.yaml").write_text("\n".join(entries))
    monkeypatch.setenv("PARALLAX_MODELS", str(tmp_path / "models.yaml"))
    replies: Said = {"Atlas": [], "Beacon": []}

    def open_vlm(self: Registry, name: str, *, in_worker: bool = True) -> Vlm:
        assert not in_worker
        vlm = Scripted(name, *replies[name])
        vlm.sees(image)
        return vlm

    monkeypatch.setattr(Registry, "open_vlm", open_vlm)
    return replies


@pytest.fixture
def asked(image: Path) -> tuple[str | Path, ...]:
    """The command: Atlas judges itself unless a verifier is named."""
    return ("verify", "live", "--image", image, "--question", QUESTION, "--generator", "atlas")


def traces(store: Path) -> list[VerificationTrace]:
    with Store.open(store) as opened:
        units = [row[0] for row in opened.rows("SELECT unit_id FROM units WHERE suite = 'live-verimap'")]
        return [trace for unit_id in units for trace in verification_traces(opened, unit_id)]


def test_answer_verdict_and_every_turn_are_in_the_json(
    said: Said, asked: tuple[str | Path, ...], tmp_path: Path
) -> None:
    said["Atlas"], said["Beacon"] = ["three", "ANSWER: 2"], [RIGHT, WRONG]
    told = done(
        *asked, "--verifier", "beacon", "--turns", "1", "--reference", "2", "--json", "--store", tmp_path / "no.duckdb"
    ).json
    assert list(told) == KEYS
    assert (told["answer"], told["verdict"], told["explanation"]) == ("three", "CORRECT", "There are two.")
    assert (told["correct"], told["generator"], told["verifier"]) == (False, "Atlas", "Beacon")
    assert told["turns"] == [
        {
            "turn": 1,
            "answer": "2",
            "verdict": "INCORRECT",
            "explanation": "I see two.",
            "correct": True,
            "why": "number: read as “2”, expected “2”",
        }
    ]
    assert [(step["name"], step["turn"]) for step in told["steps"]] == [
        ("direct", 0), ("verify", 0), ("loop", 1), ("verify", 1),
    ]  # fmt: skip
    assert set(told["steps"][0]) == {"name", "turn", "prompt", "output", "seconds", "error"}
    assert not any("three" in step["prompt"] for step in told["steps"][:1])
    assert told["error"] is told["trace_id"] is None
    assert not (tmp_path / "no.duckdb").exists()


def test_the_steps_are_told_on_stderr_and_the_outcome_on_stdout(said: Said, asked: tuple[str | Path, ...]) -> None:
    said["Atlas"] = ["one", "Hm.", RIGHT]
    result = done(*asked, "--two-step", "--reference", "2")
    assert result.out.splitlines() == [
        "Answer: one",
        "  The answer is wrong (number: read as “1”, expected “2”).",
        "  Verdict: CORRECT",
        "  Explanation: There are two.",
    ]
    assert result.err.splitlines() == [
        "Loading Atlas …",
        "Answer: one (0.0 s)",
        "First look: Hm. (0.0 s)",
        "Verifier: EXPLANATION: There are two.",
        "VERDICT: CORRECT (0.0 s)",
    ]


def test_an_answer_that_is_given_is_verified_and_nobody_answers(said: Said, asked: tuple[str | Path, ...]) -> None:
    said["Beacon"] = ["I cannot tell."]
    told = done(*asked, "--verifier", "Beacon", "--answer", " two ", "--json").json
    assert (told["answer"], told["verdict"], told["explanation"]) == ("two", None, "I cannot tell.")
    assert (told["generator"], told["correct"], told["why"]) == (None, None, "no reference is given")


def test_who_judges_is_who_answers_where_only_one_is_named(said: Said, image: Path) -> None:
    said["Beacon"] = ["one", WRONG]
    told = done("verify", "live", "--image", image, "--question", QUESTION, "--verifier", "Beacon", "--json").json
    assert (told["generator"], told["verifier"]) == ("Beacon", "Beacon")


def test_correct_ends_it_where_that_is_asked_for(said: Said, asked: tuple[str | Path, ...]) -> None:
    said["Atlas"] = ["two", RIGHT]
    assert done(*asked, "--turns", "3", "--stop-at-correct", "--json").json["turns"] == []


def test_an_open_answer_is_not_judged_and_says_what_it_needs(said: Said, asked: tuple[str | Path, ...]) -> None:
    said["Atlas"] = ["a mass", RIGHT]
    told = done(*asked, "--reference", "a mass in the left lobe", "--json").json
    assert (told["correct"], told["why"]) == (None, "an open answer needs a judge")


@pytest.mark.parametrize(
    ("replies", "n_steps", "answer"), [([GONE], 1, None), (["one", GONE], 2, "one"), (["one", WRONG, GONE], 3, "one")]
)
def test_where_a_call_fails_what_was_answered_is_printed_all_the_same(
    said: Said, asked: tuple[str | Path, ...], replies: list[str | Reply], n_steps: int, answer: str | None
) -> None:
    said["Atlas"] = [*replies]
    result = call(*asked, "--turns", "1", "--json")
    assert result.code == 2
    assert (len(result.json["steps"]), result.json["answer"]) == (n_steps, answer)
    assert result.json["verdict"] == ("INCORRECT" if n_steps == 3 else None)
    assert GONE.error in result.json["error"] and GONE.error in result.err


@pytest.mark.parametrize(
    ("ends", "code", "words"),
    [
        (AppError("The VLM's process ended.", "Ask again."), 2, "The VLM's process ended. Ask again."),
        (KeyboardInterrupt(), 130, "Cancelled."),
        (Cancelled(), 130, "Cancelled."),
        (RuntimeError("out of memory"), 1, "out of memory"),
    ],
    ids=["ended", "Ctrl-C", "cancelled", "a bug"],
)
@pytest.mark.parametrize("answered", [[], ["one"]], ids=["at once", "after the answer"])
def test_whatever_ends_it_what_was_answered_is_printed_and_kept(
    said: Said,
    asked: tuple[str | Path, ...],
    tmp_path: Path,
    answered: list[str],
    ends: BaseException,
    code: int,
    words: str,
) -> None:
    said["Atlas"] = [*answered, ends]
    store = tmp_path / "store.duckdb"
    done("init", "--store", store)
    result = call(*asked, "--save", "--store", store, "--json")
    assert (result.code, result.json["error"], len(result.json["steps"])) == (code, words, len(answered))
    found = traces(store)
    assert [one.trace_id for one in found] == [result.json["trace_id"]] * len(answered)
    assert [(one.was_cancelled, one.problem) for one in found] == [(code == 130, "" if code == 130 else words)] * len(
        answered
    )


def test_saved_it_is_an_example_with_its_reference_and_a_trace_that_names_both(
    said: Said, asked: tuple[str | Path, ...], tmp_path: Path
) -> None:
    said["Atlas"], said["Beacon"] = ["one"], [WRONG]
    store = tmp_path / "store.duckdb"
    done("init", "--store", store)
    result = done(*asked, "--verifier", "Beacon", "--reference", "2", "--save", "--store", store)
    [trace] = traces(store)
    assert trace.generator is not None
    assert (trace.generator.vlm.name, trace.verifier.vlm.name) == ("Atlas", "Beacon")
    assert result.out.endswith(f"Kept in the store as trace {trace.trace_id}.\n")
    with Store.open(store) as opened:
        assert opened.value("SELECT reference FROM probes WHERE unit_id = ?", [trace.unit_id]) == "2"


def test_an_empty_question_is_an_error_before_anything_is_loaded(said: Said, image: Path) -> None:
    result = call("verify", "live", "--image", image, "--question", " ", "--generator", "Atlas")
    assert (result.code, "Loading" in result.err, "empty" in result.err) == (2, False, True)


def test_an_image_that_cannot_be_used_is_an_error_before_anything_is_loaded(
    said: Said, asked: tuple[str | Path, ...], image: Path
) -> None:
    image.write_bytes(b"no picture")
    result = call(*asked)
    assert (result.code, "Loading" in result.err) == (2, False)


def test_the_vlm_in_the_box_verifies_a_drawn_frame() -> None:
    frame = ROOT / "data/demo/endoscopy/synthetic-0028.webp"
    if not (ROOT / "data/demo/vlm/model.safetensors").exists() or not frame.exists():
        pytest.skip("the VLM in the box is not trained yet")
    told = done("verify", "live", "--image", frame, "--question", QUESTION, "--reference", "1", "--json").json
    assert told["answer"] and told["verdict"] in ("CORRECT", "INCORRECT", "UNCERTAIN")
    assert told["correct"] in (True, False)
