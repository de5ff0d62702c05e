"""Why a change deserves a close look, each reason by itself: the order of the queue, and what its rows say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from .model import Action, Delta, Finding, Kind, Severity, Tree


class Concern(StrEnum):
    """One reason. They are told in this order, the gravest first."""

    STOPPED = "stopped"  # by a scanner; it was or is quarantined
    MASS = "mass"  # changes or drops much of a store at once
    INSTRUCTS = "instructs"  # reads like orders to an agent
    CREDENTIAL = "credential"  # holds what looks like one
    HIDDEN = "hidden"  # holds characters that nobody sees
    PERSONAL = "personal"  # personal data, in a team's memory
    DELETES = "deletes"
    WIDENS = "widens"  # more people or agents will read it
    ALWAYS_LOADED = "always-loaded"  # in a document that every session loads
    SHRINKS = "shrinks"  # takes half of a document or more
    COMMAND = "command"  # brings a command that was not there
    ADDRESS = "address"  # brings a URL or host that was not there
    CONTRADICTS = "contradicts"  # what stands beside it in the same document
    MISLABELLED = "mislabelled"  # its agent called it something else
    NEW_AGENT = "new-agent"  # of this agent little was decided yet


GRAVITY: Mapping[Kind, int] = {
    Kind.MASS_CHANGE: 60,
    Kind.FILE_DELETE: 50,
    Kind.SCOPE_PROMOTE: 40,
    Kind.FACT_DELETE: 35,
    Kind.INDEX_DROP: 30,
    Kind.FACT_REWRITE: 20,
    Kind.META_CHANGE: 15,
    Kind.FILE_RENAME: 15,
    Kind.FACT_ADD: 10,
    Kind.FILE_ADD: 10,
    Kind.INDEX_ADD: 5,
}
WEIGHTS: Mapping[Concern, int] = {
    Concern.STOPPED: 1_000,
    Concern.INSTRUCTS: 50,
    Concern.CREDENTIAL: 45,
    Concern.HIDDEN: 40,
    Concern.PERSONAL: 30,
    Concern.ALWAYS_LOADED: 15,
    Concern.SHRINKS: 12,
    Concern.COMMAND: 12,
    Concern.ADDRESS: 10,
    Concern.CONTRADICTS: 10,
    Concern.MISLABELLED: 8,
    Concern.NEW_AGENT: 3,
}
"""What each adds to the rank of a change beyond the gravity of its gravest kind, which tells the other concerns."""

HIGH, MEDIUM = 30, 20
"""Ranks from which on a change is of high and of medium risk."""

_DELETING = frozenset({Kind.FACT_DELETE, Kind.FILE_DELETE, Kind.INDEX_DROP, Kind.MASS_CHANGE})
_OF_SCANNER = {
    "injection": Concern.INSTRUCTS,
    "secret": Concern.CREDENTIAL,
    "unicode": Concern.HIDDEN,
    "personal": Concern.PERSONAL,
}
_SHRINKS_FROM_BYTES = 400
_ADDRESS = re.compile(
    rb"(?i)\b(?:https?|ftp|ssh|git|wss?)://[^\s<>\"'`)\]]{1,500}|\bwww\.[^\s<>\"'`)\]]{1,300}"
    rb"|\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]{1,5})?\b"
)
_FENCE = re.compile(
    rb"^[ \t]*(?:`{3,}|~{3,})[^\n`]{0,100}\n(.{1,20000}?)\n[ \t]*(?:`{3,}|~{3,})", re.DOTALL | re.MULTILINE
)
_SPAN = re.compile(rb"(?<!`)`([^`\n]{2,500})`(?!`)")
_COMMAND = re.compile(
    rb"(?:[$#>] +)?(?:sudo +)?(?:[A-Z_][A-Z0-9_]{0,60}=\S{0,200} +){0,5}(?:\./|~?/)?[a-z][\w./+-]{0,80}(?: +\S.{0,400})"
)


def deletes(actions: Iterable[Action]) -> bool:
    """Whether text goes: approving it asks twice."""
    return any(action.kind in _DELETING for action in actions)


def concerns(
    actions: Sequence[Action],
    findings: Iterable[Finding],
    tree: Tree,
    delta: Delta,
    *,
    is_always_loaded: Callable[[str, bytes], bool],
) -> tuple[Concern, ...]:
    """Return what speaks for a close look at a change, the gravest first.

    Args:
        actions: those that wait for a person. findings: of the whole change.
        is_always_loaded: whether an agent loads a document of this path and text in each session.
    """
    seen = [finding for finding in findings if finding.severity is not Severity.NOTE]
    found = {_OF_SCANNER[finding.scanner] for finding in seen if finding.scanner in _OF_SCANNER}
    if any(finding.severity is Severity.BLOCK for finding in seen):
        found.add(Concern.STOPPED)
    kinds = {action.kind for action in actions}
    if Kind.MASS_CHANGE in kinds:
        found.add(Concern.MASS)
    if deletes(actions):
        found.add(Concern.DELETES)
    if Kind.SCOPE_PROMOTE in kinds:
        found.add(Concern.WIDENS)
    for path in {action.path for action in actions} & delta.keys():
        before, after = tree.get(path), delta[path]
        if is_always_loaded(path, after or before or b""):
            found.add(Concern.ALWAYS_LOADED)
        if (
            before is not None
            and after is not None
            and len(before) >= _SHRINKS_FROM_BYTES
            and len(after) * 2 <= len(before)
        ):
            found.add(Concern.SHRINKS)
    found |= _brought(tree, delta)
    return ordered(found)


def ordered(found: Iterable[Concern]) -> tuple[Concern, ...]:
    """Return concerns in the order in which they are told, each once."""
    among = set(found)
    return tuple(concern for concern in Concern if concern in among)


def rank(kinds: Iterable[Kind], found: Iterable[Concern]) -> int:
    """Return the place of a change in the queue: the higher, the earlier."""
    gravest = max((GRAVITY.get(kind, 0) for kind in kinds), default=0)
    return gravest + sum(WEIGHTS.get(concern, 0) for concern in set(found))


def gravest(kinds: Iterable[Kind]) -> Kind | None:
    """Return the kind under which a change is listed, None when no kind of it waits for a person."""
    among = set(kinds)
    return max((kind for kind in GRAVITY if kind in among), key=GRAVITY.__getitem__, default=None)


def _brought(tree: Tree, delta: Delta) -> set[Concern]:
    """Say what a change brings that stood in none of its documents before."""
    before = [tree[path] for path in delta if path in tree]
    after = [new for new in delta.values() if new is not None]
    found = set()
    if not _all(_addresses, after) <= _all(_addresses, before):
        found.add(Concern.ADDRESS)
    if not _all(_commands, after) <= _all(_commands, before):
        found.add(Concern.COMMAND)
    return found


def _all(find: Callable[[bytes], Iterable[bytes]], texts: Iterable[bytes]) -> set[bytes]:
    return {one for text in texts for one in find(text)}


def _addresses(text: bytes) -> Iterator[bytes]:
    for found in _ADDRESS.finditer(text):
        yield found.group().rstrip(b".,:;!?")


def _commands(text: bytes) -> Iterator[bytes]:
    """Yield what stands as code and has the form of a command: a lower-case word and an argument."""
    blocks = [line for fence in _FENCE.finditer(text) for line in fence.group(1).split(b"\n")]
    for code in (*blocks, *(span.group(1) for span in _SPAN.finditer(text))):
        command = _COMMAND.fullmatch(code.strip())
        if command:
            yield command.group()
