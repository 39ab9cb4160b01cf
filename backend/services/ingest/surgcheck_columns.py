"""Which column of somebody's file holds what: common names are known, any other is named with ``--map``.

Names are compared without case and separators. Where several columns could be meant, the first
known name counts; a column of numbers holds no answers while the references are words, so the
class numbers that some files keep beside the answers are passed over. Nor does a column that is
called score, and no more, hold a judge's scores where it holds anything but 1 to 5, or nothing but 1,
and no reason stands beside it: shares and exact matches are called that too.
"""

__all__ = ["FIELDS", "Columns", "find_columns", "parse_map"]

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from backend.errors import AppError

Columns = Mapping[str, str]
"""Field → column that holds it; fields without a column are left out."""

FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "image": (
            "image", "imagepath", "imagename", "imagefile", "img", "imgpath", "imgname", "filename", "picture",
            "imageid", "imgid",
        ),
        "frame": ("oriimgtag", "oriimg", "originalimage", "baseimage", "framename", "frame"),
        "question": ("question", "prompt", "query", "instruction", "questiontext"),
        "pred": (
            "pred", "predraw", "prediction", "predicted", "predictedanswer", "predanswer", "rawprediction", "rawpred",
            "modelanswer", "modeloutput", "modelresponse", "rawoutput", "output", "response", "generated",
            "generatedtext", "generatedanswer", "generation", "hypothesis",
        ),
        "extracted": ("predextracted", "extractedanswer", "extractedprediction", "extracted", "answerextracted"),
        "gt": (
            "gt", "groundtruth", "groundtruthanswer", "gtanswer", "reference", "referenceanswer", "gold", "goldanswer",
            "label", "correctanswer", "trueanswer", "expected", "expectedanswer",
        ),
        "task": ("subsubtag", "task", "tasktag", "taskname", "tasktype", "questiontype", "category"),
        "cue": ("subtag", "cue", "cuetype", "cuetag", "groundingcue", "grounding"),
        "variant": ("variant", "questionvariant", "version", "bias", "biastype"),
        "judge": ("judge", "judgement", "judgment"),
        "judge_score": ("judgescore", "gptscore", "llmscore", "score"),
        "judge_reason": ("judgereason", "gptreason", "reason"),
        "model": ("model", "modelid", "modelname", "vlm"),
        "setting": ("setting",),
        "error": ("error",),
        "conversations": ("conversations",),
    }
)  # fmt: skip
"""What a row can say → names of the column that says it, the likeliest first."""

_EITHER = ("answer", "text")
"""Names that some files give to the answer and others to the reference: whichever of the two has no column yet."""

_ANY_SCORE = "score"
"""A name that a judge's scores may have, and any other."""

_SAMPLE = 200
_NUMBER = re.compile(r"\s*-?\d+(\.0*)?\s*")


def parse_map(text: str | None) -> dict[str, str]:
    """Return the columns named by a user: ``image=img_file,pred=out``.

    Raises:
        AppError: It is not of this form, or names a field that no row has.
    """
    named: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column or field not in FIELDS:
            raise AppError(
                f"--map does not understand {part.strip()!r}.",
                f"Write field=column, separated by commas. Fields: {', '.join(FIELDS)}.",
            )
        named[field] = column
    return named


def find_columns(rows: Sequence[Mapping[str, Any]], named: Mapping[str, str], file: str) -> Columns:
    """Return where a file's rows say what.

    Args:
        rows: The file's, or enough of them.
        named: Columns by field, as the user named them.
        file: What to call the file.

    Raises:
        AppError: A column that the user named is not there.
    """
    seen = rows[:_SAMPLE]
    names = list(dict.fromkeys(name for row in seen for name in row))
    for field, column in named.items():
        if column not in names:
            raise AppError(f"{file} has no column {column!r} (for {field}).", f"Its columns: {', '.join(names)}.")
    found = dict(named)
    free = [name for name in names if name not in found.values()]

    def give(field: str, candidates: Sequence[str]) -> None:
        if field not in found and candidates:
            found[field] = candidates[0]

    if "judge_score" not in found and not _called(free, FIELDS["judge_reason"]):
        free = [name for name in free if _folded(name) != _ANY_SCORE or _is_judged(rows, name)]
    for field, known in FIELDS.items():
        if field != "pred":
            give(field, _called(free, known))
    if "conversations" not in found and _called(free, FIELDS["pred"]):
        give("gt", _called(free, _EITHER))
    answers = _called([name for name in free if name not in found.values()], (*FIELDS["pred"], *_EITHER))
    give("pred", [name for name in answers if not _is_codes(seen, name, found.get("gt"))])
    return found


def _called(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return the names that are known, the likeliest first."""
    plain = {name: _folded(name) for name in names}
    return sorted((name for name in plain if plain[name] in known), key=lambda name: known.index(plain[name]))


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.casefold())


def _is_judged(rows: Iterable[Mapping[str, Any]], column: str) -> bool:
    """Return whether a column holds scores from 1 to 5 alone, some of them above 1."""
    told = {str(row.get(column)).strip() for row in rows} - {"", "None", "nan"}
    scores = {text.removesuffix(".0") for text in told}
    return scores <= set("12345") and bool(scores - {"1"})


def _is_codes(rows: Sequence[Mapping[str, Any]], column: str, references: str | None) -> bool:
    """Return whether a column holds numbers alone where the references are no numbers."""
    return references is not None and _all_numbers(rows, column) and not _all_numbers(rows, references)


def _all_numbers(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    said = [str(row[column]) for row in rows if row.get(column) not in (None, "")]
    return bool(said) and all(_NUMBER.fullmatch(text) for text in said)
