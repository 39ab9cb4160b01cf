"""A small store of reconciled answers: three samples on two images, one VLM, both variants.

Right alone, the parts of samples 11 and 33 contradict their wrong complex answers; of sample 22 the
complex answer is right and the part that counts polyps wrong. With its parts as premises the VLM
mends 11, breaks 22 and keeps 33; without them it mends 33 and keeps the rest.
"""

import json
from pathlib import Path

from backend.domain.records import Origin, RunKey, Stage, System
from backend.services.ingest.answers import Answer, put_answers
from backend.services.ingest.endoca import import_endoca
from backend.services.ingest.files import SourceFile
from backend.services.opening import open_store
from backend.store.arrow import arrow_table
from backend.store.store import Store, insert
from tests.services.endoca_files import SAMPLES, manifest_lines, write_jsonl

SUITE = "drawn"
VLM = "Mending <i>VLM</i>"

ATOMIC = {
    "11::atomic::0": "no",
    "22::atomic::0": "3",
    "22::atomic::1": "yes",
    "33::atomic::0": "tube",
    "33::atomic::1": "yes",
    "33::atomic::2": "0",
}
TEXT, NO_TEXT = "There is text.", "No text can be seen."
TWO, THREE = "Two polyps and a green box artifact.", "Three polyps and a green box artifact."
WITHOUT_TEXT = "A tube is present, there is no text, and no polyp is seen."
WITH_TEXT = SAMPLES[2][3]

DIRECT = {"11": TEXT, "22": TWO, "33": WITHOUT_TEXT}
AGAIN = {"11": NO_TEXT, "22": TWO, "33": WITHOUT_TEXT}
"""The same VLM, decoded in other batches."""
REVISED = {"11": NO_TEXT, "22": THREE, "33": WITHOUT_TEXT}
SELF_REVISED = {"11": TEXT, "22": TWO, "33": WITH_TEXT}

Decided = tuple[str, str | None, str, str]

DECISIONS: dict[str, Decided] = {
    "11": ("answer", "consistent", NO_TEXT, ""),
    "22": ("answer", "partly consistent", THREE, ""),
    "33": ("abstain", None, "", "not one JSON object"),
}
SELF_DECISIONS: dict[str, Decided] = {
    "11": ("abstain", "inconsistent", TEXT, ""),
    "22": ("answer", "consistent", TWO, ""),
    "33": ("answer", "consistent", "Nothing is present.", ""),
}
"""Sample → decision, consistency, the answer as the object repeats it, why it could not be read."""

UNREADABLE = "I cannot say."


def decision_reply(decided: Decided) -> str:
    """Return the object that says this decision; one that could not be read is a sentence."""
    verdict, consistency, echoed, problem = decided
    if problem:
        return UNREADABLE
    return json.dumps({"answer": echoed, "consistency": consistency, "decision": verdict})


def run_key(stage: Stage, setting: str = "", vlm: str = VLM) -> RunKey:
    """Return the key of one of the store's runs."""
    return RunKey(System.ENDOCA, SUITE, vlm, stage, Origin.PRECOMPUTED, setting, "endoca-1", "greedy, 80 new tokens")


def run_id(stage: Stage, setting: str = "") -> str:
    """Return the id of one of the store's runs."""
    return run_key(stage, setting).run_id


def make_store(path: Path, *, again: bool = True, both: bool = True) -> None:
    """Write the store and close it.

    Args:
        path: Its file.
        again: Whether the direct run stands in it twice.
        both: Whether the control stands beside ASR.
    """
    with open_store(path) as store:
        import_endoca(store, [SourceFile.at(write_jsonl(path.parent / f"{SUITE}.jsonl", manifest_lines()))])
        base = put(store, run_key(Stage.DIRECT), DIRECT)
        if again:
            put(store, run_key(Stage.DIRECT, "again"), AGAIN)
        put(store, run_key(Stage.REVISE), REVISED, base)
        put(store, run_key(Stage.SELECT), REVISED, base, DECISIONS)
        if both:
            put(store, run_key(Stage.SELF_REVISE), SELF_REVISED, base)
            put(store, run_key(Stage.SELF_SELECT), SELF_REVISED, base, SELF_DECISIONS)


def put(
    store: Store,
    key: RunKey,
    complex_answers: dict[str, str],
    base: str = "",
    decisions: dict[str, Decided] | None = None,
    atomic_answers: dict[str, str] | None = None,
) -> str:
    """Write a run, what it was made from and what it decided; return its id.

    Args:
        store: The store.
        key: The run.
        complex_answers: By sample.
        base: The direct run's id; empty for a direct run.
        decisions: By sample, of a Select run.
        atomic_answers: By probe; those of this module where not said.
    """
    said = {f"{sample}::complex": answer for sample, answer in complex_answers.items()} | (atomic_answers or ATOMIC)
    answers = [Answer(f"{SUITE}:{probe}", answer, "") for probe, answer in said.items()]
    with store.write() as cursor:
        put_answers(cursor, key, answers, "a test", "medical_open")
        if base:
            insert(cursor, "run_bases", arrow_table({"run_id": [key.run_id], "base_run_id": [base]}))
        if decisions:
            rows = [
                (key.run_id, f"{SUITE}:{sample}", *decided, decision_reply(decided))
                for sample, decided in decisions.items()
            ]
            names = ("run_id", "unit_id", "decision", "consistency", "echoed", "problem", "reply")
            insert(cursor, "decisions", arrow_table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    return key.run_id
