"""Three-way merge by entries, for where a merge by lines conflicts only because neighbours changed.

A document is a row of units (entries, headings) with gaps between them. What one side did to a unit is done to the same
unit on the other side, wherever it stands there now. Units of "ours" that the other side left alone stay byte for byte;
what cannot be placed for sure is a conflict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from .align import Hunk, align
from .merge import Conflicted, Merged, merge3, whole
from .units import Draft, Locate, Parts, Sides, parts

MAX_BYTES = 256 * 1024
"""Larger documents are merged by lines only."""

_DELIMITER = "§".encode()
_DIVIDERS = b" \t\r\n" + _DELIMITER
_COUNTED = frozenset({"row", "bullet", "entry", "task", "task-group"})


def take_back(after: bytes | None, present: bytes | None, before: bytes | None, locate: Locate) -> Merged | Conflicted:
    """Undo in `present` what led from `before` to `after`: by lines, else by entries.

    Where lines between entries are all alike (`§`), lines say little of which is which: there entries go first.
    Later edits of other entries survive wherever these stand now, and no entry comes back that is there already.
    Conflicts are told by lines, as `merge3` does.
    """
    by_lines = merge3(after, present, before)
    if after is None or present is None or before is None or max(map(len, (after, present, before))) > MAX_BYTES:
        return by_lines
    if before in (after, present) or after == present or not all(map(_is_text, (after, present, before))):
        return by_lines
    is_plain = isinstance(by_lines, Merged) and not _is_delimited(after, locate)
    if isinstance(by_lines, Merged) and is_plain and _is_sound(by_lines.data or b"", after, present, before, locate):
        return by_lines
    by_entries = merge_entries(after, present, before, locate)
    if by_entries is not None:
        return Merged(by_entries)
    # Where lines merge all the same, entries would be repeated, left over or misplaced.
    return by_lines if isinstance(by_lines, Conflicted) else whole(after, present, before)


def merge_entries(base: bytes, ours: bytes, theirs: bytes, locate: Locate) -> bytes | None:
    """Return `ours` with what `theirs` did to the entries of `base`; None where that cannot be placed for sure.

    For text: what is not UTF-8 has no entries to speak of.
    """
    sides = Sides(parts(base, locate), parts(ours, locate), parts(theirs, locate))
    draft = Draft(list(range(len(sides.ours.units))), list(sides.ours.units), list(sides.ours.gaps))
    try:
        _carry_over(sides, draft)
    except _UnplacedError:
        return None
    merged = draft.joined()
    found = parts(merged, locate)
    most, counts = Counter(sides.ours.units) | Counter(sides.theirs.units), Counter(draft.units)
    # Text put beside other text may become part of it: only what reads back as meant is a result.
    is_as_meant = (found.units, found.gaps) == (draft.units, draft.gaps) and _stand_right(found, sides)
    return merged if is_as_meant and all(counts[unit] <= most[unit] for unit in most) else None


class _UnplacedError(Exception):
    """A change of the other side has no certain place in ours."""


def _carry_over(sides: Sides, draft: Draft) -> None:
    hunks = align(sides.base.units, sides.theirs.units)
    _move_gaps(sides, draft, hunks)
    runs = [hunk for hunk in hunks if hunk.new_start < hunk.new_end]
    for hunk in hunks:
        if hunk.new_start == hunk.new_end:
            _remove_run(sides, draft, hunk)
    # What moved is taken out where it was before it is put in elsewhere.
    for hunk in runs:
        if hunk.old_start < hunk.old_end:
            _replace(sides, draft, hunk)
    for hunk in runs:
        if hunk.old_start == hunk.old_end:
            _insert(sides, draft, hunk)


def _move_gaps(sides: Sides, draft: Draft, hunks: Sequence[Hunk]) -> None:
    """Carry over what the other side did to gaps between units that it left alone."""
    shift = 0
    queue = list(hunks)
    for at in range(len(sides.base.units) + 1):
        while queue and queue[0].old_end < at:
            shift = queue[0].new_end - queue[0].old_end
            queue.pop(0)
        if queue and queue[0].old_start <= at <= queue[0].old_end:
            continue  # beside a run: the run decides
        was, wanted = sides.base.gaps[at], sides.theirs.gaps[at + shift]
        if was == wanted:
            continue
        above, below = sides.place(at - 1), sides.place(at)
        if above is None or below != above + 1:
            raise _UnplacedError
        draft.gaps[below] = _gap(was, draft.gaps[below], wanted)


def _gap(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    merged = merge3(base, ours, theirs)
    if isinstance(merged, Merged) and merged.data is not None:
        return merged.data
    if _divides(base) and _divides(ours) and _divides(theirs):
        return ours
    raise _UnplacedError


def _remove_run(sides: Sides, draft: Draft, hunk: Hunk) -> None:
    """Take out what the other side does not have, wherever it stands in ours."""
    places = []
    for at in range(hunk.old_start, hunk.old_end):
        place = sides.same.get(at)
        if place is not None:
            places.append(place)
        elif at not in sides.gone:
            raise _UnplacedError
    known = {*sides.same.values(), *sides.edited.values()}
    if any(_adopts(sides, draft, draft.at(place), known) for place in places if place in sides.ours.headings):
        raise _UnplacedError
    around = [sides.place(hunk.old_start - 1), *places, sides.place(hunk.old_end)]
    if len(places) == hunk.old_end - hunk.old_start and _follow_each_other(around):
        here = draft.at(places[0])
        if draft.ids[here : here + len(places)] == places:
            draft.remove(here, _gap_left(sides, draft, hunk, here), len(places))
            return
    for place in places:
        here = draft.at(place)
        above, below = draft.gaps[here], draft.gaps[here + 1]
        draft.remove(here, _joined_gap(above, below, is_first=here == 0, is_last=here == len(draft.units) - 1))


def _follow_each_other(places: Sequence[int | None]) -> bool:
    return all(a is not None and b == a + 1 for a, b in pairwise(places))


def _adopts(sides: Sides, draft: Draft, here: int, known: set[int]) -> bool:
    """Whether a heading that goes would leave units of ours, which came later, to the section above."""
    for number in draft.ids[here + 1 :]:
        if number in sides.ours.headings:
            return False
        if number not in known:
            return True
    return False


def _gap_left(sides: Sides, draft: Draft, hunk: Hunk, here: int) -> bytes:
    """Return the gap that stood there before, unless text of ours stands in those that it takes the place of."""
    size = hunk.old_end - hunk.old_start
    were, are = sides.base.gaps[hunk.old_start : hunk.old_end + 1], draft.gaps[here : here + size + 1]
    if all(_divides(gap) or gap == was for was, gap in zip(were, are, strict=True)):
        return sides.theirs.gaps[hunk.new_start]
    raise _UnplacedError


def _joined_gap(above: bytes, below: bytes, *, is_first: bool, is_last: bool) -> bytes:
    """Return what stays of the gaps around a unit that goes. Text in them is never dropped."""
    if is_first and is_last:
        return above + below
    kept, dropped = (above, below) if is_first or (not is_last and len(above) > len(below)) else (below, above)
    if not _divides(dropped) and not is_first and not is_last and _divides(kept):
        kept, dropped = dropped, kept
    if not _divides(dropped):
        raise _UnplacedError
    return kept


def _replace(sides: Sides, draft: Draft, hunk: Hunk) -> None:
    """Put what the other side made of a run of units where that run stands in ours."""
    olds = range(hunk.old_start, hunk.old_end)
    news = sides.theirs.units[hunk.new_start : hunk.new_end]
    first = sides.same.get(hunk.old_start)
    if first is not None and _follow_each_other([sides.same.get(at) for at in olds]):
        _replace_run(sides, draft, hunk, first)
        return
    if len(olds) != len(news):
        raise _UnplacedError
    for at, new in zip(olds, news, strict=True):
        place = sides.place(at)
        if place is None:
            raise _UnplacedError
        here = draft.at(place)
        merged = merge3(sides.base.units[at], draft.units[here], new)
        if not isinstance(merged, Merged) or not merged.data:
            raise _UnplacedError
        draft.units[here] = merged.data


def _replace_run(sides: Sides, draft: Draft, hunk: Hunk, place: int) -> None:
    base, theirs = sides.base, sides.theirs
    size = hunk.old_end - hunk.old_start
    here = draft.at(place)
    if draft.ids[here : here + size] != list(range(place, place + size)):
        raise _UnplacedError
    between = [gap for gap in draft.gaps[here + 1 : here + size] if not _divides(gap)]
    if between and between != [gap for gap in theirs.gaps[hunk.new_start + 1 : hunk.new_end] if not _divides(gap)]:
        raise _UnplacedError
    first = _outer_gap(base.gaps[hunk.old_start], draft.gaps[here], theirs.gaps[hunk.new_start])
    last = _outer_gap(base.gaps[hunk.old_end], draft.gaps[here + size], theirs.gaps[hunk.new_end])
    draft.ids[here : here + size] = [-1] * (hunk.new_end - hunk.new_start)
    draft.units[here : here + size] = theirs.units[hunk.new_start : hunk.new_end]
    draft.gaps[here : here + size + 1] = [first, *theirs.gaps[hunk.new_start + 1 : hunk.new_end], last]


def _outer_gap(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    return theirs if ours == base else _gap(base, ours, theirs)


def _insert(sides: Sides, draft: Draft, hunk: Hunk) -> None:
    """Put units of the other side where their neighbours stand in ours; those that are there already are left out."""
    theirs = sides.theirs
    units = theirs.units[hunk.new_start : hunk.new_end]
    missing = [unit for unit in units if draft.units.count(unit) < _wanted(sides, unit)]
    if not missing:
        return
    if len(missing) < len(units):
        raise _UnplacedError
    gaps = theirs.gaps[hunk.new_start : hunk.new_end + 1]
    has_heading = any(at in theirs.headings for at in range(hunk.new_start, hunk.new_end))
    above, below = _above(sides, hunk.old_start - 1), _below(sides, hunk.old_start, has_heading=has_heading)
    if above is not None and below == above + 1 and _is_adjacent(draft, above, below):
        at = draft.at(below)
        if not _divides(draft.gaps[at]) and draft.gaps[at] not in (gaps[0], gaps[-1]):
            raise _UnplacedError
        draft.insert(at, units, gaps)
    elif below is not None and (has_heading or above is None):
        at = draft.at(below)
        draft.insert(at, units, [draft.gaps[at], *gaps[1:]])
    elif above is not None and not has_heading:
        at = draft.at(above) + 1
        draft.insert(at, units, [*gaps[:-1], draft.gaps[at]])
    else:
        raise _UnplacedError


def _wanted(sides: Sides, unit: bytes) -> int:
    return _number(*(side.units.count(unit) for side in (sides.base, sides.ours, sides.theirs)))


def _number(base: int, ours: int, theirs: int) -> int:
    """Return how often an entry is to be there: what the other side did to its number, done to ours, and no repeat."""
    return max(0, min(ours + theirs - base, max(ours, theirs)))


def _is_adjacent(draft: Draft, above: int, below: int) -> bool:
    return draft.at(below) == draft.at(above) + 1


def _above(sides: Sides, at: int) -> int | None:
    """Return where the unit above stands in ours, None where it is gone or went to another section."""
    place = sides.place(at)
    if place is None or at < 0 or at in sides.base.headings:
        return place
    return place if sides.place(sides.base.section(at)) == sides.ours.section(place) else None


def _below(sides: Sides, at: int, *, has_heading: bool) -> int | None:
    """Return where the unit below, or the end, is in ours; None where it is gone or another section ends there."""
    place = sides.place(at)
    if place is None or has_heading:
        return place
    return place if sides.place(sides.base.section(at)) == sides.ours.section(place) else None


def _is_sound(merged: bytes, base: bytes, ours: bytes, theirs: bytes, locate: Locate) -> bool:
    """Whether a merge by lines did to entries what was to be done: none repeated, left over, or under a wrong heading.

    Lines merge without a word where an entry moved: taking it out at its old place does nothing.
    """
    counts = [_counted(data, locate) for data in (merged, base, ours, theirs)]
    for entry, count in counts[0].items():
        was, mine, wanted = (counted[entry] for counted in counts[1:])
        if count > _number(was, mine, wanted):
            return False
    before, after, present = (parts(data, locate) for data in (theirs, base, ours))
    if not _stand_right(parts(merged, locate), Sides(after, present, before)):
        return False
    lost = after.heading_units() - before.heading_units()
    known = {*after.units}
    return not any(
        present.heading(at) in lost and unit not in known for at, unit in enumerate(present.units if lost else ())
    )


def _stand_right(merged: Parts, sides: Sides) -> bool:
    """Whether each unit stands under its heading of ours, or under that of the other side where that one moved it."""
    was, ours, theirs = (_headings(side) for side in (sides.base, sides.ours, sides.theirs))
    for unit, heading in _headings(merged).items():
        if unit not in was or unit not in ours or unit not in theirs:
            continue
        is_moved_by_them, is_moved_by_us = was[unit] != theirs[unit], was[unit] != ours[unit]
        right = {theirs[unit]} if is_moved_by_them else {ours[unit]}
        if heading not in (right | {ours[unit]} if is_moved_by_us else right):
            return False
    return True


def _headings(side: Parts) -> dict[bytes, bytes | None]:
    """Return the heading above each unit that stands there once."""
    counts = Counter(side.units)
    above: bytes | None = None
    found: dict[bytes, bytes | None] = {}
    for at, unit in enumerate(side.units):
        if at in side.headings:
            above = unit
        elif counts[unit] == 1:
            found[unit] = above
    return found


def _counted(data: bytes, locate: Locate) -> Counter[bytes]:
    return Counter(data[entry.start : entry.end] for entry in locate(data) if entry.kind in _COUNTED)


def _is_delimited(data: bytes, locate: Locate) -> bool:
    return any(_DELIMITER in gap for gap in parts(data, locate).gaps)


def _divides(gap: bytes) -> bool:
    """Whether a gap holds blanks and entry delimiters only."""
    return not gap.strip(_DIVIDERS)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
