from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from memoryreview.review.models import Change, Store
from memoryreview.review.operations.audit import Fault, audit
from memoryreview.review.operations.certificate import digest
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve

NOTE = "- Moved on 13/04/2025.\n- Port 5432.\n"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"a.md": NOTE})


@pytest.fixture
def change(store: Store, propose: Propose) -> Change:
    return propose(store, replaced("a.md", "13/04/2025", "2025-04-13")).changes.get()


def kinds(faults: list[Fault]) -> list[str]:
    return [fault.kind for fault in faults]


def test_certificate_says_what_the_proof_depended_on(change: Change) -> None:
    assert change.certificate is not None
    within = change.certificate["context"]

    assert within["now"].startswith(change.at.isoformat()[:10])
    assert {key: within[key] for key in ("format", "evidence", "index_row_chars")} == {
        "format": "markdown",
        "evidence": "none",
        "index_row_chars": 200,
    }


def test_rule_that_was_switched_off_later_leaves_the_old_proof_whole(store: Store, change: Change) -> None:
    Store.objects.filter(pk=store.pk).update(switched_off=["date.normalize"])

    assert audit() == []


def test_proof_holds_after_everything_moved_on(store: Store, change: Change, propose: Propose, owner: User) -> None:
    approve(propose(store, replaced("a.md", "2025-04-13", "2025-04-14")), owner)

    assert audit() == []


@pytest.mark.parametrize(
    "forge",
    [
        lambda stated: stated["context"].update(now="2031-01-01T00:00:00+00:00"),
        lambda stated: stated["context"].update(evidence="found"),
        lambda stated: stated["rewrites"][0].update(end=1),
        lambda stated: stated.update(rule="format.blank"),
    ],
)
def test_forged_certificate_is_not_the_one_of_its_commit(store: Store, change: Change, forge: Any) -> None:
    assert change.certificate is not None
    forge(change.certificate)
    change.certificate["digest"] = digest(change.certificate)
    change.save()

    assert kinds(audit(store)) == ["certificate"]


@pytest.mark.parametrize("stated", [{}, [], {"rewrites": [{"path": "a.md", "start": 0, "end": 1, "new": 3}]}])
def test_unreadable_certificate_is_a_fault(store: Store, change: Change, stated: Any) -> None:
    Change.objects.filter(pk=change.pk).update(certificate=stated)

    assert kinds(audit(store)) == ["certificate"]


def test_dropped_certificate_is_missed(store: Store, change: Change) -> None:
    Change.objects.filter(pk=change.pk).update(certificate=None)

    assert kinds(audit(store)) == ["certificate"]


@pytest.mark.parametrize("stored", [["no.such.rule"], "date.normalize", [7], {"date.normalize": True}])
def test_setting_that_cannot_be_read_sends_every_rule_to_review(store: Store, propose: Propose, stored: Any) -> None:
    Store.objects.filter(pk=store.pk).update(switched_off=stored)

    proposal = propose(store, replaced("a.md", "13/04/2025", "2025-04-13"))

    assert (proposal.state, proposal.revision.verdict) == ("pending", "review")
