"""What stands around every response: known hosts only, and no resource from anywhere else.

The promise: a page of Parallax loads nothing from, and sends nothing to, any host but the
server it came from, whatever text a data set holds; and a web site that points its own
name at this server (DNS rebinding) is refused.
"""

__all__ = ["MIDDLEWARE", "content_security_policy", "inline_script_hashes"]

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAMLIT_INDEX = Path(st.__file__).parent / "static" / "index.html"
"""The one HTML document of the app; its inline script is allowed by hash."""

INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def inline_script_hashes(html: str) -> list[str]:
    """Return the CSP source (``'sha256-…'``) of each inline script of a document."""
    digests = (hashlib.sha256(script.encode()).digest() for script in INLINE_SCRIPT.findall(html))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def content_security_policy(host: str, script_hashes: Sequence[str]) -> str:
    """Return the policy for a response to ``host`` (name and port, as the browser sent it).

    ``blob:`` scripts are the inline components; plotly's WebGL traces compile their drawing
    code and stay grey without 'unsafe-eval'; styles are written into the page by Streamlit
    as it runs. The web socket is named beside 'self' because not every browser counts it in.
    """
    return "; ".join(
        (
            "default-src 'self'",
            " ".join(("script-src 'self' blob: 'unsafe-eval'", *script_hashes)),
            "worker-src 'self' blob:",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            f"connect-src 'self' ws://{host} wss://{host}",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


class SecurityHeaders:
    """Adds the headers to every HTTP response; a route that sets one itself keeps its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.script_hashes = inline_script_hashes(STREAMLIT_INDEX.read_text(encoding="utf-8"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "localhost")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", content_security_policy(host, self.script_hashes))
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Referrer-Policy", "no-referrer")
                headers.setdefault("X-Frame-Options", "DENY")
            await send(message)

        await self.app(scope, receive, send_with_headers)


def known_hosts_only(app: ASGIApp) -> ASGIApp:
    """Refuse a Host that ``server.allowedHosts`` does not name; an empty list allows all.

    Streamlit itself applies that list to its web socket alone; images and the page's
    first document need it too.
    """
    hosts = st.get_option("server.allowedHosts") or ["*"]
    return TrustedHostMiddleware(app, allowed_hosts=hosts, www_redirect=False)


MIDDLEWARE = [Middleware(known_hosts_only), Middleware(SecurityHeaders)]
"""In this order: a foreign host is refused before anything of it is repeated in a header."""
