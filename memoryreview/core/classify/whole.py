"""Actions of documents that come, go, move, are rewritten by a tool, or can never be stored."""

from __future__ import annotations

from memoryreview.core import frontmatter
from memoryreview.core.formats import signs
from memoryreview.core.model import Context, Kind

from . import reasons, titles
from .budget import Budget
from .document import Document, is_section_file, read
from .draft import Draft, entry_texts


def added(path: str, data: bytes, context: Context, budget: Budget) -> Draft:
    document = read_within(path, data, context, budget)
    name = _name(document)
    found = [reasons.BY_KIND[Kind.FILE_ADD], *reasons.of_text(document.text((0, len(document.lines))), 0)]
    if signs.has_merge_marks(data):
        found.append("It holds an unresolved merge.")
    return Draft(
        kind=Kind.FILE_ADD,
        path=path,
        old=(0, 0),
        new=_lines(data),
        old_text="",
        new_text=_decoded(data),
        title=titles.shorten(f"Add document {titles.plain(path)}{name}"),
        reasons=tuple(found),
        come=tuple(entry_texts(document)),
    )


def deleted(path: str, data: bytes, context: Context, budget: Budget) -> Draft:
    document = read_within(path, data, context, budget)
    return Draft(
        kind=Kind.FILE_DELETE,
        path=path,
        old=_lines(data),
        new=(0, 0),
        old_text=_decoded(data),
        new_text="",
        title=titles.shorten(f"Delete document {titles.plain(path)}{_name(document)}"),
        reasons=(reasons.BY_KIND[Kind.FILE_DELETE],),
        gone=tuple(entry_texts(document)),
    )


def rewritten(path: str, before: bytes, after: bytes, why: str, texts: tuple[Document, Document]) -> Draft:
    """Return the one action of a document told as a whole. Args: texts: both states, as far as they are read."""
    old, new = texts
    return Draft(
        kind=Kind.FACT_REWRITE,
        path=path,
        old=_lines(before),
        new=_lines(after),
        old_text=_decoded(before),
        new_text=_decoded(after),
        title=titles.shorten(f"Rewrite the document {titles.plain(path)}"),
        reasons=(why,),
        gone=tuple(entry_texts(old)),
        come=tuple(entry_texts(new)),
    )


def renamed(path: str, new_path: str, followed: int) -> Draft:
    """Return the one action of a rename. Its texts are the two names; `followed` links go with it."""
    links = {0: "", 1: ", 1 link follows"}.get(followed, f", {followed} links follow")
    room = (titles.MAX_TITLE_CHARS - len(f"Rename  to {links}")) // 2
    old_name, new_name = (titles.shorten(titles.plain(name), room) for name in (path, new_path))
    title = f"Rename {old_name} to {new_name}{links}"
    return Draft(Kind.FILE_RENAME, path, (0, 0), (0, 0), path, new_path, title, (reasons.BY_KIND[Kind.FILE_RENAME],))


def refused(path: str, kind: Kind, why: str, before: bytes | None, after: bytes | None) -> Draft:
    old, new = before or b"", after or b""
    title = titles.shorten(f"Refuse {titles.plain(path)}: {kind.replace('-', ' ')}")
    return Draft(kind, path, _lines(old), _lines(new), _decoded(old), _decoded(new), title, (why,))


def recorded(path: str, before: bytes | None, after: bytes | None) -> Draft:
    old, new = before or b"", after or b""
    title = titles.shorten(f"Record {titles.plain(path)}, which a tool rewrites by itself")
    why = ("A tool rewrites this document by itself, so its changes are recorded and never wait.",)
    return Draft(Kind.TOOL_GENERATED, path, _lines(old), _lines(new), _decoded(old), _decoded(new), title, why)


def read_within(path: str, data: bytes, context: Context, budget: Budget) -> Document:
    """Read a document as far as the budget allows: parsed, else line by line, else as if it were empty."""
    is_plain = len(data) > context.limits.file_bytes or not budget.pays_parsing(data)
    if is_plain and not budget.pays_splitting(data):
        data = b""
    is_delimited = is_section_file(path, data, data, context)
    return read(path, data, context, is_delimited=is_delimited, is_plain=is_plain)


def _name(document: Document) -> str:
    head = frontmatter.read(document.data)
    name = head.name if isinstance(head, frontmatter.Frontmatter) else ""
    first = document.blocks[0].text.decode("utf-8", "replace") if document.blocks else ""
    shown = titles.label(name or ("" if first.startswith("---") else first), 50)
    return f": “{shown}”" if shown else ""


def _lines(data: bytes) -> tuple[int, int]:
    return 0, data.count(b"\n") + (0 if not data or data.endswith(b"\n") else 1)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
