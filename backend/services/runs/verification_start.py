"""What a chain of verification runs starts from: answers in the store or in a folder, or a VLM to be asked."""

__all__ = ["Start", "start_anew", "start_from_folder", "start_from_run"]

from pathlib import Path
from typing import NamedTuple

from backend.domain.records import Stage, System
from backend.errors import AppError
from backend.services.runs.direct_answers import RunAnswers, folder_base, folder_record, stored_base, stored_record
from backend.services.runs.folder import RECORD
from backend.services.runs.plan import Item, Plan, VlmIdentity, read_plan
from backend.services.runs.record import RunRecord
from backend.services.runs.verification_run import GENERATE
from backend.store.store import Store
from backend.verimap.feedback_loop import DECODINGS
from backend.verimap.setups import OptionsShown


class Start(NamedTuple):
    """First answers, or what is to be asked for them."""

    first: Plan
    """The generator's plan."""
    answers: RunAnswers | None
    """To each of its items; None where the generator is to be asked."""
    images: tuple[Item, ...]
    """Items of the whole suite, whatever the limit: images are exchanged among them."""


def start_anew(
    store: Store, suite: str, generator: VlmIdentity, options: OptionsShown, *, limit: int | None = None
) -> Start:
    """Start with a VLM that is asked first.

    Args:
        store: Holds the suite.
        suite: Its name.
        generator: Who answers.
        options: Whether a question's options are shown.
        limit: Only so many questions, from the first.

    Raises:
        AppError: As `read_plan`; or the suite is no data set of VeriMap.
    """
    _check_suite(store, suite)
    whole = read_plan(store, suite, generator, DECODINGS[Stage.DIRECT], options=options)
    return Start(whole.first_units(limit), None, whole.items)


def start_from_folder(store: Store, suite: str, folder: Path, *, limit: int | None = None) -> Start:
    """Start with the answers in a run folder, or in that of a chain.

    Raises:
        AppError: As `start_anew` and `folder_base`; or the folder holds no first answers to a data set of VeriMap.
    """
    _check_suite(store, suite)
    if (folder / GENERATE / RECORD).is_file():
        folder = folder / GENERATE
    record = folder_record(folder)
    if (record.system, record.stage) != (System.VERIMAP, Stage.DIRECT):
        raise AppError(
            f"{folder} holds a {record.stage} run over a suite of {record.system}; verified are a generator's first "
            "answers to a data set of VeriMap.",
            "Name a folder that predict or verify run wrote over such a suite.",
        )
    whole = _plan_again(store, suite, record)
    first = whole.first_units(limit)
    return Start(first, folder_base(folder, first), whole.items)


def start_from_run(store: Store, suite: str, run_id: str, *, limit: int | None = None) -> Start:
    """Start with the answers of a stored run.

    Raises:
        AppError: As `start_anew`, `stored_record` and `stored_base`.
    """
    _check_suite(store, suite)
    whole = _plan_again(store, suite, stored_record(store, run_id))
    first = whole.first_units(limit)
    return Start(first, stored_base(store, run_id, first), whole.items)


def _plan_again(store: Store, suite: str, record: RunRecord) -> Plan:
    """Return the plan of a run that was made already, over the whole suite."""
    shown = record.setup.options if record.setup else None
    return read_plan(
        store,
        suite,
        record.vlm.identity,
        record.decoding.decoding,
        setting=record.own_setting,
        options=shown or OptionsShown.SHOWN,
    )


def _check_suite(store: Store, suite: str) -> None:
    known = [row[0] for row in store.rows("SELECT suite FROM suites WHERE system = ? ORDER BY suite", [System.VERIMAP])]
    if suite not in known:
        raise AppError(
            f"There is no data set {suite} of VeriMap in this store.",
            f"Data sets: {', '.join(known) or 'none yet; import one with import verimap'}.",
        )
