"""Promises of what is drawn over a frame for people: where it lies, what it says, and whether the VLM sees it."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from backend.services.surgcheck_cases import PairCase, load_pair
from backend.surgcheck.boxes import Box
from backend.surgcheck.cue_drawing import RED
from backend.surgcheck.grounding_cues import Arrow, Outline, Position, arrow_cue, box_cue
from backend.surgcheck.scene_graphs import Hand, SceneGraph
from backend.surgcheck.tasks import Cue
from pages.ui.cue_overlays import (
    CUE_RED,
    Overlay,
    arrow_overlay,
    box_overlay,
    grid_overlay,
    hands_overlay,
    scene_overlay,
)
from pages.ui.pair_overlays import NOT_SEEN, SEEN, pair_layers, told_position
from tests.services.pair_store import ARROW_ACTION, PAIRS, SCENE, make_pair_store
from tests.surgcheck.scenes import FEW, HEIGHT, WIDTH, scene_graphs

SVG = "{http://www.w3.org/2000/svg}"


def parts(overlay: Overlay, kind: str) -> list[ET.Element]:
    return ET.fromstring(overlay.svg).findall(f"{SVG}{kind}")


def numbers(element: ET.Element, *names: str) -> list[float]:
    return [float(element.attrib[name]) for name in names]


def test_a_red_box_lies_where_the_cue_has_it() -> None:
    outline = box_cue(Box(100, 50, 200, 80), WIDTH, HEIGHT)
    assert isinstance(outline, Outline)
    [drawn] = parts(box_overlay(outline, WIDTH, HEIGHT, is_seen=True), "rect")
    assert numbers(drawn, "x", "y", "width", "height", "stroke-width") == [100, 50, 200, 80, 4]
    assert drawn.attrib["stroke"] == CUE_RED == "#{:02x}{:02x}{:02x}".format(*RED)


def test_a_red_arrow_has_the_corners_that_the_picture_has() -> None:
    arrow = arrow_cue(Box(100, 50, 200, 80), WIDTH, HEIGHT)
    assert isinstance(arrow, Arrow)
    [drawn] = parts(arrow_overlay(arrow, WIDTH, HEIGHT, is_seen=True), "polygon")
    points = [tuple(map(float, point.split(","))) for point in drawn.attrib["points"].split()]
    assert points == [(300, 90), (320, 102), (320, 94.5), (380, 94.5), (380, 85.5), (320, 85.5), (320, 78)]


@pytest.mark.parametrize(
    ("position", "corner"),
    [("top-left", [0, 0]), ("center", [300, 160]), ("bottom", [300, 320]), ("right", [600, 160])],
)
def test_the_grid_lights_the_cell_that_the_word_names(position: str, corner: list[float]) -> None:
    overlay = grid_overlay(Position(position), 900, 480)
    [lit] = parts(overlay, "rect")
    assert numbers(lit, "x", "y", "width", "height") == [*corner, 300, 160]
    assert [text.text for text in parts(overlay, "text")] == [position]
    assert not overlay.is_seen


def test_hands_label_every_tool_and_light_the_named_one() -> None:
    overlay = hands_overlay(SCENE.tools, Hand.RIGHT, WIDTH, HEIGHT)
    assert [text.text for text in parts(overlay, "text")] == ["operator’s left hand", "operator’s right hand"]
    assert ["fill" in drawn.attrib for drawn in parts(overlay, "rect")] == [False, True]
    assert not overlay.is_seen


def test_the_scene_graph_shows_every_thing_with_what_it_does() -> None:
    overlay = scene_overlay(SCENE)
    assert [text.text for text in parts(overlay, "text")] == [
        "gallbladder",
        "cystic duct",
        "grasper: retract gallbladder",
        "hook: dissect cystic duct",
    ]
    assert len(parts(overlay, "rect")) == 4


@FEW
@given(scene_graphs())
def test_every_overlay_is_sound_xml_that_loads_nothing(scene: SceneGraph) -> None:
    for overlay in (scene_overlay(scene), hands_overlay(scene.tools, Hand.LEFT, scene.width, scene.height)):
        root = ET.fromstring(overlay.svg)
        assert root.attrib["viewBox"] == f"0 0 {scene.width} {scene.height}"
        assert not re.search(r"href|<script|<image|<style|url\(", overlay.svg)
        assert overlay.url.startswith("data:image/svg+xml;base64,")
        assert "nan" not in overlay.svg


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, PairCase]]:
    with make_pair_store(tmp_path_factory.mktemp("pairs") / "pairs.duckdb") as store:
        yield {unit: load_pair(store, unit) for unit in PAIRS}


def test_the_cue_of_the_pair_is_on_at_first_and_only_that_one(pairs: dict[str, PairCase]) -> None:
    names = {Cue.BOX: "Red box", Cue.ARROW: "Red arrow", Cue.POSITION: "Position grid", Cue.PERIPHRASIS: "Hands"}
    for pair in pairs.values():
        if pair.frame.at_hand:
            shown = [layer.label for layer in pair_layers(pair) if layer.is_shown]
            assert shown == ([names[pair.cue]] if pair.cue in names else [])


def test_only_a_box_or_an_arrow_that_the_vlm_was_given_is_called_drawn_in_for_it(pairs: dict[str, PairCase]) -> None:
    for pair in pairs.values():
        for layer in pair_layers(pair):
            is_given = (pair.cue, layer.label) in ((Cue.BOX, "Red box"), (Cue.ARROW, "Red arrow"))
            assert layer.group == (SEEN if is_given else NOT_SEEN)
    labels = [layer.label for layer in pair_layers(pairs[ARROW_ACTION])]
    assert labels == ["Red arrow", "Red box", "Position grid", "Hands", "Scene graph"]


def test_without_a_box_the_position_is_read_from_the_question(pairs: dict[str, PairCase]) -> None:
    pair = next(pair for pair in pairs.values() if pair.cue is Cue.POSITION and pair.hand is Hand.LEFT)
    bare = replace(pair, box=None, scene=None, annotation_id=None)
    assert [(layer.label, layer.is_shown) for layer in pair_layers(bare)] == [("Position grid", True)]
    assert pair_layers(replace(bare, cue=Cue.ARROW)) == ()
    assert told_position("Which tool is located at the top-left of the image?") is Position.TOP_LEFT
    assert told_position("Which tool is located at the top of the image?") is Position.TOP
    assert told_position("Which tool is in the red box?") is None


def test_a_scene_graph_of_another_size_than_the_frame_is_not_drawn(pairs: dict[str, PairCase], tmp_path: Path) -> None:
    pair = pairs[ARROW_ACTION]
    other = replace(pair, scene=replace(SCENE, width=1280, height=720))
    assert "Scene graph" not in [layer.label for layer in pair_layers(other)]
    assert pair_layers(replace(pair, frame=replace(pair.frame, width=None))) == ()
