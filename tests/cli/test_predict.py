"""``predict`` and ``import run``: a suite answered into a folder, and the folder into the store."""

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from backend.cli import predict
from backend.domain.vlm import Vlm
from backend.services.runs import surroundings
from backend.vlm.registry import Registry
from tests.cli.calling import call, done, finish, start
from tests.services.endoca_files import manifest_lines, write_jsonl
from tests.services.run_files import Parrot, draw_images
from tests.vlm.openai_server import serving

ENTRY = """
- name: {name}
  group: general_open
  family: rote
  licence: none
  answers: yes
  attention: it has none
  gradients: it has none
  openai: {{base_url: "{url}", model: parrot-1}}
"""


@pytest.fixture
def parrot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parrot:
    """A VLM named Parrot in the registry."""
    (tmp_path / "models.yaml").write_text(ENTRY.format(name="Parrot", url="http://localhost:1/v1"))
    monkeypatch.setenv("PARALLAX_MODELS", str(tmp_path / "models.yaml"))
    made = Parrot()

    def open_vlm(self: Registry, name: str) -> Vlm:
        return made

    monkeypatch.setattr(Registry, "open_vlm", open_vlm)
    return made


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """The nine questions as a file, and their images beside it in ``images``."""
    draw_images(tmp_path / "images")
    return write_jsonl(tmp_path / "endoca_drawn.jsonl", manifest_lines())


@pytest.fixture
def suite(manifest: Path, store: Path) -> Path:
    """A store that holds them."""
    done("import", "endoca", manifest, "--images", manifest.parent / "images", "--store", store)
    return store


def test_a_suite_is_answered_and_taken_into_the_store(suite: Path, parrot: Parrot, tmp_path: Path) -> None:
    out = tmp_path / "run"
    said = done("predict", "--model", "parrot", "--suite", "drawn", "--out", out, "--store", suite, "--json").json
    assert (said["model"], said["suite"], said["stage"], said["folder"]) == ("Parrot", "drawn", "direct", str(out))
    assert [said[f"n_{name}"] for name in ("planned", "done", "failed", "missing")] == [9, 9, 0, 0]
    [run] = done("import", "run", out, "--store", suite, "--json").json["runs"]
    assert (run["run_id"], run["n_new"], run["n_missing"]) == (said["run_id"], 9, 0)
    [row] = done("metrics", "endoca", "--store", suite, "--json").json["rows"]
    assert (row["model"], row["origin"], row["run_id"]) == ("Parrot", "precomputed", said["run_id"])


def test_a_manifest_file_needs_no_store(manifest: Path, parrot: Parrot, tmp_path: Path) -> None:
    images, nowhere = manifest.parent / "images", tmp_path / "no.duckdb"
    arguments = ("--model", "Parrot", "--suite", manifest, "--images", images, "--out", tmp_path / "run")
    assert "9 of 9 answered" in done("predict", *arguments, "--store", nowhere).out
    assert not nowhere.exists()


def test_the_store_is_free_while_the_vlm_is_asked(
    suite: Path, parrot: Parrot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []

    def look(asks: object, decoding: object) -> list[object]:
        found.append(finish(start("metrics", "endoca", "--store", suite)).code)
        return original(asks, decoding)  # type: ignore[arg-type, return-value]

    original = parrot.answer_all
    monkeypatch.setattr(parrot, "answer_all", look)
    done("predict", "--model", "Parrot", "--suite", "drawn", "--out", tmp_path / "run", "--store", suite)
    assert set(found) == {0}


def test_a_dry_run_shows_the_plan_and_leaves_nothing(suite: Path, parrot: Parrot, tmp_path: Path) -> None:
    arguments = ("predict", "--model", "Parrot", "--suite", "drawn", "--limit", "1", "--dry-run", "--store", suite)
    out = tmp_path / "run"
    said = done(*arguments, "--out", out, "--json").json
    assert (said["n_units"], said["n_planned"], said["n_images"], said["missing_images"]) == (1, 2, 1, [])
    assert [prompt.endswith("Is any lettering visible?") for prompt in said["prompts"]] == [True, False]
    shown = done(*arguments, "--out", out).out
    assert "2 questions in 1 unit" in shown
    assert said["prompts"][0] in shown
    assert not out.exists()
    assert not parrot.batches


def test_a_folder_of_images_that_cannot_be_one_is_said(manifest: Path, parrot: Parrot) -> None:
    result = call("predict", "--model", "Parrot", "--suite", manifest, "--images", "i" * 300)
    assert (result.code, f"There is no folder {'i' * 300}" in result.err) == (2, True)


def test_a_run_resumed_under_another_dtype_says_so(
    suite: Path, parrot: Parrot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("predict", "--model", "Parrot", "--suite", "drawn", "--out", tmp_path / "run", "--store", suite)
    for limit, dtype in (("1", "float32"), ("9", "bfloat16")):
        monkeypatch.setattr(surroundings, "vlm_facts", lambda spec, told=dtype: {"dtype": told})
        shown = done(*arguments, "--limit", limit, "--resume").out
        assert ("Answered under more than one dtype: float32; bfloat16." in shown) == (dtype == "bfloat16")


def test_missing_images_are_said_by_name_before_the_run(manifest: Path, parrot: Parrot, tmp_path: Path) -> None:
    (tmp_path / "images" / "frame-b.png").unlink()
    arguments = ("predict", "--model", "Parrot", "--suite", manifest, "--images", tmp_path / "images")
    dry = done(*arguments, "--dry-run", "--json").json
    assert dry["missing_images"] == ["images/frame-b.jpg"]
    result = done(*arguments, "--out", tmp_path / "run")
    assert "1 of 2 images are not on this machine; the 4 questions" in result.err
    assert "images/frame-b.jpg" in result.err
    assert "5 of 9 answered, 4 failed" in result.out
    assert "4 × The image … is not on this machine." in result.out


def test_a_run_goes_into_a_folder_of_its_own_name_by_default(
    suite: Path, parrot: Parrot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "DATA", tmp_path / "data")
    said = done("predict", "--model", "Parrot", "--suite", "drawn", "--store", suite, "--json").json
    assert Path(said["folder"]) == tmp_path / "data" / "runs" / said["run_id"]
    assert (tmp_path / "data" / "runs" / said["run_id"] / "run.json").is_file()


def test_a_second_run_into_a_folder_needs_resume(suite: Path, parrot: Parrot, tmp_path: Path) -> None:
    arguments = ("predict", "--model", "Parrot", "--suite", "drawn", "--out", tmp_path / "run", "--store", suite)
    done(*arguments)
    refused = call(*arguments)
    assert (refused.code, "--resume" in refused.err) == (2, True)
    n_batches = len(parrot.batches)
    assert done(*arguments, "--resume", "--json").json["n_done"] == 9
    assert len(parrot.batches) == n_batches


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "Nobody", "--suite", "drawn"), "There is no VLM Nobody"),
        (("--model", "Parrot", "--suite", "core"), "There is no suite core"),
        (("--model", "Parrot", "--suite", "core.jsonl"), "There is no file core.jsonl"),
        (("--model", "Parrot", "--suite", "c" * 300), f"There is no suite {'c' * 300}"),
        (("--model", "Parrot", "--suite", f"{'c' * 300}.jsonl"), f"There is no file {'c' * 300}.jsonl"),
        (("--model", "Parrot", "--suite", "~nobody-here/core"), "There is no suite ~nobody-here/core"),
        (("--model", "Parrot", "--suite", "drawn", "--images", "."), "--images goes with a manifest file"),
        (("--model", "Parrot", "--suite", "drawn", "--limit", "0"), "--limit"),
    ],
)
def test_wrong_wishes_are_said_with_the_right_ones(
    suite: Path, parrot: Parrot, arguments: tuple[str, ...], says: str
) -> None:
    result = call("predict", *arguments, "--store", suite)
    assert (result.code, result.out) == (2, "")
    assert says in result.err


def test_importing_a_folder_that_is_none_says_so(suite: Path, tmp_path: Path) -> None:
    result = call("import", "run", tmp_path, "--store", suite)
    assert (result.code, "no run folder" in result.err) == (2, True)


def test_ctrl_c_ends_after_the_batch_it_is_at_and_resume_goes_on_there(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came, go = threading.Event(), threading.Event()
    with serving() as server:
        answer = server.answer

        def held(*arguments: Any) -> None:
            came.set()
            go.wait(60)
            answer(*arguments)

        monkeypatch.setattr(server, "answer", held)
        (tmp_path / "models.yaml").write_text(ENTRY.format(name="Served", url=server.base_url))
        asked = ("predict", "--model", "Served", "--suite", manifest, "--images", tmp_path / "images")
        arguments = (*asked, "--out", tmp_path / "run", "--batch", "1")
        process = start(*arguments, PARALLAX_MODELS=str(tmp_path / "models.yaml"))
        assert came.wait(60)
        process.send_signal(signal.SIGINT)
        go.set()
        stopped = finish(process)
        assert (stopped.code, stopped.out) == (130, "")
        assert "1 of 9 answers are kept" in stopped.err
        assert "--resume" in stopped.err
        resumed = finish(start(*arguments, "--resume", "--json", PARALLAX_MODELS=str(tmp_path / "models.yaml")))
        assert (resumed.code, resumed.json["n_done"], len(server.seen)) == (0, 9, 9)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    service = server.base_url.split("/")[2]
    how = {"temperature": "0", "token limit": "max_tokens"}
    assert record["vlm"]["details"] == {"service": service, "model": "parrot-1", **how}
    assert [session["n_asked"] for session in record["sessions"]] == [1, 8]
