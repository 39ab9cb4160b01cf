"""Which drawings a frame can have for people around one thing in it, and which of them is on at first."""

__all__ = ["NOT_SEEN", "SEEN", "cue_overlays", "layers_of", "pair_layers", "told_position"]

from collections.abc import Mapping

from backend.services.surgcheck_cases import PairCase
from backend.surgcheck.boxes import Box
from backend.surgcheck.grounding_cues import Arrow, Outline, Position, arrow_cue, box_cue, position_word
from backend.surgcheck.question_texts import cue_phrase
from backend.surgcheck.scene_graphs import Hand, SceneGraph
from backend.surgcheck.tasks import Cue
from pages.ui.cue_overlays import Overlay, arrow_overlay, box_overlay, grid_overlay, hands_overlay, scene_overlay
from pages.ui.viewer import Layer

SEEN, NOT_SEEN = "Drawn in for the VLM:", "Not seen by the VLM:"


def pair_layers(pair: PairCase) -> tuple[Layer, ...]:
    """Return the layers of a pair's frame, that of its own cue on; none where the frame's size is not known.

    Where nothing is known of the box, as with the release's own files, the position is read from the question.
    """
    width, height = pair.frame.width, pair.frame.height
    if width is None or height is None:
        return ()
    overlays = cue_overlays(
        width,
        height,
        pair.scene,
        pair.box,
        pair.hand,
        told_position(pair.less_biased.question) if pair.cue is Cue.POSITION else None,
        cue=pair.cue,
        drawing=pair.drawing,
    )
    return layers_of(overlays, pair.cue)


def layers_of(overlays: Mapping[Cue, Overlay], cue: Cue | None) -> tuple[Layer, ...]:
    """Return overlays as the viewer's layers, what the VLM sees first; the one of ``cue`` is on."""
    layers = [
        Layer(overlay.name, overlay.url, name is cue and cue is not Cue.NONE, SEEN if overlay.is_seen else NOT_SEEN)
        for name, overlay in overlays.items()
    ]
    return tuple(sorted(layers, key=lambda layer: layer.group != SEEN))


def cue_overlays(
    width: int,
    height: int,
    scene: SceneGraph | None,
    box: Box | None,
    hand: Hand | None,
    told: Position | None = None,
    *,
    cue: Cue | None = None,
    drawing: Outline | Arrow | None = None,
) -> dict[Cue, Overlay]:
    """Return an overlay a cue that can be drawn; the whole scene graph stands under `Cue.NONE`.

    A scene graph of another size than the frame would lie in the wrong place, and is left out.

    Args:
        width: Of the frame, in pixels.
        height: Of the frame, in pixels.
        scene: What is annotated in it; None where that is not known.
        box: Of what is pointed at; None where it is not known, or nothing is.
        hand: Of the tool pointed at; None where it is not known, or no tool is.
        told: The cell that is told in words, for where the box is not known.
        cue: The one that is given to the VLM; None where none is yet.
        drawing: What is drawn into the VLM's picture; None where nothing is.
    """
    if scene is not None and (scene.width, scene.height) != (width, height):
        scene = None
    found: dict[Cue, Overlay] = {}
    position = told
    if box is not None:
        others = [thing.box for thing in scene.things if thing.box != box] if scene else []
        outline = drawing if isinstance(drawing, Outline) else box_cue(box, width, height)
        arrow = drawing if isinstance(drawing, Arrow) else arrow_cue(box, width, height, others)
        word = position_word(box, width, height)
        if isinstance(outline, Outline):
            found[Cue.BOX] = box_overlay(outline, width, height, is_seen=cue is Cue.BOX)
        if isinstance(arrow, Arrow):
            found[Cue.ARROW] = arrow_overlay(arrow, width, height, is_seen=cue is Cue.ARROW)
        position = word if isinstance(word, Position) else None
    if position is not None:
        found[Cue.POSITION] = grid_overlay(position, width, height)
    if scene is not None:
        if scene.tools:
            found[Cue.PERIPHRASIS] = hands_overlay(scene.tools, hand, width, height)
        found[Cue.NONE] = scene_overlay(scene)
    return found


def told_position(question: str) -> Position | None:
    """Return the position that a question tells, in the release's words; None where it tells none."""
    return next((place for place in Position if cue_phrase(Cue.POSITION, place) in question), None)
