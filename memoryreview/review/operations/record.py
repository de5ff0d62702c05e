"""What is recorded once commits stand: the changes, their documents, and what follows for proposals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from memoryreview.baseline import steps
from memoryreview.review.models import Change, ChangedPath, Intent, Proposal, RenamedPath, Revision, State, Store, Verb

from . import undone
from .durability import relaxed


def complete(intents: Sequence[Intent], differing: Iterable[str]) -> list[Change]:
    """Record the changes and everything that follows from them, once: the intent rows are the ticket."""
    # The journal tells it again after a power cut: its rows went durable before, and go with this.
    with relaxed():
        gone = len(intents) - Intent.objects.filter(pk__in=[intent.pk for intent in intents]).delete()[0]
        oids = [intent.oid for intent in intents]
        store = intents[0].store
        known = {one.oid: one for one in Change.objects.filter(store=store, oid__in=oids)} if gone else {}
        fresh = [intent for intent in intents if intent.oid not in known]
        made = Change.objects.bulk_create(map(_change, fresh))
        index_paths((change, intent.landing.get("renames", {})) for change, intent in zip(made, fresh, strict=True))
        for change, intent in zip(made, fresh, strict=True):
            undoes = intent.landing["rolls_back"]
            if undoes:
                change.rolls_back.set(undoes)
                undone.follow(undoes)
        _advance_proposals(fresh)
        if fresh:
            note_differing(store, {path for intent in fresh for path in intent.landing["paths"]}, differing)
    steps.on_step("change.recorded")
    known |= {change.oid: change for change in made}
    return [known[oid] for oid in oids]


def _change(intent: Intent) -> Change:
    record, decision = intent.landing, intent.decision
    return Change(
        oid=intent.oid,
        parent=intent.expected,
        store=intent.store,
        kind=intent.kind,
        proposal=intent.proposal,
        decision=decision,
        agent_id=record["agent"],
        person_id=record["person"],
        title=record["title"],
        paths=record["paths"],
        certificate=record["certificate"],
        unread=decision is not None and decision.verb == Verb.PASSIVE and not record["certificate"],
        at=timezone.now(),
    )


def index_paths(renamed: Iterable[tuple[Change, Mapping[str, str]]]) -> None:
    """Record which documents each change touched, and which of them it renamed (new names by old ones)."""
    pairs = list(renamed)
    ChangedPath.objects.bulk_create(
        ChangedPath(change=change, store=change.store, path=path) for change, _ in pairs for path in change.paths
    )
    RenamedPath.objects.bulk_create(
        RenamedPath(change=change, store=change.store, path=new, was=old)
        for change, renames in pairs
        for old, new in renames.items()
    )


def _advance_proposals(intents: Iterable[Intent]) -> None:
    """Bring proposals to their state after the commits, and note with their actions which commit carries them."""
    landed: Counter[Proposal] = Counter()
    unmarked: set[int] = set()
    for intent in intents:
        proposal, record = intent.proposal, intent.landing
        if proposal is None:
            continue
        landed[proposal] += 1
        proposal.state, proposal.version, proposal.failure = State(record["after"]), proposal.version + 1, ""
        revision = proposal.revision
        revision.base = intent.oid
        if record.get("partial"):
            _settle_partly(proposal, revision, record["partial"], intent.oid)
            continue
        if not record.get("lands"):
            unmarked.add(revision.pk)
            continue
        for action in revision.actions:
            if action["kind"] in record["lands"] and action["path"] in record["paths"]:
                action.setdefault("commit", intent.oid)
        revision.save(update_fields=["base", "actions"])
    newest = Change.objects.filter(proposal=OuterRef("proposal")).order_by("-pk").values("oid")[:1]
    Revision.objects.filter(pk__in=unmarked).update(base=Subquery(newest))
    for state, count in {(proposal.state, count) for proposal, count in landed.items()}:
        alike = [proposal.pk for proposal, times in landed.items() if (proposal.state, times) == (state, count)]
        Proposal.objects.filter(pk__in=alike).update(
            state=state, version=F("version") + count, failure="", updated_at=timezone.now()
        )


def _settle_partly(proposal: Proposal, revision: Revision, partial: Mapping[str, Any], oid: str) -> None:
    """Note of each action whether it landed or was dropped. What was dropped is known when it is asked for again."""
    landed = [action for action in revision.actions if action.get("commit")]
    told = [{**action, "commit": oid} if action["outcome"] == "applied" else action for action in partial["actions"]]
    revision.actions = [*landed, *told]
    revision.save(update_fields=["base", "actions"])
    proposal.dropped, proposal.fingerprint = partial["dropped"], partial["fingerprint"]
    proposal.save(update_fields=["dropped", "fingerprint"])


def note_differing(store: Store, paths: Iterable[str], differing: Iterable[str]) -> None:
    known = Store.objects.values_list("differing", flat=True).get(pk=store.pk)
    settled = set(paths)
    store.differing = sorted({*(path for path in known if path not in settled), *differing})
    if store.differing != known:
        Store.objects.filter(pk=store.pk).update(differing=store.differing)
