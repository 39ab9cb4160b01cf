"""Checks of one map: made by the build that answered alone, cancelled at once, kept in no store."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from backend.domain.progress import Cancelled
from backend.domain.vlm import Ask, Decoding, OnText, Reply
from backend.errors import AppError
from backend.services.demo.shipped import FRAMES, RUNS, VLM
from backend.services.runs.folder import read_record
from backend.services.runs.plan import VlmIdentity
from backend.services.saliency_checks import CHECKS, LookToCheck, MapCheck, Part, look_to_check, start_map_check
from backend.services.stored_saliency import LookRow, put_looks
from backend.store.store import Store
from backend.verimap.prompts import verify_prompt
from backend.vlm.blind import BLIND_VLM
from backend.vlm.registry import Registry
from backend.vlm.saliency.faithfulness import Curves
from backend.vlm.saliency.kept import keep
from backend.vlm.saliency.result import Saliency, SaliencyError
from tests.services.pointing_store import (
    BOX,
    GENERATOR,
    VERIFIER,
    kept,
    make_pointing_store,
    put_look,
    sha256_of,
    unit_of,
)
from tests.vlm.saliency.test_kept import saliency

UNIT = unit_of(2, "polyp_count")
MAP = [[0.0625, 0.125], [0.1875, 0.25]]
PROMPT = verify_prompt("How many polyps are in the image?", "2")
CURVES = Curves((0, 1), (0.9, 0.1), (0.1, 0.9), (0.9, 0.1), (0.1, 0.9))
IDENTITY = VlmIdentity(BOX, "demo", {"weights": "fingerprint 1"})

needs_box_vlm = pytest.mark.skipif(
    not (VLM / "model.safetensors").exists(), reason="the VLM in the box is not trained yet"
)


class Checked:
    """Follows a script: what it is asked is noted, and a part may be refused, wait or break."""

    name = BOX

    def __init__(self, **steps: Callable[[], None]) -> None:
        self.asked: list[tuple[object, ...]] = []
        self._steps = steps
        self.cancelled = threading.Event()

    def saliency(self, image: Path, prompt: str, answer: str, randomised: int | None = None) -> Saliency:
        self.asked.append(("saliency", image.name, prompt, answer, randomised))
        self._steps.get("saliency", lambda: None)()
        return saliency()

    def faithfulness(self, image: Path, prompt: str, answer: str, heat: ArrayLike, steps: int = 10) -> Curves:
        self.asked.append(("faithfulness", image.name, prompt, answer, np.asarray(heat).tolist()))
        self._steps.get("faithfulness", lambda: None)()
        return CURVES

    def cancel(self) -> None:
        self.cancelled.set()

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        raise NotImplementedError

    def answer_all(self, asks: Sequence[Ask], decoding: Decoding) -> list[Reply]:
        raise NotImplementedError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = make_pointing_store(tmp_path / "parallax.duckdb")
    yield made
    made.close()


def put_call(store: Store, run_id: str = VERIFIER.run_id, *, sha256: str | None, prompt: str = PROMPT) -> None:
    """Write what was sent for the answer, and the record of a shipped run as the run's."""
    record = read_record(RUNS / "verimap-self" / "generate")
    assert record is not None
    with store.write() as cursor:
        cursor.execute(
            "INSERT INTO calls (run_id, probe_id, item_id, prompt, image_sha256, was_cut, seconds) "
            "VALUES (?, ?, 'i', ?, ?, false, 0.1)",
            [run_id, UNIT, prompt, sha256],
        )
        cursor.execute("INSERT INTO run_facts VALUES (?, ?)", [run_id, record.model_dump_json()])


def a_look(**changes: object) -> LookToCheck:
    look = LookToCheck(
        VERIFIER.run_id, UNIT, BOX, IDENTITY.details, FRAMES / "synthetic-0002.webp", PROMPT, "yes", kept(MAP, MAP)
    )
    return replace(look, **changes)  # type: ignore[arg-type]


def ran(store: Store, vlm: Checked, look: LookToCheck) -> MapCheck:
    check = MapCheck(store, look, vlm)
    check.run(lambda: IDENTITY)
    return check


def test_a_look_is_found_with_all_that_was_sent(store: Store) -> None:
    put_look(store, VERIFIER.run_id, UNIT, kept(MAP), "<think>one, two</think> EXPLANATION: Two.\nVERDICT: CORRECT")
    put_call(store, sha256=sha256_of(2))
    look = look_to_check(store, VERIFIER.run_id, UNIT)
    assert (look.vlm, look.image, look.prompt) == (BOX, FRAMES / "synthetic-0002.webp", PROMPT)
    assert look.said == "EXPLANATION: Two.\nVERDICT: CORRECT"
    assert look.details["weights"].startswith("fingerprint")
    assert look.parts == (Part.ATTENTION, Part.SHUFFLED)


def test_what_cannot_be_checked_says_why(store: Store) -> None:
    def refusal() -> str:
        with pytest.raises(AppError) as refused:
            look_to_check(store, VERIFIER.run_id, UNIT)
        assert refused.value.hint
        return refused.value.message

    assert refusal() == "This answer was not looked into."
    put_look(store, VERIFIER.run_id, UNIT, kept(None))
    assert refusal() == "There is no map to check: Its tiles are unknown."
    with store.write() as cursor:
        put_looks(cursor, VERIFIER.run_id, "{}", [LookRow(UNIT, "yes", kept(MAP), "")])
    assert refusal().startswith("Nobody knows what exactly was sent")
    put_call(store, sha256=None)
    assert refusal().startswith("Nobody knows what exactly was sent")
    with store.write() as cursor:
        cursor.execute("UPDATE calls SET image_sha256 = 'gone'")
    assert refusal() == "The image of this answer is not at hand."


def test_each_part_is_done_with_the_prompt_and_the_answer_of_the_look(store: Store) -> None:
    vlm = Checked()
    check = ran(store, vlm, a_look())
    sent = ("synthetic-0002.webp", PROMPT, "yes")
    assert vlm.asked == [("faithfulness", *sent, MAP), ("faithfulness", *sent, MAP), ("saliency", *sent, 1)]
    assert check.curves == {Part.ATTENTION: CURVES, Part.GRADIENT: CURVES}
    assert (check.n_done, check.refused, check.error, check.is_stored, check.is_over) == (3, {}, None, False, True)


def test_the_shuffled_map_is_compared_rank_by_rank(store: Store) -> None:
    # Attention of `saliency` is 0.1, 0.1, 0.025, 0 and its gradient 2, 1, 0, 1: ranks 3.5, 3.5, 2, 1 and 4, 2.5, 1, 2.5
    # against 1, 2, 3, 4. Pearson of the ranks by hand: −4.5 / √(5 · 4.5) and −3 / √(5 · 4.5).
    shuffled = ran(store, Checked(), a_look()).shuffled
    assert shuffled is not None
    assert shuffled.attention == pytest.approx(-4.5 / np.sqrt(5 * 4.5))
    assert shuffled.gradient == pytest.approx(-3 / np.sqrt(5 * 4.5))
    assert shuffled.kept.grid == (2, 2)


def test_a_map_that_is_even_or_not_there_has_no_correlation(store: Store) -> None:
    shuffled = ran(store, Checked(), a_look(kept=kept(np.ones((2, 2))))).shuffled
    assert shuffled is not None
    assert (shuffled.attention, shuffled.gradient) == (None, None)


def test_a_part_that_is_refused_does_not_lose_the_others(store: Store) -> None:
    def refuse() -> None:
        raise SaliencyError("Quantised weights cannot be randomised.", "Load it otherwise.")

    check = ran(store, Checked(saliency=refuse), a_look())
    assert set(check.curves) == {Part.ATTENTION, Part.GRADIENT}
    assert (check.shuffled, check.n_done, check.error) == (None, 3, None)
    assert check.refused == {Part.SHUFFLED: "Quantised weights cannot be randomised. Load it otherwise."}


def test_a_check_that_is_cancelled_keeps_what_was_done(store: Store) -> None:
    vlm = Checked()
    vlm._steps["saliency"] = lambda: _wait_and_stop(vlm)
    check = CHECKS.begin(MapCheck(store, a_look(), vlm), lambda: IDENTITY)
    for _ in range(1000):
        if check.n_done == 2:
            break
        check.wait(0.01)
    check.cancel()
    assert check.wait(10)
    assert set(check.curves) == {Part.ATTENTION, Part.GRADIENT}
    assert (check.shuffled, check.error, check.is_stopping) == (None, None, True)
    assert CHECKS.known(check.id) is check


def _wait_and_stop(vlm: Checked) -> None:
    assert vlm.cancelled.wait(10)
    raise Cancelled


def test_another_build_is_not_asked(store: Store) -> None:
    vlm = Checked()
    check = start_map_check(store, a_look(details={"weights": "fingerprint 0", "dtype": "auto"}), lambda *_: vlm)
    assert check.wait(30)
    assert check.error is not None
    assert check.error.message == (
        "Box VLM on this machine is another build than the one that answered (weights differ)."
    )
    assert vlm.asked == []


@pytest.mark.parametrize("name", ["No such VLM", BLIND_VLM])
def test_a_vlm_that_gives_no_saliency_is_refused_with_its_reason(store: Store, name: str) -> None:
    with pytest.raises(AppError, match=name):
        start_map_check(store, a_look(vlm=name))


@needs_box_vlm
def test_the_vlm_in_the_box_checks_its_own_map(store: Store) -> None:
    vlm = Registry.load().open_vlm(BOX, in_worker=False)
    said = "EXPLANATION: Two polyps are visible.\nVERDICT: CORRECT"
    found = keep(vlm.saliency(FRAMES / "synthetic-0002.webp", PROMPT, said))  # type: ignore[attr-defined]
    put_look(store, VERIFIER.run_id, UNIT, found, said)
    put_call(store, sha256=sha256_of(2))
    check = start_map_check(store, look_to_check(store, VERIFIER.run_id, UNIT), lambda *_: vlm)
    assert check.wait(120)
    assert (check.error, check.refused, check.n_done) == (None, {}, 3)
    curves = check.curves[Part.ATTENTION]
    assert curves.deletion[0] == pytest.approx(np.exp(found.log_likelihood / len(found.tokens)), rel=1e-3)
    assert check.shuffled is not None
    assert check.shuffled.attention is not None
    assert abs(check.shuffled.attention) < 0.5
    again = keep(vlm.saliency(FRAMES / "synthetic-0002.webp", PROMPT, said))  # type: ignore[attr-defined]
    assert again.fraction == found.fraction


def test_nothing_of_a_check_goes_into_the_store(store: Store) -> None:
    put_look(store, GENERATOR.run_id, UNIT, kept(MAP))
    before = store.data_version
    ran(store, Checked(), a_look())
    assert store.data_version == before
