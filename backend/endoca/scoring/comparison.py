"""Why a value that was read is not the reference, in words for a clinician.

The comparison comes after reading and changes no value: it only ends the reason's sentence.
"""

__all__ = ["compared"]

from backend.endoca.scoring.reading import Reading, listed


def compared(reading: Reading, expected: str, nothing: str) -> str:
    """Return the reading's reason, and for a wrong value what the reference has instead.

    Args:
        reading: What was read.
        expected: The reference in its canonical form.
        nothing: The value of a label class that says there is nothing to name.
    """
    if expected in reading.values or not reading.values:
        return reading.reason
    if len(reading.values) == 1:
        given, wanted = set(next(iter(reading.values)).split(";")), set(expected.split(";"))
        if given & wanted and nothing not in given | wanted:
            return f"{reading.reason}; {_difference(given - wanted, wanted - given)}"
    return f"{reading.reason}; the reference is {_shown(expected, nothing)}"


def _shown(expected: str, nothing: str) -> str:
    """Return the reference as people say it: no instrument is "none", though the data write "no"."""
    if expected == nothing:
        return "none"
    return "not relevant" if expected == "not_applicable" else listed(expected.split(";"))


def _difference(extra: set[str], missing: set[str]) -> str:
    """Say which labels are too many and which are left out."""
    if extra and missing:
        return f"the reference has {listed(sorted(missing))} instead of {listed(sorted(extra))}"
    if extra:
        return f"the reference does not have {listed(sorted(extra))}"
    return f"the reference also has {listed(sorted(missing))}"
