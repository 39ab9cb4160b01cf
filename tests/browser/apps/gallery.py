"""A test-only server: the shared parts of the pages, with drawn images."""

import io

import streamlit as st
from PIL import Image, ImageDraw
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.errors import show_error
from pages.ui.security import MIDDLEWARE


def drawn_image(request: Request) -> Response:
    """Answer ``/img/drawn``: 640 × 400 pixels, a grey wedge with a single white pixel at (320, 200).

    ``/img/long`` is a strip of it, 640 × 40.
    """
    name = request.path_params["image_id"]
    if name not in ("drawn", "long"):
        return Response(status_code=404)
    image = Image.new("RGB", (640, 400), "#2a1512")
    draw = ImageDraw.Draw(image)
    for step in range(32):
        draw.rectangle((step * 20, 300, step * 20 + 19, 399), fill=(step * 8,) * 3)
    draw.ellipse((200, 90, 340, 210), fill="#b5603f", outline="#e0a080", width=3)
    image.putpixel((320, 200), (255, 255, 255))
    if name == "long":
        image = image.crop((0, 180, 640, 220))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return Response(buffer.getvalue(), media_type="image/png")


app = st.App(
    "gallery_page.py",
    routes=[Route("/img/{image_id:path}", drawn_image)],
    middleware=MIDDLEWARE,
    on_script_error=show_error,
)
