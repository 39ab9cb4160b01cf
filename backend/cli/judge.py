"""``judge``: an LLM judges a run's answers against their references, into a run folder."""

__all__ = ["register"]

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import counted, print_json, print_text
from backend.cli.pace import with_pace
from backend.cli.progress import progress
from backend.cli.run_folders import named, print_record, record_figures
from backend.domain.records import System
from backend.settings import DATA

if TYPE_CHECKING:
    from backend.services.runs.plan import Plan


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "judge",
        epilog=examples(
            "judge --model GPT-5-mini --run Qwen2.5-VL --suite balanced_4cue_test --limit 50 --dry-run",
            "judge --model GPT-5-mini --run Qwen2.5-VL --suite balanced_4cue_test --out runs/judged --resume",
            "import run runs/judged",
        ),
    )(judge)


def judge(
    ctx: typer.Context,
    model: Annotated[str, typer.Option(metavar="LLM", help="Who judges: a name of the list of VLMs.")],
    run: Annotated[str, typer.Option(metavar="VLM|RUN", help="Whose answers: a VLM's name, or a run's id.")],
    suite: Annotated[str | None, typer.Option(help="The suite; needed where the VLM answered several.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run folder; else data/runs/<judge's id>.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the answers to the first N pairs or questions.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a folder, failed calls too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be asked; ask nobody.")] = False,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, metavar="N", help="Tokens of a reply, at most, thinking included.")
    ] = 1000,
    reasoning_effort: Annotated[str, typer.Option(help="For remote LLMs that take it; else the LLM's own.")] = "",
    batch: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Answers given to the judge at once; fewer save sooner.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have an LLM judge a run's answers by their references, without the image.

    SurgCheck's are scored from 1 to 5 by the rubric. VeriMap's are right or wrong, and asked about are
    those that matching could not tell of (import run matches answers to closed questions). The judge is
    told each question, reference and answer; with a remote one these leave this machine. A reply that
    cannot be read is asked for again, then counted as unjudged, never as wrong. Equal answers to equal
    questions are judged once. Then take the folder into the store: import run.
    """
    from backend.domain.vlm import Decoding
    from backend.services.judging import find_judged_run, open_judge, plan_judging
    from backend.services.runs.identity import identity_of
    from backend.services.runs.runner import run_plan
    from backend.services.runs.surroundings import vlm_facts
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    registry = Registry.load()
    entry = registry.find(model)
    decoding = Decoding(max_new_tokens=max_new_tokens, reasoning_effort=reasoning_effort)
    with options.open_store() as opened:
        chosen = find_judged_run(opened, run, suite=suite)
        plan = plan_judging(opened, chosen.run_id, identity_of(entry), decoding, limit=limit)
    folder = out.expanduser() if out else DATA / "runs" / plan.key.run_id
    if dry_run:
        _show_plan(plan, folder, as_json=options.as_json)
        return
    asked = open_judge(registry.open_vlm(model), folder, plan.key.system)
    with progress() as report:
        facts = partial(vlm_facts, entry.spec)
        record = run_plan(plan, asked, folder, resume=resume, batch=batch, device=facts, report=with_pace(report))
    if options.as_json:
        print_json({**named(record.key, folder), "judged_run": plan.key.setting, **record_figures(record)})
        return
    print_record(record, f"the answers of {chosen.vlm} to {record.suite}")
    if record.counts.failed:
        print_text("Failed ones are asked again by the same command and --resume.")
    print_text(f"Take it into the store: python -m backend import run {folder}")


def _show_plan(plan: "Plan", folder: Path, *, as_json: bool) -> None:
    prompts = list(dict.fromkeys(item.prompt for item in plan.items))
    noun = "pair" if plan.key.system == System.SURGCHECK else "question"
    if as_json:
        print_json(
            {
                **named(plan.key, folder),
                "judged_run": plan.key.setting,
                "n_units": len(plan.unit_ids),
                "n_planned": len(plan.items),
                "n_distinct": len(prompts),
                "prompts": prompts[:1],
            }
        )
        return
    print_text(
        f"{plan.key.vlm} would judge {counted(len(plan.items), 'answer')} to {counted(len(plan.unit_ids), noun)} of "
        f"{plan.key.suite}; {len(prompts):,} differ in question, reference or words."
    )
    print_text(f"Prompts {plan.key.prompt_version}, decoding {plan.key.decoding}. The first prompt:")
    print_text(prompts[0])
    print_text(f"Run folder: {folder}")
