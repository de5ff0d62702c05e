from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.lock import LOCK_NAME, LockBusyError, store_lock

HOLDER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from memoryreview.baseline.lock import store_lock

    with store_lock(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(60)
    """
)


def start_holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def lock_is_free_for_a_new_thread(folder: Path) -> bool:
    outcome: list[bool] = []

    def attempt() -> None:
        try:
            with store_lock(folder, timeout_s=0):
                outcome.append(True)
        except LockBusyError:
            outcome.append(False)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return outcome[0]


def test_store_lock_is_reentrant_within_a_thread(tmp_path: Path) -> None:
    with store_lock(tmp_path), store_lock(tmp_path, timeout_s=0):
        pass
    assert lock_is_free_for_a_new_thread(tmp_path)


def test_store_lock_stays_held_until_the_outermost_block_ends(tmp_path: Path) -> None:
    with store_lock(tmp_path):
        with store_lock(tmp_path):
            pass
        assert not lock_is_free_for_a_new_thread(tmp_path)


def test_store_lock_reached_by_a_link_is_the_same_lock(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "alias").symlink_to(real)
    with store_lock(real), store_lock(tmp_path / "alias", timeout_s=0):
        assert not lock_is_free_for_a_new_thread(tmp_path / "alias")


def test_store_lock_is_released_when_the_block_raises(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), store_lock(tmp_path):
        _ = 1 / 0
    assert lock_is_free_for_a_new_thread(tmp_path)


def test_store_lock_of_another_process_times_out_with_path_and_waited_time(tmp_path: Path) -> None:
    process = start_holder(tmp_path)
    try:
        with pytest.raises(LockBusyError) as caught, store_lock(tmp_path, timeout_s=0.1):
            pass
    finally:
        kill(process)
    assert caught.value.path == tmp_path / LOCK_NAME
    assert 0.1 <= caught.value.waited_s < 5
    assert str(tmp_path / LOCK_NAME) in str(caught.value)


def test_store_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    process = start_holder(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with store_lock(tmp_path, timeout_s=0):
        pass


def test_store_lock_waits_until_the_other_thread_is_done(tmp_path: Path) -> None:
    entered = threading.Event()
    order: list[str] = []

    def hold() -> None:
        with store_lock(tmp_path):
            entered.set()
            time.sleep(0.1)
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    with store_lock(tmp_path):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


def run_script(source: str, folder: Path) -> str:
    """Run a script that forks in a process of its own: a fork of the test runner would run the other tests again."""
    script = textwrap.dedent(source)
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, timeout=30)
    assert done.stderr == ""
    return done.stdout


def test_store_lock_is_not_inherited_by_a_forked_child(tmp_path: Path) -> None:
    script = """
        import os, sys
        from pathlib import Path
        from memoryreview.baseline.lock import LockBusyError, store_lock

        folder = Path(sys.argv[1])
        with store_lock(folder):
            if os.fork() == 0:
                try:
                    with store_lock(folder, timeout_s=0):
                        print("entered", flush=True)
                except LockBusyError:
                    print("busy", flush=True)
                os._exit(0)
            os.wait()
        """
    assert run_script(script, tmp_path) == "busy\n"


def test_store_lock_is_released_although_a_child_lives_on(tmp_path: Path) -> None:
    script = """
        import os, signal, sys, time
        from pathlib import Path
        from memoryreview.baseline.lock import store_lock

        folder = Path(sys.argv[1])
        with store_lock(folder):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
        with store_lock(folder, timeout_s=0):
            print("free", flush=True)
        os.kill(child, signal.SIGKILL)
        """
    assert run_script(script, tmp_path) == "free\n"


def test_store_lock_left_by_a_child_stays_with_the_parent(tmp_path: Path) -> None:
    script = """
        import os, sys, threading
        from pathlib import Path
        from memoryreview.baseline.lock import LockBusyError, store_lock

        folder = Path(sys.argv[1])

        def attempt():
            try:
                with store_lock(folder, timeout_s=0):
                    print("free", flush=True)
            except LockBusyError:
                print("busy", flush=True)

        with store_lock(folder):
            with store_lock(folder):
                child = os.fork()
            if child:
                os.wait()
                thread = threading.Thread(target=attempt)
                thread.start()
                thread.join()
        """
    assert run_script(script, tmp_path) == "busy\n"


def test_store_lock_on_a_removed_and_remade_folder_locks_the_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    with store_lock(folder):
        (folder / LOCK_NAME).unlink()
        assert lock_is_free_for_a_new_thread(folder)


def test_store_lock_on_a_file_that_was_swapped_meanwhile_is_taken_on_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, path = fcntl.flock, tmp_path / LOCK_NAME

    def flock_after_a_swap(fd: int, operation: int) -> None:
        if not (tmp_path / "swapped").exists():
            path.rename(tmp_path / "swapped")
            path.write_bytes(b"")
        real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", flock_after_a_swap)
    with store_lock(tmp_path):
        assert not lock_is_free_for_a_new_thread(tmp_path)


def test_store_lock_without_a_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"There is no baseline at .*missing"), store_lock(tmp_path / "missing"):
        pass


def test_store_lock_does_not_follow_a_planted_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (tmp_path / LOCK_NAME).symlink_to(victim)
    with pytest.raises(BaselineError), store_lock(tmp_path):
        pass
    assert not victim.exists()


def test_store_lock_on_a_file_system_without_locks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(BaselineError, match="No locks available"), store_lock(tmp_path):
        pass
