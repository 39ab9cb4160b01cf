"""Do the papers' claims follow from their own numbers? Each claim checked, recomputed wherever the data is at hand.

A module a paper holds its checks; `findings` makes them all. What a page draws beside a figure of its own is
`findings_about` that figure.
"""

__all__ = ["AuditedFigure", "Finding", "Verdict", "findings", "findings_about"]

from backend.domain.records import System
from backend.services.audit import endoca, surgcheck, verimap
from backend.services.audit.finding import AuditedFigure, Check, Finding, Verdict
from backend.store.store import Store


def _number(check: Check) -> tuple[int, int]:
    paper, _, number = check.key.rpartition("-")
    return list(System).index(System(paper)), int(number)


_CHECKS = tuple(sorted((*endoca.CHECKS, *surgcheck.CHECKS, *verimap.CHECKS), key=_number))


def findings(store: Store) -> list[Finding]:
    """Return all findings, paper by paper, in the order of their numbers."""
    return [check.make(store) for check in _CHECKS]


def findings_about(store: Store, figure: AuditedFigure) -> list[Finding]:
    """Return the findings about one figure of the pages; nothing else is recomputed."""
    return [check.make(store) for check in _CHECKS if figure in check.about]
