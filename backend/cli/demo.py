"""``demo``: the built-in data set and the VLM in the box."""

__all__ = ["group"]

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import Table, counted, print_json, print_report, print_table, print_text, say
from backend.cli.progress import progress
from backend.domain.metric import percent
from backend.errors import AppError
from backend.services.demo.shipped import DEMO, RUNS, VLM

if TYPE_CHECKING:
    from backend.demo.curves import CurvePoint

WORK = DEMO / "training"

group = command_group(
    "demo", "The built-in data set: synthetic frames, and the VLM in the box that answers about them."
)


@group.callback(invoke_without_command=True, no_args_is_help=False)
def demo(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Put the built-in data set into the store, or bring it up to date."""
    options = options_of(ctx, store, as_json)
    ctx.obj = options
    if ctx.invoked_subcommand:
        return
    from backend.services.demo.built_in import put_demo

    with options.make_store() as opened, progress() as report:
        done = put_demo(opened, report)
    print_report(done, as_json=options.as_json)


@group.command("train", epilog=examples("demo train", "demo train --resume --minutes 75"))
def train(
    ctx: typer.Context,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
    minutes: Annotated[float, typer.Option(min=0, metavar="N", help="Stop after so long; --resume goes on.")] = 75,
    work: Annotated[Path, typer.Option(metavar="DIR", help="Where frames and checkpoints are kept.")] = WORK,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the trained VLM goes.")] = VLM,
    threads: Annotated[int, typer.Option(min=1, metavar="N", help="Processor cores to use.")] = 2,
    as_json: JsonOption = False,
) -> None:
    """Train the VLM in the box from scratch, on frames drawn as they are needed.

    Seeded; a training that was stopped and resumed takes the steps it would have taken. Answers
    that ship with the project are those of the shipped weights: after a new training, make them
    anew with demo answer.
    """
    import torch

    from backend.demo.curves import CURVES, begin_curves, keep_point
    from backend.demo.training import Training
    from backend.demo.training_record import write_record

    options = options_of(ctx, None, as_json)
    if not resume and (work / "checkpoint").exists():
        raise AppError(f"{work} holds a training already.", "Go on with it with --resume, or remove that folder.")
    torch.set_num_threads(threads)
    with progress() as report:
        training = Training(work, threads, report)
        begin_curves(work, training.standing.step)

        def on_point(point: "CurvePoint") -> None:
            keep_point(work, point)
            _say_point(point)

        training.run(minutes, on_point)
    if training.is_done:
        training.save_vlm(out)
        (out / CURVES).write_bytes((work / CURVES).read_bytes())
        write_record(out, training.curriculum, training.standing.seconds, threads)
    standing = training.standing
    if options.as_json:
        print_json({**asdict(standing), "steps": training.total_steps, "done": training.is_done})
    elif training.is_done:
        print_text(f"Trained in {standing.seconds / 60:.0f} minutes; the VLM is in {out}.")
    else:
        print_text(f"{standing.step:,} of {training.total_steps:,} steps done. To go on: demo train --resume")


@group.command("draw", epilog=examples("demo draw"))
def draw(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Draw the test split anew: only after its frames, and all answers to them, were removed."""
    from backend.demo.held_out import draw_test_split

    options = options_of(ctx, None, as_json)
    with progress() as report:
        draw_test_split(DEMO, report)
    if options.as_json:
        print_json({"folder": str(DEMO)})
    else:
        print_text(f"The test split is in {DEMO}.")


@group.command("answer", epilog=examples("demo answer", "demo answer --blind"))
def answer(
    ctx: typer.Context,
    blind: Annotated[bool, typer.Option("--blind", help="Only the blind baseline.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let the VLM in the box and the blind baseline answer the test split, into the shipped run folders.

    Afterwards the VLM in the box looks into some of its answers and verdicts (saliency).
    """
    from backend.services.demo.mirage_runs import make_mirage_runs
    from backend.services.demo.saliency_runs import make_saliency_runs
    from backend.services.demo.shipped_runs import make_blind_runs, make_vlm_runs
    from backend.services.runs.identity import identity_of
    from backend.vlm.registry import Registry
    from backend.vlm.transformers_local import load_vlm

    options = options_of(ctx, None, as_json)
    with progress() as report:
        make_blind_runs(report)
        if not blind:
            entry = Registry.load().find("demo")
            if entry.spec is None:
                raise AppError("The VLM in the box is not the one of this name in your list.", "Unset PARALLAX_MODELS.")
            vlm, identity = load_vlm(entry.spec), identity_of(entry)
            make_vlm_runs(vlm, identity, report)
            make_mirage_runs(vlm, identity, report)
            make_saliency_runs(vlm, identity, report)
    if options.as_json:
        print_json({"folder": str(RUNS)})
    else:
        print_text(f"The answers are in {RUNS}. What they are worth: demo report")


@group.command("report", epilog=examples("demo report", "demo report --json"))
def report(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Recompute the held-out figures of the VLM in the box from its stored answers."""
    from backend.services.demo.report import gate_failures, held_out_report

    options = options_of(ctx, None, as_json)
    figures = held_out_report()
    failures = gate_failures(figures)
    if options.as_json:
        print_json({**figures, "gate": {"passed": not failures, "failures": failures}})
        return
    _show(figures)
    for failure in failures:
        say(f"Gate: {failure}")
    print_text("Gate: not passed." if failures else "Gate: passed.")


def _say_point(point: "CurvePoint") -> None:
    right = {
        task: f"{sum(right for right, _ in kinds.values()) / sum(n for _, n in kinds.values()):.2f}"
        for task, kinds in point.accuracy.items()
    }
    said = ", ".join(f"{task} {share}" for task, share in right.items())
    say(f"step {point.step:,} ({point.stage}): loss {point.training_loss:.3f}{f'; {said}' if said else ''}")


def _show(figures: dict[str, Any]) -> None:
    vlm, surgical = figures["vlm"], figures["surgical"]
    print_text(
        f"Endoscopy-like frames, {vlm['n_units']:,} units: complex {percent(vlm['complex_accuracy'])}, atomic "
        f"{percent(vlm['atomic_accuracy'])}, joint {percent(vlm['joint_accuracy'])}, inconsistency "
        f"{percent(vlm['inconsistency'])}; {vlm['n_apart']:,} right complex answers stand on a wrong part."
    )
    classes = Table(("question class", "Box VLM", "blind baseline"))
    classes.rows += [(name, percent(of["vlm"]), percent(of["blind"])) for name, of in vlm["by_class"].items()]
    print_table(classes)
    verifier = Table(("verified answers", "right", "wrong", "AUC", "right accepted", "wrong accepted", "no verdict"))
    for kind, of in vlm["verifier"].items():
        area = "N/A" if of["auc"] is None else f"{of['auc']:.3f} [{of['auc_low']:.3f}, {of['auc_high']:.3f}]"
        accepted = (percent(of["accepts_right"]), percent(of["accepts_wrong"]))
        verifier.rows.append(
            (kind, f"{of['n_right']:,}", f"{of['n_wrong']:,}", area, *accepted, f"{of['n_unparsed']:,}")
        )
    print_table(verifier)
    for name, revise, select in (
        ("ASR", vlm["revise"], vlm["select"]),
        ("Without premises", vlm["self_revise"], vlm["self_select"]),
    ):
        print_text(
            f"{name}, {revise['n']:,} complex answers: {percent(revise['before'])} before, "
            f"{percent(revise['after'])} after Revise; {revise['n_repaired']:,} repaired, "
            f"{revise['n_harmed']:,} harmed. Select gives {percent(select['coverage'])}, of these "
            f"{percent(select['selective_accuracy'])} right; {counted(select['n_unreadable'], 'decision')} not read."
        )
    print_text(
        f"Laparoscopy-like frames, {surgical['n_pairs']:,} pairs: original {percent(surgical['original'])}, "
        f"less-biased {percent(surgical['less_biased'])}; observation tasks {percent(surgical['atomic_accuracy'])}."
    )
    tasks = Table(("task", "pairs", "original", "less-biased", "blind baseline"))
    for name, of in surgical["by_task"].items():
        shares = (percent(of["original"]), percent(of["less_biased"]), percent(of["blind"]))
        tasks.rows.append((name, f"{of['n_pairs']:,}", *shares))
    print_table(tasks)
    verdicts = Table(("task, verified by itself", "n", "verifier error", "FPR", "FNR", "Bias", "generator error"))
    for name, of in figures["verimap"]["by_task"].items():
        rates = (percent(of[rate]) for rate in ("error", "fpr", "fnr", "bias", "generator_error"))
        verdicts.rows.append((name, f"{of['n']:,}", *rates))
    print_table(verdicts)
    gaps = figures["saliency"]["gaps"]
    looks = Table(("task, answering → judging", "n", "image saliency fraction", "even share", "times even share"))
    for name, of in gaps["fraction"].items():
        sides = [f"{percent(of[f'generator_{what}'])} → {percent(of[f'verifier_{what}'])}" for what in ("mean", "even")]
        times = gaps["times_even"][name]
        ratios = f"{times['generator_mean']:.2f} → {times['verifier_mean']:.2f}"
        looks.rows.append((name, f"{of['n']:,}", *sides, ratios))
    print_table(looks)
