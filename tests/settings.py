"""The product's own settings on a throw-away data folder."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

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
