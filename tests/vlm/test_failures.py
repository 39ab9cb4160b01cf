"""Full memory and a dead device are told from everything else, by one list of words."""

import pytest
import torch

from backend.vlm.failures import first_line, is_of_device, is_out_of_memory


@pytest.mark.parametrize(
    ("error", "memory", "device"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."), True, False),
        (torch.OutOfMemoryError(""), True, False),
        (RuntimeError("MPS backend out of memory"), True, False),
        (RuntimeError("CUDA error: out of memory"), True, False),
        (RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"), True, False),
        (MemoryError(), True, False),
        (RuntimeError("CUDA error: device-side assert triggered"), False, True),
        (RuntimeError("shapes differ"), False, False),
        (ValueError(), False, False),
    ],
)
def test_each_failure_is_of_memory_of_the_device_or_of_the_ask(error: Exception, memory: bool, device: bool) -> None:
    assert (is_out_of_memory(error), is_of_device(error)) == (memory, device)


@pytest.mark.parametrize(
    ("error", "line"), [(ValueError("\n  one\ntwo"), "one"), (ValueError("x" * 999), "x" * 300), (ValueError(" "), "")]
)
def test_of_what_an_exception_says_the_first_line_is_told(error: Exception, line: str) -> None:
    assert first_line(error) == line
