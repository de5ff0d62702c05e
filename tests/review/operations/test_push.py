"""A copy of a baseline on another repository: only where its owner wants it, in the worker, and never by force."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from memoryreview.baseline.mirror import is_remote
from memoryreview.review import tasks
from memoryreview.review.models import Change, Decision, Store
from memoryreview.review.operations.checkup import checkup
from memoryreview.review.operations.errors import CannotApplyError, NotPermittedError
from memoryreview.review.operations.push import LONGEST_PAUSE, PushTargetError, push, set_push
from tests.baseline.git_checks import git
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve

NOTE = "- Port 5432.\n"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"a.md": NOTE})


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "copy.git")], check=True)
    return tmp_path / "copy.git"


def fresh(store: Store) -> Store:
    return Store.objects.get(pk=store.pk)


def head_of(remote: Path) -> str:
    return git(remote, "rev-parse", "refs/heads/main").decode().strip()


def test_every_change_is_pushed_by_the_worker_and_only_once(
    store: Store, remote: Path, propose: Propose, owner: User
) -> None:
    assert tasks.push_baselines() == 0
    set_push(store, str(remote), person=owner)
    assert tasks.push_baselines() == 1
    assert tasks.push_baselines() == 0
    change = approve(propose(store, replaced("a.md", "5432", "6432")), owner).change
    assert change is not None
    assert tasks.push_baselines() == 1
    assert head_of(remote) == change.oid == fresh(store).pushed
    git(remote, "fsck", "--full", "--strict")
    set_push(fresh(store), "", person=owner)
    assert tasks.push_baselines() == 0
    assert [one.note for one in Decision.objects.filter(verb="configure").order_by("pk")][-1] == (
        "The baseline is pushed nowhere."
    )


def test_a_history_of_somebody_else_is_never_forced(
    store: Store, remote: Path, owner: User, owner_client: Client, make_store: MakeStore
) -> None:
    other = make_store({"b.md": "- Other.\n"}, name="other")
    set_push(other, str(remote), person=owner)
    assert push(fresh(other))
    before = head_of(remote)
    set_push(store, str(remote), person=owner)

    with pytest.raises(CannotApplyError, match="does not continue"):
        push(fresh(store))

    assert head_of(remote) == before
    assert "does not continue" in owner_client.get("/stores/notes/").content.decode()


@pytest.mark.django_db(databases=["default", "queue"])
def test_a_failure_is_shown_and_tried_again_with_growing_pauses(
    store: Store, remote: Path, owner: User, propose: Propose
) -> None:
    set_push(store, str(remote), person=owner)
    away = remote.rename(remote.with_name("away"))
    pauses = []
    for _ in range(12):
        Store.objects.update(push_after=None)
        assert tasks.push_baselines() == 0
        after = fresh(store).push_after
        assert after is not None
        pauses.append(round((after - timezone.now()) / timedelta(minutes=1)))
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, *[LONGEST_PAUSE / timedelta(minutes=1)] * 3]
    assert "cannot be pushed" in fresh(store).push_fault
    assert any("cannot be pushed" in sentence for sentence in checkup("2.39.5"))
    approve(propose(store, replaced("a.md", "5432", "6432")), owner)
    away.rename(remote)
    assert tasks.push_baselines() == 0  # it pauses
    Store.objects.update(push_after=timezone.now() + timedelta(days=30))  # the clock was set back since
    assert tasks.push_baselines() == 1
    assert (fresh(store).push_fault, head_of(remote)) == ("", Change.objects.latest("pk").oid)


@pytest.mark.parametrize(
    ("target", "is_one"),
    [
        ("https://git.example/team/memory.git", True),
        ("https://git.example:8443/memory.git", True),
        ("ssh://git@git.example/memory.git", True),
        ("git@git.example:team/memory.git", True),
        ("https://olga:secret@git.example/memory.git", False),
        ("https://token@git.example/memory.git", False),
        ("https://git.example/memory.git?token=abc", False),
        ("https://git.example/memory.git#abc", False),
        ("https://git.example/memory.git;private_token=abc", False),
        ("https://git.example/a:b@memory.git", False),
        ("ssh://git:secret@git.example/memory.git", False),
        ("ssh://git@git.example/memory.git?token=abc", False),
        ("git@git.example:team/memory.git?token=abc", False),
        ("http://git.example/memory.git", False),
        ("git://git.example/memory.git", False),
        ("ext::sh -c touch% /tmp/x", False),
        ("--upload-pack=touch /tmp/x", False),
        ("-oProxyCommand=x:y", False),
        ("ssh://-oProxyCommand=touch/x", False),
    ],
)
def test_what_is_an_address(target: str, is_one: bool) -> None:
    assert is_remote(target) is is_one


@pytest.mark.parametrize(
    "target",
    ["relative.git", "http://git.example/x", "https://a:b@git.example/x", "ext::sh -c x", "-x", "/a\0b"],
)
def test_other_targets_are_refused(store: Store, owner: User, target: str) -> None:
    with pytest.raises(PushTargetError, match="Nothing was saved"):
        set_push(store, target, person=owner)
    assert fresh(store).push_to == ""


@pytest.mark.parametrize(
    "target",
    [
        "https://git.example/memory.git?token=abc",
        "https://git.example/memory.git?private_token=abc&x=1",
        "https://git.example/memory.git;private_token=abc",
        "https://git.example/memory.git#abc",
        "https://abc@git.example/memory.git",
        "https://olga:abc@git.example/memory.git",
        "HTTPS://olga:abc@git.example/memory.git",
        "http://git.example/memory.git?token=abc",
        "ssh://git:abc@git.example/memory.git",
        "ssh://git@git.example/memory.git?token=abc",
        "git:abc@git.example:memory.git",
        "git@git.example:memory.git?token=abc",
    ],
)
def test_what_one_signs_in_with_is_no_part_of_an_address(store: Store, owner: User, target: str) -> None:
    with pytest.raises(PushTargetError, match=r"signs in with.*Nothing was saved"):
        set_push(store, target, person=owner)
    assert (fresh(store).push_to, Decision.objects.filter(verb="configure").count()) == ("", 0)


def test_hooks_of_a_repository_get_nothing_of_ours(
    store: Store, remote: Path, owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    hook = remote / "hooks" / "post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nenv > {seen}\n")
    hook.chmod(0o755)
    names = ("MEMORYREVIEW_SECRET", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "https_proxy", "GIT_TRACE2_ENV_VARS")
    for name in names:
        monkeypatch.setenv(name, "only-ours")
    set_push(store, str(remote), person=owner)
    assert push(fresh(store))
    assert "GIT_DIR=" in seen.read_text()
    assert "only-ours" not in seen.read_text()


def test_memory_is_no_place_for_a_copy(store: Store, owner: User) -> None:
    with pytest.raises(PushTargetError, match="no place"):
        set_push(store, f"{store.root}/copy.git", person=owner)


def test_only_the_owner_says_what_leaves(store: Store, remote: Path, stranger: User, owner: User) -> None:
    with pytest.raises(NotPermittedError):
        set_push(store, str(remote), person=stranger)
    late = Client()
    late.force_login(owner)
    assert late.post("/settings/notes/push", {"push_to": str(remote)}).status_code == 403
    assert fresh(store).push_to == ""


def test_leaving_it_off_after_a_restored_backup_ends_the_warning(
    store: Store, owner: User, owner_client: Client
) -> None:
    Store.objects.update(push_fault="A backup was restored, so nothing is pushed to “/x” any more.")
    assert "<b>No copy is made.</b> A backup was restored" in owner_client.get("/stores/notes/").content.decode()
    assert set_push(fresh(store), "", person=owner) == "The baseline is pushed nowhere."
    assert "No copy is made" not in owner_client.get("/stores/notes/").content.decode()


def test_the_settings_page_names_it_and_warns(store: Store, remote: Path, owner_client: Client) -> None:
    page = owner_client.get("/settings/notes/").content.decode()
    assert "This is private memory" in page
    answer = owner_client.post("/settings/notes/push", {"push_to": str(remote)})
    assert (answer.status_code, fresh(store).push_to) == (303, str(remote))
    refused = owner_client.post("/settings/notes/push", {"push_to": "http://x/y"})
    assert 400 <= refused.status_code < 500
    assert 'role="alert"' in refused.content.decode()
