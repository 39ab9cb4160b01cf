"""``run.json``: what a run folder says of its run, for people and for the store.

It is checked as any file from outside is. Paths of the machine, keys and names of people never
stand in it, so that a folder can be handed on.
"""

__all__ = [
    "MOST_SHARDS",
    "BaseRecord",
    "Counts",
    "DecodingRecord",
    "RunRecord",
    "Session",
    "SetupRecord",
    "VlmRecord",
    "new_record",
    "new_session",
]

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from backend.domain.records import Origin, RunKey, Stage, System
from backend.domain.vlm import Decoding
from backend.services.runs.batches import TRIAL
from backend.services.runs.plan import Plan, VlmIdentity
from backend.verimap.conditions import Condition
from backend.verimap.setups import OptionsShown, Setup

MOST_SHARDS = 999_999
"""A run of so many shards would have been at work for a year."""

_DECIDES = ("device", "dtype", "chat template")
"""Of what a session says of its machine that which an answer can hang on, where it is known."""

_Name = Annotated[str, Field(min_length=1)]
_Count = Annotated[int, Field(ge=0)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VlmRecord(_Part):
    """Who answered; see `VlmIdentity`."""

    name: _Name
    group: str | None
    details: dict[str, str]

    @property
    def identity(self) -> VlmIdentity:
        """The same as the plan has it."""
        return VlmIdentity(self.name, self.group, self.details)


class DecodingRecord(_Part):
    """How; see `backend.domain.vlm.Decoding`."""

    label: str
    max_new_tokens: int
    reasoning_effort: str
    watched: tuple[str, ...]

    @property
    def decoding(self) -> Decoding:
        """The same as the plan has it."""
        return Decoding(self.max_new_tokens, self.reasoning_effort, self.watched)


class BaseRecord(_Part):
    """The run that another is made from; see `Base`."""

    run_id: str
    origin: str
    prompt_version: str
    decoding: str


class SetupRecord(_Part):
    """What a VeriMap run is in its chain; see `Setup`."""

    generator: str
    verifier: str
    turn: _Count
    condition: Condition | None
    options: OptionsShown | None
    stop_at_correct: bool
    looked: str
    swap_seed: int | None

    @property
    def setup(self) -> Setup:
        """The same as the plan has it."""
        return Setup(**self.model_dump())


class Counts(_Part):
    """Probes of the plan; done, failed and missing add up to planned."""

    planned: _Count
    done: _Count
    """Answered; an empty answer is one."""
    failed: _Count
    """The last call ended in an error, which stands in the probe's row; asked again by a resumed run."""
    missing: _Count
    """Not asked yet."""

    @model_validator(mode="after")
    def _add_up(self) -> "Counts":
        if self.done + self.failed + self.missing != self.planned:
            raise ValueError("done, failed and missing do not add up to planned")
        return self


class Session(_Part):
    """One start of the command, to its end or its being killed."""

    started: datetime
    last_saved: datetime
    code: dict[str, str]
    """Version and hash of Parallax, and versions of the packages a VLM runs on."""
    machine: dict[str, str]
    """What it ran on, no name of it; and as what the VLM ran there: its dtype, and what its chat template adds."""
    n_asked: _Count = 0
    """Calls that came back, failed ones among them."""
    seconds: _Seconds = 0.0
    """Wall time of these calls, loading and saving left out."""


class RunRecord(_Part):
    """The whole of ``run.json``."""

    schema_version: Literal[1] = 1
    system: System
    suite: _Name
    vlm: VlmRecord
    stage: Stage
    setting: str
    prompt_version: _Name
    prompts_sha256: str
    decoding: DecodingRecord
    base: BaseRecord | None = None
    """None for a run that is made from no other."""
    setup: SetupRecord | None = None
    """Of a VeriMap run; None elsewhere."""
    batch: Annotated[int, Field(ge=1)]
    """Calls given to the VLM at once, at most. Kept for life: a batch's company can decide a floating-point tie."""
    batch_from: _Count | None = 0
    """Place in the plan from which on batches are of that size; see `backend.services.runs.batches.Sizes`."""
    created: datetime
    finished: datetime | None = None
    """When the last probe was asked; None while some are missing."""
    counts: Counts
    errors: dict[str, _Count] = Field(default_factory=dict)
    """Failed probes by error class, the commonest first."""
    n_shards: Annotated[int, Field(ge=0, le=MOST_SHARDS)] = 0
    """Number of the last shard that was written."""
    lost_shards: tuple[str, ...] = ()
    """Shards found damaged or gone; the probes in them were asked again."""
    sessions: tuple[Session, ...] = ()

    @property
    def key(self) -> RunKey:
        """The run in the store."""
        return RunKey(
            system=self.system,
            suite=self.suite,
            vlm=self.vlm.name,
            stage=self.stage,
            origin=Origin.PRECOMPUTED,
            setting=self.setting,
            prompt_version=self.prompt_version,
            decoding=self.decoding.label,
        )

    @property
    def base_run_id(self) -> str | None:
        """Id of the run that it is made from; None where there is none."""
        return self.base.run_id if self.base else None

    @property
    def own_setting(self) -> str:
        """The setting of a direct run as it was chosen, without what the set-up adds."""
        added = self.setup.setup.setting(self.stage) if self.setup else ""
        return self.setting.removesuffix(added).removesuffix(", ") if added else self.setting

    @property
    def setup_words(self) -> str:
        """What a VeriMap run is in its chain, as plain text."""
        told = self.setup.model_dump(mode="json") if self.setup else {}
        return ", ".join(f"{name} {value}" for name, value in told.items() if value not in ("", None)) or "none"

    @property
    def n_asked(self) -> int:
        """Calls of all sessions."""
        return sum(session.n_asked for session in self.sessions)

    @property
    def seconds(self) -> float:
        """Wall time of these calls."""
        return sum(session.seconds for session in self.sessions)

    @property
    def answers_per_second(self) -> float | None:
        """Calls by their wall time; None before the first."""
        return self.n_asked / self.seconds if self.seconds else None

    @property
    def mixed(self) -> dict[str, tuple[str, ...]]:
        """Of device, dtype and chat template those in which sessions that asked differ, with the values in order."""
        asked = [session.machine for session in self.sessions if session.n_asked]
        values = {name: tuple(dict.fromkeys(one[name] for one in asked if name in one)) for name in _DECIDES}
        return {name: found for name, found in values.items() if len(found) > 1}

    def differences(self, other: "RunRecord") -> list[str]:
        """Return what makes ``other`` another run, in words; how far it is does not."""
        compared: dict[str, tuple[object, object]] = {
            "suite": (f"{self.system} {self.suite}", f"{other.system} {other.suite}"),
            "VLM": (self.vlm.name, other.vlm.name),
            "setting": (self.setting, other.setting),
            "stage": (self.stage, other.stage),
            "prompt version": (self.prompt_version, other.prompt_version),
            "decoding": (self.decoding.label, other.decoding.label),
            "watched words": (self.decoding.watched, other.decoding.watched),
            "run it is made from": (self.base_run_id or "none", other.base_run_id or "none"),
            "set-up": (self.setup_words, other.setup_words),
            **{
                f"VLM's {name}": (self.vlm.details.get(name, "none"), other.vlm.details.get(name, "none"))
                for name in sorted({*self.vlm.details, *other.vlm.details})
            },
        }
        found = [f"{what}: {mine} there, {theirs} here" for what, (mine, theirs) in compared.items() if mine != theirs]
        if self.prompt_version == other.prompt_version and self.prompts_sha256 != other.prompts_sha256:
            found.append("wordings of the prompts, under the same version")
        return found


def new_record(plan: Plan, batch: int | None) -> RunRecord:
    """Return the record of a run that was not started yet.

    Args:
        plan: What it asks.
        batch: Calls given to the VLM at once, at most; None leaves that to its pace.
    """
    key = plan.key
    return RunRecord(
        system=key.system,
        suite=key.suite,
        vlm=VlmRecord(name=plan.vlm.name, group=plan.vlm.group, details=dict(plan.vlm.details)),
        stage=Stage(key.stage),
        setting=key.setting,
        prompt_version=key.prompt_version,
        prompts_sha256=plan.prompts_sha256,
        decoding=DecodingRecord(
            label=plan.decoding.label,
            max_new_tokens=plan.decoding.max_new_tokens,
            reasoning_effort=plan.decoding.reasoning_effort,
            watched=plan.decoding.watched,
        ),
        base=BaseRecord(**asdict(plan.base)) if plan.base else None,
        setup=SetupRecord(**asdict(plan.setup)) if plan.setup else None,
        batch=batch or TRIAL,
        batch_from=0 if batch else None,
        created=datetime.now(UTC),
        counts=Counts(planned=len(plan.items), done=0, failed=0, missing=len(plan.items)),
    )


def new_session(code: Mapping[str, str], machine: Mapping[str, str]) -> Session:
    """Return a session that begins now."""
    now = datetime.now(UTC)
    return Session(started=now, last_saved=now, code=dict(code), machine=dict(machine))
