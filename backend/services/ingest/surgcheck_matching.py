"""Which stored question each row answers, and which suites rows make that answer none."""

__all__ = ["AnswerFinder", "put_bundles"]

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from backend.domain.records import Origin, RunKey, Stage, System
from backend.errors import AppError, BadLine
from backend.services.ingest.report import ImportReport
from backend.services.ingest.surgcheck_answers import Given
from backend.services.ingest.surgcheck_bundles import Bundle, PairedBundle
from backend.services.ingest.surgcheck_pairing import NO_TWIN, RowPair
from backend.services.ingest.surgcheck_rows import PairRow
from backend.services.ingest.surgcheck_suites import (
    ANSWERS,
    RELEASE,
    held_cues,
    put_pairs,
    stored_pairs,
    suite_pair,
)

if TYPE_CHECKING:
    import duckdb


class AnswerFinder:
    """Finds the probe that each row answers, bundle by bundle, making suites where none matches."""

    def __init__(
        self,
        cursor: "duckdb.DuckDBPyConnection",
        vlm: str | None,
        setting: str | None,
        suite: str | None,
        outcome: ImportReport,
    ) -> None:
        """Begin with the stored suites.

        Args:
            cursor: The caller's write transaction.
            vlm: Who answered, as the user says; None where rows say it.
            setting: As the user says; None where rows or names do.
            suite: The suite that the user names.
            outcome: The import's report.
        """
        self.runs: dict[RunKey, dict[str, Given]] = {}
        """Rows by run and probe."""
        self._cursor = cursor
        self._vlm = vlm
        self._setting = setting
        self._suite = suite
        self._outcome = outcome
        self._stored = {held.suite: held for held in stored_pairs(cursor, suite)}

    def take(self, one: PairedBundle) -> None:
        """Give every row of a bundle its probe.

        Raises:
            AppError: Nothing says which VLM answered, several suites could be meant, or the bundle would pool two.
        """
        vlm = self._vlm or one.bundle.model
        if vlm is None:
            raise AppError(
                f"{', '.join(one.bundle.files)} does not say which VLM answered.",
                "Name it with --model NAME (on the Data page: 'VLM').",
            )
        suite = self._find(one, vlm) or self._make(one)
        held = self._stored.get(suite)
        if held is None:
            return  # no pair carried its reference: all its rows are bad lines
        held.release()
        for pair in one.rows.pairs:
            probes = held.claim_pair(pair)
            for row, probe_id in zip(pair, probes or (None, None), strict=True):
                self._give(row, probe_id, suite, vlm, Stage.DIRECT, one.bundle)
        n_text_only = len(one.text_only)
        n_alone = len(one.single) - n_text_only
        for row, role in one.single[:n_alone]:
            self._give(row, held.claim(row, role), suite, vlm, Stage.DIRECT, one.bundle, has_no_twin=True)
        held.release()
        for row, role in one.single[n_alone:]:
            self._give(row, held.claim(row, role), suite, vlm, Stage.TEXT_ONLY, one.bundle)

    def _give(
        self,
        row: PairRow,
        probe_id: str | None,
        suite: str,
        vlm: str,
        stage: Stage,
        bundle: Bundle,
        *,
        has_no_twin: bool = False,
    ) -> None:
        if probe_id is None:
            if has_no_twin and len(bundle.files) > 1:
                self._outcome.leave_out(BadLine(row.number, NO_TWIN, row.file))
            else:
                reason = f"no question of suite {suite} has this picture, text and reference"
                self._outcome.bad_lines.append(BadLine(row.number, reason, row.file))
            return
        setting = self._setting
        if setting is None:
            setting = row.setting or bundle.setting
        key = RunKey(System.SURGCHECK, suite, vlm, stage, Origin.IMPORTED, setting)
        of_run = self.runs.setdefault(key, {})
        if probe_id in of_run:
            first = of_run[probe_id].row
            place = f"line {first.number}" if first.file == row.file else f"{first.file}, line {first.number}"
            reason = f"{vlm} answers this question a second time (first on {place})"
            self._outcome.bad_lines.append(BadLine(row.number, reason, row.file))
            return
        of_run[probe_id] = Given(probe_id, row)

    def _find(self, one: PairedBundle, vlm: str) -> str | None:
        """Return the stored suite that has all of a bundle's pairs; the one named, where it was made from a release."""
        if self._suite is not None and self._suite in self._stored:
            held = self._stored[self._suite]
            if held.made_from == RELEASE or held.holds(one.rows.pairs, one.single):
                return self._suite
            return None
        found = [held.suite for held in self._stored.values() if held.holds(one.rows.pairs, one.single)]
        if len(found) > 1:
            rows = self._cursor.execute("SELECT suite FROM runs WHERE vlm = ?", [vlm]).fetchall()
            answered = {row[0] for row in rows} | {key.suite for key in self.runs if key.vlm == vlm}
            own = [suite for suite in found if suite in answered]
            found = own if len(own) == 1 else found
        if len(found) > 1:
            raise AppError(
                f"The questions of {', '.join(one.bundle.files)} are in several suites ({', '.join(found)}).",
                "Say which one is meant with --suite (on the Data page: 'suite').",
            )
        return found[0] if found else None

    def _make(self, one: PairedBundle) -> str:
        """Return the suite made from the references that answers carry, or one made so that grows by other cues."""
        name = self._suite or one.bundle.suite
        if not one.rows.pairs:
            raise AppError(
                f"No stored suite has all the questions of {', '.join(one.bundle.files)}, and they make none: a pair "
                "needs original and less-biased rows.",
                "Import the questions first, or name both files of the pair.",
            )
        cues = {pair.original.cue for pair in one.rows.pairs}
        stored = next((held for held in stored_pairs(self._cursor, name)), None)
        if stored is not None and (stored.made_from == RELEASE or cues & held_cues(self._cursor, name)):
            raise AppError(
                f"Suite {name} exists and holds other pairs than {', '.join(one.bundle.files)}; they are not pooled.",
                "Name another suite with --suite (on the Data page: 'suite').",
            )
        n_suites = len(self._outcome.suites)
        put_bundles(self._cursor, name, [one], self._outcome, ANSWERS, extend=True)
        if len(self._outcome.suites) > n_suites:
            self._outcome.notes.append(
                f"No stored suite has the questions of {', '.join(one.bundle.files)}; suite {name} was made from the "
                "references they carry."
            )
        self._stored |= {held.suite: held for held in stored_pairs(self._cursor, name)}
        return name


def put_bundles(
    cursor: "duckdb.DuckDBPyConnection",
    suite: str,
    bundles: Sequence[PairedBundle],
    outcome: ImportReport,
    made_from: str,
    *,
    extend: bool,
) -> None:
    """Write a suite of the pairs in bundles, inside the caller's transaction; nothing where there is none.

    Args:
        cursor: The caller's write transaction.
        suite: The suite's name.
        bundles: Their pairs carry references; one that does not is a bad line.
        outcome: The import's report.
        made_from: `RELEASE` or `ANSWERS`.
        extend: Whether a suite that exists may grow.

    Raises:
        AppError: As `put_pairs`.
    """
    repeats: Counter[str] = Counter()
    units = [suite_pair(pair, repeats) for one in bundles for pair in _referenced(one.rows.pairs, outcome)]
    if not units:
        return
    files = [file for one in bundles for file in one.bundle.files]
    left_out = Counter(line.reason for line in outcome.left_out if line.file in files)
    built: dict[str, Any] = {"made_from": made_from, "files": files, "left_out": dict(left_out)}
    splits = {one.bundle.split for one in bundles}
    outcome.suites.append(
        put_pairs(
            cursor, suite, units, ", ".join(files),
            split=splits.pop() if len(splits) == 1 else "", extend=extend, build_report=built,
        )
    )  # fmt: skip


def _referenced(pairs: Sequence[RowPair], outcome: ImportReport) -> Iterator[RowPair]:
    """Yield the pairs that carry their reference; the rows of others are bad lines."""
    for pair in pairs:
        if pair.original.reference is None:
            outcome.bad_lines.append(BadLine(pair.original.number, "holds no reference", pair.original.file))
        else:
            yield pair
