"""Tiny VLMs of every family, loaded once, and frames to ask them about."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.domain.vlm import Ask
from backend.vlm.loading import LocalSpec
from backend.vlm.transformers_local import TransformersLocal, load_vlm
from tests.vlm.tiny_models import FAMILIES

Vlms = Callable[[str], TransformersLocal]

QUESTIONS = ("Why?", "How many polyps?", "Where is it, and what colour has it?", "Is there text?")


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return where a tiny VLM of a family lies; made when first asked for."""
    return cache(lambda family: FAMILIES[family](tmp_path_factory.mktemp(family)))


@pytest.fixture(scope="session")
def vlms(folders: Callable[[str], Path]) -> Vlms:
    """Return a loaded tiny VLM of a family."""
    return cache(lambda family: load_vlm(LocalSpec(str(folders(family)), family)))


@pytest.fixture(scope="session")
def frames(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three frames of blurred noise, one of another shape."""
    folder = tmp_path_factory.mktemp("frames")
    paths = []
    for number, (width, height) in enumerate([(56, 56), (84, 56), (56, 56)]):
        noise = np.random.default_rng(number).integers(0, 255, (height // 7, width // 7, 3), dtype=np.uint8)
        paths.append(folder / f"{number}.png")
        Image.fromarray(noise).resize((width, height)).save(paths[-1])
    return paths


@pytest.fixture
def asks(frames: list[Path]) -> list[Ask]:
    """Every question about every frame, frames taking turns."""
    return [Ask(frame, question) for question in QUESTIONS for frame in frames]
