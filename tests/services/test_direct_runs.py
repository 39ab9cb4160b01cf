"""Promises of what is looked at where nothing asks for Revise or Select runs: the direct answers, each unit once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend.domain.records import Stage
from backend.services.demo.built_in import put_demo
from backend.services.demo.shipped import DEMO_SUITE
from backend.services.endoca_series import group_table, outcome_table, series_table
from backend.services.headlines import headlines
from backend.store.filters import UnitFilter
from backend.store.store import Store
from backend.store.unit_lists import unit_page
from tests.services.demo_files import N_UNITS, make_demo, ship

SUITE = UnitFilter(suite=DEMO_SUITE)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Direct runs of the Box VLM and the blind baseline, and what both variants of ASR made of the first."""
    return make_demo(tmp_path_factory.mktemp("demo") / "demo")


@pytest.fixture
def store(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    ship(demo, monkeypatch)
    with Store.create(tmp_path / "store.duckdb") as made:
        put_demo(made, attach=False)
        yield made


def runs_of(store: Store, stage: Stage) -> tuple[str, ...]:
    return tuple(
        row[0] for row in store.rows("SELECT run_id FROM runs WHERE suite = ? AND stage = ?", [DEMO_SUITE, stage])
    )


def test_figures_show_each_vlm_once(store: Store) -> None:
    assert series_table(store, SUITE)["label"].tolist() == ["Box VLM", "Blind baseline"]
    assert set(outcome_table(store, SUITE)["run_id"]) == set(runs_of(store, Stage.DIRECT))


def test_a_group_does_not_count_a_vlms_units_again_for_each_revision(store: Store) -> None:
    groups = group_table(store, SUITE).set_index("vlm_group")
    assert (groups.at["demo", "n_runs"], groups.at["demo", "n_units"]) == (1, N_UNITS)


def test_a_list_of_units_counts_direct_runs(store: Store) -> None:
    assert set(unit_page(store, SUITE, offset=0, limit=99)["n_runs"]) == {2}
    apart = unit_page(store, replace(SUITE, outcomes=("inconsistent",)), offset=0, limit=99)
    [direct] = store.rows(
        "SELECT list(DISTINCT unit_id ORDER BY unit_id) FROM outcomes JOIN runs USING (run_id) "
        "WHERE stage = 'direct' AND outcome = 'inconsistent'"
    )
    assert sorted(apart["unit_id"]) == direct[0]


def test_a_revised_run_is_shown_where_it_is_asked_for(store: Store) -> None:
    revised = runs_of(store, Stage.REVISE)
    assert series_table(store, replace(SUITE, runs=revised))["label"].tolist() == ["Box VLM, ASR-Revise"]
    withheld = unit_page(store, replace(SUITE, decision="abstain"), offset=0, limit=99)
    assert set(withheld["complexity"]) == {2}


def test_the_widest_gap_is_that_of_direct_answers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.services.headlines.FEWEST_UNITS", 3)
    assert [gap.label for gap in headlines(store).gaps if gap.suite == DEMO_SUITE] == ["Box VLM"]
