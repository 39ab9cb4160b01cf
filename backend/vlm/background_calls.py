"""Calls made in threads and heard by one caller, who can be freed at any moment.

A request to a service cannot be interrupted on its way. So it is made in a thread: the caller
waits for what the thread tells, or for somebody to stop the talk, whichever comes first. What
a stopped thread still has to say is dropped.
"""

__all__ = ["BackgroundCalls"]

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from backend.domain.progress import Cancelled

Told = TypeVar("Told")


@dataclass(eq=False)
class BackgroundCalls(Generic[Told]):
    """The threads of one caller; make one with `opened`."""

    _stopping: threading.Event = field(default_factory=threading.Event)
    _told: "queue.SimpleQueue[Told | BaseException]" = field(default_factory=queue.SimpleQueue)

    @classmethod
    @contextmanager
    def opened(cls) -> "Iterator[BackgroundCalls[Told]]":
        """Stop the threads when the caller leaves, in whatever way."""
        calls = cls()
        try:
            yield calls
        finally:
            calls._stopping.set()

    def start(self, work: Callable[[], None]) -> None:
        """Work in a new thread; what ends the work is raised where the caller hears it."""

        def guarded() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again by `hear`
                self.stop(error)

        threading.Thread(target=guarded, daemon=True).start()

    def tell(self, what: Told) -> None:
        """Pass something on to the caller; called by the threads.

        Raises:
            Cancelled: The caller is gone.
        """
        if self._stopping.is_set():
            raise Cancelled
        self._told.put(what)

    def wait(self, seconds: float) -> None:
        """Let time pass; called by the threads.

        Raises:
            Cancelled: The caller is gone, before the time was over.
        """
        if self._stopping.wait(seconds):
            raise Cancelled

    def stop(self, why: BaseException) -> None:
        """Have the caller raise ``why`` and the threads end; may come from any thread."""
        self._stopping.set()
        self._told.put(why)

    def hear(self) -> Told:
        """Wait for what is told next; called by the caller.

        Raises:
            BaseException: What a thread, or somebody with `stop`, ended it with.
        """
        heard = self._told.get()
        if isinstance(heard, BaseException):
            raise heard
        return heard
