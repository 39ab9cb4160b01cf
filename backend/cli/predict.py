"""``predict``: a VLM answers a whole suite, into a run folder that can be stopped, killed and resumed."""

__all__ = ["register"]

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.options import JsonOption, Options, StoreOption, examples, options_of
from backend.cli.output import counted, print_json, print_text, say
from backend.cli.pace import rate_words, with_pace
from backend.cli.progress import progress
from backend.domain.progress import Report
from backend.errors import AppError
from backend.settings import DATA

if TYPE_CHECKING:
    from backend.domain.vlm import Decoding
    from backend.services.runs.plan import Plan, VlmIdentity
    from backend.services.runs.record import RunRecord

_N_PROMPTS = 3
_N_IMAGES = 10


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "predict",
        epilog=examples(
            "predict --model demo --suite drawn",
            "predict --model Qwen3-VL-8B --suite core --limit 100 --dry-run",
            "predict --model MedGemma --suite endoca_core.jsonl.gz --images ~/images --out runs/medgemma --resume",
        ),
    )(predict)


def predict(
    ctx: typer.Context,
    model: Annotated[str, typer.Option(metavar="VLM", help="The VLM's name; an unknown one lists the known.")],
    suite: Annotated[str, typer.Option(metavar="SUITE|FILE", help="A suite of the store, or a manifest file.")],
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with the images of a manifest file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The run folder; else data/runs/<run's id>.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N units; a unit is asked whole.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run, failed calls too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be asked; load no VLM.")] = False,
    setting: Annotated[str, typer.Option(help="For example zero-shot; part of what makes it this run.")] = "",
    max_new_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Tokens of an answer, at most.")] = 80,
    reasoning_effort: Annotated[str, typer.Option(help="For remote VLMs that take it; else the VLM's own.")] = "",
    batch: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Questions given to the VLM at once; fewer save and stop sooner. Default 64."
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a VLM every question of a suite, and keep the answers in a run folder.

    The store is read for the questions and closed again, so the app can be used meanwhile; a
    manifest file needs no store. Answers are saved every half minute. Ctrl-C ends the run after
    the batch it is at; --resume goes on there. Then take the folder into the store: import run.
    """
    from backend.domain.vlm import Decoding
    from backend.services.runs.identity import identity_of
    from backend.services.runs.runner import run_plan
    from backend.services.runs.surroundings import vlm_facts
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    registry = Registry.load()
    entry = registry.find(model)
    decoding = Decoding(max_new_tokens=max_new_tokens, reasoning_effort=reasoning_effort)
    with progress() as report:
        plan = _plan(options, suite, images, identity_of(entry), decoding, setting, limit, report)
    folder = out.expanduser() if out else DATA / "runs" / plan.key.run_id
    if dry_run:
        _show_plan(plan, folder, as_json=options.as_json)
        return
    _say_missing(plan)
    vlm = registry.open_vlm(model)
    with progress() as report:
        facts = partial(vlm_facts, entry.spec)
        record = run_plan(plan, vlm, folder, resume=resume, batch=batch, device=facts, report=with_pace(report))
    _show_record(record, plan, folder, as_json=options.as_json)


def _plan(
    options: Options,
    suite: str,
    images: Path | None,
    vlm: "VlmIdentity",
    decoding: "Decoding",
    setting: str,
    limit: int | None,
    report: Report,
) -> "Plan":
    from backend.services.runs.manifest import is_file_name, read_manifest_plan
    from backend.services.runs.plan import read_plan

    if is_file_name(suite):
        folder = images.expanduser() if images else None
        manifest = Path(suite).expanduser()
        return read_manifest_plan(manifest, folder, vlm, decoding, setting=setting, limit=limit, report=report)
    if images is not None:
        raise AppError(
            "--images goes with a manifest file.",
            f"Suite {suite} is the store's; its images are attached with: python -m backend import images {images}",
        )
    with options.open_store() as opened:
        return read_plan(opened, suite, vlm, decoding, setting=setting, limit=limit)


def _say_missing(plan: "Plan") -> None:
    missing = list(plan.missing_images.values())
    if missing:
        n_items = sum(item.lacks_image for item in plan.items)
        say(
            f"{len(missing):,} of {len(plan.images):,} images are not on this machine; the {n_items:,} questions about "
            f"them become error rows: {_listed(missing)}."
        )


def _listed(names: list[str]) -> str:
    rest = len(names) - _N_IMAGES
    return ", ".join(names[:_N_IMAGES]) + (f" and {rest:,} more" if rest > 0 else "")


def _show_plan(plan: "Plan", folder: Path, *, as_json: bool) -> None:
    prompts = [item.prompt for item in plan.items[:_N_PROMPTS]]
    if as_json:
        print_json(
            {
                **_named(plan, folder),
                "n_units": len(plan.unit_ids),
                "n_planned": len(plan.items),
                "n_images": len(plan.images),
                "missing_images": list(plan.missing_images.values()),
                "prompts": prompts,
            }
        )
        return
    missing = list(plan.missing_images.values())
    print_text(
        f"{plan.key.vlm} would be asked {counted(len(plan.items), 'question')} in "
        f"{counted(len(plan.unit_ids), 'unit')} of {plan.key.suite}, about {counted(len(plan.images), 'image')}."
    )
    print_text(f"Images not on this machine: {_listed(missing) if missing else 'none'}.")
    print_text(f"Prompts {plan.key.prompt_version}, decoding {plan.key.decoding}. The first ones:")
    for prompt in prompts:
        print_text(f"  {prompt}")
    print_text(f"Run folder: {folder}")


def _show_record(record: "RunRecord", plan: "Plan", folder: Path, *, as_json: bool) -> None:
    counts = record.counts
    if as_json:
        print_json(
            {
                **_named(plan, folder),
                "n_planned": counts.planned,
                "n_done": counts.done,
                "n_failed": counts.failed,
                "n_missing": counts.missing,
                "errors": record.errors,
                "lost_shards": list(record.lost_shards),
                "seconds": record.seconds,
                "answers_per_second": record.answers_per_second,
            }
        )
        return
    pace = record.answers_per_second
    print_text(
        f"{plan.key.vlm} on {plan.key.suite}: {counts.done:,} of {counts.planned:,} answered, {counts.failed:,} failed"
        f"{f', {rate_words(pace)}' if pace else ''}."
    )
    for name, n in record.errors.items():
        print_text(f"  {n:,} × {name}")
    if record.lost_shards:
        print_text(f"Found damaged or gone, and asked again: {', '.join(record.lost_shards)}.")
    if counts.failed:
        print_text("Failed ones are asked again by the same command and --resume.")
    print_text(f"Take it into the store: python -m backend import run {folder}")


def _named(plan: "Plan", folder: Path) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "run_id": plan.key.run_id,
        "model": plan.key.vlm,
        "suite": plan.key.suite,
        "stage": plan.key.stage,
        "prompt_version": plan.key.prompt_version,
        "decoding": plan.key.decoding,
    }
