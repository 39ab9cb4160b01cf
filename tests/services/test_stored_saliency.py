"""Looks in the store: written, replaced, and gone where the answer they were at is gone."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from backend.errors import AppError
from backend.services.stored_saliency import LookRow, put_looks, put_trace_look, run_looks, trace_looks
from backend.store.store import Store
from backend.vlm.saliency.kept import KeptSaliency

RUN = "Box.demo.direct.0123456789"


def kept(fraction: float, *, with_gradient: bool = True) -> KeptSaliency:
    """One token, one layer, one head, a map of one cell."""
    one = np.array([fraction], dtype=np.float32)
    return KeptSaliency(
        tokens=("yes",),
        fraction=fraction,
        uniform_fraction=0.5,
        gradient_mean=0.25 if with_gradient else None,
        log_likelihood=-0.5,
        token_shares=one,
        token_uniform=one,
        head_shares=one.reshape(1, 1),
        layer_uniform=one,
        token_maps=one.reshape(1, 1, 1),
        layer_maps=one.reshape(1, 1, 1),
        gradient_map=None,
        why_no_gradient="" if with_gradient else "Quantised.",
        why_no_regions="",
        note="",
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "parallax.duckdb") as made:
        with made.write() as cursor:
            for probe, answer in (("a", "yes"), ("b", "no"), ("c", "")):
                cursor.execute("INSERT INTO answers VALUES (?, ?, ?, '')", [RUN, probe, answer])
            for trace in ("0a", "0b"):
                cursor.execute(
                    "INSERT INTO traces (trace_id, unit_id, vlm, variant, prompt_version, origin, record) "
                    "VALUES (?, 'u', 'Box', 'asr', 'endoca-1', 'live', '{}')",
                    [trace],
                )
        yield made


LOOKS = [
    LookRow("a", "yes", kept(0.25), ""),
    LookRow("b", "no", kept(0.75, with_gradient=False), ""),
    LookRow("c", "", None, "Not looked into: the answer is empty."),
]


def put(store: Store, looks: list[LookRow]) -> int:
    with store.write() as cursor:
        return put_looks(cursor, RUN, "{}", looks)


def test_looks_come_back_whole_with_what_could_not_be_had(store: Store) -> None:
    assert put(store, LOOKS) == 3
    found = run_looks(store, ["a", "b", "c", "d"])
    assert {key: look.error for key, look in found.items()} == {(RUN, one.probe_id): one.error for one in LOOKS}
    for one in LOOKS:
        held = found[RUN, one.probe_id].kept
        assert (held.to_json() if held else None) == (one.kept.to_json() if one.kept else None)
    assert store.rows("SELECT n_tokens, fraction, uniform_fraction, gradient_mean FROM saliency ORDER BY probe_id") == [
        (1, 0.25, 0.5, 0.25),
        (1, 0.75, 0.5, None),
        (None, None, None, None),
    ]


def test_looks_without_a_single_number_are_kept_too(store: Store) -> None:
    assert put(store, LOOKS[2:]) == 1
    assert store.rows("SELECT fraction, record FROM saliency") == [(None, None)]


def test_looking_again_replaces_and_says_how_many_changed(store: Store) -> None:
    put(store, LOOKS)
    assert put(store, LOOKS) == 0
    assert put(store, [LOOKS[0]._replace(kept=kept(0.5)), LOOKS[1]]) == 1
    assert store.value("SELECT count(*) FROM saliency") == 3
    assert store.value("SELECT count(*) FROM saliency_facts") == 1


def test_a_look_that_failed_never_takes_the_place_of_a_good_one_at_the_same_answer(store: Store) -> None:
    put(store, LOOKS)
    assert put(store, [LOOKS[0]._replace(kept=None, error="The image is gone."), LOOKS[2]]) == 0
    assert run_looks(store, ["a"])[RUN, "a"].error == ""
    failed_at_another = LookRow("a", "maybe", None, "The image is gone.")
    assert put(store, [failed_at_another]) == 1
    assert run_looks(store, ["a"]) == {}
    assert put(store, [LOOKS[0]]) == 1
    assert run_looks(store, ["a"])[RUN, "a"].error == ""


def test_a_look_at_an_answer_that_was_replaced_is_not_shown(store: Store) -> None:
    put(store, LOOKS)
    with store.write() as cursor:
        cursor.execute("UPDATE answers SET answer = 'maybe' WHERE probe_id = 'a'")
    assert set(run_looks(store, ["a", "b"])) == {(RUN, "b")}


def test_looks_at_a_trace_are_found_by_step_and_position(store: Store) -> None:
    put_trace_look(store, "0a", "direct", 0, kept(0.25))
    put_trace_look(store, "0a", "atomic", 1, kept(0.5))
    put_trace_look(store, "0b", "direct", 0, kept(0.75))
    put_trace_look(store, "0a", "direct", 0, replace(kept(0.25), fraction=0.125))
    found = trace_looks(store, "0a")
    assert {key: one.fraction for key, one in found.items()} == {("atomic", 1): 0.5, ("direct", 0): 0.125}
    assert trace_looks(store, "0c") == {}


def test_a_trace_that_is_gone_takes_no_look(store: Store) -> None:
    with pytest.raises(AppError, match="removed meanwhile"):
        put_trace_look(store, "0c", "direct", 0, kept(0.25))
    assert store.value("SELECT count(*) FROM trace_saliency") == 0
