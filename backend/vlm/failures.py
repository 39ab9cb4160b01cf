"""What a library's exception means for a VLM: full memory, a dead device, or one ask that could not be taken."""

__all__ = ["MEMORY_HINT", "first_line", "is_of_device", "is_out_of_memory"]

MEMORY_HINT = "Close what else uses it, or choose a smaller or a quantized VLM, and ask again."


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception says that memory was full: of a GPU, by torch's word, or of the machine."""
    words = f"{type(error).__name__}: {error}".lower()
    return any(sign in words for sign in ("out of memory", "can't allocate memory", "memoryerror", "outofmemoryerror"))


def is_of_device(error: BaseException) -> bool:
    """Return whether a GPU itself failed: every later call of the process would fail, too."""
    return "CUDA error" in str(error) and not is_out_of_memory(error)


def first_line(error: BaseException) -> str:
    """Return the first line of what an exception says; empty where it says nothing."""
    return next(iter(str(error).strip().splitlines()), "")[:300]
