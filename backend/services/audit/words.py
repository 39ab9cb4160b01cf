"""How findings write numbers and lists."""

__all__ = ["joined", "p_words", "signed"]

from collections.abc import Sequence


def joined(parts: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"; parts with a comma of their own are set apart by semicolons."""
    if len(parts) < 2:
        return "".join(parts)
    if any("," in part for part in parts):
        return "; ".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def p_words(p: float | str) -> str:
    """Return a p-value with three decimals; a printed bound such as "<0.001" as it stands."""
    if isinstance(p, str) and p.startswith("<"):
        return f"< {p[1:]}"
    return "< 0.001" if float(p) < 0.001 else f"{float(p):.3f}"


def signed(number: float) -> str:
    """Return a slope with its sign and three decimals; a minus is the minus sign."""
    return f"{'−' if number < 0 else '+'}{abs(number):.3f}"
