"""How the shipped saliency comes to be: the VLM in the box looks again at what it answered and what it judged."""

__all__ = ["PER_TASK", "make_saliency_runs"]

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from backend.domain.progress import Report
from backend.errors import AppError
from backend.services.demo.shipped import FRAMES, MIRAGE_SALIENCY, MIRAGE_SELF, MIRAGE_SUITE, RUNS
from backend.services.demo.shipped_runs import device_of
from backend.services.demo.verification_examples import put_demo_examples
from backend.services.ingest.images import attach_images
from backend.services.runs.import_run import import_run
from backend.services.runs.plan import VlmIdentity
from backend.services.runs.saliency_choice import choose_units, find_verification, sides_of
from backend.services.runs.saliency_plan import saliency_plan
from backend.services.runs.saliency_run import GENERATOR, VERIFIER, LookingVlm, Part, run_saliency
from backend.store.store import Store

if TYPE_CHECKING:
    from backend.vlm.transformers_local import TransformersLocal

PER_TASK = 60
"""Examples of each task, spread over the suite: what ships has to stay small."""


def make_saliency_runs(vlm: "TransformersLocal", identity: VlmIdentity, report: Report) -> None:
    """Let the VLM in the box look into its first answers and its verdicts on them; go on where that is not finished.

    Args:
        vlm: The VLM in the box, loaded.
        identity: What makes it this one.
        report: Told of progress.
    """
    with (
        tempfile.TemporaryDirectory(prefix="parallax-looks-") as name,
        Store.create(Path(name) / "looks.duckdb") as store,
    ):
        put_demo_examples(store, report=report)
        import_run(store, RUNS / MIRAGE_SELF, report=report)
        attach_images(store, FRAMES, report=report)
        sides = sides_of(store, find_verification(store, MIRAGE_SUITE, identity.name, identity.name))
        units = choose_units(store, sides.run_id, per_task=PER_TASK)
        if sides.generator_run is None:
            raise AppError("The shipped verdicts do not say whose answers they are on.", "Make them anew: demo answer")
        looking, device = LookingVlm(vlm), partial(device_of, vlm)
        parts = {
            side: Part(saliency_plan(store, run_id, identity, units=units), looking, device)
            for side, run_id in ((GENERATOR, sides.generator_run), (VERIFIER, sides.run_id))
        }
    run_saliency(parts, RUNS / MIRAGE_SALIENCY, resume=True, report=lambda part: report)
