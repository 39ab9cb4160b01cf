"""Where the files of a VLM, or of its adapter, lie: a folder, or a snapshot in the hub's cache.

All that is loaded is loaded from a folder found here: whoever is handed a hub's id may ask the
hub for more than was meant. `settled_commit` and `fetched` reach the network, where they may.
"""

__all__ = [
    "ADAPTER",
    "INSTALL_HINT",
    "MODEL",
    "Files",
    "Tensors",
    "broken_file",
    "cached_folder",
    "download_command",
    "fetched",
    "is_folder",
    "lacking_file",
    "read_tensors",
    "refuse_misfits",
    "settled_commit",
    "weights_folder",
]

import errno
import json
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from backend.errors import AppError

INSTALL_HINT = "Install it into the environment the app runs in, then start the app again."


class Files(NamedTuple):
    """What the files of a VLM are called, or those of an adapter."""

    config: str
    weights: str
    """Where they are one file."""
    index_file: str
    """Names the files of weights where they are several; empty where they never are."""
    from_hub: tuple[str, ...]
    """Patterns of what is taken from the hub; no pickle is."""


MODEL = Files(
    "config.json",
    "model.safetensors",
    "model.safetensors.index.json",
    ("*.json", "*.jinja", "*.txt", "*.model", "*.tiktoken", "model*.safetensors"),
)
ADAPTER = Files(
    "adapter_config.json", "adapter_model.safetensors", "", ("adapter_config.json", "adapter_model.safetensors")
)


class Tensors(NamedTuple):
    """What a safetensors file says of itself."""

    header: bytes
    """Names, types and shapes."""
    spans: list[tuple[int, int]]
    """Where tensors begin and end in the file, in their order there."""


_FOLDER = re.compile(r"[./~\\]|[A-Za-z]:")
_N_NAMED = 3
_LONGEST_HEADER = 100_000_000
"""In bytes, as the safetensors format sets it."""


def is_folder(source: str) -> bool:
    """Return whether a source is meant as a folder, by how it begins; anything else is a hub id."""
    return bool(_FOLDER.match(source))


def weights_folder(source: str, revision: str | None, files: Files = MODEL) -> Path | None:
    """Return the folder that holds the weights of a source, None where they are not all here.

    Args:
        source: Folder or hub id.
        revision: Of a hub id; None is the main one.
        files: Of a VLM, or of an adapter.
    """
    folder = Path(source).expanduser() if is_folder(source) else cached_folder(source, revision, files)
    return None if folder is None or lacking_file(folder, files) else folder


def lacking_file(folder: Path, files: Files) -> str:
    """Return the name of the first file that is needed and not there, empty where nothing lacks."""
    needed = [files.config, *(_shards(folder, files) or [files.weights])]
    return next((name for name in needed if not (folder / name).is_file()), "")


def cached_folder(source: str, revision: str | None, files: Files = MODEL) -> Path | None:
    """Return the snapshot of a hub id in the hub's cache, whole or not; None where there is none."""
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(source, files.config, revision=revision)
    except HFValidationError:
        return None
    return Path(config).parent if isinstance(config, str) else None


def settled_commit(source: str, revision: str | None, files: Files, *, online: bool) -> str | None:
    """Return the commit that a hub id stands for on this machine; None for a folder, or where nothing is cached.

    It is the one in the cache, and stays so when the hub moves on. Where nothing is cached yet and
    may be fetched, the configuration is, and settles it: what is fetched later is of that commit.

    Raises:
        AppError: It has to be fetched and cannot be.
    """
    if is_folder(source):
        return None
    folder = cached_folder(source, revision, files)
    if folder is None and online:
        folder = _from_hub(source, revision, (files.config,))
    return folder.name if folder else None


def fetched(source: str, revision: str | None, files: Files, *, with_code: bool = False) -> Path:
    """Return the snapshot of a hub id after what it lacks has been fetched; never of another commit than the cached.

    The hub is not asked where the weights are here and nothing else is known to lack.

    Args:
        source: Hub id.
        revision: None is the main one.
        files: Of a VLM, or of an adapter.
        with_code: Whether Python files are fetched, too.

    Raises:
        AppError: It cannot be fetched.
    """
    patterns = (*files.from_hub, "*.py") if with_code else files.from_hub
    if folder := weights_folder(source, revision, files):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError

        try:
            return Path(
                snapshot_download(source, revision=folder.name, allow_patterns=list(patterns), local_files_only=True)
            )
        except LocalEntryNotFoundError:
            pass
    commit = settled_commit(source, revision, files, online=True)
    return _from_hub(source, commit, patterns)


def download_command(source: str, revision: str | None = None) -> str:
    """Return what to type to fetch a hub id into the hub's cache."""
    return f"hf download {source}{f' --revision {revision}' if revision else ''}"


def broken_file(folder: Path, files: Files) -> str:
    """Return the name of the first file of weights that is cut short or no safetensors file, empty where all are whole.

    Raises:
        OSError: A file cannot be read.
    """
    names = _shards(folder, files) or [files.weights]
    return next((name for name in names if read_tensors(folder / name) is None), "")


def read_tensors(path: Path) -> Tensors | None:
    """Return what a safetensors file says of itself, without its tensors; None where it is none, or not whole.

    Raises:
        OSError: It cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(length) if length <= min(size, _LONGEST_HEADER) else b""
    begin = 8 + len(header)
    try:
        facts = [fact for name, fact in json.loads(header).items() if name != "__metadata__"]
        offsets = [(int(start), int(end)) for start, end in (fact["data_offsets"] for fact in facts)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    spans = sorted((begin + start, begin + end) for start, end in offsets)
    is_whole = max([begin, *(end for _, end in spans)]) == size and all(begin <= start <= end for start, end in spans)
    return Tensors(header, spans) if is_whole else None


def refuse_misfits(whose: str, names: Iterable[str]) -> None:
    """Refuse weights of which these tensors were not there, or did not fit.

    Raises:
        AppError: There is one; it names the first three.
    """
    wrong = sorted(set(names))
    if wrong:
        more = f" and {len(wrong) - _N_NAMED:,} more" if len(wrong) > _N_NAMED else ""
        raise AppError(
            f"{whose} do not fit. Missing, of another shape, or of no use: {', '.join(wrong[:_N_NAMED])}{more}.",
            "Get all files anew, and see that they belong together.",
        )


def _shards(folder: Path, files: Files) -> list[str]:
    """Return the files that the index of the weights names; none where there is no index to be read."""
    try:
        index = json.loads((folder / files.index_file).read_text("utf-8")) if files.index_file else {"weight_map": {}}
        return sorted({str(shard) for shard in index["weight_map"].values()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _from_hub(source: str, revision: str | None, patterns: tuple[str, ...]) -> Path:
    """Fetch the files of these patterns that are not cached yet, and return their snapshot."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError as error:
        raise AppError(
            f"{source} cannot be fetched without the package huggingface_hub.",
            INSTALL_HINT,
        ) from error
    try:
        return Path(snapshot_download(source, revision=revision, allow_patterns=list(patterns)))
    except GatedRepoError as error:
        raise AppError(
            f"{source} is given only to those who accepted its terms.",
            "Accept them on its page at the hub, then log in once with: hf auth login.",
        ) from error
    except RepositoryNotFoundError as error:
        raise AppError(
            f"The hub has no {source}, or does not show it to you.",
            "Check the id in the list of VLMs; where it is private, log in once with: hf auth login.",
        ) from error
    except RevisionNotFoundError as error:
        raise AppError(f"{source} has no revision {revision}.", "Check revision in the list of VLMs.") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise AppError(f"There is no room on the disk for {source}.", "Free some, and ask again.") from error
        raise AppError(
            f"{source} could not be fetched from the hub ({type(error.__cause__ or error).__name__}).",
            f"Check the network and ask again, or fetch it elsewhere into the hub's cache: {download_command(source)}",
        ) from error
