"""What tests of the command line share: a place for a store, and one that holds two VLMs."""

from pathlib import Path

import pytest

from tests.cli.calling import done
from tests.services.endoca_files import Line, manifest_lines, prediction_lines, write_jsonl


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store can be made."""
    return tmp_path / "store.duckdb"


def answer_of_half(line: Line) -> str:
    """Right complex answers, wrong parts but for text."""
    if line["probe_kind"] == "complex_direct" or line["gold_question_class"] == "text_presence":
        return str(line["gold_answer"])
    return ""


@pytest.fixture
def filled(tmp_path: Path, store: Path) -> Path:
    """A store with the suite ``drawn``, answered by 'Good' (the references) and 'Half' (`answer_of_half`)."""
    done("import", "endoca", write_jsonl(tmp_path / "endoca_drawn.jsonl.gz", manifest_lines()), "--store", store)
    answers = [*prediction_lines("Good"), *prediction_lines("Half", answer_of_half)]
    done("import", "endoca", write_jsonl(tmp_path / "answers.jsonl", answers), "--store", store)
    return store
