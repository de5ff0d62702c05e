"""The operations that the matrix breaks: each prepares a store, acts, and may be asked again after anything.

A new operation is one entry in SCENARIOS. `act` is what a person or an agent would do again after an error: it must
come to the same end however often it is asked. `prepare` returns what `act` needs (JSON).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from memoryreview.core.edits import Delete, Edit, Operation, Rename, Replacement, Write
from memoryreview.core.model import Guard
from memoryreview.review.models import Agent, Change, ChangeKind, Erasure, ErasureState, Proposal, State, Store
from memoryreview.review.operations import accounts, batch, decide, erase, receive, restore, rollback
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.proposals import DeliveryKey, Submission
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import reading
from memoryreview.review.operations.tidy import tidy

Notes = dict[str, Any]

PORTS = "# Ports\n\n- Moved on 13/04/2025.\n- Staging listens on 5432.\n- Production listens on 5433.\n\nMail: sink.\n"
TOPIC = "---\nname: release\ndescription: how we release\ntype: project\n---\nTag, then push.\n"
DOCUMENTS: Mapping[str, str] = {
    "MEMORY.md": "- [Ports](ports.md) — where things listen\n- [Release](topics/release.md) — how we release\n",
    "ports.md": PORTS,
    "plain.md": "Plain.\r\nTwo\n",
    "gone.md": "Goes.\n",
    "topics/release.md": TOPIC,
}
TWICE = "- Mail goes to the sink.\n- Staging listens on 5432.\n- Mail goes to the sink.\n"


def found_world(root: Path) -> None:
    """Lay out the memory folder that every scenario starts with, and adopt it."""
    memory = root / "memory" / "notes"
    for path, text in DOCUMENTS.items():
        (memory / path).parent.mkdir(parents=True, exist_ok=True)
        (memory / path).write_bytes(text.encode())
    (memory / "ports.md").chmod(0o640)
    (memory / ".git").mkdir()
    (memory / ".git" / "HEAD").write_text("ref: refs/heads/theirs\n")
    (memory / ".git" / "index.lock").write_bytes(b"")
    (memory / "picture.png").write_bytes(b"\x89PNG")
    person = User.objects.create_user("olga", is_superuser=True)
    accounts.add_agent("claude", person=person)
    adopt(memory, name="notes")


def notes_store() -> Store:
    return Store.objects.get(slug="notes")


def owner() -> User:
    return User.objects.get(username="olga")


def agent() -> Agent:
    return Agent.objects.get(name="claude")


def on_disk(path: str) -> Path:
    return Path(notes_store().root) / path


def replaced(path: str, old: str, new: str) -> Edit:
    return Edit(path, (Replacement(old, new),))


def submit(*operations: receive.RequestedOperation, store: str = "notes") -> Proposal:
    receipt = receive.submit(receive.Request(store, operations), agent=agent())
    assert receipt.proposal is not None
    return receipt.proposal


def approve(proposal_id: int) -> None:
    """Press approve on what the page shows now, twice if it asks; one that shows it applied has no such button."""
    proposal = decide.fetch(proposal_id)
    if proposal.state in (State.PENDING, State.APPLYING):
        with reading(proposal.store) as repository:
            shown = standing(proposal.revision, repository).shown
        decide.approve(proposal.pk, person=owner(), version=proposal.version, shown=shown, confirmed=True)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One operation.

    Args:
        touches: a document that it changes, for the program that writes at the same moment.
        erases: a text that is to be nowhere afterwards; the history is made anew.
        is_thorough: every kind of step is tried in each test run; False where another scenario takes the same steps.
        is_many: it is several operations; those that the system does not refuse go on, and the rest lands later.
    """

    name: str
    act: Callable[[Notes], object]
    prepare: Callable[[], Notes] = dict
    touches: str = "ports.md"
    erases: str = ""
    is_thorough: bool = False
    is_many: bool = False


def _three_proposals() -> Notes:
    edits = (replaced("ports.md", "5432", "6432"), Write("b.md", "b\n"), replaced("plain.md", "Two", "Three"))
    made = [submit(edit) for edit in edits]
    return {"proposals": [proposal.pk for proposal in made]}


def _approve_many(notes: Notes) -> None:
    """Press approve on all that still wait; one that could not be says why."""
    selected = []
    for proposal in Proposal.objects.filter(pk__in=notes["proposals"], state=State.PENDING).order_by("pk"):
        with reading(proposal.store) as repository:
            shown = standing(proposal.revision, repository).shown
        selected.append(batch.Selected(proposal.pk, proposal.version, shown))
    refusals = [outcome.refusal for outcome in batch.approve_many(selected, person=owner()) if outcome.refusal]
    if refusals:
        raise CannotApplyError(refusals[0])


def _proposed(*operations: Operation) -> Callable[[], Notes]:
    return lambda: {"proposal": submit(*operations).pk}


def _approval(name: str, *operations: Operation, touches: str = "ports.md", is_thorough: bool = False) -> Scenario:
    act = lambda notes: approve(notes["proposal"])  # noqa: E731
    return Scenario(name, act, _proposed(*operations), touches, is_thorough=is_thorough)


def send(notes: Notes) -> None:
    """Send one proposal under its idempotency key, as a client does until it gets an answer.

    After a failure of the system a safe edit waits with the reason; somebody approves it then.
    """
    operations = (Edit("ports.md", tuple(Replacement(old, new) for old, new in notes["edits"])),)
    key = DeliveryKey("api", "key-1", "body")
    receipt = receive.submit(receive.Request("notes", operations, submission=Submission()), agent=agent(), delivery=key)
    if receipt.replayed and receipt.proposal is not None and receipt.proposal.failure:
        approve(receipt.proposal.pk)


def _changed() -> Notes:
    proposal = submit(replaced("ports.md", "5432", "6432"), Write("new.md", "New.\n"))
    approve(proposal.pk)
    return {"change": Change.objects.get(proposal=proposal).pk}


def _changed_twice() -> Notes:
    first = _changed()
    approve(submit(replaced("ports.md", "6432", "7432")).pk)
    return first


def _roll_back(notes: Notes) -> None:
    rollback.roll_back(Change.objects.select_related("store").get(pk=notes["change"]), person=owner())


def _roll_back_together(notes: Notes) -> None:
    change = Change.objects.select_related("store").get(pk=notes["change"])
    rollback.roll_back_together(change, person=owner())


def direct_write() -> Notes:
    text = PORTS.replace("13/04/2025", "2025-04-13").replace("5432", "6432")
    on_disk("ports.md").write_text(text)
    on_disk("found.md").write_text("Found.\n")
    on_disk("gone.md").unlink()
    return {}


def _enforced_write() -> Notes:
    Store.objects.filter(slug="notes").update(guard=Guard.ENFORCE)
    return direct_write()


def _captured_write() -> Notes:
    on_disk("ports.md").write_text(PORTS.replace("5432", "6432"))
    (proposal,) = capture(notes_store())
    return {"proposal": proposal.pk}


def _beside_a_direct_write() -> Notes:
    made = _proposed(replaced("ports.md", "5432", "6432"))()
    on_disk("ports.md").write_text(PORTS.replace("Mail: sink.", "Mail: the other sink."))
    return made


def _reject(notes: Notes) -> None:
    proposal = decide.fetch(notes["proposal"])
    if proposal.state == State.PENDING:
        decide.reject(proposal.pk, person=owner(), version=proposal.version)


def _restore(notes: Notes) -> None:
    store = notes_store()
    if Change.objects.filter(store=store, kind=ChangeKind.RESTORE).exists():
        return
    first = Change.objects.get(store=store, kind=ChangeKind.ADOPT).oid
    restore.restore(store, to=first, person=owner(), shown=restore.plan(store, first).shown)


ERASED = "Production listens on 5433."


def _erase(_: Notes) -> None:
    if not Erasure.objects.filter(state=ErasureState.DONE).exists():
        shown = erase.preview(notes_store(), person=owner(), text=ERASED).shown
        erase.erase(notes_store(), person=owner(), shown=shown, confirmation="notes", text=ERASED)


def _untidy() -> Notes:
    for path, text in {"twice.md": TWICE, "again.md": TWICE}.items():
        approve(submit(Write(path, text)).pk)
    row = "- [Ports](ports.md) — where things listen\n"
    approve(submit(Write("MEMORY.md", row + DOCUMENTS["MEMORY.md"])).pk)
    return {}


def _team() -> Notes:
    root = Path(notes_store().root).parent / "team"
    root.mkdir()
    (root / "MEMORY.md").write_text("# Team\n\n- [Window](window.md) — when\n")
    (root / "window.md").write_text("Tuesdays.\n")
    adopt(root, name="team", scope="team", team="acme")  # type: ignore[arg-type]
    return {"proposal": submit(receive.Promote("topics/release.md", "team")).pk}


def second_folder() -> Notes:
    root = Path(notes_store().root).parent / "second"
    (root / "deep").mkdir(parents=True)
    (root / "a.md").write_bytes(b"a\r\nb")
    (root / "deep" / "b.md").write_text("b\n")
    return {"root": str(root)}


def adopt_second(notes: Notes) -> None:
    if not Store.objects.filter(root=notes["root"]).exists():
        adopt(Path(notes["root"]), name="second")


_DATE, _PORT = ("13/04/2025", "2025-04-13"), ("5432", "6432")

_ALL = (
    _approval("approve an edit", replaced("ports.md", "5432", "6432")),
    _approval("approve a new document", Write("deep/er/new.md", "New.\n"), touches="deep/er/new.md"),
    _approval("approve a deletion", Delete("gone.md"), touches="gone.md"),
    _approval("approve a rename", Rename("topics/release.md", "topics/releasing.md"), touches="topics/release.md"),
    _approval(
        "approve all at once",
        replaced("ports.md", "5432", "6432"),
        Write("b.md", "b\n"),
        Delete("gone.md"),
        replaced("plain.md", "Two", "Three"),
        is_thorough=True,
    ),
    Scenario("approve many", _approve_many, _three_proposals, is_many=True),
    Scenario("approve beside a direct write", lambda notes: approve(notes["proposal"]), _beside_a_direct_write),
    Scenario("approve a direct write", lambda notes: approve(notes["proposal"]), _captured_write),
    Scenario("approve a promotion", lambda notes: approve(notes["proposal"]), _team, "topics/release.md"),
    Scenario("a safe edit by its proof", send, lambda: {"edits": [_DATE]}),
    Scenario("a split proposal", send, lambda: {"edits": [_DATE, _PORT]}, is_thorough=True),
    Scenario("reject a direct write", _reject, _captured_write),
    Scenario("roll back", _roll_back, _changed, is_thorough=True),
    Scenario("roll back two together", _roll_back_together, _changed_twice),
    Scenario("restore", _restore, _changed_twice, is_thorough=True),
    Scenario("erase", _erase, _changed_twice, erases=ERASED, is_thorough=True),
    Scenario("capture under observe", lambda _: capture(notes_store()), direct_write),
    Scenario("capture under enforce", lambda _: capture(notes_store()), _enforced_write, is_thorough=True),
    Scenario("tidy", lambda _: tidy(notes_store(), person=owner()), _untidy, "twice.md", is_thorough=True),
    Scenario("adopt", adopt_second, second_folder, is_thorough=True),
)
SCENARIOS: Mapping[str, Scenario] = {one.name: one for one in _ALL}
