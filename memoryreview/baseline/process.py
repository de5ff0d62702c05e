"""Every git process of the product, started through GitPython with an environment that only we decide.

Nothing from the user's or the system's git settings reaches them: no hooks, filters, signing, editors or prompts. No
other variable does either: what git starts, such as the hooks of a repository that is pushed to, is not ours.
GitPython takes a tenth of a second to import, so what seldom needs git imports this module late.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from types import MappingProxyType
from typing import IO, Any

from .errors import BaselineError

# Without git GitPython would refuse to be imported, with a traceback; we say it in a sentence when git is needed.
os.environ["GIT_PYTHON_REFRESH"] = "quiet"
import git

_PASSED_ON = ("PATH", "TMPDIR")
_SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LC_ALL": "C",
    "LANGUAGE": "C",
}


class _BaselineGit(git.Git):
    """GitPython's process starter for one git dir. It can only add to the environment, so `env` makes an empty one."""

    def __init__(self, git_dir: Path, **settings: str) -> None:
        super().__init__(git_dir)
        self._settings = {**_SETTINGS, "GIT_DIR": str(git_dir), **settings}

    def execute(self, command: Any, *arguments: Any, **options: Any) -> Any:
        executable = shutil.which("git")
        if executable is None:
            raise BaselineError(
                "git is not installed, or not on this process's PATH. Nothing was changed; install git and try again."
            )
        environment = {**variables(*_PASSED_ON), **self._settings}
        assigned = [f"{name}={value}" for name, value in environment.items()]
        try:
            return super().execute(["env", "-i", *assigned, executable, *command[1:]], *arguments, **options)
        except OSError as error:  # no process, no pipe
            raise _cannot_start(error) from error


def variables(*names: str) -> dict[str, str]:
    """Return those of some variables that this process has."""
    return {name: os.environ[name] for name in names if name in os.environ}


def _cannot_start(error: OSError) -> BaselineError:
    return BaselineError(
        f"git cannot be started: {error.strerror}. Nothing was changed; close other programs or make room, then try "
        "again."
    )


@contextmanager
def _asked(content: bytes) -> Iterator[IO[bytes]]:
    """Give a file without a name that git reads as its input. Raises BaselineError when the system has no room."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(content)
            file.seek(0)
        except OSError as error:
            raise _cannot_start(error) from error
        yield file


def run(
    git_dir: Path,
    *arguments: str,
    stdin: bytes = b"",
    timeout_s: float = 600.0,
    pass_fds: Sequence[int] = (),
    settings: Mapping[str, str] = MappingProxyType({}),
) -> tuple[int, bytes, str]:
    """Run one git command and return (exit code, stdout, stderr). Raises BaselineError when git cannot be started.

    Args:
        pass_fds: open files that the process keeps open until it ends, such as a lock.
        settings: variables that take the place of ours.
    """
    with _asked(stdin) as asked:
        status, stdout, stderr = _BaselineGit(git_dir, **settings).execute(
            ["git", *arguments],
            istream=asked,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            kill_after_timeout=timeout_s,
            pass_fds=tuple(pass_fds),
        )
    return status, stdout, stderr


def every_object(git_dir: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield (id, kind, payload) of every object that a repository keeps, reachable or not.

    Raises BaselineError when git cannot read one of them.
    """
    return _objects(git_dir, None, "--batch-all-objects", "--unordered")


def named_objects(git_dir: Path, oids: Iterable[str]) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield (id, kind, payload) of these objects, in one process. Raises BaselineError when one is missing."""
    with _asked("".join(f"{oid}\n" for oid in oids).encode("ascii")) as asked:
        yield from _objects(git_dir, asked)


def _objects(git_dir: Path, asked: IO[bytes] | None, *options: str) -> Iterator[tuple[str, bytes, bytes]]:
    command = ["git", "cat-file", "--batch", *options]
    process: Any = _BaselineGit(git_dir).execute(command, istream=asked, as_process=True)
    failure = BaselineError(
        f"git cannot read all objects of “{git_dir}”: its history is not complete. Nothing was changed; run "
        "“memoryreview verify”, then restore the data folder from a backup, or adopt the folder anew."
    )
    try:
        while header := process.stdout.readline().split():
            if len(header) != 3:
                raise failure
            payload = process.stdout.read(int(header[2]))
            process.stdout.read(1)
            yield header[0].decode("ascii"), header[1], payload
        process.wait()
    except git.GitCommandError as error:
        raise failure from error
    finally:
        process.stdout.close()
        process.stderr.close()
        with suppress(git.GitCommandError):
            process.wait()


@contextmanager
def changed_files(git_dir: Path, *, index: str, work_tree: Path) -> Iterator[Callable[[], set[str]]]:
    """Start git comparing the state of files with an index; the callable waits for the paths that differ.

    Only `lstat` is called on the files. The callable raises BaselineError when git cannot say.
    """
    settings = {"GIT_INDEX_FILE": str(git_dir / index), "GIT_WORK_TREE": str(work_tree)}
    command = ["git", "diff-files", "--name-only", "--no-ext-diff", "--no-renames", "-z"]
    process = _BaselineGit(git_dir, **settings).execute(command, as_process=True)

    def answer() -> set[str]:
        stdout = process.stdout.read()
        try:
            process.wait()
        except git.GitCommandError as error:
            raise BaselineError(f"git cannot compare the memory folder: {error.stderr.strip()}") from error
        return set(os.fsdecode(stdout).split("\0")) - {""}

    try:
        yield answer
    finally:
        process.stdout.close()
        process.stderr.close()
        with suppress(git.GitCommandError):
            process.wait()


class PackReader:
    """Reads objects through one long-lived `git cat-file --batch`, started when first asked."""

    def __init__(self, git_dir: Path) -> None:
        self._git = _BaselineGit(git_dir)
        self._process: Any = None

    def close(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        process.stderr.close()
        # How it ended says nothing new: what it could not read was reported when it was asked.
        with suppress(git.GitCommandError):
            process.wait()

    def find(self, oid: str) -> tuple[bytes, bytes] | None:
        """Return (kind, payload), None when there is no such object. Raises BaselineError when git cannot read it."""
        if self._process is None:
            self._process = self._git.execute(["git", "cat-file", "--batch"], istream=PIPE, as_process=True)
        try:
            self._process.stdin.write(oid.encode("ascii") + b"\n")
            self._process.stdin.flush()
            header = self._process.stdout.readline().split()
        except BrokenPipeError:
            header = []
        if header[1:] == [b"missing"]:
            return None
        if len(header) != 3:
            raise BaselineError(
                f"git cannot read object {oid} of the baseline. Nothing was changed; run “memoryreview verify”, "
                "then restore the data folder from a backup, or adopt the folder anew."
            )
        payload = self._process.stdout.read(int(header[2]))
        self._process.stdout.read(1)
        return header[1], payload
