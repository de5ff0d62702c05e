"""The sample texts of `fixtures/scan-samples.jsonl`, and the shape checks that rule tables share."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from memoryreview.core.model import Finding, Severity

FIXTURES = Path(__file__).parents[3] / "fixtures"


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    kind: str
    text: str
    expect: str


def load_samples() -> tuple[Sample, ...]:
    rows = map(json.loads, (FIXTURES / "scan-samples.jsonl").read_text("ascii").splitlines())
    return tuple(Sample(row["id"], row["kind"], whole(row["text"]), row["expect"]) for row in rows)


def whole(split_text: str) -> str:
    """Join what the mark `<+>` splits, so that no file of ours holds a usable-looking secret."""
    return split_text.replace("<+>", "")


def tier(findings: Iterable[Finding]) -> str:
    """Return "block", "review" or "pass": the highest severity at review or above."""
    severities = {finding.severity for finding in findings}
    return next((s.value for s in (Severity.BLOCK, Severity.REVIEW) if s in severities), "pass")


def open_repeats_before_the_end(pattern: re.Pattern[str]) -> list[str]:
    """Name each unbounded repeat that is nested in another repeat or that something consuming text follows."""
    faults: list[str] = []
    _walk(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE), True, False, faults)
    return faults


def _walk(sequence: Iterable[tuple[Any, Any]], is_last: bool, is_repeated: bool, faults: list[str]) -> None:
    parts = list(sequence)
    for index, (op, value) in enumerate(parts):
        at_end = is_last and all(_consumes_nothing(later) for later, _ in parts[index + 1 :])
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            _, upper, inner = value
            if upper == _constants.MAXREPEAT and (is_repeated or not at_end):
                faults.append(f"{inner} is open")
            _walk(inner, at_end, is_repeated or upper > 1, faults)
        elif op is _constants.SUBPATTERN:
            _walk(value[-1], at_end, is_repeated, faults)
        elif op is _constants.BRANCH:
            for branch in value[1]:
                _walk(branch, at_end, is_repeated, faults)
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            _walk(value[1], True, is_repeated, faults)


def _consumes_nothing(op: object) -> bool:
    return op in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT)


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


def build_example(template: str, chooser: random.Random) -> str:
    """Fill the holes of a template: `<b62:36>` with 36 random characters, `<jwt:20>` with a whole web token."""
    return _HOLE.sub(lambda hole: _filled(hole[1], int(hole[2]), chooser), template)


def _filled(kind: str, length: int, chooser: random.Random) -> str:
    if kind == "jwt":
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": _random("low", 8, chooser), "exp": 1893456000})
        encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        return ".".join((*encoded, _random("url", length, chooser)))
    if kind == "b64pem":
        label = " ".join(("PRIVATE", "KEY"))
        pem = f"-----BEGIN {label}-----\n{_random('b64', length, chooser)}\n-----END {label}-----\n"
        return base64.b64encode(pem.encode()).decode()
    return _random(kind, length, chooser)


def _random(kind: str, length: int, chooser: random.Random) -> str:
    return "".join(chooser.choices(_CLASSES[kind], k=length))
