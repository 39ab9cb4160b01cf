"""Checks of one answer's map, made by the VLM that gave the answer while somebody watches.

Two questions to a map: does the answer hang on the places it shows first (deletion and insertion), and is it another
one where the VLM has unlearnt everything (shuffled weights)? What comes out is kept in this process and not in the
store: it is of one map, and takes seconds to be had again.
"""

__all__ = [
    "CHECKS",
    "CheckingVlm",
    "LookToCheck",
    "MapCheck",
    "Part",
    "Shuffled",
    "look_to_check",
    "same_build",
    "start_map_check",
]

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from backend.domain.vlm import Vlm
from backend.errors import AppError
from backend.services.live_calls import LiveCalls, LiveRegistry
from backend.services.live_looks import why_no_look
from backend.services.live_units import image_to_ask
from backend.services.runs.identity import identity_of
from backend.services.runs.plan import VlmIdentity
from backend.services.runs.record import RunRecord
from backend.store.store import Store
from backend.verimap.feedback_loop import given_answer
from backend.vlm.entries import VlmEntry
from backend.vlm.registry import Registry
from backend.vlm.saliency.faithfulness import Curves
from backend.vlm.saliency.kept import KeptSaliency, keep
from backend.vlm.saliency.randomised import rank_correlation
from backend.vlm.saliency.result import Floats, Saliency, SaliencyError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SEED = 1
"""By which the weights are shuffled: the same in every check."""


@runtime_checkable
class CheckingVlm(Vlm, Protocol):
    """A VLM whose maps can be checked: one that runs on this machine."""

    def saliency(self, image: Path, prompt: str, answer: str, randomised: int | None = None) -> Saliency:
        """Return the saliency of an answer to a prompt; see `TransformersLocal.saliency`."""

    def faithfulness(self, image: Path, prompt: str, answer: str, heat: "ArrayLike", steps: int = 10) -> Curves:
        """Return how the answer's probability follows a map; see `TransformersLocal.faithfulness`."""


class Part(StrEnum):
    """What is done in a check, in this order."""

    ATTENTION = "attention"
    """Deletion and insertion in the order of the attention map."""
    GRADIENT = "gradient"
    """The same, of the gradient map."""
    SHUFFLED = "shuffled"
    """The look taken again under shuffled weights."""


@dataclass(frozen=True, slots=True, eq=False)
class LookToCheck:
    """A stored look at a present answer of a run, with all that is needed to take it again."""

    run_id: str
    probe_id: str
    vlm: str
    """Who gave the answer."""
    details: Mapping[str, str]
    """What made it that VLM and no other."""
    image: Path
    """File that was sent."""
    prompt: str
    """Verbatim."""
    said: str
    """What the look is of: the answer, thinking left aside."""
    kept: KeptSaliency

    def map_of(self, part: Part) -> Floats | None:
        """Return the map whose order a part follows; None where there is none."""
        return {Part.ATTENTION: self.kept.attention_map, Part.GRADIENT: self.kept.gradient_map}.get(part)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What can be checked: a map that is not there is left out."""
        return tuple(part for part in Part if part is Part.SHUFFLED or self.map_of(part) is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Shuffled:
    """A look under shuffled weights beside the one as it is."""

    kept: KeptSaliency
    attention: float | None
    """Rank correlation of the two attention maps, -1 to 1; None where one of them is even all over."""
    gradient: float | None
    """The same of the gradient maps; None, too, where there is none."""


def look_to_check(store: Store, run_id: str, probe_id: str) -> LookToCheck:
    """Return a stored look as it can be checked.

    Raises:
        AppError: There is no such look at a present answer, nobody knows where its map lies, its run did not come out
            of a run folder (then nobody knows the prompt), it had no image, or the image's file is not at hand.
    """
    found = store.rows(
        "SELECT r.vlm, f.record, c.prompt, c.image_sha256, a.answer, s.record "
        "FROM saliency s JOIN answers a USING (run_id, probe_id, answer) JOIN runs r USING (run_id) "
        "LEFT JOIN calls c USING (run_id, probe_id) LEFT JOIN run_facts f USING (run_id) "
        "WHERE s.run_id = ? AND s.probe_id = ? AND s.record IS NOT NULL",
        [run_id, probe_id],
    )
    if not found:
        raise AppError("This answer was not looked into.", "Look into it with saliency run, then check its map.")
    [(vlm, facts, prompt, sha256, answer, record)] = found
    kept = KeptSaliency.from_json(record)
    if kept.grid is None:
        raise AppError(f"There is no map to check: {kept.why_no_regions}", "The shares of attention need no map.")
    if prompt is None or facts is None or sha256 is None:
        raise AppError(
            "Nobody knows what exactly was sent for this answer, so its map cannot be checked.",
            "Maps of runs made by Parallax can be.",
        )
    return LookToCheck(
        run_id,
        probe_id,
        vlm,
        RunRecord.model_validate_json(facts).vlm.details,
        _file(store, sha256),
        prompt,
        given_answer(answer),
        kept,
    )


def same_build(entry: VlmEntry, look: LookToCheck) -> VlmIdentity:
    """Return who a VLM of the list is.

    Raises:
        AppError: It is another build than the one that gave the answer.
    """
    identity = identity_of(entry)
    if identity.details != look.details:
        names = sorted({*identity.details, *look.details})
        told = ", ".join(name for name in names if identity.details.get(name) != look.details.get(name))
        raise AppError(
            f"{entry.name} on this machine is another build than the one that answered ({told} differ).",
            "Look into the answers of this build, then check their maps.",
        )
    return identity


class MapCheck(LiveCalls):
    """The check of one look. Never stored.

    Args:
        store: Where the look comes from.
        look: Whose map.
        vlm: A line to the VLM that nobody else uses.
    """

    def __init__(self, store: Store, look: LookToCheck, vlm: CheckingVlm) -> None:
        super().__init__(store, vlm)
        self.look = look
        self._checking = vlm
        self._curves: dict[Part, Curves] = {}
        self._shuffled: Shuffled | None = None
        self._refused: dict[Part, str] = {}

    @property
    def curves(self) -> dict[Part, Curves]:
        """Those there are so far."""
        with self._lock:
            return dict(self._curves)

    @property
    def shuffled(self) -> Shuffled | None:
        """None as long as it is not there."""
        return self._shuffled

    @property
    def refused(self) -> dict[Part, str]:
        """Parts that could not be had → why."""
        with self._lock:
            return dict(self._refused)

    @property
    def n_done(self) -> int:
        """Parts that are over, those that were refused among them; of `LookToCheck.parts`."""
        with self._lock:
            return len(self._curves) + len(self._refused) + (self._shuffled is not None)

    def _ask(self) -> None:
        for part in self.look.parts:
            self.begins(part, 0, "", self.look.prompt)
            try:
                self._check(part)
            except SaliencyError as error:
                with self._lock:
                    self._refused[part] = str(error)
            with self._lock:
                self._end_call(part, 0)

    def _check(self, part: Part) -> None:
        look = self.look
        heat = look.map_of(part)
        if heat is not None:
            curves = self._checking.faithfulness(look.image, look.prompt, look.said, heat)
            with self._lock:
                self._curves[part] = curves
            return
        kept = keep(self._checking.saliency(look.image, look.prompt, look.said, SEED))
        shuffled = Shuffled(
            kept,
            _correlation(look.kept.attention_map, kept.attention_map),
            _correlation(look.kept.gradient_map, kept.gradient_map),
        )
        with self._lock:
            self._shuffled = shuffled

    def _was_answered(self) -> bool:
        return False

    def _keep(self, identity: VlmIdentity) -> None:
        """Nothing is."""


CHECKS: LiveRegistry[MapCheck] = LiveRegistry()
"""The checks of this process."""


def start_map_check(
    store: Store, look: LookToCheck, opened: Callable[[Registry, str], Vlm] = Registry.open_vlm
) -> MapCheck:
    """Start a check in a thread of its own.

    Args:
        store: Where the look comes from.
        look: Whose map.
        opened: Opens a VLM of the list by its name.

    Raises:
        AppError: The VLM is not known here, cannot be asked, or gives no saliency.
    """
    registry = Registry.load()
    if why_not := why_no_look(registry, look.vlm):
        raise AppError(f"{why_not}.", "Start Parallax where this VLM runs.")
    vlm = opened(registry, look.vlm)
    if not isinstance(vlm, CheckingVlm):
        raise AppError(f"{look.vlm} gives no saliency here.", "Start Parallax where this VLM runs.")
    return CHECKS.begin(MapCheck(store, look, vlm), partial(same_build, registry.find(look.vlm), look))


def _file(store: Store, sha256: str) -> Path:
    """Return the file of an image by its hash.

    Raises:
        AppError: It is not at hand.
    """
    problem = AppError(
        "The image of this answer is not at hand.", "Attach its folder on the Data page, then check the map."
    )
    for (image_id,) in store.rows(
        "SELECT image_id FROM images WHERE sha256 = ? AND path IS NOT NULL ORDER BY image_id", [sha256]
    ):
        try:
            return image_to_ask(store, image_id).path
        except AppError as error:
            problem = error
    raise problem


def _correlation(real: Floats | None, other: Floats | None) -> float | None:
    if real is None or other is None or real.shape != other.shape:
        return None
    return rank_correlation(real, other)
