"""One write path: nothing but the operations meant for it moves a ref or writes a file of a store."""

from __future__ import annotations

import ast
from pathlib import Path

import memoryreview

PACKAGE = Path(memoryreview.__file__).parent
WRITERS = {"advance", "write_commit"}


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


def test_only_operations_name_the_worktree() -> None:
    importers = {
        path.relative_to(PACKAGE).parts[:2]
        for path in PACKAGE.rglob("*.py")
        if "memoryreview.baseline.worktree" in path.read_text() and "baseline" not in path.parts
    }

    assert importers == {("review", "operations")}


def test_no_agent_door_imports_decisions() -> None:
    doors = [*(PACKAGE / "review" / "api").rglob("*.py"), *(PACKAGE / "connect").rglob("*.py")]

    assert [path.name for path in doors if "decide" in path.read_text() or "rollback" in path.read_text()] == []
