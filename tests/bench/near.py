"""Changes that look like a safe edit and are none: what each rule must see through. Nothing of them may be applied."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random
from typing import TypeAlias

from memoryreview.core.model import Ended, Evidence, FormatName

from . import clauses, edits, mutations
from .edits import TODAY, Edit
from .stores import Page, Piece, Store, blank, copied, new_entry, row, said
from .vocabulary import Token, fact, other, some_day, text_of, written


@dataclass(frozen=True, slots=True)
class Near:
    """Args: is_known: whether what the edit's rule asks for is known at all. extra: more documents that went."""

    base: Store
    proposed: Store
    edit: Edit | None = None
    extra: tuple[Ended, ...] = ()
    lines: tuple[tuple[str, str, date], ...] = ()
    evidence: Evidence = Evidence.FOUND
    is_known: bool = True


Maker: TypeAlias = Callable[[Random, Store], "Near | None"]

WORDS = (
    *("number", "digit", "unit", "turn", "name", "place", "path", "date", "target", "negated"),
    *("words swapped", "word gone", "word new", "letter", "value gone"),
)
_BY_KNOWLEDGE = ("dead row", "renamed target", "verified day", "later stamp")


def _some_edit(random: Random, store: Store) -> Edit | None:
    return edits.EDITS[random.choice([*edits.EDITS])](random, store)


def turned_back(random: Random, store: Store) -> Near | None:
    """What an edit did is undone: none of them has a way back."""
    edit = _some_edit(random, store)
    return Near(edit.after, edit.base, edit) if edit else None


def misquoted(random: Random, store: Store) -> Near | None:
    """An edit, of which one side says something else."""
    edit = _some_edit(random, store)
    if edit is None or not edit.core:
        return None
    base, after = edit.base, edit.after
    sides = [base, after]
    at = random.randrange(2)
    outside = frozenset(p.number for side in sides for page in side.pages.values() for p in page.pieces) - edit.core
    changed = mutations.MUTATIONS[random.choice(WORDS)](random, sides[at], outside)
    if changed is None or _read(changed) == _read(sides[at]):
        return None
    sides[at] = changed
    return Near(sides[0], sides[1], edit)


def _read(store: Store) -> dict[str, str]:
    """Return what a store says whatever its letters and gaps are made of: a mutation may mend a restyled copy."""
    texts = {path: unicodedata.normalize("NFC", content.decode()) for path, content in store.tree().items()}
    return {path: re.sub(" +", " ", text) for path, text in texts.items()}


def unknown(random: Random, store: Store) -> Near | None:
    """An edit that only history, the time or evidence can prove, and none of it is known."""
    edit = edits.EDITS[random.choice(_BY_KNOWLEDGE)](random, store)
    return Near(edit.base, edit.after, edit, is_known=False) if edit else None


def other_place(random: Random, store: Store) -> Near | None:
    """The copy that goes stands in another list, section or document."""
    page = random.choice([*store.pages.values()])
    found = [piece for piece in page.pieces if piece.kind in ("item", "ordered", "entry")]
    if not found:
        return None
    piece = random.choice(found)
    copy = copied(piece, entry=new_entry())
    between = random.choice(
        (
            [blank(), said("paragraph", "", fact(random)), blank()],
            [blank(), Piece("heading", "## ", fact(random)), blank()],
            [said("item", "- ", (*fact(random), Token("text", ":")))],
            [said("item", "- ", (Token("text", "**"), *fact(random), Token("text", "**")))],
        )
    )
    if piece.kind == "entry":
        others = [each for each in store.pages.values() if each.path != page.path]
        target = random.choice(others)
        before = target.inserted(len(target.pieces), Piece("rule", "§"), copy)
        return Near(store.with_page(before), store)
    with_lead = replace(page, pieces=(*page.pieces, *between))
    return Near(store.with_page(replace(with_lead, pieces=(*with_lead.pieces, copy))), store.with_page(with_lead))


def both_copies(random: Random, store: Store) -> Near | None:
    """An entry that stands twice goes twice, or goes once and is changed where it stays."""
    make = random.choice((edits.repeated_entry, edits.repeated_row, edits.repeated_section))
    edit = make(random, store)
    if edit is None:
        return None
    page = next(page for path, page in edit.after.pages.items() if page != edit.base.pages[path])
    kept = [piece for piece in page.pieces if piece.number in edit.pieces]
    if random.random() < 0.5:
        at = page.pieces.index(kept[0])
        rules = [
            p
            for p in (*page.pieces[max(at - 1, 0) : at], *page.pieces[at + len(kept) : at + len(kept) + 1])
            if p.kind == "rule"
        ]
        return Near(edit.base, edit.after.with_page(page.without([*kept, *rules[:1]])), edit)
    changed = mutations.MUTATIONS[random.choice(WORDS)](
        random, edit.after, frozenset(p.number for each in edit.after.pages.values() for p in each.pieces) - edit.core
    )
    return Near(edit.base, changed, edit) if changed else None


def repeated_line(random: Random, store: Store) -> Near | None:
    """A step, cell, line of code, quotation, check box or related link repeats on purpose, and one of them goes."""
    page = random.choice([*store.pages.values()])
    found = [piece for piece in page.pieces if piece.kind in ("ordered", "cell", "code", "quote", "heading", "item")]
    if not found:
        return None
    piece = random.choice(found)
    marks = {"item": random.choice(("- [ ] ", "- [x] ", "- Related: ", "- **See also** "))}
    piece_now = replace(piece, mark=marks.get(piece.kind, piece.mark))
    page = page.replaced(piece, piece_now)
    at = page.pieces.index(page.entry(piece_now)[-1]) + 1
    return Near(store.with_page(page.inserted(at, copied(piece_now, entry=new_entry()))), store.with_page(page))


def with_child(random: Random, store: Store) -> Near | None:
    """A repeated entry goes, and with it, or without it, what only one of the two has below it."""
    edit = edits.repeated_entry(random, store)
    if edit is None:
        return None
    path = next(path for path, page in edit.after.pages.items() if page != edit.base.pages[path])
    page = edit.base.pages[path]
    mine = {piece.number for piece in edit.after.pages[path].pieces}
    copies = [piece for piece in page.pieces if piece.number in edit.pieces and piece.number not in mine]
    child = said("sub", "  - ", fact(random))
    base = page.inserted(page.pieces.index(copies[-1]) + 1, child)
    gone = copies if random.random() < 0.3 else [*copies, child]
    return Near(edit.base.with_page(base), edit.base.with_page(base.without(gone)))


def wrong_day(random: Random, store: Store) -> Near | None:
    """A date becomes another day, or one of the two that it may mean."""
    page, day = random.choice([*store.pages.values()]), some_day(random)
    language = random.choice([*clauses.DATED])
    before, after = random.choice(clauses.DATED[language]).split("{date}")
    old, new = written(random, day, language), other(random, Token("date", "", day)).day
    if new is None:
        return None
    texts = [(old, new.isoformat())]
    if day.day <= 12 and day.day != day.month:
        texts += [
            (f"{day.day:02}/{day.month:02}/{day.year}", day.isoformat()),
            (f"{day.day}/{day.month}/{day.year}", day.isoformat()),
        ]
        texts += [(f"{day.day:02}.{day.month:02}.{day.year}", day.isoformat())]
    texts += [
        (f"{day.day:02}.{day.month:02}.{day.year % 100:02}", day.isoformat()),
        (f"{day.year}年{day.month}月{day.day}日", day.isoformat()),
    ]
    texts += [
        (f"{day:%B} {day.day}", day.isoformat()),
        (f"{day:%B} {day.year}", day.isoformat()),
        (day.isoformat(), new.isoformat()),
    ]
    texts += (
        [(f"{day:%A}, {old}".replace(f"{day:%A}", f"{new:%A}"), f"{new:%A}, {day.isoformat()}")]
        if new.weekday() != day.weekday()
        else []
    )
    shown, iso = random.choice(texts)
    edit = edits._line_edit(random, store, page, "", "", [(before, Token("", text), after) for text in (shown, iso)])
    return Near(edit.base, edit.after)


_SHELTERS = tuple(
    """
`{}`¦"{}"¦“{}”¦「{}」¦'{}'¦«{}»¦[{}](a.md)¦[a]({}.md)¦logs/{}/x¦https://a.example/{}¦v{}¦release-{}¦{}-rc1
¦<!-- {} -->¦<b id='{}'>¦${} - 3¦x = {} + 1¦| {} |
""".replace("\n", "").split("¦")
)


def sheltered_day(random: Random, store: Store) -> Near | None:
    """A date in code, a quotation, a path, an address, a heading, a table or the frontmatter."""
    page, day = random.choice([*store.pages.values()]), some_day(random)
    shelter = random.choice(_SHELTERS)
    tokens = [(Token("", shelter.format(text)),) for text in (written(random, day, "en"), day.isoformat())]
    if random.random() < 0.7:
        before, after = "The note says ", " and more"
        edit = edits._line_edit(random, store, page, "", "", [(before, token, after) for (token,) in tokens])
        return Near(edit.base, edit.after)
    found = [
        piece
        for piece in page.pieces
        if piece.kind in ("heading", "code", "cell", "quote", "head", "comment") and piece.tokens
    ]
    if not found:
        return None
    piece = random.choice(found)
    sides = [
        page.replaced(piece, replace(piece, tokens=(*piece.tokens, Token("", f" {text}"))))
        for text in (written(random, day, "en"), day.isoformat())
    ]
    return Near(store.with_page(sides[0]), store.with_page(sides[1]))


def relative_guess(random: Random, store: Store) -> Near | None:
    """A relative word becomes the wrong day, loses its word, is no past, or stands where nothing says which day."""
    edit = edits.relative_word(random, store)
    if edit is None:
        return None
    path, line, heading = edit.lines[0]
    page, base = edit.after.pages[path], edit.base.pages[path]
    old = next(piece for piece in base.pieces if piece.number in edit.core)
    way = random.choice(("day", "word", "history", "heading", "standing", "future", "quoted"))
    if way == "history":
        return Near(
            edit.base, edit.after, lines=((path, line, heading + timedelta(days=random.choice((-9, -2, 2, 3, 400)))),)
        )
    if way == "heading":
        top = replace(base.pieces[0], tokens=(Token("", random.choice(("Log", "May 2026", "2026-05", "24.05.26"))),))
        sides = [side.replaced(base.pieces[0], top) for side in (base, page)]
        return Near(edit.base.with_page(sides[0]), edit.base.with_page(sides[1]), edit)
    day, word = heading - timedelta(days=1), old.tokens[1].text
    texts = {
        "day": (
            old.line[2:],
            old.line[2:].replace(word, f"{(heading + timedelta(days=random.choice((-3, 2, 5)))).isoformat()} ({word})"),
        ),
        "word": (old.line[2:], old.line[2:].replace(word, heading.isoformat())),
        "standing": (
            f"Every morning read the log of {word} first.",
            f"Every morning read the log of {day} ({word}) first.",
        ),
        "future": (
            "The rollout will start tomorrow.",
            f"The rollout will start {heading + timedelta(days=1)} (tomorrow).",
        ),
        "quoted": (f"Ana asked “what failed {word}?” in chat.", f"Ana asked “what failed {day} ({word})?” in chat."),
    }
    one, two = texts[way]
    sides = [base.replaced(old, replace(old, tokens=(Token("", text),))) for text in (one, two)]
    return Near(edit.base.with_page(sides[0]), edit.base.with_page(sides[1]), lines=((path, f"- {one}", heading),))


def blank_that_counts(random: Random, store: Store) -> Near | None:
    """A hard break, a blank in code or a table, part of the trailing blanks, or a whole gap goes."""
    page = random.choice([*store.pages.values()])
    ways: list[tuple[Page, Page]] = []
    for at, piece in enumerate(page.pieces):
        following = page.pieces[at + 1] if at + 1 < len(page.pieces) else None
        if (
            following is not None
            and following.kind == "more"
            and not following.mark.strip()
            and piece.kind in ("item", "paragraph", "entry", "more")
        ):
            ways.append((page.replaced(piece, replace(piece, tail=piece.tail + "  ")), page))
        if piece.kind in ("code", "cell", "head", "comment"):
            ways.append((page.replaced(piece, replace(piece, tail=piece.tail + " ")), page))
        if piece.kind == "code":
            ways.append((page.inserted(at, blank(), blank()), page.inserted(at, blank())))
        if piece.kind in ("item", "paragraph"):
            ways.append(
                (
                    page.replaced(piece, replace(piece, tail="   ")),
                    page.replaced(piece, replace(piece, tail=random.choice((" ", "\t")))),
                )
            )
        if piece.kind == "blank":
            ways.append((page.inserted(at, blank()), page.without([piece])))
            ways.append((page.inserted(at, blank(), blank()), page.inserted(at, blank())))
    if not ways:
        return None
    before, after = random.choice(ways)
    return Near(store.with_page(before), store.with_page(after))


_LOSSES = (
    "but never on the day of the release",
    "unless the lead of the group says so",
    "within 30 minutes of the alarm",
    "and nothing goes to docs/summary",
    "if the build is red",
    "and the script is `make all`",
    "except for the hosts of the customer",
    "only on the small machine",
)


def cut_meaning(random: Random, store: Store) -> Near | None:
    """A row loses words that turn its meaning, or words that its document does not say, or says only out of sight."""
    edit = edits.trimmed_row(random, store)
    if edit is None:
        return None
    index = edit.base.index()
    old, new = (
        next(p for p in side.pieces if p.kind == "row" and p.number in edit.core)
        for side in (index, edit.after.index())
    )
    target = next(token.text for token in old.tokens if token.kind == "target")
    hook = next(token.text for token in old.tokens if token.kind == "hook")
    kept = next(token.text for token in new.tokens if token.kind == "hook").removesuffix("…")
    lost = hook[len(kept) :].lstrip(",;，、 ")
    page = store.pages[target]
    if random.random() < 0.5:
        lost = random.choice(_LOSSES) + random.choice(("", ", " + lost))
        with_words = replace(page, pieces=(*page.pieces, blank(), said("paragraph", "", (Token("", lost),))))
        long_row = replace(row(random, page, hook=f"{kept}, {lost}"), number=old.number)
        if len(long_row.line) <= clauses.ROW_CHARS:
            return None
        index = index.replaced(old, long_row)
    else:
        hidden = random.choice(
            (
                *(
                    "<!-- {} -->",
                    "`{}`",
                    "~~{}~~",
                    "It is not true that {}.",
                    "```\n{}\n```",
                    "{} was never so",
                    "not {}",
                ),
                *("Not so: {}", "{}, but not now", "## If the build is red\n\n{}", "It never was like this:\n\n- {}"),
                *("- When the host is down\n  - {}", "Formerly, {}.", "{}; that is no longer so."),
            )
        )
        lines = [Piece("any", "", (Token("", text),)) for text in hidden.format(lost).split("\n")]
        with_words = replace(page, pieces=(*page.pieces, blank(), *lines) if random.random() < 0.8 else page.pieces)
    base = store.with_page(index, with_words)
    return Near(base, base.with_page(index.replaced(next(p for p in index.pieces if p.number == old.number), new)))


def living_row(random: Random, store: Store) -> Near | None:
    """A row goes whose document stands, bears another name now, was never approved to go, or goes with many others."""
    rows = edits._rows(store)
    if not rows:
        return None
    gone = [edits._gone_page(random) for _ in range(5)]
    dead = [row(random, page, hook=clauses.sentence(random)) for page in gone]
    index = store.index()
    at = index.pieces.index(rows[0])
    way = random.choice(("stands", "named", "renamed", "many", "moved"))
    ended = edits._ended(gone[0])
    if way == "stands":
        target = store.pages[next(token.text for token in rows[0].tokens if token.kind == "target")]
        lines = index.entry(rows[0])
        return Near(store, store.with_page(index.without(lines)), extra=(edits._ended(target),))
    base = store.with_page(index.inserted(at, dead[0]))
    if way == "many":
        base = store.with_page(index.inserted(at, *dead))
        return Near(base, store, extra=tuple(edits._ended(page) for page in gone))
    if way == "named":
        bearer = random.choice(store.notes())
        ended = replace(ended, name=bearer.name)
    elif way == "renamed":
        ended = replace(ended, renamed_to=random.choice(store.notes()).path)
    else:
        moved = replace(gone[0], path="moved_elsewhere.md")
        base, store = base.with_page(moved), store.with_page(moved)
    return Near(base, store, extra=(ended,))


def wrong_target(random: Random, store: Store) -> Near | None:
    """A link leads to another document than the one that was renamed, or loses its anchor or label."""
    edit = edits.renamed_target(random, store)
    if edit is None:
        return None
    path = next(path for path, page in edit.after.pages.items() if page != edit.base.pages[path])
    page = edit.after.pages[path]
    old = next(p for p in page.pieces if p.number in edit.core)
    target = old.tokens[1]
    others = [other_path for other_path in store.pages if other_path not in (target.text, path)]
    texts = [f"{target.text}#no-such-heading", "no_such.md", f"./x/{target.text}", *others, path]
    changed = replace(old, tokens=(old.tokens[0], replace(target, text=random.choice(texts)), old.tokens[2]))
    if random.random() < 0.2:
        changed = replace(old, tokens=(Token("", old.tokens[0].text.replace("[", "[not ")), *old.tokens[1:]))
    return Near(edit.base, edit.after.with_page(page.replaced(old, changed)), edit)


def wrong_time(random: Random, store: Store) -> Near | None:
    """A date of verification or a stamp goes back, lies in the future, is none, or was not looked at."""
    edit = random.choice((edits.verified_day, edits.later_stamp))(random, store)
    if edit is None:
        return None
    path = next(path for path, page in edit.after.pages.items() if page != edit.base.pages[path])
    page = edit.after.pages[path]
    old = next(p for p in page.pieces if p.kind in ("verified", "stamp"))
    later = TODAY + timedelta(days=random.randint(2, 400))
    if old.kind == "verified" and random.random() < 0.4:
        return Near(edit.base, edit.after, edit, evidence=random.choice((Evidence.NONE, Evidence.MISSING)))
    texts = (
        later.isoformat(),
        f"{later.isoformat()}T08:00:00.000Z",
        "2019-01-01",
        "2019-01-01T08:42:07.585Z",
        "yes",
        "2026-02-30",
        "",
        "today",
        "99",
    )
    changed = replace(old, tokens=(Token("", random.choice(texts)),))
    if random.random() < 0.2:
        changed = replace(old, mark=random.choice(("  node_type: ", "  modify: ", "modified:: ", "  verified_by: ")))
    return Near(edit.base, edit.after.with_page(page.replaced(old, changed)), edit)


def wrong_row(random: Random, store: Store) -> Near | None:
    """A row comes first, twice, for a document that comes with it, or whose description changes with it."""
    edit = edits.missing_row(random, store)
    if edit is None:
        return None
    index = edit.after.index()
    new = next(piece for piece in index.pieces if piece.number in edit.core)
    path = next(token.text for token in new.tokens if token.kind == "target")
    way = random.choice(("first", "with it", "described", "twice", "marked"))
    if way == "first":
        rest = index.without([new])
        return Near(
            edit.base,
            edit.after.with_page(rest.inserted(next(at for at, p in enumerate(rest.pieces) if p.kind == "row"), new)),
        )
    if way == "with it":
        return Near(store, edit.after)
    if way == "described":
        return Near(
            edit.base, edit.after.with_page(edits._described(edit.after.pages[path], text_of(fact(random, "en"))))
        )
    if way == "twice":
        return Near(
            edit.base, edit.after.with_page(index.inserted(index.pieces.index(new), copied(new, entry=new_entry())))
        )
    mark = random.choice(("* ", "1. ", "- [x] ", "- **", "  - ", "- ★ "))
    return Near(edit.base, edit.after.with_page(index.replaced(new, replace(new, mark=mark))))


NEAR: Mapping[str, Maker] = {
    "turned back": turned_back,
    "misquoted": misquoted,
    "unknown": unknown,
    "other place": other_place,
    "both copies": both_copies,
    "repeated on purpose": repeated_line,
    "with a child": with_child,
    "wrong day": wrong_day,
    "sheltered day": sheltered_day,
    "relative guess": relative_guess,
    "blank that counts": blank_that_counts,
    "cut meaning": cut_meaning,
    "living row": living_row,
    "wrong target": wrong_target,
    "wrong time": wrong_time,
    "wrong row": wrong_row,
}

FORMATS: Mapping[str, FormatName] = {
    **dict.fromkeys(("cut meaning", "living row", "wrong target", "wrong time", "wrong row"), FormatName.CLAUDE),
    "relative guess": FormatName.MARKDOWN,
}
"""Formats that have what a maker needs."""
