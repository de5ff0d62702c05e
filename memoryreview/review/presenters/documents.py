"""Documents as pages show them: as a difference, rendered, or as raw lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from memoryreview.core.classify import rename
from memoryreview.core.diff import DocumentDiff, Mark, document_diff
from memoryreview.core.frontmatter import Frontmatter, read
from memoryreview.core.model import Delta, Tree
from memoryreview.core.moves import between
from memoryreview.core.text import split_lines

from .gaps import GapView, Opened, Opening, cut_views, gap_views, lines_at, requested_parts, spans_at
from .links import document_url, with_query
from .markup import rendered
from .recorded import in_language
from .words import Words, plural, size_words

RENDERED_MAX_BYTES = 256 * 1024
RAW_MAX_LINES = 5000


class View(StrEnum):
    """The tabs of a document. Words first: agents read the raw text, and so should a reviewer."""

    WORDS = "words"
    RENDERED = "rendered"
    RAW = "raw"


VIEW_WORDS = Words({View.WORDS: "Words", View.RENDERED: "Rendered", View.RAW: "Raw new text"})


class Zoom(StrEnum):
    """How much stands around a change. ALL also shows very long lines uncut."""

    NEAR = "3"
    WIDE = "20"
    ALL = "all"


ZOOM_WORDS = Words({Zoom.NEAR: "3 lines", Zoom.WIDE: "20 lines", Zoom.ALL: "everything"})
_CONTEXT_LINES = {Zoom.NEAR: 3, Zoom.WIDE: 20, Zoom.ALL: 1_000_000}
_WINDOW_CHARS = {Zoom.NEAR: 80, Zoom.WIDE: 80, Zoom.ALL: 1_000_000}


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody wants to see documents.

    Args:
        kept: parameters that every address around them keeps.
        opened: folded or cut lines that are shown all the same.
        is_split: both sides stand beside each other where there is room.
        compare: two revisions to compare: "1-2".
        seen: what a decision was made on, as `interdiff.sight` states it.
    """

    view: View = View.WORDS
    zoom: Zoom = Zoom.NEAR
    kept: Mapping[str, str] = field(default_factory=dict)
    opened: Opened = ()
    is_split: bool = False
    compare: str = ""
    seen: str = ""


DEFAULT_LOOK = Look()
SPLIT = "split"
LAYOUTS = ("unified", SPLIT)


def requested_look(query: Mapping[str, str], *, kept: Mapping[str, str], is_split: bool = False) -> Look:
    """Return what an address asks for; words and near for anything else."""
    view, zoom = query.get("view", ""), query.get("context", "")
    return Look(
        View(view) if view in set(View) else View.WORDS,
        Zoom(zoom) if zoom in set(Zoom) else Zoom.NEAR,
        kept,
        requested_parts(query.get("open", "")),
        is_split,
        query.get("compare", ""),
    )


@dataclass(frozen=True, slots=True)
class Tab:
    words: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class RawLine:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Raw:
    """The lines of a document; `words` says how many of how many, "" where that is all of them."""

    lines: tuple[RawLine, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class HeadField:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A rendered document. `refusal` says why it is not rendered."""

    head: tuple[HeadField, ...] = ()
    html: SafeString | str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """Addresses beside one document of a change, "" where there is none.

    Args:
        earlier, later: the change of the same document before and after this one.
        then, blame, file: the document as of this change: shown, attributed, and to be saved.
    """

    earlier: str = ""
    later: str = ""
    then: str = ""
    blame: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class PortionView:
    """The bar above one part of the change.

    Args:
        has_box: the first part of a portion carries its box; the others say what they go with.
        words: what the part is: "lines 12–13", "the whole document".
        together: why other parts go with it, "" when it stands alone.
    """

    number: int
    words: str
    has_box: bool
    is_dropped: bool
    together: str


@dataclass(frozen=True, slots=True)
class DocumentView:
    """One changed document. `prose` or `raw` is shown where it is there, else the difference; a rename has neither.

    Args:
        portion, portions: what can be left out of it, the latter by `core.portions.line_key`, where there is a choice.
        gaps: what is folded, by the first old line of the hunk below, 0 for what is below them all.
        cuts: links that show a very long line whole, by its name.
        name: what its difference is called on the page, "" where nothing leads to it.
    """

    path: str
    url: str
    summary: str
    notes: tuple[str, ...] = ()
    diff: DocumentDiff | None = None
    prose: Prose | None = None
    raw: Raw | None = None
    around: Around | None = None
    portion: PortionView | None = None
    portions: Mapping[str, PortionView] = field(default_factory=dict)
    gaps: Mapping[int, GapView] = field(default_factory=dict)
    cuts: Mapping[str, Opening] = field(default_factory=dict)
    name: str = ""
    is_split: bool = False


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A document whose lines both sides changed: what changed since, and what is proposed, from the same base."""

    path: str
    since: DocumentDiff
    wanted: DocumentDiff


def view_tabs(url: str, look: Look) -> tuple[Tab, ...]:
    return tuple(
        Tab(words, with_query(url, **look.kept, view="" if name is View.WORDS else name), name is look.view)
        for name, words in VIEW_WORDS.items()
    )


def zoom_tabs(url: str, look: Look) -> tuple[Tab, ...]:
    return tuple(
        Tab(words, _address(url, replace(look, zoom=name)), name is look.zoom) for name, words in ZOOM_WORDS.items()
    )


def layout_tabs(url: str, look: Look) -> tuple[Tab, ...]:
    """Return how both sides can stand; the address is remembered by the browser that follows it."""
    address = _address(url, look)
    return tuple(
        Tab(words, with_query(address, layout=name), is_split is look.is_split)
        for name, words, is_split in (("unified", _("One column"), False), (SPLIT, _("Side by side"), True))
    )


def raw(data: bytes) -> Raw:
    """Return the numbered lines of a document. Bytes that are not UTF-8 stay apart as lone surrogates."""
    lines = split_lines(data)
    shown = tuple(RawLine(line.number, line.body.decode("utf-8", "surrogateescape")) for line in lines[:RAW_MAX_LINES])
    counts = {"shown": f"{len(shown):,}", "count": f"{len(lines):,}"}
    return Raw(shown, _("%(shown)s of %(count)s lines shown") % counts if len(shown) < len(lines) else "")


def prose(data: bytes) -> Prose:
    """Return a document rendered, its frontmatter as pairs of texts, exactly as written."""
    if len(data) > RENDERED_MAX_BYTES:
        return Prose(
            refusal=_("This document has %(size)s, too much to render. Its raw text is shown in full.")
            % {"size": size_words(len(data))}
        )
    head = read(data)
    fields: tuple[HeadField, ...] = ()
    start = 0
    if isinstance(head, Frontmatter):
        fields = tuple(HeadField(f"{f.parent}.{f.key}" if f.parent else f.key, f.value) for f in head.fields)
        start = head.end
    return Prose(fields, rendered(data[start:].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")))


def documents(
    tree: Tree, delta: Delta, *, slug: str, look: Look = DEFAULT_LOOK, url: str = "", place: str = ""
) -> tuple[DocumentView, ...]:
    """Return one view per changed document, as ordered in the delta; a rename with equal text is one view.

    Args:
        url: the page, for links that show folded lines; "" leaves them out.
        place: what these documents are of on the page, as `gaps.Part` says it.
    """
    renames = {new: old for old, new in rename.find(delta, tree).items()}
    shown = [path for path in delta if path not in renames.values()]
    places = {path: f"{place}{number}" for number, path in enumerate(shown)}
    changed = [path for path in shown if path not in renames]
    compared = between([_diff(tree, delta, path, look, places[path]) for path in changed])
    diffs = dict(zip(changed, compared, strict=True))
    views = []
    for path in shown:
        if path in renames:
            moved = renames[path]
            summary, notes = _("renamed"), (_("Was %(moved)s. The text is the same.") % {"moved": moved},)
            views.append(DocumentView(path, document_url(slug, moved), summary, notes))
            continue
        view = _document(diffs[path], delta[path], slug=slug, view=look.view)
        if url:
            at = diffs[path], places[path], _address(url, look), look.opened
            name = f"diff-{places[path]}"
            view = replace(view, gaps=gap_views(*at), cuts=cut_views(*at), name=name, is_split=look.is_split)
        views.append(view)
    return tuple(views)


def _diff(tree: Tree, delta: Delta, path: str, look: Look, place: str) -> DocumentDiff:
    return document_diff(
        path,
        tree.get(path),
        delta[path],
        context_lines=_CONTEXT_LINES[look.zoom],
        window_chars=_WINDOW_CHARS[look.zoom],
        opened=spans_at(look.opened, place),
        uncut=lines_at(look.opened, place),
    )


def _address(url: str, look: Look) -> str:
    return with_query(url, **look.kept, compare=look.compare, context="" if look.zoom is Zoom.NEAR else look.zoom)


def _document(diff: DocumentDiff, new: bytes | None, *, slug: str, view: View) -> DocumentView:
    path, url = diff.path, document_url(slug, diff.path) if diff.old_exists else ""
    summary, notes = changed_lines(diff), tuple(note for note in (_fate(diff), in_language(diff.summary)) if note)
    if new is None or view is View.WORDS:
        return DocumentView(path, url, summary, notes, diff)
    if diff.summary:
        notes = (*notes[:-1], _("In the difference: %(summary)s") % {"summary": diff.summary})
    if view is View.RENDERED:
        return DocumentView(path, url, summary, notes, diff, prose=prose(new))
    return DocumentView(path, url, summary, notes, diff, raw=raw(new))


def _fate(diff: DocumentDiff) -> str:
    if not diff.old_exists:
        return _("A new document.")
    return "" if diff.new_exists else _("The whole document goes.")


def changed_lines(diff: DocumentDiff) -> str:
    """Return "+2 −1", as the queue's rows do."""
    return f"+{diff.added} −{diff.removed}"


def consequence(tree: Tree, delta: Delta, views: Iterable[DocumentView]) -> str:
    """Say what writing a delta does, for a button: "change 1 line of project_build.md"."""
    if len(delta) > 1:
        goes = sum(new is None for new in delta.values())
        others = _(", %(deletions)s among them") % {"deletions": plural(goes, "deletion")} if goes else ""
        return _("change %(documents)s%(others)s") % {"documents": plural(len(delta), "document"), "others": others}
    [path] = delta
    if delta[path] is None:
        return _("delete %(path)s") % {"path": path}
    if path not in tree:
        return _("add %(path)s") % {"path": path}
    diff = next((view.diff for view in views if view.diff), None) or document_diff(path, tree[path], delta[path])
    if not diff.removed:
        return _("add %(lines)s to %(path)s") % {"lines": plural(diff.added, "line"), "path": path}
    if not diff.added:
        return _("remove %(lines)s from %(path)s") % {"lines": plural(diff.removed, "line"), "path": path}
    return _("change %(lines)s of %(path)s") % {"lines": plural(max(diff.added, diff.removed), "line"), "path": path}


def section(views: Iterable[DocumentView]) -> str:
    """Return the heading above the first change, "" when there is none."""
    for view in views:
        for hunk in view.diff.hunks if view.diff else ():
            return hunk.heading
    return ""


def removed_lines(views: Iterable[DocumentView], *, at_most: int) -> tuple[str, ...]:
    """Return the texts of removed lines that are not blank, for a person who is asked to confirm."""
    texts: list[str] = []
    for view in views:
        for hunk in view.diff.hunks if view.diff else ():
            texts += ["".join(piece.text for piece in line.pieces) for line in hunk.lines if line.mark is Mark.REMOVED]
    return tuple(text.strip() for text in texts if text.strip())[:at_most]
