"""What two statements have to do with each other: the same, nearly the same, another value, or nothing.

A difference in a number, unit, version, date, name, comparison or negation never makes a duplicate. A difference in
commands, paths, addresses and code alone makes nothing at all: parallel lines are alike by design.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from memoryreview.core.text import normalise

from . import words
from .difference import (
    Gap,
    are_opposed,
    cut,
    differ_in_negation,
    difference,
    gaps_between,
    is_linked,
    is_negated,
    is_parallel,
    negations,
    shared_weight,
    sides,
    swaps_value,
    text_of,
)
from .index import NEAR_RATIO
from .model import RelationKind
from .tokens import VALUES, Reading, Role, Sentence, Token, content, read

MAX_SENTENCES = 8
MAX_DENIAL_WORDS = 2.0
""""Not" and "no longer" deny what the other says; a longer addition only says more."""

MIN_SHARED = 2.0
"""What the subject and attribute must say, in words, for two values to be of the same thing."""

MAX_VALUE_WORDS = 3.0
MIN_SENTENCE_WORDS = 3.0
"""What a sentence must say, in words, that two statements share."""

MIN_LONG_WORDS = 8.0
"""From here on one word that names another thing leaves two statements nearly the same."""

MIN_OVERLAP_WORDS = 5.0
MIN_PLAIN_OVERLAP = 0.75
MIN_OVERLAP = 0.5
"""Share of the shorter statement that stands in the other one as well, where they name the same paths or code."""

MIN_LITERALS = 2
SAME_WORD_RATIO = 75.0
"""From here on two words are forms or misspellings of one."""

_AMOUNTS = frozenset({Role.NUMBER, Role.UNIT, Role.WHEN, Role.SIGN})
_TELLING = VALUES | {Role.NEGATION}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`shared` is what the subject and attribute say, in words, where two values of them are told."""

    kind: RelationKind
    sentence: str
    score: int = 0
    shared: float = 0.0


def compare(here: str, there: str) -> Outcome | None:
    """Say how two statements relate, None when they do not. Symmetric but for the words of the sentence. Total."""
    if normalise(here) == normalise(there):
        return Outcome(RelationKind.DUPLICATE, "The same words stand there.", 100)
    left, right = read(here), read(there)
    if left.is_cut or right.is_cut or not left.sentences or not right.sentences or _speak_of_others(left, right):
        return None
    if left.whole.keys == right.whole.keys:
        score = max(round(fuzz.ratio(here, there)), round(NEAR_RATIO))
        return Outcome(RelationKind.NEAR_DUPLICATE, _same_words(left, right), score)
    found = _shorter(left, right) or _whole(left, right, here, there) or _by_sentence(left, right)
    return replace(found, score=round(fuzz.ratio(here, there))) if found else None


def other_value(here: str, there: str) -> str:
    """Return how two texts about one and the same thing disagree, "" when they do not."""
    left, right = read(here), read(there)
    if left.is_cut or right.is_cut or not left.sentences or not right.sentences:
        return ""
    if left.whole.keys == right.whole.keys or _shorter(left, right):
        return ""
    mine, theirs = set(left.whole.keys), set(right.whole.keys)
    for group in words.STATES:
        if mine & group and theirs & group and not mine & theirs & group:
            return f"“{min(mine & group)}” here, “{min(theirs & group)}” there."
    gaps = gaps_between(left.whole, right.whole)
    if not any(gap.is_swap for gap in gaps) and sum(gap.extra for gap in gaps) > MAX_DENIAL_WORDS:
        return ""
    found = _contradiction(gaps, shared_weight(left.whole, gaps), is_one_subject=True)
    return found.sentence if found else ""


def _speak_of_others(left: Reading, right: Reading) -> bool:
    """Whether each begins with the name of another thing: "Backups: …" and "Printer: …"."""
    return bool(left.label) and bool(right.label) and left.label != right.label


def _same_words(left: Reading, right: Reading) -> str:
    if left.citations != right.citations:
        here, there = left.citations or "nothing", right.citations or "nothing"
        return f"The same words; only the source differs: {here} here, {there} there."
    return "The same words; only spelling, marks or numbering differ."


def _shorter(left: Reading, right: Reading) -> Outcome | None:
    """Find a statement that is the other one without its end, or one sentence of it."""
    is_here = len(left.whole.keys) < len(right.whole.keys)
    short, long = (left.whole, right) if is_here else (right.whole, left)
    if short.weight < MIN_SHARED:
        return None
    at, size = 0, len(short.keys)
    for part in long.sentences:
        if long.whole.keys[at : at + size] == short.keys:
            if negations(part.tokens[size:]):
                return None
            rest = long.whole.tokens[:at] + long.whole.tokens[at + size :]
            where, said = ("here", "left out here") if is_here else ("there", "said here only")
            sentence = f"The shorter form stands {where}; “{text_of(rest)}” is {said}."
            return Outcome(RelationKind.SHORTER, sentence)
        at += len(part.keys)
    return None


def _whole(left: Reading, right: Reading, here: str, there: str) -> Outcome | None:
    common = _common(left.whole.tokens, right.whole.tokens)
    if content(common) < min(MIN_SHARED, left.whole.weight / 2, right.whole.weight / 2):
        return None
    gaps = gaps_between(left.whole, right.whole)
    if not gaps:
        return Outcome(RelationKind.NEAR_DUPLICATE, "The same words in another order.")
    if is_parallel(gaps):
        return None
    shared = shared_weight(left.whole, gaps)
    found = None if left.is_dated and right.is_dated else _contradiction(gaps, shared)
    return found or _near(left.whole, right.whole, gaps, common, is_alike=fuzz.ratio(here, there) >= NEAR_RATIO)


def _by_sentence(left: Reading, right: Reading) -> Outcome | None:
    """Compare statements of several sentences sentence by sentence: each may be a claim of its own."""
    if (len(left.sentences), len(right.sentences)) == (1, 1):
        return None
    is_log = left.is_dated and right.is_dated
    found = [
        outcome
        for mine in left.sentences[:MAX_SENTENCES]
        for theirs in right.sentences[:MAX_SENTENCES]
        if (outcome := _of_sentences(mine, theirs, is_log=is_log))
    ]
    return min(found, key=lambda outcome: outcome.kind is not RelationKind.CONTRADICTION, default=None)


def _of_sentences(mine: Sentence, theirs: Sentence, *, is_log: bool) -> Outcome | None:
    short, long = sorted((mine, theirs), key=lambda sentence: (len(sentence.keys), sentence.weight))
    if short.weight < MIN_SHARED or len(set(short.keys) & set(long.keys)) * 2 < len(set(short.keys)):
        return None
    gaps = gaps_between(mine, theirs)
    if short.keys == long.keys[: len(short.keys)]:
        is_said = short.weight >= MIN_SENTENCE_WORDS and not differ_in_negation(gaps)
        return Outcome(RelationKind.NEAR_DUPLICATE, f"Both say “{cut(short.text)}”.") if is_said else None
    return None if is_log or not gaps or is_parallel(gaps) else _contradiction(gaps, shared_weight(mine, gaps))


def _contradiction(gaps: Sequence[Gap], shared: float, *, is_one_subject: bool = False) -> Outcome | None:
    """Find the one thing on which two statements about the same subject and attribute disagree."""
    swaps = [gap for gap in gaps if gap.is_swap]
    extra = sum(gap.extra for gap in gaps if not gap.is_swap)
    if are_opposed(gaps) and len(swaps) <= 1 and shared >= 1 and extra <= shared + 1:
        return _disagreement(gaps, shared)
    if differ_in_negation(gaps):
        is_about_same = shared >= MIN_SHARED and all(gap.extra <= MAX_DENIAL_WORDS and is_negated(gap) for gap in swaps)
        return _disagreement(gaps, shared) if is_about_same and extra - 1 <= shared else None
    if len(swaps) != 1:
        return None
    [swap] = swaps
    if _is_value(swap.here) and _is_value(swap.there):
        needed = 0.0 if is_one_subject else 1.0 if extra == 0 else MIN_SHARED
        return _disagreement(gaps, shared) if shared >= needed and extra <= max(MIN_SHARED, shared) else None
    is_attribute = _is_linked_value(swap) if extra else _is_linked_value(swap) or _is_lone_word(swap)
    return (
        _disagreement(gaps, shared)
        if is_attribute and shared >= MIN_SHARED and extra <= 1 and not is_one_subject
        else None
    )


def _near(
    left: Sentence, right: Sentence, gaps: Sequence[Gap], common: Sequence[Token], *, is_alike: bool
) -> Outcome | None:
    """Find two statements of nearly the same words in which no value, negation or code differs."""
    if differ_in_negation(gaps) or are_opposed(gaps) or any(swaps_value(gap) for gap in gaps):
        return None
    if all(any(token.role in _AMOUNTS for token in side) for side in sides(gaps)):
        return None
    least = min(left.weight, right.weight)
    if least < MIN_LONG_WORDS and any(_is_other_subject(gap) or _is_other_kind(gap) for gap in gaps if gap.is_swap):
        return None
    said = content(common)
    if is_alike and said >= MIN_SENTENCE_WORDS:
        return Outcome(RelationKind.NEAR_DUPLICATE, f"Nearly the same words: {difference(gaps)}.")
    literals = sum(token.role is Role.LITERAL for token in common)
    needed = MIN_OVERLAP if literals >= MIN_LITERALS else MIN_PLAIN_OVERLAP
    if said < MIN_OVERLAP_WORDS or said < needed * least:
        return None
    return Outcome(RelationKind.NEAR_DUPLICATE, f"Both speak of {_list(common)}.")


def _common(here: Sequence[Token], there: Sequence[Token]) -> list[Token]:
    left = Counter(token.key for token in there)
    found: list[Token] = []
    for token in here:
        if token.role is not Role.FUNCTION and left[token.key] > 0:
            left[token.key] -= 1
            found.append(token)
    return found


def _is_value(tokens: Sequence[Token]) -> bool:
    return all(token.role in VALUES for token in tokens)


def _is_linked_value(swap: Gap) -> bool:
    """Whether as many words stand for others where a value belongs; "short" and "brief, direct" may mean the same."""
    return swap.extra <= MAX_VALUE_WORDS and content(swap.here) == content(swap.there) and is_linked(swap.before)


def _is_lone_word(swap: Gap) -> bool:
    """Whether one word of its own, not a form of the same one, stands for another: half-up for half-even."""
    if len(swap.here) != 1 or len(swap.there) != 1 or _is_inflected(swap) or _is_other_subject(swap):
        return False
    return not swap.after or swap.after[0].role is Role.FUNCTION


def _is_other_kind(swap: Gap) -> bool:
    """Whether the words that differ say which of several things is meant: the web server, the mail server."""
    is_before_noun = bool(swap.after) and swap.after[0].role is not Role.FUNCTION
    return is_before_noun and not _is_inflected(swap)


def _is_inflected(swap: Gap) -> bool:
    return fuzz.ratio(text_of(swap.here).casefold(), text_of(swap.there).casefold()) >= SAME_WORD_RATIO


def _is_other_subject(gap: Gap) -> bool:
    return is_linked(gap.after) and not is_linked(gap.before)


def _disagreement(gaps: Sequence[Gap], shared: float) -> Outcome:
    telling = [gap for gap in gaps if gap.is_swap or any(map(_is_telling, (*gap.here, *gap.there)))]
    return Outcome(RelationKind.CONTRADICTION, f"{_capital(difference(telling or gaps))}.", shared=shared)


def _is_telling(token: Token) -> bool:
    return token.role in _TELLING or negations([token]) > 0


def _list(tokens: Sequence[Token]) -> str:
    return f"“{cut(', '.join(dict.fromkeys(token.text for token in tokens)))}”"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
