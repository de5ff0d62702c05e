"""The product's own settings on a throw-away data folder."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

MEMORY_FOLDER = "/dev/shm"
ENOUGH_BYTES = 4 * 1024**3


def in_memory() -> str | None:
    """Return a folder in memory where programs may run and a whole test run fits, None where there is none.

    Tests wait for no disk there. They survive kills, and no power cut is tried: what is synced when is counted.
    """
    if not os.access(MEMORY_FOLDER, os.W_OK):
        return None
    found = os.statvfs(MEMORY_FOLDER)
    is_fit = found.f_bavail * found.f_frsize >= ENOUGH_BYTES and not found.f_flag & os.ST_NOEXEC
    return MEMORY_FOLDER if is_fit else None


if "TMPDIR" not in os.environ and (_folder := in_memory()):
    os.environ["TMPDIR"] = tempfile.tempdir = _folder  # for the processes that tests start, too

_HOME = tempfile.mkdtemp(prefix="memoryreview-tests-")
os.environ["MEMORYREVIEW_HOME"] = _HOME
# What the environment names is somebody's real installation; a server for tests has a name of its own.
SERVER = os.environ.get("MEMORYREVIEW_TEST_DATABASE_URL", "")
os.environ.pop("MEMORYREVIEW_DATABASE_URL", None)
if SERVER:
    os.environ["MEMORYREVIEW_DATABASE_URL"] = SERVER
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)

from memoryreview.settings import *  # noqa: E402, F403

os.environ.pop("MEMORYREVIEW_DATABASE_URL", None)  # the processes that tests start have databases of their own

ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "testserver"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast; the real one is tested by itself
