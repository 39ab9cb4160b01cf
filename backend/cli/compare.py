"""``compare``: two runs on the same units."""

__all__ = ["group"]

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import Table, print_json, print_table, print_text

if TYPE_CHECKING:
    from backend.services.explore import Comparison

group = command_group("compare", "Compare two runs on the units that both hold.")


@group.command("endoca", epilog=examples("compare endoca --a MedGemma --b MedGemma-FT --suite core"))
def compare_endoca(
    ctx: typer.Context,
    a: Annotated[str, typer.Option("--a", metavar="VLM", help="A VLM's name, or a run's id.")],
    b: Annotated[str, typer.Option("--b", metavar="VLM", help="Another one; differences are b minus a.")],
    suite: Annotated[str | None, typer.Option(help="The suite; needed where both answered several.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs unit by unit: flips both ways, the difference, and an exact McNemar test."""
    from backend.domain.records import System
    from backend.services.choosing import find_pair
    from backend.services.explore import compare
    from backend.store.filters import UnitFilter

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened:
        run_a, run_b = find_pair(opened, System.ENDOCA, a, b, suite=suite)
        found = compare(opened, run_a.run_id, run_b.run_id, UnitFilter(suite=run_a.suite))
    if options.as_json:
        rows = [{"metric": comparison.metric, **asdict(comparison.result)} for comparison in found]
        print_json({"suite": run_a.suite, "a": run_a._asdict(), "b": run_b._asdict(), "rows": rows})
        return
    print_text(f"a: {run_a.vlm} ({run_a.run_id})\nb: {run_b.vlm} ({run_b.run_id})")
    print_table(_table(found))


def _table(found: "list[Comparison]") -> Table:
    from backend.domain.metric import percent, points

    table = Table(["Metric", "Units", "a", "b", "b − a", "95 %", "Only a right", "Only b right", "p (McNemar)"])
    for metric, result in found:
        interval = f"{points(result.low)} to {points(result.high)}" if result.low is not None else "N/A"
        table.rows.append(
            [
                metric.replace("_", " "),
                f"{result.n:,}",
                percent(result.share_a),
                percent(result.share_b),
                points(result.difference),
                interval,
                f"{result.a_right_b_wrong:,}",
                f"{result.a_wrong_b_right:,}",
                _p_value(result.p_value),
            ]
        )
    return table


def _p_value(p: float | None) -> str:
    if p is None:
        return "N/A"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
