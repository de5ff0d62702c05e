"""The words for states, kinds, times and amounts. One place, so that no page calls the same thing by another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from memoryreview.core.concerns import Concern
from memoryreview.core.model import Kind
from memoryreview.review.models import ChangeKind, Reason, State, Verb
from memoryreview.review.models.latest import Rejection

SHORT_OID = 7
K = TypeVar("K")


class Words(Mapping[K, str]):
    """A table of words, kept in English and looked up in the language of whoever asks."""

    def __init__(self, english: Mapping[K, str]) -> None:
        self.english = english

    def __getitem__(self, key: K) -> str:
        return _(self.english[key])

    def __iter__(self) -> Iterator[K]:
        return iter(self.english)

    def __len__(self) -> int:
        return len(self.english)


KIND_WORDS = Words(
    {
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
)

CONCERN_WORDS = Words(
    {
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
)

STATE_WORDS = Words(
    {
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
)

CHANGE_WORDS = Words(
    {
        ChangeKind.ADOPT: "adopted",
        ChangeKind.AUTO: "applied by proof",
        ChangeKind.APPROVED: "approved",
        ChangeKind.CAPTURED: "captured from disk",
        ChangeKind.ROLLBACK: "rolled back",
        ChangeKind.RESTORE: "restored",
        ChangeKind.PROMOTE: "promoted",
        ChangeKind.ERASE: "erased",
    }
)

UNREAD_WORDS = gettext_noop("landed unread")

VERB_WORDS = Words(
    {
        Verb.AUTO_APPLY: "applied the safe part",
        Verb.PASSIVE: "landed it unread, as the store’s owner wants it",
        Verb.READ: "read it afterwards and kept it",
        Verb.APPROVE: "approved",
        Verb.EDIT: "edited",
        Verb.REJECT: "rejected",
        Verb.ASK_CHANGES: "asked for changes",
        Verb.RELEASE: "released from quarantine",
        Verb.REOPEN: "reopened",
        Verb.SNOOZE: "put it aside",
        Verb.WAKE: "let it wait again",
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
)


UNIT_WORDS = Words({"lines": "lines", "tokens": "tokens", "characters": "characters", "bytes": "bytes"})


REASON_WORDS = Words(
    {
        Reason.WRONG: "wrong",
        Reason.STALE: "stale",
        Reason.DUPLICATE: "duplicate",
        Reason.TOO_SPECIFIC: "too specific",
        Reason.WRONG_SCOPE: "wrong scope",
        Reason.SENSITIVE: "sensitive",
        Reason.UNSAFE: "unsafe instruction",
        Reason.WORDING: "wording",
    }
)


def kind_words(kind: str) -> str:
    """Return what an action of this kind does, in words; the id itself for a kind that is not ours."""
    return KIND_WORDS[Kind(kind)] if kind in set(Kind) else kind


_STEPS: tuple[tuple[float, int, Callable[[int], str], str], ...] = (
    (60, 1, lambda count: plural(count, "second"), gettext_noop("%(count)s s")),
    (3600, 60, lambda count: plural(count, "minute"), gettext_noop("%(count)s m")),
    (86400, 3600, lambda count: plural(count, "hour"), gettext_noop("%(count)s h")),
    (86400 * 60, 86400, lambda count: plural(count, "day"), gettext_noop("%(count)s d")),
    (86400 * 730, 86400 * 30, lambda count: plural(count, "month"), gettext_noop("%(count)s mo")),
    (inf, 86400 * 365, lambda count: plural(count, "year"), gettext_noop("%(count)s y")),
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time for a page: `exact` for people and `machine` for `<time datetime>`, both UTC; `ago` is a hint.

    `span` is how long that was; both say "just now" for a few seconds. A page says one or two of these, and words are
    looked up in a catalogue: each is made when it is asked for.
    """

    at: datetime
    seconds: int

    @property
    def machine(self) -> str:
        return self.at.isoformat(timespec="seconds")

    @property
    def exact(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} UTC"

    @property
    def ago(self) -> str:
        return _("just now") if self._is_now else _("%(span)s ago") % {"span": self.span}

    @property
    def short(self) -> str:
        _words, count, letter = self._step
        return _(letter) % {"count": count}

    @property
    def span(self) -> str:
        words, count, _letter = self._step
        return _("just now") if self._is_now else words(count)

    @property
    def _is_now(self) -> bool:
        return self.seconds < 10

    @property
    def _step(self) -> tuple[Callable[[int], str], int, str]:
        """Return the largest unit that says it: its words, how many, and its letter."""
        size, words, letter = next(step[1:] for step in _STEPS if self.seconds < step[0])
        return words, self.seconds // size, letter


def moment(at: datetime, now: datetime) -> Moment:
    """Say when something happened. A time ahead of the clock counts as now."""
    return Moment(at.astimezone(UTC), max(0, int((now - at) / timedelta(seconds=1))))


def plural(count: int, noun: str, many: str = "") -> str:
    """Count something: "1 line", "1,200 lines". The catalogue has the nouns that are written out in calls."""
    one, several = f"%(count)s {noun}", f"%(count)s {many or f'{noun}s'}"
    return ngettext(one, several, count) % {"count": f"{count:,}"}


def listed(words: Iterable[str]) -> str:
    """Join words as a sentence does: "a", "a and b", "a, b and c"."""
    *first, last = list(words) or [""]
    return _("%(first)s and %(last)s") % {"first": _(", ").join(first), "last": last} if first else last


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
    if first == last:
        return _("line %(first)s") % {"first": first}
    return _("lines %(first)s–%(last)s") % {"first": first, "last": last}


def rejection_words(rejection: Rejection) -> dict[str, str]:
    """Return what follows "rejected": the `day`, `reason` and `note`, each "" where nothing is known."""
    return {
        "day": _(" on %(at)s") % {"at": f"{rejection.at.astimezone(UTC):%Y-%m-%d}"} if rejection.at else "",
        "reason": _(" as “%(reason)s”") % {"reason": rejection.reason} if rejection.reason else "",
        "note": f": {rejection.note}" if rejection.note else "",
    }
