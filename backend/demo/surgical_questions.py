"""The scene graph of a laparoscopy-like frame, as SurgCheck's generator reads it."""

__all__ = ["scene_of"]

from backend.demo.laparoscopy import SurgicalFrame
from backend.demo.laparoscopy.coco import as_coco
from backend.surgcheck.scene_graphs import SceneGraph, read_scene_graphs


def scene_of(drawn: SurgicalFrame, file_name: str) -> SceneGraph:
    """Return one frame's scene graph; annotation ids count its annotations from 1."""
    [scene] = read_scene_graphs(as_coco([(file_name, drawn)]))
    return scene
