"""``metrics``: one row a run (and group), with counts and intervals."""

__all__ = ["group"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import Table, print_json, print_table, say
from backend.domain.records import Stage, System

if TYPE_CHECKING:
    from backend.services.choosing import RunInfo

group = command_group("metrics", "Metrics of the runs in the store. Fractions from 0 to 1 in JSON; N/A is null there.")

_COUNTS = ("n_units", "n_atomic", "n_missing", "n_failed", "n_empty", "n_unparsed", "n_images")
_METRICS = ("complex_accuracy", "atomic_accuracy", "all_atomic_accuracy", "joint_accuracy", "inconsistency")
_SELECTIVE = ("coverage", "selective_accuracy")
"""Of the stages after the direct one; N/A but where a stage decides whether to answer."""
_OF_RUN = ("model", "suite", "stage", "setting", "origin", "vlm_group", "run_id")
"""What a row says of its run; a breakdown by one of these is there without asking."""


@group.command(
    "endoca",
    epilog=examples("metrics endoca", "metrics endoca --model MedGemma-FT --suite core --by complexity --json"),
)
def metrics_endoca(
    ctx: typer.Context,
    model: Annotated[
        list[str] | None, typer.Option(metavar="VLM", help="A VLM's name, or a run's id; repeat for more.")
    ] = None,
    suite: Annotated[str | None, typer.Option(help="One suite; else all.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN,...",
            help="Break down by complexity, question_class, question_type, outcome or split.",
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print EndoCA's metrics, a row a run: accuracies, inconsistency, and what was not answered.

    Intervals are 95 % and resample whole images. With a breakdown by question class or type, a
    unit stands in every group it has a part of, and atomic accuracy is over that group's parts.
    """
    from backend.services.choosing import find_runs
    from backend.services.explore import endoca_metrics
    from backend.store.filters import UnitFilter

    options = options_of(ctx, store, as_json)
    columns = [part.strip() for given in by or () for part in given.split(",") if part.strip()]
    groups = [column for column in dict.fromkeys(columns) if column not in _OF_RUN]
    rows: list[dict[str, Any]] = []
    with options.open_store() as opened:
        runs = {run.run_id: run for run in find_runs(opened, System.ENDOCA, names=model or (), suite=suite)}
        chosen = UnitFilter(suite=suite or "", runs=tuple(runs))
        table = endoca_metrics(opened, chosen, groups)
        rows = [_row(runs[record["run_id"]], record, groups) for record in table.to_dict("records")]
    order = {run_id: place for place, run_id in enumerate(runs)}
    rows.sort(key=lambda row: order[row["run_id"]])
    if options.as_json:
        print_json({"rows": rows})
    elif rows:
        print_table(_table(rows, groups))
    else:
        say("There is no run to show yet. Import a prediction file: python -m backend import endoca FILE")


def _row(run: "RunInfo", record: Mapping[Any, Any], groups: Sequence[str]) -> dict[str, Any]:
    shown = [*_METRICS, *(_SELECTIVE if run.stage != Stage.DIRECT else ())]
    return {
        "model": run.vlm,
        "suite": run.suite,
        "stage": run.stage,
        **{name: record[name] for name in groups},
        **{name: record[name] for name in _COUNTS},
        **{name + bound: record[name + bound] for name in shown for bound in ("", "_low", "_high")},
        "setting": run.setting,
        "origin": run.origin,
        "vlm_group": run.vlm_group,
        "run_id": run.run_id,
    }


def _table(rows: Sequence[Mapping[str, Any]], groups: Sequence[str]) -> Table:
    """Return the rows for people: percent over its interval, counts beside."""
    told = [name for name in ("stage", "setting") if len({row[name] for row in rows}) > 1]
    words = ["model", "suite", *told, *groups]
    metrics = [name for name in (*_METRICS, *_SELECTIVE) if any(name in row for row in rows)]
    counts = ["n_missing", "n_failed", "n_empty", "n_unparsed"]
    names = {"model": "VLM", "n_units": "Units", "n_atomic": "Parts", "n_unparsed": "Not readable"}
    columns = [*words, "n_units", "n_atomic", *metrics, *counts]
    table = Table(
        [names.get(name, name.removeprefix("n_").replace("_", " ").capitalize()) for name in columns],
        text_columns=len(words),
    )
    for row in rows:
        table.rows.append(
            [
                *(str(row[name]) for name in words),
                *(f"{row[name]:,}" for name in ("n_units", "n_atomic")),
                *(_cell(row, name) for name in metrics),
                *(f"{row[name]:,}" for name in counts),
            ]
        )
    return table


def _cell(row: Mapping[str, Any], name: str) -> str:
    from backend.domain.metric import percent

    if name not in row:
        return percent(None)
    value, low, high = (row[name + bound] for bound in ("", "_low", "_high"))
    interval = f"\n{100 * low:.1f}–{100 * high:.1f}" if low is not None else ""
    return percent(value) + interval
