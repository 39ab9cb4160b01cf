"""The frames the VLM in the box learns from: drawn when needed, kept in a work folder.

A frame is kept as the vision tower sees it, with what each of its patches is called and with
its references. Frames are drawn in
blocks by several processes; a block that exists is not drawn again.
"""

__all__ = [
    "BLOCK",
    "Picture",
    "Pictures",
    "as_seen",
    "draw_pictures",
    "endoscopy_picture",
    "surgical_pictures",
]

import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from backend.demo import endoscopy as scope
from backend.demo.architecture import IMAGE_SIZE
from backend.demo.endoscopy_questions import facts_of
from backend.demo.laparoscopy import draw_laparoscopy
from backend.demo.patch_names import endoscopy_names, surgical_names
from backend.demo.scenes import Split, seed_of
from backend.demo.surgical_questions import scene_of
from backend.domain.progress import Report
from backend.surgcheck.cue_drawing import draw_cue
from backend.surgcheck.question_pairs import Pair, all_pairs

BLOCK = 100
"""Frames a file."""

DRAWN_CUES = 2
"""Copies of a laparoscopy-like frame with a cue drawn in, beside the frame itself."""

Picture = tuple[NDArray[np.uint8], NDArray[np.uint8], Any]
"""One picture's pixels, coverage and facts, as in `Pictures`."""


@dataclass(frozen=True, slots=True, eq=False)
class Pictures:
    """Drawn pictures, as the vision tower sees them."""

    pixels: NDArray[np.uint8]
    """(n, IMAGE_SIZE, IMAGE_SIZE, 3), RGB."""
    coverage: NDArray[np.uint8]
    """(n, names, rows, columns); what each patch is called, as in `patch_names`."""
    facts: list[Any]
    """Of an endoscopy-like frame its references by class; of a laparoscopy-like one a list of
    [task, original, less-biased, reference]."""


def draw_pictures(folder: Path, kind: str, split: Split, count: int, workers: int, report: Report) -> Pictures:
    """Return the first frames of a split, drawing those that are not in the work folder yet.

    Args:
        folder: The work folder.
        kind: ``endoscopy`` or ``laparoscopy``.
        split: Never `Split.TEST` for training.
        count: Frames, rounded up to whole blocks of 100. A laparoscopy-like frame gives up to three pictures.
        workers: Processes that draw.
        report: Told of frames drawn. Where it raises, blocks being drawn are finished and kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    blocks = range(-(-count // BLOCK))
    paths = [folder / f"{kind}-{split}-{block:04}.npz" for block in blocks]
    missing = [block for block in blocks if not paths[block].exists()]
    stage = f"drawing {kind}-like frames ({split})"
    if missing:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            drawn = [pool.submit(_draw_block, paths[block], kind, split, block) for block in missing]
            try:
                for number, block_drawn in enumerate(drawn):
                    report(stage, (len(blocks) - len(missing) + number) * BLOCK, count)
                    block_drawn.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    report(stage, count, count)
    pixels, coverage, facts = zip(*map(_load_block, paths), strict=True)
    return Pictures(np.concatenate(pixels), np.concatenate(coverage), [fact for block in facts for fact in block])


def _draw_block(path: Path, kind: str, split: Split, block: int) -> None:
    cv2.setNumThreads(1)
    pictures = [
        picture
        for number in range(block * BLOCK, (block + 1) * BLOCK)
        for picture in ([endoscopy_picture(split, number)] if kind == "endoscopy" else surgical_pictures(split, number))
    ]
    temporary = path.with_name(f"{path.stem}.{os.getpid()}.partial.npz")
    np.savez(
        temporary,
        pixels=np.stack([pixels for pixels, _, _ in pictures]),
        coverage=np.stack([coverage for _, coverage, _ in pictures]),
        facts=np.array(json.dumps([facts for _, _, facts in pictures])),
    )
    temporary.replace(path)


def _load_block(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[Any]]:
    with np.load(path) as block:
        return block["pixels"], block["coverage"], json.loads(str(block["facts"]))


def endoscopy_picture(split: Split, number: int) -> Picture:
    """Return an endoscopy-like frame with its references."""
    frame = scope.draw_endoscopy(split, number)
    return as_seen(frame.pixels), endoscopy_names(frame), facts_of(frame)


def surgical_pictures(split: Split, number: int) -> Iterator[Picture]:
    """Yield a laparoscopy-like frame with its cue-less questions, then copies with a cue drawn in.

    A copy shows one cue and has the questions that point with it; at most `DRAWN_CUES` of the
    frame's drawn cues are chosen, each with the chance its number of questions gives it.
    """
    drawn = draw_laparoscopy(split, number)
    scene = scene_of(drawn, f"{number + 1}_1.jpg")
    pairs = all_pairs(scene).pairs
    yield as_seen(drawn.frame.pixels), surgical_names(drawn), [_row(pair) for pair in pairs if pair.drawing is None]
    pointed: dict[tuple[int | None, str], list[Pair]] = {}
    for pair in pairs:
        if pair.drawing is not None:
            pointed.setdefault((pair.annotation_id, pair.cue), []).append(pair)
    rng = np.random.default_rng(seed_of("cues", split, number))
    keys = list(pointed)
    # A tool has up to seven questions, a structure one: tools are pointed at more often.
    weights = np.array([len(pointed[key]) for key in keys], float)
    count = min(DRAWN_CUES, len(keys))
    for index in rng.choice(len(keys), count, replace=False, p=weights / weights.sum()) if count else ():
        asked = pointed[keys[index]]
        indicated = drawn.annotations[asked[0].annotation_id - 1].thing  # type: ignore[operator]
        pixels = draw_cue(drawn.frame.pixels, asked[0].drawing)  # type: ignore[arg-type]
        yield as_seen(pixels), surgical_names(drawn, indicated), [_row(pair) for pair in asked]


def _row(pair: Pair) -> list[str]:
    return [pair.task, pair.original, pair.less_biased, pair.reference]


def as_seen(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return pixels squeezed to the VLM's size, bicubic as its own processor does it."""
    return np.asarray(Image.fromarray(pixels).resize((IMAGE_SIZE, IMAGE_SIZE), Image.Resampling.BICUBIC))
