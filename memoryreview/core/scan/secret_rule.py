"""What a secret rule is, and how the table of rules writes its examples down."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from memoryreview.core.model import Severity

START = r"(?<![A-Za-z0-9_])"
END = r"(?![A-Za-z0-9_])"

PLACEHOLDER = re.compile(
    r"(?i)x{8,}|\*{3,}|•{3,}|…|\.{3}|example|placeholder|your[_-]|<[a-z]|changeme|redacted|0123456789|1234567890"
    r"|abcdefgh|(.)\1{7,}"
)
"""Bodies that people write where a secret would stand. No short words: they occur in random tokens."""

NO_PLACEHOLDER = re.compile(r"(?!)")

Judge: TypeAlias = Callable[[re.Match[str]], Severity | None]
"""Looks closer at a match. None: no finding."""


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One kind of secret.

    Args:
        id: stable name, stored with findings.
        what: noun phrase for a person, such as "a GitHub token".
        min_entropy: Shannon bits per character below which a match is no secret.
        literals: a text without any of these cannot match; lower case where the pattern ignores case.
        pattern: bounded quantifiers only, an open one at the very end.
        example: template of a shortest match; `<class:n>` stands for n random characters.
        near: template that must not match; the example without its last character where None.
        group: the group that holds the secret itself.
        judge: closer look after placeholder and entropy.
        starts_with_literal: every match begins with a literal, so it is tried only where one stands.
    """

    id: str
    what: str
    min_entropy: float
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    example: str
    near: str | None = None
    severity: Severity = Severity.BLOCK
    group: int = 0
    placeholder: re.Pattern[str] = PLACEHOLDER
    judge: Judge | None = None
    starts_with_literal: bool = False

    def verdict(self, match: re.Match[str]) -> Severity | None:
        """Return how severe a match of `pattern` is, None where it is no secret."""
        secret = match[self.group]
        if self.placeholder.search(secret) or entropy(secret) < self.min_entropy:
            return None
        return self.severity if self.judge is None else self.judge(match)

    @property
    def message(self) -> str:
        if self.severity is Severity.BLOCK:
            return f"Looks like {self.what}: whoever reads this text could use it."
        return f"Looks like {self.what}: a person must say whether it may stand here."


def token(identifier: str, what: str, min_entropy: float, literals: str, body: str, example: str) -> SecretRule:
    """Return a rule for a token that stands free: no letter, digit or underscore on either side."""
    return rule(identifier, what, min_entropy, literals, START + "(?:" + body + ")" + END, example)


def rule(
    identifier: str, what: str, min_entropy: float, literals: str, pattern: str, example: str, near: str | None = None
) -> SecretRule:
    """Return a block rule; `literals` are separated by blanks."""
    return SecretRule(identifier, what, min_entropy, tuple(literals.split()), re.compile(pattern), example, near)


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text in bits per character, 0.0 for the empty text."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
