"""Sample folders as trees, and short forms to build and check others."""

from __future__ import annotations

from pathlib import Path

from memoryreview.core import formats
from memoryreview.core.model import FormatName, Problem

CORPORA = Path(__file__).parents[2] / "fixtures" / "corpora"


def folder(name: str) -> dict[str, bytes]:
    root = CORPORA / name
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and path.name != "README.md"]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def tree(**documents: str) -> dict[str, bytes]:
    return {f"{name.replace('__', '/')}.md": text.encode() for name, text in documents.items()}


def lint(documents: dict[str, bytes], name: FormatName | None = None) -> list[tuple[str, str, int | None]]:
    return [(problem.kind, problem.path, problem.line) for problem in problems(documents, name)]


def problems(documents: dict[str, bytes], name: FormatName | None = None) -> tuple[Problem, ...]:
    return formats.of(name or formats.detect(documents)).lint(documents)


def topic(name: str = "n", body: str = "Body.") -> str:
    return f"---\nname: {name}\ndescription: d\nmetadata: \n  type: project\n---\n\n{body}\n"
