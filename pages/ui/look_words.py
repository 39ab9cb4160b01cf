"""What looks say in words and numbers: how much of the attention the image got, beside an even spread.

A long prompt leaves the image less of an even spread; a share without it would be read wrongly.
"""

__all__ = ["look_facts", "look_gap", "looked_sentence"]

from backend.vlm.saliency.kept import KeptSaliency


def looked_sentence(
    first: tuple[str, KeptSaliency], second: tuple[str, KeptSaliency], *, who: tuple[str, str] = ("", "")
) -> str:
    """Return how much of its attention a VLM gave the image twice, as a sentence for a clinician.

    Args:
        first: When, as ``When judging``, and the look.
        second: The same of the other answer.
        who: Names of the two VLMs; they are told where they are not one.
    """
    (when, one), (other, two) = first, second
    then = other[:1].lower() + other[1:]
    a, b = ("the VLM", "") if who[0] == who[1] else (who[0], f"{who[1]} gave it ")
    return (
        f"{when}, {a} gave the image {_percent(one.fraction)} of its attention; {then}, {b}{_percent(two.fraction)}. "
        f"An even spread would have been {_percent(one.uniform_fraction)} and {_percent(two.uniform_fraction)}."
    )


def look_facts(kept: KeptSaliency) -> list[tuple[str, str]]:
    """Return the paper's two numbers of a look with the even share, each with its name."""
    times = "N/A: no part of the image can be seen" if kept.times_even is None else f"{kept.times_even:.2f}"
    gradient = f"N/A: {kept.why_no_gradient}" if kept.gradient_mean is None else f"{kept.gradient_mean:.3g}"
    return [
        ("Image saliency fraction", _percent(kept.fraction)),
        ("Even share", _percent(kept.uniform_fraction)),
        ("Times even share", times),
        ("Mean gradient activation", gradient),
    ]


def look_gap(left: KeptSaliency, right: KeptSaliency) -> list[tuple[str, str]]:
    """Return the same numbers' differences, left minus right; N/A where one of the two is."""
    return [
        ("Image saliency fraction", _points(left.fraction - right.fraction)),
        ("Even share", _points(left.uniform_fraction - right.uniform_fraction)),
        ("Times even share", _difference(left.times_even, right.times_even, ".2f")),
        ("Mean gradient activation", _difference(left.gradient_mean, right.gradient_mean, ".3g")),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"


def _points(difference: float) -> str:
    return f"{_signed(100 * difference, '.1f')} points"


def _difference(left: float | None, right: float | None, form: str) -> str:
    if left is None or right is None:
        return "N/A: one of the two has none"
    return _signed(left - right, form)


def _signed(value: float, form: str) -> str:
    """Return a difference with its sign; one that rounds to 0 has none."""
    size = f"{abs(value):{form}}"
    return f"{'−' if value < 0 else '+'}{size}" if float(size) else size
