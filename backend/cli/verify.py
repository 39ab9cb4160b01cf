"""``verify``: a VLM judges a VLM's answers, over a whole suite, and about one image."""

__all__ = ["group"]

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli import verify_live
from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import counted, print_json, print_text
from backend.cli.pace import with_pace
from backend.cli.progress import progress
from backend.cli.run_folders import listed, named, print_record, record_figures, say_missing
from backend.domain.progress import Report
from backend.domain.records import Stage
from backend.errors import AppError
from backend.settings import DATA
from backend.verimap.conditions import Condition
from backend.verimap.setups import OptionsShown

if TYPE_CHECKING:
    from backend.services.runs.plan import Plan
    from backend.services.runs.record import RunRecord
    from backend.services.runs.verification_run import Chain
    from backend.services.runs.verification_start import Start
    from backend.store.store import Store
    from backend.vlm.registry import Registry

_N_PROMPTS = 3

group = command_group("verify", "Verification: a VLM judges the answers of a VLM, its own or another's.")
verify_live.register(group)


@group.command(
    "run",
    epilog=examples(
        "verify run --suite vqa-rad --generator demo --verifier demo --turns 4 --out runs/loop",
        "verify run --suite vqa-rad --generator runs/loop --verifier MedGemma --out runs/cross",
        "verify run --suite vqa-rad --generator Box-VLM.vqa-rad.direct.0a1b2c3d4e --verifier demo \\",
        "    --condition image_withheld --out runs/withheld --resume",
    ),
)
def verify_run(
    ctx: typer.Context,
    suite: Annotated[str, typer.Option(metavar="SUITE", help="A data set of VeriMap in the store.")],
    generator: Annotated[
        str,
        typer.Option(
            metavar="VLM|RUN|DIR",
            help="Whose answers: a VLM, asked first; a run of the store; or a folder of predict or verify run.",
        ),
    ],
    verifier: Annotated[str, typer.Option(metavar="VLM", help="Who judges them: the same VLM or any other.")],
    condition: Annotated[
        Condition, typer.Option(help="What the verifier is shown; those of the image are controls.")
    ] = Condition.PLAIN,
    turns: Annotated[
        int, typer.Option(min=0, metavar="N", help="Turns in which verdict and explanation go back to the generator.")
    ] = 0,
    stop_at_correct: Annotated[
        bool, typer.Option("--stop-at-correct", help="An answer whose verdict is CORRECT is final.")
    ] = False,
    shown: Annotated[
        OptionsShown,
        typer.Option("--options", help="Whether options stand below a question; of answers that are there, as it was."),
    ] = OptionsShown.SHOWN,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Gets the run folders; else data/runs/<an id>.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run, failed calls too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be asked; load no VLM.")] = False,
    max_new_tokens: Annotated[
        int, typer.Option(min=1, metavar="N", help="Tokens of a verdict with its explanation, at most.")
    ] = 256,
    reasoning_effort: Annotated[str, typer.Option(help="Of a remote verifier that takes it; else its own.")] = "",
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Questions given to a VLM at once; by default about 15 s of them, 64 at most.",
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a VLM judge a generator's answers, and give the generator what it said.

    Run folders one after another: generate (where a VLM is named), look (two_step), turn-0-verify,
    turn-1-loop, turn-1-verify and on. Every call is made in a fresh context. The store is read for
    the questions and closed again. Ctrl-C ends the run after the batch it is at; --resume goes on there.
    Then take the folder into the store: import run.
    """
    from backend.services.runs.identity import identity_of
    from backend.services.runs.surroundings import vlm_facts
    from backend.services.runs.verification_run import Chain, Participant, run_chain
    from backend.verimap.feedback_loop import DECODINGS
    from backend.vlm.registry import Registry

    options = options_of(ctx, store, as_json)
    registry = Registry.load()
    judge = registry.find(verifier)
    decoding = replace(DECODINGS[Stage.VERIFY], max_new_tokens=max_new_tokens, reasoning_effort=reasoning_effort)
    chain = Chain(condition, turns, stop_at_correct, decoding)
    with options.open_store() as opened:
        start = _start(opened, registry, suite, generator, shown, limit)
    needs_generator = start.answers is None or turns > 0
    if needs_generator:
        _check_build(registry, start.first)
    folder = out.expanduser() if out else DATA / "runs" / _folder_name(start, judge.name, chain)
    if dry_run:
        _show_plan(start, judge.name, chain, folder, as_json=options.as_json)
        return
    say_missing(start.first)

    def taking_part(name: str) -> Participant:
        entry = registry.find(name)
        return Participant(identity_of(entry), registry.open_vlm(name), partial(vlm_facts, entry.spec))

    judging = taking_part(judge.name)
    answering = None
    if needs_generator:
        is_self = start.first.key.vlm == judge.name
        answering = judging if is_self else taking_part(start.first.key.vlm)
    with progress() as report:

        def staged(part: str) -> Report:
            return with_pace(lambda words, done, total: report(f"{part}: {words}", done, total))

        records = run_chain(
            start.first,
            start.answers,
            judging,
            folder,
            chain,
            generator=answering,
            images=start.images,
            resume=resume,
            batch=batch,
            report=staged,
        )
    _show_records(records, start, judge.name, chain, folder, as_json=options.as_json)


def _start(
    store: "Store", registry: "Registry", suite: str, generator: str, shown: OptionsShown, limit: int | None
) -> "Start":
    """Return what is verified: the answers of a folder or of a stored run by that name, else a VLM's to come."""
    from backend.services.runs.identity import identity_of
    from backend.services.runs.verification_start import start_anew, start_from_folder, start_from_run

    folder = Path(generator).expanduser()
    if folder.is_dir():
        return start_from_folder(store, suite, folder, limit=limit)
    if store.value("SELECT count(*) FROM runs WHERE run_id = ?", [generator]):
        return start_from_run(store, suite, generator, limit=limit)
    return start_anew(store, suite, identity_of(registry.find(generator)), shown, limit=limit)


def _check_build(registry: "Registry", first: "Plan") -> None:
    """Refuse a generator that is not the one that answered: a loop would be of two VLMs."""
    from backend.services.runs.identity import identity_of

    here = identity_of(registry.find(first.key.vlm))
    if here.digest != first.vlm.digest:
        raise AppError(
            f"The first answers are of another build of {first.key.vlm} than the one that would be asked again.",
            "Leave --turns out, or name the VLM for --generator: it then answers the questions first.",
        )


def _folder_name(start: "Start", verifier: str, chain: "Chain") -> str:
    told = f"{start.first.key.run_id}, {chain.condition}, {chain.turns}, {chain.stop_at_correct}"
    return replace(start.first.key, vlm=verifier, stage=Stage.VERIFY, setting=told).run_id


def _described(start: "Start", verifier: str, chain: "Chain", folder: Path) -> dict[str, Any]:
    """Return what tells a chain from others, for JSON."""
    return {
        "folder": str(folder),
        "suite": start.first.key.suite,
        "generator": start.first.key.vlm,
        "verifier": verifier,
        "condition": chain.condition.value,
        "turns": chain.turns,
        "stop_at_correct": chain.stop_at_correct,
        "from": start.answers.base.run_id if start.answers else None,
    }


def _show_plan(start: "Start", verifier: str, chain: "Chain", folder: Path, *, as_json: bool) -> None:
    from backend.services.runs.plan import VlmIdentity
    from backend.services.runs.verification_plan import look_plan, verify_plan

    first, answers, images = start
    shown = first
    if answers and chain.condition is Condition.TWO_STEP:
        shown = look_plan(first, VlmIdentity(verifier))
    elif answers:
        shown = verify_plan(first, answers, VlmIdentity(verifier), condition=chain.condition, images=images)
    n_not_asked = sum(bool(item.not_asked) for item in shown.items)
    n, prompts = len(first.items), [item.prompt for item in shown.items if not item.not_asked][:_N_PROMPTS]
    missing = list(first.missing_images.values())
    if as_json:
        print_json(
            {
                **_described(start, verifier, chain, folder),
                "n_questions": n,
                "n_generate": 0 if answers else n,
                "n_look": n if chain.condition is Condition.TWO_STEP else 0,
                "n_verify_most": n * (chain.turns + 1),
                "n_loop_most": n * chain.turns,
                "n_not_asked": n_not_asked,
                "n_images": len(first.images),
                "missing_images": missing,
                "prompts": prompts,
            }
        )
        return
    begins = (
        f"judge the answers of {answers.base.run_id}"
        if answers
        else f"judge the answers of {first.key.vlm}, which would be asked first"
    )
    print_text(
        f"{verifier} would {begins}: {counted(n, 'question')} of {first.key.suite} about "
        f"{counted(len(first.images), 'image')}, {chain.condition.label}, then "
        f"{counted(chain.turns, 'turn')}."
    )
    if n_not_asked:
        print_text(f"Not asked, each for a reason that its row says: {counted(n_not_asked, 'question')}.")
    print_text(f"Images not on this machine: {listed(missing) if missing else 'none'}.")
    print_text(f"Prompts {shown.key.prompt_version}. The first ones:")
    for prompt in prompts:
        print_text(f"  {prompt}")
    print_text(f"Run folders go into: {folder}")


def _show_records(
    records: "dict[str, RunRecord]", start: "Start", verifier: str, chain: "Chain", folder: Path, *, as_json: bool
) -> None:
    if as_json:
        parts = [
            {"part": name, **named(record.key, folder / name), **record_figures(record)}
            for name, record in records.items()
        ]
        print_json({**_described(start, verifier, chain, folder), "parts": parts})
        return
    for name, record in records.items():
        print_record(record, f"{record.suite}, {name}")
    if any(record.counts.failed for record in records.values()):
        print_text("Failed ones are asked again by the same command and --resume.")
    print_text(f"Take it into the store: python -m backend import run {folder}")
