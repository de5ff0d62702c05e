"""Erasing, killed at any step or pressed twice: the history is old or new, never half, and new means gone."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from memoryreview.baseline import steps
from memoryreview.review.models import Change, ChangeKind, Erasure, ErasureState, Revision, Store
from memoryreview.review.operations import erase, moved
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.reconcile import reconcile
from memoryreview.review.operations.stores import aside_dir, locked
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve
from tests.review.operations.test_erase import SECRET, do_erase, head, traces
from tests.review.operations.test_reconcile import killed_at
from tests.template import migrated

ROOT = Path(__file__).parents[3]
NOTE = f"# People\n\n- {SECRET}.\n- Sam likes tea.\n"


@pytest.mark.django_db(databases=["default", "queue"])
def test_kill_at_each_step(
    make_store: MakeStore, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, came_through = 0, set()
    while True:
        number += 1
        store = make_store({"people.md": NOTE}, name=f"s{number}")
        approve(propose(store, replaced("people.md", "tea", "coffee")), owner)
        before = head(store)

        def act(one: Store = store) -> object:
            return do_erase(one, owner)

        if not killed_at(number, act, monkeypatch):
            break

        reconcile(store)

        assert audit(store) == []
        assert not aside_dir(store).exists()
        assert Erasure.objects.get(store=store).state in (ErasureState.DONE, ErasureState.DROPPED)
        is_new = head(store) != before
        came_through.add(is_new)
        assert Change.objects.filter(store=store, kind=ChangeKind.ERASE).exists() == is_new
        if not is_new:
            assert on_disk(store, "people.md") == NOTE.replace("tea", "coffee").encode()
            do_erase(store, owner)
        assert traces(store) == []
        assert audit(store) == []
    assert number > 15
    assert came_through == {True, False}


@pytest.mark.django_db(databases=["default", "queue"])
def test_left_overs_that_the_system_keeps_stop_no_erasure(
    make_store: MakeStore, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store({"people.md": NOTE})
    remove = shutil.rmtree

    def refuse(path: Path, **options: Any) -> None:
        if path == aside_dir(store):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        remove(path, **options)

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refuse)
        do_erase(store, owner)
    assert Erasure.objects.get().state == ErasureState.DONE
    assert aside_dir(store).exists()

    reconcile(store)

    assert not aside_dir(store).exists()
    assert traces(store) == []


@pytest.mark.django_db(databases=["default", "queue"])
def test_an_erasure_that_the_system_stops_half_way_says_that_it_is_in_force(
    make_store: MakeStore, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store({"people.md": NOTE})

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(
            steps, "on_step", lambda name: name == "erasure.recorded" and patched.setattr(os, "link", refuse)
        )
        with pytest.raises(CannotApplyError, match=r"is in force, but not finished: .*No space left.*by itself"):
            do_erase(store, owner)

    reconcile(store)

    assert Erasure.objects.get().state == ErasureState.DONE
    assert traces(store) == []


@pytest.mark.django_db(databases=["default", "queue"])
def test_what_an_agent_writes_after_a_kill_is_not_overwritten(
    make_store: MakeStore, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store({"people.md": NOTE, "b.md": NOTE})

    def stop(name: str) -> None:
        if name == "rewrite.rest_dropped":
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(steps, "on_step", stop)
        with pytest.raises(KeyboardInterrupt):
            do_erase(store, owner)
    (Path(store.root) / "b.md").write_text("Written meanwhile.\n")

    reconcile(store)

    assert on_disk(store, "b.md") == b"Written meanwhile.\n"
    assert SECRET.encode() not in on_disk(store, "people.md")
    assert Erasure.objects.get().left == [
        "“b.md” was written while the text was being erased. Look whether it still stands there."
    ]


@pytest.mark.django_db(databases=["default", "queue"])
def test_old_text_that_a_kill_left_aside_goes_with_the_next_lock(
    make_store: MakeStore, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store({"people.md": NOTE})

    def stop(name: str) -> None:
        if name == "document.exchanged":
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(steps, "on_step", stop)
        with pytest.raises(KeyboardInterrupt):
            do_erase(store, owner)
    assert len(list(Path(store.root).iterdir())) == 2

    with locked(store):
        pass

    assert [path.name for path in Path(store.root).iterdir()] == ["people.md"]
    assert Erasure.objects.get().state == ErasureState.DONE
    assert traces(store) == []


@pytest.mark.django_db(databases=["default", "queue"])
def test_what_an_agent_writes_meanwhile_is_cleaned_too(
    make_store: MakeStore, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store({"people.md": NOTE})

    def write(name: str) -> None:
        if name == "erasure.recorded":
            (Path(store.root) / "people.md").write_text(NOTE + "More.\n")
            (Path(store.root) / "new.md").write_text(f"New: {SECRET}\n")

    monkeypatch.setattr(steps, "on_step", write)
    do_erase(store, owner)

    assert traces(store) == []
    assert on_disk(store, "people.md").endswith(b"More.\n")


@pytest.mark.django_db(databases=["default", "queue"])
def test_what_was_stored_by_who_had_read_the_old_history_is_cleaned(
    make_store: MakeStore, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store({"people.md": NOTE})
    late = propose(store, replaced("people.md", "tea", "coffee")).revision
    old, content = late.base, late.delta()["people.md"]

    def store_late(name: str) -> None:
        if name == "erasure.recorded":
            Revision.objects.filter(pk=late.pk).update(base=old, submitted_base=old)
            late.documents.update(content=content)

    monkeypatch.setattr(steps, "on_step", store_late)
    do_erase(store, owner)

    late.refresh_from_db()
    assert traces(store) == []
    assert (late.base, late.base == old) == (moved.current(store, old), False)
    assert approve(late.proposal, owner).change is not None
    assert audit(store) == []


@pytest.mark.django_db(databases=["default", "queue"])
def test_a_second_press_finds_nothing_left(make_store: MakeStore, owner: User) -> None:
    store = make_store({"people.md": NOTE})
    seen = erase.preview(store, person=owner, text=SECRET)
    stated = {"text": SECRET, "shown": seen.shown, "confirmation": store.slug}
    erase.erase(store, person=owner, **stated)

    with pytest.raises(CannotApplyError, match="stands nowhere"):
        erase.erase(store, person=owner, **stated)

    assert Change.objects.filter(kind=ChangeKind.ERASE).count() == 1
    assert audit(store) == []


SETUP = """
import django; django.setup()
from pathlib import Path
from django.contrib.auth.models import User
from memoryreview.core.edits import Edit, Replacement, Write
from memoryreview.review.models import Proposal
from memoryreview.review.operations import accounts, decide, receive
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.proposals import Submission
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import reading
from django_q.models import Task
from django.utils import timezone
import sys

secret, root, home = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
olga = User.objects.create_superuser("olga", password="correct horse battery")
store = adopt(root, name="notes").store
agent = accounts.add_agent("claude", person=olga).agent
def propose(*operations):
    submission = Submission(title="t " + secret, rationale="said " + secret, source={"evidence": secret})
    return receive.submit(receive.Request(store.slug, operations, submission=submission), agent=agent).proposal
def approve(proposal):
    with reading(store) as repository:
        shown = standing(proposal.revision, repository).shown
    decide.approve(proposal.pk, person=olga, version=proposal.version, shown=shown, confirmed=True)
for n in range(4):
    approve(propose(Edit("people.md", (Replacement("tea", f"tea {n}"),)), Write(f"n{n}.md", f"{n} {secret}\\n")))
rejected = propose(Write("no.md", f"no {secret}\\n"))
decide.reject(rejected.pk, person=olga, version=rejected.version, note="not " + secret)
propose(Write("waits.md", f"waits {secret}\\n"))
(root / "n1.md").write_text(f"direct {secret}\\n")
capture(store)
Task.objects.create(id="a" * 32, name="one", func="f", started=timezone.now(), stopped=timezone.now(), success=False,
                    result="failed: " + secret)
for name in ("web.log", "worker.log", "memoryreview.log.1"):
    (home / name).write_text(f"before\\n{secret} in a log\\nafter\\n")
"""

ERASE = """
import django; django.setup()
import os, signal, sys
from django.contrib.auth.models import User
from memoryreview.baseline import steps
from memoryreview.review.models import Store
from memoryreview.review.operations import erase
from memoryreview.review.operations.errors import BusyError, CannotApplyError

secret, deadly = sys.stdin.readline().rstrip("\\n"), sys.argv[1]
def on_step(name):
    if name == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
steps.on_step = on_step
store, olga = Store.objects.get(), User.objects.get()
try:
    erase.erase(store, person=olga, text=secret, shown=erase.token(secret, ""), confirmation="notes")
except (BusyError, CannotApplyError) as error:
    print(error)
else:
    print("done")
"""

AFTERWARDS = """
import django; django.setup()
import json
from memoryreview.review.models import Change, Erasure, Proposal, Store
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.reconcile import reconcile

store = Store.objects.get()
reconcile(store)
print(json.dumps({
    "faults": [fault.message for fault in audit()],
    "states": list(Erasure.objects.values_list("state", flat=True)),
    "kinds": list(Change.objects.order_by("pk").values_list("kind", flat=True)),
    "proposals": Proposal.objects.count(),
    "left": Erasure.objects.get().left,
}))
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """A data folder and a memory folder of their own, driven by processes of their own."""

    home: Path
    root: Path

    def run(self, script: str, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "MEMORYREVIEW_HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        environment["DJANGO_SETTINGS_MODULE"] = "memoryreview.settings"
        return subprocess.run(
            [sys.executable, "-c", script, *arguments], input=typed, capture_output=True, text=True, env=environment
        )

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Every file of both folders as it lies there, and every git object inflated."""
        for path in [*self.home.rglob("*"), *self.root.rglob("*")]:
            if path.is_file():
                content = path.read_bytes()
                yield str(path), content
                if len(path.parent.name) == 2 and path.parent.parent.name == "objects":
                    yield f"{path} inflated", zlib.decompress(content)
        for git_dir in self.home.glob("baselines/*.git"):
            command = ["git", f"--git-dir={git_dir}", "cat-file", "--batch", "--batch-all-objects"]
            yield f"{git_dir} objects", subprocess.run(command, capture_output=True, check=True).stdout

    def holding(self, text: str) -> list[str]:
        return [name for name, content in self.files() if text.encode() in content or text in name]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Installation]:
    """Make one installation, and give it back as it was at first on every call."""
    base = tmp_path_factory.mktemp("erase")
    made = Installation(base / "home", base / "memory")
    migrated(made.home)
    made.root.mkdir()
    (made.root / "people.md").write_text(NOTE)
    done = made.run(SETUP, SECRET, str(made.root), str(made.home))
    assert done.returncode == 0, done.stderr
    for path in (made.home, made.root):
        shutil.copytree(path, path.with_suffix(".first"))

    def again() -> Installation:
        for path in (made.home, made.root):
            shutil.rmtree(path)
            shutil.copytree(path.with_suffix(".first"), path)
        return made

    return again


def test_the_bytes_are_in_no_file_afterwards(prepared: Callable[[], Installation]) -> None:
    made = prepared()
    assert len(made.holding(SECRET)) > 8

    done = made.run(ERASE, "", typed=SECRET + "\n")

    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
    assert made.holding(SECRET) == []
    assert (made.home / "web.log").read_text() == f"before\n{'*' * len(SECRET)} in a log\nafter\n"
    told = json.loads(made.run(AFTERWARDS).stdout)
    assert (told["faults"], told["left"], told["states"]) == ([], [], ["done"])


@pytest.mark.parametrize(
    ("deadly", "is_new"),
    [
        ("rewrite.brought_in", False),
        ("erasure.recorded", True),
        ("rewrite.rest_dropped", True),
        ("erasure.replayed", True),
        ("erasure.done", True),
    ],
)
def test_after_kill_minus_nine(prepared: Callable[[], Installation], deadly: str, is_new: bool) -> None:
    made = prepared()
    killed = made.run(ERASE, deadly, typed=SECRET + "\n")
    assert killed.returncode == -signal.SIGKILL

    told = json.loads(made.run(AFTERWARDS).stdout)

    assert (told["faults"], told["left"], told["proposals"]) == ([], [], 7)
    assert told["states"] == ["done" if is_new else "dropped"]
    assert told["kinds"].count("erase") == is_new
    assert (made.holding(SECRET) == []) == is_new
    assert not [path for path in made.home.rglob("*erasing*") if path.exists()]
    if not is_new:
        done = made.run(ERASE, "", typed=SECRET + "\n")
        assert (done.stdout, made.holding(SECRET)) == ("done\n", [])


def test_two_processes_at_once_erase_once(prepared: Callable[[], Installation]) -> None:
    made = prepared()
    environment = {**os.environ, "MEMORYREVIEW_HOME": str(made.home), "PYTHONPATH": str(ROOT)}
    environment["DJANGO_SETTINGS_MODULE"] = "memoryreview.settings"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", ERASE, ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(2)
    ]

    said = sorted(one.communicate(SECRET + "\n")[0] for one in both)

    assert said[1] == "done\n"
    assert said[0].startswith(("It stands nowhere", "The store “notes” is busy"))
    assert made.holding(SECRET) == []
