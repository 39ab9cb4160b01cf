"""``saliency run``: looks at the answers of a stored run, into run folders; of a verification at both sides."""

__all__ = ["register"]

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from backend.cli.options import JsonOption, Options, StoreOption, examples, options_of
from backend.cli.output import counted, print_json, print_text, say
from backend.cli.pace import rate_words, with_pace
from backend.cli.progress import progress
from backend.cli.run_folders import listed, named, record_figures
from backend.cli.saliency_live import no_saliency
from backend.domain.progress import Report
from backend.domain.records import System
from backend.errors import AppError
from backend.settings import DATA
from backend.verimap.conditions import Condition

if TYPE_CHECKING:
    from backend.services.runs.plan import Plan
    from backend.services.runs.record import RunRecord
    from backend.services.runs.saliency_run import LookingVlm
    from backend.store.store import Store
    from backend.vlm.registry import Registry

_WHOSE = {"generator": "the generator's answers", "verifier": "the verifier's words", "": "the answers"}


class _Wanted(NamedTuple):
    """What is looked into."""

    run_id: str
    """The run that was named or found."""
    plans: "dict[str, Plan]"
    """By the folder's name; "" is the one folder of a run that is none of verdicts."""
    why_no_generator: str
    """Why the generator's answers are not looked into; empty where they are, and where there is no generator."""


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(
        "run",
        epilog=examples(
            "saliency run --suite vqa-rad --generator demo --verifier demo --per-task 20 --dry-run",
            "saliency run --suite vqa-rad --generator MedGemma --verifier MedGemma --out runs/looks --resume",
            "saliency run --run Box-VLM.vqa-rad.direct.0a1b2c3d4e --limit 50",
            "import run runs/looks",
        ),
    )(saliency_run)


def saliency_run(
    ctx: typer.Context,
    suite: Annotated[str | None, typer.Option(metavar="SUITE", help="A data set of VeriMap in the store.")] = None,
    generator: Annotated[str | None, typer.Option(metavar="VLM", help="Whose answers were verified.")] = None,
    verifier: Annotated[str | None, typer.Option(metavar="VLM", help="Who verified them.")] = None,
    condition: Annotated[Condition, typer.Option(help="What the verifier was shown.")] = Condition.PLAIN,
    turn: Annotated[int, typer.Option(min=0, metavar="N", help="Of the feedback loop; 0: the first answers.")] = 0,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Instead of these five: any stored run, by its id.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Gets the run folders; else data/runs/<an id>.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the answers to the first N questions or units.")
    ] = None,
    per_task: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N questions of each task, spread over the suite.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run, failed looks too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be looked into; load no VLM.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look into VLMs that answered: what of the image they attended to, and what their words depended on.

    Of a run of verdicts both sides are looked into, in the folders generator and verifier; of any other run its
    answers. The VLM that gave an answer reads it again, behind the prompt and the image it had; nothing is
    generated. The store is read and closed again. Ctrl-C ends the run after the looks it is at; --resume goes on
    there. Then take the folder into the store: import run.
    """
    from backend.services.runs.saliency_run import Part, run_saliency
    from backend.services.runs.surroundings import vlm_facts
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    registry = Registry.load()
    with options.open_store() as opened:
        run_id = _named_run(opened, registry, run, suite, generator, verifier, condition, turn)
        wanted = _plans(opened, registry, run_id, limit, per_task)
    folder = out.expanduser() if out else DATA / "runs" / _last(wanted.plans).key.run_id
    if wanted.why_no_generator:
        say(f"The generator's answers are not looked into. {wanted.why_no_generator}")
    if dry_run:
        _show_plans(wanted, folder, options)
        return
    for plan in wanted.plans.values():
        if missing := list(plan.missing_images.values()):
            say(f"Images not on this machine, whose answers become error rows: {listed(missing)}.")
    vlms = {name: _opened(registry, name) for name in sorted({plan.vlm.name for plan in wanted.plans.values()})}
    parts = {
        name: Part(plan, vlms[plan.vlm.name], partial(vlm_facts, registry.find(plan.vlm.name).spec))
        for name, plan in wanted.plans.items()
    }
    with progress() as report:

        def staged(part: str) -> Report:
            paced = with_pace(report)
            words = f"looking into {_WHOSE[part]}"
            return lambda _, done, total: paced(words, done, total)

        records = run_saliency(parts, folder, resume=resume, report=staged)
    _show_records(records, wanted, folder, options)


def _named_run(
    store: "Store",
    registry: "Registry",
    run: str | None,
    suite: str | None,
    generator: str | None,
    verifier: str | None,
    condition: Condition,
    turn: int,
) -> str:
    from backend.services.runs.saliency_choice import find_verification

    if run and (suite or generator or verifier or turn or condition is not Condition.PLAIN):
        raise AppError(
            "A run that is named by --run needs no --suite, --generator, --verifier, --condition and --turn.",
            "Leave out one or the other.",
        )
    if run:
        return run
    if not (suite and generator and verifier):
        raise AppError(
            "It is not said whose answers are looked into.",
            "Name a verification by --suite, --generator and --verifier, or any run of the store by --run.",
        )
    answered, judged = (_stored_name(registry, name) for name in (generator, verifier))
    return find_verification(store, suite, answered, judged, condition, turn)


def _stored_name(registry: "Registry", name: str) -> str:
    """Return a VLM's name as the store has it; one that the list of VLMs lacks may have answered elsewhere."""
    try:
        return registry.find(name).name
    except AppError:
        return name


def _plans(store: "Store", registry: "Registry", run_id: str, limit: int | None, per_task: int | None) -> _Wanted:
    """Plan the looks at a run, and where it is one of verdicts those at the answers these are on.

    Raises:
        AppError: The run itself cannot be looked into. Where the generator's answers cannot, it is said, and the
            verifier's looks are made all the same.
    """
    from backend.services.runs.saliency_choice import choose_units, sides_of
    from backend.services.runs.saliency_run import GENERATOR, VERIFIER

    sides = sides_of(store, run_id)
    units = choose_units(store, run_id, limit=limit, per_task=per_task)
    of_run = _plan(store, registry, run_id, units)
    if sides.generator_run is None:
        return _Wanted(run_id, {"": of_run}, "")
    try:
        of_generator = _plan(store, registry, sides.generator_run, units)
    except AppError as error:
        return _Wanted(run_id, {VERIFIER: of_run}, error.message)
    return _Wanted(run_id, {GENERATOR: of_generator, VERIFIER: of_run}, "")


def _plan(store: "Store", registry: "Registry", run_id: str, units: tuple[str, ...] | None) -> "Plan":
    """Plan the looks at one run; pictures with a cue that are not at hand are drawn first, where they can be."""
    from backend.services.ingest.cue_pictures import draw_cue_pictures
    from backend.services.runs.identity import identity_of
    from backend.services.runs.saliency_plan import looked_run, saliency_plan

    run = looked_run(store.rows, run_id)
    entry = registry.find(run.vlm)
    if not (entry.spec and entry.answers.works and entry.attention.works):
        raise no_saliency(registry, entry)
    if run.system == System.SURGCHECK:
        draw_cue_pictures(store, run.suite)
    return saliency_plan(store, run_id, identity_of(entry), units=units)


def _opened(registry: "Registry", name: str) -> "LookingVlm":
    from backend.services.looks import SaliencyVlm
    from backend.services.runs.saliency_run import LookingVlm

    vlm = registry.open_vlm(name)
    if not isinstance(vlm, SaliencyVlm):
        raise no_saliency(registry, registry.find(name))
    return LookingVlm(vlm)


def _last(plans: "dict[str, Plan]") -> "Plan":
    """Return the plan of the run that was named, after which a folder is named."""
    return list(plans.values())[-1]


def _described(wanted: _Wanted, folder: Path) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "suite": _last(wanted.plans).key.suite,
        "run": wanted.run_id,
        "why_no_generator": wanted.why_no_generator or None,
    }


def _place(folder: Path, name: str) -> Path:
    return folder / name if name else folder


def _show_plans(wanted: _Wanted, folder: Path, options: Options) -> None:
    """Tell what would be looked into; load nothing."""
    from backend.services.runs.saliency_plan import read_look_text

    parts = []
    for name, plan in wanted.plans.items():
        why_not = Counter(item.not_asked for item in plan.items if item.not_asked)
        first = read_look_text(next(item.prompt for item in plan.items if not item.not_asked))
        parts.append(
            {
                "part": name,
                **named(plan.key, _place(folder, name)),
                "looked_run": plan.key.setting,
                "n_units": len(plan.unit_ids),
                "n_answers": len(plan.items),
                "n_looks": len(plan.items) - why_not.total(),
                "why_not": dict(why_not.most_common()),
                "n_images": len(plan.images),
                "missing_images": list(plan.missing_images.values()),
                "first": first._asdict(),
            }
        )
    if options.as_json:
        print_json({**_described(wanted, folder), "parts": parts})
        return
    for part in parts:
        missing = part["missing_images"]
        print_text(
            f"{part['model']} would be looked into at {counted(part['n_looks'], 'answer')} of the run "
            f"{part['looked_run']}, about {counted(part['n_images'], 'image')}."
        )
        for reason, n in part["why_not"].items():
            print_text(f"  {n:,} × {reason}")
        print_text(f"Images not on this machine: {listed(missing) if missing else 'none'}. The first prompt:")
        print_text(f"  {part['first']['prompt']}")
        print_text(f"What was said to it: {part['first']['said']}")
    print_text(f"Run folders go into: {folder}")


def _show_records(records: "dict[str, RunRecord]", wanted: _Wanted, folder: Path, options: Options) -> None:
    if options.as_json:
        parts = [
            {
                "part": name,
                **named(record.key, _place(folder, name)),
                "looked_run": record.setting,
                **record_figures(record),
            }
            for name, record in records.items()
        ]
        print_json({**_described(wanted, folder), "parts": parts})
        return
    for name, record in records.items():
        counts, pace = record.counts, record.answers_per_second
        print_text(
            f"{record.vlm.name}, {_WHOSE[name]} on {record.suite}: {counts.done:,} of {counts.planned:,} looked into, "
            f"{counts.failed:,} could not be{f', {rate_words(pace)}' if pace else ''}."
        )
        for what, n in record.errors.items():
            print_text(f"  {n:,} × {what}")
        for what, values in record.mixed.items():
            print_text(f"Looked into under more than one {what}: {'; '.join(values)}.")
        if record.lost_shards:
            print_text(f"Found damaged or gone, and looked into again: {', '.join(record.lost_shards)}.")
    print_text(f"Take it into the store: python -m backend import run {folder}")
