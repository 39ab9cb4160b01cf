"""What makes a listed VLM this one and no other, told without a path of this machine."""

__all__ = ["identity_of", "weights_fingerprint"]

import hashlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from backend.errors import AppError
from backend.services.runs.plan import VlmIdentity
from backend.vlm.entries import LocalWeights, VlmEntry
from backend.vlm.weights import ADAPTER, MODEL, is_folder, read_tensors, settled_commit

_DECIDES = (
    "*config.json", "*.index.json", "*token*.json", "vocab.*", "merges.txt", "*.model", "*.tiktoken",
    "chat_template.json", "*.jinja", "*.py",
)  # fmt: skip
"""Settings of the VLM, its generation, processor and adapter; tokenizer, chat template, and code of its own.

Anything else beside weights (a model card, a training's record and curves) decides no answer.
"""
_STRETCH = 1 << 20
_BLOCK = 1 << 14


def identity_of(entry: VlmEntry) -> VlmIdentity:
    """Return the identity of a VLM of the registry.

    A folder's weights go by their fingerprint, so that it may be moved but not trained anew; a
    hub's by id, revision and commit. The commit is settled here, before anything is asked: where
    the hub may be reached and nothing is cached yet, the configuration is fetched. A service's VLM
    goes by its host, the name it has there, and how it is asked for greedy answers and for their
    length. Where a VLM runs (device, device map) makes it no other VLM, and neither does the dtype
    that "auto" comes to there; each session of a run says that for itself.

    Raises:
        AppError: A folder's files cannot be read, or a configuration cannot be fetched.
    """
    if entry.transformers:
        return VlmIdentity(entry.name, entry.group, _of_weights(entry.transformers))
    details = {}
    if service := entry.openai:
        details = {
            "service": service.host,
            "model": service.model,
            "temperature": "0" if service.sends_temperature else "not sent, the service's own",
            "token limit": service.limit_field,
        }
    return VlmIdentity(entry.name, entry.group, details)


def weights_fingerprint(folder: Path) -> str:
    """Return a hash over all in a folder that decides answers; an absent folder has that of an empty one.

    Settings, tokenizer, chat template and code are read whole. Of each safetensors file the header is
    read (names, types and shapes), every tensor of up to one MiB whole, and of a larger one 16 KiB at
    its beginning, at its end and at least once in every MiB between: a tensor that was trained, and any
    stretch of one MiB that changed, is never missed, and large weights take seconds.

    Raises:
        AppError: A file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(folder.iterdir() if folder.is_dir() else ()):
            is_weights = path.suffix == ".safetensors"
            if path.is_file() and (is_weights or any(fnmatchcase(path.name, kind) for kind in _DECIDES)):
                digest.update(f"{path.name}\n{path.stat().st_size}\n".encode())
                for part in _parts_of_weights(path) if is_weights else (path.read_bytes(),):
                    digest.update(part)
    except OSError as error:
        raise AppError(f"{folder} cannot be read ({error.strerror}).", "Check its permissions.") from error
    return digest.hexdigest()


def _parts_of_weights(path: Path) -> Iterator[bytes]:
    """Yield the header of a safetensors file, then what is read of each tensor; all of a file that is none."""
    tensors = read_tensors(path)
    with path.open("rb") as file:
        if tensors is None:
            yield from iter(partial(file.read, _STRETCH), b"")
            return
        yield tensors.header
        for start, end in tensors.spans:
            for at, count in _blocks(end - start):
                file.seek(start + at)
                yield file.read(count)


def _blocks(size: int) -> Iterator[tuple[int, int]]:
    """Yield place and length of what is read of a tensor."""
    if size <= _STRETCH:
        yield 0, size
        return
    gaps = -(-size // _STRETCH)
    for number in range(gaps + 1):
        yield (size - _BLOCK) * number // gaps, _BLOCK


def _of_weights(weights: LocalWeights) -> dict[str, str]:
    sources = {"weights": (weights.source, weights.revision, MODEL)}
    if weights.adapter:
        sources["adapter"] = (weights.adapter, None, ADAPTER)
    details: dict[str, str | None] = {"revision": weights.revision}
    for what, (source, revision, files) in sources.items():
        details[what] = f"fingerprint {weights_fingerprint(Path(source))}" if is_folder(source) else source
        details[f"{what} commit"] = settled_commit(source, revision, files, online=weights.online)
    details["dtype"] = weights.dtype
    details["quantization"] = weights.quantization
    details["attention"] = weights.attn_implementation
    details["own code"] = "may run" if weights.trust_remote_code else None
    return {name: value for name, value in details.items() if value}
