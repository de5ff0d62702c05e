"""A change as a unified diff, in the form that a `patch` operation reads back."""

from __future__ import annotations

from collections.abc import Sequence

from memoryreview.core.align import Hunk, align, grouped
from memoryreview.core.text import split_lines

CONTEXT_LINES = 3
_NOWHERE = "/dev/null"


def unified_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Return the diff of one document (None: it does not exist), "" when nothing differs.

    Undecodable bytes are replaced. An empty document that comes or goes has headers and no hunk.
    """
    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    header = f"--- {_named('a', path, old)}\n+++ {_named('b', path, new)}\n"
    return header + "".join(_hunk(before, after, group) for group in grouped(align(before, after), CONTEXT_LINES))


def _named(side: str, path: str, content: bytes | None) -> str:
    if content is None:
        return _NOWHERE
    name = f"{side}/{path}"
    if name.isprintable() and not set('"\\') & set(name):
        return name
    return '"' + "".join(_quoted(char) for char in name) + '"'


def _quoted(char: str) -> str:
    if char.isprintable() and char not in '"\\':
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def _lines(content: bytes | None) -> list[bytes]:
    return [line.raw for line in split_lines(content or b"")]


def _hunk(before: Sequence[bytes], after: Sequence[bytes], group: Sequence[Hunk]) -> str:
    first, last = group[0], group[-1]
    old_from = max(0, first.old_start - CONTEXT_LINES)
    old_to = min(len(before), last.old_end + CONTEXT_LINES)
    new_from = first.new_start - (first.old_start - old_from)
    new_to = last.new_end + (old_to - last.old_end)
    shown = [f"@@ -{_span(old_from, old_to)} +{_span(new_from, new_to)} @@\n"]
    at = old_from
    for hunk in group:
        shown += [_line(" ", line) for line in before[at : hunk.old_start]]
        shown += [_line("-", line) for line in before[hunk.old_start : hunk.old_end]]
        shown += [_line("+", line) for line in after[hunk.new_start : hunk.new_end]]
        at = hunk.old_end
    shown += [_line(" ", line) for line in before[at:old_to]]
    return "".join(shown)


def _span(start: int, end: int) -> str:
    """Return a range as diffs count: 1-based, and the line before it where it is empty."""
    count = end - start
    return f"{start + 1 if count else start},{count}"


def _line(mark: str, line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return f"{mark}{text}" if text.endswith("\n") else f"{mark}{text}\n\\ No newline at end of file\n"
