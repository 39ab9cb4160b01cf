"""Images by id over HTTP: the original bytes, a small preview for lists, a pair's picture with its cue drawn in.

The promise: only ids that the store knows are answered, a path never is; what arrives is the
file that was checked and hashed when it was attached, and no other that now lies in its place.
A browser keeps what it fetched and asks each time whether it still holds.
"""

__all__ = ["IMAGE_ROUTES", "cue_url", "image_url", "thumbnail", "thumbnail_url"]

import hashlib
import io
import warnings
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from PIL import Image, ImageOps
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from backend.errors import AppError
from backend.services.cue_pictures import drawn_picture
from backend.services.images import ImageFile, image_file
from pages.ui.resources import the_store

THUMBNAIL_SIDE = 160
"""Longest side of a preview, in pixels."""

THUMBNAILS_KEPT = 2048
"""Previews held in memory: about 5 kB each, so some 10 MB."""

HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}
"""An image opened by itself may run nothing."""

CHANGED = "The file of this image has changed since it was attached. Attach its folder again on the Data page."


def image_url(image_id: str) -> str:
    """Return the address of an image's original bytes."""
    return f"/img/{quote(image_id, safe='')}"


def thumbnail_url(image_id: str) -> str:
    """Return the address of an image's preview."""
    return f"/thumb/{quote(image_id, safe='')}"


def cue_url(unit_id: str) -> str:
    """Return the address of a pair's picture, drawn from its frame."""
    return f"/cue/{quote(unit_id, safe='')}"


def original(request: Request) -> Response:
    """Answer ``GET /img/{image_id}`` with the stored bytes, 304 where the browser has them, else 404.

    Browsers do not draw TIFF: it is sent as PNG, pixel for pixel.
    """
    found = stored(request)
    if isinstance(found, Response):
        return found
    headers = {**HEADERS, "ETag": f'"{found.sha256}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    content = checked_bytes(found)
    if content is None:
        return PlainTextResponse(CHANGED, status_code=404)
    if found.media_type == "image/tiff":
        return Response(as_png(content), media_type="image/png", headers=headers)
    return Response(content, media_type=found.media_type, headers=headers)


def preview(request: Request) -> Response:
    """Answer ``GET /thumb/{image_id}`` with a JPEG of at most 160 pixels a side, 304 or 404."""
    found = stored(request)
    if isinstance(found, Response):
        return found
    headers = {**HEADERS, "ETag": f'"{found.sha256}-{THUMBNAIL_SIDE}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if checked_bytes(found) is None:
        return PlainTextResponse(CHANGED, status_code=404)
    try:
        content = thumbnail(found.path, found.sha256)
    except (OSError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return PlainTextResponse("This image cannot be read.", status_code=404)
    return Response(content, media_type="image/jpeg", headers=headers)


def cued(request: Request) -> Response:
    """Answer ``GET /cue/{unit_id}`` with a pair's frame with its cue drawn in, as PNG, 304 or 404."""
    try:
        content = drawn_picture(the_store(), request.path_params["unit_id"])
    except AppError as error:
        return PlainTextResponse(str(error), status_code=503)
    if content is None:
        return PlainTextResponse("No pair with a drawn cue has this id, or its frame is not at hand.", status_code=404)
    headers = {**HEADERS, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="image/png", headers=headers)


def checked_bytes(file: ImageFile) -> bytes | None:
    """Return a file's bytes; None where they are no longer those that were attached."""
    content = file.path.read_bytes()
    return content if hashlib.sha256(content).hexdigest() == file.sha256 else None


def as_png(content: bytes) -> bytes:
    """Return the first picture of a TIFF file as PNG, upright."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(content), formats=("TIFF",)) as image:
        ImageOps.exif_transpose(image).save(buffer, "PNG")
    return buffer.getvalue()


def stored(request: Request) -> ImageFile | Response:
    """Return the file asked for, or the plain answer that says why there is none."""
    try:
        found = image_file(the_store(), request.path_params["image_id"])
    except AppError as error:
        return PlainTextResponse(str(error), status_code=503)
    return found or PlainTextResponse("No image has this id, or its file is not at hand.", status_code=404)


@lru_cache(maxsize=THUMBNAILS_KEPT)
def thumbnail(path: Path, sha256: str) -> bytes:
    """Return a JPEG preview of an image file, upright.

    Of 16-bit grey the upper eight bits are shown, as a browser does with the original.

    Args:
        path: The image file.
        sha256: Of its bytes; part of the key, so that a replaced file is drawn anew.

    Raises:
        OSError: The file is not an image that Pillow reads.
        Image.DecompressionBombError: It has more pixels than are safe to open.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path) as image:
            image.draft("RGB", (2 * THUMBNAIL_SIDE, 2 * THUMBNAIL_SIDE))
            small = ImageOps.exif_transpose(image)
            small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
            buffer = io.BytesIO()
            if small.mode.startswith("I;16"):
                small = small.point(lambda value: value / 256, "L")
            small.convert("RGB").save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


IMAGE_ROUTES = [
    Route("/img/{image_id:path}", original, methods=["GET"]),
    Route("/thumb/{image_id:path}", preview, methods=["GET"]),
    Route("/cue/{unit_id:path}", cued, methods=["GET"]),
]
"""Ids take the whole rest of the path: what is not an id ends here, not at Streamlit's page."""
