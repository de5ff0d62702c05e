"""Edits that cannot change what a store says, one maker for each safe kind. None: the store has no place for it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from hashlib import sha256
from random import Random

from memoryreview.core.model import Ended, FormatName

from . import clauses
from .stores import Page, Piece, Store, blank, body, copied, new_entry, row, said, with_head
from .vocabulary import STEMS, Token, some_day, text_of, written

TODAY = date(2026, 6, 15)


@dataclass(frozen=True, slots=True)
class Edit:
    """A store before and after, with what a verdict may know besides.

    Args:
        kind: the safe kind that has to recognise it; `form` tells variants of it apart.
        pieces: numbers of the pieces on both sides that the edit is about.
        core: those of which no word may differ between the two sides, or the edit is none of its kind.
        lines: path, text and first day of lines.
    """

    kind: str
    form: str
    base: Store
    after: Store
    pieces: frozenset[int]
    core: frozenset[int] = frozenset()
    ended: tuple[Ended, ...] = ()
    lines: tuple[tuple[str, str, date], ...] = ()


def _pages(random: Random, store: Store, *, counted: bool = True) -> list[Page]:
    """Return the documents in a random order. Args: counted: with those of Codex whose lines others cite."""
    pages = list(store.pages.values())
    if not counted and store.format is FormatName.CODEX:
        pages = [page for page in pages if page.path not in ("MEMORY.md", "memory_summary.md")]
    return random.sample(pages, len(pages))


def _numbers(*pieces: Piece) -> frozenset[int]:
    return frozenset(piece.number for piece in pieces)


def _run(page: Page, piece: Piece) -> tuple[int, int]:
    """Return the half-open range of the list that an entry stands in."""
    kinds = {piece.kind, "more", "sub"}
    first = stop = page.pieces.index(piece)
    while first and page.pieces[first - 1].kind in kinds:
        first -= 1
    while stop < len(page.pieces) and page.pieces[stop].kind in kinds:
        stop += 1
    return first, stop


def _repeat(random: Random, store: Store, page: Page, piece: Piece, kind: str, form: str) -> Edit:
    """Return the removal of a later copy of an entry."""
    _, stop = _run(page, piece)
    lines = page.entry(piece)
    after_own = page.pieces.index(lines[-1]) + 1
    places = [at for at in range(after_own, stop + 1) if at == stop or page.pieces[at].kind == piece.kind]
    entry = new_entry()
    copies = [copied(line, entry=entry) for line in lines]
    if form != "same":
        copies = [replace(line, tokens=tuple(_restyled(token, form) for token in line.tokens)) for line in copies]
    base = page.inserted(random.choice(places), *copies)
    numbers = _numbers(*lines, *copies)
    return Edit(kind, form, store.with_page(base), store, numbers, numbers)


def _restyled(token: Token, form: str) -> Token:
    text = unicodedata.normalize("NFD", token.text) if form == "decomposed" else token.text.replace(" ", "  ")
    return replace(token, text=text)


def repeated_entry(random: Random, store: Store) -> Edit | None:
    for page in _pages(random, store, counted=False):
        found = [
            piece
            for piece in page.pieces
            if piece.kind == "item" and not any(p.kind == "sub" for p in page.entry(piece))
        ]
        if found:
            piece = random.choice(found)
            has_code = any("`" in line.line for line in page.entry(piece))
            form = random.choice(("same", "same", "decomposed", "same" if has_code else "blanks"))
            return _repeat(random, store, page, piece, "dedupe.exact", form)
    return None


def repeated_section(random: Random, store: Store) -> Edit | None:
    """A `§` entry that stands twice."""
    if store.format is not FormatName.HERMES:
        return None
    page = random.choice(_pages(random, store))
    piece = random.choice([piece for piece in page.pieces if piece.kind == "entry"])
    entry = new_entry()
    copies = [copied(line, entry=entry) for line in page.entry(piece)]
    later = [at for at, other in enumerate(page.pieces) if other.kind == "rule" and at > page.pieces.index(piece)]
    rule = Piece("rule", "§")
    base = page.inserted(random.choice([*later, len(page.pieces)]), rule, *copies)
    numbers = _numbers(*page.entry(piece), rule, *copies)
    return Edit("dedupe.exact", "section", store.with_page(base), store, numbers, numbers)


def repeated_row(random: Random, store: Store) -> Edit | None:
    rows = _rows(store)
    return _repeat(random, store, store.index(), random.choice(rows), "dedupe.index", "same") if rows else None


def _rows(store: Store) -> list[Piece]:
    if store.format is not FormatName.CLAUDE:
        return []
    return [piece for piece in store.index().pieces if piece.kind == "row"]


def trimmed_row(random: Random, store: Store) -> Edit | None:
    rows = [piece for piece in _rows(store) if len(store.index().entry(piece)) == 1]
    if not rows:
        return None
    piece = random.choice(rows)
    page = store.pages[next(token.text for token in piece.tokens if token.kind == "target")]
    kept, mark, lost = clauses.cut_hook(random, row(random, page, hook="x").line[:-1])
    long_row = replace(row(random, page, hook=f"{kept}{mark}{lost}"), number=piece.number, entry=piece.entry)
    short_row = replace(row(random, page, hook=f"{kept}…"), number=piece.number, entry=piece.entry)
    index, form = store.index(), random.choice(("in the text", "in a sentence", "in the description", "moved"))
    new = said("paragraph", "", (Token("said", lost),))
    if form == "in a sentence":
        new = said("item", "- ", (Token("said", f"{clauses.opening(lost)}; {lost}."),))
    page = replace(
        page, pieces=(*page.pieces, blank(), Piece("heading", "## ", (Token("text", "Notes of the group"),)))
    )
    with_words = replace(page, pieces=(*page.pieces, blank(), new))
    if form == "in the description":
        with_words = _described(page, lost)
    before, after = (page, with_words) if form == "moved" else (with_words, with_words)
    base = store.with_page(index.replaced(piece, long_row), before)
    cut = store.with_page(index.replaced(piece, short_row), after)
    kept_pieces = frozenset(p.number for p in with_words.pieces) | _numbers(long_row)
    told = {"in the description": [p for p in with_words.pieces if p.mark == "description: "], "in a sentence": []}
    return Edit("index.trim", form, base, cut, kept_pieces, _numbers(long_row, *told.get(form, [new])))


def _described(page: Page, description: str) -> Page:
    pieces = [
        replace(piece, tokens=(Token("value", description),)) if piece.mark == "description: " else piece
        for piece in page.pieces
    ]
    return replace(page, pieces=tuple(pieces), description=description)


def written_date(random: Random, store: Store) -> Edit | None:
    """A date in prose becomes the same day in ISO form."""
    page = random.choice(_pages(random, store))
    language = random.choice([*clauses.DATED])
    day = some_day(random)
    before, after = random.choice(clauses.DATED[language]).split("{date}")
    old, new = (Token("date", text, day) for text in (written(random, day, language), day.isoformat()))
    return _line_edit(random, store, page, "date.normalize", language, [(before, old, after), (before, new, after)])


def _line_edit(
    random: Random, store: Store, page: Page, kind: str, form: str, states: list[tuple[str, Token, str]]
) -> Edit:
    """Return the change of one line, in an entry of its own somewhere in the document."""
    lines = [(Token("text", before), token, Token("text", after)) for before, token, after in states]
    places = [at for at, piece in enumerate(page.pieces) if piece.kind in ("item", "entry")]
    entry = new_entry()
    if places and page.pieces[places[0]].kind == "entry":
        at, old, more = 0, said("entry", "", lines[0], entry), [Piece("rule", "§")]
    elif places and random.random() < 0.7:
        at, old, more = random.choice(places), said("item", "- ", lines[0], entry), []
    else:
        at, old, more = len(page.pieces), said("paragraph", "", lines[0], entry), []
        page = replace(page, pieces=(*page.pieces, blank()))
        at += 1
    new = replace(old, tokens=lines[1])
    base, after = (store.with_page(page.inserted(at, piece, *more)) for piece in (old, new))
    return Edit(kind, form, base, after, _numbers(old, *more), _numbers(old))


def relative_word(random: Random, store: Store) -> Edit | None:
    """A word such as “yesterday”, under a heading that is a full date, gets the day that it means."""
    page = next((page for page in store.pages.values() if page.pieces[0].kind == "day"), None)
    if page is None:
        return None
    language, template, word, days = random.choice(clauses.RELATIVE)
    heading = date.fromisoformat(text_of(page.pieces[0].tokens))
    day = heading + timedelta(days=days)
    before, after = template.split("{word}")
    shown = f"{day.isoformat()} ({word})"
    old = said("item", "- ", (Token("text", before), Token("relative", word), Token("text", after)))
    new = replace(old, tokens=(Token("text", before), Token("relative", shown), Token("text", after)))
    top = replace(page, pieces=(*page.pieces[:2], old, blank(), *page.pieces[2:]))
    lines = ((page.path, old.line, heading),)
    return Edit(
        "date.normalize",
        f"relative {language}",
        store.with_page(top),
        store.with_page(top.replaced(old, new)),
        _numbers(page.pieces[0], old),
        _numbers(old),
        lines=lines,
    )


def trailing_blank(random: Random, store: Store) -> Edit | None:
    for page in _pages(random, store):
        found = [
            piece
            for piece in page.pieces
            if piece.kind in ("item", "ordered", "paragraph", "heading", "row", "entry", "more")
        ]
        if not found:
            continue
        piece = random.choice(found)
        at = page.pieces.index(piece)
        following = page.pieces[at + 1].kind if at + 1 < len(page.pieces) else "blank"
        is_last = following in ("blank", "item", "ordered", "heading", "row")
        tail = random.choice((" ", "\t", "  ", " \t ")) if is_last else random.choice((" ", "\t"))
        return Edit(
            "format.blank",
            "trailing",
            store.with_page(page.replaced(piece, replace(piece, tail=tail))),
            store,
            _numbers(piece),
            _numbers(piece),
        )
    return None


def blank_run(random: Random, store: Store) -> Edit | None:
    for page in _pages(random, store, counted=False):
        found = [piece for piece in page.pieces if piece.kind == "blank"]
        if found:
            piece = random.choice(found)
            more = [replace(blank(), mark=random.choice(("", "", " ", "\t"))) for _ in range(random.randint(1, 3))]
            base = page.inserted(page.pieces.index(piece) + 1, *more)
            return Edit("format.blank", "run", store.with_page(base), store, _numbers(piece, *more))
    return None


def missing_row(random: Random, store: Store) -> Edit | None:
    """An approved document gets its row at the end of the index, in the words of its description."""
    rows = _rows(store)
    if not rows or any(piece.mark == "## " for piece in store.index().pieces):
        return None
    name, description = f"{random.choice(STEMS)} of the {random.choice(STEMS)}", clauses.sentence(random)
    page = Page(
        f"project_{random.choice(STEMS)}_new.md",
        tuple(body(random)),
        name=name,
        description=description,
        type="project",
    )
    page = with_head(page, is_nested=random.random() < 0.5)
    page = replace(page, eol=store.index().eol)
    index = store.index()
    at = index.pieces.index(index.entry(rows[-1])[-1]) + 1
    new = row(random, page, hook=description)
    base = store.with_page(page)
    return Edit(
        "index.sync",
        "last",
        base,
        base.with_page(index.inserted(at, new)),
        _numbers(new, *page.pieces, *rows),
        _numbers(new),
    )


def dead_row(random: Random, store: Store) -> Edit | None:
    """The row of a document that an approved change took out goes."""
    rows = _rows(store)
    if not rows:
        return None
    gone = _gone_page(random)
    new, index = row(random, gone, hook=clauses.sentence(random)), store.index()
    at = random.choice([index.pieces.index(piece) for piece in rows])
    return Edit(
        "index.prune", "one", store.with_page(index.inserted(at, new)), store, _numbers(new), ended=(_ended(gone),)
    )


def _gone_page(random: Random) -> Page:
    stem = f"{random.choice(STEMS)}_{random.randint(100, 999)}"
    return Page(f"project_{stem}.md", tuple(body(random)), name=f"gone {stem}")


def _ended(page: Page, renamed_to: str = "") -> Ended:
    return Ended(page.path, page.name, sha256(page.render()).hexdigest(), renamed_to)


def renamed_target(random: Random, store: Store) -> Edit | None:
    """A link follows the document that an approved change renamed."""
    if store.format not in (FormatName.CLAUDE, FormatName.MARKDOWN):
        return None
    target, page = random.sample([*store.notes(), *store.notes()][:4], 2) if len(store.notes()) > 1 else (None, None)
    if target is None or page is None or target.path == page.path or "/" in target.path + page.path:
        return None
    old_path = f"{random.choice(STEMS)}_{random.randint(100, 999)}.md"
    label = random.choice(STEMS)
    links = [(f"See [{label}](", Token("target", path), "), it has the rest.") for path in (old_path, target.path)]
    edit = _line_edit(random, store, page, "link.retarget", "renamed", links)
    ended = Ended(old_path, target.name, sha256(target.render()).hexdigest(), target.path)
    return replace(edit, pieces=edit.pieces | _numbers(*target.pieces), ended=(ended,))


def verified_day(random: Random, store: Store) -> Edit | None:
    day = TODAY - timedelta(days=random.randint(1, 300))
    later = TODAY - timedelta(days=random.randint(0, (TODAY - day).days - 1))
    return _head_edit(random, store, "verified.update", "day", {"verified": (day.isoformat(), later.isoformat())})


def later_stamp(random: Random, store: Store) -> Edit | None:
    times = [
        f"2026-0{month}-{random.randint(10, 28)}T0{random.randint(0, 9)}:42:07.58{random.randint(0, 9)}Z"
        for month in (random.randint(1, 3), random.randint(4, 5))
    ]
    return _head_edit(random, store, "meta.stamp", "time", {"modified": (times[0], times[1])})


def _head_edit(
    random: Random, store: Store, kind: str, form: str, values: Mapping[str, tuple[str, str]]
) -> Edit | None:
    if store.format is not FormatName.CLAUDE:
        return None
    page = random.choice(store.notes())
    starts = [at for at, piece in enumerate(page.pieces) if piece.mark == "---"]
    bare = replace(page, pieces=page.pieces[starts[1] + 2 :])
    ((key, states),) = values.items()
    old, new = (with_head(bare, is_nested=True, **{key: state}) for state in states)
    base, after = store.with_page(old), store.with_page(new)
    return Edit(kind, form, base, after, _numbers(*old.pieces[: starts[1] + 3], *new.pieces[: starts[1] + 3]))


EDITS: Mapping[str, Callable[[Random, Store], Edit | None]] = {
    "repeated entry": repeated_entry,
    "repeated section": repeated_section,
    "repeated row": repeated_row,
    "trimmed row": trimmed_row,
    "written date": written_date,
    "relative word": relative_word,
    "trailing blank": trailing_blank,
    "blank run": blank_run,
    "missing row": missing_row,
    "dead row": dead_row,
    "renamed target": renamed_target,
    "verified day": verified_day,
    "later stamp": later_stamp,
}
