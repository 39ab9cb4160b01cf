"""Asking what a run folder still lacks, batch by batch, so that nothing is lost and nothing asked twice.

Batches are cut from the whole plan, images together, and are the same in every session
(`backend.services.runs.batches`): a probe is asked in the same company whether or not the run
was stopped in between, and even a floating-point tie falls the same way. A call that failed is a
row; it is asked again, with the other failed ones of its batch, when the run is resumed.
"""

__all__ = ["RunStopped", "run_plan"]

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from backend.domain.progress import Cancelled, Report, silent
from backend.domain.vlm import Ask, Reply, Vlm
from backend.errors import AppError
from backend.services.runs.batches import Sizes, SizesItsBatches, cut, size_for
from backend.services.runs.error_classes import error_class
from backend.services.runs.folder import (
    AnswerRow,
    check_free,
    read_record,
    read_shards,
    tidy,
    write_plan,
    write_record,
    write_shard,
)
from backend.services.runs.lock import locked
from backend.services.runs.plan import Item, Plan
from backend.services.runs.record import Counts, RunRecord, Session, new_record, new_session
from backend.services.runs.surroundings import code_facts, machine_facts

if TYPE_CHECKING:
    import pyarrow as pa

SHARD_ROWS, SHARD_SECONDS = 500, 30.0
"""After a batch, a shard is written where so many rows wait, or the oldest has waited so long.

With batches of a quarter of a minute a kill costs a minute's work, at most.
"""

Device = Callable[[], Mapping[str, str]]
"""Tells what the VLM runs on, as far as is known by now."""


class RunStopped(Cancelled):
    """The person who started the run stopped it; what was answered is kept, and the message says how to go on."""

    def __init__(self, kept: str) -> None:
        message = f"Stopped. {kept} To go on: the same command and --resume."
        AppError.__init__(self, message, "What is there can be taken into the store with import run.")


def run_plan(
    plan: Plan,
    vlm: Vlm,
    folder: Path,
    *,
    resume: bool = False,
    batch: int | None = None,
    device: Device = dict,
    report: Report = silent,
) -> RunRecord:
    """Ask a plan's items that the folder holds no answer to, and keep what comes back.

    An image that is not at hand, or not the file it was, makes error rows and no call; so does an
    item that says why it is not asked. A resumed
    plan may be longer than before (a higher limit, images found since), never another one. To
    resume where nothing was answered yet is to begin.

    Args:
        plan: What to ask.
        vlm: Who; its name is the plan's.
        folder: Made where absent; one process at a time writes into it.
        resume: Go on with a run that the folder holds.
        batch: Calls given to the VLM at once, at most; None takes what the VLM itself says, or what its pace
            allows. A resumed run keeps what it began with.
        device: Asked whenever the folder's record is written.
        report: Told of progress between batches, counted in items. Where it raises `Cancelled`, the
            run ends after the batch it is at.

    Returns:
        The folder's record as it stands at the end.

    Raises:
        RunStopped: Somebody stopped it; everything answered is kept.
        AppError: No image is at hand, the folder holds another run or anything else, it is in use,
            it cannot be written, or the VLM as a whole cannot go on. Kept is everything that the VLM
            gave back; what it lost of the batch it was at is asked again.
    """
    if plan.missing_images and len(plan.missing_images) == len(plan.images):
        raise AppError(
            f"None of the {len(plan.images):,} images of {plan.key.suite} is on this machine.",
            "Attach them to the store with import images DIR, or name their folder with --images beside a manifest.",
        )
    if batch is None and isinstance(vlm, SizesItsBatches):
        batch = vlm.batch
    with locked(folder):
        run = _Run.begin(plan, folder, resume=resume, batch=batch, device=device)
        try:
            for pending in run.pending():
                report("answering", run.n_settled, len(plan.items))
                run.take(*_answer(plan, vlm, pending))
        except Cancelled as cancelled:
            raise RunStopped(run.kept) from cancelled
        except AppError as error:
            hint = f"{error.hint} {run.kept} Then go on with the same command and --resume."
            raise AppError(error.message, hint) from error
        finally:
            run.save()
        return run.record


class _Run:
    """A session at work on one folder: what is settled, what waits to be written. One that asks nothing is not kept."""

    def __init__(self, plan: Plan, folder: Path, record: RunRecord, session: Session, device: Device) -> None:
        self._plan, self._folder, self._session, self._device = plan, folder, session, device
        self.record = record
        self._outcomes: dict[str, str] = {}
        """Error by item id, of this and earlier sessions; empty where it was answered."""
        self._retried: set[str] = set()
        self._waiting: list[AnswerRow] = []
        self._waiting_since = time.monotonic()
        self._end = 0
        """Place in the plan where the batch ends that is asked now."""

    @classmethod
    def begin(cls, plan: Plan, folder: Path, *, resume: bool, batch: int | None, device: Device) -> "_Run":
        """Look at what the folder holds, refuse what does not fit, and write down what is going to be asked."""
        fresh = new_record(plan, batch)
        record = read_record(folder)
        shards = read_shards(folder, record) if record else None
        session = new_session(code_facts(), machine_facts(device()))
        if record is None or shards is None or not (shards.last or record.lost_shards):
            check_free(folder)
            shards = None
            run = cls(plan, folder, fresh, session, device)
        else:
            if not resume:
                raise AppError(
                    f"{folder} holds a run already ({record.counts.done:,} of {record.counts.planned:,} answered).",
                    "Go on with it with --resume, or name another folder with --out.",
                )
            outcomes = dict(zip(*(shards.answers.column(c).to_pylist() for c in ("item_id", "error")), strict=True))
            _check_same_run(folder, record, fresh, shards.answers, plan)
            kept = {"n_shards": shards.last, "lost_shards": (*record.lost_shards, *shards.lost)}
            run = cls(plan, folder, record.model_copy(update=kept), session, device)
            run._outcomes = {item.item_id: outcomes[item.item_id] for item in plan.items if item.item_id in outcomes}
        run._retried = {item_id for item_id, error in run._outcomes.items() if error}
        write_plan(folder, plan)
        run._write_record()
        tidy(folder, shards.lost if shards else ())
        return run

    @property
    def n_settled(self) -> int:
        """Items with an answer, or with an error of this session."""
        return len(self._outcomes) - len(self._retried)

    @property
    def kept(self) -> str:
        """What the folder holds, as a sentence."""
        n_done = sum(1 for error in self._outcomes.values() if not error)
        return f"{n_done:,} of {len(self._plan.items):,} answers are kept in {self._folder}."

    def pending(self) -> Iterator[list[Item]]:
        """Yield the batches, without what earlier sessions have an answer to."""
        answered = {item_id for item_id, error in self._outcomes.items() if not error}
        for batch in cut(self._plan.items, lambda: Sizes(self.record.batch, self.record.batch_from)):
            self._end += len(batch)
            pending = [item for item in batch if item.item_id not in answered]
            if pending:
                yield pending

    def take(self, rows: Sequence[AnswerRow], n_asked: int, seconds: float) -> None:
        """Take a batch's rows, settle the size of those to come, and write a shard where it is time."""
        if self.record.batch_from is None and n_asked:
            sizes = {"batch": size_for(seconds, n_asked), "batch_from": self._end}
            self.record = self.record.model_copy(update=sizes)
            self._write_record()  # before any shard: a session after a kill cuts at the same places
        if not self._waiting:
            self._waiting_since = time.monotonic()
        self._waiting.extend(rows)
        for row in rows:
            self._outcomes[row.item_id] = row.error
            self._retried.discard(row.item_id)
        session = self._session
        self._session = session.model_copy(
            update={"n_asked": session.n_asked + n_asked, "seconds": session.seconds + seconds}
        )
        if len(self._waiting) >= SHARD_ROWS or time.monotonic() - self._waiting_since >= SHARD_SECONDS:
            self.save()

    def save(self) -> None:
        """Write what waits as a shard, then the record."""
        if self._waiting:
            number = self.record.n_shards + 1
            write_shard(self._folder, number, self._waiting)
            self._waiting = []
            self.record = self.record.model_copy(update={"n_shards": number})
        self._write_record()

    def _write_record(self) -> None:
        planned, failed = len(self._plan.items), [error for error in self._outcomes.values() if error]
        missing = planned - len(self._outcomes)
        now = datetime.now(UTC)
        earlier = tuple(one for one in self.record.sessions if one.started != self._session.started)
        machine = {**self._session.machine, **self._device()}
        self._session = self._session.model_copy(update={"last_saved": now, "machine": machine})
        self.record = self.record.model_copy(
            update={
                "finished": None if missing else now if self._session.n_asked else self.record.finished or now,
                "counts": Counts(
                    planned=planned, done=planned - missing - len(failed), failed=len(failed), missing=missing
                ),
                "errors": dict(Counter(map(error_class, failed)).most_common()),
                "sessions": (*earlier, self._session) if self._session.n_asked else earlier,
            }
        )
        write_record(self._folder, self.record)


def _check_same_run(folder: Path, record: RunRecord, fresh: RunRecord, answers: "pa.Table", plan: Plan) -> None:
    different = record.differences(fresh)
    if different:
        raise AppError(
            f"{folder} holds another run: {'; '.join(different)}.",
            "Give the options it was begun with, or name another folder with --out.",
        )
    planned = {item.item_id for item in plan.items}
    images = {item.probe_id: item.image_sha256 for item in plan.items}
    columns = (answers.column(name).to_pylist() for name in ("item_id", "error", "probe_id", "image_sha256"))
    rows = [row[2:] for row in zip(*columns, strict=True) if row[0] not in planned and not row[1]]
    if plan.base and (remade := [row for row in rows if row in images.items()]):
        raise AppError(
            f"{folder} holds {len(remade):,} answers made from others than those that now stand before them: "
            f"what the run {plan.base.run_id} said, or one between it and this, is no longer the same. A lost or "
            "damaged shard does that, for what was in it is asked again.",
            "Name another folder with --out, and start from the first answers that are there (asr run --from, verify "
            "run --generator), so that only what is made from them is asked again.",
        )
    if rows:
        raise AppError(
            f"{folder} holds {len(rows):,} answers that this plan does not ask for: the limit is lower than before, or "
            "the suite, its images, or the answers that are looked into have changed.",
            "Give the limit it was begun with or none, or name another folder with --out.",
        )


def _answer(plan: Plan, vlm: Vlm, items: Sequence[Item]) -> tuple[list[AnswerRow], int, float]:
    """Ask a batch; return its rows, how many calls were made, and their wall time in seconds.

    Where the calls add up to less than the whole took, that is their time: the first batch of a
    VLM that loads when it is asked is not slower than the others for it.
    """
    of_images = _image_faults(items)
    faults = {item.item_id: fault for item in items if (fault := item.not_asked or of_images.get(item.image_id))}
    asked = [item for item in items if item.item_id not in faults]
    began = time.perf_counter()
    replies = vlm.answer_all([Ask(item.image, item.prompt) for item in asked], plan.decoding) if asked else []
    seconds = time.perf_counter() - began
    of_calls = sum(reply.seconds for reply in replies)
    answered = dict(zip((item.item_id for item in asked), replies, strict=True))
    rows = [
        _row(plan, item, answered[item.item_id], item.image_sha256)
        if item.item_id in answered
        else _row(plan, item, Reply("", faults[item.item_id]), None)
        for item in items
    ]
    return rows, len(asked), min(seconds, of_calls or seconds)


def _image_faults(items: Sequence[Item]) -> dict[str, str]:
    """Return why an image cannot be sent, by its id, for those that cannot."""
    faults: dict[str, str] = {}
    for item in {item.image_id: item for item in items if item.image_id}.values():
        fault = _image_fault(item)
        if fault:
            faults[item.image_id] = f"The image {item.image_name} {fault}, then resume."
    return faults


def _image_fault(item: Item) -> str:
    if item.image is None or not item.image.is_file():
        return "is not on this machine. Attach it with import images"
    try:
        content = item.image.read_bytes()
    except OSError as error:
        return f"cannot be read ({error.strerror}). Check its permissions"
    if hashlib.sha256(content).hexdigest() != item.image_sha256:
        return "is not the file that was attached. Attach it again with import images"
    return ""


def _row(plan: Plan, item: Item, reply: Reply, image_sha256: str | None) -> AnswerRow:
    return AnswerRow(
        item_id=item.item_id,
        probe_id=item.probe_id,
        stage=plan.key.stage,
        image_sha256=image_sha256,
        answer=_storable(reply.text),
        error=_storable(reply.error),
        n_tokens=reply.n_tokens,
        was_cut=reply.was_cut,
        seconds=float(reply.seconds),
        probabilities=json.dumps(dict(reply.probabilities)) if reply.probabilities else None,
    )


def _storable(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
