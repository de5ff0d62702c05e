"""What an agent has in every session without asking: the text that its tool loads, up to where the budget ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .budget import over_line
from .formats import LOADED_NAMES, of_document
from .formats.base import LoadedLine, Meter, basename
from .formats.codex import BYTES_PER_TOKEN
from .model import FormatName, Tree


@dataclass(frozen=True, slots=True)
class Loaded:
    """One always-loaded document.

    Args:
        lines: what the tool would load without a limit.
        end: how many of these lines the agent sees.
        over_line: 1-based first line of the document past the limit, None while everything fits. The agent sees it all
            the same where `end` counts every line: then its tool adds no more (Hermes).
    """

    path: str
    meters: tuple[Meter, ...]
    lines: tuple[LoadedLine, ...]
    end: int
    over_line: int | None

    @property
    def text(self) -> bytes:
        """The very bytes that the agent sees."""
        return b"".join(line.text for line in self.lines[: self.end])


@dataclass(frozen=True, slots=True)
class CacheCost:
    """What a change of always-loaded text costs at the next session, since a prompt is cached up to its first change.

    Args:
        first_byte: 0-based offset in the loaded text of the document, which is the same before and after up to there.
        tokens_after: estimate of what stands from there on after the change and is read anew.
    """

    first_byte: int
    tokens_after: int


def always_loaded(tree: Tree, name: FormatName, paths: Iterable[str] | None = None) -> tuple[Loaded, ...]:
    """Return the always-loaded documents of a tree, by path; of `paths` only, where some are given."""
    named = sorted(path for path in (tree if paths is None else paths) if basename(path) in LOADED_NAMES)
    found = (loaded(path, tree[path], name) for path in named if path in tree)
    return tuple(one for one in found if one is not None)


def loaded(path: str, data: bytes, name: FormatName) -> Loaded | None:
    """Return what is loaded of one document of a store, None when it is not always loaded."""
    own = of_document(name, path, data)
    meters = own.meters(path, data)
    if not meters:
        return None
    lines = own.loads(path, data)
    cuts = [meter.cut_line for meter in meters if meter.cut_line is not None]
    cut = min(cuts, default=None)
    beyond = (at for at, line in enumerate(lines) if cut is not None and line.number is not None and line.number >= cut)
    return Loaded(path, meters, lines, next(beyond, len(lines)), over_line(meters))


def cache_cost(before: bytes, after: bytes) -> CacheCost | None:
    """Return what it costs that loaded text changed, None when it did not. Tokens are estimated as bytes / 4."""
    if before == after:
        return None
    first = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), None)
    if first is None:
        first = min(len(before), len(after))
    return CacheCost(first, -(-(len(after) - first) // BYTES_PER_TOKEN))
