"""Calling the command line as a user does: in this process where that will do, else as a process of its own."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from backend.cli.app import run
from tests.conftest import ROOT


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on stdout."""
        return json.loads(self.out)


def call(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
    with redirect_stdout(out), redirect_stderr(err), patch("sys.stdin", source):
        code = run([str(argument) for argument in arguments])
    return Result(code, out.getvalue(), err.getvalue())


def done(*arguments: str | Path) -> Result:
    """Run a command that has to succeed."""
    result = call(*arguments)
    assert result.code == 0, result.err
    return result


def start(*arguments: str | Path, **environment: str) -> "subprocess.Popen[str]":
    """Start a command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "backend", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: "subprocess.Popen[str]") -> Result:
    """Wait for a started command."""
    out, err = process.communicate(timeout=120)
    return Result(process.returncode, out, err)
