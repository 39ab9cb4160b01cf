"""What runs are called in sentences and tables."""

from collections.abc import Mapping

from backend.services.explore import run_label, run_labels


def run(tail: str, setting: str, *, suite: str = "slake", stage: str = "verify") -> Mapping[str, object]:
    return {
        "run_id": f"Atlas.{suite}.{stage}.{tail}",
        "suite": suite,
        "vlm": "Atlas",
        "setting": setting,
        "stage": stage,
    }


def test_a_run_is_called_in_words_without_the_hash_of_the_run_it_was_made_from() -> None:
    assert run_label(run("aaaaaaaaaa", "answers of Beacon, turn 1 (0123456789)")) == (
        "Atlas, answers of Beacon, turn 1, verify"
    )
    assert run_label(run("aaaaaaaaaa", "", stage="direct")) == "Atlas"


def test_only_runs_of_a_suite_that_would_be_called_alike_carry_the_hash_of_their_ids() -> None:
    runs = [
        run("aaaaaaaaaa", "answers of Beacon (0123456789)"),
        run("bbbbbbbbbb", "answers of Beacon (9876543210)"),
        run("cccccccccc", "answers of Beacon, turn 1 (9876543210)"),
        run("dddddddddd", "answers of Beacon (0123456789)", suite="vqa-rad"),
    ]
    assert run_labels(runs) == [
        "Atlas, answers of Beacon, verify, aaaaaaaaaa",
        "Atlas, answers of Beacon, verify, bbbbbbbbbb",
        "Atlas, answers of Beacon, turn 1, verify",
        "Atlas, answers of Beacon, verify",
    ]
