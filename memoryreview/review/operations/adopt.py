"""Take a memory folder under review: its first baseline commit. Not a byte of the folder changes."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from memoryreview.baseline import commits
from memoryreview.baseline.lock import store_lock
from memoryreview.baseline.refs import read_branch
from memoryreview.baseline.repository import BaselineError, Repository
from memoryreview.baseline.sessions import working_directories
from memoryreview.baseline.worktree import Listing, Worktree, WorktreeError
from memoryreview.core import formats, scan
from memoryreview.core.errors import MemoryReviewError, first_sentence
from memoryreview.core.formats import containment
from memoryreview.core.model import FormatName, Guard, Problem, Scope, Severity, Tree
from memoryreview.core.names import shown
from memoryreview.review.models import Change, ChangedPath, ChangeKind, Decision, Membership, Role, Store, Team, Verb

from . import ledger
from .errors import CannotApplyError
from .hostlock import Space, host_lock
from .stores import LOCK_TIMEOUT_S, baseline_dir, reading

MAX_COMPARED_STORES = 30
MAX_COMPARED_DOCUMENTS = 300
"""Larger folders are not compared with others; who keeps so much twice sees it."""


class AdoptError(MemoryReviewError):
    """The folder cannot be adopted."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """`documents` and `entries` are counts."""

    store: Store
    documents: int
    entries: int
    head: str
    problems: tuple[Problem, ...]


def adopt(
    folder: Path,
    *,
    name: str = "",
    format: FormatName | None = None,  # noqa: A002  # the contract's word
    scope: Scope = Scope.PRIVATE,
    guard: Guard = Guard.OBSERVE,
    team: str = "",
) -> Adopted:
    """Make a store of a folder. Effects in order:

    1. Read the documents; find out the format; look for what is wrong.
    2. Write the baseline beside the others in the data folder: objects, first commit, ref.
    3. Record store, first change and decision in one transaction. A kill before that leaves no store.

    Raises: AdoptError with a sentence that says what to do.
    """
    root = checked_folder(folder)
    try:
        listing = Worktree(root).scan()
    except WorktreeError as error:
        raise AdoptError(str(error)) from error
    _refuse_failing_disk(listing)
    tree = listing.documents
    chosen = format or formats.detect(tree)
    store = Store(
        slug=_free_slug(name, root), root=str(root), format=chosen, scope=scope, guard=guard, baseline=uuid.uuid4()
    )
    with host_lock(Space.ADOPTING, timeout_s=LOCK_TIMEOUT_S) as is_ours:
        if not is_ours:
            raise AdoptError("Another folder is being adopted. Nothing was changed; try again in a moment.")
        head = _first_commit(store, tree)
        try:
            _record(store, tree, head, team or store.slug)
        except IntegrityError as error:
            shutil.rmtree(baseline_dir(store), ignore_errors=True)
            raise AdoptError(f"“{root}” was adopted by another process just now. Nothing was changed.") from error
    form = formats.of(chosen)
    entries = sum(len(form.entries(path, content)) for path, content in tree.items())
    return Adopted(store, len(tree), entries, head, problems(store, tree, dict(listing.skipped)))


def _refuse_failing_disk(listing: Listing) -> None:
    """Raise where the disk failed to read a document: a first baseline without it would take it for new later."""
    failing = [path for path, reason in listing.skipped.items() if reason == os.strerror(errno.EIO)]
    if failing:
        raise AdoptError(
            f"“{shown(failing[0])}” cannot be read: {os.strerror(errno.EIO)}. Nothing was changed; look at the disk, "
            "then adopt again."
        )


def problems(store: Store, tree: Tree, skipped: dict[str, str]) -> tuple[Problem, ...]:
    """Return what looks wrong in documents: the format's checks, what scanners would block, what was left out."""
    found = list(formats.of(FormatName(store.format)).lint(tree))
    for path, content in tree.items():
        text = content.decode("utf-8", "replace")
        found += [
            Problem(finding.scanner, path, finding.line, finding.message)
            for finding in scan.scan(text, path=path, scope=Scope(store.scope))
            if finding.severity is Severity.BLOCK
        ]
    found += [*_contained(store, tree), *_shared(store, tree)]
    found += [Problem("skipped", path, None, f"Left out: {reason}.") for path, reason in skipped.items()]
    return tuple(sorted(found, key=lambda problem: (problem.path, problem.line or 0, problem.kind)))


def _contained(store: Store, tree: Tree) -> Iterator[Problem]:
    """Report other stores of the same owner or team of which one says nothing that the other does not."""
    if not 0 < len(tree) <= MAX_COMPARED_DOCUMENTS:
        return
    beside = Store.objects.filter(owner=store.owner_id, team=store.team_id).exclude(pk=store.pk).order_by("slug")
    others = list(beside[:MAX_COMPARED_STORES])
    said = containment.statements(tree) if others else frozenset()  # costs more than all else where it is long
    for other in others if said else ():
        try:
            with reading(other) as repository:
                head = repository.head()
                theirs = repository.snapshot(head) if head else {}
                if not 0 < len(theirs) <= MAX_COMPARED_DOCUMENTS:
                    continue
                found = containment.relation(said, containment.statements(theirs))
        except CannotApplyError:
            continue  # its own page says so
        if found is not None:
            names = (other.slug, store.slug) if found is containment.Relation.AROUND else (store.slug, other.slug)
            yield Problem("contained", min(tree), None, containment.sentence(*names, found))


def _shared(store: Store, tree: Tree) -> Iterator[Problem]:
    """Report that sessions of several working directories write to the folder: their names fall together."""
    directories = working_directories(Path(store.root))
    if len(directories) > 1 and tree:
        listed = ", ".join(f"“{shown(path)}”" for path in directories)
        sentence = f"Sessions in {len(directories)} working directories write to this folder: {listed}. "
        sentence += "Their names become one here, so nothing of it can be promoted to a team."
        yield Problem("shared-folder", min(tree), None, sentence)


def checked_folder(folder: Path, *, moving: Store | None = None) -> Path:
    """Return the real path of a folder that may be a store's; `moving` is the store that it becomes the folder of.

    Raises AdoptError with a sentence that says why not.
    """
    path = folder.expanduser().absolute()
    try:
        is_link, is_folder, root = path.is_symlink(), path.is_dir(), path.resolve()
    except OSError as error:  # a name that is too long, say
        reason = error.strerror
        raise AdoptError(f"That folder cannot be looked at: {reason}. Nothing was changed; name another.") from error
    if is_link:
        raise AdoptError(f"“{path}” is a link. Nothing was changed; adopt the folder that it points to.")
    if not is_folder:
        raise AdoptError(f"“{path}” is not a folder. Nothing was changed; name a folder of Markdown files.")
    home = Path(settings.HOME).resolve()
    if root == Path(root.anchor) or root == Path.home().resolve():
        raise AdoptError(f"“{root}” is too much to adopt. Nothing was changed; name the memory folder itself.")
    if ".git" in root.parts:
        raise AdoptError(f"“{root}” lies in a .git folder. Nothing was changed; name the memory folder itself.")
    if root.is_relative_to(home) or home.is_relative_to(root):
        raise AdoptError(
            f"“{root}” and the data folder {home} lie in each other. Nothing was changed; keep them apart."
        )
    others = Store.objects.only("slug", "root")
    for store in others.exclude(pk=moving.pk) if moving is not None else others:
        other = Path(store.root)
        if root == other:
            raise AdoptError(f"“{root}” is adopted already as “{store.slug}”. Nothing was changed.")
        if root.is_relative_to(other) or other.is_relative_to(root):
            raise AdoptError(
                f"“{root}” and the store “{store.slug}” lie in each other. Nothing was changed; adopt one of them."
            )
    return root


def _free_slug(name: str, root: Path) -> str:
    if name:
        slug = slugify(name)[:50]
        if not slug:
            raise AdoptError(f"The name “{name}” has no letter or digit. Nothing was changed; choose another --name.")
        if Store.objects.filter(slug=slug).exists():
            raise AdoptError(f"A store “{slug}” exists already. Nothing was changed; choose another --name.")
        return slug
    generic = {"memory", "memories", "memory-bank"}
    stem = root.parent.name if root.name in generic and root.parent.name else root.name
    slug = base = slugify(stem.lstrip(".-"))[:50] or "memory"
    number = 2
    while Store.objects.filter(slug=slug).exists():
        slug, number = f"{base}-{number}", number + 1
    return slug


def _first_commit(store: Store, tree: Tree) -> str:
    git_dir = baseline_dir(store)
    try:
        git_dir.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with Repository.create(git_dir) as repository, store_lock(git_dir):
            body = f"{len(tree)} documents as they stood in the folder."
            return begin_history(repository, tree, subject=f"Adopt {store.slug}", body=body)
    except (BaselineError, OSError) as error:
        # No store has it, so nobody would ever ask for it.
        shutil.rmtree(git_dir, ignore_errors=True)
        what = error.strerror if isinstance(error, OSError) else first_sentence(str(error))
        raise AdoptError(
            f"The baseline cannot be written: {what}. Nothing was changed; make room or give permission, then try "
            "again."
        ) from error


def begin_history(
    repository: Repository, tree: Tree, *, subject: str, body: str, journal: Callable[[str], object] | None = None
) -> str:
    """Make the first commit of an empty baseline, and return it. `journal` is told of it before the branch moves."""
    head = commits.write_commit(
        repository,
        parent=None,
        delta=dict(tree),
        subject=subject,
        body=body,
        trailers={"Change-Kind": str(ChangeKind.ADOPT)},
        at=timezone.now(),
    )
    if journal is not None:
        journal(head)
    if not commits.advance(repository, expected=None, new=head):
        raise BaselineError("Another process began this baseline just now. Nothing was changed; look again.")
    return head


def clear_unfinished() -> None:
    """Remove baselines that a killed `adopt` began and that have no commit yet. One with a commit is never removed: its
    store may be missing only because the database was brought back from a backup."""
    with host_lock(Space.ADOPTING) as is_ours:
        if is_ours:
            _clear_unfinished()


def _clear_unfinished() -> None:
    known = {f"{baseline}.git" for baseline in Store.objects.values_list("baseline", flat=True)}
    for path in sorted((Path(settings.HOME) / "baselines").glob("*.git")):
        if path.name in known or not path.is_dir():
            continue
        try:
            with store_lock(path, timeout_s=0):  # somebody is at work in it otherwise
                if path.name.startswith(".") or read_branch(path) is None:
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    commits.sweep(path)
        except MemoryReviewError:
            continue


def _record(store: Store, tree: Tree, head: str, team: str) -> None:
    owner = User.objects.filter(is_superuser=True).order_by("pk").first()
    with transaction.atomic():
        if store.scope == Scope.TEAM:
            store.team = _team(team, owner)
        else:
            store.owner = owner
        store.save(force_insert=True)
        decision = Decision(store=store, change=head, verb=Verb.ADOPT, person=owner)
        record_beginning(decision, f"Adopt {store.slug}: {len(tree)} document{'' if len(tree) == 1 else 's'}", tree)


def record_beginning(decision: Decision, title: str, paths: Iterable[str]) -> Change:
    """Record the first commit of a baseline and the decision to make it. Call inside a transaction."""
    ledger.record(decision)
    change = Change.objects.create(
        oid=decision.change,
        store=decision.store,
        kind=ChangeKind.ADOPT,
        decision=decision,
        person=decision.person,
        title=title[:300],
        paths=sorted(paths),
    )
    ChangedPath.objects.bulk_create(ChangedPath(change=change, store=change.store, path=path) for path in change.paths)
    return change


def _team(name: str, owner: User | None) -> Team:
    team, is_new = Team.objects.get_or_create(slug=slugify(name)[:50] or "team", defaults={"name": name})
    if is_new and owner is not None:
        Membership.objects.create(team=team, person=owner, role=Role.MAINTAINER)
    return team
