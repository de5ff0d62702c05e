"""Checks that several formats share. Each returns problems; sentences say what is wrong and what follows from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from memoryreview.core import frontmatter, markdown
from memoryreview.core.frontmatter import Frontmatter
from memoryreview.core.markdown import Link
from memoryreview.core.model import Problem, Tree
from memoryreview.core.names import shown
from memoryreview.core.text import fold_name, undecodable_at

from . import containment, signs
from .base import Meter, is_document
from .catalogue import Catalogue, LinkState

MAX_CHECKED_BYTES = 2 * 1024 * 1024
"""Above this size a document is only listed."""

WARN_FROM = 0.8
"""Share of a budget from which on it is reported as nearly full."""

BULK_ROWS, BULK_SHARE = 5, 0.2
"""More dead targets than both are one finding: the folder is incomplete, its rows are not wrong."""


def ordered(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sort by path and line; problems of the whole document come first."""
    return tuple(sorted(problems, key=lambda problem: (problem.path, problem.line or 0)))


def documents(tree: Tree) -> dict[str, bytes]:
    """Return the documents of a folder that can be read: UTF-8, and not too large to be checked."""
    return {
        path: tree[path]
        for path in sorted(tree)
        if is_document(path) and len(tree[path]) <= MAX_CHECKED_BYTES and undecodable_at(tree[path]) is None
    }


def files(tree: Tree) -> list[Problem]:
    """Report documents that cannot be read, names that clash, and conflict copies."""
    problems: list[Problem] = []
    paths = [path for path in sorted(tree) if is_document(path)]
    for path in paths:
        if len(tree[path]) > MAX_CHECKED_BYTES:
            sentence = f"The document has {len(tree[path]):,} bytes, too many to be checked; it is listed, read only."
            problems.append(Problem("over-size", path, None, sentence))
            continue
        offset = undecodable_at(tree[path])
        if offset is not None:
            line = tree[path].count(b"\n", 0, offset) + 1
            sentence = f"The document is not UTF-8 (byte {offset}), so it is read only here until it is converted."
            problems.append(Problem("not-utf8", path, line, sentence))
    return problems + _clashes(paths) + _copies(paths, tree) + list(containment.problems(documents(tree)))


def _clashes(paths: Sequence[str]) -> list[Problem]:
    equal: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        equal[fold_name(path)].append(path)
    return [
        Problem(
            "name-clash",
            path,
            None,
            f"“{shown(path)}” and “{shown(names[0])}” are one name on many systems, where one overwrites the other.",
        )
        for names in equal.values()
        for path in names[1:]
    ]


def _copies(paths: Collection[str], tree: Tree) -> list[Problem]:
    problems: list[Problem] = []
    known = set(paths)
    for path in paths:
        original = signs.conflict_original(path, known)
        if original is None:
            continue
        if original in known:
            lines = [Counter(tree[name].splitlines()) for name in (path, original)]
            differing = max((lines[0] - lines[1]).total(), (lines[1] - lines[0]).total())
            noun = "1 line" if differing == 1 else f"{differing:,} lines"
            other = f"“{shown(original)}” ({f'they differ in {noun}' if differing else 'both say the same'})"
        else:
            other = f"“{shown(original)}”, which is gone"
        sentence = f"A sync or merge tool left this copy of {other}; agents may read either, so keep one."
        problems.append(Problem("conflict-copy", path, None, sentence))
    return problems


def heads(path: str, data: bytes) -> list[Problem]:
    found = frontmatter.read(data)
    if isinstance(found, Frontmatter):
        return [Problem(kind, path, lineno, sentence) for kind, lineno, sentence in found.problems]
    if found.problem is None:
        return []
    kind, lineno, sentence = found.problem
    return [Problem(kind, path, lineno, sentence)]


def body(path: str, data: bytes) -> list[Problem]:
    """Report merge markers and broken tables."""
    problems = [
        Problem("merge-marker", path, first, f"Unresolved merge in lines {first}-{last}: an agent reads both sides.")
        for first, last in signs.merge_markers(data)
    ]
    for first, last, name in signs.broken_table_rows(data):
        row = f"Row {shown(name)}" if name else "A row"
        sentence = f"{row} spans {last - first + 1} lines, so the table is broken and the text in between is no cell."
        problems.append(Problem("broken-table", path, first, sentence))
    return problems


def links(path: str, data: bytes, catalogue: Catalogue, skipped: Collection[Link] = ()) -> list[Problem]:
    """Report links of one document that lead nowhere, each target once. Links of rows are the index's to report."""
    problems: dict[tuple[str, str, str], Problem] = {}
    reported = set(skipped)
    for link in markdown.links(data):
        if link in reported:
            continue
        state = catalogue.state(path, link)
        if state is LinkState.MISSING:
            kind, sentence = "dead-link", f"There is no “{shown(link.target)}”, so this link leads nowhere."
        elif state is LinkState.ANCHOR_MISSING:
            place = f"“{shown(link.target)}”" if link.target else "This document"
            kind, sentence = (
                "anchor-missing",
                f"{place} has no heading “#{shown(link.anchor)}”; the document itself is there.",
            )
        elif state is LinkState.UNRESOLVED:
            kind, sentence = (
                "unresolved-link",
                f"No document answers to “[[{shown(link.target)}]]”, by file name or by `name`.",
            )
        else:
            continue
        key = (kind, link.target, link.anchor if state is LinkState.ANCHOR_MISSING else "")
        problems.setdefault(key, Problem(kind, path, link.lineno, sentence))
    return list(problems.values())


def pointers(path: str, found: Sequence[Link], catalogue: Catalogue) -> list[Problem]:
    """Report rows of an index that lead nowhere: one by one, or as one finding when the folder is incomplete."""
    states = [(link, catalogue.state(path, link)) for link in found]
    dead = [link for link, state in states if state in (LinkState.MISSING, LinkState.UNRESOLVED)]
    if is_bulk(len(dead), len(found)):
        return [bulk(path, len(dead), len(found))]
    problems = [
        Problem(
            "dead-row", path, link.lineno, f"Row “{title(link)}” points to “{shown(link.target)}”, which is not there."
        )
        for link in dead
    ]
    for link, state in states:
        if state is LinkState.ANCHOR_MISSING:
            sentence = f"“{shown(link.target)}” has no heading “#{shown(link.anchor)}”; the document itself is there."
            problems.append(Problem("anchor-missing", path, link.lineno, sentence))
    return problems


def is_bulk(dead: int, targets: int) -> bool:
    return dead > BULK_ROWS and dead > BULK_SHARE * targets


def bulk(path: str, dead: int, targets: int) -> Problem:
    sentence = (
        f"{dead} of {targets} targets are missing: the directory looks incomplete, "
        "so no link in it is repaired without a person."
    )
    return Problem("bulk-dead", path, None, sentence)


def title(link: Link) -> str:
    return shown(link.text.strip("*_~ "))


def nearly_full(meters: Sequence[Meter]) -> list[Problem]:
    """Report a document that is within its budgets but close to one."""
    if not meters or any(meter.used > meter.limit for meter in meters):
        return []
    if all(meter.used < WARN_FROM * meter.limit for meter in meters):
        return []
    sentence = f"The budget is nearly full: {amounts(meters)}; what comes after the limit is not loaded."
    return [Problem("budget-warning", meters[0].path, None, sentence)]


def amounts(meters: Sequence[Meter]) -> str:
    return " and ".join(f"{meter.used:,} of {meter.limit:,} {meter.unit}" for meter in meters)
