"""Words of the audit: papers, verdicts, and the sentence that counts them."""

__all__ = ["PAPERS", "SHORT_VERDICTS", "VERDICTS", "counted_sentence", "finding_html", "in_reading_order"]

from collections import Counter
from collections.abc import Sequence
from html import escape

from backend.domain.records import System
from backend.services.audit import Finding, Verdict

PAPERS = {"All papers": None, "EndoCA": System.ENDOCA, "SurgCheck": System.SURGCHECK, "VeriMap": System.VERIMAP}
"""Words of the choice → the paper; None is all."""

_NAMES = {paper: name for name, paper in PAPERS.items() if paper}

VERDICTS = {
    "All verdicts": None,
    "Does not hold": Verdict.FAILS,
    "Holds otherwise": Verdict.OTHERWISE,
    "Holds": Verdict.HOLDS,
    "Not recomputed": Verdict.OPEN,
}
"""Words of the choice → the verdict; None is all."""

SHORT_VERDICTS = {
    Verdict.FAILS: "does not hold",
    Verdict.OTHERWISE: "only under another definition",
    Verdict.HOLDS: "holds",
    Verdict.OPEN: "not recomputed",
}
"""A verdict, as the end of a line."""

_STYLES = {Verdict.FAILS: "fails", Verdict.OTHERWISE: "otherwise", Verdict.HOLDS: "holds", Verdict.OPEN: "open"}


def in_reading_order(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings paper by paper, in the order of their numbers, what could not be recomputed last."""
    papers = list(System)
    return sorted(findings, key=lambda finding: (papers.index(finding.paper), finding.verdict is Verdict.OPEN))


def counted_sentence(findings: Sequence[Finding]) -> str:
    """Return how many claims hold and how many do not."""
    n = Counter(finding.verdict for finding in findings)
    holds = f"{n[Verdict.HOLDS]} hold" + ("s" if n[Verdict.HOLDS] == 1 else "")
    told = (
        f"Of {len(findings)} claims checked, {holds}, {n[Verdict.OTHERWISE]} only under another definition, and "
        f"{n[Verdict.FAILS]} {'does' if n[Verdict.FAILS] == 1 else 'do'} not"
    )
    if not n[Verdict.OPEN]:
        return f"{told}."
    return f"{told}; {n[Verdict.OPEN]} cannot be recomputed from what is here."


def finding_html(finding: Finding) -> str:
    """Return a finding as HTML, without its title, its figure and its numbers.

    What would follow is said only of what was recomputed.
    """
    rows = [("Printed", "", finding.printed)]
    if finding.recomputed:
        rows.append(("Recomputed", "", finding.recomputed))
    if finding.missing:
        rows.append(("Left open", "", finding.missing))
    if finding.recomputed:
        rows.append(("Consequence", "", finding.consequence))
    rows.append(("How", "quiet", finding.definition))
    listed = "".join(f'<dt>{name}</dt><dd class="{style}">{escape(text)}</dd>' for name, style, text in rows)
    return (
        f'<div class="finding"><p class="about"><span class="verdict {_STYLES[finding.verdict]}">'
        f"{escape(finding.verdict)}</span><span>{_NAMES[finding.paper]} · {escape(finding.where)}</span></p>"
        f'<p class="claim">{escape(finding.claim)}</p><dl>{listed}</dl></div>'
    )
