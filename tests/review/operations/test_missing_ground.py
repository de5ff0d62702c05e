"""Ground that is missing: whatever is gone, locked or changed, each door says so in a sentence and the others work."""

from __future__ import annotations

import errno
import io
import os
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryreview.baseline import commits as baseline_commits
from memoryreview.baseline.refs import STALE_AFTER_S
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Agent, Change, Decision, Proposal, Store
from memoryreview.review.operations import accounts
from memoryreview.review.operations.stores import baseline_dir
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve, shown

pytestmark = pytest.mark.django_db(databases=["default", "queue"])

NOTE = "# Ports\n\n- Staging listens on 5432.\n- Mail goes to the sink.\n"
GIT_DIR_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock")
OLD_S = STALE_AFTER_S + 60


class Ground:
    """A store with a change, a waiting proposal and an agent, before and after a fault."""

    def __init__(self, store: Store, proposal: Proposal, change: Change, token: str) -> None:
        self.store, self.proposal, self.change, self.token = store, proposal, change, token
        self.shown, self.version = shown(proposal), proposal.version
        self.head = change.oid

    @classmethod
    def prepared(cls, make_store: MakeStore, propose: Propose, owner: User) -> Ground:
        store = make_store({"a.md": NOTE, "b.md": "- B.\n"})
        change = approve(propose(store, replaced("a.md", "5432", "6432")), owner).change
        assert change is not None
        made = accounts.add_agent("codex", person=owner)
        return cls(store, propose(store, replaced("a.md", "6432", "7432")), change, made.token)

    @property
    def git_dir(self) -> Path:
        return baseline_dir(self.store)

    @property
    def root(self) -> Path:
        return Path(self.store.root)

    def object_of(self, oid: str) -> Path:
        return self.git_dir / "objects" / oid[:2] / oid[2:]


@pytest.fixture
def ground(make_store: MakeStore, propose: Propose, owner: User) -> Ground:
    return Ground.prepared(make_store, propose, owner)


def _blob(ground: Ground) -> str:
    from memoryreview.baseline.repository import Repository

    with Repository(ground.git_dir) as repository:
        return repository.snapshot(ground.head).entries["a.md"].oid


def _touch(path: Path, age_s: float = 0.0) -> None:
    path.touch()
    then = time.time() - age_s
    os.utime(path, (then, then))


def _away(path: Path) -> None:
    path.rename(path.with_name(path.name + ".away"))


def _link(ground: Ground) -> None:
    _away(ground.root)
    ground.root.symlink_to(ground.root.with_name(ground.root.name + ".away"))


def _file(ground: Ground) -> None:
    _away(ground.root)
    ground.root.write_text("no folder")


def _other_folder(ground: Ground) -> None:
    _away(ground.root)
    ground.root.mkdir()


def _empty(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(b"")


def _swap_for_file(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("no folder")


def _lock(ground: Ground, age_s: float) -> None:
    for name in GIT_DIR_LOCKS:
        _touch(ground.git_dir / name, age_s)


def _set_back(ground: Ground) -> None:
    later = timezone.now() + timedelta(days=400)
    Change.objects.filter(pk=ground.change.pk).update(at=later)


BASELINE_FAULTS: dict[str, Callable[[Ground], object]] = {
    "baseline deleted": lambda ground: shutil.rmtree(ground.git_dir),
    "baseline replaced by a file": lambda ground: _swap_for_file(ground.git_dir),
    "objects deleted": lambda ground: shutil.rmtree(ground.git_dir / "objects"),
    "head commit gone": lambda ground: ground.object_of(ground.head).unlink(),
    "head commit emptied": lambda ground: _empty(ground.object_of(ground.head)),
    "branch of zeros": lambda ground: (ground.git_dir / "refs/heads/main").write_bytes(bytes(41)),
    "branch deleted": lambda ground: (ground.git_dir / "refs/heads/main").unlink(),
    "branch points nowhere": lambda ground: (ground.git_dir / "refs/heads/main").write_text("1" * 40 + "\n"),
    "config changed": lambda ground: (ground.git_dir / "config").write_text("[core]\n\tbare = true\n"),
    "document gone": lambda ground: ground.object_of(_blob(ground)).unlink(),
}  # fmt: skip
FOLDER_FAULTS: dict[str, Callable[[Ground], object]] = {
    "folder moved": lambda ground: _away(ground.root),
    "folder became a link": _link,
    "folder became a file": _file,
    "another folder, empty": _other_folder,
}
WRITE_FAULTS: dict[str, Callable[[Ground], object]] = {
    "file read-only": lambda ground: (ground.root / "a.md").chmod(0o444),
    "folder read-only": lambda ground: ground.root.chmod(0o555),
    "dead lock of another git": lambda ground: _touch(ground.git_dir / "refs/heads/main.lock", OLD_S),
    "live lock of another git": lambda ground: _touch(ground.git_dir / "refs/heads/main.lock"),
}
HARMLESS: dict[str, Callable[[Ground], object]] = {
    "dead locks beside the branch": lambda ground: _lock(ground, OLD_S),
    "live locks beside the branch": lambda ground: _lock(ground, 0),
    "detached head": lambda ground: (ground.git_dir / "HEAD").write_text(ground.head + "\n"),
    "another branch checked out": lambda ground: (ground.git_dir / "HEAD").write_text("ref: refs/heads/other\n"),
    "head file gone": lambda ground: (ground.git_dir / "HEAD").unlink(),
    "clock set back": _set_back,
}
FAULTS = {**BASELINE_FAULTS, **FOLDER_FAULTS, **WRITE_FAULTS, **HARMLESS}


def _page(name: str, *arguments: object, query: str = "") -> Callable[[Ground, Client], tuple[int, str]]:
    def get(ground: Ground, client: Client) -> tuple[int, str]:
        filled = [argument(ground) if callable(argument) else argument for argument in arguments]
        response = client.get(reverse(name, args=filled) + query)
        return response.status_code, response.content.decode() if not response.streaming else ""

    return get


def _post(name: str, *arguments: object, **fields: object) -> Callable[[Ground, Client], tuple[int, str]]:
    def post(ground: Ground, client: Client) -> tuple[int, str]:
        filled = [argument(ground) if callable(argument) else argument for argument in arguments]
        body = {key: value(ground) if callable(value) else value for key, value in fields.items()}
        response = client.post(reverse(name, args=filled), body)
        if response.status_code in {302, 303}:
            response = client.get(response.headers["Location"])
        return response.status_code, response.content.decode()

    return post


def _api(method: str, path: str, body: Any = None) -> Callable[[Ground, Client], tuple[int, str]]:
    def call(ground: Ground, _client: Client) -> tuple[int, str]:
        options: dict[str, Any] = {"headers": {"authorization": f"Bearer {ground.token}"}}
        if body is not None:
            options |= {"data": body(ground), "content_type": "application/json"}
        response = getattr(Client(), method)(f"/api/v1/{path}", **options)
        return response.status_code, response.content.decode()

    return call


def _command(name: str, *arguments: object) -> Callable[[Ground, Client], tuple[int, str]]:
    def run(ground: Ground, _client: Client) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        filled = [str(argument(ground)) if callable(argument) else str(argument) for argument in arguments]
        try:
            call_command(name, *filled, stdout=out, stderr=err)
        except SystemExit as stopped:
            return (200 if stopped.code in (0, 1) else 500), out.getvalue() + err.getvalue()
        except MemoryReviewError as error:  # `cli.main` prints it and exits with 1
            return 200, str(error)
        return 200, out.getvalue()

    return run


def _slug(ground: Ground) -> str:
    return ground.store.slug


def _proposal(ground: Ground) -> int:
    return ground.proposal.pk


def _proposed(ground: Ground) -> dict[str, object]:
    write = {"op": "write", "path": "new.md", "content": "- New.\n"}
    return {"store": ground.store.slug, "title": "New", "operations": [write]}


DOORS = {
    "queue": _page("queue"),
    "stores": _page("stores"),
    "store": _page("store", _slug),
    "document": _page("document", _slug, "a.md"),
    "history of a document": _page("document", _slug, "a.md", query="?view=history"),
    "proposal": _page("proposal", _proposal),
    "edit": _page("edit", _proposal),
    "history": _page("history"),
    "change": _page("change", lambda ground: ground.head),
    "restore": _page("restore", _slug, lambda ground: ground.change.parent),
    "health": _page("health"),
    "settings": _page("store-settings", _slug),
    "tidy page": _page("tidy"),
    "approve": _post("approve", _proposal, version=lambda g: g.version, shown=lambda g: g.shown),
    "reject": _post("reject", _proposal, version=lambda g: g.version, reason="wrong"),
    "roll back": _post("rollback", lambda ground: ground.head),
    "API propose": _api("post", "proposals", _proposed),
    "API preview": _api("post", "preview", _proposed),
    "API store": _api("get", "stores/notes"),
    "API files": _api("get", "stores/notes/files"),
    "API file": _api("get", "stores/notes/files/a.md"),
    "capture": _command("capture"),
    "tidy": _command("tidy"),
    "verify": _command("verify"),
    "rebuild": _command("verify", "--rebuild"),
    "doctor": _command("doctor"),
    "history command": _command("history"),
    "queue command": _command("queue"),
    "adopt again": _command("adopt", lambda ground: ground.root),
}


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_commits, "LOCK_WAIT_S", 0.1)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_door_answers_with_words_and_another_store_goes_on(
    ground: Ground, fault: str, make_store: MakeStore, propose: Propose, owner: User, owner_client: Client
) -> None:
    other = make_store({"a.md": NOTE}, name="other")
    waiting = propose(other, replaced("a.md", "5432", "6432"))
    before = {path.name: path.read_bytes() for path in ground.root.iterdir()}
    FAULTS[fault](ground)
    broken: list[str] = []
    for name, door in DOORS.items():
        if name == "approve":
            continue
        try:
            status, text = door(ground, owner_client)
        except Exception as error:  # noqa: BLE001  # which doors break is what is asked
            broken.append(f"{name}: {type(error).__name__}: {error}")
            continue
        if status >= 500 and status != 503:
            broken.append(f"{name}: {status}")
        if "Traceback" in text or "This is a fault of memoryreview" in text:
            broken.append(f"{name}: {text[:200]}")
    assert broken == []
    away = ground.root.with_name(ground.root.name + ".away")
    standing = away if away.exists() else ground.root
    if fault not in HARMLESS:
        assert {path.name: path.read_bytes() for path in standing.iterdir()} == before or fault == "document gone"
    approve(waiting, owner)
    assert on_disk(other, "a.md") == NOTE.replace("5432", "6432").encode()


WHAT_TO_DO = (
    *("from a backup, or adopt the folder anew", "copy the file of another baseline", "mend that, then try again"),
    *("put the folder itself back", "ring the folder back", "ring the files back", "remove the file", "try again"),
)


@pytest.mark.parametrize("fault", [*BASELINE_FAULTS, *FOLDER_FAULTS, *WRITE_FAULTS])
def test_approving_on_missing_ground_changes_nothing_and_says_so(
    ground: Ground, fault: str, owner_client: Client
) -> None:
    FAULTS[fault](ground)
    status, text = DOORS["approve"](ground, owner_client)
    assert status in {200, 409, 503}
    assert (
        "othing was changed" in text
        or "othing was written" in text
        or "emory folder is unchanged" in text
        or "othing was recorded as deleted" in text
    )
    assert any(words in text for words in WHAT_TO_DO)
    assert status == 503 or fault != "live lock of another git"
    assert Change.objects.filter(store=ground.store).count() == 2
    assert Proposal.objects.get(pk=ground.proposal.pk).state == "pending"
    document = ground.root / "a.md"
    if document.exists():
        assert document.read_bytes() == NOTE.replace("5432", "6432").encode()


@pytest.mark.parametrize("fault", HARMLESS)
def test_approving_goes_on_where_the_fault_does_not_matter(ground: Ground, fault: str, owner_client: Client) -> None:
    FAULTS[fault](ground)
    status, _ = DOORS["approve"](ground, owner_client)
    assert status == 200
    assert on_disk(ground.store, "a.md") == NOTE.replace("5432", "7432").encode()


SENTENCES = {
    "baseline deleted": "no baseline",
    "head commit gone": "no commit",
    "branch of zeros": "damaged",
    "config changed": "config",
    "folder moved": "No such file",
    "folder became a link": "link",
    "folder became a file": "folder",
    "another folder, empty": "gone from the folder",
}


@pytest.mark.parametrize("fault", SENTENCES)
@pytest.mark.parametrize("door", ["doctor", "verify"])
def test_the_fault_is_named(ground: Ground, fault: str, door: str, owner_client: Client) -> None:
    FAULTS[fault](ground)
    DOORS["capture"](ground, owner_client)
    _, text = DOORS[door](ground, owner_client)
    assert SENTENCES[fault].lower() in text.lower()
    assert ground.store.slug in text


@pytest.mark.parametrize("fault", [name for name in SENTENCES if name in BASELINE_FAULTS])
def test_the_store_page_says_what_is_wrong(ground: Ground, fault: str, owner_client: Client) -> None:
    FAULTS[fault](ground)
    status, text = DOORS["store"](ground, owner_client)
    assert status == 200
    assert SENTENCES[fault].lower() in text.lower()


def test_one_lost_baseline_stops_no_capture_of_another_store(
    ground: Ground, make_store: MakeStore, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_store({"a.md": NOTE}, name="other")
    (Path(other.root) / "b.md").write_text("- Written.\n")
    shutil.rmtree(ground.git_dir)
    with pytest.raises(SystemExit, match="1"):
        call_command("capture")
    told = capsys.readouterr()
    assert "notes: There is no baseline" in told.err
    assert "other" in told.out
    assert Proposal.objects.filter(store=other).count() == 1


def test_a_folder_that_is_away_is_paused_and_nothing_is_recorded_as_deleted(
    ground: Ground, owner_client: Client
) -> None:
    away = ground.root.with_name("unmounted")
    ground.root.rename(away)
    DOORS["capture"](ground, owner_client)
    assert Proposal.objects.filter(store=ground.store).count() == 2
    for page in ("store", "stores", "health"):
        assert "paused" in DOORS[page](ground, owner_client)[1]
    away.rename(ground.root)
    DOORS["capture"](ground, owner_client)
    assert Store.objects.get(pk=ground.store.pk).alarm == ""
    assert Proposal.objects.filter(store=ground.store).count() == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_or_broken_disk_refuses_the_approval_and_takes_it_later(
    ground: Ground, number: int, owner: User, owner_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_fd: int, _content: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", refuse)
        status, text = DOORS["approve"](ground, owner_client)
    assert status in {409, 503}
    assert os.strerror(number) in text
    assert on_disk(ground.store, "a.md") == NOTE.replace("5432", "6432").encode()
    approve(Proposal.objects.get(pk=ground.proposal.pk), owner)
    assert on_disk(ground.store, "a.md") == NOTE.replace("5432", "7432").encode()


def test_a_clock_that_was_set_back_keeps_the_order_and_is_named(
    ground: Ground, owner_client: Client, propose: Propose, owner: User
) -> None:
    _set_back(ground)
    approve(ground.proposal, owner)
    rows = list(Change.objects.filter(store=ground.store).newest_first().values_list("oid", flat=True))
    assert rows[1] == ground.head
    assert "clock" in DOORS["doctor"](ground, owner_client)[1]
    assert Decision.objects.exists()
    assert Agent.objects.filter(name="codex").exists()
