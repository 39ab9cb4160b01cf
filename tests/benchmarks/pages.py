"""Server time of each page, and the store's queries against the same in pandas in memory.

    python -m tests.benchmarks.pages [--answers 305000 1000000] [--manifest endoca_core.jsonl.gz] [--runs 20]

A store of each size is filled through the normal import. A page is timed as the server runs
it: *cold* with nothing kept from before, *cached* as a rerun of the same view. A query is
timed in the store and in pandas over frames that hold the same rows, in turn.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from backend.store import queries, unit_lists
from backend.store.filters import UnitFilter
from backend.store.store import Store
from tests.benchmarks.material import manifest, predictions, write
from tests.conftest import ROOT

PAGES = ("overview", "endoca", "case", "data")


def fill(folder: Path, n_answers: int, source: Path | None) -> Path:
    """Make a store of at least ``n_answers`` answers and return its path."""
    lines = manifest(source)
    path = folder / f"{n_answers}.duckdb"
    with open_store(path) as store:
        import_endoca(store, [SourceFile.at(write(folder / "endoca_core.jsonl", lines))])
        for number in range(-(-n_answers // len(lines))):
            file = write(folder / "predictions.jsonl", predictions(lines, f"VLM {number}", number))
            import_endoca(store, [SourceFile.at(file)])
    return path


def milliseconds(work: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the median and the 95th percentile of ``runs`` timings."""
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - start))
    return float(np.median(taken)), float(np.percentile(taken, 95))


def time_pages(runs: int) -> None:
    """Print the server time of each page over the store named in PARALLAX_STORE."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    from backend.settings import store_path
    from pages.ui.resources import forget_drawings

    with open_store(store_path()) as store:
        unit = store.value("SELECT min(unit_id) FROM units")
    print(f"{'page':<10}{'cold p50':>10}{'p95':>8}{'cached p50':>12}{'p95':>8}   (ms)")
    for page in PAGES:
        app = AppTest.from_file(str(ROOT / "pages" / "ui" / "main.py"), default_timeout=60)
        app.session_state["acknowledged"] = True
        app.run()
        if page == "case":
            app.query_params["unit"] = unit
        app.switch_page(str(ROOT / "pages" / f"{page}.py")).run()
        assert not app.exception, app.exception

        def cold(app: AppTest = app) -> None:
            st.cache_data.clear()
            forget_drawings()
            app.run()

        cold_times, cached_times = milliseconds(cold, runs), milliseconds(app.run, runs)
        print(f"{page:<10}{cold_times[0]:>10.0f}{cold_times[1]:>8.0f}{cached_times[0]:>12.0f}{cached_times[1]:>8.0f}")


def pandas_frames(store: Store) -> dict[str, pd.DataFrame]:
    """Return the store's tables in memory, names and codes as categories, as a careful pandas user would."""
    outcomes = store.read("SELECT o.*, u.suite FROM outcomes o JOIN units u USING (unit_id)")
    atoms = store.read("SELECT run_id, image_id, question_class, correct, status FROM scores WHERE role = 'atomic'")
    for frame in (outcomes, atoms):
        for column in ("run_id", "image_id", "outcome", "question_class", "status", "suite"):
            if column in frame:
                frame[column] = frame[column].astype("category")
    probes = store.read("SELECT unit_id, question, reference FROM probes WHERE role = 'complex'")
    return {"outcomes": outcomes, "atoms": atoms, "probes": probes}


def time_queries(store: Store, runs: int) -> None:
    """Print each query's time in the store and in pandas, and their ratio."""
    frames = pandas_frames(store)
    outcomes, atoms, probes = frames["outcomes"], frames["atoms"], frames["probes"]
    core = UnitFilter(suite="core")

    def sums_in_pandas() -> object:
        every = outcomes["n_atoms_correct"] == outcomes["n_atoms"]
        columns: dict[str, Any] = {
            "n_units": np.ones(len(outcomes), dtype=np.int64),
            "n_atomic": outcomes["n_atoms"],
            "n_complex_correct": outcomes["complex_correct"],
            "n_atomic_correct": outcomes["n_atoms_correct"],
            "n_all_atomic_correct": every,
            "n_joint_correct": every & outcomes["complex_correct"],
        }
        rows = outcomes[["run_id", "image_id"]].assign(**columns)
        return rows.groupby(["run_id", "image_id"], observed=True).sum()

    def atoms_in_pandas() -> object:
        return atoms.groupby(["run_id", "question_class", "image_id"], observed=True)["correct"].agg(["size", "sum"])

    def counts_in_pandas() -> object:
        return outcomes.groupby(["run_id", "outcome"], observed=True).size()

    def page_in_pandas() -> object:
        chosen = outcomes[(outcomes["complexity"] == 2) & (outcomes["outcome"] == "inconsistent")]
        units = chosen.groupby("unit_id").agg(n_runs=("run_id", "size"), n_right=("complex_correct", "sum"))
        return units.sort_index().iloc[:50].join(probes.set_index("unit_id"))

    pairs: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("metrics: sums by run, image", lambda: queries.image_sums(store, core, ["run_id"]), sums_in_pandas),
        (
            "heat table: sums by class",
            lambda: queries.atom_sums(store, core, ["run_id", "question_class"]),
            atoms_in_pandas,
        ),
        ("outcome bars", lambda: queries.outcome_counts(store, core), counts_in_pandas),
        (
            "one page of filtered units",
            lambda: unit_lists.unit_page(
                store, UnitFilter(suite="core", complexities=(2,), outcomes=("inconsistent",)), offset=0, limit=50
            ),
            page_in_pandas,
        ),
    ]
    print(f"{'query':<30}{'store p50':>10}{'pandas p50':>12}{'ratio':>8}   (ms)")
    for name, in_store, in_pandas in pairs:
        in_store()
        in_pandas()
        of_store, of_pandas = milliseconds(in_store, runs)[0], milliseconds(in_pandas, runs)[0]
        print(f"{name:<30}{of_store:>10.0f}{of_pandas:>12.0f}{of_store / of_pandas:>8.2f}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, nargs="+", default=[305_000, 1_000_000])
    parser.add_argument("--manifest", type=Path, default=None)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    for n_answers in options.answers:
        with tempfile.TemporaryDirectory() as name:
            path = fill(Path(name), n_answers, options.manifest)
            os.environ["PARALLAX_STORE"] = str(path)
            with open_store(path) as store:
                print(f"\n{store.value('SELECT count(*) FROM answers'):,} answers")
                time_queries(store, options.runs)
            time_pages(options.runs)


if __name__ == "__main__":
    main()
