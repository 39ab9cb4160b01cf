"""What an import did, line by line: what went in, what did not, and why."""

__all__ = ["ImportReport", "LabelReport", "RunReport", "SuiteReport"]

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from backend.domain.records import Stage
from backend.errors import BadLine


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """Units of one suite that an import brought."""

    suite: str
    n_units: int
    """Units in the file."""
    n_new: int
    """Units the store did not have."""
    n_complex: int
    n_atomic: int
    n_images: int
    n_pairs: int = 0
    """Of SurgCheck: an original question with its less-biased twin."""
    n_completed: int = 0
    """Of VeriMap: stored units that lacked something the file says of them, such as the question itself."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """Answers of one VLM over one suite that an import brought."""

    run_id: str
    vlm: str
    suite: str
    n_answers: int
    """Answers in the file."""
    n_new: int
    n_replaced: int
    """Answers that took the place of others the same run held."""
    n_unchanged: int
    n_missing: int
    """Probes of the suite to which the run, as it now stands, holds no answer."""
    n_failed: int
    n_empty: int
    n_unparsed: int
    regrouped: bool = False
    """Whether a stored run now stands in another group of VLMs."""
    n_decisions_changed: int = 0
    """Decisions of a Select run that are new, or other than the store had them."""
    n_judged_changed: int = 0
    """Judgements that are new, or other than the store had them."""
    n_looks_changed: int = 0
    """Looks (saliency of answers) that are new, or other than the store had them."""
    n_unjudged: int = 0
    """Of a verifier's run: verdicts on answers that no oracle judged."""
    n_removed: int = 0
    """Of a verifier's run: verdicts that stood beside alike ones, and that the file holds no more."""
    stage: str = Stage.DIRECT
    setting: str = ""


@dataclass(frozen=True, slots=True)
class LabelReport:
    """Task labels that an import brought to the questions of one VeriMap suite."""

    suite: str
    how: str
    """file, vote or rules."""
    n_questions: int
    """Of the suite."""
    n_labelled: int
    """Of these, that have a label now."""
    n_changed: int
    """Labels that are new, or other than the store had them."""
    n_unknown: int
    """Ids in the files that the suite does not hold."""
    kinds: dict[str, int] = field(default_factory=dict)
    """Of a vote: questions by how their label came about (`VoteKind`); of rules: by the rule that proposed it."""
    pairs: list[dict[str, Any]] = field(default_factory=list)
    """Of a vote: a, b, n, k, share and kappa of two annotators each (`PairAgreement`)."""
    confusion: list[dict[str, Any]] = field(default_factory=list)
    """Of a vote: how often (n) b says task_b where a says task_a; cells without a question are left out."""
    checked: dict[str, Any] | None = None
    """Against labels by hand: n, k, share, low, high, n_absent, and confusion (by_hand, labelled, n)."""


@dataclass(slots=True)
class ImportReport:
    """The whole of one import."""

    kind: str
    source: str
    """Names of the files, for people."""
    suites: list[SuiteReport] = field(default_factory=list)
    runs: list[RunReport] = field(default_factory=list)
    bad_lines: list[BadLine] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was decided on the way, in sentences."""
    exclusions: dict[str, int] = field(default_factory=dict)
    """What was left out, counted by reason: samples of Kvasir-VQA-x1, questions of scene graphs, rows of SurgCheck,
    rows of VeriMap's data sets."""
    images: dict[str, int] = field(default_factory=dict)
    """What became of images and their files, as `attach_images` counts them; ``new`` is what changed."""
    left_out: list[BadLine] = field(default_factory=list)
    """Rows that are sound in form and were not taken, each with its reason (SurgCheck)."""
    labels: LabelReport | None = None
    """What became of task labels (VeriMap)."""

    @property
    def changed(self) -> bool:
        """Whether the import left the store different from before."""
        new_units = any(suite.n_new or suite.n_completed for suite in self.suites)
        new_answers = any(
            run.n_new
            or run.n_replaced
            or run.regrouped
            or run.n_decisions_changed
            or run.n_judged_changed
            or run.n_looks_changed
            or run.n_removed
            for run in self.runs
        )
        new_labels = self.labels is not None and self.labels.n_changed > 0
        return new_units or new_answers or new_labels or bool(self.images.get("new"))

    def leave_out(self, line: BadLine) -> None:
        """List a row that is not taken, and count its reason."""
        self.left_out.append(line)
        self.exclusions[line.reason] = self.exclusions.get(line.reason, 0) + 1

    def as_json(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Return the report that `as_json` made; what another version wrote beside it is left out."""
        parts = {"suites": SuiteReport, "runs": RunReport, "bad_lines": BadLine, "left_out": BadLine}
        known = {field.name: content[field.name] for field in fields(cls) if field.name in content}
        for name, part in parts.items():
            taken = {field.name for field in fields(part)}
            known[name] = [
                part(**{key: value for key, value in row.items() if key in taken}) for row in known.get(name, ())
            ]
        if known.get("labels") is not None:
            known["labels"] = LabelReport(**known["labels"])
        return cls(**known)
