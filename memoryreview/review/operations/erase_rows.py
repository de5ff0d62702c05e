"""Rows of one store without a text: every column that can hold it, whichever model has it, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import unquote_plus

from django.apps import apps
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import models
from django_q.models import Task

from memoryreview.baseline.rewalk import Walked
from memoryreview.core.erasure import Eraser
from memoryreview.review.models import (
    Change,
    ChangeKind,
    Decision,
    Erasure,
    Proposal,
    Revision,
    RevisionDocument,
    SavedView,
    SearchedDocument,
    SearchedProposal,
    SearchedStore,
    State,
    Store,
    Verb,
)

from . import ledger, proposals, queue_search, search
from .certificate import ERASED, digest, is_erased
from .keyed import keyed_digest

_SHORTEST_FREE_TEXT = 64  # shorter columns hold words and ids of our own
_OID_CHARS = 40
_KEPT = frozenset({"root", "evidence_root", "push_to", "switched_off"})  # of a store: where it is, and words of our own
_FOREIGN = frozenset({"source", "scores"})
_PATHS = frozenset({"path", "was", "promoted_path"})
_APART = frozenset({Decision, SearchedDocument, SearchedProposal, SearchedStore})
"""Decisions are chained, see `ledger.rekey`; what is searched is folded, so it goes whole and is read anew."""

_BATCH = 200
_DEPTH = 3
TOLD = "toast"
"""The key under which a session keeps what its next page tells."""


@dataclass(slots=True)
class Found:
    """Ids of the proposals whose rows hold the text, and of the decisions whose notes do; how many others do."""

    proposals: set[int] = field(default_factory=set)
    decisions: set[int] = field(default_factory=set)
    others: int = 0


def survey(store: Store, eraser: Eraser) -> Found:
    """Count the rows that hold the text. Changes nothing."""
    return _Pass(store, eraser, Walked(), writes=False).run()


def clean(store: Store, eraser: Eraser, walked: Walked, erasure: Erasure, *, head: str) -> tuple[Found, list[int]]:
    """Take the text out of every row of a store, and let rows name the commits of the new history.

    Call inside the transaction that puts the erasure in force. Returns what held the text, and the ids of the changes
    whose certificate went with it. The chain of decisions is keyed anew; that of the erasure names `head` then.
    """
    decision = erasure.decision
    assert decision is not None, "the decision comes before its rows"  # noqa: S101
    search.forget(store)
    queue_search.forget(store)
    work = _Pass(store, eraser, walked, writes=True)
    found = work.run()
    withdrawn = work.withdraw(decision.pk, erasure.doubted)
    for proposal in Proposal.objects.filter(promoted_from=store).exclude(store=store):
        if proposal.promoted_commit in walked.moved:
            commit = walked.moved[proposal.promoted_commit]
            Proposal.objects.filter(pk=proposal.pk).update(promoted_commit=commit)
    if eraser.path:
        work.close(decision)
    ledger.rekey(work.mender(decision, head, withdrawn_digest(withdrawn)))
    return found, withdrawn


def clean_late(store: Store, eraser: Eraser, walked: Walked) -> bool:
    """Clean what somebody stored who had read the old history just before it went; whether there was anything."""
    work = _Pass(store, eraser, walked, writes=True)
    work.run()
    return work.saved > 0


def withdrawn_digest(changes: list[int]) -> str:
    """Return the digest by which a decision names the changes whose certificate it withdrew."""
    return keyed_digest(",".join(map(str, sorted(changes))).encode())


def withdraw(change: Change, decision: int) -> None:
    """Mark a certificate as gone with an erased text; its digest stays what its commit names."""
    stated = change.certificate or {}
    mark = {"erased": decision, "rule": stated.get("rule", ""), "digest": stated.get("digest", "")}
    Change.objects.filter(pk=change.pk).update(certificate=mark)


def clean_sessions(eraser: Eraser) -> None:
    """Take the text out of sessions. What a page was still to tell goes whole: its title may be cut within the text."""
    for session in Session.objects.all():
        told = session.get_decoded()
        cleaned = eraser.value({key: value for key, value in told.items() if key != TOLD}, foreign=True)
        if cleaned != told:
            session.session_data = SessionStore().encode(cleaned)
            session.save(update_fields=["session_data"])


def clean_views(eraser: Eraser) -> None:
    """Forget filters that somebody keeps and that look for the text."""
    for view in SavedView.objects.all():
        if eraser.is_sought(f"{view.name} {unquote_plus(view.query)}"):
            view.delete()


def clean_queue(eraser: Eraser) -> None:
    """Forget tasks that ended with a message which holds the text."""
    for task in Task.objects.all():
        told = f"{task.name} {task.args} {task.kwargs} {task.result}"
        if eraser.prose(told) != told:
            task.delete()


def _routes() -> Iterator[tuple[type[models.Model], str]]:
    """Yield every model of the product whose rows belong to a store, and how they name it."""
    for model in apps.get_app_config("review").get_models():
        if model in _APART:
            continue
        route = "pk" if model is Store else _route(model, _DEPTH)
        if route:
            yield model, route


def _route(model: type[models.Model], depth: int) -> str:
    relations = [one for one in model._meta.fields if one.is_relation]  # noqa: SLF001  # Django's documented access
    if any(one.name == "store" for one in relations):
        return "store"
    for relation in relations:
        target = cast("type[models.Model]", relation.related_model)
        below = _route(target, depth - 1) if depth > 1 and target is not model else ""
        if below:
            return f"{relation.name}__{below}"
    return ""


class _Pass:
    """One look at every row of a store. With `writes` the rows are changed as well."""

    def __init__(self, store: Store, eraser: Eraser, walked: Walked, *, writes: bool) -> None:
        self._store, self._eraser, self._walked, self._writes = store, eraser, walked, writes
        self._moved = walked.moved
        self._found = Found()
        self.saved = 0

    def run(self) -> Found:
        self._found.proposals = self._affected()
        for model, route in _routes():
            self._clean_model(model, route)
        for decision in Decision.objects.filter(store=self._store).exclude(note=""):
            if self._note(decision) != decision.note:
                self._found.decisions.add(decision.pk)
        if self._writes:
            self._fingerprint()
        return self._found

    def _affected(self) -> set[int]:
        """Return the proposals that bring the text, or take it away: their titles may quote a part of it."""
        if self._eraser.path:
            named = Proposal.objects.filter(store=self._store).values_list("pk", "paths")
            found = {pk for pk, paths in named if self._eraser.path in paths}
            documents = RevisionDocument.objects.filter(
                revision__proposal__store=self._store, path=self._eraser.path
            ).values_list("revision__proposal", flat=True)
            return found | set(documents)
        found = set()
        for revision in Revision.objects.filter(proposal__store=self._store).iterator(_BATCH):
            if self._eraser.value(revision.actions) != revision.actions:
                found.add(revision.proposal_id)
        held = RevisionDocument.objects.filter(revision__proposal__store=self._store, content__isnull=False)
        for proposal, content in held.values_list("revision__proposal", "content").iterator(_BATCH):
            if content is not None and self._eraser.holds(bytes(content)):
                found.add(proposal)
        return found

    def _clean_model(self, model: type[models.Model], route: str) -> None:
        columns = [one for one in model._meta.fields if _may_hold(one)]  # noqa: SLF001
        names = [one.attname for one in columns]
        waiting: list[models.Model] = []
        for row in model._default_manager.filter(**{route: self._store.pk}).iterator(_BATCH):  # noqa: SLF001
            before = [getattr(row, name) for name in names]
            after = [self._value(row, name, value) for name, value in zip(names, before, strict=True)]
            if after == before:
                continue
            self._count(row, [self._renamed(value) for value in before], after)
            for name, value in zip(names, after, strict=True):
                setattr(row, name, value)
            waiting.append(row)
            if len(waiting) == _BATCH:
                self._save(model, waiting, names)
        self._save(model, waiting, names)

    def _save(self, model: type[models.Model], rows: list[models.Model], names: list[str]) -> None:
        if rows and self._writes:
            model._default_manager.bulk_update(rows, names, batch_size=_BATCH)  # noqa: SLF001
            self.saved += len(rows)
        rows.clear()

    def _count(self, row: models.Model, before: list[Any], after: list[Any]) -> None:
        if before == after:
            return  # only ids of commits differ
        proposal = {Proposal: "pk", Revision: "proposal_id"}.get(type(row))
        if proposal is not None:
            self._found.proposals.add(getattr(row, proposal))
        elif isinstance(row, RevisionDocument):
            self._found.proposals.add(row.revision.proposal_id)
        else:
            self._found.others += 1

    def _value(self, row: models.Model, name: str, value: Any) -> Any:
        """Return what a column holds without the text."""
        if value is None or value == "":
            return value
        if isinstance(row, RevisionDocument) and name == "content":
            is_dropped = self._eraser.path != "" and row.path == self._eraser.path
            return self._eraser.mark.encode() if is_dropped else self._eraser.document(bytes(value))
        if isinstance(value, bytes | memoryview):
            return self._eraser.document(bytes(value))
        if isinstance(value, str):
            return self._text(row, name, value)
        if self._eraser.path and isinstance(row, Proposal) and name == "source" and row.pk in self._found.proposals:
            return {}
        cleaned = self._renamed(self._eraser.value(value, name, foreign=name in _FOREIGN))
        if isinstance(row, Proposal) and name == "source" and row.pk in self._found.proposals and "key" in cleaned:
            return {**cleaned, "key": keyed_digest(str(cleaned["key"]).encode())}  # it could confirm a guess, too
        if isinstance(row, Revision) and name == "actions" and row.proposal_id in self._found.proposals:
            return [self._action(action) for action in cleaned]
        return cleaned

    def _text(self, row: models.Model, name: str, value: str) -> str:
        if len(value) == _OID_CHARS and value in self._moved:
            return self._moved[value]
        if name in _PATHS:
            return self._eraser.place(value)
        is_affected = isinstance(row, Proposal) and row.pk in self._found.proposals
        if isinstance(row, Change) and row.kind != ChangeKind.ADOPT:
            is_affected = row.oid in self._walked.touched or row.proposal_id in self._found.proposals
        if is_affected and self._eraser.path and name in ("title", "claimed_title", "rationale", "failure"):
            return self._eraser.mark
        return self._eraser.title(value) if is_affected and name.endswith("title") else self._eraser.prose(value)

    def _action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Return an action of a proposal that brought the text; what it quotes may be a part of it only."""
        if not self._eraser.path:
            told = {**action, "title": self._eraser.title(action.get("title", ""))}
            if "reasons" in told:
                told["reasons"] = [self._eraser.title(one) for one in told["reasons"]]
            return told
        if action.get("path") != self._eraser.path:
            return {**action, "title": self._eraser.mark}
        mark = self._eraser.mark
        gone = {**action, "old": action["old"] and mark, "new": action["new"] and mark, "title": mark}
        if "proof" in gone:
            gone["proof"] = {**gone["proof"], "rewrites": []}
        return {**gone, "reasons": []} if "reasons" in gone else gone

    def _renamed(self, value: Any) -> Any:
        """Return a JSON value that names the commits of the new history."""
        match value:
            case str():
                return self._moved.get(value, value) if len(value) == _OID_CHARS else value
            case list():
                return [self._renamed(one) for one in value]
            case dict():
                return {key: self._renamed(one) for key, one in value.items()}
            case _:
                return value

    def _fingerprint(self) -> None:
        for proposal in Proposal.objects.filter(pk__in=self._found.proposals):
            delta = proposal.written.delta()
            fingerprint = proposals.fingerprint(proposal.store, delta)
            Proposal.objects.filter(pk=proposal.pk).update(fingerprint=fingerprint)

    def withdraw(self, decision: int, doubted: Collection[int]) -> list[int]:
        """Mark the certificates of changes that touched the text, or held it: digests of what is gone stood in them."""
        gone: list[int] = []
        touched = {self._moved[old] for old in self._walked.touched}
        for change in Change.objects.filter(store=self._store, certificate__isnull=False):
            stated = change.certificate or {}
            is_touched = change.oid in touched
            if is_touched:
                change.certificate = {**stated, "digest": ERASED}  # as the trailer of its commit says now
            if is_erased(stated):
                Change.objects.filter(pk=change.pk).update(certificate=change.certificate)
            elif change.pk not in doubted and (is_touched or digest(stated) != stated.get("digest")):
                withdraw(change, decision)
                gone.append(change.pk)
        return gone

    def close(self, decision: Decision) -> None:
        """Close what waits about a document that is gone."""
        waiting = Proposal.objects.filter(pk__in=self._found.proposals).live()
        for proposal in waiting.select_related("store"):
            proposals.move(
                proposal,
                to=State.WITHDRAWN,
                verb=Verb.ERASE,
                person=decision.person,
                note="The document was erased from the whole history.",
            )

    def _note(self, decision: Decision) -> str:
        is_about = self._eraser.path != "" and decision.proposal_id in self._found.proposals
        return self._eraser.mark if is_about and decision.note else self._eraser.prose(decision.note)

    def mender(self, top: Decision, head: str, shown: str) -> Callable[[Decision], bool]:
        """Return what `ledger.rekey` does to each decision."""

        def mend(decision: Decision) -> bool:
            if decision.store_id != self._store.pk:
                return False
            before = (decision.note, decision.change, decision.shown)
            if decision.pk == top.pk:
                decision.change, decision.shown = head, shown
                return True
            if decision.verb != Verb.ERASE:
                decision.note = self._note(decision)
            decision.change = self._moved.get(decision.change, decision.change)
            if decision.shown and decision.proposal_id in self._found.proposals and decision.verb != Verb.ERASE:
                decision.shown = keyed_digest(decision.shown.encode())  # it could confirm a guess of what is gone
            return before != (decision.note, decision.change, decision.shown)

        return mend


def _may_hold(column: models.Field[Any, Any]) -> bool:
    if column.primary_key or column.is_relation or isinstance(column, models.SlugField) or column.name in _KEPT:
        return False
    if isinstance(column, models.CharField):
        return column.max_length == _OID_CHARS or (column.max_length or 0) >= _SHORTEST_FREE_TEXT
    return isinstance(column, models.TextField | models.JSONField | models.BinaryField)
