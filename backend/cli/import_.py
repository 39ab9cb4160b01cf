"""``import``: files into the store, each import whole or not at all, with a report."""

__all__ = ["group"]

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from backend.cli.options import JsonOption, StoreOption, command_group, examples, options_of
from backend.cli.output import print_report
from backend.cli.progress import progress
from backend.domain.progress import Report
from backend.domain.records import VlmGroup
from backend.errors import AppError
from backend.surgcheck.tasks import Mode

if TYPE_CHECKING:
    from backend.services.ingest.report import ImportReport
    from backend.store.store import Store

group = command_group(
    "import",
    "Bring files into the store. An import goes in whole or not at all; importing twice changes nothing.",
)

LenientOption = Annotated[bool, typer.Option("--lenient", help="Import the good lines and list the bad ones.")]


@group.command(
    "endoca",
    epilog=examples(
        "import endoca endoca_core.jsonl.gz",
        "import endoca answers_a.jsonl answers_b.csv.gz --lenient",
    ),
)
def import_endoca(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="JSON lines, CSV (plain or .gz) or Parquet.")],
    suite: Annotated[str | None, typer.Option(help="Name of the suite; else found, or the file's name.")] = None,
    images: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with the image files.")] = None,
    group_name: Annotated[
        VlmGroup | None,
        typer.Option("--group", help="Group of the VLMs; else the one the paper prints for that VLM."),
    ] = None,
    lenient: LenientOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import EndoCA manifests and prediction files.

    Lines with a "prediction" are answers, the others questions. Answers find their suite by
    probe_id and question; those that match no stored manifest make a suite from the references
    they carry. Several VLMs may share a file, and several files may fill one run.
    """
    from backend.services.ingest.endoca import import_endoca
    from backend.services.ingest.files import SourceFile

    options = options_of(ctx, store, as_json)
    if images is not None and not images.is_dir():
        raise AppError(f"There is no folder {images}.", "Check the path given to --images.")
    sources = [SourceFile.at(file) for file in files]
    with options.make_store() as opened, progress() as report:
        outcome = import_endoca(opened, sources, suite=suite, vlm_group=group_name, lenient=lenient, report=report)
        refused = _attach(opened, images, outcome, report)
    print_report(outcome, as_json=options.as_json)
    if refused is not None:
        raise refused


@group.command(
    "surgcheck",
    epilog=examples(
        "import surgcheck SurgCheck_annotations.zip",
        "import surgcheck --original qwen.jsonl.gz --less-biased qwen_less_bias.jsonl.gz \\",
        "    --model Qwen2.5-VL --setting fine-tuned",
        "import surgcheck test_scene_graphs.json --suite sg201 --images ~/endoscapes",
    ),
)
def import_surgcheck(
    ctx: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files, folders or zip archives.", show_default=False)
    ] = None,
    original: Annotated[Path | None, typer.Option(metavar="FILE", help="Original questions or answers.")] = None,
    less_biased: Annotated[Path | None, typer.Option(metavar="FILE", help="Their less-biased twins.")] = None,
    text_only: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Answers to original questions, the image withheld.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="VLM", help="Who answered.")] = None,
    setting: Annotated[str | None, typer.Option(help="zero-shot or fine-tuned; else what the names say.")] = None,
    suite: Annotated[str | None, typer.Option(help="Name of the suite; else found, or the files' name.")] = None,
    columns: Annotated[
        str | None,
        typer.Option("--map", metavar="FIELD=COLUMN,…", help="Columns that are called otherwise: image=…,pred=…"),
    ] = None,
    mode: Annotated[Mode, typer.Option(help="Which questions are made of scene graphs.")] = Mode.STRICT,
    images: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with the frames and pictures.")] = None,
    group_name: Annotated[VlmGroup | None, typer.Option("--group", help="Group of the VLM.")] = None,
    lenient: LenientOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import SurgCheck's questions, scene graphs, and what VLMs answered.

    Rows with a prediction are answers, the others questions. Files of a pair are told by their names
    (original, general, less_bias …), or named with --original and --less-biased. Answers find their
    suite by picture, questions and reference; those that match none make a suite from the references
    they carry. Rows that are not taken are listed, each with its reason.
    """
    from backend.services.ingest.files import SourceFile
    from backend.services.ingest.surgcheck import Wanted, import_surgcheck
    from backend.services.ingest.surgcheck_columns import parse_map
    from backend.services.ingest.surgcheck_names import Variant
    from backend.services.ingest.surgcheck_places import PlacedFile, opened_places

    options = options_of(ctx, store, as_json)
    named = {Variant.ORIGINAL: original, Variant.LESS_BIASED: less_biased, Variant.TEXT_ONLY: text_only}
    told = [
        PlacedFile(SourceFile.at(path), path.resolve().parent.name, variant) for variant, path in named.items() if path
    ]
    if bool(told) == bool(paths):
        raise AppError(
            "Name files, folders or archives, or one pair with --original and --less-biased.",
            "For example: python -m backend import surgcheck SurgCheck_annotations.zip",
        )
    if images is not None and not images.is_dir():
        raise AppError(f"There is no folder {images}.", "Check the path given to --images.")
    wanted = Wanted(model, setting, suite, group_name, parse_map(columns), mode, lenient)
    with options.make_store() as opened, opened_places(paths or []) as placed, progress() as report:
        outcome = import_surgcheck(opened, told or placed, wanted, report=report)
        refused = _attach(opened, images, outcome, report)
    print_report(outcome, as_json=options.as_json)
    if refused is not None:
        raise refused


class _SeveralLabels(TyperCommand):
    """Takes all words behind ``--labels`` for its values, up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        repeated: list[str] = []
        is_label = False
        for word in args:
            if word.startswith("-"):
                is_label = word == "--labels"
            elif is_label and repeated[-1] != "--labels":
                repeated.append("--labels")
            repeated.append(word)
        return super().parse_args(ctx, repeated)


@group.command(
    "verimap",
    cls=_SeveralLabels,
    epilog=examples(
        "import verimap VQA_RAD_Dataset_Public.json --dataset vqa-rad --images VQA_RAD_Image_Folder",
        "import verimap Slake1.0 --dataset slake --labels rules",
        "import verimap --dataset slake --labels a.csv b.csv c.csv --checked by_hand.csv",
        "import verimap --records verdicts.parquet",
    ),
)
def import_verimap(
    ctx: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files or folder of a data set.", show_default=False)
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="vqa-rad, slake, pathvqa, pmc-vqa or medxpertqa; with --labels any stored one.")
    ] = None,
    records: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Verification records: JSON lines, CSV or Parquet.")
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE…", help='Tasks of the questions: one file, three that vote, or the word "rules".'),
    ] = None,
    checked: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Tasks that a person gave to some questions, to compare.")
    ] = None,
    images: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with the image files.")] = None,
    lenient: LenientOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import questions of a VQA data set, task labels of its questions, or verification records.

    A data set is read as it is published; its name is the suite's. Labels come from one file, from the vote of
    several annotators' files (the majority; where all differ, the first by alphabet), or are proposed by rules
    from the question. Without a PATH they go to the stored questions. Records need id, dataset, task, generator,
    verifier, oracle_correct and verdict; they find their questions by data set and id, or make them.
    """
    from backend.services.ingest.files import SourceFile
    from backend.services.ingest.verimap_labels import RULES, LabelFiles
    from backend.services.ingest.verimap_questions import import_verimap, question_files
    from backend.services.ingest.verimap_records import import_verification_records

    options = options_of(ctx, store, as_json)
    if bool(records) == bool(dataset) or (records and (paths or labels or checked)):
        raise AppError(
            "Name either the files of a data set with --dataset, or verification records with --records alone.",
            "For example: python -m backend import verimap Slake1.0 --dataset slake",
        )
    if checked is not None and not labels:
        raise AppError("--checked compares labels, and none are named.", "Name them with --labels.")
    if images is not None and not images.is_dir():
        raise AppError(f"There is no folder {images}.", "Check the path given to --images.")
    sources = [file for path in records or paths or () for file in question_files(path, dataset or "")]
    given = None
    if labels:
        by_rules = labels == [RULES]
        files = () if by_rules else tuple(SourceFile.at(Path(label)) for label in labels)
        given = LabelFiles(files, by_rules, SourceFile.at(checked) if checked else None)
    with options.make_store() as opened, progress() as report:
        if dataset is None:
            outcome = import_verification_records(opened, sources, lenient=lenient, report=report)
        else:
            outcome = import_verimap(opened, sources, dataset, labels=given, lenient=lenient, report=report)
        refused = _attach(opened, images, outcome, report)
    print_report(outcome, as_json=options.as_json)
    if refused is not None:
        raise refused


@group.command(
    "kvasir",
    epilog=examples(
        "import kvasir --vqa kvasir_vqa.csv --x1 x1-train.parquet x1-test.parquet \\",
        "    --suite mine --sizes 500,200,100 --seed 7",
    ),
)
def import_kvasir(
    ctx: typer.Context,
    vqa: Annotated[Path, typer.Option(metavar="FILE", help="Kvasir-VQA: source, question, answer, img_id.")],
    x1: Annotated[list[Path], typer.Option(metavar="FILE", help="Kvasir-VQA-x1; several in order, train before test.")],
    more: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="Further files of --x1.")] = None,
    suite: Annotated[str | None, typer.Option(help="Name of the suite; else from the first x1 file.")] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="N,N,N", help="Samples of complexity 1, 2 and 3, for example 8264,3736,0; else all."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    exclude_suite: Annotated[str | None, typer.Option(help="Take no sample of this stored suite.")] = None,
    lenient: LenientOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build an EndoCA suite from Kvasir-VQA and Kvasir-VQA-x1.

    Samples are checked in the paper's manner, and each one left out is counted by its first
    reason. A size that cannot be filled is an error that says what is available.
    """
    from backend.services.ingest.files import SourceFile
    from backend.services.ingest.kvasir import import_kvasir

    options = options_of(ctx, store, as_json)
    wanted = _sizes(sizes)
    with options.make_store() as opened, progress() as report:
        outcome = import_kvasir(
            opened,
            SourceFile.at(vqa),
            [SourceFile.at(file) for file in (*x1, *(more or ()))],
            suite=suite,
            sizes=wanted,
            seed=seed,
            exclude_suite=exclude_suite,
            lenient=lenient,
            report=report,
        )
    print_report(outcome, as_json=options.as_json)


@group.command("images", epilog=examples("import images ~/Kvasir-VQA-x1/images"))
def import_images(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with the image files, searched downwards.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the files of the images that stored units name. Nothing is copied.

    Pictures with a box or an arrow that are not among them are drawn, where their frame is and the box is known.
    """
    from backend.services.ingest.cue_pictures import draw_cue_pictures
    from backend.services.ingest.images import attach_images

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened, progress() as report:
        outcome = attach_images(opened, folder, report=report)
        outcome.notes.extend(draw_cue_pictures(opened, report=report))
    print_report(outcome, as_json=options.as_json)


@group.command(
    "run",
    epilog=examples("import run data/runs/Box-VLM.drawn.direct.0a1b2c3d4e", "import run runs/demo-asr runs/demo-self"),
)
def import_run(
    ctx: typer.Context,
    folders: Annotated[list[Path], typer.Argument(metavar="DIR", help="As predict or asr run leaves it.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take the answers of run folders into the store, and score them.

    A run that is not finished goes in as far as it is; what it lacks counts as missing until it
    is imported again. Several folders go in together or not at all: name all that was made from a
    direct run where that has changed.
    """
    from backend.services.runs.import_run import import_run

    options = options_of(ctx, store, as_json)
    with options.open_store() as opened, progress() as report:
        outcome = import_run(opened, *folders, report=report)
    print_report(outcome, as_json=options.as_json)


def _attach(store: "Store", folder: Path | None, outcome: "ImportReport", report: Report) -> AppError | None:
    """Give the store's images their files, and add to the report; return why that could not be done, if so."""
    from backend.services.ingest.cue_pictures import draw_cue_pictures
    from backend.services.ingest.images import attach_images

    if folder is None:
        return None
    try:
        attached = attach_images(store, folder, report=report)
    except AppError as error:
        return AppError(f"The lines were imported, the images were not. {error.message}", error.hint)
    outcome.images = attached.images
    outcome.notes.extend((*attached.notes, *draw_cue_pictures(store, report=report)))
    return None


def _sizes(text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise AppError(
            f"--sizes {text!r} does not give three sizes.",
            "Give the samples of complexity 1, 2 and 3, for example 8264,3736,0.",
        )
    one, two, three = (int(part) for part in parts)
    return one, two, three
