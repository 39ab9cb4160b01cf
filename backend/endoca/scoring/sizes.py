"""Polyp sizes: a measure in millimetres or centimetres as Kvasir-VQA's bins.

A size inside a bin is that bin; a range that is made of whole bins is those bins; whatever lies across a
bin's border ("8 to 12 mm", "up to 15 mm") names none.
"""

__all__ = ["SIZE_MARK", "UNREADABLE", "bare_size_bins", "replace_sizes"]

import re

SIZE_MARK = "\x1f"
"""Stands for a measure while the text is cut into words."""
UNREADABLE = "?"
"""Label of a measure that fits no set of bins."""

_BINS = (("<5mm", 0.0, 5.0), ("5-10mm", 5.0, 10.0), ("11-20mm", 11.0, 20.0), (">20mm", 20.0, float("inf")))
_NUMBER_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "half a": 0.5,
}
_NUMBER = r"(?:\d+(?:\.\d+)?|" + "|".join(_NUMBER_WORDS) + ")"
_UNIT = r"(?:mm|millimet(?:er|re)s?|cm|centimet(?:er|re)s?)\b"
_LESS = r"(?:<=?|(?:less|smaller|fewer|lower|shorter)\s+(?:than|in size than)|under|below)"
_MORE = r"(?:>=?|(?:more|greater|larger|bigger|longer)\s+than|over|above|exceeding|exceeds|exceed|in excess of)"
_LOOSE = r"(?:up to|at least|at most|no more than|no less than)"
_MEASURE = re.compile(
    rf"(?:(?P<less>{_LESS})|(?P<more>{_MORE})|(?P<loose>{_LOOSE}))?\s*\b(?P<low>{_NUMBER})"
    rf"(?:\s?-?\s?(?P<lowunit>{_UNIT}))?"
    rf"(?:\s*(?:-|to|x|by|(?(lowunit)(?!)|and))\s*(?P<high>{_NUMBER}))?[\s-]*(?P<unit>{_UNIT})?",
)
_DISTANCE = re.compile(r"\s*(?:in\s+)?(?:from|proximal|distal|away|depth|mark\b)")


def _number(text: str, unit: str | None) -> float:
    value = float(_NUMBER_WORDS.get(text, 0) or text)
    return value * 10 if unit and unit.startswith("c") else value


def _bins(low: float, high: float) -> str:
    """Return the bins that `[low, high]` is made of, or UNREADABLE."""
    if low == high:
        inside = [name for name, start, end in _BINS if start <= low <= end]
        if low == 5:
            return "5-10mm"
        return inside[0] if inside else UNREADABLE
    for name, start, end in _BINS:
        if start <= low and high <= end and not (name == "<5mm" and high >= 5) and not (name == ">20mm" and low < 20):
            return name
    starts = {start: i for i, (_, start, _) in enumerate(_BINS)}
    ends = {end: i for i, (_, _, end) in enumerate(_BINS)}
    if low in starts and high in ends and starts[low] < ends[high]:
        return ";".join(sorted(name for name, _, _ in _BINS[starts[low] : ends[high] + 1]))
    return UNREADABLE


def _label(match: re.Match[str]) -> str:
    unit = match["unit"] or match["lowunit"]
    low = _number(match["low"], match["lowunit"] or unit)
    if match["high"]:
        high = _number(match["high"], unit)
        return _bins(min(low, high), max(low, high))
    if match["less"]:
        return "<5mm" if low <= 5 and "=" not in match["less"] else UNREADABLE
    if match["more"]:
        return ">20mm" if low >= 20 and (low > 20 or "=" not in match["more"]) else UNREADABLE
    return UNREADABLE if match["loose"] else _bins(low, low)


def replace_sizes(text: str) -> tuple[str, list[str]]:
    """Replace each measure of a lower-case text by `SIZE_MARK`.

    Returns:
        The text, and the labels of its marks in order. A distance ("20 cm from the anal verge") is removed
        without a mark.
    """
    if "mm" not in text and "cm" not in text and "illim" not in text and "entim" not in text:
        return text, []
    labels: list[str] = []

    def mark(match: re.Match[str]) -> str:
        if not (match["unit"] or match["lowunit"]):
            return match[0]
        if _DISTANCE.match(text, match.end()):
            return " distance "
        labels.append(_label(match))
        return f" {SIZE_MARK} "

    return _MEASURE.sub(mark, text), labels


def bare_size_bins(text: str) -> str | None:
    """Read a bare answer without a unit ("5-10", ">20") as millimetres; None where it is no number."""
    match = _MEASURE.fullmatch(text.strip().lower().rstrip(".! "))
    return _label(match) if match else None
