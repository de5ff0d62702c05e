"""Titles of actions: what a change does, in words, short enough for a row of the queue."""

from __future__ import annotations

import re

from memoryreview.core.align import Hunk, align
from memoryreview.core.text import is_cjk

MAX_TITLE_CHARS = 100
MAX_NAMED_CHARS = 40
MAX_COMPARED_CHARS = 2_000

_MARK = re.compile(r"^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+)?")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()]{0,300}\)")
_EAST_ASIAN = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7ff"
_TOKEN = re.compile(
    rf"!?\[[^\[\]]{{0,200}}\]\([^()\s]{{0,200}}\)|[^\w\s]*(?:[{_EAST_ASIAN}]|\w(?:[\w.:/'’-](?<![{_EAST_ASIAN}]))*(?<![.:]))|\s+|[^\w\s]+"
)
_BLANKS = re.compile(r"\s+")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ROOM_CHARS = 1_000
"""Room for marks and links in a line, of which a label shows no more than a few words."""


def label(text: str, max_chars: int = 60) -> str:
    """Return what people call a piece of Markdown: its first words, without marks, on one line."""
    line = next((line for line in text.split("\n") if line.strip()), "").lstrip()
    line = line[: 10 * max_chars + _ROOM_CHARS]
    shown = _LINK.sub(r"\1", unmarked(line)).replace("**", "").replace("`", "")
    return shorten(plain(shown) or plain(line), max_chars)


def unmarked(text: str) -> str:
    """Return text without the list mark, check box or heading marks at its start."""
    return _MARK.sub("", text, count=1)


def plain(text: str) -> str:
    """Return text without control characters, on one line, blanks collapsed."""
    return _BLANKS.sub(" ", _CONTROLS.sub(" ", text)).strip()


def shorten(text: str, max_chars: int = MAX_TITLE_CHARS) -> str:
    """Cut at a blank where there is one, and say so by `…`."""
    if len(text) <= max_chars:
        return text
    cut = text[: max_chars - 1]
    at = cut.rfind(" ")
    return (cut[:at] if at > max_chars // 2 else cut).rstrip(" ,;:.“") + "…"


def adding(text: str) -> str:
    return f"Add “{label(text, 80)}”"


def deleting(text: str) -> str:
    return f"Delete “{label(text, 80)}”"


def rewriting(old: str, new: str) -> str:
    """Name the words that change where they are few, else both texts."""
    named = _small_change(old, new)
    if named and len(named) <= MAX_TITLE_CHARS:
        return named
    before, after = label(old, 38), label(new, 38)
    if before == after:
        return shorten(f"Rewrite a part of “{label(old, 70)}”")
    return shorten(f"Rewrite “{before}” as “{after}”")


def _small_change(old: str, new: str) -> str:
    if max(len(old), len(new)) > MAX_COMPARED_CHARS:
        return ""
    old_words, new_words = (_TOKEN.findall(unmarked(text)) for text in (old, new))
    hunks = align(old_words, new_words)
    kept = len(old_words) - sum(hunk.old_end - hunk.old_start for hunk in hunks)
    if len(hunks) not in (1, 2) or (len(hunks) == 2 and kept * 2 < max(len(old_words), len(new_words))):
        return ""
    if len(hunks) == 1:
        return _words_change(old, old_words, new_words, hunks[0])
    pairs = [(_named(old_words[h.old_start : h.old_end]), _named(new_words[h.new_start : h.new_end])) for h in hunks]
    return ", ".join(f"{gone} becomes {come}" for gone, come in pairs) if all(map(all, pairs)) else ""


def _words_change(text: str, old: list[str], new: list[str], hunk: Hunk) -> str:
    gone = _named(old[hunk.old_start : hunk.old_end])
    come = _named(new[hunk.new_start : hunk.new_end])
    if max(len(gone), len(come)) > MAX_NAMED_CHARS:
        return ""
    if gone and come:
        # A number means nothing without its noun; a word is better shown with the whole line.
        before = _words_before(old, hunk.old_start) if not gone[0].isalpha() or is_cjk(gone[0]) else ""
        return (
            f"{before}{gone} becomes {come}"
            if before or gone == plain(text)
            else f"{gone} becomes {come} in “{label(text, 40)}”"
        )
    if come:
        return f"Add “{come}” to “{label(text, 40)}”"
    return f"Remove “{gone}” from “{label(text, 40)}”" if gone else ""


def _named(words: list[str]) -> str:
    """Return words as a title names them. Code marks go: a change often holds one of a pair only."""
    return plain("".join(words).replace("`", ""))


def _words_before(words: list[str], end: int) -> str:
    """Return the words right before a place on the same line, up to two where words are divided by blanks."""
    start, count = end, 0
    for index in range(end - 1, -1, -1):
        word = words[index]
        if "\n" in word or not (word.isspace() or word[-1].isalnum()):
            break
        count += 0 if word.isspace() else 1 if is_cjk(word[-1]) else 3
        if count > 6:
            break
        start = index
    return "".join(words[start:end]).replace("`", "").lstrip()
