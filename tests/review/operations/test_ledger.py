from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone

from memoryreview.core.edits import Delete
from memoryreview.review.models import Change, Decision, Proposal, State, Verb
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.ledger import broken_links
from memoryreview.review.operations.stores import baseline_dir
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve

NOTE = "- Moved on 13/04/2025.\n- Port 5432.\n"


def test_honest_history_has_no_fault(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"a.md": NOTE})
    propose(store, replaced("a.md", "13/04/2025", "2025-04-13"))
    approve(propose(store, replaced("a.md", "5432", "6432")), owner)

    assert audit() == []


def test_forged_approval_is_found(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"a.md": NOTE})
    proposal = propose(store, Delete("a.md"))
    last = Decision.objects.latest("pk")
    forged = Decision.objects.create(
        proposal=proposal, store=store, verb=Verb.APPROVE, person=owner, previous=last.mac, mac="f" * 64
    )

    assert [pk for pk, _ in broken_links()] == [forged.pk]


def test_changed_and_removed_rows_are_found(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"a.md": NOTE})
    approve(propose(store, replaced("a.md", "5432", "6432")), owner)
    approve(propose(store, replaced("a.md", "6432", "7432")), owner)
    middle = Decision.objects.order_by("pk")[1]

    Decision.objects.filter(pk=middle.pk).update(note="changed", at=timezone.now())
    assert [pk for pk, _ in broken_links()] == [middle.pk]

    Change.objects.filter(decision=middle).update(decision=None)
    Decision.objects.filter(pk=middle.pk).delete()
    assert len(list(broken_links())) == 1


def test_tampered_certificate_is_found(make_store: MakeStore, propose: Propose) -> None:
    store = make_store({"a.md": NOTE})
    change = propose(store, replaced("a.md", "13/04/2025", "2025-04-13")).changes.get()
    assert change.certificate is not None
    change.certificate["rewrites"][0]["new"] = "2025-04-14"
    change.save()

    assert [fault.kind for fault in audit(store)] == ["certificate"]


def test_damaged_object_and_foreign_write_are_found(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"a.md": NOTE, "b.md": "b\n"})
    Proposal.objects.filter(pk=propose(store, Delete("b.md")).pk).update(state=State.APPLYING)
    from pathlib import Path

    (Path(store.root) / "a.md").write_text("changed behind our back\n")

    assert {fault.kind for fault in audit(store)} == {"proposal", "disk"}

    for loose in (baseline_dir(store) / "objects").glob("??/*"):
        loose.chmod(0o600)
        loose.write_bytes(b"")
    assert {"git", "baseline"} & {fault.kind for fault in audit(store)}
