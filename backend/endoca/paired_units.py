"""EndoCA's paired units: a complex question and its atomic questions about one image.

The benchmark's users exchange two files of the same shape, one object a query: the *manifest*
(questions and references) and the *prediction file* (the manifest's line plus ``model_id``,
``prediction`` and an optional ``error``). This module checks single lines at the gate and
joins them into units; a unit that is not whole is refused with the line to look at.
(EndoCA, section III, equation 1: x_i = (V_i, Q_i, A_i, U_i).)
"""

__all__ = ["Line", "NumberedLine", "UnitBuilder", "as_text", "explain_invalid", "parse_line"]

import ast
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from backend.domain.records import Image, Probe, Role, Unit
from backend.endoca.vocabulary import BY_NAME
from backend.errors import BadLine

DEFAULT_DATASET = "Kvasir-VQA-x1"


def as_text(value: object) -> object:
    """Numbers are text here, whole ones without the ``.0`` that a table with gaps puts behind them; NaN is none."""
    if isinstance(value, float):
        return None if math.isnan(value) else str(int(value)) if value.is_integer() else value
    return value


def _cell(column: str, value: object) -> object:
    """Return a table's cell as it is meant.

    A table has a cell for every column: an empty one, or NaN, says the same as an absent key. An
    empty ``prediction`` alone is an answer. A list is text there: JSON, or Python's notation.
    """
    if value == "":
        return value if column == "prediction" else None
    if column in _LISTS and isinstance(value, str):
        for read in (json.loads, ast.literal_eval):
            try:
                return read(value)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
        return [part.strip() for part in value.split(";")]
    return as_text(value)


_LISTS = frozenset({"question_class", "gold_atoms"})

TextOrNumber = Annotated[str, BeforeValidator(as_text)]


class GoldAtom(BaseModel):
    """The reference of one part of a complex question."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    question_class: str
    raw_answer: TextOrNumber


class Line(BaseModel):
    """One line of a manifest or a prediction file.

    Only ``probe_id`` is needed where the store already holds the manifest. Other columns than
    these are let through and counted: researchers keep notes of their own beside the answers.
    """

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True, protected_namespaces=())

    probe_id: str
    sample_id: Annotated[str | None, BeforeValidator(as_text)] = None
    probe_kind: Literal["complex_direct", "atomic_direct"] | None = None
    question: str | None = None
    gold_answer: str | None = None
    image: str | None = None
    img_id: str | None = None
    dataset: str | None = None
    split: str | None = None
    complexity: int | None = None
    question_class: list[str] | None = None
    gold_atoms: list[GoldAtom] | None = None
    atomic_index: int | None = None
    gold_question_class: str | None = None
    model_id: str | None = None
    prediction: Annotated[str | None, BeforeValidator(as_text)] = None
    error: str | None = None

    @property
    def is_prediction(self) -> bool:
        """A prediction line is told from a manifest line by its ``prediction``."""
        return "prediction" in self.model_fields_set

    @property
    def unit_source_id(self) -> str:
        """The sample the line belongs to; the part of ``probe_id`` before ``::`` where not given."""
        return self.sample_id or self.probe_id.split("::")[0]


KNOWN_COLUMNS = frozenset(Line.model_fields) | {"source_image", "trace_consistency_label", "gold_parsed"}
"""Columns of the benchmark's own files; any other is the user's, and is counted in the report."""


class NumberedLine(NamedTuple):
    """A checked line and where it stands."""

    number: int
    line: Line
    file: str


def parse_line(content: bytes | Mapping[str, Any]) -> Line:
    """Check one line at the gate.

    Args:
        content: A line of JSON, or a table's row. A JSON line with NaN in it comes out of a table.

    Raises:
        ValidationError: It is no JSON object, or a value has the wrong type.
    """
    if isinstance(content, bytes):
        cells = _json_object(content) if b"NaN" in content else None
        if cells is None:
            return Line.model_validate_json(content)
        content = cells
    return Line.model_validate({column: _cell(column, value) for column, value in content.items()})


def _json_object(content: bytes) -> dict[str, Any] | None:
    """Return what the bytes hold as JSON; None where that is no object."""
    try:
        cells = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return cells if isinstance(cells, dict) else None


_SHAPES = {
    "gold_atoms": 'a list of {"question_class": …, "raw_answer": …}, as JSON, is needed here',
    "question_class": "a list of names, as JSON, is needed here",
    "prediction": "text is needed here",
    "probe_kind": "complex_direct or atomic_direct is needed here",
}
"""What a column of the benchmark's files holds, for those whose shape is not plain text or a number."""


def explain_invalid(error: ValidationError) -> str:
    """Return the first thing wrong with a line, in words."""
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return f"not JSON ({first['msg'].removeprefix('Invalid JSON: ')})"
    place = [str(part) for part in first["loc"]]
    if not place:
        return "not a JSON object"
    if first["type"] == "missing":
        return f"lacks {place[-1]}"
    if place[0] in _SHAPES:
        return f"{place[0]}: {_SHAPES[place[0]]}"
    return f"{'.'.join(place)}: {first['msg'].lower()}"


@dataclass(slots=True)
class _Parts:
    complex: NumberedLine | None = None
    atomic: dict[int, NumberedLine] = field(default_factory=dict)


class UnitBuilder:
    """Joins lines into units, in the order in which their samples first appear.

    Args:
        suite: Name of the suite the units belong to.
        fill_missing_atoms: Whether an atomic question that a complex line announces in
            ``gold_atoms``, but no line asks, is asked in Kvasir-VQA's standard words. True for a
            prediction file without a manifest, where an unasked question is an unanswered one.
    """

    def __init__(self, suite: str, *, fill_missing_atoms: bool) -> None:
        self._suite = suite
        self._fill = fill_missing_atoms
        self._samples: dict[str, _Parts] = {}
        self._asked: dict[str, NumberedLine] = {}
        self.bad_lines: list[BadLine] = []
        self.n_filled = 0
        """Atomic questions that no line asked, filled in from ``gold_atoms``."""

    def add(self, numbered: NumberedLine) -> None:
        """Take one line; a line that lacks a reference or repeats another is a bad line."""
        line = numbered.line
        missing = [name for name in ("question", "gold_answer", "probe_kind") if not getattr(line, name)]
        if not (line.img_id or line.image):
            missing.append("img_id or image")
        if missing:
            self._refuse(numbered, f"lacks {', '.join(missing)}")
            return
        first = self._asked.setdefault(line.probe_id, numbered)
        if first is not numbered:
            self._refuse_repeat(numbered, first)
            return
        parts = self._samples.setdefault(line.unit_source_id, _Parts())
        if line.probe_kind == "complex_direct":
            if parts.complex is not None:
                place = self._place(parts.complex, numbered)
                self._refuse(numbered, f"sample {line.unit_source_id} has its complex question already on {place}")
            else:
                parts.complex = numbered
            return
        if not line.gold_question_class:
            self._refuse(numbered, "lacks gold_question_class")
            return
        index = line.atomic_index if line.atomic_index is not None else len(parts.atomic)
        if index in parts.atomic:
            place = self._place(parts.atomic[index], numbered)
            reason = f"sample {line.unit_source_id} has its atomic question {index} already on {place}"
            self._refuse(numbered, reason)
        else:
            parts.atomic[index] = numbered

    def build(self) -> Iterator[Unit]:
        """Yield the units that are whole; what is wrong with the others goes to `bad_lines`."""
        for source_id, parts in self._samples.items():
            unit = self._unit(source_id, parts)
            if unit is not None:
                yield unit

    def _unit(self, source_id: str, parts: _Parts) -> Unit | None:
        if parts.complex is None:
            for orphan in parts.atomic.values():
                self._refuse(orphan, f"atomic question of sample {source_id}, which has no complex question")
            return None
        complex_line = parts.complex.line
        atoms = self._atoms(source_id, parts)
        if atoms is None:
            return None
        name = complex_line.img_id or PurePosixPath(complex_line.image or "").stem
        dataset = complex_line.dataset or DEFAULT_DATASET
        return Unit(
            unit_id=Unit.make_id(self._suite, source_id),
            source_id=source_id,
            suite=self._suite,
            image=Image(Image.make_id(dataset, name), dataset, complex_line.image or name),
            split=complex_line.split or "",
            complexity=len(atoms),
            question_classes=tuple(atom.question_class for atom in atoms),
            probes=(self._probe(complex_line, Role.COMPLEX, 0, ""), *atoms),
        )

    def _atoms(self, source_id: str, parts: _Parts) -> list[Probe] | None:
        """Return the atomic probes in order; None, with a bad line, where they do not fit the complex line."""
        assert parts.complex is not None
        line = parts.complex.line
        announced = line.gold_atoms
        expected = len(announced) if announced is not None else (line.complexity or len(parts.atomic))
        if not expected:
            self._refuse(parts.complex, f"sample {source_id} has no atomic question")
            return None
        if line.complexity is not None and line.complexity != expected:
            self._refuse(parts.complex, f"complexity is {line.complexity}, but gold_atoms holds {expected}")
            return None
        beyond = [index for index in parts.atomic if not 0 <= index < expected]
        if beyond:
            self._refuse(parts.atomic[beyond[0]], f"sample {source_id} has {expected} atomic questions only")
            return None
        probes: list[Probe] = []
        for index in range(expected):
            atom = announced[index] if announced is not None else None
            asked = parts.atomic.get(index)
            if asked is None:
                if atom is None or not self._fill:
                    reason = f"sample {source_id} announces {expected} atomic questions, has {len(parts.atomic)}"
                    self._refuse(parts.complex, reason)
                    return None
                probes.append(self._standard_probe(source_id, index, atom))
                continue
            if atom is not None and (atom.question_class, atom.raw_answer) != (
                asked.line.gold_question_class,
                asked.line.gold_answer,
            ):
                self._refuse(asked, f"class or gold_answer differs from gold_atoms of sample {source_id}")
                return None
            probes.append(self._probe(asked.line, Role.ATOMIC, index, asked.line.gold_question_class or ""))
        return probes

    def _standard_probe(self, source_id: str, index: int, atom: GoldAtom) -> Probe:
        self.n_filled += 1
        known = BY_NAME.get(atom.question_class)
        source = f"{source_id}::atomic::{index}"
        return Probe(
            probe_id=Unit.make_id(self._suite, source),
            source_id=source,
            role=Role.ATOMIC,
            position=index,
            question=known.question if known else atom.question_class,
            reference=atom.raw_answer,
            question_class=atom.question_class,
        )

    def _probe(self, line: Line, role: Role, position: int, question_class: str) -> Probe:
        return Probe(
            probe_id=Unit.make_id(self._suite, line.probe_id),
            source_id=line.probe_id,
            role=role,
            position=position,
            question=line.question or "",
            reference=line.gold_answer or "",
            question_class=question_class,
        )

    def _refuse(self, numbered: NumberedLine, reason: str) -> None:
        self.bad_lines.append(BadLine(numbered.number, reason, numbered.file))

    def _refuse_repeat(self, numbered: NumberedLine, first: NumberedLine) -> None:
        self._refuse(numbered, f"probe {numbered.line.probe_id} stands already on {self._place(first, numbered)}")

    @staticmethod
    def _place(first: NumberedLine, seen_from: NumberedLine) -> str:
        return f"line {first.number}" if first.file == seen_from.file else f"{first.file}, line {first.number}"
