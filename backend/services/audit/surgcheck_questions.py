"""SurgCheck's questions as the public release holds them, against what the paper says of them."""

__all__ = ["CHECKS"]

from dataclasses import replace
from pathlib import PurePath

from backend.domain.records import System
from backend.services.audit.finding import AuditedFigure, Check, Finding, Verdict, unseen
from backend.services.audit.surgcheck_release import NEEDS, balanced_test, full_test, release_suites, training_file
from backend.services.audit.words import joined
from backend.services.surgcheck_notes import ceiling, counted, leaked, shared_positions
from backend.services.surgcheck_published import PRINTED_PAIRS
from backend.services.surgcheck_suites import ceiling_table, repeats
from backend.store.store import Store
from backend.surgcheck.question_reading import frame_of_picture
from backend.surgcheck.tasks import CUES_OF, PAIRED_TASKS, Cue, Task

PRINTED_QUESTION_PAIRS = 29_635
"""Question pairs of the whole benchmark, as printed."""


def _leak(store: Store) -> Finding:
    import pandas as pd

    finding = Finding(
        key="surgcheck-1",
        paper=System.SURGCHECK,
        title="Periphrasis as the most robust cue",
        claim="Asked with a periphrasis, fine-tuned VLMs lose least: the cue makes them look.",
        where="Fig. 4 and its section",
        printed="The smallest drop of four cues",
        recomputed="",
        definition="Rows of the training file with a periphrasis whose two texts are the same, word for word.",
        consequence="VLMs tuned on that file had learned the less-biased form of this one cue before the test.",
        verdict=Verdict.OPEN,
    )
    training = training_file(store)
    if training is None:
        return unseen(finding, f"It needs the training file of the release: {NEEDS}")
    suite, n_left_out = training
    note = counted(leaked(store, suite, pd.DataFrame()))
    if note is None:
        return unseen(finding, f"It needs the training file of the release: {NEEDS}")
    table = store.read("SELECT cue, count(*) AS n_pairs FROM pairs WHERE suite = $suite GROUP BY cue", {"suite": suite})
    table["n_left_out_as_equal"] = [n_left_out if cue == Cue.PERIPHRASIS else 0 for cue in table["cue"]]
    return replace(finding, recomputed=note.text, verdict=Verdict.OTHERWISE, data=table)


def _ceiling(store: Store) -> Finding:
    import pandas as pd

    finding = Finding(
        key="surgcheck-3",
        paper=System.SURGCHECK,
        title="Questions with two right answers",
        claim="Questions stay unambiguous, each with one right answer.",
        where="Section on grounding cues",
        printed="“Unambiguous”",
        recomputed="",
        definition="One question about one picture with several references; at best the commonest one is met.",
        consequence="Not even a perfect VLM could pass that; a drop below it is not all its own.",
        verdict=Verdict.OPEN,
    )
    suite = balanced_test(store)
    note = counted(ceiling(store, suite, pd.DataFrame())) if suite else None
    if suite is None or note is None:
        return unseen(finding, f"It needs the balanced test set of the release: {NEEDS}")
    return replace(finding, recomputed=note.text, verdict=Verdict.FAILS, data=ceiling_table(store, suite))


def _cues_and_names(_: Store) -> Finding:
    import pandas as pd

    cues = [cue for cue in Cue if cue is not Cue.NONE]
    rows = [
        {"task": task.value, "paired": task in PAIRED_TASKS, **{cue.value: cue in CUES_OF[task] for cue in cues}}
        for task in Task
        if CUES_OF[task] != (Cue.NONE,)
    ]
    table = pd.DataFrame(rows)
    lacking = table[~table[[cue.value for cue in cues]].all(axis=1)]
    return Finding(
        key="surgcheck-6",
        paper=System.SURGCHECK,
        title="Which cues a task has",
        claim="Four cues link each question to what it asks about; the two texts differ by the name of a thing.",
        where="Section on grounding cues, Fig. 2",
        printed="Four cues",
        recomputed=(
            f"{joined([str(task).replace('_', ' ').capitalize() for task in lacking['task']])} have no periphrasis. "
            "Instrument pairs name the hand in the original, not the tool."
        ),
        definition="The forms of questions that the release holds, by task and cue.",
        consequence=(
            "Cues are compared over different tasks unless the set is balanced, and Instrument's drop is that of a "
            "hand, not of a name."
        ),
        verdict=Verdict.FAILS if len(lacking) else Verdict.HOLDS,
        data=table,
    )


def _question_pairs(store: Store) -> Finding:
    import pandas as pd

    finding = Finding(
        key="surgcheck-7",
        paper=System.SURGCHECK,
        title="How many question pairs there are",
        claim=f"The benchmark holds {PRINTED_QUESTION_PAIRS:,} original question pairs.",
        where="Section on the benchmark",
        printed=f"{PRINTED_QUESTION_PAIRS:,} question pairs",
        recomputed="",
        definition="Rows of the release's full training and test files, those left out at import included.",
        consequence="Either something else was counted in the paper, or a part of it is not public.",
        verdict=Verdict.OPEN,
    )
    full, training = full_test(store), training_file(store)
    if full is None or training is None:
        return unseen(finding, f"It needs both full files of the release, training and test: {NEEDS}")
    suite, n_left_out = training
    sizes = release_suites(store)
    table = pd.DataFrame(
        {"suite": [full, suite], "n_pairs": [sizes[full], sizes[suite]], "n_left_out": [0, n_left_out]}
    )
    n = int(table["n_pairs"].sum() + table["n_left_out"].sum())
    return replace(
        finding,
        recomputed=f"The release holds {n:,}.",
        verdict=Verdict.HOLDS if n == PRINTED_QUESTION_PAIRS else Verdict.FAILS,
        data=table,
    )


def _repeats(store: Store) -> Finding:
    finding = Finding(
        key="surgcheck-10",
        paper=System.SURGCHECK,
        title="Pairs that come more than once",
        claim="An accuracy is the share of the test set's questions that are answered right.",
        where="Tables 1 and 2",
        printed=f"{PRINTED_PAIRS:,} pairs in the released test file",
        recomputed="",
        definition="Pairs alike in picture, both texts, task, cue and reference.",
        consequence="Some questions weigh double, and n is a little smaller than it looks.",
        verdict=Verdict.OPEN,
    )
    suite = full_test(store)
    if suite is None:
        return unseen(finding, f"It needs the full test file of the release: {NEEDS}")
    n = repeats(store, suite)
    table = store.read(
        "SELECT task, cue, count(*) AS n_pairs FROM pairs WHERE suite = $suite GROUP BY ALL ORDER BY ALL",
        {"suite": suite},
    )
    return replace(
        finding,
        recomputed=f"{n:,} of {PRINTED_PAIRS:,} pairs repeat another one exactly; each is counted.",
        verdict=Verdict.OTHERWISE if n else Verdict.HOLDS,
        data=table,
    )


def _positions(store: Store) -> Finding:
    import pandas as pd

    finding = Finding(
        key="surgcheck-11",
        paper=System.SURGCHECK,
        title="Position words that fit two tools",
        claim="A position says which tool is meant.",
        where="Section on grounding cues",
        printed="“Unambiguous”",
        recomputed="",
        definition="Frames in which one position question is asked of tools in two hands.",
        consequence="A right answer there may be about the other tool.",
        verdict=Verdict.OPEN,
    )
    suite = balanced_test(store)
    if suite is None:
        return unseen(finding, f"It needs the balanced test set of the release: {NEEDS}")
    note = counted(shared_positions(store, suite, pd.DataFrame()))
    if note is None:
        return replace(finding, recomputed="No position word fits two tools of a frame.", verdict=Verdict.HOLDS)
    return replace(finding, recomputed=note.text, verdict=Verdict.FAILS)


def _pictures(store: Store) -> Finding:
    import pandas as pd

    finding = Finding(
        key="surgcheck-14",
        paper=System.SURGCHECK,
        title="Rows about another picture",
        claim="Both texts of a pair are asked about the frame they were made from.",
        where="Section on the benchmark",
        printed="No number",
        recomputed="",
        definition="Pairs whose picture is a rendering of another frame than the one they name.",
        consequence="Their reference need not fit what the VLM is shown. They are kept as they stand.",
        verdict=Verdict.OPEN,
    )
    full, training = full_test(store), training_file(store)
    if full is None or training is None:
        return unseen(finding, f"It needs both full files of the release, training and test: {NEEDS}")
    rows = store.rows(
        "SELECT p.suite, f.file, s.file, count(*) FROM pairs p JOIN units u USING (unit_id) "
        "JOIN images f ON f.image_id = u.image_id JOIN images s ON s.image_id = p.picture_id "
        "WHERE p.suite IN (?, ?) GROUP BY ALL ORDER BY ALL",
        [full, training[0]],
    )
    others = [row for row in rows if PurePath(frame_of_picture(row[2])).stem != PurePath(row[1]).stem]
    table = pd.DataFrame(others, columns=["suite", "frame", "picture", "n_pairs"])
    n = int(table["n_pairs"].sum())
    return replace(
        finding,
        recomputed=f"{n:,} pairs show another frame than the one they name.",
        verdict=Verdict.FAILS if n else Verdict.HOLDS,
        data=table,
    )


CHECKS = (
    Check("surgcheck-1", (AuditedFigure.SURGCHECK_CUES,), _leak),
    Check("surgcheck-3", (AuditedFigure.SURGCHECK_TASKS,), _ceiling),
    Check("surgcheck-6", (AuditedFigure.SURGCHECK_CUES, AuditedFigure.SURGCHECK_TASKS), _cues_and_names),
    Check("surgcheck-7", (), _question_pairs),
    Check("surgcheck-10", (), _repeats),
    Check("surgcheck-11", (AuditedFigure.SURGCHECK_CUES,), _positions),
    Check("surgcheck-14", (), _pictures),
)
"""In the order of their numbers."""
