"""Promises of live looks: only who gave a reply is looked into for it, once, and what arrives is kept."""

import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from backend.domain.progress import Cancelled
from backend.domain.records import Role, Stage
from backend.domain.vlm import Reply
from backend.endoca.asr import Step as AsrStep
from backend.endoca.asr import StepName, Trace, Variant
from backend.errors import AppError
from backend.services.ingest.verimap_suites import SuiteExample, put_examples
from backend.services.live_examples import example_to_ask
from backend.services.live_looks import LOOKS, LiveLooks, lines_to, why_no_look
from backend.services.live_pairs import PAIRS, LivePair
from backend.services.live_traces import load_trace, new_trace_id, store_trace
from backend.services.live_verification import Line
from backend.services.looks import SaliencyVlm
from backend.services.pair_traces import PairTrace, load_pair_trace
from backend.services.pair_units import pair_to_ask
from backend.services.removal import remove_suite
from backend.services.runs.identity import identity_of
from backend.services.runs.plan import VlmIdentity
from backend.services.stored_saliency import trace_looks
from backend.services.trace_replies import image_to_look_at, shown_image, to_compare, trace_replies
from backend.services.verification_traces import Asked, VerificationTrace, load_verification_trace
from backend.services.verification_traces import store_verification_trace as put
from backend.store.store import Store
from backend.verimap.prompts import generate_prompt
from backend.verimap.verification import Course, Step, Verification
from backend.vlm.registry import Registry
from backend.vlm.saliency.kept import keep
from backend.vlm.saliency.result import Saliency, SaliencyError
from tests.services.pair_store import ARROW_ACTION, make_pair_store
from tests.services.run_files import draw_images, drawn_store
from tests.services.test_live_pairs import WHO, Leaning
from tests.services.test_looks import LookedInto, needs_box_vlm
from tests.verimap.test_verification import RIGHT, Scripted

UNIT, QUESTION = "vqa-rad:1", "How many polyps are in the image?"
GENERATOR, VERIFIER = VlmIdentity("G", "demo", {"weights": "a"}), VlmIdentity("V", None, {"weights": "b"})
ANSWER, VERDICT = (Stage.DIRECT, 0), (Stage.VERIFY, 0)
STEPS = (
    Step(Stage.DIRECT, 0, "Answer it.", Reply("<think>hm</think> one")),
    Step(Stage.VERIFY, 0, "Judge it.", Reply(RIGHT)),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """One example on a frame that is at hand."""
    with drawn_store(tmp_path, images=draw_images(tmp_path / "images", ["frame-a"])) as made:
        with made.write() as cursor:
            put_examples(
                cursor, "vqa-rad", [SuiteExample("1", ("frame-a.png",), QUESTION, "2")], {}, "f", dataset="drawn"
            )
        yield made


class Held(LookedInto):
    """Holds its look until somebody cancels, and fails where it is told to."""

    def __init__(self, name: str, *, waits: bool = False, fails: AppError | None = None) -> None:
        super().__init__(name)
        self._waits, self._fails = waits, fails
        self.is_held, self._cancelled = threading.Event(), threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()

    def saliency(self, image: Path, prompt: str, answer: str) -> Saliency:
        found = super().saliency(image, prompt, answer)
        if self._waits:
            self.is_held.set()
            assert self._cancelled.wait(20)
            raise Cancelled
        if self._fails:
            raise self._fails
        return found


def verification(
    store: Store,
    *steps: Step,
    generator: VlmIdentity | None = GENERATOR,
    answer: str = "",
    unit: str = UNIT,
    sha256: str = "",
) -> VerificationTrace:
    """Store a verification of the frame, and return it."""
    trace_id = new_trace_id()
    found = Verification(QUESTION, Course(answer=answer), steps or STEPS)
    shown = sha256 or example_to_ask(store, unit).image_sha256
    put(store, trace_id, unit, found, Asked(VERIFIER), Asked(generator) if generator else None, shown)
    held = load_verification_trace(store, trace_id)
    assert held is not None
    return held


def lines(store: Store, *vlms: Scripted, now: Mapping[str, VlmIdentity] | None = None) -> dict[str, Line]:
    """Return a line to each VLM, which by now may be another one."""
    who = {"G": GENERATOR, "V": VERIFIER} | dict(now or {})
    for vlm in vlms:
        vlm.sees(example_to_ask(store, UNIT).image)
    return {vlm.name: Line(vlm, partial(who.__getitem__, vlm.name)) for vlm in vlms}


def looked(store: Store, trace: VerificationTrace, to: dict[str, Line]) -> LiveLooks:
    """Look into all replies of a trace, and wait until it is over."""
    looks = LOOKS.start(store, trace, trace_replies(trace), to)
    assert looks is not None and looks.wait(20)
    return looks


def test_who_answered_is_looked_into_for_the_answer_and_who_judged_for_the_verdict(store: Store) -> None:
    trace, generator, verifier = verification(store), Held("G"), Held("V")
    looks = looked(store, trace, lines(store, generator, verifier))
    assert generator.looks == [("Answer it.", "one")], "thinking is left aside"
    assert verifier.looks == [("Judge it.", RIGHT)]
    assert set(trace_looks(store, trace.trace_id)) == {ANSWER, VERDICT}
    assert (looks.n_done, looks.error, looks.is_stored, dict(looks.refused)) == (2, None, True, {})
    assert LOOKS.of(store, trace.trace_id) is looks


def test_nothing_is_looked_into_twice(store: Store) -> None:
    trace, generator, verifier = verification(store), Held("G"), Held("V")
    to = lines(store, generator, verifier)
    first = LOOKS.start(store, trace, trace_replies(trace)[:1], to)
    assert first is not None and first.wait(20)
    looked(store, trace, to)
    assert (len(generator.looks), len(verifier.looks)) == (1, 1)
    assert LOOKS.start(store, trace, trace_replies(trace), to) is None


def test_a_reply_that_is_refused_loses_no_other_and_its_reason_stays(store: Store) -> None:
    empty = (Step(Stage.DIRECT, 0, "Answer it.", Reply("")), STEPS[1])
    trace, generator, verifier = verification(store, *empty), Held("G"), Held("V")
    looks = looked(store, trace, lines(store, generator, verifier))
    assert str(looks.refused[ANSWER]) == "There is no answer. Choose another."
    assert set(trace_looks(store, trace.trace_id)) == {VERDICT}
    again = looked(store, trace, lines(store, generator, verifier))
    assert again.wanted == trace_replies(trace)[:1], "it may be asked again, and nothing else is"


def test_looking_into_another_reply_keeps_the_reason_of_the_first(store: Store) -> None:
    trace = verification(store, Step(Stage.DIRECT, 0, "Answer it.", Reply("")), STEPS[1])
    to = lines(store, Held("G"), Held("V"))
    for reply in trace_replies(trace):
        looks = LOOKS.start(store, trace, [reply], to)
        assert looks is not None and looks.wait(20)
    found = LOOKS.of(store, trace.trace_id)
    assert found is not None and set(found.refused) == {ANSWER}


def test_a_vlm_that_is_gone_is_asked_once_and_the_other_is_looked_into_all_the_same(store: Store) -> None:
    again = Step(Stage.LOOP, 1, "Answer again.", Reply("two"))
    trace = verification(store, *STEPS, again)
    generator, verifier = Held("G", fails=AppError("Its process ended.", "Ask again.")), Held("V")
    looks = looked(store, trace, lines(store, generator, verifier))
    assert len(generator.looks) == 1
    assert {key: why.message for key, why in looks.refused.items()} == {
        ANSWER: "Its process ended.",
        (Stage.LOOP, 1): "Its process ended.",
    }
    assert set(trace_looks(store, trace.trace_id)) == {VERDICT}


def test_a_vlm_that_refuses_one_reply_is_asked_for_the_next(store: Store) -> None:
    trace = verification(store, *STEPS, Step(Stage.LOOP, 1, "Answer again.", Reply("two")))
    generator = Held("G", fails=SaliencyError("Not this.", "Another."))
    looked(store, trace, lines(store, generator, Held("V")))
    assert len(generator.looks) == 2


def test_a_vlm_whose_build_has_changed_is_not_looked_into(store: Store) -> None:
    trace, generator, verifier = verification(store), Held("G"), Held("V")
    now = {"G": VlmIdentity("G", "demo", {"weights": "trained since"})}
    looks = looked(store, trace, lines(store, generator, verifier, now=now))
    assert not generator.looks
    assert looks.refused[ANSWER].message.startswith("G has changed since it gave this reply")
    assert set(trace_looks(store, trace.trace_id)) == {VERDICT}


def test_a_vlm_that_has_no_saliency_is_said_and_nothing_is_faked(store: Store) -> None:
    trace = verification(store)
    looks = looked(store, trace, lines(store, Scripted("G"), Held("V")))
    assert looks.refused[ANSWER].message == "G cannot be looked into from here."


def test_cancelling_keeps_what_arrived_and_starting_again_asks_for_the_rest(store: Store) -> None:
    trace, generator, verifier = verification(store), Held("G"), Held("V", waits=True)
    looks = LOOKS.start(store, trace, trace_replies(trace), lines(store, generator, verifier))
    assert looks is not None and verifier.is_held.wait(20)
    assert (looks.n_done, [(one.name, one.position) for one in looks.asking]) == (1, [VERDICT])
    assert LOOKS.start(store, trace, trace_replies(trace), {}) is looks, "one at a time for each trace"
    looks.cancel()
    assert looks.wait(20) and looks.is_stopping
    assert set(trace_looks(store, trace.trace_id)) == {ANSWER}
    looked(store, trace, lines(store, generator, Held("V")))
    assert set(trace_looks(store, trace.trace_id)) == {ANSWER, VERDICT}
    assert len(generator.looks) == 1


def test_a_trace_that_is_removed_meanwhile_leaves_no_look_behind(store: Store) -> None:
    class Removes(Held):
        def saliency(self, image: Path, prompt: str, answer: str) -> Saliency:
            remove_suite(store, "vqa-rad")
            return super().saliency(image, prompt, answer)

    trace = verification(store)
    looks = looked(store, trace, lines(store, Removes("G"), Held("V")))
    assert looks.refused[ANSWER].message == "This trace was removed meanwhile."
    assert not store.value("SELECT count(*) FROM trace_saliency")


@pytest.mark.parametrize(("generator", "reader"), [(None, VERIFIER), (GENERATOR, GENERATOR)])
def test_a_persons_answer_is_read_as_if_the_vlm_at_hand_had_given_it(
    store: Store, generator: VlmIdentity | None, reader: VlmIdentity
) -> None:
    trace = verification(store, STEPS[1], generator=generator, answer="two")
    answer, verdict = trace_replies(trace)
    assert (answer.by_person, answer.prompt, answer.said) == (True, generate_prompt(QUESTION), "two")
    assert (answer.vlm, verdict.vlm, verdict.by_person) == (reader, VERIFIER, False)


def test_the_verifiers_steps_are_the_verifiers_and_a_failed_call_has_no_reply(store: Store) -> None:
    steps = (*STEPS[:1], Step(Stage.LOOK, 0, "Look.", Reply("A wall.")), *STEPS[1:])
    trace = verification(store, *steps, Step(Stage.LOOP, 1, "Again.", Reply("", error="Gone.")))
    assert [(reply.step, reply.vlm.name) for reply in trace_replies(trace)] == [
        ("direct", "G"),
        ("look", "V"),
        ("verify", "V"),
    ]
    assert [reply.key for reply in to_compare(trace_replies(trace))] == [ANSWER, VERDICT]


@pytest.mark.parametrize(
    ("names", "compared"),
    [
        (["direct", "atomic", "revise", "select"], ["direct", "revise"]),
        (["direct", "revise"], ["direct", "revise"]),
        (["direct", "atomic"], ["direct", "atomic"]),
        (["direct"], ["direct"]),
        (["select", "direct"], ["direct", "select"]),
    ],
)
def test_of_a_reconciliation_the_direct_answer_is_held_against_the_revised_one(
    store: Store, names: list[str], compared: list[str]
) -> None:
    steps = tuple(AsrStep(StepName(name), 0, f"{name}?", f"Do {name}.", Reply(f"{name}!")) for name in names)
    trace_id = store_trace(store, "drawn:22", Trace("Both?", Variant.ASR, steps), GENERATOR, "00ff")
    trace = load_trace(store, trace_id)
    assert trace is not None
    replies = trace_replies(trace)
    assert [(one.step, one.question, one.prompt, one.said) for one in replies] == [
        (name, f"{name}?", f"Do {name}.", f"{name}!") for name in names
    ]
    assert [reply.step for reply in to_compare(replies)] == compared


def test_the_image_is_the_one_that_was_shown_or_none(store: Store) -> None:
    shown, other = verification(store), verification(store, sha256="00ff")
    image = shown_image(store, shown)
    assert image is not None and (image.width, image.height) == (8, 6)
    assert image_to_look_at(store, shown) == example_to_ask(store, UNIT).image
    assert shown_image(store, other) is None
    with pytest.raises(AppError, match="not at hand any more"):
        LOOKS.start(store, other, trace_replies(other), lines(store, Held("G"), Held("V")))


def test_an_image_whose_file_has_changed_since_is_not_looked_at(store: Store) -> None:
    trace = verification(store)
    example_to_ask(store, UNIT).image.write_bytes(b"another")
    with pytest.raises(AppError, match="has changed since it was attached"):
        image_to_look_at(store, trace)


def test_both_replies_of_a_pair_are_looked_into_with_the_picture_the_cue_is_drawn_in(tmp_path: Path) -> None:
    with make_pair_store(tmp_path / "pairs.duckdb") as store:
        pair = pair_to_ask(store, ARROW_ACTION)
        asked = PAIRS.begin(LivePair(store, pair, Leaning()), lambda: WHO)
        assert asked.wait(20)
        trace = load_pair_trace(store, asked.id)
        assert isinstance(trace, PairTrace)
        vlm = Held(WHO.name)
        vlm.sees(pair.picture)
        looks = LOOKS.start(store, trace, trace_replies(trace), {WHO.name: Line(vlm, lambda: WHO)})
        assert looks is not None and looks.wait(20)
        assert [said for _, said in vlm.looks] == ["Retract", "clip"]
        assert ["grasper" in prompt for prompt, _ in vlm.looks] == [True, False]
        assert set(trace_looks(store, trace.trace_id)) == {(Role.ORIGINAL, 0), (Role.LESS_BIASED, 0)}
        pair.picture.unlink()
        assert shown_image(store, trace) is None
        assert image_to_look_at(store, trace).read_bytes(), "it is drawn again"
        assert shown_image(store, trace) is not None


LISTED = """
- {name: Remote, group: closed_source, family: any, licence: own, answers: yes, attention: the service does not give it,
   gradients: no weights, openai: {base_url: "https://example.org/v1", model: m, key_variable: K}}
- {name: Quiet, group: general_open, family: any, licence: own, answers: its adapter is not known,
   attention: yes, gradients: yes}
- {name: Local, group: general_open, family: any, licence: own, answers: yes, attention: yes, gradients: yes,
   transformers: {source: ./vlm}}
"""


@pytest.mark.parametrize(
    ("name", "why_not"),
    [
        ("Remote", "Remote cannot be looked into: the service does not give it"),
        ("Quiet", "Quiet cannot be looked into: its adapter is not known"),
        ("Local", ""),
        ("Nobody", "Nobody is not in the list of VLMs any more"),
        ("local", "local is not in the list of VLMs any more"),
    ],
)
def test_why_a_vlm_cannot_be_looked_into_is_said_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why_not: str
) -> None:
    (tmp_path / "mine.yaml").write_text(LISTED)
    monkeypatch.setenv("PARALLAX_MODELS", str(tmp_path / "mine.yaml"))
    registry = Registry.load()
    assert not registry.problems
    assert why_no_look(registry, name) == why_not


def test_the_blind_baseline_has_nothing_to_look_into() -> None:
    registry = Registry.load()
    blind = next(entry.name for entry in registry.entries if entry.group == "blind")
    assert why_no_look(registry, blind).startswith(f"{blind} cannot be looked into: ")


@needs_box_vlm
def test_what_is_kept_of_the_vlm_in_the_box_is_its_own_saliency(store: Store) -> None:
    registry = Registry.load()
    entry = registry.find("demo")
    vlm = registry.open_vlm(entry.name, in_worker=False)
    assert isinstance(vlm, SaliencyVlm)
    who, image = identity_of(entry), example_to_ask(store, UNIT)
    trace_id, steps = new_trace_id(), (Step(Stage.DIRECT, 0, generate_prompt(QUESTION), Reply("one")), STEPS[1])
    put(store, trace_id, UNIT, Verification(QUESTION, Course(), steps), Asked(who), Asked(who), image.image_sha256)
    trace = load_verification_trace(store, trace_id)
    assert trace is not None
    looks = looked(store, trace, {entry.name: Line(vlm, lambda: identity_of(entry))})
    assert not looks.refused
    kept = trace_looks(store, trace_id)
    for reply in trace_replies(trace):
        own = keep(vlm.saliency(image.image, reply.prompt, reply.said))
        assert kept[reply.key].to_json() == own.to_json()
        assert kept[reply.key].answer == reply.said


@needs_box_vlm
def test_a_line_to_a_listed_vlm_says_who_is_at_its_end(store: Store) -> None:
    registry, name = Registry.load(), Registry.load().find("demo").name
    who = identity_of(registry.find(name))
    trace = verification(store, generator=who)
    [line] = lines_to(registry, trace_replies(trace)[:1]).values()
    assert isinstance(line.vlm, SaliencyVlm)
    assert line.identify() == who
