"""`verified.update` and `meta.stamp`: one moment in the head moves on, not beyond now, and nothing else changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import yaml

from memoryreview.core import yaml_view
from memoryreview.core.classify.claim import Claim, Clause, lines_of
from memoryreview.core.markdown import Place, outline
from memoryreview.core.model import Evidence, Kind

_KEYS = {Kind.VERIFIED_UPDATE: ("verified_at", "last_verified", "verified"), Kind.META_STAMP: ("modified",)}
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(:\d\d)?(?(2)(?:[.,]\d{1,9})?)(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?", re.ASCII
)


def is_the_value_of_its_key(claim: Claim) -> bool:
    """A strict YAML reader sees the key once, at the top or in `metadata`, and its value where the rewrite is."""
    return all(
        (rewrite.start, rewrite.end) in _values(claim.base[rewrite.path], _KEYS[claim.proof.rule])
        for rewrite in claim.proof.rewrites
    )


def _values(data: bytes, keys: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the byte spans, without quotes, of the values whose key stands once in the head."""
    head = [line for line, spot in zip(lines_of(data), outline(data), strict=True) if spot.place is Place.FRONTMATTER]
    start, end = (head[0].end, head[-1].start) if head else (0, 0)
    text = data[start:end].decode("utf-8", "replace")
    if not yaml_view.is_readable(text) or yaml_view.stumble(text):
        return []
    pairs = list(_pairs(text))
    count = Counter(key for _, key, _ in pairs)
    found: list[tuple[int, int]] = []
    for above, key, value in pairs:
        is_own = key in keys and count[key] == 1 and above in ((), ("metadata",))
        if is_own and isinstance(value, yaml.ScalarEvent) and value.start_mark and value.end_mark:
            quote = 1 if value.style else 0
            first, stop = value.start_mark.index + quote, value.end_mark.index - quote
            found.append((start + len(text[:first].encode()), start + len(text[:stop].encode())))
    return found


def _pairs(text: str) -> Iterator[tuple[tuple[str, ...], str, yaml.Event]]:
    """Yield (keys around it, key, first event of its value) of each pair of a mapping; a list counts as a key `-`."""
    above: list[str] = []
    keys: list[str | None] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            above.pop()
            keys.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        key = keys[-1] if keys else ""
        if keys and key is None:
            keys[-1] = event.value if isinstance(event, yaml.ScalarEvent) else "?"
        elif keys and key is not None and key != "-":
            yield tuple(above[1:]), key, event
            keys[-1] = None
        if isinstance(event, yaml.CollectionStartEvent):
            above.append(key or "?")
            keys.append("-" if isinstance(event, yaml.SequenceStartEvent) else None)


def is_written_as_before(claim: Claim) -> bool:
    """Both are ISO days or times in one form; a stamp of a tool has a clock and a zone."""
    for old, new in _texts(claim):
        forms = [_ISO.fullmatch(text) for text in (old, new)]
        if not all(forms) or None in (_moment(old), _moment(new)):
            return False
        shapes = [re.sub(r"[.,]\d+", "", text) for text in (old, new)]
        one, two = (re.sub(r"[+-]\d\d:\d\d$", "+", re.sub(r"^\d{4}-\d\d-\d\d", "", shape)) for shape in shapes)
        if re.sub(r"\d", "0", one) != re.sub(r"\d", "0", two):
            return False
        if claim.proof.rule is Kind.META_STAMP and not two.endswith(("Z", "+")):
            return False
    return True


def _texts(claim: Claim) -> Iterator[tuple[str, str]]:
    for rewrite in claim.proof.rewrites:
        old = claim.base[rewrite.path][rewrite.start : rewrite.end]
        yield old.decode("utf-8", "replace"), rewrite.new.decode("utf-8", "replace")


def _moment(text: str, now: datetime | None = None) -> datetime | None:
    """Return a moment; what is written without a zone is meant in that of `now`."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo or now is None else at.replace(tzinfo=now.tzinfo)


def moves_on_until_now(claim: Claim) -> bool:
    now = claim.context.now
    if now is None or now.utcoffset() is None:
        return False
    pairs = ([_moment(text, now) for text in texts] for texts in _texts(claim))
    return all(old is None or new is None or old < new <= now for old, new in pairs)


def shows_evidence(claim: Claim) -> bool:
    return claim.context.evidence in (Evidence.ATTACHED, Evidence.FOUND)


def says_nothing_more_of_it(claim: Claim) -> bool:
    """No remark on the line and no other key tells who verified it, how, or with what result."""
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        if data[rewrite.end :].split(b"\n", 1)[0].strip(b" \t\r\"'"):
            return False
        spots = zip(lines_of(data), outline(data), strict=True)
        keys = {_key(line.body) for line, spot in spots if spot.place is Place.FRONTMATTER and b":" in line.body}
        others = keys - {_key(data[: rewrite.start].rsplit(b"\n", 1)[-1])}
        if any(re.search(rb"verif|review|check|(?:^|[_-])by$", key) for key in others):
            return False
    return True


def _key(line: bytes) -> bytes:
    return line.split(b":", 1)[0].strip(b" \t\"'-").lower()


OF_WRITE: tuple[Clause, ...] = (is_the_value_of_its_key, is_written_as_before, moves_on_until_now)
OF_CHECK: tuple[Clause, ...] = (*OF_WRITE, shows_evidence, says_nothing_more_of_it)
