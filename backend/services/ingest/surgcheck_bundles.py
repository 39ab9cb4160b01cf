"""Files that belong together: those with the original and the less-biased questions of one set, or one set's answers.

Files of one folder whose names differ by the variant's word alone are one bundle. A file may hold
several variants, or the answers of several VLMs, in a column.
"""

__all__ = ["Bundle", "PairedBundle", "bundles_of"]

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.domain.records import Role
from backend.errors import AppError, BadLine
from backend.services.ingest.surgcheck_names import FileName, Variant, split_of
from backend.services.ingest.surgcheck_pairing import PairedRows
from backend.services.ingest.surgcheck_rows import FileRows, PairRow

Rows = list[PairRow | BadLine]


@dataclass(slots=True)
class Bundle:
    """Rows about one set of questions."""

    suite: str
    """Name of the suite that they make, where nobody names another."""
    split: str
    """train, val or test, where a name says it."""
    setting: str
    """As the names say it; empty where they do not."""
    model: str | None
    """As the rows say it."""
    holds_answers: bool
    rows: dict[Variant, Rows] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


class PairedBundle(NamedTuple):
    """One bundle, its rows joined."""

    bundle: Bundle
    rows: PairedRows
    """Without the pairs that are none."""

    @property
    def single(self) -> list[tuple[PairRow, Role]]:
        """Rows that stand alone, each with the role of its question: those without a twin, then those without image."""
        originals = {id(row) for row in self.bundle.rows.get(Variant.ORIGINAL, ())}
        alone = [(row, Role.ORIGINAL if id(row) in originals else Role.LESS_BIASED) for row in self.rows.alone]
        return [*alone, *((row, Role.ORIGINAL) for row in self.text_only)]

    @property
    def text_only(self) -> list[PairRow]:
        """Rows that answer the original question without its image."""
        return [row for row in self.bundle.rows.get(Variant.TEXT_ONLY, ()) if isinstance(row, PairRow)]


class _Read(dict[Variant | None, tuple[str, Rows]]):
    """Rows by variant, each with its file's name; None: nothing says which they are."""


def bundles_of(
    files: Sequence[tuple[FileRows, FileName, str]], vlm: str | None = None, *, together: bool = False
) -> list[Bundle]:
    """Return what belongs together, in the order of the files.

    Args:
        files: Each with what its name says, and the name of its folder.
        vlm: As the user names it; rows then need not.
        together: Whether the user named the files as one bundle, whatever they are called.

    Raises:
        AppError: Two files hold the same variant of one bundle, or nothing says which a file holds.
    """
    read: dict[tuple[str, ...], _Read] = defaultdict(_Read)
    about: dict[tuple[str, ...], tuple[FileName, str]] = {}
    with_answers: set[tuple[str, ...]] = set()
    for rows, name, folder in files:
        place = ("", "") if together else (folder, name.stem)
        for (variant, model), part in _parts(rows, by_model=vlm is None).items():
            key = (*place, model or "")
            about.setdefault(key, (name, folder))
            if rows.holds_answers:
                with_answers.add(key)
            if variant in read[key]:
                raise AppError(
                    f"Both {read[key][variant][0]} and {rows.file} hold {_words(variant)} of one set.",
                    "Name the files to import one by one, without their twin in another format.",
                )
            read[key][variant] = (rows.file, part)
    return [
        _bundle(held, *about[key], key[-1] or None, holds_answers=key in with_answers) for key, held in read.items()
    ]


def _parts(rows: FileRows, *, by_model: bool) -> Mapping[tuple[Variant | None, str | None], Rows]:
    """Return a file's rows by variant and VLM; a bad line keeps its place where all rows are of one kind."""
    kinds = {(row.variant, row.model if by_model else None): None for row in rows.rows if isinstance(row, PairRow)}
    if len(kinds) <= 1:
        return {next(iter(kinds), (None, None)): rows.rows}
    parts: dict[tuple[Variant | None, str | None], Rows] = {kind: [] for kind in kinds}
    for row in rows.rows:
        if isinstance(row, PairRow):
            parts[row.variant, row.model if by_model else None].append(row)
    return parts


def _bundle(held: _Read, name: FileName, folder: str, model: str | None, *, holds_answers: bool) -> Bundle:
    unsaid = held.pop(None, None)
    if unsaid is not None:
        file, rows = unsaid
        if Variant.ORIGINAL in held or Variant.LESS_BIASED not in held:
            raise AppError(
                f"Nothing says whether {file} holds original or less-biased questions.",
                "Name it with --original or --less-biased, or let its name hold one of: original, general, less_bias, "
                "text_only.",
            )
        held[Variant.ORIGINAL] = (file, rows)
    return Bundle(
        suite=name.suite,
        split=split_of(name.suite),
        setting=name.setting or "",
        model=model,
        holds_answers=holds_answers,
        rows={variant: held[variant][1] for variant in Variant if variant in held},
        files=list(dict.fromkeys(held[variant][0] for variant in Variant if variant in held)),
    )


def _words(variant: Variant | None) -> str:
    return "questions of no named variant" if variant is None else f"{variant.replace('_', '-')} questions"
