"""When baselines are packed, and what is never dropped."""

from __future__ import annotations

import os
import time

import pytest
from django.contrib.auth.models import User
from django_q.models import Schedule

from memoryreview.baseline import packing
from memoryreview.baseline.packing import Clutter
from memoryreview.core.edits import Write
from memoryreview.review import tasks
from memoryreview.review.models import Change, Store
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.stores import baseline_dir
from memoryreview.review.operations.upkeep import COLLECT_AFTER_S, DAY_S, MAX_LOOSE, SOME_LOOSE, Round, due, upkeep
from memoryreview.review.schedule import ensure_schedules
from tests.baseline.git_checks import git
from tests.conftest import MakeStore, Propose
from tests.review.operations.test_decide import approve

NOW = DAY_S / 2
SMALL = SOME_LOOSE - 1


@pytest.mark.parametrize(
    ("found", "packed_ago_s", "collected_ago_s", "expected"),
    [
        (Clutter(SMALL, 0, 0), 1e9, 1e9, None),
        (Clutter(SMALL, 0, 1), 1e9, 1e9, None),
        (Clutter(SOME_LOOSE, 0, 0), 1e9, 1e9, Round.COLLECT),
        (Clutter(0, 0, 2), NOW, COLLECT_AFTER_S, Round.COLLECT),
        (Clutter(SOME_LOOSE, 0, 1), NOW, NOW, None),
        (Clutter(SOME_LOOSE, 0, 1), DAY_S, NOW, Round.PACK),
        (Clutter(SOME_LOOSE, 0, 1), -1, NOW, Round.PACK),
        (Clutter(MAX_LOOSE, 0, 1), 1, 1, Round.PACK),
        (Clutter(3, 9 * 1024 * 1024, 1), 1, 1, Round.PACK),
        (Clutter(0, 0, 21), 1, 1, Round.PACK),
    ],
)
def test_it_is_time_when_much_is_loose_or_much_time_has_passed(
    found: Clutter, packed_ago_s: float, collected_ago_s: float, expected: Round | None
) -> None:
    assert due(found, packed_ago_s=packed_ago_s, collected_ago_s=collected_ago_s) == expected


@pytest.fixture
def busy(make_store: MakeStore) -> Store:
    """A store with loose objects: many small changes leave them, and adopting many documents at once makes a pack."""
    store = make_store({f"note_{n}.md": f"# Note {n}\n\n- A fact.\n" for n in range(SOME_LOOSE)})
    for path in (baseline_dir(store) / "objects" / "pack").iterdir():
        content = path.read_bytes()
        path.unlink()
        if path.suffix == ".pack":
            git(baseline_dir(store), "unpack-objects", "-q", content=content)
    return store


def orphaned(store: Store) -> str:
    """Store an object that nothing reaches, as if it had been there for a month."""
    oid = git(baseline_dir(store), "hash-object", "-w", "--stdin", content=b"out of reach\n").decode().strip()
    month_ago = time.time() - 30 * DAY_S
    os.utime(baseline_dir(store) / "objects" / oid[:2] / oid[2:], (month_ago, month_ago))
    return oid


def has(store: Store, oid: str) -> bool:
    return oid in git(baseline_dir(store), "cat-file", "--batch-check", "--batch-all-objects").decode()


def test_a_store_that_grew_is_collected_once_and_then_left_alone(busy: Store, propose: Propose, owner: User) -> None:
    lost = orphaned(busy)
    assert tasks.pack_baselines() == 1
    assert packing.clutter(baseline_dir(busy)).loose == 0
    assert not has(busy, lost)
    assert tasks.pack_baselines() == 0
    approve(propose(busy, Write("note_1.md", "# Note 1\n\n- Another fact.\n")), owner)
    assert audit() == []


def test_nothing_is_dropped_while_a_recorded_commit_is_off_the_branch(busy: Store) -> None:
    lost = orphaned(busy)
    Change.objects.create(store=busy, oid="1" * 40, kind="approved", title="Taken off the branch by somebody")
    assert upkeep(busy) == Round.PACK
    assert has(busy, lost)


def test_a_baseline_that_is_gone_does_not_stop_the_others(busy: Store, make_store: MakeStore) -> None:
    other = make_store({"a.md": "- A.\n"}, name="other")
    baseline_dir(other).rename(baseline_dir(other).with_suffix(".away"))
    assert tasks.pack_baselines() == 1


@pytest.mark.django_db(databases=["default", "queue"])
def test_the_clock_packs() -> None:
    ensure_schedules()
    assert Schedule.objects.get(name="pack").func == f"{tasks.__name__}.{tasks.pack_baselines.__name__}"
