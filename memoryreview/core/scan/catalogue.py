"""Every rule of every scanner by name, for the help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memoryreview.core.model import Severity

from . import disguise, injection, personal, secrets, unicode


@dataclass(frozen=True, slots=True)
class NamedRule:
    """`severities` are those that a finding of it may have; `words` say what it sees: of a secret, what it holds."""

    scanner: str
    id: str
    severities: tuple[Severity, ...]
    words: str


def named_rules() -> tuple[NamedRule, ...]:
    """Return the rules in the order of their tables, each id once."""
    found: dict[tuple[str, str], NamedRule] = {}
    for rule in _rules():
        known = found.get((rule.scanner, rule.id), rule)
        severities = tuple(dict.fromkeys((*known.severities, *rule.severities)))
        found[rule.scanner, rule.id] = NamedRule(rule.scanner, rule.id, severities, known.words)
    return tuple(found.values())


def _rules() -> Iterator[NamedRule]:
    for secret in secrets.RULES:
        yield NamedRule("secret", secret.id, (secret.severity,), secret.what)
    for steering in injection.RULES:
        yield NamedRule("injection", steering.id, (steering.severity,), steering.message)
    for rule_id, message in injection.HIDDEN.items():
        yield NamedRule("injection", rule_id, (), message)
    for name, words in disguise.DISGUISES.items():
        yield NamedRule("injection", f"disguise-{name}", (), f"Tells an agent to ignore its instructions; {words}.")
    for private in personal.RULES:
        yield NamedRule("personal", private.id, (private.severity,), private.message)
    for rule_id, message in unicode.MESSAGES.items():
        yield NamedRule("unicode", rule_id, (), message)
