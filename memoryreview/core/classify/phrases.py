"""The few words that change, as a title names them: “Port 5432 becomes 5433”."""

from __future__ import annotations

import re

from memoryreview.core.align import Hunk, align
from memoryreview.core.text import is_cjk

from .titles import MAX_TITLE_CHARS, label, plain, unmarked

MAX_NAMED_CHARS = 40
MAX_COMPARED_CHARS = 2_000
MAX_RUN_CHARS = 8
"""Letters of a script without blanks that are taken for one word."""

_EAST_ASIAN = "\u3041-\u30ff\u3400-\u9fff\uac00-\ud7ff"
_TOKEN = re.compile(
    r"!?\[[^\[\]]{0,200}\]\([^()\s]{0,200}\)"
    r"|\[[^\[\]\n]{1,40}\]"
    rf"|[^\w\s]*(?:[{_EAST_ASIAN}]|\w(?:[\w.:/'’-](?<![{_EAST_ASIAN}]))*(?<![.:]))|\s+|[^\w\s]+"
)
_RUNS = (("\u3041", "\u309f"), ("\u30a0", "\u30ff"), ("\uac00", "\ud7ff"))
_HAN = ("\u3400", "\u9fff")
_OPENERS = "=\"'“‘*_:"


def change(old: str, new: str) -> str:
    """Name the words that change where they are few, "" where they are not."""
    if max(len(old), len(new)) > MAX_COMPARED_CHARS:
        return ""
    old_words, new_words = (_TOKEN.findall(unmarked(text)) for text in (old, new))
    hunks = align(old_words, new_words)
    kept = len(old_words) - sum(hunk.old_end - hunk.old_start for hunk in hunks)
    if len(hunks) not in (1, 2) or (len(hunks) == 2 and kept * 2 < max(len(old_words), len(new_words))):
        return ""
    if len(hunks) == 1:
        named = _one(old_words, new_words, _widened(old_words, new_words, hunks[0]))
    else:
        wide = [_widened(old_words, new_words, hunk) for hunk in hunks]
        pairs = [(_named(old_words[h.old_start : h.old_end]), _named(new_words[h.new_start : h.new_end])) for h in wide]
        named = ", ".join(f"{gone} becomes {come}" for gone, come in pairs) if all(map(all, pairs)) else ""
    return named if len(named) <= MAX_TITLE_CHARS else ""


def _one(old: list[str], new: list[str], hunk: Hunk) -> str:
    gone, come = _named(old[hunk.old_start : hunk.old_end]), _named(new[hunk.new_start : hunk.new_end])
    if max(len(gone), len(come)) > MAX_NAMED_CHARS:
        return ""
    line = _line(old, hunk.old_start)
    if gone and come:
        opener = gone[0] if gone[0] == come[0] and gone[0] in _OPENERS and len(gone) > 1 < len(come) else ""
        gone, come = gone.removeprefix(opener), come.removeprefix(opener)
        # A number means nothing without its noun; a word is better shown with the whole line.
        before = _words_before(old, hunk.old_start) + opener if not gone[0].isalpha() or is_cjk(gone[0]) else ""
        if before.strip(_OPENERS) or gone == plain(line):
            return f"{before}{gone} becomes {come}"
        return f"{gone} becomes {come} in “{label(line, 40)}”"
    if come:
        return f"Add “{come}” to “{label(line, 40)}”"
    return f"Remove “{gone}” from “{label(line, 40)}”" if gone else ""


def _named(words: list[str]) -> str:
    """Return words as a title names them. Code marks go: a change often holds one of a pair only."""
    return plain("".join(words).replace("`", ""))


def _line(words: list[str], at: int) -> str:
    """Return the line of a text that holds a word."""
    text, offset = "".join(words), len("".join(words[:at]))
    end = text.find("\n", offset)
    line = text[text.rfind("\n", 0, offset) + 1 : end if end >= 0 else len(text)]
    return line if line.strip() else text


def _widened(old: list[str], new: list[str], hunk: Hunk) -> Hunk:
    """Widen a changed place to what people read as one: a unit with its number, a sign with what it compares, a word of
    a script without blanks."""
    gone, come = old[hunk.old_start : hunk.old_end], new[hunk.new_start : hunk.new_end]
    if not gone or not come:
        return hunk
    left = right = 0
    if len(gone) == len(come) == 1 and gone[0].isalpha() and max(len(gone[0]), len(come[0])) <= 3:
        before = old[max(0, hunk.old_start - 2) : hunk.old_start]
        if len(before) == 2 and before[1] == " " and before[0][-1].isdigit():
            left = 2
    if not any(char.isalnum() for char in "".join(gone + come)):
        after = old[hunk.old_end : hunk.old_end + 2]
        right = 2 if len(after) == 2 and after[0] == " " else 0
    left = left or _run(old[: hunk.old_start][::-1], (gone[0][0], come[0][0]), is_before=True)
    right = right or _run(old[hunk.old_end :], (gone[-1][-1], come[-1][-1]), is_before=False)
    return Hunk(hunk.old_start - left, hunk.old_end + right, hunk.new_start - left, hunk.new_end + right)


def _run(words: list[str], edges: tuple[str, str], *, is_before: bool) -> int:
    """Return how many of the words that follow each other continue a word of the same script."""
    if is_before and all(_HAN[0] <= edge <= _HAN[1] for edge in edges):
        return 1 if words and len(words[0]) == 1 and _HAN[0] <= words[0] <= _HAN[1] else 0
    for first, last in _RUNS:
        if any(first <= edge <= last for edge in edges):
            count = 0
            while count < min(len(words), MAX_RUN_CHARS) and len(words[count]) == 1 and first <= words[count] <= last:
                count += 1
            return count
    return 0


def _words_before(words: list[str], end: int) -> str:
    """Return the words right before a place on the same line, up to two where words are divided by blanks.

    Nothing, where they would begin in the middle of a word.
    """
    start, count = end, 0
    for index in range(end - 1, -1, -1):
        word = words[index]
        if "\n" in word or not (word.isspace() or word[-1].isalnum()):
            break
        count += 0 if word.isspace() else 1 if is_cjk(word[-1]) else 3
        if count > 6:
            if is_cjk(word[-1]) and start < end and is_cjk(words[start][0]):
                return ""
            break
        start = index
    return "".join(words[start:end]).replace("`", "").lstrip()
