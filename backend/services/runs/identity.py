"""What makes a listed VLM this one and no other, told without a path of this machine."""

__all__ = ["identity_of", "weights_fingerprint"]

import hashlib
from pathlib import Path

from backend.errors import AppError
from backend.services.runs.plan import VlmIdentity
from backend.vlm.availability import weights_folder
from backend.vlm.entries import LocalWeights, VlmEntry

_SUFFIXES = frozenset({".safetensors", ".json", ".jinja", ".model", ".txt"})
"""Of weights, settings, tokenizer and chat template; a model card decides no answer."""
_BLOCK = 1 << 20
_BLOCKS_A_FILE = 16


def identity_of(entry: VlmEntry) -> VlmIdentity:
    """Return the identity of a VLM of the registry.

    A folder's weights go by their fingerprint, so that it may be moved but not trained anew; a
    hub's by id, revision and the commit that lies in the cache; a service's by its host, the name
    it has there, and how it is asked for greedy answers and for their length. Where a VLM runs
    (device, device map) makes it no other VLM; each session of a run says that for itself.

    Raises:
        AppError: A folder's files cannot be read.
    """
    if entry.transformers:
        return VlmIdentity(entry.name, entry.group, _of_weights(entry.transformers))
    details = {}
    if service := entry.openai:
        details = {
            "service": service.host,
            "model": service.model,
            "temperature": "0" if service.sends_temperature else "the service's own",
            "token limit": service.limit_field,
        }
    return VlmIdentity(entry.name, entry.group, details)


def weights_fingerprint(folder: Path) -> str:
    """Return a hash over a folder's weights and settings; an absent folder has that of an empty one.

    Of each file its name, its size and up to sixteen evenly spread blocks of one MiB are read:
    small files whole, large ones in a moment, and other weights are told apart all the same.

    Raises:
        AppError: A file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(folder.iterdir() if folder.is_dir() else ()):
            if path.suffix in _SUFFIXES and path.is_file():
                _add(path, digest)
    except OSError as error:
        raise AppError(f"{folder} cannot be read ({error.strerror}).", "Check its permissions.") from error
    return digest.hexdigest()


def _add(path: Path, digest: "hashlib._Hash") -> None:
    size = path.stat().st_size
    digest.update(f"{path.name}\n{size}\n".encode())
    with path.open("rb") as file:
        for at in range(_BLOCKS_A_FILE if size > _BLOCK else 1):
            file.seek(max(size - _BLOCK, 0) * at // (_BLOCKS_A_FILE - 1))
            digest.update(file.read(_BLOCK))


def _of_weights(weights: LocalWeights) -> dict[str, str]:
    details = {"weights": _place(weights.source), "revision": weights.revision, "dtype": weights.dtype}
    if not Path(weights.source).is_absolute() and (cached := weights_folder(weights.source, weights.revision)):
        details["commit"] = cached.name
    if weights.adapter:
        details["adapter"] = _place(weights.adapter)
    details["quantization"] = weights.quantization
    details["attention"] = weights.attn_implementation
    details["own code"] = "may run" if weights.trust_remote_code else None
    return {name: value for name, value in details.items() if value}


def _place(source: str) -> str:
    """Return a hub id as it is, and a folder as the fingerprint of what is in it."""
    folder = Path(source)
    return f"fingerprint {weights_fingerprint(folder)}" if folder.is_absolute() else source
