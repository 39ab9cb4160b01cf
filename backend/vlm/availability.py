"""What a VLM lacks on this machine, found out without loading anything.

Looked at are files, installed packages, the environment's variables, the driver's own list of
GPUs, and the free memory. Nothing is sent anywhere: whether a service answers shows when it is
asked.
"""

__all__ = ["Availability", "Gpu", "Machine", "availability", "look_at_machine"]

import platform
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec

from backend.errors import AppError
from backend.vlm.entries import VlmEntry
from backend.vlm.loading import LocalSpec, main_memory
from backend.vlm.service import key_of
from backend.vlm.weights import ADAPTER, MODEL, weights_folder

GB = 1e9

_ASK_FOR_GPUS = ("--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, as its driver has it."""

    name: str
    total_gb: float
    free_gb: float


@dataclass(frozen=True, slots=True)
class Machine:
    """What VLMs can use here, at one moment."""

    gpus: tuple[Gpu, ...]
    """CUDA GPUs."""
    free_memory_gb: float
    """Main memory that could be used without swapping, in GB."""
    is_apple: bool = False
    """Whether there is an Apple GPU, which shares the main memory."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a VLM can be asked here, and if not, all that is lacking."""

    ok: bool
    reasons: tuple[str, ...]
    """In plain words, to follow the VLM's name; empty where it is ok."""


def availability(entry: VlmEntry, machine: Machine | None = None) -> Availability:
    """Return whether a VLM can be asked on this machine.

    Args:
        entry: The VLM.
        machine: As `look_at_machine` found it, for several VLMs at once; None looks now.
    """
    if not entry.answers.works:
        reasons = [entry.answers.why_not]
    elif entry.openai:
        reasons = _lacking_for_service(entry)
    else:
        reasons = _lacking_here(entry, machine or look_at_machine())
    return Availability(not reasons, tuple(reasons))


def look_at_machine() -> Machine:
    """Return what VLMs can use here; no GPU library is loaded."""
    is_apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    return Machine(_gpus(), main_memory().free / GB, is_apple)


def _lacking_for_service(entry: VlmEntry) -> list[str]:
    assert entry.openai is not None
    reasons = [] if find_spec("openai") else ["the package openai is not installed"]
    try:
        key_of(entry.openai)
    except AppError:
        reasons.append(f"no key in the environment variable {entry.openai.key_variable}")
    return reasons


def _lacking_here(entry: VlmEntry, machine: Machine) -> list[str]:
    spec = entry.spec
    assert spec is not None
    reasons = [f"the package {name} is not installed" for name in _packages(spec) if find_spec(name) is None]
    if not spec.online:
        if weights_folder(spec.source, spec.revision, MODEL) is None:
            reasons.append("its weights are not on this machine")
        if spec.adapter and weights_folder(spec.adapter, None, ADAPTER) is None:
            reasons.append("its adapter is not on this machine")
    return reasons + _lacking_memory(entry, spec, machine)


def _packages(spec: LocalSpec) -> list[str]:
    wanted = {
        "torch": True,
        "transformers": True,
        "peft": spec.adapter is not None,
        "bitsandbytes": spec.quantization is not None,
        "accelerate": spec.device_map is not None or spec.quantization is not None,
    }
    return [name for name, is_wanted in wanted.items() if is_wanted]


def _lacking_memory(entry: VlmEntry, spec: LocalSpec, machine: Machine) -> list[str]:
    """Say where neither a GPU nor the main memory can hold a VLM.

    On a GPU all of its memory counts, since other programs come and go; of the main memory what
    is free counts, since without it the machine swaps. Weights spread over GPUs add these up.
    """
    precision = spec.quantization or (spec.dtype if spec.dtype != "auto" else "bfloat16")
    needed = entry.memory_gb(precision)
    size = f" with {needed:.0f} GB" if needed and needed >= 1 else ""
    must_be_cuda = spec.device == "cuda" or spec.quantization is not None
    if spec.device in ("auto", "cuda") and machine.gpus:
        totals = [gpu.total_gb for gpu in machine.gpus]
        there = sum(totals) if spec.device_map else max(totals)
        return [f"needs a GPU{size}; there is one with {there:.0f} GB"] if needed and needed > there else []
    if must_be_cuda:
        return [f"needs a CUDA GPU{size}"]
    if spec.device == "mps" and not machine.is_apple:
        return ["needs an Apple GPU"]
    on_cpu = spec.device == "cpu" or not machine.is_apple
    in_memory = entry.memory_gb("float32" if on_cpu and spec.dtype == "auto" else precision)
    free = machine.free_memory_gb
    if in_memory is None or in_memory <= free:
        return []
    memory = f"{in_memory:.0f} GB of free memory; there are {free:.0f} GB"
    return [f"needs a GPU{size}, or {memory}" if spec.device == "auto" else f"needs {memory}"]


def _gpus() -> tuple[Gpu, ...]:
    """Ask the driver's own tool; no tool, no GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    try:
        said = subprocess.run([tool, *_ASK_FOR_GPUS], capture_output=True, text=True, timeout=10, check=True).stdout  # noqa: S603 - fixed arguments
    except (OSError, subprocess.SubprocessError):
        return ()
    gpus = []
    for line in said.splitlines():
        name, *memory = (part.strip() for part in line.rsplit(",", 2))
        if len(memory) == 2 and all(part.isdigit() for part in memory):
            total, free = (int(part) * 2**20 / GB for part in memory)
            gpus.append(Gpu(name, total, free))
    return tuple(gpus)
