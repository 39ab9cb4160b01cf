"""What a saliency run looks into: the answers of a stored run, each with the prompt and the image it was given to.

A look's prompt is a JSON object of what the VLM was told and what it said, so that an item's id
hashes all that decides the look, and run folders hold looks as they hold answers. Nothing is
generated: the VLM that answered reads its own words again (teacher forcing).
"""

__all__ = [
    "LOOKS_VERSION",
    "TEACHER_FORCED",
    "LookText",
    "LookedRun",
    "Present",
    "look_text",
    "looked_run",
    "present_answers",
    "read_look_text",
    "saliency_plan",
]

import json
from collections.abc import Collection
from typing import NamedTuple

from backend.domain.records import Origin, RunKey, Stage, System
from backend.domain.vlm import Decoding
from backend.errors import AppError
from backend.services.images import suite_images
from backend.services.judge_kinds import Fetch
from backend.services.runs.plan import Item, Plan, VlmIdentity, item_id, templates_sha256
from backend.services.runs.record import RunRecord
from backend.store.store import Store
from backend.verimap.feedback_loop import given_answer

LOOKS_VERSION = "looks-1"
"""Of the form that `look_text` has. The wordings are those of the run that is looked into."""
TEACHER_FORCED = Decoding(max_new_tokens=0)

_SELECTS = (Stage.SELECT, Stage.SELF_SELECT)
_HOW_MANY = 10


class LookText(NamedTuple):
    """What decides a look beside VLM and image."""

    prompt: str
    """Verbatim, all the VLM was told."""
    said: str
    """What it said, thinking left aside."""


def look_text(prompt: str, said: str) -> str:
    """Return a look's prompt: one JSON object."""
    return json.dumps(LookText(prompt, said)._asdict(), ensure_ascii=False)


def read_look_text(text: str) -> LookText:
    """Return what `look_text` wrote.

    Raises:
        ValueError: It did not write this.
    """
    held = json.loads(text)
    if not isinstance(held, dict) or held.keys() != {*LookText._fields}:
        raise ValueError("This text is no look's prompt.")
    return LookText(**held)


class LookedRun(NamedTuple):
    """A stored run whose answers can be looked into."""

    run_id: str
    system: System
    suite: str
    vlm: str
    setting: str
    stage: str
    details: dict[str, str]
    """Of the VLM's build that answered."""


class Present(NamedTuple):
    """One answer that a run holds now, and what a look at it is asked."""

    probe_id: str
    unit_id: str
    answer: str
    """Verbatim."""
    text: str
    """As `look_text` returns it; empty where the answer cannot be looked into."""
    not_asked: str
    """Why it cannot; empty where it can."""
    image_sha256: str | None
    """Of the file that was sent; None where none was."""
    image_id: str
    """Of the unit's own image; another may have been sent."""
    image_name: str


_RUN = """
    SELECT r.run_id, r.system, r.suite, r.vlm, r.setting, r.stage, f.record,
        EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.run_id)
    FROM runs r LEFT JOIN run_facts f ON f.run_id = r.run_id
    WHERE r.run_id = ?
"""

_PRESENT = """
    WITH placed AS (
        SELECT unit_id, image_id, row_number() OVER (ORDER BY try_cast(source_id AS BIGINT), source_id) AS place
        FROM units WHERE suite = ?
    ), together AS (
        SELECT *, min(place) OVER (PARTITION BY image_id) AS image_place FROM placed
    )
    SELECT a.probe_id, p.unit_id, a.answer, a.error, c.prompt, c.image_sha256, i.image_id, i.file
    FROM answers a JOIN calls c ON c.run_id = a.run_id AND c.probe_id = a.probe_id
    JOIN probes p ON p.probe_id = a.probe_id JOIN together t ON t.unit_id = p.unit_id
    LEFT JOIN pairs d ON d.unit_id = p.unit_id JOIN images i ON i.image_id = coalesce(d.picture_id, t.image_id)
    WHERE a.run_id = ?
    ORDER BY t.image_place, t.place, p.role NOT IN ('complex', 'original'), p.role, p.position, p.probe_id
"""
"""Images in the order of their first unit, as plans of answers have them."""


def looked_run(fetch: Fetch, run_id: str) -> LookedRun:
    """Return a stored run whose answers can be looked into.

    Raises:
        AppError: There is no such run, it is not known what it was asked, or its answers are another run's.
    """
    found = fetch(_RUN, [run_id])
    if not found:
        raise AppError(f"There is no run {run_id} in this store.", _known(fetch))
    [(_, system, suite, vlm, setting, stage, record, has_calls)] = found
    if record is None or not has_calls:
        raise AppError(
            f"Of the run {run_id} it is not known what exactly {vlm} was told: it came from no run folder.",
            _known(fetch),
        )
    if stage in _SELECTS:
        raise AppError(
            f"The run {run_id} decides on the answers of its Revise run, and gives none of its own.",
            "Look into that Revise run.",
        )
    details = RunRecord.model_validate_json(record).vlm.details
    return LookedRun(run_id, System(system), suite, vlm, setting, stage, details)


def present_answers(fetch: Fetch, run: LookedRun) -> list[Present]:
    """Return a run's answers in the order of its suite.

    Answers that a run copied from another (the atomic ones of a Revise run) have no call, and are left out: they
    belong to the other.
    """
    found = []
    for probe_id, unit_id, answer, error, prompt, sha256, image_id, image_name in fetch(
        _PRESENT, [run.suite, run.run_id]
    ):
        said = given_answer(answer)
        not_asked = _why_not(answer, said, error, sha256)
        text = "" if not_asked else look_text(prompt, said)
        found.append(Present(probe_id, unit_id, answer, text, not_asked, sha256, image_id, image_name))
    return found


def saliency_plan(store: Store, run_id: str, vlm: VlmIdentity, *, units: Collection[str] | None = None) -> Plan:
    """Plan looks at the answers of a stored run. Once this returns the store is not needed any more.

    Each answer becomes an item. One that failed, that is empty, or that was given with no image becomes an error
    row that says so. The image is the very file that was sent, found by its content among the suite's
    images: of a verifier that saw exchanged images it is another unit's. Where that file is not at hand, the item
    lacks its image until it is attached.

    Args:
        store: Holds the run, and knows where the images lie.
        run_id: Any run that came from a run folder.
        vlm: The VLM that answered, as it is here.
        units: Only the answers to these units' questions; None takes all.

    Raises:
        AppError: As `looked_run`; or the VLM is another one or another build than the one that answered, or none of
            the answers can be looked into.
    """
    run = looked_run(store.rows, run_id)
    _check_build(run, vlm)
    key = RunKey(
        system=run.system,
        suite=run.suite,
        vlm=vlm.name,
        stage=Stage.SALIENCY,
        origin=Origin.PRECOMPUTED,
        setting=run_id,
        prompt_version=LOOKS_VERSION,
        decoding=TEACHER_FORCED.label,
    )
    files = suite_images(store, run.suite)
    by_content = {file.sha256: image_id for image_id, file in files.items()}
    names = dict(store.rows("SELECT image_id, file FROM images WHERE list_contains(?, image_id)", [list(files)]))
    items: list[Item] = []
    for one in present_answers(store.rows, run):
        if units is not None and one.unit_id not in units:
            continue
        image_id, name, sha256 = _image(one, by_content, names)
        file = files.get(image_id)
        items.append(
            Item(
                item_id=item_id(key, vlm, one.probe_id, one.text, image_id, sha256),
                probe_id=one.probe_id,
                unit_id=one.unit_id,
                prompt=one.text,
                image_id=image_id,
                image_name=name,
                image=file.path if file else None,
                image_sha256=sha256,
                not_asked=one.not_asked,
            )
        )
    if not items:
        raise AppError(f"The run {run_id} holds no answer to look into.", "Choose other units, or another run.")
    if all(item.not_asked for item in items):
        reasons = " ".join(sorted({item.not_asked for item in items}))
        raise AppError(
            f"None of the {len(items):,} answers of the run {run_id} can be looked into. {reasons}",
            "Choose other units, or another run.",
        )
    return Plan(key, vlm, TEACHER_FORCED, templates_sha256({}), tuple(items))


def _why_not(answer: str, said: str, error: str, image_sha256: str | None) -> str:
    """Return why an answer is not looked into; empty where it is."""
    if error:
        return "Not looked into: the call for this answer failed."
    if not said:
        what = "is nothing but thinking" if answer.strip() else "is empty"
        return f"Not looked into: this answer {what}."
    if image_sha256 is None:
        return "Not looked into: this answer had no image."
    return ""


def _image(one: Present, by_content: dict[str, str], names: dict[str, str]) -> tuple[str, str, str | None]:
    """Return id, name and content of the image that was sent.

    A file that no image of the suite is goes by its content, which is its id then: two files may have stood
    under one image's id.
    """
    if one.not_asked or one.image_sha256 is None:
        return "", "", None
    image_id = by_content.get(one.image_sha256, one.image_sha256)
    return image_id, names.get(image_id, one.image_name), one.image_sha256


def _check_build(run: LookedRun, vlm: VlmIdentity) -> None:
    if run.vlm != vlm.name:
        raise AppError(f"The run {run.run_id} holds answers of {run.vlm}, not of {vlm.name}.", f"Name {run.vlm}.")
    names = sorted({*run.details, *vlm.details})
    different = [
        f"{name}: {run.details.get(name, 'none')} there, {vlm.details.get(name, 'none')} here"
        for name in names
        if run.details.get(name) != vlm.details.get(name)
    ]
    if different:
        raise AppError(
            f"The answers of {run.run_id} are of another build of {vlm.name} ({'; '.join(different)}), and only the "
            "one that gave them can be looked into.",
            "Bring that build back in the list of VLMs, or let this one answer first (predict, verify run).",
        )


def _known(fetch: Fetch) -> str:
    rows = fetch(
        "SELECT DISTINCT run_id FROM calls JOIN runs USING (run_id) "
        "WHERE image_sha256 IS NOT NULL AND NOT list_contains(?, stage) ORDER BY run_id",
        [list(_SELECTS)],
    )
    known = [row[0] for row in rows]
    listed = ", ".join(known[:_HOW_MANY]) or "none yet; import a run folder first"
    return f"Runs whose prompts and images are known: {listed}{' …' if len(known) > _HOW_MANY else ''}."
