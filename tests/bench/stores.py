"""Stores of every format, as pieces with known meaning: what they say is known before any byte is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

from memoryreview.core.model import FormatName

from .vocabulary import PLACES, STEMS, Token, fact, some_day, text_of

_IDS = count(1)

FACTS = frozenset({"item", "sub", "more", "ordered", "paragraph", "quote", "cell", "row", "entry", "comment"})
"""Kinds of pieces that say something in words."""

ENTRIES = frozenset({"item", "ordered", "paragraph", "row", "entry"})
"""Kinds of pieces that begin an entry; "sub" and "more" belong to the one above."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One line. `mark` is what stands before the words; `entry` is shared by the lines of one entry."""

    kind: str
    mark: str = ""
    tokens: tuple[Token, ...] = ()
    tail: str = ""
    entry: int = 0
    number: int = field(default_factory=lambda: next(_IDS))

    @property
    def line(self) -> str:
        return f"{self.mark}{text_of(self.tokens)}{self.tail}"


@dataclass(frozen=True, slots=True)
class Page:
    """One document. `is_index`: whether its rows point to the others."""

    path: str
    pieces: tuple[Piece, ...]
    eol: str = "\n"
    has_mark: bool = False
    has_end: bool = True
    name: str = ""
    description: str = ""
    type: str = ""

    def render(self) -> bytes:
        text = self.eol.join(piece.line for piece in self.pieces) + (self.eol if self.has_end else "")
        return ("\ufeff" * self.has_mark + text).encode()

    def replaced(self, old: Piece, *new: Piece) -> Page:
        at = self.pieces.index(old)
        return replace(self, pieces=(*self.pieces[:at], *new, *self.pieces[at + 1 :]))

    def inserted(self, at: int, *new: Piece) -> Page:
        return replace(self, pieces=(*self.pieces[:at], *new, *self.pieces[at:]))

    def without(self, gone: Iterable[Piece]) -> Page:
        numbers = {piece.number for piece in gone}
        return replace(self, pieces=tuple(piece for piece in self.pieces if piece.number not in numbers))

    def entry(self, piece: Piece) -> tuple[Piece, ...]:
        """Return the lines of the entry that a piece belongs to."""
        return tuple(other for other in self.pieces if other.entry == piece.entry) if piece.entry else (piece,)


@dataclass(frozen=True, slots=True)
class Store:
    format: FormatName
    pages: Mapping[str, Page]

    def tree(self) -> dict[str, bytes]:
        return {path: page.render() for path, page in self.pages.items()}

    def with_page(self, *pages: Page) -> Store:
        return replace(self, pages={**self.pages, **{page.path: page for page in pages}})

    def without_page(self, path: str) -> Store:
        return replace(self, pages={name: page for name, page in self.pages.items() if name != path})

    def index(self) -> Page:
        return self.pages["MEMORY.md"]

    def notes(self) -> list[Page]:
        return [page for path, page in self.pages.items() if path != "MEMORY.md"]


def blank() -> Piece:
    return Piece("blank")


def said(kind: str, mark: str, tokens: tuple[Token, ...], entry: int = 0) -> Piece:
    return Piece(kind, mark, tokens, entry=entry or next(_IDS))


def copied(piece: Piece, *, entry: int = 0) -> Piece:
    return replace(piece, number=next(_IDS), entry=entry)


def new_entry() -> int:
    return next(_IDS)


def store(random: Random, format_: FormatName | None = None) -> Store:
    """Return a store with a few small documents."""
    name = format_ or random.choice([*FormatName, FormatName.CLAUDE, FormatName.CLAUDE])
    pages = _PAGES[name](random)
    eol = "\r\n" if random.random() < 0.15 else "\n"
    shaped = [
        replace(
            page,
            eol=eol,
            has_mark=random.random() < 0.08,
            has_end=page.has_end and random.random() > 0.12,
        )
        for page in pages
    ]
    return Store(name, {page.path: page for page in shaped})


def row(random: Random, page: Page, *, mark: str = "- ", separator: str = " — ", hook: str = "") -> Piece:
    """Return an index row that points to a page."""
    title = (Token("title", page.name),)
    link = (Token("text", "["), *title, Token("text", "]("), Token("target", page.path), Token("text", ")"))
    words = (Token("hook", hook),) if hook else fact(random)
    return said("row", mark, (*link, Token("text", separator), *words))


def _claude(random: Random) -> list[Page]:
    notes = [_topic(random, number) for number in range(random.choice((2, 2, 3, 4)))]
    pieces = [Piece("heading", "# ", (Token("text", "Memory Index"),)), blank()]
    has_sections = random.random() < 0.3
    for number, page in enumerate(notes):
        if has_sections and number in (0, 2):
            pieces += ([blank()] if number else []) + [_heading(random, "## "), blank()]
        pieces.append(row(random, page))
        if random.random() < 0.15:
            pieces.append(replace(said("more", "  ", fact(random, "en")), entry=pieces[-1].entry))
    return [Page("MEMORY.md", tuple(pieces)), *notes]


def _topic(random: Random, number: int) -> Page:
    type_ = random.choice(("project", "feedback", "reference", "user"))
    name = f"{random.choice(STEMS)} of {random.choice(PLACES)} {number}"
    description = text_of(fact(random, random.choice(("en", "en", "de", "zh"))))
    return with_head(
        Page(
            f"{type_}_{random.choice(STEMS)}_{number}.md",
            tuple(body(random)),
            name=name,
            description=description,
            type=type_,
        ),
        is_nested=random.random() < 0.5,
        modified=f"2026-0{random.randint(1, 5)}-{random.randint(10, 28)}T08:42:07.585Z",
    )


def with_head(page: Page, *, is_nested: bool, modified: str = "", verified: str = "") -> Page:
    """Return a page with the frontmatter of either generation above its text."""
    indent = "  " if is_nested else ""
    lines = [("---", ""), ("name: ", page.name), ("description: ", page.description)]
    lines += [("metadata: ", ""), ("  node_type: ", "memory")] if is_nested else []
    lines.append((f"{indent}type: ", page.type))
    head = [
        Piece("fence" if key == "---" else "head", key, (Token("value", text),) if text else ()) for key, text in lines
    ]
    if modified and is_nested:
        head.append(Piece("stamp", "  modified: ", (Token("stamp", modified),)))
    if verified:
        head.append(Piece("verified", f"{indent}verified_at: ", (Token("verified", verified),)))
    return replace(page, pieces=(*head, Piece("fence", "---"), blank(), *page.pieces))


def _codex(random: Random) -> list[Page]:
    pieces: list[Piece] = []
    for number in range(2):
        pieces += [Piece("heading", "# Task Group: ", fact(random, "en"))]
        pieces += [
            Piece("scope", "scope: ", fact(random, "en")),
            Piece("scope", "applies_to: ", fact(random, "en")),
            blank(),
        ]
        pieces += [Piece("heading", f"## Task {number + 1}: ", fact(random, "en")), blank()]
        pieces += [Piece("heading", "### ", (Token("text", "keywords"),)), blank()]
        pieces += [said("item", "- ", (*fact(random), Token("citation", f" [Task {number + 1}]"))) for _ in range(3)]
        pieces += [blank()]
    summary = [Piece("format", "v1"), blank(), Piece("heading", "## ", (Token("text", "User Profile"),)), blank()]
    summary += [said("paragraph", "", fact(random)), blank(), *_list(random)]
    return [
        Page("MEMORY.md", tuple(pieces[:-1])),
        Page("memory_summary.md", tuple(summary)),
        Page("notes.md", tuple(body(random))),
    ]


def _hermes(random: Random) -> list[Page]:
    return [Page(path, tuple(_sections(random)), has_end=False) for path in ("MEMORY.md", "USER.md")]


def _sections(random: Random) -> list[Piece]:
    pieces: list[Piece] = []
    for number in range(random.randint(3, 5)):
        entry = new_entry()
        pieces += [Piece("rule", "§")] if number else []
        pieces.append(said("entry", "", fact(random), entry))
        if random.random() < 0.3:
            pieces.append(said("more", "- ", fact(random), entry))
    return pieces


def _markdown(random: Random) -> list[Page]:
    day = some_day(random)
    log = [Piece("day", "# ", (Token("day", day.isoformat()),)), blank(), *body(random)]
    return [
        Page("conventions.md", tuple(body(random))),
        Page(f"memory/{day.isoformat()}.md", tuple(log)),
        Page("memory-bank/context.md", tuple(body(random))),
    ]


_PAGES: Mapping[FormatName, Callable[[Random], list[Page]]] = {
    FormatName.CLAUDE: _claude,
    FormatName.CODEX: _codex,
    FormatName.HERMES: _hermes,
    FormatName.MARKDOWN: _markdown,
}


def body(random: Random) -> list[Piece]:
    """Return sections with blocks of every kind."""
    pieces: list[Piece] = []
    for number in range(random.choice((1, 1, 2))):
        if number or random.random() < 0.7:
            pieces += [_heading(random, "## "), blank()]
        for make in random.sample(_BLOCKS, random.randint(1, 2)):
            pieces += [*make(random), blank()]
    if not any(piece.kind in ENTRIES for piece in pieces):
        pieces += [*_list(random), blank()]
    return pieces[:-1]


def _heading(random: Random, mark: str) -> Piece:
    return Piece("heading", mark, fact(random, random.choice(("en", "de", "zh"))))


def _list(random: Random) -> list[Piece]:
    pieces: list[Piece] = []
    for _ in range(random.randint(2, 4)):
        pieces.append(said("item", "- ", _linked(random)))
        if random.random() < 0.15:
            pieces.append(said(random.choice(("more", "sub")), "  ", fact(random), pieces[-1].entry))
            pieces[-1] = replace(pieces[-1], mark="  - " if pieces[-1].kind == "sub" else "  ")
    return pieces


def _linked(random: Random) -> tuple[Token, ...]:
    words = fact(random)
    if random.random() < 0.2:
        label, target = random.choice(PLACES), f"{random.choice(STEMS)}_{random.randint(10, 99)}.md"
        return (*words, Token("text", f", see [{label}]("), Token("target", target), Token("text", ")"))
    return words


def _steps(random: Random) -> list[Piece]:
    return [said("ordered", f"{number}. ", fact(random)) for number in range(1, random.randint(3, 5))]


def _paragraph(random: Random) -> list[Piece]:
    entry = new_entry()
    lines = [said("paragraph", "", fact(random), entry)]
    return lines + [said("more", "", fact(random), entry) for _ in range(random.randint(0, 2))]


def _code(random: Random) -> list[Piece]:
    inside = [
        Piece(
            "code",
            "",
            (Token("code", f"pnpm {random.choice(STEMS)} --n "), Token("number", str(random.randint(1, 999)))),
        )
        for _ in range(2)
    ]
    return [Piece("fence", "```sh"), *inside, Piece("fence", "```")]


def _table(random: Random) -> list[Piece]:
    rows = [Piece("cell", "| ", (*fact(random), Token("text", " | "), *fact(random)), " |") for _ in range(2)]
    return [Piece("fence", "| what | where |"), Piece("fence", "|---|---|"), *rows]


def _quote(random: Random) -> list[Piece]:
    return [Piece("quote", "> ", fact(random)) for _ in range(random.randint(1, 2))]


def _comment(random: Random) -> list[Piece]:
    return [Piece("comment", "<!-- ", fact(random), " -->")]


_BLOCKS = (_list, _list, _steps, _paragraph, _code, _table, _quote, _comment)
