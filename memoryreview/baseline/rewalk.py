"""One pass over a history without a text: how every commit, tree and document of it would read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from memoryreview.core.erasure import Eraser

from .errors import BaselineError
from .message import trailers
from .objects import DOCUMENT_MODES, FOLDER_MODE, TreeEntry, decode_tree, encode_tree, object_id
from .process import named_objects, run
from .repository import Repository

_LINK_MODE = 0o120000
_MODULE_MODE = 0o160000
_BLOCK_COMMITS = 128
_COMMIT_ID = re.compile(r"\b[0-9a-f]{40}\b")
_PROOF = re.compile("^Proof: [0-9a-f]{64}$", re.MULTILINE)

Held = tuple[tuple[bytes, str], ...]
"""Paths in which the text stands in one tree, each with the blob."""


@dataclass(slots=True)
class Walked:
    """What a history looks like without the text.

    Args:
        head, tree: what takes the place of the old head, before the commit on top, and the tree of both.
        moved: new id of every commit, oldest first; those before the text keep theirs.
        touched: old ids of commits that changed a document while the text stood in it, or put it there, or away.
        commits: how many held the text, in a document or in their message.
        paths: documents, by their old names, in which it ever stood.
        at_head: those in which it stands in the old head.
    """

    head: str = ""
    tree: str = ""
    moved: dict[str, str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    commits: int = 0
    paths: set[str] = field(default_factory=set)
    at_head: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tree:
    """A tree without the text: its new id, None when nothing is left in it."""

    oid: str | None
    held: Held


class Walk:
    """One pass over a history, oldest commit first; every tree and every document is looked at once."""

    def __init__(self, repository: Repository, eraser: Eraser, keep: Callable[[bytes, bytes, str], None]) -> None:
        self._repository, self._objects, self._eraser, self._keep = repository, repository.objects, eraser, keep
        self._dropped = os.fsencode(eraser.path) if eraser.path else None
        self._trees: dict[tuple[str, bytes], _Tree] = {}
        self._blobs: dict[str, str] = {}
        self._clean: set[str] = set()
        self._seen: set[str] = set()
        self._ahead: dict[str, bytes] = {}  # commits and trees of the block at hand

    def run(self) -> Walked:
        head = self._repository.head()
        if head is None:
            raise BaselineError(
                "The baseline has no commit. Nothing was changed; restore the data folder from a backup, or adopt the "
                "folder anew."
            )
        walked = Walked()
        before: dict[str, Held] = {}
        held: Held = ()
        for block in _blocks(_commits(self._repository, head)):
            self._read_ahead(block)
            for old in block:
                held = before[old] = self._commit(old, before, walked)
        walked.head = walked.moved[head]
        walked.at_head = tuple(sorted(os.fsdecode(path) for path, _blob in held))
        return walked

    def _read_ahead(self, commits: Sequence[str]) -> None:
        """Fetch a block of commits and the trees below them that were not seen yet, level by level, and look at each
        new document as it passes by. Asking for one object after another would wait for git each time."""
        self._ahead = {oid: payload for oid, _kind, payload in self._fetch(commits)}
        roots = (payload.partition(b"\n")[0].partition(b" ")[2].decode() for payload in self._ahead.values())
        wanted = {oid for oid in roots if oid not in self._seen}
        while wanted:
            self._seen |= wanted
            below: set[str] = set()
            blobs: set[str] = set()
            for oid, _kind, payload in self._fetch(sorted(wanted)):
                self._ahead[oid] = payload
                for entry in decode_tree(payload).values():
                    if entry.oid not in self._seen and entry.mode != _MODULE_MODE:
                        (below if entry.is_folder else blobs).add(entry.oid)
            self._seen |= blobs
            for oid, _kind, content in self._fetch(sorted(blobs)):
                self._look(oid, content)
            wanted = below

    def _fetch(self, oids: Sequence[str]) -> Iterator[tuple[str, bytes, bytes]]:
        return named_objects(self._repository.git_dir, oids) if oids else iter(())

    def _read(self, oid: str, kind: bytes) -> bytes:
        return self._ahead.get(oid) or self._objects.read(oid, kind)

    def _commit(self, old: str, before: dict[str, Held], walked: Walked) -> Held:
        payload = self._read(old, b"commit")
        head, _, message = payload.partition(b"\n\n")
        lines = head.split(b"\n")
        tree = _Tree(None, ())
        parents = [line.split(b" ")[1].decode() for line in lines if line.startswith(b"parent ")]
        for number, line in enumerate(lines):
            key, _, value = line.partition(b" ")
            if key == b"tree":
                tree = self._tree(value.decode(), b"")
                walked.tree = tree.oid or self._put(b"tree", b"")
                lines[number] = b"tree " + walked.tree.encode()
            elif key == b"parent":
                lines[number] = b"parent " + walked.moved[value.decode()].encode()
        touched = tree.held != (before[parents[0]] if parents else ())
        text = message.decode("utf-8", "surrogateescape")
        cleaned = self._message(text, touched=touched)
        told = _COMMIT_ID.sub(lambda found: walked.moved.get(found[0], found[0]), cleaned)
        fresh = b"\n".join(lines) + b"\n\n" + told.encode("utf-8", "surrogateescape")
        walked.moved[old] = old if fresh == payload else self._put(b"commit", fresh)
        if touched:
            walked.touched.add(old)
        if tree.held or cleaned != text:
            walked.commits += 1
        walked.paths |= {os.fsdecode(path) for path, _blob in tree.held}
        return tree.held

    def _message(self, text: str, *, touched: bool) -> str:
        """Clean a message. Of a commit that touched the text the subject may quote a part of it, and the certificate
        that its trailer names held digests of what is gone."""
        if not touched:
            return self._eraser.prose(text)
        subject, end, rest = text.partition("\n")
        stated = trailers(text)
        if self._dropped is None or stated.get("Change-Kind") == "adopt":
            cleaned = f"{self._eraser.title(subject)}{end}{self._eraser.prose(rest)}"
        elif stated:
            last = text.rstrip().rpartition("\n\n")[2]
            cleaned = f"{self._eraser.mark}\n\n{last}\n"
        else:
            cleaned = f"{self._eraser.mark}\n"
        return _PROOF.sub("Proof: erased", cleaned)

    def _tree(self, oid: str, prefix: bytes) -> _Tree:
        if (oid, prefix) not in self._trees:
            self._trees[oid, prefix] = self._cleaned_tree(oid, prefix)
        return self._trees[oid, prefix]

    def _cleaned_tree(self, oid: str, prefix: bytes) -> _Tree:
        payload = self._read(oid, b"tree")
        entries = decode_tree(payload)
        is_clean = self._dropped is None and not self._eraser.holds(payload)
        if is_clean and self._clean.issuperset(entry.oid for entry in entries.values()):
            return _Tree(oid, ())
        fresh: dict[bytes, TreeEntry] = {}
        held: list[tuple[bytes, str]] = []
        for name, entry in entries.items():
            below, places = self._entry(entry, prefix + name)
            new_name = self._eraser.name(name)
            if new_name != name and not places:
                places = [(prefix + name, entry.oid)]
            held += places
            if below is not None:
                fresh[new_name] = below
        if fresh == entries:
            if not held:
                self._clean.add(oid)
            return _Tree(oid, tuple(held))
        return _Tree(self._put(b"tree", encode_tree(fresh)) if fresh else None, tuple(held))

    def _entry(self, entry: TreeEntry, path: bytes) -> tuple[TreeEntry | None, list[tuple[bytes, str]]]:
        """Return an entry without the text, None when it goes, and where it stood."""
        if entry.is_folder:
            tree = self._tree(entry.oid, path + b"/")
            return (TreeEntry(tree.oid, FOLDER_MODE) if tree.oid else None), list(tree.held)
        if path == self._dropped:
            return None, [(path, entry.oid)]
        if entry.oid in self._clean or entry.mode not in {*DOCUMENT_MODES, _LINK_MODE}:
            return entry, []
        if entry.oid not in self._blobs:
            self._look(entry.oid, self._objects.read(entry.oid, b"blob"))
        new = self._blobs.get(entry.oid)
        return (entry, []) if new is None else (TreeEntry(new, entry.mode), [(path, entry.oid)])

    def _look(self, oid: str, content: bytes) -> None:
        cleaned = self._eraser.document(content)
        if cleaned == content:
            self._clean.add(oid)
        else:
            self._blobs[oid] = self._put(b"blob", cleaned)

    def _put(self, kind: bytes, payload: bytes) -> str:
        oid = object_id(kind, payload)
        self._keep(kind, payload, oid)
        return oid


def _blocks(oids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(oids), _BLOCK_COMMITS):
        yield oids[start : start + _BLOCK_COMMITS]


def _commits(repository: Repository, head: str) -> Sequence[str]:
    status, stdout, stderr = run(repository.git_dir, "rev-list", "--reverse", "--topo-order", head, "--")
    if status != 0:
        raise BaselineError(
            f"git cannot walk the history of the baseline: {stderr.strip()}. Nothing was changed; run “memoryreview "
            "verify”."
        )
    return stdout.decode("ascii").split()
