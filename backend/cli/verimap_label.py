"""``verimap label``: a VLM labels a data set's questions with their tasks, as one annotator."""

__all__ = ["register"]

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import counted, print_json, print_text
from backend.cli.pace import with_pace
from backend.cli.progress import progress
from backend.cli.run_folders import named, print_record, record_figures
from backend.settings import DATA


def register(group: typer.Typer) -> None:
    """Add the command to ``verimap``."""
    group.command(
        "label",
        epilog=examples(
            "verimap label --suite slake --model demo --out labels/demo",
            "import verimap --dataset slake --labels labels/a/labels.csv labels/b/labels.csv labels/c/labels.csv",
        ),
    )(verimap_label)


def verimap_label(
    ctx: typer.Context,
    suite: Annotated[
        str, typer.Option(metavar="SUITE", help="A data set of VeriMap in the store.", show_default=False)
    ],
    model: Annotated[str, typer.Option(metavar="VLM", help="The annotator; it is shown no image.", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The run folder; else data/runs/<run's id>.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run, failed calls too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be asked; load no VLM.")] = False,
    batch: Annotated[int | None, typer.Option(min=1, metavar="N", help="Questions given to the VLM at once.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask a VLM which of the seven tasks each question is of, from its words alone, and write a label file.

    The store is read for the questions and closed again. Three annotators' files vote when they are taken
    in together: import verimap --dataset … --labels FILE FILE FILE.
    """
    from backend.services.runs.identity import identity_of
    from backend.services.runs.label_run import LABELS, plan_labels, write_labels
    from backend.services.runs.runner import run_plan
    from backend.services.runs.surroundings import vlm_facts
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    registry = Registry.load()
    entry = registry.find(model)
    with options.open_store() as opened:
        labelling = plan_labels(opened, suite, identity_of(entry), limit=limit)
    plan = labelling.plan
    folder = out.expanduser() if out else DATA / "runs" / plan.key.run_id
    if dry_run:
        first = plan.items[0].prompt
        if options.as_json:
            print_json({**named(plan.key, folder), "n_planned": len(plan.items), "prompts": [first]})
            return
        print_text(f"{plan.key.vlm} would be asked for the task of {counted(len(plan.items), 'question')} of {suite}.")
        print_text(f"The first prompt:\n{first}")
        return
    with progress() as report:
        record = run_plan(
            plan,
            registry.open_vlm(model),
            folder,
            resume=resume,
            batch=batch,
            device=partial(vlm_facts, entry.spec),
            report=with_pace(report),
        )
    done = write_labels(folder, labelling)
    if options.as_json:
        figures = {**record_figures(record), **done._asdict(), "labels": str(folder / LABELS)}
        print_json({**named(plan.key, folder), **figures})
        return
    print_record(record, f"tasks of {suite}")
    print_text(f"Labelled {done.n_labelled:,}; replies that name no task or several: {done.n_unread:,}.")
    print_text(f"Take them in: python -m backend import verimap --dataset {suite} --labels {folder / LABELS}")
