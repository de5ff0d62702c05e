"""Kills, full disks, foreign locks, second writers, hostile surroundings: head is old or new, and nothing is lost."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoryreview.baseline import commits as commits_module
from memoryreview.baseline import process
from memoryreview.baseline.commits import advance, sweep
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.history import fsck, log
from memoryreview.baseline.lock import LockBusyError, store_lock
from memoryreview.baseline.repository import Repository
from tests.baseline.git_checks import ROOT, assert_clean, commit, documents_by_git, git, start_python, write

COMMIT_AND_DIE = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from memoryreview.baseline import steps
from memoryreview.baseline.commits import advance, write_commit
from memoryreview.baseline.repository import Repository

deadly = int(sys.argv[2])
passed = []

def on_step(name):
    passed.append(name)
    if len(passed) == deadly:
        os.kill(os.getpid(), signal.SIGKILL)

with Repository(Path(sys.argv[1])) as repository:
    head = repository.head()
    steps.on_step = on_step
    oid = write_commit(repository, parent=head, delta={"deep/a.md": b"new\\n"}, subject="New", body="", trailers={},
                       at=datetime(2026, 1, 1, tzinfo=UTC))
    advance(repository, expected=head, new=oid)
    print(",".join(passed))
"""

STEPS_OF_A_COMMIT = [
    *(["object.written", "object.stored"] * 4),
    "ref.written",
    "ref.locked",
    "ref.moved",
    "ref.durable",
]

COMMIT_TWENTY_TIMES = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memoryreview.baseline.commits import advance, write_commit
from memoryreview.baseline.lock import store_lock
from memoryreview.baseline.repository import Repository

git_dir, who = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for n in range(20):
    with store_lock(git_dir), Repository(git_dir) as repository:
        head = repository.head()
        rows = repository.snapshot(head)["MEMORY.md"] + f"- {who} {n}\\n".encode()
        oid = write_commit(repository, parent=head, delta={"MEMORY.md": rows}, subject=f"{who} {n}", body="",
                           trailers={}, at=datetime(2026, 1, 1, tzinfo=UTC))
        assert advance(repository, expected=head, new=oid)
"""


def main_lock(repository: Repository) -> Path:
    return repository.git_dir / "refs" / "heads" / "main.lock"


def left_overs(git_dir: Path) -> list[str]:
    return sorted(
        path.name
        for path in git_dir.rglob("*")
        if path.name.startswith(("tmp_", "mr-ref-")) or path.name == "main.lock"
    )


def test_steps_of_a_commit_are_those_that_the_kill_test_goes_through(repository: Repository) -> None:
    commit(repository, {"a.md": b"old\n", "deep/a.md": b"old\n"})
    process = start_python(COMMIT_AND_DIE, str(repository.git_dir), "0")
    output, errors = process.communicate()
    assert errors == ""
    assert output.strip().split(",") == STEPS_OF_A_COMMIT


@pytest.mark.parametrize("deadly", range(1, len(STEPS_OF_A_COMMIT) + 1))
def test_kill_at_any_step_leaves_old_or_new_and_the_next_commit_works(repository: Repository, deadly: int) -> None:
    old = commit(repository, {"a.md": b"old\n", "deep/a.md": b"old\n"})
    process = start_python(COMMIT_AND_DIE, str(repository.git_dir), str(deadly))
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    moved = STEPS_OF_A_COMMIT[:deadly].count("ref.moved") == 1
    head = repository.head()
    assert (head != old) == moved
    assert head is not None
    expected = {"a.md": b"old\n", "deep/a.md": b"new\n" if moved else b"old\n"}
    assert dict(repository.snapshot(head)) == expected
    assert_clean(repository.git_dir)
    following = commit(repository, {"b.md": b"next\n"})
    assert documents_by_git(repository.git_dir, following) == {**expected, "b.md": b"next\n"}
    sweep(repository.git_dir)
    assert left_overs(repository.git_dir) == []
    assert_clean(repository.git_dir)


def test_sweep_returns_what_it_removed_and_leaves_the_rest(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"old\n", "deep/a.md": b"old\n"})
    for deadly in (1, 10):
        start_python(COMMIT_AND_DIE, str(repository.git_dir), str(deadly)).communicate()
    foreign = repository.git_dir / "objects" / "tmp_obj_foreign"
    foreign.write_bytes(b"")
    assert len(left_overs(repository.git_dir)) == 4
    removed = sorted(path.name.rstrip("0123456789abcdef") for path in sweep(repository.git_dir))
    assert removed == ["main.lock", "mr-ref-", "tmp_obj_mr_"]
    assert left_overs(repository.git_dir) == [foreign.name]
    assert repository.head() == head
    assert sweep(repository.git_dir) == ()


def test_sweep_waits_for_a_live_writer(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with store_lock(repository.git_dir):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    monkeypatch.setattr(time, "sleep", lambda _seconds: leave.set())
    assert sweep(repository.git_dir) == ()
    thread.join()


def test_sweep_that_the_system_refuses_is_an_error(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository.git_dir / "objects" / "tmp_obj_mr_1").write_bytes(b"")
    stand_in, _calls = failing("unlink", 1, errno.EACCES)
    monkeypatch.setattr(os, "unlink", stand_in)
    with pytest.raises(BaselineError, match="Permission denied"):
        sweep(repository.git_dir)


def test_foreign_lock_that_goes_while_we_look_at_it_is_taken_over(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = commit(repository, {"a.md": b"old\n"})
    new = write(repository, {"a.md": b"new\n"}, parent=head)
    lock = main_lock(repository)
    lock.write_bytes(b"")
    real = os.stat

    def stat_after_it_went(path: Any, **options: Any) -> os.stat_result:
        if path == lock:
            lock.unlink(missing_ok=True)
        return real(path, **options)

    monkeypatch.setattr(os, "stat", stat_after_it_went)
    assert advance(repository, expected=head, new=new)


def test_c101_stale_foreign_lock_is_named_with_its_age_and_stays(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"old\n"})
    new = write(repository, {"a.md": b"new\n"}, parent=head)
    lock = main_lock(repository)
    lock.write_bytes(b"")
    an_hour_ago = time.time() - 3600
    os.utime(lock, (an_hour_ago, an_hour_ago))
    started = time.monotonic()
    with pytest.raises(BaselineError) as caught:
        advance(repository, expected=head, new=new)
    assert time.monotonic() - started < 9  # a live lock is waited for, ten seconds
    assert str(lock) in str(caught.value)
    assert re.search(r"36\d\d s ago", str(caught.value))
    assert lock.exists()
    assert repository.head() == head
    assert left_overs(repository.git_dir) == ["main.lock"]
    lock.unlink()
    assert advance(repository, expected=head, new=new)


def test_c101_live_foreign_lock_is_waited_for(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"old\n"})
    new = write(repository, {"a.md": b"new\n"}, parent=head)
    lock = main_lock(repository)
    lock.write_bytes(b"")
    timer = threading.Timer(0.2, lock.unlink)
    timer.start()
    assert advance(repository, expected=head, new=new)
    timer.join()
    assert repository.head() == new


def test_c101_live_foreign_lock_that_stays_is_a_busy_store(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits_module, "LOCK_WAIT_S", 0.1)
    head = commit(repository, {"a.md": b"old\n"})
    new = write(repository, {"a.md": b"new\n"}, parent=head)
    lock = main_lock(repository)
    lock.write_bytes(b"")
    with pytest.raises(LockBusyError) as caught:
        advance(repository, expected=head, new=new)
    assert caught.value.path == lock
    assert caught.value.waited_s >= 0.1
    assert lock.exists()
    assert left_overs(repository.git_dir) == ["main.lock"]


def test_c101_left_index_lock_does_not_matter(repository: Repository) -> None:
    (repository.git_dir / "index.lock").write_bytes(b"")
    commit(repository, {"a.md": b"old\n"})
    assert (repository.git_dir / "index.lock").exists()


def test_foreign_move_while_we_wait_for_the_lock_is_seen(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"old\n"})
    ours, theirs = (write(repository, {"a.md": text}, parent=head) for text in (b"ours\n", b"theirs\n"))
    lock = main_lock(repository)
    lock.write_bytes(theirs.encode() + b"\n")
    timer = threading.Timer(0.2, lambda: lock.rename(lock.with_suffix("")))
    timer.start()
    assert not advance(repository, expected=head, new=ours)
    timer.join()
    assert repository.head() == theirs
    assert left_overs(repository.git_dir) == []


def test_git_and_advance_exclude_each_other(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"old\n"})
    new = write(repository, {"a.md": b"new\n"}, parent=head)
    main_lock(repository).write_bytes(b"")
    command = ["git", f"--git-dir={repository.git_dir}", "update-ref", "refs/heads/main", new]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert "main.lock" in refused.stderr
    assert repository.head() == head


def test_c097_two_processes_of_twenty_commits_each_make_forty(repository: Repository) -> None:
    first = commit(repository, {"MEMORY.md": b""})
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", COMMIT_TWENTY_TIMES, str(repository.git_dir), who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for who in ("left", "right")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        _output, errors = writer.communicate("go\n", timeout=60)
        assert errors == ""
    head = repository.head()
    assert head is not None
    assert git(repository.git_dir, "rev-list", "--count", f"{first}..{head}") == b"40\n"
    rows = repository.snapshot(head)["MEMORY.md"].decode().splitlines()
    assert sorted(rows) == sorted(f"- {who} {n}" for who in ("left", "right") for n in range(20))
    assert_clean(repository.git_dir)


def test_two_threads_that_race_without_a_lock_never_lose_a_commit(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"old\n"})
    candidates = [write(repository, {"a.md": f"{n}\n".encode()}, parent=head) for n in range(4)]
    outcomes: list[tuple[str, bool]] = []
    start = threading.Barrier(len(candidates))

    def race(oid: str) -> None:
        with Repository(repository.git_dir) as own:
            start.wait()
            outcomes.append((oid, advance(own, expected=head, new=oid)))

    threads = [threading.Thread(target=race, args=(oid,)) for oid in candidates]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [oid for oid, moved in outcomes if moved] == [repository.head()]


FAILING_CALLS = ["open", "write", "fsync", "link", "replace", "rename", "mkdir"]


def failing(name: str, nth: int, code: int) -> tuple[Callable[..., Any], list[int]]:
    """Return a stand-in for an `os` function whose nth call fails as the system would, and its call count."""
    real = getattr(os, name)
    calls: list[int] = []

    def call(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == nth:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **options)

    return call, calls


NTH_CALLS = [(name, nth, errno.ENOSPC if nth % 2 else errno.EACCES) for name in FAILING_CALLS for nth in range(1, 8)]


@pytest.mark.parametrize(("name", "nth", "code"), NTH_CALLS)
def test_c106_system_call_that_fails_is_an_error_and_the_retry_works(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, name: str, nth: int, code: int
) -> None:
    old = commit(repository, {"a.md": b"old\n", "deep/a.md": b"old\n"})
    stand_in, calls = failing(name, nth, code)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, stand_in)
        try:
            commit(repository, {"deep/a.md": b"new\n"})
        except BaselineError as error:
            assert os.strerror(code) in str(error)  # noqa: PT017  # which calls are made at all differs by `nth`
            failed = True
        else:
            failed = False
    assert failed == (len(calls) >= nth)
    assert left_overs(repository.git_dir) == []
    assert_clean(repository.git_dir)
    if repository.head() == old:
        commit(repository, {"deep/a.md": b"new\n"})
    head = repository.head()
    assert head is not None
    assert dict(repository.snapshot(head)) == {"a.md": b"old\n", "deep/a.md": b"new\n"}


COMMIT_WITH_A_SMALL_FILE_LIMIT = """
import resource, sys
from pathlib import Path
sys.path.insert(0, ".")
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.repository import Repository
from tests.baseline.git_checks import commit
import os

with Repository(Path(sys.argv[1])) as repository:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        commit(repository, {"big.md": os.urandom(100_000)})
    except BaselineError as error:
        print(error)
"""


def test_c106_real_file_size_limit_leaves_nothing_behind(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"old\n"})
    process = start_python(COMMIT_WITH_A_SMALL_FILE_LIMIT, str(repository.git_dir))
    output, errors = process.communicate()
    assert errors == ""
    assert "File too large" in output
    assert left_overs(repository.git_dir) == []
    assert repository.head() == head
    assert_clean(repository.git_dir)


@pytest.fixture
def hostile_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set HOME and GIT_* so that a git that obeys them runs a program or goes elsewhere; return what it would write."""
    evil, sentinel = tmp_path / "evil", tmp_path / "sentinel"
    hooks = evil / "hooks"
    hooks.mkdir(parents=True)
    script = f"#!/bin/sh\necho run >> {sentinel}\ncat\n"
    for name in ("evil", *(f"hooks/{hook}" for hook in ("pre-commit", "post-commit", "reference-transaction"))):
        program = evil / name if name != "evil" else evil / "program"
        program.write_text(script)
        program.chmod(0o755)
    (evil / "attributes").write_text("* text eol=crlf filter=evil diff=evil\n")
    (evil / ".gitconfig").write_text(
        f"[core]\n\tautocrlf = true\n\thooksPath = {hooks}\n\tfsmonitor = {evil}/program\n\tpager = {evil}/program\n"
        f"\tattributesFile = {evil}/attributes\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {evil}/program\n"
        f'[diff]\n\texternal = {evil}/program\n[filter "evil"]\n\tclean = {evil}/program\n\tsmudge = {evil}/program\n'
        f"\trequired = true\n[fsck]\n\tskipList = {evil}/missing\n[log]\n\tshowSignature = true\n"
    )
    git(evil / "elsewhere.git", "init", "-q", "--bare")
    for name, value in {
        "HOME": str(evil),
        "XDG_CONFIG_HOME": str(evil),
        "GIT_DIR": str(evil / "elsewhere.git"),
        "GIT_COMMON_DIR": str(evil / "elsewhere.git"),
        "GIT_OBJECT_DIRECTORY": str(evil / "elsewhere.git" / "objects"),
        "GIT_WORK_TREE": str(evil),
        "GIT_INDEX_FILE": str(evil / "index"),
        "GIT_CONFIG_GLOBAL": str(evil / ".gitconfig"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(evil / "program"),
        "GIT_EXTERNAL_DIFF": str(evil / "program"),
        "GIT_NAMESPACE": "other",
        "GIT_AUTHOR_NAME": "Mallory",
        "GIT_COMMITTER_DATE": "1 +0000",
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_EXEC_PATH": str(evil),
        "LC_ALL": "de_DE.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    return sentinel


def test_c104_settings_of_user_and_environment_have_no_effect(tmp_path: Path, hostile_surroundings: Path) -> None:
    git_dir = tmp_path / "notes.git"
    with Repository.create(git_dir) as repository:
        first = commit(repository, {"a.md": b"a\r\nb\r\n", "b/c.md": b"c\n"})
        second = commit(repository, {"a.md": b"a\r\nc\r\n"})
        assert documents_by_git(git_dir, second) == {"a.md": b"a\r\nc\r\n", "b/c.md": b"c\n"}
        assert [entry.oid for entry in log(repository)] == [second, first]
        assert fsck(git_dir) == ()
        git(git_dir, "-c", "pack.indexVersion=1", "repack", "-a", "-d", "-q")  # so that git is asked to read it
    with Repository(git_dir) as reopened:
        assert dict(reopened.snapshot(first)) == {"a.md": b"a\r\nb\r\n", "b/c.md": b"c\n"}
        assert reopened.commit(second).message == "Change\n"
    assert not hostile_surroundings.exists()
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("name", ["$HOME", "~", "a b", "-x", "memo\nry", "メモ", "[a]*"])
def test_repository_may_lie_at_a_path_with_any_name(tmp_path: Path, name: str) -> None:
    with Repository.create(tmp_path / name) as repository:
        head = commit(repository, {"a.md": b"one\n"})
        git(repository.git_dir, "repack", "-a", "-d", "-q")
        assert dict(repository.snapshot(head)) == {"a.md": b"one\n"}
        assert fsck(repository.git_dir) == ()
        assert [entry.oid for entry in log(repository)] == [head]


def test_missing_git_is_a_sentence(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = commit(repository, {"a.md": b"one\n"})
    git(repository.git_dir, "-c", "pack.indexVersion=1", "repack", "-a", "-d", "-q")
    monkeypatch.setenv("PATH", str(tmp_path))
    with Repository(repository.git_dir) as reopened, pytest.raises(BaselineError, match="git is not installed"):
        reopened.snapshot(head)
    with pytest.raises(BaselineError, match="git is not installed"):
        fsck(repository.git_dir)
    with pytest.raises(BaselineError, match="git is not installed"):
        list(log(repository))


IMPORT_WITHOUT_GIT = """
import sys
from pathlib import Path
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline import history
try:
    history.fsck(Path(sys.argv[1]))
except BaselineError as error:
    print(error)
"""


def test_package_can_be_imported_without_git(repository: Repository, tmp_path: Path) -> None:
    started = start_python(IMPORT_WITHOUT_GIT, str(repository.git_dir), environment={"PATH": str(tmp_path)})
    output, errors = started.communicate()
    assert errors == ""
    assert output.startswith("git is not installed")


def test_git_that_runs_too_long_is_stopped(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    started = time.monotonic()
    status, _stdout, stderr = process.run(repository.git_dir, "fsck", timeout_s=0.2)
    assert time.monotonic() - started < 25  # it would sleep for 30 s
    assert status != 0
    assert "did not complete" in stderr
