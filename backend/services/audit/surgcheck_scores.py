"""SurgCheck's scores against the public answers, and against what can be answered without looking.

What stands beside the figures of the pages as a note (`backend.services.surgcheck_notes`) is not worked out anew.
"""

__all__ = ["CHECKS"]

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from backend.domain.metric import percent
from backend.domain.records import Stage, System
from backend.services.audit.finding import AuditedFigure, Check, Finding, Verdict, unseen
from backend.services.audit.surgcheck_release import NEEDS, balanced_test, full_test, release_suites
from backend.services.audit.words import joined
from backend.services.endoca_series import records
from backend.services.surgcheck_answers import answer_table
from backend.services.surgcheck_notes import (
    Note,
    ablation_is_f1,
    counted,
    look_ups,
    not_always_a_drop,
    periphrasis_words,
)
from backend.services.surgcheck_published import PRINTED_PAIRS, TABLES, printed_ablation, printed_table
from backend.store.pair_filters import PairFilter
from backend.store.store import Store
from backend.surgcheck.metrics import Variant, score_table
from backend.surgcheck.tasks import Task
from backend.surgcheck.text_lookups import LOOKUP_VLM

if TYPE_CHECKING:
    import pandas as pd


def _runs(store: Store, suite: str, vlm: str) -> tuple[str, ...]:
    rows = store.rows("SELECT run_id FROM runs WHERE suite = ? AND vlm = ? ORDER BY run_id", [suite, vlm])
    return tuple(row[0] for row in rows)


def _hints_of_periphrasis(store: Store) -> Finding:
    finding = Finding(
        key="surgcheck-2",
        paper=System.SURGCHECK,
        title="What the less-biased text gives away",
        claim="Less-biased questions give no further hint of the answer.",
        where="Section on grounding cues",
        printed="No number",
        recomputed="",
        definition="The usual answer to each hand, learned on the training file, given without an image or a VLM.",
        consequence="A right answer to such a question does not show that a VLM looked.",
        verdict=Verdict.OPEN,
    )
    return _of_look_ups(store, finding, periphrasis_words, Verdict.FAILS)


def _text_gives_answer(store: Store) -> Finding:
    action = next(row for row in records(printed_ablation()) if row["task"] == Task.ACTION)
    finding = Finding(
        key="surgcheck-12",
        paper=System.SURGCHECK,
        title="Answers without the image",
        claim="Action and Target are answered from the original text: without the image a VLM loses little.",
        where="Fig. 5 and its section",
        printed=f"Action {percent(action['original'])}, without the image {percent(action['text_only'])}",
        recomputed="",
        definition="The usual action of each tool, and tool of each hand, learned on the training file.",
        consequence="No VLM is needed for that: the original questions all but name their answers.",
        verdict=Verdict.OPEN,
    )
    return _of_look_ups(store, finding, look_ups, Verdict.HOLDS)


def _of_look_ups(
    store: Store, finding: Finding, make: "Callable[[Store, str, pd.DataFrame], Iterator[Note]]", verdict: Verdict
) -> Finding:
    suite = balanced_test(store)
    runs = _runs(store, suite, LOOKUP_VLM) if suite else ()
    needs = (
        f"It needs the release's training file and balanced test set: {NEEDS} Then run: "
        "python -m backend blind surgcheck --learn TRAINING --answer BALANCED"
    )
    if suite is None or not runs:
        return unseen(finding, needs)
    answers = answer_table(store, PairFilter(suite=suite, runs=runs[:1]))
    note = counted(make(store, suite, answers))
    if note is None:
        return unseen(finding, needs)
    own = score_table(answers, ["task", "cue"], intervals=False)
    table = own[["task", "cue", "variant", "n", "accuracy"]]
    return replace(finding, recomputed=note.text, verdict=verdict, data=table)


def _mixed_f1(_: Store) -> Finding:
    return unseen(
        Finding(
            key="surgcheck-4",
            paper=System.SURGCHECK,
            title="One column, several F1",
            claim="Accuracy and F1 of five fine-tuned VLMs stand side by side.",
            where="Table 2",
            printed="A column F1",
            recomputed="",
            definition="Macro F1 over the labels of the references, and F1 weighted by them.",
            consequence="F1 of one kind is not to be read against another. The page shows three, each by its name.",
            verdict=Verdict.OPEN,
        ),
        "It needs the answers of PitVQA-Net and EndoChat over the full test set; no public file gives the printed "
        "figures.",
    )


def _ablation(store: Store) -> Finding:
    printed = printed_ablation()
    action = next(row for row in records(printed) if row["task"] == Task.ACTION)
    finding = Finding(
        key="surgcheck-5",
        paper=System.SURGCHECK,
        title="Accuracy or F1 without the image",
        claim="The text-only figures are accuracies.",
        where="Fig. 5 and its section",
        printed=f"Action accuracy {percent(action['original'])}",
        recomputed="",
        definition="Macro F1 over the labels of the references.",
        consequence="The figures are not to be read against the accuracies of Table 2; the shortcut is larger still.",
        verdict=Verdict.OPEN,
    )
    suite = full_test(store)
    answers = answer_table(store, PairFilter(suite=suite, tasks=(Task.ACTION,))) if suite else None
    note = counted(ablation_is_f1(store, suite, answers)) if suite and answers is not None else None
    if answers is None or note is None:
        return unseen(finding, "It needs the authors' answers of that VLM over the full test set: import them.")
    own = answers[answers["variant"] == Variant.ORIGINAL]
    table = score_table(own, ["vlm", "setting"], intervals=False)[["vlm", "setting", "n", "accuracy", "macro_f1"]]
    return replace(finding, recomputed=note.text, verdict=Verdict.OTHERWISE, data=table)


def _judged_sets(store: Store) -> Finding:
    printed = printed_table("judge_accuracy")
    first = records(printed)[0]
    finding = Finding(
        key="surgcheck-8",
        paper=System.SURGCHECK,
        title="Zero-shot accuracy by the judge",
        claim="Zero-shot VLMs answer about a quarter of the questions right, fewer of the less-biased ones.",
        where="Table 1",
        printed=f"{first['vlm']} {percent(first['original'])} and {percent(first['less_biased'])}",
        recomputed="",
        definition="Answers that the judge scores 4 or 5, over the full test set.",
        consequence="Judged answers of another set are never shown beside the printed table.",
        verdict=Verdict.OPEN,
    )
    suites = release_suites(store)
    judged = store.rows(
        "SELECT r.suite, count(DISTINCT r.run_id) FROM judgements JOIN runs r USING (run_id) GROUP BY ALL ORDER BY 1"
    )
    elsewhere = [f"{n} over {suite}" for suite, n in judged if suites.get(suite, PRINTED_PAIRS) != PRINTED_PAIRS]
    held = f" The judged runs here are of other sets: {joined(elsewhere)}." if elsewhere else ""
    return unseen(finding, f"It needs judge scores over the full test set; the public ones are not of it.{held}")


def _always_a_drop(store: Store) -> Finding:
    import pandas as pd

    table = pd.concat([printed_table(metric) for metric in TABLES], ignore_index=True)
    note = counted(not_always_a_drop(store, "", table))
    known = table[table["gap"].notna()]
    return Finding(
        key="surgcheck-9",
        paper=System.SURGCHECK,
        title="A drop in every row",
        claim="Accuracy consistently decreases from original to less-biased questions.",
        where="Tables 1 and 2",
        printed="“Consistently decreases”",
        recomputed=note.text if note else f"It decreases in all {len(known)} rows with both numbers.",
        definition="Printed original minus less-biased accuracy.",
        consequence="The text itself names the exception. No interval is printed, and the change may well be noise.",
        verdict=Verdict.FAILS if note else Verdict.HOLDS,
        data=table.drop(columns=["vlm_group"]),
    )


def _exact_match(store: Store) -> Finding:
    printed = printed_table("accuracy")
    finding = Finding(
        key="surgcheck-13",
        paper=System.SURGCHECK,
        title="Exact-match accuracies",
        claim="Fine-tuned VLMs lose accuracy when a question only points at what it asks about.",
        where="Table 2",
        printed=joined([f"{row['vlm']} {percent(row['original'])}" for row in records(printed)]),
        recomputed="",
        definition="Exact match after trimming, spaces and case, over the full test set; rows are met by numbers.",
        consequence="Rows that come out are exact match over the released test file, with the scorer of this page.",
        verdict=Verdict.OPEN,
    )
    suite = full_test(store)
    answers = answer_table(store, PairFilter(suite=suite)) if suite else None
    direct = answers[answers["stage"] == Stage.DIRECT] if answers is not None else None
    if direct is None or direct.empty:
        return unseen(finding, "It needs the authors' fine-tuned answers over the full test set: import them.")
    table = direct.groupby(["vlm", "setting", "variant"], as_index=False).agg(
        n=("correct", "size"), accuracy=("correct", "mean")
    )
    reached = {round(accuracy, 4) for accuracy in table["accuracy"]}
    met = [row for row in records(printed) if {row["original"], row["less_biased"]} - {None} <= reached]
    return replace(
        finding,
        recomputed=f"{len(met)} of {len(printed)} printed rows come out of the runs in this store"
        + (f": {joined([str(row['vlm']) for row in met])}." if met else "."),
        verdict=Verdict.HOLDS if met else Verdict.OPEN,
        missing="" if len(met) == len(printed) else "The answers behind the other rows are not in this store.",
        data=table,
    )


CHECKS = (
    Check("surgcheck-2", (AuditedFigure.SURGCHECK_CUES,), _hints_of_periphrasis),
    Check("surgcheck-4", (AuditedFigure.SURGCHECK_VLMS,), _mixed_f1),
    Check("surgcheck-5", (AuditedFigure.SURGCHECK_ABLATION,), _ablation),
    Check("surgcheck-8", (AuditedFigure.SURGCHECK_VLMS,), _judged_sets),
    Check("surgcheck-9", (AuditedFigure.SURGCHECK_VLMS,), _always_a_drop),
    Check("surgcheck-12", (AuditedFigure.SURGCHECK_ABLATION,), _text_gives_answer),
    Check("surgcheck-13", (AuditedFigure.SURGCHECK_VLMS,), _exact_match),
)
"""In the order of their numbers."""
