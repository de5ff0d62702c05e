"""A tree that is another tree with some documents changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .model import Delta, Tree


class Overlay(Mapping[str, bytes]):
    """`base` with `delta` laid over it, without copying or reading the rest."""

    def __init__(self, base: Tree, delta: Delta) -> None:
        self.base = base
        self.delta = {path: data for path, data in delta.items() if data != base.get(path)}

    def __getitem__(self, path: str) -> bytes:
        if path in self.delta:
            data = self.delta[path]
            if data is None:
                raise KeyError(path)
            return data
        return self.base[path]

    def __iter__(self) -> Iterator[str]:
        for path in self.base:
            if path not in self.delta:
                yield path
        for path, data in self.delta.items():
            if data is not None:
                yield path

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, path: object) -> bool:
        if path in self.delta:
            return self.delta[path] is not None
        return path in self.base


def delta_of(base: Tree, proposed: Tree) -> dict[str, bytes | None]:
    """Return what differs between two trees; for an overlay over that very base, without reading anything else."""
    if isinstance(proposed, Overlay) and proposed.base is base:
        return dict(proposed.delta)
    found: dict[str, bytes | None] = {p: data for p, data in proposed.items() if base.get(p) != data}
    found.update({path: None for path in base if path not in proposed})
    return found
