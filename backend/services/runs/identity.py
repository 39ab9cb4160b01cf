"""What makes a listed VLM this one and no other, told without a path of this machine."""

__all__ = ["identity_of", "weights_fingerprint"]

import hashlib
from pathlib import Path

from backend.services.runs.plan import VlmIdentity
from backend.vlm.entries import LocalWeights, VlmEntry

_WEIGHT_FILES = ("*.safetensors", "*.json")
_BLOCK = 1 << 20
_BLOCKS_A_FILE = 16


def identity_of(entry: VlmEntry) -> VlmIdentity:
    """Return the identity of a VLM of the registry.

    A folder's weights go by their fingerprint, so that it may be moved but not trained anew; a
    hub's by id and revision; a service's by its host and the name it has there. Where it runs
    (device, device map) makes it no other VLM; each session of a run says that for itself.
    """
    if entry.transformers:
        return VlmIdentity(entry.name, entry.group, _of_weights(entry.transformers))
    details = {"service": entry.openai.host, "model": entry.openai.model} if entry.openai else {}
    return VlmIdentity(entry.name, entry.group, details)


def weights_fingerprint(folder: Path) -> str:
    """Return a hash over a folder's weights and settings.

    Of each file its name, its size and up to sixteen evenly spread blocks of one MiB are read:
    small files whole, large ones in a moment, and other weights are told apart all the same.
    """
    digest = hashlib.sha256()
    for path in sorted(found for pattern in _WEIGHT_FILES for found in folder.glob(pattern)):
        size = path.stat().st_size
        digest.update(f"{path.name}\n{size}\n".encode())
        with path.open("rb") as file:
            for at in range(_BLOCKS_A_FILE):
                file.seek(max(size - _BLOCK, 0) * at // (_BLOCKS_A_FILE - 1))
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()


def _of_weights(weights: LocalWeights) -> dict[str, str]:
    details = {"weights": _place(weights.source), "revision": weights.revision, "dtype": weights.dtype}
    if weights.adapter:
        details["adapter"] = _place(weights.adapter)
    details["quantization"] = weights.quantization
    details["attention"] = weights.attn_implementation
    details["own code"] = "may run" if weights.trust_remote_code else None
    return {name: value for name, value in details.items() if value}


def _place(source: str) -> str:
    """Return a hub id as it is, and a folder as its name with its fingerprint."""
    folder = Path(source)
    return f"{folder.name} ({weights_fingerprint(folder)})" if folder.is_absolute() else source
