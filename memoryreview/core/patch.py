"""Unified diffs, read strictly: exact places, exact context, nothing left over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .text import Line, line_end, split_lines

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?")
_SKIPPED_HEADERS = ("index ", "new file mode 100", "deleted file mode 100", "similarity index ")
_REFUSED_HEADERS = ("old mode ", "new mode ", "copy from ", "GIT binary patch", "Binary files ")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_NOWHERE = "/dev/null"


class PatchError(ValueError):
    """The diff cannot be read or does not fit. `str(error)` is a reason that ends no sentence."""


@dataclass(frozen=True, slots=True)
class PatchLine:
    """One line of a hunk. `mark` is " ", "-" or "+"; `text` has its line end, LF unless the diff itself has CRLF."""

    mark: str
    text: bytes


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """`old_start` is the 1-based line of the old document that the hunk begins at or, when it has none, comes after."""

    old_start: int
    old_count: int
    lines: tuple[PatchLine, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a diff does to one document. `old_path` is None for a new document, `new_path` for a deleted one."""

    old_path: str | None
    new_path: str | None
    hunks: tuple[PatchHunk, ...]


def parse(diff: str) -> tuple[FilePatch, ...]:
    """Read a unified diff of one or more documents, as diff -u or git writes it. Raises PatchError."""
    patches = tuple(_Reader(diff).files())
    if not patches:
        raise PatchError("the diff changes no document")
    return patches


def apply(document: bytes, hunks: tuple[PatchHunk, ...]) -> bytes:
    """Return the document after the hunks. Raises PatchError when a line is not exactly where and what the diff says.

    Lines of a diff that end in LF fit a document that uses CRLF; added lines then get the line end of the line above.
    """
    lines = split_lines(document)
    out: list[bytes] = []
    copied = 0
    for number, hunk in enumerate(hunks, start=1):
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        if not copied <= start <= len(lines):
            raise PatchError(f"hunk {number} starts at line {hunk.old_start}, which is not there or already used")
        out += (line.raw for line in lines[copied:start])
        copied = _apply_hunk(document, lines, start, hunk, out)
    out += (line.raw for line in lines[copied:])
    if any(not line.endswith(b"\n") for line in out[:-1]):
        raise PatchError("it puts text after a line that it says has no newline at end of file")
    return b"".join(out)


def _apply_hunk(document: bytes, lines: tuple[Line, ...], start: int, hunk: PatchHunk, out: list[bytes]) -> int:
    """Append the hunk's new lines to `out` and return the index of the first old line after it."""
    at = start
    for patch_line in hunk.lines:
        if patch_line.mark == "+":
            out.append(_with_line_end(patch_line.text, document, lines, at))
            continue
        if at >= len(lines) or not _fits(patch_line.text, lines[at]):
            raise PatchError(f"line {at + 1} of the document is not what the diff says")
        if patch_line.mark == " ":
            out.append(lines[at].raw)
        at += 1
    return at


def _fits(text: bytes, line: Line) -> bool:
    if text == line.raw:
        return True
    return line.eol == b"\r\n" and text == line.body + b"\n"


def _with_line_end(text: bytes, document: bytes, lines: tuple[Line, ...], at: int) -> bytes:
    if not text.endswith(b"\n") or text.endswith(b"\r\n"):
        return text
    neighbour = lines[at - 1].eol if at else lines[0].eol if lines else b""
    return text[:-1] + (neighbour or line_end(document))


class _Reader:
    """Takes a diff line by line."""

    def __init__(self, diff: str) -> None:
        self._lines = diff.split("\n")
        if self._lines and not self._lines[-1]:
            self._lines.pop()
        self._at = 0

    def files(self) -> Iterator[FilePatch]:
        while self._at < len(self._lines):
            if not self._header():
                self._at += 1
                continue
            yield self._file()

    def _header(self) -> str:
        """Return the present line where it is not part of a hunk: without the CR that a CRLF diff leaves."""
        return self._lines[self._at].removesuffix("\r") if self._at < len(self._lines) else ""

    def _fault(self, reason: str) -> PatchError:
        return PatchError(f"line {self._at + 1} of the diff: {reason}")

    def _file(self) -> FilePatch:
        named = self._header() if self._header().startswith("diff --git ") else ""
        if named:
            self._at += 1
        headers = self._git_headers() if named else []
        paths = self._paths() if self._header().startswith("--- ") else _paths_of_headers(named, headers)
        if paths is None:
            raise self._fault("a unified diff starts a document with “--- ” and “+++ ” lines")
        renamed = _renamed(headers)
        if renamed and (paths[0], paths[1]) != renamed:
            raise self._fault("the names of the rename and of the document differ")
        if not renamed and None not in paths and paths[0] != paths[1]:
            raise self._fault("the old and the new name differ; a rename needs “rename from” and “rename to” lines")
        hunks = tuple(self._hunks())
        if not hunks and paths[0] == paths[1]:
            raise self._fault("a hunk is missing")
        return FilePatch(paths[0], paths[1], hunks)

    def _git_headers(self) -> list[str]:
        headers: list[str] = []
        while line := self._header():
            if line.startswith(("--- ", "diff --git ")):
                break
            if line.startswith(_REFUSED_HEADERS):
                raise self._fault("modes, copies and binary contents are not supported")
            if not line.startswith((*_SKIPPED_HEADERS, "rename from ", "rename to ")):
                raise self._fault("this line is not part of a unified diff")
            headers.append(line)
            self._at += 1
        return headers

    def _paths(self) -> tuple[str | None, str | None]:
        old = _path(self._header()[4:])
        self._at += 1
        if not self._header().startswith("+++ "):
            raise self._fault("“+++ ” is missing")
        new = _path(self._header()[4:])
        self._at += 1
        if old == new == _NOWHERE:
            raise self._fault("it names no document")
        return _without_prefixes(old, new)

    def _hunks(self) -> Iterator[PatchHunk]:
        while self._header().startswith("@@"):
            match = _HUNK.fullmatch(self._header())
            if match is None:
                raise self._fault("this is not a hunk header")
            old_start, old_count, _, new_count = (int(part) if part is not None else 1 for part in match.groups())
            if old_count and not old_start:
                raise self._fault("lines are counted from 1")
            self._at += 1
            yield PatchHunk(old_start, old_count, tuple(self._hunk_lines(old_count, new_count)))

    def _hunk_lines(self, old_count: int, new_count: int) -> list[PatchLine]:
        found: list[PatchLine] = []
        left = {"-": old_count, "+": new_count}
        while left["-"] or left["+"] or self._header().startswith("\\"):
            if self._at >= len(self._lines):
                raise self._fault("the hunk is shorter than its header says")
            line = self._lines[self._at]
            mark, text = (" ", line) if line in ("", "\r") else (line[0], line[1:])  # mailers drop the last blank
            if mark == "\\":
                if not found:
                    raise self._fault("a hunk cannot begin with “\\”")
                found[-1] = PatchLine(found[-1].mark, found[-1].text.removesuffix(b"\n"))
            elif mark in " -+":
                for side in "-+" if mark == " " else mark:
                    left[side] -= 1
                if min(left.values()) < 0:
                    raise self._fault("the hunk is longer than its header says")
                found.append(PatchLine(mark, text.encode() + b"\n"))
            else:
                raise self._fault("a line of a hunk begins with “ ”, “-”, “+” or “\\”")
            self._at += 1
        return found


def _path(field: str) -> str:
    """Return a file name of a header: C-quoted as git does, or up to the tab before a time stamp."""
    match = _QUOTED.match(field)
    if match is None:
        return field.split("\t", 1)[0]
    try:
        raw = match[1].encode()
        return _ESCAPE.sub(_unescaped, raw).decode()
    except ValueError as error:
        raise PatchError("a quoted name in the diff cannot be read") from error


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)


def _without_prefixes(old: str, new: str) -> tuple[str | None, str | None]:
    if old == _NOWHERE:
        return None, new.removeprefix("b/")
    if new == _NOWHERE:
        return old.removeprefix("a/"), None
    if old == new:
        return old, new
    return old.removeprefix("a/"), new.removeprefix("b/")


def _renamed(headers: list[str]) -> tuple[str, str] | None:
    old = [_path(line.removeprefix("rename from ")) for line in headers if line.startswith("rename from ")]
    new = [_path(line.removeprefix("rename to ")) for line in headers if line.startswith("rename to ")]
    return (old[0], new[0]) if old and new else None


def _paths_of_headers(named: str, headers: list[str]) -> tuple[str | None, str | None] | None:
    """Return the names where git writes no “---” line: a rename without edits, an empty new or deleted document."""
    renamed = _renamed(headers)
    if renamed:
        return renamed
    both = named.removeprefix("diff --git ")
    half = len(both) // 2
    old, new = _path(both[:half]), _path(both[half + 1 :])
    if not named or old.removeprefix("a/") != new.removeprefix("b/"):
        return None
    if any(line.startswith("new file mode ") for line in headers):
        return None, new.removeprefix("b/")
    if any(line.startswith("deleted file mode ") for line in headers):
        return old.removeprefix("a/"), None
    return None
