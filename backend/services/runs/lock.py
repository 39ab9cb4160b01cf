"""One process a run folder: a lock file that names it, held by the operating system."""

__all__ = ["LOCK", "locked"]

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from backend.errors import AppError

LOCK = "run.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make ``folder`` where it is absent, and keep other processes from writing a run into it.

    The system gives the lock up when its process ends, however it ends: the file that a killed
    process left behind holds nobody up.

    Raises:
        AppError: Another process holds the lock, or the folder cannot be made or locked.
    """
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _take(path)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
    except OSError as error:
        raise AppError(
            f"The run folder {folder} cannot be made or locked ({error.strerror}).",
            "Name another with --out, on a disk of this machine.",
        ) from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        file.close()


def _take(path: Path) -> IO[str]:
    import fcntl

    while True:
        file = path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise AppError(
                f"Process {holder} is writing a run into {path.parent}.",
                "Wait until it has ended or stop it, or name another folder with --out.",
            ) from error
        if _is_at(path, file):
            return file
        file.close()


def _is_at(path: Path, file: IO[str]) -> bool:
    """Return whether the locked file still lies there: its last holder may have put it away since we opened it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
