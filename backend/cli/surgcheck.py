"""``surgcheck``: questions from scene graphs, cues and position words. No store is opened."""

__all__ = ["group"]

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import counted, print_json, print_text
from backend.cli.progress import progress
from backend.surgcheck.tasks import Cue, Mode

group = command_group(
    "surgcheck", "Questions and cues of SurgCheck. Needs no store, and works while the app runs; --store is not used."
)


@group.command("generate", epilog=examples("surgcheck generate --scene-graphs test_coco.json --out questions"))
def generate(
    ctx: typer.Context,
    scene_graphs: Annotated[Path, typer.Option(metavar="FILE", help="COCO file as of Endoscapes-SG201.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files.")],
    mode: Annotated[
        Mode, typer.Option(help="strict: a cue tells its tool apart, a question has one answer. official: as released.")
    ] = Mode.STRICT,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the question pairs of scene graphs in the release's layout, and why questions are left out."""
    from backend.services.surgcheck_files import REPORT, generate_files

    options = options_of(ctx, store, as_json)
    with progress() as report:
        done = generate_files(scene_graphs, out, mode, report=report)
    if options.as_json:
        print_json({"out": str(out), "mode": mode, "report": REPORT, **asdict(done)})
        return
    for name, n in done.files.items():
        print_text(f"{out / name}: {counted(n, 'row')}")
    if done.n_frames_without_boxes:
        print_text(f"No detection keyframes, so nothing is asked: {counted(done.n_frames_without_boxes, 'frame')}.")
    for name, counts in done.exclusions.items():
        if counts:
            print_text(f"Not asked in the {name} set, by reason (each one in {out / REPORT}):")
            for reason, n in counts.items():
                print_text(f"  {n:,} {reason}")


@group.command("cue", epilog=examples("surgcheck cue --image f.jpg --box 320,110,140,90 --cue arrow --out cue.png"))
def cue(
    ctx: typer.Context,
    image: Annotated[Path, typer.Option(metavar="FILE", help="The frame.")],
    box: Annotated[str, typer.Option(metavar="X,Y,W,H", help="What to point at, in pixels.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The copy with the cue in it.")],
    kind: Annotated[Cue, typer.Option("--cue", metavar="box|arrow", help="What to draw.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw a box or an arrow into a copy of an image, as the VLM is shown it."""
    from backend.services.surgcheck_files import draw_cue_file, parse_box

    options = options_of(ctx, store, as_json)
    drawn = draw_cue_file(image, parse_box(box), kind, out)
    if options.as_json:
        print_json({"file": drawn.file, "cue": kind, "drawing": asdict(drawn.drawing)})
    else:
        print_text(f"Drew the {kind} into {drawn.file}.")


@group.command("position", epilog=examples("surgcheck position --size 854x480 --box 320,110,140,90"))
def position(
    ctx: typer.Context,
    size: Annotated[str, typer.Option(metavar="WxH", help="Of the frame, in pixels.")],
    box: Annotated[str, typer.Option(metavar="X,Y,W,H", help="In pixels.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the word for a box's place in the frame."""
    from backend.services.surgcheck_files import parse_box, parse_size, position_of

    options = options_of(ctx, store, as_json)
    word = position_of(*parse_size(size), parse_box(box))
    if options.as_json:
        print_json({"position": word})
    else:
        print_text(word)
