"""`dedupe.exact` and `dedupe.index`: what goes still stands above, in the same list, word for word."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from memoryreview.core.classify.claim import SECTION, Claim, Clause, is_blank, lines_in, lines_of, rows_of
from memoryreview.core.formats import of
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.markdown import Place, outline
from memoryreview.core.model import Rewrite
from memoryreview.core.text import BYTE_ORDER_MARK, Line

_RELATED = re.compile(
    r"[\W_]*(?:related|see also|siehe auch|voir aussi|(?:ver|véase) también|相关|相關|参见|参照|関連|관련|참고)",
    re.IGNORECASE,
)


class _Cut(NamedTuple):
    """Lines that one rewrite takes out: the entry from its first to its last line of text, and the gap with it."""

    path: str
    entry: list[Line]
    gap: list[Line]


def _gone(data: bytes, rewrite: Rewrite) -> list[Line]:
    """Return the lines that a rewrite takes out. Where it leaves the last line end, an empty first line stays."""
    lines = lines_in(data, rewrite.start, rewrite.end)
    keeps_end = len(lines) > 1 and rewrite.end < lines[-1].end
    return lines[1:] if keeps_end and lines[0].body == b"" else lines


def cuts_of(claim: Claim) -> Iterator[_Cut]:
    for rewrite in claim.proof.rewrites:
        gone = _gone(claim.base[rewrite.path], rewrite)
        texts = [at for at, line in enumerate(gone) if not is_blank(line) and line.body != SECTION]
        first, stop = (texts[0], texts[-1] + 1) if texts else (0, 0)
        yield _Cut(rewrite.path, gone[first:stop], gone[:first] + gone[stop:])


def entries_of(claim: Claim, path: str) -> dict[int, tuple[int, list[Line]]]:
    """Return (list, lines) of each entry by the number of its first line: `§` entries, or items of unordered lists."""
    found: dict[int, tuple[int, list[Line]]] = {}
    data = claim.base[path]
    first = 0
    for line, spot in zip(lines_of(data), outline(data), strict=True):
        if claim.has_entries(path):
            first = 0 if line.body == SECTION else first or line.number
            list_id = 0
        else:
            first = 0 if is_blank(line) else spot.item_start
            list_id = spot.list_id
        if first == line.number and (claim.has_entries(path) or spot.place is Place.ITEM):
            found[first] = (list_id, [line])
        elif first in found:
            found[first][1].append(line)
    return found


def words_of(entry: list[Line]) -> tuple[str, ...]:
    """Return what two equal entries share: composed, the list mark and outer blanks away, runs of blanks one."""
    bodies = (line.body.removeprefix(BYTE_ORDER_MARK) if line.number == 1 else line.body for line in entry)
    lines = [unicodedata.normalize("NFC", body.decode("utf-8", "surrogateescape")).rstrip(" \t") for body in bodies]
    lines[0] = re.sub(r"^[-*+][ \t]+", "", lines[0].lstrip(" \t"))
    return tuple(line if "`" in line else re.sub(r"(?<=[^ \t])[ \t]+", " ", line) for line in lines)


def removes_whole_lines(claim: Claim) -> bool:
    """Lines go with their own line end, or with the one before the first of them, and nothing comes for them."""
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        gone = _gone(data, rewrite)
        if rewrite.new or not gone:
            return False
        first, last = gone[0], gone[-1]
        before = lines_of(data)[first.number - 2] if first.number > 1 else first
        with_own = (rewrite.start, rewrite.end) == (first.start, last.end) and last.eol
        with_other = (rewrite.start, rewrite.end) == (first.start - len(before.eol), last.start + len(last.body))
        if not with_own and not (with_other and first.number > 1 and last.eol in (b"", before.eol)):
            return False
    return True


def takes_one_gap(claim: Claim) -> bool:
    """With an entry goes one `§` rule, or blank lines on one side of it while the other side has some as well."""
    for path, entry, gap in cuts_of(claim):
        if claim.has_entries(path):
            if [line.body for line in gap] != [SECTION]:
                return False
        elif entry and gap:
            is_above = gap[0].number < entry[0].number
            beyond = entry[-1].number + 1 if is_above else entry[0].number - 1
            lines = lines_of(claim.base[path])[max(beyond - 1, 0) : max(beyond, 0)]
            if any(not is_blank(line) for line in lines) or (is_above and gap[-1].number > entry[-1].number):
                return False
    return True


def repeats_an_entry_that_stays(claim: Claim) -> bool:
    for path in claim.paths:
        entries = entries_of(claim, path)
        cuts = [cut.entry for cut in cuts_of(claim) if cut.path == path]
        gone = {entry[0].number for entry in cuts if entry}
        above = {
            (list_id, words_of(e)): number for number, (list_id, e) in reversed(entries.items()) if number not in gone
        }
        for entry in cuts:
            list_id, whole = entries.get(entry[0].number if entry else 0, (0, []))
            if not entry or [x for x in entry if not is_blank(x)] != [x for x in whole if not is_blank(x)]:
                return False
            if above.get((list_id, words_of(whole)), entry[0].number) >= entry[0].number:
                return False
    return True


def is_no_boilerplate(claim: Claim) -> bool:
    """Check boxes and lists of related notes repeat on purpose."""
    for path, entry, _ in cuts_of(claim):
        text = words_of(entry)[0] if entry else ""
        if re.match(r"\[.?\](?:\s|$)", text):
            return False
        if any(_RELATED.match(other) for other in (text, *_above(claim, path, entry[0]))):
            return False
    return True


def _above(claim: Claim, path: str, first: Line) -> list[str]:
    """Return the heading and the nearest line outside the list that stand over an item."""
    if claim.has_entries(path):
        return []
    data = claim.base[path]
    lead = _outside(data).get(first.number)
    return [*outline(data)[first.number - 1].headings[-1:], *([lead.body.decode("utf-8", "replace")] if lead else [])]


@lru_cache(maxsize=8)
def _outside(data: bytes) -> Mapping[int, Line]:
    """Return for each line of text, by number, the nearest one above that is less deep."""
    found: dict[int, Line] = {}
    above: list[tuple[int, Line]] = []
    for line, spot in zip(lines_of(data), outline(data), strict=True):
        if is_blank(line):
            continue
        while above and above[-1][0] >= spot.depth:
            above.pop()
        if above:
            found[line.number] = above[-1][1]
        above.append((spot.depth, line))
    return found


def has_no_lead_in_between(claim: Claim) -> bool:
    """Between a copy that stays and the one that goes no line ends in a colon or is bold from end to end."""
    for path in claim.paths:
        if claim.has_entries(path):
            continue
        entries, lines = entries_of(claim, path), lines_of(claim.base[path])
        leads = [line.number for line in lines if _is_lead(line)]
        first_of: dict[tuple[int, tuple[str, ...]], list[Line]] = {}
        for list_id, entry in entries.values():
            first_of.setdefault((list_id, words_of(entry)), entry)
        for cut in cuts_of(claim):
            if cut.path != path or not cut.entry or cut.entry[0].number not in entries:
                continue
            list_id, entry = entries[cut.entry[0].number]
            kept = first_of[list_id, words_of(entry)]
            if bisect_left(leads, kept[-1].number + 1) < bisect_left(leads, entry[0].number):
                return False
    return True


def _is_lead(line: Line) -> bool:
    text = re.sub(r"^[ \t]*[-*+][ \t]+", "", line.body.decode("utf-8", "replace")).strip()
    return text.rstrip("*_ \t").endswith((":", "：")) or bool(re.fullmatch(r"(\*\*|__).+\1:?", text))


def repeats_a_row_that_stays(claim: Claim) -> bool:
    """The entry is a whole index row; a row above it in the same list stays, with the same target and words."""
    for path in claim.paths:
        if not of(claim.context.format).is_index(path):
            return False
        cuts = [cut.entry for cut in cuts_of(claim) if cut.path == path]
        gone = {entry[0].number for entry in cuts if entry}
        standing, spots = rows_of(claim.base[path]), outline(claim.base[path])
        by_lines = {row.lines: row for row in standing}
        above = {_said(row): row.start for row in reversed(standing) if row.lines[0] not in gone}
        for entry in cuts:
            own = by_lines.get((entry[0].number, entry[-1].number)) if entry else None
            if own is None or spots[own.lines[0] - 1].place is not Place.ITEM or "[" in own.marker:
                return False
            if above.get(_said(own), own.start) >= own.start:
                return False
    return True


def _said(row: IndexRow) -> tuple[object, ...]:
    words = (tuple(part.split()) for part in (row.marker, row.title, row.separator, row.hook))
    return row.list_id, row.target, row.anchor, *words


OF_ENTRY: tuple[Clause, ...] = (
    removes_whole_lines,
    takes_one_gap,
    repeats_an_entry_that_stays,
    is_no_boilerplate,
    has_no_lead_in_between,
)
OF_ROW: tuple[Clause, ...] = (removes_whole_lines, takes_one_gap, repeats_a_row_that_stays)
