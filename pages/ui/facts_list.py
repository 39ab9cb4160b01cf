"""What a run was made of, below a folded account of its answers."""

__all__ = ["facts_list"]

from collections.abc import Mapping
from html import escape


def facts_list(facts: Mapping[str, str]) -> str:
    """Return named facts as an HTML list; those that are empty are left out.

    Args:
        facts: By name; names are our own words, the rest may be anything.
    """
    shown = "".join(f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>" for name, text in facts.items() if text)
    return f"<dl>{shown}</dl>"
