"""Frames' scene graphs as one COCO file in the layout of Endoscapes-SG201."""

__all__ = ["as_coco"]

from collections.abc import Iterable
from typing import Any

from backend.demo.laparoscopy.scene import CATEGORIES, HEIGHT, WIDTH, Annotation, SurgicalFrame
from backend.surgcheck.scene_graphs import ANATOMIES


def as_coco(frames: Iterable[tuple[str, SurgicalFrame]]) -> dict[str, Any]:
    """Return the content of an annotation file.

    Ids count from 1 in the order given. An area is that of the box, since no segmentation is told.

    Args:
        frames: File names, "{video}_{frame}.jpg" or another ending, and what they show.

    Raises:
        ValueError: A file name does not start with a video's number and an underscore.
    """
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for image_id, (name, surgical) in enumerate(frames, 1):
        images.append(
            {
                "id": image_id,
                "file_name": name,
                "width": WIDTH,
                "height": HEIGHT,
                "video_id": int(name.split("_")[0]),
                "is_det_keyframe": True,
                "is_ds_keyframe": True,
                "ds": list(surgical.cvs),
            }
        )
        for annotation in surgical.annotations:
            annotations.append({"id": len(annotations) + 1, "image_id": image_id, **described(annotation)})
    categories = [
        {"id": place, "name": name, "supercategory": "anatomy" if name in ANATOMIES else "tool"}
        for place, name in enumerate(CATEGORIES, 1)
    ]
    info = {"description": "Synthetic frames in the layout of Endoscapes-SG201. Nothing in them was ever photographed."}
    return {"info": info, "images": images, "annotations": annotations, "categories": categories}


def described(annotation: Annotation) -> dict[str, Any]:
    """Return the fields of one annotation; a tool has its triplet and hand beside its box."""
    x, y, width, height = annotation.thing.box
    fields: dict[str, Any] = {
        "category_id": CATEGORIES.index(annotation.category) + 1,
        "bbox": [x, y, width, height],
        "area": width * height,
        "iscrowd": 0,
    }
    if annotation.is_tool:
        fields["triplet"] = {"tool": annotation.category, "verb": annotation.verb, "target": annotation.target}
        fields["oper"] = annotation.hand
    return fields
