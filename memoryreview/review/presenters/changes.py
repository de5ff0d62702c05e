"""History: rows of changes, one change with its proof and decision, and what rolling it back would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryreview.core.diff import document_diff
from memoryreview.core.model import Kind, Severity
from memoryreview.review.models import Change, ChangeKind, Verb
from memoryreview.review.operations import rollback
from memoryreview.review.operations.certificate import is_erased
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.horizon import out_of_reach
from memoryreview.review.operations.permissions import may_maintain
from memoryreview.review.operations.stores import reading
from memoryreview.review.operations.undone import undone
from memoryreview.review.querysets import ChangeQuerySet

from . import documents, links
from .around import with_around
from .documents import ConflictView, DocumentView
from .erase import ErasedView, erased_view
from .grounds import FindingView, finding_view
from .outcome import Step, step
from .recorded import in_language, title_in_language
from .rows import Sign, agent_words
from .words import CHANGE_WORDS, UNREAD_WORDS, Moment, Words, listed, moment, plural, short_oid

_DOCUMENTS_SHOWN = 40
_REWRITES_SHOWN = 12
_UNDONE_SHOWN = 20
_CONFLICTS_SHOWN = 5
_FINDINGS_SHOWN = 20

STOPPED_WORDS = gettext_noop(
    "A secret would come back, so this cannot be rolled back. Erase it from the history, or edit by hand."
)

_SIGNS = {
    ChangeKind.ADOPT: Sign("adopt", "book", "adopted"),
    ChangeKind.AUTO: Sign("done", "proof", "applied by proof"),
    ChangeKind.APPROVED: Sign("done", "check", "approved"),
    ChangeKind.CAPTURED: Sign("changes", "disk", "captured from disk"),
    ChangeKind.ROLLBACK: Sign("changes", "undo", "rollback"),
    ChangeKind.RESTORE: Sign("changes", "undo", "restore"),
    ChangeKind.PROMOTE: Sign("promotes", "arrow-up", "promotion"),
    ChangeKind.ERASE: Sign("deletes", "close", "erased"),
}

_UNREAD = Sign("adds", "plus", UNREAD_WORDS)

RULE_WORDS = Words(
    {
        Kind.DEDUPE_EXACT: "An entry that repeats another one word for word in the same list goes; one stays.",
        Kind.DEDUPE_INDEX: "An index row that repeats the target and text of another one goes; the other stays.",
        Kind.INDEX_TRIM: (
            "An index row over its limit is cut at the end of a clause; the cut text stands in its document."
        ),
        Kind.INDEX_SYNC: "An approved document without a row gets the one that its own name and description make.",
        Kind.INDEX_PRUNE: (
            "An index row goes whose document an approved change deleted; nothing bears its name any more."
        ),
        Kind.LINK_RETARGET: (
            "A link whose document is gone leads to the one that took its place; no other word differs."
        ),
        Kind.DATE_NORMALIZE: "Only a date changes its form; it has one reading, and nothing else differs.",
        Kind.VERIFIED_UPDATE: "Only the date moves on at which the document was verified; evidence comes with it.",
        Kind.META_STAMP: "Only the time moves on at which the agent’s own tool last wrote the document.",
        Kind.FORMAT_BLANK: "Only blanks at line ends and surplus blank lines go; no text differs.",
    }
)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """`note` says what happened to the document's name, in the history of one document. `is_out_of_reach`: the baseline
    does not hold it any more, so it cannot be undone."""

    id: int
    oid: str
    full_oid: str
    url: str
    title: str
    kind: str
    sign: Sign
    store: str
    store_url: str
    who: str
    path: str
    more_paths: int
    at: Moment
    is_undone: bool
    is_undoable: bool
    is_out_of_reach: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why nobody was asked. `rewrites` are the byte spans that the verifier replays."""

    rule: str
    sentence: str
    rewrites: tuple[str, ...]
    more: int
    digest: str


@dataclass(frozen=True, slots=True)
class RollbackView:
    """What can be done. At most one of `does`, `refusal`, `already` and `paths` (a conflict) is not empty.

    `ask_url` leads to the page that asks first, where a scanner blocks what comes back. `is_risky` is whether the
    password is asked for again. `all_url` leads to rolling back all `all_count` changes of the same batch.
    """

    does: str = ""
    refusal: str = ""
    already: str = ""
    already_url: str = ""
    paths: tuple[str, ...] = ()
    conflicts: tuple[ConflictView, ...] = ()
    later: tuple[ChangeRow, ...] = ()
    together: int = 0
    findings: tuple[FindingView, ...] = ()
    ask_url: str = ""
    is_risky: bool = False
    all_url: str = ""
    all_count: int = 0


@dataclass(frozen=True, slots=True)
class EraseLink:
    """Where lines of one document of a change can be chosen that are to go for good."""

    path: str
    url: str


@dataclass(frozen=True, slots=True)
class ChangePage:
    row: ChangeRow
    proposal_id: int | None
    proposal_url: str
    decision: Step | None
    certificate: Certificate | None
    message: str
    documents: tuple[DocumentView, ...]
    more_documents: int
    undoes: tuple[ChangeRow, ...]
    more_undone: int
    rollback: RollbackView
    restore_url: str
    erase: tuple[EraseLink, ...] = ()
    erased: ErasedView | None = None
    proof_is_erased: bool = False


def change_rows(changes: Iterable[Change], now: datetime) -> tuple[ChangeRow, ...]:
    """Prepare rows; the changes come with store, agent, person and `rolled_back_by` fetched."""
    listed_changes = list(changes)
    gone = undone([change.pk for change in listed_changes if change.rolled_back_by.all()])
    return tuple(replace(change_row(change, now), is_undone=change.pk in gone) for change in listed_changes)


def change_row(change: Change, now: datetime) -> ChangeRow:
    kind = ChangeKind(change.kind)
    is_passive = change.decision is not None and change.decision.verb == Verb.PASSIVE and not change.certificate
    return ChangeRow(
        id=change.pk,
        oid=short_oid(change.oid),
        full_oid=change.oid,
        url=links.change_url(change),
        title=title_in_language(change.title),
        kind=_(UNREAD_WORDS) if is_passive else CHANGE_WORDS[kind],
        sign=_UNREAD if is_passive else _SIGNS[kind],
        store=change.store.slug,
        store_url=links.store_url(change.store.slug),
        who=_who(change),
        path=change.paths[0] if change.paths else "",
        more_paths=max(0, len(change.paths) - 1),
        at=moment(change.at, now),
        is_undone=bool(change.rolled_back_by.all()),
        is_undoable=kind not in (ChangeKind.ADOPT, ChangeKind.ERASE),
    )


def _who(change: Change) -> str:
    """Name the agent that proposed and the person who let it in."""
    agent = agent_words(change.agent) if change.agent else ""
    person = change.person.get_username() if change.person else ""
    return listed([name for name in (agent, person) if name])


def change_page(change: Change, person: User, now: datetime) -> ChangePage:
    """Read everything that the page of a change shows."""
    shown: tuple[DocumentView, ...] = ()
    more, message, gone = 0, "", ""
    try:
        with reading(change.store) as repository:
            gone = out_of_reach(change, repository)
            if gone:
                raise CannotApplyError(gone)
            message = repository.message(change.oid).strip()
        shown, more = _documents(change)
        undo = rollback_view(change, person, now)
    except CannotApplyError as error:
        undo = RollbackView(refusal=in_language(str(error)))
    decision = change.decision
    undoes = Change.objects.filter(rolled_back_by=change)
    return ChangePage(
        row=change_row(change, now),
        proposal_id=change.proposal_id,
        proposal_url=links.proposal_url(change.proposal_id) if change.proposal_id else "",
        decision=step(decision, now) if decision is not None else None,
        certificate=_certificate(change.certificate),
        message=message,
        documents=shown,
        more_documents=more,
        undoes=change_rows(with_names(undoes, at_most=_UNDONE_SHOWN), now),
        more_undone=max(0, undoes.count() - _UNDONE_SHOWN),
        rollback=undo,
        restore_url="" if gone else _restore_url(change, person),
        erase=tuple(_erase_links(change, shown, person)),
        erased=erased_view(change),
        proof_is_erased=is_erased(change.certificate or {}),
    )


def _erase_links(change: Change, shown: Iterable[DocumentView], person: User) -> Iterator[EraseLink]:
    if may_maintain(person, change.store) and change.kind != ChangeKind.ERASE:
        for document in shown:
            yield EraseLink(document.path, links.erase_url(change.store.slug, change=change.oid, path=document.path))


def _restore_url(change: Change, person: User) -> str:
    """Return where the store can be brought back to this change, "" where it stands there or the person may not."""
    is_past = Change.objects.filter(store=change.store_id, pk__gt=change.pk).exists()
    return links.restore_url(change.store.slug, change.oid) if is_past and may_maintain(person, change.store) else ""


def with_names(changes: ChangeQuerySet, *, at_most: int | None = None) -> Sequence[Change]:
    """Return changes, newest first, with what their rows name."""
    related = changes.select_related("store", "agent", "person", "decision").prefetch_related("rolled_back_by")
    return list(related.order_by("-pk")[:at_most])


def _documents(change: Change) -> tuple[tuple[DocumentView, ...], int]:
    """Return the differences that a change made; an adoption shows none, it is the whole folder, nor does an erasure:
    the commit before it lacks the text as well."""
    if change.kind in (ChangeKind.ADOPT, ChangeKind.ERASE):
        return (), len(change.paths) if change.kind == ChangeKind.ADOPT else 0
    paths = change.paths[:_DOCUMENTS_SHOWN]
    with reading(change.store) as repository:
        before, after = repository.snapshot(change.parent), repository.snapshot(change.oid)
        delta = {path: after.get(path) for path in paths if path in before or path in after}  # others were erased
        shown = documents.documents(before, delta, slug=change.store.slug)
        return with_around(shown, change, after), len(change.paths) - len(paths)


def _certificate(stored: dict[str, Any] | None) -> Certificate | None:
    if not stored or is_erased(stored):
        return None
    rewrites = stored.get("rewrites", [])
    return Certificate(
        rule=_("%(rule)s, version %(version)s") % {"rule": stored["rule"], "version": stored["version"]},
        sentence=RULE_WORDS.get(stored["rule"], ""),
        rewrites=tuple(_rewrite(rewrite) for rewrite in rewrites[:_REWRITES_SHOWN]),
        more=max(0, len(rewrites) - _REWRITES_SHOWN),
        digest=stored["digest"],
    )


def _rewrite(rewrite: dict[str, Any]) -> str:
    new = _("become “%(new)s”") % {"new": rewrite["new"]} if rewrite["new"] else _("go")
    return _("%(path)s: bytes %(start)s–%(end)s %(new)s") % {
        "path": rewrite["path"],
        "start": rewrite["start"],
        "end": rewrite["end"],
        "new": new,
    }


def rollback_view(change: Change, person: User, now: datetime) -> RollbackView:
    """Say what rolling back would do, or why it cannot be done, or who is in the way."""
    plan = rollback.plan(change)
    if plan.refused:
        return RollbackView(refusal=in_language(plan.refused))
    if plan.already is not None:
        return RollbackView(already=short_oid(plan.already.oid), already_url=links.change_url(plan.already))
    if not may_maintain(person, change.store):
        return RollbackView(refusal=_("Rolling back needs the store's owner or a maintainer of its team."))
    batch = rollback.batch(change)
    around = RollbackView(all_url=links.selected_url(batch), all_count=len(batch)) if len(batch) > 1 else RollbackView()
    if plan.conflicts:
        later = Change.objects.filter(pk__in=[one.pk for one in plan.later])
        return replace(
            around,
            paths=tuple(plan.conflicts),
            conflicts=_conflicts(change, list(plan.conflicts.items())[:_CONFLICTS_SHOWN]),
            later=change_rows(with_names(later), now),
            together=len(plan.together or ()),
        )
    if not plan.delta:
        gone = _("What this change wrote is gone already; there is nothing left to roll back.")
        return replace(around, refusal=gone)
    seen = tuple(finding_view(finding) for finding in plan.findings[:_FINDINGS_SHOWN])
    if any(finding.is_blocked_secret for finding in plan.findings):
        return replace(around, refusal=_(STOPPED_WORDS), findings=seen)
    is_blocked = any(finding.severity is Severity.BLOCK for finding in plan.findings)
    with reading(change.store) as repository:
        tree = repository.snapshot(repository.head() or "")
        shown = documents.documents(tree, plan.delta, slug=change.store.slug)
        return replace(
            around,
            does=documents.consequence(tree, plan.delta, shown),
            findings=seen,
            ask_url=links.selected_url([change.pk]) if is_blocked else "",
            is_risky=change.kind == ChangeKind.RESTORE,
        )


def _conflicts(change: Change, names: Iterable[tuple[str, str]]) -> tuple[ConflictView, ...]:
    """Show both sides of each conflict, each against the text that the change left.

    Args: names: of the documents, now and after the change.
    """
    with reading(change.store) as repository:
        head = repository.snapshot(repository.head() or "")
        before, after = repository.snapshot(change.parent), repository.snapshot(change.oid)
        return tuple(
            ConflictView(
                path,
                since=document_diff(path, after.get(given), head.get(path)),
                wanted=document_diff(path, after.get(given), before.get(given)),
            )
            for path, given in names
        )


def filter_words(store: str, path: str) -> str:
    """Say what a filtered history shows."""
    if path:
        return _("Changes of %(path)s in %(store)s") % {"path": path, "store": store}
    return _("Changes of %(store)s") % {"store": store} if store else _("Every applied change")


def rolled_back_words(change: Change, undone: Change) -> str:
    return _("Rolled back as %(oid)s, %(documents)s written: %(title)s") % {
        "oid": short_oid(change.oid),
        "documents": plural(len(change.paths), "document"),
        "title": title_in_language(undone.title),
    }
