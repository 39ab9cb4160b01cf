"""What all tests share: the project's root and the licensed data that lies beside it."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("PARALLAX_DEMO", "off")  # a test that wants the built-in data set says so

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Licensed research data that is read and never copied; tests skip where it is absent."""
    folder = Path(os.environ.get("PARALLAX_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("the research data does not lie beside the project (set PARALLAX_SHARED to its folder)")
    return folder
