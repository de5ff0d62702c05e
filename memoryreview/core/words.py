"""Which words differ between two similar lines, for display. Bounded by counts, never by the clock alone."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from diff_match_patch import diff_match_patch
from rapidfuzz.distance import Indel

from .align import Hunk, align, between_equal_ends
from .chips import is_unseen
from .text import is_cjk

MAX_DMP_CHARS = 2_000
MAX_WORDS_CHARS = 50_000
_MAX_DMP_COST = 200_000
_MAX_COMPARED_CHARS = 4_000
_FIRST_CODE = 0xF0000  # private use: a word becomes one character that diff-match-patch takes for nothing else
_SIMILAR = 0.5


@dataclass
class Budget:
    """Work that one document may still cost, in steps of the algorithms below."""

    comparisons: int = 4_000_000
    dmp: int = 2_000_000

    def takes_comparison(self, steps: int) -> bool:
        if steps > self.comparisons:
            return False
        self.comparisons -= steps
        return True

    def takes_dmp(self, steps: int) -> bool:
        if steps > min(self.dmp, _MAX_DMP_COST):
            return False
        self.dmp -= steps
        return True


def similarity(old: str, new: str, budget: Budget) -> float:
    """Return how alike two lines are, 0 to 1; 0 below what is worth a comparison, or when the budget is spent."""
    left, right = _shortened(old), _shortened(new)
    if not budget.takes_comparison(20 + len(left) * len(right) // 64):
        return 0.0
    return float(Indel.normalized_similarity(left, right, score_cutoff=_SIMILAR))


def _shortened(text: str) -> str:
    if len(text) <= _MAX_COMPARED_CHARS:
        return text
    half = _MAX_COMPARED_CHARS // 2
    return text[:half] + text[-half:]


def changed_spans(old: str, new: str, budget: Budget) -> tuple[Hunk, ...]:
    """Return which runs of characters differ between two paired lines, widened to whole words.

    Latin and the like by words, scripts without blanks by characters, blanks and signs by themselves. Offsets are
    half-open; an empty side says where the other side's text is missing. Above MAX_WORDS_CHARS all between the equal
    ends of the lines is one run.
    """
    if max(len(old), len(new)) > MAX_WORDS_CHARS:
        return (between_equal_ends(old, new),)
    old_words, new_words = split_words(old), split_words(new)
    hunks = _by_dmp(old_words, new_words, budget)
    if hunks is None:
        hunks = list(align(old_words, new_words))
    old_ends, new_ends = _offsets(old_words), _offsets(new_words)
    return tuple(
        Hunk(old_ends[hunk.old_start], old_ends[hunk.old_end], new_ends[hunk.new_start], new_ends[hunk.new_end])
        for hunk in hunks
    )


def split_words(text: str) -> list[str]:
    """Split into words, runs of blanks and single signs; joined they are the text again."""
    words: list[str] = []
    start, last = 0, ""
    for at, char in enumerate(text):
        kind = _kind(char)
        if at and ((kind == "mark" and last != "unseen") or (kind == last and kind in ("word", "blank"))):
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
    if is_cjk(char):
        return "mark" if unicodedata.category(char)[0] == "M" else "sign"
    if char.isalnum() or char == "_":
        return "word"
    return "mark" if unicodedata.category(char)[0] == "M" else "sign"


def _offsets(words: list[str]) -> list[int]:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return offsets


def _by_dmp(old: list[str], new: list[str], budget: Budget) -> list[Hunk] | None:
    """Return the changed runs of words, cleaned semantically; None when they would cost too much."""
    whole = between_equal_ends(old, new)
    left, right = old[whole.old_start : whole.old_end], new[whole.new_start : whole.new_end]
    if max(sum(map(len, left)), sum(map(len, right))) > MAX_DMP_CHARS:
        return None
    codes: dict[str, str] = {}
    left_text = "".join(codes.setdefault(word, chr(_FIRST_CODE + len(codes))) for word in left)
    right_text = "".join(codes.setdefault(word, chr(_FIRST_CODE + len(codes))) for word in right)
    # The search takes about (length * distance) steps, and the distance is cheap to know beforehand.
    if not budget.takes_dmp((len(left) + len(right)) * Indel.distance(left_text, right_text)):
        return None
    differ = diff_match_patch()
    differ.Diff_Timeout = 0.2  # a net below the budget
    diffs = differ.diff_main(left_text, right_text, False)
    differ.diff_cleanupSemantic(diffs)
    return _runs(diffs, whole.old_start, whole.new_start)


def _runs(diffs: list[tuple[int, str]], old_at: int, new_at: int) -> list[Hunk]:
    runs: list[Hunk] = []
    is_open = False
    for operation, words in diffs:
        old_end = old_at + (len(words) if operation <= 0 else 0)
        new_end = new_at + (len(words) if operation >= 0 else 0)
        if operation == 0:
            is_open = False
        elif is_open:
            runs[-1] = runs[-1]._replace(old_end=old_end, new_end=new_end)
        else:
            runs.append(Hunk(old_at, old_end, new_at, new_end))
            is_open = True
        old_at, new_at = old_end, new_end
    return runs
