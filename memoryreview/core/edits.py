"""From requested operations to changed documents: strict, exact, all or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from . import patch
from .additions import append_entry, holds_rule
from .errors import InvalidOperationError, NoMatchError, NotUtf8Error, StaleBaseError, TooLargeError
from .model import Delta, FormatName, Limits, Tree
from .names import check_path, clash, refuse_disguise, refuse_escape, shown
from .overlay import Overlay
from .passages import nearest, places, with_line_ends
from .text import decode

__all__ = [
    "Delete",
    "Edit",
    "EntryAdd",
    "Operation",
    "Patch",
    "Rename",
    "Replacement",
    "Write",
    "blob_id",
    "build",
    "check_path",
]


@dataclass(frozen=True, slots=True)
class Write:
    """Whole new text of a document. `base_blob` None: not stated (no check)."""

    path: str
    content: str
    base_blob: str | None = None


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Edit:
    path: str
    edits: tuple[Replacement, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    path: str


@dataclass(frozen=True, slots=True)
class Rename:
    path: str
    to: str


@dataclass(frozen=True, slots=True)
class EntryAdd:
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Patch:
    """Unified diff text; exact context only, never fuzzy. Paths may carry a/ and b/."""

    diff: str


MAX_EDITS = 1_000
MAX_PARSED_BYTES = 8 * 1024 * 1024

Operation: TypeAlias = Write | Edit | Delete | Rename | EntryAdd | Patch


def blob_id(data: bytes) -> str:
    """Return the git blob id (SHA-1 over "blob <size>\\0" + data), 40 lower-case hex."""
    return hashlib.sha1(b"blob %d\x00" % len(data) + data, usedforsecurity=False).hexdigest()


def build(base: Tree, operations: Sequence[Operation], *, format: FormatName, limits: Limits) -> Delta:  # noqa: A002
    """Carry out operations on a base tree, in order, and return what changes; {} when nothing does.

    Old text that uses LF matches a CRLF document and the result keeps CRLF. Existing documents are found by
    their exact path, also one that `check_path` would refuse for a new name. Whole contents are written as they are,
    line ends too.

    Raises: PathNotAllowedError, NoMatchError, StaleBaseError (base_blob differs), NotUtf8Error, TooLargeError,
        InvalidOperationError (missing document, empty edit, `§` rule in an entry text, patch that does not fit, name
        clash).
    """
    if not operations:
        raise InvalidOperationError(1, "it is missing; a proposal has at least one operation")
    if len(operations) > limits.operations:
        raise InvalidOperationError(
            limits.operations + 1, f"a proposal has at most {limits.operations} operations; send several proposals"
        )
    _check_work(base, operations)
    draft = _Draft(base, format, limits)
    for number, operation in enumerate(operations, start=1):
        draft.carry_out(number, operation)
    return Overlay(base, draft.delta).delta


def _check_work(base: Tree, operations: Sequence[Operation]) -> None:
    """Refuse a proposal whose operations are few but whose work is not: each edit searches its document, each entry
    parses it."""
    edits = parsed_bytes = 0
    for number, operation in enumerate(operations, start=1):
        if isinstance(operation, Edit):
            edits += len(operation.edits)
        elif isinstance(operation, EntryAdd):
            parsed_bytes += len(base.get(operation.path, b""))
        if edits > MAX_EDITS or parsed_bytes > MAX_PARSED_BYTES:
            raise InvalidOperationError(number, "the proposal has too many edits or entries; write the whole document")


class _Draft:
    """A base tree and what the operations made of it so far. `number` counts operations from 1."""

    def __init__(self, base: Tree, format: FormatName, limits: Limits) -> None:  # noqa: A002
        self.base = base
        self.format = format
        self.limits = limits
        self.delta: dict[str, bytes | None] = {}
        self._patched = 0

    def carry_out(self, number: int, operation: Operation) -> None:
        match operation:
            case Write():
                self._write(number, operation)
            case Edit():
                self._edit(number, operation)
            case Delete():
                self._existing(number, operation.path)
                self.delta[operation.path] = None
            case Rename():
                self._rename(number, operation.path, operation.to)
            case EntryAdd():
                self._add_entry(number, operation)
            case Patch():
                self._patch(number, operation)
            case _ as unreachable:
                assert_never(unreachable)

    def _write(self, number: int, write: Write) -> None:
        refuse_escape(write.path)
        content = _encoded(write.content, write.path)
        present = self._present(write.path)
        if write.base_blob is not None:
            self._check_blob(write.path, write.base_blob, present)
        if present is None:
            self._put(self._new_path(number, write.path), content)
            return
        decode(present, write.path)
        self._put(write.path, content)

    def _check_blob(self, path: str, stated: str, present: bytes | None) -> None:
        known = {blob_id(document) for document in (present, self.base.get(path)) if document is not None}
        if stated in known:
            return
        if present is None:
            message = (
                f"“{shown(path)}” does not exist, but the proposal was made from a text of it. Nothing was stored."
            )
            raise StaleBaseError(path, None, message)
        message = f"“{shown(path)}” has changed since the proposal was made. Read it again; nothing was stored."
        raise StaleBaseError(path, blob_id(present), message)

    def _edit(self, number: int, edit: Edit) -> None:
        document = self._existing(number, edit.path)
        if not edit.edits:
            raise InvalidOperationError(number, f"it has no edits for “{shown(edit.path)}”")
        for replacement in edit.edits:
            document = self._replaced(number, edit.path, document, replacement)
        self._put(edit.path, document)

    def _replaced(self, number: int, path: str, document: bytes, replacement: Replacement) -> bytes:
        old, new = _encoded(replacement.old, path), _encoded(replacement.new, path)
        if not old:
            raise InvalidOperationError(number, "the old text is empty; to add text, name the text beside it")
        spans = places(document, old)
        if len(spans) != 1:
            current = blob_id(self.base.get(path, document))
            raise NoMatchError(path, number, len(spans), nearest(document, old, spans), current)
        start, end = spans[0]
        return document[:start] + with_line_ends(document, spans[0], old, new) + document[end:]

    def _rename(self, number: int, path: str, to: str) -> None:
        document = self._existing(number, path)
        if to == path:
            raise InvalidOperationError(number, f"“{shown(path)}” already has this name")
        refuse_escape(to)
        if self._present(to) is not None:
            raise InvalidOperationError(number, f"“{shown(to)}” already exists; “{shown(path)}” cannot take its name")
        self.delta[path] = None
        self._put(self._new_path(number, to), document)

    def _add_entry(self, number: int, addition: EntryAdd) -> None:
        document = self._existing(number, addition.path)
        _encoded(addition.text, addition.path)
        if not addition.text.strip():
            raise InvalidOperationError(number, "the text of the entry is empty")
        if self.format is FormatName.HERMES and holds_rule(addition.text):
            raise InvalidOperationError(
                number, "the text holds a line with the delimiter “§”, which would split it into several entries"
            )
        self._put(addition.path, append_entry(document, addition.text, self.format))

    def _patch(self, number: int, operation: Patch) -> None:
        _encoded(operation.diff, "diff")
        try:
            file_patches = patch.parse(operation.diff)
            self._count_patched(number, len(file_patches))
            for file_patch in file_patches:
                self._apply(number, file_patch)
        except patch.PatchError as error:
            raise InvalidOperationError(number, str(error)) from error

    def _count_patched(self, number: int, count: int) -> None:
        """Each document of a diff costs what an operation does, so as many are allowed."""
        self._patched += count
        if self._patched > self.limits.operations:
            raise InvalidOperationError(
                number,
                f"the diffs change more than {self.limits.operations} documents; send several proposals",
            )

    def _apply(self, number: int, file_patch: patch.FilePatch) -> None:
        match file_patch.old_path, file_patch.new_path:
            case None, str() as path:
                refuse_escape(path)
                if self._present(path) is not None:
                    raise InvalidOperationError(number, f"“{shown(path)}” already exists; the diff makes it anew")
                self._put(self._new_path(number, path), patch.apply(b"", file_patch.hunks))
            case str() as path, None:
                if patch.apply(self._existing(number, path), file_patch.hunks):
                    raise InvalidOperationError(number, f"the diff deletes “{shown(path)}” but leaves text in it")
                self.delta[path] = None
            case str() as path, str() as to:
                document = patch.apply(self._existing(number, path), file_patch.hunks)
                if to != path:
                    self._rename(number, path, to)
                self._put(path if to == path else check_path(to, self.limits), document)

    def _present(self, path: str) -> bytes | None:
        return self.delta[path] if path in self.delta else self.base.get(path)

    def _existing(self, number: int, path: str) -> bytes:
        """Return the document that an operation changes; one that is not UTF-8 is read-only."""
        refuse_escape(path)
        document = self._present(path)
        if document is None:
            refuse_disguise(path)
            raise InvalidOperationError(number, f"there is no document “{shown(path)}”; to make one, write it")
        decode(document, path)
        return document

    def _new_path(self, number: int, path: str) -> str:
        """Return the stored form of a new document's name. Raises where some system takes it for one that exists."""
        stored = check_path(path, self.limits)
        names = clash(stored, self._paths())
        if names is not None:
            raise InvalidOperationError(
                number, f"“{shown(path)}” would be the same name as the existing “{shown(names[1])}” on some systems"
            )
        return stored

    def _paths(self) -> Iterator[str]:
        return iter(Overlay(self.base, self.delta))

    def _put(self, path: str, document: bytes) -> None:
        if len(document) > self.limits.refused_bytes:
            raise TooLargeError(f"“{shown(path)}”", len(document), self.limits.refused_bytes)
        self.delta[path] = document


def _encoded(text: str, path: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, which JSON can carry
        raise NotUtf8Error(shown(path), len(text[: error.start].encode())) from error
