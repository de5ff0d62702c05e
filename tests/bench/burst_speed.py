"""`python -m tests.bench burst_speed`: what each of fifty proposals costs that are approved together, or tidied."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib.auth.models import User

from memoryreview.core.edits import Edit, Replacement
from memoryreview.review.models import Agent
from memoryreview.review.operations import receive
from memoryreview.review.operations.batch import Selected, approve_many
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import reading

from .apply_speed import texts_in_turn
from .installation import Memory, documents, folder, person_and_agent
from .timing import ratios, verdict
from .yardstick import Yardstick

DOCUMENTS = 1_000
BURST = 50
BOUND = 0.35


def run(*, rounds: int) -> bool:
    person, agent = person_and_agent()
    texts = documents(DOCUMENTS)
    turns = texts_in_turn(texts)
    yardstick = Yardstick(folder("yardstick"), texts)
    memory = Memory("burst", DOCUMENTS, person=person, agent=agent)
    works: dict[str, Callable[[], Callable[[], object]]] = {
        "fifty yardsticks": lambda: partial(_all, yardstick.apply, [next(turns) for _ in range(BURST)]),
        "approve fifty": lambda: partial(_approve, _waiting(memory, agent), person),
    }
    found = ratios(works, rounds)
    print("\n".join(found.lines()))
    return verdict("P4 each of fifty approved together", found.ratio("approve fifty", "fifty yardsticks"), BOUND)


def _all(apply: Callable[[str, bytes], None], changes: list[tuple[str, bytes]]) -> None:
    for path, new in changes:
        apply(path, new)


def _approve(selected: list[Selected], person: User) -> None:
    outcomes = approve_many(selected, person=person)
    refused = [outcome.refusal for outcome in outcomes if outcome.change is None]
    if refused:
        raise RuntimeError(f"{len(refused)} of the burst did not land: {refused[0]}")


def _waiting(memory: Memory, agent: Agent) -> list[Selected]:
    """Send fifty changes of meaning, each of a document of its own, and look at them."""
    selected = []
    for _ in range(BURST):
        path, old, _new = memory.next_place()
        edit = Edit(path, (Replacement(f"went out on {old}", f"was withdrawn on {old}"),))
        request = receive.Request(memory.store.slug, (edit,))
        proposal = receive.submit(request, agent=agent).proposal
        if proposal is None:
            raise RuntimeError("a change of meaning must wait")
        with reading(memory.store) as repository:
            shown = standing(proposal.revision, repository).shown
        selected.append(Selected(proposal.pk, proposal.version, shown))
    return selected
