"""What a run ran on: code, packages and machine, without anything that names the machine or its user."""

__all__ = ["code_facts", "machine_facts", "vlm_facts"]

import hashlib
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from backend import __version__
from backend.settings import ROOT
from backend.vlm.loading import LocalSpec

_PACKAGES = ("torch", "torchvision", "transformers", "tokenizers", "peft", "bitsandbytes", "openai", "pillow")
"""What answers can depend on beside our own code."""


def code_facts() -> dict[str, str]:
    """Return Parallax's version, a hash of its code (git need not be there), and the packages' versions.

    Equal hashes mean that every Python file of ``backend`` was the same.
    """
    digest = hashlib.sha256()
    for path in sorted((ROOT / "backend").rglob("*.py")):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode() + path.read_bytes())
    facts = {"parallax": __version__, "code_sha256": digest.hexdigest(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            continue
    return facts


def machine_facts(device: Mapping[str, str]) -> dict[str, str]:
    """Return the kind of machine, and what the VLM says of its device."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": str(os.cpu_count() or "unknown"),
        **device,
    }


def vlm_facts(spec: LocalSpec | None) -> dict[str, str]:
    """Return what is known by now of a VLM that runs here: its device, and what it says of itself, as its dtype.

    Before the VLM is loaded, and for one that a service answers for, nothing is.
    """
    from backend.vlm.worker import WORKERS

    facts: dict[str, str] = {}
    if spec is None:
        return facts
    for status in WORKERS.status():
        if status.name == spec.name and status.device:
            facts |= {"device": status.device, **status.facts}
    return facts
