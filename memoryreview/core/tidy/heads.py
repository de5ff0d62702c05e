"""Suggest: quotes around frontmatter values that a YAML reader would cut, misread or refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryreview.core import frontmatter
from memoryreview.core.frontmatter import Frontmatter
from memoryreview.core.model import Rewrite
from memoryreview.core.text import split_lines

from .consolidate import delta_of_rewrites
from .library import Library
from .model import Suggestion, key_of

_QUOTABLE = frozenset({"head-colon", "head-comment", "head-special", "head-quote"})
_LINE = re.compile(r"(?P<key>[ \t]*[\w-]{1,80}:[ \t]+)(?P<value>\S.*?)(?P<blanks>[ \t]*)", re.DOTALL)
WHY = (
    "The value is read here as it stands, but a YAML reader cuts it, misreads it or fails. "
    "Quotes around it make both read the same."
)


def unquoted(library: Library) -> Iterator[Suggestion]:
    """Yield one suggestion per document whose head quotes would mend."""
    for path, data in library.texts.items():
        head = frontmatter.read(data)
        if isinstance(head, Frontmatter):
            lines = {lineno for kind, lineno, _ in head.problems if kind in _QUOTABLE}
            rewrites = [rewrite for lineno in sorted(lines) if (rewrite := _quoted(path, data, lineno))]
            delta = delta_of_rewrites(library.tree, rewrites)
            mended = delta.get(path)
            if mended and _is_mended(data, head, mended):
                texts = [data[rewrite.start : rewrite.end].decode("utf-8") for rewrite in rewrites]
                yield Suggestion("head-quotes", key_of("head-quotes", path, *texts), delta, WHY)


def _quoted(path: str, data: bytes, lineno: int) -> Rewrite | None:
    line = split_lines(data)[lineno - 1]
    match = _LINE.fullmatch(line.body.decode("utf-8"))
    if match is None:
        return None
    start = line.start + len(match["key"].encode())
    value = match["value"].encode()
    return Rewrite(path, start, start + len(value), b"'%s'" % value.replace(b"'", b"''"))


def _is_mended(data: bytes, head: Frontmatter, mended: bytes) -> bool:
    """Whether fewer problems are left, and every value reads as it did."""
    after = frontmatter.read(mended)
    if not isinstance(after, Frontmatter) or len(after.problems) >= len(head.problems):
        return False
    values = [(one.key, one.parent, one.value.replace("''", "'")) for one in after.fields]
    return values == [(one.key, one.parent, one.value.replace("''", "'")) for one in head.fields]
