"""``metrics saliency``: how much generator and verifier rested on the image, and how far the two part."""

__all__ = ["register"]

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.options import JsonOption, StoreOption, examples, options_of
from backend.cli.output import Table, counted, print_json, print_table, print_text, say
from backend.domain.records import System

if TYPE_CHECKING:
    from backend.services.grounding import GroundingCounts
    from backend.store.store import Store
    from backend.store.verification_filters import VerificationFilter

_PAIR = ("suite", "generator", "verifier", "condition", "turn")
_CONTRACT = (
    "n", "n_undefined", "generator_mean", "verifier_mean", "generator_even", "verifier_even", "gap", "gap_low",
    "gap_high", "p", "d_paired", "d_pooled", "kruskal_statistic", "kruskal_df", "kruskal_p",
)  # fmt: skip
_FURTHER = ("n_lower", "n_images", "generator_median", "verifier_median", "statistic")


class _By(StrEnum):
    TASK = "task"
    OUTCOME = "outcome"


def register(group: typer.Typer) -> None:
    """Add the command to ``metrics``."""
    group.command("saliency", epilog=examples("metrics saliency", "metrics saliency --by outcome --json"))(
        metrics_saliency
    )


def metrics_saliency(
    ctx: typer.Context,
    model: Annotated[
        list[str] | None, typer.Option(metavar="VLM", help="A verifier's name, or its run's id; repeat for more.")
    ] = None,
    suite: Annotated[str | None, typer.Option(help="One data set; else all.")] = None,
    by: Annotated[_By, typer.Option(help="Break each run down by task, or by what became of the verdict.")] = _By.TASK,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the visual grounding gap of verifications, a row a run, group and proxy; a row without group is over all.

    Proxies: image saliency fraction; that over its even share (times_even, ours); mean gradient activation. The gap is
    the mean of generator minus verifier; its interval, 95 %, resamples whole images. p is Wilcoxon's, one-sided:
    generator > verifier; on rows over all, Kruskal and Wallis' test asks whether gaps differ between groups. Both take
    pairs of one image as independent. Runs are never added up; pairs with an undefined value are left out and counted.
    All of it is correlational.
    """
    from backend.services.choosing import find_runs
    from backend.services.grounding import grounding_counts
    from backend.store.verification_filters import VerificationFilter
    from backend.verimap.conditions import Condition

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened:
        runs = find_runs(opened, System.VERIMAP, names=model or (), suite=suite)
        chosen = VerificationFilter(
            suites=(suite,) if suite else (),
            runs=tuple(run.run_id for run in runs) if model else (),
            conditions=tuple(Condition),
        )
        rows = _rows(opened, chosen, by)
        counts = grounding_counts(opened, chosen)
    if options.as_json:
        print_json({"rows": rows})
        return
    if not rows:
        for line in _counted(counts):
            say(line)
        say("Look into both sides of verdicts first: python -m backend saliency run -h")
        return
    print_table(_table(rows, by))
    for line in (*_between(rows, by), *_counted(counts)):
        print_text(line)
    if by is _By.OUTCOME:
        print_text(chosen.policy.sentence)


def _rows(store: "Store", chosen: "VerificationFilter", by: _By) -> list[dict[str, Any]]:
    """Return the rows of each verifier's run, in the order of the table."""
    from backend.services.endoca_series import records
    from backend.services.grounding import grounding_table, grounding_tests
    from backend.verimap.proxies import ALL, Proxy

    table = grounding_table(store, chosen)
    rows = []
    for run_id in dict.fromkeys(table["run_id"]):
        own = table[table["run_id"] == run_id]
        pair = {name: own[name].iloc[0] for name in _PAIR}
        for proxy in Proxy:
            for test in records(grounding_tests(own, proxy, by.value)):
                group = None if test["group"] == ALL else test["group"]
                told = {name: test[name] for name in (*_CONTRACT, *_FURTHER)}
                rows.append({**pair, by.value: group, "proxy": proxy.value, **told, "run_id": run_id})
    return rows


def _counted(counts: "GroundingCounts") -> list[str]:
    """Return how many verifications the rows rest on, and why looks could not be had."""
    lines = [f"{counts.n_both:,} of {counted(counts.n, 'verification')} looked into on both sides."]
    for failed in counts.failures:
        lines.append(f"{counted(failed.n, 'verification')} without a look at the {failed.side}: {failed.reason}")
    return lines


def _between(rows: Sequence[Mapping[str, Any]], by: _By) -> list[str]:
    """Return whether gaps differ between groups, a line a run and proxy for which that can be tested."""
    from backend.verimap.proxies import Proxy

    return [
        f"{_who(row)}: {Proxy(row['proxy']).label}, gap between {by.value}s: Kruskal–Wallis "
        f"H = {row['kruskal_statistic']:.1f}, df = {row['kruskal_df']}, p {_p(row['kruskal_p'])}"
        for row in rows
        if row["kruskal_p"] is not None
    ]


def _who(row: Mapping[str, Any]) -> str:
    turn = f", turn {row['turn']}" if row["turn"] else ""
    condition = "" if row["condition"] == "plain" else f", {row['condition'].replace('_', ' ')}"
    return f"{row['verifier']} on answers of {row['generator']}{turn}{condition}"


def _table(rows: Sequence[Mapping[str, Any]], by: _By) -> Table:
    """Return the rows for people, with the columns that tell rows apart."""
    from backend.verimap.proxies import Proxy

    told = [name for name in _PAIR if name in ("generator", "verifier") or len({row[name] for row in rows}) > 1]
    heads = [*(name.capitalize() for name in told), by.value.capitalize(), "Proxy"]
    numbers = ["Pairs", "Undefined", "Generator", "even", "Verifier", "even", "Gap", "p", "d paired", "d pooled"]
    means = ("generator_mean", "generator_even", "verifier_mean", "verifier_even")
    table = Table([*heads, *numbers], text_columns=len(heads))
    for row in rows:
        interval = "" if row["gap_low"] is None else f"\n{_number(row['gap_low'])} to {_number(row['gap_high'])}"
        cells = [str(row[name]).replace("_", " ") if name == "condition" else str(row[name]) for name in told]
        cells += [(row[by.value] or "all").replace("_", " "), Proxy(row["proxy"]).label]
        cells += [f"{row[name]:,}" for name in ("n", "n_undefined")]
        cells += [_number(row[name]) for name in means]
        cells += [_number(row["gap"]) + interval, _p(row["p"]), _number(row["d_paired"]), _number(row["d_pooled"])]
        table.rows.append(cells)
    return table


def _number(value: float | None) -> str:
    from backend.domain.metric import NOT_AVAILABLE

    return NOT_AVAILABLE if value is None else f"{value:.3g}"


def _p(p: float | None) -> str:
    from backend.domain.metric import NOT_AVAILABLE

    return NOT_AVAILABLE if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
