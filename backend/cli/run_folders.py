"""What the commands that fill run folders share: the plan of a suite, and what is said of a run."""

__all__ = ["listed", "named", "plan_suite", "print_record", "record_figures", "say_missing"]

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.cli.options import Options
from backend.cli.output import print_text, say
from backend.cli.pace import rate_words
from backend.domain.progress import Report
from backend.errors import AppError
from backend.verimap.setups import OptionsShown

if TYPE_CHECKING:
    from backend.domain.records import RunKey
    from backend.domain.vlm import Decoding
    from backend.services.runs.plan import Plan, VlmIdentity
    from backend.services.runs.record import RunRecord

_N_IMAGES = 10


def plan_suite(
    options: Options,
    suite: str,
    images: Path | None,
    vlm: "VlmIdentity",
    decoding: "Decoding",
    setting: str,
    limit: int | None,
    report: Report,
    *,
    with_image: bool = True,
    shown: OptionsShown = OptionsShown.SHOWN,
) -> "Plan":
    """Return the plan of the direct answers to a suite of the store, or to a manifest file.

    Pictures with a cue that are not at hand are drawn first, where they can be.

    Raises:
        AppError: As `read_plan` and `read_manifest_plan`; or images are named for a suite of the store, or the
            image is to be withheld from a manifest file's questions.
    """
    from backend.services.ingest.cue_pictures import draw_cue_pictures
    from backend.services.runs.manifest import is_file_name, read_manifest_plan
    from backend.services.runs.plan import read_plan

    if is_file_name(suite):
        if not with_image:
            raise AppError(
                "--without-image goes with a SurgCheck suite of the store.",
                "Import the questions first: python -m backend import surgcheck",
            )
        folder = images.expanduser() if images else None
        manifest = Path(suite).expanduser()
        return read_manifest_plan(manifest, folder, vlm, decoding, setting=setting, limit=limit, report=report)
    if images is not None:
        raise AppError(
            "--images goes with a manifest file.",
            f"Suite {suite} is the store's; its images are attached with: python -m backend import images {images}",
        )
    with options.open_store() as opened:
        if with_image:
            draw_cue_pictures(opened, suite, report=report)
        return read_plan(
            opened, suite, vlm, decoding, setting=setting, limit=limit, with_image=with_image, options=shown
        )


def say_missing(plan: "Plan") -> None:
    """Say which images are not on this machine, where some are not."""
    missing = list(plan.missing_images.values())
    if missing:
        n_items = sum(item.lacks_image for item in plan.items)
        say(
            f"{len(missing):,} of {len(plan.images):,} images are not on this machine; the {n_items:,} questions about "
            f"them become error rows: {listed(missing)}."
        )


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    rest = len(names) - _N_IMAGES
    return ", ".join(names[:_N_IMAGES]) + (f" and {rest:,} more" if rest > 0 else "")


def named(key: "RunKey", folder: Path) -> dict[str, Any]:
    """Return what tells a run from others, for JSON."""
    return {
        "folder": str(folder),
        "run_id": key.run_id,
        "model": key.vlm,
        "suite": key.suite,
        "stage": key.stage,
        "prompt_version": key.prompt_version,
        "decoding": key.decoding,
    }


def record_figures(record: "RunRecord") -> dict[str, Any]:
    """Return how far a run is and how fast it went, for JSON."""
    counts = record.counts
    return {
        "n_planned": counts.planned,
        "n_done": counts.done,
        "n_failed": counts.failed,
        "n_missing": counts.missing,
        "errors": record.errors,
        "lost_shards": list(record.lost_shards),
        "seconds": record.seconds,
        "answers_per_second": record.answers_per_second,
    }


def print_record(record: "RunRecord", what: str) -> None:
    """Print the same for people.

    Args:
        record: The run's.
        what: What the VLM answered, in words.
    """
    counts, pace = record.counts, record.answers_per_second
    print_text(
        f"{record.vlm.name} on {what}: {counts.done:,} of {counts.planned:,} answered, {counts.failed:,} failed"
        f"{f', {rate_words(pace)}' if pace else ''}."
    )
    for name, n in record.errors.items():
        print_text(f"  {n:,} × {name}")
    if record.lost_shards:
        print_text(f"Found damaged or gone, and asked again: {', '.join(record.lost_shards)}.")
