"""An example of VeriMap out of the store, with all that was said about it put together.

Verdicts on one and the same answer stand together. Which run an answer was given in, and which turns make one loop,
is read from what each run was made from; in a file of records one run holds all turns.
"""

__all__ = ["asked_verdicts", "load_verification_case"]

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from backend.domain.records import AnswerStatus, Stage
from backend.errors import AppError
from backend.services.cases import load_image
from backend.services.oracle import MATCHING
from backend.services.verimap_cases import (
    CaseVerdict,
    GeneratorCase,
    GivenAnswer,
    Loop,
    OracleJudgement,
    VerdictKey,
    VerdictRun,
    VerificationCase,
)
from backend.store.store import Store
from backend.store.verification_filters import VERIFICATIONS, VerificationFilter
from backend.verimap.conditions import Condition
from backend.verimap.examples import AnswerType, Option
from backend.verimap.verifier import Verdict
from backend.verimap.vocabulary import Task


def load_verification_case(store: Store, unit_id: str) -> VerificationCase:
    """Return an example as a case by its unit's id.

    Raises:
        AppError: The store holds no such example.
    """
    found = store.rows(
        "SELECT u.source_id, u.suite, u.split, u.image_id, p.probe_id, p.question, p.reference, e.task, e.labelled_by, "
        "e.images, e.options, e.reference_letter, e.answer_type, e.native_types "
        "FROM units u JOIN examples e USING (unit_id) JOIN probes p USING (unit_id) WHERE u.unit_id = ?",
        [unit_id],
    )
    if not found:
        raise AppError(
            f"There is no example {unit_id!r} in this store.",
            "The link may come from another store. Choose a case from a list, or import the data set it belongs to.",
        )
    [
        (
            source_id, suite, split, image_id, probe_id, question, reference, task, labelled_by, images, options,
            letter, answer_type, native_types,
        )
    ] = found  # fmt: skip
    return VerificationCase(
        unit_id=unit_id,
        source_id=source_id,
        suite=suite,
        split=split,
        image=load_image(store, image_id),
        more_images=tuple(images[1:]),
        question=question,
        reference=reference,
        reference_letter=letter,
        options=tuple(Option(**option) for option in json.loads(options)),
        answer_type=AnswerType(answer_type) if answer_type else None,
        task=Task(task) if task else None,
        labelled_by=labelled_by,
        native_types=tuple(native_types),
        generators=_generators(store, unit_id, probe_id),
    )


def asked_verdicts(store: Store, chosen: VerificationFilter, unit_id: str) -> frozenset[VerdictKey]:
    """Return which verdicts on an example a filter asks for."""
    where, parameters = chosen.where()
    rows = store.rows(
        f"SELECT v.run_id, v.turn, v.place FROM {VERIFICATIONS} WHERE v.unit_id = $case_unit AND {where}",
        {**parameters, "case_unit": unit_id},
    )
    return frozenset(VerdictKey(*row) for row in rows)


def _generators(store: Store, unit_id: str, probe_id: str) -> tuple[GeneratorCase, ...]:
    runs = _runs(store, unit_id, probe_id)
    bases = _bases(store, list(runs))
    judgements = _judgements(store, probe_id)
    replies: dict[str, tuple[str, str]] = {
        run_id: (text, error)
        for run_id, text, error in store.rows(
            "SELECT run_id, answer, error FROM answers WHERE probe_id = ? ORDER BY run_id", [probe_id]
        )
    }
    verdicts = [_with_sources(verdict, runs, bases, judgements, replies) for verdict in _verdicts(store, unit_id, runs)]
    answers: dict[str, list[GivenAnswer]] = {}
    for generator, own in groupby(sorted(verdicts, key=_order), key=lambda one: one.generator):
        answers[generator] = _first_answers([one for one in own if one.turn == 0], runs, bases, replies)
    for run_id, (text, error) in replies.items():
        run = runs[run_id]
        if run.stage != Stage.DIRECT:
            continue
        given = answers.setdefault(run.vlm, [])
        if not any(run in answer.runs for answer in given):
            said = judgements.get(run_id, ())
            given.append(GivenAnswer(None if error else text, error, *_truth(said), said, (run,), ()))
    groups = dict(
        store.rows(
            "SELECT vlm, any_value(vlm_group) FROM runs WHERE list_contains(?, vlm) AND vlm_group IS NOT NULL "
            "GROUP BY vlm",
            [list(answers)],
        )
    )
    return tuple(
        GeneratorCase(vlm, groups.get(vlm), tuple(given), _loops([v for v in verdicts if v.generator == vlm], bases))
        for vlm, given in sorted(answers.items(), key=lambda item: item[0].lower())
    )


def _first_answers(
    verdicts: Sequence[CaseVerdict],
    runs: Mapping[str, VerdictRun],
    bases: Mapping[str, Sequence[str]],
    replies: Mapping[str, tuple[str, str]],
) -> list[GivenAnswer]:
    """Return a generator's first answers, verdicts on one and the same answer together."""
    by_answer: dict[tuple[object, ...], list[CaseVerdict]] = {}
    for verdict in verdicts:
        by_answer.setdefault((verdict.answer, verdict.oracle_correct, verdict.oracle), []).append(verdict)
    given = []
    for own in by_answer.values():
        found = [_answering(one.run.run_id, runs, bases) for one in own]
        answering = tuple(dict.fromkeys(run for run in found if run is not None))
        errors = [replies[run.run_id][1] for run in answering if run.run_id in replies]
        given.append(
            GivenAnswer(
                text=own[0].answer,
                error=next(filter(None, errors), "") if own[0].answer is None else "",
                oracle_correct=own[0].oracle_correct,
                oracle=own[0].oracle,
                judgements=next((one.judgements for one in own if one.judgements), ()),
                runs=answering,
                verdicts=tuple(own),
            )
        )
    return given


def _loops(verdicts: Sequence[CaseVerdict], bases: Mapping[str, Sequence[str]]) -> tuple[Loop, ...]:
    """Return a generator's loops. Alike rows of a file are told apart by their place, which they keep over the turns.

    Turns of one run belong together; a computed loop is a chain of runs, whose later ones name
    those they were made from.
    """
    firsts = {(one.run.run_id, one.place): one for one in verdicts if one.turn == 0}
    chains: dict[tuple[str, int], list[CaseVerdict]] = {}
    for verdict in verdicts:
        if verdict.turn:
            line = (verdict.run.run_id, *_ancestors(verdict.run.run_id, bases))
            start = next((run for run in line if (run, verdict.place) in firsts), line[-1])
            chains.setdefault((start, verdict.place), []).append(verdict)
    loops = []
    for origin, later in chains.items():
        steps = [*([firsts[origin]] if origin in firsts else []), *sorted(later, key=lambda one: one.turn)]
        loops.append(Loop(later[0].verifier, later[0].condition, tuple(steps)))
    return tuple(loops)


def _order(verdict: CaseVerdict) -> tuple[object, ...]:
    conditions = list(Condition)
    return (
        verdict.generator, not verdict.is_self, verdict.verifier.lower(), conditions.index(verdict.condition),
        verdict.run.run_id, verdict.turn, verdict.place,
    )  # fmt: skip


def _verdicts(store: Store, unit_id: str, runs: Mapping[str, VerdictRun]) -> list[CaseVerdict]:
    """Return the verdicts on an example in the order in which they are shown."""
    verdicts = [
        CaseVerdict(
            runs[run_id], generator, verifier, Condition(condition), turn, place, answer, oracle_correct, oracle,
            Verdict(verdict) if verdict else None, explanation, AnswerStatus(status), error,
        )
        for run_id, generator, verifier, condition, turn, place, answer, oracle_correct, oracle, verdict, explanation,
        status, error in store.rows(
            "SELECT run_id, generator, verifier, condition, turn, place, answer, oracle_correct, oracle, verdict, "
            "explanation, status, error FROM verifications WHERE unit_id = ?",
            [unit_id],
        )
    ]  # fmt: skip
    return sorted(verdicts, key=_order)


def _with_sources(
    verdict: CaseVerdict,
    runs: Mapping[str, VerdictRun],
    bases: Mapping[str, Sequence[str]],
    judgements: Mapping[str, tuple[OracleJudgement, ...]],
    replies: Mapping[str, tuple[str, str]],
) -> CaseVerdict:
    """Return a verdict with its whole reply, what was said at the first look, and all words on the answer."""
    run_id = verdict.run.run_id
    answering = _answering(run_id, runs, bases)
    looks = [base for base in bases.get(run_id, ()) if base in runs and runs[base].stage == Stage.LOOK]
    return replace(
        verdict,
        reply=replies[run_id][0] or None if run_id in replies else None,
        looked=next((replies[base][0] for base in looks if base in replies), None),
        judgements=judgements.get(answering.run_id, ()) if answering else (),
    )


def _answering(run_id: str, runs: Mapping[str, VerdictRun], bases: Mapping[str, Sequence[str]]) -> VerdictRun | None:
    """Return the generator's run whose answer a verifier's run was given; None for imported records."""
    line = [runs[base] for base in _ancestors(run_id, bases) if base in runs]
    return next((run for run in line if run.stage in (Stage.DIRECT, Stage.LOOP)), None)


def _truth(judgements: Sequence[OracleJudgement]) -> tuple[bool | None, str | None]:
    told = next((one for one in judgements if one.correct is not None), None)
    return (told.correct, told.oracle) if told else (None, None)


def _judgements(store: Store, probe_id: str) -> dict[str, tuple[OracleJudgement, ...]]:
    """Return by the generator's run what oracles said of its answer; matching, which is deterministic, first."""
    found: dict[str, tuple[OracleJudgement, ...]] = {}
    for run_id, *judged in store.rows(
        "SELECT run_id, oracle, correct, reason, error FROM oracle_judgements WHERE probe_id = ? "
        "ORDER BY oracle <> ?, oracle",
        [probe_id, MATCHING],
    ):
        found[run_id] = (*found.get(run_id, ()), OracleJudgement(*judged))
    return found


def _runs(store: Store, unit_id: str, probe_id: str) -> dict[str, VerdictRun]:
    rows = store.rows(
        "SELECT run_id, vlm, vlm_group, setting, stage, origin, prompt_version, decoding, source FROM runs "
        "WHERE run_id IN (SELECT run_id FROM verifications WHERE unit_id = $unit "
        "UNION SELECT run_id FROM answers WHERE probe_id = $probe)",
        {"unit": unit_id, "probe": probe_id},
    )
    return {row[0]: VerdictRun(*row) for row in rows}


def _bases(store: Store, run_ids: Sequence[str]) -> dict[str, list[str]]:
    bases: dict[str, list[str]] = {}
    rows = store.rows(
        "SELECT run_id, base_run_id FROM run_bases WHERE list_contains($runs, run_id) ORDER BY ALL",
        {"runs": list(run_ids)},
    )
    for run_id, base in rows:
        bases.setdefault(run_id, []).append(base)
    return bases


def _ancestors(run_id: str, bases: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the runs that a run was made from, nearest first."""
    found: list[str] = []
    waiting = [run_id]
    while waiting:
        for base in bases.get(waiting.pop(0), ()):
            if base not in found:
                found.append(base)
                waiting.append(base)
    return found
