"""How fast predictions are imported, scored and stored, against a plain loop over the same scorer.

    python -m tests.benchmarks.import_and_score [--vlms 11] [--manifest endoca_core.jsonl.gz]

Prints rows a second of the whole import (file, check, score, store) and of a plain Python loop
that reads the same lines and scores them one by one, and the ratio of the two times.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from backend.endoca.scoring import Atom, score_answer
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from tests.benchmarks.material import manifest, predictions, write


def plain_loop(path: Path) -> int:
    """Read and score a prediction file line by line, keeping nothing; return the number of right answers."""
    right = 0
    with path.open(encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            if line["probe_kind"] == "complex_direct":
                atoms = tuple(Atom(atom["question_class"], atom["raw_answer"]) for atom in line["gold_atoms"])
            else:
                atoms = (Atom(line["gold_question_class"], line["gold_answer"], line["question"]),)
            right += score_answer(line["question"], atoms, line["prediction"]).correct
    return right


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vlms", type=int, default=11)
    parser.add_argument("--manifest", type=Path, default=None)
    options = parser.parse_args()
    lines = manifest(options.manifest)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [
            write(folder / f"vlm{number}.jsonl", predictions(lines, f"VLM {number}", seed=number))
            for number in range(options.vlms)
        ]
        with open_store(folder / "store.duckdb") as store:
            import_endoca(store, [SourceFile.at(write(folder / "endoca_core.jsonl", lines))])
            start = time.perf_counter()
            import_endoca(store, [SourceFile.at(file) for file in files])
            whole = time.perf_counter() - start
        start = time.perf_counter()
        for file in files:
            plain_loop(file)
        loop = time.perf_counter() - start
    rows = len(lines) * options.vlms
    print(f"{rows:,} answers of {options.vlms} VLMs")
    print(f"import, score, store: {whole:.2f} s, {rows / whole:,.0f} rows/s")
    print(f"plain loop, no store: {loop:.2f} s, {rows / loop:,.0f} rows/s")
    print(f"ratio: {whole / loop:.2f}")


if __name__ == "__main__":
    main()
