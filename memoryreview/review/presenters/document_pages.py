"""A page of a long list of documents, and the addresses of the pages around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import links

DOCUMENTS_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class DocumentPages:
    """`first` to `last` of `count`, 1-based; an address is "" where there is nothing further."""

    paths: tuple[str, ...]
    first: int
    last: int
    count: int
    earlier_url: str
    later_url: str


def document_pages(paths: Sequence[str], url: str, start: int) -> DocumentPages:
    """Return the documents from `start` on, 0-based; the first ones where there is none."""
    start = start if 0 <= start < len(paths) else 0
    shown = tuple(paths[start : start + DOCUMENTS_AT_ONCE])
    end = start + len(shown)
    return DocumentPages(
        paths=shown,
        first=start + 1,
        last=end,
        count=len(paths),
        earlier_url=links.with_query(url, start=str(max(0, start - DOCUMENTS_AT_ONCE) or "")) if start else "",
        later_url=links.with_query(url, start=str(end)) if end < len(paths) else "",
    )
