"""The title of one step of a document: what it does, in words, and in which part of the document."""

from __future__ import annotations

import re
from functools import lru_cache

from memoryreview.core import scan
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.markdown import Place
from memoryreview.core.model import Kind
from memoryreview.core.text import normalise

from . import phrases, titles
from .document import Document
from .steps import Step

MAX_PLACE_CHARS = 50
MAX_TOLD_CHARS = 2_000
_GROUP = "Task Group: "
_KEY = re.compile(r"\s*([\w.-]{1,40}):[ \t]*")
_CHECK_BOX = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]")
_HEADING_MARKS = re.compile(r"[ \t]*(#{1,6})[ \t]")


def title(old: Document, new: Document, step: Step, kind: Kind) -> str:
    if not step.old_block and not step.new_block:
        return _of_gap(step)
    if kind is Kind.META_CHANGE:
        return _of_frontmatter(old.text(step.old), new.text(step.new))
    old_text = step.old_block.text.decode("utf-8", "replace") if step.old_block else ""
    new_text = step.new_block.text.decode("utf-8", "replace") if step.new_block else ""
    if kind in (Kind.INDEX_ADD, Kind.INDEX_DROP):
        verb = "Add" if kind is Kind.INDEX_ADD else "Drop"
        return f"{verb} the row “{titles.label(new_text or old_text, 80)}”"
    if any(block and block.place is Place.HEADING for block in (step.old_block, step.new_block)):
        return _of_heading(old_text, new_text)
    place = _place(old, step.old[0]) if step.old_block else _place(new, step.new[0])
    if not old_text:
        return titles.within(f"Add “{titles.label(new_text, 80)}”", place, "to")
    if not new_text:
        return titles.within(f"Delete “{titles.label(old_text, 80)}”", place, "from")
    appended = appended_text(old, step)
    if appended:
        return titles.shorten(f"Append “{titles.label(appended, 40)}” to the last entry “{titles.label(old_text, 30)}”")
    old_row, new_row = old.rows.get(step.old[0]), new.rows.get(step.new[0])
    in_row = _of_row(old_row, new_row) if old_row and new_row else ""
    return in_row or titles.within(rewriting(old_text, new_text), place)


def rewriting(old: str, new: str) -> str:
    """Name the words that change where they are few, else both texts."""
    if normalise(old) == normalise(new):
        return f"Change blanks in “{titles.label(old)}”"
    boxes = [match[1].strip() for text in (old, new) if (match := _CHECK_BOX.match(text))]
    if len(boxes) == 2 and titles.unmarked(old) == titles.unmarked(new):
        return f"{'Tick' if boxes[1] else 'Untick'} “{titles.label(old, 70)}”"
    named = phrases.change(old, new)
    if named:
        return named
    before, after = titles.label(old, 38), titles.label(new, 38)
    if before == after:
        return titles.shorten(f"Rewrite a part of “{titles.label(old, 70)}”")
    return titles.shorten(f"Rewrite “{before}” as “{after}”")


def appended_text(old: Document, step: Step) -> str:
    """Return what a change adds right after the last `§` entry, without a delimiter before it; "" for any other."""
    if not old.is_delimited or not step.old_block or not step.new_block or step.old_block != old.blocks[-1]:
        return ""
    before, after = step.old_block.text.rstrip(b" \t\n"), step.new_block.text
    return after[len(before) :].decode("utf-8", "replace").strip() if after.startswith(before) else ""


def _of_row(old: IndexRow, new: IndexRow) -> str:
    label = titles.label(new.title, 40)
    if old.target != new.target:
        return titles.shorten(f"Point the row “{label}” to {new.target} instead of {old.target}")
    if old.anchor == new.anchor and old.hook == new.hook and old.title != new.title:
        return titles.shorten(f"Rename the row “{titles.label(old.title, 40)}” to “{label}”")
    if (old.anchor, old.title, old.hook) == (new.anchor, new.title, new.hook):
        return titles.shorten(f"Change the marks around the row “{label}”")
    return ""


def _of_heading(old: str, new: str) -> str:
    if not old or not new:
        verb, text = ("Add", new) if new else ("Delete", old)
        return titles.shorten(f"{verb} the heading “{_heading(text)}”")
    levels = [len(match[1]) for text in (old, new) if (match := _HEADING_MARKS.match(text))]
    before, after = _heading(old), _heading(new)
    if before != after:
        return titles.shorten(phrases.change(old, new) if ":" in old else f"Rename the section “{before}” to “{after}”")
    if len(levels) == 2 and levels[0] != levels[1]:
        return titles.shorten(f"Move the heading “{after}” from level {levels[0]} to {levels[1]}")
    return titles.shorten(rewriting(old, new))


def _heading(text: str) -> str:
    return titles.label(text, 40).removeprefix(_GROUP)


def _of_frontmatter(old_text: str, new_text: str) -> str:
    keys = [match[1] for text in (old_text, new_text) if (match := _KEY.match(text)) and text.count("\n") <= 1]
    if len(keys) == 2 and keys[0] == keys[1]:
        old_value, new_value = (_KEY.sub("", text, count=1) for text in (old_text, new_text))
        return titles.shorten(f"{keys[0]}: {rewriting(old_value, new_value)}")
    if len(keys) == 1:
        verb, text = ("Delete", old_text) if old_text else ("Add", new_text)
        value = titles.label(_KEY.sub("", text, count=1), 50)
        return titles.shorten(f"{verb} {keys[0]}: “{value}”" if value else f"{verb} {keys[0]} in the frontmatter")
    verb = "Change" if old_text and new_text else "Add" if new_text else "Delete"
    return titles.shorten(f"{verb} in the frontmatter: “{titles.label(new_text or old_text)}”")


def _of_gap(step: Step) -> str:
    count = (step.new[1] - step.new[0]) - (step.old[1] - step.old[0])
    if count == 0:
        return "Change blank lines"
    lines = "1 blank line" if abs(count) == 1 else f"{abs(count)} blank lines"
    return f"Add {lines}" if count > 0 else f"Remove {lines}"


def _place(document: Document, index: int) -> str:
    """Return the name of the section around a line, "" where that is the whole document."""
    if document.is_delimited or index >= len(document.spots):
        return ""
    headings = document.spots[index].headings
    if not headings or (len(headings) == 1 and not document.has_sections):
        return ""
    if headings[0].startswith(_GROUP):
        task = [heading.partition(":")[0] for heading in headings[1:-1]]
        inner = headings[-1].partition(":")[0] if headings[-1].startswith("Task ") else headings[-1]
        headings = tuple(dict.fromkeys((headings[0].removeprefix(_GROUP), *task, inner.removeprefix(_GROUP))))
        return titles.label(told(" of ".join(reversed(headings))), MAX_PLACE_CHARS)
    return titles.label(told(headings[-1]), MAX_PLACE_CHARS)


@lru_cache(maxsize=256)
def told(text: str) -> str:
    """Return text from elsewhere that a title or reason wants to quote; "" where it holds a secret, which none may."""
    text = text[:MAX_TOLD_CHARS]
    return "" if any(finding.scanner == "secret" for finding in scan.scan(text)) else text
