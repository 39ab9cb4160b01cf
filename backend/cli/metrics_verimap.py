"""``metrics verimap``: verifiers by task, VLMs and data set."""

__all__ = ["register"]

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import Table, print_json, print_table, print_text, say
from backend.verimap.outcomes import Policy, Treatment

_DEFAULT = ("model", "dataset")
_COUNTS = ("n", "n_dropped", "tp", "tn", "fp", "fn")
_METRICS = ("accuracy", "error", "fpr", "fnr", "bias", "dskew", "signed_dskew")
_FURTHER = ("n_images", "n_uncertain", "n_unparsed", "n_unjudged", "n_runs")
_POINTS = ("bias", "signed_dskew")
"""Metrics that can be below 0."""


def register(group: typer.Typer) -> None:
    """Add the command to ``metrics``."""
    group.command(
        "verimap", epilog=examples("metrics verimap", "metrics verimap --by task,model,dataset --uncertain drop --json")
    )(metrics_verimap)


def metrics_verimap(
    ctx: typer.Context,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN,...", help="Any of task, model, dataset; else model,dataset: a row a run."),
    ] = None,
    uncertain: Annotated[
        Treatment, typer.Option(help="UNCERTAIN verdicts: not accepted, or left out and counted.")
    ] = Treatment.REJECT,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print VeriMap's metrics of verifiers: error, FPR, FNR, Bias, dSkew, with the counts they are made of.

    A model is a generator with its verifier. Counts are added up over what --by does not name, and those columns are
    null; turns, self- and cross-verification, and origins are never added up. Replies without a verdict are left out
    and counted, answers that no oracle judged as well. Controls and two-step verdicts are not in it. Intervals are
    95 %: Wilson's for shares, resampled images for Bias and dSkew.
    """
    from backend.services.endoca_series import records
    from backend.services.verimap_metrics import verimap_metrics

    options = options_of(ctx, store, as_json)
    named = [part.strip() for given in by or () for part in given.split(",") if part.strip()]
    policy = Policy(uncertain=uncertain)
    with options.open_store() as opened:
        table = verimap_metrics(opened, tuple(dict.fromkeys(named)) or _DEFAULT, policy)
    rows = [_row(record) for record in records(table)]
    if options.as_json:
        print_json({"rows": rows})
    elif rows:
        print_table(_table(rows))
        print_text(policy.sentence)
    else:
        say("There is no verdict to show yet. Import records: python -m backend import verimap --records FILE")


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "task": record["task"],
        "generator": record["generator"],
        "verifier": record["verifier"],
        "dataset": record["suite"],
        "turn": record["turn"],
        **{name: record[name] for name in (*_COUNTS, *_METRICS)},
        **{f"{name}{bound}": record[f"{name}{bound}"] for name in _METRICS for bound in ("_low", "_high")},
        **{name: record[name] for name in _FURTHER},
        "pairing": record["pairing"],
        "origin": record["origin"],
        "model": record["verifier"],
        "setting": record["setting"],
        "run_id": record["run_id"],
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the rows for people: percent over its interval, the columns that tell rows apart, runs where several."""
    always = ("task", "generator", "verifier", "dataset")
    words = [name for name in always if any(row[name] is not None for row in rows)]
    told = ("turn", "origin") if "generator" in words else ("pairing", "turn", "origin")
    words += [name for name in told if len({row[name] for row in rows}) > 1]
    heads = {"n": "Verdicts", "n_dropped": "Left out", "n_runs": "Runs", "fpr": "FPR", "fnr": "FNR", "dskew": "dSkew"}
    heads |= {"dataset": "Data set", **{name: name.upper() for name in _COUNTS[2:]}}
    shown = [name for name in _METRICS if name != "signed_dskew"]
    counts = [*_COUNTS, "n_runs"] if any(row["n_runs"] > 1 for row in rows) else _COUNTS
    columns = [*words, *counts, *shown]
    table = Table([heads.get(name, name.capitalize()) for name in columns], text_columns=len(words))
    for row in rows:
        cells = ["none" if row[name] is None else str(row[name]) for name in words]
        cells += [f"{row[name]:,}" for name in counts]
        table.rows.append([*cells, *(_cell(row, name) for name in shown)])
    return table


def _cell(row: Mapping[str, Any], name: str) -> str:
    from backend.domain.metric import NOT_AVAILABLE

    value, low, high = (row[f"{name}{bound}"] for bound in ("", "_low", "_high"))
    if value is None:
        return NOT_AVAILABLE
    sign = "+" if name in _POINTS else ""
    interval = "" if low is None else f"\n{100 * low:{sign}.1f} to {100 * high:{sign}.1f}"
    return f"{100 * value:{sign}.1f}{'' if sign else ' %'}{interval}"
