"""An index row over its limit may lose the end of its hook when those words stand in the document that it points to."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from memoryreview.core import frontmatter
from memoryreview.core.classify.budget import Budget
from memoryreview.core.classify.document import Document
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.markdown import Place, Spot, comments, outline
from memoryreview.core.model import Rewrite, Tree
from memoryreview.core.text import normalise, split_lines

from .guard_words import COVERED, REVOKED, UNCOVERED, guards
from .outcome import Declined, Explained, Outcome

VERSION = 1

ELLIPSIS = "…"
MIN_LIMIT_CHARS = 120
MAX_LIMIT_CHARS = 400

_CLOSED = re.compile(r"(?:(?P<plain>[.;:,)!?])(?=[ \t\r\n]|$)|[ \t]*[—–]|[。；：，、）！？])(?P<rest>.*)", re.DOTALL)
_ENDS_OPEN = re.compile(r"[\s.;:,)!?—–。；：，、）！？…(（\[-]$")
_MARKS = " \t\r\n.;:,!?—–。；：，、！？"
_BOUNDS = frozenset(".;:,()!?—–。；：，、（）！？")
_NAMES = re.compile(r"[`\[\]<>{}=|\\/~$@#_^&%+*\"“”«»„「」『』]|--|\w[.:]\w|[a-z][A-Z]|\b[A-Z]{2,}\w*\d")
_WORD = re.compile(r"[^\W\d_]+")
_CODE_SPAN = re.compile(r"(`+)[^`]+\1")
_LIST_MARK = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_NOT_THERE = Declined("The words that go do not stand in the document that the row points to.")
_COVERED_LATIN = frozenset("abcdefghijklmnopqrstuvwxyzäöüßàâæçéèêëîïôœùûüÿáíóúñ")


@dataclass(frozen=True, slots=True)
class Statement:
    """A paragraph, list entry or description. `over`: headings, parent entries and the lead-in that it stands under."""

    text: str
    over: str = ""

    def is_plain(self, hook: str) -> bool:
        """Whether nothing in it or over it turns the meaning of its words, but what the row says as well."""
        if guards(self.over) + guards(self.text) - guards(hook):
            return False
        return not REVOKED.search(f"{self.over} {self.text}") or bool(REVOKED.search(hook))


@dataclass(frozen=True, slots=True)
class Target:
    """A state of a document that a row points to: what it says, and whether it ends in a block of its own."""

    statements: tuple[Statement, ...]
    ends_in_own_block: bool

    def says(self, words: str, hook: str) -> bool:
        """Whether these words stand in it, from clause to clause, in its description or in prose outside code.

        Args:
            hook: what the row says in full.
        """
        return any(_has_clause(each.text, words) and each.is_plain(hook) for each in self.statements)


class Targets:
    """The documents that the rows of one index point to: each state is parsed once, as far as the budget allows."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._known: dict[bytes, Target] = {}

    def read(self, data: bytes) -> Target | None:
        """Return one state of a target for one search in it, None when nothing more may be spent."""
        if not self._budget.pays_searching(data):
            return None
        if data not in self._known:
            if not self._budget.pays_parsing(data):
                return None
            self._known[data] = Target(tuple(_statements(data)), _ends_in_own_block(data))
        return self._known[data]


def explain_row(
    old: Document, row: IndexRow, new_row: bytes, states: tuple[Tree, Tree], targets: Targets, limit_chars: int
) -> Outcome:
    """Explain a row whose hook was cut.

    Args:
        new_row: what becomes of it, without line end.
        states: base and proposed tree.
    """
    old_row = old.data[row.start : row.end]
    end = ELLIPSIS.encode()
    if (
        not new_row.endswith(end)
        or old_row.endswith(end)
        or not old_row.startswith(new_row[: row.hook_start - row.start])
    ):
        return None
    kept = new_row[: -len(end)]
    if not old_row.startswith(kept) or len(kept) <= row.hook_start - row.start:
        return Declined("The shortened row is no exact beginning of the old one, or its title or target changed.")
    if len(old_row.decode("utf-8")) <= limit_chars or len(new_row.decode("utf-8")) > limit_chars:
        return Declined(f"Only a row over {limit_chars} characters may be cut, and the result has to fit.")
    if not MIN_LIMIT_CHARS <= limit_chars <= MAX_LIMIT_CHARS:
        return Declined(f"The limit of a row has to be {MIN_LIMIT_CHARS} to {MAX_LIMIT_CHARS} characters.")
    cut, words = old_row[len(kept) :].decode("utf-8"), kept.decode("utf-8")
    clause = _CLOSED.match(cut)
    if clause is None or _ENDS_OPEN.search(words):
        return Declined("The cut is not at the end of a clause.")
    if words.count("`") % 2 or words.count("**") % 2 or words.count('"') % 2 or words.count("[") != words.count("]"):
        return Declined("The cut goes through a quote, code, link or emphasis.")
    lost = normalise(clause["rest"].replace("\r\n", " ").replace("\n", " ")).strip(_MARKS)
    refusal = _why_words_count(cut, lost, row.hook)
    if refusal:
        return Declined(refusal)
    rewrites = _moved(old.path, row, lost, states, targets)
    if isinstance(rewrites, Declined):
        return rewrites
    cut_out = Rewrite(old.path, row.start + len(kept), row.end, end)
    return Explained(tuple(sorted((cut_out, *rewrites), key=lambda rewrite: (rewrite.path, rewrite.start))))


def target_of(path: str, row: IndexRow, tree: Tree) -> str:
    """Return the document that a row points to, "" when it does not stand in the store."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), row.target))
    return target if target in tree else ""


def _why_words_count(cut: str, lost: str, hook: str) -> str:
    """Return what the words that go hold that must not get lost, "" when there is nothing."""
    if not any(char.isalpha() for char in lost):
        return "Nothing but a mark goes."
    if any(char.isnumeric() for char in cut):
        return "The words that go hold a number."
    if _NAMES.search(cut.rstrip(_MARKS)):
        return "The words that go hold a path, name, link, quote or code."
    if guards(cut):
        return "The words that go hold a negation, condition, exception or number."
    return "" if _is_covered(lost, hook) else "The language of the row is not one whose negations are known here."


def _is_covered(lost: str, hook: str) -> bool:
    letters = [char for char in unicodedata.normalize("NFC", lost).casefold() if char.isalpha()]
    latin = [char for char in letters if unicodedata.name(char, "").startswith("LATIN")]
    if not set(latin) <= _COVERED_LATIN:
        return False
    if not all(_is_east_asian(char) for char in letters if char not in latin):
        return False
    if len(latin) * 2 <= len(letters):
        return True
    covered, uncovered = _fits(hook)
    covered_lost, uncovered_lost = _fits(lost)
    return covered > uncovered and covered_lost >= uncovered_lost


def _fits(text: str) -> tuple[int, int]:
    """Return how many of its words are small words of the best fitting covered language, and of an uncovered one."""
    words = _WORD.findall(unicodedata.normalize("NFC", text).casefold())
    covered, uncovered = (
        max(sum(word in table for word in words) for table in tables.values()) for tables in (COVERED, UNCOVERED)
    )
    return covered, uncovered


def _is_east_asian(char: str) -> bool:
    return unicodedata.name(char, "").startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL"))


def _moved(
    path: str, row: IndexRow, lost: str, states: tuple[Tree, Tree], targets: Targets
) -> tuple[Rewrite, ...] | Declined:
    """Return the rewrites that bring the words to the target: none when they stand there already."""
    base, proposed = states
    target = target_of(path, row, base)
    if not target or target == path or target not in proposed:
        return _NOT_THERE
    before, after = base[target], proposed[target]
    new = targets.read(after)
    old = new if before == after else targets.read(before)
    if old is None or new is None:
        return Declined("The documents that the rows point to are too large to look for all words that go.")
    if not new.says(lost, row.hook):
        return _NOT_THERE
    if old.says(lost, row.hook):
        return ()
    added = after.removeprefix(before)
    if len(before) + len(added) != len(after) or after.endswith(b"\n") != before.endswith(b"\n"):
        return _NOT_THERE
    lines = [line for line in added.decode("utf-8").split("\n") if line.strip(" \t\r")]
    if len(lines) != 1 or not _same_start(normalise(_LIST_MARK.sub("", lines[0], count=1)).strip(_MARKS), lost):
        return _NOT_THERE
    return (Rewrite(target, len(before), len(before), added),) if new.ends_in_own_block else _NOT_THERE


def _ends_in_own_block(data: bytes) -> bool:
    lines, spots = split_lines(data), outline(data)
    last = max((index for index, line in enumerate(lines) if line.body.strip(b" \t")), default=0)
    return last == 0 or not lines[last - 1].body.strip(b" \t") or spots[last].item_start == last + 1


def _statements(data: bytes) -> Iterator[Statement]:
    head = frontmatter.read(data)
    if isinstance(head, frontmatter.Frontmatter):
        yield Statement(normalise(head.description))
    above: list[tuple[int, str]] = []
    lead, section = "", 0
    for text, spot in _prose(data):
        if spot.section != section:
            above, lead, section = [], "", spot.section
        while above and above[-1][0] >= spot.depth:
            above.pop()
        yield Statement(text, " ".join((*spot.headings, *(parent for _, parent in above), lead)))
        above.append((spot.depth, text))
        lead = text if text.endswith((":", "：")) else lead if spot.depth else ""


def _prose(data: bytes) -> Iterator[tuple[str, Spot]]:
    """Yield the text of each paragraph and list entry with the place of its last line."""
    shown = bytearray(data)
    for start, end in comments(data):
        shown[start:end] = b"\x00" * (end - start)
    lines = split_lines(data)
    paragraph: list[str] = []
    before = None
    for line, spot in zip(lines, outline(data), strict=True):
        is_prose = spot.place in (Place.PARAGRAPH, Place.ITEM, Place.ORDERED)
        starts = before is None or spot.place is not before.place or spot.item_start != before.item_start
        if before and paragraph and (not is_prose or starts):
            yield _statement(paragraph), before
            paragraph = []
        if is_prose:
            paragraph.append(bytes(shown[line.start : line.start + len(line.body)]).decode("utf-8"))
        before = spot
    if before and paragraph:
        yield _statement(paragraph), before


def _statement(lines: list[str]) -> str:
    text = normalise(" ".join([_LIST_MARK.sub("", lines[0], count=1), *(line.strip(" \t") for line in lines[1:])]))
    return "" if "~~" in text else _CODE_SPAN.sub("\x00", text)


def _has_clause(statement: str, words: str) -> bool:
    for form in {words, words[:1].upper() + words[1:], words[:1].lower() + words[1:]}:
        at = statement.find(form)
        while at >= 0:
            end = at + len(form)
            # Blanks are collapsed: at most one stands on each side.
            before, after = statement[max(at - 2, 0) : at].rstrip(" "), statement[end : end + 2].lstrip(" ")
            if (not before or before[-1] in _BOUNDS) and (not after or after[0] in _BOUNDS):
                return True
            at = statement.find(form, at + 1)
    return False


def _same_start(one: str, other: str) -> bool:
    return one[1:] == other[1:] and one[:1].casefold() == other[:1].casefold()
