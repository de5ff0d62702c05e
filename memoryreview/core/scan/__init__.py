"""Scanners: tripwires that take away auto-apply, mask secrets and quarantine instructions. Pure, bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from memoryreview.core.model import Finding, Scope

from .hit import Hit, findings_of, line_starts
from .injection import injection_hits
from .paths import path_hits
from .personal import personal_hits
from .secrets import secret_hits
from .unicode import unicode_hits

PACK_VERSION = 1
"""Version of the rule pack, stored with each verdict."""

MAX_FINDINGS_PER_RULE = 200
"""Findings of one rule that are told apart. Secrets are told all: each must be masked."""

VISIBLE_CHARS = 4
MASK = "•"


def scan(text: str, *, path: str = "", scope: Scope = Scope.PRIVATE) -> tuple[Finding, ...]:
    """Return what all scanners see in one text and its name, sorted by (line, column, rule). Deterministic, no clock.

    Personal-data, internal-host and private-address rules count in team scope only. Findings of scanner "path" have
    their place in the name, on line 1.
    """
    return _capped([finding for finding, _ in _placed(text, path, scope)])


def new_findings(before: str, after: str, *, path: str = "", scope: Scope = Scope.PRIVATE) -> tuple[Finding, ...]:
    """Return the findings of `after` whose (rule, matched text) did not stand in `before` as often.

    An empty `before` is no document yet: then the name counts as new, too.
    """
    placed = _placed(after, path, scope)
    if not placed:
        return ()
    known = Counter(_identity(before, path, hit) for _, hit in _placed(before, path if before else "", scope))
    fresh: list[Finding] = []
    for finding, hit in placed:
        identity = _identity(after, path, hit)
        if known[identity]:
            known[identity] -= 1
        else:
            fresh.append(finding)
    return _capped(fresh)


def secret_findings(text: str) -> tuple[Finding, ...]:
    """Return those findings of `scan` that `mask` needs."""
    return tuple(finding for finding, _ in _sorted(findings_of(text, _secret_hits(text), "")))


def mask(text: str, findings: tuple[Finding, ...]) -> str:
    """Return `text` with the spans of secret findings masked, then `•` for the rest.

    The first four characters stay, fewer of a short secret (a quarter of it at most). Line structure stays. Masking
    is what is shown and stored when a secret stands in text that we must keep.
    """
    starts = line_starts(text)
    chars = list(text)
    for finding in findings:
        if finding.scanner != "secret":
            continue
        start = starts[finding.line - 1] + finding.column - 1
        visible = min(VISIBLE_CHARS, finding.length // 4)
        for at in range(start + visible, start + finding.length):
            if chars[at] not in "\r\n":
                chars[at] = MASK
    return "".join(chars)


def _placed(text: str, path: str, scope: Scope) -> list[tuple[Finding, Hit]]:
    hits = _hits(text, scope)
    return _sorted([*findings_of(text, hits, path), *findings_of(path, path_hits(path) if path else [], path)])


def _sorted(placed: Iterable[tuple[Finding, Hit]]) -> list[tuple[Finding, Hit]]:
    return sorted(placed, key=lambda pair: (pair[0].line, pair[0].column, pair[0].rule, pair[0].length))


@lru_cache(maxsize=8)
def _hits(text: str, scope: Scope) -> tuple[Hit, ...]:
    """One change asks about the same few texts again and again: before and after, for its verdict and for its page."""
    hits = (*_secret_hits(text), *injection_hits(text), *unicode_hits(text))
    return (*hits, *personal_hits(text)) if scope is Scope.TEAM else hits


@lru_cache(maxsize=8)
def _secret_hits(text: str) -> tuple[Hit, ...]:
    return tuple(secret_hits(text))


def _identity(text: str, path: str, hit: Hit) -> tuple[str, str, str]:
    return hit.scanner, hit.rule, (path if hit.scanner == "path" else text)[hit.start : hit.end]


def _capped(findings: list[Finding]) -> tuple[Finding, ...]:
    seen: Counter[str] = Counter()
    kept = []
    for finding in findings:
        seen[finding.rule] += 1
        if finding.scanner == "secret" or seen[finding.rule] <= MAX_FINDINGS_PER_RULE:
            kept.append(finding)
    return tuple(kept)
