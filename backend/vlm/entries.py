"""The list of VLMs as a file: YAML, one entry a VLM, checked field by field.

``data/models.yaml`` ships with Parallax; users write files of the same form. An entry that
cannot be used is told with its line and field and left out, the others stay.
"""

__all__ = ["OWN_GROUPS", "Capability", "Entries", "LocalWeights", "VlmEntry", "read_entries"]

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from backend.domain.records import System, VlmGroup
from backend.errors import AppError, BadLine
from backend.vlm.loading import Device, Dtype, LocalSpec, Quantization
from backend.vlm.service import Service
from backend.vlm.weights import is_folder

OWN_GROUPS = ("demo", "blind")
"""Groups beside the papers': the VLM in the box and the blind baseline, as figures mark them."""

_GROUPS = (*VlmGroup, *OWN_GROUPS)

_BYTES_A_WEIGHT = {"bfloat16": 2.0, "float16": 2.0, "float32": 4.0, "8bit": 1.0, "4bit": 0.5}

_BESIDE_WEIGHTS = 1.2
"""Activations, keys and values of one question take about a fifth of the weights more."""


class Capability(NamedTuple):
    """Whether something can be had from a VLM here. In a file: ``yes``, or the reason why not."""

    why_not: str = ""

    @property
    def works(self) -> bool:
        """Whether it can."""
        return not self.why_not


def _capability(said: object) -> Capability:
    if said is True:
        return Capability()
    if isinstance(said, str) and said.strip():
        return Capability(said.strip())
    raise ValueError("write yes, or the reason why not")


def _group(said: object) -> str:
    if said not in _GROUPS:
        raise ValueError(f"groups are {', '.join(_GROUPS)}")
    return str(said)


def _place(said: str, info: ValidationInfo) -> str:
    """Make a folder's path whole: it counts from the folder of the file that names it."""
    if not is_folder(said):
        return said
    folder: Path = (info.context or {})["folder"]
    return str((folder / Path(said).expanduser()).resolve())


_Words = Annotated[str, Field(min_length=1)]
_Place = Annotated[_Words, AfterValidator(_place)]
_CapabilityField = Annotated[Capability, BeforeValidator(_capability, json_schema_input_type=bool | str)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class LocalWeights(_Part):
    """How transformers loads a VLM; see `LocalSpec`, whose fields these are."""

    source: _Place
    """A hub id such as ``google/medgemma-4b-it``, or a folder: it begins with ``.``, ``/`` or ``~``."""
    revision: str | None = None
    adapter: _Place | None = None
    """Of a PEFT adapter; hub id or folder likewise."""
    device: Device = "auto"
    dtype: Dtype = "auto"
    device_map: str | None = None
    quantization: Quantization | None = None
    trust_remote_code: bool = False
    online: bool = False
    attn_implementation: str | None = None


class VlmEntry(_Part):
    """One VLM that Parallax knows of."""

    name: _Words
    """As the papers print it; its name among the VLMs of a store."""
    also: tuple[_Words, ...] = ()
    """Other names it goes by, in other papers or on the command line."""
    group: Annotated[str, BeforeValidator(_group)]
    """One of the papers' groups (`VlmGroup`) or of `OWN_GROUPS`."""
    family: _Words
    """Architecture, by which capabilities go."""
    size: str = ""
    """As printed: ``7B``; empty where nothing is printed."""
    billions: float | None = Field(default=None, gt=0)
    """Parameters, vision tower included; None where not known. Memory is reckoned from it."""
    papers: tuple[System, ...] = ()
    """The systems whose papers ask it."""
    adapted_from: str = ""
    """Name of the VLM whose weights it started from, as a paper or its own name says."""
    licence: _Words
    """Of the weights or the service, in a few words; what holds is what their publisher says."""
    verified: bool = False
    """Whether source or id is surely the VLM the papers mean; otherwise it is the likeliest one."""
    note: str = ""
    """What else a user should know."""
    answers: _CapabilityField
    attention: _CapabilityField
    gradients: _CapabilityField
    transformers: LocalWeights | None = None
    """Given where it runs on this machine."""
    openai: Service | None = None
    """Given where a service answers for it."""

    @model_validator(mode="after")
    def _one_way_in(self) -> "VlmEntry":
        if self.transformers and self.openai:
            raise ValueError("give transformers or openai, not both: two ways in are two entries")
        if self.answers.works and not (self.transformers or self.openai):
            raise ValueError("give transformers or openai, or say in answers why it cannot be asked")
        if self.openai:
            try:
                self.openai.check_address()
            except AppError as error:
                raise ValueError(str(error)) from None
        return self

    @property
    def backend(self) -> str:
        """``transformers``, ``openai`` or ``none``."""
        return "transformers" if self.transformers else "openai" if self.openai else "none"

    @property
    def spec(self) -> LocalSpec | None:
        """What loads it on this machine; None where it does not run here."""
        return LocalSpec(name=self.name, **self.transformers.model_dump()) if self.transformers else None

    def memory_gb(self, precision: str = "bfloat16") -> float | None:
        """Return the memory one question at a time needs, in GB (10⁹ bytes); None where the size is not known.

        Args:
            precision: bfloat16, float16, float32, 8bit or 4bit.
        """
        return self.billions and self.billions * _BYTES_A_WEIGHT[precision] * _BESIDE_WEIGHTS


class Entries(NamedTuple):
    """What a file holds."""

    entries: tuple[VlmEntry, ...]
    problems: tuple[BadLine, ...]
    """What was left out, and why."""


def read_entries(path: Path) -> Entries:
    """Read a list of VLMs; whatever is wrong with it becomes problems, not an error."""
    try:
        text = path.read_text("utf-8")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        items = yaml.safe_load(text)
    except OSError as error:
        return _nothing(path, 1, f"the file cannot be read ({error.strerror})")
    except UnicodeDecodeError:
        return _nothing(path, 1, "the file is not UTF-8 text")
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return _nothing(path, line, f"this is not YAML: {error.problem or 'it cannot be read'}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return _nothing(path, 1, f"this is not YAML: {' '.join(str(error).split())[:200]}")
    if items is None or tree is None:
        return Entries((), ())
    if not isinstance(items, list):
        return _nothing(path, 1, "the file must be a list: each VLM begins with “- name:”")
    entries: dict[str, VlmEntry] = {}
    problems: list[BadLine] = []
    for place, item in enumerate(items):
        try:
            entry = _ENTRY.validate_python(item, context={"folder": path.parent})
        except ValidationError as error:
            problems += _problems(error, path, tree, place, item)
            continue
        if entry.name in entries:
            problems.append(
                BadLine(_line_of(tree, (place,)), f"{entry.name}: name: it stands above already", path.name)
            )
            continue
        entries[entry.name] = entry
    return Entries(tuple(entries.values()), tuple(problems))


_ENTRY = TypeAdapter(VlmEntry)


def _nothing(path: Path, line: int, reason: str) -> Entries:
    return Entries((), (BadLine(line, reason, path.name),))


def _problems(error: ValidationError, path: Path, tree: yaml.Node, place: int, item: object) -> list[BadLine]:
    """Say each fault of an entry with its field; never with what stood there, which may be a key."""
    name = item.get("name") if isinstance(item, dict) else None
    whose = name if isinstance(name, str) else f"VLM {place + 1}"
    found = []
    for fault in error.errors(include_url=False, include_input=False):
        field = ".".join(str(part) for part in fault["loc"])
        said = fault["msg"].removeprefix("Value error, ")
        reason = ": ".join(part for part in (whose, field, said) if part)
        found.append(BadLine(_line_of(tree, (place, *fault["loc"])), reason, path.name))
    return found


def _line_of(node: yaml.Node, location: tuple[int | str, ...]) -> int:
    """Return the 1-based line of the deepest node on the way to a location that is there."""
    line = node.start_mark.line
    for part in location:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node, line = node.value[part], node.value[part].start_mark.line
        elif isinstance(node, yaml.MappingNode):
            found: Any = next(((key, value) for key, value in node.value if key.value == part), None)
            if found is None:
                break
            node, line = found[1], found[0].start_mark.line
        else:
            break
    return int(line) + 1
