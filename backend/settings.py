"""All settings: name, default, and what each is for. Read from the environment, once a use.

Nothing else in Parallax reads the environment, except keys of remote VLMs, which are
never kept.
"""

__all__ = ["DATA", "ROOT", "SETTINGS", "Setting", "import_roots", "setting", "store_path"]

import os
from dataclasses import dataclass
from pathlib import Path

from backend.errors import AppError

ROOT = Path(__file__).resolve().parent.parent
"""The project's top folder."""

DATA = ROOT / "data"
"""Shipped data, and the place of the default store."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable."""

    name: str
    default: str
    help: str


SETTINGS = (
    Setting("PARALLAX_STORE", str(DATA / "parallax.duckdb"), "The store: one DuckDB file."),
    Setting(
        "PARALLAX_ROOTS",
        str(DATA),
        f"Folders the Data page may read files and images from, separated by '{os.pathsep}'.",
    ),
    Setting("PARALLAX_MODELS", "", "A list of your own VLMs, written like data/models.yaml."),
    Setting("PARALLAX_DEMO", "on", "off: the app does not fill an empty store with the built-in data set."),
    Setting("PARALLAX_DEBUG", "", "Anything here: the command line shows where a bug happened."),
)


def setting(name: str) -> str:
    """Return a setting's value.

    Raises:
        AppError: There is no setting of that name.
    """
    for known in SETTINGS:
        if known.name == name:
            return os.environ.get(name) or known.default
    raise AppError(f"There is no setting {name}.", f"Known: {', '.join(s.name for s in SETTINGS)}.")


def store_path() -> Path:
    """Return where the store lies."""
    return Path(setting("PARALLAX_STORE")).expanduser()


def import_roots() -> tuple[Path, ...]:
    """Return the folders under which the Data page may open a path."""
    parts = setting("PARALLAX_ROOTS").split(os.pathsep)
    return tuple(Path(part).expanduser().resolve() for part in parts if part)
