"""Pairs of documents from `fixtures/classify/*.md`; the grammar is told in the README beside them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from markdown_it.utils import read_fixture_file

from memoryreview.core import frontmatter
from memoryreview.core.model import Context, Ended, Evidence, FormatName, History, Kind

FOLDER = Path(__file__).parents[3] / "fixtures" / "classify"
_TITLE = re.compile(r"(accepted|waits)(?: \((\w+) (.+?\.md)\))?(?: \{(.+?)\})?(?: \[(.+?)\])?: (.+)")
_GONE = ("deleted: ", "renamed: ")
_SIGNS = {"␠": " ", "␉": "\t", "␍": "\r"}


@dataclass(frozen=True, slots=True)
class Pair:
    rule: Kind
    is_accepted: bool
    context: Context
    reason: str
    title: str
    base: dict[str, bytes]
    proposed: dict[str, bytes]


def pairs() -> Iterator[Pair]:
    for file in sorted(FOLDER.glob("*.*.md")):
        for _, title, before, after in read_fixture_file(file):
            match = _TITLE.fullmatch(title.strip())
            assert match, f"{file.name}: {title}"
            outcome, format_name, path, known, reason, name = match.groups()
            yield Pair(
                rule=Kind(file.stem),
                is_accepted=outcome == "accepted",
                context=_context(format_name or "markdown", known or "", _history(before)),
                reason=reason or "",
                title=f"{file.stem}: {name}",
                base=_standing(before, path or "a.md"),
                proposed=_standing(after, path or "a.md"),
            )


def _history(text: str) -> History | None:
    """Read the documents that approved changes took out; without any, nobody asks a history."""
    gone = {path: content for path, content in _tree(text, "a.md").items() if path.startswith(_GONE)}
    if not gone:
        return None
    ended: dict[str, Ended] = {}
    for title, content in gone.items():
        path, _, renamed_to = title.split(": ", 1)[1].partition(" to ")
        head = frontmatter.read(content)
        name = head.name if isinstance(head, frontmatter.Frontmatter) else ""
        ended[path] = Ended(path, name, hashlib.sha256(content).hexdigest(), renamed_to)
    return History(ended=ended)


def _standing(text: str, path: str) -> dict[str, bytes]:
    return {path: content for path, content in _tree(text, path).items() if not path.startswith(_GONE)}


def _context(format_name: str, known: str, history: History | None) -> Context:
    """Read what is known besides the trees: `now 2026-06-01T12:00:00+02:00, evidence attached`."""
    words = dict(fact.split(" ", 1) for fact in known.split(", ") if fact)
    return Context(
        format=FormatName(format_name),
        now=datetime.fromisoformat(words["now"]) if "now" in words else None,
        history=history,
        evidence=Evidence(words.get("evidence", "none")),
    )


def _tree(text: str, path: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for index, part in enumerate(re.split(r"^=== (.+)\n", text, flags=re.MULTILINE)):
        if index % 2:
            path = part
            continue
        for sign, char in _SIGNS.items():
            part = part.replace(sign, char)
        found[path] = part.replace("␄\n", "").encode()
    return found
