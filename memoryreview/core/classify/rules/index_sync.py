"""An approved document without a row gets the one row that its own name and description make, and no other."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from memoryreview.core import frontmatter
from memoryreview.core.classify.budget import Budget
from memoryreview.core.classify.document import Document
from memoryreview.core.formats import Catalogue, is_instruction, of, signs
from memoryreview.core.formats.base import IndexRow, Meter, basename, directory, is_document, stem
from memoryreview.core.formats.blocks import one_line
from memoryreview.core.formats.index import is_document_link, rows
from memoryreview.core.markdown import Place, comments, links
from memoryreview.core.model import Context, Rewrite, Tree
from memoryreview.core.names import shown
from memoryreview.core.text import fold_name, line_end, undecodable_at

from .cut import has_children
from .index_trim import MAX_LIMIT_CHARS, MIN_LIMIT_CHARS
from .outcome import Declined, Explained, Outcome

VERSION = 1

_Value = TypeVar("_Value", bound=Hashable)

_TYPE = re.compile(r"(user|feedback|project|reference)[_-]", re.IGNORECASE)
_PLAIN_MARKER = re.compile(r"[ \t]*[-*+][ \t]+")
_PLAIN_TARGET = re.compile(r"[\w./-]+")
_MARKUP = re.compile(r"[\[\]<>\\|]")
_TITLE_MARKS = re.compile(r"[*`]|~~|://|^_|_$")
_TOO_FULL = "The index would grow beyond what an agent loads of it."
_NO_TEXT = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", "-.inf", "+.inf", ".nan"])
"""What a YAML reader takes for something else than these letters."""


@dataclass(frozen=True, slots=True)
class Row:
    """The row that a document gets. Args: path: of the document; text: without line end; rewrite: adds it."""

    path: str
    text: str
    rewrite: Rewrite


@dataclass(frozen=True, slots=True)
class Added:
    """Lines that come into an index.

    Args:
        at: byte offset in the base document.
        row: the row that they are, None when they are something else or more.
    """

    at: int
    row: IndexRow | None
    body: bytes
    eol: bytes


@dataclass(frozen=True, slots=True)
class _Form:
    """How most rows of an index look. Args: kind: of the link; has_label: whether a wiki link shows a title."""

    marker: str
    separator: str
    kind: str
    has_label: bool


class Listing:
    """One index, as it stands in a store: which row a document without one gets.

    Args:
        document: the index, in its approved state.
        tree: the approved store.
    """

    def __init__(self, document: Document, tree: Tree, context: Context, budget: Budget) -> None:
        self._document, self._tree, self._context, self._budget = document, tree, context, budget

    def row_for(self, path: str) -> Row | Declined:
        """Return the row that a document of the store gets, or why it gets none by itself.

        Each row is laid in as if it came alone; those of one place come in the order of their paths.
        """
        if not self.stays_loaded([]):
            return Declined(_TOO_FULL)
        form, refusal = self._form, self._why_not_listed(path)
        if isinstance(form, str) or refusal:
            return Declined(form if isinstance(form, str) else refusal)
        label = _label(path, self._tree[path])
        if isinstance(label, str):
            return Declined(label)
        if not self._meant.isdisjoint(_fold(name) for name in (path, stem(path), label[0])):
            return Declined("The index has a row already that may mean this document.")
        if basename(path).encode() in self._document.data:
            return Declined("The index names this document already, without a row for it, and may say why.")
        if _seen(label[0]) in self._titles:
            return Declined("The index has a row already whose title looks the same.")
        text = self._text(form, path, *label)
        if isinstance(text, Declined):
            return text
        last = self._last_row(form, path)
        if isinstance(last, Declined):
            return last
        row = Row(path, text, self._insertion(last, text))
        return row if self.stays_loaded([row]) else Declined(_TOO_FULL)

    def stays_loaded(self, added: Sequence[Row]) -> bool:
        """Whether an agent still sees the whole index when these rows come to it."""
        costs = {"lines": len(added), "bytes": sum(len(row.rewrite.new) for row in added)}
        return all(meter.used + costs[meter.unit] <= meter.limit for meter in self._meters)

    @cached_property
    def _meters(self) -> Sequence[Meter]:
        return of(self._context.format).meters(self._document.path, self._document.data)

    @cached_property
    def _rows(self) -> Sequence[IndexRow]:
        return list(self._document.rows.values())

    @cached_property
    def _form(self) -> _Form | str:
        """The form of most rows, or why there is none."""
        top = [row for row in self._rows if row.depth == 1]
        if not top:
            return "The index has no rows yet, so nothing shows what a row of it looks like."
        marker = _most(row.marker for row in top)
        kind = _most((row.kind, row.title.startswith(("*", "_"))) for row in top)
        separator = _most(row.separator for row in top if row.hook)
        has_label = _most(row.title != row.target for row in top if row.kind == "wiki")
        if marker is None or kind is None or separator is None or (kind[0] == "wiki" and has_label is None):
            return "The rows of the index have no form that most of them share."
        if kind[1] or not _PLAIN_MARKER.fullmatch(marker):
            return "Most rows of the index carry marks that only a person sets."
        return _Form(marker, separator, kind[0], bool(has_label))

    def _why_not_listed(self, path: str) -> str:
        format_ = of(self._context.format)
        if not is_document(path) or format_.is_index(path) or format_.is_generated(path):
            return "The row points to nothing that an index lists."
        if _index_of(path, self._document.path, self._tree) != self._document.path:
            return "The document belongs to another index."
        if is_instruction(path):
            return "The document is an instruction that people write for agents, and those are not listed."
        if signs.may_be_conflict_copy(path) or signs.conflict_original(path, self._tree) is not None:
            return "The document is a conflict copy that a sync tool left behind."
        content = self._tree[path]
        if len(content) > self._context.limits.file_bytes or not self._budget.pays_searching(content):
            return "The document is too large to be listed without a person."
        if undecodable_at(content) is not None or signs.has_merge_marks(content):
            return "The document cannot be read as it stands."
        return ""

    @cached_property
    def _meant(self) -> frozenset[str]:
        """All names that the links of the index may mean, loosely, and what its rows are called."""
        found = {_fold(row.title.strip("*_ ")) for row in self._rows}
        for link in filter(is_document_link, links(self._document.data)):
            for target in (link.target, link.raw_target):
                found |= {_fold(target), _fold(self._place(target))}
        return frozenset(found)

    @cached_property
    def _titles(self) -> frozenset[str]:
        """What the titles of the rows look like."""
        return frozenset(_seen(row.title) for row in self._rows)

    def _place(self, target: str) -> str:
        return posixpath.normpath(posixpath.join(directory(self._document.path), target))

    def document_of(self, row: IndexRow) -> str:
        """Return the document of the store that a row leads to by its place, "" when there is none."""
        place = self._place(row.target)
        return next((path for path in (place, f"{place}.md") if path in self._tree), "")

    def _text(self, form: _Form, path: str, title: str, hook: str) -> str | Declined:
        target = path.removeprefix(f"{directory(self._document.path)}/")
        if not _PLAIN_TARGET.fullmatch(target):
            return Declined("The file name holds characters that a link can write in more than one way.")
        link, read_title = f"[{title}]({target})", title
        if form.kind == "wiki":
            target = stem(path)
            if not self._is_only(path, target):
                return Declined("Several documents answer to the name that the row would have to use.")
            link = f"[[{target}|{title}]]" if form.has_label else f"[[{target}]]"
            read_title = title if form.has_label else target
        text = f"{form.marker}{link}{form.separator}{hook}"
        read = rows(text.encode("utf-8"))
        wanted = (form.marker, read_title, target, "", form.separator, hook, form.kind)
        said = [(r.marker, r.title, r.target, r.anchor, r.separator, r.hook, r.kind) for r in read]
        if said != [wanted] or len(links(text.encode("utf-8"))) != 1 or comments(text.encode("utf-8")):
            return Declined("The name or description of the document reads differently in a row of the index.")
        limit = self._context.limits.index_row_chars
        if len(text) > limit or not MIN_LIMIT_CHARS <= limit <= MAX_LIMIT_CHARS:
            return Declined(f"The row would have more than {limit} characters; shorten the document's description.")
        return text

    def _is_only(self, path: str, name: str) -> bool:
        if directory(path) != directory(self._document.path) or self._catalogue is None:
            return False
        return self._catalogue.find(self._document.path, name).paths == (path,)

    @cached_property
    def _catalogue(self) -> Catalogue | None:
        """The names of the store, None when there is too much to read."""
        return Catalogue(self._tree) if self._budget.pays_searching(*self._tree.values()) else None

    def _last_row(self, form: _Form, path: str) -> IndexRow | Declined:
        """Return the row after which the document's row has its place."""
        near = self._rows
        if len({row.section for row in near}) > 1:
            type_ = _type_of(path)
            sections = {row.section for row in near if _type_of(row.target) == type_} if type_ else set()
            if len(sections) != 1:
                return Declined("The index has sections, and no single one holds all rows of this type.")
            near = [row for row in near if row.section in sections]
        last = near[-1]
        if last.depth != 1 or {row.list_id for row in near if row.depth == 1} != {last.list_id}:
            return Declined("The rows stand in several lists, so nothing says to which of them the document belongs.")
        is_open = has_children(self._document, (last.lines[0] - 1, last.lines[1]))
        if is_open or self._document.spots[last.lines[0] - 1].place is not Place.ITEM:
            return Declined("The last row has entries of its own or a number, so no row can simply follow it.")
        if not last.marker.startswith(form.marker):
            return Declined("The last row looks different from most of them, so a row like those cannot follow it.")
        return last

    def _insertion(self, last: IndexRow, text: str) -> Rewrite:
        document, encoded = self._document, text.encode("utf-8")
        line = document.lines[last.lines[1] - 1]
        if line.eol:
            return Rewrite(document.path, line.end, line.end, encoded + line.eol)
        return Rewrite(document.path, line.end, line.end, line_end(document.data) + encoded)


def explain_additions(listing: Listing, added: Sequence[Added], base: Tree, proposed: Tree) -> list[Outcome]:
    """Explain what is added to an index. Args: added: all of it, in order. Returns: an outcome for each."""
    found = [_explain(listing, each, base, proposed) for each in added]
    places: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(added):
        places[each.at].append(number)
    for numbers in places.values():
        for number, refusal in _misplaced(numbers, found).items():
            found[number] = Declined(refusal)
    explained = [row for row in found if isinstance(row, Row)]
    if explained and not listing.stays_loaded(explained):
        return [Declined(_TOO_FULL) if isinstance(row, Row) else row for row in found]
    return [Explained((row.rewrite,)) if isinstance(row, Row) else row for row in found]


def _explain(listing: Listing, added: Added, base: Tree, proposed: Tree) -> Row | Declined | None:
    if added.row is None:
        return None
    path = listing.document_of(added.row)
    if not path:
        return None
    if proposed.get(path) != base[path]:
        return Declined("The document that the row points to is changed as well, so nobody has approved it as it is.")
    row = listing.row_for(path)
    if isinstance(row, Declined):
        return row
    if added.body != row.text.encode("utf-8"):
        return Declined(f"The row that its name and description make is “{shown(row.text)}”.")
    if added.at != row.rewrite.start or added.eol not in (b"", row.rewrite.new[len(added.body) :]):
        return Declined("A new row has its place right after the last row of its kind.")
    return row


def _misplaced(numbers: Sequence[int], found: Sequence[Row | Declined | None]) -> Mapping[int, str]:
    """Return the rows added in one place that something else comes before, or all when they are out of order."""
    own = [found[number] for number in numbers]
    paths = [row.path for row in own if isinstance(row, Row)]
    first = next((at for at, row in enumerate(own) if not isinstance(row, Row)), len(own))
    why, late = "Something else is added right before the row.", numbers[first:]
    if any(one >= two for one, two in pairwise(paths)):
        why, late = "Rows that come together stand in the order of their paths.", numbers
    return {number: why for number in late if isinstance(found[number], Row)}


def _label(path: str, content: bytes) -> tuple[str, str] | str:
    """Return the title and the text that a document's own head gives its row, or why it gives none."""
    head = frontmatter.read(content)
    if not isinstance(head, frontmatter.Frontmatter):
        return "The document has no frontmatter that says what it is about."
    if head.problems:
        return f"The frontmatter of the document is in doubt. {head.problems[0][2]}"
    type_ = _type_of(path)
    if type_ and head.type and head.type.casefold() != type_:
        return "The name of the document says another type than its frontmatter."
    fields = {entry.key: entry for entry in head.fields if entry.key in ("name", "description") and not entry.parent}
    description = fields.get("description")
    if description is None or not description.value:
        return "The frontmatter of the document has no description."
    if not all(_is_plain(entry) for entry in fields.values()):
        return "The name and description of the document are no plain text on one line, without marks of Markdown."
    title = fields["name"].value if "name" in fields else stem(path)
    if _TITLE_MARKS.search(title):
        return "The name of the document holds marks that change what a title looks like."
    return title, description.value


def _is_plain(entry: frontmatter.Field) -> bool:
    """Whether every reader takes the value for the same words, and a row can hold them as they are."""
    text, raw = entry.value, entry.raw
    if raw[:1] == '"':
        is_whole = raw == f'"{text}"' and "\\" not in raw
    elif raw[:1] == "'":
        is_whole = raw[1:-1].replace("''", "'") == text and raw.endswith("'")
    else:
        is_whole = raw == text and text.casefold() not in _NO_TEXT
    is_text = text.isprintable() and any(char.isalpha() for char in text)
    return is_whole and is_text and one_line(text) == text and not _MARKUP.search(text)


def _index_of(path: str, index: str, tree: Tree) -> str:
    """Return the nearest index at or above the folder of a document, "" when there is none."""
    folder = directory(path)
    while True:
        candidate = f"{folder}/{basename(index)}" if folder else basename(index)
        if candidate in tree or not folder:
            return candidate if candidate in tree else ""
        folder = directory(folder)


def _type_of(path: str) -> str:
    """Return the type that the name of a document begins with, "" when it begins with none."""
    match = _TYPE.match(basename(path))
    return match[1].casefold() if match else ""


def _most(values: Iterable[_Value]) -> _Value | None:
    """Return the commonest value, None when there is none or another is as common."""
    counted = Counter(values).most_common(2)
    return counted[0][0] if len(counted) == 1 or (counted and counted[0][1] > counted[1][1]) else None


def _seen(title: str) -> str:
    """Return the letters and digits of a title in one form each: what a reader tells it from another one by."""
    folded = unicodedata.normalize("NFKC", title).casefold()
    return "".join(char for char in folded if char.isalnum()) or title


def _fold(name: str) -> str:
    """Return the form under which two names may mean one document."""
    plain = name.strip()
    if is_document(plain):
        plain = plain.rpartition(".")[0]
    return fold_name(plain).replace("-", "_").replace(" ", "_")
