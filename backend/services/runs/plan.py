"""What a batch run asks: each probe of a suite once, as an item whose id is a hash of all that decides its answer.

Items stand in one fixed order with the questions of an image together, so that the first units
of a plan are the same whatever its limit. A system says in `ASKINGS` how it asks.
"""

__all__ = [
    "ASKINGS",
    "WITHOUT_IMAGE",
    "Asked",
    "Asking",
    "Base",
    "Item",
    "Plan",
    "VlmIdentity",
    "item_id",
    "read_plan",
    "shown_question",
    "templates_sha256",
    "text_sha256",
]

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from backend.domain.records import LIVE_SUITES, Origin, Role, RunKey, Stage, System
from backend.domain.vlm import Decoding
from backend.endoca import prompts as endoca
from backend.errors import AppError
from backend.services.images import suite_images
from backend.store.store import Store
from backend.surgcheck import prompts as surgcheck
from backend.verimap import prompts as verimap
from backend.verimap.examples import Option, question_with_options
from backend.verimap.setups import OptionsShown, Setup


class Asked(NamedTuple):
    """How one probe is put to a VLM."""

    prompt: str
    with_image: bool = True
    """False asks about the text alone."""


class Asking(NamedTuple):
    """How a system asks its probes in one stage."""

    stage: Stage
    prompt_version: str
    templates: Mapping[str, str]
    """Every wording of that version; their hash is kept with a run."""
    ask: Callable[[str, str], Asked | None]
    """From a probe's role and question; None: this stage does not ask it."""

    @property
    def prompts_sha256(self) -> str:
        """Hash of all wordings, in lower-case hex: the version says which, the hash says that none was changed."""
        return templates_sha256(self.templates)


ASKINGS: Mapping[System, Asking] = MappingProxyType(
    {
        System.ENDOCA: Asking(
            Stage.DIRECT,
            endoca.PROMPT_VERSION,
            endoca.TEMPLATES,
            lambda role, question: Asked(endoca.answer_prompt(question)),
        ),
        System.SURGCHECK: Asking(
            Stage.DIRECT,
            surgcheck.PROMPT_VERSION,
            surgcheck.TEMPLATES,
            lambda role, question: Asked(surgcheck.answer_prompt(question)),
        ),
        System.VERIMAP: Asking(
            Stage.DIRECT,
            verimap.PROMPT_VERSION,
            verimap.TEMPLATES,
            lambda role, question: Asked(verimap.generate_prompt(question)),
        ),
    }
)
"""How each system asks in a batch; VeriMap its generators, for their first answers."""

WITHOUT_IMAGE: Mapping[System, Asking] = MappingProxyType(
    {
        System.SURGCHECK: Asking(
            Stage.TEXT_ONLY,
            surgcheck.PROMPT_VERSION,
            surgcheck.TEMPLATES,
            lambda role, question: (
                Asked(surgcheck.answer_prompt(question), with_image=False) if role == Role.ORIGINAL else None
            ),
        )
    }
)
"""The systems that ask with the image withheld, too (SurgCheck, the text-only ablation)."""


@dataclass(frozen=True, slots=True)
class VlmIdentity:
    """What makes it this VLM and no other; answers of two identities never share a folder."""

    name: str
    """As the store and the pages call it."""
    group: str | None = None
    """Its group among VLMs; None where not known."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Where its weights or its server are and in which build: hub id, revision, adapter, dtype … No secret."""

    @property
    def digest(self) -> str:
        """Hash of name and details."""
        return _digest(self.name, tuple(sorted(self.details.items())))


@lru_cache(maxsize=64)
def _digest(name: str, details: tuple[tuple[str, str], ...]) -> str:
    """Return the hash of an identity; every item of a run asks for the same one."""
    return text_sha256(json.dumps([name, details], ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class Item:
    """One probe as it is asked."""

    item_id: str
    """Hash over VLM, decoding, prompt version, image, prompt, probe and stage; see `item_id`."""
    probe_id: str
    unit_id: str
    prompt: str
    image_id: str
    """Empty where the text alone is asked about."""
    image_name: str
    """File name as the data set writes it, for people."""
    image: Path | None
    """The file; None where it is not on this machine, or none is wanted."""
    image_sha256: str | None
    """Of the file when it was attached to its suite."""
    role: str = ""
    """The probe's, in its unit; empty where no later stage is made from the answer."""
    question: str = ""
    """The probe's own words, options below them where they are shown; empty where its role is."""
    not_asked: str = ""
    """Why this becomes an error row and no call; empty where it is asked. It has no prompt then."""

    @property
    def lacks_image(self) -> bool:
        """Whether an image is wanted and not at hand: such an item becomes an error row, and is not asked."""
        return bool(self.image_id) and self.image is None


@dataclass(frozen=True, slots=True)
class Base:
    """The run that another is made from: of a Revise or Select run the direct one.

    Of a VeriMap run it is the one just before it: of verdicts the answers, of answers given again the verdicts.
    """

    run_id: str
    origin: str
    prompt_version: str
    decoding: str


@dataclass(frozen=True)
class Plan:
    """All that one run asks, in order."""

    key: RunKey
    vlm: VlmIdentity
    decoding: Decoding
    prompts_sha256: str
    items: tuple[Item, ...]
    base: Base | None = None
    """None for a run that is made from no other."""
    setup: Setup | None = None
    """Of a VeriMap run; None elsewhere."""

    @cached_property
    def unit_ids(self) -> tuple[str, ...]:
        """The units, in order."""
        return tuple(dict.fromkeys(item.unit_id for item in self.items))

    def first_units(self, limit: int | None) -> "Plan":
        """Return the plan of so many units, from the first; all where None."""
        kept = set(self.unit_ids[:limit])
        return replace(self, items=tuple(item for item in self.items if item.unit_id in kept))

    @cached_property
    def images(self) -> dict[str, str]:
        """Names of the images by id, in order."""
        return {item.image_id: item.image_name for item in self.items if item.image_id}

    @cached_property
    def missing_images(self) -> dict[str, str]:
        """The same of those that are not on this machine."""
        return {item.image_id: item.image_name for item in self.items if item.lacks_image}


_ID_LETTERS = 24

_PROBES = """
    WITH placed AS (
        SELECT unit_id, image_id, row_number() OVER (ORDER BY try_cast(source_id AS BIGINT), source_id) AS place
        FROM units WHERE suite = $suite
    ), together AS (
        SELECT *, min(place) OVER (PARTITION BY image_id) AS image_place FROM placed
    )
    SELECT p.probe_id, p.unit_id, p.role, p.question, i.image_id, i.file, e.options, len(e.images)
    FROM together t JOIN probes p USING (unit_id) LEFT JOIN pairs d USING (unit_id) LEFT JOIN examples e USING (unit_id)
    JOIN images i ON i.image_id = coalesce(d.picture_id, t.image_id)
    ORDER BY t.image_place, t.place, p.role NOT IN ('complex', 'original'), p.role, p.position, p.probe_id
"""
"""Images in the order of their first unit, units as case lists have them, the complex or original question first."""


def read_plan(
    store: Store,
    suite: str,
    vlm: VlmIdentity,
    decoding: Decoding,
    *,
    setting: str = "",
    limit: int | None = None,
    with_image: bool = True,
    options: OptionsShown = OptionsShown.SHOWN,
) -> Plan:
    """Plan a run over a stored suite. Once this returns the store is not needed any more.

    Args:
        store: Holds the suite and knows where its images lie.
        suite: The suite's name.
        vlm: Who answers.
        decoding: How.
        setting: Such as ``zero-shot``; part of the run's key.
        limit: Only so many units, from the first; a unit is asked whole.
        with_image: False asks with the image withheld what can be asked so.
        options: Whether the options of VeriMap's questions are shown. It is part of the key where any has them.

    Raises:
        AppError: The suite is unknown, has no unit, is that of live questions, or is of a system that never
            withholds the image.
    """
    system = _system_of(store, suite)
    if not with_image and system not in WITHOUT_IMAGE:
        raise AppError(
            f"Suite {suite} is of {system}, which never withholds the image.",
            f"Leave --without-image out, or name a suite of: {', '.join(WITHOUT_IMAGE)}.",
        )
    asking = ASKINGS[system] if with_image else WITHOUT_IMAGE[system]
    setup = _setup(store, suite, vlm, options) if system == System.VERIMAP else None
    told = (setting, setup.setting(asking.stage) if setup else "")
    key = RunKey(
        system=system,
        suite=suite,
        vlm=vlm.name,
        stage=asking.stage,
        origin=Origin.PRECOMPUTED,
        setting=", ".join(filter(None, told)),
        prompt_version=asking.prompt_version,
        decoding=decoding.label,
    )
    items: list[Item] = []
    files = suite_images(store, suite)
    units: set[str] = set()
    for probe_id, unit_id, role, question, image_id, name, choices, n_images in store.rows(_PROBES, {"suite": suite}):
        units.add(unit_id)
        if limit is not None and len(units) > limit:
            break
        question = shown_question(question, choices, options)
        asked = asking.ask(role, question)
        if asked is None:
            continue
        not_asked = _why_not(n_images)
        prompt = "" if not_asked else asked.prompt
        if not_asked or not asked.with_image:
            image_id = name = ""
        file = files.get(image_id)
        image, sha256 = (file.path, file.sha256) if file else (None, None)
        items.append(
            Item(
                item_id=item_id(key, vlm, probe_id, prompt, image_id, sha256),
                probe_id=probe_id,
                unit_id=unit_id,
                prompt=prompt,
                image_id=image_id,
                image_name=name,
                image=image,
                image_sha256=sha256,
                role=role,
                question=question,
                not_asked=not_asked,
            )
        )
    if not items:
        raise AppError(f"Suite {suite} has no unit to ask about.", "Import its manifest: python -m backend import")
    return Plan(key, vlm, decoding, asking.prompts_sha256, tuple(items), setup=setup)


def _setup(store: Store, suite: str, vlm: VlmIdentity, options: OptionsShown) -> Setup:
    has_options = store.value("SELECT count(*) FROM examples WHERE suite = ? AND options <> '[]'", [suite])
    return Setup(generator=vlm.name, options=options if has_options else None)


def _why_not(n_images: int | None) -> str:
    """Return why a question is not asked; empty where it is.

    Args:
        n_images: Images that a question of VeriMap names; None for the other systems', which have one each.
    """
    if n_images == 0:
        return "Not asked: the data set names no image for this question."
    if n_images is not None and n_images > 1:
        return f"Not asked: the question is about {n_images} images, and a VLM is shown one."
    return ""


def shown_question(question: str, choices: str | None, options: OptionsShown | None) -> str:
    """Return a question as a VLM is shown it: where they are to be shown, with its options below it.

    Args:
        question: Its own words.
        choices: Its options, as the table ``examples`` has them; None outside of VeriMap.
        options: Whether they are shown; None as in `Setup`.
    """
    if choices is None or options is not OptionsShown.SHOWN:
        return question
    return question_with_options(question, [Option(**choice) for choice in json.loads(choices)])


def templates_sha256(templates: Mapping[str, str]) -> str:
    """Return the SHA-256 of all wordings of one version, in lower-case hex."""
    return text_sha256(json.dumps(dict(templates), sort_keys=True, ensure_ascii=False))


def text_sha256(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, in lower-case hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def _system_of(store: Store, suite: str) -> System:
    known = {name: System(system) for name, system in store.rows("SELECT suite, system FROM suites ORDER BY suite")}
    if suite not in known:
        raise AppError(
            f"There is no suite {suite} in this store.",
            f"Suites in the store: {', '.join(known) or 'none'}. A manifest file can be named instead of a suite.",
        )
    if suite in LIVE_SUITES:
        raise AppError(
            f"Suite {suite} holds the questions asked live; they are no data set to run over.",
            "Ask one again on the page it was asked on. For a batch run, import a manifest with your questions.",
        )
    return known[suite]


def item_id(key: RunKey, vlm: VlmIdentity, probe_id: str, prompt: str, image_id: str, sha256: str | None) -> str:
    """Return the id of an item: the first 96 bits, in hex, of a SHA-256 over all that decides its answer.

    A whole digest a row would be most of a run folder's size.
    """
    image = (sha256 or f"not at hand: {image_id}") if image_id else "no image"
    decides = (vlm.digest, key.decoding, key.prompt_version, image, prompt, probe_id, key.stage)
    return text_sha256("\x1f".join(decides))[:_ID_LETTERS]
