"""What one store says and links to, read document by document, and found by the words it is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from memoryreview.core import frontmatter, markdown
from memoryreview.core.formats.base import is_document
from memoryreview.core.frontmatter import Frontmatter
from memoryreview.core.markdown import Link
from memoryreview.core.model import FormatName
from memoryreview.core.text import normalise, split_lines

from .index import Index
from .statement import Statement, statements

BOILERPLATE_DOCUMENTS = 4
"""A text that stands in so many documents is a form, and no statement about any of them."""

_COMPARED = 24
_LIKE_RATIO = 50.0
_PART_RATIO = 70.0


@dataclass(frozen=True, slots=True)
class Known:
    """One document as the index knows it.

    Args:
        version: what the caller knows its bytes by, such as the id of the blob.
        head: its frontmatter as it stands, b"" without one.
        description: of its frontmatter, "" without one; `description_line` is 1-based, None without one.
    """

    path: str
    version: str
    statements: tuple[Statement, ...]
    links: tuple[Link, ...]
    head: bytes
    description: str
    description_line: int | None


def know(path: str, data: bytes, name: FormatName, *, version: str = "", store: str = "") -> Known:
    """Read one document. Total on arbitrary bytes."""
    if not is_document(path):
        return Known(path, version, (), (), b"", "", None)
    found = frontmatter.read(data)
    head = data[: found.end] if isinstance(found, Frontmatter) else b""
    description = found.description if isinstance(found, Frontmatter) else ""
    lines = split_lines(head) if description else ()
    line = next((line.number for line in lines if line.body.lstrip().startswith(b"description:")), None)
    said = statements(path, data, name, store)
    return Known(path, version, said, markdown.links(data), head, description, line)


class StoreIndex:
    """The documents of one store. Whoever keeps it tells it what changed; it never reads anything by itself."""

    def __init__(self, name: FormatName, store: str = "") -> None:
        self.format = name
        self.store = store
        self._known: dict[str, Known] = {}
        self._numbers: dict[str, list[int]] = {}
        self._statements: dict[int, Statement] = {}
        self._words = Index()
        self._exact: defaultdict[str, list[int]] = defaultdict(list)
        self._rows: defaultdict[str, list[Statement]] = defaultdict(list)

    @property
    def documents(self) -> Mapping[str, Known]:
        return self._known

    def put(self, path: str, data: bytes, version: str = "") -> None:
        """Read a document anew."""
        self.drop(path)
        known = know(path, data, self.format, version=version, store=self.store)
        self._known[path] = known
        numbers = self._numbers[path] = []
        for statement in known.statements:
            if statement.is_row:
                self._rows[statement.subject].append(statement)
                continue
            number = self._words.add(statement.text)
            self._statements[number] = statement
            self._exact[normalise(statement.text)].append(number)
            numbers.append(number)

    def drop(self, path: str) -> None:
        """Forget a document, if it is known."""
        known = self._known.pop(path, None)
        if known is None:
            return
        for number in self._numbers.pop(path):
            text = normalise(self._statements.pop(number).text)
            self._exact[text].remove(number)
            if not self._exact[text]:
                del self._exact[text]
            self._words.remove(number)
        for subject in {statement.subject for statement in known.statements if statement.is_row}:
            self._rows[subject] = [row for row in self._rows[subject] if row.path != path]

    def partners(self, statement: Statement) -> tuple[Statement, ...]:
        """Return the statements that are worth comparing with one: equal, alike, or made of the same words.

        Nothing for boilerplate: what stands in many documents says nothing about any of them.
        """
        if statement.is_row:
            return tuple(self._rows.get(statement.subject, ()))
        numbers = self._exact.get(normalise(statement.text), [])
        equal = [self._statements[number] for number in numbers]
        if len({other.path for other in equal} | {statement.path}) >= BOILERPLATE_DOCUMENTS:
            return ()
        own = next((number for number in numbers if self._statements[number] == statement), -1)
        near = self._words.candidates(statement.text, own)
        chosen = dict.fromkeys([*_best(statement.text, near, fuzz.ratio, _LIKE_RATIO)])
        part = fuzz.token_set_ratio if statement.text.isascii() else fuzz.partial_ratio
        chosen |= dict.fromkeys(_best(statement.text, near, part, _PART_RATIO))
        alike = [self._statements[number] for number in chosen]
        return tuple(other for other in dict.fromkeys([*equal[:_COMPARED], *alike]) if other != statement)


def _best(text: str, near: Mapping[int, str], scorer: Callable[..., float], cutoff: float) -> Iterator[int]:
    for _, _, number in process.extract(
        text, near, scorer=scorer, score_cutoff=cutoff, limit=_COMPARED, processor=None
    ):
        yield number


def all_statements(indexes: Iterable[StoreIndex]) -> Iterator[Statement]:
    for index in indexes:
        for path in sorted(index.documents):
            yield from index.documents[path].statements
