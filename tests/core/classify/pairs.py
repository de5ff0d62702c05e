"""Pairs of documents from `fixtures/classify/*.md`; the grammar is told in the README beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it.utils import read_fixture_file

from memoryreview.core.model import Context, FormatName, Kind

FOLDER = Path(__file__).parents[3] / "fixtures" / "classify"
_TITLE = re.compile(r"(accepted|waits)(?: \((\w+) (.+?\.md)\))?(?: \[(.+?)\])?: (.+)")
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
            outcome, format_name, path, reason, name = match.groups()
            yield Pair(
                rule=Kind(file.stem),
                is_accepted=outcome == "accepted",
                context=Context(format=FormatName(format_name or "markdown")),
                reason=reason or "",
                title=f"{file.stem}: {name}",
                base=_tree(before, path or "a.md"),
                proposed=_tree(after, path or "a.md"),
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
