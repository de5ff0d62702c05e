"""What `verify` names and what `--rebuild` brings back: database against git, both ways."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client

from memoryreview.baseline import commits
from memoryreview.core.edits import Rename, Write
from memoryreview.review.models import Change, ChangedPath, Decision, Proposal, RenamedPath, Store, Verb
from memoryreview.review.operations import rollback
from memoryreview.review.operations.audit import Fault, audit
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.rebuild import rebuild
from memoryreview.review.operations.stores import baseline_dir, locked
from tests.baseline.git_checks import AT, git
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve

NOTE = "- Moved on 13/04/2025.\n- Port 5432.\n"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"a.md": NOTE, "b.md": "- B.\n"})


@pytest.fixture
def lived(store: Store, propose: Propose, owner: User) -> Store:
    """A store with a change of each sort: by proof, approved, a rename, a rollback."""
    propose(store, replaced("a.md", "13/04/2025", "2025-04-13"))
    change = approve(propose(store, replaced("a.md", "5432", "6432")), owner).change
    assert change is not None
    approve(propose(store, Rename("b.md", "c.md")), owner)
    rollback.roll_back(change, person=owner)
    return store


def kinds(faults: list[Fault]) -> set[str]:
    return {fault.kind for fault in faults}


def foreign_commit(store: Store, text: bytes = b"- Written past everybody.\n") -> str:
    """Commit with our own writer and nothing else, as an enemy or a restored database would leave it."""
    with locked(store) as shop:
        head = shop.head()
        oid = commits.write_commit(
            shop.repository,
            parent=head,
            delta={"a.md": text},
            subject="Approved, honestly",
            body="",
            trailers={"Change-Kind": "approved", "Person": "olga", "Decision-Id": "1"},
            at=AT,
        )
        assert commits.advance(shop.repository, expected=head, new=oid)
    (Path(store.root) / "a.md").write_bytes(text)
    return oid


def verified(*arguments: str) -> tuple[int, dict[str, object]]:
    out, code = StringIO(), 0
    try:
        call_command("verify", "--json", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as stopped:
        code = int(str(stopped.code))
    return code, json.loads(out.getvalue())


def test_a_life_without_faults_has_none(lived: Store) -> None:
    assert audit() == []
    assert rebuild(lived) == []


def test_verify_of_a_packed_history_is_the_same(lived: Store) -> None:
    git(baseline_dir(lived), "gc", "-q", "--prune=now")
    (baseline_dir(lived) / "packed-refs").unlink(missing_ok=True)
    git(baseline_dir(lived), "update-ref", "refs/heads/main", Change.objects.latest("pk").oid)
    assert audit() == []


def test_every_row_of_changes_can_be_lost_and_comes_back_in_order(lived: Store) -> None:
    columns = ("oid", "parent", "kind", "title", "paths", "at")
    lost = list(Change.objects.filter(store=lived).order_by("pk").values_list("pk", *columns))
    names = set(RenamedPath.objects.values_list("path", "was"))
    Change.objects.filter(pk__in=[lost[1][0], lost[3][0]]).delete()
    assert kinds(audit()) == {"history"}

    told = rebuild(lived)

    found = list(Change.objects.filter(store=lived).order_by("pk").values_list("pk", *columns))
    assert [row[:3] for row in found] == [row[:3] for row in lost]
    assert len(told) == 2
    assert all("Recorded commit" in sentence for sentence in told)
    assert audit() == []
    assert set(RenamedPath.objects.values_list("path", "was")) == names == {("c.md", "b.md")}


def test_a_change_whose_decision_is_known_comes_back_with_it(store: Store, propose: Propose, owner: User) -> None:
    decided = approve(propose(store, replaced("a.md", "5432", "6432")), owner)
    assert decided.change is not None
    Change.objects.filter(pk=decided.change.pk).delete()

    rebuild(store)

    change = Change.objects.get(oid=decided.change.oid)
    assert (change.decision, change.person, change.proposal) == (decided.change.decision, owner, decided.proposal)
    assert (change.unread, change.agent) == (False, decided.proposal.agent)
    assert not Decision.objects.filter(verb=Verb.IMPORT).exists()


def test_f10_commits_that_yesterdays_database_does_not_know_become_history(
    store: Store, propose: Propose, owner: User
) -> None:
    """The rows since yesterday are gone, decisions and proposals as well; git is never rewritten."""
    change = approve(propose(store, replaced("a.md", "5432", "6432")), owner).change
    assert change is not None
    head = git(baseline_dir(store), "rev-parse", "refs/heads/main")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":  # elsewhere references are looked at when the transaction ends
            cursor.execute("PRAGMA defer_foreign_keys = ON")
        for table in ("changedpath", "change", "decision", "revisiondocument", "revision", "proposal"):
            condition = (
                "kind = 'approved'" if table == "change" else "verb = 'approve'" if table == "decision" else "true"
            )
            if table == "changedpath":
                condition = f"change_id = {change.pk}"
            cursor.execute(f"DELETE FROM review_{table} WHERE {condition}")
    assert [fault.kind for fault in audit()] == ["history"]

    (sentence,) = rebuild(store)

    assert "Its decision is lost: it is listed as landed unread." in sentence
    again = Change.objects.get(oid=change.oid)
    assert (again.unread, again.person, again.kind) == (True, None, "approved")
    assert again.decision is not None
    assert again.decision.verb == Verb.IMPORT
    assert git(baseline_dir(store), "rev-parse", "refs/heads/main") == head
    assert audit() == []
    assert rebuild(store) == []
    approve(propose(store, replaced("a.md", "6432", "7432")), owner)
    assert audit() == []


def test_a_forged_commit_never_gets_the_name_that_it_claims(store: Store, owner_client: Client) -> None:
    oid = foreign_commit(store)
    assert [fault.kind for fault in audit()] == ["history"]

    rebuild(store)

    change = Change.objects.get(oid=oid)
    assert (change.person, change.unread) == (None, True)
    page = owner_client.get("/history/?show=unread").content.decode()
    assert "Approved, honestly" in page


def test_a_decision_that_was_used_is_not_taken_by_another_commit(store: Store, propose: Propose, owner: User) -> None:
    change = approve(propose(store, replaced("a.md", "5432", "6432")), owner).change
    assert change is not None
    used = change.decision_id
    with locked(store) as shop:
        copied = shop.repository.message(change.oid)
        head = shop.head()
        body = {"Change-Kind": "approved", "Proposal-Id": str(change.proposal_id), "Decision-Id": str(used)}
        oid = commits.write_commit(
            shop.repository, parent=head, delta={"a.md": b"x\n"}, subject="Copy", body="", trailers=body, at=AT
        )
        assert commits.advance(shop.repository, expected=head, new=oid)
    assert f"Decision-Id: {used}" in copied
    rebuild(store)
    imported = Change.objects.get(oid=oid).decision
    assert imported is not None
    assert imported.verb == Verb.IMPORT


def test_f11_changes_that_an_older_baseline_lacks_are_named_and_stay_readable(
    store: Store, propose: Propose, owner: User, owner_client: Client, tmp_path: Path
) -> None:
    saved = tmp_path / "yesterday.git"
    shutil.copytree(baseline_dir(store), saved)
    proposal = propose(store, replaced("a.md", "5432", "6432"))
    change = approve(proposal, owner).change
    assert change is not None
    shutil.rmtree(baseline_dir(store))
    shutil.copytree(saved, baseline_dir(store))

    faults = audit()

    assert kinds(faults) == {"history", "disk"}
    assert any(change.oid in fault.where and "memoryreview capture" in fault.message for fault in faults)
    assert owner_client.get("/history/").status_code == 200
    assert owner_client.get(f"/proposals/{proposal.pk}").status_code == 200
    (again,) = capture(store)
    assert (again.state, again.revision.delta()) == ("pending", {"a.md": on_disk(store, "a.md")})
    approve(again, owner)
    assert {fault.kind for fault in audit()} == {"history"}
    assert on_disk(store, "a.md") == NOTE.replace("5432", "6432").encode()


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda row: Change.objects.filter(pk=row.pk).update(kind="captured"), "history"),
        (lambda row: Change.objects.filter(pk=row.pk).update(parent="1" * 40), "history"),
        (lambda row: Change.objects.filter(pk=row.pk).update(paths=[]), "history"),
        (lambda row: Change.objects.filter(pk=row.pk).update(proposal=None), "history"),
        (lambda row: ChangedPath.objects.filter(change=row).delete(), "derived"),
        (lambda row: ChangedPath.objects.filter(change=row).update(path="other.md"), "derived"),
    ],
)
def test_a_row_that_says_something_else_than_its_commit_is_named(
    store: Store, propose: Propose, owner: User, spoil: object, kind: str
) -> None:
    row = approve(propose(store, replaced("a.md", "5432", "6432")), owner).change
    assert callable(spoil)
    spoil(row)
    assert kind in kinds(audit())


def test_rebuild_corrects_rows_and_index(lived: Store) -> None:
    row = Change.objects.filter(kind="approved").latest("pk")
    paths = row.paths
    ChangedPath.objects.filter(change=row).delete()
    RenamedPath.objects.all().delete()
    Change.objects.filter(pk=row.pk).update(kind="captured", parent="", paths=[])

    told = rebuild(lived)

    assert [sentence.split(" ")[0] for sentence in told] == ["Corrected", "Indexed"]
    row.refresh_from_db()
    assert (row.kind, row.paths) == ("approved", paths)
    assert audit() == []


def test_rebuild_summarises_what_waits(store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("a.md", "5432", "6432"), Write("new.md", "New.\n"))
    before = Proposal.objects.filter(pk=proposal.pk).values("title", "kinds", "paths", "risk", "added", "deletes")[0]
    Proposal.objects.filter(pk=proposal.pk).update(title="", kinds=[], paths=[], risk=0, added=0)

    (sentence,) = rebuild(store)

    assert sentence.startswith(f"Summarised proposal {proposal.pk}")
    assert Proposal.objects.filter(pk=proposal.pk).values(*before)[0] == before
    assert rebuild(store) == []


def test_left_overs_locks_and_a_changed_head_are_named(store: Store) -> None:
    git_dir = baseline_dir(store)
    (git_dir / "mr-ref-0123456789abcdef").write_text("x")
    (git_dir / "index.lock").touch()
    (git_dir / "HEAD").write_text("ref: refs/heads/other\n")
    (git_dir / "refs/heads/other").write_text(git(git_dir, "rev-parse", "refs/heads/main").decode())
    (git_dir / "objects/info/alternates").write_text("/somewhere/else\n")
    (Path(store.root) / ".mr-0123456789abcdef.tmp").write_text("half")
    faults = audit(store)
    assert kinds(faults) == {"left-over", "lock", "git"}
    told = " ".join(fault.message for fault in faults)
    for name in ("mr-ref-", "index.lock", "HEAD", "refs/heads/other", "alternates"):
        assert name in told


@pytest.mark.django_db(databases=["default", "queue"])
def test_verify_prints_the_contract_and_what_it_rebuilt(lived: Store) -> None:
    assert verified() == (0, {"ok": True, "faults": []})
    Change.objects.latest("pk").delete()
    code, told = verified(lived.slug)
    assert (code, told["ok"]) == (1, False)
    faults = told["faults"]
    assert isinstance(faults, list)
    assert [set(fault) for fault in faults] == [{"kind", "where", "message"}]
    code, told = verified("--rebuild")
    assert (code, told["ok"], told["faults"]) == (0, True, [])
    rebuilt = told["rebuilt"]
    assert isinstance(rebuilt, list)
    assert len(rebuilt) == 1


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite lets references be switched off")
def test_a_row_that_refers_to_nothing_is_named(transactional_db: None, make_store: MakeStore) -> None:
    store = make_store({"a.md": "- A.\n"})
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys = OFF")
        cursor.execute("UPDATE review_change SET decision_id = 999 WHERE store_id = %s", [store.pk])
        cursor.execute("PRAGMA foreign_keys = ON")
    assert [fault.kind for fault in audit()] == ["database"]
    Change.objects.update(decision=None)
