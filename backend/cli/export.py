"""``export``: a run's answers in the field's own format."""

__all__ = ["group"]

from pathlib import Path
from typing import Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import print_json, print_text
from backend.cli.progress import progress

group = command_group("export", "Write answers in the field's own formats. What is exported can be imported again.")


@group.command("endoca", epilog=examples("export endoca --model MedGemma-FT --suite core --out medgemma_core.jsonl.gz"))
def export_endoca(
    ctx: typer.Context,
    model: Annotated[str, typer.Option(metavar="VLM", help="The VLM's name, or a run's id.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="JSON lines; gzipped where the name ends in .gz.")],
    suite: Annotated[str | None, typer.Option(help="The suite; needed where the VLM answered several.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run as an EndoCA prediction file, one line a probe.

    A probe without an answer has a null prediction. Imported into an empty store, the file
    gives the same metrics.
    """
    from backend.domain.records import System
    from backend.services.choosing import find_run
    from backend.services.export import export_endoca

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened, progress() as report:
        run = find_run(opened, System.ENDOCA, model, suite=suite)
        n_lines = export_endoca(opened, run.run_id, out, report)
    if options.as_json:
        print_json({"model": run.vlm, "suite": run.suite, "run_id": run.run_id, "file": str(out), "n_lines": n_lines})
    else:
        print_text(f"Wrote {n_lines:,} lines of {run.vlm} on {run.suite} to {out}.")


@group.command(
    "surgcheck",
    epilog=examples("export surgcheck --model Qwen2.5-VL --suite balanced_4cue_test --out qwen_balanced.jsonl.gz"),
)
def export_surgcheck(
    ctx: typer.Context,
    model: Annotated[str, typer.Option(metavar="VLM", help="The VLM's name, or a run's id.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="JSON lines; gzipped where the name ends in .gz.")],
    suite: Annotated[str | None, typer.Option(help="The suite; needed where the VLM answered several.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run as a SurgCheck prediction file, one line a question, both variants in one file.

    A question without an answer has a null pred. Imported into an empty store, the file gives the same
    pairs and metrics.
    """
    from backend.domain.records import System
    from backend.services.choosing import find_run
    from backend.services.export_surgcheck import export_surgcheck

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened, progress() as report:
        run = find_run(opened, System.SURGCHECK, model, suite=suite)
        n_lines = export_surgcheck(opened, run.run_id, out, report)
    if options.as_json:
        print_json({"model": run.vlm, "suite": run.suite, "run_id": run.run_id, "file": str(out), "n_lines": n_lines})
    else:
        print_text(f"Wrote {n_lines:,} lines of {run.vlm} on {run.suite} to {out}.")


@group.command("verimap", epilog=examples("export verimap --model MedGemma --suite vqa-rad --out medgemma.jsonl.gz"))
def export_verimap(
    ctx: typer.Context,
    model: Annotated[str, typer.Option(metavar="VLM", help="The verifier's name, or a run's id.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help=".jsonl or .csv (plain or .gz), or .parquet.")],
    suite: Annotated[str | None, typer.Option(help="One data set; else all that the VLM has verified.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what a verifier said as verification records, one a verdict.

    All turns and conditions, on whosever answers. Imported into an empty store, the file gives the same
    verifications.
    """
    from backend.services.export_verimap import export_verimap

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened, progress() as report:
        n_records = export_verimap(opened, model, out, suite=suite, report=report)
    if options.as_json:
        print_json({"model": model, "suite": suite, "file": str(out), "n_lines": n_records})
    else:
        print_text(f"Wrote {n_records:,} verification records of {model} to {out}.")
