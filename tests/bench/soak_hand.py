"""What one process of the soak does: ordinary operations on the product, and the comparison with the model."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from memoryreview.core.edits import Edit, Replacement
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review import tasks
from memoryreview.review.models import Agent, Change, ChangeKind, Proposal, State, Store, Verb
from memoryreview.review.operations import accounts, decide, receive, restore, rollback
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.reconcile import reconcile_all
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import reading
from memoryreview.review.operations.tidy import tidy
from tests.faults.invariants import broken

from . import soak

Held = dict[str, Counter[str]]
"""The lines of each document, and how often each stands."""
Effect = dict[str, tuple[Counter[str], Counter[str]]]
"""The lines that come and go, by document."""
Command = dict[str, Any]


def found(folder: Path, command: Command) -> dict[str, Any]:
    """Make the stores."""
    person = User.objects.create_user("olga", is_superuser=True)
    accounts.add_agent("claude", person=person)
    for store in range(soak.STORES):
        root = folder / "memory" / f"store-{store}"
        root.mkdir(parents=True)
        for document in range(soak.DOCUMENTS):
            lines = [_line(f"{store}{document}{line}", command["seed"]) for line in range(soak.LINES)]
            (root / f"d{document}.md").write_text("".join(lines))
        adopt(root, name=f"store-{store}")
    return {"outcome": "done"}


def _line(what: str, value: int) -> str:
    return f"- Service {what} listens on port {value}.\n"


def act(command: Command) -> dict[str, Any]:
    """Do one thing. The outcome is "done", "nothing" to do, "refused: …" or "escaped: …", which must never be."""
    try:
        if command["do"] == "check":
            return _check(command)
        return {"outcome": "done", **(_VERBS[command["do"]](command, random.Random(command["seed"])) or {})}
    except MemoryReviewError as error:
        return {"outcome": f"refused: {type(error).__name__}"}
    except Exception as error:  # noqa: BLE001  # a finding, told to the driver
        return {"outcome": f"escaped: {type(error).__name__}: {error}"}


def _store(command: Command) -> Store:
    return Store.objects.get(slug=command["store"])


def _owner() -> User:
    return User.objects.get(username="olga")


def _propose(command: Command, choose: random.Random) -> dict[str, Any]:
    store, path = _store(command), f"d{choose.randrange(soak.DOCUMENTS)}.md"
    with reading(store) as repository:
        lines = repository.snapshot(repository.head() or "").get(path, b"").decode().splitlines(keepends=True)
    if not lines:
        return {"outcome": "nothing"}
    old, own = choose.choice(lines), _line(f"n{command['number']}", command["number"])
    new = {"add": old + own, "replace": own, "remove": "", "repeat": old + old}[
        choose.choices(["add", "replace", "remove", "repeat"], [6, 4, 1, 1])[0]
    ]
    if lines.count(old) != 1:
        return {"outcome": "nothing"}
    request = receive.Request(store.slug, (Edit(path, (Replacement(old, new),)),))
    made = receive.submit(request, agent=Agent.objects.get(name="claude")).proposal
    adds = sorted(Counter(new.splitlines()) - Counter([old.strip()]))
    asked = {"path": path, "adds": adds, "removes": [] if old in new else [old]}
    return {"proposal": made.pk, "asked": asked} if made is not None else {"outcome": "nothing"}


def _waiting(command: Command, choose: random.Random) -> Proposal | None:
    waiting = list(Proposal.objects.filter(store__slug=command["store"], state=State.PENDING).order_by("pk"))
    return choose.choice(waiting) if waiting else None


def _approve(command: Command, choose: random.Random) -> dict[str, Any]:
    proposal = _waiting(command, choose)
    if proposal is None:
        return {"outcome": "nothing"}
    with reading(proposal.store) as repository:
        shown = standing(proposal.revision, repository).shown
    done = decide.approve(proposal.pk, person=_owner(), version=proposal.version, shown=shown)
    assert done.change is not None
    return {"proposal": proposal.pk, "change": done.change.oid}


def _reject(command: Command, choose: random.Random) -> dict[str, Any]:
    proposal = _waiting(command, choose)
    if proposal is None:
        return {"outcome": "nothing"}
    decide.reject(proposal.pk, person=_owner(), version=proposal.version)
    return {"proposal": proposal.pk, "rejected": True}


def _both(command: Command, choose: random.Random) -> dict[str, Any]:
    """Decide on the newest proposal, as another process may do at this moment."""
    return (_approve if choose.random() < 0.5 else _reject)(command, random.Random(0))


def _write(command: Command, choose: random.Random) -> None:
    """Write to a file as an agent does, without asking: in place, or by a rename."""
    path = Path(_store(command).root) / f"d{choose.randrange(soak.DOCUMENTS)}.md"
    text = path.read_text() + _line(f"w{command['number']}", command["number"])
    if choose.random() < 0.5:
        path.write_text(text)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text)
    beside.replace(path)


def _roll_back(command: Command, choose: random.Random) -> dict[str, Any]:
    changes = Change.objects.filter(store__slug=command["store"]).exclude(kind=ChangeKind.ADOPT)
    recent = list(changes.select_related("store").order_by("-pk")[:12])
    if not recent:
        return {"outcome": "nothing"}
    return {"change": rollback.roll_back(choose.choice(recent), person=_owner()).oid}


def _restore(command: Command, choose: random.Random) -> dict[str, Any]:
    store = _store(command)
    oids = list(Change.objects.filter(store=store).order_by("-pk").values_list("oid", flat=True)[:8])
    to = choose.choice(oids)
    return {"change": restore.restore(store, to=to, person=_owner(), shown=restore.plan(store, to).shown).oid}


def _tidy(command: Command, _choose: random.Random) -> None:
    tidy(_store(command), person=_owner())


def _capture(command: Command, _choose: random.Random) -> None:
    capture(_store(command))


_VERBS: Mapping[str, Callable[[Command, random.Random], dict[str, Any] | None]] = {
    "propose": _propose,
    "approve": _approve,
    "reject": _reject,
    "both": _both,
    "write": _write,
    "capture": _capture,
    "roll_back": _roll_back,
    "restore": _restore,
    "tidy": _tidy,
}


def _check(command: Command) -> dict[str, Any]:
    """Recover, check every invariant, replay every store in the model, and look for what was acknowledged."""
    reconcile_all()
    tasks.capture_stores()
    faults, commits = broken(), 0
    for store in Store.objects.order_by("pk"):
        replayed, found = _replay(store)
        commits += replayed
        faults += found
    for told in command["acknowledged"]:
        faults += _kept_promise(told)
    return {"outcome": "done", "faults": faults, "commits": commits}


def _kept_promise(told: dict[str, Any]) -> list[str]:
    promised = told.get("change")
    if promised and Change.objects.filter(oid=promised).count() != 1:
        return [f"{told['do']} {told['number']} was acknowledged, and its change {promised} is not there once"]
    if told.get("rejected"):
        kinds = Change.objects.filter(proposal=told["proposal"]).values_list("kind", flat=True)
        return [f"proposal {told['proposal']} was rejected and applied"] if ChangeKind.APPROVED in kinds else []
    if "asked" in told and (asked := told["asked"]):
        revision = Proposal.objects.get(pk=told["proposal"]).revisions.get(number=1)
        adds, removes = _wanted(Proposal.objects.get(pk=told["proposal"]), revision.pk).get(
            asked["path"], (Counter(), Counter())
        )
        removed = Counter(line.strip() for line in asked["removes"])
        if not (adds <= Counter(asked["adds"]) and removes <= removed):
            return [f"proposal {told['proposal']} holds {adds}, {removes}, and not {asked}"]
    return []


def _lines_of(content: bytes | None) -> Counter[str]:
    return Counter((content or b"").decode().splitlines())


def _state_at(store: Store, oid: str) -> Held:
    with reading(store) as repository:
        return {path: _lines_of(content) for path, content in repository.snapshot(oid).items()}


def _wanted(proposal: Proposal, revision_pk: int) -> Effect:
    """Return what a revision adds and takes away, by document, from what it was made from."""
    revision = proposal.revisions.get(pk=revision_pk)
    base = _state_at(proposal.store, revision.submitted_base)
    wanted = {}
    for path, content in revision.delta().items():
        before, after = base.get(path, Counter()), _lines_of(content)
        wanted[path] = after - before, before - after
    return wanted


def _replay(store: Store) -> tuple[int, list[str]]:
    changes = list(Change.objects.filter(store=store).select_related("proposal__agent", "decision").order_by("pk"))
    state = _state_at(store, changes[0].oid)
    effects: dict[int, Effect] = {}
    states = {changes[0].oid: state}
    faults: list[str] = []
    for change in changes[1:]:
        before, state = state, _next(change, state, states, effects)
        stands = _state_at(store, change.oid)
        if _is_proved(change):  # it repeats nothing and loses nothing: how often a line stands is its business
            state = stands if _said(stands) == _said(state) else state
        if change.parent not in states or stands != {path: lines for path, lines in state.items() if lines}:
            missing = {p: _apart(state.get(p, Counter()), stands.get(p, Counter())) for p in {*state, *stands}}
            faults.append(f"{store.slug}, {change.kind} {change.pk}: git and the model differ in {missing}")
            state = stands
        effects[change.pk] = {
            path: (
                state.get(path, Counter()) - before.get(path, Counter()),
                before.get(path, Counter()) - state.get(path, Counter()),
            )
            for path in {*state, *before}
        }
        states[change.oid] = state
    return len(changes), faults


def _is_proved(change: Change) -> bool:
    is_decided = change.kind in (ChangeKind.RESTORE, ChangeKind.ROLLBACK)
    return not is_decided and (change.decision is None or change.decision.verb != Verb.APPROVE)


def _said(held: Held) -> dict[str, set[str]]:
    return {path: set(lines) for path, lines in held.items() if lines}


def _apart(one: Counter[str], other: Counter[str]) -> list[str]:
    return sorted(((one - other) + (other - one)).elements())


def _next(
    change: Change,
    state: Held,
    states: Mapping[str, Held],
    effects: Mapping[int, Effect],
) -> Held:
    """Return what the model says a change makes of a store."""
    if change.kind == ChangeKind.RESTORE:
        assert change.decision is not None
        return states[change.decision.change]
    if change.kind == ChangeKind.ROLLBACK:
        for undone in change.rolls_back.order_by("-pk"):
            state = _with(state, {path: (gone, came) for path, (came, gone) in effects[undone.pk].items()})
        return state
    proposal = change.proposal
    assert proposal is not None
    if _is_proved(change):
        return state
    assert change.decision is not None
    revision = proposal.revisions.get(number=change.decision.revision)
    return _with(state, _wanted(proposal, revision.pk))


def _with(state: Held, delta: Effect) -> Held:
    changed = dict(state)
    for path, (adds, removes) in delta.items():
        changed[path] = (changed.get(path, Counter()) - removes) + adds
    return changed
