"""Changes of meaning: each returns a store that says something else, or None where there is nothing to change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TypeAlias

from .stores import ENTRIES, FACTS, Page, Piece, Store, blank, copied, new_entry, row, said
from .vocabulary import NEGATIONS, STEMS, Token, fact, other

Mutation: TypeAlias = Callable[[Random, Store, frozenset[int]], "Store | None"]
"""Args: pieces (by number) that must stay as they are, because another edit is at work there."""

_INVISIBLE = (
    "\u200b",
    "\u200d",
    "\u00ad",
    "\u2060",
    "\u202e",
    "\ufeff",
    "\u0301",
    "\u3000",
    "\u00a0",
    "\U000e0041",
    "\u2028",
)
_LOOKALIKES = str.maketrans({"a": "а", "e": "е", "o": "о", "i": "і", "0": "O", "1": "l", "-": "–", "2": "２", "d": "ԁ"})
VALUES = ("number", "unit", "turn", "name", "place", "path", "url", "code", "date", "target", "citation")


def _places(
    random: Random, store: Store, kept: frozenset[int], want: Callable[[Piece], bool]
) -> tuple[Page, Piece] | None:
    found = [
        (page, piece)
        for page in store.pages.values()
        for piece in page.pieces
        if piece.number not in kept and want(piece)
    ]
    return random.choice(found) if found else None


def _with_token(
    random: Random, store: Store, kept: frozenset[int], kind: str, change: Callable[[Token], tuple[Token, ...]]
) -> Store | None:
    place = _places(random, store, kept, lambda piece: any(token.kind == kind for token in piece.tokens))
    if place is None:
        return None
    page, piece = place
    at = random.choice([at for at, token in enumerate(piece.tokens) if token.kind == kind])
    changed = (*piece.tokens[:at], *change(piece.tokens[at]), *piece.tokens[at + 1 :])
    return store.with_page(page.replaced(piece, replace(piece, tokens=changed)))


def value_of(kind: str) -> Mutation:
    """Another value of one kind, in any kind of place: prose, code, tables, headings, quotes, rows, comments."""

    def mutate(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
        return _with_token(random, store, kept, kind, lambda token: (other(random, token),))

    return mutate


def digit(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """One digit of a number goes, comes or changes."""

    def change(token: Token) -> tuple[Token, ...]:
        at = random.randrange(len(token.text))
        changed = str((int(token.text[at]) + random.randint(1, 9)) % 10)
        text = random.choice(
            (token.text[:at] + token.text[at + 1 :], token.text[:at] + changed + token.text[at + 1 :], token.text + "0")
        )
        return (replace(token, text=text or "7" + token.text),)

    return _with_token(random, store, kept, "number", change)


def gone_value(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """A number, unit, date, name, path or code goes and leaves the rest."""
    return _with_token(random, store, kept, random.choice(VALUES), lambda token: ())


def negated(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """A word that turns the meaning comes."""

    def change(token: Token) -> tuple[Token, ...]:
        return (token, Token("text", random.choice(NEGATIONS.get(token.language, NEGATIONS["en"]))))

    return _with_token(random, store, kept, random.choice(("turn", "turn", "place", "name")), change)


def words_swapped(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    return _with_words(random, store, kept, lambda words: _swapped(random, words))


def _swapped(random: Random, words: list[str]) -> list[str]:
    pairs = [(i, j) for i in range(len(words)) for j in range(i + 1, len(words)) if words[i] != words[j]]
    if pairs:
        i, j = random.choice(pairs)
        words[i], words[j] = words[j], words[i]
    return words


def word_gone(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    def change(words: list[str]) -> list[str]:
        del words[random.randrange(len(words))]
        return words

    return _with_words(random, store, kept, change)


def word_new(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    def change(words: list[str]) -> list[str]:
        words.insert(
            random.randrange(len(words) + 1),
            random.choice((*STEMS, "only", "…", "etc.", "13/04/2025", "2025-04-13", "not")),
        )
        return words

    return _with_words(random, store, kept, change)


def _with_words(
    random: Random, store: Store, kept: frozenset[int], change: Callable[[list[str]], list[str]]
) -> Store | None:
    place = _places(
        random, store, kept, lambda piece: piece.kind in FACTS | {"heading", "scope", "head"} and bool(piece.tokens)
    )
    if place is None:
        return None
    page, piece = place
    before = "".join(token.text for token in piece.tokens)
    after = " ".join(change(before.split(" ")))
    if after.split() == before.split():
        return None
    return store.with_page(page.replaced(piece, replace(piece, tokens=(Token("text", after),))))


def letter(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """A letter becomes one that looks like it, or something unseen comes between two."""
    place = _places(random, store, kept, lambda piece: piece.kind in FACTS | {"heading", "code"} and bool(piece.tokens))
    if place is None:
        return None
    page, piece = place
    text = "".join(token.text for token in piece.tokens)
    at = random.randrange(1, len(text))
    alike = text[at].translate(_LOOKALIKES)
    changed = text[:at] + (alike if alike != text[at] else random.choice(_INVISIBLE) + text[at]) + text[at + 1 :]
    return store.with_page(page.replaced(piece, replace(piece, tokens=(Token("text", changed),))))


def _entry(random: Random, store: Store, kept: frozenset[int]) -> tuple[Page, Piece] | None:
    """Return an entry whose text stands nowhere else."""
    lines = [piece.line.strip() for page in store.pages.values() for piece in page.pieces]
    place = _places(random, store, kept, lambda piece: piece.kind in ENTRIES and lines.count(piece.line.strip()) == 1)
    if place is None or any(piece.number in kept for piece in place[0].entry(place[1])):
        return None
    return place


def entry_gone(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """An entry goes, an index row among them; in a Hermes file with its rule."""
    place = _entry(random, store, kept)
    if place is None:
        return None
    page, piece = place
    gone = list(page.entry(piece))
    at = page.pieces.index(gone[0])
    rules = [
        other
        for other in (page.pieces[at - 1], *page.pieces[at + len(gone) : at + len(gone) + 1])
        if other.kind == "rule"
    ]
    return store.with_page(page.without([*gone, *rules[:1]]))


def entry_moved(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """An entry goes to another place of its document: another order, another section."""
    place = _entry(random, store, kept)
    if place is None or place[1].kind == "entry":
        return None
    page, piece = place
    lines = page.entry(piece)
    rest = page.without(lines)
    starts = [at for at, other in enumerate(rest.pieces) if other.kind in ENTRIES and other.number not in kept]
    now = page.pieces.index(lines[0])
    starts = [at for at in starts if at != now]
    return store.with_page(rest.inserted(random.choice(starts), *lines)) if starts else None


def entry_elsewhere(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """An entry is said in another document, too, or there instead."""
    place = _entry(random, store, kept)
    if place is None:
        return None
    page, piece = place
    others = [other for other in store.pages.values() if other.path != page.path]
    if not others:
        return None
    target = random.choice(others)
    moved = target.inserted(len(target.pieces), copied(piece))
    rest = page.without(page.entry(piece)) if piece.kind != "entry" and random.random() < 0.5 else page
    return store.with_page(rest, moved)


def entry_new(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    place = _entry(random, store, kept)
    if place is None:
        return None
    page, piece = place
    new = replace(copied(piece, entry=new_entry()), tokens=fact(random))
    at = page.pieces.index(piece)
    return store.with_page(page.inserted(at, new, *([Piece("rule", "§")] if piece.kind == "entry" else [])))


def entry_replaced(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    place = _entry(random, store, kept)
    if place is None:
        return None
    page, piece = place
    return store.with_page(page.replaced(piece, replace(piece, tokens=fact(random))))


def mark_changed(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """An item becomes a step, a done box, a quote or a child of the one above; a heading changes its level."""
    place = _places(
        random, store, kept, lambda piece: piece.kind in ("item", "ordered", "heading", "paragraph", "quote")
    )
    if place is None:
        return None
    page, piece = place
    marks = {
        "item": ("1. ", "- [x] ", "> ", "  - ", "- - ", "    ", "-\t\t"),
        "ordered": ("7. ", "- ", "   "),
        "heading": ("#" + piece.mark, "", "- "),
        "paragraph": ("- ", "> ", "    ", "# "),
        "quote": ("", "- "),
    }
    return store.with_page(page.replaced(piece, replace(piece, mark=random.choice(marks[piece.kind]))))


def break_changed(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """A hard break comes or goes, or code gets blanks."""
    place = _places(random, store, kept, lambda piece: piece.kind in ("code", "more"))
    if place is None:
        return None
    page, piece = place
    above = page.pieces[page.pieces.index(piece) - 1] if piece.kind == "more" else piece
    if above.number in kept:
        return None
    return store.with_page(page.replaced(above, replace(above, tail=above.tail + random.choice(("  ", "\\", "    ")))))


def gap_gone(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """The blank line between two blocks goes, so that they run into each other."""
    place = _places(random, store, kept, lambda piece: piece.kind == "blank")
    return store.with_page(place[0].without([place[1]])) if place else None


def gap_in_code(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    place = _places(random, store, kept, lambda piece: piece.kind in ("code", "quote", "cell", "more", "head", "sub"))
    if place is None:
        return None
    page, piece = place
    return store.with_page(page.inserted(page.pieces.index(piece), blank()))


def line_gone(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """A line of the frontmatter, of code, of a table or a heading goes."""
    kinds = ("head", "code", "cell", "heading", "fence", "quote", "comment", "more", "sub", "scope", "day", "format")
    place = _places(random, store, kept, lambda piece: piece.kind in kinds)
    return store.with_page(place[0].without([place[1]])) if place else None


def head_changed(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """A value of the frontmatter changes, is quoted, or gets a comment."""
    place = _places(random, store, kept, lambda piece: piece.kind == "head" and bool(piece.tokens))
    if place is None:
        return None
    page, piece = place
    value = piece.tokens[0].text
    changed = random.choice(
        (f'"{value}"', f"{value} # old", random.choice(STEMS), f"{value}, not", value.upper() + "!")
    )
    return store.with_page(page.replaced(piece, replace(piece, tokens=(Token("value", changed),))))


def edge_changed(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """The byte order mark or the final newline comes or goes, or every line end changes."""
    page = random.choice([*store.pages.values()])
    changed = random.choice(
        (
            replace(page, has_mark=not page.has_mark),
            replace(page, has_end=not page.has_end),
            replace(page, eol="\n" if page.eol == "\r\n" else "\r\n"),
        )
    )
    return store.with_page(changed)


def page_gone(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    pages = [page for page in store.pages.values() if not any(piece.number in kept for piece in page.pieces)]
    return store.without_page(random.choice(pages).path) if len(pages) > 1 else None


def page_renamed(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    pages = [page for page in store.notes() if not any(piece.number in kept for piece in page.pieces)]
    if not pages:
        return None
    page = random.choice(pages)
    return store.without_page(page.path).with_page(replace(page, path=page.path.replace(".md", "_old.md")))


def page_new(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    words = (said("paragraph", "", fact(random)), blank(), said("item", "- ", fact(random)))
    return store.with_page(Page(f"new_{random.randint(1, 999)}.md", words))


def row_new(random: Random, store: Store, kept: frozenset[int]) -> Store | None:
    """An index row comes whose words are not the description of the document."""
    rows = [piece for piece in store.pages.get("MEMORY.md", Page("", ())).pieces if piece.kind == "row"]
    if not rows or rows[-1].number in kept:
        return None
    page = store.index()
    last = page.entry(rows[-1])[-1]
    return store.with_page(page.inserted(page.pieces.index(last) + 1, row(random, random.choice(store.notes()))))


MUTATIONS: Mapping[str, Mutation] = {
    **{kind: value_of(kind) for kind in VALUES},
    "digit": digit,
    "value gone": gone_value,
    "negated": negated,
    "words swapped": words_swapped,
    "word gone": word_gone,
    "word new": word_new,
    "letter": letter,
    "entry gone": entry_gone,
    "entry moved": entry_moved,
    "entry elsewhere": entry_elsewhere,
    "entry new": entry_new,
    "entry replaced": entry_replaced,
    "mark changed": mark_changed,
    "break changed": break_changed,
    "gap gone": gap_gone,
    "gap in a block": gap_in_code,
    "line gone": line_gone,
    "head changed": head_changed,
    "edge changed": edge_changed,
    "document gone": page_gone,
    "document renamed": page_renamed,
    "document new": page_new,
    "row new": row_new,
}
