"""Signs of trouble that other tools leave in a folder: merge markers, conflict copies, tables broken by pasted text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from memoryreview.core import markdown
from memoryreview.core.markdown import Place
from memoryreview.core.text import split_lines, undecodable_at

from .base import basename, directory, stem

_MERGE_MARK = re.compile(rb"(<{7}|={7}|>{7})(?:[ \t].*)?", re.DOTALL)
_COPY_WORD = "conflict|konflikt|conflit|conflicto|conflitto|競合|冲突|衝突|충돌"
_CONFLICT_STEMS = (
    re.compile(r"(?P<stem>.+)\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Za-z0-9]+)?"),
    re.compile(rf"(?P<stem>.+?) ?\([^()]*(?:{_COPY_WORD})[^()]*\)", re.IGNORECASE),
    re.compile(rf"(?P<stem>.+?)[._ -](?:{_COPY_WORD})[._ -]?[0-9T_.-]{{6,}}", re.IGNORECASE),
)
_COPY_NAME = re.compile(
    r"conflicted copy|conflict copy"
    r"|\.sync-conflict-|[ _.-]conflict(?:ed)?\b.{0,40}\d"
    r"|\(conflict|~conflict|konfliktkopie|in konflikt stehende kopie|copie en conflit|copia en conflicto"
    r"|冲突(?:的)?副本|衝突|競合コピー|충돌",
    re.IGNORECASE,
)
_NUMBERED_COPY = re.compile(r"(?P<stem>.+) (?:\([0-9]{1,3}\)|[2-9])")
_MAX_ROW_LINES = 400
_FIRST_CELL = re.compile(r"\|[ \t]*(?:\[([^\[\]]{1,200})\]|([^|]{1,80}))")


def merge_markers(data: bytes) -> tuple[tuple[int, int], ...]:
    """Return the line spans (1-based, both included) of unresolved merges.

    A merge inside a code block is somebody's example.
    """
    found = tuple(_merges(data))
    if not found or len(data) > markdown.MAX_PARSED_BYTES or undecodable_at(data) is not None:
        return found
    spots = markdown.outline(data)
    return tuple(
        (first, last) for first, last in found if any(s.place is not Place.CODE for s in spots[first - 1 : last])
    )


def has_merge_marks(data: bytes) -> bool:
    """Whether the marks of a merge follow each other anywhere, in code blocks too: what is certain enough to hold a
    change back, not to report a fault."""
    return any(_merges(data))


def _merges(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield line spans from `<<<<<<<` over `=======` to `>>>>>>>`, each at the start of its line. A lone `=======` is
    a heading's underline."""
    if b"<<<<<<<" not in data or b">>>>>>>" not in data:
        return
    start, has_middle = 0, False
    for line in split_lines(data):
        mark = _MERGE_MARK.fullmatch(line.body)
        if mark is None:
            continue
        if mark[1].startswith(b"<"):
            start = line.number
        elif mark[1].startswith(b"="):
            has_middle = start > 0
        elif has_middle:
            yield start, line.number
            start, has_middle = 0, False


def conflict_original(path: str, paths: Collection[str]) -> str | None:
    """Return the path that a sync tool's conflict copy was made of, None for any other document.

    Names that only might be a copy, such as `note (1).md`, count when the original stands beside them.
    """
    suffix = path[len(directory(path)) :].rpartition(".")[2]
    prefix = f"{directory(path)}/" if directory(path) else ""
    for pattern in _CONFLICT_STEMS:
        match = pattern.fullmatch(stem(path))
        if match:
            original = f"{prefix}{match['stem']}.{suffix}"
            has_date = re.search("[0-9]{4}", stem(path)[len(match["stem"]) :]) is not None
            return original if has_date or original in paths else None
    match = _NUMBERED_COPY.fullmatch(stem(path))
    original = f"{prefix}{match['stem']}.{suffix}" if match else ""
    return original if original in paths else None


def may_be_conflict_copy(path: str) -> bool:
    """Whether a name alone makes a conflict copy likely, whatever stands beside it: enough to hold a change back."""
    return _COPY_NAME.search(basename(path)) is not None or any(p.fullmatch(stem(path)) for p in _CONFLICT_STEMS)


def broken_table_rows(data: bytes) -> tuple[tuple[int, int, str], ...]:
    """Return (first line, last line, name) of table rows whose last cell runs on over other lines.

    The row opens with a pipe and has none at its end, unlike other rows; the next pipe that ends a line closes it.
    """
    if b"|" not in data:
        return ()
    lines, spots = split_lines(data), markdown.outline(data)
    found: list[tuple[int, int, str]] = []
    opened: int | None = None
    has_closed_row = False
    for line, spot in zip(lines, spots, strict=True):
        body = line.body.strip(b" \t")
        if spot.place in (Place.CODE, Place.FRONTMATTER, Place.HTML):
            continue
        if spot.place is Place.HEADING or (opened is not None and line.number - opened > _MAX_ROW_LINES):
            opened = None
        ends_row = body.endswith(b"|") and not body.endswith(b"\\|")
        if body.startswith(b"|"):
            opened = None if ends_row else line.number
            has_closed_row = has_closed_row or ends_row
        elif opened is not None and ends_row:
            cell = _FIRST_CELL.match(lines[opened - 1].body.decode("utf-8", "replace").strip(" \t"))
            found.append((opened, line.number, (cell[1] or cell[2]).strip() if cell else ""))
            opened = None
    return tuple(found) if has_closed_row else ()
