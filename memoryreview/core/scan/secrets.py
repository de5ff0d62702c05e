"""The secret scanner: block rules by unmistakable prefix, review rules by label and looser shape.

Matches are found in the text as a reader of compatibility forms sees it, in tokens that were wrapped over lines, and
one base64 layer deep; the hit always names the characters as they stand.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memoryreview.core.model import Severity

from .hit import Hit, without_covered
from .normalise import View, secret_view, spliced, view_of
from .secret_judge import decoded_base64
from .secret_rule import SecretRule
from .secret_rules_cloud import CLOUD_RULES
from .secret_rules_review import REVIEW_RULES
from .secret_rules_service import SERVICE_RULES

BLOCK_RULES: tuple[SecretRule, ...] = (*CLOUD_RULES, *SERVICE_RULES)
RULES: tuple[SecretRule, ...] = (*BLOCK_RULES, *REVIEW_RULES)

MAX_KEY_CHARS = 20_000
"""How far the end of a private key is looked for behind its beginning."""

_WRAP = re.compile(
    r"(?<=[A-Za-z0-9+/=_.\-])(?:\\\r?\n[ \t]{0,40}"
    r"|[\"'`]\s{0,4}[+.&\\]?[ \t]{0,4}\r?\n[ \t]{0,40}[+.&]?[ \t]{0,4}[\"'`]"
    r"|(?<=[A-Za-z0-9_\-]{8})\r?\n[ \t>#*/|]{0,20}(?=[A-Za-z0-9_\-]{4}))(?=[A-Za-z0-9+/=_.\-])"
)
_BASE64_RUN = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{32,}={0,2}")
_KEY_BODY = re.compile(r"(?:(?:\\[nr]|[\s\"'+,>|#]){1,60}[A-Za-z0-9+/=]{16,120})*")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_PUTTY_BODY = re.compile(r"[^\n]{0,40}(?:\r?\n[A-Za-z0-9+/=]{20,120}){0,200}(?:\r?\nPrivate-MAC: ?[0-9a-f]{1,80})?")


def secret_hits(text: str) -> list[Hit]:
    """Return what looks like a secret, none of it inside another hit of the same or a higher severity."""
    view = secret_view(text)
    hits = [*_matches(view, RULES), *_wrapped(view), *_encoded(view)]
    return without_covered(hits)


def _matches(view: View, rules: Iterable[SecretRule]) -> Iterator[Hit]:
    lowered = _lower(view.text)
    for rule in rules:
        haystack = lowered if rule.pattern.flags & re.IGNORECASE else view.text
        for match in _candidates(rule, view.text, haystack):
            severity = rule.verdict(match)
            if severity is not None:
                start, end = view.span(*_secret_span(rule, match))
                yield Hit("secret", rule.id, severity, start, end, replace(rule, severity=severity).message)


def _candidates(rule: SecretRule, text: str, haystack: str) -> Iterable[re.Match[str]]:
    """Return the matches of a rule, looking only where its literals stand."""
    literals = [literal for literal in rule.literals if literal in haystack]
    if not literals:
        return ()
    if not rule.starts_with_literal:
        return rule.pattern.finditer(text)
    places = sorted({at.start() for literal in literals for at in re.finditer(re.escape(literal), haystack)})
    return filter(None, (rule.pattern.match(text, place) for place in places))


def _lower(text: str) -> str:
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _secret_span(rule: SecretRule, match: re.Match[str]) -> tuple[int, int]:
    """Return the span to mask: the value behind a label, the whole of a private key."""
    names = rule.pattern.groupindex
    if "quoted" in names:
        return match.span("quoted" if match["quoted"] is not None else "bare")
    if rule.id == "private-key-pem":
        return match.start(), _end_of_key(match.string, match.end())
    if rule.id == "putty-key":
        body = _PUTTY_BODY.match(match.string, match.end())
        return match.start(), body.end() if body else match.end()
    return match.span("value" if "value" in names else rule.group)


def _end_of_key(text: str, end: int) -> int:
    closing = _KEY_END.search(text, end, end + MAX_KEY_CHARS)
    if closing is not None:
        return closing.end()
    body = _KEY_BODY.match(text, end, end + MAX_KEY_CHARS)
    return body.end() if body else end


def _wrapped(view: View) -> Iterator[Hit]:
    """Find tokens that were broken over lines or code spans. Review only: the join is a guess."""
    wraps = [match.span() for match in _WRAP.finditer(view.text)]
    if not wraps:
        return
    whole = spliced(view, ((start, end, "") for start, end in wraps))
    gaps = _offsets_after(wraps)
    for rule in BLOCK_RULES:
        if rule.id in _SPANS_LINES or not any(literal in whole.text for literal in rule.literals):
            continue
        for match in rule.pattern.finditer(whole.text):
            if rule.verdict(match) is None or not _holds_gap(gaps, match.start(), match.end()):
                continue
            start, end = whole.span(*match.span(rule.group))
            yield Hit("secret", rule.id, Severity.REVIEW, start, end, replace(rule, severity=Severity.REVIEW).message)


_SPANS_LINES = frozenset({"private-key-pem", "putty-key", "base64-pem", "url-credentials"})


def _offsets_after(wraps: Sequence[tuple[int, int]]) -> list[int]:
    """Return where each removed span would stand in the text without them."""
    removed, offsets = 0, []
    for start, end in wraps:
        offsets.append(start - removed)
        removed += end - start
    return offsets


def _holds_gap(gaps: Sequence[int], start: int, end: int) -> bool:
    at = bisect_right(gaps, start)
    return at < len(gaps) and gaps[at] < end


def _encoded(view: View) -> Iterator[Hit]:
    """Find block rules inside base64 text, one layer deep."""
    for run in _BASE64_RUN.finditer(view.text):
        decoded = _decoded_text(run[0])
        if decoded is None:
            continue
        for inner in _matches(view_of(decoded), BLOCK_RULES):
            start, end = view.span(*run.span())
            yield replace(inner, start=start, end=end, message=f"{inner.message[:-1]}, once its base64 is decoded.")


def _decoded_text(run: str) -> str | None:
    """Return what a run decodes to where at least 98 % of it is printable ASCII."""
    if not _is_mostly_printable(decoded_base64(run[:64])):
        return None
    decoded = decoded_base64(run)
    return decoded.decode("ascii", "replace") if _is_mostly_printable(decoded) else None


def _is_mostly_printable(decoded: bytes) -> bool:
    printable = sum(0x20 <= byte < 0x7F or byte in b"\t\n\r" for byte in decoded)
    return bool(decoded) and printable >= 0.98 * len(decoded)
