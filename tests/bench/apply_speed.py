"""`python -m tests.bench apply_speed`: what one durable apply and one rollback cost, from the request to the answer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from memoryreview.review.models import Change
from memoryreview.review.operations import rollback

from .installation import Memory, documents, folder, person_and_agent
from .timing import Ratios, ratios, verdict
from .yardstick import Yardstick

SMALL, USUAL, LARGE = 100, 1_000, 10_000
COMMITS = 20_000


class ByHand:
    """A work tree in which somebody types `git add` and `git commit`, made durable by git's own setting."""

    def __init__(self, name: str, texts: Mapping[str, bytes]) -> None:
        self._root = folder(name)
        for path, content in texts.items():
            (self._root / path).parent.mkdir(parents=True, exist_ok=True)
            (self._root / path).write_bytes(content)
        self._git("init", "-q", "-b", "main")
        for key, value in (("gc.auto", "0"), ("user.name", "b"), ("user.email", "b@localhost")):
            self._git("config", key, value)
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "Adopt")
        self._git("config", "core.fsync", "all")

    def apply(self, path: str, new: bytes) -> None:
        (self._root / path).write_bytes(new)
        self._git("add", "--", path)
        self._git("commit", "-q", "-m", "Change one file")

    def _git(self, *arguments: str) -> None:
        own = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *arguments], cwd=self._root, check=True, capture_output=True, env=own)


def texts_in_turn(texts: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield one document after the other with a line added, for ever."""
    number = 0
    while True:
        for path, content in texts.items():
            number += 1
            yield path, content + b"- Line %d.\n" % number


def _prepared(apply: Callable[[str, bytes], object], texts: Mapping[str, bytes]) -> Callable[[], Callable[[], object]]:
    turns = texts_in_turn(texts)
    return lambda: partial(apply, *next(turns))


def run(*, rounds: int) -> bool:
    person, agent = person_and_agent()
    memories = {
        count: Memory(f"memory-{count}", count, person=person, agent=agent, history=COMMITS if count == LARGE else 0)
        for count in (SMALL, USUAL, LARGE)
    }
    works: dict[str, Callable[[], Callable[[], object]]] = {}
    texts = documents(USUAL)
    works["yardstick"] = _prepared(Yardstick(folder("yardstick"), texts).apply, texts)
    for count in (USUAL, LARGE):
        works[f"git {count}"] = _prepared(ByHand(f"git-{count}", documents(count)).apply, documents(count))
    for count, memory in memories.items():
        works[f"apply {count}"] = lambda memory=memory: partial(memory.submit, agent, memory.next_request())  # type: ignore[misc]
    for count in (USUAL, LARGE):
        landed = iter(_landed(memories[count]))
        works[f"rollback {count}"] = lambda landed=landed: partial(rollback.roll_back, next(landed), person=person)  # type: ignore[misc]
    for count in (USUAL, LARGE):
        memories[count].submit(agent, memories[count].next_request())
    return _judge(ratios(works, rounds))


def _landed(memory: Memory) -> Iterator[Change]:
    """Yield each automatic change of a store once, oldest first, as a page has read it."""
    last = 0
    while True:
        found = Change.objects.filter(store=memory.store, kind="auto", pk__gt=last).select_related("store")
        change = found.order_by("pk")[0]
        last = change.pk
        yield change


def _judge(found: Ratios) -> bool:
    print("\n".join(found.lines()))
    usual, large = f"apply {USUAL}", f"apply {LARGE}"
    bounds = [
        ("P1 apply against the bare durable commit, 1,000 files", usual, "yardstick", 1.5),
        ("P2 apply against git add and git commit, 1,000 files", usual, f"git {USUAL}", 0.5),
        ("P2 the same with 10,000 files", large, f"git {LARGE}", 0.35),
        ("P3 10,000 files and 20,000 commits against 100 and none", large, f"apply {SMALL}", 1.3),
        ("P9 rollback against apply, 1,000 files", f"rollback {USUAL}", usual, 1.5),
        ("P9 rollback against apply, 10,000 files", f"rollback {LARGE}", large, 1.5),
    ]
    held = [verdict(name, found.ratio(work, against), bound) for name, work, against, bound in bounds]
    return all(held)
