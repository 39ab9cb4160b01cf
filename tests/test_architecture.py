"""Who may import whom, and what nobody may import at module level."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

LAYERS = (
    {"errors"},
    {"settings", "domain"},
    {"endoca", "surgcheck", "verimap"},
    {"vlm", "demo"},
    {"store"},
    {"services"},
    {"cli", "__main__"},
)
"""From the ground up: a layer imports from itself and from those before it."""

SYSTEMS = {"endoca", "surgcheck", "verimap"}

OUTSIDE_LAYERS = {"figures": {"errors", "domain", "figures"}}
"""Figures see the domain, and of the systems their metrics' and outcomes' words alone."""

FIGURES_MAY_SEE = {"metrics", "outcomes", "proxies", "quadrants", "vocabulary"}

PYTHON_FILES = [
    path
    for top in ("app.py", "backend", "pages")
    for path in ([ROOT / top] if top.endswith(".py") else sorted((ROOT / top).rglob("*.py")))
]


def module_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, those under ``if TYPE_CHECKING`` left out."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, ast.If):
            if "TYPE_CHECKING" not in ast.dump(statement.test):
                waiting.extend(statement.body)
            waiting.extend(statement.orelse)
        elif isinstance(statement, ast.Try | ast.With):
            waiting.extend(statement.body)


def imported(statements: Iterator[ast.stmt] | Iterator[ast.AST]) -> set[str]:
    """Return the full names that import statements among ``statements`` name."""
    names: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def tree_of(path: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def part_of(path: Path) -> str:
    """Return the backend part a file belongs to: ``store`` for ``backend/store/queries.py``."""
    return path.relative_to(ROOT / "backend").parts[0].removesuffix(".py")


def backend_parts(names: set[str]) -> set[str]:
    """Return the backend parts that imported names belong to; ``from backend import x`` names ``x``."""
    return {name.split(".")[1] for name in names if name.startswith("backend.")} - {"__version__"}


def layer_of(part: str) -> int:
    """Return a part's place from the ground up."""
    return next(place for place, parts in enumerate(LAYERS) if part in parts)


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
class TestImports:
    """One promise a method, checked for each file."""

    def test_a_layer_imports_only_from_the_layers_below_it(self, path: Path) -> None:
        if not path.is_relative_to(ROOT / "backend") or part_of(path) == "__init__":
            return
        part = part_of(path)
        used = backend_parts(imported(ast.walk(tree_of(path))))
        if part in OUTSIDE_LAYERS:
            assert used <= OUTSIDE_LAYERS[part] | SYSTEMS
            return
        assert all(layer_of(other) <= layer_of(part) for other in used), f"{part} imports {used}"

    def test_the_three_systems_never_import_each_other(self, path: Path) -> None:
        if not path.is_relative_to(ROOT / "backend") or part_of(path) not in SYSTEMS:
            return
        assert backend_parts(imported(ast.walk(tree_of(path)))) & SYSTEMS <= {part_of(path)}

    def test_figures_see_of_the_systems_only_words_and_metrics(self, path: Path) -> None:
        if not path.is_relative_to(ROOT / "backend" / "figures"):
            return
        for name in imported(ast.walk(tree_of(path))):
            parts = name.split(".")
            if len(parts) > 2 and parts[0] == "backend" and parts[1] in SYSTEMS:
                assert parts[2] in FIGURES_MAY_SEE, name

    def test_only_the_app_and_the_pages_import_streamlit(self, path: Path) -> None:
        if path.is_relative_to(ROOT / "backend"):
            assert not {n for n in imported(ast.walk(tree_of(path))) if n.split(".")[0] == "streamlit"}

    def test_torch_and_transformers_are_never_imported_at_module_level(self, path: Path) -> None:
        heavy = {"torch", "transformers", "torchvision", "accelerate", "peft"}
        assert not {n for n in imported(module_level(tree_of(path))) if n.split(".")[0] in heavy}

    def test_pages_hold_no_sql_and_no_class(self, path: Path) -> None:
        if path.parent != ROOT / "pages":
            return
        tree = tree_of(path)
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        assert not {n for n in imported(ast.walk(tree)) if n.split(".")[0] == "duckdb"}
        assert "SELECT " not in path.read_text("utf-8")

    def test_nothing_is_unpickled(self, path: Path) -> None:
        assert not {n for n in imported(ast.walk(tree_of(path))) if n.split(".")[0] in {"pickle", "dill", "joblib"}}
