"""What makes a VLM this one and no other: recorded with every run, without key or path.

Weights in a folder are told by a hash of all their bytes, those of the hub by their commit: a
folder whose weights were trained on is another VLM under the same name.
"""

__all__ = ["identity_of"]

import hashlib
from pathlib import Path

from backend.vlm.availability import weights_folder
from backend.vlm.entries import VlmEntry

_SETTINGS = ("device_map", "dtype", "quantization", "attn_implementation")


def identity_of(entry: VlmEntry) -> dict[str, str]:
    """Return all that shapes a VLM's answers beside prompt and decoding.

    Weights of a folder are read whole, which takes seconds where they are large.
    """
    if service := entry.openai:
        return {
            "backend": entry.backend,
            "service": service.host,
            "model": service.model,
            "temperature": "0" if service.sends_temperature else "the service's own",
            "token limit": service.limit_field,
        }
    spec = entry.spec
    if spec is None:
        return {"backend": entry.backend}
    details = {"backend": entry.backend} | _weights("source", spec.source, spec.revision, "model")
    if spec.adapter:
        details |= _weights("adapter", spec.adapter, None, "adapter")
    details |= {name: str(value) for name in _SETTINGS if (value := getattr(spec, name)) not in (None, "auto")}
    return details | ({"code of its own": "yes"} if spec.trust_remote_code else {})


def _weights(what: str, source: str, revision: str | None, stem: str) -> dict[str, str]:
    folder = weights_folder(source, revision, stem)
    is_folder = Path(source).is_absolute()
    told = {what: Path(source).name if is_folder else source}
    if folder is None:
        return told | ({f"{what} revision": revision} if revision else {})
    if not is_folder:
        return told | {f"{what} commit": folder.name}
    digest = hashlib.sha256()
    for path in sorted(folder.glob(f"{stem}*.safetensors")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return told | {f"{what} sha256": digest.hexdigest()}
