"""A suite's name, wherever a page names it: a suite of drawn frames says that it is synthetic."""

__all__ = ["suite_tag", "suite_words"]

from backend.services.demo.synthetic import synthetic_suites
from pages.ui.resources import kept
from pages.ui.tags import SYNTHETIC_WORD, synthetic_tag


def suite_words(suite: str) -> str:
    """Return a suite's name as plain text, for tables and choices: ``demo ◌ synthetic``."""
    return f"{suite} {SYNTHETIC_WORD}" if suite in kept(synthetic_suites) else suite


def suite_tag(suite: str) -> str:
    """Return what stands beside a suite's name in running text: a small tag as HTML, or nothing."""
    return synthetic_tag() if suite in kept(synthetic_suites) else ""
