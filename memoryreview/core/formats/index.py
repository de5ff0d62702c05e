"""Rows of an index such as Claude Code's `MEMORY.md`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memoryreview.core import markdown
from memoryreview.core.markdown import Link, Place, Spot
from memoryreview.core.text import BYTE_ORDER_MARK, Line, line_end, split_lines

from .base import IndexRow, leads_elsewhere

_LIST_MARK = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
_CHECK_BOX = re.compile(r"\[[ xX]\][ \t]+")
_KEYCAP = re.compile(r"[0-9#*]\ufe0f?\u20e3")
_MARK = r"(?:[—–→·•：；]|--?>?|=>|[:;,|]|\.(?=[ \t]))"
_SEPARATOR = re.compile(rf"(?:[*_~]{{1,3}})?(?:[ \t]*\r?\n[ \t]*{_MARK}[ \t]+|[ \t]*(?:{_MARK}[ \t]*)?)")
_BLANKS = re.compile(r"[ \t\r\n]+")
_UNSAFE_IN_TARGET = str.maketrans({char: f"%{ord(char):02X}" for char in "%#<>\\&\r\n"})
_LINE_ENDS = re.compile(r"[\r\n]+")
_UNSAFE_IN_TITLE = re.compile(r"([\[\]\\`<*_])")


def rows(data: bytes) -> tuple[IndexRow, ...]:
    """Return the index rows in order. Total: a document without rows, or that is not UTF-8, has none."""
    links = markdown.links(data)
    if not links:
        return ()
    lines, spots = split_lines(data), markdown.outline(data)
    found: list[IndexRow] = []
    first_links: dict[int, Link] = {}
    for link in links:
        first_links.setdefault(link.lineno, link)
    for spot in spots:
        if spot.item_start != spot.lineno or spot.lineno not in first_links:
            continue
        link = first_links[spot.lineno]
        before = data[lines[spot.lineno - 1].start : link.start].decode("utf-8", "replace")
        if spot.place in (Place.ITEM, Place.ORDERED) and is_document_link(link) and _is_marker(before):
            found.append(_row(data, lines, spots, link, before))
    return tuple(found)


def pointers(data: bytes) -> tuple[Link, ...]:
    """Return the link of each row, and the first link of each line of a table: an index may be one."""
    row_lines = {row.lines[0] for row in rows(data)}
    lines = split_lines(data)
    found: dict[int, Link] = {}
    for link in markdown.links(data):
        is_cell = lines[link.lineno - 1].body.lstrip(b" \t").startswith(b"|")
        if link.lineno in row_lines or (is_cell and is_document_link(link)):
            found.setdefault(link.lineno, link)
    return tuple(found.values())


def is_document_link(link: Link) -> bool:
    """Whether a link leads to a file of this folder or around it, not to the web or to a place in the same file."""
    return link.kind != "image" and link.target != "" and not leads_elsewhere(link.target)


def _row(data: bytes, lines: Sequence[Line], spots: Sequence[Spot], link: Link, before: str) -> IndexRow:
    first = link.lineno - 1
    text_end, last = _extent(spots, first)
    stop = lines[text_end].start + len(lines[text_end].body.rstrip(b" \t"))
    after = data[link.end : max(link.end, stop)].decode("utf-8", "replace")
    separator = match.group() if (match := _SEPARATOR.match(after)) else ""
    hook = after[len(separator) :].lstrip(" \t\r\n")
    return IndexRow(
        lines=(first + 1, last + 1),
        start=lines[first].start,
        end=lines[last].start + len(lines[last].body),
        marker=before,
        title=link.text,
        target=link.target,
        anchor=link.anchor,
        separator=separator,
        hook=_BLANKS.sub(" ", hook),
        hook_start=link.end + len(after.encode()) - len(hook.encode()),
        list_id=spots[first].list_id,
        section=spots[first].section,
        kind=link.kind,
        depth=spots[first].depth,
    )


def _is_marker(before: str) -> bool:
    """Whether only marks stand before the link: a list mark, perhaps a check box, signs such as ★ or ✅, bold marks."""
    mark = _LIST_MARK.match(before)
    if mark is None:
        return False
    rest = _KEYCAP.sub("", _CHECK_BOX.sub("", before[mark.end() :], count=1))
    return not any(char.isalnum() for char in rest)


def _extent(spots: Sequence[Spot], first: int) -> tuple[int, int]:
    """Return the index of the last line of a row's first paragraph, and of its last own line."""
    text_end = last = first
    is_text = True
    for index in range(first + 1, len(spots)):
        spot = spots[index]
        if spot.item_start != spots[first].item_start:
            break
        if spot.place is not spots[first].place:
            is_text = False
        if is_text:
            text_end = index
        if spot.place is not Place.BLANK:
            last = index
    return text_end, last


def append_row(data: bytes, *, title: str, target: str, description: str) -> bytes:
    """Return the index with one row added after its last row (or at the end), in the index's own majority form.

    Only the new row's bytes are added: line ends, final newline, comments and everything else stay. Where the row would
    be swallowed by what stands before it (an open block of HTML), a blank line comes first; an open code fence swallows
    it all the same.
    """
    present = rows(data)
    at = _end_of_last_row(data, present) if present else len(data)
    candidates = [
        (_laid_in(data, at, text.encode("utf-8"), gap), read_back)
        for gap in (b"", line_end(data))
        for text, read_back in _row_texts(present, title, target, description)
    ]
    for candidate, read_back in candidates:
        added = [row.target for row in rows(candidate)]
        before = [row.target for row in present]
        if len(added) == len(before) + 1 and added.count(read_back) == before.count(read_back) + 1:
            return candidate
    return candidates[-1][0]


def _laid_in(data: bytes, at: int, row: bytes, gap: bytes) -> bytes:
    eol = line_end(data)
    has_open_end = at == len(data) and not data.endswith(b"\n") and data.removeprefix(BYTE_ORDER_MARK) != b""
    return data + gap + eol + row if has_open_end else data[:at] + gap + row + eol + data[at:]


def _end_of_last_row(data: bytes, present: Sequence[IndexRow]) -> int:
    """Return the byte offset after the line end of the last row and of what is nested under it."""
    lines, spots = split_lines(data), markdown.outline(data)
    row = present[-1]
    last = row.lines[1] - 1
    for index in range(last + 1, len(spots)):
        if spots[index].place is Place.BLANK:
            continue
        if spots[index].depth < row.depth or spots[index].item_start == 0:
            break
        if spots[index].depth == row.depth and spots[index].item_start != row.lines[0]:
            break
        last = index
    return lines[last].end


def _row_texts(present: Sequence[IndexRow], title: str, target: str, description: str) -> Iterable[tuple[str, str]]:
    """Yield (row, target as it will be read back): in the form most rows have, then with the marks in it escaped."""
    top = [row for row in present if row.depth == 1] or list(present)
    mark = _list_mark(top)
    separators = (row.separator.lstrip("*_~") for row in top if row.hook)
    separator = _majority((separator for separator in separators if separator.strip()), " — ")
    hook = _LINE_ENDS.sub(" ", description).strip(" \t")
    ending = f"{separator}{hook}" if hook else ""
    plain_title = _LINE_ENDS.sub(" ", title).strip(" \t")
    if _majority((row.kind for row in top), "inline") == "wiki" and not set(target) & set("[]|#\r\n"):
        has_endings = any(row.kind == "wiki" and row.target.endswith(".md") for row in top)
        name = target if has_endings else target.removesuffix(".md")
        yield f"{mark}{_wiki_link(top, plain_title, name)}{ending}", name
    for shown in (plain_title, _UNSAFE_IN_TITLE.sub(r"\\\1", plain_title)):
        yield f"{mark}[{shown}]({_destination(target)}){ending}", target


def _list_mark(top: Sequence[IndexRow]) -> str:
    marks = [match.group() for row in top if (match := _LIST_MARK.match(row.marker))]
    mark = _majority((mark for mark in marks), "- ")
    number = re.fullmatch(r"([ \t]*)([0-9]+)([.)])([ \t]+)", marks[-1]) if marks and mark.strip()[0].isdigit() else None
    return f"{number[1]}{int(number[2]) + 1}{number[3]}{number[4]}" if number else mark


def _wiki_link(top: Sequence[IndexRow], title: str, name: str) -> str:
    labels = (str(row.title != row.target) for row in top if row.kind == "wiki")
    has_label = _majority(labels, "False") == "True"
    return f"[[{name}|{title}]]" if has_label and not set(title) & set("[]|") else f"[[{name}]]"


def _majority(values: Iterable[str], default: str) -> str:
    counted = Counter(values).most_common(1)
    return counted[0][0] if counted else default


def _destination(target: str) -> str:
    """Write a target so that it is read back as the same file name."""
    written = target.translate(_UNSAFE_IN_TARGET)
    return f"<{written}>" if re.search(r"[\s()\x00-\x20\x7f]", written) else written
