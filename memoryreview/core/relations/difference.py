"""Where two statements differ, in words that say something, and what kind of difference it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memoryreview.core.align import Hunk, align

from . import words
from .tokens import VALUES, Role, Sentence, Token, content

MAX_NAMED_CHARS = 60


@dataclass(frozen=True, slots=True)
class Gap:
    """Where two statements differ: the tokens that only one of them has at this place.

    Args:
        here_text, there_text: the same with the small words between them.
        before, after: the tokens around it on both sides, those of the first statement next to it.
        is_swap: whether both sides say something here.
        extra: what the one side says that says more, in words.
    """

    here: tuple[Token, ...]
    there: tuple[Token, ...]
    here_text: str
    there_text: str
    before: tuple[Token, ...]
    after: tuple[Token, ...]
    is_swap: bool
    extra: float


def gaps_between(here: Sentence, there: Sentence) -> list[Gap]:
    """Return where two statements differ in words that say something; a word that only moved is no difference."""
    hunks = _aligned(here.keys, there.keys)
    left = Counter(t.key for h in hunks for t in here.tokens[h.old_start : h.old_end] if t.role is Role.WORD)
    right = Counter(t.key for h in hunks for t in there.tokens[h.new_start : h.new_end] if t.role is Role.WORD)
    moved = left & right
    gaps: list[Gap] = []
    for hunk in hunks:
        gone, come = here.tokens[hunk.old_start : hunk.old_end], there.tokens[hunk.new_start : hunk.new_end]
        mine, theirs = _telling(gone, moved), _telling(come, moved)
        if mine or theirs:
            said = content(mine), content(theirs)
            before = there.tokens[: hunk.new_start] + here.tokens[: hunk.old_start]
            after = here.tokens[hunk.old_end :] + there.tokens[hunk.new_end :]
            texts = text_of(_between(gone, mine)), text_of(_between(come, theirs))
            gaps.append(Gap(mine, theirs, *texts, before, after, min(said) > 0, max(said)))
    return gaps


def _aligned(here: tuple[str, ...], there: tuple[str, ...]) -> Sequence[Hunk]:
    """Align in one order, whoever asks: of several shortest differences the same one is told."""
    if here <= there:
        return align(here, there)
    return [Hunk(h.new_start, h.new_end, h.old_start, h.old_end) for h in align(there, here)]


def _between(tokens: Sequence[Token], telling: Sequence[Token]) -> Sequence[Token]:
    """Return the run from the first to the last of the telling tokens."""
    if not telling:
        return ()
    last = len(tokens) - tokens[::-1].index(telling[-1])
    return tokens[tokens.index(telling[0]) : last]


def _telling(tokens: Sequence[Token], moved: Counter[str]) -> tuple[Token, ...]:
    return tuple(token for token in tokens if token.role is not Role.FUNCTION and token.key not in moved)


def sides(gaps: Sequence[Gap]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Return all that only the one, and all that only the other says."""
    return tuple(t for gap in gaps for t in gap.here), tuple(t for gap in gaps for t in gap.there)


def shared_weight(here: Sentence, gaps: Sequence[Gap]) -> float:
    return here.weight - sum(content(gap.here) for gap in gaps)


def is_parallel(gaps: Sequence[Gap]) -> bool:
    """Whether all that differs is a command, path, address or code, or a word that stands in a differing one."""
    literals = [token.key.casefold() for gap in gaps for token in (*gap.here, *gap.there) if token.role is Role.LITERAL]
    if not literals:
        return any(_differ_in_scope(gap) for gap in gaps)
    plain = [token for gap in gaps for token in (*gap.here, *gap.there) if token.role is not Role.LITERAL]
    if all(any(token.key in literal for literal in literals) for token in plain):
        return True
    # Both sides name something else in code, and the rest follows it: two facts.
    return any(_has_literal(gap.here) and _has_literal(gap.there) for gap in gaps)


def _has_literal(tokens: Sequence[Token]) -> bool:
    return any(token.role is Role.LITERAL for token in tokens)


def _differ_in_scope(gap: Gap) -> bool:
    here, there = ({t.key for t in side} & words.SCOPE for side in (gap.here, gap.there))
    return bool(here) and bool(there) and here != there


def swaps_value(gap: Gap) -> bool:
    return all(
        any(token.role in VALUES or token.role is Role.LITERAL for token in side) for side in (gap.here, gap.there)
    )


def is_linked(before: Sequence[Token]) -> bool:
    """Whether the value of an attribute may begin after these words: whose it is has been said."""
    return any(token.key in words.LINKING or token.key in words.LINKING_PARTS for token in before)


def is_negated(gap: Gap) -> bool:
    return negations(gap.here) != negations(gap.there)


def differ_in_negation(gaps: Sequence[Gap]) -> bool:
    return sum(negations(gap.here) for gap in gaps) != sum(negations(gap.there) for gap in gaps)


def negations(tokens: Sequence[Token]) -> int:
    joined = "".join(token.key for token in tokens if not token.key.isascii())
    plain = sum(token.role is Role.NEGATION for token in tokens)
    return plain + any(part in joined for part in words.NEGATION_PARTS)


def are_opposed(gaps: Sequence[Gap]) -> bool:
    """Whether one side says on where the other says off, and the like."""
    mine, theirs = sides(gaps)
    here, there = ({token.key for token in side} for side in (mine, theirs))
    groups = {group for key in here - there for group in words.GROUPS.get(key, ())}
    if groups and any(group in groups for key in there - here for group in words.GROUPS.get(key, ())):
        return True
    left, right = ("".join(token.key for token in side if not token.key.isascii()) for side in (mine, theirs))
    if not left or not right:
        return False
    return any((a in left and b in right) or (b in left and a in right) for a, b in words.OPPOSITE_PARTS)


def difference(gaps: Sequence[Gap]) -> str:
    """Name what differs: "15 minutes" here, "30 minutes" there."""
    here = ", ".join(filter(None, (_named(gap.here, gap.here_text, gap) for gap in gaps)))
    there = ", ".join(filter(None, (_named(gap.there, gap.there_text, gap) for gap in gaps)))
    if here and there:
        return f"“{cut(here)}” here, “{cut(there)}” there"
    return f"“{cut(here)}” stands here only" if here else f"“{cut(there)}” stands there only"


def _named(tokens: Sequence[Token], text: str, gap: Gap) -> str:
    """Return the words of one side of a gap; a number with its unit, a unit or a sign with its number."""
    if not tokens:
        return ""
    roles = {token.role for token in tokens}
    last, following = gap.before[-1:], gap.after[:1]
    if roles == {Role.UNIT} and last and last[0].role is Role.NUMBER:
        return text_of((*last, *tokens))
    is_amount = roles == {Role.NUMBER} and following and following[0].role is Role.UNIT
    if is_amount or (roles == {Role.SIGN} and following and following[0].role is Role.NUMBER):
        return text_of((*tokens, *following))
    return text


def text_of(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    for token in tokens:
        is_joined = token.role is Role.CJK and parts and not parts[-1][-1].isascii()
        parts.append(token.text if is_joined or not parts else f" {token.text}")
    return cut("".join(parts))


def cut(text: str) -> str:
    return text if len(text) <= MAX_NAMED_CHARS else text[: MAX_NAMED_CHARS - 1].rstrip() + "…"
