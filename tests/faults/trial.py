"""What happens inside the children of the laboratory: act under a fault, recover as a restart does, judge."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review import tasks
from memoryreview.review.models import Decision, Proposal, Store, TidyStop, Verb
from memoryreview.review.operations.reconcile import reconcile_all

from .invariants import Witness, broken, broken_rows, history_of, kept_texts, on_disk, witness
from .lab import Experiment
from .scenarios import SCENARIOS, Notes
from .tripwire import DATABASE_ERRORS, SYSTEM_ERRORS, Fault, Killed, Tripwire

ERRORS = (*SYSTEM_ERRORS, *DATABASE_ERRORS)
INTRUDER = "\nWritten by another program at that very moment.\n"


def look() -> dict[str, Any]:
    """Keep what stands before the operation, for the children that come after."""
    (settings.HOME.parent / "witness").write_bytes(pickle.dumps(witness()))
    return {}


def act(experiment: Experiment, notes: Notes, expected: dict[str, Any] | None) -> dict[str, Any]:
    """Run the operation. A process that survives its fault is judged as it lives on, without a restart."""
    scenario = SCENARIOS[experiment.scenario]
    seen: list[Witness] = []

    def intrude() -> None:
        store = Store.objects.get(slug="notes")
        path = settings.HOME.parent / "memory" / store.slug / scenario.touches
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((path.read_bytes() if path.exists() else b"") + INTRUDER.encode())

    is_broken = bool(experiment.at or experiment.where)
    fault = Fault(experiment.what, experiment.at, experiment.where) if is_broken else None
    wire = Tripwire(fault, intrude)
    wire.arm()
    error, faults = "", []
    try:
        scenario.act(notes)
    except Killed:
        error = "killed"
    except (MemoryReviewError, DatabaseError) as refused:
        error = f"{type(refused).__name__}: {refused}"
    except Exception as escaped:  # noqa: BLE001  # any other is a finding
        error = f"{type(escaped).__name__}: {escaped}"
        faults.append(f"no sentence for a person: {error}, from {_place(escaped)}")
    events = list(wire.events)
    wire.disarm()
    answer = {"events": events, "tripped": wire.tripped, "error": error}
    # the rest as in a server that lives on
    judged = judge(experiment, notes, expected, seen)
    return {**answer, **judged, "faults": [*faults, *judged["faults"]]}


def _place(error: Exception) -> str:
    """Return which lines of the product let it pass, outermost first."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "memoryreview" in Path(one.filename).parts]
    return " > ".join(f"{Path(one.filename).stem}:{one.lineno} {one.name}" for one in frames)


def recover(experiment: Experiment) -> dict[str, Any]:
    """Recover, and be killed on the way."""
    wire = Tripwire(Fault("kill", experiment.again, skips=bool(experiment.where)))
    wire.arm()
    _recovered()
    return {}


def _recovered() -> list[str]:
    """What a start does, and then the worker."""
    faults = reconcile_all()
    tasks.capture_stores()
    return faults


def judge(
    experiment: Experiment, notes: Notes, expected: dict[str, Any] | None, seen: list[Witness] | None = None
) -> dict[str, Any]:
    """Recover, check every invariant, ask for the operation once more, check again and compare with a clean run."""
    scenario = SCENARIOS[experiment.scenario]
    seen = [pickle.loads((settings.HOME.parent / "witness").read_bytes()), *(seen or []), witness()]
    wire = Tripwire()
    wire.arm()
    faults = [f"recovery: {sentence}" for sentence in _recovered()]
    recovery = list(wire.events)
    faults += broken(*seen, erased=scenario.erases.encode())
    if experiment.what == "write" and not any(INTRUDER.encode() in text for text in kept_texts()):
        faults.append("lost: what another program wrote meanwhile")
    if scenario.is_many and experiment.what in ERRORS and expected is not None:
        expected = _in_this_order(expected, _state())
    if expected is not None and experiment.what != "write" and not scenario.erases:
        faults += _beyond(expected, _state())
    if experiment.what != "write":
        try:
            scenario.act(notes)
        except MemoryReviewError as error:
            faults.append(f"asked again, it says: {error}")
        _recovered()
        faults += [f"asked again: {fault}" for fault in broken_rows()]
    state = _state()
    if scenario.is_many and experiment.what in ERRORS and expected is not None:
        expected = _in_this_order(expected, state)
    compared = ("differing",) if experiment.what in ERRORS and _was_put_off() else tuple(state)
    if expected is not None and experiment.what != "write":
        faults += [
            f"asked again: {key} is {state[key]}, not {expected[key]}"
            for key in compared
            if state[key] != expected[key]
        ]
    connections.close_all()
    return {"faults": faults, "recovery": recovery, "state": state}


def _was_put_off() -> bool:
    """Whether the system's refusal left something to a person: a safe edit that waits with the reason, a rule that
    tidies no more."""
    decided = Decision.objects.filter(verb=Verb.APPROVE).values("proposal")
    was_approved = Decision.objects.filter(verb=Verb.AUTO_APPLY, proposal__in=decided).exists()
    return was_approved or Proposal.objects.exclude(failure="").exists() or TidyStop.objects.exists()


def _state() -> dict[str, Any]:
    stores = list(Store.objects.order_by("slug"))
    return {
        "history": {store.slug: history_of(store) for store in stores},
        "disk": {store.slug: on_disk(store) for store in stores},
        "differing": {store.slug: store.differing for store in stores},
        "proposals": sorted([path, proposal.state] for proposal in Proposal.objects.all() for path in proposal.paths),
    }


def _in_this_order(expected: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """Return what is expected when changes land in the order in which they did: as many, each once, to the same end."""

    def ordered(wanted: list[str], trees: list[str]) -> list[str]:
        is_whole = len(trees) == len(wanted) and trees[-1] == wanted[-1]
        is_part = len(trees) < len(wanted) and wanted[-1] not in trees
        is_fine = (is_whole or is_part) and trees[0] == wanted[0] and len({*trees}) == len(trees)
        return [*trees, *wanted[len(trees) :]] if is_fine else wanted

    histories = {slug: ordered(wanted, state["history"][slug]) for slug, wanted in expected["history"].items()}
    return {**expected, "history": histories}


def _beyond(expected: dict[str, Any], state: dict[str, Any]) -> list[str]:
    """Recovered histories are beginnings of the history that a clean run makes: nothing else, nothing twice."""
    return [
        f"recovered: the history of {slug} is {trees}, no part of {expected['history'].get(slug)}"
        for slug, trees in state["history"].items()
        if trees != expected["history"].get(slug, [])[: len(trees)]
    ]
