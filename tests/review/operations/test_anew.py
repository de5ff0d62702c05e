"""A store whose baseline was lost: its record stays readable, and a new baseline begins with what stands on disk."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections
from django.test import Client

from memoryreview.baseline import steps
from memoryreview.baseline.lost import set_aside_before
from memoryreview.baseline.repository import Repository
from memoryreview.core.edits import Edit, Replacement, Write
from memoryreview.review.models import Change, ChangeKind, Decision, Intent, Proposal, State, Store, Verb
from memoryreview.review.operations import rollback
from memoryreview.review.operations.adopt import AdoptError
from memoryreview.review.operations.anew import begin_anew
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.errors import CannotApplyError, NotPermittedError
from memoryreview.review.operations.reconcile import reconcile_all
from memoryreview.review.operations.stores import baseline_dir
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve
from tests.review.operations.test_missing_ground import BASELINE_FAULTS, NOTE, Ground

pytestmark = pytest.mark.django_db(databases=["default", "queue"])

NOW = NOTE.replace("5432", "6432")


@pytest.fixture
def ground(make_store: MakeStore, propose: Propose, owner: User) -> Ground:
    return Ground.prepared(make_store, propose, owner)


def adopt_again(store: Store, *options: str) -> str:
    out = io.StringIO()
    call_command("adopt", store.root, *options, stdout=out)
    return out.getvalue()


def files(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(store.root).iterdir()}


def set_aside(store: Store) -> list[Path]:
    return list(set_aside_before(baseline_dir(store)))


def lose(store: Store) -> None:
    shutil.rmtree(baseline_dir(store))


# Where only the config is not ours, nothing is lost.
LOST = [name for name in BASELINE_FAULTS if name != "config changed"]
# Where one document is unreadable the commits are all there; the page of the store offers the new baseline.
LOSING = [name for name in LOST if name != "document gone"]


@pytest.mark.parametrize("fault", LOSING)
def test_c116_the_history_works_from_records_and_offers_a_new_baseline(
    ground: Ground, fault: str, owner_client: Client
) -> None:
    before = files(ground.store)
    BASELINE_FAULTS[fault](ground)
    page = owner_client.get("/history/").content.decode()
    assert ground.change.title in page
    assert "can no longer be undone" in page
    assert "Begin a new baseline" in page
    assert 'name="change" value="' not in page
    change = owner_client.get(f"/changes/{ground.change.oid}")
    assert change.status_code == 200
    assert ground.change.title in change.content.decode()
    assert "Begin a new baseline" in owner_client.get("/stores/notes/").content.decode()
    assert files(ground.store) == before


@pytest.mark.parametrize("fault", LOST)
def test_c116_adopting_again_begins_a_new_baseline_of_the_same_store(
    ground: Ground, fault: str, owner: User, owner_client: Client, propose: Propose
) -> None:
    before, recorded = files(ground.store), Change.objects.count()
    was_there = fault != "baseline deleted"
    BASELINE_FAULTS[fault](ground)

    told = adopt_again(ground.store)

    assert "Began a new baseline" in told
    assert "2 changes of before" in told
    assert files(ground.store) == before
    assert Store.objects.count() == 1
    assert Change.objects.count() == recorded + 1
    newest = Change.objects.latest("pk")
    assert (newest.kind, newest.person, newest.paths) == (ChangeKind.ADOPT, owner, ["a.md", "b.md"])
    assert len(set_aside(ground.store)) == was_there
    assert audit() == []

    proposal = Proposal.objects.get(pk=ground.proposal.pk)
    assert proposal.state == State.PENDING
    page = owner_client.get(f"/proposals/{proposal.pk}").content.decode()
    assert "7432" in page

    made = approve(propose(ground.store, replaced("b.md", "B.", "C.")), owner).change
    assert made is not None
    rollback.roll_back(made, person=owner)
    assert on_disk(ground.store, "b.md") == b"- B.\n"
    assert audit() == []


def test_c116_what_is_of_before_says_that_it_cannot_be_undone(
    ground: Ground, owner: User, owner_client: Client
) -> None:
    lose(ground.store)
    adopt_again(ground.store)

    page = owner_client.get(f"/changes/{ground.change.oid}").content.decode()
    assert "of before the present baseline" in page
    assert "Roll back:" not in page
    assert "Restore the store" not in page
    listed = owner_client.get("/history/").content.decode()
    assert listed.count("can no longer be undone") == 2
    assert "is lost" not in listed
    with pytest.raises(CannotApplyError, match="no longer be undone"):
        rollback.roll_back(ground.change, person=owner)
    assert on_disk(ground.store, "a.md") == NOW.encode()
    for query in ("", "?view=blame", "?view=history", f"?at={ground.change.oid}"):
        response = owner_client.get(f"/stores/notes/a.md{query}")
        assert response.status_code in {200, 409}
        assert b"adopt the folder anew" not in response.content
    decided = Proposal.objects.filter(state=State.APPLIED).get()
    assert "cannot be shown" in owner_client.get(f"/proposals/{decided.pk}").content.decode()


def test_c116_verify_says_where_history_begins(ground: Ground) -> None:
    lose(ground.store)
    adopt_again(ground.store)
    out = io.StringIO()
    call_command("verify", stdout=out)
    assert "notes: history begins on" in out.getvalue()
    assert "Everything holds" in out.getvalue()
    out = io.StringIO()
    call_command("verify", "--rebuild", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    assert answer["ok"] is True
    assert len(answer["notes"]) == 1


def test_c116_a_change_that_goes_missing_later_is_a_fault_all_the_same(
    ground: Ground, owner: User, propose: Propose
) -> None:
    lose(ground.store)
    adopt_again(ground.store)
    made = approve(propose(ground.store, replaced("b.md", "B.", "C.")), owner).change
    assert made is not None
    parent = made.parent
    (baseline_dir(ground.store) / "refs/heads/main").write_text(parent + "\n")
    assert any(made.oid in fault.message for fault in audit())


def test_c116_a_rewritten_history_is_lost_too(ground: Ground, owner_client: Client) -> None:
    """As after a rebase: the branch is whole, and the commits that were recorded are none of its."""
    with Repository(baseline_dir(ground.store)) as repository:
        tree = repository.commit(ground.head).tree
    named = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x", "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x"}
    git = ["git", "--git-dir", str(baseline_dir(ground.store))]
    made = subprocess.run(
        [*git, "commit-tree", tree, "-m", "x"], env=os.environ | named, check=True, capture_output=True, text=True
    )
    (baseline_dir(ground.store) / "refs/heads/main").write_text(made.stdout)
    assert "Begin a new baseline" in owner_client.get("/stores/notes/").content.decode()
    assert "Began a new baseline" in adopt_again(ground.store)
    assert audit() == []


def test_c116_what_waits_is_kept_and_nothing_that_stands_is_lost_by_it(
    make_store: MakeStore, propose: Propose, owner: User
) -> None:
    store = make_store({"a.md": NOTE, "b.md": "- B.\n", "c.md": "- C.\n"})
    adds = propose(store, Edit(path="a.md", edits=(Replacement("the sink.\n", "the sink.\n- Logs go home.\n"),)))
    new = propose(store, Write(path="new.md", content="- New.\n"))
    replaces = propose(store, replaced("b.md", "B.", "D."))
    lose(store)
    (Path(store.root) / "c.md").write_text("- Written meanwhile.\n")
    adopt_again(store, "--name", "notes")

    assert approve(Proposal.objects.get(pk=adds.pk), owner).change is not None
    assert on_disk(store, "a.md") == (NOTE + "- Logs go home.\n").encode()
    assert approve(Proposal.objects.get(pk=new.pk), owner).change is not None
    with pytest.raises(Exception, match=r"(?i)conflict|same lines"):
        approve(Proposal.objects.get(pk=replaces.pk), owner)
    assert Proposal.objects.get(pk=replaces.pk).state == State.PENDING
    assert on_disk(store, "b.md") == b"- B.\n"
    assert on_disk(store, "c.md") == b"- Written meanwhile.\n"
    assert capture(store) == []
    assert audit() == []


def test_c116_a_whole_baseline_is_left_alone(ground: Ground) -> None:
    with pytest.raises(AdoptError, match="whole"):
        adopt_again(ground.store)
    with pytest.raises(AdoptError, match="adopted already as"):
        adopt_again(ground.store, "--name", "other")
    assert set_aside(ground.store) == []
    assert Change.objects.count() == 2


def test_c116_a_baseline_that_may_not_be_read_is_not_lost(ground: Ground) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (baseline_dir(ground.store) / "config").chmod(0)
    with pytest.raises(AdoptError):
        adopt_again(ground.store)
    assert set_aside(ground.store) == []


def test_c116_a_baseline_whose_config_was_changed_is_not_lost(ground: Ground, owner_client: Client) -> None:
    BASELINE_FAULTS["config changed"](ground)
    with pytest.raises(AdoptError, match="copy the file of another baseline"):
        adopt_again(ground.store)
    page = owner_client.get("/stores/notes/").content.decode()
    assert "copy the file of another baseline" in page
    assert "/begin-anew" not in page
    assert set_aside(ground.store) == []


def test_c116_what_waits_on_disk_is_approved_by_a_person_and_by_no_command(
    ground: Ground, owner_client: Client
) -> None:
    (Path(ground.store.root) / "b.md").write_text("- Written by somebody.\n")
    (written,) = capture(ground.store)
    lose(ground.store)
    with pytest.raises(AdoptError, match=r"waits for a decision.*sign in"):
        adopt_again(ground.store)
    assert not baseline_dir(ground.store).exists()
    assert "also the direct writes that wait" in owner_client.get("/stores/notes/").content.decode()
    owner_client.post("/stores/notes/begin-anew")
    assert on_disk(ground.store, "b.md") == b"- Written by somebody.\n"
    assert owner_client.get(f"/proposals/{written.pk}").status_code == 200
    assert audit() == []


def test_c116_a_folder_without_documents_is_no_new_beginning(ground: Ground, owner_client: Client) -> None:
    lose(ground.store)
    root = Path(ground.store.root)
    root.rename(root.with_name("unmounted"))
    root.mkdir()
    with pytest.raises(AdoptError, match=r"holds no document any more.*Nothing was changed.*mount"):
        adopt_again(ground.store)
    assert b"holds no document any more" in owner_client.post("/stores/notes/begin-anew").content
    assert not baseline_dir(ground.store).exists()


def test_c116_secrets_that_stand_on_disk_are_told_as_in_any_adoption(ground: Ground) -> None:
    lose(ground.store)
    (Path(ground.store.root) / "b.md").write_text("- Key: AKIA" + "IOSFODNN7EXAMPLQ\n")
    assert "b.md:1" in adopt_again(ground.store)


def test_c116_losing_it_twice_keeps_both_remains(ground: Ground) -> None:
    for _ in range(2):
        (baseline_dir(ground.store) / "refs/heads/main").unlink()
        adopt_again(ground.store)
    assert len(set_aside(ground.store)) == 2
    assert Change.objects.filter(kind=ChangeKind.ADOPT).count() == 3
    assert audit() == []


class TestButton:
    def test_c116_a_maintainer_presses_it(self, ground: Ground, owner: User, owner_client: Client) -> None:
        lose(ground.store)
        assert owner_client.post("/stores/notes/begin-anew").status_code == 303
        page = owner_client.get("/stores/notes/").content.decode()
        assert "history begins on" in page
        assert "/begin-anew" not in page
        assert Decision.objects.latest("pk").person == owner
        again = owner_client.post("/stores/notes/begin-anew")
        assert again.status_code == 409 or b"whole" in again.content
        assert Change.objects.filter(kind=ChangeKind.ADOPT).count() == 2

    def test_c116_it_asks_for_the_password(self, ground: Ground, owner_client: Client, settings: Any) -> None:
        lose(ground.store)
        settings.STEP_UP_MINUTES = 0
        assert 'name="password"' in owner_client.get("/stores/notes/").content.decode()
        assert owner_client.post("/stores/notes/begin-anew").status_code == 403
        assert owner_client.post("/stores/notes/begin-anew", {"password": "wrong"}).status_code == 403
        assert not baseline_dir(ground.store).exists()

    def test_c116_nobody_else_may(self, ground: Ground, stranger: User) -> None:
        lose(ground.store)
        with pytest.raises(NotPermittedError):
            begin_anew(ground.store, person=stranger)
        client = Client()
        client.force_login(stranger)
        assert client.post("/stores/notes/begin-anew").status_code == 404
        assert not baseline_dir(ground.store).exists()


STEPS = ["anew.set_aside", "repository.written", "object.stored", "intent.recorded", "ref.moved", "change.recorded"]


def test_a_beginning_that_was_cut_short_leaves_nothing_in_the_journal(ground: Ground, owner: User) -> None:
    lose(ground.store)
    Intent.objects.create(store=ground.store, kind=ChangeKind.ADOPT, oid="1" * 40, landing={})

    begin_anew(ground.store, person=owner)

    assert not Intent.objects.exists()


@pytest.mark.django_db(transaction=True, databases=["default", "queue"])
@pytest.mark.parametrize("step", STEPS)
def test_c116_a_kill_at_any_step_is_finished_by_adopting_again(ground: Ground, step: str) -> None:
    before = files(ground.store)
    (baseline_dir(ground.store) / "refs/heads/main").unlink()
    connections.close_all()
    child = multiprocessing.get_context("fork").Process(target=_killed, args=(ground.store.pk, step))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL

    reconcile_all()
    with suppress(AdoptError):  # `reconcile` finished it
        adopt_again(ground.store)

    assert Change.objects.filter(kind=ChangeKind.ADOPT).count() == 2
    assert Decision.objects.filter(verb=Verb.ADOPT).count() == 2
    assert not Intent.objects.exists()
    assert files(ground.store) == before
    assert any((path / "objects").is_dir() for path in set_aside(ground.store))
    assert audit() == []


def _killed(pk: int, step: str) -> None:
    def kill(name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    steps.on_step = kill
    begin_anew(Store.objects.get(pk=pk), person=None)
