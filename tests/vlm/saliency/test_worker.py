"""Saliency from a VLM in its warm process: same queue, same cancel, and a refusal ends nothing."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from backend.domain.progress import Cancelled
from backend.vlm import worker, worker_child
from backend.vlm.loading import LocalSpec
from backend.vlm.saliency.faithfulness import Curves
from backend.vlm.saliency.result import SaliencyError
from backend.vlm.worker import Phase, WorkerError, Workers, WorkerVlm
from backend.vlm.worker_process import PART_BYTES
from tests.vlm.test_worker import pid_of, until
from tests.vlm.worker_fakes import FACTORY

FRAME = Path("frame.png")


@pytest.fixture
def vlm() -> Iterator[WorkerVlm]:
    workers = Workers(FACTORY, imports=())
    yield WorkerVlm(LocalSpec("steady", "Fake"), workers)
    workers.stop_all()


def test_what_was_found_arrives_whole_also_in_several_parts(vlm: WorkerVlm) -> None:
    n_patches = PART_BYTES // 2
    saliency = vlm.saliency(FRAME, "say it", str(n_patches), 3)
    np.testing.assert_array_equal(saliency.maps, np.random.default_rng(3).random((2, 1, n_patches), dtype=np.float32))
    assert len(saliency.to_npz()) > 3 * PART_BYTES
    assert (saliency.note, saliency.why_no_gradient, saliency.log_likelihood) == ("say it", "Not here.", -0.5)
    assert saliency.regions is None
    assert saliency.gradient is None


def test_curves_arrive_as_they_were_computed(vlm: WorkerVlm) -> None:
    curves = vlm.faithfulness(FRAME, "Why?", "two", np.array([[0.1, 0.25], [1, 0]]), 7)
    told = (0.1, 0.25, 1.0, 0.0)
    assert curves == Curves(told, told, told, told, (7.0, 3.0))


def test_a_refusal_says_what_to_do_and_the_process_stays(vlm: WorkerVlm) -> None:
    pid = pid_of(vlm)
    with pytest.raises(SaliencyError) as refusal:
        vlm.saliency(FRAME, "say it", "refused")
    assert (refusal.value.message, refusal.value.hint) == ("This family tells nothing.", "Choose another.")
    assert pid_of(vlm) == pid


def test_an_exception_is_a_refusal_too(vlm: WorkerVlm) -> None:
    pid = pid_of(vlm)
    with pytest.raises(SaliencyError, match="RuntimeError: shapes differ"):
        vlm.saliency(FRAME, "fail RuntimeError shapes differ", "3")
    assert pid_of(vlm) == pid


def test_an_error_of_the_gpu_ends_the_process(vlm: WorkerVlm) -> None:
    pid = pid_of(vlm)
    with pytest.raises(WorkerError, match="CUDA error"):
        vlm.saliency(FRAME, "fail RuntimeError CUDA error: device-side assert", "3")
    assert pid_of(vlm) != pid


def test_it_can_be_cancelled_and_the_process_stays(
    vlm: WorkerVlm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "GRACE", 60)
    monkeypatch.setattr(worker_child, "GRACE", 60)
    pid = pid_of(vlm)
    with ThreadPoolExecutor(1) as aside:
        looking = aside.submit(vlm.saliency, FRAME, f"forever {tmp_path / 'begun'}", "3")
        until((tmp_path / "begun").exists)
        assert vlm.standing.phase == Phase.ANSWERING
        vlm.cancel()
        with pytest.raises(Cancelled):
            looking.result()
    assert pid_of(vlm) == pid
