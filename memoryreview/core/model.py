"""The words of `memoryreview` as values: kinds, verdicts, actions, findings, and what a verdict depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

Tree: TypeAlias = Mapping[str, bytes]
"""Documents of a store by path (`/`-separated, relative to the store). Bytes exactly as on disk."""

Delta: TypeAlias = Mapping[str, bytes | None]
"""What changes in a tree: path to new bytes, or to None where the document goes."""


class FormatName(StrEnum):
    CLAUDE = "claude"
    CODEX = "codex"
    HERMES = "hermes"
    MARKDOWN = "markdown"


class Scope(StrEnum):
    PRIVATE = "private"
    TEAM = "team"


class Guard(StrEnum):
    OBSERVE = "observe"
    ENFORCE = "enforce"


class Verdict(StrEnum):
    """Verdict of one action, or (with MIXED and UNCHANGED) of a whole revision."""

    SAFE = "safe"
    MIXED = "mixed"
    REVIEW = "review"
    REFUSED = "refused"
    RECORDED = "recorded"
    UNCHANGED = "unchanged"


class Kind(StrEnum):
    # Safe: applied by proof.
    DEDUPE_EXACT = "dedupe.exact"
    DEDUPE_INDEX = "dedupe.index"
    INDEX_TRIM = "index.trim"
    INDEX_PRUNE = "index.prune"
    INDEX_SYNC = "index.sync"
    LINK_RETARGET = "link.retarget"
    DATE_NORMALIZE = "date.normalize"
    VERIFIED_UPDATE = "verified.update"
    META_STAMP = "meta.stamp"
    FORMAT_BLANK = "format.blank"
    # Review: a person decides.
    FACT_ADD = "fact.add"
    FACT_REWRITE = "fact.rewrite"
    FACT_DELETE = "fact.delete"
    FILE_ADD = "file.add"
    FILE_DELETE = "file.delete"
    FILE_RENAME = "file.rename"
    INDEX_ADD = "index.add"
    INDEX_DROP = "index.drop"
    META_CHANGE = "meta.change"
    SCOPE_PROMOTE = "scope.promote"

    MASS_CHANGE = "mass.change"
    # Recorded: a file that a tool rewrites by itself.
    TOOL_GENERATED = "tool.generated"
    # Refused: never stored, never written.
    NOT_UTF8 = "not-utf8"
    LINE_ENDS = "line-ends"
    DELIMITER = "delimiter"
    NAME_CLASH = "name-clash"
    OVER_SIZE = "over-size"


SAFE_KINDS = frozenset(
    {
        Kind.DEDUPE_EXACT,
        Kind.DEDUPE_INDEX,
        Kind.INDEX_TRIM,
        Kind.INDEX_PRUNE,
        Kind.INDEX_SYNC,
        Kind.LINK_RETARGET,
        Kind.DATE_NORMALIZE,
        Kind.VERIFIED_UPDATE,
        Kind.META_STAMP,
        Kind.FORMAT_BLANK,
    }
)


class Severity(StrEnum):
    BLOCK = "block"
    REVIEW = "review"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a scanner saw. Never carries the text it saw.

    Args:
        scanner: "secret", "injection", "unicode", "personal", "path" or "text".
        rule: stable id of the rule, such as "aws-access-key-id".
        line, column: 1-based, in the scanned text; column counts characters.
        length: characters covered.
        message: one sentence for a person, without the matched text.
    """

    scanner: str
    rule: str
    severity: Severity
    line: int
    column: int
    length: int
    message: str
    path: str = ""

    @property
    def is_blocked_secret(self) -> bool:
        return self.scanner == "secret" and self.severity is Severity.BLOCK


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Replace the half-open byte span [start, end) of the base document `path` by `new`."""

    path: str
    start: int
    end: int
    new: bytes


@dataclass(frozen=True, slots=True)
class Proof:
    """What explains a safe action: rewrites of one rule, sorted by (path, start), not overlapping."""

    rule: Kind
    version: int
    rewrites: tuple[Rewrite, ...]


LineSpan: TypeAlias = tuple[int, int]
"""1-based, both ends included."""


@dataclass(frozen=True, slots=True)
class Action:
    """One classified piece of a revision.

    Args:
        lines: in the base document, None for a pure addition.
        new_lines: in the proposed document, None for a pure deletion.
        old, new: the text of those lines (UTF-8, undecodable bytes replaced), for people.
        proof: present exactly when the verdict is safe.
        reasons: why it waits or is refused, whole sentences for people.
        title: what it does, in words, for a queue row: "Port 5432 becomes 5433".
    """

    kind: Kind
    verdict: Verdict
    path: str
    lines: LineSpan | None
    new_lines: LineSpan | None
    old: str
    new: str
    title: str
    proof: Proof | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Classification:
    verdict: Verdict
    actions: tuple[Action, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def is_blocked(self) -> bool:
        """Whether a scanner stops it, so that a person must release it first."""
        return any(finding.severity is Severity.BLOCK for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes above which a change waits or is refused. Bytes unless the name says otherwise."""

    file_bytes: int = 256 * 1024
    refused_bytes: int = 2 * 1024 * 1024
    operations: int = 200
    index_row_chars: int = 200
    path_segments: int = 8
    segment_chars: int = 120


@dataclass(frozen=True, slots=True)
class Ended:
    """A document that approved changes took out of a store, as it was when it went.

    Args:
        name: its frontmatter `name`, or "".
        digest: SHA-256 of its bytes, hex.
        renamed_to: where the same change put the very same bytes; "" when it was deleted.
    """

    path: str
    name: str
    digest: str
    renamed_to: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """What the baseline says of a store up to a head, as far as a change asks for it.

    Args:
        ended: documents that are not there any more, by path.
        first_approved: the day from which on a document has held a line without a break, by path and the line's text
            (no line end); a line whose first day was not found is left out.
        began: the day of the store's first commit, None when nobody looked.
    """

    ended: Mapping[str, Ended] = field(default_factory=lambda: MappingProxyType({}))
    first_approved: Mapping[tuple[str, bytes], date] = field(default_factory=lambda: MappingProxyType({}))
    began: date | None = None


class Evidence(StrEnum):
    """What the server knows of the evidence that came with a change."""

    NONE = "none"  # nothing was attached
    ATTACHED = "attached"  # attached; the store names no folder in which it could be looked up
    FOUND = "found"  # the server found every cited text where it was said to be
    MISSING = "missing"  # the server looked, and some of it is not there


@dataclass(frozen=True, slots=True)
class Context:
    """All that a verdict may depend on besides the two trees. What is missing makes an action wait.

    Args:
        format: of the store; each document is still sniffed by itself.
        switched_off: safe kinds that this store sends to review.
        promoted_from: store that a promotion comes from, or "".
        now: when the change was taken in, with the zone of the store's machine; None when nobody says.
        history: None when there is no baseline to ask (offline).
    """

    format: FormatName = FormatName.MARKDOWN
    limits: Limits = field(default_factory=Limits)
    switched_off: frozenset[Kind] = frozenset()
    promoted_from: str = ""
    now: datetime | None = None
    history: History | None = None
    evidence: Evidence = Evidence.NONE


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that looks wrong in a folder as it is. `line` is 1-based, None for the whole document."""

    kind: str
    path: str
    line: int | None
    message: str
