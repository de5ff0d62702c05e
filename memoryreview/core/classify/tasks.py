"""Task groups and tasks of a Codex handbook that come or go whole: one action each, not one per heading and line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from memoryreview.core.model import Kind

from . import titles
from .document import Document
from .draft import Draft

_HEADING = re.compile(r"# Task Group: |## Task [0-9]+")


def joined(drafts: Sequence[Draft], old: Document, new: Document) -> list[Draft]:
    """Join the additions, and the removals, that are the parts of one task or group which follow each other."""
    if not old.keeps_line_count:
        return list(drafts)
    drafts = list(_joined(drafts, Kind.FACT_ADD, new, lambda draft: draft.new, "Add"))
    return list(_joined(drafts, Kind.FACT_DELETE, old, lambda draft: draft.old, "Delete"))


def _joined(
    drafts: Sequence[Draft], kind: Kind, document: Document, span: Callable[[Draft], tuple[int, int]], verb: str
) -> Iterator[Draft]:
    index = 0
    while index < len(drafts):
        first = drafts[index]
        name = _heading(first, document, span) if first.kind is kind and not first.rewrites else ""
        parts = [first]
        while name and index + len(parts) < len(drafts):
            draft = drafts[index + len(parts)]
            is_next = span(draft)[0] == span(parts[-1])[1] and draft.kind is kind and not draft.rewrites
            if not is_next or name not in _trail(document, span(draft)):
                break
            parts.append(draft)
        index += len(parts)
        yield _one(parts, name, verb) if len(parts) > 1 else first


def _heading(draft: Draft, document: Document, span: Callable[[Draft], tuple[int, int]]) -> str:
    """Return the text of the heading of a group or task that a draft begins with, "" for any other draft."""
    first, stop = span(draft)
    at = next((index for index in range(first, stop) if document.bodies[index].strip(b" \t")), stop)
    body = document.bodies[at].decode("utf-8", "replace") if at < stop else ""
    return document.spots[at].headings[-1] if _HEADING.match(body) and document.spots[at].headings else ""


def _trail(document: Document, span: tuple[int, int]) -> tuple[str, ...]:
    at = next((index for index in range(*span) if document.bodies[index].strip(b" \t")), None)
    return () if at is None else document.spots[at].headings


def _one(parts: Sequence[Draft], name: str, verb: str) -> Draft:
    first, last = parts[0], parts[-1]
    kind, _, label = name.partition(": ") if ": " in name else (name, "", "")
    what = f"the {kind.lower()} “{titles.label(label, 60)}”" if kind == "Task Group" else f"“{titles.label(name, 60)}”"
    return replace(
        first,
        old=(first.old[0], last.old[1]),
        new=(first.new[0], last.new[1]),
        old_text="".join(part.old_text for part in parts),
        new_text="".join(part.new_text for part in parts),
        title=titles.shorten(f"{verb} {what}"),
        reasons=tuple(dict.fromkeys(reason for part in parts for reason in part.reasons)),
        gone=tuple(text for part in parts for text in part.gone),
        come=tuple(text for part in parts for text in part.come),
    )
