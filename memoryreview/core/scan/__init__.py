"""Scanners: tripwires that take away auto-apply, mask secrets and quarantine instructions. Pure, bounded time."""

from __future__ import annotations

from memoryreview.core.model import Finding, Scope

PACK_VERSION = 1
"""Version of the rule pack, stored with each verdict."""


def scan(text: str, *, path: str = "", scope: Scope = Scope.PRIVATE) -> tuple[Finding, ...]:
    """Return what all scanners see in one text, sorted by (line, column, rule). Deterministic, no clock.

    Personal-data, internal-host and private-address rules count in team scope only.
    """
    raise NotImplementedError


def new_findings(before: str, after: str, *, path: str = "", scope: Scope = Scope.PRIVATE) -> tuple[Finding, ...]:
    """Return the findings of `after` whose (rule, matched text) did not stand in `before` as often."""
    raise NotImplementedError


def mask(text: str, findings: tuple[Finding, ...]) -> str:
    """Return `text` with the spans of secret findings masked: first four characters, then `•` for the rest.

    Line structure stays. Masking is what is shown and stored when a secret stands in text that we must keep.
    """
    raise NotImplementedError
