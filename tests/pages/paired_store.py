"""A small store for page tests: three samples on two images, and three VLMs with known faults.

On sample 22 (two polyps, a box artifact) "Parted VLM" is right together and wrong on a part,
"Steady VLM" is right throughout, and "Silent <b>VLM</b>" says nothing together, its call for
the first part fails, and the second part is left out of its file. On sample 33 it gives a long answer
that holds Markdown and HTML.
"""

from pathlib import Path
from typing import Any

from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from tests.services.endoca_files import manifest_lines, prediction_lines, write_jsonl

SUITE = "drawn"
STEADY, PARTED, SILENT = "Steady VLM", "Parted VLM", "Silent <b>VLM</b>"
TRICKY = "![picture](http://example.com/x.png) <script>alert(1)</script> $x$ " + "and more of it " * 40

Line = dict[str, Any]


def make_store(path: Path) -> None:
    """Write the store and close it."""
    folder = path.parent
    with open_store(path) as store:
        manifest = write_jsonl(folder / f"{SUITE}.jsonl", manifest_lines())
        import_endoca(store, [SourceFile.at(manifest)])
        answers = write_jsonl(folder / "answers.jsonl", _predictions())
        import_endoca(store, [SourceFile.at(answers)])


def make_empty_store(path: Path) -> None:
    """Write a store with the printed tables and nothing else."""
    open_store(path).close()


def _predictions() -> list[Line]:
    return [*prediction_lines(STEADY), *prediction_lines(PARTED, _parted), *_silent()]


def _parted(line: Line) -> str:
    return "3" if line["probe_id"] == "22::atomic::0" else str(line["gold_answer"])


def _silent() -> list[Line]:
    lines = {line["probe_id"]: line for line in prediction_lines(SILENT)}
    lines["22::complex"]["prediction"] = ""
    lines["22::atomic::0"] |= {"prediction": "", "error": "timeout after 60 s"}
    del lines["22::atomic::1"]
    lines["33::complex"]["prediction"] = TRICKY
    return list(lines.values())
