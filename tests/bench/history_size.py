"""`python -m tests.bench history_size`: the pages of a long history against the same pages of a short one.

Each history has a database and a baseline of its own, of commits and rows that the product's own writers make. One
document is touched by every change, MEMORY.md by every fifth, and a hundred others once each as long as they last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from unittest.mock import patch

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client

from memoryreview.baseline import commits
from memoryreview.baseline.repository import Repository
from memoryreview.core.classify.questions import Questions
from memoryreview.review.models import (
    Agent,
    Change,
    ChangedPath,
    ChangeKind,
    Decision,
    Proposal,
    Revision,
    State,
    Store,
    Verb,
)
from memoryreview.review.operations import accounts, history, ledger
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.stores import baseline_dir, reading

from .timing import verdict

SHORT = 200
BOUND = 1.5
EARLY = 60
"""The first changes are rollbacks and by another agent."""
BUSY, INDEX, DOCUMENTS, LINES = "notes/busy.md", "MEMORY.md", 100, 60
_BATCH = 500
_BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Long:
    """One installation with one store of so many changes."""

    database: Path
    client: Client
    store: Store
    oids: tuple[str, ...]

    def use(self) -> None:
        _open(self.database)


def run(*, commits_: int, rounds: int) -> bool:
    with TemporaryDirectory(prefix="memoryreview-bench-") as folder:
        short, long = (_made(Path(folder), count) for count in (SHORT, commits_))
        holds = [_page_holds(name, address, short, long, rounds) for name, address in _PAGES.items()]
        holds.append(_questions_hold(short, long, rounds))
        long.use()
        _print_seconds(f"history --json of {commits_:,} changes", lambda: _silently("history", "long", "--json"))
        _print_seconds(f"audit (verify) of {commits_:,} changes", lambda: audit(long.store))
    return all(holds)


_PAGES: Mapping[str, Callable[[Long], str]] = {
    "history of every store": lambda one: "/history/",
    "history of the store": lambda one: "/history/?store=long",
    "history of the store, by a kind not seen of late": lambda one: "/history/?store=long&kind=rollback",
    "history of the store, by an agent not seen of late": lambda one: "/history/?store=long&agent=codex",
    "history of the store, its first day": lambda one: f"/history/?store=long&until={_BEGAN:%Y-%m-%d}",
    "history of the store, from its second day on": lambda one: f"/history/?store=long&since={_time(144):%Y-%m-%d}",
    "history of one file": lambda one: f"/history/?store=long&path={BUSY}",
    "history of one file, in every store": lambda one: f"/history/?path={BUSY}",
    "history of one file, from the middle on": lambda one: (
        f"/history/?store=long&path={BUSY}&before={len(one.oids) // 2}"
    ),
    "history of a file changed once in a while": lambda one: "/history/?store=long&path=notes/note_7.md",
    "document": lambda one: f"/stores/long/{BUSY}",
    "blame of one file": lambda one: f"/stores/long/{BUSY}?view=blame&line=9",
    "history of one entry": lambda one: f"/history/?store=long&path={BUSY}&entry=9",
    "page of the newest change": lambda one: f"/changes/{one.oids[-1]}",
    "page of an old change, with what is in its way": lambda one: f"/changes/{one.oids[2]}",
    "document as of an old change": lambda one: f"/stores/long/{BUSY}?at={one.oids[40]}",
    "stores": lambda one: "/stores/",
    "queue": lambda one: "/",
}


def _page_holds(name: str, address: Callable[[Long], str], short: Long, long: Long, rounds: int) -> bool:
    def asked(one: Long) -> Callable[[], object]:
        return lambda: _fetched(one.client, address(one))

    times = _in_turns(short, long, asked, rounds)
    print(f"  {times[0] * 1e3:7.1f} ms after {SHORT} changes, {times[1] * 1e3:7.1f} ms after {len(long.oids) - 1:,}")
    return verdict(name, times[1] / times[0], BOUND)


def _questions_hold(short: Long, long: Long, rounds: int) -> bool:
    """What the classifier asks the history: first days of lines, and how a document went."""

    def asked(one: Long) -> Callable[[], object]:
        def ask() -> None:
            with reading(one.store) as repository:
                at = repository.snapshot(repository.head() or "")
                lines = tuple((BUSY, line) for line in at[BUSY].splitlines()[:20])
                history.history(one.store, at, Questions(("gone.md",), lines, is_dated=True), UTC)

        return ask

    times = _in_turns(short, long, asked, rounds)
    return verdict("what a verdict asks the history", times[1] / times[0], BOUND)


def _in_turns(short: Long, long: Long, asked: Callable[[Long], Callable[[], object]], rounds: int) -> list[float]:
    """Return the median seconds of the processor of both, done in turns."""
    times: list[list[float]] = [[], []]
    for number in range(rounds + 2):
        for at, one in enumerate((short, long)):
            one.use()
            work = asked(one)
            start = process_time()
            work()
            if number > 1:
                times[at].append(process_time() - start)
    return [median(each) for each in times]


def _fetched(client: Client, address: str) -> None:
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answers {answer.status_code}")


def _time(number: int) -> datetime:
    return _BEGAN + timedelta(minutes=10 * number)


def _print_seconds(name: str, work: Callable[[], object]) -> None:
    start = perf_counter()
    work()
    print(f"{name}: {perf_counter() - start:.1f} s")


def _silently(*arguments: str) -> None:
    with redirect_stdout(StringIO()):
        call_command(*arguments)


def _open(database: Path) -> None:
    """Turn to another database, its connection open and its statements warm."""
    if connection.settings_dict["NAME"] != str(database):
        connection.close()
        connection.settings_dict["NAME"] = str(database)
    User.objects.exists()


def _made(folder: Path, count: int) -> Long:
    """Make an installation whose store has `count` changes after its adoption."""
    database = folder / f"{count}.sqlite3"
    connection.close()
    connection.settings_dict["NAME"] = str(database)
    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("olga", password="correct horse battery", is_superuser=True)
    agents = [accounts.add_agent(name, person=owner).agent for name in ("claude", "codex")]
    root = folder / str(count) / "memory"
    for path, content in texts().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    store = adopt(root, name="long").store
    beside = folder / str(count) / "beside"
    beside.mkdir()
    adopt(beside, name="beside")
    Change.objects.filter(store=store).update(at=_BEGAN)
    with undurable(), Repository(baseline_dir(store)) as repository:
        oids = grown(repository, store, owner, agents, count)
    client = Client()
    client.post("/sign-in", {"username": "olga", "password": "correct horse battery"})
    size = sum(path.stat().st_size for path in (folder / str(count)).rglob("*") if path.is_file())
    print(f"{count:,} changes, database {database.stat().st_size / 2**20:.0f} MiB, folder {size / 2**20:.1f} MiB")
    return Long(database, client, store, tuple(oids))


def texts() -> dict[str, bytes]:
    """Return the documents as they are before the first change."""
    return {path: _text(path, {}) for path in (BUSY, INDEX, *(_note(number) for number in range(DOCUMENTS)))}


@contextmanager
def undurable() -> Iterator[None]:
    """Write without waiting for the disk: what is measured is reading."""
    with patch.object(os, "fsync", lambda fd: None):
        yield


def grown(repository: Repository, store: Store, owner: User, agents: list[Agent], count: int) -> list[str]:
    """Give a store of BUSY, INDEX and notes so many changes more; return the commits, the adoption first."""
    oids = [repository.head() or ""]
    edits: dict[str, dict[int, int]] = {}
    for start in range(1, count + 1, _BATCH):
        made: list[tuple[str, str, list[str]]] = []
        for number in range(start, min(start + _BATCH, count + 1)):
            paths = _touched(number)
            for path in paths:
                edits.setdefault(path, {})[number % LINES] = number
            oid = commits.write_commit(
                repository,
                parent=oids[-1],
                delta={path: _text(path, edits[path]) for path in paths},
                subject=f"Port {number} moves",
                body="",
                trailers={"Change-Kind": "approved", "Proposal-Id": str(number), "Decision-Id": str(number)},
                at=_time(number),
            )
            made.append((oid, oids[-1], paths))
            oids.append(oid)
        _recorded(store, owner, agents, made, start)
    commits.advance(repository, expected=oids[0], new=oids[-1])
    for path, edited in edits.items():
        (Path(store.root) / path).write_bytes(_text(path, edited))
    return oids


def _touched(number: int) -> list[str]:
    others = [INDEX] if number % 5 == 0 else [_note(number)] if number < DOCUMENTS else []
    return [BUSY, *others]


def _recorded(
    store: Store, owner: User, agents: list[Agent], made: list[tuple[str, str, list[str]]], first: int
) -> None:
    """Write the rows of some commits, as landing them one by one would."""
    agent, early = agents
    with transaction.atomic():
        proposals = Proposal.objects.bulk_create(
            Proposal(store=store, agent=agent, state=State.APPLIED, fingerprint=oid, paths=paths, title="Port moves",
                     source={"session": oid[:8], "evidence": "it moved"})
            for oid, _, paths in made
        )  # fmt: skip
        Revision.objects.bulk_create(
            Revision(proposal=proposal, base=parent, submitted_base=parent, agent=agent, verdict="review")
            for proposal, (_, parent, _) in zip(proposals, made, strict=True)
        )
        decisions = [
            ledger.record(Decision(proposal=one, store=store, revision=1, verb=Verb.APPROVE, person=owner))
            for one in proposals
        ]
        changes = Change.objects.bulk_create(
            Change(oid=oid, parent=parent, store=store, proposal=proposal, decision=decision, person=owner,
                   agent=early if number <= EARLY else agent,
                   kind=ChangeKind.ROLLBACK if number <= EARLY else ChangeKind.APPROVED, at=_time(number),
                   title=f"Port {number} moves", paths=paths)
            for number, (proposal, decision, (oid, parent, paths)) in enumerate(
                zip(proposals, decisions, made, strict=True), start=first
            )
        )  # fmt: skip
        ChangedPath.objects.bulk_create(
            ChangedPath(change=change, store=store, path=path) for change in changes for path in change.paths
        )


def _note(number: int) -> str:
    return f"notes/note_{number}.md"


def _text(path: str, edits: Mapping[int, int]) -> bytes:
    lines = [f"- Service {line} of {path} listens on port {edits.get(line, 0)}." for line in range(LINES)]
    return ("# Ports\n\n" + "\n".join(lines) + "\n").encode()
