"""Promises of the frame that hold without a browser: pages, headers, images by id, errors."""

import base64
import hashlib
import io
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from starlette.requests import Request
from starlette.responses import Response
from streamlit import config
from streamlit.testing.v1 import AppTest

from backend.errors import AppError
from backend.services.images import ImageFile
from backend.store.store import Store
from pages.ui import disclaimer, image_routes
from pages.ui.errors import describe
from pages.ui.image_routes import image_url, original, preview, thumbnail
from pages.ui.resources import opened_store, the_store
from pages.ui.security import STREAMLIT_INDEX, content_security_policy, inline_script_hashes


def a_request(image_id: str, **headers: str) -> Request:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path_params": {"image_id": image_id}, "headers": pairs})


def text_of(response: Response) -> str:
    return bytes(response.body).decode()


@pytest.fixture
def frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a stored image with the id "frame": 400 × 200 pixels; every other id is unknown."""
    path = tmp_path / "frame.png"
    Image.new("RGB", (400, 200), "#803020").save(path)
    found = ImageFile(path, "image/png", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(image_routes, "the_store", lambda: None)
    monkeypatch.setattr(image_routes, "image_file", lambda store, image_id: {"frame": found}.get(image_id))
    return path


@pytest.fixture
def empty_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty store that the pages of this test open, and no other test."""
    path = tmp_path / "empty.duckdb"
    monkeypatch.setenv("PARALLAX_STORE", str(path))
    opened_store.clear()
    yield path
    opened_store.clear()


def test_the_first_visit_is_asked_and_then_sees_the_page(root: Path, empty_store: Path) -> None:
    app = AppTest.from_file(str(root / "pages/ui/main.py")).run()
    assert not app.exception
    assert [button.label for button in app.button] == ["I understand: research use only"]
    app.button[0].click().run()
    assert not app.exception
    assert "I understand: research use only" not in [button.label for button in app.button]


def test_the_sidebar_names_the_store_and_what_is_in_it(root: Path, empty_store: Path) -> None:
    app = AppTest.from_file(str(root / "pages/ui/main.py")).run()
    [panel] = [block.proto.body for block in app.sidebar.get("html")]
    assert "empty.duckdb" in panel
    assert panel.endswith("<br>empty</div>")


def test_the_line_names_its_purpose_the_version_and_the_licences() -> None:
    assert disclaimer.LINE == "Research use only, not for clinical decisions"
    assert "licence" in disclaimer.LICENCES


def test_every_option_of_the_config_file_is_one_that_streamlit_knows(root: Path) -> None:
    known = set(config.get_config_options())
    settings = tomllib.loads((root / ".streamlit/config.toml").read_text())
    assert {name for name in flattened(settings) if name not in known} == set()


def flattened(table: dict[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        flat |= flattened(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("server.address", "127.0.0.1"),
        ("server.allowedHosts", ["localhost", "127.0.0.1"]),
        ("server.enableCORS", True),
        ("server.enableXsrfProtection", True),
        ("server.enableStaticServing", False),
        ("server.showEmailPrompt", False),
        ("global.minCachedMessageSize", 1e9),
        ("browser.gatherUsageStats", False),
        ("client.showErrorDetails", "none"),
    ],
)
def test_the_server_starts_with_safe_settings(root: Path, option: str, value: object) -> None:
    assert flattened(tomllib.loads((root / ".streamlit/config.toml").read_text()))[option] == value


def test_no_font_or_theme_comes_from_outside(root: Path) -> None:
    assert "://" not in (root / ".streamlit/config.toml").read_text()


def test_inline_scripts_are_allowed_by_their_hash_alone() -> None:
    digest = base64.b64encode(hashlib.sha256(b"\n  run()\n").digest()).decode()
    html = "<script>\n  run()\n</script><script src='x.js'></script>"
    assert inline_script_hashes(html) == [f"'sha256-{digest}'"]
    assert len(inline_script_hashes(STREAMLIT_INDEX.read_text(encoding="utf-8"))) == 1


def test_the_policy_names_no_host_but_the_server() -> None:
    policy = content_security_policy("localhost:8501", ["'sha256-x'"])
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    hosts = {source for sources in directives.values() for source in sources.split() if "://" in source}
    assert hosts == {"ws://localhost:8501", "wss://localhost:8501"}
    assert directives["script-src"] == "'self' blob: 'unsafe-eval' 'sha256-x'"
    for closed in ("object-src", "base-uri", "frame-ancestors"):
        assert directives[closed] == "'none'"


def test_an_image_is_sent_as_it_is_stored_and_asked_about_each_time(frame: Path) -> None:
    response = original(a_request("frame"))
    assert response.body == frame.read_bytes()
    assert response.media_type == "image/png"
    assert response.headers["etag"] == f'"{hashlib.sha256(frame.read_bytes()).hexdigest()}"'
    assert response.headers["cache-control"] == "private, no-cache"
    assert "sandbox" in response.headers["content-security-policy"]


@pytest.mark.parametrize(("route", "suffix"), [(original, ""), (preview, "-160")])
def test_an_image_the_browser_already_has_is_not_sent_again(frame: Path, route: object, suffix: str) -> None:
    assert callable(route)
    etag = f'"{hashlib.sha256(frame.read_bytes()).hexdigest()}{suffix}"'
    response = route(a_request("frame", if_none_match=etag))
    assert response.status_code == 304
    assert response.body == b""


@pytest.mark.parametrize("route", [original, preview])
def test_another_picture_in_an_images_place_is_not_shown_as_that_image(frame: Path, route: object) -> None:
    assert callable(route)
    Image.new("RGB", (400, 200), "#000000").save(frame)
    response = route(a_request("frame"))
    assert response.status_code == 404
    assert "has changed since it was attached" in text_of(response)


def test_a_tiff_is_sent_as_png_pixel_for_pixel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "frame.tif"
    picture = Image.effect_noise((40, 20), 90).convert("RGB")
    picture.save(path)
    found = ImageFile(path, "image/tiff", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(image_routes, "the_store", lambda: None)
    monkeypatch.setattr(image_routes, "image_file", lambda store, image_id: found)
    response = original(a_request("frame"))
    assert response.media_type == "image/png"
    with Image.open(io.BytesIO(bytes(response.body))) as sent:
        assert sent.tobytes() == picture.tobytes()


@pytest.mark.parametrize("route", [original, preview])
def test_what_cannot_be_sent_is_said_in_plain_text(frame: Path, monkeypatch: pytest.MonkeyPatch, route: object) -> None:
    assert callable(route)
    unknown = route(a_request("../frame.png"))
    assert (unknown.status_code, text_of(unknown)) == (404, "No image has this id, or its file is not at hand.")

    def in_use() -> Store:
        raise AppError("The store is in use.", "Close the other program.")

    monkeypatch.setattr(image_routes, "the_store", in_use)
    busy = route(a_request("frame"))
    assert (busy.status_code, text_of(busy)) == (503, "The store is in use. Close the other program.")


def test_a_thumbnail_is_a_small_upright_jpeg(tmp_path: Path) -> None:
    turned = Image.new("RGB", (400, 200))
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turn a quarter to the right
    turned.save(tmp_path / "turned.jpg", exif=exif)
    (tmp_path / "small.jpg").write_bytes(thumbnail(tmp_path / "turned.jpg", "1"))
    with Image.open(tmp_path / "small.jpg") as small:
        assert (small.format, small.size) == ("JPEG", (80, 160))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "CMYK"])
def test_a_thumbnail_is_made_of_every_kind_of_image(tmp_path: Path, mode: str) -> None:
    path = tmp_path / f"{mode.replace(';', '')}.tiff"
    Image.new(mode, (40, 20)).save(path)
    assert thumbnail(path, mode).startswith(b"\xff\xd8")


def test_a_thumbnail_of_16_bit_grey_is_as_bright_as_the_original(tmp_path: Path) -> None:
    Image.new("I;16", (40, 20), 0x8000).save(tmp_path / "grey.png")
    (tmp_path / "small.jpg").write_bytes(thumbnail(tmp_path / "grey.png", "1"))
    with Image.open(tmp_path / "small.jpg") as small:
        assert small.getpixel((20, 10)) == pytest.approx((128, 128, 128), abs=2)


def test_a_file_that_is_no_image_has_no_thumbnail(frame: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame.write_bytes(b"not an image")
    found = ImageFile(frame, "image/png", hashlib.sha256(b"not an image").hexdigest())
    monkeypatch.setattr(image_routes, "image_file", lambda store, image_id: found)
    response = preview(a_request("frame"))
    assert (response.status_code, text_of(response)) == (404, "This image cannot be read.")


def test_an_id_cannot_leave_its_place_in_the_address() -> None:
    assert image_url("a/../b?c#d") == "/img/a%2F..%2Fb%3Fc%23d"


def test_the_details_of_a_bug_hold_its_traceback_and_those_of_an_app_error_do_not() -> None:
    try:
        raise KeyError("polyp")
    except KeyError as error:
        details = describe(error)
    assert details.startswith("Parallax ")
    assert "Traceback" in details and "KeyError: 'polyp'" in details

    words = describe(AppError("The file is empty.", "Choose another one."))
    assert "The file is empty.\nChoose another one." in words
    assert "Traceback" not in words


def test_a_store_taken_away_while_it_is_open_is_noticed(empty_store: Path) -> None:
    the_store()
    empty_store.unlink()
    with pytest.raises(AppError, match="was deleted or moved"):
        the_store()
