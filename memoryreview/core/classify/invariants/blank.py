"""`format.blank`: trailing blanks go, all of them; a whole run of blank lines becomes one. Nothing hangs on either."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memoryreview.core.classify.claim import (
    SECTION,
    Claim,
    Clause,
    code_above,
    code_after,
    is_blank,
    line_at,
    lines_of,
    run_starts,
)
from memoryreview.core.markdown import Place, Spot, outline
from memoryreview.core.model import Rewrite
from memoryreview.core.text import Line

_OPEN = (Place.PARAGRAPH, Place.ITEM, Place.ORDERED, Place.QUOTE, Place.HEADING, Place.BLANK, Place.RULE)


def _places(claim: Claim) -> Iterator[tuple[Rewrite, bytes, int, tuple[Line, ...], tuple[Spot, ...]]]:
    """Yield each rewrite with its document, the index of its line, and all lines and spots."""
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        yield rewrite, data, line_at(data, rewrite.start).number - 1, lines_of(data), outline(data)


def removes_blanks_alone(claim: Claim) -> bool:
    """Blanks give way to nothing, blank lines to one line end."""
    for rewrite, data, _, _, _ in _places(claim):
        old = data[rewrite.start : rewrite.end]
        if (
            old.strip(b" \t\r\n")
            or re.search(rb"\r(?!\n)", old)
            or rewrite.new not in ((b"\n", b"\r\n") if b"\n" in old else (b"",))
        ):
            return False
    return True


def takes_all_of_them(claim: Claim) -> bool:
    """A line loses every trailing blank, a run of blank lines all but one: nothing is left for a second time."""
    for rewrite, data, index, lines, _ in _places(claim):
        line = lines[index]
        if b"\n" not in data[rewrite.start : rewrite.end]:
            body_end = line.start + len(line.body)
            kept = data[line.start : rewrite.start]
            if rewrite.end != body_end or kept.endswith((b" ", b"\t")):
                return False
            continue
        last = line_at(data, rewrite.end - 1).number
        is_run = all(is_blank(x) for x in lines[index:last]) and rewrite.start == line.start
        beyond = lines[max(index - 1, 0) : index] + lines[last : last + 1]
        if not is_run or rewrite.end != lines[last - 1].end or any(is_blank(x) for x in beyond):
            return False
    return True


def stands_in_the_open(claim: Claim) -> bool:
    """Neither code, HTML, tables, definitions nor frontmatter lose a byte."""
    for rewrite, data, index, _, spots in _places(claim):
        last = line_at(data, max(rewrite.end - 1, rewrite.start)).number
        if any(spot.place not in _OPEN for spot in spots[index:last]):
            return False
    return True


def keeps_open_spans(claim: Claim) -> bool:
    """No code span or tag of the block goes on in the line below."""
    for rewrite, data, index, lines, _ in _places(claim):
        goes_on = index + 1 < len(lines) and not is_blank(lines[index]) and not is_blank(lines[index + 1])
        text = data[lines[index].start : rewrite.start]
        is_code = code_after(code_above(data)[index], text) > 0
        if goes_on and (is_code or any(_tags_after(_open_above(data)[index], text))):
            return False
    return True


@lru_cache(maxsize=8)
def _open_above(data: bytes) -> tuple[tuple[bool, bool], ...]:
    """Return for each line whether a tag, and whether a comment, that began above it in its run is open there."""
    found: list[tuple[bool, bool]] = []
    opened = (False, False)
    for index, (line, start) in enumerate(zip(lines_of(data), run_starts(data), strict=True)):
        found.append((False, False) if start == index else opened)
        opened = _tags_after(found[-1], line.body)
    return tuple(found)


def _tags_after(opened: tuple[bool, bool], text: bytes) -> tuple[bool, bool]:
    pairs = ((b"<", b">"), (b"<!--", b"-->"))
    one, two = (
        text.rfind(start) > text.rfind(end) or (was and end not in text)
        for (start, end), was in zip(pairs, opened, strict=True)
    )
    return one, two


def keeps_hard_breaks(claim: Claim) -> bool:
    """Two blanks before more text of the same block are a break; a backslash must not become one."""
    for rewrite, _, index, lines, spots in _places(claim):
        line = lines[index]
        if is_blank(line):
            continue
        if line.body.rstrip(b" \t").endswith(b"\\"):
            return False
        following = spots[index + 1] if index + 1 < len(spots) else None
        if rewrite.end - rewrite.start < 2 or following is None or is_blank(lines[index + 1]):
            continue
        starts_anew = following.item_start == following.lineno or following.place in (Place.CODE, Place.RULE)
        is_atx = following.place is Place.HEADING and lines[index + 1].body.lstrip().startswith(b"#")
        if not starts_anew and not is_atx and spots[index].place not in (Place.HEADING, Place.RULE):
            return False
    return True


def keeps_marks(claim: Claim) -> bool:
    """A bare mark and an underlined heading may mean something else without their blanks."""
    for _, _, index, lines, spots in _places(claim):
        text = lines[index].body.strip(b" \t")
        is_bare = bool(text) and not re.search(rb"[\w\x80-\xff]", text) and spots[index].place is not Place.RULE
        is_underlined = spots[index].place is Place.HEADING and not text.startswith((b"#", b"\xef\xbb\xbf#"))
        if is_bare or is_underlined:
            return False
    return True


def keeps_sections(claim: Claim) -> bool:
    """The `§` rule, and the lines next to one that are blank, stay as they are."""
    for rewrite, data, index, lines, _ in _places(claim):
        last = line_at(data, max(rewrite.end - 1, rewrite.start)).number
        beside = (
            lines[max(index - 1, 0) : last + 1] if is_blank(lines[index]) and claim.has_entries(rewrite.path) else ()
        )
        if lines[index].body.strip(b" \t") == SECTION or any(line.body == SECTION for line in beside):
            return False
    return True


CLAUSES: tuple[Clause, ...] = (
    removes_blanks_alone,
    takes_all_of_them,
    stands_in_the_open,
    keeps_open_spans,
    keeps_hard_breaks,
    keeps_marks,
    keeps_sections,
)
