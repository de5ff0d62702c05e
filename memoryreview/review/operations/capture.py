"""What was written to a memory folder without asking becomes a proposal of the agent `direct`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from django.db.models import F

from memoryreview.baseline.drift import compare
from memoryreview.baseline.repository import Snapshot
from memoryreview.baseline.scan import is_skipped
from memoryreview.baseline.worktree import Worktree, WorktreeError
from memoryreview.core import scan
from memoryreview.core.classify import rename
from memoryreview.core.model import Delta, Guard, Scope, Tree
from memoryreview.core.names import shown
from memoryreview.review.models import Agent, Proposal, State, Store, Verb

from . import proposals
from .errors import CannotApplyError, NotPermittedError
from .judge import judge
from .keyed import keyed_digest
from .late import named_differing, outdated
from .proposals import Draft, Submission
from .reconcile import reconcile_within
from .record import note_differing
from .settle import settle
from .steady import moving
from .stores import Workshop, locked

ALARM_SHARE = 0.5
"""More than this share of the documents gone between two scans means that the folder is lost, not edited."""
MAX_HELD_WRITES = 5
"""Under `enforce`, that many writes of one document wait; an agent that goes on replaces its newest one."""


def capture(store: Store) -> list[Proposal]:
    """Compare the whole folder with what is approved and propose the difference. Repeating it is harmless.

    Raises: CannotApplyError when the folder or the baseline cannot be used; BusyError.
    """
    with locked(store) as shop:
        reconcile_within(shop)
        return capture_within(shop)


def capture_within(
    shop: Workshop, *, only: Collection[str] | None = None, loss_is_meant: bool = False
) -> list[Proposal]:
    """The same under a lock that is held already; `only` looks at these documents and no others.

    Args: loss_is_meant: a person said that the documents which are gone are to be gone.
    Raises: CannotApplyError when the folder looks lost, or one of these is being written right now.
    """
    tree, held = shop.tree(), held_documents(shop.store)
    try:
        worktree = shop.worktree()
        look = _look(worktree, tree, held, only)
        if only is None or shop.store.alarm or None in look.drift.values():
            whole = look if only is None else _look(worktree, tree, held, None)
            lost = set() if loss_is_meant else lost_documents(tree, whole.drift, held)
            _alarm(shop.store, _loss_words(lost, tree))
    except WorktreeError as error:
        if only is not None:
            raise
        _alarm(shop.store, unusable_folder(error))
    if shop.store.alarm:
        if only is not None:
            raise CannotApplyError(shop.store.alarm)
        return []
    if only is not None and look.unseen:
        path = shown(min(look.unseen))
        raise CannotApplyError(f"“{path}” is being written right now. Nothing was changed; try again in a moment.")
    if only is None:
        _strike_equal(shop.store, look)
    if look.drift:
        late = outdated(shop)
        look = look.without({path for path, new in look.drift.items() if path in late and late[path].holds(new)})
    made = _propose(shop, tree, look, held, only)
    if shop.store.guard == Guard.ENFORCE:
        _put_back(shop, worktree, look, held)
    return made


def _strike_equal(store: Store, look: Look) -> None:
    """Take documents off the list of differing ones that stand as approved again, whoever brought that about."""
    named = named_differing(store)
    equal = [path for path in named if path not in look.drift and not is_skipped(path, look.unseen)]
    if equal:
        note_differing(store, equal, ())


@dataclass(frozen=True, slots=True)
class Look:
    """What differs from the approved documents, what of it no open proposal holds, and where nothing can be said."""

    drift: Delta
    fresh: Delta
    unseen: frozenset[str]

    def without(self, paths: Collection[str]) -> Look:
        """Leave documents out of what differs."""
        drift = {path: new for path, new in self.drift.items() if path not in paths}
        return Look(drift, {path: new for path, new in self.fresh.items() if path in drift}, self.unseen)


def _look(worktree: Worktree, tree: Snapshot, held: Mapping[str, list[Held]], only: Collection[str] | None) -> Look:
    """Look at the documents. A new one whose name holds a secret is kept nowhere."""
    skipped: frozenset[str] = frozenset()
    if only is None:
        compared = compare(worktree.folder, tree)
        looked, skipped = compared.documents, frozenset(compared.skipped)
    else:
        looked = {path: worktree.read(path) for path in only}
    drift = {
        path: new
        for path, new in looked.items()
        if new != tree.get(path) and (new is None or path in tree or not holds_secret(path))
    }
    fresh = {path: new for path, new in drift.items() if not any(one.is_same(new) for one in held.get(path, []))}
    moves = moving(worktree, fresh, tree)
    still = {path: new for path, new in drift.items() if path not in moves}
    return Look(still, {path: new for path, new in fresh.items() if path in still}, skipped | moves)


def _propose(
    shop: Workshop, tree: Snapshot, look: Look, held: Mapping[str, list[Held]], only: Collection[str] | None
) -> list[Proposal]:
    """Store what no open proposal holds yet as one proposal, and close the older ones that it takes the place of."""
    fresh = dict(look.fresh)
    # Under `enforce` a write was put back, so the next one does not continue it: each stays a proposal of its own.
    older = _continued(held, fresh, look, only) if shop.store.guard == Guard.OBSERVE else _crowded_out(held, fresh)
    if not fresh:
        return []
    proposal = _store(shop, tree, fresh)
    for one in older:
        _close(one, State.SUPERSEDED, f"A newer write, proposal {proposal.pk}, holds the same documents.")
    settle(shop, proposal)
    return [Proposal.objects.get(pk=proposal.pk)]


def _crowded_out(held: Mapping[str, list[Held]], fresh: Delta) -> list[Proposal]:
    """Return the newest waiting writes of documents that are written again and again: the next one follows them."""
    newest = {ones[-1].proposal for path in fresh if len(ones := held.get(path, [])) >= MAX_HELD_WRITES}
    return [one for one in newest if set(one.paths) <= set(fresh)]


def _continued(
    held: Mapping[str, list[Held]], fresh: dict[str, bytes | None], look: Look, only: Collection[str] | None
) -> list[Proposal]:
    """Bring the other documents of a proposal that moved on into `fresh`, and return the proposals that it replaces.

    A write that was taken back on disk is let go, unless a person had brought its proposal back.
    """
    holding: dict[Proposal, dict[str, Held]] = {}
    for path, ones in held.items():
        for one in ones:
            holding.setdefault(one.proposal, {})[path] = one
    replaced: list[Proposal] = []
    for proposal, documents in holding.items():
        looked = {path for path in documents if (only is None or path in only) and not is_skipped(path, look.unseen)}
        back = {path for path in looked if path not in look.drift}
        if not back and not any(path in fresh for path in looked):
            continue
        kept = {path: one for path, one in documents.items() if path not in back}
        if any(one.digest and path not in look.drift for path, one in kept.items()):
            continue  # a masked write is kept nowhere, so it cannot move into another proposal
        if back == set(documents):
            if not proposal.decisions.filter(verb__in=[Verb.REOPEN, Verb.EDIT]).exists():
                _close(proposal, State.WITHDRAWN, "The write was taken back on disk.")
            continue
        fresh |= {path: look.drift.get(path, one.content) for path, one in kept.items()}
        replaced.append(proposal)
    return replaced


def holds_secret(text: str) -> bool:
    """Whether a name or a note holds a credential, which must not be kept."""
    return any(finding.is_blocked_secret for finding in scan.scan(text))


def refuse_secret_note(note: str) -> None:
    """Raise NotPermittedError when a person's reason holds a credential: it would be kept for good."""
    if holds_secret(note):
        raise NotPermittedError("The note holds what looks like a credential. Nothing was changed; take it out.")


def lost_documents(tree: Snapshot, drift: Delta, held: Mapping[str, list[Held]]) -> set[str]:
    """Return the documents that are gone when they are so many that nobody can have meant it, else none.

    What stands elsewhere under another name is not gone, nor what a waiting proposal deletes already.
    """
    gone = {path for path, new in drift.items() if new is None}
    waiting = {path for path in gone if any(one.is_same(None) for one in held.get(path, ()))}
    lost = gone - waiting
    if len(lost) <= 1 or len(lost) <= (len(tree) - len(waiting)) * ALARM_SHARE:
        return set()
    lost -= rename.find(drift, tree).keys()
    return lost if len(lost) > 1 and len(lost) > (len(tree) - len(waiting)) * ALARM_SHARE else set()


def _loss_words(lost: Collection[str], tree: Snapshot) -> str:
    if not lost:
        return ""
    return (
        f"{len(lost)} of {len(tree)} documents are gone from the folder. That looks like a lost or moved "
        "folder, not like an edit: capturing is paused and nothing was recorded as deleted. Bring the files back, or "
        "say on the store's page that they are meant to be gone."
    )


def unusable_folder(error: Exception) -> str:
    """Say what follows from a memory folder that cannot be read, and what to do."""
    return (
        f"{error} Capturing is paused and nothing is recorded as deleted. If it was moved, say on the store's settings "
        "page where it is now."
    )


def _alarm(store: Store, sentence: str) -> None:
    if store.alarm != sentence:
        store.alarm = sentence
        store.save(update_fields=["alarm"])


@dataclass(frozen=True, slots=True)
class Held:
    """What open proposals of `direct` hold of one document."""

    proposal: Proposal
    content: bytes | None
    digest: str

    def is_same(self, content: bytes | None) -> bool:
        if self.digest:
            return content is not None and keyed_digest(content) == self.digest
        return self.content == content


def held_documents(store: Store) -> dict[str, list[Held]]:
    """Return what waiting direct writes hold, by document, the oldest first."""
    held: dict[str, list[Held]] = {}
    for proposal in sorted(Proposal.objects.filter(store=store).direct().undecided(), key=attrgetter("pk")):
        for document in proposal.written.documents.all():
            held.setdefault(document.path, []).append(Held(proposal, document.held(), document.digest))
    return held


def _store(shop: Workshop, tree: Snapshot, delta: Mapping[str, bytes | None]) -> Proposal:
    store = shop.store
    masked = _masked(delta, tree, Scope(store.scope))
    classification = judge(store, tree, delta, is_direct=True)
    if masked is not None:  # the text of the actions must not hold the secret either; findings never do
        shown = judge(store, tree, masked, is_direct=True)
        classification = replace(shown, findings=classification.findings)
    draft = Draft(
        store=store,
        base=shop.head(),
        tree=tree,
        delta=delta,
        classification=classification,
        submission=Submission(title="Direct write", source={"kind": "direct write"}),
        agent=Agent.objects.get_or_create(name=Agent.DIRECT)[0],
        masked=masked,
    )
    return proposals.store_proposal(draft)


def _masked(delta: Delta, tree: Tree, scope: Scope) -> Delta | None:
    """Return the delta with blocked secrets masked, None when there are none: a secret is kept nowhere in the clear."""
    kept: dict[str, bytes | None] = {}
    is_masked = False
    for path, new in delta.items():
        kept[path] = new
        if new is None:
            continue
        text = new.decode("utf-8", "replace")
        before = (tree.get(path) or b"").decode("utf-8", "replace")
        if any(finding.is_blocked_secret for finding in scan.new_findings(before, text, path=path, scope=scope)):
            kept[path] = scan.mask(text, scan.scan(text, path=path, scope=scope)).encode()
            is_masked = True
        elif "\0" in text and any(finding.is_blocked_secret for finding in scan.scan(text.replace("\0", ""))):
            kept[path] = b""  # in an encoding that cannot be masked, such as UTF-16
            is_masked = True
    return kept if is_masked else None


def _close(proposal: Proposal, state: State, note: str) -> None:
    verb = Verb.SUPERSEDE if state == State.SUPERSEDED else Verb.WITHDRAW
    proposals.move(proposal, to=state, verb=verb, agent=proposal.agent, note=note)


def _put_back(shop: Workshop, worktree: Worktree, look: Look, held: Mapping[str, list[Held]]) -> None:
    """Under `enforce` the approved text returns at once; the write is held in the queue.

    What is written meanwhile stays and is captured next. A write that waits already and came again is counted.
    """
    tree = shop.tree()
    stuck: set[str] = set()
    again: set[int] = set()
    wrong = {path: content for path, content in look.drift.items() if tree.get(path) != content}
    if wrong:  # named first: what a kill leaves beside them is swept by the next lock of the store
        note_differing(shop.store, (), wrong)
    for path, content in wrong.items():
        try:
            is_back = worktree.replace(path, expected=content, new=tree.get(path))
        except WorktreeError:  # the store names what still differs
            stuck.add(path)
            continue
        if is_back:
            again |= {one.proposal.pk for one in held.get(path, ()) if one.is_same(content)}
    if look.drift:
        note_differing(shop.store, look.drift, stuck)
    Proposal.objects.filter(pk__in=again).update(repeats=F("repeats") + 1)
