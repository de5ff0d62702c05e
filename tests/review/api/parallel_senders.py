"""Run as a program: many senders at once at the doors of one installation with its real databases. Prints JSON."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENDERS = 8


def at_once(send: Callable[[], Any]) -> list[tuple[int, int | None]]:
    """Call `send` in threads that start together and return (status, proposal) of each answer."""
    from django.db import connections

    answers: list[tuple[int, int | None]] = []
    gate = threading.Barrier(SENDERS)

    def run() -> None:
        gate.wait()
        try:
            response = send()
            answers.append((response.status_code, response.json().get("id")))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(answers)


def main(folder: Path) -> None:
    import django

    django.setup()
    from django.test import Client

    from memoryreview.review.models import Delivery, Proposal
    from memoryreview.review.operations import accounts
    from memoryreview.review.operations.adopt import adopt
    from tests.review.api.conftest import DATE, FACT, NOTE, Api

    folder.mkdir()
    (folder / "build.md").write_text(NOTE)
    adopt(folder, name="notes")
    agent = accounts.add_agent("claude")
    now = time.time()
    body = {"type": "memory.proposal", "data": {"store": "notes", "operations": [FACT]}}
    answers = {
        "webhook": at_once(lambda: Api(agent, Client()).deliver(body, at=now)),
        "api": at_once(lambda: Api(agent, Client()).propose(DATE, headers={"idempotency-key": "one"})),
    }
    rows = {"proposals": Proposal.objects.count(), "deliveries": Delivery.objects.count()}
    print(json.dumps(answers | rows | {"disk": (folder / "build.md").read_text()}))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
