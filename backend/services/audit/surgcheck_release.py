"""The suites of SurgCheck's public release in a store, known by their frames and how many pairs they hold."""

__all__ = ["NEEDS", "balanced_test", "full_test", "release_suites", "training_file"]

import json

from backend.domain.records import System
from backend.services.ingest.surgcheck_pairing import LEAKED
from backend.services.ingest.surgcheck_suites import DATASET
from backend.services.surgcheck_published import PRINTED_PAIRS
from backend.services.surgcheck_suites import is_balanced
from backend.store.store import Store

BALANCED_PAIRS = 7_592
"""Pairs of the balanced test set: 1,898 a cue."""

NEEDS = "import it on the Data page, as a folder or zip."
"""The rest of a sentence about files of the release that are not here."""


def release_suites(store: Store) -> dict[str, int]:
    """Return the suites about frames of Endoscapes with the number of their pairs, those of the release first."""
    rows = store.rows(
        "SELECT u.suite, count(*) FROM units u JOIN images i USING (image_id) JOIN suites s USING (suite) "
        "WHERE s.system = ? AND i.dataset = ? GROUP BY u.suite, s.report "
        "ORDER BY coalesce(json_extract_string(s.report, '$.made_from'), '') <> 'release', u.suite",
        [System.SURGCHECK, DATASET],
    )
    return dict(rows)


def full_test(store: Store) -> str | None:
    """Return the suite of the full test file; None where the store does not hold it."""
    return next((suite for suite, n in release_suites(store).items() if n == PRINTED_PAIRS), None)


def balanced_test(store: Store) -> str | None:
    """Return the suite of the balanced test set; None where the store does not hold it."""
    alike = [suite for suite, n in release_suites(store).items() if n == BALANCED_PAIRS]
    return next((suite for suite in alike if is_balanced(store, suite)), None)


def training_file(store: Store) -> tuple[str, int] | None:
    """Return the suite of the training file, with how many rows were left out as leaked; None without one."""
    suites = release_suites(store)
    for suite, report in store.rows("SELECT suite, report FROM suites WHERE report IS NOT NULL ORDER BY suite"):
        n = json.loads(report).get("left_out", {}).get(LEAKED, 0)
        if n and suite in suites:
            return suite, n
    return None
