"""Ctrl-C stops work at a report, and never once the work is being committed."""

import os
import signal

import pytest

from backend.cli.progress import progress
from backend.domain.progress import Cancelled


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_is_heard_at_the_next_report() -> None:
    with pytest.raises(Cancelled), progress() as report:
        report("reading", 1, 2)
        interrupt()
        report("reading", 2, 2)


def test_ctrl_c_after_the_last_report_lets_the_work_end() -> None:
    ended = False
    with progress() as report:
        report("reading", 2, 2)
        interrupt()
        ended = True
    assert ended


def test_a_second_ctrl_c_ends_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), progress():
        interrupt()
        interrupt()


def test_ctrl_c_is_what_it_was_when_the_work_is_over() -> None:
    before = signal.getsignal(signal.SIGINT)
    with progress():
        pass
    assert signal.getsignal(signal.SIGINT) is before
