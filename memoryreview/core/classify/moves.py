"""Entries that go in one place and come in another, as they were or changed on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memoryreview.core.model import Kind

from . import reasons, titles, wording
from .budget import Budget
from .draft import Draft
from .steps import similarity

MIN_SIMILARITY = 0.7
"""Share of common text from which an entry that comes elsewhere counts as one that goes, changed."""

MIN_WORDS = 3
MAX_PAIRS = 2_500

_GOES = frozenset({Kind.FACT_DELETE, Kind.INDEX_DROP})
_COMES = frozenset({Kind.FACT_ADD, Kind.INDEX_ADD})


def told(drafts: Sequence[Draft], budget: Budget) -> list[Draft]:
    """Say of entries that go in one place and come in another that they move. Both stay to be decided one by one."""
    came = {d.come[0]: d for d in reversed(drafts) if d.kind in _COMES and len(d.come) == 1 and d.come[0]}
    went = {d.gone[0]: d for d in reversed(drafts) if d.kind in _GOES and len(d.gone) == 1 and d.gone[0]}
    edited = _edited(
        [d for text, d in went.items() if text not in came and not d.rewrites],
        [d for text, d in came.items() if text not in went and not d.rewrites],
        budget,
    )
    found: list[Draft] = []
    for draft in drafts:
        if id(draft) in edited:
            found.append(_changed(draft, edited[id(draft)]))
        elif draft.kind in _GOES and len(draft.gone) == 1 and draft.gone[0] in came:
            found.append(_moved(draft, came[draft.gone[0]]))
        elif draft.kind in _COMES and len(draft.come) == 1 and draft.come[0] in went:
            found.append(_moved(draft, went[draft.come[0]]))
        else:
            found.append(draft)
    return found


def _edited(went: Sequence[Draft], came: Sequence[Draft], budget: Budget) -> dict[int, Draft]:
    """Pair what goes with what comes by likeness, the most alike first; each once. Keys are identities of drafts."""
    count = len(went) * len(came)
    if not 0 < count <= MAX_PAIRS or not budget.pays_comparisons(count):
        return {}
    pairs: list[tuple[float, int, int]] = []
    for i, one in enumerate(went):
        for j, two in enumerate(came):
            if min(len(text.split()) for text in (one.gone[0], two.come[0])) < MIN_WORDS and not _is_long(one, two):
                continue
            score = similarity(one.gone[0].encode(), two.come[0].encode())
            if score >= MIN_SIMILARITY:
                pairs.append((-score, i, j))
    found: dict[int, Draft] = {}
    for _, i, j in sorted(pairs):
        if id(went[i]) not in found and id(came[j]) not in found:
            found[id(went[i])], found[id(came[j])] = came[j], went[i]
    return found


def _is_long(one: Draft, two: Draft) -> bool:
    """Whether texts of a script without blanks have as much to compare as some words."""
    return min(len(one.gone[0].encode()), len(two.come[0].encode())) >= 8 * MIN_WORDS and not one.gone[0].isascii()


def _moved(draft: Draft, other: Draft) -> Draft:
    direction, place = _way(draft, other)
    text = titles.label((draft.gone or draft.come)[0], 50)
    why = f"The same text is moved {direction} {place}; decide both the same way."
    return replace(draft, title=titles.shorten(f"Move “{text}” {direction} {place}"), reasons=(why,))


def _changed(draft: Draft, other: Draft) -> Draft:
    direction, place = _way(draft, other)
    before, after = (draft, other) if draft.gone else (other, draft)
    text = titles.label((draft.gone or draft.come)[0], 40)
    may_quote = wording.told(before.gone[0]) and wording.told(after.come[0])
    what = wording.rewriting(before.gone[0], after.come[0]) if may_quote else ""
    why = f"It looks moved {direction} {place} and changed on the way{what and ': '}{what}. Decide both the same way."
    found = reasons.of_change(before.gone[0], after.come[0]) if may_quote else []
    # Nothing of it is lost, so it does not count as such.
    return replace(
        draft,
        title=titles.shorten(f"Move “{text}” {direction} {place} and change it"),
        reasons=(why, *found),
        gone=(),
    )


def _way(draft: Draft, other: Draft) -> tuple[str, str]:
    direction, line = ("to", other.new[0]) if draft.gone else ("from", other.old[0])
    place = f"line {line + 1}" if other.path == draft.path else f"{titles.plain(other.path)}, line {line + 1}"
    return direction, place
