"""``asr``: Atomic-Support Reconciliation over a whole suite, and about one image."""

__all__ = ["group"]

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from backend.cli import asr_live
from backend.cli.options import JsonOption, Options, StoreOption, command_group, examples, options_of
from backend.cli.output import counted, print_json, print_text, say
from backend.cli.pace import with_pace
from backend.cli.progress import progress
from backend.cli.run_folders import listed, named, plan_suite, print_record, record_figures, say_missing
from backend.domain.progress import Report
from backend.endoca.asr import Variant
from backend.settings import DATA

if TYPE_CHECKING:
    from backend.services.runs.direct_answers import RunAnswers
    from backend.services.runs.plan import Plan, VlmIdentity
    from backend.services.runs.record import RunRecord

_N_PROMPTS = 3

group = command_group("asr", "Atomic-Support Reconciliation: a VLM revises its answers with its own atomic answers.")
asr_live.register(group)


@group.command(
    "run",
    epilog=examples(
        "asr run --model demo --suite demo --out runs/demo-asr",
        "asr run --model demo --suite demo --variant self --from runs/demo-asr/direct --out runs/demo-self",
        "asr run --model Qwen3-VL-8B --suite core --from Qwen3-VL-8B.core.direct.0a1b2c3d4e --limit 100 --resume",
    ),
)
def asr_run(
    ctx: typer.Context,
    model: Annotated[str, typer.Option(metavar="VLM", help="The VLM's name; an unknown one lists the known.")],
    suite: Annotated[str, typer.Option(metavar="SUITE|FILE", help="A suite of the store, or a manifest file.")],
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with the images of a manifest file.")
    ] = None,
    variant: Annotated[
        Variant, typer.Option(help="With the VLM's atomic answers as premises, or (self) without.")
    ] = Variant.ASR,
    base: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="RUN|DIR",
            help="Direct answers to start from: a run of the store, or a run folder. Else they are asked first.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Gets the run folders direct, revise and select; else data/runs/<its id>."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N units; a unit is asked whole.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run, failed calls too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be asked; load no VLM.")] = False,
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
    """Let a VLM answer a suite, revise its answers, and decide which of them to give.

    Three run folders, one after another: direct (unless --from names direct answers), revise and
    select. The store is read for the questions and closed again. Ctrl-C ends the run after the
    batch it is at; --resume goes on there. Then take the folder into the store: import run.
    """
    from backend.services.runs.direct_answers import folder_base
    from backend.services.runs.identity import identity_of
    from backend.services.runs.reconciliation_run import DIRECT, REVISE, SELECT, run_reconciliation
    from backend.services.runs.runner import run_plan
    from backend.services.runs.surroundings import vlm_facts
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    registry = Registry.load()
    entry = registry.find(model)
    with progress() as report:
        start = _start(options, suite, images, identity_of(entry), base, limit, report)
    direct, answers = start
    folder = out.expanduser() if out else DATA / "runs" / replace(direct.key, stage=variant.value).run_id
    if dry_run:
        _show_plan(start, variant, folder, as_json=options.as_json)
        return
    say_missing(direct)
    _say_base(start)
    vlm = registry.open_vlm(model)
    facts = partial(vlm_facts, entry.spec)
    records: dict[str, RunRecord] = {}
    with progress() as report:

        def staged(stage: str) -> Report:
            return with_pace(lambda words, done, total: report(f"{stage}: {words}", done, total))

        if answers is None:
            records[DIRECT] = run_plan(
                direct, vlm, folder / DIRECT, resume=resume, batch=batch, device=facts, report=staged(DIRECT)
            )
            answers = folder_base(folder / DIRECT, direct)
        records[REVISE], records[SELECT] = run_reconciliation(
            direct,
            answers,
            vlm,
            folder / REVISE,
            folder / SELECT,
            variant,
            resume=resume,
            batch=batch,
            device=facts,
            report=staged,
        )
    _show_records(records, answers, variant, folder, as_json=options.as_json)


class _Start(NamedTuple):
    """What an ASR run starts from."""

    direct: "Plan"
    answers: "RunAnswers | None"
    """To the plan; None where the VLM is to be asked first."""


def _start(
    options: Options,
    suite: str,
    images: Path | None,
    vlm: "VlmIdentity",
    base: str | None,
    limit: int | None,
    report: Report,
) -> _Start:
    from backend.endoca.asr import DECODINGS, StepName
    from backend.services.runs.direct_answers import folder_base, folder_record, stored_base, stored_setting

    decoding, setting = DECODINGS[StepName.DIRECT], ""
    folder = Path(base).expanduser() if base else None
    if folder is not None and folder.is_dir():
        record = folder_record(folder)
        plan = plan_suite(options, suite, images, vlm, record.decoding.decoding, record.setting, limit, report)
        return _Start(plan, folder_base(folder, plan))
    if base is not None:
        with options.open_store() as opened:
            setting = stored_setting(opened, base)
    plan = plan_suite(options, suite, images, vlm, decoding, setting, limit, report)
    if base is None:
        return _Start(plan, None)
    with options.open_store() as opened:
        return _Start(plan, stored_base(opened, base, plan))


def _say_base(start: _Start) -> None:
    direct, answers = start
    if answers and answers.base.prompt_version != direct.key.prompt_version:
        say(
            f"The direct answers were given under prompts {answers.base.prompt_version}; they are revised under "
            f"{direct.key.prompt_version}. The record says so."
        )


def _show_plan(start: _Start, variant: Variant, folder: Path, *, as_json: bool) -> None:
    from backend.services.runs.reconciliation_plan import revise_plan

    direct, answers = start
    first = revise_plan(direct, answers, variant) if answers else direct
    n_not_asked = sum(bool(item.not_asked) for item in first.items)
    n_units = len(direct.unit_ids)
    prompts = [item.prompt for item in first.items if not item.not_asked][:_N_PROMPTS]
    missing = list(direct.missing_images.values())
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "model": direct.key.vlm,
                "suite": direct.key.suite,
                "variant": variant.value,
                "prompt_version": direct.key.prompt_version,
                "from": answers.base.run_id if answers else None,
                "n_units": n_units,
                "n_direct": 0 if answers else len(direct.items),
                "n_revise": n_units - n_not_asked,
                "n_select": n_units - n_not_asked,
                "n_not_asked": n_not_asked,
                "n_images": len(direct.images),
                "missing_images": missing,
                "prompts": prompts,
            }
        )
        return
    _say_base(start)
    start_words = (
        f"start from the direct answers of {answers.base.run_id}"
        if answers
        else f"first be asked {counted(len(direct.items), 'direct and atomic question')}"
    )
    print_text(
        f"{direct.key.vlm} would {start_words}, then revise and select {counted(n_units - n_not_asked, 'answer')}, "
        f"on {direct.key.suite}, about {counted(len(direct.images), 'image')}."
    )
    if n_not_asked:
        print_text(f"Not asked, because a call before failed: {counted(n_not_asked, 'unit')}.")
    print_text(f"Images not on this machine: {listed(missing) if missing else 'none'}.")
    print_text(f"Prompts {direct.key.prompt_version}. The first ones:")
    for prompt in prompts:
        print_text(f"  {prompt}")
    print_text(f"Run folders go into: {folder}")


def _show_records(
    records: "dict[str, RunRecord]", answers: "RunAnswers", variant: Variant, folder: Path, *, as_json: bool
) -> None:
    if as_json:
        stages = [{**named(record.key, folder / name), **record_figures(record)} for name, record in records.items()]
        print_json({"folder": str(folder), "variant": variant.value, "from": answers.base.run_id, "stages": stages})
        return
    from backend.domain.stage_words import stage_words

    for record in records.values():
        print_record(record, f"{record.suite}, {stage_words(record.stage)}")
    if any(record.counts.failed for record in records.values()):
        print_text("Failed ones are asked again by the same command and --resume.")
    print_text(f"Take it into the store: python -m backend import run {folder}")
