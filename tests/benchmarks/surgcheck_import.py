"""How fast prediction files of SurgCheck are imported, scored and stored, against a plain loop over the same rows.

    python -m tests.benchmarks.surgcheck_import [--answers 100000] [--original F --less-biased F]

The rows are drawn here from a few wordings, or are those of a real pair of files, told again for as many
VLMs as it takes. Prints rows a second of the whole import (files, pairs, suite, scores, store) and of a loop
that reads the same lines and compares each answer, and the ratio of the two times.
"""

import argparse
import gzip
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.services.ingest.files import SourceFile
from backend.services.ingest.surgcheck import Wanted, import_surgcheck
from backend.services.ingest.surgcheck_names import Variant
from backend.services.ingest.surgcheck_places import PlacedFile
from backend.services.opening import open_store
from backend.surgcheck.answer_text import answer_text
from backend.surgcheck.scoring import exact_match
from tests.benchmarks.material import write

N_PAIRS = 5_000
"""Of the drawn suite."""

TOOLS = ("grasper", "hook", "clipper", "bipolar", "scissors", "irrigator")
VERBS = ("retract", "dissect", "clip", "coagulate", "grasp")

Row = dict[str, Any]


def drawn(variant: Variant, seed: int) -> list[Row]:
    """Return rows about pairs that every variant has in the same order; two thirds of the answers are right."""
    pairs, chance = random.Random(0), random.Random(f"{variant}{seed}")
    rows = []
    for number in range(N_PAIRS):
        tool, verb = pairs.choice(TOOLS), pairs.choice(VERBS)
        named = "tool" if variant is Variant.LESS_BIASED else tool
        rows.append(
            {
                "image": f"{number // 20}_{number}_bbox_lt.jpg",
                "question": f"What action is the {named} in the red box performing?",
                "pred": verb if chance.random() < 2 / 3 else chance.choice(VERBS),
                "gt": verb,
                "ori_img_tag": f"{number // 20}_{number}.jpg",
                "main_tag": "Visual_QA",
                "sub_tag": "Box_Cue",
                "sub_sub_tag": "Action",
            }
        )
    return rows


def real(path: Path) -> list[Row]:
    """Return the rows of a real file."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plain_loop(files: Sequence[Path]) -> int:
    """Read files and compare answers line by line, keeping nothing; return the number of right ones."""
    right = 0
    for path in files:
        with path.open(encoding="utf-8") as file:
            for text in file:
                row = json.loads(text)
                right += exact_match(answer_text(row["pred"]), row["gt"])
    return right


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--original", type=Path, default=None)
    parser.add_argument("--less-biased", type=Path, default=None)
    options = parser.parse_args()
    given = {Variant.ORIGINAL: options.original, Variant.LESS_BIASED: options.less_biased}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_rows = 0
        files: list[Path] = []
        pairs: list[list[PlacedFile]] = []
        while n_rows < options.answers:
            number = len(pairs)
            pair = []
            for variant, path in given.items():
                rows = real(path) if path else drawn(variant, number)
                file = write(folder / f"vlm{number}_{variant}.jsonl", rows)
                pair.append(PlacedFile(SourceFile.at(file), "", variant))
                files.append(file)
                n_rows += len(rows)
            pairs.append(pair)
        with open_store(folder / "store.duckdb") as store:
            start = time.perf_counter()
            for number, pair in enumerate(pairs):
                import_surgcheck(store, pair, Wanted(vlm=f"VLM {number}", suite="benchmark"))
            whole = time.perf_counter() - start
        start = time.perf_counter()
        plain_loop(files)
        loop = time.perf_counter() - start
    print(f"{n_rows:,} answers of {len(pairs)} VLMs")
    print(f"import, score, store: {whole:.2f} s, {n_rows / whole:,.0f} rows/s")
    print(f"plain loop, no store: {loop:.2f} s, {n_rows / loop:,.0f} rows/s")
    print(f"ratio: {whole / loop:.2f}")


if __name__ == "__main__":
    main()
