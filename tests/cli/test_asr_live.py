"""``asr live``: one image, one complex question, and the calls of Workflow 1 told as they are made."""

from pathlib import Path

import pytest
from PIL import Image

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply, Vlm
from backend.endoca.asr import Variant
from backend.endoca.prompts import answer_prompt, revise_prompt, select_prompt
from backend.errors import AppError
from backend.services.live_traces import Ending, StoredTrace, unit_traces
from backend.store.store import Store
from backend.vlm.registry import Registry
from tests.cli.calling import Result, call, done
from tests.cli.test_predict import ENTRY
from tests.conftest import ROOT
from tests.endoca.test_asr import ECHOED, GIVEN, PARTS, PREMISES, QUESTION, SAID, WITHHELD, ScriptedVlm

REVISE = revise_prompt(QUESTION, "one polyp; no text", PREMISES)
SELECT = select_prompt(QUESTION, "two polyps; no text", PREMISES)
MATERIAL = [{"question": part, "answer": answer} for part, answer in PREMISES]
KEYS = ["direct", "atomic", "premises", "revised", "decision", "consistency", "problem", "echoed", "final", "steps"]
GONE = "The server is gone. Start it."


class Parrot(ScriptedVlm):
    """Says what the script says; at the prompt `stops_at` it ends with `stops_with`."""

    def __init__(self) -> None:
        super().__init__(dict(SAID))
        self.said: dict[str, str | Reply] = dict(SAID)
        self.stops_at = ""
        self.stops_with: BaseException = AppError("The VLM's process ended.", "Ask again.")

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        if prompt == self.stops_at:
            raise self.stops_with
        [reply] = self.answer_all([Ask(image, prompt)], decoding)
        for piece in reply.text.partition(" "):
            on_text(piece)
        return reply


@pytest.fixture
def vlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parrot:
    """A VLM named Parrot in the registry; it is opened in this process."""
    (tmp_path / "models.yaml").write_text(ENTRY.format(name="Parrot", url="http://localhost:1/v1"))
    monkeypatch.setenv("PARALLAX_MODELS", str(tmp_path / "models.yaml"))
    made = Parrot()

    def open_vlm(self: Registry, name: str, *, in_worker: bool = True) -> Vlm:
        assert not in_worker
        return made

    monkeypatch.setattr(Registry, "open_vlm", open_vlm)
    return made


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A small image file."""
    path = tmp_path / "frame.png"
    Image.new("RGB", (40, 30), "pink").save(path)
    return path


@pytest.fixture
def asked(image: Path) -> tuple[str | Path, ...]:
    """The command, with both atomic questions."""
    return (
        "asr", "live", "--model", "parrot", "--image", image,
        "--question", QUESTION, "--atomic", PARTS[0], "--atomic", PARTS[1],
    )  # fmt: skip


def traces(store: Path) -> list[StoredTrace]:
    with Store.open(store) as opened:
        units = [row[0] for row in opened.rows("SELECT unit_id FROM units WHERE suite = 'live'")]
        return [trace for unit_id in units for trace in unit_traces(opened, unit_id)]


def test_every_step_is_in_the_json(vlm: Parrot, asked: tuple[str | Path, ...], image: Path, tmp_path: Path) -> None:
    said = done(*asked, "--json", "--store", tmp_path / "no.duckdb").json
    assert list(said) == [*KEYS, "error", "trace_id"]
    assert (said["direct"], said["revised"], said["final"]) == (
        "one polyp; no text", "two polyps; no text", "two polyps; no text",
    )  # fmt: skip
    assert said["atomic"] == said["premises"] == MATERIAL
    assert (said["decision"], said["consistency"], said["problem"]) == ("answer", "consistent", None)
    assert [step["name"] for step in said["steps"]] == ["direct", "atomic", "atomic", "revise", "select"]
    assert [step["prompt"] for step in said["steps"]] == [ask.prompt for ask in vlm.asked]
    assert [step["output"] for step in said["steps"]] == [SAID[ask.prompt] for ask in vlm.asked]
    assert all(step["seconds"] == 0.0 and step["error"] is None for step in said["steps"])
    assert {ask.image for ask in vlm.asked} == {image}
    assert said["error"] is said["trace_id"] is None
    assert not (tmp_path / "no.duckdb").exists()


def test_the_steps_are_told_on_stderr_and_the_outcome_on_stdout(vlm: Parrot, asked: tuple[str | Path, ...]) -> None:
    result = done(*asked)
    assert result.out.splitlines() == [
        "Direct: one polyp; no text",
        f"  {PARTS[0]} 2",
        f"  {PARTS[1]} no",
        "Revised: two polyps; no text",
        "Decision: answer (consistent)",
        "Final: two polyps; no text",
    ]
    assert result.err.splitlines() == [
        "Loading Parrot …",
        "Direct: one polyp; no text (0.0 s)",
        "Atomic:",
        f"  {PARTS[0]} 2 (0.0 s)",
        f"  {PARTS[1]} no (0.0 s)",
        "Revise: two polyps; no text (0.0 s)",
        f"Select: {GIVEN} (0.0 s)",
    ]


def test_the_control_asks_no_atomic_question(vlm: Parrot, asked: tuple[str | Path, ...]) -> None:
    said = done(*asked, "--variant", "self", "--json").json
    assert [step["name"] for step in said["steps"]] == ["direct", "revise", "select"]
    assert (said["atomic"], said["premises"]) == ([], [])
    assert (said["decision"], said["final"], said["revised"]) == ("abstain", None, "two polyps; no text")
    assert "Final: withheld" in done(*asked, "--variant", "self").out


def test_another_answer_in_the_decision_is_never_returned(vlm: Parrot, asked: tuple[str | Path, ...]) -> None:
    vlm.said[SELECT] = ECHOED
    said = done(*asked, "--json").json
    assert (said["decision"], said["final"]) == ("answer", "two polyps; no text")
    assert said["echoed"] == "three polyps"


@pytest.mark.parametrize(
    ("select", "told"),
    [
        (GIVEN, []),
        (ECHOED, ["Its decision repeats another answer: three polyps"]),
        (ECHOED.replace("three polyps", " "), ["Its decision repeats no answer."]),
        (WITHHELD.replace("two polyps", "four polyps"), ["Its decision repeats another answer: four polyps; no text"]),
        ("Yes.", []),
    ],
    ids=["the same", "another", "none", "another, withheld", "not readable"],
)
def test_another_answer_in_the_decision_is_shown(
    vlm: Parrot, asked: tuple[str | Path, ...], select: str, told: list[str]
) -> None:
    vlm.said[SELECT] = select
    assert [line for line in done(*asked).out.splitlines() if "repeats" in line] == told


def test_a_decision_that_cannot_be_read_is_an_abstention_that_says_so(
    vlm: Parrot, asked: tuple[str | Path, ...]
) -> None:
    vlm.said[SELECT] = "Yes."
    said = done(*asked, "--json").json
    assert (said["decision"], said["consistency"], said["final"]) == ("abstain", None, None)
    assert (said["problem"], said["steps"][-1]["output"]) == ("not one JSON object", "Yes.")
    assert "Decision: abstain (it could not be read: not one JSON object)" in done(*asked).out


def test_atomic_questions_are_proposed_where_none_is_given(vlm: Parrot, image: Path) -> None:
    result = done("asr", "live", "--model", "parrot", "--image", image, "--question", f"  {QUESTION} ", "--json")
    assert result.json["atomic"] == MATERIAL
    assert f"proposed from its words: {PARTS[0]} {PARTS[1]}" in result.err


def test_without_atomic_questions_and_without_a_proposal_nothing_is_asked(vlm: Parrot, image: Path) -> None:
    unknown = ("asr", "live", "--model", "parrot", "--image", image, "--question", "Is this benign?")
    result = call(*unknown)
    assert (result.code, vlm.asked) == (2, [])
    assert "--atomic" in result.err
    assert [step["name"] for step in done(*unknown, "--variant", "self", "--json").json["steps"]] == [
        "direct", "revise", "select",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["--question", "--atomic"])
def test_an_empty_question_is_an_error(vlm: Parrot, image: Path, option: str) -> None:
    given = {"--question": QUESTION, "--atomic": PARTS[0], option: "  "}
    result = call(
        "asr", "live", "--model", "parrot", "--image", image, *(word for pair in given.items() for word in pair)
    )
    assert (result.code, vlm.asked) == (2, [])
    assert "empty" in result.err


@pytest.mark.parametrize("option", ["--question", "--atomic"])
def test_a_question_that_is_too_long_is_an_error_before_anything_is_asked(
    vlm: Parrot, image: Path, option: str
) -> None:
    given = {"--question": QUESTION, "--atomic": PARTS[0], option: "green " * 500}
    result = call(
        "asr", "live", "--model", "parrot", "--image", image, *(word for pair in given.items() for word in pair)
    )
    assert (result.code, vlm.asked) == (2, [])
    assert "at most 2,000 can be asked" in result.err


def test_line_breaks_in_a_question_do_not_break_the_list_of_premises(vlm: Parrot, image: Path) -> None:
    broken = [text.replace(" ", "\n", 1) for text in (QUESTION, *PARTS)]
    said = done(
        "asr", "live", "--model", "parrot", "--image", image, "--json",
        "--question", broken[0], "--atomic", broken[1], "--atomic", f" {broken[2]}\n",
    ).json  # fmt: skip
    assert said["premises"] == MATERIAL
    assert said["steps"][3]["prompt"] == REVISE


def test_an_image_that_cannot_be_used_is_an_error_before_anything_is_loaded(
    vlm: Parrot, asked: tuple[str | Path, ...], image: Path
) -> None:
    image.write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    result = call(*asked)
    assert (result.code, result.out, vlm.asked) == (2, "", [])
    assert "frame.png" in result.err
    assert "Loading" not in result.err


@pytest.mark.parametrize(
    ("failing", "names", "known"),
    [
        (answer_prompt(QUESTION), ["direct"], {"direct": None, "decision": None}),
        (answer_prompt(PARTS[1]), ["direct", "atomic", "atomic"], {"direct": "one polyp; no text", "revised": None}),
        (REVISE, ["direct", "atomic", "atomic", "revise"], {"atomic": MATERIAL, "revised": None, "decision": None}),
        (
            SELECT,
            ["direct", "atomic", "atomic", "revise", "select"],
            {"revised": "two polyps; no text", "decision": "abstain", "problem": GONE},
        ),
    ],
)
def test_where_a_call_fails_what_was_answered_is_printed_all_the_same(
    vlm: Parrot, asked: tuple[str | Path, ...], failing: str, names: list[str], known: dict[str, object]
) -> None:
    vlm.said[failing] = Reply("", error=GONE)
    result = call(*asked, "--json")
    assert result.code == 2
    said = result.json
    assert [step["name"] for step in said["steps"]] == names
    assert said["steps"][-1]["error"] == GONE
    assert {name: said[name] for name in known} == known
    assert said["final"] is None
    assert GONE in said["error"]
    assert GONE in result.err


def test_a_call_that_failed_is_not_told_as_a_decision_that_could_not_be_read(
    vlm: Parrot, asked: tuple[str | Path, ...]
) -> None:
    vlm.said[SELECT] = Reply("", error=GONE)
    result = call(*asked)
    assert f"Decision: abstain (the call failed: {GONE})" in result.out
    assert "could not be read" not in result.out
    assert result.err.endswith("What was answered is printed.\n")


def test_where_no_call_was_answered_nothing_else_is_said(vlm: Parrot, asked: tuple[str | Path, ...]) -> None:
    vlm.said[answer_prompt(QUESTION)] = Reply("", error=GONE)
    result = call(*asked)
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("No call was answered.\n")


@pytest.mark.parametrize(
    ("stops_with", "code", "said"),
    [
        (AppError("The VLM's process ended.", "Ask again."), 2, "The VLM's process ended. Ask again."),
        (KeyboardInterrupt(), 130, "Cancelled."),
        (Cancelled(), 130, "Cancelled."),
        (RuntimeError("out of memory"), 1, "out of memory"),
    ],
    ids=["ended", "Ctrl-C", "cancelled", "a bug"],
)
@pytest.mark.parametrize(
    ("stops_at", "n_answered"), [(answer_prompt(QUESTION), 0), (REVISE, 3), (SELECT, 4)], ids=["at once", "3", "4"]
)
def test_whatever_ends_it_what_was_answered_is_printed_and_kept(
    vlm: Parrot,
    asked: tuple[str | Path, ...],
    store: Path,
    stops_with: BaseException,
    code: int,
    said: str,
    stops_at: str,
    n_answered: int,
) -> None:
    vlm.stops_at, vlm.stops_with = stops_at, stops_with
    result = kept(asked, store)
    assert result.code == code
    assert (len(result.json["steps"]), result.json["error"]) == (n_answered, said)
    assert said in " ".join(result.err.split())
    found = traces(store)
    assert [(len(one.trace.steps), one.was_cancelled) for one in found] == [(n_answered, code == 130)] * bool(
        n_answered
    )
    assert [one.problem for one in found] == ["" if code == 130 else said] * bool(n_answered)
    assert [one.trace_id for one in found] == [result.json["trace_id"]] * bool(n_answered)
    assert "nothing was changed" not in result.err


def test_where_the_vlm_cannot_go_on_what_was_answered_is_printed_all_the_same(
    vlm: Parrot, asked: tuple[str | Path, ...]
) -> None:
    vlm.stops_at = REVISE
    result = call(*asked, "--json")
    assert result.code == 2
    assert [step["name"] for step in result.json["steps"]] == ["direct", "atomic", "atomic"]
    assert "The VLM's process ended." in result.json["error"]
    assert "The VLM's process ended." in result.err


def test_a_reply_that_goes_round_in_circles_is_printed_whole_and_said(
    vlm: Parrot, asked: tuple[str | Path, ...]
) -> None:
    vlm.said[answer_prompt(PARTS[0])] = circles = "two polyps " * 8
    result = done(*asked, "--json")
    assert result.json["steps"][1]["output"] == circles
    assert "over and over" in result.err


def kept(asked: tuple[str | Path, ...], store: Path, *more: str) -> Result:
    if not store.exists():
        done("init", "--store", store)
    return call(*asked, "--save", "--store", store, "--json", *more)


def test_a_trace_is_kept_where_that_is_wanted(vlm: Parrot, asked: tuple[str | Path, ...], store: Path) -> None:
    said = kept(asked, store).json
    again = kept(asked, store, "--variant", "self").json
    first, second = traces(store)
    assert (first.trace_id, second.trace_id) == (said["trace_id"], again["trace_id"])
    assert first.unit_id == second.unit_id
    assert [step.reply.text for step in first.trace.steps] == [step["output"] for step in said["steps"]]
    assert (first.ending, first.vlm.name, second.trace.variant) == (Ending.DONE, "Parrot", Variant.SELF)


def test_a_trace_that_ended_early_is_kept_with_what_ended_it(
    vlm: Parrot, asked: tuple[str | Path, ...], store: Path
) -> None:
    vlm.stops_at = REVISE
    assert kept(asked, store).code == 2
    [trace] = traces(store)
    assert (trace.ending, len(trace.trace.steps)) == (Ending.FAILED, 3)
    assert "The VLM's process ended." in trace.problem


def test_nothing_is_kept_where_nothing_was_answered(vlm: Parrot, asked: tuple[str | Path, ...], store: Path) -> None:
    vlm.said[answer_prompt(QUESTION)] = Reply("", error=GONE)
    result = kept(asked, store)
    assert (result.code, result.json["trace_id"]) == (2, None)
    assert GONE in result.err
    assert traces(store) == []


def test_where_it_cannot_be_kept_what_was_answered_is_printed_all_the_same(
    vlm: Parrot, asked: tuple[str | Path, ...], store: Path
) -> None:
    (store.parent / "uploads").touch()
    result = kept(asked, store)
    assert (result.code, result.json["final"], result.json["trace_id"]) == (2, "two polyps; no text", None)
    assert "The image cannot be kept" in result.json["error"]
    assert "The image cannot be kept" in result.err
    text = call(*asked, "--save", "--store", store)
    assert (text.code, text.out.splitlines()[-1]) == (2, "Final: two polyps; no text")
    assert traces(store) == []


@pytest.mark.parametrize("stops_with", [AppError("The VLM's process ended.", "Ask again."), KeyboardInterrupt()])
def test_where_it_ends_early_and_cannot_be_kept_both_are_said(
    vlm: Parrot, asked: tuple[str | Path, ...], store: Path, stops_with: BaseException
) -> None:
    (store.parent / "uploads").touch()
    vlm.stops_at, vlm.stops_with = REVISE, stops_with
    result = kept(asked, store)
    assert (result.code, len(result.json["steps"])) == (2, 3)
    for told in (result.json["error"], result.err):
        assert "The VLM's process ended." in told or "Cancelled." in told
        assert "The image cannot be kept" in told


def test_without_a_store_to_keep_it_in_nothing_is_asked(
    vlm: Parrot, asked: tuple[str | Path, ...], tmp_path: Path
) -> None:
    result = call(*asked, "--save", "--store", tmp_path / "no.duckdb")
    assert (result.code, vlm.asked) == (2, [])


def test_the_vlm_in_the_box_reconciles_a_frame_and_says_what_it_was_not_trained_for() -> None:
    if not (ROOT / "data" / "demo" / "vlm" / "model.safetensors").is_file():
        pytest.skip("the VLM in the box has not been trained (python -m backend demo train)")
    frame = ROOT / "data" / "demo" / "endoscopy" / "synthetic-0001.webp"
    trained = "How many polyps are visible and is there any text?"
    result = done("asr", "live", "--image", frame, "--question", trained, "--json")
    assert [step["name"] for step in result.json["steps"]] == ["direct", "atomic", "atomic", "revise", "select"]
    assert all(step["output"] for step in result.json["steps"])
    assert "not trained" not in result.err
    result = done("asr", "live", "--image", frame, "--question", "Is this benign?", "--variant", "self")
    assert "not trained for this question, and its answer may mean nothing: Is this benign?" in result.err
