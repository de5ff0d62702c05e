"""Which words differ between two similar lines, for display. Bounded by counts, never by the clock."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from diff_match_patch import diff_match_patch
from rapidfuzz.distance import Indel

from .align import Hunk, align, between_equal_ends
from .chips import is_unseen
from .text import is_cjk

MAX_WORDS_CHARS = 8_000
MAX_SLOW_WORDS_CHARS = 5_000
"""Of a line that no expression splits."""
MAX_CLEANED_CHARS = 2_000
MAX_MARKED_PAIRS = 100
"""Of changed lines of one document."""
MAX_CLEANED_RUNS = 16
_MAX_COMPARED_CHARS = 2_000
_CALL_STEPS = 1_000
_SIMILAR = 0.5

_KATAKANA_RANGE = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff\uff66-\uff9d"
_HANGUL_RANGE = "\u3131-\u3163\uac00-\ud7a3"
_KATAKANA, _HANGUL = re.compile(f"[{_KATAKANA_RANGE}]"), re.compile(f"[{_HANGUL_RANGE}]")

# Texts without marks and invisible letters are split by an expression, to the same words.
_PLAIN = re.compile(
    "[\x00-\u02af\u0370-\u03ff\u0400-\u0481\u048a-\u052f\u2000-\u206f\u20a0-\u20bf\u2190-\u23ff\u2500-\u25ff"
    "\u3000-\u3029\u3030-\u3098\u309b-\u3163\u31a0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uff9d]*"
)
_PLAIN_WORD = re.compile(
    rf"[ \t]+|[{_KATAKANA_RANGE}]+|[{_HANGUL_RANGE}]+"
    r"|[^\W\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u318f\u31a0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uff66-\uff9d]+|.",
    re.DOTALL,
)
_BLANKS = frozenset({" ", "\t"})
_RUNS = frozenset({"word", "blank", "katakana", "hangul"})


@dataclass
class Budget:
    """Work that one document may still cost, in steps of the algorithms below.

    Args:
        comparisons: of pairs of lines, in steps of 64 pairs of characters; each takes some by itself.
        marked: pairs of lines in which the words that differ are looked for.
        cells: pairs of words that are aligned.
        cleaned: characters of lines that are cleaned semantically.
    """

    comparisons: int = 600_000
    marked: int = MAX_MARKED_PAIRS
    cells: int = 20_000_000
    cleaned: int = 3_000

    def takes_comparison(self, steps: int) -> bool:
        if steps > self.comparisons:
            self.comparisons = 0
            return False
        self.comparisons -= steps
        return True

    def takes_marks(self) -> bool:
        self.marked -= 1
        return self.marked >= 0

    def takes_cells(self, cells: int) -> bool:
        if cells > self.cells:
            return False
        self.cells -= cells
        return True

    def takes_cleaning(self, chars: int) -> bool:
        if chars > min(self.cleaned, MAX_CLEANED_CHARS):
            return False
        self.cleaned -= chars
        return True


def similarity(old: str, new: str, budget: Budget) -> float:
    """Return how alike two lines are, 0 to 1; 0 below what is worth a comparison, or when the budget is spent."""
    left, right = _shortened(old), _shortened(new)
    if not budget.takes_comparison(_CALL_STEPS + len(left) * len(right) // 64):
        return 0.0
    return float(Indel.normalized_similarity(left, right, score_cutoff=_SIMILAR))


def _shortened(text: str) -> str:
    if len(text) <= _MAX_COMPARED_CHARS:
        return text
    half = _MAX_COMPARED_CHARS // 2
    return text[:half] + text[-half:]


def changed_spans(old: str, new: str, budget: Budget) -> tuple[Hunk, ...]:
    """Return which runs of characters differ between two paired lines, widened to whole words.

    Latin, Hangul and Katakana by words, other scripts without blanks by characters, blanks and signs by themselves.
    Runs with little between them are one, as a reader would say it. Offsets are half-open; an empty side says where
    the other side's text is missing. In lines that are too long all between the equal ends is one run, and all of a
    line is when the budget is spent.
    """
    if not budget.takes_marks():
        return (Hunk(0, len(old), 0, len(new)),)
    if not _is_splittable(old) or not _is_splittable(new):
        start = _equal_before(old, new)
        rest = _equal_after(old, new, start)
        return (Hunk(start, len(old) - rest, start, len(new) - rest),)
    start = _equal_words_before(old, new)
    rest = _equal_words_after(old, new, start)
    spans = spans_of_words(split_words(old[start : len(old) - rest]), split_words(new[start : len(new) - rest]), budget)
    return tuple(span.shifted(start) for span in spans) if start else spans


def _is_splittable(text: str) -> bool:
    if len(text) <= MAX_SLOW_WORDS_CHARS:
        return True
    return len(text) <= MAX_WORDS_CHARS and _PLAIN.fullmatch(text) is not None


def spans_of_words(old: Sequence[str], new: Sequence[str], budget: Budget) -> tuple[Hunk, ...]:
    """Return the same for texts that are split already."""
    whole = between_equal_ends(old, new)
    if whole.old_start == whole.old_end and whole.new_start == whole.new_end:
        return ()
    old_ends, new_ends = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]
    runs: Sequence[Hunk] = (whole,)
    left, right = old[whole.old_start : whole.old_end], new[whole.new_start : whole.new_end]
    if not set(left).isdisjoint(right) and budget.takes_cells(len(left) * len(right)):
        runs = align(old, new)
    spans = [
        Hunk(old_ends[run.old_start], old_ends[run.old_end], new_ends[run.new_start], new_ends[run.new_end])
        for run in runs
    ]
    if 1 < len(spans) <= MAX_CLEANED_RUNS:
        spans = _cleaned(old, new, spans, (old_ends, new_ends), budget)
    return tuple(spans)


def _equal_before(old: str, new: str) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _equal_after(old: str, new: str, start: int) -> int:
    low, high = 0, min(len(old), len(new)) - start
    while low < high:
        middle = (low + high + 1) // 2
        is_equal = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if is_equal else (low, middle - 1)
    return low


def _equal_words_before(old: str, new: str) -> int:
    """Return a length at which both texts part at the start of a blank, all before it being equal."""
    return len(old[: max(0, old.rfind(" ", 0, _equal_before(old, new)))].rstrip(" \t"))


def _equal_words_after(old: str, new: str, start: int) -> int:
    """Return a length of equal text at the end that starts with a blank, beyond `start` on both sides."""
    at = old.find(" ", len(old) - _equal_after(old, new, start))
    # a slice: where all of the new text is equal, nothing stands before it
    while at > 0 and (old[at - 1] in _BLANKS or new[at - len(old) - 1 : at - len(old)] in _BLANKS):
        at = old.find(" ", at + 1)
    return len(old) - at if at > 0 else 0


def split_words(text: str) -> list[str]:
    """Split into words, runs of blanks and single signs; joined they are the text again."""
    if _PLAIN.fullmatch(text):
        return _PLAIN_WORD.findall(text)
    words: list[str] = []
    start, last = 0, ""
    for at, char in enumerate(text):
        kind = _kind(char)
        if at and ((kind == "mark" and last != "unseen") or (kind == last and kind in _RUNS)):
            continue
        if at:
            words.append(text[start:at])
        start, last = at, kind
    return [*words, text[start:]] if text else words


def _kind(char: str) -> str:
    if char in " \t":
        return "blank"
    if is_unseen(char):
        return "unseen"
    if unicodedata.category(char)[0] == "M":
        return "mark"
    if is_cjk(char):
        return "katakana" if _KATAKANA.match(char) else "hangul" if _HANGUL.match(char) else "sign"
    return "word" if char.isalnum() or char == "_" else "sign"


def _cleaned(
    old: Sequence[str], new: Sequence[str], spans: list[Hunk], ends: tuple[list[int], list[int]], budget: Budget
) -> list[Hunk]:
    """Return spans cleaned semantically by diff-match-patch, and widened to whole words again."""
    first, last = spans[0], spans[-1]
    if not budget.takes_cleaning(max(last.old_end - first.old_start, last.new_end - first.new_start)):
        return spans
    old_text, new_text = "".join(old), "".join(new)
    diffs: list[tuple[int, str]] = []
    reached = first.old_start
    for span in spans:
        texts = (
            (0, old_text[reached : span.old_start]),
            (-1, old_text[span.old_start : span.old_end]),
            (1, new_text[span.new_start : span.new_end]),
        )
        diffs += [(operation, text) for operation, text in texts if text]
        reached = span.old_end
    diff_match_patch().diff_cleanupSemantic(diffs)
    cleaned = _widened(diffs, first.old_start, first.new_start, ends)
    return cleaned if _is_all_shared(old_text, new_text, cleaned) else spans


def _is_all_shared(old: str, new: str, spans: Iterable[Hunk]) -> bool:
    """Whether both texts are equal outside of the spans: at an end of the text one side can grow no further."""
    old_at = new_at = 0
    for span in spans:
        if old[old_at : span.old_start] != new[new_at : span.new_start]:
            return False
        old_at, new_at = span.old_end, span.new_end
    return old[old_at:] == new[new_at:]


def _widened(
    diffs: Iterable[tuple[int, str]], old_at: int, new_at: int, ends: tuple[list[int], list[int]]
) -> list[Hunk]:
    found: list[Hunk] = []
    is_open = False
    for operation, text in diffs:
        old_end = old_at + (len(text) if operation <= 0 else 0)
        new_end = new_at + (len(text) if operation >= 0 else 0)
        if operation and is_open:
            found[-1] = found[-1]._replace(old_end=old_end, new_end=new_end)
        elif operation:
            found.append(Hunk(old_at, old_end, new_at, new_end))
        is_open = operation != 0
        old_at, new_at = old_end, new_end
    spans: list[Hunk] = []
    for span in (_on_words(one, ends) for one in found):
        while spans and (span.old_start <= spans[-1].old_end or span.new_start <= spans[-1].new_end):
            span = _joined(spans.pop(), span)
        spans.append(span)
    return spans


def _joined(one: Hunk, other: Hunk) -> Hunk:
    return Hunk(
        min(one.old_start, other.old_start),
        max(one.old_end, other.old_end),
        min(one.new_start, other.new_start),
        max(one.new_end, other.new_end),
    )


def _on_words(span: Hunk, ends: tuple[list[int], list[int]]) -> Hunk:
    """Widen a span until it starts and ends between words. What it touches is shared: it grows alike on both sides."""
    old_start, old_end, new_start, new_end = span
    while step := max(old_start - _floor(ends[0], old_start), new_start - _floor(ends[1], new_start)):
        old_start, new_start = max(0, old_start - step), max(0, new_start - step)
    while step := max(_ceiling(ends[0], old_end) - old_end, _ceiling(ends[1], new_end) - new_end):
        old_end, new_end = min(ends[0][-1], old_end + step), min(ends[1][-1], new_end + step)
    return Hunk(old_start, old_end, new_start, new_end)


def _floor(ends: list[int], at: int) -> int:
    return ends[bisect_right(ends, at) - 1]


def _ceiling(ends: list[int], at: int) -> int:
    return ends[bisect_left(ends, at)]
