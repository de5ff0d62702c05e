"""Several processes at one store at the same moment, and what has to come of it.

Each crowd prepares a world, then lets every one of `acts` go in a process of its own when all of them stand ready.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connections

from memoryreview.core.edits import Write
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review import tasks
from memoryreview.review.models import Change, ChangeKind, Decision, Proposal, State, Store
from memoryreview.review.operations import decide
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import reading

from .invariants import broken, on_disk, witness
from .scenarios import (
    DOCUMENTS,
    Notes,
    adopt_second,
    approve,
    direct_write,
    notes_store,
    owner,
    replaced,
    second_folder,
    send,
    submit,
)

ROWS = 20
PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Crowd:
    """Args: expected: what stands at the end, from the outcomes of all; a list of faults."""

    name: str
    prepare: Callable[[], Notes]
    acts: Sequence[Callable[[Notes], object]]
    expected: Callable[[Notes, list[str]], list[str]]


def outcome_of(act: Callable[[Notes], object], notes: Notes) -> str:
    """Return "done", or the class of the refusal."""
    try:
        act(notes)
    except MemoryReviewError as error:
        return type(error).__name__
    return "done"


def judge(crowd: Crowd, notes: Notes, outcomes: list[str]) -> dict[str, Any]:
    seen = witness()
    tasks.capture_stores()
    faults = [*broken(seen), *crowd.expected(notes, outcomes)]
    connections.close_all()
    return {"faults": faults, "state": {"outcomes": outcomes}}


def _row(number: int) -> str:
    return f"- [Topic {number}](topic_{number}.md) — what number {number} is about\n"


def _twenty_rows() -> Notes:
    proposals = []
    for number in range(ROWS):
        edit = replaced("MEMORY.md", "how we release\n", f"how we release\n{_row(number)}")
        proposals.append(submit(edit, Write(f"topic_{number}.md", f"Topic {number}.\n")).pk)
    return {"proposals": proposals}


def _approve_half(part: int) -> Callable[[Notes], object]:
    def approve_with_threads(notes: Notes) -> None:
        errors: list[BaseException] = []

        def press(proposal: int) -> None:
            try:
                approve(proposal)
            except BaseException as error:  # noqa: BLE001  # told below
                errors.append(error)
            finally:
                connections.close_all()

        presses = [threading.Thread(target=press, args=(one,)) for one in notes["proposals"][part::PROCESSES]]
        for thread in presses:
            thread.start()
        for thread in presses:
            thread.join()
        if errors:
            raise errors[0]

    return approve_with_threads


def _all_rows_stand(notes: Notes, outcomes: list[str]) -> list[str]:
    index = on_disk(notes_store())["MEMORY.md"]
    missing = [number for number in range(ROWS) if index.count(_row(number)) != 1]
    commits = Change.objects.filter(kind=ChangeKind.APPROVED).count()
    waiting = Proposal.objects.exclude(state=State.APPLIED).count()
    is_fine = not missing and commits == ROWS and not waiting and outcomes == ["done"] * PROCESSES
    return [] if is_fine else [f"missing rows {missing}, {commits} commits, {waiting} waiting, {outcomes}"]


def _one_port() -> Notes:
    proposal = submit(replaced("ports.md", "5432", "6432"))
    return {"proposal": proposal.pk, "version": proposal.version}


def _press_approve(notes: Notes) -> None:
    """Press approve on a page that was read before anybody decided."""
    decide.approve(notes["proposal"], person=owner(), version=notes["version"], shown=notes["shown"])


def _press_reject(notes: Notes) -> None:
    decide.reject(notes["proposal"], person=owner(), version=notes["version"])


def _seen_port() -> Notes:
    notes = _one_port()
    proposal = decide.fetch(notes["proposal"])
    with reading(proposal.store) as repository:
        return {**notes, "shown": standing(proposal.revision, repository).shown}


def _first_wins(_notes: Notes, outcomes: list[str]) -> list[str]:
    state, ports = Proposal.objects.get().state, on_disk(notes_store())["ports.md"]
    verbs = Decision.objects.filter(proposal__isnull=False).count()
    is_applied = state == State.APPLIED
    fine = sorted(outcomes) == ["AlreadyDecidedError", "done"] and verbs == 1 and is_applied == ("6432" in ports)
    return [] if fine and is_applied == (outcomes[0] == "done") else [f"{outcomes}, {state}, {verbs} decisions"]


def _one_commit(_notes: Notes, outcomes: list[str]) -> list[str]:
    commits = Change.objects.exclude(kind=ChangeKind.ADOPT).count()
    is_fine = commits == 1 and set(outcomes) == {"done"}
    return [] if is_fine else [f"{outcomes}, {commits} commits"]


def _one_store(_notes: Notes, outcomes: list[str]) -> list[str]:
    stores = Store.objects.filter(slug="second").count()
    is_fine = stores == 1 and outcomes.count("done") >= 1 and set(outcomes) <= {"done", "AdoptError"}
    return [] if is_fine else [f"{outcomes}, {stores} stores"]


def _write_beside() -> Notes:
    notes = _one_port()
    path = Path(notes_store().root) / "ports.md"
    path.write_text(DOCUMENTS["ports.md"].replace("Mail: sink.", "Mail: the other sink."))
    return notes


def _both_kept(_notes: Notes, outcomes: list[str]) -> list[str]:
    ports = on_disk(notes_store())["ports.md"]
    states = sorted(Proposal.objects.exclude(state=State.SUPERSEDED).values_list("state", flat=True))
    is_fine = "6432" in ports and "the other sink" in ports and states == [State.APPLIED, State.PENDING]
    return [] if is_fine and set(outcomes) == {"done"} else [f"{outcomes}, {states}, {ports!r}"]


def _captured_once(_notes: Notes, outcomes: list[str]) -> list[str]:
    commits = Change.objects.exclude(kind=ChangeKind.ADOPT).count()
    waiting = list(Proposal.objects.values_list("paths", flat=True))
    is_fine = commits == 1 and waiting == [["found.md", "gone.md", "ports.md"]] and set(outcomes) == {"done"}
    return [] if is_fine else [f"{outcomes}, {commits} commits, {waiting}"]


_CROWDS = (
    Crowd("twenty approvals", _twenty_rows, [_approve_half(0), _approve_half(1)], _all_rows_stand),
    Crowd("approve against reject", _seen_port, [_press_approve, _press_reject], _first_wins),
    Crowd("the same decision twice", _seen_port, [_press_approve, _press_approve], _one_commit),
    Crowd("two adopts of one folder", second_folder, [adopt_second, adopt_second], _one_store),
    Crowd(
        "capture beside approve",
        _write_beside,
        [lambda notes: approve(notes["proposal"]), lambda _: capture(notes_store())],
        _both_kept,
    ),
    Crowd(
        "a task delivered three times",
        direct_write,
        [lambda _: tasks.capture_stores()] * 3,
        _captured_once,
    ),
    Crowd(
        "a proposal delivered three times",
        lambda: {"edits": [("13/04/2025", "2025-04-13")]},
        [send] * 3,
        _one_commit,
    ),
)
CROWDS: Mapping[str, Crowd] = {one.name: one for one in _CROWDS}
