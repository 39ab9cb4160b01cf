"""Promises of the overview's headlines of SurgCheck and VeriMap."""

from pathlib import Path

import pytest

from backend.services import parting_headlines
from backend.services.demo.built_in import put_demo
from backend.services.parting_headlines import false_acceptances, widest_drops
from backend.store.store import Store
from tests.services.demo_files import N_PAIRS, make_demo, ship
from tests.services.verification_store import BEACON, OWN, VQA_RAD, make_verification_store


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run over three questions have a headline."""
    monkeypatch.setattr(parting_headlines, "FEWEST_UNITS", 3)


def test_of_each_data_set_the_verifier_that_accepts_most_of_its_own_wrong_answers(few: None, tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "store.duckdb") as store:
        found = {one.suite: one for one in false_acceptances(store)}
    assert [(suite, one.vlm) for suite, one in found.items()] == [(OWN, "Atlas"), (VQA_RAD, BEACON)]
    counts = {suite: (one.accepted.k, one.accepted.n, one.error.k, one.error.n) for suite, one in found.items()}
    assert counts == {OWN: (3, 4, 3, 6), VQA_RAD: (4, 4, 5, 8)}


def test_a_run_over_few_questions_has_no_headline(tmp_path: Path) -> None:
    with make_verification_store(tmp_path / "store.duckdb") as store:
        assert false_acceptances(store) == []


def test_of_each_suite_of_pairs_the_vlm_that_loses_most_without_the_names(
    few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The small demo's VLM says "grasper" to both questions of each pair, and is no blind baseline."""
    ship(make_demo(tmp_path / "demo"), monkeypatch)
    with Store.create(tmp_path / "store.duckdb") as store:
        assert widest_drops(store) == []
        put_demo(store, attach=False)
        [drop] = widest_drops(store)
    assert (drop.vlm, drop.suite, drop.n_pairs) == ("Box VLM", "demo-surgical", N_PAIRS)
    assert drop.original == drop.less_biased
