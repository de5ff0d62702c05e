"""The sample texts of `fixtures/scan-samples.jsonl`, and the shape checks that rule tables share."""

from __future__ import annotations

import json
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
