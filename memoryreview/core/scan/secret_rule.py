"""What a secret rule is, and how the table of rules writes its examples down."""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

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


class Chooser(Protocol):
    """The part of `random.Random` that examples need. Seeded by the caller; the core has no randomness."""

    def choices(self, population: str, *, k: int) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One kind of secret.

    Args:
        id: stable name, stored with findings.
        what: noun phrase for a person, such as "a GitHub token".
        min_entropy: Shannon bits per character below which a match is no secret.
        literals: a text without any of these cannot match; lower case where the pattern ignores case.
        pattern: bounded quantifiers only, an open one at the very end.
        example: template of a shortest match; `<class:n>` stands for n random characters (`build_example`).
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


_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_CLASSES = {
    "dig": _DIGITS,
    "hex": _DIGITS + "abcdef",
    "HEX": _DIGITS + "ABCDEF",
    "alpha": _LOWER + _UPPER,
    "low": _LOWER + _DIGITS,
    "up": _UPPER + _DIGITS,
    "b32": _UPPER + "234567",
    "b62": _LOWER + _UPPER + _DIGITS,
    "b64": _LOWER + _UPPER + _DIGITS + "+/",
    "url": _LOWER + _UPPER + _DIGITS + "_-",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_HOLE = re.compile(r"<([A-Za-z0-9]{1,8}):(\d{1,4})>")


def build_example(template: str, chooser: Chooser) -> str:
    """Fill the holes of a template: `<b62:36>` with 36 random characters, `<jwt:20>` with a whole web token."""
    return _HOLE.sub(lambda hole: _filled(hole[1], int(hole[2]), chooser), template)


def _filled(kind: str, length: int, chooser: Chooser) -> str:
    if kind == "jwt":
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": _random("low", 8, chooser), "exp": 1893456000})
        encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        return ".".join((*encoded, _random("url", length, chooser)))
    if kind == "b64pem":
        label = " ".join(("PRIVATE", "KEY"))
        pem = f"-----BEGIN {label}-----\n{_random('b64', length, chooser)}\n-----END {label}-----\n"
        return base64.b64encode(pem.encode()).decode()
    return _random(kind, length, chooser)


def _random(kind: str, length: int, chooser: Chooser) -> str:
    return "".join(chooser.choices(_CLASSES[kind], k=length))
