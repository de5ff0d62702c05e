"""One value of the frontmatter that changes alone: what `verified.update` and `meta.stamp` have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime

from memoryreview.core import frontmatter, yaml_view
from memoryreview.core.classify.document import Document
from memoryreview.core.frontmatter import Field, Frontmatter
from memoryreview.core.markdown import Place
from memoryreview.core.model import Rewrite

from .moment import Moment, read
from .outcome import Declined, Explained, Outcome

_KEY = re.compile(r"[ ]{0,40}([A-Za-z_]{1,40}):[ \t]+")
_TIME = re.compile(
    r"(?P<quote>[\"']?)(?P<text>[0-9][0-9TZ:.,+ -]{0,40}[0-9Z])(?P=quote)(?P<rest>[ \t]*|[ \t]+#.*)", re.DOTALL
)
_PARENTS = ("", "metadata")
_HARMLESS = frozenset({"head-comment", "head-type-conflict", "head-empty-name"})


@dataclass(frozen=True, slots=True)
class Heads:
    """The frontmatter of both states of a document.

    Args:
        refusal: why no value in it may change by itself, "" when one may.
        fields: the base document's by line number.
        counts: how often each key stands in the one and in the other, wherever it stands.
    """

    refusal: str
    fields: Mapping[int, Field]
    counts: tuple[Counter[str], ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A moment under one of a rule's keys that gives way to another one. `rewrite` replaces it alone."""

    key: str
    old: Moment
    new: Moment
    rewrite: Rewrite


def heads(old: Document, new: Document) -> Heads:
    fields: list[dict[int, Field]] = []
    counts: list[Counter[str]] = []
    for document in (old, new):
        head = frontmatter.read(document.data)
        if not isinstance(head, Frontmatter) or _is_doubtful(document, head):
            return Heads("Readers of YAML may see something else in this frontmatter, so a person decides.", {}, ())
        fields.append({field.lineno: field for field in head.fields})
        counts.append(Counter(field.key for field in head.fields))
    return Heads("", fields[0], tuple(counts))


def _is_doubtful(document: Document, head: Frontmatter) -> bool:
    """Whether a strict reader might not see each key on the line where the lenient one sees it."""
    if any(kind not in _HARMLESS for kind, _, _ in head.problems) or any(
        yaml_view.fault(field.raw) for field in head.fields
    ):
        return True
    count = sum(spot.place is Place.FRONTMATTER for spot in document.spots)
    text = "\n".join(body.decode("utf-8", "replace") for body in document.bodies[1 : count - 1])
    return not yaml_view.is_readable(text) or yaml_view.stumble(text) is not None


def changed_value(
    old: Document, new: Document, lines: tuple[int, int], known: Heads, keys: Container[str]
) -> Value | Declined | None:
    """Return the change of one line when it has one of these keys, else None. Args: lines: 0-based, in old and new."""
    before, after = (side.bodies[at].decode("utf-8", "replace") for side, at in zip((old, new), lines, strict=True))
    key_match, new_key_match = _KEY.match(before), _KEY.match(after)
    if key_match is None or key_match[1] not in keys:
        return None
    if new_key_match is None or new_key_match[0] != key_match[0]:
        return Declined(f"More than the value of “{key_match[1]}” changes in this line.")
    key = key_match[1]
    if known.refusal:
        return Declined(known.refusal)
    field = known.fields.get(lines[0] + 1)
    is_one = all(count[key] == 1 for count in known.counts)
    if not is_one or field is None or field.key != key or field.parent not in _PARENTS:
        return Declined(f"“{key}” stands more than once in the frontmatter, or not where tools look for it.")
    times = [_TIME.fullmatch(line, key_match.end()) for line in (before, after)]
    moments = [read(match["text"]) if match else None for match in times]
    (match, new_match), (moment, new_moment) = times, moments
    if match is None or new_match is None or moment is None or new_moment is None:
        return Declined(f"“{key}” has to be an ISO date or time before and after, such as 2026-05-19.")
    if (match["quote"], match["rest"]) != (new_match["quote"], new_match["rest"]):
        return Declined(f"More than the value of “{key}” changes in this line.")
    start = old.body_start(lines[0]) + len(before[: match.start("text")].encode())
    rewrite = Rewrite(old.path, start, start + len(match["text"]), new_match["text"].encode())
    return Value(key, moment, new_moment, rewrite)


def explain(value: Value, now: datetime | None) -> Outcome:
    """Explain a value that goes on to another moment, in the form that it has, and not beyond `now`."""
    if value.old.form != value.new.form:
        return Declined(f"“{value.key}” is written in another form than before; keep the form that it has.")
    if not value.new.is_after(value.old):
        return Declined(f"“{value.key}” does not move on in time.")
    if now is None or now.utcoffset() is None:
        return Declined(f"Nobody says what day it is, so “{value.key}” may lie in the future.")
    if value.new.is_beyond(now):
        return Declined(f"“{value.key}” lies in the future.")
    return Explained((value.rewrite,))
