"""What holds for every command: shared options, exit codes, and who hears what."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from backend.cli.app import run
from backend.settings import SETTINGS
from tests.cli.calling import call, finish, start
from tests.conftest import ROOT
from tests.services.endoca_files import manifest_lines, write_jsonl

HEAVY = {"pandas", "scipy", "plotly", "streamlit", "rich", "torch"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "--store", "{}", "metrics", "endoca"),
        ("metrics", "--json", "--store", "{}", "endoca"),
        ("metrics", "endoca", "--json", "--store", "{}"),
        ("--json", "metrics", "--store", "elsewhere", "endoca", "--store", "{}"),
    ],
)
def test_store_and_json_are_understood_before_and_after_the_command(filled: Path, arguments: tuple[str, ...]) -> None:
    result = call(*(argument.format(filled) for argument in arguments))
    assert result.code == 0
    assert [row["model"] for row in result.json["rows"]] == ["Good", "Half"]


def test_the_setting_names_the_store_where_no_option_does(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARALLAX_STORE", str(filled))
    assert len(call("metrics", "endoca", "--json").json["rows"]) == 2


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("metrics", "nonsense"), ("metrics", "endoca", "--nonsense"), ("import", "endoca")]
)
def test_wrong_usage_is_exit_2_and_silent_on_stdout(arguments: tuple[str, ...]) -> None:
    result = call(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "Usage" in result.err


def test_a_bug_is_exit_1_in_one_line_and_its_place_is_shown_on_request(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with patch("backend.services.explore.endoca_metrics", side_effect=KeyError("lost")):
        result = call("metrics", "endoca", "--store", filled)
        monkeypatch.setenv("PARALLAX_DEBUG", "1")
        shown = call("metrics", "endoca", "--store", filled)
    assert (result.code, result.out, len(result.err.splitlines())) == (1, "", 1)
    assert "KeyError" in result.err
    assert "Traceback" in shown.err
    assert "PARALLAX_DEBUG" in {setting.name for setting in SETTINGS}


def test_every_command_explains_itself_with_an_example() -> None:
    commands = [
        ("init",),
        *((name, "endoca") for name in ("score", "metrics", "compare", "blind", "export", "rescore")),
    ]
    commands += [("import", name) for name in ("endoca", "kvasir", "images")]
    for command in commands:
        result = call(*command, "--help")
        assert result.code == 0
        assert f"python -m backend {' '.join(command)}" in result.out.split("Example")[-1]


def test_control_characters_of_a_file_never_reach_the_terminal(tmp_path: Path, store: Path) -> None:
    lines = [{**line, "model_id": "a\x1b[2Jb", "prediction": "", "error": ""} for line in manifest_lines()]
    result = call("import", "endoca", write_jsonl(tmp_path / "x.jsonl", lines), "--store", store)
    shown = call("metrics", "endoca", "--store", store)
    assert "a[2Jb" in shown.out
    assert "\x1b" not in result.out + result.err + shown.out


@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        (["score", "endoca", "{file}"], {"duckdb", "pyarrow", "pandas", "numpy", "rich", "streamlit"}),
        (["import", "endoca", "{file}", "--store", "{store}"], HEAVY),
        (["init", "--store", "{store}"], HEAVY),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_starts_without_what_it_does_not_need(
    tmp_path: Path, store: Path, command: list[str], unwanted: set[str]
) -> None:
    lines = [{**line, "model_id": "A", "prediction": "no", "error": ""} for line in manifest_lines()]
    file = write_jsonl(tmp_path / "x.jsonl", lines)
    arguments = [part.format(file=file, store=store) for part in command]
    program = (
        "import sys; from backend.cli.app import run; code = run(sys.argv[1:]); "
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", program, *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(ran.stderr.splitlines()[-1].replace("'", '"')))
    assert not loaded & unwanted


def test_ctrl_c_changes_nothing_and_is_exit_130(filled: Path, tmp_path: Path) -> None:
    before = filled.read_bytes()
    line = manifest_lines()[0]
    lines = ({**line, "sample_id": n, "probe_id": f"{n}::complex"} for n in range(60_000))
    process = start("import", "endoca", write_jsonl(tmp_path / "long.jsonl", lines), "--store", filled)
    assert process.stderr is not None
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert first.startswith("Reading")
    assert (result.code, result.out) == (130, "")
    assert "Cancelled; nothing was changed." in result.err
    assert "Traceback" not in result.err
    assert filled.read_bytes() == before


def test_a_reader_that_leaves_early_ends_the_command_quietly(tmp_path: Path) -> None:
    line = {**manifest_lines()[0], "prediction": "no"}
    file = write_jsonl(tmp_path / "many.jsonl", [line] * 5_000)
    process = start("score", "endoca", file)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_a_busy_store_names_the_process_that_holds_it(filled: Path) -> None:
    program = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(filled)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        for command in (("init",), ("metrics", "endoca")):
            result = finish(start(*command, "--store", filled))
            assert (result.code, result.out) == (2, "")
            assert f"in use by process {holder.pid}" in result.err
            assert "try again" in result.err
    finally:
        holder.communicate()
    assert call("metrics", "endoca", "--store", filled).code == 0


def test_run_returns_a_code_and_never_raises() -> None:
    assert run([]) == 2
