"""``verimap route``: where to send a question's verification, from what was measured of a verifier."""

__all__ = ["register"]

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.options import JsonOption, examples, options_of
from backend.cli.output import print_json, print_text
from backend.errors import AppError
from backend.verimap.vocabulary import Task, task_of_name

if TYPE_CHECKING:
    from backend.verimap.routing import Route


def register(group: typer.Typer) -> None:
    """Add the command to ``verimap``."""
    group.command(
        "route",
        epilog=examples(
            "verimap route --task modality_recognition --verifier MedGemma",
            "verimap route --task causal_explanation --verifier demo --store data/parallax.duckdb --json",
        ),
    )(verimap_route)


def verimap_route(
    ctx: typer.Context,
    task: Annotated[str, typer.Option(help="What the question asks for: one of the seven tasks.", show_default=False)],
    verifier: Annotated[str, typer.Option(metavar="VLM", help="Who would verify its answer.", show_default=False)],
    generator: Annotated[
        str | None, typer.Option(metavar="VLM", help="Whose answer, with --store; else the verifier's own.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="PATH", help="A store to look into; without it none is opened.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether to trust a verifier on a question, let another VLM verify, or leave it to knowledge from outside.

    Without --store no store is opened, not even that of PARALLAX_STORE: the evidence is the paper's printed cells of
    self-verification, without an n, so it can speak against a verifier and never for it. With --store it is
    that store's verdicts on first answers.
    """
    from backend.services.verimap_routing import printed_route, stored_route

    options = options_of(ctx, store, as_json)
    known = task_of_name(task)
    if known is None:
        raise AppError(f"There is no task {task!r}.", f"Tasks: {', '.join(Task)}.")
    if options.store is not None:
        with options.open_store() as opened:
            found = stored_route(opened, known, verifier, generator)
    elif generator not in (None, verifier):
        raise AppError(
            "The paper prints cells of self-verification alone.", "Name the store to look into with --store."
        )
    else:
        found = printed_route(known, verifier)
    if options.as_json:
        print_json(_as_json(known, verifier, found))
        return
    print_text(f"{found.decision.label}: {found.reason}")
    if found.cell is not None:
        whose = "its own answers" if found.cell.is_self else f"answers of {found.cell.generator}"
        print_text(f"{found.cell.verifier} verifying {whose}, {found.cell.source}.")


def _as_json(task: Task, verifier: str, found: "Route") -> dict[str, Any]:
    cell = found.cell
    return {
        "decision": found.decision,
        "reason": found.reason,
        "task": task,
        "group": task.group,
        "verifier": verifier,
        "generator": cell.generator if cell else None,
        "source": cell.source if cell else None,
        "n": cell.n if cell else None,
        "n_wrong": cell.n_wrong if cell else None,
        "error": cell.error if cell else None,
        "error_high": found.error_high,
        "fpr": cell.fpr if cell else None,
        "fpr_high": found.fpr_high,
    }
