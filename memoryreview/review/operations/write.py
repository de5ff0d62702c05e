"""A person's own text for one document: a proposal like any other, approved at once where it is theirs to decide."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from django.contrib.auth.models import User

from memoryreview.core.edits import Write, build
from memoryreview.core.model import Delta, FormatName, Scope, Tree
from memoryreview.core.names import shown
from memoryreview.core.typed import restore_line_ends
from memoryreview.review.models import Proposal, Store, is_sole_person

from . import decide, proposals
from .errors import AlreadyDecidedError, CannotApplyError, NotFoundError, NotPermittedError, StaleViewError
from .judge import judge
from .permissions import may_maintain
from .proposals import Draft, Submission
from .receive import LIMITS, check_names
from .reconcile import reconcile_within
from .refusals import refuse_wording
from .standing import standing
from .stores import Workshop, locked, reading


@dataclass(frozen=True, slots=True)
class Text:
    """One document as it stands: `content` is None where there is none yet. `since` is what it was at an older head."""

    head: str
    content: bytes | None
    since: bytes | None = None


def text_of(store: Store, path: str, *, since: str = "") -> Text:
    """Return a document as approved now, and as it was at the commit `since`. Raises CannotApplyError."""
    with reading(store) as repository:
        head = repository.head() or ""
        before = repository.snapshot(since).get(path) if since and repository.has_commit(since) else None
        return Text(head, repository.snapshot(head).get(path), before)


def waits(person: User, store: Store) -> bool:
    """Whether a person's own text waits for somebody else: in team memory, unless they are alone."""
    return not may_maintain(person, store) or (store.scope == Scope.TEAM and not is_sole_person())


def write(store: Store, path: str, *, person: User, head: str, text: str, is_new: bool = False) -> Proposal:
    """Propose a person's text for one document, and approve it at once where that is theirs to do. Effects in order:

    1. Check that the document is as the person saw it; check names, scan and classify as for anybody.
    2. Store the proposal.
    3. Unless it waits for another maintainer, approve it by the same path as any other.

    Args: head: the commit that the person saw. text: as typed.
    Returns: the proposal, which waits with the reason where the system refused to write it.
    Raises: StaleViewError when the document changed since `head`; the caller keeps the text. AlreadyDecidedError when
        the same waits already. NotPermittedError, NotFoundError, SecretDetectedError, RefusedChangeError,
        PathNotAllowedError.
    """
    with locked(store) as shop:
        reconcile_within(shop)
        tree = shop.tree()
        _refuse_stale(shop, tree, path, head=head, is_new=is_new)
        delta = _delta(store, tree, path, text, is_new=is_new)
        draft = Draft(
            store=store,
            base=tree.oid,
            tree=tree,
            delta=delta,
            classification=judge(store, tree, delta),
            submission=Submission(),
            person=person,
        )
        refuse_wording(draft)
        twin = Proposal.objects.live().filter(store=store, fingerprint=proposals.fingerprint(store, delta)).first()
        if twin is not None:
            raise AlreadyDecidedError(twin, None)
        proposal = proposals.store_waiting(draft)
        return proposal if waits(person, store) else _approved(shop, proposal, person)


def _refuse_stale(shop: Workshop, tree: Tree, path: str, *, head: str, is_new: bool) -> None:
    present = tree.get(path)
    if is_new:
        if present is not None:
            raise NotPermittedError(f"“{shown(path)}” exists already. Nothing was written; edit it, or name another.")
        return
    if not shop.repository.has_commit(head) or shop.repository.snapshot(head).get(path) != present:
        raise StaleViewError("This document changed while you typed. Nothing was written; your text is kept below.")
    if present is None:
        raise NotFoundError("document", path[:120])


def _delta(store: Store, tree: Tree, path: str, text: str, *, is_new: bool) -> Delta:
    if is_new:
        content = text.replace("\r\n", "\n").replace("\r", "\n")
        delta = build(tree, [Write(path, content)], format=FormatName(store.format), limits=LIMITS)
        check_names(store, tree, delta)
        return delta
    content_now = tree[path]
    typed = restore_line_ends(text, content_now)
    if typed == content_now:
        raise NotPermittedError("Your text equals what is approved already. Nothing was written.")
    return {path: typed}


def _approved(shop: Workshop, proposal: Proposal, person: User) -> Proposal:
    view = standing(proposal.revision, shop.repository)
    with suppress(CannotApplyError):  # it waits with the reason, so that no word of it is lost
        decide.approve(proposal.pk, person=person, version=proposal.version, shown=view.shown, confirmed=True)
    return decide.fetch(proposal.pk)
