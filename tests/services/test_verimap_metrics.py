"""Metrics by task, VLMs and data set: the hand-made records exactly, and nothing is added up that must stay apart."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.errors import AppError
from backend.services.endoca_series import records
from backend.services.ingest.files import SourceFile
from backend.services.ingest.verimap_records import import_verification_records
from backend.services.verimap_metrics import verimap_metrics
from backend.store.store import Store
from backend.verimap.outcomes import Policy, Treatment
from backend.verimap.vocabulary import task_of_name
from tests.services.verification_store import ATLAS, BEACON, MODALITY, OWN, VQA_RAD, make_verification_store

POLICIES = {
    "uncertain_is_reject": Policy(),
    "drop_uncertain_and_missing": Policy(uncertain=Treatment.DROP),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with make_verification_store(tmp_path_factory.mktemp("metrics") / "metrics.duckdb") as made:
        yield made


@pytest.mark.parametrize("name", POLICIES)
def test_the_hand_made_records_have_their_expected_metrics(shared: Path, tmp_path: Path, name: str) -> None:
    folder = shared / "data" / "medvqa"
    expected = json.loads((folder / "handmade_verifier_goldens.json").read_text("utf-8"))["values"]
    with Store.create(tmp_path / "handmade.duckdb") as made:
        import_verification_records(made, [SourceFile.at(folder / "handmade_verifier_records.jsonl")])
        by_task = {row["task"]: row for row in records(verimap_metrics(made, ["task"], POLICIES[name]))}
        [whole] = records(verimap_metrics(made, ["model", "dataset"], POLICIES[name]))
    for group, values in expected.items():
        row: dict[str, Any] = whole if group == "ALL" else by_task[task_of_name(group)]
        golden = values[name]
        counts = {"N": "n", "dropped": "n_dropped", "TP": "tp", "TN": "tn", "FP": "fp", "FN": "fn"}
        assert {key: row[column] for key, column in counts.items()} == {key: golden[key] for key in counts}
        for key, column in {"acc": "accuracy", "fpr": "fpr", "fnr": "fnr", "bias": "bias", "dskew": "dskew"}.items():
            value = None if row[column] is None else round(row[column], 6)
            assert value == golden[key], (group, key)


def test_a_row_a_run_tells_turns_and_pairings_apart(store: Store) -> None:
    rows = records(verimap_metrics(store, ["model", "dataset"], Policy()))
    keys = [(row["suite"], row["generator"], row["verifier"], row["turn"]) for row in rows]
    assert keys == [
        (VQA_RAD, ATLAS, ATLAS, 0),
        (VQA_RAD, ATLAS, ATLAS, 1),
        (VQA_RAD, ATLAS, ATLAS, 2),
        (VQA_RAD, BEACON, ATLAS, 0),
        (VQA_RAD, ATLAS, BEACON, 0),
        (VQA_RAD, BEACON, BEACON, 0),
        (OWN, ATLAS, ATLAS, 0),
        (OWN, ATLAS, BEACON, 0),
    ]
    assert all(row["n_runs"] == 1 and row["run_id"] for row in rows)
    assert [row["pairing"] for row in rows].count("cross") == 3


def test_counts_of_two_vlms_are_added_up_where_asked_and_what_was_added_is_none(store: Store) -> None:
    rows = records(verimap_metrics(store, ["task"], Policy()))
    [own] = [row for row in rows if (row["task"], row["pairing"], row["turn"]) == (MODALITY, "self", 0)]
    assert [own[name] for name in ("n", "tp", "tn", "fp", "fn", "n_runs")] == [8, 4, 1, 3, 0, 2]
    assert own["generator"] is None and own["verifier"] is None and own["suite"] is None and own["run_id"] is None


def test_origins_are_never_added_up(store: Store) -> None:
    rows = records(verimap_metrics(store, [], Policy()))
    kinds = [(row["pairing"], row["origin"], row["turn"]) for row in rows]
    assert len(kinds) == len(set(kinds)) == 6
    assert all(row["suite"] is None for row in rows)


def test_an_unknown_breakdown_names_the_known_ones(store: Store) -> None:
    with pytest.raises(AppError) as raised:
        verimap_metrics(store, ["modality"], Policy())
    assert raised.value.hint == "Known: task, model, dataset."
