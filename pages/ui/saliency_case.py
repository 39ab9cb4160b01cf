"""Where the VLM looked, in a case: two of its answers side by side, of each of the three systems.

In VeriMap these are the generator's answer and a verdict on it, in EndoCA two answers of one VLM, in
SurgCheck the answers to the two questions of a pair. Nothing is drawn where nobody looked; a look that
failed says why. Verdicts of controls are left out: their verifiers were not shown this image.
"""

__all__ = ["LOOKS_LINK", "show_case_looks", "show_pair_looks", "show_verification_looks"]

from collections import Counter
from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from backend.domain.records import Role
from backend.domain.stage_words import stage_words
from backend.services.case_looks import ExampleLooks, example_looks
from backend.services.cases import Case, CaseAnswer, CaseImage, CaseQuestion, CaseRun
from backend.services.images import image_file
from backend.services.stored_saliency import StoredLook, run_looks
from backend.services.surgcheck_cases import PairAnswer, PairCase
from backend.services.verimap_cases import CaseVerdict, GeneratorCase, VerdictKey, VerificationCase
from backend.store.store import Store
from backend.verimap.feedback_loop import given_answer
from backend.verimap.setups import setting_words
from pages.ui.answer_words import answer_name, part_name, role_name
from pages.ui.image_routes import cue_url, image_url
from pages.ui.look_words import looked_sentence
from pages.ui.saliency_checks import Checkable, show_map_checks
from pages.ui.saliency_view import Pane, saliency_view
from pages.ui.verification_words import condition_words, verdict_words

TITLE = "Where the VLM looked"

LOOKS_LINK = f'<p><a href="#looks" style="color:inherit">{TITLE}</a></p>'
"""Leads down to the section, past everything that was said."""

JUDGING = "When judging"


class _Seat(NamedTuple):
    """One answer that was looked into."""

    title: str
    when: str
    """When the VLM said it, to begin a sentence: "When judging"."""
    vlm: str
    said: str
    run_id: str
    probe_id: str
    look: StoredLook


class _Picture(NamedTuple):
    """The picture that the VLM was shown."""

    url: str | None
    """None where no file of it is at hand."""
    image: CaseImage


def show_verification_looks(store: Store, case: VerificationCase, asked: Collection[VerdictKey] = ()) -> None:
    """Draw a generator's answer beside a verdict on it; which, is chosen where several were looked into.

    Args:
        store: Holds the looks.
        case: The example.
        asked: The verdicts that the page's list asks for; they come first.
    """
    held = example_looks(store, case.unit_id)
    if held is None:
        return
    offered = _verifications(case, held, asked)
    _head(bool(offered), held.looks.values())
    if offered:
        labels = _told_apart([label for label, _ in offered], [seats[-1].run_id for _, seats in offered])
        place = 0
        if len(offered) > 1:
            place = st.selectbox(
                "Verification", range(len(offered)), format_func=labels.__getitem__, key=f"looks_of_{case.unit_id}"
            )
        _show(store, _frame(store, case.image), offered[place][1], f"looks_{case.unit_id}_{place}")
        if any(_is_looked_control(verdict, held) for one in case.generators for verdict in one.verdicts):
            st.caption("Controls were looked into, too. Their verifiers were not shown this image, so no map is drawn.")
    _say_failed(held.looks.values())


def show_case_looks(store: Store, case: Case) -> None:
    """Draw two answers of one VLM to a case: at first that to the complex question and that to its first part."""
    found = run_looks(store, [question.probe_id for question in case.questions])
    if not found:
        return
    by_vlm: dict[str, list[_Seat]] = {}
    for run in case.runs:
        seats = [
            _case_seat(run, question, answer, found[run.run_id, question.probe_id])
            for question, answer in zip(case.questions, run.answers, strict=True)
            if (run.run_id, question.probe_id) in found
        ]
        by_vlm.setdefault(run.vlm, []).extend(seats)
    names = [name for name, seats in by_vlm.items() if any(seat.look.kept for seat in seats)]
    _head(bool(names), found.values())
    if names:
        name = names[0]
        if len(names) > 1:
            name = st.selectbox("VLM", names, key=f"looks_of_{case.unit_id}")
        seats = by_vlm[name]
        titles = _told_apart([seat.title for seat in seats], [seat.run_id for seat in seats])
        seats = [seat._replace(title=title) for seat, title in zip(seats, titles, strict=True)]
        chosen = _two(seats, f"{case.unit_id}_{name}")
        _show(store, _frame(store, case.image), chosen, f"looks_{case.unit_id}_{_key(chosen)}")
    _say_failed(found.values())


def show_pair_looks(store: Store, pair: PairCase) -> None:
    """Draw where a VLM looked when it answered the original question and the less-biased one."""
    found = run_looks(store, [pair.original.probe_id, pair.less_biased.probe_id])
    if not found:
        return
    offered = {}
    for run in pair.runs:
        seats = [
            _pair_seat(question, answer, run.vlm, run.run_id, found[run.run_id, question.probe_id])
            for question, answer in ((pair.original, run.original), (pair.less_biased, run.less_biased))
            if answer is not None and (run.run_id, question.probe_id) in found
        ]
        if any(seat.look.kept for seat in seats):
            offered[run.run_id] = (" · ".join(filter(None, (run.vlm, run.setting))), seats)
    _head(bool(offered), found.values())
    if offered:
        run_id = next(iter(offered))
        if len(offered) > 1:
            run_ids = list(offered)
            labels = dict(zip(run_ids, _told_apart([offered[one][0] for one in run_ids], run_ids), strict=True))
            run_id = st.selectbox("Run", run_ids, format_func=labels.__getitem__, key=f"looks_of_{pair.unit_id}")
        _show(store, _pair_picture(store, pair), offered[run_id][1], f"looks_{pair.unit_id}_{run_id}")
    _say_failed(found.values())


def _head(is_any_shown: bool, looks: Collection[StoredLook]) -> None:
    """Draw the title where anything stands below it: a look, or the reason why there is none."""
    if is_any_shown or any(look.kept is None for look in looks):
        st.subheader(TITLE, anchor="looks")


def _show(store: Store, picture: _Picture, seats: Sequence[_Seat], key: str) -> None:
    """Draw one look or two, what they come to in a sentence, and how far the maps can be trusted."""
    kept = [(seat, seat.look.kept) for seat in seats if seat.look.kept]
    for seat in seats:
        if seat.look.kept is None:
            st.text(f"{seat.title}: there is no look. {seat.look.error}")
    if len(kept) == 2:
        (left, one), (right, two) = kept
        first, second = ((left, one), (right, two)) if right.when != JUDGING else ((right, two), (left, one))
        sentence = looked_sentence(
            (first[0].when, first[1]), (second[0].when, second[1]), who=(first[0].vlm, second[0].vlm)
        )
        st.html(f'<p style="margin:0">{escape(sentence)}</p>')
    if not kept:
        return
    saliency_view(
        picture.url,
        picture.image.width,
        picture.image.height,
        [Pane(seat.title, seat.said, look) for seat, look in kept],
        label=picture.image.file,
        key=key,
    )
    show_map_checks(store, [Checkable(seat.title, seat.run_id, seat.probe_id) for seat, _ in kept], key=f"check_{key}")


def _say_failed(looks: Collection[StoredLook]) -> None:
    """Say how many looks of the case could not be had, and why."""
    reasons = Counter(look.error for look in looks if look.kept is None)
    for reason, n in reasons.most_common():
        st.text(f"{n} of {len(looks)} looks at answers to this case could not be had: {reason}")


def _verifications(
    case: VerificationCase, held: ExampleLooks, asked: Collection[VerdictKey]
) -> list[tuple[str, list[_Seat]]]:
    """Return what can be shown, each under its name: first what the list asks for, then what parts from the truth.

    An answer stands alone where no verdict on it was looked into.
    """
    found: list[tuple[tuple[bool, ...], str, list[_Seat]]] = []
    seen: set[str] = set()
    for generator in case.generators:
        for verdict in generator.verdicts:
            if verdict.place or verdict.condition.is_control or verdict.run.run_id not in held.looks:
                continue
            base = held.answered_in.get(verdict.run.run_id, "")
            seats = [_verifier_seat(verdict, held)]
            if base in held.looks:
                seats.insert(0, _generator_seat(generator.vlm, verdict.answer or "", base, held))
            if any(seat.look.kept for seat in seats):
                seen |= {seat.run_id for seat in seats}
                order = (verdict.key not in asked, len(seats) < 2, not verdict.contradicts, bool(verdict.turn))
                found.append((order, _verification_label(generator, verdict), seats))
        for answer in generator.answers:
            for run in answer.runs:
                if run.run_id in held.looks and held.looks[run.run_id].kept and run.run_id not in seen:
                    seen.add(run.run_id)
                    seat = _generator_seat(generator.vlm, answer.text or "", run.run_id, held)
                    found.append(((True, True, True, False), f"The answer of {generator.vlm} alone", [seat]))
    return [(label, seats) for _, label, seats in sorted(found, key=lambda one: one[0])]


def _is_looked_control(verdict: CaseVerdict, held: ExampleLooks) -> bool:
    return verdict.condition.is_control and verdict.run.run_id in held.looks


def _verification_label(generator: GeneratorCase, verdict: CaseVerdict) -> str:
    turn = f", turn {verdict.turn}" if verdict.turn else ""
    whose = "its own answer" if verdict.is_self else f"the answer of {generator.vlm}"
    said = f"{verdict_words(verdict.verdict, verdict.status)} ({condition_words(verdict.condition)})"
    return f"{verdict.verifier} on {whose}{turn}: {said}"


def _generator_seat(vlm: str, said: str, run_id: str, held: ExampleLooks) -> _Seat:
    return _Seat(f"Generator ({vlm})", "When answering", vlm, said, run_id, held.probe_id, held.looks[run_id])


def _verifier_seat(verdict: CaseVerdict, held: ExampleLooks) -> _Seat:
    run_id, name, said = verdict.run.run_id, verdict.verifier, given_answer(verdict.reply or "")
    return _Seat(f"Verifier ({name})", JUDGING, name, said, run_id, held.probe_id, held.looks[run_id])


def _case_seat(run: CaseRun, question: CaseQuestion, answer: CaseAnswer, look: StoredLook) -> _Seat:
    is_complex = question.role == Role.COMPLEX
    name = answer_name(question.role) if is_complex else part_name(question)
    when = "When answering the complex question" if is_complex else f"When answering part {question.position + 1} alone"
    title = f"{name} ({', '.join(filter(None, (run.vlm, setting_words(run.setting), stage_words(run.stage))))})"
    return _Seat(title, when, run.vlm, answer.text, run.run_id, question.probe_id, look)


def _told_apart(names: Sequence[str], run_ids: Sequence[str]) -> list[str]:
    """Return names to choose by; those that several have get the hash of their run's id, for a choice goes by words."""
    n_called = Counter(names)
    return [
        f"{name}, {run_id.rpartition('.')[2]}" if n_called[name] > 1 else name
        for name, run_id in zip(names, run_ids, strict=True)
    ]


def _pair_seat(question: CaseQuestion, answer: PairAnswer, vlm: str, run_id: str, look: StoredLook) -> _Seat:
    name = role_name(question.role)
    return _Seat(f"{name} ({vlm})", f"With the {name.lower()}", vlm, answer.said.text, run_id, question.probe_id, look)


def _two(seats: Sequence[_Seat], key: str) -> list[_Seat]:
    """Draw the choice of two answers of a VLM, and return them; one that is chosen twice stands once."""
    if len(seats) < 2:
        return list(seats)
    chosen = []
    for side, first, column in zip(("Left", "Right"), (0, 1), st.columns(2), strict=True):
        with column:
            place = st.selectbox(
                f"{side} picture",
                range(len(seats)),
                index=first,
                format_func=lambda one: seats[one].title,
                key=f"look_{side}_{key}",
            )
        chosen.append(place)
    return [seats[place] for place in dict.fromkeys(chosen)]


def _key(seats: Sequence[_Seat]) -> str:
    return "_".join(f"{seat.run_id}_{seat.probe_id}" for seat in seats)


def _frame(store: Store, image: CaseImage) -> _Picture:
    return _Picture(image_url(image.image_id) if image_file(store, image.image_id) else None, image)


def _pair_picture(store: Store, pair: PairCase) -> _Picture:
    """Return the picture that was sent, its cue drawn in; where it cannot be had, its frame."""
    picture = pair.picture
    if picture.width and picture.height and image_file(store, picture.image_id):
        return _Picture(image_url(picture.image_id), picture)
    if pair.drawing is not None and image_file(store, pair.frame.image_id):
        return _Picture(cue_url(pair.unit_id), pair.frame)
    return _frame(store, pair.frame)
