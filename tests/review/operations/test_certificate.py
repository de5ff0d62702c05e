from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from memoryreview.baseline import commits
from memoryreview.core.edits import Delete, Rename, Write
from memoryreview.review.models import Change, ChangedPath, Store
from memoryreview.review.operations.audit import Fault, audit
from memoryreview.review.operations.certificate import digest, sha256
from memoryreview.review.operations.context import machine_time
from memoryreview.review.operations.stores import locked
from tests.conftest import MakeStore, Propose, on_disk, replaced
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


@pytest.mark.skipif(connection.vendor != "sqlite", reason="they are of a time when only SQLite was used")
def test_first_certificates_still_replay(store: Store) -> None:
    """They named nothing of what they depended on, and their commits name them by another hash."""
    stated = {
        "rule": "date.normalize",
        "version": 1,
        "rewrites": [{"path": "a.md", "start": 11, "end": 21, "new": "2025-04-13"}],
        "base": {"a.md": sha256(NOTE.encode())},
        "result": {"a.md": sha256(NOTE.replace("13/04/2025", "2025-04-13").encode())},
        "digest": "c55299eef5e969495b0ab464694ef36b03e2461bca49c920c85ecee49a7b7184",
    }
    land_by_hand(store, NOTE.replace("13/04/2025", "2025-04-13").encode(), stated)

    assert audit(store) == []


def land_by_hand(store: Store, new: bytes, stated: dict[str, Any]) -> None:
    """Leave behind what an older version did: a commit, its file and its row."""
    with locked(store) as shop:
        head, at = shop.head(), timezone.now()
        oid = commits.write_commit(
            shop.repository,
            parent=head,
            delta={"a.md": new},
            subject="Write a date",
            body="",
            trailers={"Change-Kind": "auto", "Proof": stated["digest"]},
            at=at,
        )
        assert commits.advance(shop.repository, expected=head, new=oid)
    (Path(store.root) / "a.md").write_bytes(new)
    row = Change.objects.create(
        oid=oid, parent=head, store=store, kind="auto", title="Write a date", paths=["a.md"], certificate=stated, at=at
    )
    ChangedPath.objects.create(change=row, store=store, path="a.md")


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


def index_of(*rows: str) -> str:
    return "# Memory index\n\n" + "".join(f"- [{row}]({row}.md) — about {row}\n" for row in rows)


ROW = "- [gone](gone.md) — about gone\n"


def topic(name: str) -> str:
    return f"---\nname: {name}\ndescription: about {name}\ntype: project\n---\n\nText of {name}.\n"


@pytest.fixture
def claude(make_store: MakeStore, propose: Propose, owner: User) -> Store:
    """A store whose index points to a document that a person let go."""
    files = {f"{name}.md": topic(name) for name in ("gone", "kept")}
    store = make_store({"MEMORY.md": index_of("gone", "kept"), **files}, format="claude")
    approve(propose(store, Delete("gone.md")), owner)
    return store


def test_row_of_an_approved_deletion_goes_by_proof_and_is_proved_again(claude: Store, propose: Propose) -> None:
    proposal = propose(claude, replaced("MEMORY.md", ROW, ""))

    assert (proposal.state, on_disk(claude, "MEMORY.md")) == ("applied", index_of("kept").encode())
    assert audit() == []


def test_proof_by_history_holds_as_of_its_own_commit(claude: Store, propose: Propose, owner: User) -> None:
    propose(claude, replaced("MEMORY.md", ROW, ""))
    approve(propose(claude, Write("gone.md", topic("gone"))), owner)
    approve(propose(claude, Delete("gone.md")), owner)

    assert audit() == []


@pytest.mark.parametrize("kind", ["captured", "adopt"])
def test_proof_by_history_falls_with_the_history(claude: Store, propose: Propose, kind: str) -> None:
    propose(claude, replaced("MEMORY.md", ROW, ""))

    Change.objects.filter(store=claude, kind="approved").update(kind=kind)

    assert "The proof of index.prune does not hold." in [fault.message for fault in audit(claude)]


def test_proof_by_history_falls_with_the_rows_that_led_to_it(claude: Store, propose: Propose) -> None:
    propose(claude, replaced("MEMORY.md", ROW, ""))

    ChangedPath.objects.filter(path="gone.md").delete()

    assert "The proof of index.prune does not hold." in [fault.message for fault in audit(claude)]


def test_deletion_that_only_waits_prunes_nothing(make_store: MakeStore, propose: Propose) -> None:
    store = make_store({"MEMORY.md": index_of("gone", "kept"), "kept.md": topic("kept")}, format="claude")

    assert propose(store, replaced("MEMORY.md", ROW, "")).state == "pending"


def test_link_follows_an_approved_rename_by_proof_and_is_proved_again(
    make_store: MakeStore, propose: Propose, owner: User
) -> None:
    body = "Deploys read [the ports](old-ports.md) first.\n"
    store = make_store({"old-ports.md": topic("ports"), "deploy.md": topic("deploy") + body}, format="claude")
    update = replaced("deploy.md", "old-ports.md", "new-ports.md")
    approve(propose(store, Rename("old-ports.md", "new-ports.md")), owner)

    proposal = propose(store, update)

    kinds = [action["kind"] for action in proposal.revision.actions]
    assert (proposal.state, kinds, audit()) == ("applied", ["link.retarget"], [])

    approve(propose(store, Delete("new-ports.md")), owner)
    assert audit() == []


def test_yesterday_is_written_out_beside_the_day_on_which_it_was_approved(
    make_store: MakeStore, propose: Propose, owner: User
) -> None:
    today = machine_time().date()
    line, day = "- Yesterday the rollout failed, cause: expired certificate.", today - timedelta(days=1)
    store = make_store({"log.md": f"# Log\n\n## {today}\n\n{line}\n\n## 2020-05-20\n\n- It worked.\n"})
    approve(propose(store, replaced("log.md", "- It worked.", f"- It worked.\n{line} Again.")), owner)

    told = propose(store, replaced("log.md", f"{line}\n\n", f"- {day} (yesterday){line[11:]}\n\n"))
    late = propose(store, replaced("log.md", f"{line} Again.", f"- 2020-05-19 (yesterday){line[11:]} Again."))

    assert (told.state, told.revision.actions[0]["kind"], late.state) == ("applied", "date.normalize", "pending")
    assert any("first approved on" in reason for reason in late.revision.actions[0]["reasons"])
    assert audit() == []
