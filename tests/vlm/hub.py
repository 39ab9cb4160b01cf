"""A hub of the tests' own: repositories that can be fetched from it into the cache, or are there already."""

import shutil
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from huggingface_hub.errors import LocalEntryNotFoundError

FIRST, SECOND = "0" * 40, "1" * 40
"""Commits."""


def cached(cache: Path, source: str, folder: Path, commit: str = FIRST, patterns: Sequence[str] = ("*",)) -> Path:
    """Put files of a folder into the hub's cache, as what the main revision is now; return the snapshot."""
    repository = cache / f"models--{source.replace('/', '--')}"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if any(fnmatchcase(path.name, pattern) for pattern in patterns):
            shutil.copy(path, snapshot)
    (repository / "refs").mkdir(exist_ok=True)
    (repository / "refs" / "main").write_text(commit)
    return snapshot


class Hub:
    """What `huggingface_hub.snapshot_download` talks to, in its place.

    Args:
        cache: The hub's cache.
    """

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.has: dict[str, dict[str, Path]] = {}
        """By id and commit a folder; the last one is the main revision."""
        self.fails: Exception | None = None
        """What every fetch raises."""
        self.asked: list[tuple[str, str | None, tuple[str, ...]]] = []

    def snapshot_download(
        self, source: str, *, revision: str | None, allow_patterns: Sequence[str], local_files_only: bool = False
    ) -> str:
        if local_files_only:
            return self._complete(source, str(revision), allow_patterns)
        self.asked.append((source, revision, tuple(allow_patterns)))
        if self.fails is not None:
            raise self.fails
        commits = self.has[source]
        commit = revision or list(commits)[-1]
        return str(cached(self.cache, source, commits[commit], commit, allow_patterns))

    def _complete(self, source: str, commit: str, patterns: Sequence[str]) -> str:
        """Return a snapshot unless it is known to lack a file."""
        snapshot = self.cache / f"models--{source.replace('/', '--')}" / "snapshots" / commit
        known = self.has.get(source, {}).get(commit)
        for path in known.iterdir() if known else ():
            if any(fnmatchcase(path.name, one) for one in patterns) and not (snapshot / path.name).is_file():
                raise LocalEntryNotFoundError(path.name)
        return str(snapshot)
