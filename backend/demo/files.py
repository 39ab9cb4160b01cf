"""What the test split's files and folders are called, inside the demo's folder."""

__all__ = ["ENDOSCOPY", "LAPAROSCOPY", "MANIFEST", "SCENE_GRAPHS", "VERIFICATION"]

ENDOSCOPY, LAPAROSCOPY = "endoscopy", "laparoscopy"
"""Folders of the frames."""

MANIFEST = "demo.jsonl.gz"
"""EndoCA manifest of the endoscopy-like frames; its name is the suite's."""

VERIFICATION = "verification.jsonl.gz"
"""Answers for a verifier to judge."""

SCENE_GRAPHS = "scene_graphs.json.gz"
"""COCO file of the laparoscopy-like frames."""
