"""A warm process that runs one command per line, each in a child: what `python -m memoryreview …` does, without the
second that an interpreter and Django take to start.

`Warm` starts it and asks it over a pipe; `python -m tests.warm` is the process itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Warm:
    """The warm process, seen from a test. It has the settings of when it started."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm"],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._end = weakref.finalize(self, self._process.communicate)

    def run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the warm process is gone"
        return subprocess.CompletedProcess(list(arguments), *json.loads(answer))

    def close(self) -> None:
        self._end()


def _run(arguments: list[str]) -> tuple[int, str, str]:
    """Return exit code, output and errors of one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os._exit(_code(arguments))
        _, status = os.waitpid(pid, 0)
        printed = [os.pread(one.fileno(), os.fstat(one.fileno()).st_size, 0).decode() for one in (out, errors)]
    return os.waitstatus_to_exitcode(status), printed[0], printed[1]


def _code(arguments: list[str]) -> int:
    from django.db import connections

    from memoryreview import cli

    code: object = 0
    try:
        cli.main(arguments)
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)  # noqa: T201
    except BaseException:  # noqa: BLE001  # as an interpreter would
        traceback.print_exc()
        code = 1
    connections.close_all()
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryreview.settings"
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever is printed by accident is no answer
    asked = os.fdopen(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    import django

    django.setup()
    from memoryreview.baseline import history, process  # noqa: F401  # git is imported once, before any fork

    for line in asked:
        print(json.dumps(_run(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
