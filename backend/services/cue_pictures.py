"""Pictures with a cue drawn in, made from a frame where none is at hand."""

__all__ = ["cue_picture", "drawn_picture"]

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from backend.errors import AppError
from backend.services.images import image_file
from backend.store.store import Store
from backend.surgcheck.grounding_cues import Arrow, Outline
from backend.surgcheck.stored_scenes import load_drawing

QUICK = 1
"""PNG compression: a quarter of the usual one's time for a quarter more bytes."""


def cue_picture(frame: Path, drawing: Outline | Arrow | None) -> bytes:
    """Return a copy of a frame with a cue drawn in, as PNG: the same bytes for the same frame and cue.

    Args:
        frame: The image file.
        drawing: In the frame's pixels, upright; None draws nothing.

    Raises:
        AppError: The file cannot be read.
    """
    from backend.surgcheck.cue_drawing import draw_cue  # OpenCV takes its time, and no page begins with it

    try:
        with Image.open(frame) as image:
            pixels = np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise AppError(
            f"The frame {frame.name} cannot be read.", "Attach its folder again on the Data page."
        ) from error
    buffer = io.BytesIO()
    Image.fromarray(draw_cue(pixels, drawing) if drawing else pixels).save(buffer, "PNG", compress_level=QUICK)
    return buffer.getvalue()


def drawn_picture(store: Store, unit_id: str) -> bytes | None:
    """Return the picture of a pair, drawn now; None where its drawing is not known or its frame is not at hand.

    Raises:
        AppError: The frame's file cannot be read.
    """
    found = store.rows(
        "SELECT u.image_id, p.drawing FROM units u JOIN pairs p USING (unit_id) "
        "WHERE u.unit_id = ? AND p.drawing IS NOT NULL",
        [unit_id],
    )
    if not found:
        return None
    [(image_id, drawing)] = found
    file = image_file(store, image_id)
    return cue_picture(file.path, load_drawing(drawing)) if file else None
