"""What must be known beside a figure of SurgCheck: faults of the release and of the paper's tables, with their numbers.

A note counts where the store holds what it is about. Elsewhere it says what was found when the
public release and the authors' prediction files were recomputed, and that it was not found here.
"""

__all__ = [
    "Figure",
    "Note",
    "ablation_is_f1",
    "ceiling",
    "counted",
    "leaked",
    "look_ups",
    "not_always_a_drop",
    "notes",
    "periphrasis_words",
    "shared_positions",
]

import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from backend.domain.metric import percent
from backend.services.endoca_series import records
from backend.services.ingest.surgcheck_pairing import LEAKED
from backend.services.ingest.surgcheck_suites import DATASET
from backend.services.surgcheck_published import TABLES, printed_ablation, printed_table
from backend.services.surgcheck_suites import ceiling_table, is_balanced, is_full_test, repeats
from backend.store.store import Store
from backend.surgcheck.metrics import Variant, score_table
from backend.surgcheck.tasks import CUES_OF, PAIRED_TASKS, Cue, Task
from backend.surgcheck.text_lookups import LOOKUP_VLM

if TYPE_CHECKING:
    import pandas as pd

CITED = "Recomputed from the public release, not from this store."


class Figure(StrEnum):
    """What a note stands beside."""

    BY_VLM = "by_vlm"
    """Original against less-biased by VLM."""
    BY_TASK = "by_task"
    BY_CUE = "by_cue"
    ABLATION = "ablation"
    """The text-only ablation."""
    PRINTED = "printed"
    """The paper's printed tables."""


class Note(NamedTuple):
    """One sentence or two, and where its numbers come from."""

    text: str
    is_computed: bool
    """Whether its numbers were counted in this store or in the printed tables; else it says that they were not."""


def notes(store: Store, suite: str, figure: Figure, answers: "pd.DataFrame") -> list[Note]:
    """Return the notes on a figure of a suite, the weightiest first.

    Args:
        store: The store.
        suite: The suite.
        figure: Which figure.
        answers: As `answer_table` of the whole suite.
    """
    return [note for make in _NOTES[figure] for note in make(store, suite, answers)]


Made = Iterator[Note]


def counted(made: Made) -> Note | None:
    """Return the first note whose numbers were counted here, None where there is none."""
    return next((note for note in made if note.is_computed), None)


def _shared_baselines(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    counts = dict(store.rows("SELECT task, count(*) FROM pairs WHERE suite = ? GROUP BY task", [suite]))
    n, shared = sum(counts.values()), sum(n for task, n in counts.items() if task not in PAIRED_TASKS)
    if shared:
        yield Note(
            f"{shared:,} of {n:,} pairs ask the same in both ways (Instrument Count, Anatomy, CVS), so the drop over "
            "all tasks is smaller than that of the tasks whose two texts differ.",
            True,
        )


def _repeated(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    n = repeats(store, suite)
    if n:
        yield Note(f"{_are(n, 'pair')} in this suite more than once; each is counted, as in the paper.", True)


def _judged_balanced(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    judged = answers.loc[answers["judged"], "run_id"].nunique()
    if judged and not is_full_test(store, suite):
        yield Note(
            f"{_are(judged, 'judged run')} over this suite, not over the full test set that the paper's zero-shot "
            "table is of: the two are not the same figure.",
            True,
        )


def ceiling(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    """Tell how far exact match can reach in Anatomy-hop."""
    table = ceiling_table(store, suite)
    hops = table[table["task"] == Task.ANATOMY_HOP]
    if hops.empty:
        return
    n, reachable = int(hops["n"].sum()), int(hops["n_reachable"].sum())
    yield Note(
        f"Some Anatomy-hop questions stand here twice with two answers: of {n:,} asked, exact match cannot pass "
        f"{reachable:,} ({percent(reachable / n)}).",
        True,
    )


def _instrument_pairs(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    yield Note(
        "Instrument pairs differ by the hand that is named, not by the name of a tool: their drop says what the hand "
        "gives away.",
        True,
    )


def leaked(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    """Count originals of the training file that are the less-biased text."""
    for name, report in store.rows(
        "SELECT suite, report FROM suites WHERE system = 'surgcheck' AND report IS NOT NULL"
    ):
        n = json.loads(report).get("left_out", {}).get(LEAKED, 0)
        if n:
            kept = store.value("SELECT count(*) FROM pairs WHERE suite = ? AND cue = ?", [name, Cue.PERIPHRASIS])
            yield Note(_leaked_words(n, n + kept), True)
            return
    if _is_of_release(store, suite):
        yield Note(f"{_leaked_words(1058, 1328)} {CITED}", False)


def _leaked_words(n: int, of: int) -> str:
    return (
        f"In the official training file {n:,} of {of:,} periphrasis originals are word for word the less-biased "
        "question: VLMs tuned on it were taught that form, so the small drop with periphrasis is confounded."
    )


def periphrasis_words(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    """Tell what a periphrasis gives away by itself."""
    words = answers[(answers["cue"] == Cue.PERIPHRASIS) & (answers["variant"] == Variant.LESS_BIASED)]
    found = [_look_up(words, task, Variant.LESS_BIASED) for task in (Task.ACTION, Task.TARGET)]
    action, target = found if None not in found else (0.870, 0.722)
    text = (
        f"A periphrasis names the hand, and the hand alone gives away the action in {percent(action)} and the target "
        f"in {percent(target)} of these questions, without any VLM."
    )
    if None not in found:
        yield Note(text, True)
    elif _is_of_release(store, suite):
        yield Note(f"{text} {CITED}", False)


def _without_periphrasis(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    names = [task.value for task in (Task.TRIPLET, Task.ANATOMY) if Cue.PERIPHRASIS not in CUES_OF[task]]
    yield Note(f"{' and '.join(name.capitalize() for name in names)} have no periphrasis.", True)


def shared_positions(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    """Count frames in which one position word points at two tools."""
    n = store.value(
        "SELECT count(DISTINCT image_id) FROM (SELECT u.image_id FROM pairs p JOIN units u USING (unit_id) "
        "JOIN probes q ON q.unit_id = p.unit_id AND q.role = 'less_biased' WHERE p.suite = ? AND p.cue = 'position' "
        "AND p.task = 'Instrument' GROUP BY u.image_id, q.question HAVING count(DISTINCT p.hand) > 1)",
        [suite],
    )
    if n:
        yield Note(f"In {n:,} frame{'s' if n > 1 else ''} one position word points at two tools.", True)


def _unequal_cues(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    if not is_balanced(store, suite):
        yield Note(
            "The cues of this suite are asked of different pairs, so a difference between two cues is one between "
            "their questions too. Over a balanced suite nothing but the cue differs.",
            True,
        )


def look_ups(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    """Tell what the original text gives away by itself."""
    found = [_look_up(answers, task, Variant.ORIGINAL) for task in (Task.ACTION, Task.INSTRUMENT)]
    action, instrument = found if None not in found else (0.971, 0.883)
    text = (
        f"Without any VLM, the tool's name gives the action in {percent(action)}, and the hand the tool in "
        f"{percent(instrument)} of original questions"
    )
    if None not in found:
        yield Note(f"{text}.", True)
    elif _is_of_release(store, suite):
        yield Note(f"{text} of the balanced set. {CITED}", False)


def ablation_is_f1(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    """Compare what is printed as Action's accuracy with the runs: where it is one's macro F1, that is said of it."""
    printed = next(row["original"] for row in records(printed_ablation()) if row["task"] == Task.ACTION)
    own = answers[(answers["task"] == Task.ACTION) & (answers["variant"] == Variant.ORIGINAL)]
    for row in records(score_table(own, ["vlm", "run_id"], intervals=False)):
        if is_full_test(store, suite) and round(row["macro_f1"], 3) == printed != round(row["accuracy"], 3):
            yield Note(
                f"The paper's text-only figures are called accuracies and are macro F1: the {percent(printed)} printed "
                f"for Action are the macro F1 of {row['vlm']}'s answers, whose accuracy is {percent(row['accuracy'])}.",
                True,
            )
            return
    if _is_of_release(store, suite):
        yield Note(
            "The paper's text-only figures are called accuracies; where the answers are public they are macro F1 "
            f"(Action: 79.4 % F1, 97.0 % accuracy). {CITED}",
            False,
        )


def not_always_a_drop(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    """Hold the printed tables against the paper's sentence about them."""
    for metric, table in TABLES.items():
        for row in records(printed_table(metric)):
            if row["gap"] is not None and row["gap"] < 0:
                yield Note(
                    f"“Consistently decreases” does not hold for {row['vlm']}, {table.setting}: "
                    f"{percent(row['original'])} with original and {percent(row['less_biased'])} with less-biased "
                    "questions, as printed.",
                    True,
                )


def _mixed_f1(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    yield Note(
        "The printed F1 of fine-tuned VLMs mixes two metrics and two test sets: macro F1 over reference labels for the "
        "general VLMs, weighted F1 on another set of 4,945 questions for PitVQA-Net. No public file reproduces "
        f"EndoChat's figures. {CITED}",
        False,
    )


def _counts(store: Store, suite: str, answers: "pd.DataFrame") -> Made:
    yield Note(
        "The paper counts 29,635 question pairs, the release holds 23,464; in 54 of its original rows the picture "
        f"asked about is not that of the frame they name. {CITED}",
        False,
    )


def _look_up(answers: "pd.DataFrame", task: Task, variant: Variant) -> float | None:
    """Return how often a text look-up is right in a task; None where the store holds no run of one."""
    own = answers[(answers["vlm"] == LOOKUP_VLM) & (answers["task"] == task) & (answers["variant"] == variant)]
    first = own[own["run_id"] == own["run_id"].iloc[0]] if len(own) else own
    return float(first["correct"].mean()) if len(first) else None


def _is_of_release(store: Store, suite: str) -> bool:
    """Return whether a suite is about frames of Endoscapes, as the release is."""
    return bool(
        store.value(
            "SELECT count(*) > 0 FROM units JOIN images USING (image_id) WHERE suite = ? AND dataset = ?",
            [suite, DATASET],
        )
    )


def _are(n: int, noun: str) -> str:
    return f"{n:,} {noun} is" if n == 1 else f"{n:,} {noun}s are"


_NOTES: dict[Figure, tuple[Callable[[Store, str, "pd.DataFrame"], Made], ...]] = {
    Figure.BY_VLM: (_shared_baselines, _judged_balanced, _repeated),
    Figure.BY_TASK: (_instrument_pairs, ceiling),
    Figure.BY_CUE: (_unequal_cues, leaked, periphrasis_words, shared_positions, _without_periphrasis),
    Figure.ABLATION: (look_ups, ablation_is_f1),
    Figure.PRINTED: (not_always_a_drop, _mixed_f1, _counts),
}
