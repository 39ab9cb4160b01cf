"""``predict``: a VLM answers a whole suite, into a run folder that can be stopped, killed and resumed."""

__all__ = ["register"]

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import counted, print_json, print_text
from backend.cli.pace import with_pace
from backend.cli.progress import progress
from backend.cli.run_folders import listed, named, plan_suite, print_record, record_figures, say_missing
from backend.settings import DATA
from backend.verimap.setups import OptionsShown

if TYPE_CHECKING:
    from backend.services.runs.plan import Plan
    from backend.services.runs.record import RunRecord

_N_PROMPTS = 3


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
    without_image: Annotated[
        bool, typer.Option("--without-image", help="SurgCheck: ask the original questions, the image withheld.")
    ] = False,
    shown: Annotated[
        OptionsShown, typer.Option("--options", help="VeriMap: whether a question's options stand below it.")
    ] = OptionsShown.SHOWN,
    setting: Annotated[str, typer.Option(help="For example zero-shot; part of what makes it this run.")] = "",
    max_new_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Tokens of an answer, at most.")] = 80,
    reasoning_effort: Annotated[str, typer.Option(help="For remote VLMs that take it; else the VLM's own.")] = "",
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Questions given to the VLM at once; by default about 15 s of them, 64 at most.",
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a VLM every question of a suite, and keep the answers in a run folder.

    The store is read for the questions and closed again, so the app can be used meanwhile; a
    manifest file needs no store. Answers are saved after a batch, about every half minute. Ctrl-C
    ends the run after the batch it is at; --resume goes on there. Then take the folder into the
    store: import run.
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
        plan = plan_suite(
            options,
            suite,
            images,
            identity_of(entry),
            decoding,
            setting,
            limit,
            report,
            with_image=not without_image,
            shown=shown,
        )
    folder = out.expanduser() if out else DATA / "runs" / plan.key.run_id
    if dry_run:
        _show_plan(plan, folder, as_json=options.as_json)
        return
    say_missing(plan)
    vlm = registry.open_vlm(model)
    with progress() as report:
        facts = partial(vlm_facts, entry.spec)
        record = run_plan(plan, vlm, folder, resume=resume, batch=batch, device=facts, report=with_pace(report))
    _show_record(record, folder, as_json=options.as_json)


def _show_plan(plan: "Plan", folder: Path, *, as_json: bool) -> None:
    prompts = [item.prompt for item in plan.items[:_N_PROMPTS]]
    missing = list(plan.missing_images.values())
    if as_json:
        print_json(
            {
                **named(plan.key, folder),
                "n_units": len(plan.unit_ids),
                "n_planned": len(plan.items),
                "n_images": len(plan.images),
                "missing_images": missing,
                "prompts": prompts,
            }
        )
        return
    print_text(
        f"{plan.key.vlm} would be asked {counted(len(plan.items), 'question')} in "
        f"{counted(len(plan.unit_ids), 'unit')} of {plan.key.suite}, about {counted(len(plan.images), 'image')}."
    )
    print_text(f"Images not on this machine: {listed(missing) if missing else 'none'}.")
    print_text(f"Prompts {plan.key.prompt_version}, decoding {plan.key.decoding}. The first ones:")
    for prompt in prompts:
        print_text(f"  {prompt}")
    print_text(f"Run folder: {folder}")


def _show_record(record: "RunRecord", folder: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({**named(record.key, folder), **record_figures(record)})
        return
    print_record(record, record.suite)
    for what, values in record.mixed.items():
        print_text(f"Answered under more than one {what}: {'; '.join(values)}.")
    if record.counts.failed:
        print_text("Failed ones are asked again by the same command and --resume.")
    print_text(f"Take it into the store: python -m backend import run {folder}")
