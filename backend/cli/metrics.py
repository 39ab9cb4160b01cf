"""``metrics``: one row a run (and group), with counts and intervals."""

__all__ = ["group"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli import metrics_saliency, metrics_verimap
from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import Table, print_json, print_table, say
from backend.domain.records import Stage, System
from backend.errors import AppError

if TYPE_CHECKING:
    from backend.services.choosing import RunInfo
    from backend.store.store import Store

group = command_group("metrics", "Metrics of the runs in the store. Fractions from 0 to 1 in JSON; N/A is null there.")

metrics_verimap.register(group)
metrics_saliency.register(group)

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
    groups = _groups(by, _OF_RUN)
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


_PAIR_GROUPS = ("task", "cue", "level")
_PAIR_COUNTS = ("n_images", "n_missing", "n_failed", "n_empty", "n_unasked", "n_judged", "n_pairs")
_PAIR_CONTRACT = (
    "accuracy", "macro_f1", "macro_f1_union", "weighted_f1", "judge_mean", "judge_accuracy", "n_unscored",
    "gap", "gap_low", "gap_high",
)  # fmt: skip
_PAIR_FURTHER = (
    *(f"{name}{bound}" for name in ("accuracy", "macro_f1", "weighted_f1", "judge_mean", "judge_accuracy")
      for bound in ("_low", "_high")),
    *(f"{name}{bound}" for name in ("macro_f1_gap", "judge_gap") for bound in ("", "_low", "_high")),
    "n_hint_only", "n_pointed_only", "n_judged_pairs", "p_value", "p_mcnemar",
)  # fmt: skip


@group.command(
    "surgcheck",
    epilog=examples("metrics surgcheck", "metrics surgcheck --model Qwen2.5-VL-7B --suite full_test --by task --json"),
)
def metrics_surgcheck(
    ctx: typer.Context,
    model: Annotated[
        list[str] | None, typer.Option(metavar="VLM", help="A VLM's name, or a run's id; repeat for more.")
    ] = None,
    suite: Annotated[str | None, typer.Option(help="One suite; else all.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN,...", help="Break down by task, cue or level.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print SurgCheck's metrics, a row a run and variant: original, less-biased, text-only.

    Exact match, F1 in three named averages, and the judge's scores where there are any. The gap is
    original minus less-biased accuracy over the same pairs; intervals are 95 % and resample whole
    frames. Questions of a variant and cue that a run holds no answer to are not counted as missing.
    """
    from backend.services.choosing import find_runs

    options = options_of(ctx, store, as_json)
    groups = _groups(by, (*_OF_RUN, "variant"))
    unknown = [name for name in groups if name not in _PAIR_GROUPS]
    if unknown:
        raise AppError(f"There is no breakdown by {unknown[0]}.", f"Known: {', '.join(_PAIR_GROUPS)}.")
    with options.open_store() as opened:
        runs = find_runs(opened, System.SURGCHECK, names=model or (), suite=suite)
        rows = _pair_rows(opened, runs, groups)
    if options.as_json:
        print_json({"rows": rows})
    elif rows:
        print_table(_pair_table(rows, groups))
    else:
        say("There is no run to show yet. Import prediction files: python -m backend import surgcheck PATH…")


def _groups(by: Sequence[str] | None, there: Sequence[str]) -> list[str]:
    """Return the columns asked for, without those that are there anyway."""
    columns = [part.strip() for given in by or () for part in given.split(",") if part.strip()]
    return [column for column in dict.fromkeys(columns) if column not in there]


def _pair_rows(store: "Store", runs: "Sequence[RunInfo]", groups: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of some runs, one suite after the other: no table holds answers of two."""
    from backend.services.endoca_series import records
    from backend.services.surgcheck_answers import answer_table, unasked_table
    from backend.services.surgcheck_series import score_table
    from backend.store.pair_filters import PairFilter

    rows = []
    for suite in dict.fromkeys(run.suite for run in runs):
        of_suite = {run.run_id: run for run in runs if run.suite == suite}
        chosen = PairFilter(suite=suite, runs=tuple(of_suite))
        unasked = records(unasked_table(store, chosen))
        found = [
            _pair_row(of_suite[row["run_id"]], row, groups, unasked)
            for row in records(score_table(store, answer_table(store, chosen), groups))
        ]
        order = {run_id: place for place, run_id in enumerate(of_suite)}
        rows += sorted(found, key=lambda row: order[row["run_id"]])
    return rows


def _pair_row(
    run: "RunInfo", row: Mapping[str, Any], groups: Sequence[str], unasked: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    left_out = [
        kind["n"] for kind in unasked
        if all(kind[name] == row[name] for name in ("run_id", "variant", *groups))
    ]  # fmt: skip
    known = {**row, "n_unasked": sum(left_out)}
    return {
        "model": run.vlm,
        "setting": run.setting,
        "suite": run.suite,
        "variant": row["variant"],
        **{name: row[name] for name in groups},
        "n": row["n"],
        **{name: known[name] for name in (*_PAIR_CONTRACT, *_PAIR_COUNTS, *_PAIR_FURTHER)},
        "judge": row["judge"],
        "stage": run.stage,
        "origin": run.origin,
        "vlm_group": run.vlm_group,
        "run_id": run.run_id,
    }


def _pair_table(rows: Sequence[Mapping[str, Any]], groups: Sequence[str]) -> Table:
    """Return the rows for people: percent over its interval, the gap in points over its own."""
    told = [name for name in ("setting", "suite") if len({row[name] for row in rows}) > 1]
    words = ["model", *told, *groups, "variant"]
    values = ["accuracy", "macro_f1", "macro_f1_union", "weighted_f1"]
    judged = any(row["n_judged"] for row in rows)
    names = {"model": "VLM", "n": "Questions", "n_missing": "Missing", "macro_f1": "Macro F1"}
    names |= {"macro_f1_union": "Macro F1, all labels", "weighted_f1": "Weighted F1"}
    of_judge = ["judge_mean", "judge_accuracy", "n_unscored"] if judged else []
    columns = [*words, "n", "n_missing", *values, *of_judge, "gap"]
    table = Table(
        [names.get(c, c.removeprefix("n_").replace("_", " ").capitalize()) for c in columns], text_columns=len(words)
    )
    for row in rows:
        cells = [str(row[name]).replace("_", " ") if name == "variant" else str(row[name]) for name in words]
        cells += [f"{row[name]:,}" for name in ("n", "n_missing")]
        cells += [_cell(row, name) for name in values]
        if judged:
            cells += [_mean_cell(row), _cell(row, "judge_accuracy"), f"{row['n_unscored']:,}"]
        table.rows.append([*cells, _gap_cell(row)])
    return table


def _mean_cell(row: Mapping[str, Any]) -> str:
    from backend.domain.metric import NOT_AVAILABLE

    mean, low, high = (row[f"judge_mean{bound}"] for bound in ("", "_low", "_high"))
    interval = f"\n{low:.2f}–{high:.2f}" if low is not None else ""
    return NOT_AVAILABLE if mean is None else f"{mean:.2f}{interval}"


def _gap_cell(row: Mapping[str, Any]) -> str:
    """Return the gap; nothing where the row has none by its kind."""
    from backend.domain.metric import points

    if not row["n_pairs"]:
        return ""
    low, high = row["gap_low"], row["gap_high"]
    interval = f"\n{points(low).split()[0]} to {points(high).split()[0]}" if low is not None else ""
    return points(row["gap"]) + interval


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
    value, low, high = (row.get(name + bound) for bound in ("", "_low", "_high"))
    interval = f"\n{100 * low:.1f}–{100 * high:.1f}" if low is not None and high is not None else ""
    return percent(value) + interval
