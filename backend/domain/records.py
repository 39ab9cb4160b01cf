"""The words of Parallax as data: image, unit, probe, run, answer.

A *unit* is one paired unit of one system: questions about the same image whose answers can
part. A *probe* is one question of a unit in one role. A *run* is one VLM answering one set
of probes with one prompt version and one decoding setting. An *answer* is what it said,
verbatim. Ids are text and made here, so that the same thing gets the same id in every store.
"""

__all__ = [
    "LIVE_EXAMPLES",
    "LIVE_PAIRS",
    "LIVE_SUITE",
    "LIVE_SUITES",
    "AnswerStatus",
    "Image",
    "Origin",
    "Probe",
    "Role",
    "RunKey",
    "Stage",
    "System",
    "Unit",
    "VlmGroup",
]

import hashlib
import re
from dataclasses import astuple, dataclass
from enum import StrEnum

_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class System(StrEnum):
    """The three research systems, each a way to ask twice about the same image."""

    ENDOCA = "endoca"
    SURGCHECK = "surgcheck"
    VERIMAP = "verimap"


class Role(StrEnum):
    """What a probe is for inside its unit."""

    COMPLEX = "complex"
    ATOMIC = "atomic"
    ORIGINAL = "original"
    """SurgCheck: the question that names what it asks about."""
    LESS_BIASED = "less_biased"
    """SurgCheck: its twin that only points."""
    GENERATE = "generate"
    """VeriMap: the question whose answer is verified."""


class Stage(StrEnum):
    """Which step of a protocol a run's answers belong to."""

    DIRECT = "direct"
    """Questions, each answered by itself."""
    REVISE = "revise"
    """EndoCA: complex answers revised with the VLM's own atomic answers (ASR-Revise)."""
    SELECT = "select"
    """EndoCA: revised answers given or withheld (ASR-Selective)."""
    SELF_REVISE = "self_revise"
    """The control of REVISE, without premises."""
    SELF_SELECT = "self_select"
    """The control of SELECT, without premises."""
    VERIFY = "verify"
    """VeriMap: verdicts on answers."""
    LOOK = "look"
    """VeriMap: what the two-step verifier says of the image before it sees the answer."""
    LOOP = "loop"
    """VeriMap: answers given again, after verdict and explanation came back (one turn of the feedback loop)."""
    LABEL = "label"
    """VeriMap: tasks of questions, as an annotator sees them. The store keeps labels; it holds no run of this stage."""
    TEXT_ONLY = "text_only"
    """SurgCheck: the original questions, asked with the image withheld."""
    SALIENCY = "saliency"
    """What a VLM attended to when it gave another run's answers. It belongs to that run; the store holds no run of
    this stage."""
    JUDGE = "judge"
    """What a judge said of another run's answers. It belongs to that run; the store holds no run of this stage."""


class VlmGroup(StrEnum):
    """The papers' groups of VLMs."""

    GENERAL_OPEN = "general_open"
    MEDICAL_OPEN = "medical_open"
    ENDOSCOPY_ADAPTED = "endoscopy_adapted"
    CLOSED_SOURCE = "closed_source"


class Origin(StrEnum):
    """Where a run's answers come from; shown everywhere and never pooled silently."""

    PUBLISHED = "published"
    """Figures printed in a paper; no answers behind them."""
    IMPORTED = "imported"
    """Answers a user brought in a file."""
    PRECOMPUTED = "precomputed"
    """Answers computed by Parallax in a batch run."""
    LIVE = "live"
    """Answers computed while somebody watched."""


LIVE_SUITE, LIVE_PAIRS, LIVE_EXAMPLES = "live", "live-surgcheck", "live-verimap"
"""Names of the suites of units made on the spot, one a system."""

LIVE_SUITES = (LIVE_SUITE, LIVE_PAIRS, LIVE_EXAMPLES)
"""No file's suite can have one of these names, and no run is made over one."""


class AnswerStatus(StrEnum):
    """What became of a probe. All but `READ` count as wrong, each counted apart."""

    READ = "read"
    """The scorer found a value for every part."""
    UNPARSED = "unparsed"
    """There is an answer, but no value can be read from some part of it."""
    EMPTY = "empty"
    """The VLM returned nothing, or nothing but punctuation."""
    FAILED = "failed"
    """The call ended in an error."""
    MISSING = "missing"
    """The run holds no answer to this probe."""


@dataclass(frozen=True, slots=True)
class Image:
    """A frame or radiograph, known by id whether or not its file is at hand."""

    image_id: str
    dataset: str
    file: str
    """File name as the data set writes it, for matching and for people."""

    @staticmethod
    def make_id(dataset: str, name: str) -> str:
        """Return an id that is safe in a link: ``dataset:name``, hashed where not plain."""
        return ":".join(_plain(part) for part in (dataset.lower(), name) if part)


@dataclass(frozen=True, slots=True)
class Probe:
    """One question of a unit, with its reference."""

    probe_id: str
    source_id: str
    """The probe's id in the file it came from."""
    role: Role
    position: int
    """Place among the probes of its role, from 0."""
    question: str
    reference: str
    """The ground-truth answer, verbatim."""
    question_class: str
    """Question class of an atomic probe, task of a pair's; empty for a complex one, which has its parts'."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One paired unit: an image and the probes about it."""

    unit_id: str
    source_id: str
    """The unit's id in the file it came from (EndoCA: ``sample_id``)."""
    suite: str
    image: Image
    split: str
    complexity: int
    """Number of atomic questions (EndoCA, section III-C: m_i); 0 for those of SurgCheck and VeriMap."""
    question_classes: tuple[str, ...]
    """Question classes of the atomic questions, in order; of a pair its task alone; empty in VeriMap."""
    probes: tuple[Probe, ...]

    @staticmethod
    def make_id(suite: str, source_id: str) -> str:
        """Return the id of a suite's unit (or probe): the suite's name before its own id."""
        return f"{suite}:{source_id}"


@dataclass(frozen=True, slots=True)
class RunKey:
    """What makes two sets of answers the same run; anything else is another run."""

    system: System
    suite: str
    vlm: str
    stage: str
    origin: Origin
    setting: str = ""
    """For example ``zero-shot`` or ``fine-tuned``; empty where there is one setting."""
    prompt_version: str = "unknown"
    decoding: str = "unknown"

    @property
    def run_id(self) -> str:
        """A readable id with a hash of the whole key, the same in every store."""
        digest = hashlib.sha256("\x1f".join(astuple(self)).encode()).hexdigest()[:10]
        return f"{_plain(self.vlm)}.{_plain(self.suite)}.{self.stage}.{digest}"


def _plain(text: str) -> str:
    """Return ``text`` where it is safe in a link and a file name, else a hash of it."""
    if _PLAIN_ID.fullmatch(text):
        return text
    kept = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:40]
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{kept}-{digest}" if kept else digest
