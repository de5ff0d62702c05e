"""What of a change a person may keep without the rest, and the change that is left when some of it is dropped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .classify import rename
from .diff import DiffLine, Mark
from .formats.catalogue import Catalogue
from .markdown import targets
from .merge import Change, changes
from .model import Delta, Tree
from .text import raw_lines

_LEAST_MOVED_CHARS = 8
"""A shorter line, such as a bullet without words, stands in two places by chance."""


class Bond(StrEnum):
    """Why several parts are one portion: each alone would leave something dangling, doubled or lost."""

    ROW = "row"  # a row of an index, and the document that it points to comes, goes or changes its name
    RENAME = "rename"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class Part:
    """One changed run of a document; `change` is None where the document as a whole comes or goes."""

    path: str
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Portion:
    """What is kept or dropped as one. `number` counts from 1, in the order of the documents and their lines."""

    number: int
    parts: tuple[Part, ...]
    bonds: frozenset[Bond] = frozenset()


def part_key(part: Part) -> str:
    """Name the first line that a difference shows of a part, as `line_key` does; "" for a whole document."""
    if part.change is None:
        return ""
    return f"-{part.change.old_start}" if part.change.old else f"+{part.change.new_start}"


def line_key(line: DiffLine) -> str:
    """Name a shown line by its side and number; "" for a line that both sides have."""
    if line.mark is Mark.REMOVED:
        return f"-{line.old_number}"
    return f"+{line.new_number}" if line.mark is Mark.ADDED else ""


def portions(tree: Tree, delta: Delta, *, is_index: Callable[[str], bool]) -> tuple[Portion, ...]:
    """Return the portions of a change, in the order of the delta; together they are all of it.

    Bound together are a document that comes, goes or is renamed with the rows of an index that point to it, the two
    names of a rename, and the two places of a line that moves.
    """
    parts = [part for path in delta for part in _parts(tree, delta, path)]
    groups = _Groups(len(parts))
    for bond, pairs in (
        (Bond.RENAME, _renamed(tree, delta, parts)),
        (Bond.ROW, _pointing(tree, delta, parts, is_index)),
        (Bond.MOVE, _moved(parts)),
    ):
        for one, other in pairs:
            groups.join(one, other, bond)
    return tuple(
        Portion(number, tuple(parts[at] for at in members), bonds)
        for number, (members, bonds) in enumerate(groups.members(), 1)
    )


def without(tree: Tree, delta: Delta, dropped: Collection[Portion]) -> dict[str, bytes | None]:
    """Return the delta without some of its portions. Outside of what is kept, every byte is as in the tree."""
    gone = {part for portion in dropped for part in portion.parts}
    kept: dict[str, bytes | None] = {}
    for path in delta:
        parts = _parts(tree, delta, path)
        staying = [part for part in parts if part not in gone]
        if len(staying) == len(parts):
            kept[path] = delta[path]
        elif staying:
            kept[path] = _composed(tree[path], [part.change for part in staying if part.change])
    return kept


def _composed(old: bytes, kept: Sequence[Change]) -> bytes:
    lines = raw_lines(old)
    out: list[bytes] = []
    copied = 0
    for change in kept:
        start = change.old_start - 1
        out += [*lines[copied:start], change.new]
        copied = start + len(raw_lines(change.old))
    return b"".join([*out, *lines[copied:]])


def _parts(tree: Tree, delta: Delta, path: str) -> list[Part]:
    old, new = tree.get(path), delta[path]
    if old is None or new is None:
        return [Part(path)]
    return [Part(path, change) for change in changes(old, new)]


class _Groups:
    """Numbers 0 to `size` - 1, joined into groups."""

    def __init__(self, size: int) -> None:
        self._of = list(range(size))
        self._bonds: list[tuple[int, Bond]] = []

    def _first(self, at: int) -> int:
        while self._of[at] != at:
            self._of[at] = self._of[self._of[at]]
            at = self._of[at]
        return at

    def join(self, one: int, other: int, bond: Bond) -> None:
        first, second = sorted((self._first(one), self._first(other)))
        self._of[second] = first
        self._bonds.append((one, bond))

    def members(self) -> Iterator[tuple[list[int], frozenset[Bond]]]:
        """Yield each group with what binds it, in the order of its first member."""
        found: dict[int, list[int]] = {}
        for at in range(len(self._of)):
            found.setdefault(self._first(at), []).append(at)
        for first, members in found.items():
            bonds = frozenset(bond for at, bond in self._bonds if self._first(at) == first)
            yield members, bonds if len(members) > 1 else frozenset()


def _whole(parts: Sequence[Part]) -> Mapping[str, int]:
    return {part.path: at for at, part in enumerate(parts) if part.change is None}


def _renamed(tree: Tree, delta: Delta, parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
    whole = _whole(parts)
    for old, new in rename.find(delta, tree).items():
        yield whole[old], whole[new]


def _pointing(
    tree: Tree, delta: Delta, parts: Sequence[Part], is_index: Callable[[str], bool]
) -> Iterator[tuple[int, int]]:
    whole = _whole(parts)
    texts = {path: delta[path] if path not in tree else tree[path] for path in whole}
    catalogue = Catalogue({path: text for path, text in texts.items() if text is not None})
    for at, part in enumerate(parts):
        if not whole or not is_index(part.path):
            continue
        for text in _texts(tree, delta, part):
            for link in targets(text):
                yield from ((whole[path], at) for path in catalogue.find_link(part.path, link).paths)


def _texts(tree: Tree, delta: Delta, part: Part) -> tuple[bytes, ...]:
    if part.change is not None:
        return part.change.old, part.change.new
    return tree.get(part.path) or b"", delta[part.path] or b""


def _moved(parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
    went: dict[bytes, int] = {}
    for at, part in enumerate(parts):
        went |= dict.fromkeys(_lines(part.change.old), at) if part.change else {}
    for at, part in enumerate(parts):
        for line in _lines(part.change.new) if part.change else ():
            if went.get(line, at) != at:
                yield went[line], at


def _lines(text: bytes) -> Iterator[bytes]:
    return (line for one in raw_lines(text) if len(line := one.strip()) >= _LEAST_MOVED_CHARS)
