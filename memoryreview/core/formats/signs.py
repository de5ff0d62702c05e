"""Signs of trouble that other tools leave in a folder: merge markers, conflict copies, tables broken by pasted text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from memoryreview.core import markdown
from memoryreview.core.markdown import Place
from memoryreview.core.text import split_lines, undecodable_at

from .base import basename, directory, stem

_MERGE_MARK = re.compile(rb"(<{7}|={7}|>{7}|%{7}|\+{7})(?:[ \t].*)?", re.DOTALL)
_COPY_WORD = "conflict|konflik|conflit|conflicto|conflitto|conflito|конфликт|çakış|xung đột|競合|冲突|衝突|충돌"
_CONFLICT_STEMS = (
    re.compile(r"(?P<stem>.+)\.sync-conflict-[0-9]{8}-[0-9]{6}(?:-[A-Za-z0-9]+)?"),
    re.compile(
        rf"(?P<stem>.+?) ?[(（\[【][^()（）\[\]]*(?:{_COPY_WORD})[^()（）\[\]]*[)）\]】](?: \(?[0-9]{{1,3}}\)?)?",
        re.IGNORECASE,
    ),
    re.compile(rf"(?P<stem>.+?)[._ -](?:{_COPY_WORD})\w{{0,4}}[._ -]?[0-9T_.-]{{6,}}", re.IGNORECASE),
    re.compile(rf"(?P<stem>.+?)[._ -][0-9T_-]{{8,}}[._ -](?:{_COPY_WORD})\w{{0,4}}", re.IGNORECASE),
    re.compile(rf"(?P<stem>.+?)[._-](?:[a-z]+[._-])?(?:{_COPY_WORD})\w{{0,4}}(?:[._-][0-9]{{1,3}})?", re.IGNORECASE),
)
_COPY_NAME = re.compile(
    r"conflicted copy|conflict copy"
    r"|\.sync-conflict-|[ _.-]conflict(?:ed)?\b.{0,40}\d|\d{4}.{0,20}[ _.-]conflict(?:ed)?\b"
    r"|[(\[]conflict|~conflict|konfliktkopie|in konflikt stehende kopie|copie en conflit|copia en conflicto"
    r"|конфликтующая копия|kopia w konflikcie|冲突(?:的)?副本|衝突|競合コピー|충돌",
    re.IGNORECASE,
)
_COPY_MARK = (
    r"(?: \([0-9]{1,3}\)| copy(?: [0-9]{1,3})?"
    r"| - (?:copy|kopie|copie|copia|cópia|kopia|kópia|копия|コピー|副本|複本|복사본)(?: \([0-9]{1,3}\))?"
    r"|(?: |的|の)(?:副本|複本|コピー)|_conf\([0-9]{1,3}\)|_(?-i:BACKUP|BASE|LOCAL|REMOTE)_[0-9]{1,9}"
    r"|\.(?:orig|mine|theirs|ours|(?-i:BACKUP|BASE|LOCAL|REMOTE)(?:\.[0-9]{1,9})?)|\.?~(?:[0-9]{1,3}~)?"
    r"|-(?:[A-Z0-9]{1,15}-pc|(?:desktop|laptop)-[A-Z0-9]{1,15}|[a-z0-9]{1,20}-(?:macbook|imac|iphone|ipad)[a-z0-9-]{0,20}))"
)
_MADE_COPY = re.compile(rf"(?P<stem>.+?){_COPY_MARK}", re.IGNORECASE)
_NUMBERED_COPY = re.compile(r"(?P<stem>.+) [2-9]")
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
    """Whether a line opens or closes a merge anywhere, in code blocks too and without its other half: enough to hold a
    change back, not to report a fault."""
    if b"<<<<<<<" not in data and b">>>>>>>" not in data:
        return False
    marks = (_MERGE_MARK.fullmatch(line.body) for line in split_lines(data))
    return any(mark is not None and mark[1][:1] in b"<>" for mark in marks)


def _merges(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield line spans from `<<<<<<<` over `=======` to `>>>>>>>`, each at the start of its line. A lone `=======` is
    a heading's underline. Other tools put `%%%%%%%` or `+++++++` in the middle."""
    if b"<<<<<<<" not in data or b">>>>>>>" not in data:
        return
    start, has_middle = 0, False
    for line in split_lines(data):
        mark = _MERGE_MARK.fullmatch(line.body)
        if mark is None:
            continue
        if mark[1].startswith(b"<"):
            start, has_middle = line.number, False
        elif not mark[1].startswith(b">"):
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
            if has_date or original in paths:
                return original
    for pattern in (_MADE_COPY, _NUMBERED_COPY):
        match = pattern.fullmatch(stem(path))
        original = f"{prefix}{match['stem']}.{suffix}" if match else ""
        if original in paths:
            return original
    return None


def may_be_conflict_copy(path: str) -> bool:
    """Whether a name alone makes a copy by a sync or merge tool likely, whatever stands beside it: enough to hold a
    change back."""
    name = stem(path)
    is_marked = any(pattern.fullmatch(name) for pattern in _CONFLICT_STEMS[:-1]) or _MADE_COPY.fullmatch(name)
    return bool(is_marked) or _COPY_NAME.search(basename(path)) is not None


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
