"""Promises of traces of a case: scored by its references, and put together from the runs of a batch."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.records import Role
from backend.domain.vlm import Decoding, OnText, Reply
from backend.endoca.asr import Step, StepName, Trace, Variant
from backend.endoca.decision import Consistency, Verdict, failed_decision
from backend.endoca.outcomes import Outcome
from backend.errors import AppError
from backend.services.batch_traces import batch_traces
from backend.services.cases import CaseQuestion, load_case
from backend.services.live_traces import Ending, StoredTrace, load_trace, store_trace, unit_traces
from backend.services.runs.import_run import import_run
from backend.services.runs.plan import VlmIdentity, read_plan
from backend.services.trace_scores import score_trace
from backend.store.store import Store
from tests.services.reconciled_files import Reconciler, reconcile_into
from tests.services.reconciled_store import DIRECT, NO_TEXT, REVISED, TEXT, VLM, make_store
from tests.services.run_files import PARROT, draw_images, drawn_store

WHO = VlmIdentity("Some VLM", None, {"weights": "none"})


def question(position: int, text: str, reference: str) -> CaseQuestion:
    role = Role.COMPLEX if position < 0 else Role.ATOMIC
    return CaseQuestion(f"p{position}", role, max(position, 0), text, reference, "")


LEAD = question(-1, "Is there text, and how many polyps are in the image?", "")
PARTS = (question(0, "Is there text?", "yes"), question(1, "How many polyps are in the image?", "2"))


def trace(**replies: str | Reply) -> Trace:
    """Return a trace with these replies, in order; a part's name is atomic0, atomic1."""
    steps = []
    for name, reply in replies.items():
        position = int(name[-1]) if name[-1].isdigit() else 0
        said = reply if isinstance(reply, Reply) else Reply(reply, seconds=0.5)
        steps.append(Step(StepName(name.rstrip("01")), position, "?", "prompt", said))
    return Trace(LEAD.question, Variant.ASR, tuple(steps))


def test_each_step_is_judged_and_the_whole_before_and_after() -> None:
    scores = score_trace(
        [LEAD, *PARTS],
        trace(
            direct="Text is present and there are two polyps.",
            atomic0="Yes",
            atomic1="3",
            revise="Text is present and there are three polyps.",
        ),
    )
    assert scores.direct is not None
    assert scores.revised is not None
    assert (scores.direct.correct, scores.revised.correct) == (True, False)
    assert [part is not None and part.correct for part in scores.atomic] == [True, False]
    assert (scores.before, scores.after) == (Outcome.INCONSISTENT, Outcome.MIXED)


@pytest.mark.parametrize(
    ("parts", "replies", "before"),
    [
        (PARTS, {"direct": Reply("", error="It timed out."), "atomic0": "yes", "atomic1": "2"}, Outcome.NOT_ANSWERED),
        (PARTS, {"direct": " ", "atomic0": "yes", "atomic1": "2"}, Outcome.NOT_ANSWERED),
        (PARTS, {"direct": "Text and two polyps."}, None),
        ((PARTS[0], question(1, PARTS[1].question, "")), {"direct": "Text.", "atomic0": "yes", "atomic1": "2"}, None),
    ],
    ids=["failed", "empty", "parts not asked", "a reference is missing"],
)
def test_an_outcome_is_undefined_where_anything_it_needs_is_missing(
    parts: tuple[CaseQuestion, ...], replies: dict[str, str | Reply], before: Outcome | None
) -> None:
    scores = score_trace([LEAD, *parts], trace(**replies))
    assert (scores.before, scores.after) == (before, None)


def test_a_part_without_a_reference_is_not_judged_and_the_others_are() -> None:
    parts = (PARTS[0], question(1, PARTS[1].question, ""))
    scores = score_trace([LEAD, *parts], trace(direct="Text.", atomic0="no", atomic1="2"))
    assert scores.direct is None
    assert scores.atomic[0] is not None
    assert not scores.atomic[0].correct
    assert scores.atomic[1] is None


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    make_store(tmp_path / "store.duckdb")
    with Store.open(tmp_path / "store.duckdb") as opened:
        yield opened


def of(store: Store, sample: str) -> dict[Variant, StoredTrace]:
    return {one.trace.variant: one for one in batch_traces(store, load_case(store, f"drawn:{sample}"))}


def test_a_batch_trace_goes_from_direct_to_the_decision(store: Store) -> None:
    found = of(store, "11")
    asr = found[Variant.ASR].trace
    assert [str(step.name) for step in asr.steps] == ["direct", "atomic", "revise", "select"]
    assert (asr.direct, asr.premises, asr.revised) == (TEXT, [("Is there text?", "no")], NO_TEXT)
    assert (found[Variant.ASR].vlm.name, found[Variant.ASR].origin) == (VLM, "precomputed")
    alone = found[Variant.SELF].trace
    assert [str(step.name) for step in alone.steps] == ["direct", "revise", "select"]
    scores = score_trace(load_case(store, "drawn:11").questions, asr)
    assert (scores.before, scores.after) == (Outcome.COMPOSITION_FAILURE, Outcome.SUPPORTED)


def test_a_batch_decision_that_could_not_be_read_stays_an_abstention(store: Store) -> None:
    found = of(store, "33")[Variant.ASR].trace
    assert (found.direct, found.revised) == (DIRECT["33"], REVISED["33"])
    assert found.decision is not None
    assert (found.decision.verdict, found.decision.consistency) == (Verdict.ABSTAIN, None)
    assert found.final is None


class Selecting(Reconciler):
    """Replies to the Select question of every case with the same."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply

    def answer(self, image: Path | None, prompt: str, decoding: Decoding, on_text: OnText) -> Reply:
        return self.reply if prompt.startswith("Check") else super().answer(image, prompt, decoding, on_text)


def reconciled(tmp_path: Path, vlm: Reconciler, sample: str = "11") -> StoredTrace:
    """Return the trace of a sample by an ASR run that went through the store."""
    folder = tmp_path / "asked"
    folder.mkdir()
    with drawn_store(folder, images=draw_images(folder / "images")) as asked:
        reconcile_into(folder / "asr", read_plan(asked, "drawn", PARROT, Decoding()), vlm)
        import_run(asked, folder / "asr")
        return of(asked, sample)[Variant.ASR]


@pytest.mark.parametrize("said", ["", " \n", "I cannot say."])
def test_a_batch_decision_that_cannot_be_read_be_it_empty_is_no_failed_call(tmp_path: Path, said: str) -> None:
    found = reconciled(tmp_path, Selecting(Reply(said)))
    assert (found.ending, found.trace.failed_step) == (Ending.DONE, None)
    assert found.trace.decision == failed_decision("not one JSON object")


@pytest.mark.parametrize("step", ["Look at", "Check whether"], ids=["Revise", "Select"])
def test_a_batch_call_that_failed_is_told_as_one(tmp_path: Path, step: str) -> None:
    found = reconciled(tmp_path, Reconciler(fails=step))
    assert found.ending is Ending.FAILED
    assert found.trace.failed_step is not None
    assert "timed out" in found.trace.failed_step.reply.error


def test_a_run_over_a_part_of_a_suite_leaves_no_trace_on_the_cases_outside(tmp_path: Path) -> None:
    make_store(tmp_path / "limited.duckdb", both=False)
    with Store.open(tmp_path / "limited.duckdb") as limited:
        outside = "probe_id = 'drawn:33::complex' AND run_id IN (SELECT run_id FROM run_bases)"
        with limited.write() as cursor:
            cursor.execute(f"DELETE FROM answers WHERE {outside}")
            cursor.execute(f"UPDATE scores SET status = 'missing' WHERE {outside}")
            cursor.execute("DELETE FROM decisions WHERE unit_id = 'drawn:33'")
        assert of(limited, "33") == {}
        assert of(limited, "11")[Variant.ASR].ending is Ending.DONE


def test_a_suite_without_reconciled_runs_has_no_batch_trace(store: Store) -> None:
    with store.write() as cursor:
        cursor.execute("DELETE FROM run_bases")
    assert of(store, "11") == {}


def test_a_trace_comes_back_as_it_was_stored(store: Store) -> None:
    kept = trace(direct="\ud800 naïve\n息肉", atomic0=Reply("", n_tokens=0, was_cut=True, seconds=1.5))
    trace_id = store_trace(store, "drawn:11", kept, WHO, "00ff", was_cancelled=True)
    found = load_trace(store, trace_id)
    assert found is not None
    assert found.trace == kept
    assert (found.vlm, found.image_sha256, found.ending) == (WHO, "00ff", Ending.CANCELLED)
    assert [one.trace_id for one in unit_traces(store, "drawn:11")] == [trace_id]
    assert unit_traces(store, "drawn:22") == []
    assert load_trace(store, "nowhere") is None


def test_a_live_trace_counts_in_no_run(store: Store) -> None:
    counts = "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM answers), (SELECT count(*) FROM scores)"
    before = store.rows(counts)
    store_trace(store, "drawn:11", trace(direct="Text."), WHO, "00ff")
    assert store.rows(counts) == before


def test_a_decision_is_read_from_the_stored_reply(store: Store) -> None:
    said = '{"answer": "Text.", "consistency": "partly consistent", "decision": "abstain"}'
    trace_id = store_trace(store, "drawn:11", trace(direct="Text.", revise="Text.", select=said), WHO, "00ff")
    found = load_trace(store, trace_id)
    assert found is not None
    assert found.ending is Ending.DONE
    assert found.trace.decision is not None
    assert found.trace.decision.consistency is Consistency.PARTLY


def test_nothing_answered_or_nowhere_to_belong_is_refused(store: Store) -> None:
    with pytest.raises(AppError, match="No call was answered"):
        store_trace(store, "drawn:11", trace(direct=Reply("", error="It timed out.")), WHO, "00ff")
    with pytest.raises(AppError, match="no case 'gone'"):
        store_trace(store, "gone", trace(direct="Text."), WHO, "00ff")
