"""One write path: nothing but the operations meant for it moves a ref or writes a file of a store."""

from __future__ import annotations

import ast
from pathlib import Path

import memoryreview

PACKAGE = Path(memoryreview.__file__).parent
WRITERS = {"advance", "write_commit", "Batch"}


def _calls(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def test_only_apply_and_adopt_write_commits() -> None:
    callers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "baseline" not in path.parts and WRITERS & _calls(path)
    }

    assert callers == {"review/operations/adopt.py", "review/operations/apply.py"}


def test_only_erasing_rewrites_a_history() -> None:
    """A history without a text is another one: no commit on the head could make it."""
    importers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "rewrite" in _imported(path) and "baseline" not in path.parts
    }

    assert importers == {f"review/operations/{name}.py" for name in ("erase", "erasures")}


def test_only_operations_name_the_worktree() -> None:
    importers = {
        path.relative_to(PACKAGE).parts[:2]
        for path in PACKAGE.rglob("*.py")
        if "memoryreview.baseline.worktree" in path.read_text() and "baseline" not in path.parts
    }

    assert importers == {("review", "operations")}


def test_no_agent_door_imports_decisions() -> None:
    doors = [*(PACKAGE / "review" / "api").rglob("*.py"), *(PACKAGE / "connect").rglob("*.py")]
    commands = (PACKAGE / "review" / "management").rglob("*.py")

    deciding = {"decide", "restore", "rollback", "erase", "erasures"}
    reaching = {path.name for path in [*doors, *commands] if deciding & _imported(path)}

    assert reaching == set()


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {part for alias in node.names for part in alias.name.split(".")}
    return names
