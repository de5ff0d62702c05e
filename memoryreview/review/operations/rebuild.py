"""Derive anew what git and the decisions tell: the record of changes, their index, and what the queue shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from django.db import transaction

from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.message import trailers
from memoryreview.baseline.walk import Walked, walk
from memoryreview.core.classify import rename
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import (
    Agent,
    Change,
    ChangedPath,
    ChangeKind,
    Decision,
    Proposal,
    RenamedPath,
    Store,
    Verb,
)

from . import ledger, queue_search, search
from .errors import CannotApplyError
from .reconcile import reconcile_within
from .record import index_paths
from .standing import base_of, judge_for
from .stores import Workshop, locked
from .summary import show, summarise

_CLOCKS_DIFFER_BY = timedelta(seconds=2)
"""A commit keeps whole seconds."""


def rebuild(store: Store) -> list[str]:
    """Bring the derived rows of a store in line with its baseline; return a sentence for each thing done. Git stays.

    Effects in order, under the store's lock:

    1. Finish what a killed process began.
    2. Record every commit that has no change, in its place. One whose decision is lost as well is listed as landed
       unread, and says so in the chain of decisions: nobody is known to have approved it.
    3. Correct kind, parent and documents of the others, and the index of documents by change.
    4. Summarise the proposals that wait.
    5. Read the documents for searching again, where what is known of them differs, and let the next search
       read the proposals.

    Raises: CannotApplyError, BusyError.
    """
    with locked(store) as shop:
        reconcile_within(shop)
        try:
            history = list(walk(shop.repository, shop.head()))
        except BaselineError as error:
            raise CannotApplyError(str(error)) from error
        done = [*_missing(shop, history), *_recorded(shop, history), *_waiting(shop), *search.rebuild(shop)]
        queue_search.forget(shop.store)
        return done


def _missing(shop: Workshop, history: Sequence[Walked]) -> Iterator[str]:
    known = dict(Change.objects.filter(store=shop.store).values_list("oid", "pk"))
    if all(commit.oid in known for commit in history):
        return
    taken = set(Change.objects.values_list("pk", flat=True))
    places = [known.get(commit.oid) for commit in history]
    previous = 0
    for at, commit in enumerate(history):
        place = places[at]
        if place is None:
            following = next((pk for pk in places[at + 1 :] if pk is not None), None)
            if following is not None:
                place = next((pk for pk in range(previous + 1, following) if pk not in taken), None)
            if following is not None and place is None:
                yield f"Commit {commit.oid} was left out: no row is free where it stands in the history."
                continue
            change = _import(shop, commit, place)
            place = change.pk
            taken.add(place)
            lost = " Its decision is lost: it is listed as landed unread." if change.unread else ""
            yield f"Recorded commit {commit.oid} again: “{change.title}”.{lost}"
        previous = max(previous, place)


def _import(shop: Workshop, commit: Walked, place: int | None) -> Change:
    """Record one commit; `place` is its row, None for the next one."""
    store, stated = shop.store, trailers(commit.message)
    kind = _kind(stated) or ChangeKind.CAPTURED
    decision = _decision_of(store, commit, stated)
    # The certificate of a proof stood in the lost row, so nothing proves the change any more.
    is_known = decision is not None and not stated.get("Proof")
    renames = _renames(shop, commit)
    with transaction.atomic():
        if not is_known:
            imported = Decision(
                store=store, change=commit.oid, verb=Verb.IMPORT, note="Recorded anew from the baseline."
            )
            ledger.record(imported)
        change = Change.objects.create(
            pk=place,
            oid=commit.oid,
            parent=commit.parent,
            store=store,
            kind=kind,
            proposal=decision.proposal if decision else None,
            decision=decision if is_known else imported,
            agent=Agent.objects.filter(name=stated.get("Agent", "")).first(),
            person=decision.person if decision else None,
            title=commit.message.partition("\n")[0][:300],
            paths=sorted(commit.paths),
            unread=not is_known and kind != ChangeKind.ADOPT,
            at=commit.at,
        )
        index_paths([(change, renames)])
    return change


def _kind(stated: Mapping[str, str]) -> ChangeKind | None:
    try:
        return ChangeKind(stated.get("Change-Kind", ""))
    except ValueError:
        return None


def _decision_of(store: Store, commit: Walked, stated: Mapping[str, str]) -> Decision | None:
    """Return the decision that a commit names, None when that row is about something else.

    Numbers are given anew after a database was restored: the row must be as old as the commit, and not used.
    """
    number = stated.get("Decision-Id", "")
    if not number.isdecimal():
        return None
    found = Decision.objects.filter(
        pk=int(number), store=store, changes__isnull=True, at__lte=commit.at + _CLOCKS_DIFFER_BY
    ).first()
    return found if found is not None and stated.get("Proposal-Id", "") == str(found.proposal_id or "") else None


def _renames(shop: Workshop, commit: Walked) -> Mapping[str, str]:
    if not commit.parent:
        return {}
    before, after = shop.repository.snapshot(commit.parent), shop.repository.snapshot(commit.oid)
    return rename.find({path: after.get(path) for path in commit.paths}, before)


def _recorded(shop: Workshop, history: Sequence[Walked]) -> Iterator[str]:
    """Correct what rows say where git says something else."""
    rows = {change.oid: change for change in Change.objects.filter(store=shop.store).defer("certificate")}
    indexed: dict[int, set[str]] = {}
    for pk, path in ChangedPath.objects.filter(store=shop.store).values_list("change_id", "path"):
        indexed.setdefault(pk, set()).add(path)
    for commit in history:
        change = rows.get(commit.oid)
        if change is None:
            continue
        kind = _kind(trailers(commit.message)) or ChangeKind(change.kind)
        paths = change.paths if commit.paths <= set(change.paths) else sorted(commit.paths)
        if (change.kind, change.parent, change.paths) != (kind, commit.parent, paths):
            change.kind, change.parent, change.paths = kind, commit.parent, paths
            change.save(update_fields=["kind", "parent", "paths"])
            yield f"Corrected the record of commit {commit.oid} from git."
        if indexed.get(change.pk, set()) != set(paths):
            with transaction.atomic():
                ChangedPath.objects.filter(change=change).delete()
                RenamedPath.objects.filter(change=change).delete()
                index_paths([(change, _renames(shop, commit))])
            yield f"Indexed the documents of commit {commit.oid} again."


def _waiting(shop: Workshop) -> Iterator[str]:
    """Summarise what waits again where the queue shows something else. Masked text cannot be judged again."""
    for proposal in Proposal.objects.filter(store=shop.store, masked=False).live().order_by("pk"):
        before, revision = _shown(proposal), proposal.revision
        try:
            base = base_of(revision, shop.repository)
            base = shop.tree() if base is None else base
            delta = {path: new for path, new in revision.delta().items() if base.get(path) != new}
            found = judge_for(proposal, base, delta, now=revision.created_at)
        except MemoryReviewError as error:
            yield f"Proposal {proposal.pk} cannot be judged again: {error}"
            continue
        show(proposal, revision, summarise(shop.store, found, base, delta))
        if _shown(proposal) != before:
            yield f"Summarised proposal {proposal.pk} again: “{proposal.title}”."


def _shown(proposal: Proposal) -> tuple[object, ...]:
    return (
        proposal.title,
        proposal.kinds,
        proposal.paths,
        proposal.concerns,
        proposal.risk,
        proposal.lead_kind,
        proposal.alike,
        proposal.added,
        proposal.removed,
        proposal.deletes,
    )
