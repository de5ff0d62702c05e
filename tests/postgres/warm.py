"""A warm process that forks a child per act, so that none pays for the start of an interpreter.

`python -m tests.postgres.warm SOCKET`. An act connects and sends one line of JSON: home, database, host, code,
arguments. Its child answers with its process id, runs the code with the connection as its input and output, and ends
with a line that holds what it raised.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

PRELUDE = """
import json, os, sys
from memoryreview.baseline import lock, packing
lock.LOCK_NAME, packing.LOCK_NAME = (f"{os.environ['HOST']}.{one}" for one in (lock.LOCK_NAME, packing.LOCK_NAME))
from django.db import connection
from memoryreview.baseline import steps
from memoryreview.review.models import *
from memoryreview.review.operations import audit, decide, ledger, receive, reconcile, stores, upkeep
from memoryreview.review.operations.stores import locked
from django.contrib.auth.models import User
if "review_store" in connection.introspection.table_names():
    store = Store.objects.filter(slug="notes").first()
    olga = User.objects.filter(username="olga").first()

def say(**told):
    print(json.dumps(told), flush=True)

def heard():
    return sys.stdin.readline().strip()

def session():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]

def approve(number):
    from memoryreview.review.operations.standing import standing
    proposal = decide.fetch(number)
    with stores.reading(store) as repository:
        shown = standing(proposal.revision, repository).shown
    return decide.approve(number, person=olga, version=proposal.version, shown=shown)
"""


def _act(stream: socket.socket) -> None:
    from django.conf import settings
    from django.db import connections

    os.dup2(stream.fileno(), 0)
    os.dup2(stream.fileno(), 1)
    sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
    asked: dict[str, Any] = json.loads(sys.stdin.readline())
    print(json.dumps({"process": os.getpid()}), flush=True)  # noqa: T201
    settings.HOME = Path(asked["home"])
    connections.settings["default"]["NAME"] = asked["database"]
    connections.settings["queue"]["NAME"] = settings.HOME / "queue.sqlite3"
    os.environ["HOST"] = asked["host"]
    sys.argv = ["act", *asked["arguments"]]
    raised = ""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # git's processes are waited for
    try:
        exec(compile(PRELUDE + asked["code"], "act", "exec"), {"__name__": "act"})
    except BaseException:  # noqa: BLE001  # told to the test
        raised = traceback.format_exc()
    connections.close_all()
    print(json.dumps({"raised": raised}), flush=True)  # noqa: T201


def main() -> None:
    import django

    django.setup()
    import git  # noqa: F401  # imported once, before any fork

    import memoryreview.review.operations.adopt
    import memoryreview.review.operations.erase
    import memoryreview.review.operations.upkeep  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(sys.argv[1])
        door.listen()
        print("ready", flush=True)  # noqa: T201
        while True:
            stream, _ = door.accept()
            if os.fork() == 0:
                door.close()
                _act(stream)
                os._exit(0)
            stream.close()


if __name__ == "__main__":
    main()
