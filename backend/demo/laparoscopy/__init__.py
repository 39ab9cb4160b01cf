"""Laparoscopy-like frames of a gallbladder operation, each with its full scene graph."""

from backend.demo.laparoscopy.coco import as_coco
from backend.demo.laparoscopy.drawing import draw_laparoscopy
from backend.demo.laparoscopy.scene import Annotation, SurgicalFrame

__all__ = ["Annotation", "SurgicalFrame", "as_coco", "draw_laparoscopy"]
