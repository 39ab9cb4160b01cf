"""A small store of verifications for tests, written row by row: every count in it can be worked out by hand.

Two data sets. Eight questions of `VQA_RAD` were answered and verified by computed runs: `ATLAS` and `BEACON`
each by itself and by the other, Atlas also in two feedback turns, with two controls, and in two steps. Six records of
`OWN` came in a file: nobody labelled its first two questions, and its third was verified twice.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from backend.domain.records import AnswerStatus, Image, Origin, RunKey, Stage, System, Unit
from backend.services.ingest.suites import put_run
from backend.services.ingest.verifications import StoredVerification, put_verifications
from backend.store.store import Store
from backend.verimap.conditions import Condition
from backend.verimap.verifier import Verdict
from backend.verimap.vocabulary import Task

VQA_RAD, OWN = "vqa-rad", "own"
ATLAS, BEACON = "Atlas", "Beacon <b>VLM</b>"
JUDGE = "Judge"
GROUPS = {ATLAS: "general_open", BEACON: "medical_open"}

MODALITY, SPATIAL, DISEASE = Task.MODALITY_RECOGNITION, Task.SPATIAL_LOCALIZATION, Task.DISEASE_CLASSIFICATION


class AnExample(NamedTuple):
    """One question as a test writes it."""

    name: str
    task: Task | None
    image: str
    """File name; "" where the data set names none."""
    question: str
    reference: str
    wrong: str
    """What a VLM says that is wrong."""
    options: Mapping[str, str] = {}


EXAMPLES: Mapping[str, Sequence[AnExample]] = {
    VQA_RAD: (
        AnExample("1", MODALITY, "a.jpg", "Is this a CT?", "Yes", "No"),
        AnExample("2", MODALITY, "a.jpg", "How was this image taken?", "CT", "MRI"),
        AnExample("3", MODALITY, "b.jpg", "What is the plane?", "axial", "coronal"),
        AnExample("4", MODALITY, "c.jpg", "Which sequence is it?", "T2", "T1", {"A": "T1", "B": "T2"}),
        AnExample("5", DISEASE, "b.jpg", "Is there a pneumothorax?", "No", "Yes"),
        AnExample("6", DISEASE, "c.jpg", "Is the <i>liver</i> normal?", "No", "Yes"),
        AnExample("7", DISEASE, "d.jpg", "What is abnormal?", "a mass", "the <b>heart</b> is enlarged"),
        AnExample("8", DISEASE, "", "Is there free air?", "Yes", "No"),
    ),
    OWN: (
        AnExample("p1", None, "e.png", "What is present?", "a nucleus", "a vacuole"),
        AnExample("p2", None, "e.png", "What is this?", "a gland", "a duct"),
        AnExample("p3", SPATIAL, "f.png", "On which side is it?", "left", "right"),
        AnExample("p4", SPATIAL, "f.png", "Where is the lesion?", "at the top", "below"),
        AnExample("p5", DISEASE, "", "Is it a carcinoma?", "Yes", "No"),
    ),
}  # fmt: skip


class ARun(NamedTuple):
    """What one verifier said of the answers of one generator, example by example."""

    suite: str
    generator: str
    verifier: str
    said: str
    """Two signs an example: the answer is right (1), wrong (0) or unjudged (?); the verdict is CORRECT (C), INCORRECT
    (I), UNCERTAIN (U), not readable (-) or failed (x)."""
    condition: Condition = Condition.PLAIN
    turn: int = 0


RUNS = (
    ARun(VQA_RAD, ATLAS, ATLAS, "1C 1C 0C 0I 1I 0C 0U ?C"),
    ARun(VQA_RAD, ATLAS, ATLAS, "1C 0C 0C 1C 1C 0C 0I ?C", turn=1),
    ARun(VQA_RAD, ATLAS, ATLAS, "1C 0C 0C 1C 1C 0C 0I ?-", turn=2),
    ARun(VQA_RAD, ATLAS, ATLAS, "1C 1C 0I 0I 1C 0I 0I ?I", Condition.TWO_STEP),
    ARun(VQA_RAD, ATLAS, ATLAS, "1C 1C 0C 0C 1I 0C 0U ?C", Condition.IMAGE_WITHHELD),
    ARun(VQA_RAD, ATLAS, ATLAS, "1C 1I 0C 0C 1I 0C 0I ?C", Condition.IMAGE_SWAPPED),
    ARun(VQA_RAD, ATLAS, BEACON, "1C 1I 0I 0I 1C 0C 0- ?I"),
    ARun(VQA_RAD, BEACON, BEACON, "1C 0C 1C 0C 0C 1C 1I 0C"),
    ARun(VQA_RAD, BEACON, ATLAS, "1C 0I 1C 0I 0C 1C 1U 0x"),
    ARun(OWN, ATLAS, ATLAS, "1C 0C 0C 1C 0I"),
    ARun(OWN, ATLAS, BEACON, "1C 0I 0I 1I 0I"),
)  # fmt: skip
"""All runs of verifiers; the plain first turns are:

================ ============ ================== == == == == == =========================
suite, generator verifier     task               tp tn fp fn n  besides
================ ============ ================== == == == == == =========================
vqa-rad, Atlas   Atlas        modality            2  1  1  0  4
vqa-rad, Atlas   Atlas        disease             0  1  1  1  3  1 UNCERTAIN (in tn), 1 unjudged
vqa-rad, Atlas   Beacon       modality            1  2  0  1  4
vqa-rad, Atlas   Beacon       disease             1  0  1  0  2  1 unparsed (wrong answer), 1 unjudged
vqa-rad, Beacon  Beacon       modality            2  0  2  0  4
vqa-rad, Beacon  Beacon       disease             1  0  2  1  4
vqa-rad, Beacon  Atlas        modality            2  2  0  0  4
vqa-rad, Beacon  Atlas        disease             1  0  1  1  3  1 UNCERTAIN (in fn), 1 failed (wrong answer)
own, Atlas       Atlas        none                1  0  1  0  2
own, Atlas       Atlas        spatial             1  0  2  0  3  p3 twice
own, Atlas       Atlas        disease             0  1  0  0  1
own, Atlas       Beacon       none                1  1  0  0  2
own, Atlas       Beacon       spatial             0  1  0  1  2
own, Atlas       Beacon       disease             0  1  0  0  1
================ ============ ================== == == == == == =========================

Over the turns of vqa-rad, Atlas by itself: question 1 stays right, 2 is spoiled at turn 1, 3 and 6 stay wrong and are
accepted in every turn, 4 is corrected at turn 1, 5 stays right, 7 stays wrong and is rejected, 8 is unjudged.
"""

AGAIN = (OWN, ATLAS, ATLAS, "p3", "0C")
"""A second record that is alike in question and turn."""

VERDICTS = {
    "C": Verdict.CORRECT,
    "I": Verdict.INCORRECT,
    "U": Verdict.UNCERTAIN,
    "-": None,
    "x": None,
}
STATUSES = {"-": AnswerStatus.UNPARSED, "x": AnswerStatus.FAILED}
FAILURE = "timeout after 60 s"


def unit_of(suite: str, name: str) -> str:
    """Return a question's unit."""
    return Unit.make_id(suite, name)


def image_of(suite: str, example: AnExample) -> str:
    """Return the id of a question's image; where there is none, one of the unit's own."""
    if example.image:
        return Image.make_id(suite, example.image.removesuffix(".jpg").removesuffix(".png"))
    return Image.make_id(suite, f"none-{example.name}")


def run_id(
    suite: str, generator: str, verifier: str | None = None, *, condition: Condition = Condition.PLAIN, turn: int = 0
) -> str:
    """Return the id of a verifier's run; without a verifier that of the generator's, which answered in that turn."""
    return _key(suite, generator, verifier, condition, turn).run_id


def make_verification_store(path: Path) -> Store:
    """Write the store and return it open."""
    store = Store.create(path)
    fill_verification_store(store)
    return store


def fill_verification_store(store: Store) -> None:
    """Write all of it into an open store."""
    for suite, examples in EXAMPLES.items():
        _put_examples(store, suite, examples)
    for suite, generator in ((VQA_RAD, ATLAS), (VQA_RAD, BEACON)):
        turns = sorted({run.turn for run in RUNS if (run.suite, run.generator) == (suite, generator)})
        for turn in turns:
            _put_answers(store, suite, generator, turn)
    for run in RUNS:
        _put_verdicts(store, run)


def _key(suite: str, generator: str, verifier: str | None, condition: Condition, turn: int) -> RunKey:
    origin = Origin.IMPORTED if suite == OWN else Origin.PRECOMPUTED
    if verifier is None:
        stage = Stage.LOOP if turn else Stage.DIRECT
        setting = f"turn {turn}, verified by {ATLAS}" if turn else ""
        return RunKey(System.VERIMAP, suite, generator, stage, origin, setting)
    told = [f"answers of {generator}", f"turn {turn}" if turn else "", "" if condition == "plain" else condition.label]
    return RunKey(System.VERIMAP, suite, verifier, Stage.VERIFY, origin, ", ".join(filter(None, told)))


def _put_examples(store: Store, suite: str, examples: Sequence[AnExample]) -> None:
    images = {image_of(suite, example): example.image for example in examples}
    with store.write() as cursor:
        cursor.execute("INSERT INTO suites (suite, system, source) VALUES (?, 'verimap', 'a test')", [suite])
        for image_id, file in images.items():
            cursor.execute("INSERT INTO images (image_id, dataset, file) VALUES (?, ?, ?)", [image_id, suite, file])
        for example in examples:
            unit_id, image_id = unit_of(suite, example.name), image_of(suite, example)
            cursor.execute("INSERT INTO units VALUES (?, ?, ?, ?, '', 0, [])", [unit_id, suite, example.name, image_id])
            cursor.execute(
                "INSERT INTO probes VALUES (?, ?, ?, ?, 'generate', 0, ?, ?, '')",
                [f"{unit_id}:generate", unit_id, suite, example.name, example.question, example.reference],
            )
            options = [{"letter": letter, "text": text} for letter, text in example.options.items()]
            letter = next((letter for letter, text in example.options.items() if text == example.reference), "")
            closed = example.reference in ("Yes", "No") or bool(options)
            cursor.execute(
                "INSERT INTO examples VALUES (?, ?, ?, ?, ?, ?, ?, ?, [])",
                [
                    unit_id, suite, example.task, "vote" if example.task else None,
                    [example.image] if example.image else [], json.dumps(options), letter,
                    "closed" if closed else "open",
                ],
            )  # fmt: skip


def _answer(example: AnExample, right: str, turn: int) -> str:
    """Return an answer's text; what is unjudged is in words of its own."""
    if right == "1":
        return example.reference
    return example.wrong if right == "0" else f"It cannot be told (turn {turn})"


def _oracle(suite: str, example: AnExample, right: str) -> str | None:
    if right == "?":
        return None
    if suite == OWN:
        return "file"
    return "matching" if example.reference in ("Yes", "No") or example.options else JUDGE


def _put_answers(store: Store, suite: str, generator: str, turn: int) -> None:
    """Write what a generator answered in one turn, and what the oracles said of it."""
    key = _key(suite, generator, None, Condition.PLAIN, turn)
    [said, *_] = [run.said for run in RUNS if (run.suite, run.generator, run.turn) == (suite, generator, turn)]
    with store.write() as cursor:
        put_run(cursor, key, GROUPS[generator], "a test")
        for example, signs in zip(EXAMPLES[suite], said.split(), strict=True):
            probe = f"{unit_of(suite, example.name)}:generate"
            answer, oracle = _answer(example, signs[0], turn), _oracle(suite, example, signs[0])
            cursor.execute("INSERT INTO answers VALUES (?, ?, ?, '')", [key.run_id, probe, answer])
            if oracle is not None:
                cursor.execute(
                    "INSERT INTO oracle_judgements VALUES (?, ?, ?, ?, 'because', '')",
                    [key.run_id, probe, oracle, signs[0] == "1"],
                )
        if turn:
            base = _key(suite, generator, ATLAS, Condition.PLAIN, turn - 1)
            cursor.execute("INSERT INTO run_bases VALUES (?, ?)", [key.run_id, base.run_id])


def _put_verdicts(store: Store, run: ARun) -> None:
    key = _key(run.suite, run.generator, run.verifier, run.condition, run.turn)
    rows = [
        _row(run, example, signs)
        for example, signs in zip(EXAMPLES[run.suite], run.said.split(), strict=True)
    ]  # fmt: skip
    if (run.suite, run.generator, run.verifier) == AGAIN[:3]:
        [example] = [example for example in EXAMPLES[OWN] if example.name == AGAIN[3]]
        rows.append(_row(run, example, AGAIN[4])._replace(place=1))
    with store.write() as cursor:
        put_run(cursor, key, GROUPS[run.verifier], "a test")
        if run.suite == VQA_RAD:
            base = _key(run.suite, run.generator, None, Condition.PLAIN, run.turn)
            cursor.execute("INSERT INTO run_bases VALUES (?, ?)", [key.run_id, base.run_id])
            for row in rows:
                probe, verdict = f"{row.unit_id}:generate", row.verdict
                reply = f"VERDICT: {verdict}\nEXPLANATION: {row.explanation}" if verdict else row.explanation or ""
                cursor.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", [key.run_id, probe, reply, row.error])
        put_verifications(cursor, key.run_id, run.suite, run.generator, run.verifier, run.condition, rows)


def _row(run: ARun, example: AnExample, signs: str) -> StoredVerification:
    right, verdict = signs[0], signs[1]
    return StoredVerification(
        unit_id=unit_of(run.suite, example.name),
        image_id=image_of(run.suite, example),
        turn=run.turn,
        place=0,
        answer=_answer(example, right, run.turn),
        oracle_correct=None if right == "?" else right == "1",
        oracle=_oracle(run.suite, example, right),
        verdict=VERDICTS[verdict],
        explanation=None if verdict == "x" else f"{run.verifier} sees the <u>{example.name}</u>.",
        status=STATUSES.get(verdict, AnswerStatus.READ),
        error=FAILURE if verdict == "x" else "",
    )
