"""The words for states, kinds, times and amounts. One place, so that no page calls the same thing by another name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memoryreview.core.concerns import Concern
from memoryreview.core.model import Kind
from memoryreview.review.models import ChangeKind, State, Verb

SHORT_OID = 7

KIND_WORDS = {
    Kind.FACT_ADD: "Adds a fact",
    Kind.FACT_REWRITE: "Changes a fact",
    Kind.FACT_DELETE: "Deletes a fact",
    Kind.FILE_ADD: "Adds a document",
    Kind.FILE_DELETE: "Deletes a document",
    Kind.FILE_RENAME: "Renames a document",
    Kind.INDEX_ADD: "Adds an index row",
    Kind.INDEX_DROP: "Drops an index row",
    Kind.META_CHANGE: "Changes the frontmatter",
    Kind.SCOPE_PROMOTE: "Promotes to a team",
    Kind.MASS_CHANGE: "Changes much at once",
    Kind.DEDUPE_EXACT: "Removes a repeat",
    Kind.DEDUPE_INDEX: "Removes a repeated index row",
    Kind.INDEX_TRIM: "Shortens an index row",
    Kind.INDEX_SYNC: "Adds a missing index row",
    Kind.INDEX_PRUNE: "Removes a dead index row",
    Kind.LINK_RETARGET: "Repairs a link",
    Kind.DATE_NORMALIZE: "Writes a date plainly",
    Kind.VERIFIED_UPDATE: "Moves a verification date on",
    Kind.META_STAMP: "Moves a time stamp on",
    Kind.FORMAT_BLANK: "Tidies blanks",
    Kind.TOOL_GENERATED: "Written by a tool",
    Kind.NOT_UTF8: "Not UTF-8",
    Kind.LINE_ENDS: "Rewrites line ends",
    Kind.DELIMITER: "Holds an entry separator",
    Kind.NAME_CLASH: "Clashes with another name",
    Kind.OVER_SIZE: "Too large",
}

CONCERN_WORDS = {
    Concern.STOPPED: "stopped by a scanner",
    Concern.MASS: "mass change",
    Concern.INSTRUCTS: "instruction-like",
    Concern.CREDENTIAL: "secret-like",
    Concern.HIDDEN: "hidden characters",
    Concern.PERSONAL: "personal data",
    Concern.DELETES: "deletes",
    Concern.WIDENS: "more readers",
    Concern.ALWAYS_LOADED: "always loaded",
    Concern.SHRINKS: "shrinks",
    Concern.COMMAND: "new command",
    Concern.ADDRESS: "new address",
    Concern.CONTRADICTS: "contradiction",
    Concern.MISLABELLED: "mislabelled",
    Concern.NEW_AGENT: "new agent",
}

STATE_WORDS = {
    State.PENDING: "waiting",
    State.QUARANTINED: "quarantined",
    State.CHANGES_REQUESTED: "with its agent, which was asked for changes",
    State.APPLYING: "being applied",
    State.APPLIED: "applied",
    State.REJECTED: "rejected",
    State.WITHDRAWN: "withdrawn by its agent",
    State.SUPERSEDED: "replaced by a newer proposal",
    State.EXPIRED: "expired undecided",
    State.ROLLED_BACK: "applied, then rolled back",
}

CHANGE_WORDS = {
    ChangeKind.ADOPT: "adopted",
    ChangeKind.AUTO: "applied by proof",
    ChangeKind.APPROVED: "approved",
    ChangeKind.CAPTURED: "captured from disk",
    ChangeKind.ROLLBACK: "rolled back",
    ChangeKind.RESTORE: "restored",
    ChangeKind.PROMOTE: "promoted",
    ChangeKind.ERASE: "erased",
}

UNREAD_WORDS = "landed unread"

VERB_WORDS = {
    Verb.AUTO_APPLY: "applied the safe part",
    Verb.PASSIVE: "landed it unread, as the store’s owner wants it",
    Verb.READ: "read it afterwards and kept it",
    Verb.APPROVE: "approved",
    Verb.EDIT: "edited",
    Verb.REJECT: "rejected",
    Verb.ASK_CHANGES: "asked for changes",
    Verb.RELEASE: "released from quarantine",
    Verb.REOPEN: "reopened",
    Verb.ROLLBACK: "rolled back",
    Verb.RESTORE: "restored the store",
    Verb.WITHDRAW: "withdrew",
    Verb.SUPERSEDE: "superseded",
    Verb.EXPIRE: "expired",
    Verb.ADOPT: "adopted",
    Verb.CONFIGURE: "set the store",
    Verb.IMPORT: "recorded a commit anew",
    Verb.ERASE: "erased from the whole history",
    Verb.INTERRUPT: "interrupted",
    Verb.FAIL: "could not apply",
}


def kind_words(kind: str) -> str:
    """Return what an action of this kind does, in words; the id itself for a kind that is not ours."""
    return KIND_WORDS[Kind(kind)] if kind in set(Kind) else kind


@dataclass(frozen=True, slots=True)
class Moment:
    """A time for a page: `exact` for people and `machine` for `<time datetime>`, both UTC; `ago` is a hint."""

    machine: str
    exact: str
    ago: str
    short: str


_STEPS = (
    (60, 1, "second", "s"),
    (3600, 60, "minute", "m"),
    (86400, 3600, "hour", "h"),
    (86400 * 60, 86400, "day", "d"),
    (86400 * 730, 86400 * 30, "month", "mo"),
)


def moment(at: datetime, now: datetime) -> Moment:
    """Say when something happened. A time ahead of the clock counts as now."""
    seconds = max(0, int((now - at) / timedelta(seconds=1)))
    amount, unit, letter = seconds // (86400 * 365), "year", "y"
    for below, size, word, short in _STEPS:
        if seconds < below:
            amount, unit, letter = seconds // size, word, short
            break
    utc = at.astimezone(UTC)
    ago = "just now" if seconds < 10 else f"{plural(amount, unit)} ago"
    return Moment(utc.isoformat(timespec="seconds"), f"{utc:%Y-%m-%d %H:%M} UTC", ago, f"{amount} {letter}")


def plural(count: int, noun: str, many: str = "") -> str:
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def listed(words: Iterable[str]) -> str:
    """Join words as a sentence does: "a", "a and b", "a, b and c"."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def short_oid(oid: str) -> str:
    return oid[:SHORT_OID]


def size_words(size_bytes: int) -> str:
    if size_bytes < 1000:
        return plural(size_bytes, "byte")
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1000:.1f} kB"
    if size_bytes < 1_000_000_000:
        return f"{size_bytes / 1_000_000:.1f} MB"
    return f"{size_bytes / 1_000_000_000:.1f} GB"


def span_words(first: int, last: int) -> str:
    """Name lines, both 1-based and included: "line 3", "lines 3–5"."""
    return f"line {first}" if first == last else f"lines {first}–{last}"
